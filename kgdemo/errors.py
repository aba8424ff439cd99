"""The few errors a user may see; everything else is a bug and keeps its traceback."""

from __future__ import annotations


class UserError(Exception):
    """Something the user can mend; ``str(error)`` is one clear sentence that says what to do."""


class GraphFormatError(UserError):
    """A triple file that cannot be read; the message names the file and, where one is at fault, the line."""


class ModelError(UserError):
    """A language model that cannot be loaded or that does not fit the task."""


class EndpointError(UserError):
    """A chat endpoint that refused, timed out or answered nonsense."""


def first_line(error: Exception) -> str:
    """What an error of a library says first; its name where it says nothing."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
