"""Every registered method over the API."""

from __future__ import annotations

import pytest

from kgdemo.facts import StatedFacts
from kgdemo.methods import METHODS
from kgdemo.verify import Verifier
from tests.helpers.small import QUESTION, TRIPLES

FREE = {"direct", "cot", "self-consistency"}


@pytest.mark.parametrize("method", METHODS)
def test_it_answers_with_verified_paths_where_it_has_paths(client, method):
    result = client.predict(QUESTION, method=method, beams=3, api_name="/ask")
    assert result["answer"]
    assert result["by"]
    assert result["entities"] == ["Inception"]
    if method != "rog":  # the plans of a random model lead nowhere, which is an answer too
        assert bool(result["paths"]) == (method not in FREE)
    verifier = Verifier(StatedFacts(TRIPLES))
    for path in result["paths"]:
        assert path["verified"]
        assert verifier.verify_text(path["text"])[1].faithful
    assert {index for cited in result["citations"] for index in cited} <= {path["index"] for path in result["paths"]}
