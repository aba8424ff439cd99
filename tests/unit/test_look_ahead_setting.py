"""How far a run looks ahead is a setting: it changes the calls, not what is found, and the trace tells it."""

from __future__ import annotations

import pytest

from kgdemo.errors import UserError
from kgdemo.events import LMCall, PathFound, RunFailed, RunFinished
from kgdemo.settings import LOCAL, Settings, check
from tests.helpers.reasoning import of
from tests.helpers.small import SmallPipeline

QUESTION = "Where was the director of Inception born?"


@pytest.mark.parametrize(
    ("word", "on_gpu", "tokens"),
    [("off", True, None), ("forced", True, 0), ("16", False, 16), ("auto", False, 16), ("auto", True, 48)],
)
def test_words_and_what_they_mean(word, on_gpu, tokens):
    settings = Settings(look_ahead=word)
    assert check("who?", settings, LOCAL) == "who?"
    assert settings.tokens_ahead(on_gpu) == tokens


@pytest.mark.parametrize("word", ["", "-1", "far", "513", "1e2", "²", "٣"])
def test_anything_else_is_refused_in_one_sentence(word):
    with pytest.raises(UserError, match="choose one of auto, off, forced, or a whole number from 0 to 512"):
        check("who?", Settings(look_ahead=word), LOCAL)


def test_runs_differ_in_calls_alone():
    pipeline = SmallPipeline()
    found, calls = {}, {}
    for word in ("off", "forced", "48"):
        events = list(pipeline.run(QUESTION, Settings(beams=3, compare=False, look_ahead=word)))
        assert not of(events, RunFailed)
        (finished,) = of(events, RunFinished)
        assert finished.look_ahead == word
        found[word] = [(path.text, pytest.approx(path.score, abs=1e-4)) for path in of(events, PathFound)]
        calls[word] = sum(call.passes for call in of(events, LMCall))
    assert found["off"] == found["forced"] == found["48"]
    assert found["off"]
    assert calls["off"] > calls["forced"] >= calls["48"]
