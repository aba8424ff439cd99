"""Settings of one run and of the server, from arguments and environment, with the limits of two profiles."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from kgdemo.errors import UserError


@dataclass(frozen=True, slots=True)
class Settings:
    """How to answer one question.

    Attributes:
        graph: name of an embedded graph, or a triple file.
        model: KG-specialised language model: ``embedded``, a folder or a hub name.
        method: a registered reasoning method.
        beams: K, the number of paths.
        hops: L, the longest path.
        directed: walk edges from head to tail only (the papers' setting).
        compare: also search without the constraint.
        ranking: ``path`` orders paths by their probability (GCR equation 9), ``relation`` by that of
            their relations first, which does not punish relations with many tails, and ``pooled`` by that
            together with what the question's own words say (see ``reasoning.prior``).
        explain: how many forbidden tokens to report for each beam and step; 0 where nobody watches.
        search: how paths are decoded: ``beam`` (the K most probable), ``diverse`` (groups that keep apart),
            ``greedy`` (one path) or ``sample`` (drawn at random).
        look_ahead: what is read before the search asks for it: nothing (``off``), what it is certain to ask for
            (``forced``), likely tokens as well (their number), or as suits the device (``auto``). It changes
            how often the model is called, never what is found.
        complete: let the answer take in the other entities that a cited relation path leads to.
        forced: token ids that every path begins with, chosen by a visitor step by step; the search goes on
            from there, with the graph and without it.
        options: the method's own settings, as names and values (see ``reasoning.options``).
    """

    graph: str = "world"
    model: str = "embedded"
    method: str = "gcr"
    beams: int = 10
    hops: int = 2
    directed: bool = False
    compare: bool = True
    ranking: str = "pooled"
    explain: int = 4
    complete: bool = True
    forced: tuple[int, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    search: str = "beam"
    look_ahead: str = "auto"

    def tokens_ahead(self, on_gpu: bool) -> int | None:
        """``look_ahead`` as a number: None for off, 0 for what is certain alone, else how many likely tokens.

        A GPU is idle between small passes, so fewer and wider ones pay there; a CPU has to work for every token, and
        fetches all weights for every pass.
        """
        named = {"off": None, "forced": 0, "auto": _AHEAD_ON_GPU if on_gpu else _AHEAD_ON_CPU}
        return named[self.look_ahead] if self.look_ahead in named else int(self.look_ahead)


@dataclass(frozen=True, slots=True)
class Profile:
    """What a server allows its visitors.

    Attributes:
        question: longest question, in characters.
        beams, hops: largest K and L.
        upload_triples, upload_bytes: largest graph a visitor may bring; bytes count as sent and again unpacked.
        open_models: whether visitors may name models and files; never on a public server.
        questions_a_minute: how often one visitor may ask; 0 for no limit.
    """

    name: str
    question: int
    beams: int
    hops: int
    upload_triples: int
    upload_bytes: int
    open_models: bool
    questions_a_minute: int = 0


LOCAL = Profile("local", 2000, 50, 4, 500_000, 50_000_000, True)
PUBLIC = Profile("public", 300, 10, 3, 20_000, 2_000_000, False, 12)
RANKINGS = ("pooled", "relation", "path")
SEARCHES = ("beam", "diverse", "greedy", "sample")
MAX_AHEAD = 512
_AHEAD_ON_GPU = 48
_AHEAD_ON_CPU = 16


def profile_from(environment: Mapping[str, str] = os.environ) -> Profile:
    """The profile named by ``KGDEMO_PROFILE``; public on Hugging Face Spaces unless told otherwise.

    Raises:
        UserError: there is no such profile.
    """
    name = environment.get("KGDEMO_PROFILE") or ("public" if environment.get("SPACE_ID") else "local")
    profiles = {profile.name: profile for profile in (LOCAL, PUBLIC)}
    if name not in profiles:
        raise UserError(f"KGDEMO_PROFILE is {name!r}; set it to one of {', '.join(profiles)}.")
    return profiles[name]


def check(question: str, settings: Settings, profile: Profile) -> str:
    """The question, stripped, once it and the settings are within the profile's limits.

    Raises:
        UserError: one sentence that says what is wrong and what to do.
    """
    question = " ".join(question.split())
    if not question:
        raise UserError("The question is empty; type one, for example: Where was the composer of The Magic Flute born?")
    if len(question) > profile.question:
        raise UserError(
            f"The question has {len(question):,} characters; shorten it to {profile.question:,} at the most."
        )
    if not 1 <= settings.beams <= profile.beams:
        raise UserError(f"The number of paths K is {settings.beams}; choose 1 to {profile.beams}.")
    if not 1 <= settings.hops <= profile.hops:
        raise UserError(f"The number of hops L is {settings.hops}; choose 1 to {profile.hops}.")
    if settings.ranking not in RANKINGS:
        raise UserError(f"The ranking {settings.ranking!r} is unknown; choose one of {', '.join(RANKINGS)}.")
    if settings.search not in SEARCHES:
        raise UserError(f"The search {settings.search!r} is unknown; choose one of {', '.join(SEARCHES)}.")
    ahead = settings.look_ahead
    if ahead not in ("auto", "off", "forced") and not (
        ahead.isascii() and ahead.isdecimal() and len(ahead) < 5 and int(ahead) <= MAX_AHEAD
    ):
        raise UserError(f"The look-ahead {ahead!r} is unknown; choose auto, off, forced or a number up to {MAX_AHEAD}.")
    return question


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """The general LLM: an OpenAI-compatible endpoint, or a model on this machine.

    Attributes:
        model: its name there, or a folder or hub name; empty: none is configured.
        timeout: seconds until an endpoint that says nothing is given up.
        longest: seconds until one that goes on and on is.
        local: ``model`` is loaded by this process.
    """

    model: str = ""
    base_url: str = ""
    api_key: str = ""
    timeout: float = 30.0
    longest: float = 120.0
    local: bool = False

    @property
    def name(self) -> str:
        """The model as people are told of it; where a folder lies is nobody's business."""
        return PurePath(self.model).name if self.local else self.model


def chat_from(environment: Mapping[str, str] = os.environ) -> ChatSettings:
    """The chat model that the environment names.

    ``KGDEMO_CHAT_LOCAL`` is a folder or a hub name, loaded here; else ``OPENAI_API_KEY``, ``OPENAI_BASE_URL``
    and ``KGDEMO_CHAT_MODEL`` name an endpoint.
    """
    if environment.get("KGDEMO_CHAT_LOCAL"):
        return ChatSettings(environment["KGDEMO_CHAT_LOCAL"], local=True)
    key, url = environment.get("OPENAI_API_KEY", ""), environment.get("OPENAI_BASE_URL", "")
    if not key and not url:
        return ChatSettings()
    model = environment.get("KGDEMO_CHAT_MODEL") or "gpt-4o-mini"
    return ChatSettings(model, url, key or "none")


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Where token ids of large graphs are kept: ``KGDEMO_CACHE``, else ``~/.cache/kgdemo``; None when it is empty."""
    folder = environment.get("KGDEMO_CACHE", str(Path("~") / ".cache" / "kgdemo"))
    try:
        return Path(folder).expanduser() if folder.strip() else None
    except RuntimeError:  # this user has no home
        return None
