"""Every method as ``ask --method`` runs it: where nothing was set up, and with an endpoint."""

from __future__ import annotations

import pytest

from kgdemo.cli import main
from kgdemo.events import (
    AnswerFinal,
    CandidatesScored,
    LMCall,
    PathFound,
    PathVerified,
    RunFinished,
    Thought,
    from_json,
)
from kgdemo.facts import StatedFacts
from kgdemo.methods import METHODS
from kgdemo.verify import Verifier
from tests.helpers.endpoint import Endpoint, serve
from tests.helpers.reasoning import FILMS, Clerk, of

QUESTION = "Where was the director of Inception born?"
NAMES = (
    "gcr dog fidelis agent-cot agent-tot agent-got explore-cot explore-tot explore-got "
    "direct cot self-consistency text-rag graph-rag kaping bm25 direct-graph rog tog graph-cot"
).split()
FREE = {"direct", "cot", "self-consistency"}


@pytest.fixture(scope="module")
def films(tmp_path_factory) -> str:
    """A file of triples."""
    file = tmp_path_factory.mktemp("films") / "films.tsv"
    file.write_text("".join("\t".join(triple) + "\n" for triple in FILMS), "utf-8")
    return str(file)


@pytest.fixture(autouse=True)
def no_chat_model(monkeypatch):
    """No general language model, whatever this machine has."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "KGDEMO_CHAT_MODEL", "KGDEMO_CHAT_LOCAL"):
        monkeypatch.delenv(name, raising=False)


def test_the_methods_are_those_of_the_papers():
    assert set(METHODS) == set(NAMES)


@pytest.mark.parametrize("method", NAMES)
def test_it_ends_in_an_answer_and_every_path_of_the_graph_is_verified(method, films, capsys):
    assert main(["ask", QUESTION, "--kg", films, "--method", method, "--json"]) == 0
    events = [from_json(line) for line in capsys.readouterr().out.splitlines()]
    (final,) = of(events, AnswerFinal)
    assert isinstance(events[-1], RunFinished)
    if method == "rog" and final.refusal:  # its plans are made without the graph, and may name what it lacks
        assert all(thought.fate == "pruned" and thought.reason for thought in of(events, Thought))
        return
    assert final.answers
    assert not final.refusal
    found = {e.index: e.path for e in of(events, PathFound) if e.constrained}
    assert bool(found) == (method not in FREE)
    own = Verifier(StatedFacts(FILMS))  # not the run's: its verdicts are looked at, not believed
    assert all(own.verify(path).faithful for path in found.values())
    assert {e.index: e.verdict.faithful for e in of(events, PathVerified) if e.constrained} == dict.fromkeys(
        found, True
    )
    assert {index for cited in final.citations for index in cited} <= set(found)
    assert events[-1].lm_calls == sum(call.calls for call in of(events, LMCall))
    assert all(call.prompt and call.tokens_in + call.tokens_out for call in of(events, LMCall))
    assert of(events, LMCall) or of(events, CandidatesScored), "something was decided, and is told"


def test_the_answer_reads_well_on_a_terminal(films, capsys):
    assert main(["ask", QUESTION, "--kg", films, "--method", "fidelis"]) == 0
    told = capsys.readouterr().out
    assert "entities: Inception" in told
    assert "Inception -> directed by -> Christopher Nolan -> born in -> London" in told
    assert "answer: London" in told


@pytest.mark.parametrize("method", ["gcr", "tog"])
def test_an_endpoint_named_in_the_environment_decides_and_answers(method, films, capsys, monkeypatch):
    clerk = Clerk(["born in", "directed by"], enough="born in -> London")
    with serve(Endpoint(reply=clerk.reply)) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("KGDEMO_CHAT_MODEL", "m")
        assert main(["ask", QUESTION, "--kg", films, "--method", method]) == 0
        assert endpoint.prompts
    assert "(by m)" in capsys.readouterr().out


def test_an_endpoint_that_fails_costs_the_answer_or_the_run_but_never_a_traceback(films, capsys, monkeypatch):
    with serve(Endpoint(mode="error", status=503)) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("KGDEMO_CHAT_LIMITS", "retries=0")
        for method in ("gcr", "tog"):
            assert main(["ask", QUESTION, "--kg", films, "--method", method]) == 0, "the paths are an answer of a kind"
            told = capsys.readouterr()
            assert "Inception -> directed by" in told.out
            assert "failed with status 503" in told.out
        assert main(["ask", QUESTION, "--kg", films, "--method", "direct"]) == 2
        (complaint,) = capsys.readouterr().err.strip().splitlines()
        assert "failed with status 503" in complaint
