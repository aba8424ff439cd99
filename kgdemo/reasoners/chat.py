"""The chat reasoners: decisions by a general language model, asked in words.

``ChatReasoner`` reads the replies of any chat model strictly. ``LocalReasoner`` is for a model on this machine, which
shows its probabilities: a choice among given options is decoded under the constraint of a trie of these options, so the
reply cannot be malformed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from kgdemo.constraint.free_text import ChoiceState, ChoiceTrie
from kgdemo.decoding.beam import BeamSettings, beam_search
from kgdemo.errors import EndpointError
from kgdemo.events import AnswerDelta, AnswerFinal, Event, LMCall, Notice
from kgdemo.models.chat import ChatModel, LocalChat, Usage
from kgdemo.models.embedding import Embedder
from kgdemo.query.query import Query
from kgdemo.reasoners import prompts
from kgdemo.reasoners.base import Decision, Evidence, FailedDecisionError, Reasoner
from kgdemo.reasoners.embedded import EmbeddedReasoner
from kgdemo.reasoners.parsing import UnreadableReplyError, chosen_numbers, cited_lines, one_line, ratings, yes_or_no
from kgdemo.settings import ChatSettings

Parsed = TypeVar("Parsed")
_VERDICTS = ("Yes", "No")


class ChatReasoner:
    """See ``base.Reasoner``.

    Args:
        model: the chat model that decides.
    """

    is_language_model = True

    def __init__(self, model: ChatModel) -> None:
        self.model = model
        self.name = model.name

    def select(self, question: str, task: str, options: Sequence[str], limit: int) -> Decision:
        """See ``base.Reasoner``."""
        prompt = prompts.select(question, task, options, limit)
        chosen, call = self._ask("select", prompt, lambda reply: chosen_numbers(reply, len(options), limit))
        # options not chosen rank behind the chosen ones, in the order given
        scores = tuple(1.0 - chosen.index(i) / len(options) if i in chosen else 0.0 for i in range(len(options)))
        return Decision(chosen=chosen, scores=scores, call=call)

    def score(self, question: str, task: str, options: Sequence[str]) -> Decision:
        """See ``base.Reasoner``."""
        scores, call = self._ask("score", prompts.score(question, task, options), lambda r: ratings(r, len(options)))
        return Decision(scores=scores, call=call)

    def verify(self, question: str, statement: str, premises: Sequence[str]) -> Decision:
        """See ``base.Reasoner``."""
        holds, call = self._ask("verify", prompts.verify(question, statement, premises), yes_or_no)
        return Decision(holds=holds, call=call)

    def plan(self, query: Query, task: str) -> Decision:
        """See ``base.Reasoner``."""
        text, call = self._ask("plan", prompts.plan(query.text, task), one_line)
        return Decision(text=text, call=call)

    def thought(self, question: str, task: str, context: Sequence[str]) -> Decision:
        """See ``base.Reasoner``."""
        text, call = self._ask("thought", prompts.thought(question, task, context), one_line)
        return Decision(text=text, call=call)

    def answer(self, question: str, evidence: Sequence[Evidence], task: str = "") -> Iterator[Event]:
        """See ``base.Reasoner``: one call over all paths; a failed endpoint is said, and the paths stay."""
        prompt = prompts.answer_from_paths(question, evidence, task)
        usage, began, text = Usage(), time.perf_counter(), ""
        try:
            for piece in self.model.stream(prompt, usage):
                text += piece
                yield AnswerDelta(piece)
        except EndpointError as error:
            yield self._answered(prompt, text, usage, began)
            yield Notice(f"{error} The grounded paths below stand without it.")
            refusal = "The general language model could not be asked; the paths are what the graph says."
            yield AnswerFinal(refusal, (), (), self.name, refusal=refusal)
            return
        yield self._answered(prompt, text, usage, began)
        yield self._final(text, evidence)

    def _answered(self, prompt: str, text: str, usage: Usage, began: float) -> LMCall:
        seconds = time.perf_counter() - began
        return LMCall(self.name, "answer", prompt, text, usage.tokens_in, usage.tokens_out, seconds)

    def _ask(self, purpose: str, prompt: str, parse: Callable[[str], Parsed]) -> tuple[Parsed, LMCall]:
        """See ``ask_and_parse``."""
        return ask_and_parse(self.model, purpose, prompt, parse)

    def _final(self, text: str, evidence: Sequence[Evidence]) -> AnswerFinal:
        if not text.strip() or prompts.NO_ANSWER in text.upper():
            refusal = f"{self.name} found no path that answers the question."
            return AnswerFinal(text.strip() or refusal, (), (), self.name, refusal=refusal)
        lines = cited_lines(text, highest=max((e.index for e in evidence), default=0))
        return AnswerFinal(text.strip(), tuple(n for n, _ in lines), tuple(c for _, c in lines), self.name)


def ask_and_parse(model: ChatModel, purpose: str, prompt: str, parse: Callable[[str], Parsed]) -> tuple[Parsed, LMCall]:
    """Ask, parse, and on a reply that cannot be read ask once more with the complaint.

    Returns:
        what was parsed, and the call with the last prompt, which holds the first reply where there were two.

    Raises:
        FailedDecisionError: the model failed, or the second reply cannot be read either.
    """
    began, asked, complaint, total = time.perf_counter(), prompt, "", Usage()
    reply = ""

    def call(calls: int) -> LMCall:
        seconds = time.perf_counter() - began
        return LMCall(model.name, purpose, asked, reply, total.tokens_in, total.tokens_out, seconds, calls)

    for attempt in (1, 2):
        usage, reply = Usage(), ""
        try:
            reply = "".join(model.stream(asked, usage))
        except EndpointError as error:
            raise FailedDecisionError(str(error), call(attempt)) from error
        finally:
            total.tokens_in, total.tokens_out = total.tokens_in + usage.tokens_in, total.tokens_out + usage.tokens_out
        try:
            return parse(reply), call(attempt)
        except UnreadableReplyError as error:
            complaint = str(error)
        if attempt == 1:
            asked = prompts.again(prompt, reply, complaint)
    raise FailedDecisionError(
        f"The chat model {model.name} replied twice in a form that cannot be read ({complaint}); try another model.",
        call(2),
    )


class LocalReasoner(ChatReasoner):
    """See ``base.Reasoner``; free text (plans, thoughts, the answer) is asked for as of any chat model.

    Args:
        model: the model that decides.
    """

    def __init__(self, model: LocalChat) -> None:
        super().__init__(model)
        self.local = model

    def select(self, question: str, task: str, options: Sequence[str], limit: int) -> Decision:
        """See ``base.Reasoner``: the options it would write with the highest probabilities."""
        scores, call = self._weigh("select", prompts.choose(question, task, options), options, limit)
        order = sorted((i for i in range(len(options)) if scores[i]), key=lambda i: -scores[i])
        return Decision(chosen=tuple(order[:limit]), scores=scores, call=call)

    def score(self, question: str, task: str, options: Sequence[str]) -> Decision:
        """See ``base.Reasoner``: an option's rating is the probability that it would be written."""
        scores, call = self._weigh("score", prompts.choose(question, task, options), options, len(options))
        return Decision(scores=scores, call=call)

    def verify(self, question: str, statement: str, premises: Sequence[str]) -> Decision:
        """See ``base.Reasoner``: whether yes is more probable than no."""
        scores, call = self._weigh("verify", prompts.verify(question, statement, premises), _VERDICTS, len(_VERDICTS))
        return Decision(holds=scores[0] > scores[1], scores=scores[:1], call=call)

    def _weigh(self, purpose: str, prompt: str, options: Sequence[str], limit: int) -> tuple[tuple[float, ...], LMCall]:
        """The probabilities of the ``limit`` likeliest options, 0 for the others, and the call."""
        began, label_tokens = time.perf_counter(), self.local.causal.label_tokens
        trie = ChoiceTrie([label_tokens.plain(option) for option in options], min(self.local.causal.stop_ids))
        ids = self.local.encode(prompt)
        scores = [0.0] * len(options)
        finished: list[tuple[ChoiceState, float]] = [(trie.start(), 0.0)] if trie.start().complete else []
        written = 0
        if not finished:
            limits = BeamSettings(beams=limit, max_tokens=trie.longest, graph_normalised=True)
            search = beam_search(self.local.tree(ids), trie, limits)
            for step in search:
                finished = [(h.state, h.score) for h in step.finished]  # type: ignore[misc]
                written = sum(len(h.tokens) for h in (*step.finished, *step.live))
        for state, score in finished:
            for index in state.options:  # options that read the same are one choice
                scores[index] = math.exp(score) / len(state.options)
        best = sorted(range(len(options)), key=lambda i: -scores[i])[:limit]
        output = "; ".join(f"{options[i]} ({scores[i]:.2f})" for i in best if scores[i])
        seconds = time.perf_counter() - began
        return tuple(scores), LMCall(self.name, purpose, prompt, output, len(ids), written, seconds)


def reasoner_for(chat: ChatSettings, embedder: Embedder) -> Reasoner:
    """The reasoner for these settings: a chat model, at an endpoint or on this machine, else the embedded one.

    Raises:
        ModelError: a local model that cannot be loaded.
    """
    if not chat.model:
        return EmbeddedReasoner(embedder)
    if chat.local:
        return LocalReasoner(LocalChat.load(chat.model))
    from kgdemo.models.endpoint import OpenAIChat  # imports openai, which takes a second that runs without a key save

    return ChatReasoner(OpenAIChat(chat))
