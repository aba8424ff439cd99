"""Faults of a chat endpoint: those that pass are tried again, parameters it refuses are left out, the rest is said."""

from __future__ import annotations

from contextlib import closing

import pytest

from kgdemo.errors import EndpointError, UserError
from kgdemo.events import AnswerFinal, Event, LMCall, Notice
from kgdemo.kg.path import Path
from kgdemo.models.chat import Usage, whole_reply
from kgdemo.models.endpoint import OpenAIChat
from kgdemo.reasoners.base import Evidence
from kgdemo.reasoners.chat import ChatReasoner
from kgdemo.settings import ChatSettings, chat_from
from tests.helpers.endpoint import Endpoint, serve

EVIDENCE = [Evidence(1, Path(("Austria", "Vienna"), ("capital",)), "Vienna")]


def settings(endpoint: Endpoint, **chosen) -> ChatSettings:
    return ChatSettings("m", endpoint.url, "key", **{"timeout": 5.0, "patience": 0.0, **chosen})


def reply_of(endpoint: Endpoint, **chosen) -> tuple[str, Usage]:
    usage, text = Usage(), ""
    with closing(OpenAIChat(settings(endpoint, **chosen))) as chat:
        for so_far in whole_reply(chat.stream("hello", usage), usage):
            text = so_far
    return text, usage


def answered(endpoint: Endpoint, **chosen) -> list[Event]:
    with closing(OpenAIChat(settings(endpoint, **chosen))) as chat:
        return list(ChatReasoner(chat).answer("q", EVIDENCE))


@pytest.mark.parametrize("fault", ["error 429", "error 500", "error 503", "reset", "breaks off", "nonsense"])
def test_a_fault_that_passes_is_tried_again_and_counted(fault):
    with serve(Endpoint(faults=lambda number: fault if number < 3 else "")) as endpoint:
        text, usage = reply_of(endpoint)
    assert text == "Vienna [1]"
    assert usage.calls == len(endpoint.prompts) == 3


def test_silence_is_tried_again():
    with serve(Endpoint(faults=lambda number: "hang" if number == 1 else "")) as endpoint:
        text, usage = reply_of(endpoint, timeout=0.3)
    assert (text, usage.calls) == ("Vienna [1]", 2)


def test_it_is_not_tried_for_ever():
    with serve(Endpoint(mode="error", status=503)) as endpoint, pytest.raises(EndpointError, match="status 503"):
        reply_of(endpoint, retries=2)
    assert len(endpoint.prompts) == 3


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_will_not_pass_is_not_tried_again(status):
    with serve(Endpoint(mode="error", status=status)) as endpoint, pytest.raises(EndpointError, match=f"{status}"):
        reply_of(endpoint)
    assert len(endpoint.prompts) == 1


def test_the_endpoint_says_how_long_to_wait(monkeypatch):
    slept: list[float] = []
    monkeypatch.setattr("kgdemo.models.endpoint.time.sleep", slept.append)
    busy = Endpoint(faults=lambda number: "error 429" if number == 1 else "", headers={"Retry-After": "7"})
    with serve(busy) as endpoint:
        reply_of(endpoint, patience=0.001)
    assert sum(slept) == 7.0
    assert max(slept) <= 0.5, "whoever waits can be stopped meanwhile"


def test_it_may_name_a_date_to_wait_until(monkeypatch):
    slept: list[float] = []
    monkeypatch.setattr("kgdemo.models.endpoint.time.sleep", slept.append)
    monkeypatch.setattr("kgdemo.models.endpoint.time.time", lambda: 1_000_000_000.0)
    headers = {"Retry-After": "Sun, 09 Sep 2001 01:46:47 GMT"}  # seven seconds later
    with serve(Endpoint(faults=lambda number: "error 503" if number == 1 else "", headers=headers)) as endpoint:
        reply_of(endpoint, patience=0.001)
    assert sum(slept) == 7.0


def test_pauses_grow_and_are_not_the_same_for_everybody(monkeypatch):
    slept: list[float] = []
    monkeypatch.setattr("kgdemo.models.endpoint.time.sleep", slept.append)
    with serve(Endpoint(faults=lambda number: "error 500" if number < 4 else "")) as endpoint:
        reply_of(endpoint, patience=0.01)  # none is so long that it is slept in pieces
    assert [0.005 * 2**n <= pause <= 0.015 * 2**n for n, pause in enumerate(slept)] == [True] * 3


@pytest.mark.parametrize("name", ["temperature", "stream", "stream_options", "max_tokens", "response_format"])
def test_a_refused_parameter_is_left_out_and_remembered(name):
    with serve(Endpoint(refuses=(name,))) as endpoint, closing(OpenAIChat(settings(endpoint))) as chat:
        for _ in range(2):
            assert "".join(chat.stream("hello", Usage(), schema={"type": "object"})) == "Vienna [1]"
    assert [name in body for body in endpoint.bodies] == [True, False, False]
    assert name != "max_tokens" or "max_completion_tokens" in endpoint.bodies[-1], "there is a limit all the same"


def test_a_whole_completion_is_read_where_a_stream_was_asked_for():
    with serve(Endpoint(mode="whole")) as endpoint:
        text, usage = reply_of(endpoint)
    assert (text, usage.tokens_in, usage.tokens_out, usage.finish) == ("Vienna [1]", 11, 7, "stop")


@pytest.mark.parametrize("mode", ["stream", "whole"])
@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "Vienna [1]", "reasoning_content": "Graz [2]?"}, "Vienna [1]"),
        ({"content": None, "reasoning_content": "Graz [2]?"}, ""),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"text": "Graz?"}]},
                    {"type": "text", "text": "Vienna [1]"},
                ]
            },
            "Vienna [1]",
        ),
        ({"content": None, "refusal": "I can't help with that."}, "I can't help with that."),
        (
            {"content": "", "tool_calls": [{"function": {"name": "a", "arguments": '{"answer": "Vienna"}'}}]},
            '{"answer": "Vienna"}',
        ),
        ({"content": None, "tool_calls": [{"function": None}, 3]}, ""),
    ],
)
def test_a_reply_is_found_where_servers_put_it(message, text, mode):
    with serve(Endpoint(mode=mode, message=message)) as endpoint:
        assert reply_of(endpoint)[0] == text


@pytest.mark.parametrize("mode", ["keeps alive", "slow headers", "endless"])
def test_a_call_ends_whatever_drips_in(mode):
    with serve(Endpoint(mode=mode)) as endpoint, pytest.raises(EndpointError, match="seconds"):
        reply_of(endpoint, timeout=1.0, longest=0.5, retries=0)


@pytest.mark.parametrize("mode", ["stream", "whole"])
def test_a_reply_of_megabytes_is_not_taken(mode):
    with serve(Endpoint(mode=mode, replies=["Vienna " * 1_500_000])) as endpoint:
        with pytest.raises(EndpointError, match="wrote far too much; choose another model"):
            reply_of(endpoint, timeout=60.0, longest=120.0, retries=2)
        assert len(endpoint.bodies) == 1, "asked again it would write as much"


def test_every_call_has_a_limit_of_tokens_and_a_cut_reply_is_said():
    with serve(Endpoint(mode="cut", replies=["Vienna [1]\nGra"])) as endpoint:
        events = answered(endpoint, reply_tokens=9)
    assert endpoint.bodies[0]["max_tokens"] == 9
    (notice,) = [e for e in events if isinstance(e, Notice)]
    assert "was cut" in notice.text
    assert events[-1].answers == ("Vienna",), "half a name is none"


def test_an_answer_that_broke_off_is_asked_for_again():
    with serve(Endpoint(faults=lambda number: "breaks off" if number == 1 else "")) as endpoint:
        events = answered(endpoint)
    final = events[-1]
    assert isinstance(final, AnswerFinal)
    assert (final.text, final.answers, final.failed) == ("Vienna [1]", ("Vienna",), False)
    assert [e.calls for e in events if isinstance(e, LMCall)] == [2]


def test_who_stops_reading_shuts_the_connection():
    with serve(Endpoint(mode="endless")) as endpoint, closing(OpenAIChat(settings(endpoint))) as chat:
        pieces = chat.stream("hello", Usage())
        assert next(pieces) == "Vienna "
        pieces.close()
        endpoint.mode = "stream"
        assert "".join(chat.stream("hello", Usage())) == "Vienna [1]"


OPTIONS = ["born in", "lives in", "directed by"]


def test_decisions_keep_to_a_schema_where_the_endpoint_offers_it():
    replies = ['{"numbers": [3, 1]}', '{"ratings": [1, 9, 0]}', '{"answer": "yes"}']
    replies.append('{"steps": [{"thought": "Who made it?", "action": 3, "node": ""}]}')
    with serve(Endpoint(replies=replies)) as endpoint, closing(OpenAIChat(settings(endpoint))) as chat:
        reasoner = ChatReasoner(chat)
        assert reasoner.select("q", "", OPTIONS, 2).chosen == (2, 0)
        assert reasoner.score("q", "", OPTIONS).scores == (0.1, 0.9, 0.0)
        assert reasoner.verify("q", "s", ["p"]).holds
        made = reasoner.propose("q", "", [], OPTIONS, 2)
        assert (made.chosen, made.thoughts) == ((2,), ("Who made it?",))
        reasoner.thought("q", "", [])
    formats = [body.get("response_format", {}).get("type") for body in endpoint.bodies]
    assert formats == ["json_schema"] * 4 + [None], "a thought is free text"


def test_an_endpoint_without_schemas_is_asked_for_one_only_once():
    plain = Endpoint(replies=["2"], refuses=("response_format",))
    with serve(plain) as endpoint, closing(OpenAIChat(settings(endpoint))) as chat:
        assert [ChatReasoner(chat).select("q", "", OPTIONS, 1).chosen for _ in range(3)] == [(1,)] * 3
    assert ["response_format" in body for body in endpoint.bodies] == [True, False, False, False]


def test_one_that_takes_a_schema_and_does_not_keep_to_it_is_asked_in_words():
    replies = ["it depends", "2", "3"]
    with serve(Endpoint(replies=replies)) as endpoint, closing(OpenAIChat(settings(endpoint))) as chat:
        assert [ChatReasoner(chat).select("q", "", OPTIONS, 1).chosen for _ in range(2)] == [(1,), (2,)]
    assert ["response_format" in body for body in endpoint.bodies] == [True, False, False]


def test_a_reply_that_was_cut_says_nothing_of_schemas():
    replies = ['{"numbers": [', "2", '{"numbers": [3]}']
    cut = Endpoint(replies=replies, faults=lambda number: "cut" if number == 1 else "")
    with serve(cut) as endpoint, closing(OpenAIChat(settings(endpoint))) as chat:
        assert [ChatReasoner(chat).select("q", "", OPTIONS, 1).chosen for _ in range(2)] == [(1,), (2,)]
    assert ["response_format" in body for body in endpoint.bodies] == [True, False, True]


def test_limits_come_from_the_environment():
    named = {
        "OPENAI_BASE_URL": "http://x/v1",
        "KGDEMO_CHAT_LIMITS": "calls=40, seconds=1.5,reply_tokens=200, money=0.5",
    }
    chosen = chat_from(named)
    assert (chosen.calls, chosen.seconds, chosen.reply_tokens, chosen.money) == (40, 1.5, 200, 0.5)
    for wrong in ("calls=many", "calls=-1", "gold=3", "calls"):
        with pytest.raises(UserError):
            chat_from({**named, "KGDEMO_CHAT_LIMITS": wrong})
