"""The registered methods in words: for the command line, the README's table and the page."""

from __future__ import annotations

from collections.abc import Iterator

from kgdemo.reasoning.base import METHODS, MethodCard


def as_text() -> str:
    """Every method with its paper, what it does and its options."""
    return "\n\n".join("\n".join(_told(card)) for card in METHODS.values())


def as_markdown() -> str:
    """The table of the README."""
    lines = ["| method | what it does | from |", "|---|---|---|"]
    lines += [f"| `{card.name}` | **{card.title}.** {card.summary} | {card.paper} |" for card in METHODS.values()]
    return "\n".join(lines)


def options_in_words(card: MethodCard, public: bool) -> str:
    """A method's options for one line of the page; empty where it has none.

    Args:
        card: the method.
        public: tell the limits of a public server.
    """
    return "; ".join(f"{option} ({option.help}: {option.allowed(public)})" for option in card.options)


def _told(card: MethodCard) -> Iterator[str]:
    yield f"{card.name}: {card.title} ({card.paper})"
    yield f"  {card.summary}"
    for option in card.options:
        yield f"  --option {option}  {option.help}; {option.allowed()}"
