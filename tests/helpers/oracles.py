"""Slow, obvious oracles: enumerate everything, share nothing with the engine."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from kgdemo.constraint.label_tokens import ARROW, LabelTokens
from kgdemo.constraint.triple_chains import Link
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.verify import Verifier

Triple = tuple[str, str, str]


def all_paths(triples: Sequence[Triple], topics: Sequence[str], hops: int, directed: bool) -> Iterator[tuple[str, ...]]:
    """All walks of one to ``hops`` hops as label tuples, by plain recursion over the list of triples."""

    def grow(path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if len(path) > 1:
            yield path
        if len(path) // 2 < hops:
            for head, relation, tail in set(triples):
                if head == path[-1]:
                    yield from grow((*path, relation, tail))
                if tail == path[-1] and not directed:
                    yield from grow((*path, backwards(relation, relations), head))

    relations = {relation for _, relation, _ in triples}
    known = {label for head, _, tail in triples for label in (head, tail)}
    for topic in set(topics) & known:
        yield from grow((topic,))


def backwards(relation: str, relations: Collection[str]) -> str:
    """How a relation reads against its edge: behind the fewest tildes that make no name of a relation of its stem."""
    tildes = "~"
    while any(tildes + other in relations for other in relations if other.lstrip("~") == relation.lstrip("~")):
        tildes += "~"
    return tildes + relation


def verifier_of(kg: KnowledgeGraph) -> Verifier:
    """A verifier of a graph whose triples are not at hand as they were given."""
    return Verifier(StatedFacts(kg.triples(), kg.inverse_labels))


@lru_cache(maxsize=20_000)  # the same few labels stand in thousands of paths
def _plain(label_tokens: LabelTokens, text: str) -> list[int]:
    return label_tokens.plain(text)


def spelled(label_tokens: LabelTokens, path: Sequence[str]) -> tuple[int, ...]:
    """The token ids of a path, end mark included: each label and each separator by itself, a space with the label."""
    form = label_tokens.path_format
    written = [(form.begin, path[0])]
    for place in range(1, len(path), 2):
        if place > 1 and form.again:
            written.append((form.again, path[place - 1]))
        written += [(form.relation, path[place]), (form.entity, path[place + 1])]
    ids: list[int] = []
    for number, (before, label) in enumerate(written):
        if number:  # what a path begins with is part of the prompt
            ids += _plain(label_tokens, before[:-1] if before.endswith(" ") else before)
        ids += _plain(label_tokens, (" " if before.endswith(" ") else "") + label)
    return (*ids, *label_tokens.end)


def around(triples: Sequence[tuple[str, str, str]], visited: set[str]) -> set[tuple[str, str, str]]:
    """Equation 1, read off a list of triples."""
    return {triple for triple in triples if visited & {triple[0], triple[2]}}


def labels_of(kg: KnowledgeGraph, link: Link) -> list[Triple]:
    """The stored triples of a link."""
    return [(kg.entities[h], kg.relations[r], kg.entities[t]) for h, r, t in link.triples]


def splices_exactly(label_tokens: LabelTokens, labels: Sequence[str]) -> bool:
    """Whether splicing equals tokenising whole strings, tried on chains of the given labels."""
    return all(
        label_tokens.plain(f" {first} {ARROW} {second}")
        == [*label_tokens.plain(" " + first), *label_tokens.arrow, *label_tokens.plain(" " + second)]
        for first, second in pairwise(labels)
    )
