"""From what stands in the page's fields to a run; mistakes become one clear sentence, never an error box.

The fields are made from the declaration of the settings: ``page_fields`` builds them, ``settings_of`` reads their
values and those of the API, and ``filled`` reads the address of a share link. What may be chosen is what
``kgdemo.settings`` declares; only the names of graphs and methods come from their registries.

``Server`` holds all that a served page works with, and ``ask`` runs its pipeline on the fields. A question may go on
from the one before, see ``_completed``: *and where did she die?* is about what was asked or answered last, if it
names nothing itself; *what about Germany?* asks the last question of another thing, if the graph has it. What was read
so is said, and is the run's question.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from kgdemo.errors import UserError
from kgdemo.events import Event, Notice, RunFailed, RunStarted
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import known_names
from kgdemo.methods import METHODS, method_named
from kgdemo.methods.registry import options_in_words
from kgdemo.models.causal import EMBEDDED
from kgdemo.pipeline import Pipeline
from kgdemo.query.answer_type import kind_of
from kgdemo.settings import Option, Profile, Settings, Shown, chosen, options_of, shown
from kgdemo.ui.guard import Visits
from kgdemo.ui.metrics import METRICS, Loading
from kgdemo.ui.runs import EventStream, Line, SharedRuns, lines_of
from kgdemo.ui.session_graphs import ClientGraph, SessionGraphs

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


# the server, and a question on its way to a run ------------------------------------------------------------


class Server:
    """What serves one page: the pipeline, and what all visitors share.

    Args:
        pipeline: answers the questions.
        loading: how far it has been loaded.
        graphs: the visitors' graphs; made here unless given.
        visits: counts what visitors ask for; by default as the profile says.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        loading: Loading | None = None,
        graphs: SessionGraphs | None = None,
        visits: Visits | None = None,
    ) -> None:
        self.pipeline, self.loading = pipeline, loading or Loading()
        self.runs, self.stream = SharedRuns(pipeline), EventStream()
        self.graphs = graphs or SessionGraphs(pipeline)
        self.visits = visits or Visits(pipeline.profile.questions_a_minute)

    def settings(self, fields: Fields) -> Settings:
        """The settings that stand in the fields, with the graph as the visitor has changed it.

        Raises:
            UserError: a value is one that this server does not allow, or the visitor's graph has been forgotten.
        """
        settings = settings_of(fields.values, self.pipeline.profile)
        return replace(settings, graph=self.graphs.source(settings.graph, ClientGraph.read(fields.client_graph)))

    def graph(self, fields: Fields) -> KnowledgeGraph:
        """The graph that is asked."""
        return self.pipeline.graph(self.settings(fields).graph)


def ask(
    server: Server, fields: Fields, entities: Sequence[str] = (), forced: Sequence[int] = (), address: str = ""
) -> Iterator[Event]:
    """Run the pipeline on the fields.

    Args:
        server: answers the question.
        fields: what stands in the page's fields.
        entities: topic entities; linked from the question when empty.
        forced: token ids that every path begins with.
        address: the visitor's.
    """
    asked = _request(server, fields, entities, forced, address)
    if isinstance(asked, RunFailed):
        yield asked
        return
    events = server.runs.run(asked.question, asked.settings, asked.entities)
    yield from _with_notice(events, asked.notice) if asked.notice else events


def ask_for_page(
    server: Server, fields: Fields, entities: Sequence[str], forced: Sequence[int], address: str
) -> Iterator[Line]:
    """``ask`` as the page is sent it."""
    asked = _request(server, fields, entities, forced, address)
    if isinstance(asked, RunFailed):
        yield from lines_of([asked], lambda: server.graph(fields))
    elif asked.notice:
        events = server.runs.run(asked.question, asked.settings, asked.entities)
        yield from lines_of(_with_notice(events, asked.notice), lambda: server.graph(fields))
    else:
        yield from server.runs.lines(asked.question, asked.settings, asked.entities)


@dataclass(frozen=True, slots=True)
class _Request:
    """A question as it is run; ``notice`` says how it was read, where that needs saying."""

    question: str
    settings: Settings
    entities: Sequence[str]
    notice: str


def _request(
    server: Server, fields: Fields, entities: Sequence[str], forced: Sequence[int], address: str
) -> _Request | RunFailed:
    """What stands in the fields, read; or why it is refused."""
    try:
        server.visits.count(address)
    except UserError as error:
        return RunFailed(str(error))
    try:
        settings = replace(server.settings(fields), forced=tuple(forced))
    except UserError as error:
        METRICS.count("kgdemo_refused_total", reason="settings")
        return RunFailed(str(error))
    question, notice = str(fields.question or ""), ""
    if not entities:
        question, entities, notice = _completed(server.pipeline, question, settings, LastRun.read(fields.client_graph))
    return _Request(question, settings, entities, notice)


def _with_notice(events: Generator[Event, None, None], text: str) -> Iterator[Event]:
    with closing(events):
        for event in events:
            yield event
            if isinstance(event, RunStarted):
                yield Notice(text)


# a question that goes on from the one before ----------------------------------------------------------

_MOST = 20  # things of the last run that are looked at
_OF_PEOPLE = frozenset("he him his she her hers".split())
_OF_THINGS = frozenset("it its".split())
_OF_EITHER = frozenset("they them their theirs".split())
_PERSON = "person"

_WORD = re.compile(r"[^\W\d_]+")
_NAMES_ANOTHER = re.compile(
    r"(?:(?:and |but |or |so )?(?:what|how) about|and|but|or|so)[ ,]+"
    r"(?:(?:of|in|on|for|from|by|with|at|to) )?(?P<name>\S.*?)(?:['’]s?)?[ ?.!]*",
    re.IGNORECASE,
)
# what asks something itself, and so names no other thing alone
_ASKS = frozenset("who whom whose what which when where why how is are was were do does did has have had can".split())


@dataclass(frozen=True, slots=True)
class LastRun:
    """What the page has shown last, from what the browser sends with a question; anything may come.

    Attributes:
        about: what was answered and asked about, the likeliest first.
        question: its question.
        topic: how that question named the one thing it was about; empty where it named none or several.
    """

    about: tuple[str, ...] = ()
    question: str = ""
    topic: str = ""

    @classmethod
    def read(cls, written: str) -> LastRun:
        """From JSON ``{"about": […], "last": {"question": …, "topic": …}}``; what does not fit is left out."""
        try:
            told = json.loads(written or "{}")
            about, last = told.get("about"), told.get("last")
        except (ValueError, AttributeError, RecursionError):
            return cls()
        names = [name for name in about if isinstance(name, str)][:_MOST] if isinstance(about, list) else []
        question, topic = (last.get("question"), last.get("topic")) if isinstance(last, dict) else ("", "")
        said = (question, topic) if isinstance(question, str) and isinstance(topic, str) else ("", "")
        return cls(tuple(names), *said)


def _completed(pipeline: Pipeline, question: str, settings: Settings, last: LastRun) -> tuple[str, list[str], str]:
    """A question as it is meant after the last one.

    Returns:
        the question, its topic where a pronoun stands for it, and what is told of that; for a question that stands by
        itself itself, nothing, and nothing.
    """
    by_itself = question, list[str](), ""
    pronoun, name = pronoun_of(question), named_instead(question)
    if not (pronoun and last.about) and not (name and last.topic):
        return by_itself
    try:
        linker = pipeline.linker(settings.graph)
        if name:
            asked = asked_of(name, last.question, last.topic)
            known = 0 < len(asked) <= pipeline.profile.question and linker.link(name).chosen
            return (asked, [], f"Read as: {asked}") if known else by_itself
        meant = "" if linker.link(question).chosen else meant_by(pronoun, last.about, pipeline.graph(settings.graph))
        return (question, [meant], f"“{pronoun}” is taken for {meant}.") if meant else by_itself
    except UserError:  # told by the run itself
        return by_itself


def pronoun_of(question: str) -> str:
    """The first pronoun of a question that may stand for something named before; empty where there is none."""
    words = _WORD.findall(question.casefold())
    return next((word for word in words if word in _OF_PEOPLE | _OF_THINGS | _OF_EITHER), "")


def meant_by(pronoun: str, about: Sequence[str], kg: KnowledgeGraph) -> str:
    """The thing that a pronoun stands for.

    Args:
        pronoun: see ``pronoun_of``.
        about: what was answered and asked about last, the likeliest first.
        kg: tells what kind of thing each is; one of no known kind may be either.

    Returns:
        one of these, or nothing.
    """
    for name in about:
        kind = kind_of(kg, name) if name in kg.entities else None
        fits = pronoun in _OF_EITHER or not kind or (kind == _PERSON) == (pronoun in _OF_PEOPLE)
        if kind is not None and fits:
            return name
    return ""


def named_instead(question: str) -> str:
    """The other thing that a question names and asks nothing else of: *Germany* of *What about Germany?*

    Returns:
        what follows *what about*, or *and* with a preposition or without; empty for any other question.
    """
    found = _NAMES_ANOTHER.fullmatch(" ".join(question.split()))
    name = found["name"] if found else ""
    words = _WORD.findall(name.casefold())
    asks = not words or words[0] in _ASKS or pronoun_of(name)
    return "" if asks else name


def asked_of(name: str, last: str, topic: str) -> str:
    """The last question, asked of another thing.

    Args:
        name: the other thing, as it was typed.
        last: the question before.
        topic: how that question named what it was about.

    Returns:
        it with ``name`` for ``topic`` and the article before it; empty where it does not name its topic, or more than
        once.
    """
    found = list(re.finditer(rf"\b(?:(?:the|an|a)\s+)?{re.escape(topic)}(?!\w)", last, re.IGNORECASE)) if topic else []
    if len(found) != 1:
        return ""
    return last[: found[0].start()] + name + last[found[0].end() :]


def changed_question(fields: Fields, changed: Mapping[str, Any]) -> tuple[Fields, list[str], list[int]]:
    """A question asked again with something changed on the page itself.

    Args:
        fields: what stands in the fields.
        changed: ``entities``, the topic entities to start from, none to have them linked; ``forced``, token
            ids that every path begins with; ``question`` and ``method``, where they are not those of the fields.

    Returns:
        the fields to run with, the entities, the forced tokens.

    Raises:
        UserError: ``changed`` does not have that form.
    """
    tokens = changed.get("forced") or () if isinstance(changed, Mapping) else None
    named = changed.get("entities") or () if isinstance(changed, Mapping) else None
    if not isinstance(named, Sequence) or not isinstance(tokens, Sequence) or not all(map(_is_token, tokens)):
        raise UserError("What was asked for cannot be read; load the page anew.")
    question = str(changed.get("question") or fields.question)
    method = str(changed.get("method") or fields.values["method"])
    entities = [str(name) for name in named][:20]
    again = replace(fields, question=question, values={**fields.values, "method": method})
    return again, entities, [int(token) for token in tokens][:500]


def _is_token(written: object) -> bool:
    return isinstance(written, int) or (isinstance(written, str) and re.fullmatch("[0-9]{1,9}", written) is not None)


def default_model() -> str:
    """The path model that the page starts with; ``KGDEMO_MODEL`` names another than the embedded one."""
    return os.environ.get("KGDEMO_MODEL") or EMBEDDED


def warming(pipeline: Pipeline, settings: Settings) -> Loading:
    """What to load while the first visitor still reads; the examples need none of it."""
    return Loading(
        (
            ("graph", lambda: pipeline.graph(settings.graph)),
            ("linker", lambda: pipeline.linker(settings.graph)),
            ("model", lambda: pipeline.model(settings.model)),
            ("index", lambda: pipeline.resources(settings).embedder.encode(["loaded with its first text"])),
        )
    )
