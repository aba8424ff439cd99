"""Answers without the graph: direct, chain-of-thought (Wei et al. 2022), self-consistency (Wang et al. 2023).

With a chat model these prompt it. Without one the path model speaks, the same that GCR constrains, with
every token allowed: it writes reasoning paths and an answer behind each. Whatever either of them writes as a
path is looked up in the graph afterwards and shown as what it is; the answer is not changed by that.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from kgdemo.events import AnswerFinal, Event, HypothesisAnswer, Notice, PathFound, PathVerified
from kgdemo.kg.labels import fold
from kgdemo.methods.registry import register
from kgdemo.methods.search_branch import Branch, FreePath, sampled_branch, unconstrained_branch, ungrounded
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings, chosen, option

_ANSWER = "Answer the question from what you know. Reply with the answer alone; separate several by semicolons."
_CHAIN = (
    "Think step by step from what you know. Write the facts that lead from an entity of the question to its "
    "answer as one chain, entity -> relation -> entity -> relation -> entity, in one line and nothing else."
)
_FROM_CHAIN = (
    "Answer the question with your chain of thought. Reply with the answer alone; separate several by semicolons."
)


@register(
    "direct",
    "Direct answer",
    "Amayuelas et al. 2025 (Grounding), section 5",
    "The first thing the model says, with no look at the graph.",
)
def direct(question: str, topics: Sequence[str], resources: Resources, settings: Settings) -> Iterator[Event]:
    """Zero-shot. The path model cannot but write a path before its answer: its greedy one."""
    if deciding.writes_prose(resources.reasoner):
        text = yield from deciding.think(resources, question, _ANSWER, ())
        yield _final(_listed(text), text, resources.reasoner.name)
        return
    written = yield from _paths(
        unconstrained_branch(resources.model, _prompt(question, topics, resources), 1), resources, 1
    )
    yield from _answered(written[:1], written, resources)


@register(
    "cot",
    "Chain of thought",
    "Wei et al. 2022, section 2",
    "The model writes its most probable chain of facts from memory, then the answer. Nothing is looked up.",
)
def cot(question: str, topics: Sequence[str], resources: Resources, settings: Settings) -> Iterator[Event]:
    """The best of K chains by beam search; a chat model writes one."""
    if deciding.writes_prose(resources.reasoner):
        chain = yield from _chain(question, (), 1, resources)
        text = yield from deciding.think(resources, question, _FROM_CHAIN, [chain.text])
        yield from _unchecked([chain])
        yield _final(_listed(text), text, resources.reasoner.name)
        return
    branch = unconstrained_branch(resources.model, _prompt(question, topics, resources), settings.beams)
    written = yield from _paths(branch, resources, settings.beams)
    yield from _answered(written[:1], written, resources)


@dataclass(frozen=True, slots=True)
class Draws:
    """How self-consistency draws its chains from the path model."""

    seed: int = option(0, "of the draws: the same seed, the same chains", maximum=999_999, public=9_999)
    temperature: float = option(0.7, "T: less draws likelier chains (section 3.1)", minimum=0.1, maximum=2)


@register(
    "self-consistency",
    "Self-consistency",
    "Wang et al. 2023, section 2",
    "The model writes K chains from memory, and the answer that most of them reach is taken.",
    options=Draws,
)
def self_consistency(question: str, topics: Sequence[str], resources: Resources, settings: Settings) -> Iterator[Event]:
    """K sampled chains and a vote; a chat model, asked at temperature 0, is asked for different chains instead."""
    written: list[FreePath] = []
    if deciding.writes_prose(resources.reasoner):
        for index in range(1, settings.beams + 1):
            written.append((yield from _chain(question, [chain.text for chain in written], index, resources)))
    else:
        draws = chosen(Draws, settings.options)
        prompt = _prompt(question, topics, resources)
        branch = sampled_branch(resources.model, prompt, settings.beams, draws.temperature, draws.seed)
        written = yield from _paths(branch, resources, settings.beams)
    yield from _answered(majority(written), written, resources)


def _prompt(question: str, topics: Sequence[str], resources: Resources) -> list[int]:
    return resources.model.style.encode(resources.model.label_tokens, question, topics)


def _paths(branch: Branch, resources: Resources, limit: int) -> Generator[Event, None, list[FreePath]]:
    """Run a free search of the path model to its end; its paths, judged."""
    while (step := branch.advance()) is not None:
        yield step
    written = yield from ungrounded(branch, resources, limit)
    yield branch.call("free paths", "\n".join(path.text for path in written))
    return written


def _chain(question: str, before: Sequence[str], index: int, resources: Resources) -> Generator[Event, None, FreePath]:
    """One chain by a chat model, judged; its end is its answer."""
    others = ["", "Write another one than these:", *before] if before else []
    text = yield from deciding.plan(resources, question, "\n".join([_CHAIN, *others]))
    path, verdict = resources.verifier.verify_text(text)
    answer = path.end if path else text.split("->")[-1].strip()
    yield PathFound(False, index, text, 0.0, path)
    yield HypothesisAnswer(False, index, answer)
    yield PathVerified(False, index, verdict)
    return FreePath(text, path, answer, 0.0, verdict.faithful)


def majority(written: Sequence[FreePath]) -> list[FreePath]:
    """The chains that reach the commonest answer, the likeliest first; of answers as common the likeliest."""
    voters: dict[str, list[FreePath]] = {}
    for chain in sorted(written, key=lambda chain: -chain.score):
        if _answer_of(chain):
            voters.setdefault(fold(_answer_of(chain)), []).append(chain)
    return max(voters.values(), key=len, default=[])


def _answered(chosen: Sequence[FreePath], written: Sequence[FreePath], resources: Resources) -> Iterator[Event]:
    """The answer of the chains chosen, and how many of all chains are in the graph."""
    by = resources.reasoner.name if deciding.writes_prose(resources.reasoner) else resources.model.name
    yield from _unchecked(written)
    answer = _answer_of(chosen[0]) if chosen else ""
    votes = f" (said by {len(chosen)} of {len(written)} chains)" if len(chosen) > 1 else ""
    yield _final([answer] if answer else [], f"{answer}{votes}", by)


def _unchecked(written: Sequence[FreePath]) -> Iterator[Event]:
    true = sum(chain.faithful for chain in written)
    yield Notice(f"This method does not look at the graph: {true} of the {len(written)} chains written are in it.")


def _answer_of(chain: FreePath) -> str:
    """The answer written behind a chain; where that names the chain's end, as the graph spells it."""
    if chain.path is not None and (not chain.answer or fold(chain.answer) == fold(chain.path.end)):
        return chain.path.end
    return chain.answer


def _listed(text: str) -> list[str]:
    return [part for part in (piece.strip(" .\"'") for piece in text.split(";")) if part]


def _final(answers: Sequence[str], text: str, by: str) -> AnswerFinal:
    """An answer that cites nothing: no path supports it."""
    if not answers:
        refusal = f"{by} wrote no answer."
        return AnswerFinal(refusal, (), (), by, refusal=refusal)
    return AnswerFinal(text, tuple(answers), ((),) * len(answers), by)
