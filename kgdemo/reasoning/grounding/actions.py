"""The agent's actions on a graph (section 4.2.1): which are possible, and how each reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations, islice

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.reasoning.grounding.chains import Chain, Value, meet
from kgdemo.reasoning.trails import Opening, Trail, named, stems

_COUNTING = re.compile(r"\b(how many|number of|count)\b", re.IGNORECASE)
_MEETINGS = 4


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
    answer: tuple[Trail, ...] = ()
    value: Value | None = None

    def __str__(self) -> str:
        return call(self.kind, *self.arguments)

    @property
    def stem(self) -> str:
        """What is asked of the graph, as a path."""
        return self.steps[-1]

    @property
    def ends(self) -> tuple[str, ...]:
        """The entities that a chain would end with: where the trails of the answer meet."""
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


def retrievals(chain: Chain, keywords: Sequence[str]) -> Iterator[Action]:
    """The names of the question that no node has been found for yet."""
    known = {path.end for path in chain.reached}
    for keyword in keywords:
        action = Action(ActionKind.RETRIEVE, (keyword,), (keyword,))
        if keyword not in known and str(action) not in chain.done:
            yield action


def checks(openings: Sequence[Opening], chain: Chain, question: str) -> Iterator[Action]:
    """List or, where the question asks for a number, count the neighbours by one relation."""
    kinds = [ActionKind.CHECK, *([ActionKind.DEGREE] if _COUNTING.search(question) else [])]
    for opening in openings:
        for kind in kinds:
            steps = (*opening.steps[:-1], f"how many {opening.stem}") if kind is ActionKind.DEGREE else opening.steps
            action = Action(kind, (opening.path.end, opening.relation), steps, opening)
            if str(action) not in chain.done:
                yield action


def features(chain: Chain, kg: KnowledgeGraph) -> Iterator[Action]:
    """The features of the nodes reached."""
    for path in chain.reached:
        for feature in features_of(path.end, kg):
            action = Action(ActionKind.FEATURE, (path.end, feature), (*stems(path), f"{path} -> {feature}"))
            if str(action) not in chain.done:
                yield action


def endings(chain: Chain) -> Iterator[Action]:
    """Finish with what one trail leads to, with where two from different starts meet, or with a value read."""
    for trail in chain.trails:
        yield Action(ActionKind.FINISH, (named(trail.ends),), trail.steps, answer=(trail,))
    meetings = ((one, other) for one, other in combinations(chain.trails, 2) if meet((one, other)))
    apart = (pair for pair in meetings if pair[0].start != pair[1].start)
    for one, other in islice(apart, _MEETINGS):
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
