"""The seam of reasoning: a method is a generator of events over a world; a reasoner takes decisions.

Papers differ in the search and in the decisions a language model takes. Control flow is a *method*,
one file each; decisions go through a *reasoner*, so every method runs with a chat model and without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.errors import EndpointError
from kgdemo.events import Event, LMCall
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.models.base import PathModel
from kgdemo.models.embedding import Embedder
from kgdemo.query.answer_type import Fit
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

    def select(self, question: str, task: str, options: Sequence[str], limit: int) -> Decision:
        """Choose at most ``limit`` of the options (FiDeLiS beam selection, relation and entity pruning)."""
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
class Resources:
    """Everything a method may use; made by the pipeline."""

    kg: KnowledgeGraph
    verifier: Verifier
    model: PathModel
    token_graph: TokenGraph
    reasoner: Reasoner
    embedder: Embedder
