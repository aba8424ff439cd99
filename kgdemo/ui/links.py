"""A run as an address: which field each query parameter of a share link fills.

A link may come from anyone, so it fills only what the page's own fields would allow. Whether it also asks is
the page's to say (``inputs.js``): only on an embedded graph with the server's own model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgdemo.kg.catalogue import embedded_names
from kgdemo.reasoning import METHODS
from kgdemo.settings import RANKINGS, Profile

_LONGEST = 300  # characters of a graph's or model's name


def filled(parameters: Mapping[str, str], profile: Profile, fields: tuple[str, ...]) -> dict[str, Any]:
    """Values for the page's fields.

    Args:
        parameters: the address's query, one value a name.
        profile: limits of this server.
        fields: names of the fields that the page has.

    Returns:
        field name -> value, for those parameters that this server accepts; the others are left as they are.
    """
    found: dict[str, Any] = {}
    for name in fields:
        value = _value(name, str(parameters[name]), profile) if name in parameters else None
        if value is not None:
            found[name] = value
    return found


def _value(name: str, written: str, profile: Profile) -> Any:
    """What a parameter means; None when this server does not accept it."""
    if name == "question":
        return " ".join(written[: profile.question].split()) or None
    if name == "graph":
        return written[:_LONGEST] if written in embedded_names() or profile.open_models else None
    if name == "options":
        return written[:_LONGEST]  # the method says what it makes of them
    if name == "model":
        return written[:_LONGEST] if profile.open_models else None
    if name in ("beams", "hops"):
        most = profile.beams if name == "beams" else profile.hops
        return int(written) if written.isascii() and written.isdigit() and 1 <= int(written[:6]) <= most else None
    if name == "compare":
        return {"true": True, "false": False}.get(written)
    choices = {"method": tuple(METHODS), "ranking": RANKINGS}.get(name, ())
    return written if written in choices else None
