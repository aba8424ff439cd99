"""The parts of DoG's Algorithm 1: chains, the triples written behind them, and searches as events."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from kgdemo.constraint.base import Constraint
from kgdemo.constraint.chains import ChainState
from kgdemo.constraint.query_graph import Link
from kgdemo.decoding.beam import BeamSettings, Hypothesis, Step, beam_search
from kgdemo.decoding.greedy import greedy_search
from kgdemo.events import DecodeStep
from kgdemo.models.base import PathModel, TokenTree
from kgdemo.reasoning.steps import StepReader

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Written:
    """A triple that was written behind a chain.

    Attributes:
        score: its log-probability (equation 3).
        relation_score: that of its relation alone.
        prompt: what the model had read.
        tokens: all tokens behind the prompt, up to the triple's last.
        ending: log-probability that the chain ends behind it, where a mark says so and not the free text.
        beam: id of the beam that wrote it.
    """

    link: Link
    score: float
    relation_score: float
    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    ending: float
    beam: int


@dataclass(frozen=True, slots=True)
class Note:
    """Free text behind a triple.

    Attributes:
        tokens: all tokens behind the prompt, up to the mark that begins the next triple.
        text: what was written.
        answer: the hypothesis answer in it, empty where there is none.
        ended: no further triple follows.
    """

    tokens: tuple[int, ...]
    text: str
    answer: str
    ended: bool


@dataclass(frozen=True, slots=True)
class Chain:
    """A candidate of Algorithm 1: its triples, its score, and the text so far.

    Attributes:
        state: its triples and the entities they have reached.
        score: the sum of its triples' scores.
        notes: the text behind each triple.
        thought: id of the event that showed its last triple.
        shown: how many triples have been shown.
    """

    state: ChainState
    score: float = 0.0
    relation_score: float = 0.0
    written: tuple[Written, ...] = ()
    notes: tuple[Note, ...] = ()
    thought: int = 0
    shown: int = 0

    @property
    def ended(self) -> bool:
        """Whether the model has concluded."""
        return bool(self.notes) and self.notes[-1].ended

    @property
    def new(self) -> bool:
        """Whether its last triple has just been written."""
        return len(self.written) > self.shown

    def grown(self, triple: Written) -> Chain:
        """Lines 10 and 11 of Algorithm 1."""
        return replace(
            self,
            state=self.state.grown(triple.link),
            score=self.score + triple.score,
            relation_score=self.relation_score + triple.relation_score,
            written=(*self.written, triple),
        )

    def closed(self) -> Chain:
        """The chain with the mark that ends it."""
        ending = self.written[-1].ending
        return replace(self, score=self.score + ending, relation_score=self.relation_score + ending)


@dataclass(slots=True)
class Watching:
    """Turns the steps of many searches into one run of events: beam ids and step numbers never repeat."""

    model: PathModel
    ids: dict[tuple[int, ...], int] = field(default_factory=lambda: {(): 0})
    steps: int = 0

    def beams(
        self, tree: TokenTree, constraint: Constraint, behind: tuple[int, ...], limits: BeamSettings
    ) -> Generator[DecodeStep, None, list[Hypothesis]]:
        """A beam search; its finished hypotheses hold the tokens that came behind ``behind``."""
        return (yield from self._told(beam_search(tree, constraint, limits), constraint, behind, True))

    def greedy(
        self, tree: TokenTree, constraint: Constraint, behind: tuple[int, ...], longest: int, constrained: bool
    ) -> Generator[DecodeStep, None, Hypothesis]:
        """A greedy search, likewise."""
        return (yield from self._told(greedy_search(tree, constraint, longest), constraint, behind, constrained))

    def _told(
        self, search: Generator[Step, None, Found], constraint: Constraint, behind: tuple[int, ...], constrained: bool
    ) -> Generator[DecodeStep, None, Found]:
        reader = _BehindReader(self.model, constraint, behind, self.ids, constrained)
        while True:
            try:
                step = next(search)
            except StopIteration as end:
                return end.value
            yield replace(reader.read(step), number=self.steps)
            self.steps += 1


class _BehindReader(StepReader):
    """Knows what was written before the search began."""

    def __init__(
        self,
        model: PathModel,
        constraint: Constraint,
        behind: tuple[int, ...],
        ids: dict[tuple[int, ...], int],
        constrained: bool,
    ) -> None:
        super().__init__(model, constraint, constrained)
        self._behind, self._ids = behind, ids

    def beam_id(self, tokens: tuple[int, ...]) -> int:
        """See ``StepReader``."""
        return super().beam_id((*self._behind, *tokens))

    def text(self, hypothesis: Hypothesis) -> str:
        """See ``StepReader``."""
        return super().text(replace(hypothesis, tokens=(*self._behind, *hypothesis.tokens)))
