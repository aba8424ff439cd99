"""A question with eight right answers gets eight: the other ends of a cited relation path, read from the graph."""

from __future__ import annotations

from collections.abc import Iterator

from kgdemo.events import AnswerFinal, Event
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.reasoning.base import Evidence, World

MOST = 50  # a country's hundred cities are a list, not an answer


def same_relations(kg: KnowledgeGraph, path: Path, directed: bool, most: int = MOST) -> list[Path]:
    """All paths from the same topic over the same relations, in the graph's order.

    Args:
        kg: the graph.
        path: the path to generalise.
        directed: follow edges from head to tail only.
        most: stop after so many different ends.
    """
    walks = [(path.entities[0],)]
    for relation in path.relations:
        grown = []
        for walk in walks:
            ends = [end for reading, end in kg.neighbours(walk[-1], directed) if reading == relation]
            grown += [(*walk, end) for end in dict.fromkeys(ends)]
        walks = grown[: 20 * most]
    first_by_end: dict[str, Path] = {}
    for walk in walks:
        first_by_end.setdefault(walk[-1], Path(walk, path.relations))
    return list(first_by_end.values())[:most]


def complete(final: AnswerFinal, evidence: list[Evidence], world: World, directed: bool) -> Iterator[Event]:
    """Add to an answer the entities that its best cited relation path leads to as well.

    Each addition is verified like any path; what is added is listed apart, so that the page can say so.
    """
    cited = [e for e in evidence if any(e.index in numbers for numbers in final.citations)]
    if final.refusal or not cited:
        yield final
        return
    best = cited[0]
    additions = [
        path.end
        for path in same_relations(world.kg, best.path, directed)
        if path.end not in final.answers and path.end != path.entities[0] and world.verifier.verify(path).faithful
    ]
    citations = (*final.citations, *((best.index,) for _ in additions))
    yield AnswerFinal(final.text, (*final.answers, *additions), citations, final.by, tuple(additions), final.refusal)
