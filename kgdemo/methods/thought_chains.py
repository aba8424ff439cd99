"""What reasoning in steps works on: chains of thoughts, the agent's actions, and who decides what comes next.

A chain of thoughts reads the graph step by step (Amayuelas et al. 2025, section 4). A language model writes thoughts
and is asked for each choice. Sentence embeddings compare what could be done, as paths, with the question; a thought
then says in words what was chosen. ``grounding`` has the methods.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import combinations, islice

from kgdemo.events import Event, Thought
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import fold
from kgdemo.kg.path import Path
from kgdemo.methods import retrieval
from kgdemo.methods.hop_lists import (
    HopList,
    Opening,
    named,
    nearest,
    openings,
    start,
    stems,
    walk_decisions,
)
from kgdemo.query.answer_type import fits, kind_of
from kgdemo.query.query import Form, Query
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings, option

_MAX_TRIPLES = 12  # of one observation; the page would drown in a hub's
_MAX_MET = 4
_LONGEST_NAME = 200  # characters


class Evaluator(str, Enum):
    """The heuristic V that keeps states (section 4.1): choose the best, or rate each."""

    SELECT = "select"
    SCORE = "score"


@dataclass(frozen=True, slots=True)
class GroundingOptions:
    """What can be chosen about reasoning in steps.

    Section 7 finds Select slightly better than Score, and nothing gained beyond a search depth of 3. The paper
    names no number for the pruning; 3 is that of Think-on-Graph, whose pruning it follows.
    """

    steps: int = option(10, "n, the longest chain, which is also the deepest tree", minimum=1, maximum=30, public=10)
    branches: int = option(3, "k, thoughts grown from each state of a tree", minimum=1, maximum=10, public=3)
    kept: int = option(3, "t, states kept at each depth (b in equation 2)", minimum=1, maximum=10, public=3)
    evaluator: Evaluator = option(Evaluator.SELECT, "the heuristic that keeps states (section 4.1)")
    search_depth: int = option(3, "d, hops of one graph search", minimum=1, maximum=5, public=3)
    relations: int = option(3, "relations kept by the pruning of one search", minimum=1, maximum=20, public=3)
    entities: int = option(3, "entities kept by the pruning of one search", minimum=1, maximum=20, public=3)
    frontier: int = option(9, "nodes searched at one depth", minimum=1, maximum=50, public=9)


# Chains of thoughts -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Value:
    """A feature or a count read from a node; ``steps`` is the path to it, as texts one step longer each."""

    entity: str
    feature: str
    text: str
    steps: tuple[str, ...]
    hop_list: HopList | None = None  # what was counted

    def __str__(self) -> str:
        return f"{self.entity}, {self.feature}: {self.text}"


@dataclass(frozen=True, slots=True)
class ThoughtChain:
    """A state s of the search: the thoughts z_1…z_i and the graph information G' of all steps (section 4.1).

    Attributes:
        last: ids of the thoughts that the next one follows; two after a merge.
        branch: id of the thought that began the newest step; what an evaluator keeps or prunes.
        lines: the chain as a language model reads it.
        gist: the chain as a path, one step longer each, for a reasoner that compares texts with the question.
        reached: the nodes known, each by the path that led there.
        hop_lists: the triples read, as paths from where the chain began.
        values: features and counts read.
        done: searches and actions that need no repeating.
        answer: what the chain finished with; two hop lists when the answer lies where they meet.
        value: or the feature or count that it finished with.
        finished: whether it needs no further step.
        score: the evaluator's, of the last time.
    """

    last: tuple[int, ...] = ()
    branch: int = 0
    lines: tuple[str, ...] = ()
    gist: tuple[str, ...] = ()
    reached: tuple[Path, ...] = ()
    hop_lists: tuple[HopList, ...] = ()
    values: tuple[Value, ...] = ()
    done: frozenset[str] = frozenset()
    answer: tuple[HopList, ...] = ()
    value: Value | None = None
    finished: bool = False
    score: float = 0.0

    @property
    def summary(self) -> str:
        """The chain as an option for a language model."""
        return "\n   ".join(self.lines)

    @property
    def known(self) -> tuple[object, ...]:
        """What tells chains apart: two that know the same, or came to the same answer, are one."""
        if self.finished:
            return self.answer, self.value
        return frozenset(self.hop_lists), frozenset(self.values), frozenset(self.reached), self.answer, self.value

    def reaching(self, paths: Iterable[Path]) -> ThoughtChain:
        """The chain with some more nodes; of a node known already the first path stays."""
        known = {path.end for path in self.reached}
        new = {path.end: path for path in paths if path.end not in known}
        return replace(self, reached=(*self.reached, *new.values()))


def meet(hop_lists: tuple[HopList, ...]) -> tuple[str, ...]:
    """The entities that all hop lists lead to, in the first one's order."""
    others = [frozenset(hop_list.ends) for hop_list in hop_lists[1:]]
    return tuple(end for own in hop_lists[:1] for end in own.ends if all(end in ends for ends in others))


class Thoughts:
    """Numbers the thoughts of one run from 1 and remembers them.

    When a thought has been judged, it is emitted again under its number, with its fate, score and reason.

    Args:
        resources: the verifier checks every triple before it is shown.
    """

    def __init__(self, resources: Resources) -> None:
        self.resources = resources
        self._by_number: dict[int, Thought] = {}

    def add(
        self,
        kind: str,
        parents: tuple[int, ...],
        text: str,
        entities: tuple[str, ...] = (),
        triples: tuple[tuple[str, str, str], ...] = (),
        fate: str = "open",
        reason: str = "",
    ) -> Thought:
        """A new thought, action or observation; of its triples those that verify, the first dozen."""
        held = tuple(t for t in triples[:_MAX_TRIPLES] if self.resources.verifier.verify(Path.from_labels(t)).faithful)
        thought = Thought(kind, len(self._by_number) + 1, parents, text, entities, held, fate=fate, reason=reason)
        self._by_number[thought.id] = thought
        return thought

    def judge(self, number: int, fate: str, reason: str, score: float = 0.0) -> Thought:
        """An earlier thought, with what became of it."""
        judged = replace(self._by_number[number], fate=fate, reason=reason, score=score)
        self._by_number[number] = judged
        return judged


# The agent's actions (section 4.2.1) --------------------------------------------------------------


class ActionKind(str, Enum):
    """The functions of Graph-CoT, and the end."""

    RETRIEVE = "RetrieveNode"
    FEATURE = "NodeFeature"
    CHECK = "NeighbourCheck"
    DEGREE = "NodeDegree"
    FINISH = "Finish"


@dataclass(frozen=True, slots=True)
class Action:
    """One call, or the end.

    Attributes:
        arguments: as they are written in the call.
        steps: what is asked of the graph, as a path, one step longer each.
        opening: for a check or a count, what is listed or counted.
        answer, value: for the end, what answers the question.
    """

    kind: ActionKind
    arguments: tuple[str, ...]
    steps: tuple[str, ...]
    opening: Opening | None = None
    answer: tuple[HopList, ...] = ()
    value: Value | None = None

    def __str__(self) -> str:
        return call(self.kind, *self.arguments)

    @property
    def stem(self) -> str:
        """What is asked of the graph, as a path."""
        return self.steps[-1]

    @property
    def ends(self) -> tuple[str, ...]:
        """The entities that a chain would end with: where the hop lists of the answer meet."""
        return self.answer[0].ends if len(self.answer) == 1 else meet(self.answer)

    @property
    def option(self) -> str:
        """The action as offered to a language model, with the path behind it."""
        return str(self) if self.kind is ActionKind.RETRIEVE else f"{self}  ({self.stem})"

    @property
    def thought(self) -> str:
        """The thought of which this action follows, for a reasoner that writes none."""
        first, last = self.arguments[0], self.arguments[-1]
        return {
            ActionKind.RETRIEVE: f"The question names {first}: find it in the graph.",
            ActionKind.FEATURE: f"Read what the graph says of {first}: {last}.",
            ActionKind.CHECK: f"See what “{last}” leads to from {first}.",
            ActionKind.DEGREE: f"Count what “{last}” leads to from {first}.",
            ActionKind.FINISH: f"This is the nearest to what is asked: {self.stem}.",
        }[self.kind]


def call(kind: ActionKind, *arguments: str) -> str:
    """A call as text."""
    return f"{kind.value}[{', '.join(arguments)}]"


ANY_NODE = "RetrieveNode[…], with the name of any other node behind the number"


def retrieval_of(text: str) -> Action:
    """Find the node that a text names, as a language model wrote it."""
    name = text.removeprefix(ActionKind.RETRIEVE.value).strip(" []")[:_LONGEST_NAME]
    return Action(ActionKind.RETRIEVE, (name,), (name,))


def retrievals(chain: ThoughtChain, keywords: Sequence[str]) -> Iterator[Action]:
    """The names of the question that no node has been found for yet."""
    known = {path.end for path in chain.reached}
    for keyword in keywords:
        action = Action(ActionKind.RETRIEVE, (keyword,), (keyword,))
        if keyword not in known and str(action) not in chain.done:
            yield action


def checks(openings: Sequence[Opening], chain: ThoughtChain, query: Query) -> Iterator[Action]:
    """List or, where the question asks for a number, count the neighbours by one relation."""
    kinds = [ActionKind.CHECK, *([ActionKind.DEGREE] if query.plan.form is Form.COUNT else [])]
    for opening in openings:
        for kind in kinds:
            steps = (*opening.steps[:-1], f"how many {opening.stem}") if kind is ActionKind.DEGREE else opening.steps
            action = Action(kind, (opening.path.end, opening.relation), steps, opening)
            if str(action) not in chain.done:
                yield action


def features(chain: ThoughtChain, kg: KnowledgeGraph) -> Iterator[Action]:
    """The features of the nodes reached."""
    for path in chain.reached:
        for feature in features_of(path.end, kg):
            action = Action(ActionKind.FEATURE, (path.end, feature), (*stems(path), f"{path} -> {feature}"))
            if str(action) not in chain.done:
                yield action


def endings(chain: ThoughtChain) -> Iterator[Action]:
    """Finish with what one hop list leads to, with where two from different starts meet, or with a value read."""
    for hop_list in chain.hop_lists:
        yield Action(ActionKind.FINISH, (named(hop_list.ends),), hop_list.steps, answer=(hop_list,))
    met = ((one, other) for one, other in combinations(chain.hop_lists, 2) if meet((one, other)))
    apart = (pair for pair in met if pair[0].start != pair[1].start)
    for one, other in islice(apart, _MAX_MET):
        steps = (*one.steps, *other.steps, f"{one.stem} and {other.stem}")
        yield Action(ActionKind.FINISH, (named(meet((one, other))),), steps, answer=(one, other))
    for value in chain.values:
        yield Action(ActionKind.FINISH, (value.text,), value.steps, value=value)


def features_of(entity: str, kg: KnowledgeGraph) -> dict[str, str]:
    """What a graph says of an entity besides its edges, names and type, which RetrieveNode tells."""
    info = kg.info.get(entity)
    if info is None:
        return {}
    own = {"description": info.description}
    return {name: text for name, text in {**own, **info.attributes}.items() if text}


# Who decides --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SearchThought:
    """A thought and the nodes that it names, each by the path that led there; ``gist`` as in ``ThoughtChain``."""

    text: str
    about: tuple[Path, ...]
    gist: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RatedStates:
    """The outcome of an evaluation (the heuristic V of section 4.1).

    Attributes:
        order: indices of the states to keep, best first.
        scores: one for each state.
        rated: each state has a rating of its own; else the scores only say in which place a state was chosen.
    """

    order: Sequence[int]
    scores: Sequence[float]
    rated: bool


class Decisions(ABC):
    """Takes the decisions of reasoning in steps.

    Args:
        query: what is asked.
        resources, settings: the graph, the reasoner and the embedder, and L.
        options: the evaluator and the widths of the search.

    Attributes:
        asks_a_model: each decision is a call, so none is taken that changes nothing: few states are not rated, and a
            tree ends when its best chain has.
        walk: the decisions of a search in the graph.
    """

    asks_a_model: bool

    def __init__(self, query: Query, resources: Resources, settings: Settings, options: GroundingOptions) -> None:
        self.query, self.resources, self.settings, self.options = query, resources, settings, options
        self.walk = walk_decisions(resources)

    @abstractmethod
    def act(
        self, chain: ThoughtChain, actions: Sequence[Action], branches: int
    ) -> Generator[Event, None, list[tuple[str, Action]]]:
        """At most ``branches`` thoughts of an agent, each with the action that follows from it."""

    @abstractmethod
    def think(
        self, chain: ThoughtChain, fresh: Sequence[Path], branches: int
    ) -> Generator[Event, None, list[SearchThought]]:
        """At most ``branches`` thoughts of a search; ``fresh`` are the nodes seen but not searched around."""

    @abstractmethod
    def rate(self, states: Sequence[ThoughtChain], limit: int) -> Generator[Event, None, RatedStates]:
        """The ``limit`` states that are worth growing."""

    @abstractmethod
    def merge(self, one: ThoughtChain, other: ThoughtChain, lines: Sequence[str]) -> Generator[Event, None, str]:
        """A thought that follows from two chains; ``lines`` are both."""

    @abstractmethod
    def rank(self, hop_lists: Sequence[HopList], limit: int) -> Generator[Event, None, list[HopList]]:
        """The likeliest of what was read, where no chain has finished."""


class LanguageModelDecisions(Decisions):
    """Each decision is a question to the language model."""

    asks_a_model = True

    def act(
        self, chain: ThoughtChain, actions: Sequence[Action], branches: int
    ) -> Generator[Event, None, list[tuple[str, Action]]]:
        """See ``Decisions``: it proposes thoughts and the actions that follow from them, all in one call.

        It may also name any node to find, which the actions offered do not (RetrieveNode of Graph-CoT takes any text).
        """
        options = [action.option for action in actions]
        steps = yield from deciding.propose(
            self.resources,
            "action",
            self.query,
            self._task("agent"),
            chain.lines,
            [*options, *([ANY_NODE] if len(options) > 1 else [])],
            branches,
        )
        decided: list[tuple[str, Action]] = []
        for i, text, written in steps:
            if i < len(actions):
                decided.append((text or actions[i].thought, actions[i]))
            elif written and (action := retrieval_of(written)).option not in chain.done:
                decided.append((text or action.thought, action))
        taken = dict.fromkeys(str(action) for _, action in decided)
        return [next(step for step in decided if str(step[1]) == name) for name in taken]

    def think(
        self, chain: ThoughtChain, fresh: Sequence[Path], branches: int
    ) -> Generator[Event, None, list[SearchThought]]:
        """See ``Decisions``: it writes thoughts and finds the entities in them (Search Thought, Entity Extraction)."""
        thoughts: list[SearchThought] = []
        for _ in range(branches):
            task = self._task("explore-thought", before=_other_than([thought.text for thought in thoughts]))
            text = yield from deciding.think(self.resources, self.query, task, chain.lines)
            listed = yield from deciding.plan(
                self.resources, replace(self.query, text=text), self._task("explore-entities")
            )
            about = [path for path in self._nodes(listed, chain) if path.end not in chain.done] or list(fresh)
            thoughts.append(SearchThought(text, tuple(about[: self.options.frontier]), (text,)))
        return thoughts

    def rate(self, states: Sequence[ThoughtChain], limit: int) -> Generator[Event, None, RatedStates]:
        """See ``Decisions``: it rates every state, or chooses the best, as the evaluator says."""
        decision = f"thoughts ({self.options.evaluator.value})"
        texts = [chain.summary for chain in states]
        if self.options.evaluator is Evaluator.SCORE:
            scores = yield from deciding.score(
                self.resources, decision, self.query, self._task("states-score"), texts, limit
            )
            return RatedStates(deciding.best(scores, limit), scores, rated=True)
        chosen = yield from deciding.select(
            self.resources, decision, self.query, self._task("states-select"), texts, limit
        )
        places = {i: 1 - place / len(chosen) for place, i in enumerate(chosen)}
        return RatedStates(chosen, [places.get(i, 0.0) for i in range(len(states))], rated=False)

    def merge(self, one: ThoughtChain, other: ThoughtChain, lines: Sequence[str]) -> Generator[Event, None, str]:
        """See ``Decisions``."""
        return (yield from deciding.think(self.resources, self.query, self._task("merge"), lines))

    def rank(self, hop_lists: Sequence[HopList], limit: int) -> Generator[Event, None, list[HopList]]:
        """See ``Decisions``."""
        texts = [str(hop_list) for hop_list in hop_lists]
        chosen = yield from deciding.select(
            self.resources, "answer", self.query, self._task("paths-answer"), texts, limit
        )
        return [hop_lists[i] for i in chosen]

    def _task(self, name: str, **slots: str) -> str:
        return self.resources.prompts.text(name, **slots)

    def _nodes(self, listed: str, chain: ThoughtChain) -> list[Path]:
        """Nodes called as listed: those seen already, else those of the graph with that very name."""
        seen = {fold(path.end): path for path in chain.reached}
        found = []
        for name in (part.strip(" -.\"'") for part in re.split(r"[;\n]", listed)):
            if fold(name) in seen:
                found.append(seen[fold(name)])
            elif name:
                labels = retrieval.nodes(name, self.resources, 1)
                found += [start(label) for label in labels if fold(label) == fold(name)]
        return list(dict.fromkeys(found))


def _other_than(thoughts: Sequence[str]) -> str:
    """What was thought already, so that the next thought differs (the k samples of equation 1)."""
    return "\n".join(
        ["These were thought already; take another direction:", *(f"- {t}" for t in thoughts)] if thoughts else []
    )


class EmbeddingDecisions(Decisions):
    """Each decision compares paths with the question; both evaluators choose by these ratings."""

    asks_a_model = False

    def act(
        self, chain: ThoughtChain, actions: Sequence[Action], branches: int
    ) -> Generator[Event, None, list[tuple[str, Action]]]:
        """See ``Decisions``: the actions nearest to the question, each with a thought that says so.

        What is not the kind of thing asked for ends no chain, unless nothing else is left to do.
        """
        wanted, kg = self.query.answer_type, self.resources.kg
        fitting = [a for a in actions if not a.answer or any(fits(wanted, kind_of(kg, end)) for end in a.ends)]
        actions = fitting or actions
        chosen = yield from self._best("action", [action.steps for action in actions], branches)
        return [(actions[i].thought, actions[i]) for i in chosen]

    def think(
        self, chain: ThoughtChain, fresh: Sequence[Path], branches: int
    ) -> Generator[Event, None, list[SearchThought]]:
        """See ``Decisions``: a thought is the wish to know what a relation near the question leads to."""
        ahead = [opening for path in fresh for opening in openings(path, self.resources, self.settings)]
        offered = nearest(self.query, ahead, self.resources)
        chosen = yield from self._best("thoughts", [opening.steps for opening in offered], branches)
        taken = [offered[i] for i in chosen]
        return [SearchThought(f"See where {o.stem} leads.", (o.path,), o.steps) for o in taken]

    def rate(self, states: Sequence[ThoughtChain], limit: int) -> Generator[Event, None, RatedStates]:
        """See ``Decisions``: the states whose newest step is nearest to the question."""
        decision = f"thoughts ({self.options.evaluator.value})"
        steps = [chain.gist for chain in states]
        scores = yield from deciding.compare(self.resources, decision, self.query, steps, limit)
        return RatedStates(deciding.best(scores, limit), scores, rated=True)

    def merge(self, one: ThoughtChain, other: ThoughtChain, lines: Sequence[str]) -> Generator[Event, None, str]:
        """See ``Decisions``: both are named."""
        yield from ()
        return f"Put together: {one.gist[-1]}; {other.gist[-1]}."

    def rank(self, hop_lists: Sequence[HopList], limit: int) -> Generator[Event, None, list[HopList]]:
        """See ``Decisions``."""
        chosen = yield from self._best("answer", [hop_list.steps for hop_list in hop_lists], limit)
        return [hop_lists[i] for i in chosen]

    def _best(self, decision: str, options: Sequence[Sequence[str]], limit: int) -> Generator[Event, None, list[int]]:
        scores = yield from deciding.compare(self.resources, decision, self.query, options, limit)
        return deciding.best(scores, limit)
