"""GCR: graph-constrained reasoning (Luo et al. 2025, section 4).

Three stages: KG-Trie construction (4.2), graph-constrained decoding of K paths with a hypothesis answer
each (4.3), and inductive reasoning over them by a general language model (4.4). Beside it runs the same
search without the constraint, and everything either of them writes is verified.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.base import Constraint
from kgdemo.constraint.free import FreeText
from kgdemo.decoding.beam import BeamSettings, Hypothesis, beam_search, greedy_continuations
from kgdemo.events import (
    AnswerFinal,
    ConstraintReady,
    DecodeStep,
    Event,
    HypothesisAnswer,
    LMCall,
    PathFound,
    PathVerified,
)
from kgdemo.kg.path import Path
from kgdemo.models.base import PathModel, TokenTree
from kgdemo.reasoning.answer_sets import complete
from kgdemo.reasoning.base import Evidence, World, register
from kgdemo.reasoning.ranking import RankedPath, rank
from kgdemo.reasoning.steps import StepReader
from kgdemo.settings import Settings

_ANSWER_TOKENS = 16
_PATH_TOKENS = 256  # the longest constrained path; the graph ends it long before
_FREE_TOKENS = 64  # without a constraint nothing else ends a path


@register(
    "gcr",
    "Graph-constrained reasoning",
    "Luo et al. 2025 (GCR)",
    "Decodes K reasoning paths while the graph decides token by token what may be said, then answers from them.",
    constrained=True,
)
def run(question: str, topics: Sequence[str], world: World, settings: Settings) -> Iterator[Event]:
    """Stages 4.2 to 4.4 of the paper."""
    evidence = yield from decode_paths(question, topics, world, settings)
    for event in world.reasoner.answer(question, evidence):
        if isinstance(event, AnswerFinal) and settings.complete:
            yield from complete(event, evidence, world, settings.directed)
        else:
            yield event


@dataclass(slots=True)
class _Branch:
    """One of the two searches that run side by side."""

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


def decode_paths(
    question: str, topics: Sequence[str], world: World, settings: Settings
) -> Generator[Event, None, list[Evidence]]:
    """KG-Trie and graph-constrained decoding; other methods build on it too.

    Returns:
        the grounded paths, numbered in the order they are ranked.
    """
    began = time.perf_counter()
    ids = [i for topic in topics if (i := world.kg.entities.find(topic)) is not None]
    automaton = KGAutomaton(world.tokenised, ids, settings.hops)
    paths = automaton.paths_left(automaton.start())
    yield ConstraintReady("automaton", tuple(topics), settings.hops, paths, 1000 * (time.perf_counter() - began))

    prompt = world.model.style.encode(world.model.pieces, question, topics)
    began = time.perf_counter()
    bound = _branch(world.model, prompt, automaton, settings, constrained=True)
    free = _branch(world.model, prompt, FreeText(world.model.pieces.end), settings, constrained=False)
    branches = [bound, free] if settings.compare else [bound]
    while branches:
        for branch in list(branches):
            step = branch.advance()
            if step is None:
                branches.remove(branch)
            else:
                yield step
    evidence = yield from _grounded(bound, world, settings)
    if settings.compare:
        yield from _ungrounded(free, world, settings)
    seconds = time.perf_counter() - began
    written = sum(len(h.tokens) for h in bound.finished or ())
    text = world.model.pieces.tokenizer.decode(prompt)
    yield LMCall(world.model.name, "reasoning paths", text, f"{len(evidence)} paths", len(prompt), written, seconds)
    return evidence


def _branch(
    model: PathModel, prompt: Sequence[int], constraint: Constraint, settings: Settings, constrained: bool
) -> _Branch:
    tree = model.tree(prompt)
    limits = BeamSettings(
        beams=settings.beams,
        max_tokens=_PATH_TOKENS if constrained else _FREE_TOKENS,
        graph_normalised=settings.ranking == "relation",
        masked=settings.explain if constrained else 0,
    )
    reader = StepReader(model, constraint, constrained)
    return _Branch(tree, constraint, reader, beam_search(tree, constraint, limits))


def _grounded(bound: _Branch, world: World, settings: Settings) -> Generator[Event, None, list[Evidence]]:
    """Rank, verify and report the constrained paths, read off the automaton's leaves."""
    ranked = rank(world.tokenised, bound.finished or [], settings.ranking, settings.beams)
    answers = _answers(bound, world.model, [path.hypothesis for path in ranked])
    evidence = []
    for index, (found, answer) in enumerate(zip(ranked, answers, strict=True), 1):
        path = labelled(found, world)
        beam = bound.reader.beam_id(found.hypothesis.tokens)
        yield PathFound(True, index, str(path), found.path_score, path, beam, found.relation_score)
        yield HypothesisAnswer(True, index, answer)
        yield PathVerified(True, index, world.verifier.verify(path, answer))
        evidence.append(Evidence(index, path, answer, found.path_score, found.relation_score))
    return evidence


def _ungrounded(free: _Branch, world: World, settings: Settings) -> Iterator[Event]:
    """Report what the model wrote without the graph, parsed by its arrows and judged the same way."""
    finished = (free.finished or [])[: settings.beams]
    answers = _answers(free, world.model, finished)
    for index, (hypothesis, answer) in enumerate(zip(finished, answers, strict=True), 1):
        text = free.reader.text(Hypothesis(hypothesis.tokens[: -len(world.model.pieces.end)], (), hypothesis.state))
        path, verdict = world.verifier.verify_text(text, answer)
        beam = free.reader.beam_id(hypothesis.tokens)
        yield PathFound(False, index, text.strip(), hypothesis.score, path, beam)
        yield HypothesisAnswer(False, index, answer)
        yield PathVerified(False, index, verdict)


def _answers(branch: _Branch, model: PathModel, finished: Sequence[Hypothesis]) -> list[str]:
    """The hypothesis answers, decoded freely after each path."""
    mark = model.pieces.special(model.style.answer_mark) if model.style.answer_mark else ()
    written = greedy_continuations(branch.tree, finished, mark, model.stop_ids, _ANSWER_TOKENS)
    decode = model.pieces.tokenizer.decode
    return [decode(list(tokens), skip_special_tokens=True).strip() for tokens in written]


def labelled(found: RankedPath, world: World) -> Path:
    """A decoded path in labels."""
    entities = tuple(world.kg.entities[e] for e in found.ids.entities)
    return Path(entities, tuple(world.kg.readings[s] for s in found.ids.steps))
