"""Walking a graph from node to node: what leads on, and what was found there.

A *trail* is one relation path with all the entities that it leads to. Agent, Automatic Graph Exploration
and the think-on-graph baseline walk by trails; nothing in them comes from anywhere but the graph.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

from kgdemo.events import DeductionChecked, Event
from kgdemo.kg.labels import spoken
from kgdemo.kg.path import SEPARATOR, Path
from kgdemo.models.embedding import label_index
from kgdemo.query.answer_type import answer_type_of, fits, kind_of
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings

OFFERED = 24  # options put to a reasoner at once; more are cut to the nearest to the question by their relation
ENDS_SHOWN = 8
_RELATIONS = "Which of these relations, each behind the path that leads to it, help to answer the question?"
_ENOUGH = "The facts are enough to answer the question."
_ENTITIES = "Which of the entities at the ends of these paths matter for the question?"


@dataclass(frozen=True, slots=True)
class HopList:
    """Paths with the same relations and the same start but different ends."""

    paths: tuple[Path, ...]

    @property
    def start(self) -> str:
        """The entity it starts from."""
        return self.paths[0].entities[0]

    @property
    def ends(self) -> tuple[str, ...]:
        """The entities it leads to."""
        return tuple(path.end for path in self.paths)

    @property
    def stem(self) -> str:
        """The path without its end: what was asked of the graph.

        A reasoner that compares texts finds the right relations by it far more often than with the end
        included, whose name has nothing to do with the question.
        """
        return self.steps[-1]

    @property
    def steps(self) -> tuple[str, ...]:
        """The stems of the path's beginnings, its own last."""
        return stems(self.paths[0])

    @property
    def triples(self) -> tuple[tuple[str, str, str], ...]:
        """The last hops: what was read from the graph."""
        return tuple(path.hops[-1] for path in self.paths)

    def __str__(self) -> str:
        return f"{self.stem}{SEPARATOR}{named(self.ends)}"


@dataclass(frozen=True, slots=True)
class Opening:
    """A relation that leads on from where a path stands, not yet followed."""

    path: Path  # of no hops where it stands at a start
    relation: str
    ends: tuple[str, ...]

    @property
    def stem(self) -> str:
        """As in ``HopList``."""
        return self.steps[-1]

    @property
    def steps(self) -> tuple[str, ...]:
        """As in ``HopList``."""
        return (*stems(self.path), SEPARATOR.join([str(self.path), self.relation]))

    def follow(self, ends: Iterable[str] | None = None) -> HopList:
        """The trail behind the opening, to some of its ends or to all."""
        grown = (*self.path.relations, self.relation)
        chosen = self.ends if ends is None else tuple(ends)
        return HopList(tuple(Path((*self.path.entities, end), grown) for end in chosen))


def start(entity: str) -> Path:
    """A path of no hops."""
    return Path((entity,), ())


def openings(path: Path, resources: Resources, settings: Settings) -> list[Opening]:
    """What leads on from the end of a path: never back to an entity on it, never further than L hops."""
    if len(path.relations) >= settings.hops:
        return []
    found: dict[str, dict[str, None]] = {}
    for relation, entity in resources.kg.neighbours(path.end, settings.directed):
        if entity not in path.entities:
            found.setdefault(relation, {})[entity] = None
    return [Opening(path, relation, tuple(ends)) for relation, ends in found.items()]


def nearest(question: str, options: Sequence[Opening], resources: Resources, limit: int = OFFERED) -> list[Opening]:
    """The openings whose relations are nearest to the question, best first."""
    labels = label_index(resources.embedder)
    order = labels.nearest(question, [spoken(option.relation) for option in options], limit)
    return [options[i] for i in order]


def prune_relations(
    question: str, options: Sequence[Opening], resources: Resources, limit: int
) -> Generator[Event, None, list[Opening]]:
    """Keep the relations that help (Grounding algorithm 1, line 11; ToG's relation pruning)."""
    offered = nearest(question, options, resources)
    if deciding.writes_prose(resources.reasoner):
        stems = [option.stem for option in offered]
        chosen = yield from deciding.select(resources, "relations", question, _RELATIONS, stems, limit)
    else:
        scores = yield from deciding.compare(resources, "relations", question, [o.steps for o in offered], limit)
        chosen = tuple(deciding.best(scores, limit))
    return [offered[i] for i in chosen]


def prune_entities(question: str, option: Opening, resources: Resources, limit: int) -> Generator[Event, None, HopList]:
    """Keep the entities that matter behind one relation (algorithm 1, line 12); few enough are all kept.

    Of more than can be offered the ones named in the question come first, then the likeliest.
    """
    if len(option.ends) <= limit:
        return option.follow()
    asked = question.casefold()
    paths = likeliest_first(question, option.follow().paths, resources)
    offered = [path.end for path in sorted(paths, key=lambda path: path.end.casefold() not in asked)[:OFFERED]]
    texts = [str(path) for path in option.follow(offered).paths]
    chosen = yield from deciding.select(resources, "entities", question, _ENTITIES, texts, limit)
    return option.follow(offered[i] for i in chosen)


def likeliest_first(question: str, paths: Sequence[Path], resources: Resources) -> list[Path]:
    """Paths over the same relations: those to the kind of thing asked for first, and of these to the best known."""
    asked, kg = answer_type_of(question, resources.kg.types), resources.kg
    return sorted(
        paths, key=lambda path: (-fits(asked, kind_of(kg, path.end)), -kg.degree(kg.entities.find(path.end) or 0))
    )


def enough(
    question: str,
    hop_lists: Sequence[HopList],
    ahead: Sequence[Opening],
    resources: Resources,
    values: Sequence[str] = (),
) -> Generator[Event, None, tuple[bool, HopList | None]]:
    """Whether what was found answers the question (algorithm 1's End?; ToG's reasoning step).

    A language model says yes or no. The embedded reasoner cannot; it compares what was found with what lies
    ahead, of either what leads to the kind of thing asked for, and when a trail found is nearest to the question,
    that is the end.

    Returns:
        the outcome, and the trail nearest to the question where one was singled out.
    """
    if not hop_lists:
        return False, None
    if deciding.writes_prose(resources.reasoner):
        facts = [*map(str, hop_lists), *values]
        return (yield from deciding.verify(resources, question, _ENOUGH, facts)), None
    known = [*hop_lists, *nearest(question, ahead, resources)]
    asked = answer_type_of(question, resources.kg.types)
    fitting = [option for option in known if fits(asked, kind_of(resources.kg, option.ends[0]))]
    options = {option.stem: option for option in fitting or known}
    scores = yield from deciding.compare(resources, "enough", question, [o.steps for o in options.values()], 1)
    best = list(options.values())[deciding.best(scores, 1)[0]]
    found = best if isinstance(best, HopList) else None
    yield DeductionChecked(_ENOUGH, (best.stem,), found is not None, resources.reasoner.name)
    return found is not None, found


def named(entities: Sequence[str], limit: int = ENDS_SHOWN) -> str:
    """Entities as text, the first few by name."""
    rest = len(entities) - limit
    return ", ".join(entities[:limit]) + (f" and {rest} more" if rest > 0 else "")


def stems(path: Path) -> tuple[str, ...]:
    """A path's beginnings, each without its end: ``e0 -> r1``, ``e0 -> r1 -> e1 -> r2``, …"""
    labels = [path.entities[0]]
    found = []
    for _, relation, end in path.hops:
        found.append(SEPARATOR.join([*labels, relation]))
        labels += [relation, end]
    return tuple(found)
