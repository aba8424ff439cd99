"""Reading what chat models write: citations in an answer, and replies to a decision.

A reply that does not have the form asked for is an error, not a guess: the model is then asked once more.
"""

from __future__ import annotations

import re

_CITED = re.compile(r"\[(\d+(?:\s*,\s*\d+)*)\]")  # [2] or [1, 3]
_LIST = re.compile(r"(?<![\w.])\d+(?!\w)(?:(?:\s*[,;&]\s*(?:and\s+)?|\s+and\s+|[\s\]\[]+)\d+(?!\w))*")
_LISTED = re.compile(r"\W*(\d+)[.):]\s+\S")  # an option repeated with its number
_TOO_MANY = 10**9  # more than there are options or paths


class UnreadableReplyError(ValueError):
    """A reply that does not have the form asked for; the message tells the model what is wrong."""


def _number(digits: str) -> int:
    """A number of any length. One too long to be of use counts as ``_TOO_MANY``: Python reads 4,300 digits at most."""
    digits = digits.strip()
    return int(digits) if len(digits) < 10 else _TOO_MANY


def cited_lines(text: str, highest: int) -> list[tuple[str, tuple[int, ...]]]:
    """The lines of an answer with the paths each cites.

    Args:
        text: one answer a line, each with its citations.
        highest: number of the last path; greater numbers cite nothing and are dropped.
    """
    lines = []
    for raw in text.splitlines():
        numbers = [_number(n) for group in _CITED.findall(raw) for n in group.split(",")]
        name = _CITED.sub("", raw).strip().lstrip("-*• ").strip(" .;,").strip("*_")
        if name:
            lines.append((name, tuple(dict.fromkeys(n for n in numbers if 1 <= n <= highest))))
    return lines


def chosen_numbers(reply: str, options: int, limit: int) -> tuple[int, ...]:
    """Indices (from 0) of the options whose numbers a reply lists.

    The numbers stand together in one line, or each at the beginning of a line of its own; what a model says behind
    them is passed over. A line with numbers here and there is not read: which of them are the choice?

    Raises:
        UnreadableReplyError: it lists none, or numbers that are no option.
    """
    numbers: list[int] = []
    for line in filter(str.strip, reply.splitlines()):
        found = _numbers_of(line)
        if not found:
            break
        numbers += found
    if not numbers:
        raise UnreadableReplyError(f"it does not begin with numbers between 1 and {options}, separated by commas.")
    outside = [n for n in numbers if not 1 <= n <= options]
    if outside:
        raise UnreadableReplyError(f"{outside[0]} is not the number of an option; there are {options}.")
    return tuple(dict.fromkeys(n - 1 for n in numbers))[:limit]


def _numbers_of(line: str) -> list[int]:
    """The numbers that a line lists; none where it is not clear which ones are meant."""
    listed = _LISTED.match(line)
    if listed:
        return [_number(listed.group(1))]
    lists = _LIST.findall(line)
    return [_number(n) for n in re.findall(r"\d+", lists[0])] if len(lists) == 1 else []


def ratings(reply: str, options: int) -> tuple[float, ...]:
    """One rating an option, scaled to 0..1.

    Raises:
        UnreadableReplyError: a rating is missing or outside 0 to 10.
    """
    found = {_number(n): float(r) for n, r in re.findall(r"^\s*(\d+)\s*[:.)-]\s*(\d+(?:\.\d+)?)", reply, re.MULTILINE)}
    missing = [n for n in range(1, options + 1) if n not in found]
    if missing:
        raise UnreadableReplyError(f"the rating of option {missing[0]} is missing; write one line an option.")
    if any(not 0 <= found[n] <= 10 for n in range(1, options + 1)):
        raise UnreadableReplyError("ratings go from 0 to 10.")
    return tuple(found[n] / 10 for n in range(1, options + 1))


def yes_or_no(reply: str) -> bool:
    """The answer to a yes/no question.

    Raises:
        UnreadableReplyError: it is neither.
    """
    words: list[str] = re.findall(r"[a-z]+", reply.lower())
    if not words or words[0] not in ("yes", "no"):
        raise UnreadableReplyError("it does not start with yes or no.")
    return words[0] == "yes"


def coherence(reply: str) -> int:
    """The judge's rating of a path.

    Raises:
        UnreadableReplyError: no line says ``Score:`` with a whole number from 1 to 5.
    """
    found = re.search(r"score\W*(\d+(?:\.\d+)?)", reply, re.IGNORECASE)
    if found is None or found.group(1) not in ("1", "2", "3", "4", "5"):
        raise UnreadableReplyError("it has no line “Score: ” with a whole number from 1 to 5.")
    return int(found.group(1))


def one_line(reply: str) -> str:
    """The first line of text.

    Raises:
        UnreadableReplyError: there is none.
    """
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    if not lines:
        raise UnreadableReplyError("it is empty.")
    return lines[0]
