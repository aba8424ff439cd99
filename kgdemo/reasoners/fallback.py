"""A language model with the embedded reasoner behind it: no decision ends a run, and every replacement is said.

A reply that cannot be read costs one decision: the embedded reasoner takes it. An endpoint that fails is not asked
again in this run: the embedded reasoner takes all decisions that are left, so that every method ends with verified
paths. It also does where the decisions of a run have cost what they may (``ChatSettings``); the answer is asked for
all the same. The final answer is never replaced: without the model there is none.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from kgdemo.events import AnswerFinal, Event, LMCall
from kgdemo.query.query import Query
from kgdemo.reasoners.base import Decision, Evidence, FailedDecisionError, Reasoner, UnreadableDecisionError
from kgdemo.reasoners.embedded import EmbeddedReasoner
from kgdemo.settings import ChatSettings

UNASKED = "The general language model could not be asked; the paths are what the graph says."


class FallbackReasoner:
    """See ``base.Reasoner``; one for each run, because it remembers that the model failed.

    Args:
        model: who decides.
        embedded: who decides where that one cannot.
        limits: what the decisions of the run may cost.
    """

    is_language_model = True

    def __init__(self, model: Reasoner, embedded: EmbeddedReasoner, limits: ChatSettings | None = None) -> None:
        self.model, self.embedded, self.name = model, embedded, model.name
        self.limits = limits or ChatSettings()
        self.failure = ""  # why the model is not asked any more
        self.spent = ""  # why it is asked for the answer only
        self.at_once, self.samples = model.at_once, model.samples
        self._calls, self._tokens, self._began = 0, 0, time.monotonic()
        self._lock = threading.Lock()  # of what is counted and remembered; nothing is asked under it

    def select(self, question: str, task: str, options: Sequence[str], limit: int) -> Decision:
        """See ``base.Reasoner``."""
        return self._decided(lambda reasoner: reasoner.select(question, task, options, limit))

    def score(self, question: str, task: str, options: Sequence[str]) -> Decision:
        """See ``base.Reasoner``."""
        return self._decided(lambda reasoner: reasoner.score(question, task, options))

    def propose(self, question: str, task: str, context: Sequence[str], options: Sequence[str], limit: int) -> Decision:
        """See ``base.Reasoner``."""
        return self._decided(lambda reasoner: reasoner.propose(question, task, context, options, limit))

    def verify(self, question: str, statement: str, premises: Sequence[str], task: str = "") -> Decision:
        """See ``base.Reasoner``."""
        return self._decided(lambda reasoner: reasoner.verify(question, statement, premises, task))

    def plan(self, query: Query, task: str, temperature: float = 0.0) -> Decision:
        """See ``base.Reasoner``."""
        return self._decided(lambda reasoner: reasoner.plan(query, task, temperature))

    def thought(self, question: str, task: str, context: Sequence[str]) -> Decision:
        """See ``base.Reasoner``."""
        return self._decided(lambda reasoner: reasoner.thought(question, task, context))

    def answer(self, question: str, evidence: Sequence[Evidence], task: str = "") -> Iterator[Event]:
        """See ``base.Reasoner``; where the model has failed before, it is not asked."""
        if self.failure:
            yield AnswerFinal(UNASKED, (), (), self.name, refusal=UNASKED, failed=True)
        else:
            yield from self.model.answer(question, evidence, task)

    def _decided(self, ask: Callable[[Reasoner], Decision]) -> Decision:
        """The model's decision, else the embedded reasoner's with the reason in ``replaced`` and ``notices``."""
        with self._lock:
            first = not (self.failure or self.spent)
            self.spent = self.spent or self._over()
            reason = self.failure or self.spent
        if reason:
            return self._stand_in(ask, reason, self._from_here_on(reason) if first else "")
        try:
            made = ask(self.model)
        except UnreadableDecisionError as error:
            self._count(error.call)
            notice = f"{error} {self.embedded.name[0].upper()}{self.embedded.name[1:]} decided in its place."
            return self._stand_in(ask, str(error), notice, error.call)
        except FailedDecisionError as error:
            self._count(error.call)
            with self._lock:
                first, self.failure = not self.failure, self.failure or str(error)
            return self._stand_in(ask, str(error), self._from_here_on(str(error)) if first else "", error.call)
        self._count(made.call)
        return made

    def _stand_in(
        self, ask: Callable[[Reasoner], Decision], reason: str, notice: str, call: LMCall | None = None
    ) -> Decision:
        """The embedded reasoner's decision; the notice is said once."""
        return replace(ask(self.embedded), call=call, replaced=reason, notices=(notice,) if notice else ())

    def _from_here_on(self, reason: str) -> str:
        return f"{reason} From here on {self.embedded.name} decides, so that there are paths to look at."

    def _count(self, call: LMCall | None) -> None:
        if call is not None:
            with self._lock:
                self._calls += call.calls
                self._tokens += call.tokens_in + call.tokens_out

    def _over(self) -> str:
        """Which limit the decisions have reached; empty where none."""
        seconds = time.monotonic() - self._began
        for spent, limit, unit in (
            (self._calls, self.limits.calls, "calls"),
            (self._tokens, self.limits.tokens, "tokens"),
            (seconds, self.limits.seconds, "seconds"),
        ):
            if 0 < limit <= spent:
                return f"The decisions of this run have used up their limit of {limit:,g} {unit}."
        return ""
