"""A search of the path model as events: under the graph's constraint, or freely, and then judged.

GCR runs both side by side; the baselines that do not look at the graph run the free one alone.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.base import Constraint
from kgdemo.constraint.free import FreeText
from kgdemo.decoding.beam import BeamSettings, Hypothesis, beam_search, greedy_continuations
from kgdemo.decoding.sampling import SamplingSettings, sample
from kgdemo.errors import ModelError
from kgdemo.events import DecodeStep, Event, HypothesisAnswer, PathFound, PathVerified
from kgdemo.kg.path import Path
from kgdemo.models.base import PathModel, TokenTree
from kgdemo.reasoning.abreast import FromTopic, abreast
from kgdemo.reasoning.base import World
from kgdemo.reasoning.steps import StepReader
from kgdemo.settings import Settings

ANSWER_TOKENS = 16
PATH_TOKENS = 256  # the longest constrained path; the graph ends it long before
LEAST_ROOM = 48  # a path of two hops
FREE_TOKENS = 64  # without a constraint nothing else ends a path


@dataclass(slots=True)
class Branch:
    """One search, its events and what it found."""

    prompt: Sequence[int]
    tree: TokenTree
    constraint: Constraint
    reader: StepReader
    search: Generator
    finished: list[Hypothesis] | None = None

    def advance(self) -> DecodeStep | None:
        """One step further; None once the search has ended."""
        try:
            return self.reader.read(next(self.search))
        except StopIteration as end:
            self.finished = end.value
            return None

    def text(self, hypothesis: Hypothesis) -> str:
        """What a finished hypothesis has written, without the end mark."""
        end = len(self.reader.model.pieces.end)
        return self.reader.text(Hypothesis(hypothesis.tokens[:-end], (), hypothesis.state)).strip()


@dataclass(frozen=True, slots=True)
class FreePath:
    """What the model wrote without the graph: a path where the text is one, the answer behind it, the verdict."""

    text: str
    path: Path | None
    answer: str
    score: float
    faithful: bool


def room_for(model: PathModel, prompt: Sequence[int], most: int) -> int:
    """Tokens a path may have behind this prompt, ``most`` at the highest.

    Raises:
        ModelError: the prompt leaves no room for a path.
    """
    room = model.context - len(prompt) - ANSWER_TOKENS
    if room < LEAST_ROOM:
        raise ModelError(
            f"The question is too long for the model {model.name}, which reads {model.context} tokens; shorten it."
        )
    return min(most, room)


def bound_branch(model: PathModel, prompt: Sequence[int], automaton: KGAutomaton, settings: Settings) -> Branch:
    """Beam search for paths that the graph allows; with several topics one search each, run in step."""
    longest = room_for(model, prompt, PATH_TOKENS)
    tree = model.tree(prompt)
    limits = BeamSettings(
        beams=settings.beams,
        max_tokens=longest,
        graph_normalised=settings.ranking == "relation",
        masked=settings.explain,
    )
    count = len(automaton.topics)
    parts = [FromTopic(automaton, place) for place in range(count)] if count > 1 else [automaton]
    search = abreast([beam_search(tree, part, limits) for part in parts])
    return Branch(prompt, tree, automaton, StepReader(model, automaton, True), search)


def free_branch(model: PathModel, prompt: Sequence[int], beams: int) -> Branch:
    """The same search with every token allowed."""
    longest = room_for(model, prompt, FREE_TOKENS)
    tree, constraint = model.tree(prompt), FreeText(model.pieces.end)
    search = beam_search(tree, constraint, BeamSettings(beams=beams, max_tokens=longest))
    return Branch(prompt, tree, constraint, StepReader(model, constraint, False), search)


def sampled_branch(model: PathModel, prompt: Sequence[int], count: int, temperature: float) -> Branch:
    """Chains drawn at random instead of searched for, every token allowed."""
    longest = room_for(model, prompt, FREE_TOKENS)
    tree, constraint = model.tree(prompt), FreeText(model.pieces.end)
    search = sample(tree, constraint, SamplingSettings(count, longest, temperature))
    return Branch(prompt, tree, constraint, StepReader(model, constraint, False), search)


def ungrounded(free: Branch, world: World, most: int) -> Generator[Event, None, list[FreePath]]:
    """Report what the model wrote without the graph, parsed by its arrows and judged like any path."""
    finished = (free.finished or [])[:most]
    answers = hypothesis_answers(free, world.model, finished)
    written = []
    for index, (hypothesis, answer) in enumerate(zip(finished, answers, strict=True), 1):
        text = free.text(hypothesis)
        path, verdict = world.verifier.verify_text(text, answer)
        beam = free.reader.beam_id(hypothesis.tokens)
        yield PathFound(False, index, text, hypothesis.score, path, beam)
        yield HypothesisAnswer(False, index, answer)
        yield PathVerified(False, index, verdict)
        written.append(FreePath(text, path, answer, hypothesis.score, verdict.faithful))
    return written


def hypothesis_answers(branch: Branch, model: PathModel, finished: Sequence[Hypothesis]) -> list[str]:
    """The hypothesis answers, decoded freely after each path (GCR section 4.3)."""
    mark = model.pieces.special(model.style.answer_mark) if model.style.answer_mark else ()
    written = greedy_continuations(branch.tree, finished, mark, model.stop_ids, ANSWER_TOKENS)
    decode = model.pieces.tokenizer.decode
    return [decode(list(tokens), skip_special_tokens=True).strip() for tokens in written]
