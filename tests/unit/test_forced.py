"""A path's beginning forced by a visitor: what is found begins so, verifies, and is the best that there is."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.decoding.base import BeamSettings
from kgdemo.decoding.beam import beam_search, check_forced
from kgdemo.errors import UserError
from kgdemo.events import DecodeStep, PathFound, PathVerified, RunStarted
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.methods import METHODS
from kgdemo.settings import Settings
from kgdemo.verify import Verifier
from tests.helpers.oracles import all_paths, spelled
from tests.helpers.reasoning import of
from tests.helpers.small import QUESTION, SmallPipeline
from tests.helpers.strategies import graphs
from tests.unit.test_decoding import PROMPT, finish, model_named, plain_score


@pytest.fixture(scope="module")
def pipeline() -> SmallPipeline:
    return SmallPipeline()


@settings(max_examples=40, deadline=None)
@given(triples=graphs(), family=st.sampled_from(["qwen2", "bert"]), beams=st.integers(1, 5), data=st.data())
def test_the_best_paths_that_begin_so_are_found(triples, family, beams, data):
    """Against brute force: enumerate all paths, keep those with the prefix, score each by a plain forward pass."""
    triples, wide = triples[:4], 300
    kg, topic, model = KnowledgeGraph.from_triples(triples), triples[0][0], model_named(family, 1)
    exist = {spelled(model.label_tokens, path): path for path in all_paths(triples, [topic], 2, False)}
    whole = data.draw(st.sampled_from(sorted(exist)))
    forced = whole[: data.draw(st.integers(0, len(whole)))]
    prompt = model.style.encode(model.label_tokens, PROMPT, [topic])
    automaton = KGAutomaton(TokenGraph(kg, model.label_tokens), [kg.entities.find(topic)], 2)
    check_forced(automaton, forced, model.token_text)
    _, finished = finish(beam_search(model.tree(prompt), automaton, BeamSettings(wide, forced=forced)))

    brute = {
        tokens: plain_score(model, torch.tensor([[*prompt, *tokens]]), len(prompt))
        for tokens in exist
        if tokens[: len(forced)] == forced
    }
    assert {h.tokens for h in finished} == set(brute)
    best = sorted(brute.values(), reverse=True)[:beams]
    assert [h.total for h in finished[:beams]] == pytest.approx(best, abs=1e-3)
    verifier = Verifier(StatedFacts(triples))
    for hypothesis in finished:
        for ids in hypothesis.state.paths:
            names = tuple(kg.entities[e] for e in ids.entities)
            assert verifier.verify(Path(names, tuple(kg.step_labels[s] for s in ids.steps))).faithful


@settings(max_examples=40, deadline=None)
@given(triples=graphs(), beams=st.integers(1, 5), normalised=st.booleans(), data=st.data())
def test_a_narrow_search_keeps_to_the_prefix_and_fills_its_beams(triples, beams, normalised, data):
    triples = triples[:6]  # of all that the graph holds: a further relation may take the name of an inverse
    kg, topic, model = KnowledgeGraph.from_triples(triples), triples[0][0], model_named("qwen2", 2)
    exist = {spelled(model.label_tokens, path) for path in all_paths(triples, [topic], 2, False)}
    whole = data.draw(st.sampled_from(sorted(exist)))
    forced = whole[: data.draw(st.integers(1, len(whole)))]
    automaton = KGAutomaton(TokenGraph(kg, model.label_tokens), [kg.entities.find(topic)], 2)
    tree = model.tree(model.style.encode(model.label_tokens, PROMPT, [topic]))
    limits = BeamSettings(beams, forced=forced, graph_normalised=normalised, masked=2)
    steps, finished = finish(beam_search(tree, automaton, limits))
    assert all(h.tokens[: len(forced)] == forced for h in finished)
    assert len({h.tokens for h in finished}) == len(finished) >= 1
    for step, token in zip(steps, forced, strict=False):
        assert [choice.token for choice in step.choices] == [token]
        assert step.beams[0].allowed == len(automaton.successors(step.beams[0].hypothesis.state).tokens)


@settings(max_examples=60, deadline=None)
@given(triples=graphs(), cut=st.integers(0, 30), token=st.integers(0, 400))
def test_a_prefix_is_refused_exactly_when_no_path_begins_so(triples, cut, token):
    kg, topic, model = KnowledgeGraph.from_triples(triples), triples[0][0], model_named("qwen2", 0)
    automaton = KGAutomaton(TokenGraph(kg, model.label_tokens), [kg.entities.find(topic)], 2)
    exist = {spelled(model.label_tokens, path) for path in all_paths(triples, [topic], 2, False)}
    tokens = (*min(exist)[:cut], token)
    if any(path[: len(tokens)] == tokens for path in exist):
        check_forced(automaton, tokens, model.token_text)
    else:
        with pytest.raises(UserError, match="does not allow"):
            check_forced(automaton, tokens, model.token_text)


def test_a_forced_run_tells_of_its_tokens_and_goes_on_from_them(pipeline):
    free = list(pipeline.run(QUESTION, Settings(beams=4)))
    last = of(free, PathFound)[0].text
    steps = [e for e in of(free, DecodeStep) if e.constrained]
    watch = next(w for s in steps for w in s.watched if len(w.top) > 1 and w.beam)
    prefix = lineage(steps, watch.beam)
    token = watch.top[-1].token
    driven = list(pipeline.run(QUESTION, Settings(beams=4, forced=(*prefix, token))))
    assert of(driven, RunStarted)[0].forced == (*prefix, token)
    found = [e for e in of(driven, PathFound) if e.constrained]
    assert found
    written = (watch.text + watch.top[-1].text).strip()
    assert all(path.text.startswith(written) for path in found), (written, last)
    assert all(e.verdict.faithful for e in of(driven, PathVerified) if e.constrained)
    begun = [e for e in of(driven, DecodeStep) if not e.constrained][: len(prefix) + 1]
    assert [e.choices[0].token for e in begun] == [*prefix, token]


def lineage(steps: list[DecodeStep], beam: int) -> tuple[int, ...]:
    """The tokens of a beam, read off the events as the page does."""
    made = {choice.beam: choice for step in steps for choice in step.choices}
    tokens: list[int] = []
    while beam:
        tokens.insert(0, made[beam].token)
        beam = made[beam].parent
    return tuple(tokens)


def test_a_prefix_that_the_graph_forbids_is_one_sentence(pipeline):
    events = list(pipeline.run(QUESTION, Settings(beams=2, forced=(5, 6, 7))))
    assert "does not allow" in events[-1].message


def test_other_methods_say_that_they_take_none(pipeline):
    assert METHODS["gcr"].drivable
    events = list(pipeline.run(QUESTION, Settings(method="dog", beams=2, forced=(5,))))
    assert "takes no forced tokens" in events[-1].message
