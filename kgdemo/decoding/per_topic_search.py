"""One search a topic, run in step: a question's second entity is not crowded out by its first.

The model reads the prompt once and all searches grow one token tree. Each keeps K beams of its own; what they
do at a step is shown as one step.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.base import Successors
from kgdemo.constraint.sub_tries import AutomatonState, Position, Segment
from kgdemo.decoding.base import BeamView, Choice, Hypothesis, Step


@dataclass(frozen=True, slots=True)
class SingleTopic:
    """See ``constraint.base.Constraint``: the paths of an automaton that start from one of its topics.

    Attributes:
        automaton: of all topics; its sub-tries are shared.
        place: of the topic among the automaton's.
    """

    automaton: KGAutomaton
    place: int

    def start(self) -> AutomatonState:
        """See ``Constraint``."""
        return AutomatonState((Position(Segment.TOPIC, None, self.place, self.place + 1),))

    def successors(self, state: AutomatonState) -> Successors[AutomatonState]:
        """See ``Constraint``."""
        return self.automaton.successors(state)

    def paths_left(self, state: AutomatonState) -> int:
        """See ``Constraint``."""
        return self.automaton.paths_left(state)


def per_topic_search(
    searches: Sequence[Generator[Step, None, list[Hypothesis]]],
) -> Generator[Step, None, list[Hypothesis]]:
    """Run searches in step.

    Yields:
        the steps of those still under way, as one.

    Returns:
        what they all found, best first.
    """
    running = list(searches)
    found: list[Hypothesis] = []
    while running:
        steps: list[Step] = []
        for search in list(running):
            try:
                steps.append(next(search))
            except StopIteration as end:
                running.remove(search)
                found += end.value
        if steps:
            yield _joined(steps)
    return sorted(found, key=lambda h: -h.score)


def _joined(steps: Sequence[Step]) -> Step:
    """Several searches' steps as one; beams that have written the same, as all have at first, are one beam."""
    beams: dict[tuple[int, ...], BeamView] = {}
    for view in (view for step in steps for view in step.beams):
        known = beams.get(view.hypothesis.tokens)
        beams[view.hypothesis.tokens] = view if known is None else _merged(known, view)
    places = {tokens: place for place, tokens in enumerate(beams)}
    choices: dict[tuple[int, int], Choice] = {}
    for step in steps:
        for choice in step.choices:
            parent = places[step.beams[choice.parent].hypothesis.tokens]
            choices[parent, choice.token] = replace(choice, parent=parent)
    live = tuple(h for step in steps for h in step.live)
    finished = sorted((h for step in steps for h in step.finished), key=lambda h: -h.score)
    return Step(steps[0].number, tuple(beams.values()), tuple(choices.values()), live, tuple(finished))


def _merged(one: BeamView, other: BeamView) -> BeamView:
    """Two views of the same tokens, inside the labels of different topics."""
    ours, theirs = one.hypothesis.state, other.hypothesis.state
    assert isinstance(ours, AutomatonState)
    assert isinstance(theirs, AutomatonState)
    state = AutomatonState((*ours.positions, *theirs.positions))
    top = dict((*one.top, *other.top))
    masked = {token: p for token, p in (*one.masked, *other.masked) if token not in top}
    return BeamView(
        replace(one.hypothesis, state=state),
        len(top) or one.allowed + other.allowed,
        max(0.0, 1.0 - sum(map(math.exp, top.values()))) if top else 0.0,
        tuple(sorted(masked.items(), key=lambda pair: -pair[1])),
        tuple(sorted(top.items(), key=lambda pair: -pair[1])),
    )


def topic_log_probs(labels: Sequence[Sequence[int]], log_probs: Sequence[Sequence[float]]) -> list[float]:
    """How likely the model is to start from each topic, of those there are: normalised wherever labels part.

    Args:
        labels: token ids of each topic's label.
        log_probs: their full-vocabulary log-probabilities, as many.
    """
    totals = []
    for own, own_log_probs in zip(labels, log_probs, strict=True):
        total = 0.0
        for depth, log_prob in enumerate(own_log_probs):
            rivals = {
                label[depth]: row[depth]
                for label, row in zip(labels, log_probs, strict=True)
                if len(label) > depth and list(label[:depth]) == list(own[:depth])
            }
            peak = max(rivals.values())
            total += log_prob - peak - math.log(sum(math.exp(rival - peak) for rival in rivals.values()))
        totals.append(total)
    return totals
