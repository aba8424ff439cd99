"""The seam between methods and reasoners: what a method may use, and the decisions that a reasoner takes.

Papers differ in the search and in the decisions that a language model takes. The control flow is a *method*; the
decisions go through a *reasoner*, so that every method runs with a chat model and without one.
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
from kgdemo.query.query import Query
from kgdemo.reasoners.prompts import SHIPPED, Prompts
from kgdemo.verify import Verifier


@dataclass(frozen=True, slots=True)
class Evidence:
    """A path as a reasoner sees it: numbered from 1, with its hypothesis answer and its probability.

    Attributes:
        partners: numbers of the paths from other topics that it meets at its end; see ``ranking.graph_paths``.
        fits: how well its end fits the kind of thing that the question asks for; see ``query.answer_type``.
        said: what its relations say, see ``KnowledgeGraph.said``; empty where that was not looked up.
        detour: it comes back to where it began, or turns back, see ``KnowledgeGraph.is_detour``.
    """

    index: int
    path: Path
    hypothesis: str = ""
    score: float = 0.0
    relation_score: float = 0.0
    partners: tuple[int, ...] = ()
    fits: Fit = Fit.YES
    said: tuple[str, ...] = ()
    detour: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What a reasoner decided, and the call that it took.

    Attributes:
        text: free text (plan, thought, sentence); empty for choices.
        chosen: indices of the options chosen, best first.
        scores: one for each option, higher is better; empty for free text.
        thoughts: for each option chosen the thought that it follows from, where the reasoner wrote one.
        written: for each option chosen what was written behind it, for options that leave something open.
        cut: the text broke off where a reply may not be longer.
        holds: the outcome of a yes/no question.
        call: the language-model call, for the count; None where no model was asked.
        replaced: why the embedded reasoner decided in a language model's place; empty where it did not.
        notices: what the visitor should know about that.
    """

    text: str = ""
    chosen: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    thoughts: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    cut: bool = False
    holds: bool = False
    call: LMCall | None = None
    replaced: str = ""
    notices: tuple[str, ...] = ()


class FailedDecisionError(EndpointError):
    """A decision that a language model could not take; ``call`` is what it was asked, for the count."""

    def __init__(self, message: str, call: LMCall) -> None:
        super().__init__(message)
        self.call = call


class UnreadableDecisionError(FailedDecisionError):
    """The model replied, but no decision can be read in what it wrote."""


class Reasoner(Protocol):
    """Takes the decisions that the papers give to a general language model.

    Attributes:
        name: as the page names it.
        is_language_model: it writes text of its own, and ``answer`` itself tells paths that answer from others. Where
            a paper's decision differs without a language model, a method has two strategies of one interface and
            chooses between them by this, once, where it begins.
        at_once: how many decisions may be asked of it side by side.
        samples: a temperature makes its replies differ.
    """

    name: str
    is_language_model: bool
    at_once: int
    samples: bool

    def select(self, question: str, task: str, options: Sequence[str], limit: int) -> Decision:
        """Choose at most ``limit`` of the options (FiDeLiS beam selection, relation and entity pruning)."""
        ...

    def score(self, question: str, task: str, options: Sequence[str]) -> Decision:
        """Rate every option (Score evaluator)."""
        ...

    def propose(self, question: str, task: str, context: Sequence[str], options: Sequence[str], limit: int) -> Decision:
        """Choose at most ``limit`` different next steps behind those of the context, each with a thought."""
        ...

    def verify(self, question: str, statement: str, premises: Sequence[str], task: str = "") -> Decision:
        """Whether the statement follows from the premises (deductive verification)."""
        ...

    def plan(self, query: Query, task: str, temperature: float = 0.0) -> Decision:
        """Write text that prepares an answer: a plan, keywords, a chain; at a temperature a sample of it."""
        ...

    def thought(self, question: str, task: str, context: Sequence[str]) -> Decision:
        """Write the next thought behind those of the context."""
        ...

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
    prompts: Prompts = SHIPPED
