"""Reading citations like ``[2]`` or ``[1, 3]`` out of an answer."""

from __future__ import annotations

import re

_CITED = re.compile(r"\[(\d+(?:\s*,\s*\d+)*)\]")


def cited_lines(text: str, highest: int) -> list[tuple[str, tuple[int, ...]]]:
    """The lines of an answer with the paths each cites.

    Args:
        text: one answer a line, each with its citations.
        highest: number of the last path; greater numbers cite nothing and are dropped.
    """
    lines = []
    for raw in text.splitlines():
        numbers = [int(n) for group in _CITED.findall(raw) for n in group.split(",")]
        name = _CITED.sub("", raw).strip().lstrip("-*• ").strip(" .;,").strip("*_")
        if name:
            lines.append((name, tuple(dict.fromkeys(n for n in numbers if 1 <= n <= highest))))
    return lines
