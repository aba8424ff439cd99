"""Question sets: JSONL files in the schema of RoG, which the papers share, and sets as their authors publish them.

One object a line: ``id, question, q_entity [..], a_entity [..], answer [..]`` and optionally
``graph [[h, r, t], ..]`` (the subgraph this question is asked on), ``rel_path [..]`` (the relation
path that answers it, inverse steps written ``~relation``) and ``gold_paths [[[h, r, t], ..], ..]`` (paths
that somebody took to answer it).

Other sets are recognised by what is in them. Each format says what its records hold and how one becomes
``id, question, q_entity, a_entity, answer, choices``. Answers are names where the set has names, else the ids that it
has; a graph to go with it has to call its entities so.
"""

from __future__ import annotations

import gzip
import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kgdemo.errors import UserError, first_line
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import bare

Record = Mapping[str, Any]
_YES_NO = ("yes", "no")


@dataclass(frozen=True, slots=True)
class RecordFormat:
    """One form of records.

    Attributes:
        name: of the sets that have it.
        fields: by which it is known, for people.
        matches: whether a record has it.
        read: a record in the schema of RoG; it may raise KeyError, TypeError, ValueError, IndexError.
    """

    name: str
    fields: str
    matches: Callable[[Record], bool]
    read: Callable[[Record], dict[str, Any]]


def _format_of(record: object, where: str) -> RecordFormat:
    """The format of a record.

    Raises:
        UserError: none is known.
    """
    for known in FORMATS:
        if isinstance(record, Mapping) and known.matches(record):
            return known
    has = ", ".join(map(str, record))[:200] if isinstance(record, Mapping) else type(record).__name__
    looked = "; ".join(f"{known.name} ({known.fields})" for known in FORMATS)
    raise UserError(f"{where} is no question set that is known: its first record has {has}; looked for {looked}.")


def _records_in(document: object) -> list[Any]:
    """The records of a whole JSON document: a list, or the list of an object that holds one."""
    if isinstance(document, list):
        return document
    if isinstance(document, Mapping):
        for name in ("Questions", "questions", "data"):
            if isinstance(document.get(name), list):
                return list(document[name])
    return [document]


def _has(*names: str) -> Callable[[Record], bool]:
    return lambda record: all(name in record for name in names)


def _rog(record: Record) -> dict[str, Any]:
    if not isinstance(record["question"], str):
        raise TypeError("question is no text")
    choices = [str(choice) for choice in record.get("choices") or ()]
    return {**record, "choices": choices}


def _parses(record: Record) -> list[Record]:
    return [parse for parse in record["Parses"] if parse.get("Answers")]


def _webqsp(record: Record) -> dict[str, Any]:
    """A question is answered by its first parse, as the official scorer takes the best and RoG the first."""
    parse = next(iter(_parses(record)), {"Answers": ()})
    names = [answer.get("EntityName") or answer["AnswerArgument"] for answer in parse["Answers"]]
    topic = parse.get("TopicEntityName") or parse.get("TopicEntityMid")
    return _record(record["QuestionId"], record.get("ProcessedQuestion") or record["RawQuestion"], names, [topic])


def _freebase_qa(record: Record) -> dict[str, Any]:
    parses = _parses(record)
    names = [name for parse in parses for answer in parse["Answers"] for name in answer["AnswersName"]]
    topics = [parse.get("TopicEntityName") for parse in parses]
    return _record(record["Question-ID"], record["RawQuestion"], names, topics)


def _cwq(record: Record) -> dict[str, Any]:
    return _record(record["ID"], record["question"], [a.get("answer") or a["answer_id"] for a in record["answers"]])


def _grail_qa(record: Record) -> dict[str, Any]:
    nodes = record.get("graph_query", {}).get("nodes", ())
    topics = [node["friendly_name"] for node in nodes if node["node_type"] == "entity" and not node["question_node"]]
    names = [answer.get("entity_name") or answer["answer_argument"] for answer in record["answer"]]
    return _record(record["qid"], record["question"], names, topics)


def _choices_of(choices: Any) -> dict[str, str]:
    """Label -> text: a list of both, or a table with a column of each, as ``datasets`` writes it."""
    if isinstance(choices, Mapping):
        return dict(zip(choices["label"], choices["text"], strict=True))
    return {choice["label"]: choice["text"] for choice in choices}


def _commonsense_qa(record: Record) -> dict[str, Any]:
    given = record["question"]
    inner = given if isinstance(given, Mapping) else record
    choices = _choices_of(inner["choices"])
    right = [choices[record["answerKey"]]] if record.get("answerKey") else []
    text = given["stem"] if isinstance(given, Mapping) else given
    return {**_record(record["id"], text, right, [inner["question_concept"]]), "choices": list(choices.values())}


def _med_qa(record: Record) -> dict[str, Any]:
    choices = dict(record["options"])
    right = record.get("answer") or choices[record["answer_idx"]]
    return {**_record(record.get("id"), record["question"], [right]), "choices": list(choices.values())}


def _cr_lt(record: Record) -> dict[str, Any]:
    right = str(record["answer"]).lower()
    truth = {"true": "yes", "yes": "yes", "false": "no", "no": "no"}[right]
    return {**_record(record["id"], record["query"], [truth], list(record["KG Entities"])), "choices": list(_YES_NO)}


def _gr_bench(record: Record) -> dict[str, Any]:
    answer = record["answer"]
    names = answer if isinstance(answer, list) else re.split(r",\s+", str(answer))
    return _record(record["qid"], record["question"], names)


def _lc_quad(record: Record) -> dict[str, Any]:
    answers = record.get("answer") or []
    text = record.get("question") or record.get("paraphrased_question") or record["NNQT_question"]
    return _record(record["uid"], text, [_local_name(str(answer)) for answer in answers])


def _qald(record: Record) -> dict[str, Any]:
    given = record["question"]
    text = next((one["string"] for one in given if one["language"] == "en"), given[0]["string"])
    names: list[str] = []
    for answer in record["answers"]:
        if "boolean" in answer:
            found = "yes" if answer["boolean"] else "no"
            return {**_record(record["id"], text, [found]), "choices": list(_YES_NO)}
        rows = answer.get("results", {}).get("bindings", ())
        names += [_local_name(cell["value"]) for row in rows for cell in row.values()]
    return _record(record["id"], text, names)


def _local_name(value: str) -> str:
    """The last part of an address; what is none stays."""
    return value.rstrip("/").rsplit("/", 1)[-1].rsplit("#", 1)[-1] if re.match(r"https?://", value) else value


def _record(name: object, text: object, answers: Iterable[object], topics: Iterable[object] = ()) -> dict[str, Any]:
    if not isinstance(text, str) or not text.strip():
        raise TypeError("the question is no text")
    made = {"question": text, "answer": _names(answers), "q_entity": _names(topics)}
    return made if name is None else {"id": str(name), **made}


def _names(values: Iterable[object]) -> list[str]:
    return list(dict.fromkeys(str(value).strip() for value in values if value is not None and str(value).strip()))


# The first that fits counts: those with fields that no other has stand first.
FORMATS: tuple[RecordFormat, ...] = (
    RecordFormat("FreebaseQA", "Question-ID, Parses", _has("Question-ID", "Parses"), _freebase_qa),
    RecordFormat("WebQSP", "QuestionId, Parses", _has("QuestionId", "Parses"), _webqsp),
    RecordFormat("ComplexWebQuestions", "ID, question, answers", _has("ID", "question", "answers"), _cwq),
    RecordFormat(
        "GrailQA", "qid, question, answer, s_expression", _has("qid", "question", "s_expression", "answer"), _grail_qa
    ),
    RecordFormat(
        "CommonsenseQA",
        "id, question, choices, question_concept",
        lambda r: "question_concept" in r or (isinstance(r.get("question"), Mapping) and "stem" in r["question"]),
        _commonsense_qa,
    ),
    RecordFormat("MedQA", "question, options, answer_idx", _has("question", "options", "answer_idx"), _med_qa),
    RecordFormat("CR-LT-KGQA", "id, query, answer, KG Entities", _has("id", "query", "answer", "KG Entities"), _cr_lt),
    RecordFormat("LC-QuAD 2", "uid, question, sparql_wikidata", _has("uid", "sparql_wikidata"), _lc_quad),
    RecordFormat(
        "QALD",
        "id, question in languages, answers",
        lambda r: isinstance(r.get("question"), list) and "answers" in r,
        _qald,
    ),
    RecordFormat("GRBench", "qid, question, answer", _has("qid", "question", "answer"), _gr_bench),
    RecordFormat(
        "RoG",
        "id, question, q_entity, a_entity, answer, graph",
        lambda r: "id" in r and isinstance(r.get("question"), str),
        _rog,
    ),
)


def _rows_of_lines(lines: Sequence[str], name: str) -> Iterator[Record]:
    """Lines of MetaQA (question with [topic], tab, answers) or SimpleQuestions (three addresses and a question).

    Raises:
        UserError: they are neither.
    """
    for number, line in enumerate(lines, 1):
        cells = line.rstrip("\r\n").split("\t")
        if len(cells) == 2 and (topic := re.search(r"\[(.+?)\]", cells[0])):
            text = cells[0].replace("[", "").replace("]", "")
            yield {"id": str(number), **_record(None, text, cells[1].split("|"), [topic[1]])}
        elif len(cells) == 4 and all("freebase.com/" in cell for cell in cells[:3]):
            subject, _, target, text = cells
            yield {"id": str(number), **_record(None, text, [_mid(target)], [_mid(subject)])}
        elif line.strip():
            raise UserError(
                f"{name}, line {number}: neither JSON nor a line of MetaQA (question with [topic], tab, answers) "
                "nor of SimpleQuestions (subject, relation, object and question with tabs)."
            )


def _mid(address: str) -> str:
    """``www.freebase.com/m/02mjmr`` as ``m.02mjmr``."""
    return address.split("freebase.com/", 1)[1].replace("/", ".", 1)


def _rows_of_parquet(path: Path) -> list[Record]:
    """The rows of a Parquet file, as ``datasets`` publishes RoG-webqsp and RoG-cwq.

    Raises:
        UserError: the file is damaged, or the package that reads it is not installed.
    """
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.parquet import read_table
    except ImportError as error:
        raise UserError(f"{path.name} is a Parquet file; pip install pyarrow to read it.") from error
    try:
        rows: list[Record] = read_table(path).to_pylist()
    except (ArrowInvalid, OSError) as error:
        raise UserError(f"{path.name} cannot be read ({error}); download it again.") from error
    return rows


def _file_of_folder(folder: Path) -> Path:
    """The questions of a folder of GRBench.

    Raises:
        UserError: there is no such file.
    """
    for name in ("data.json", "data.jsonl", "questions.jsonl"):
        if (folder / name).is_file():
            return folder / name
    raise UserError(f"{folder} is a folder without data.json (GRBench); give a question file.")


_HUB = "hf:"


def _rows_of_hub(name: str) -> Iterator[Record]:
    """The rows of a set on the Hugging Face hub, by the package ``datasets``.

    Args:
        name: see ``read_questions``.

    Raises:
        UserError: the package is not installed, the hub cannot be reached, or there is no such set.
    """
    try:
        from datasets import load_dataset
    except ImportError as error:
        raise UserError(f"{name} is on the Hugging Face hub; to read it: pip install datasets") from error
    owner_and_name, _, part = name.removeprefix(_HUB).partition(":")
    try:
        rows = load_dataset(owner_and_name, split=part or "test")
    except Exception as error:  # the package lets through whatever its parts raise: network, files, names
        raise UserError(
            f"{name} cannot be read ({first_line(error)}); check its name, or give a file in its place."
        ) from error
    yield from rows


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its topic entities and right answers, all as graph labels.

    Attributes:
        relation_path: the relations that answer it; empty where the set does not say.
        likely_paths: the relations of paths that may answer it.
        choices: of a multiple-choice question; one of them is right.
    """

    id: str
    text: str
    topic_entities: tuple[str, ...] = ()
    answer_entities: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    graph: tuple[tuple[str, str, str], ...] = ()
    relation_path: tuple[str, ...] = ()
    likely_paths: frozenset[tuple[str, ...]] = frozenset()
    choices: tuple[str, ...] = ()

    @property
    def gold(self) -> frozenset[str]:
        """The entities that count as right; the answer strings where no entities are given."""
        return frozenset(self.answer_entities or self.answers)


_ID = re.compile(r"[mg]\.\w+|Q\d+")  # of Freebase and of Wikidata


def with_graph_labels(kg: KnowledgeGraph, questions: Sequence[Question]) -> list[Question]:
    """The questions with ids for names (SimpleQuestions, LC-QuAD 2) as the graph calls what it knows by these ids."""
    given = {name for q in questions if not q.graph for name in (*q.topic_entities, *q.answer_entities, *q.answers)}
    ids = {name for name in given if _ID.fullmatch(name) and name not in kg.entities}
    if not ids:
        return list(questions)
    labels = {alias: label for label, info in kg.info.items() for alias in info.aliases if alias in ids}

    def called(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(labels.get(name, name) for name in names)

    return [
        q
        if q.graph
        else replace(
            q,
            topic_entities=called(q.topic_entities),
            answer_entities=called(q.answer_entities),
            answers=called(q.answers),
        )
        for q in questions
    ]


def answerable_in(kg: KnowledgeGraph, questions: Sequence[Question]) -> list[Question]:
    """The questions that a graph can answer as far as names go, asked under its own names.

    Args:
        kg: the graph.
        questions: of any graph. One whose topics are not all known here by label or alias (in any case, and without
            what stands in brackets), or none of whose answers is, is left out.
    """
    labels = {alias.lower(): label for label, info in kg.info.items() for alias in info.aliases}
    labels |= {label.lower(): label for label in kg.entities}

    def here(names: Iterable[str]) -> tuple[str, ...]:
        known = (name if name in kg.entities else labels.get(bare(name).lower(), "") for name in names)
        return tuple(dict.fromkeys(name for name in known if name))

    found = []
    for question in questions:
        topics, answers = here(question.topic_entities), here(sorted(question.gold))
        if answers and len(topics) == len(question.topic_entities):
            found.append(replace(question, topic_entities=topics, answer_entities=answers))
    return found


def read_questions(path: Path) -> list[Question]:
    """Read a question set: JSON lines in the schema of RoG, plain or gzip, or any set whose format is known.

    ``hf:OWNER/NAME`` is a set on the Hugging Face hub, its part *test* unless ``hf:OWNER/NAME:PART`` names another.

    Questions to which a published set gives no answer are left out, with a line in the log: nothing says that there is
    none. In the schema of RoG such a question is one that has no answer.

    Raises:
        UserError: the file is missing or of no known format, or a record (named) is not a question.
    """
    if str(path).startswith(_HUB):
        return _questions(enumerate(_rows_of_hub(str(path)), 1), str(path), "row")
    if path.is_dir():
        path = _file_of_folder(path)
    if not path.is_file():
        raise UserError(f"There is no question file {path}; give a JSONL file with id, question, q_entity, answer.")
    if path.suffix == ".parquet":
        return _questions(enumerate(_rows_of_parquet(path), 1), path.name, "row")
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="\n") as stream:
            lines = [(number, line) for number, line in enumerate(stream, 1) if line.strip()]
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UserError(f"{path.name} cannot be read ({error}); give a UTF-8 JSONL file.") from error
    if not lines:
        return []
    if lines[0][1].lstrip()[:1] not in "{[":
        return _questions(enumerate(_rows_of_lines([line for _, line in lines], path.name), 1), path.name, "line")
    if len(lines) == 1 or _document(lines[0][1]) is None:  # else JSON lines
        document = _document("".join(line for _, line in lines))
        records = _records_in(document)
        if document is not None and records != [document]:
            return _questions(enumerate(records, 1), path.name, "record")
    return _questions(_parsed(lines, path.name), path.name, "line")


def write_questions(file: Path, questions: Sequence[Question]) -> None:
    """Write them as JSONL in the schema of RoG."""
    with file.open("w", encoding="utf-8") as stream:
        for one in questions:
            record = {"id": one.id, "question": one.text, "q_entity": one.topic_entities}
            record |= {"a_entity": one.answer_entities, "answer": one.answers, "rel_path": one.relation_path}
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")


def _document(text: str) -> object:
    """A whole JSON document; None where the text is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _parsed(lines: Iterable[tuple[int, str]], name: str) -> Iterator[tuple[int, object]]:
    for number, line in lines:
        try:
            yield number, json.loads(line)
        except ValueError as error:
            raise _no_question(f"{name}, line {number}", error) from error


def _questions(records: Iterable[tuple[int, object]], name: str, unit: str) -> list[Question]:
    """The questions of numbered records, all of the format of the first."""
    found: list[Question] = []
    record_format: RecordFormat | None = None
    unanswered = 0
    for number, record in records:
        where = f"{name}, {unit} {number}"
        record_format = record_format or _format_of(record, where)
        try:
            if not isinstance(record, Mapping):
                raise TypeError("it is no object")
            question = _question({"id": number, **record_format.read(record)})
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise _no_question(where, error) from error
        if question.gold or record_format.name == "RoG":
            found.append(question)
        else:
            unanswered += 1
    if record_format and unanswered and not found:
        raise UserError(f"{name} has no answers to measure by; give a part of {record_format.name} that has.")
    if unanswered:
        logger.warning("%s: %d questions without an answer are left out.", name, unanswered)
    return found


def _no_question(where: str, error: Exception) -> UserError:
    return UserError(f"{where}: not a question ({error}); write id, question, q_entity, a_entity, answer.")


def _question(record: Mapping[str, Any]) -> Question:
    return Question(
        id=str(record["id"]),
        text=record["question"],
        topic_entities=_labels(record.get("q_entity")),
        answer_entities=_labels(record.get("a_entity")),
        answers=_labels(record.get("answer")),
        graph=tuple((str(h), str(r), str(t)) for h, r, t in record.get("graph") or ()),
        relation_path=_labels(record.get("rel_path")),
        likely_paths=frozenset(tuple(str(r) for _, r, _ in path) for path in record.get("gold_paths") or ()),
        choices=_labels(record.get("choices")),
    )


def _labels(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    return tuple(str(item) for item in value)  # type: ignore[attr-defined]
