"""Every method with a chat model over real HTTP: streamed, refused, silent, and talking nonsense."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import pytest

from kgdemo.errors import EndpointError
from kgdemo.events import AnswerDelta, AnswerFinal, Event, LMCall, Notice, PathFound, PathVerified
from kgdemo.methods.registry import METHODS
from kgdemo.models.endpoint import OpenAIChat
from kgdemo.reasoners.chat import ChatReasoner
from kgdemo.settings import ChatSettings, Settings
from tests.helpers.endpoint import Endpoint, serve
from tests.helpers.reasoning import Clerk, of, run, with_fallback

QUESTION = "Where was the director of Inception born?"
EVERY = list(METHODS)
# these decode or retrieve their paths before anybody is asked; the others cannot take a step without being told
PATHS_FIRST = ["gcr", "dog", "text-rag", "graph-rag", "kaping", "bm25", "direct-graph"]
FAILURES = [
    ("error", "failed with status 500"),
    ("nonsense", "no chat completion"),
    ("hang", "0.3 seconds"),
    ("breaks off", "broke off"),
]
WITHOUT_GRAPH = ["direct", "cot", "self-consistency"]
DECIDING = [name for name in EVERY if name not in PATHS_FIRST]


def clerk() -> Clerk:
    """Walks to London, and writes what the methods without a graph need."""
    return Clerk(
        ["Finish[London]", "born in", "directed by"],
        writes={
            "as one chain": "Inception -> directed by -> Steven Spielberg -> born in -> Cincinnati",
            "relation paths": "directed by -> born in; composed by",
            "List the entities": "Inception",
            "what you know": "London; Paris",
            "chain of thought": "Cincinnati",
            "Prepare a walk": "director, born | find the director; find the birthplace | he was born in *placeholder*",
        },
        enough="born in -> London",
    )


def ask(method: str, endpoint: Endpoint, timeout: float = 20.0) -> tuple[list[Event], EndpointError | None]:
    """All events up to the end or to the failure, as the pipeline sees them."""
    events: list[Event] = []
    with closing(OpenAIChat(ChatSettings("m", endpoint.url, "key", timeout, retries=0, at_once=1))) as chat:
        resources, settings = with_fallback(ChatReasoner(chat)), Settings(beams=3, compare=False, explain=0)
        try:
            for event in run(method, QUESTION, ["Inception"], resources, settings):
                events.append(event)
        except EndpointError as error:
            return events, error
    return events, None


def asked(events: Sequence[Event]) -> int:
    """Calls of the chat model that were told."""
    return sum(call.calls for call in of(events, LMCall) if call.by == "m")


@pytest.mark.parametrize("method", EVERY)
def test_a_good_endpoint_is_streamed_and_every_call_is_told_with_its_prompt(method):
    with serve(Endpoint(reply=clerk().reply)) as endpoint:
        events, failure = ask(method, endpoint)
    assert failure is None
    final = events[-1]
    assert isinstance(final, AnswerFinal)
    assert final.answers
    assert asked(events) == len(endpoint.prompts) > 0
    assert {call.prompt for call in of(events, LMCall) if call.by == "m"} == set(endpoint.prompts)
    assert all(call.tokens_in and call.tokens_out for call in of(events, LMCall) if call.by == "m")
    assert all(e.verdict.faithful for e in of(events, PathVerified) if e.constrained)
    if method not in ("direct", "cot", "self-consistency"):
        assert "".join(e.text for e in of(events, AnswerDelta)) == "London [1]"


@pytest.mark.parametrize("method", PATHS_FIRST)
@pytest.mark.parametrize(
    ("mode", "words"),
    FAILURES,
)
def test_grounded_paths_stay_when_the_endpoint_fails(method, mode, words):
    with serve(Endpoint(mode=mode, status=500)) as endpoint:
        events, failure = ask(method, endpoint, timeout=0.3 if mode == "hang" else 10)
    assert failure is None
    assert of(events, PathFound)
    assert all(e.verdict.faithful for e in of(events, PathVerified))
    (notice,) = of(events, Notice)
    assert words in notice.text
    assert isinstance(events[-1], AnswerFinal)
    assert events[-1].refusal
    assert asked(events) == len(endpoint.prompts) == 1, "the call that failed is told as well"


@pytest.mark.parametrize("method", [m for m in DECIDING if m not in WITHOUT_GRAPH])
@pytest.mark.parametrize(
    ("mode", "words"),
    FAILURES,
)
def test_where_the_model_cannot_decide_the_embedded_reasoner_does_and_there_is_no_answer(method, mode, words):
    with serve(Endpoint(mode=mode, status=500)) as endpoint:
        events, failure = ask(method, endpoint, timeout=0.3 if mode == "hang" else 10)
    assert failure is None
    (notice,) = of(events, Notice)
    assert words in notice.text
    assert "the embedded reasoner decides" in notice.text
    assert of(events, PathFound) or method == "rog", "a plan of relation paths is nothing that it can write"
    assert all(e.verdict.faithful for e in of(events, PathVerified))
    assert (events[-1].answers, events[-1].failed) == ((), True)
    assert asked(events) == len(endpoint.prompts) == 1


@pytest.mark.parametrize("method", WITHOUT_GRAPH)
@pytest.mark.parametrize(
    ("mode", "words"),
    FAILURES,
)
def test_what_only_the_model_can_write_is_a_clear_failure(method, mode, words):
    with serve(Endpoint(mode=mode, status=500)) as endpoint:
        events, failure = ask(method, endpoint, timeout=0.3 if mode == "hang" else 10)
    assert words in str(failure)
    assert len(str(failure).splitlines()) == 1
    assert asked(events) == len(endpoint.prompts) == 1


@pytest.mark.parametrize("method", [m for m in DECIDING if m not in WITHOUT_GRAPH])
def test_replies_that_cannot_be_read_are_asked_for_once_more_and_then_replaced(method):
    """Where a choice is asked for, prose is none; plans and thoughts may be any text."""
    with serve(Endpoint(reply=lambda _: "Well, that depends on a great many things.")) as endpoint:
        events, failure = ask(method, endpoint)
    assert failure is None
    assert isinstance(events[-1], AnswerFinal)
    assert not events[-1].failed, "the model was asked to the end"
    replaced = [call for call in of(events, LMCall) if call.calls == 2]
    assert len(replaced) == len(of(events, Notice))
    assert replaced or method == "rog", "it asked for text only, and made of it what the graph holds"
    for call in replaced:
        assert "That cannot be read: " in call.prompt
        before = endpoint.prompts[endpoint.prompts.index(call.prompt) - 1]
        assert call.prompt.startswith(before), "the second prompt holds the first"
    assert asked(events) == len(endpoint.prompts)


@pytest.mark.parametrize("method", ["fidelis", "tog", "explore-cot", "agent-cot"])
def test_what_was_decided_before_the_failure_stays(method):
    with serve(Endpoint(reply=clerk().reply)) as endpoint:
        good, _ = ask(method, endpoint)
        calls = len(endpoint.prompts)
    with serve(Endpoint(reply=clerk().reply, mode="error", status=500, works=calls - 2)) as endpoint:
        events, failure = ask(method, endpoint)
    assert failure is None
    kinds = [type(event) for event in events]
    begun = kinds.index(Notice)
    assert begun > 2
    assert kinds[:begun] == [type(event) for event in good][:begun]
    assert of(events, PathFound)
    assert events[-1].failed
