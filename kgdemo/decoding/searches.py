"""The other searches over a constraint: greedy, by sampling, with diverse beams, and one beam search a topic.

Greedy search takes the most probable token at each step. Sampling draws several continuations of one prompt at once:
self-consistency (Wang et al. 2023) lets a model write several chains at random and takes the answer that most of them
reach. A seed makes a run repeatable.

Diverse beam search (Vijayakumar et al. 2016, algorithm 1) splits the beams into groups which choose one after another
at each step. A token that earlier groups have chosen at this step loses ``penalty`` for each of them (Hamming
diversity), and the loss stays in the score. transformers had it until version 4 (``num_beam_groups``,
``diversity_penalty``), and GCR's published decoder builds on that. All groups share one forward pass a step.

With one search a topic, run in step, a question's second entity is not crowded out by its first. The model reads the
prompt once and all searches grow one token tree. Each keeps K beams of its own; what they do at a step is shown as one
step.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgdemo.constraint.automaton import AutomatonState, Constraint, KGAutomaton, Position, Segment, Successors
from kgdemo.decoding.base import BeamSettings, BeamView, Choice, Hypothesis, Step, best_candidates
from kgdemo.decoding.beam import LookAhead, beam_search, is_settled, prune_hopeless, split_candidates, views_of
from kgdemo.events import Fate
from kgdemo.models.base import JointTree, TokenTree


def search_named(
    kind: str, tree: TokenTree, constraint: Constraint[Any], limits: BeamSettings
) -> Generator[Step, None, list[Hypothesis]]:
    """The search of that name; beams search from several topics side by side.

    Args:
        kind: ``beam``, ``diverse``, ``greedy`` or ``sample``. Only the beam search goes on from forced tokens, so it
            runs wherever there are any.
        tree: of the prompt.
        constraint: what may be written.
        limits: of the search; what only the beam search knows, the others leave out.
    """
    if kind == "greedy" and not limits.forced:
        return greedy_path(tree, constraint, limits.max_tokens)
    if kind == "sample" and not limits.forced:
        return sample(tree, constraint, SamplingSettings(limits.beams, limits.max_tokens, temperature=1.0))
    if kind == "diverse" and not limits.forced:  # a group for each path, so as many are found as are wanted
        return diverse_search(tree, constraint, DiverseSettings(replace(limits, keep=0), groups=limits.beams))
    if isinstance(constraint, KGAutomaton) and len(constraint.topics) > 1 and not limits.forced:
        joint = JointTree.of(tree)
        parts = [SingleTopic(constraint, place) for place in range(len(constraint.topics))]
        return per_topic_search([beam_search(joint, part, limits) for part in parts])
    return beam_search(tree, constraint, limits)


def greedy_search(tree: TokenTree, constraint: Constraint[Any], max_tokens: int) -> Generator[Step, None, Hypothesis]:
    """The most probable token that the constraint allows, one after another, until it is complete or dead.

    A beam of one is something else: it weighs an early end against all that might follow.

    Yields:
        each step.

    Returns:
        what was written; its state says whether it is complete or was cut off.
    """
    written = Hypothesis((), (), constraint.start())
    row = tree.prompt_log_probs()
    for number in range(max_tokens):
        if not written.state.alive or written.state.complete:
            break
        allowed = constraint.successors(written.state)
        if allowed.tokens is None:
            index = token = int(row.argmax())
        else:
            index = int(row[torch.from_numpy(allowed.tokens.astype(np.int64)).to(row.device)].argmax())
            token = int(allowed.tokens[index])
        log_prob = float(row[token])
        view = BeamView(written, -1 if allowed.tokens is None else len(allowed.tokens), 0.0)
        tokens, log_probs = (*written.tokens, token), (*written.log_probs, log_prob)
        longer = Hypothesis(tokens, log_probs, allowed.take(index), written.node, written.score + log_prob)
        if not longer.state.complete:
            nodes, rows = tree.extend([written.node], [token])
            longer, row = replace(longer, node=nodes[0]), rows[0]
        yield Step(number, (view,), (Choice(0, token, log_prob, longer.score, "kept"),), (longer,), ())
        written = longer
    return written


def greedy_path(
    tree: TokenTree, constraint: Constraint[Any], max_tokens: int
) -> Generator[Step, None, list[Hypothesis]]:
    """Greedy search in the shape of the other searches (GCR's and the baselines' cheapest decoding).

    Yields:
        each step.

    Returns:
        the path, or nothing where it was cut off or ran into a dead end.
    """
    written = yield from greedy_search(tree, constraint, max_tokens)
    return [written] if written.state.complete else []


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """How to draw.

    Attributes:
        count: chains.
        max_tokens: longest chain, end mark included; one cut off there is none.
        temperature: 1 draws by the model's own probabilities, less prefers the likelier tokens.
        seed: of the draws.
    """

    count: int = 10
    max_tokens: int = 64
    temperature: float = 0.7
    seed: int = 0


def sample(
    tree: TokenTree, constraint: Constraint[Any], settings: SamplingSettings
) -> Generator[Step, None, list[Hypothesis]]:
    """Draw ``settings.count`` chains, each by itself; two may be the same.

    Yields:
        each step; chains already at their end take no part.

    Returns:
        the chains that came to an end, in the order they did. Scores are log-probabilities at temperature 1.
    """
    rng = torch.Generator().manual_seed(settings.seed)
    start = constraint.start()
    live = [Hypothesis((), (), start)] * settings.count if start.alive else []
    log_probs = tree.prompt_log_probs()[None].expand(len(live), -1)
    finished: list[Hypothesis] = []
    for number in range(settings.max_tokens if live else 0):
        choices, going, counts = [], [], []
        for parent, (chain, row) in enumerate(zip(live, log_probs, strict=True)):
            allowed = constraint.successors(chain.state)
            counts.append(-1 if allowed.tokens is None else len(allowed.tokens))
            index, token = _draw(row, allowed.tokens, settings.temperature, rng)
            log_prob, state = float(row[token]), allowed.take(index)
            longer = Hypothesis(
                (*chain.tokens, token), (*chain.log_probs, log_prob), state, chain.node, chain.score + log_prob
            )
            fate: Fate = "finished" if state.complete else "kept" if state.alive else "pruned"
            choices.append(Choice(parent, token, log_prob, longer.score, fate))
            if fate == "finished":
                finished.append(longer)
            elif fate == "kept":
                going.append(longer)
        views = tuple(BeamView(chain, count, 0.0) for chain, count in zip(live, counts, strict=True))
        if going:
            nodes, log_probs = tree.extend([c.node for c in going], [c.tokens[-1] for c in going])
            going = [replace(chain, node=node) for chain, node in zip(going, nodes, strict=True)]
        yield Step(number, views, tuple(choices), tuple(going), tuple(finished))
        live = going
        if not live:
            break
    return finished


def _draw(row: Tensor, allowed: np.ndarray | None, temperature: float, rng: torch.Generator) -> tuple[int, int]:
    """One token: its index among the allowed ones, and its id."""
    scores = row.cpu() if allowed is None else row.cpu()[torch.from_numpy(allowed.astype(np.int64))]
    index = int(torch.multinomial(torch.softmax(scores / temperature, dim=-1), 1, generator=rng))
    return index, index if allowed is None else int(allowed[index])


@dataclass(frozen=True, slots=True)
class DiverseSettings:
    """How to search in groups.

    Attributes:
        search: as for the plain search; ``beams`` of them in all, split evenly.
        groups: number of groups; one makes this the plain search, one beam each the most diverse.
        penalty: taken from a token's log-probability for every earlier group's beam that chose it at this step.
    """

    search: BeamSettings
    groups: int = 5
    penalty: float = 1.0

    def __post_init__(self) -> None:
        if self.groups < 1 or self.search.beams % self.groups:
            raise ValueError(f"{self.search.beams} beams cannot be split into {self.groups} even groups")


@dataclass(slots=True)
class _Group:
    live: list[Hypothesis]
    log_probs: Tensor  # (beams of the group, V)
    finished: list[Hypothesis]


def diverse_search(
    tree: TokenTree, constraint: Constraint[Any], settings: DiverseSettings
) -> Generator[Step, None, list[Hypothesis]]:
    """Search for ``settings.search.beams`` complete paths that differ from early on.

    Yields:
        each step over all groups; beams are numbered through, first group first.

    Returns:
        finished hypotheses of all groups, best first, all different. A group keeps as many as it has beams, and
        groups may find the same, so there may be fewer than asked. Scores include the penalties.
    """
    each = replace(settings.search, beams=settings.search.beams // settings.groups)
    scorer = LookAhead(tree, constraint, settings.search)
    first = Hypothesis((), (), constraint.start())
    live = [first] if first.state.alive else []  # later ones are alive, or they were not kept
    groups = [_Group(live, tree.prompt_log_probs()[None], []) for _ in range(settings.groups)]
    for number in range(settings.search.max_tokens):
        said: Counter[int] = Counter()
        views: list[BeamView] = []
        choices: list[Choice] = []
        for group in groups:
            if not group.live or is_settled(group.live, group.finished, each):
                group.live = []
                continue
            seen, made = _advance(group, constraint, each, said, settings)
            choices += [replace(choice, parent=choice.parent + len(views)) for choice in made]
            views += seen
            said.update(hypothesis.tokens[-1] for hypothesis in group.live)
        if not views:
            break
        _score(groups, scorer)
        beams = tuple(hypothesis for group in groups for hypothesis in group.live)
        yield Step(number, tuple(views), tuple(choices), beams, tuple(_best(groups)))
    return _best(groups)


def _advance(
    group: _Group, constraint: Constraint[Any], limits: BeamSettings, said: Counter[int], settings: DiverseSettings
) -> tuple[Sequence[BeamView], list[Choice]]:
    """One step of one group: what it saw and chose; its live beams are those kept, not yet scored."""
    penalty = settings.penalty
    followers = [constraint.successors(beam.state) for beam in group.live]
    scores = [beam.score for beam in group.live]
    biased = group.log_probs
    if said:
        biased = group.log_probs.clone()
        tokens = torch.tensor(list(said), device=biased.device)
        biased[:, tokens] -= penalty * torch.tensor(list(said.values()), dtype=biased.dtype, device=biased.device)
    candidates = best_candidates(biased, followers, scores, 2 * limits.beams, limits.graph_normalised)
    penalised = []
    for found in candidates:  # what is reported of a token is its own log-probability
        allowed = followers[found.beam].tokens
        token = found.index if allowed is None else int(allowed[found.index])
        penalised.append(replace(found, log_prob=found.log_prob + penalty * said[token]))
    choices, live, ended = split_candidates(group.live, followers, penalised, limits)
    group.finished = sorted([*group.finished, *ended], key=lambda h: -h.score)[: limits.beams]
    if settings.groups == 1:  # of several a beam without hope still tells the later groups what has been said
        choices, live = prune_hopeless(choices, live, group.finished, limits)
    views = views_of(group.live, followers, group.log_probs, limits.masked)
    group.live = live
    return views, choices


def _score(groups: Sequence[_Group], scorer: LookAhead) -> None:
    """One forward pass for all groups; groups whose beams are the same share their nodes."""
    beams = {(h.node, h.tokens[-1]): h for group in groups for h in group.live}
    if not beams:
        return
    nodes, rows = scorer.ask_for(list(beams.values())), scorer.rows()
    places = {key: place for place, key in enumerate(beams)}
    for group in groups:
        at = [places[h.node, h.tokens[-1]] for h in group.live]
        group.log_probs = rows[at]
        group.live = [replace(h, node=nodes[place]) for h, place in zip(group.live, at, strict=True)]


def _best(groups: Sequence[_Group]) -> list[Hypothesis]:
    """What all groups have finished, best first; of a path found twice the better score counts."""
    found: dict[tuple[int, ...], Hypothesis] = {}
    for hypothesis in sorted((h for group in groups for h in group.finished), key=lambda h: -h.score):
        found.setdefault(hypothesis.tokens, hypothesis)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class SingleTopic:
    """See ``automaton.Constraint``: the paths of an automaton that start from one of its topics.

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
