"""Beam search over a constraint, as a generator: one ``Step`` a yield, nothing runs in between.

The search of GCR section 4.3 (equations 6 and 9): scores are sums of *full-vocabulary*
log-probabilities, of which the constraint lets some be taken. Normalising over the allowed tokens would
change which path wins. It fails closed: a beam that nothing may follow is dropped, and a path cut off by
the length limit is not a path.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgdemo.constraint.base import Constraint, Successors
from kgdemo.decoding.base import (
    BeamSettings,
    BeamView,
    Choice,
    Hypothesis,
    Ragged,
    Step,
    TokenCandidate,
    best_candidates,
    forbidden_mass,
    split_best,
)
from kgdemo.decoding.look_ahead import LookAhead
from kgdemo.errors import UserError
from kgdemo.events import Fate
from kgdemo.models.base import TokenTree


def beam_search(
    tree: TokenTree, constraint: Constraint[Any], settings: BeamSettings
) -> Generator[Step, None, list[Hypothesis]]:
    """Search for the ``settings.wanted`` best complete paths.

    Yields:
        each step, after its pruning.

    Returns:
        finished hypotheses, best first, all different; fewer than asked when no more exist.
    """
    first = Hypothesis((), (), constraint.start())
    live = [first] if first.state.alive else []  # later ones are alive, or they were not kept
    finished: list[Hypothesis] = []
    scorer = LookAhead(tree, constraint, settings)
    log_probs = scorer.begin(first.state)  # (beams, V)
    for number in range(settings.max_tokens):
        if not live or settled(live, finished, settings):
            break
        followers = [scorer.followers(beam) for beam in live]
        candidates = _candidates(live, followers, log_probs, settings, number)
        choices, next_live, ended = sort_out(live, followers, candidates, settings)
        if number + 1 < len(settings.forced):
            ended = []  # an end mark spelled in plain letters inside what is forced: shorter than asked for
        finished = sorted([*finished, *ended], key=lambda h: -h.score)[: settings.wanted]
        views = views_of(live, followers, log_probs, settings.masked)
        if next_live:
            nodes, log_probs = scorer.extend(next_live)
            next_live = [
                Hypothesis(h.tokens, h.log_probs, h.state, node, h.score)
                for h, node in zip(next_live, nodes, strict=True)
            ]
        yield Step(number, views, tuple(choices), tuple(next_live), tuple(finished))
        live = next_live
    return finished


def _candidates(
    live: Sequence[Hypothesis],
    followers: Sequence[Successors[Any]],
    log_probs: Tensor,
    settings: BeamSettings,
    number: int,
) -> list[TokenCandidate]:
    """The best continuations over all beams; where a token is forced, those by this token alone."""
    forced = settings.forced[number] if number < len(settings.forced) else None
    limit = 2 * settings.beams if forced is None else log_probs.shape[1]
    found = best_candidates(log_probs, followers, [h.score for h in live], limit, settings.graph_normalised)
    if forced is None:
        return found
    return [c for c in found if c.index in _places(followers[c.beam], forced)]


def _places(allowed: Successors[Any], token: int) -> list[int]:
    """Where a token stands among the successors: one index, or none when it may not follow."""
    return [token] if allowed.tokens is None else np.flatnonzero(allowed.tokens == token).tolist()


def sort_out(
    live: Sequence[Hypothesis],
    followers: Sequence[Successors[Any]],
    candidates: Sequence[TokenCandidate],
    settings: BeamSettings,
) -> tuple[list[Choice], list[Hypothesis], list[Hypothesis]]:
    """Split candidates into those kept as beams, those finished and those pruned."""
    choices: list[Choice] = []
    kept: list[Hypothesis] = []
    ended: list[Hypothesis] = []
    for place, candidate in enumerate(candidates):
        score, index, log_prob = candidate.score, candidate.index, candidate.log_prob
        allowed, parent = followers[candidate.beam], live[candidate.beam]
        token = index if allowed.tokens is None else int(allowed.tokens[index])
        state = allowed.take(index)
        tokens, log_probs = (*parent.tokens, token), (*parent.log_probs, log_prob)
        fate: Fate = "pruned"
        if state.complete and (settings.late_ends or place < settings.beams):
            fate = "finished"
            penalty = len(tokens) ** settings.length_penalty
            ended.append(Hypothesis(tokens, log_probs, state, parent.node, score / penalty))
        if state.alive and len(kept) < settings.beams:
            fate = "kept"
            kept.append(Hypothesis(tokens, log_probs, state, parent.node, score))
        choices.append(Choice(candidate.beam, token, log_prob, score, fate))
    return choices, kept, ended


def settled(live: Sequence[Hypothesis], finished: Sequence[Hypothesis], settings: BeamSettings) -> bool:
    """Whether no live beam can still enter the best that are wanted.

    Totals only fall. With a length penalty a longer path may yet gain, so its best case is the score it
    would have at full length; a negative one favours the shortest.
    """
    if len(finished) < settings.wanted:
        return False
    best = max(live, key=lambda beam: beam.score)
    longest = settings.max_tokens if settings.length_penalty > 0 else len(best.tokens) + 1
    result: bool = best.score / longest**settings.length_penalty <= finished[-1].score
    return result


def views_of(
    live: Sequence[Hypothesis], followers: Sequence[Successors[Any]], log_probs: Tensor, masked: int
) -> tuple[BeamView, ...]:
    """What was allowed and forbidden, for those who watch."""
    if not masked:
        return tuple(
            BeamView(h, -1 if f.tokens is None else len(f.tokens), 0.0) for h, f in zip(live, followers, strict=True)
        )
    bound = [i for i, allowed in enumerate(followers) if allowed.tokens is not None]
    views = [BeamView(hypothesis, -1, 0.0) for hypothesis in live]
    if len(bound) < len(live):
        values, ids = (t.tolist() for t in log_probs.topk(masked, dim=-1))
        views = [
            BeamView(view.hypothesis, -1, 0.0, (), tuple(zip(i, v, strict=True)))
            for view, i, v in zip(views, ids, values, strict=True)
        ]
    if bound:
        rows = log_probs[bound]
        ragged = Ragged.of([followers[i] for i in bound])
        taken = forbidden_mass(rows, ragged)
        for i, mass, top, left in zip(bound, taken, *split_best(rows, ragged, masked), strict=True):
            views[i] = BeamView(live[i], len(followers[i].tokens), mass, tuple(left), tuple(top))
    return tuple(views)


def greedy_continuations(
    tree: TokenTree, starts: Sequence[Hypothesis], suffix: Sequence[int], stop: frozenset[int], max_tokens: int
) -> list[tuple[int, ...]]:
    """Continue each finished path freely, the most probable token at a time: the hypothesis answers.

    Args:
        tree: the tree the paths were found in.
        starts: finished hypotheses; their ``node`` is that of the last token but one.
        suffix: tokens to put after each path first (the mark that announces the answer).
        stop: tokens that end an answer.
        max_tokens: longest answer.

    Returns:
        the answer's tokens for each start, without the stop token.
    """
    answers: list[list[int]] = [[] for _ in starts]
    if not starts:
        return []
    nodes = [start.node for start in starts]
    log_probs = torch.empty(0)
    for column in zip(*[(start.tokens[-1], *suffix) for start in starts], strict=True):
        nodes, log_probs = tree.extend(nodes, column)
    active = list(range(len(starts)))
    for _ in range(max_tokens):
        tokens = log_probs.argmax(dim=-1).tolist()
        going = [(i, n, t) for i, n, t in zip(active, nodes, tokens, strict=True) if t not in stop]
        if not going:
            break
        for i, _, token in going:
            answers[i].append(token)
        active = [i for i, _, _ in going]
        nodes, log_probs = tree.extend([n for _, n, _ in going], [t for _, _, t in going])
    return [tuple(answer) for answer in answers]


def check_forced(constraint: Constraint[Any], tokens: Sequence[int], text_of: Callable[[int], str]) -> None:
    """Walk a constraint along forced tokens; the model is not asked.

    Args:
        constraint: what may be written.
        tokens: the forced tokens, counted from ``<PATH>``.
        text_of: a token as people read it, for the error.

    Raises:
        UserError: a token that may not follow those before it, with what was written up to there.
    """
    state = constraint.start()
    for place, token in enumerate(tokens):
        allowed = constraint.successors(state)
        found = [token] if allowed.tokens is None else np.flatnonzero(allowed.tokens == token).tolist()
        if not found:
            written = "".join(text_of(one) for one in tokens[:place]).strip()
            after = f"after “{written}”" if written else "at the start of a path"
            raise UserError(
                f"The graph does not allow “{text_of(token).strip()}” {after}; "
                "go back in the line of forced tokens and take one that it allows."
            )
        state = allowed.take(found[0])
