"""The general language model, over real HTTP: streamed, refused, silent and talking nonsense."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdemo.errors import EndpointError
from kgdemo.events import AnswerDelta, AnswerFinal, LMCall, Notice
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.models.chat import Usage
from kgdemo.models.endpoint import OpenAIChat
from kgdemo.query.form import understand
from kgdemo.reasoners.base import Evidence
from kgdemo.reasoners.chat import ChatReasoner
from kgdemo.reasoners.final_answer import read_answer
from kgdemo.reasoners.parsing import UnreadableReplyError, chosen_numbers, ratings
from kgdemo.settings import ChatSettings, chat_from
from tests.helpers.endpoint import Endpoint, serve

EVIDENCE = [
    Evidence(1, Path(("Austria", "Vienna"), ("capital",)), "Vienna"),
    Evidence(2, Path(("Austria", "Graz"), ("located in",)), "Graz"),
]


def reasoner(endpoint: Endpoint, timeout: float = 10.0) -> ChatReasoner:
    return ChatReasoner(OpenAIChat(ChatSettings("m", endpoint.url, "key", timeout, retries=0)))


def test_all_paths_go_in_one_call_and_the_answer_is_streamed_and_cited():
    with serve(Endpoint(replies=["Vienna [1]\nGraz [2, 9]\n"])) as endpoint:
        events = list(reasoner(endpoint).answer("Capital of Austria?", EVIDENCE))
    assert len(endpoint.prompts) == 1
    assert "[1] Austria -> capital -> Vienna" in endpoint.prompts[0]
    assert "[2] Austria -> located in -> Graz" in endpoint.prompts[0]
    assert "".join(e.text for e in events if isinstance(e, AnswerDelta)) == "Vienna [1]\nGraz [2, 9]\n"
    (call,) = [e for e in events if isinstance(e, LMCall)]
    assert (call.tokens_in, call.tokens_out) == (11, 7)
    final = events[-1]
    assert isinstance(final, AnswerFinal)
    assert final.answers == ("Vienna", "Graz")
    assert final.citations == ((1,), (2,)), "a citation of a path that does not exist is dropped"


def test_no_answer_is_a_refusal():
    with serve(Endpoint(replies=["NO ANSWER"])) as endpoint:
        final = list(reasoner(endpoint).answer("q", EVIDENCE))[-1]
    assert isinstance(final, AnswerFinal)
    assert final.answers == ()
    assert final.refusal


def test_thinking_is_not_shown_and_is_no_answer():
    with serve(Endpoint(replies=["<think>\nGraz [2]?\nNo.\n</think>\nVienna [1]\n"])) as endpoint:
        events = list(reasoner(endpoint).answer("q", EVIDENCE))
    assert "".join(e.text for e in events if isinstance(e, AnswerDelta)).strip() == "Vienna [1]"
    assert events[-1].text == "Vienna [1]"
    assert (events[-1].answers, events[-1].citations) == (("Vienna",), ((1,),))


@pytest.mark.parametrize(("mode", "words"), [("error", "status 401"), ("nonsense", "no chat completion")])
def test_a_bad_endpoint_is_named_and_the_run_goes_on(mode, words):
    with serve(Endpoint(mode=mode)) as endpoint:
        events = list(reasoner(endpoint).answer("q", EVIDENCE))
    call, notice, _ = events
    assert isinstance(call, LMCall), "asked in vain, but asked"
    assert isinstance(notice, Notice)
    assert words in notice.text
    assert isinstance(events[-1], AnswerFinal)
    assert events[-1].refusal


def test_a_silent_endpoint_times_out_with_a_clear_message():
    with serve(Endpoint(mode="hang")) as endpoint:
        chat = OpenAIChat(ChatSettings("m", endpoint.url, "key", 0.2, retries=0))
        with pytest.raises(EndpointError, match=r"did not answer within 0\.2 seconds"):
            list(chat.stream("hello", Usage()))


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("breaks off", "broke off in the middle"),
        ("stalls", "did not answer within 2 seconds"),
        ("endless", "was still writing after 3 seconds"),
    ],
)
def test_a_reply_that_begins_well_may_still_fail(mode, words):
    with serve(Endpoint(mode=mode)) as endpoint:
        chat = OpenAIChat(ChatSettings("m", endpoint.url, "key", timeout=2.0, longest=3.0, retries=0))
        events = list(ChatReasoner(chat).answer("q", EVIDENCE))
    assert isinstance(events[0], AnswerDelta), "what came is shown"
    (notice,) = [e for e in events if isinstance(e, Notice)]
    assert words in notice.text
    assert isinstance(events[-1], AnswerFinal)
    assert events[-1].refusal


@pytest.mark.parametrize(
    ("status", "words"), [(401, "OPENAI_API_KEY"), (404, "KGDEMO_CHAT_MODEL"), (429, "wait a little"), (503, "later")]
)
def test_a_refused_call_says_what_to_do(status, words):
    with serve(Endpoint(mode="error", status=status)) as endpoint:
        chat = OpenAIChat(ChatSettings("m", endpoint.url, "key", 5.0, retries=0))
        with pytest.raises(EndpointError, match=f"status {status}.*{words}"):
            list(chat.stream("hello", Usage()))


def test_a_dead_endpoint_is_named():
    chat = OpenAIChat(ChatSettings("m", "http://127.0.0.1:9/v1", "key", 2.0))
    with pytest.raises(EndpointError, match=r"cannot be reached at http://127\.0\.0\.1:9/v1"):
        list(chat.stream("hello", Usage()))


def test_the_environment_configures_the_endpoint():
    assert chat_from({}).model == ""
    settings = chat_from({"OPENAI_BASE_URL": "http://x/v1", "KGDEMO_CHAT_MODEL": "llama"})
    assert (settings.model, settings.base_url) == ("llama", "http://x/v1")


def test_decisions_are_asked_and_parsed():
    replies = ["2, 1", "1: 3\n2: 9", "Yes.", "capital, Austria", "Look further.\n"]
    with serve(Endpoint(replies=replies)) as endpoint:
        chat = reasoner(endpoint)
        assert chat.select("q", "", ["a", "b", "c"], 2).chosen == (1, 0)
        assert chat.score("q", "", ["a", "b"]).scores == (0.3, 0.9)
        assert chat.verify("q", "s", ["p"]).holds
        assert (
            chat.plan(understand("q", [], KnowledgeGraph.from_triples([("a", "r", "b")])), "").text
            == "capital, Austria"
        )
        thought = chat.thought("q", "", ["so far"])
    assert thought.text == "Look further."
    assert thought.call is not None
    assert len(endpoint.prompts) == 5


def test_an_unreadable_reply_is_asked_once_more_with_the_complaint():
    with serve(Endpoint(replies=["it depends", "1"])) as endpoint:
        decision = reasoner(endpoint).select("q", "", ["a", "b"], 1)
    assert decision.chosen == (0,)
    assert "does not give numbers between 1 and 2" in endpoint.prompts[1]
    assert decision.call is not None
    assert (decision.call.calls, decision.call.tokens_in) == (2, 22), "both calls are counted"


def test_two_unreadable_replies_are_a_clear_failure():
    with serve(Endpoint(replies=["7", "maybe"])) as endpoint, pytest.raises(EndpointError, match="replied twice"):
        reasoner(endpoint).select("q", "", ["a", "b"], 1)


@given(
    numbers=st.lists(st.integers(1, 30), min_size=1, unique=True),
    comma=st.sampled_from([", ", ",", "; ", " ", "\n", " and "]),
    before=st.sampled_from(["", "[", "Numbers: ", "I choose "]),
    after=st.sampled_from(["", ".", "]", "\n\nThese fit."]),
)
def test_any_list_is_read_as_it_was_written(numbers, comma, before, after):
    reply = before + comma.join(map(str, numbers)) + after
    assert chosen_numbers(reply, 30, 30) == tuple(n - 1 for n in numbers)


def test_a_number_longer_than_python_reads_is_no_option():
    number = "9" * 5000
    assert read_answer(f"London [{number}, 1]", {1: EVIDENCE[0].path}) == (("London", (1,)),)
    for reply in (number, f"{number}. London"):
        with pytest.raises(UnreadableReplyError, match="not the number of an option"):
            chosen_numbers(reply, 3, 3)
    with pytest.raises(UnreadableReplyError, match="option 1 is missing"):
        ratings(f"{number}: 5", 1)
