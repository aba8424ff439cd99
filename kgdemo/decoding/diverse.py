"""Diverse beam search: groups of beams that are kept from saying the same (Vijayakumar et al. 2016, algorithm 1).

The beams are split into groups which choose one after another at each step. A token that earlier groups have
chosen at this step loses ``penalty`` for each of them (Hamming diversity), and the loss stays in the score.
transformers had it until version 4 (``num_beam_groups``, ``diversity_penalty``), and GCR's published decoder builds
on that. All groups share one forward pass a step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from kgdemo.constraint.base import Constraint
from kgdemo.decoding.beam import BeamSettings, BeamView, Choice, Hypothesis, Step, settled, sort_out, views_of
from kgdemo.decoding.candidates import best_candidates
from kgdemo.decoding.lookahead import LookAhead
from kgdemo.models.base import TokenTree


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
    tree: TokenTree, constraint: Constraint, settings: DiverseSettings
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
    groups = [_Group([first], tree.prompt_log_probs()[None], []) for _ in range(settings.groups)]
    for number in range(settings.search.max_tokens):
        said: Counter[int] = Counter()
        views: list[BeamView] = []
        choices: list[Choice] = []
        for group in groups:
            _drop_the_dead(group)
            if not group.live or settled(group.live, group.finished, each):
                group.live = []
                continue
            seen, made = _advance(group, constraint, each, said, settings.penalty)
            choices += [replace(choice, parent=choice.parent + len(views)) for choice in made]
            views += seen
            said.update(hypothesis.tokens[-1] for hypothesis in group.live)
        if not views:
            break
        _score(groups, scorer)
        live = tuple(hypothesis for group in groups for hypothesis in group.live)
        yield Step(number, tuple(views), tuple(choices), live, tuple(_best(groups)))
    return _best(groups)


def _drop_the_dead(group: _Group) -> None:
    alive = [i for i, beam in enumerate(group.live) if beam.state.alive]
    if len(alive) < len(group.live):
        group.live, group.log_probs = [group.live[i] for i in alive], group.log_probs[alive]


def _advance(
    group: _Group, constraint: Constraint, limits: BeamSettings, said: Counter[int], penalty: float
) -> tuple[Sequence[BeamView], list[Choice]]:
    """One step of one group: what it saw and chose; its live beams are those kept, not yet scored."""
    followers = [constraint.successors(beam.state) for beam in group.live]
    scores = [beam.score for beam in group.live]
    biased = group.log_probs
    if said:
        biased = group.log_probs.clone()
        tokens = torch.tensor(list(said), device=biased.device)
        biased[:, tokens] -= penalty * torch.tensor(list(said.values()), dtype=biased.dtype, device=biased.device)
    candidates = best_candidates(biased, followers, scores, 2 * limits.beams, limits.graph_normalised)
    told = []
    for found in candidates:  # what is reported of a token is its own log-probability
        allowed = followers[found.beam].tokens
        token = found.index if allowed is None else int(allowed[found.index])
        told.append(replace(found, log_prob=found.log_prob + penalty * said[token]))
    choices, kept, ended = sort_out(group.live, followers, told, limits)
    group.finished = sorted([*group.finished, *ended], key=lambda h: -h.score)[: limits.beams]
    views = views_of(group.live, followers, group.log_probs, limits.masked)
    group.live = kept
    return views, choices


def _score(groups: Sequence[_Group], scorer: LookAhead) -> None:
    """One forward pass for all groups; groups whose beams are the same share their nodes."""
    beams = {(h.node, h.tokens[-1]): h for group in groups for h in group.live}
    if not beams:
        return
    nodes, rows = scorer.extend(list(beams.values()))
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
