"""What can be chosen about one method besides what all share: declared as a dataclass, given as text.

A method declares a frozen dataclass whose fields are made by ``option`` and names it where it registers.
Command line, page, API and evaluation hand over pairs (name, value) in ``Settings.options``; ``chosen`` makes
the dataclass of them, within limits that are tighter on a public server, where each step is somebody's wait.
"""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from kgdemo.errors import UserError

Kind = TypeVar("Kind")
Given = tuple[tuple[str, str], ...]
_HELD = "option"
_AUTO = "auto"  # how None is written
_TRUTH = {"yes": True, "true": True, "on": True, "1": True, "no": False, "false": False, "off": False, "0": False}


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose.

    Attributes:
        default: as it is written.
        help: what it is, with its symbol and place in the paper.
        kind: bool, int, float or str.
        minimum, maximum: bounds of a number.
        public: the upper bound on a public server, where it is lower.
        choices: the values of a text.
        may_be_auto: ``auto`` leaves the choice to the method.
    """

    name: str = ""
    default: str = ""
    help: str = ""
    kind: type = str
    minimum: float = 0
    maximum: float = 0
    public: float | None = None
    choices: tuple[str, ...] = ()
    may_be_auto: bool = False

    def __str__(self) -> str:
        return f"{self.name}={self.default}"

    def allowed(self, public: bool = False) -> str:
        """The values in words."""
        if self.kind is bool:
            return "yes or no"
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        number = "a whole number" if self.kind is int else "a number"
        auto = f", or {_AUTO}" if self.may_be_auto else ""
        return f"{number} from {self.minimum:g} to {self._most(public):g}{auto}"

    def read(self, text: str, public: bool = False) -> object:
        """A value from its text.

        Raises:
            UserError: the text is no value, or one that this server does not allow.
        """
        written = text.strip().lower()
        if self.may_be_auto and written == _AUTO:
            return None
        if self.kind is bool and written in _TRUTH:
            return _TRUTH[written]
        if self.choices and written in self.choices:
            return written
        if self.kind in (int, float):
            try:
                number = self.kind(written)
            except ValueError:
                number = None
            if number is not None and self.minimum <= number <= self._most(public):
                return number
        raise UserError(
            f"The option {self.name} cannot be {text.strip()[:40]!r}; choose {self.allowed(public)} "
            f"(the default is {self.default})."
        )

    def _most(self, public: bool) -> float:
        return self.public if public and self.public is not None else self.maximum


def option(
    default: Any,
    about: str,
    *,
    minimum: float = 0,
    maximum: float = 0,
    public: float | None = None,
    choices: Iterable[str] = (),
) -> Any:
    """A field of a method's options; see ``Option``."""
    held = Option(help=about, minimum=minimum, maximum=maximum, public=public, choices=tuple(choices))
    return dataclasses.field(default=default, metadata={_HELD: held})


def options_of(declared: type, without: Collection[str] = ()) -> tuple[Option, ...]:
    """What can be chosen, read off a dataclass; ``without`` names fields that are of no use to a method."""
    hints = typing.get_type_hints(declared)
    return tuple(
        _complete(field, hints[field.name]) for field in dataclasses.fields(declared) if field.name not in without
    )


def chosen(
    declared: type[Kind],
    given: Iterable[tuple[str, str]],
    *,
    method: str = "",
    without: Collection[str] = (),
    public: bool = False,
) -> Kind:
    """The options as given, the others as by default.

    Args:
        declared: a dataclass of ``option`` fields.
        given: names and values as written.
        method: whose options they are, for the message.
        without: fields that this method has no use for.
        public: keep to a public server's limits.

    Raises:
        UserError: there is no option of that name, or it cannot have that value.
    """
    known = {choice.name: choice for choice in options_of(declared, without)}
    values: dict[str, object] = {}
    for name, text in given:
        if name not in known:
            raise unknown(name, method, known.values())
        value = known[name].read(text, public)
        hint = typing.get_type_hints(declared)[name]
        values[name] = hint(value) if isinstance(hint, type) and issubclass(hint, Enum) else value
    return declared(**values)


def unknown(name: str, method: str, known: Iterable[Option]) -> UserError:
    """The complaint about an option that a method does not have."""
    listed = ", ".join(map(str, known))
    hint = f"it knows {listed}." if listed else "it has none."
    return UserError(f"The method {method or 'chosen'} has no option {name[:40]!r}; {hint}")


def pairs(texts: Iterable[str]) -> Given:
    """Names and values of texts like ``width=3``, or several of them apart by commas, semicolons or spaces.

    Raises:
        UserError: a text has no equals sign.
    """
    found = []
    for part in (part for text in texts for part in re.split(r"[,;\s]+", text) if part):
        name, equals, value = part.partition("=")
        if not (name and equals and value):
            raise UserError(f"{part[:40]!r} is no option; write each as name=value, for example width=3.")
        found.append((name, value))
    return tuple(found)


def given(options: object) -> Given:
    """The other way round: the pairs that make these options."""
    return tuple((f.name, _written(getattr(options, f.name))) for f in dataclasses.fields(options))  # type: ignore[arg-type]


def _complete(field: dataclasses.Field[Any], hint: Any) -> Option:
    """The option of a field, with what its type says."""
    may_be_auto = isinstance(hint, types.UnionType)
    kind = next(k for k in typing.get_args(hint) if k is not types.NoneType) if may_be_auto else hint
    held: Option = field.metadata[_HELD]
    if issubclass(kind, Enum):
        held, kind = dataclasses.replace(held, choices=tuple(member.value for member in kind)), str
    return dataclasses.replace(
        held, name=field.name, default=_written(field.default), kind=kind, may_be_auto=may_be_auto
    )


def _written(value: object) -> str:
    if value is None:
        return _AUTO
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value.value) if isinstance(value, Enum) else f"{value}"
