"""Class mode: thirty scripted phones, bounds of rooms, and what is refused."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import httpx
import pytest

from kgdemo.errors import UserError
from kgdemo.settings import PUBLIC
from kgdemo.ui.classroom import ALPHABET, GRACE, Ended, Guess, Room, Rooms, Shown, qr_rows
from tests.helpers.classroom import OPTIONS, TOKENS, class_of, guess, shown


def test_thirty_phones_hear_and_vote_and_all_are_told_the_same(address: str):
    phones, tokens = 30, 2
    heard = asyncio.run(class_of(address, phones, tokens))
    assert len(heard.scenes) == phones * (2 * tokens + 1)  # each token offered and told, and the end
    assert heard.votes == [[[10, 10, 10]] * tokens] * phones


@pytest.fixture
def client(address: str):
    with httpx.Client(base_url=address) as opened:
        yield opened


@pytest.fixture
def room(client: httpx.Client):
    opened = client.post("/class", json={}).raise_for_status().json()
    yield opened
    client.post(f"/class/{opened['code']}/scene", json={"key": opened["key"], "scene": {"kind": "ended"}})


def steer(client: httpx.Client, room: dict[str, Any], sent: object) -> httpx.Response:
    """Half characters too, which httpx would not send by itself."""
    headers = {"content-type": "application/json"}
    return client.post(f"/class/{room['code']}/scene", content=json.dumps(sent), headers=headers)


def refused(answer: httpx.Response, says: str) -> None:
    assert answer.status_code == 400
    assert says in answer.json()["error"]


@pytest.mark.parametrize(
    "scene",
    [
        None,
        [],
        {"kind": "none"},
        {"kind": "guess"},
        {**guess(1), "tokens": ["one"]},
        {**guess(1), "tokens": ["x"] * 9},
        {**guess(1), "tokens": ["x" * 101, "y"]},
        {**guess(1), "tokens": [1, 2]},
        {**guess(1), "number": 10**9},
        {**guess(1), "number": "1"},
        {**guess(1), "question": "x" * 2001},
        {**guess(1), "html": "<b>"},
        {**guess(1), "after": "\ud800"},
        {**shown(1), "options": [{**OPTIONS[0], "before": 2.0}, OPTIONS[1]]},
    ],
)
def test_what_is_no_scene_is_refused(client: httpx.Client, room: dict[str, Any], scene: object):
    refused(steer(client, room, {"key": room["key"], "scene": scene}), "form of a scene")


def test_only_the_opener_steers(client: httpx.Client, room: dict[str, Any]):
    for key in ("", "x", None, 1, ["x"], room["key"] + "x", "\ud800"):
        refused(steer(client, room, {"key": key, "scene": guess(1)}), "Only the page that opened")
    refused(client.get(f"/class/{room['code']}/events?key=x"), "Only the page that opened")


def test_a_vote_needs_a_member_a_round_and_a_place(client: httpx.Client, room: dict[str, Any]):
    path = f"/class/{room['code']}/vote"
    for sent in ({}, {"member": 1, "round": 1, "choice": 0}, {"member": "x", "round": True, "choice": 0}):
        refused(client.post(path, json=sent), "{member, round, choice}")
    refused(client.post(path, json={"member": "x", "round": 1, "choice": 0}), "not in the room")


def test_a_body_that_is_no_small_json_object_is_refused(client: httpx.Client):
    for content, kind in ((b"{}", "text/plain"), (b"{}", ""), (b"[", "application/json"), (b"[]", "application/json"),
                          (b"[" * 15_000, "application/json"), (b"\xff", "application/json"),
                          (b'"' + b"x" * 30_000 + b'"', "application/json")):  # fmt: skip
        refused(client.post("/class", content=content, headers={"content-type": kind}), "Send a JSON object")


def test_a_code_that_no_room_has_is_told_so(client: httpx.Client):
    for code in ("AAAAAA", "%2e%2e", "x" * 3000):
        refused(client.get(f"/class/{code}/events"), "no room with this code")


def test_the_page_of_a_phone_holds_nothing_of_its_address(client: httpx.Client, room: dict[str, Any]):
    hostile = client.get("/class/%3Cimg%20src=x%20onerror=alert(1)%3E")
    assert hostile.text == client.get(f"/class/{room['code']}").text
    assert "alert(1)" not in hostile.text


# rooms ---------------------------------------------------------------------------------------------


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def rooms_of(clock: Clock | None = None, **limits: int) -> Rooms:
    return Rooms(replace(PUBLIC, **limits), clock or Clock())


def scene(record: dict[str, Any]) -> Any:
    return {"guess": Guess, "shown": Shown}[record["kind"]].model_validate(record)


def test_there_are_so_many_rooms_of_an_address_and_of_all():
    rooms = rooms_of(rooms=3, rooms_an_address=2)
    mine = [rooms.open("me"), rooms.open("me")]
    with pytest.raises(UserError, match="your network"):
        rooms.open("me")
    rooms.open("you")
    with pytest.raises(UserError, match="this server"):
        rooms.open("they")
    rooms.show(mine[0], Ended())
    assert rooms.open("they").code != mine[0].code
    assert set(mine[0].code) <= set(ALPHABET)


def test_a_room_ends_when_its_opener_has_gone_and_when_its_time_is_over():
    clock = Clock()
    rooms = rooms_of(clock, room_minutes=10)
    left, kept = rooms.open("a"), rooms.open("a")
    kept.left = None  # its opener follows it
    clock.now += GRACE + 1
    with pytest.raises(UserError, match="no room with this code"):
        rooms.room(left.code)
    assert rooms.room(kept.code.lower()) is kept
    clock.now += 600
    rooms.tidy()
    assert isinstance(kept.scene, Ended)


def test_its_opener_may_come_back():
    async def visit() -> None:
        clock = Clock()
        rooms = rooms_of(clock)
        room = rooms.open("a")
        stream = rooms.steered(room)
        await anext(stream)
        assert room.left is None
        await stream.aclose()
        assert room.left == clock.now
        clock.now += GRACE - 1
        again = rooms.steered(room)
        await anext(again)
        clock.now += GRACE
        assert rooms.room(room.code) is room
        await again.aclose()

    asyncio.run(visit())


def voted(rooms: Rooms, count: int) -> tuple[Room, list[str]]:
    room = rooms.open("a")
    names = [rooms.join(room, "") for _ in range(count)]
    room.show(scene(guess(1)))
    return room, names


def test_a_choice_counts_once_may_be_changed_and_belongs_to_its_token():
    room, (one, two) = voted(rooms_of(), 2)
    room.vote(one, 1, 0)
    room.vote(one, 1, 2)
    room.vote(two, 1, 2)
    assert room.votes == [0, 0, 2]
    for number, choice in ((2, 0), (0, 0), (1, 3), (1, -1)):
        with pytest.raises(UserError, match="not guessed"):
            room.vote(one, number, choice)
    assert room.for_phone()["votes"] is None, "nobody is told before all are"
    room.show(scene(shown(1)))
    assert room.for_phone()["votes"] == [0, 0, 2]
    with pytest.raises(UserError, match="not guessed"):
        room.vote(one, 1, 0)
    room.show(scene(guess(2)))
    assert room.votes == [0] * len(TOKENS)


def test_only_what_was_offered_is_told():
    room, _ = voted(rooms_of(), 1)
    other = {**shown(1), "options": [*OPTIONS[:2], {**OPTIONS[2], "token": "another"}]}
    with pytest.raises(UserError, match="not those that were offered"):
        room.show(scene(other))


def test_a_phone_that_sleeps_comes_back_with_its_choice():
    rooms = rooms_of()
    room, (name,) = voted(rooms, 1)
    room.vote(name, 1, 1)
    rooms.leave(room, name)
    assert room.for_opener() == {"here": 0, "round": 1, "votes": [0, 1, 0], "ended": False}
    assert rooms.join(room, name) == name
    assert room.for_opener() == {"here": 1, "round": 1, "votes": [0, 1, 0], "ended": False}
    assert rooms.join(room, "made up") != "made up"


def test_a_full_room_forgets_who_has_gone_and_nobody_else():
    rooms = rooms_of(room_members=2)
    room, (first, second) = voted(rooms, 2)
    with pytest.raises(UserError, match="full: it holds 2"):
        rooms.join(room, "")
    rooms.leave(room, first)
    third = rooms.join(room, "")
    assert list(room.members) == [second, third]


def test_news_that_come_while_news_are_sent_are_not_lost():
    async def visit() -> list[str]:
        rooms = rooms_of()
        room = rooms.open("a")
        stream = rooms.followed(room, rooms.join(room, ""))
        got = [await anext(stream), await anext(stream)]
        room.show(scene(guess(1)))
        room.show(scene(shown(1)))
        got.append(await anext(stream))  # what is shown now, not all that was shown
        rooms.show(room, Ended())
        return [*got, *[message async for message in stream]]

    member, waiting, told, ended = asyncio.run(visit())
    assert member.startswith("id: ")
    assert '"waiting"' in waiting
    assert '"shown"' in told
    assert '"ended"' in ended


def test_a_qr_code_is_drawn_of_links_of_the_web_alone():
    pytest.importorskip("segno")
    rows = qr_rows("https://example.org/class/ABCDEF")
    assert len(rows) == len(rows[0]) >= 21
    assert set("".join(rows)) == {"0", "1"}
    finder = "1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"
    assert tuple(row[:7] for row in rows[:7]) == finder
    for hostile in ("javascript:alert(1)", "https://example.org/\ud800", "http://a b", "https://\u202e"):
        assert qr_rows(hostile) == []
    with pytest.raises(UserError, match="300 characters"):
        qr_rows("https://" + "x" * 300)
