"""The gallery of failures: recorded runs that do fail, and a broken decoder that is caught."""

from __future__ import annotations

import json

import pytest

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.errors import UserError
from kgdemo.lab import recording as broken
from kgdemo.lab.recording import FAILURES, Failure, answers_anyway, lets_through, misses, record_failure
from kgdemo.methods import METHODS
from kgdemo.settings import Settings
from kgdemo.ui import assets
from tests.helpers.small import QUESTION


def recorded(name: str) -> list[dict]:
    file = assets.FAILED / f"{name}.jsonl"
    return [json.loads(line) for line in file.read_text("utf-8").split("\n") if line]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda f: f.name)
def test_each_recorded_failure_fails_as_its_text_says(failure: Failure):
    run = recorded(failure.name)
    assert run[-1]["event"] == "RunFinished"
    assert failure.fails(run)
    assert lets_through(run) == failure.fails_open
    assert failure.name in assets.text()["gallery"]["cases"]
    notices = [r["text"] for r in run if r["event"] == "Notice"]
    assert (broken.WARNING in notices) == failure.fails_open


def written(constraint, tokens):
    """The state after these tokens; None where the constraint forbids one of them."""
    state = constraint.start()
    for token in tokens:
        following = constraint.successors(state)
        if following.tokens is None:
            state = following.take(token)
        elif token in following.tokens:
            state = following.take(following.tokens.tolist().index(token))
        else:
            return None
    return state


@pytest.mark.parametrize(
    ("text", "sound", "faithful"),
    [
        ("Inception -> directed by -> Christopher Nolan", True, True),
        ("Inception -> directed by -> Christopher Nolan -> born in -> Mars", False, False),
        ("Inception -> directed by -> Steven Spielberg", False, False),
    ],
)
def test_the_broken_decoder_lets_through_what_the_sound_one_does_not(pipeline, text, sound, faithful):
    resources = pipeline.resources(Settings(graph="world", model="embedded"))
    label_tokens = resources.model.label_tokens
    automaton = KGAutomaton(resources.token_graph, [resources.kg.entities.find("Inception")], hops=1)
    tokens = [*label_tokens.plain(f" {text}"), *label_tokens.end]
    right, wrong = written(automaton, tokens), written(broken.FailsOpen(automaton, tuple(label_tokens.end)), tokens)
    assert (right is not None and right.complete) == sound
    assert (wrong is not None and wrong.complete) == ("Nolan" in text)  # within its index it still holds
    assert resources.verifier.verify_text(text)[1].faithful == faithful


def test_a_failure_that_no_longer_fails_is_refused_and_the_broken_method_is_gone(pipeline):
    with pytest.raises(UserError, match="does not fail any more"):
        record_failure(pipeline, Failure("x", (QUESTION,), lets_through, hops=1), Settings())
    assert broken.NAME not in METHODS


def test_a_fact_left_out_is_gone_from_the_copy_only(pipeline):
    fact = ("Christopher Nolan", "born in", "London")
    failure = Failure("x", (QUESTION,), misses("London"), without=fact)
    run = record_failure(pipeline, failure, Settings(graph="world", model="embedded"))
    assert "one fact left out" in run[0]["graph"]
    assert all(" -> born in -> London" not in r["text"] for r in run if r["event"] == "PathFound" and r["constrained"])
    assert pipeline.graph("world").has_triple(*fact)
    with pytest.raises(UserError, match="does not hold"):
        record_failure(pipeline, Failure("x", (QUESTION,), answers_anyway, without=("a", "b", "c")), Settings())
