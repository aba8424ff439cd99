"""Replies of the kinds that chat models give, each with what a person reads in it."""

from __future__ import annotations

import json
from pathlib import Path as File

import pytest

from kgdemo.kg.path import Path
from kgdemo.reasoners.final_answer import read_answer
from kgdemo.reasoners.parsing import UnreadableReplyError, chosen_numbers, ratings, said_lines, yes_or_no
from kgdemo.reasoners.reply import without_thinking

REPLIES = [
    json.loads(line)
    for line in (File(__file__).parents[1] / "data" / "replies.jsonl").read_text("utf-8").split("\n")
    if line
]
PATHS = {
    1: Path(("The Magic Flute", "Wolfgang Amadeus Mozart", "Salzburg"), ("composed by", "born in")),
    2: Path(("The Magic Flute", "Vienna"), ("premiered in",)),
    3: Path(("Austria", "Graz"), ("has city",)),
    4: Path(("Don Giovanni", "Wolfgang Amadeus Mozart", "Salzburg"), ("composed by", "born in")),
    5: Path(("Austria", "Linz"), ("has city",)),
    6: Path(("Wolfgang Amadeus Mozart", "1756"), ("born in year",)),
}
OPTIONS = ("directed by", "born in", "starring", "lived in", "died in")


def read(record: dict) -> object:
    """What our reader makes of a reply; None where it cannot be read."""
    reply = record["reply"]
    try:
        if record["kind"] == "answer":
            return [[name, list(cited)] for name, cited in read_answer(reply, PATHS, record.get("cut", False))]
        if record["kind"] == "choice":
            return [n + 1 for n in chosen_numbers(reply, OPTIONS, record["limit"])]
        if record["kind"] == "verdict":
            return yes_or_no(reply)
        if record["kind"] == "ratings":
            return [round(rating, 3) for rating in ratings(reply, record["options"])]
        return said_lines(reply, record.get("cut", False))[0][0]
    except UnreadableReplyError:
        return None


@pytest.mark.parametrize("record", REPLIES, ids=lambda r: f"{r['kind']}: {r['reply'][:40]!r}")
def test_a_reply_is_read_as_a_person_reads_it(record):
    assert read(record) == record["expected"]


def test_there_are_replies_of_every_kind():
    kinds = [record["kind"] for record in REPLIES]
    assert len(kinds) >= 150
    assert {kind: kinds.count(kind) >= 10 for kind in kinds} == dict.fromkeys(set(kinds), True)


@pytest.mark.parametrize(
    "again", ["\n", "**", "but ", "2\n5\n", "<think>", "probably ", "- [x] ", "答", "[1] ", "| a "]
)
@pytest.mark.parametrize("kind", ["answer", "choice", "verdict", "ratings", "line"])
def test_a_reply_that_says_the_same_over_and_over_is_read_or_refused(kind, again):
    """Small models do; a pattern that looks at each place from each other place would take minutes here."""
    read({"kind": kind, "reply": again * (100_000 // len(again)), "limit": 5, "options": 3})


def test_a_thought_is_left_out_as_far_as_it_goes():
    assert without_thinking("<think>a<think>b</think>c") == "c"
    assert without_thinking("a</think>b<think>c</think>d<think>e") == "bd"
    assert without_thinking("[THINK]a[/THINK]b ◁think▷c◁/think▷d") == "b d"
    assert without_thinking("Vienna <thi", ended=False) == "Vienna "
