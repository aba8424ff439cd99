"""A chain of thoughts and what it has read from the graph, and the thoughts' places among one another."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kgdemo.events import Thought
from kgdemo.kg.path import Path
from kgdemo.reasoning.base import World
from kgdemo.reasoning.trails import Trail

_SHOWN = 12  # triples of one observation; the page would drown in a hub's


@dataclass(frozen=True, slots=True)
class Value:
    """A feature or a count read from a node; ``steps`` is the path to it, as texts one step longer each."""

    entity: str
    feature: str
    text: str
    steps: tuple[str, ...]
    trail: Trail | None = None  # what was counted

    def __str__(self) -> str:
        return f"{self.entity}, {self.feature}: {self.text}"


@dataclass(frozen=True, slots=True)
class Chain:
    """A state s of the search: the thoughts z_1…z_i and the graph information G' of all steps (section 4.1).

    Attributes:
        last: ids of the thoughts that the next one follows; two after a merge.
        branch: id of the thought that began the newest step; what an evaluator keeps or prunes.
        lines: the chain as a language model reads it.
        gist: the chain as a path, one step longer each, for a reasoner that compares texts with the question.
        reached: the nodes known, each by the path that led there.
        trails: the triples read, as paths from where the chain began.
        values: features and counts read.
        done: searches and actions that need no repeating.
        answer: what the chain finished with; two trails when the answer lies where they meet.
        value: or the feature or count that it finished with.
        finished: whether it needs no further step.
        score: the evaluator's, of the last time.
    """

    last: tuple[int, ...] = ()
    branch: int = 0
    lines: tuple[str, ...] = ()
    gist: tuple[str, ...] = ()
    reached: tuple[Path, ...] = ()
    trails: tuple[Trail, ...] = ()
    values: tuple[Value, ...] = ()
    done: frozenset[str] = frozenset()
    answer: tuple[Trail, ...] = ()
    value: Value | None = None
    finished: bool = False
    score: float = 0.0

    @property
    def told(self) -> str:
        """The chain as an option for a language model."""
        return "\n   ".join(self.lines)

    @property
    def known(self) -> tuple[object, ...]:
        """What tells chains apart: two that know the same, or came to the same answer, are one."""
        if self.finished:
            return self.answer, self.value
        return frozenset(self.trails), frozenset(self.values), frozenset(self.reached), self.answer, self.value


def meet(trails: tuple[Trail, ...]) -> tuple[str, ...]:
    """The entities that all trails lead to, in the first one's order."""
    return tuple(end for end in trails[0].ends if all(end in trail.ends for trail in trails[1:])) if trails else ()


class Thoughts:
    """Numbers the thoughts of one run from 1 and remembers them.

    A thought is told again, under its number, when it has been judged: with its fate, score and reason.

    Args:
        world: its verifier looks at every triple before it is shown.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._told: dict[int, Thought] = {}

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
        held = tuple(t for t in triples[:_SHOWN] if self.world.verifier.verify(Path.from_labels(t)).faithful)
        thought = Thought(kind, len(self._told) + 1, parents, text, entities, held, fate=fate, reason=reason)
        self._told[thought.id] = thought
        return thought

    def judge(self, number: int, fate: str, reason: str, score: float = 0.0) -> Thought:
        """A thought told before, with what became of it."""
        judged = replace(self._told[number], fate=fate, reason=reason, score=score)
        self._told[number] = judged
        return judged
