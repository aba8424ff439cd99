"""Decisions that do not depend on each other reach one endpoint at once, as many as are allowed; so do questions."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from kgdemo.methods import METHODS
from kgdemo.methods.thought_chains import GroundingOptions
from kgdemo.models.endpoint import OpenAIChat
from kgdemo.reasoners.base import EmbeddedReasoner
from kgdemo.reasoners.chat import ChatReasoner, FallbackReasoner
from kgdemo.settings import ChatSettings, Settings
from tests.helpers.endpoint import Endpoint, serve
from tests.helpers.reasoning import Clerk, SpellingEmbedder, ask, film_world

QUESTION = "Where was the director of Inception born?"
PATIENCE = 30  # seconds until a test fails whose calls wait for each other


class Together:
    """Replies by a rule; the first calls whose prompts match a pattern are held back until so many are under way.

    Attributes:
        most: how many calls were under way at once.
        met: how many were held back and then let go, because enough had come.
    """

    def __init__(self, rule: Callable[[str], str], pattern: str, calls: int) -> None:
        self.rule, self.pattern, self.calls = rule, pattern, calls
        self.most = self.met = 0
        self._barrier, self._lock, self._under_way, self._held = threading.Barrier(calls), threading.Lock(), 0, 0

    def __call__(self, prompt: str) -> str:
        with self._lock:
            self._under_way += 1
            self.most = max(self.most, self._under_way)
            held = self._held < self.calls and re.search(self.pattern, prompt, re.DOTALL) is not None
            self._held += held
        if held:
            self._barrier.wait(PATIENCE)
        with self._lock:
            self.met += held
            self._under_way -= 1
        return self.rule(prompt)


def limits(endpoint: Endpoint, at_once: int) -> ChatSettings:
    return ChatSettings("m", endpoint.url, "none", 2 * PATIENCE, 4 * PATIENCE, retries=0, at_once=at_once)


def served(chat: OpenAIChat) -> FallbackReasoner:
    return FallbackReasoner(ChatReasoner(chat), EmbeddedReasoner(SpellingEmbedder()))


def clerk() -> Callable[[str], str]:
    chain = "Inception -> directed by -> Christopher Nolan -> born in -> London"
    return Clerk(["directed by", "born in"], {"as one chain": chain}).reply


@pytest.mark.parametrize(
    ("method", "pattern", "options"),
    [
        ("self-consistency", "as one chain", None),  # samples
        ("fidelis", "Does it follow", None),  # steps, and statements
        ("agent-tot", "The neighbours are.*Next steps:", None),  # states of the tree
        ("explore-tot", "Numbers:", None),  # searches of several thoughts
        ("agent-got", "Chain 2:.*Reply:", GroundingOptions(branches=4)),  # two thoughts out of two each
    ],
)
def test_decisions_of_one_run_go_out_at_once_but_no_more_than_are_allowed(method, pattern, options):
    together = Together(clerk(), pattern, calls=2)
    with serve(Endpoint(reply=together)) as endpoint, closing(OpenAIChat(limits(endpoint, at_once=2))) as chat:
        events = ask(method, QUESTION, ["Inception"], film_world(served(chat)), options, beams=4)
    assert together.met == 2, "both came while neither had an answer"
    assert together.most == 2
    assert not events[-1].failed


@pytest.mark.parametrize("method", ["direct", "agent-cot"])
def test_two_questions_are_asked_of_one_endpoint_at_once(method):
    together = Together(clerk(), "Question", calls=2)
    settings = Settings(method=method, beams=4)
    with serve(Endpoint(reply=together)) as endpoint, closing(OpenAIChat(limits(endpoint, at_once=1))) as chat:

        def asked(question: str) -> object:
            return ask(METHODS[method].name, question, ["Inception"], film_world(served(chat)), beams=settings.beams)[
                -1
            ]

        with ThreadPoolExecutor(2) as visitors:
            one, other = visitors.map(asked, [QUESTION, "Who directed Inception?"])
    assert together.most == 2, "each run waits for its own replies only"
    assert not one.failed
    assert not other.failed
