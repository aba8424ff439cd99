"""The settings as visitors give them: made from their declaration, for the page, share links and programs.

``page_fields`` builds the fields of the page, ``settings_of`` reads their values and those of the API, and ``filled``
reads the address of a share link. What may be chosen is what ``kgdemo.settings`` declares; only the names of graphs
and methods come from their registries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from kgdemo.errors import UserError
from kgdemo.kg.io.catalogue import known_names
from kgdemo.methods import METHODS, method_named
from kgdemo.methods.registry import options_in_words
from kgdemo.settings import Option, Profile, Settings, Shown, chosen, options_of, shown

ON_PAGE = shown(Shown.PAGE)
NAMES = ("question", *(setting.name for setting in ON_PAGE))  # of the page's fields, in gradio's order
_LONGEST = 300  # characters of a value in a share link


@dataclass(frozen=True, slots=True)
class Fields:
    """What stands in the page's fields.

    Attributes:
        question: as typed.
        values: of the settings, by name.
        client_graph: what the visitor has changed in the graph, see ``session_graphs.ClientGraph``.
    """

    question: str
    values: Mapping[str, Any]
    client_graph: str = ""

    @classmethod
    def of(cls, values: Sequence[Any]) -> Fields:
        """From the values that gradio hands over: question, settings, changes of the graph."""
        question, *settings, client_graph = values
        return cls(question, dict(zip(NAMES[1:], settings, strict=True)), client_graph)


def page_fields(profile: Profile, standard: Settings) -> list[gr.components.Component]:
    """Put the fields of the settings on the page that is being built.

    Args:
        profile: limits of this server.
        standard: what stands in the fields at first.

    Returns:
        the fields, in the order of ``NAMES`` after the question.
    """
    made: dict[str, gr.components.Component] = {}
    for row in _rows():
        with gr.Row():
            for setting in row:
                made[setting.name] = field_for(setting, profile, standard)
    made["method"].change(  # type: ignore[attr-defined]
        lambda method: gr.update(value="", **_own_setting(method, profile)),
        made["method"],
        made["options"],
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )
    return [made[setting.name] for setting in ON_PAGE]


def field_for(setting: Option, profile: Profile, standard: Settings) -> gr.components.Component:
    """The field that fits a setting; see ``page_fields``."""
    names, label, value = _names(setting), setting.label, getattr(standard, setting.name)
    if names:
        another = _may_be_another(setting, profile)
        return gr.Dropdown(
            [(title, name) for name, title in names.items()],
            value=value,
            label=label,
            info=setting.help if another else None,
            allow_custom_value=another,
            min_width=200,
        )
    if setting.kind is bool:
        return gr.Checkbox(value, label=label)
    if setting.kind in (int, float):
        high = setting.highest(profile)
        step = 1 if setting.kind is int else None
        return gr.Slider(setting.minimum, high, value=min(value, high), step=step, label=label, min_width=180)
    if setting.choices and not setting.maximum:
        return gr.Radio([(words, choice) for choice, words in setting.choices.items()], value=value, label=label)
    if setting.kind is tuple:
        return gr.Textbox(label=label, placeholder=setting.help, max_lines=1, **_own_setting(standard.method, profile))
    visible = profile.open_models or not setting.local_only
    return gr.Textbox(value, label=label, info=setting.help, visible=visible, min_width=200, max_lines=1)


def settings_of(values: Mapping[str, Any], profile: Profile) -> Settings:
    """The settings of a run; an empty text leaves the default.

    Args:
        values: by name, as a field or a program gives them.
        profile: limits of this server.

    Raises:
        UserError: a value is one that this server does not allow.
    """
    known = {setting.name: setting for setting in options_of(Settings)}
    return chosen(
        Settings,
        (
            (name, _checked(known[name], value, profile))
            for name, value in values.items()
            if not _is_empty_text(known[name], value)
        ),
        profile=profile,
    )


def filled(parameters: Mapping[str, str], profile: Profile) -> dict[str, Any]:
    """Values for the page's fields from the address of a share link.

    A link may come from anyone, so it fills only what this server allows; the other fields are left as they are.
    Whether it also asks is the page's to say (``inputs.js``): only on an embedded graph with the server's own model.

    Args:
        parameters: the address's query, one value a name.
        profile: limits of this server.

    Returns:
        field name -> value.
    """
    question = " ".join(str(parameters.get("question", ""))[: profile.question].split())
    found: dict[str, Any] = {"question": question} if question else {}
    for setting in ON_PAGE:
        written = str(parameters.get(setting.name, ""))
        if setting.name not in parameters or _is_empty_text(setting, written) or len(written) > _LONGEST:
            continue
        try:
            value = setting.read(_checked(setting, written, profile), profile)
        except UserError:
            continue
        found[setting.name] = written if setting.kind is tuple else value  # the field holds them as text
    return found


def _is_empty_text(setting: Option, value: object) -> bool:
    return setting.kind in (str, tuple) and (value is None or not str(value).strip())


def _checked(setting: Option, value: Any, profile: Profile) -> Any:
    """A value, without spaces around it, that its registry knows where it has one.

    Raises:
        UserError: there is no graph or method of that name.
    """
    value, names = value.strip() if isinstance(value, str) else value, _names(setting)
    if names and value not in names and not _may_be_another(setting, profile):
        raise UserError(f"There is no {setting.name} {str(value)[:100]!r} here; choose one of {', '.join(names)}.")
    return value


def _names(setting: Option) -> dict[str, str]:
    """The names that a registry holds for a setting, with their titles; empty where there is no registry."""
    if setting.name == "graph":
        return {name: name for name in known_names()}
    return {card.name: card.title for card in METHODS.values()} if setting.name == "method" else {}


def _may_be_another(setting: Option, profile: Profile) -> bool:
    """Whether a name that is not in the registry may be given: a graph's, as that of a file at home."""
    return setting.name == "graph" and profile.open_models


def _rows() -> list[list[Option]]:
    """The settings as rows of the page: names first, then what is set to a number or chosen, then free text."""
    named = [s for s in ON_PAGE if s.kind is str and not s.choices]
    text = [s for s in ON_PAGE if s.kind is tuple]
    return [named, [s for s in ON_PAGE if s not in (*named, *text)], text]


def _own_setting(method: str, profile: Profile) -> dict[str, Any]:
    """How the field of a method's options looks: it tells what they are, and is hidden where there are none."""
    about = options_in_words(method_named(method), profile)
    return {"visible": bool(about), "info": about or None}
