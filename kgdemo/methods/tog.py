"""ToG-like agent beam search (Sun et al. 2024, Think-on-Graph): paths grown hop by hop, pruned by the reasoner.

At each depth relations are proposed and pruned, then entities, and the reasoner says whether the N paths left are
enough. Grounding's algorithm 1 prunes in the same way, so the decisions are the same code (``WalkDecisions``).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from itertools import chain, zip_longest

from kgdemo.answering.answer_sets import conclude, show
from kgdemo.events import Event, Thought
from kgdemo.kg.graph import Triple
from kgdemo.kg.path import Path
from kgdemo.methods.hop_lists import (
    HopList,
    Opening,
    WalkDecisions,
    nearest,
    openings,
    prune_entities,
    start,
    walk_decisions,
)
from kgdemo.methods.registry import register
from kgdemo.query.query import Query
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings

WIDTH = 3  # N, the paper's beam width
DEPTH = 3  # the paper's greatest depth; L bounds it further
_DROPPED_SHOWN = 6  # dropped options that are shown as thoughts, the nearest; all are among the candidates


@register(
    "tog",
    "Think on graph",
    "Sun et al. 2024 (ToG)",
    "Grows three paths hop by hop: the reasoner prunes relations, then entities, and says when it is enough.",
)
def run(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """Search and prune relations, search and prune entities, reason; at most three hops."""
    decisions = walk_decisions(resources)
    beams: list[Path] = [start(topic) for topic in query.topics if topic in resources.kg.entities]
    hop_lists: list[HopList] = []
    thoughts = _Thoughts()
    for _ in range(min(DEPTH, settings.hops)):
        ahead = [opening for beam in beams for opening in openings(beam, resources, settings)]
        if not ahead:
            break
        selected = yield from decisions.prune_relations(query, ahead, WIDTH)
        left = nearest(query, [opening for opening in ahead if opening not in selected], resources, _DROPPED_SHOWN)
        yield from thoughts.relations_dropped(left, len(selected))
        hop_lists, beams = yield from _pruned(query, selected, resources, decisions, thoughts)
        further = [opening for beam in beams for opening in openings(beam, resources, settings)]
        holds, best = yield from decisions.enough(query, hop_lists, further)
        if holds:
            beams = [path for path in beams if best and path in best.paths] or beams
            break
    paths = [(path, 0.0) for path in beams if path.relations]
    evidence = yield from show(paths, resources, settings.beams)
    yield from conclude(query, evidence, resources, directed=settings.directed, whole=settings.complete)


def _pruned(
    query: Query, selected: Sequence[Opening], resources: Resources, decisions: WalkDecisions, thoughts: _Thoughts
) -> Generator[Event, None, tuple[list[HopList], list[Path]]]:
    """The N paths left behind the relations kept, one of each relation before a second of any, and their hop lists."""
    pruned = [prune_entities(query, opening, resources, WIDTH) for opening in selected]
    found = yield from deciding.concurrently(resources, pruned)
    columns = zip_longest(*(hop_list.paths for hop_list in found))
    candidates = [path for path in chain.from_iterable(columns) if path is not None]
    beams = yield from decisions.prune_paths(query, candidates, WIDTH)
    yield from thoughts.paths_weighed(candidates, beams)
    left = [HopList(tuple(path for path in hop_list.paths if path in beams)) for hop_list in found]
    return [hop_list for hop_list in left if hop_list.paths], beams


class _Thoughts:
    """The search as a tree: every path kept hangs from the one it grew from, and what was dropped beside it."""

    def __init__(self) -> None:
        self._count = 0
        self._of: dict[Path, int] = {}  # the thought of each path kept

    def relations_dropped(self, dropped: Sequence[Opening], selected: int) -> Iterator[Event]:
        """Relations that nothing was looked up for."""
        for opening in dropped:
            yield self._thought(opening.path, opening.stem, "pruned", f"not among the {selected} relations kept")

    def paths_weighed(self, candidates: Sequence[Path], selected: Sequence[Path]) -> Iterator[Event]:
        """Paths read from the graph, those that go on and those that do not."""
        for path in [*selected, *(path for path in candidates if path not in selected)]:
            before = Path(path.entities[:-1], path.relations[:-1])
            fate, reason = ("kept", "") if path in selected else ("pruned", f"not among the {len(selected)} paths kept")
            thought = self._thought(before, str(path), fate, reason, (path.end,), (path.hops[-1],))
            yield thought
            if path in selected:
                self._of[path] = thought.id

    def _thought(
        self,
        before: Path,
        text: str,
        fate: str,
        reason: str,
        entities: tuple[str, ...] = (),
        triples: tuple[Triple, ...] = (),
    ) -> Thought:
        self._count += 1
        parents = (self._of[before],) if before in self._of else ()  # the topics are no thoughts
        return Thought("thought", self._count, parents, text, entities, triples, fate=fate, reason=reason)
