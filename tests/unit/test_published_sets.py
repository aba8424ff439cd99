"""Question sets as published: made-up samples of each shape are read, asked and measured; others are named."""

from __future__ import annotations

import gzip
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kgdemo.errors import UserError
from kgdemo.lab.evaluation.metrics import Prediction
from kgdemo.lab.evaluation.runner import choice_of, evaluate, prompt_of
from kgdemo.lab.questions import FORMATS, Question, read_questions
from kgdemo.methods import METHODS
from kgdemo.models.embedding import sentence_embedder
from kgdemo.settings import Settings
from tests.helpers.small import SmallPipeline

NOLAN = "Christopher Nolan"
ASKED = "who directed Inception"
EDGES = [["Inception", "directed by", NOLAN], [NOLAN, "born in", "London"]]
ROG = {"id": "1", "question": ASKED, "answer": [NOLAN], "q_entity": ["Inception"], "a_entity": [NOLAN], "graph": EDGES}


def lines(*records: Any) -> str:
    return "\n".join(map(json.dumps, records))


# shape -> (file name, content)
SAMPLES: dict[str, tuple[str, str]] = {
    "RoG": ("rog.jsonl", lines({**ROG, "choices": []}, {**ROG, "id": "2"})),
    "WebQSP": (
        "WebQSP.test.json",
        json.dumps(
            {
                "Version": "1.0",
                "Questions": [
                    {
                        "QuestionId": "WebQTest-7",
                        "RawQuestion": "Who directed Inception?",
                        "ProcessedQuestion": ASKED,
                        "Parses": [
                            {"ParseId": "p0", "TopicEntityMid": "m.0", "TopicEntityName": "x", "Answers": []},
                            {
                                "ParseId": "p1",
                                "TopicEntityMid": "m.0661",
                                "TopicEntityName": "Inception",
                                "InferentialChain": ["film.film.directed_by"],
                                "Answers": [
                                    {"AnswerType": "Entity", "AnswerArgument": "m.0f2", "EntityName": NOLAN},
                                ],
                            },
                        ],
                    },
                    {"QuestionId": "WebQTest-8", "RawQuestion": "?", "ProcessedQuestion": "none", "Parses": []},
                ],
            },
            indent=1,
        ),
    ),
    "ComplexWebQuestions": (
        "ComplexWebQuestions_dev.json",
        json.dumps(
            [
                {
                    "ID": "WebQTest-7_0",
                    "webqsp_ID": "WebQTest-7",
                    "question": ASKED,
                    "machine_question": "x",
                    "compositionality_type": "conjunction",
                    "answers": [{"answer_id": "m.0f2", "answer": NOLAN, "aliases": ["Nolan"]}],
                }
            ]
        ),
    ),
    "MetaQA": ("qa_test.txt", f"who directed [Inception]\t{NOLAN}|Emma Thomas\n"),
    "FreebaseQA": (
        "FreebaseQA-eval.json",
        json.dumps(
            {
                "Dataset": "FreebaseQA-eval",
                "Questions": [
                    {
                        "Question-ID": "FreebaseQA-eval-0",
                        "RawQuestion": ASKED,
                        "Parses": [
                            {
                                "Parse-Id": "P0",
                                "TopicEntityName": "Inception",
                                "Answers": [{"AnswersMid": "m.0f2", "AnswersName": [NOLAN]}],
                            }
                        ],
                    }
                ],
            }
        ),
    ),
    "GrailQA": (
        "grailqa_v1.0_dev.json",
        json.dumps(
            [
                {
                    "qid": 3202847009000,
                    "question": ASKED,
                    "answer": [{"answer_type": "Entity", "answer_argument": "m.0f2", "entity_name": NOLAN}],
                    "graph_query": {
                        "nodes": [
                            {"node_type": "class", "friendly_name": "director", "question_node": 1},
                            {"node_type": "entity", "friendly_name": "Inception", "question_node": 0},
                        ]
                    },
                    "s_expression": "(AND …)",
                    "level": "zero-shot",
                }
            ]
        ),
    ),
    "SimpleQuestions": (
        "annotated_fb_data_test.txt",
        f"www.freebase.com/m/0661\twww.freebase.com/film/film/directed_by\twww.freebase.com/m/0f2\t{ASKED}\n",
    ),
    "CommonsenseQA": (
        "dev_rand_split.jsonl",
        lines(
            {
                "answerKey": "B",
                "id": "075e",
                "question": {
                    "question_concept": "Inception",
                    "choices": [{"label": "A", "text": "London"}, {"label": "B", "text": NOLAN}],
                    "stem": ASKED,
                },
            }
        ),
    ),
    "CommonsenseQA of datasets": (
        "commonsense.jsonl.gz",
        lines(
            {
                "id": "075e",
                "question": ASKED,
                "question_concept": "Inception",
                "choices": {"label": ["A", "B"], "text": ["London", NOLAN]},
                "answerKey": "B",
            }
        ),
    ),
    "MedQA": (
        "US_test.jsonl",
        lines({"question": ASKED, "answer": NOLAN, "options": {"A": "London", "B": NOLAN}, "answer_idx": "B"}),
    ),
    "CR-LT-KGQA": (
        "CR-LT-QA.json",
        json.dumps(
            [
                {
                    "id": "S1",
                    "query": "Was Inception directed by someone born in London?",
                    "answer": True,
                    "KG Entities": {"Inception": "Q25188"},
                    "Inference Rule": "…",
                    "KG Triples": "1- (Inception, directed by, Christopher Nolan)",
                    "Reasoning Steps": [],
                }
            ]
        ),
    ),
    "GRBench": ("data.json", lines({"qid": "10", "question": ASKED, "answer": f"{NOLAN}, Emma Thomas"})),
    "LC-QuAD 2": (
        "lcquad2_test.json",
        json.dumps(
            [
                {
                    "uid": 1,
                    "NNQT_question": "What is {director} of {Inception} ?",
                    "question": ASKED,
                    "sparql_wikidata": "select …",
                    "answer": ["http://www.wikidata.org/entity/Q25191"],
                }
            ]
        ),
    ),
    "QALD": (
        "qald_10.json",
        json.dumps(
            {
                "dataset": {"id": "x"},
                "questions": [
                    {
                        "id": "0",
                        "question": [{"language": "de", "string": "Wer?"}, {"language": "en", "string": ASKED}],
                        "answers": [
                            {
                                "head": {"vars": ["r"]},
                                "results": {
                                    "bindings": [{"r": {"type": "uri", "value": "http://x.org/entity/Q25191"}}]
                                },
                            }
                        ],
                    },
                    {
                        "id": "1",
                        "question": [{"language": "en", "string": "Is Inception set in London?"}],
                        "answers": [{"head": {}, "boolean": False}],
                    },
                ],
            }
        ),
    ),
}
EXPECTED_GOLD = {
    "MetaQA": {NOLAN, "Emma Thomas"},
    "GRBench": {NOLAN, "Emma Thomas"},
    "SimpleQuestions": {"m.0f2"},
    "LC-QuAD 2": {"Q25191"},
    "QALD": {"Q25191"},
    "CR-LT-KGQA": {"yes"},
}
WITHOUT_TOPIC = {"ComplexWebQuestions", "MedQA", "GRBench", "LC-QuAD 2", "QALD"}


def written(folder: Path, shape: str) -> Path:
    name, content = SAMPLES[shape]
    data = content.encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder / name


@pytest.mark.parametrize("shape", SAMPLES)
def test_a_set_is_recognised_by_its_content(tmp_path: Path, shape: str):
    first = read_questions(written(tmp_path, shape))[0]
    assert first.text in (ASKED, "Was Inception directed by someone born in London?")
    assert first.gold == EXPECTED_GOLD.get(shape, {NOLAN})
    topic = "m.0661" if shape == "SimpleQuestions" else "Inception"
    assert first.topic_entities == (() if shape in WITHOUT_TOPIC else (topic,))
    several = shape.startswith(("CommonsenseQA", "MedQA"))
    assert first.choices == (("London", NOLAN) if several else ("yes", "no") if shape == "CR-LT-KGQA" else ())


@pytest.mark.parametrize("shape", SAMPLES)
def test_a_set_is_asked_and_measured(tmp_path: Path, shape: str):
    asked = Settings(beams=2, hops=1, compare=False, explain=0)
    metrics = evaluate(SmallPipeline(), written(tmp_path, shape), asked, tmp_path / "out")
    assert metrics["questions"] >= 1
    assert 0 <= metrics["hits@1"] <= metrics["hit"] <= 1


def test_questions_that_a_published_set_leaves_unanswered_are_left_out(tmp_path: Path, caplog):
    assert [question.id for question in read_questions(written(tmp_path, "WebQSP"))] == ["WebQTest-7"]
    assert "1 questions without an answer" in caplog.text
    assert read_questions(written(tmp_path, "QALD"))[1].choices == ("yes", "no")
    hidden = tmp_path / "test.jsonl"
    hidden.write_text(SAMPLES["CommonsenseQA"][1].replace('"answerKey": "B", ', ""), "utf-8")
    with pytest.raises(UserError, match="no answers to measure by"):
        read_questions(hidden)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"claim": "x", "label": 1}', "has claim, label; looked for .*MedQA"),
        ("[1, 2]", "has int; looked for"),
        ('{"id": "1", "question": {"no": "stem"}}', "has id, question; looked for"),
        ("question,answer\nq,a\n", "neither JSON nor a line of MetaQA"),
        (lines(ROG, {"id": "2"}), r"line 2: not a question \('question'\)"),
        (lines(ROG, [1]), "line 2: not a question"),
        (lines({**ROG, "graph": [["a", "b"]]}), "line 1: not a question"),
        (json.dumps([{"qid": "1", "question": 7, "answer": "x"}]), "record 1: not a question"),
    ],
)
def test_what_is_no_known_set_is_told_with_what_was_looked_for(tmp_path: Path, content: str, says: str):
    (tmp_path / "set.json").write_text(content, "utf-8")
    with pytest.raises(UserError, match=says) as raised:
        read_questions(tmp_path / "set.json")
    assert "\n" not in str(raised.value)


def test_every_shape_has_a_sample():
    assert {one.name for one in FORMATS} <= set(SAMPLES)


def test_a_folder_of_grbench_and_one_without_questions(tmp_path: Path):
    written(tmp_path, "GRBench")
    assert read_questions(tmp_path)[0].id == "10"
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"without data\.json"):
        read_questions(tmp_path / "empty")


def test_parquet_is_read_where_a_package_for_it_is_installed(tmp_path: Path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    file = tmp_path / "test-00000.parquet"
    write_table(pyarrow.Table.from_pylist([{**ROG, "choices": []}]), file)
    (question,) = read_questions(file)
    assert question.graph == tuple(map(tuple, EDGES))
    assert question.gold == {NOLAN}
    file.write_bytes(b"PAR1 and no more")
    with pytest.raises(UserError, match="cannot be read"):
        read_questions(file)


def test_without_that_package_a_sentence_says_so(tmp_path: Path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    (tmp_path / "x.parquet").touch()
    with pytest.raises(UserError, match="pip install pyarrow"):
        read_questions(tmp_path / "x.parquet")


def test_a_set_on_the_hub_is_read_by_its_name(monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[str, str]] = []

    def load_dataset(name: str, split: str) -> list[dict[str, Any]]:
        asked.append((name, split))
        if name != "rmanluo/RoG-webqsp":
            raise ConnectionError("no hub here\nand more")
        return [{**ROG, "choices": []}]

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    (question,) = read_questions(Path("hf:rmanluo/RoG-webqsp"))
    assert question.gold == {NOLAN}
    read_questions(Path("hf:rmanluo/RoG-webqsp:validation"))
    assert asked == [("rmanluo/RoG-webqsp", "test"), ("rmanluo/RoG-webqsp", "validation")]
    with pytest.raises(UserError, match=r"hf:nobody/nothing cannot be read \(no hub here\); check its name"):
        read_questions(Path("hf:nobody/nothing"))
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(UserError, match="pip install datasets"):
        read_questions(Path("hf:rmanluo/RoG-webqsp"))


# choices --------------------------------------------------------------------------------------------

CHOICES = ("London", "Paris", "New York", "York")


def predicted(*answers: str, paths: tuple[str, ...] = ()) -> Prediction:
    return Prediction("1", "q", (), ("Paris",), answers, paths, (), 0, 0, 0, not answers, 1.0, 1, 2, 3)


@pytest.mark.parametrize(
    ("answers", "paths", "expected"),
    [
        (("paris",), (), "Paris"),
        (("Berlin", "London"), (), "London"),
        (("(B)",), (), "Paris"),
        (("c.",), (), "New York"),
        (("It must be New York, I think",), (), "New York"),
        (("the capital of France",), (), "Paris"),
        ((), ("Big Ben -> located in -> Greater London",), "London"),
        (("E",), (), "York"),
    ],
)
def test_answers_mean_a_choice(answers, paths, expected):
    if answers == ("E",):  # no letter of a choice: the most similar one, whichever it is
        assert choice_of(CHOICES, predicted("E"), sentence_embedder())[0] in CHOICES
        return
    assert choice_of(CHOICES, predicted(*answers, paths=paths), sentence_embedder()) == (expected,)


def test_without_answers_and_paths_there_is_no_choice():
    assert choice_of(CHOICES, predicted(), sentence_embedder()) == ()


def test_the_choices_stand_in_the_prompt():
    question = Question("1", "Where?", choices=("London", "Paris"))
    assert prompt_of(question) == "Where? Choices: (A) London; (B) Paris."
    assert prompt_of(replace(question, choices=())) == "Where?"


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_with_a_choice(tmp_path: Path, method: str):
    asked = Settings(method=method, beams=2, hops=1, compare=False, explain=0)
    metrics = evaluate(SmallPipeline(), written(tmp_path, "CommonsenseQA"), asked, tmp_path / "out")
    line = json.loads((tmp_path / "out" / "predictions.jsonl").read_text("utf-8"))
    assert line["error"] == ""
    assert line["answers"] in (["London"], [NOLAN], [])  # none where a random model wrote nothing at all
    assert line["answers"] or not line["paths"]
    assert metrics["accuracy"] == metrics["hits@1"] == metrics["hit"] == float(line["answers"] == [NOLAN])
