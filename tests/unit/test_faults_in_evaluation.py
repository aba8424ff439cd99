"""An evaluation over an endpoint that fails at three calls of ten, in six ways, predicts what it predicts without."""

from __future__ import annotations

import json
from random import Random

import pytest

from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.lab.evaluation.runner import evaluate
from kgdemo.settings import ChatSettings, Settings
from tests.helpers.endpoint import Endpoint, serve
from tests.helpers.small import SmallPipeline
from tests.helpers.two_hops import INVERSE, TRIPLES, Oracle, questions

FAULTS = ("error 429", "error 500", "reset", "breaks off", "nonsense", "hang")
_COST = ("seconds", "lm_calls", "tokens_in", "tokens_out")


def faults(share: float, seed: int = 5):
    """The mode of each call: every fault with the same share of the calls, in an order by chance."""
    drawn = Random(seed)
    modes = [
        FAULTS[int(chance / share)] if (chance := drawn.random()) < share * len(FAULTS) else "" for _ in range(5000)
    ]
    return lambda number: modes[number - 1]


@pytest.fixture
def asked(tmp_path):
    """Fifty questions."""
    file = tmp_path / "questions.jsonl"
    lines = [
        {"id": str(n), "question": q.text, "q_entity": [q.topic], "answer": [q.answer]}
        for n, q in enumerate(questions())
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return file


def pipeline(url: str) -> SmallPipeline:
    """Over the films, with little patience: a silence is over after 0.2 seconds and nothing waits between two tries."""
    made = SmallPipeline(endpoint=url)
    made.chat = ChatSettings("m", url, "key", timeout=0.2, retries=2, patience=0.0, at_once=1)
    made.add_graph("world", KnowledgeGraph.from_triples(TRIPLES, "world", INVERSE), StatedFacts(TRIPLES, INVERSE))
    return made


def predictions(out) -> list[dict]:
    lines = map(json.loads, (out / "predictions.jsonl").read_text("utf-8").splitlines())
    return sorted(({k: v for k, v in line.items() if k not in _COST} for line in lines), key=lambda line: line["id"])


def test_faults_change_what_it_costs_and_nothing_else(asked, tmp_path):
    settings = Settings(method="tog", beams=5, compare=False, explain=0)
    with serve(Endpoint(reply=Oracle().reply)) as endpoint:
        expected = evaluate(pipeline(endpoint.url), asked, settings, tmp_path / "well")
    assert (expected["hits@1"], expected["hit"], expected["failed"]) == (1.0, 1.0, 0)
    # an error that ends in a line end is known to be whole at once; without one the client looks a second for more
    error = b'{"error": {"message": "not now"}}\n'
    with serve(Endpoint(reply=Oracle().reply, faults=faults(0.05), error=error)) as endpoint:
        metrics = evaluate(pipeline(endpoint.url), asked, settings, tmp_path / "ill")
        assert metrics["failed"] > 0
        assert metrics["refused"] == 0.0, "a question that failed is none that was refused"
        for _ in range(3):  # what failed three times in a row is asked again when the evaluation goes on
            metrics = evaluate(pipeline(endpoint.url), asked, settings, tmp_path / "ill")
    assert len(endpoint.prompts) > 1.2 * 50 * expected["lm_calls"]
    assert metrics["failed"] == 0
    assert predictions(tmp_path / "ill") == predictions(tmp_path / "well")
