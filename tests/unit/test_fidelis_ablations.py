"""FiDeLiS without each of its components (tables 2 and 5), and with small models in its place (appendix B)."""

from __future__ import annotations

import pytest
import torch

from kgdemo.events import CandidatesScored, DeductionChecked, LMCall, PathFound, Thought
from kgdemo.methods.fidelis import FidelisOptions
from tests.helpers.fidelis import (
    QUESTION,
    STATEMENT,
    all_candidates_are_in_the_graph,
    all_steps_are_in_the_graph,
    ask,
    clerk,
    deducing,
    found,
)
from tests.helpers.oracles import spelled
from tests.helpers.reasoning import clerk_world, film_world, of
from tests.unit.test_decoding import plain_score


def test_without_beam_search_one_path_is_kept():
    events = ask(clerk_world(deducing()), FidelisOptions(beam_search=False))
    depth_of = [len(t.triples) for t in of(events, Thought) if t.fate == "kept" and t.triples]
    assert depth_of == [1, 2]


def test_without_the_verifier_nothing_is_checked_and_the_search_goes_to_its_depth():
    model = deducing()
    events = ask(clerk_world(model), FidelisOptions(verifier=False, width=2), hops=3)
    assert not of(events, DeductionChecked)
    assert {len(e.path.relations) for e in of(events, PathFound)} == {3}


def test_without_the_last_step_the_ends_are_the_answer():
    model = deducing()
    events = ask(clerk_world(model), FidelisOptions(last_step=False))
    assert events[-1].answers == ("London",)
    assert events[-1].citations[0][0] == 1
    assert not any(call.purpose == "answer" for call in of(events, LMCall))


def test_adequacy_asks_for_enough_instead_of_the_statement():
    model = clerk(enough="born in")
    events = ask(clerk_world(model), FidelisOptions(adequacy=True, width=1))
    assert not any(f"Statement: {STATEMENT}" in p for p in model.prompts)
    assert found(events) == ["Inception -> directed by -> Christopher Nolan -> born in -> London"]


@pytest.mark.parametrize("decisions", ["embeddings", "path-model"])
def test_small_models_can_take_the_beam_decisions(decisions):
    """Appendix B: no selection by the language model; it plans and answers."""
    model = deducing()
    events = ask(clerk_world(model), FidelisOptions(decisions=decisions))
    asked = {call.purpose for call in of(events, LMCall) if call.by == "clerk"}
    assert "select" not in asked
    assert {"plan", "answer"} <= asked
    assert found(events)


@pytest.mark.parametrize("retriever", ["vanilla", "tog"])
def test_other_retrievers_can_stand_in_for_path_rag(retriever):
    resources = clerk_world(deducing())
    events = ask(resources, FidelisOptions(retriever=retriever))
    all_steps_are_in_the_graph(events, resources)
    all_candidates_are_in_the_graph(events, resources)
    assert "Inception -> directed by -> Christopher Nolan -> born in -> London" in found(events)
    assert not any(e.decision == "Path-RAG" for e in of(events, CandidatesScored))


def test_the_path_model_scores_paths_as_it_would_write_them():
    resources = film_world()
    model, label_tokens = resources.model, resources.model.label_tokens
    events = ask(resources, FidelisOptions(width=10), beams=30, hops=2, ranking="path", explain=0)
    prompt = model.style.encode(label_tokens, QUESTION, ["Inception"])
    paths = of(events, PathFound)
    assert {len(e.path.relations) for e in paths} == {1, 2}
    for path in paths[:8]:
        labels = [path.path.entities[0], *(x for _, r, t in path.path.hops for x in (r, t))]
        ids = torch.tensor([[*prompt, *spelled(label_tokens, labels)]])
        assert path.score == pytest.approx(plain_score(model, ids, len(prompt)), abs=1e-3)
