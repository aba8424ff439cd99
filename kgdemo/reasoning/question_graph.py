"""The graph of one question (DoG section 3.1 and appendix B): the triples nearest to it, still connected.

From the neighbourhood of the query entities the triples most similar to the question are taken one after
another, each with the triples that lead to it from a query entity, until 120 are together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgdemo.constraint.query_graph import IdTriple, Link, QueryGraph
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import spoken
from kgdemo.reasoning.label_index import LabelIndex

MOST = 120  # DoG section 3.1
# A hub has tens of thousands of triples and an embedder reads some hundreds a second: at each hop only so
# many are read, chosen by the similarity of their relations, which are few.
_READ = 2


def question_graph(
    question: str, topics: Sequence[int], query: QueryGraph, labels: LabelIndex, hops: int, most: int = MOST
) -> tuple[IdTriple, ...]:
    """The stored triples that a chain may use, nearest first.

    Args:
        question: what was asked.
        topics: the query entities' ids.
        query: the whole graph, as links.
        labels: embeddings.
        hops: how far from the query entities to look.
        most: how many triples to keep.
    """
    reached_by: dict[int, Link | None] = dict.fromkeys(topics)
    frontier = list(reached_by)
    near: list[Link] = []
    for _ in range(hops):
        links = _likeliest(question, query.links(frontier), query.kg, labels, _READ * most)
        near += links
        frontier = []
        for link in links:
            if link.last not in reached_by:
                reached_by[link.last] = link
                frontier.append(link.last)
    return _connected(_ranked(question, near, query.kg, labels, _READ * most), reached_by, most)


def text_of(kg: KnowledgeGraph, link: Link) -> str:
    """A link as the embedder reads it: ``(head, relation, tail)`` in the direction it is walked."""
    steps = "-".join(spoken(kg.readings[step]) for step in link.path.steps)
    return f"({kg.entities[link.first]}, {steps}, {kg.entities[link.last]})"


def _likeliest(question: str, links: Sequence[Link], kg: KnowledgeGraph, labels: LabelIndex, most: int) -> list[Link]:
    """The links whose relations are most similar to the question; a fair share of each relation first."""
    if len(links) <= most:
        return list(links)
    relations = [" ".join(spoken(kg.readings[step]) for step in link.path.steps) for link in links]
    names = list(dict.fromkeys(relations))
    score = dict(zip(names, labels.similarity(question, names).tolist(), strict=True))
    seen: dict[str, int] = {}
    turns = []
    for relation in relations:
        seen[relation] = seen.get(relation, 0) + 1
        turns.append(seen[relation] // max(most // 4, 1))  # no relation takes more than a quarter at first
    order = sorted(range(len(links)), key=lambda i: (turns[i], -score[relations[i]]))
    return [links[i] for i in order[:most]]


def _ranked(question: str, links: Sequence[Link], kg: KnowledgeGraph, labels: LabelIndex, most: int) -> list[Link]:
    """Links by the similarity of the whole triple, best first."""
    read = _likeliest(question, links, kg, labels, most)
    order = np.argsort(-labels.similarity(question, [text_of(kg, link) for link in read]), kind="stable")
    return [read[i] for i in order]


def _connected(ranked: Sequence[Link], reached_by: dict[int, Link | None], most: int) -> tuple[IdTriple, ...]:
    """Take links in order, each with those that lead to it, until ``most`` triples are together."""
    taken: dict[IdTriple, None] = {}
    for link in ranked:
        chain, back = list(link.triples), reached_by[link.first]
        while back is not None:
            chain += back.triples
            back = reached_by[back.first]
        new = [triple for triple in chain if triple not in taken]
        if len(taken) + len(new) <= most:
            taken.update(dict.fromkeys(new))
    return tuple(taken)
