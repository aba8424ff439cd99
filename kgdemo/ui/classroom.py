"""Class mode: one steers a run, many guess its next token on their phones, and all see how the class has guessed.

A room is opened without a name and lives in the memory of this process alone: no cookie, no account, nothing on a disk.
Its code lets people in; its key, which only the page that opened it knows, lets that page show something. Everyone
follows by server-sent events. A room ends when its opener says so or has gone, and after a while in any case.

All of it runs on the event loop of the server, so nothing here needs a lock.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from kgdemo.errors import UserError
from kgdemo.settings import Profile
from kgdemo.ui import assets
from kgdemo.ui.guard import address_of, in_one_sentence, object_sent
from kgdemo.view.escape import escaped, json_in_html, visible

ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # no two of them look alike
_LETTERS = 6  # of a code
HEARTBEAT = 15.0  # seconds without news after which a stream says that it still stands
GRACE = 60.0  # seconds that a room waits for its opener to come back
_BODY = 20_000  # bytes of a request
_LINK = 300  # characters


# what is shown in a room ---------------------------------------------------------------------------

_Token = Annotated[str, StringConstraints(max_length=100), AfterValidator(visible)]
_Text = Annotated[str, StringConstraints(max_length=2000), AfterValidator(visible)]
_Count = Annotated[int, Field(ge=0, le=99)]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Waiting(_Shape):
    """Nothing is asked yet."""

    kind: Literal["waiting"] = "waiting"
    question: _Text = ""


class _Turn(_Shape):
    question: _Text
    number: _Count
    of: _Count
    after: _Text


class Guess(_Turn):
    """A token is to be guessed among these."""

    kind: Literal["guess"]
    tokens: Annotated[list[_Token], Field(min_length=2, max_length=8)]


class Choice(_Shape):
    """One of them, told: its probability before and after the graph's constraint, and why it is forbidden."""

    token: _Token
    before: Annotated[float, Field(ge=0, le=1)]
    after: Annotated[float, Field(ge=0, le=1)]
    why: _Text


class Shown(_Turn):
    """The same tokens, told; ``taken`` is the one with which the run goes on."""

    kind: Literal["shown"]
    options: Annotated[list[Choice], Field(min_length=2, max_length=8)]
    taken: _Token


class Over(_Shape):
    """The end of a run: its answer, the best path, and how often the class, or the model alone, was right."""

    kind: Literal["over"]
    question: _Text
    answer: _Text
    path: _Text
    n: _Count
    right: _Count
    model: _Count


class Ended(_Shape):
    """The room is closed."""

    kind: Literal["ended"] = "ended"


Scene = Waiting | Guess | Shown | Over | Ended
_SCENE: TypeAdapter[Scene] = TypeAdapter(Annotated[Scene, Field(discriminator="kind")])


# rooms ---------------------------------------------------------------------------------------------


class Bell:
    """Wakes everyone who waits for the next change."""

    def __init__(self) -> None:
        self.next = asyncio.Event()

    def ring(self) -> None:
        """Something has changed."""
        rung, self.next = self.next, asyncio.Event()
        rung.set()


@dataclass(slots=True)
class Member:
    """A phone: how many streams it holds open, and the place of the token that it has chosen."""

    streams: int = 0
    choice: int | None = None


@dataclass(slots=True)
class Room:
    """A room.

    Attributes:
        code, key: of the class, and of its opener.
        address: the opener's.
        opened: when.
        scene: what is shown.
        round: number of the token that is guessed; a choice belongs to one round.
        members: by a name that the server gives, the one that came or came back last at the end.
        steered: streams of its opener; since when there is none, or None.
        scenes, counts: rung when the scene has changed, or only who is there and what was chosen.
    """

    code: str
    key: str
    address: str
    opened: float
    left: float | None
    scene: Scene = field(default_factory=Waiting)
    round: int = 0
    members: dict[str, Member] = field(default_factory=dict)
    steered: int = 0
    scenes: Bell = field(default_factory=Bell)
    counts: Bell = field(default_factory=Bell)

    @property
    def votes(self) -> list[int]:
        """How many have chosen each of the tokens."""
        tokens = len(self.scene.tokens if isinstance(self.scene, Guess) else getattr(self.scene, "options", ()))
        chosen = [member.choice for member in self.members.values()]
        return [chosen.count(place) for place in range(tokens)]

    def show(self, scene: Scene) -> None:
        """Show something; what was guessed is told only with the tokens that were offered.

        Raises:
            UserError: other tokens are told than were offered.
        """
        if isinstance(scene, Shown):
            offered = self.scene.tokens if isinstance(self.scene, Guess) else None
            if offered != [option.token for option in scene.options]:
                raise UserError("The tokens that are told are not those that were offered; begin the turn anew.")
        elif isinstance(scene, Guess):
            self.round += 1
            for member in self.members.values():
                member.choice = None
        self.scene = scene
        self.scenes.ring()
        self.counts.ring()

    def vote(self, name: str, number: int, choice: int) -> None:
        """A member's choice; it may be changed until the token is told.

        Raises:
            UserError: nobody of that name is here, or this token is not guessed now.
        """
        if name not in self.members:
            raise UserError("This phone is not in the room any more; load the page anew.")
        tokens = self.scene.tokens if isinstance(self.scene, Guess) and number == self.round else []
        if not 0 <= choice < len(tokens):
            raise UserError("This token is not guessed any more.")
        self.members[name].choice = choice
        self.counts.ring()

    def for_phone(self) -> dict[str, Any]:
        """What a phone is sent."""
        shown = isinstance(self.scene, Shown)
        return {"round": self.round, "scene": self.scene.model_dump(), "votes": self.votes if shown else None}

    def for_opener(self) -> dict[str, Any]:
        """What the opener is sent."""
        here = sum(member.streams > 0 for member in self.members.values())
        return {"here": here, "round": self.round, "votes": self.votes, "ended": isinstance(self.scene, Ended)}


class Rooms:
    """All rooms of a server.

    Args:
        profile: how many rooms, of how many members, for how long.
        clock: seconds, ever rising; tests give their own.
    """

    def __init__(self, profile: Profile, clock: Callable[[], float] = time.monotonic) -> None:
        self._profile = profile
        self._clock = clock
        self._rooms: dict[str, Room] = {}

    def open(self, address: str) -> Room:
        """A new room.

        Raises:
            UserError: there are as many as this server allows.
        """
        self.tidy()
        own = sum(room.address == address for room in self._rooms.values())
        if len(self._rooms) >= self._profile.rooms or own >= self._profile.rooms_an_address:
            where = "your network" if own >= self._profile.rooms_an_address else "this server"
            raise UserError(f"No further room can be opened from {where} at the moment; end one, or try again later.")
        code = "".join(secrets.choice(ALPHABET) for _ in range(_LETTERS))
        now = self._clock()
        room = self._rooms[code] = Room(code, secrets.token_urlsafe(16), address, now, now)
        return room

    def room(self, code: str) -> Room:
        """The room of a code, in whichever case it is written.

        Raises:
            UserError: there is none.
        """
        self.tidy()
        found = self._rooms.get(code.strip().upper())
        if found is None:
            raise UserError("There is no room with this code; it may have ended. Ask for the code once more.")
        return found

    def tidy(self) -> None:
        """End the rooms whose time is over, and those whose opener has gone."""
        now = self._clock()
        for room in list(self._rooms.values()):
            gone = room.left is not None and now - room.left > GRACE
            if gone or now - room.opened > 60 * self._profile.room_minutes:
                self.show(room, Ended())

    def show(self, room: Room, scene: Scene) -> None:
        """``Room.show``; a room that is ended is forgotten."""
        room.show(scene)
        if isinstance(scene, Ended):
            self._rooms.pop(room.code, None)

    def join(self, room: Room, name: str) -> str:
        """One more stream of a member.

        Args:
            room: where.
            name: what the server has called this phone before; another is called anew.

        Returns:
            the member's name.

        Raises:
            UserError: the room is full of members that are here.
        """
        if name not in room.members:
            if len(room.members) >= self._profile.room_members:
                gone = next((one for one, member in room.members.items() if not member.streams), None)
                if gone is None:
                    raise UserError(f"The room is full: it holds {self._profile.room_members} phones.")
                del room.members[gone]
            name = secrets.token_urlsafe(9)
        member = room.members.pop(name, None) or Member()
        member.streams += 1
        room.members[name] = member
        room.counts.ring()
        return name

    def leave(self, room: Room, name: str) -> None:
        """A stream has ended; the choice stays, for a phone that sleeps comes back."""
        if name in room.members:
            room.members[name].streams -= 1
        room.counts.ring()

    async def followed(self, room: Room, name: str) -> AsyncIterator[str]:
        """The stream of a member who has joined; the browser sends its ``id`` when it connects again."""
        try:
            yield f"id: {name}\nevent: member\ndata: {json.dumps(name)}\n\n"
            async for message in self._news(room, room.for_phone, lambda: room.scenes):
                yield message
        finally:
            self.leave(room, name)

    async def steered(self, room: Room) -> AsyncIterator[str]:
        """The stream of a room's opener."""
        room.steered, room.left = room.steered + 1, None
        try:
            async for message in self._news(room, room.for_opener, lambda: room.counts):
                yield message
        finally:
            room.steered -= 1
            room.left = None if room.steered else self._clock()

    async def _news(
        self, room: Room, told: Callable[[], dict[str, Any]], bell: Callable[[], Bell]
    ) -> AsyncIterator[str]:
        while True:
            news = bell().next  # before the state is read: what changes while it is sent rings this one
            ended = isinstance(room.scene, Ended)
            yield f"data: {json.dumps(told())}\n\n"
            if ended:
                return
            while not news.is_set():
                try:
                    await asyncio.wait_for(news.wait(), HEARTBEAT)
                except asyncio.TimeoutError:
                    self.tidy()
                    yield ": still here\n\n"


# addresses -----------------------------------------------------------------------------------------


def routes(rooms: Rooms) -> list[Route]:
    """What the server answers under ``/class``.

    ``GET /class`` and ``/class/CODE`` are the page of a phone; ``POST /class`` opens a room;
    ``GET /class/CODE/events`` is a stream, with ``?key=`` that of the opener; ``POST /class/CODE/vote`` takes
    ``{member, round, choice}``, and ``POST /class/CODE/scene`` takes ``{key, scene}`` and answers with the counts.
    """

    async def page(request: Request) -> Response:
        return HTMLResponse(phone_page("../" if "code" in request.path_params else "./"))

    async def opened(request: Request) -> Response:
        sent = await object_sent(request, _BODY)
        room = rooms.open(address_of(request))
        return JSONResponse({"code": room.code, "key": room.key, "qr": qr_rows(f"{sent.get('base', '')}{room.code}")})

    async def events(request: Request) -> Response:
        room = rooms.room(request.path_params["code"])
        if (key := request.query_params.get("key")) is not None:
            _check(room, key)
            stream = rooms.steered(room)
        else:
            stream = rooms.followed(room, rooms.join(room, request.headers.get("last-event-id", "")))
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    async def voted(request: Request) -> Response:
        sent = await object_sent(request, _BODY)
        name, number, choice = sent.get("member"), sent.get("round"), sent.get("choice")
        if not (isinstance(name, str) and type(number) is int and type(choice) is int):
            raise UserError("A choice is {member, round, choice}; load the page anew.")
        rooms.room(request.path_params["code"]).vote(name, number, choice)
        return JSONResponse({})

    async def shown(request: Request) -> Response:
        sent = await object_sent(request, _BODY)
        room = rooms.room(request.path_params["code"])
        _check(room, sent.get("key"))
        try:
            rooms.show(room, _SCENE.validate_python(sent.get("scene")))
        except ValidationError as error:
            raise UserError("What is to be shown does not have the form of a scene; load the page anew.") from error
        return JSONResponse(room.for_opener())

    return [
        Route("/class", page),
        Route("/class/{code}", page),
        Route("/class", in_one_sentence(opened, "class"), methods=["POST"]),
        Route("/class/{code}/events", in_one_sentence(events, "class")),
        Route("/class/{code}/vote", in_one_sentence(voted, "class"), methods=["POST"]),
        Route("/class/{code}/scene", in_one_sentence(shown, "class"), methods=["POST"]),
    ]


def _check(room: Room, key: object) -> None:
    """Refuse all but the opener.

    Raises:
        UserError: it is not the room's key.
    """
    if not (isinstance(key, str) and secrets.compare_digest(key.encode("utf-8", "replace"), room.key.encode())):
        raise UserError("Only the page that opened this room may do that.")


def qr_rows(link: str) -> list[str]:
    """A link as a QR code, one text of 0 and 1 (dark) a row; nothing for what is no link of the web.

    Raises:
        UserError: the link is longer than a phone's camera reads well.
    """
    if not re.fullmatch(r"https?://[!-~]+", link):
        return []
    if len(link) > _LINK:
        raise UserError(f"The page's address is longer than {_LINK} characters, too long for a QR code.")
    try:
        import segno  # only here: an environment older than this dependency still serves the page
    except ImportError:
        return []
    return ["".join(map(str, row)) for row in segno.make(link, micro=False, error="m").matrix]


_PHONE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="icon" href="data:,"><base href="{base}">{styles}</head>
<body><div class="gradio-container"><main class="phone"><div class="kg" id="room"></div></main></div>
<script type="application/json" id="boot">{boot}</script>
<script type="module" src="{script}"></script></body></html>
"""


def phone_page(base: str) -> str:
    """The page of a phone: the words of class mode and guessing, and a script that follows the room.

    Args:
        base: where the server's own addresses begin, as seen from the page.
    """
    text = assets.text()
    styles = map(assets.url, sorted((assets.ASSETS / "css").glob("*.css")))
    return _PHONE.format(
        title=escaped(text["classroom"]["title"]),
        base=base,
        styles="".join(f'<link rel="stylesheet" href="{escaped(style)}">' for style in styles),
        boot=json_in_html({name: text[name] for name in ("classroom", "guess")}),
        script=escaped(assets.url(assets.ASSETS / "js" / "phone.js")),
    )
