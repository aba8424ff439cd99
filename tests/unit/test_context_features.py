"""Words around a name that say which of its bearers is meant; and how linking is measured."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest

from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.lab.evaluation.runner import evaluate_linking
from kgdemo.linking import features
from kgdemo.linking.features import Context
from kgdemo.linking.linker import EntityLinker
from kgdemo.linking.words import Word, made_from, named_after, words_of

TRIPLES = [
    ("The Godfather (film)", "based on", "The Godfather (novel)"),
    ("The Godfather (film)", "directed by", "Francis Ford Coppola"),
    ("The Godfather (novel)", "author", "Mario Puzo"),
    ("Guernica", "located in", "Spain"),
    ("Guernica (Picasso)", "located in", "Museo Reina Sofía"),
    ("Guernica (Picasso)", "painted by", "Pablo Picasso"),
    ("Nineteen Eighty-Four", "author", "George Orwell"),
    ("Lee Krasner", "died in year", "1984"),
    ("Neuromancer", "published in year", "1984"),
    ("Friends", "starring", "Jennifer Aniston"),
    ("Jennifer Aniston", "occupation", "actor"),
    ("Joe Biden", "held", "President of the United States"),
    ("United States of America", "capital", "Washington, D.C."),
    ("Joe Biden", "born in", "United States of America"),
    ("Liverpool FC", "home stadium", "Anfield"),
    ("Liverpool", "crossed by", "Mersey"),
]
INFO = {
    "The Godfather (film)": EntityInfo("film"),
    "The Godfather (novel)": EntityInfo("book"),
    "Guernica": EntityInfo("city"),
    "Guernica (Picasso)": EntityInfo("painting"),
    "Nineteen Eighty-Four": EntityInfo("book", ("1984",)),
    "Friends": EntityInfo("series"),
    "President of the United States": EntityInfo("position", ("US president",)),
    "Liverpool FC": EntityInfo("team"),
    "Liverpool": EntityInfo("city"),
}


@pytest.fixture(scope="module")
def linker() -> EntityLinker:
    return EntityLinker(KnowledgeGraph.from_triples(TRIPLES, "cues", {}, INFO))


@pytest.mark.parametrize(
    ("question", "entity", "other"),
    [
        ("who wrote the book behind The Godfather", "The Godfather (film)", "The Godfather (novel)"),
        ("author of the book The Godfather is based on", "The Godfather (film)", "The Godfather (novel)"),
        ("Which city is Guernica kept in?", "Guernica (Picasso)", "Guernica"),
        ("what painting shows Guernica", "Guernica", "Guernica (Picasso)"),
        ("who wrote 1984", "Nineteen Eighty-Four", "1984"),
        ("home stadium of liverpool", "Liverpool FC", "Liverpool"),
        ("what is liverpool crossed by", "Liverpool", "Liverpool FC"),
        ("which us presidents were lawyers", "President of the United States", "United States of America"),
        ("whose film is the godfather, and who is in it", "The Godfather (film)", "The Godfather (novel)"),
        ("whose book is the godfather, and who is in it", "The Godfather (novel)", "The Godfather (film)"),
    ],
)
def test_the_question_says_which_bearer_is_meant_and_the_other_is_offered(linker, question, entity, other):
    mention = next(m for m in linker.link(question).mentions if entity in [c.entity for c in m.candidates])
    assert mention.candidates[0].entity == entity
    assert other in [candidate.entity for candidate in mention.candidates]


def test_a_word_beside_an_ordinary_name_says_that_it_is_one(linker):
    assert linker.link("friends cast").chosen == ("Friends",)
    assert linker.link("who are your friends").chosen == ()


@pytest.mark.parametrize(
    ("question", "end"),
    [
        ("the book behind Dune", 1),
        ("the book Dune is based on", 1),
        ("the novel that Dune is from", 1),
        ("whose novel became Dune", 1),
        ("films based on Dune", -1),
        ("the film made from Frank Herbert's Dune", -1),
        ("who directed Dune", 0),
    ],
)
def test_which_work_is_made_from_which(question: str, end: int):
    assert made_from(*placed(question, "Dune")) == end


@pytest.mark.parametrize(
    ("question", "end"),
    [
        ("the person the Newton is named for", 1),
        ("who is Newton the unit named after?", 1),
        ("things named after Newton", -1),
        ("a unit named for Isaac Newton", -1),
        ("who named Newton's dog after him", 0),
        ("when was Newton born", 0),
    ],
)
def test_which_thing_is_named_after_which(question: str, end: int):
    assert named_after(*placed(question, "Newton")) == end


def placed(question: str, name: str) -> tuple[list[Word], int, int]:
    """The words of a question, and from where to where a name of one word stands."""
    words = words_of(question)
    place = [word.text for word in words].index(name)
    return words, place, place + 1


class CountingEmbedder:
    """Remembers how often it was asked; knows nothing."""

    def __init__(self) -> None:
        self.calls = 0

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.calls += 1
        return np.tile(np.array([1.0, 0.0], np.float32), (len(texts), 1))


def test_a_tie_is_broken_with_one_embedding_once_relations_are_known():
    embedder = CountingEmbedder()
    linker = EntityLinker(KnowledgeGraph.from_triples(TRIPLES, "cues", {}, INFO), embedder)
    linker.link("what about Guernica")
    before = embedder.calls
    linker.link("tell me of Guernica")
    assert embedder.calls == before + 1
    linker.link("tell me of The Godfather")
    assert embedder.calls == before + 2


def test_what_the_first_tie_would_wait_for_can_be_done_before():
    embedder = CountingEmbedder()
    linker = EntityLinker(KnowledgeGraph.from_triples(TRIPLES, "cues", {}, INFO), embedder)
    linker.warm_up()
    before = embedder.calls
    assert before
    linker.link("tell me of Guernica")
    assert embedder.calls == before + 1


def test_linking_is_measured_by_first_candidates(linker, tmp_path):
    questions = [
        {"id": "1", "question": "who wrote 1984", "q_entity": ["Nineteen Eighty-Four"]},
        {"id": "2", "question": "who directed Atlantis", "q_entity": ["Joe Biden"]},
        {"id": "3", "question": "no entity is given"},
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text("".join(json.dumps(question) + "\n" for question in questions), "utf-8")
    metrics = evaluate_linking(linker, file, tmp_path / "out")
    assert (metrics["questions"], metrics["link_accuracy"], metrics["link_chosen"]) == (2, 0.5, 0.5)
    assert 0 < metrics["link_ms_median"] <= metrics["link_ms_worst"]
    assert json.loads((tmp_path / "out" / "metrics.json").read_text("utf-8")) == metrics
    rows = [json.loads(line) for line in (tmp_path / "out" / "links.jsonl").read_text("utf-8").splitlines()]
    assert [row["right"] for row in rows] == [True, False]


def test_profiles_of_many_entities_do_not_pile_up(monkeypatch: pytest.MonkeyPatch):
    kg = KnowledgeGraph.from_triples(TRIPLES, info=INFO)
    everything = [Context(kg).profile(entity) for entity in range(len(kg.entities))]
    monkeypatch.setattr(features, "_PROFILES", 3)
    few = Context(kg)
    for _ in range(2):
        assert [few.profile(entity) for entity in range(len(kg.entities))] == everything
    assert few._kept.cache_info().currsize == 3
