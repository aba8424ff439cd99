"""A decoder that is broken on purpose: where its index ends, it allows everything instead of stopping.

Only the recorder of the gallery of failures uses it (``record_failures``), never the page: it shows what the
verifier catches when a constraint *fails open*. The method registered here exists while a run is recorded.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.base import Successors
from kgdemo.constraint.free_text import FreeState, FreeText
from kgdemo.constraint.sub_tries import AutomatonState
from kgdemo.events import ConstraintReady, Event, LMCall, Notice, PathFound, PathVerified
from kgdemo.kg.path import PathIds
from kgdemo.methods import METHODS
from kgdemo.methods.registry import MethodCard
from kgdemo.methods.search_branch import constrained_branch
from kgdemo.models.base import PathModel
from kgdemo.query.query import Query
from kgdemo.reasoners.base import Evidence, Resources
from kgdemo.settings import Settings

NAME = "fails-open"
WARNING = "This run was recorded with a decoder that is broken on purpose: where its index ends, it allows every token."


@dataclass(frozen=True, slots=True)
class OpenState:
    """Still inside the index (``inside``), or past its end and free."""

    inside: AutomatonState | None
    free: FreeState

    @property
    def complete(self) -> bool:
        """See ``base.State``."""
        return self.free.complete

    @property
    def alive(self) -> bool:
        """See ``base.State``."""
        return not self.complete

    @property
    def paths(self) -> Sequence[PathIds]:
        """None: what was written past the index is text."""
        return ()


class FailsOpen:
    """The automaton with the classic mistake: the end mark is not in the index, and "nothing allowed" means "all".

    Args:
        automaton: the sound constraint.
        end: token ids of the end mark.
    """

    def __init__(self, automaton: KGAutomaton, end: tuple[int, ...]) -> None:
        self.automaton, self.free, self.end = automaton, FreeText(end), end

    def start(self) -> OpenState:
        """See ``base.Constraint``."""
        return OpenState(self.automaton.start(), self.free.start())

    def successors(self, state: OpenState) -> Successors[OpenState]:
        """See ``base.Constraint``."""
        free = self.free.successors(state.free)
        if state.inside is None:
            return Successors(None, lambda token: OpenState(None, free.take(token)))
        found = self.automaton.successors(state.inside)
        assert found.tokens is not None
        allowed = [i for i, token in enumerate(found.tokens.tolist()) if token != self.end[0]]
        if not allowed:  # the mistake: nothing is allowed here, so everything is
            return Successors(None, lambda token: OpenState(None, free.take(token)))
        tokens = found.tokens[allowed]

        def take(i: int) -> OpenState:
            return OpenState(found.take(allowed[i]), free.take(int(tokens[i])))

        return Successors(tokens, take, found.inside_entity)

    def paths_left(self, state: OpenState) -> int:
        """See ``base.Constraint``; past the index nobody knows."""
        return 0 if state.inside is None else self.automaton.paths_left(state.inside)


def run(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """GCR's decoding with the broken constraint; the paths are parsed from their text and judged like any text."""
    yield Notice(WARNING)
    began = time.perf_counter()
    ids = [i for topic in query.topics if (i := resources.kg.entities.find(topic)) is not None]
    automaton = KGAutomaton(resources.token_graph, ids, settings.hops)
    left = automaton.paths_left(automaton.start())
    yield ConstraintReady("fails open", query.topics, settings.hops, left, 1000 * (time.perf_counter() - began))
    model: PathModel = resources.model
    prompt = model.style.encode(model.label_tokens, query.text, query.topics, query.topic_types)
    began = time.perf_counter()
    branch = constrained_branch(model, prompt, FailsOpen(automaton, tuple(model.label_tokens.end)), settings)
    while (step := branch.advance()) is not None:
        yield step
    evidence = []
    finished = (branch.finished or [])[: settings.beams]
    for index, hypothesis in enumerate(finished, 1):
        text = branch.text(hypothesis)
        path, verdict = resources.verifier.verify_text(text)
        beam = branch.reader.beam_id(hypothesis.tokens)
        yield PathFound(True, index, text, hypothesis.total, path, beam)
        yield PathVerified(True, index, verdict)
        if path is not None:
            evidence.append(Evidence(index, path, path.end, hypothesis.total, hypothesis.total))
    written = sum(len(hypothesis.tokens) for hypothesis in finished)
    yield LMCall(
        model.name,
        "reasoning paths",
        model.label_tokens.tokenizer.decode(prompt),
        f"{len(finished)} paths",
        len(prompt),
        written,
        time.perf_counter() - began,
    )
    yield from resources.reasoner.answer(query.text, evidence)


@contextmanager
def registered() -> Iterator[str]:
    """The broken method under its name, for as long as a run is recorded."""
    METHODS[NAME] = MethodCard(NAME, "A broken decoder", "none", WARNING, run, constrained=False)
    try:
        yield NAME
    finally:
        del METHODS[NAME]
