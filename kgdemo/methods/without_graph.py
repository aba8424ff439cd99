"""Answers without the graph: direct, chain-of-thought (Wei et al. 2022), self-consistency (Wang et al. 2023).

A chat model is prompted for them. Without one the path model writes, the same that GCR constrains, with every token
allowed: it writes reasoning paths and an answer behind each. Whatever either of them writes as a path is looked up in
the graph afterwards and shown with its verdict; the answer is not changed by that.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from kgdemo.errors import EndpointError
from kgdemo.events import AnswerFinal, Event, HypothesisAnswer, Notice, PathFound, PathVerified
from kgdemo.kg.labels import fold
from kgdemo.methods.registry import register
from kgdemo.methods.search_branch import FreePath, run_unconstrained, sampled_branch, unconstrained_branch
from kgdemo.query.query import Query
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Resources
from kgdemo.reasoners.final_answer import read_answer
from kgdemo.settings import Settings, chosen, option


@register(
    "direct",
    "Direct answer",
    "Amayuelas et al. 2025 (Grounding), section 5",
    "The first thing the model says, with no look at the graph.",
)
def direct(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """Zero-shot."""
    yield from _author(query, resources).direct()


@register(
    "cot",
    "Chain of thought",
    "Wei et al. 2022 (chain-of-thought prompting)",
    "The model writes its most probable chain of facts from memory, then the answer. Nothing is looked up.",
)
def cot(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """One chain of facts, and the answer behind it."""
    yield from _author(query, resources).chain_of_thought(settings.beams)


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """How self-consistency draws its chains from the path model."""

    seed: int = option(0, "of the draws: the same seed, the same chains", maximum=999_999, public=9_999)
    temperature: float = option(0.7, "T: less draws likelier chains", minimum=0.1, maximum=2)


@register(
    "self-consistency",
    "Self-consistency",
    "Wang et al. 2023 (self-consistency)",
    "The model writes K chains from memory, and the answer that most of them reach is taken.",
    options=SamplingOptions,
)
def self_consistency(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """K different chains and a vote."""
    author = _author(query, resources)
    written = yield from author.chains(settings.beams, chosen(SamplingOptions, settings.options))
    yield from _end_of_chain(majority(written), written, author.name)


def _author(query: Query, resources: Resources) -> _ChatAuthor | _PathModelAuthor:
    """Who writes from memory: a chat model, or the path model without its constraint."""
    return (_ChatAuthor if resources.reasoner.is_language_model else _PathModelAuthor)(query, resources)


class _ChatAuthor:
    """A chat model, asked at temperature 0 unless chains are drawn."""

    def __init__(self, query: Query, resources: Resources) -> None:
        self.query, self.resources, self.name = query, resources, resources.reasoner.name

    def _task(self, name: str, **slots: str) -> str:
        return self.resources.prompts.text(name, **slots)

    def direct(self) -> Iterator[Event]:
        """The answer at once."""
        reply = yield from deciding.reply(self.resources, self.query, self._task("direct"), ())
        yield _final(_listed(reply.text, reply.cut), reply.text, self.name)

    def chain_of_thought(self, beams: int) -> Iterator[Event]:
        """One chain, and the answer; ``beams`` is the width of a search, of which a chat model has none."""
        chain = yield from self._chain((), 1)
        reply = yield from deciding.reply(self.resources, self.query, self._task("chain-answer"), [chain.text])
        yield _count_in_graph([chain])
        yield _final(_listed(reply.text, reply.cut), reply.text, self.name)

    def chains(self, count: int, sampling: SamplingOptions) -> Generator[Event, None, list[FreePath]]:
        """Independent samples; a model that cannot be sampled from is asked for different chains instead.

        Where the model fails at some of them, the vote is among the others.

        Raises:
            EndpointError: it failed at all of them.
        """
        if self.resources.reasoner.samples:
            pending = [self._if_written((), index, sampling.temperature) for index in range(1, count + 1)]
            tried = yield from deciding.concurrently(self.resources, pending)
        else:
            tried = []
            for index in range(1, count + 1):
                before = [chain.text for chain in tried if isinstance(chain, FreePath)]
                tried.append((yield from self._if_written(before, index)))
        written = [chain for chain in tried if isinstance(chain, FreePath)]
        failed = [error for error in tried if isinstance(error, EndpointError)]
        if not written:
            raise failed[0]
        if failed:
            yield Notice(f"{failed[0]} The vote is among {len(written)} chains.")
        return written

    def _if_written(
        self, before: Sequence[str], index: int, temperature: float = 0.0
    ) -> Generator[Event, None, FreePath | EndpointError]:
        """One chain, or why there is none."""
        try:
            return (yield from self._chain(before, index, temperature))
        except EndpointError as error:
            return error

    def _chain(self, before: Sequence[str], index: int, temperature: float = 0.0) -> Generator[Event, None, FreePath]:
        """One chain with its verdict; its end is its answer, or what a reply answers that is no chain."""
        others = "\n".join(["Write another chain than these:", *before]) if before else ""
        task = self._task("chain", before=others)
        text = yield from deciding.plan(self.resources, self.query, task, own=True, temperature=temperature)
        said, text = text, next((line for line in text.splitlines() if "->" in line), text.splitlines()[0])
        path, verdict = self.resources.verifier.verify_text(text)
        end = text.split("->")[-1].strip() if "->" in text else next(iter(_listed(said)), "")
        answer = path.end if path else end
        yield PathFound(False, index, text, 0.0, path)
        yield HypothesisAnswer(False, index, answer)
        yield PathVerified(False, index, verdict)
        return FreePath(text, path, answer, 0.0, verdict.faithful)


class _PathModelAuthor:
    """The path model, which always writes a path before its answer."""

    def __init__(self, query: Query, resources: Resources) -> None:
        self.resources, self.model, self.name = resources, resources.model, resources.model.name
        self.prompt = self.model.style.encode(self.model.label_tokens, query.text, query.topics, query.topic_types)

    def direct(self) -> Iterator[Event]:
        """The answer behind its greedy path."""
        yield from self.chain_of_thought(1)

    def chain_of_thought(self, beams: int) -> Iterator[Event]:
        """The best chain of a beam search."""
        branch = unconstrained_branch(self.model, self.prompt, beams)
        written = yield from run_unconstrained(branch, self.resources, beams, "free paths")
        yield from _end_of_chain(written[:1], written, self.name)

    def chains(self, count: int, sampling: SamplingOptions) -> Generator[Event, None, list[FreePath]]:
        """Sampled."""
        branch = sampled_branch(self.model, self.prompt, count, sampling.temperature, sampling.seed)
        return (yield from run_unconstrained(branch, self.resources, count, "free paths"))


def majority(written: Sequence[FreePath]) -> list[FreePath]:
    """The chains that reach the commonest answer, the likeliest first; of answers as common the likeliest."""
    voters: dict[str, list[FreePath]] = {}
    for chain in sorted(written, key=lambda chain: -chain.score):
        if _answer_of(chain):
            voters.setdefault(fold(_answer_of(chain)), []).append(chain)
    return max(voters.values(), key=len, default=[])


def _end_of_chain(taken: Sequence[FreePath], written: Sequence[FreePath], by: str) -> Iterator[Event]:
    """The answer of the chains taken, and how many of all chains are in the graph."""
    yield _count_in_graph(written)
    answer = _answer_of(taken[0]) if taken else ""
    votes = f" (said by {len(taken)} of {len(written)} chains)" if len(taken) > 1 else ""
    yield _final([answer] if answer else [], f"{answer}{votes}", by)


def _count_in_graph(written: Sequence[FreePath]) -> Notice:
    faithful = sum(chain.faithful for chain in written)
    return Notice(f"This method does not look at the graph: {faithful} of the {len(written)} chains written are in it.")


def _answer_of(chain: FreePath) -> str:
    """The answer written behind a chain; where that names the chain's end, as the graph spells it."""
    if chain.path is not None and (not chain.answer or fold(chain.answer) == fold(chain.path.end)):
        return chain.path.end
    return chain.answer


def _listed(text: str, cut: bool = False) -> list[str]:
    return [name for name, _ in read_answer(text, {}, cut)]


def _final(answers: Sequence[str], text: str, by: str) -> AnswerFinal:
    """An answer that cites nothing: no path supports it."""
    if not answers:
        refusal = f"{by} wrote nothing that can be read as an answer."
        return AnswerFinal(text or refusal, (), (), by, refusal=refusal)
    return AnswerFinal(text, tuple(answers), ((),) * len(answers), by)
