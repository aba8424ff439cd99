"""The seam of reasoning: a method is a generator of events over a world; a reasoner takes decisions.

Papers differ in the search and in the decisions a language model takes. Control flow is a *method*,
one file each; decisions go through a *reasoner*, so every method runs with a chat model and without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from kgdemo.constraint.tokenised import TokenisedGraph
from kgdemo.errors import EndpointError, UserError
from kgdemo.events import Event, LMCall
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.linking.base import Embedder
from kgdemo.models.base import PathModel
from kgdemo.reasoning.asked_type import Fit
from kgdemo.reasoning.options import Given, Option, chosen, options_of
from kgdemo.settings import Settings
from kgdemo.verify import Verifier


@dataclass(frozen=True, slots=True)
class Evidence:
    """A path as a reasoner sees it: numbered from 1, with its hypothesis answer and its probability.

    Attributes:
        partners: numbers of the paths from other topics that it meets at its end; see ``joint``.
        fits: how well its end fits the kind of thing that the question asks for; see ``asked_type``.
        said: what its relations say, see ``KnowledgeGraph.said``; empty where nobody has looked.
    """

    index: int
    path: Path
    hypothesis: str = ""
    score: float = 0.0
    relation_score: float = 0.0
    partners: tuple[int, ...] = ()
    fits: Fit = Fit.YES
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """What a reasoner decided, and the call that it took.

    Attributes:
        text: free text (plan, thought, sentence); empty for choices.
        chosen: indices of the options chosen, best first.
        scores: one for each option, higher is better; empty for free text.
        holds: the outcome of a yes/no question.
        call: the language-model call, for the count; None where no model was asked.
    """

    text: str = ""
    chosen: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    holds: bool = False
    call: LMCall | None = None


class FailedDecisionError(EndpointError):
    """A decision that a language model could not take; ``call`` is what it was asked, for the count."""

    def __init__(self, message: str, call: LMCall) -> None:
        super().__init__(message)
        self.call = call


class Reasoner(Protocol):
    """Takes the decisions that the papers give to a general language model."""

    name: str

    def select(self, question: str, task: str, options: Sequence[str], most: int) -> Decision:
        """Choose at most ``most`` of the options (FiDeLiS beam selection, relation and entity pruning)."""
        ...

    def score(self, question: str, task: str, options: Sequence[str]) -> Decision:
        """Rate every option (Score evaluator)."""
        ...

    def verify(self, question: str, statement: str, premises: Sequence[str]) -> Decision:
        """Whether the statement follows from the premises (deductive verification)."""
        ...

    def plan(self, question: str, task: str) -> Decision:
        """Write a short plan, or keywords, for answering the question."""
        ...

    def thought(self, question: str, task: str, context: Sequence[str], options: Sequence[str]) -> Decision:
        """Write the next thought, or take one of the options where these are given."""
        ...

    judges_paths: bool  # whether ``answer`` itself tells paths that answer from paths that do not

    def answer(self, question: str, evidence: Sequence[Evidence], task: str = "") -> Iterator[Event]:
        """Answer from numbered paths (GCR section 4.4): AnswerDelta events, LMCall, then one AnswerFinal."""
        ...


@dataclass(frozen=True, slots=True)
class World:
    """Everything a method may use; made by the pipeline."""

    kg: KnowledgeGraph
    verifier: Verifier
    model: PathModel
    tokenised: TokenisedGraph
    reasoner: Reasoner
    embedder: Embedder


class Method(Protocol):
    """A reasoning method: control flow as a generator of events."""

    def __call__(self, question: str, topics: Sequence[str], world: World, settings: Settings) -> Iterator[Event]:
        """Answer ``question`` from the topic entities (graph labels)."""
        ...


@dataclass(frozen=True, slots=True)
class NoOptions:
    """What can be chosen about most methods: nothing."""


@dataclass(frozen=True, slots=True)
class MethodCard:
    """A registered method and how it is shown.

    Attributes:
        paper: where it is described, with the section.
        constrained: it decodes under the graph's constraint, and can be compared with itself without.
        drivable: it goes on from tokens that a visitor forces.
        declared: the dataclass of its options (see ``options``).
        without: fields of that which this method has no use for.
    """

    name: str
    title: str
    paper: str
    summary: str
    run: Method
    constrained: bool
    drivable: bool = False
    declared: type = NoOptions
    without: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[Option, ...]:
        """What can be chosen about it."""
        return options_of(self.declared, self.without)

    def check(self, given: Given, public: bool) -> None:
        """Whether these options can be given to it.

        Raises:
            UserError: one is unknown, or has a value that it cannot have.
        """
        chosen(self.declared, given, method=self.name, without=self.without, public=public)


METHODS: dict[str, MethodCard] = {}


def register(
    name: str,
    title: str,
    paper: str,
    summary: str,
    *,
    constrained: bool = False,
    drivable: bool = False,
    options: type = NoOptions,
    without: tuple[str, ...] = (),
) -> Callable[[Method], Method]:
    """Make a method known to page, command line, evaluation and API; see ``MethodCard``.

    A method with options reads them by ``chosen(DogOptions, settings.options)``.
    """

    def add(run: Method) -> Method:
        if name in METHODS:
            raise ValueError(f"method {name} is registered twice")
        METHODS[name] = MethodCard(name, title, paper, summary, run, constrained, drivable, options, without)
        return run

    return add


def method_named(name: str) -> MethodCard:
    """Look a method up.

    Raises:
        UserError: there is no such method.
    """
    if name not in METHODS:
        raise UserError(f"There is no method {name!r}; choose one of {', '.join(METHODS)}.")
    return METHODS[name]
