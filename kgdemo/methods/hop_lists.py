"""Walking a graph from node to node: what leads on, what was found there, and who decides where to go.

A *hop list* is one relation path with all the entities that it leads to; an *opening* is a relation that leads on and
has not been followed yet. The agent, Automatic Graph Exploration, FiDeLiS and the think-on-graph baseline walk by them,
and prune them by ``WalkDecisions``. Everything in a hop list comes from the graph.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

from kgdemo.events import DeductionChecked, Event
from kgdemo.kg.labels import spoken
from kgdemo.kg.path import SEPARATOR, Path
from kgdemo.models.embedding import embedding_cache
from kgdemo.query.answer_type import fits, kind_of
from kgdemo.query.query import Query
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import EmbeddedReasoner, Resources
from kgdemo.settings import Settings

MAX_OFFERED = 24  # options put to a reasoner at once; more are cut to the nearest to the question by their relation
ENDS_SHOWN = 8
_ENOUGH = "The facts are enough to answer the question."


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
        """The hop list behind the opening, to some of its ends or to all."""
        longer = (*self.path.relations, self.relation)
        chosen = self.ends if ends is None else tuple(ends)
        return HopList(tuple(Path((*self.path.entities, end), longer) for end in chosen))


def start(entity: str) -> Path:
    """A path of no hops."""
    return Path((entity,), ())


def topic_starts(query: Query, resources: Resources) -> list[Path]:
    """Paths of no hops at the topics that the graph knows."""
    return [start(topic) for topic in query.topics if topic in resources.kg.entities]


def openings(path: Path, resources: Resources, settings: Settings) -> list[Opening]:
    """What leads on from the end of a path: never back to an entity on it, never further than L hops."""
    if len(path.relations) >= settings.hops:
        return []
    found: dict[str, dict[str, None]] = {}
    for relation, entity in resources.kg.neighbours(path.end, settings.directed):
        if entity not in path.entities:
            found.setdefault(relation, {})[entity] = None
    return [Opening(path, relation, tuple(ends)) for relation, ends in found.items()]


def nearest(query: Query, options: Sequence[Opening], resources: Resources, limit: int = MAX_OFFERED) -> list[Opening]:
    """The openings whose relations are nearest to the question, best first."""
    labels = embedding_cache(resources.embedder)
    order = labels.nearest(query.text, [spoken(option.relation) for option in options], limit)
    return [options[i] for i in order]


def likeliest_first(query: Query, paths: Sequence[Path], resources: Resources) -> list[Path]:
    """Paths over the same relations: those to the kind of thing asked for first, and of these to the best known."""
    kg = resources.kg

    def key(path: Path) -> tuple[int, int]:
        return -fits(query.answer_type, kind_of(kg, path.end)), -kg.degree(kg.entities.find(path.end) or 0)

    return sorted(paths, key=key)


# Decisions on the way -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WalkDecisions(ABC):
    """The decisions of a walk (Grounding algorithm 1; think-on-graph)."""

    resources: Resources

    @abstractmethod
    def prune_relations(
        self, query: Query, options: Sequence[Opening], limit: int
    ) -> Generator[Event, None, list[Opening]]:
        """Keep the relations that help (Grounding algorithm 1, line 11; ToG's relation pruning)."""

    @abstractmethod
    def prune_paths(self, query: Query, candidates: Sequence[Path], limit: int) -> Generator[Event, None, list[Path]]:
        """Keep the most helpful of paths whose relations have been pruned (ToG's entity pruning)."""

    @abstractmethod
    def enough(
        self, query: Query, hop_lists: Sequence[HopList], ahead: Sequence[Opening], values: Sequence[str] = ()
    ) -> Generator[Event, None, tuple[bool, HopList | None]]:
        """Whether what was found answers the question (algorithm 1's End?; ToG's reasoning step).

        Args:
            query: what is asked.
            hop_lists: what was found.
            ahead: what could be followed next.
            values: attributes found, in words.

        Returns:
            the outcome, and the hop list nearest to the question where one was singled out.
        """


def walk_decisions(resources: Resources) -> WalkDecisions:
    """The decisions of these resources' reasoner."""
    return LanguageModelWalk(resources) if resources.reasoner.is_language_model else EmbeddingWalk(resources)


class LanguageModelWalk(WalkDecisions):
    """``WalkDecisions`` by a language model, which is asked each time."""

    def prune_relations(
        self, query: Query, options: Sequence[Opening], limit: int
    ) -> Generator[Event, None, list[Opening]]:
        """See ``WalkDecisions``."""
        offered = nearest(query, options, self.resources)
        stems = [option.stem for option in offered]
        chosen = yield from deciding.select(
            self.resources, "relations", query, self.resources.prompts.text("relations"), stems, limit
        )
        return [offered[i] for i in chosen]

    def prune_paths(self, query: Query, candidates: Sequence[Path], limit: int) -> Generator[Event, None, list[Path]]:
        """See ``WalkDecisions``."""
        texts = [str(path) for path in candidates]
        chosen = yield from deciding.select(
            self.resources, "paths", query, self.resources.prompts.text("paths"), texts, limit
        )
        return [candidates[i] for i in chosen]

    def enough(
        self, query: Query, hop_lists: Sequence[HopList], ahead: Sequence[Opening], values: Sequence[str] = ()
    ) -> Generator[Event, None, tuple[bool, HopList | None]]:
        """See ``WalkDecisions``: the model says yes or no and singles nothing out."""
        if not hop_lists:
            return False, None
        facts = [*map(str, hop_lists), *values]
        task = self.resources.prompts.text("enough")
        return (yield from deciding.verify(self.resources, query, _ENOUGH, facts, task)), None


class EmbeddingWalk(WalkDecisions):
    """``WalkDecisions`` by sentence embeddings, which compare relation paths with the question."""

    def prune_relations(
        self, query: Query, options: Sequence[Opening], limit: int
    ) -> Generator[Event, None, list[Opening]]:
        """See ``WalkDecisions``."""
        offered = nearest(query, options, self.resources)
        steps = [option.steps for option in offered]
        scores = yield from deciding.compare(self.resources, "relations", query, steps, limit)
        return [offered[i] for i in deciding.best(scores, limit)]

    def prune_paths(self, query: Query, candidates: Sequence[Path], limit: int) -> Generator[Event, None, list[Path]]:
        """See ``WalkDecisions``: names say little to embeddings, and the relations are chosen already."""
        yield from ()
        return list(candidates[:limit])

    def enough(
        self, query: Query, hop_lists: Sequence[HopList], ahead: Sequence[Opening], values: Sequence[str] = ()
    ) -> Generator[Event, None, tuple[bool, HopList | None]]:
        """See ``WalkDecisions``: what was found is compared with what lies ahead.

        Of either what leads to the kind of thing asked for counts. When a hop list found is nearest to the question,
        that is the end.
        """
        if not hop_lists:
            return False, None
        kg = self.resources.kg
        known: list[HopList | Opening] = [*hop_lists, *nearest(query, ahead, self.resources)]
        fitting = [option for option in known if fits(query.answer_type, kind_of(kg, option.ends[0]))]
        options = list({option.stem: option for option in fitting or known}.values())
        scores = yield from deciding.compare(self.resources, "enough", query, [o.steps for o in options], 1)
        best = options[deciding.best(scores, 1)[0]]
        found = best if isinstance(best, HopList) else None
        yield DeductionChecked(_ENOUGH, (best.stem,), found is not None, EmbeddedReasoner.name)
        return found is not None, found


def prune_entities(query: Query, option: Opening, resources: Resources, limit: int) -> Generator[Event, None, HopList]:
    """Keep the entities that matter behind one relation (algorithm 1, line 12); few enough are all kept.

    Of more than can be offered the ones named in the question come first, then the likeliest.
    """
    if len(option.ends) <= limit:
        return option.follow()
    question = query.text.casefold()
    paths = likeliest_first(query, option.follow().paths, resources)
    offered = [path.end for path in sorted(paths, key=lambda path: path.end.casefold() not in question)[:MAX_OFFERED]]
    texts = [str(path) for path in option.follow(offered).paths]
    chosen = yield from deciding.select(resources, "entities", query, resources.prompts.text("entities"), texts, limit)
    return option.follow(offered[i] for i in chosen)


# Paths as text ------------------------------------------------------------------------------------


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
