"""Greedy search: one path, and at each step the most probable token that the constraint allows."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np
import torch

from kgdemo.constraint.base import Constraint
from kgdemo.decoding.beam import BeamView, Choice, Hypothesis, Step
from kgdemo.models.base import TokenTree


def greedy_search(tree: TokenTree, constraint: Constraint, max_tokens: int) -> Generator[Step, None, Hypothesis]:
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
        grown = Hypothesis(tokens, log_probs, allowed.take(index), written.node, written.score + log_prob)
        if not grown.state.complete:
            nodes, rows = tree.extend([written.node], [token])
            grown, row = replace(grown, node=nodes[0]), rows[0]
        yield Step(number, (view,), (Choice(0, token, log_prob, grown.score, "kept"),), (grown,), ())
        written = grown
    return written


def greedy_path(tree: TokenTree, constraint: Constraint, max_tokens: int) -> Generator[Step, None, list[Hypothesis]]:
    """Greedy search in the shape of the other searches (GCR's and the baselines' cheapest decoding).

    Yields:
        each step.

    Returns:
        the path, or nothing where it was cut off or ran into a dead end.
    """
    written = yield from greedy_search(tree, constraint, max_tokens)
    return [written] if written.state.complete else []
