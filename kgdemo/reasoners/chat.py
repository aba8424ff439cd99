"""The chat reasoners: decisions by a general language model, asked in words, and what stands in where it fails.

``ChatReasoner`` reads the replies of any chat model. ``LocalReasoner`` is for a model on this machine, which shows its
probabilities: a choice among given options is decoded under the constraint of a trie of these options, so the reply
cannot be malformed.

Behind either stands the embedded reasoner: no decision ends a run, and every replacement is said. A reply that cannot
be read costs one decision: the embedded reasoner takes it. An endpoint that fails is not asked again in this run: the
embedded reasoner takes all decisions that are left, so that every method ends with verified paths. It also does where
the decisions of a run have cost what they may (``ChatSettings``); the answer is asked for all the same. The final
answer is never replaced: without the model there is none.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from kgdemo.constraint.trie import ChoiceState, ChoiceTrie
from kgdemo.decoding.base import BeamSettings
from kgdemo.decoding.beam import beam_search
from kgdemo.errors import EndpointError
from kgdemo.events import AnswerDelta, AnswerFinal, Event, LMCall, Notice, Waiting
from kgdemo.kg.labels import fold
from kgdemo.models.chat import ChatModel, LocalChat, Usage, whole_reply
from kgdemo.models.embedding import Embedder
from kgdemo.query.query import Query
from kgdemo.reasoners.base import (
    SHIPPED,
    Decision,
    EmbeddedReasoner,
    Evidence,
    FailedDecisionError,
    Prompts,
    Reasoner,
    UnreadableDecisionError,
    so_far,
)
from kgdemo.reasoners.decisions import SIGN_OF_LIFE, stopped
from kgdemo.reasoners.final_answer import read_answer
from kgdemo.reasoners.parsing import UnreadableReplyError, chosen_numbers, proposals, ratings, said_lines, yes_or_no
from kgdemo.reasoners.reply import cleaned, is_excuse, without_thinking
from kgdemo.settings import ChatSettings

Parsed = TypeVar("Parsed")
Parse = Callable[[str, bool], Parsed]  # of a reply, and whether it was cut
CUT = "length"  # how the protocol says that a reply was cut
_VERDICTS = ("Yes", "No")


# The forms of decisions, for endpoints that keep to a JSON schema -----------------------------------

Schema = Mapping[str, Any]


def _object(**properties: Schema) -> Schema:
    """An object with exactly these properties."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(item: Schema, limit: int, least: int = 1) -> Schema:
    """A list with an end: without one, small models go on counting until the reply is cut."""
    return {"type": "array", "items": item, "minItems": least, "maxItems": limit}


def _number(options: int) -> Schema:
    """The number of an option."""
    return {"type": "integer", "enum": list(range(1, options + 1))}


_TEXT: Schema = {"type": "string"}
VERDICT = _object(answer={"type": "string", "enum": ["yes", "no"]})


def choice(options: int, limit: int) -> Schema:
    """At most ``limit`` of so many options, by their numbers."""
    return _object(numbers=_list(_number(options), limit))


def rating_of_each(options: int) -> Schema:
    """A rating for each of so many options."""
    return _object(ratings=_list({"type": "number"}, options, options))


def next_steps(options: int, limit: int) -> Schema:
    """At most ``limit`` thoughts, each with an action by its number and, where it asks for one, a node."""
    return _object(steps=_list(_object(thought=_TEXT, action=_number(options), node=_TEXT), limit))


class ChatReasoner:
    """See ``base.Reasoner``.

    Args:
        model: the chat model that decides.
        prompts: what it is told.
    """

    is_language_model = True

    def __init__(self, model: ChatModel, prompts: Prompts = SHIPPED) -> None:
        self.model, self.prompts = model, prompts
        self.name = model.name
        self.at_once, self.samples = model.at_once, model.samples

    def select(self, question: str, task: str, options: Sequence[str], limit: int) -> Decision:
        """See ``base.Reasoner``."""
        prompt = self.prompts.select(question, task, options, limit)
        form = choice(len(options), limit)
        chosen, call = self._ask("select", prompt, lambda reply, _: chosen_numbers(reply, options, limit), form)
        # options not chosen rank behind the chosen ones, in the order given
        scores = tuple(1.0 - chosen.index(i) / len(options) if i in chosen else 0.0 for i in range(len(options)))
        return Decision(chosen=chosen, scores=scores, call=call)

    def score(self, question: str, task: str, options: Sequence[str]) -> Decision:
        """See ``base.Reasoner``."""
        scores, call = self._ask(
            "score",
            self.prompts.score(question, task, options),
            lambda reply, _: ratings(reply, len(options)),
            rating_of_each(len(options)),
        )
        return Decision(scores=scores, call=call)

    def propose(self, question: str, task: str, context: Sequence[str], options: Sequence[str], limit: int) -> Decision:
        """See ``base.Reasoner``: all in one call, so that the steps differ."""
        prompt = self.prompts.propose(question, task, context, options, limit)
        form = next_steps(len(options), limit)
        steps, call = self._ask("propose", prompt, lambda reply, _: proposals(reply, options, limit), form)
        chosen, thoughts, written = zip(*steps, strict=True)
        return Decision(chosen=chosen, thoughts=thoughts, written=written, call=call)

    def verify(self, question: str, statement: str, premises: Sequence[str], task: str = "") -> Decision:
        """See ``base.Reasoner``."""
        prompt = self.prompts.verify(question, statement, premises, task)
        holds, call = self._ask("verify", prompt, lambda reply, _: yes_or_no(reply), VERDICT)
        return Decision(holds=holds, call=call)

    def plan(self, query: Query, task: str, temperature: float = 0.0) -> Decision:
        """See ``base.Reasoner``."""
        prompt = self.prompts.plan(query.text, task)
        (lines, cut), call = self._ask("plan", prompt, said_lines, temperature=temperature)
        return Decision(text="\n".join(lines), cut=cut, call=call)

    def thought(self, question: str, task: str, context: Sequence[str]) -> Decision:
        """See ``base.Reasoner``."""
        (lines, cut), call = self._ask("thought", self.prompts.thought(question, task, context), said_lines)
        return Decision(text=lines[0], cut=cut and len(lines) == 1, call=call)

    def answer(self, question: str, evidence: Sequence[Evidence], task: str = "") -> Iterator[Event]:
        """See ``base.Reasoner``: one call over all paths; a failed endpoint is said, and the paths stay.

        Without a path or a task of its own there is nothing to answer from, and nobody is asked: small models then
        answer from the prompt's example.
        """
        if not evidence and not task:
            refusal = f"No path was found, so {self.name} was not asked for an answer."
            yield AnswerFinal(refusal, (), (), self.name, refusal=refusal)
            return
        suggested = [
            f"  (suggested answer: {e.hypothesis})" if e.hypothesis and fold(e.hypothesis) != fold(e.path.end) else ""
            for e in evidence
        ]
        paths = [f"[{e.index}] {e.path}{said}" for e, said in zip(evidence, suggested, strict=True)]
        prompt = self.prompts.answer_from_paths(question, paths, task)
        usage, began, text, streamed = Usage(), time.perf_counter(), "", ""
        heard = began
        try:
            for text in whole_reply(self.model.stream(prompt, usage), usage):
                spoken = without_thinking(text, ended=False)
                if len(spoken) > len(streamed):
                    yield AnswerDelta(spoken[len(streamed) :])
                    streamed, heard = spoken, time.perf_counter()
                elif time.perf_counter() - heard >= SIGN_OF_LIFE:
                    heard = time.perf_counter()
                    yield Waiting(self.name, round(heard - began, 1))
        except EndpointError as error:
            yield self._answered(prompt, text, usage, began)
            yield Notice(f"{error} The grounded paths below stand without it.")
            yield AnswerFinal(UNASKED, (), (), self.name, refusal=UNASKED, failed=True)
            return
        yield self._answered(prompt, text, usage, began)
        if usage.finish == CUT:
            yield Notice(f"The reply of {self.name} was cut after {usage.tokens_out:,} tokens; it may lack answers.")
        yield self._final(text, evidence, usage.finish == CUT)

    def _answered(self, prompt: str, text: str, usage: Usage, began: float) -> LMCall:
        seconds = time.perf_counter() - began
        return LMCall(self.name, "answer", prompt, text, usage.tokens_in, usage.tokens_out, seconds, usage.calls)

    def _ask(
        self,
        purpose: str,
        prompt: str,
        parse: Parse[Parsed],
        schema: Schema | None = None,
        temperature: float = 0.0,
    ) -> tuple[Parsed, LMCall]:
        """See ``ask_and_parse``."""
        return ask_and_parse(self.model, purpose, prompt, parse, self.prompts, schema, temperature)

    def _final(self, text: str, evidence: Sequence[Evidence], cut: bool) -> AnswerFinal:
        said = cleaned(text)
        answers = read_answer(text, {e.index: e.path for e in evidence}, cut)
        if not answers:
            found_none = f"{self.name} found no path that answers the question."
            refusal = found_none if is_excuse(text) else f"{self.name} wrote nothing that can be read as an answer."
            return AnswerFinal(said or refusal, (), (), self.name, refusal=refusal)
        return AnswerFinal(said, tuple(name for name, _ in answers), tuple(cited for _, cited in answers), self.name)


def ask_and_parse(
    model: ChatModel,
    purpose: str,
    prompt: str,
    parse: Parse[Parsed],
    prompts: Prompts = SHIPPED,
    schema: Schema | None = None,
    temperature: float = 0.0,
) -> tuple[Parsed, LMCall]:
    """Ask, parse, and on a reply that cannot be read ask once more with the complaint.

    Where the endpoint keeps to a JSON schema the reply has that form. An endpoint whose replies cannot be read then,
    though it took the schema, is asked in words only from then on.

    Returns:
        what was parsed, and the call with the last prompt, which holds the first reply where there were two.

    Raises:
        FailedDecisionError: the model failed.
        UnreadableDecisionError: the second reply cannot be read either.
    """
    began, sent, complaint, total = time.perf_counter(), prompt, "", Usage()
    reply = ""
    total.calls = 0

    def call() -> LMCall:
        seconds = time.perf_counter() - began
        return LMCall(model.name, purpose, sent, reply, total.tokens_in, total.tokens_out, seconds, total.calls)

    for attempt in (1, 2):
        usage, reply = Usage(), ""
        structured = schema is not None and attempt == 1 and model.structured
        chunks = model.stream(sent, usage, temperature, schema if structured else None)
        try:
            for so_far in whole_reply(chunks, usage):
                reply = so_far
                if stopped():
                    raise EndpointError("The run was stopped.")
        except EndpointError as error:
            _add(total, usage)
            raise FailedDecisionError(str(error), call()) from error
        _add(total, usage)
        try:
            return parse(reply, usage.finish == CUT), call()
        except UnreadableReplyError as error:
            complaint = str(error)
            if usage.finish == CUT:
                complaint = f"it was cut after {usage.tokens_out:,} tokens; reply in fewer words."
            elif structured:
                model.structured = False  # a reply that was cut says nothing of the endpoint
        if attempt == 1:
            sent = prompts.again(prompt, reply, complaint)
    raise UnreadableDecisionError(
        f"The chat model {model.name} replied twice in a form that cannot be read ({complaint.rstrip('.')}).",
        call(),
    )


def _add(total: Usage, usage: Usage) -> None:
    total.tokens_in += usage.tokens_in
    total.tokens_out += usage.tokens_out
    total.calls += usage.calls


class LocalReasoner(ChatReasoner):
    """See ``base.Reasoner``; free text (plans, thoughts, the answer) is asked for as of any chat model.

    Args:
        model: the model that decides.
        prompts: what it is told.
    """

    def __init__(self, model: LocalChat, prompts: Prompts = SHIPPED) -> None:
        super().__init__(model, prompts)
        self.local = model

    def select(self, question: str, task: str, options: Sequence[str], limit: int) -> Decision:
        """See ``base.Reasoner``: the options it would write with the highest probabilities."""
        scores, call = self._weigh("select", self.prompts.choose(question, task, options), options, limit)
        order = sorted((i for i in range(len(options)) if scores[i]), key=lambda i: -scores[i])
        return Decision(chosen=tuple(order[:limit]), scores=scores, call=call)

    def score(self, question: str, task: str, options: Sequence[str]) -> Decision:
        """See ``base.Reasoner``: an option's rating is the probability that it would be written."""
        scores, call = self._weigh("score", self.prompts.choose(question, task, options), options, len(options))
        return Decision(scores=scores, call=call)

    def propose(self, question: str, task: str, context: Sequence[str], options: Sequence[str], limit: int) -> Decision:
        """See ``base.Reasoner``: the options it would write; what it thinks of them is not asked."""
        return self.select(question, f"{task}\nSo far:\n{so_far(context)}", options, limit)

    def verify(self, question: str, statement: str, premises: Sequence[str], task: str = "") -> Decision:
        """See ``base.Reasoner``: whether yes is more probable than no."""
        scores, call = self._weigh(
            "verify", self.prompts.verify(question, statement, premises, task), _VERDICTS, len(_VERDICTS)
        )
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


def reasoner_for(chat: ChatSettings, embedder: Embedder, prompts: Prompts = SHIPPED) -> Reasoner:
    """The reasoner for these settings: a chat model, at an endpoint or on this machine, else the embedded one.

    Raises:
        ModelError: a local model that cannot be loaded.
    """
    if not chat.model:
        return EmbeddedReasoner(embedder)
    if chat.local:
        return LocalReasoner(LocalChat.load(chat.model), prompts)
    from kgdemo.models.endpoint import OpenAIChat  # needed by those with an endpoint only

    return ChatReasoner(OpenAIChat(chat), prompts)


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
        self._calls, self._tokens, self._cost, self._began = 0, 0, 0.0, time.monotonic()
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
            for event in self.model.answer(question, evidence, task):
                yield self._priced(event) if isinstance(event, LMCall) else event

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
            error.call = self._count(error.call)
            notice = f"{error} {self.embedded.name[0].upper()}{self.embedded.name[1:]} decided in its place."
            return self._stand_in(ask, str(error), notice, error.call)
        except FailedDecisionError as error:
            error.call = self._count(error.call)
            with self._lock:
                first, self.failure = not self.failure, self.failure or str(error)
            return self._stand_in(ask, str(error), self._from_here_on(str(error)) if first else "", error.call)
        return made if made.call is None else replace(made, call=self._count(made.call))

    def _stand_in(
        self, ask: Callable[[Reasoner], Decision], reason: str, notice: str, call: LMCall | None = None
    ) -> Decision:
        """The embedded reasoner's decision; the notice is said once."""
        return replace(ask(self.embedded), call=call, replaced=reason, notices=(notice,) if notice else ())

    def _from_here_on(self, reason: str) -> str:
        return f"{reason} From here on {self.embedded.name} decides, so that there are paths to look at."

    def _count(self, call: LMCall) -> LMCall:
        """A call with its price, taken into account."""
        call = self._priced(call)
        with self._lock:
            self._calls += call.calls
            self._tokens += call.tokens_in + call.tokens_out
            self._cost += call.cost
        return call

    def _priced(self, call: LMCall) -> LMCall:
        cost = call.tokens_in * self.limits.price_in + call.tokens_out * self.limits.price_out
        return replace(call, cost=cost / 1e6)

    def _over(self) -> str:
        """Which limit the decisions have reached; empty where none."""
        seconds = time.monotonic() - self._began
        for spent, limit, unit in (
            (self._calls, self.limits.calls, "calls"),
            (self._tokens, self.limits.tokens, "tokens"),
            (seconds, self.limits.seconds, "seconds"),
            (self._cost, self.limits.money, "in money"),
        ):
            if 0 < limit <= spent:
                return f"The decisions of this run have used up their limit of {limit:,g} {unit}."
        return ""
