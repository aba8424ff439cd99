"""What reasoning in steps works on: its options, chains of thoughts with what they have read, and the agent's actions.

The options' defaults are the paper's (section 5, Experimental methods).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import combinations, islice

from kgdemo.events import Thought
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.methods.hop_lists import HopList, Opening, named, stems
from kgdemo.query.plan import Form
from kgdemo.query.query import Query
from kgdemo.reasoners.base import Resources
from kgdemo.settings import option

_MAX_TRIPLES = 12  # of one observation; the page would drown in a hub's
_MAX_MET = 4
_LONGEST_NAME = 200  # characters


class Strategy(str, Enum):
    """How thoughts are organised (section 4.1)."""

    CHAIN = "chain"
    TREE = "tree"
    GRAPH = "graph"


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


OF_TREES = ("branches", "kept", "evaluator")  # a chain has no branches to grow or keep
OF_SEARCHES = ("search_depth", "relations", "entities", "frontier")  # the agent does not search


# Chains of thoughts ------------------------------------------------------------------------------


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


# The agent's actions (section 4.2.1) ---------------------------------------------------------------


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
