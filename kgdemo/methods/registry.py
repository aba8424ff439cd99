"""The registry of methods: each is a generator of events, registered under a name, and described in words.

The descriptions are for the command line, the table of methods and the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kgdemo.errors import UserError
from kgdemo.events import Event
from kgdemo.query.query import Query
from kgdemo.reasoners.base import Resources
from kgdemo.settings import LOCAL, Given, Option, Profile, Settings, chosen, options_of

Method = Callable[[Query, Resources, Settings], Iterator[Event]]  # control flow as a generator of events


@dataclass(frozen=True, slots=True)
class NoOptions:
    """What can be chosen about most methods: nothing."""


@dataclass(frozen=True, slots=True)
class MethodCard:
    """A registered method and how it is shown.

    Attributes:
        paper: where it is described; with the section for the papers whose systems are built here.
        constrained: it decodes under the graph's constraint, and can be compared with itself without.
        drivable: it goes on from tokens that a visitor forces.
        declared: the dataclass of its options (see ``kgdemo.settings``).
        without: fields of that which this method has no use for.
    """

    name: str
    title: str
    paper: str
    summary: str
    run: Method
    constrained: bool
    drivable: bool = False
    declared: type = NoOptions
    without: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[Option, ...]:
        """What can be chosen about it."""
        return options_of(self.declared, self.without)

    def check(self, given: Given, profile: Profile = LOCAL) -> None:
        """Whether these options can be given to it, on a server with these limits.

        Raises:
            UserError: one is unknown, or has a value that it cannot have.
        """
        chosen(self.declared, given, method=self.name, without=self.without, profile=profile)


METHODS: dict[str, MethodCard] = {}


def register(
    name: str,
    title: str,
    paper: str,
    summary: str,
    *,
    constrained: bool = False,
    drivable: bool = False,
    options: type = NoOptions,
    without: tuple[str, ...] = (),
) -> Callable[[Method], Method]:
    """Make a method known to page, command line, evaluation and API; see ``MethodCard``.

    A method with options reads them by ``chosen(DogOptions, settings.options)``.
    """

    def add(run: Method) -> Method:
        if name in METHODS:
            raise ValueError(f"method {name} is registered twice")
        METHODS[name] = MethodCard(name, title, paper, summary, run, constrained, drivable, options, without)
        return run

    return add


def method_named(name: str) -> MethodCard:
    """Look a method up.

    Raises:
        UserError: there is no such method.
    """
    if name not in METHODS:
        raise UserError(f"There is no method {name!r}; choose one of {', '.join(METHODS)}.")
    return METHODS[name]


# In words -----------------------------------------------------------------------------------------


def as_text() -> str:
    """Every method with its paper, what it does and its options."""
    lines = []
    for card in METHODS.values():
        lines += ["", f"{card.name}: {card.title} ({card.paper})", f"  {card.summary}"]
        lines += [f"  --option {option}  {option.help}; {option.allowed()}" for option in card.options]
    return "\n".join(lines[1:])


def as_markdown() -> str:
    """The table of this folder's README."""
    lines = ["| method | what it does | from |", "|---|---|---|"]
    lines += [f"| `{card.name}` | **{card.title}.** {card.summary} | {card.paper} |" for card in METHODS.values()]
    return "\n".join(lines)


def options_in_words(card: MethodCard, profile: Profile) -> str:
    """A method's options for one line of the page, with the limits of the server; empty where it has none."""
    return "; ".join(f"{option} ({option.help}: {option.allowed(profile)})" for option in card.options)
