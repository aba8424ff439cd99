"""A class of scripted phones: they join a room of a served page, vote on every token, and note when they heard of it.

``python -m tests.helpers.classroom ADDRESS PHONES`` prints what was measured.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx

TOKENS = ["benny", "fr", "wolfgang"]
ABOUT = {
    "question": "Where was the composer of The Magic Flute born?",
    "of": 2,
    "after": "the magic flute -> composed by ->",
}
OPTIONS = [
    {"token": "benny", "before": 0.11, "after": 0.0, "why": "no edge"},
    {"token": "fr", "before": 0.03, "after": 0.0, "why": "no edge"},
    {"token": "wolfgang", "before": 0.04, "after": 1.0, "why": ""},
]


def guess(number: int) -> dict[str, Any]:
    """A token to guess."""
    return {"kind": "guess", "number": number, "tokens": TOKENS, **ABOUT}


def shown(number: int) -> dict[str, Any]:
    """The same token, told."""
    return {"kind": "shown", "number": number, "options": OPTIONS, "taken": "wolfgang", **ABOUT}


@dataclass(frozen=True, slots=True)
class Heard:
    """What a class has heard.

    Attributes:
        joined: seconds until all were in.
        scenes: seconds from the teacher's word until each phone had it, of all phones and scenes.
        voted: seconds from a token's being offered until the teacher had all votes.
        votes: as every phone was told them, one list a token guessed.
    """

    joined: float
    scenes: list[float]
    voted: list[float]
    votes: list[list[list[int]]]


async def news(client: httpx.AsyncClient, path: str) -> AsyncIterator[tuple[str, Any]]:
    """The messages of a stream, ``(event, data)``, to its end."""
    async with client.stream("GET", path) as stream:
        kind = "message"
        async for line in stream.aiter_lines():
            if line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: "):
                yield kind, json.loads(line[6:])
                kind = "message"


class Phone:
    """One phone; its place in the class decides what it votes for."""

    def __init__(self, client: httpx.AsyncClient, code: str, place: int) -> None:
        self._client, self._code, self._place = client, code, place
        self.joined = asyncio.Event()
        self.heard: list[tuple[str, float]] = []
        self.votes: list[list[int]] = []

    async def follow(self) -> None:
        """Stay until the room ends."""
        member = ""
        async for kind, told in news(self._client, f"/class/{self._code}/events"):
            if kind == "member":
                member = told
                self.joined.set()
                continue
            scene = told["scene"]["kind"]
            self.heard.append((scene, time.perf_counter()))
            if scene == "guess":
                vote = {"member": member, "round": told["round"], "choice": self._place % len(TOKENS)}
                (await self._client.post(f"/class/{self._code}/vote", json=vote)).raise_for_status()
            elif scene == "shown":
                self.votes.append(told["votes"])


async def class_of(address: str, phones: int, tokens: int = 2) -> Heard:
    """Teach a class: open a room, let all join, guess some tokens, end the room.

    Args:
        address: where the page is served.
        phones: how many.
        tokens: how many are guessed.
    """
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=None) as client:
        room = (await client.post("/class", json={"base": f"{address}/class/"})).raise_for_status().json()
        said: list[float] = []

        async def tell(scene: dict[str, Any]) -> None:
            said.append(time.perf_counter())
            sent = {"key": room["key"], "scene": scene}
            (await client.post(f"/class/{room['code']}/scene", json=sent)).raise_for_status()

        began = time.perf_counter()
        klass = [Phone(client, room["code"], place) for place in range(phones)]
        following = [asyncio.create_task(phone.follow()) for phone in klass]
        counts = news(client, f"/class/{room['code']}/events?key={room['key']}")
        async for _, count in counts:
            if count["here"] == phones:
                break
        joined, voted = time.perf_counter() - began, []
        for number in range(1, tokens + 1):
            await tell(guess(number))
            async for _, count in counts:
                if count["round"] == number and sum(count["votes"]) == phones:
                    break
            voted.append(time.perf_counter() - said[-1])
            await tell(shown(number))
        await tell({"kind": "ended"})
        await asyncio.gather(*following)
        await counts.aclose()
    waits = [at - said[min(place, len(said)) - 1] for phone in klass for place, at in _places(phone.heard)]
    return Heard(joined, waits, voted, [phone.votes for phone in klass])


def _places(heard: list[tuple[str, float]]) -> list[tuple[int, float]]:
    """Which of the teacher's words each scene was, counted from 1; what stood there before the first is left out."""
    return [(place, at) for place, (_, at) in enumerate([one for one in heard if one[0] != "waiting"], 1)]


def main(address: str, phones: int) -> None:
    """Print the figures."""
    found = asyncio.run(class_of(address, phones, 6))
    waits, voted = sorted(found.scenes), sorted(found.voted)
    sys.stdout.write(
        f"{phones} phones: all in after {found.joined:.2f} s; a scene is on a phone after "
        f"{waits[len(waits) // 2]:.3f} s (95 % within {waits[int(0.95 * len(waits))]:.3f}, longest {waits[-1]:.3f}); "
        f"all votes after {voted[len(voted) // 2]:.2f} s\n"
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
