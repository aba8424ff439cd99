"""What can be chosen, declared once: the limits of a server, the settings of a run, the options of a method.

A declaration is a frozen dataclass whose fields are made by ``option``. It holds everything that is said about a
setting: type, default, bounds or choices, help text, label, and where people meet it. Command line, page, share link
and API are made from it, ``chosen`` reads their values into the dataclass, and ``Option.read`` words every refusal.
Only the standard library is imported here, because the command line is built before anything is installed.
"""

from __future__ import annotations

import dataclasses
import os
import re
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, Flag, auto
from ipaddress import ip_address
from pathlib import Path, PurePath
from typing import Any, TypeVar

from kgdemo.errors import UserError


def _limit(about: str, local: int, public: int) -> Any:
    """A field of ``Profile``: what is limited, its value at home (the default) and on a public server."""
    return dataclasses.field(default=local, metadata={"about": about, "public": public})


@dataclass(frozen=True, slots=True)
class Profile:
    """What a server allows its visitors; every limit is one line here."""

    name: str
    question: int = _limit("characters of a question", 2000, 300)
    beams: int = _limit("paths of a question (K)", 50, 10)
    hops: int = _limit("hops of a path (L)", 4, 3)
    upload_triples: int = _limit("triples of a visitor's graph", 500_000, 20_000)
    upload_bytes: int = _limit("bytes of a visitor's graph, as sent and again unpacked", 50_000_000, 2_000_000)
    open_models: bool = _limit("visitors may name models and files", True, False)
    label: int = _limit("characters of a name in a visitor's graph; 0: any number", 0, 200)
    body_bytes: int = _limit("bytes of a request's body", 200_000_000, 6_000_000)
    body_seconds: int = _limit("seconds in which a request's headers, and again its body, have to arrive", 600, 60)
    graphs: int = _limit("graphs kept of a visitor", 8, 3)
    graphs_an_address: int = _limit("graphs kept of all visitors behind one address", 8, 24)
    graphs_in_all: int = _limit("graphs kept of all visitors together", 8, 64)
    triples_in_all: int = _limit("triples of all visitors' graphs together", 4_000_000, 500_000)
    seconds: int = _limit("seconds of a run; 0: any number", 0, 120)
    at_once: int = _limit("questions answered at the same time; the others wait", 2, 2)
    answer_bytes: int = _limit("bytes of recent answers kept, to be shown again", 10_000_000, 10_000_000)
    questions_a_minute: int = _limit("questions a minute from one address; 0: any number", 0, 30)
    rooms: int = _limit("class rooms open at the same time", 8, 16)
    rooms_an_address: int = _limit("class rooms opened from one address", 8, 4)
    room_members: int = _limit("phones in a class room", 300, 300)
    room_minutes: int = _limit("minutes that a class room stays open", 180, 120)
    studies: bool = _limit("visitors may run benchmarks", True, False)
    store_requests: int = _limit("requests to a graph store for one question", 1000, 200)
    # The header in which a proxy hands over the visitor's address (``KGDEMO_PROXY_HEADER``). Where it is empty there is
    # no proxy, and such headers are not believed.
    proxy_header: str = ""


_LIMITS = {field.name: field.metadata for field in dataclasses.fields(Profile) if field.metadata}
LOCAL = Profile("local")
PUBLIC = Profile("public", **{name: values["public"] for name, values in _LIMITS.items()})


def limits_table() -> str:
    """All limits of both profiles, as a Markdown table."""

    def cell(value: int) -> str:
        return ("yes" if value else "no") if isinstance(value, bool) else f"{value:,}"

    lines = ["| limit | at home | on a public server |", "|---|---:|---:|"]
    for name, values in _LIMITS.items():
        lines.append(f"| {values['about']} | {cell(getattr(LOCAL, name))} | {cell(getattr(PUBLIC, name))} |")
    return "\n".join(lines)


def profile_from(environment: Mapping[str, str] = os.environ) -> Profile:
    """The profile named by ``KGDEMO_PROFILE``; public on Hugging Face Spaces unless told otherwise.

    Raises:
        UserError: there is no such profile, or a number is none.
    """
    name = environment.get("KGDEMO_PROFILE") or ("public" if environment.get("SPACE_ID") else "local")
    profiles = {profile.name: profile for profile in (LOCAL, PUBLIC)}
    if name not in profiles:
        raise UserError(f"KGDEMO_PROFILE is {name!r}; set it to one of {', '.join(profiles)}.")
    profile = replace(profiles[name], proxy_header=environment.get("KGDEMO_PROXY_HEADER", "").strip())
    often = environment.get("KGDEMO_QUESTIONS_A_MINUTE", "").strip()
    if not often:
        return profile
    if not (often.isascii() and often.isdecimal() and len(often) < 7):
        raise UserError(f"KGDEMO_QUESTIONS_A_MINUTE is {often[:20]!r}; set it to a whole number, 0 for no limit.")
    return replace(profile, questions_a_minute=int(often))


def check_host(host: str, environment: Mapping[str, str] = os.environ) -> None:
    """Refuse to serve the open profile to other machines unless it was asked for by name.

    Raises:
        UserError: the address is not this machine's alone, and visitors could name any file.
    """
    try:
        here = ip_address(host).is_loopback
    except ValueError:
        here = host == "localhost"
    if profile_from(environment).open_models and not here and not environment.get("KGDEMO_PROFILE"):
        raise UserError(
            f"At the address {host} other machines could open any file of this one; set KGDEMO_PROFILE=public for "
            "visitors, or KGDEMO_PROFILE=local if everyone who can reach it may."
        )


Kind = TypeVar("Kind")
Given = tuple[tuple[str, str], ...]  # names and values, as written
_HELD = "option"
_AUTO = "auto"  # how None is written
_TRUTH = {"yes": True, "true": True, "on": True, "1": True, "no": False, "false": False, "off": False, "0": False}


class Shown(Flag):
    """Where people meet a setting."""

    NOWHERE = 0
    COMMAND = auto()  # an argument of ask, evaluate and calibrate
    PAGE = auto()  # a field of the page, and with it a parameter of share links
    API = auto()  # a parameter of the endpoint that answers questions
    EVERYWHERE = COMMAND | PAGE | API


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose, with all that is said about it.

    Attributes:
        default: as it is written.
        help: what it is, in plain words; with symbol and place in the paper where it has them.
        kind: bool, int, float, str, or tuple for names with values.
        minimum, maximum: bounds of a number; a text with choices and a maximum may also be a whole number.
        public: the upper bound on a public server, where it is lower.
        limit: the field of ``Profile`` that is the upper bound, instead of ``maximum`` and ``public``.
        choices: the values of a text, with the words that the page shows for them.
        may_be_auto: ``auto`` leaves the choice to the method.
        local_only: a public server keeps the default.
        label: of its field on the page; the options of methods have none.
        shown: where people meet it; the options of methods are all given in the setting ``options``.
        flags: of the command line, where they are not the name.
        metavar: what the command line's help calls the value.
    """

    name: str = ""
    default: str = ""
    help: str = ""
    kind: type = str
    minimum: float = 0
    maximum: float = 0
    public: float | None = None
    limit: str = ""
    choices: Mapping[str, str] = dataclasses.field(default_factory=dict)
    may_be_auto: bool = False
    local_only: bool = False
    label: str = ""
    shown: Shown = Shown.NOWHERE
    flags: tuple[str, ...] = ()
    metavar: str | None = None

    def __str__(self) -> str:
        return f"{self.name}={self.default}"

    def allowed(self, profile: Profile = LOCAL) -> str:
        """The values in words; empty for a free text."""
        if self.kind is bool:
            return "yes or no"
        words = [f"one of {', '.join(self.choices)}"] if self.choices else []
        if self.kind in (int, float) or self.highest(profile):
            number = "a number" if self.kind is float else "a whole number"
            words.append(f"{number} from {self.minimum:g} to {self.highest(profile):g}")
        return ", or ".join([*words, _AUTO] if self.may_be_auto else words)

    def highest(self, profile: Profile = LOCAL) -> float:
        """The upper bound of a number."""
        if self.limit:
            return float(getattr(profile, self.limit))
        return self.maximum if self.public is None or profile.open_models else self.public

    def read(self, value: object, profile: Profile = LOCAL) -> Any:
        """The value that is meant.

        Args:
            value: a text as written, or a value from a field or a program.
            profile: limits of this server.

        Raises:
            UserError: it is no value, or one that this server does not allow.
        """
        if self.kind is tuple:
            if isinstance(value, tuple):
                return value
            return pairs(value if isinstance(value, list) else [str(value or "")])
        if self.local_only and not profile.open_models and value != self.default:
            raise UserError(
                f"This server answers with its own {self.name} only; run the demo yourself to choose another."
            )
        try:
            return self._parsed(value, profile)
        except ValueError:
            called = f"setting {self.name}, “{self.label}”," if self.label else f"option {self.name}"
            written = "" if value is None else str(value).strip()[:40]
            raise UserError(
                f"The {called} cannot be {written!r}; choose {self.allowed(profile)} (the default is {self.default})."
            ) from None

    def _parsed(self, value: object, profile: Profile) -> object:
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # a slider may say 3.0
        text = "" if value is None else str(value).strip().lower()
        if self.may_be_auto and (value is None or text == _AUTO):
            return None
        if self.kind is bool and text in _TRUTH:
            return _TRUTH[text]
        if self.kind is str and not self.choices:
            return str(value)
        if text in self.choices:
            return text
        if self.kind is bool or not text.isascii() or not self.highest(profile):
            raise ValueError(value)
        number = float(text) if self.kind is float else int(text)
        if not self.minimum <= number <= self.highest(profile):
            raise ValueError(value)
        return text if self.kind is str else number


def option(default: Any, about: str, *, choices: Iterable[str] = (), **said: Any) -> Any:
    """A field of a declaration, with its help text and what else ``Option`` holds."""
    return dataclasses.field(default=default, metadata={_HELD: Option(help=about, choices=_in_words(choices), **said)})


def options_of(declared: type[Any], without: tuple[str, ...] = ()) -> tuple[Option, ...]:
    """What can be chosen, read off a dataclass; ``without`` names fields that are of no use to a method."""
    hints = typing.get_type_hints(declared)
    return tuple(
        _complete(field, hints[field.name]) for field in dataclasses.fields(declared) if field.name not in without
    )


def chosen(
    declared: type[Kind],
    given: Iterable[tuple[str, object]],
    *,
    method: str = "",
    without: tuple[str, ...] = (),
    profile: Profile = LOCAL,
) -> Kind:
    """What is given, the rest as by default.

    Args:
        declared: a dataclass of ``option`` fields.
        given: names and values as written, or as a field or a program gives them.
        method: whose options they are, for the message.
        without: fields that this method has no use for.
        profile: limits of this server.

    Raises:
        UserError: there is no option of that name, or it cannot have that value.
    """
    known, hints = {choice.name: choice for choice in options_of(declared, without)}, typing.get_type_hints(declared)
    values: dict[str, object] = {}
    for name, written in given:
        if name not in known:
            raise unknown(name, method, known.values())
        value, hint = known[name].read(written, profile), hints[name]
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


def _complete(field: dataclasses.Field[Any], hint: Any) -> Option:
    """The option of a field, with what its type says."""
    may_be_auto = isinstance(hint, types.UnionType)
    kind = next(k for k in typing.get_args(hint) if k is not types.NoneType) if may_be_auto else hint
    kind = typing.get_origin(kind) or kind
    held: Option = field.metadata[_HELD]
    if issubclass(kind, Enum):
        held, kind = dataclasses.replace(held, choices=_in_words(member.value for member in kind)), str
    return dataclasses.replace(
        held, name=field.name, default=_written(field.default), kind=kind, may_be_auto=may_be_auto
    )


def _in_words(choices: Iterable[str]) -> dict[str, str]:
    """The words for each choice; the choice itself where there are none."""
    return dict(choices) if isinstance(choices, Mapping) else {choice: choice for choice in choices}


def _written(value: object) -> str:
    if value is None:
        return _AUTO
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join("=".join(pair) for pair in value)
    return str(value.value) if isinstance(value, Enum) else f"{value}"


RANKINGS = {"pooled": "all that speaks for them", "relation": "their relations first", "path": "their probability"}
SEARCHES = ("beam", "diverse", "greedy", "sample")
_AHEAD_ON_GPU, _AHEAD_ON_CPU = 48, 16  # tokens


@dataclass(frozen=True, slots=True)
class Settings:
    """How to answer one question.

    The page shows its fields in this order. Which graphs and methods there are, their registries know.
    """

    graph: str = option(
        "world",
        "an embedded graph, or the path of a triple file",
        label="Knowledge graph",
        shown=Shown.EVERYWHERE,
        flags=("--kg",),
        metavar="NAME|FILE",
    )
    method: str = option(
        "gcr",
        "a reasoning method, as `methods` lists them; evaluate takes several with commas, or all",
        label="Method",
        shown=Shown.EVERYWHERE,
        flags=("--method", "--methods"),
        metavar="NAME",
    )
    model: str = option(
        "embedded",
        "embedded, a folder, or a name on the Hugging Face hub; with vllm: before it, vLLM computes it",
        label="Path model",
        shown=Shown.COMMAND | Shown.PAGE,
        local_only=True,
        metavar="ID|DIR",
    )
    beams: int = option(
        10, "number of paths", label="Paths (K)", shown=Shown.EVERYWHERE, minimum=1, limit="beams", metavar="K"
    )
    hops: int = option(
        2,
        "longest path, in hops",
        label="Longest path in hops (L)",
        shown=Shown.EVERYWHERE,
        minimum=1,
        limit="hops",
        metavar="L",
    )
    directed: bool = option(
        False, "walk edges from head to tail only, the papers' setting", label="Directed", shown=Shown.COMMAND
    )
    # ``path`` is the probability of GCR equation 9. ``relation`` leaves the entities' out, which does not punish
    # relations with many tails. ``pooled`` adds to that what the question's own words say (``ranking.scorer``).
    ranking: str = option(
        "pooled",
        "what comes first among the paths",
        label="Rank paths by",
        shown=Shown.COMMAND | Shown.PAGE,
        choices=RANKINGS,
    )
    # The command line names this --unconstrained, and only where somebody looks at the comparison.
    compare: bool = option(
        True, "also decode without the graph", label="Also decode without the graph", shown=Shown.PAGE
    )
    options: Given = option(
        (),
        "options of the method, each as name=value, separated by commas",
        label="Options of the method",
        shown=Shown.EVERYWHERE,
        flags=("--option",),
        metavar="NAME=VALUE",
    )
    search: str = option("beam", "how paths are decoded", label="Search", shown=Shown.COMMAND, choices=SEARCHES)
    # It changes how often the model is called, never what is found.
    look_ahead: str = option(
        "auto",
        "what is read before the search asks: nothing (off), what is certain to be asked (forced), or N likely tokens",
        label="Look-ahead",
        shown=Shown.COMMAND,
        choices=("auto", "off", "forced"),
        maximum=512,
        metavar="off|forced|N",
    )
    prompts: str = option(
        "",
        "a folder with prompts of your own for a general language model; copy and change files of "
        "kgdemo/reasoners/prompts",
        label="Prompts",
        shown=Shown.COMMAND,
        local_only=True,
        metavar="DIR",
    )
    explain: int = option(4, "forbidden tokens reported for each beam and step; 0 where nobody looks", maximum=100)
    complete: bool = option(
        True,
        "add to the answer what else the cited relations lead to",
        label="Add what else the cited relations lead to",
        shown=Shown.COMMAND | Shown.PAGE,
    )
    forced: tuple[int, ...] = option((), "token ids that every path begins with, chosen step by step on the page")

    def tokens_ahead(self, on_gpu: bool) -> int | None:
        """``look_ahead`` as a number: None for off, 0 for what is certain alone, else how many likely tokens.

        A GPU is idle between small passes, so fewer and wider ones pay there; a CPU has to work for every token, and
        fetches all weights for every pass.
        """
        named = {"off": None, "forced": 0, "auto": _AHEAD_ON_GPU if on_gpu else _AHEAD_ON_CPU}
        return named[self.look_ahead] if self.look_ahead in named else int(self.look_ahead)


def shown(where: Shown) -> tuple[Option, ...]:
    """The settings that people meet there, in the order of their declaration."""
    return tuple(setting for setting in options_of(Settings) if where in setting.shown)


def whole_characters(text: str) -> str:
    """A text with a question mark for each half of a character: JSON can hold one, no tokeniser takes it."""
    return text.encode("utf-8", "replace").decode("utf-8")


def check(question: str, settings: Settings, profile: Profile) -> str:
    """The question, stripped, once it and the settings are within the profile's limits.

    Raises:
        UserError: one sentence that says what is wrong and what to do.
    """
    question = " ".join(whole_characters(question).split())
    if not question:
        raise UserError("The question is empty; type one, for example: Where was the composer of The Magic Flute born?")
    if len(question) > profile.question:
        raise UserError(
            f"The question has {len(question):,} characters; shorten it to {profile.question:,} at the most."
        )
    for setting in options_of(Settings):
        setting.read(getattr(settings, setting.name), profile)
    return question


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """The general LLM: an OpenAI-compatible endpoint, or a model on this machine.

    Attributes:
        model: its name there, or a folder or hub name; empty: none is configured.
        timeout: seconds until an endpoint that says nothing is given up.
        longest: seconds until one that goes on and on is, all tries together.
        retries: how often a fault that may pass is tried again.
        patience: seconds before the first of these tries; twice as many before each further one.
        reply_tokens: tokens of a reply at the most.
        at_once: calls side by side, of decisions that do not depend on each other.
        calls, tokens, seconds, money: what the decisions of one run may cost; 0 for no limit. The answer is asked for
            anyway.
        price_in, price_out: of a million tokens of prompt and of reply, in the currency of ``money``.
        local: ``model`` is loaded by this process.
    """

    model: str = ""
    base_url: str = ""
    api_key: str = ""
    timeout: float = 30.0
    longest: float = 120.0
    retries: int = 3
    patience: float = 1.0
    reply_tokens: int = 1024
    at_once: int = 4
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    money: float = 0.0
    price_in: float = 0.0
    price_out: float = 0.0
    local: bool = False

    @property
    def name(self) -> str:
        """How the page calls the model: of a folder only the last part, for where it lies is not shown."""
        return PurePath(self.model).name if self.local else self.model


_CHAT_LIMITS = {
    name: kind
    for name, kind in typing.get_type_hints(ChatSettings).items()
    if kind in (int, float) and name != "patience"
}


def chat_from(environment: Mapping[str, str] = os.environ) -> ChatSettings:
    """The chat model that the environment names.

    ``KGDEMO_CHAT_LOCAL`` is a folder, a GGUF file, ``smollm2`` or a hub name, loaded here; else ``OPENAI_API_KEY``,
    ``OPENAI_BASE_URL`` and ``KGDEMO_CHAT_MODEL`` name an endpoint. ``KGDEMO_CHAT_LIMITS`` sets the limits, for
    example ``calls=40, tokens=60000, seconds=120, timeout=60``.

    Raises:
        UserError: a limit is unknown, or is no number.
    """
    named = _chat_named(environment)
    limits: dict[str, Any] = {}
    for name, written in pairs([environment.get("KGDEMO_CHAT_LIMITS", "")]):
        if name not in _CHAT_LIMITS:
            raise UserError(f"KGDEMO_CHAT_LIMITS has no limit {name!r}; it knows {', '.join(_CHAT_LIMITS)}.")
        try:
            limits[name] = _CHAT_LIMITS[name](written)
        except ValueError:
            raise UserError(f"KGDEMO_CHAT_LIMITS says {name}={written[:20]}; give a number.") from None
        if limits[name] < 0 or limits[name] != limits[name]:
            raise UserError(f"KGDEMO_CHAT_LIMITS says {name}={written[:20]}; give a number of 0 or more.")
    return replace(named, **limits) if named.model else named


def _chat_named(environment: Mapping[str, str]) -> ChatSettings:
    """The model alone."""
    if environment.get("KGDEMO_CHAT_LOCAL"):
        return ChatSettings(environment["KGDEMO_CHAT_LOCAL"], local=True)
    key, url = environment.get("OPENAI_API_KEY", ""), environment.get("OPENAI_BASE_URL", "")
    if not key and not url:
        return ChatSettings()
    model = environment.get("KGDEMO_CHAT_MODEL") or "gpt-4o-mini"
    return ChatSettings(model, url, key or "none")


def gpu_is_lent() -> bool:
    """Whether this server has no GPU of its own but borrows one, question by question: Hugging Face's ZeroGPU."""
    return os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "true", "t")


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share_of_processors() -> int:
    """How many of them each of the questions that the page answers at once has to itself."""
    return max(1, processors() // LOCAL.at_once)


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Where what is made of large graphs is kept: ``KGDEMO_CACHE``, else ``~/.cache/kgdemo``; None when it is empty."""
    folder = environment.get("KGDEMO_CACHE", str(Path("~") / ".cache" / "kgdemo"))
    try:
        return Path(folder).expanduser() if folder.strip() else None
    except RuntimeError:  # this user has no home
        return None
