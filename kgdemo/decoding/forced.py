"""A path's beginning chosen by a person instead of by the search, checked before anything is decoded."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kgdemo.constraint.base import Constraint
from kgdemo.errors import UserError


def check_forced(constraint: Constraint, tokens: Sequence[int], text_of: Callable[[int], str]) -> None:
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
