"""Question sets: JSONL files in the schema of RoG, which the papers share, and sets as they are published.

One object a line: ``id, question, q_entity [..], a_entity [..], answer [..]`` and optionally
``graph [[h, r, t], ..]`` (the subgraph this question is asked on), ``rel_path [..]`` (the relation
path that answers it, inverse steps written ``~relation``) and ``gold_paths [[[h, r, t], ..], ..]`` (paths
that somebody took to answer it).
"""

from __future__ import annotations

import gzip
import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kgdemo.errors import UserError
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.lab.published_sets import (
    Shape,
    file_of_folder,
    loaded,
    records_in,
    rows_of_lines,
    rows_of_parquet,
    shape_of,
    unknown_shape,
)

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


def called_as_in(kg: KnowledgeGraph, questions: Sequence[Question]) -> list[Question]:
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


def read_questions(path: Path) -> list[Question]:
    """Read a question set: JSON lines in the schema of RoG, plain or gzip, or any set of ``published_sets``.

    Questions to which a published set gives no answer are left out, with a line in the log: nothing says that there is
    none. In the schema of RoG such a question is one that has no answer.

    Raises:
        UserError: the file is missing or of no known shape, or a record (named) is not a question.
    """
    if path.is_dir():
        path = file_of_folder(path)
    if not path.is_file():
        raise UserError(f"There is no question file {path}; give a JSONL file with id, question, q_entity, answer.")
    if path.suffix == ".parquet":
        return _questions(enumerate(rows_of_parquet(path), 1), path.name, "row")
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="\n") as stream:
            lines = [(number, line) for number, line in enumerate(stream, 1) if line.strip()]
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UserError(f"{path.name} cannot be read ({error}); give a UTF-8 JSONL file.") from error
    if not lines:
        return []
    if lines[0][1].lstrip()[:1] not in "{[":
        return _questions(enumerate(rows_of_lines([line for _, line in lines], path.name), 1), path.name, "line")
    if len(lines) == 1 or loaded(lines[0][1]) is None:  # else JSON lines
        document = loaded("".join(line for _, line in lines))
        records = records_in(document)
        if document is not None and records != [document]:
            return _questions(enumerate(records, 1), path.name, "record")
    return _questions(_parsed(lines, path.name), path.name, "line")


def _parsed(lines: Iterable[tuple[int, str]], name: str) -> Iterator[tuple[int, object]]:
    for number, line in lines:
        try:
            yield number, json.loads(line)
        except ValueError as error:
            raise _no_question(f"{name}, line {number}", error) from error


def _questions(records: Iterable[tuple[int, object]], name: str, unit: str) -> list[Question]:
    """The questions of numbered records, all of the shape of the first."""
    found: list[Question] = []
    shape: Shape | None = None
    unanswered = 0
    for number, record in records:
        where = f"{name}, {unit} {number}"
        if shape is None:
            shape = shape_of(record) if isinstance(record, Mapping) else None
            if shape is None:
                raise unknown_shape(where, record)
        try:
            if not isinstance(record, Mapping):
                raise TypeError("it is no object")
            question = _question({"id": number, **shape.read(record)})
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise _no_question(where, error) from error
        if question.gold or shape.name == "RoG":
            found.append(question)
        else:
            unanswered += 1
    if unanswered and not found:
        raise UserError(
            f"{name} has no answers to measure by; give a part of {shape.name if shape else 'it'} that has."
        )
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
