"""Many visitors at once, limits on a public server, share links, and what is said while things load."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import pytest
from gradio_client import Client

from kgdemo.errors import UserError
from kgdemo.settings import LOCAL, PUBLIC, check_host, profile_from
from kgdemo.ui.asking import filled
from kgdemo.ui.guard import WINDOW, Visits
from kgdemo.ui.metrics import Loading
from kgdemo.ui.page import launch_arguments

QUESTIONS = (
    "Where was the director of Inception born?",
    "Who directed Dunkirk?",
    "Where is London?",
    "Who is the sibling of Christopher Nolan?",
)


def asked(client: Client, question: str) -> tuple:
    """What matters of an answer; seconds differ."""
    result = client.predict(question, api_name="/ask", beams=3)
    return result["answer"], result["entities"], [path["text"] for path in result["paths"]]


def test_twenty_visitors_at_once_each_get_their_own_answer(address, client):
    alone = {question: asked(client, question) for question in QUESTIONS}
    assert len({tuple(entities) for _, entities, _ in alone.values()}) == len(QUESTIONS)
    together = threading.Barrier(20)

    def visit(number: int) -> tuple[str, tuple]:
        visitor = Client(address, verbose=False)
        question = QUESTIONS[number % len(QUESTIONS)]
        together.wait()
        got = asked(visitor, question)
        visitor.close()
        return question, got

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(visit, range(20)))
    assert len(answers) == 20
    for question, got in answers:
        assert got == alone[question]


def test_an_address_may_ask_so_often_and_again_after_a_while():
    now = [100.0]
    visits = Visits(PUBLIC.questions_a_minute, clock=lambda: now[0])
    for _ in range(PUBLIC.questions_a_minute):
        visits.count("one")
    with pytest.raises(UserError, match=r"questions a minute from one address; ask again in \d+ s\."):
        visits.count("one")
    visits.count("another")
    now[0] += WINDOW
    visits.count("one")


def test_at_home_nobody_counts():
    visits = Visits(LOCAL.questions_a_minute)
    for _ in range(1000):
        visits.count("one")


def test_a_link_fills_what_the_server_allows():
    link = {
        "question": " Who?\n ",
        "graph": "chemistry",
        "method": "dog",
        "beams": "7",
        "hops": "3",
        "compare": "false",
    }
    expected = {**link, "question": "Who?", "beams": 7, "hops": 3, "compare": False}
    assert filled(link, PUBLIC) == expected


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("graph", "/etc/passwd"),
        ("model", "someone/model"),
        ("method", "nonsense"),
        ("beams", "11"),
        ("beams", "0"),
        ("beams", "-3"),
        ("beams", "9" * 5000),
        ("hops", "x"),
        ("compare", "maybe"),
        ("ranking", "best"),
        ("question", "  "),
        ("unknown", "1"),
    ],
)
def test_a_link_to_a_public_server_fills_nothing_else(name, written):
    assert filled({name: written}, PUBLIC) == {}


def test_a_long_question_in_a_link_is_cut_to_the_limit():
    assert len(filled({"question": "x" * 10_000}, PUBLIC)["question"]) == PUBLIC.question


def test_the_open_profile_is_served_to_other_machines_only_by_name():
    check_host("127.0.0.1", {})
    check_host("0.0.0.0", {"KGDEMO_PROFILE": "local"})
    check_host("0.0.0.0", {"SPACE_ID": "owner/space"})
    for host in ("0.0.0.0", "::", "192.168.0.2", "some.host"):
        with pytest.raises(UserError, match="KGDEMO_PROFILE"):
            check_host(host, {})


def test_an_operator_names_the_proxy_and_how_often_may_be_asked():
    named = {"KGDEMO_PROFILE": "public", "KGDEMO_PROXY_HEADER": "X-Real-IP", "KGDEMO_QUESTIONS_A_MINUTE": "7"}
    profile = profile_from(named)
    assert (profile.proxy_header, profile.questions_a_minute) == ("X-Real-IP", 7)
    with pytest.raises(UserError, match="whole number"):
        profile_from({"KGDEMO_QUESTIONS_A_MINUTE": "often"})


def test_loading_says_the_stage_and_ends():
    reached, go_on = threading.Event(), threading.Event()

    def second() -> None:
        reached.set()
        assert go_on.wait(60)

    loading = Loading((("graph", lambda: None), ("model", second)))
    assert loading.state() == {"done": 0, "stages": 2, "stage": "graph", "failed": ""}
    thread = loading.start()
    assert reached.wait(60)
    assert loading.state() == {"done": 1, "stages": 2, "stage": "model", "failed": ""}
    go_on.set()
    thread.join(60)
    assert loading.state() == {"done": 2, "stages": 2, "stage": "", "failed": ""}


def test_loading_that_fails_says_why():
    def broken() -> None:
        raise UserError("There is no model; choose another.")

    loading = Loading((("graph", broken), ("model", lambda: None)))
    loading.start().join(60)
    assert loading.state() == {"done": 0, "stages": 2, "stage": "", "failed": "There is no model; choose another."}


def test_loading_begins_when_a_page_asks():
    begun = threading.Event()
    loading = Loading((("graph", begun.set),))
    thread = loading.start(within=3600.0)
    assert not begun.is_set()
    assert loading.state()["stages"] == 1
    thread.join()
    assert begun.is_set()
    assert loading.state()["done"] == 1


def test_of_many_tabs_the_last_hundred_are_held_in_memory():
    given = launch_arguments(Mock(profile=PUBLIC), threading.Event())
    assert given["state_session_capacity"] == 100
