"""The chat reasoner: decisions by a general language model, asked in words and parsed strictly."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from kgdemo.errors import EndpointError
from kgdemo.events import AnswerDelta, AnswerFinal, Event, LMCall, Notice
from kgdemo.models.chat import ChatModel, Usage
from kgdemo.reasoning import prompts
from kgdemo.reasoning.base import Evidence
from kgdemo.reasoning.citations import cited_lines


class ChatReasoner:
    """See ``base.Reasoner``.

    Args:
        model: the chat model that decides.
    """

    def __init__(self, model: ChatModel) -> None:
        self.model = model
        self.name = model.name

    def answer(self, question: str, evidence: Sequence[Evidence], task: str = "") -> Iterator[Event]:
        """See ``base.Reasoner``: one call over all paths; a failed endpoint is said, and the paths stay."""
        prompt = prompts.answer_from_paths(question, evidence, task)
        usage, began, text = Usage(), time.perf_counter(), ""
        try:
            for piece in self.model.stream(prompt, usage):
                text += piece
                yield AnswerDelta(piece)
        except EndpointError as error:
            yield Notice(f"{error} The grounded paths below stand without it.")
            refusal = "The general language model could not be asked; the paths are what the graph says."
            yield AnswerFinal(refusal, (), (), self.name, refusal=refusal)
            return
        seconds = time.perf_counter() - began
        yield LMCall(self.name, "answer", prompt, text, usage.tokens_in, usage.tokens_out, seconds)
        yield self._final(text, evidence)

    def _final(self, text: str, evidence: Sequence[Evidence]) -> AnswerFinal:
        if not text.strip() or prompts.NO_ANSWER in text.upper():
            refusal = f"{self.name} found no path that answers the question."
            return AnswerFinal(text.strip() or refusal, (), (), self.name, refusal=refusal)
        lines = cited_lines(text, highest=max((e.index for e in evidence), default=0))
        return AnswerFinal(text.strip(), tuple(n for n, _ in lines), tuple(c for _, c in lines), self.name)
