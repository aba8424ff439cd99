"""How the graph in a store is shaped, from a profile file: what is a fact, what names things, what is left out."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgdemo.errors import UserError

_HERE = Path(__file__).parent / "profiles"
RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


@dataclass(frozen=True, slots=True)
class StoreProfile:
    """The shape of a graph in a store.

    Attributes:
        label, aliases, description, type: the predicates that say these of an entity; empty: none does.
        languages: of labels, the one liked best first; ``""`` is text without a language.
        facts: beginnings of the predicates that are facts; none: every predicate is one.
        leave_out: predicates that are no facts, beside those that name, describe and type.
        entities: beginnings of the ids that may be ends of facts; none: every IRI.
        relations: a graph pattern that binds ``?relation`` to the facts' predicates and ``?named`` to what carries
            their labels; for stores too large to list the predicates in use.
        symmetric: predicates that say the same in both directions, where they are not counted.
        counted: the store is small enough to go through all its facts once, when it is opened.
    """

    label: str = RDFS_LABEL
    aliases: str = ""
    description: str = ""
    type: str = RDF_TYPE
    languages: tuple[str, ...] = ("en", "")
    facts: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    relations: str = ""
    symmetric: tuple[str, ...] = ()
    counted: bool = True

    @property
    def no_facts(self) -> tuple[str, ...]:
        """The predicates that are no facts."""
        named = (self.label, self.aliases, self.description, self.type)
        return tuple(dict.fromkeys(iri for iri in (*named, *self.leave_out) if iri))


def shipped() -> list[str]:
    """The names of the profiles that ship with the project."""
    return sorted(file.stem for file in _HERE.glob("*.json"))


def read_profile(named: str) -> StoreProfile:
    """A profile by the name of a shipped one, or from a JSON file; the default one for an empty name.

    Raises:
        UserError: there is no such profile, or the file is none.
    """
    if not named:
        return StoreProfile()
    path = _HERE / f"{named}.json" if named in shipped() else Path(named)
    try:
        record = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(
            f"There is no store profile {named!r} ({type(error).__name__}); choose {', '.join(shipped())} or give a "
            "JSON file."
        ) from error
    return _checked(record, named)


def _checked(record: Any, named: str) -> StoreProfile:
    known = {field.name: field for field in dataclasses.fields(StoreProfile)}
    if not isinstance(record, dict) or (strange := set(record) - set(known)):
        what = f"has unknown entries {', '.join(sorted(strange))}" if isinstance(record, dict) else "is no object"
        raise UserError(f"The store profile {named} {what}; it may have {', '.join(known)}.")
    values: dict[str, Any] = {}
    for name, value in record.items():
        default = getattr(StoreProfile(), name)
        if isinstance(default, tuple) and isinstance(value, list) and all(isinstance(one, str) for one in value):
            value = tuple(value)
        if type(value) is not type(default):
            raise UserError(f"The store profile {named} has no proper value for {name}.")
        values[name] = value
    return StoreProfile(**values)
