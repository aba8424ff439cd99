"""Path-RAG: candidates by equation 2, read in part where there are many, and the retrievers beside it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.kg.labels import spoken
from kgdemo.methods.fidelis import Bm25, PathRag, VanillaRetriever
from kgdemo.methods.hop_lists import start
from kgdemo.models.embedding import embedding_cache
from kgdemo.query.form import understand
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings
from tests.helpers.reasoning import SpellingEmbedder, film_world
from tests.helpers.strategies import graphs
from tests.unit.test_decoding import finish

QUESTION = "Where was the director of Inception born?"


def rag_for(resources: Resources, keywords: str, alpha: float = 0.3, limit: int = 16) -> PathRag:
    return PathRag(resources, Settings(), keywords, alpha=alpha, retrieved=50, limit=limit)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_candidates_are_scored_by_equation_2(alpha):
    resources = film_world()
    keywords = "director, born"
    index = embedding_cache(resources.embedder)

    def base(relation: str, entity: str) -> float:
        near = index.similarity(keywords, [spoken(relation), entity])
        return float(near[0] + near[1])

    _, candidates = finish(rag_for(resources, keywords, alpha).candidates(start("Inception")))
    assert len(candidates) == len(resources.kg.neighbours("Inception"))
    for candidate in candidates:
        relation, end = candidate.path.relations[-1], candidate.path.end
        onward = [step for step in resources.kg.neighbours(end) if step[1] not in candidate.path.entities]
        ahead = max((base(*step) for step in onward), default=0.0)
        assert candidate.score <= base(relation, end) + alpha * max(ahead, 0.0) + 1e-5
        if len({r for r, _ in onward}) == len(onward) == 1 or not alpha:
            assert candidate.score == pytest.approx(base(relation, end) + alpha * ahead, abs=1e-5)
    assert [c.score for c in candidates] == sorted((c.score for c in candidates), reverse=True)


def test_the_look_ahead_can_turn_the_order_round():
    """Figure 2's idea: a step that looks dull may lead to what is asked for."""
    triples = [("Inception", "made by", "X"), ("X", "born", "London"), ("Inception", "maker", "Y")]
    resources = film_world(triples=triples)
    first = {}
    for alpha in (0.0, 2.0):
        _, candidates = finish(rag_for(resources, "maker, born", alpha).candidates(start("Inception")))
        first[alpha] = candidates[0].path.end
    assert first == {0.0: "Y", 2.0: "X"}


@settings(max_examples=60, deadline=None)
@given(triples=graphs(), directed=st.booleans())
def test_the_look_ahead_is_of_the_first_next_step_whose_relation_is_nearest(triples, directed):
    resources = film_world(triples=triples)
    rag = PathRag(resources, Settings(directed=directed), "part of York", alpha=1.0, retrieved=50, limit=16)
    for entity in list(resources.kg.entities)[:6]:
        path = start(triples[0][0])
        onward = rag.steps(entity, (*path.entities, entity))
        expected = 0.0
        if onward:
            near = rag._relation_scores([relation for relation, _ in onward])
            expected = rag._base([max(onward, key=lambda step: near[step[0]])])[0][1]
        assert rag._ahead(entity, path) == expected


@settings(max_examples=60, deadline=None)
@given(triples=graphs(), limit=st.integers(1, 5))
def test_candidates_are_new_steps_of_the_graph(triples, limit):
    resources = film_world(triples=triples)
    rag = rag_for(resources, "part of New York", limit=limit)
    for retriever in (rag, VanillaRetriever(rag, understand(QUESTION, [], resources.kg))):
        path = start(triples[0][0])
        _, candidates = finish(retriever.candidates(path))
        assert len(candidates) <= limit
        exist = {(r, e) for r, e in resources.kg.neighbours(path.end) if e != path.end}
        assert len(candidates) == min(limit, len(exist))
        assert {(c.path.relations[-1], c.path.end) for c in candidates} <= exist


def test_a_hub_is_read_in_part_and_every_relation_has_its_turn():
    triples = [("Inception", "likes", f"thing {i}") for i in range(500)] + [("Inception", "directed by", "Nolan")]
    resources = film_world(triples=triples)

    class Counting(SpellingEmbedder):
        read = 0

        def encode(self, texts):
            self.read += len(texts)
            return super().encode(texts)

    embedder = Counting()
    rag = rag_for(replace(resources, embedder=embedder), "likes")
    _, candidates = finish(rag.candidates(start("Inception")))
    assert "Nolan" in {c.path.end for c in candidates}
    assert embedder.read < 600, "the labels of a small graph once, and nothing twice"


# BM25 ------------------------------------------------------------------------------------------------


def test_bm25_by_hand():
    """Of two documents with lengths 1 and 3 (mean 2) one word is in both, the other in the second alone."""
    found = Bm25().similarity("Directed by", ["directed", "directed by film"])
    common, rare = math.log(1 + 0.5 / 2.5), math.log(1 + 1.5 / 1.5)
    short, long = 2.2 / (1 + 1.2 * (0.25 + 0.75 / 2)), 2.2 / (1 + 1.2 * (0.25 + 0.75 * 3 / 2))
    assert found.tolist() == pytest.approx([common * short / ((common + rare) * long), 1.0])


def test_bm25_of_nothing_is_nothing_and_the_nearest_come_first():
    assert Bm25().similarity("who?", []).tolist() == []
    assert Bm25().similarity("who?", ["", "film"]).tolist() == [0.0, 0.0]
    assert Bm25().nearest("born in", ["place", "born", "born in", "in"], 2) == [2, 1]


def test_candidates_by_bm25_are_those_that_share_words_and_say_so():
    rag = PathRag(film_world(), Settings(), "directed by", alpha=0.3, retrieved=50, limit=16, likeness=Bm25())
    events, candidates = finish(rag.candidates(start("Inception")))
    assert "directed" in candidates[0].path.relations[-1]
    assert events[0].by == "BM25"
