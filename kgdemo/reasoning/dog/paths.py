"""From DoG's chains to verified paths: a chain hangs together as trees, and each branch is a path from a topic."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from kgdemo.constraint.base import PathIds
from kgdemo.events import Event, HypothesisAnswer, PathFound, PathVerified
from kgdemo.kg.path import Path
from kgdemo.reasoning.base import Evidence, World
from kgdemo.reasoning.dog.chain import Chain
from kgdemo.reasoning.ranking import labelled


def paths_of(chain: Chain, topics: Sequence[int]) -> list[PathIds]:
    """A chain as paths from the topics: its triples hang together as trees, and each leaf is a path's end.

    The path of the last triple comes first: it is the one the model concluded with.
    """
    by_entity = {topic: PathIds((topic,), ()) for topic in topics}
    leaves: dict[PathIds, None] = {}
    for link in chain.state.links:
        before = by_entity[link.first]
        path = PathIds((*before.entities, *link.path.entities[1:]), (*before.steps, *link.path.steps))
        leaves.pop(before, None)
        leaves[path] = None
        by_entity.setdefault(link.last, path)
    return list(reversed(leaves))


def grounded(chains: Sequence[Chain], topics: Sequence[int], world: World) -> Generator[Event, None, list[Evidence]]:
    """Report and verify the chains' paths, best chain first."""
    found: dict[Path, tuple[Chain, str]] = {}
    for chain in chains:
        for place, ids in enumerate(paths_of(chain, topics)):
            answer = chain.notes[-1].answer if chain.notes and not place else ""
            found.setdefault(labelled(world.tokenised, ids), (chain, answer))
    evidence = []
    for index, (path, (chain, answer)) in enumerate(found.items(), 1):
        beam = chain.written[-1].beam
        yield PathFound(True, index, str(path), chain.score, path, beam, chain.relation_score)
        if answer:
            yield HypothesisAnswer(True, index, answer)
        yield PathVerified(True, index, world.verifier.verify(path, answer or None))
        evidence.append(Evidence(index, path, answer, chain.score, chain.relation_score))
    return evidence
