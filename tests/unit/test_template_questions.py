"""Questions made from templates to measure with: what they ask, what answers them, and the command that writes them."""

from __future__ import annotations

import pytest

from kgdemo.cli import main
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import open_graph
from kgdemo.lab.questions import read_questions, write_questions
from kgdemo.lab.training import templates
from kgdemo.lab.training.examples import HELD_OUT, SEEN, relation_group
from kgdemo.lab.training.templates import template_questions
from tests.helpers.training import TEMPLATES, TRIPLES, film_graph

KG = film_graph()


def test_either_kind_asks_for_its_own_relations_and_gives_all_their_ends():
    questions = list(template_questions(KG, TEMPLATES, {"starring"}, 5, seed=3))
    assert [question.id.rsplit("-", 1)[0] for question in questions] == [SEEN] * 5 + [HELD_OUT] * 5
    for question in questions:
        (topic,), (relation,) = question.topic_entities, question.relation_path
        head, tail = (2, 0) if relation.startswith("~") else (0, 2)
        expected = {t[tail] for t in TRIPLES if t[1] == relation.removeprefix("~") and t[head] == topic}
        assert question.gold == expected != set()
        assert relation_group(KG, question, {"starring"}) == question.id.rsplit("-", 1)[0]
    assert len({question.text for question in questions}) == 10


def test_a_seed_says_which_questions():
    first = list(template_questions(KG, TEMPLATES, (), 6, seed=1))
    assert list(template_questions(KG, TEMPLATES, (), 6, seed=1)) == first
    assert list(template_questions(KG, TEMPLATES, (), 6, seed=2)) != first


def test_too_few_questions_are_said_so(monkeypatch):
    monkeypatch.setattr(templates, "add_noise", lambda rng, text: text)  # every typo makes another question
    one_film = KnowledgeGraph.from_triples([("Inception", "directed by", "Christopher Nolan")])
    with pytest.raises(ValueError, match="no 100 different"):
        list(template_questions(one_film, TEMPLATES, (), 100, seed=1))


def test_what_is_written_is_read_again(tmp_path):
    questions = list(template_questions(KG, TEMPLATES, (), 4, seed=1))
    write_questions(tmp_path / "q.jsonl", questions)
    assert read_questions(tmp_path / "q.jsonl") == questions


def test_the_command_writes_them(tmp_path, capsys):
    (tmp_path / "held_out.json").write_text('{"world": ["capital"]}', "utf-8")
    rest = ["--held-out", str(tmp_path / "held_out.json"), "--number", "3", "--out", str(tmp_path / "new" / "q.jsonl")]
    assert main(["templates", "world", "--kg", "world", *rest]) == 0
    resources, questions = open_graph("world"), read_questions(tmp_path / "new" / "q.jsonl")
    assert len(questions) == 6
    assert all(set(question.topic_entities) | question.gold <= set(resources.entities) for question in questions)
    assert {question.relation_path[0].removeprefix("~") for question in questions[3:]} == {"capital"}
    assert main(["templates", "atlantis", "--kg", "world", *rest]) == 2
    assert "choose one of freebase, metaqa, world" in capsys.readouterr().err
    assert main(["templates", "freebase", "--kg", "world", *rest]) == 2
    assert "written for" in capsys.readouterr().err
