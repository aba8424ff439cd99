"""What is held against an answer that the graph holds and nobody asked for."""

from __future__ import annotations

import pytest

from kgdemo.answering.objections import objection
from kgdemo.answering.operands import Sets
from kgdemo.events import AnswerFinal, Operand, Operation
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.pipeline import Pipeline
from kgdemo.query.form import understand
from kgdemo.settings import Settings

_KG = KnowledgeGraph.from_triples(
    [
        ("Ada", "gender", "woman"),
        ("Bob", "gender", "man"),
        ("Bob", "knows", "Ada"),
        ("Rhine", "flows through", "Basel"),
    ],
    "small",
)


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return Pipeline()


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Which rocket launched Apollo 11?", "no rocket"),
        ("Which astronauts landed on Pluto?", "no astronauts"),
        ("Who was the first woman on the Moon?", "asks for a woman"),
        ("What is the capital city of the Republic of Velmoria?", "Velmoria"),
        ("What is the most beautiful island in Oceania?", "judgement"),
    ],
)
def test_what_is_not_asked_for_is_no_answer(pipeline: Pipeline, question: str, said: str) -> None:
    events = list(pipeline.run(question, Settings(compare=False, explain=0)))
    final = next(event for event in events if isinstance(event, AnswerFinal))
    assert said in final.refusal


@pytest.mark.parametrize(
    ("question", "answers", "held"),
    [
        ("Who was the first woman in space?", ("Bob",), True),
        ("Who was the first woman in space?", ("Ada",), False),
        ("Who was the first person in space?", ("Bob",), False),
        ("Who did the woman in red marry?", ("Bob",), False),  # it asks for no woman
        ("Which is longer, the Rhine or the Elbe?", ("Basel",), True),
        ("Which is longer, the Rhine or the Elbe?", ("Rhine",), False),
    ],
)
def test_another_gender_and_none_of_those_named(question: str, answers: tuple[str, ...], held: bool) -> None:
    final = AnswerFinal("It is.", answers, (), "test")
    query = understand(question, (), _KG)
    assert bool(objection(query, final, (), Sets(_KG, directed=False), "")) is held


def test_a_name_that_nobody_knows_comes_first() -> None:
    final = AnswerFinal("It is.", ("Ada",), (), "test")
    query = understand("Who wrote Quondle?", (), _KG)
    assert "Quondle" in objection(query, final, (), Sets(_KG, directed=False), "Quondle")


def _step(*paths: Path) -> Operation:
    ends = tuple(path.end for path in paths)
    return Operation("step", "so", tuple(Operand(path.end, (path,)) for path in paths), ends, verified=True)


@pytest.mark.parametrize(
    ("question", "relation", "missing", "held"),
    [
        ("Who owns the shop?", "founded by", "owned by", True),  # the founder is no owner
        ("Who owns the shop?", "owned by", "owned by", False),
        ("Who founded the shop?", "founded by", "owned by", False),
        ("Who was Ada's doctoral advisor?", "doctoral student", "doctoral advisor", True),
        ("Who succeeded Ada?", "preceded by", "", True),
        ("Who succeeded Ada?", "succeeded by", "", False),
    ],
)
def test_another_relation_is_no_answer(question: str, relation: str, missing: str, held: bool) -> None:
    query, final = understand(question, (), _KG), AnswerFinal("Bob.", ("Bob",), (), "test")
    operations = (_step(Path(("Ada", "Bob"), (relation,))),)
    assert bool(objection(query, final, operations, Sets(_KG, directed=False), "", missing)) is held


def test_several_are_not_the_one_in_a_part() -> None:
    query = understand("Who is the captain of the team?", (), _KG)
    paths = [Path(("Team", name), ("has player",)) for name in ("Ada", "Bob", "Cyd", "Dan")]
    final = AnswerFinal("They.", tuple(path.end for path in paths), (), "test")
    sets = Sets(_KG, directed=False)
    assert "captain" in objection(query, final, (_step(*paths),), sets, "")
    captains = tuple(Path(("Team", path.end), ("captain",)) for path in paths)
    assert not objection(query, final, (_step(*captains),), sets, "")
