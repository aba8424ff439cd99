"""DoG's scores are the model's own: equation 3, chain scores and Algorithm 1, computed again by other means."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from kgdemo.events import LMCall, PathFound, Thought
from kgdemo.kg.path import Path
from kgdemo.methods.dog import DogOptions, Visibility
from kgdemo.settings import Settings
from tests.helpers.oracles import around, spelled
from tests.helpers.reasoning import film_world, of, run
from tests.unit.test_decoding import plain_score

QUESTION = "Where was the director of Inception born?"


def path_labels(path: Path) -> list[str]:
    """A path as alternating labels."""
    return [path.entities[0], *(label for _, relation, tail in path.hops for label in (relation, tail))]


def test_the_score_of_a_chain_is_its_full_vocabulary_probability():
    """Equation 3 and the chain score of two triples in a row, computed again by one plain forward pass."""
    resources = film_world()
    model, label_tokens = resources.model, resources.model.label_tokens
    options = Settings(method="dog", beams=20, compare=False, ranking="path")
    events = list(run("dog", QUESTION, ["Inception"], resources, options, DogOptions(width=4, steps=2, script="path")))
    prompt = model.style.encode(label_tokens, QUESTION, ["Inception"])
    long = [e for e in of(events, PathFound) if len(e.path.relations) == 2]
    assert long
    for found in long:
        ids = torch.tensor([[*prompt, *spelled(label_tokens, path_labels(found.path))]])
        assert found.score == pytest.approx(plain_score(model, ids, len(prompt)), abs=1e-3)


def test_a_wide_search_finds_the_most_probable_chain():
    """Algorithm 1 with beams wider than the graph is exhaustive, so it must agree with brute force."""
    triples = [
        ("Inception", "part of", "New"),
        ("New", "is", "New York"),
        ("words", "in", "Inception"),
        ("New", "in", "of"),
    ]
    resources = film_world(triples=triples)
    model, label_tokens = resources.model, resources.model.label_tokens
    options = Settings(method="dog", beams=20, hops=2, compare=False, ranking="path")
    dog = DogOptions(width=20, steps=2, script="chain", free_tokens=0, visibility=Visibility.FULL)
    events = list(run("dog", QUESTION, ["Inception"], resources, options, dog))
    shown = of(events, LMCall)[0].prompt
    prompt = tuple(label_tokens.special(shown))
    assert label_tokens.tokenizer.decode(list(prompt)) == shown

    def score(tokens: Sequence[int], start: int) -> float:
        return plain_score(model, torch.tensor([[*prompt, *tokens]]), len(prompt) + start)

    chains: dict[frozenset, float] = {}
    for first in around(triples, {"Inception"}):
        one = spelled(label_tokens, first)[: -len(label_tokens.end)]
        begun = (*one, *label_tokens.end, *label_tokens.start)
        for second in around(triples, {"Inception", first[0], first[2]}) - {first}:
            two = spelled(label_tokens, second)[: -len(label_tokens.end)]
            total = score(one, 0) + score((*begun, *two), len(begun))
            pair = frozenset([first, second])
            chains[pair] = max(chains.get(pair, -np.inf), total)
    last = [t for t in of(events, Thought) if t.kind == "thought" and t.parents]
    assert sorted(t.score for t in last) == pytest.approx(sorted(chains.values()), abs=2e-3)
    assert max(t.score for t in last) == pytest.approx(max(chains.values()), abs=2e-3)


@pytest.mark.parametrize("ranking", ["path", "relation"])
def test_a_one_triple_chain_scores_like_the_path_it_is(ranking):
    resources = film_world()
    model, label_tokens = resources.model, resources.model.label_tokens
    options = Settings(method="dog", beams=9, hops=1, compare=False, ranking=ranking)
    events = list(run("dog", QUESTION, ["Inception"], resources, options, DogOptions(width=9, steps=1, script="path")))
    prompt = model.style.encode(label_tokens, QUESTION, ["Inception"])
    found = of(events, PathFound)
    assert len(found) == len(resources.kg.neighbours("Inception"))
    for path in found:
        ids = torch.tensor([[*prompt, *spelled(label_tokens, path_labels(path.path))]])
        whole = plain_score(model, ids, len(prompt))
        if ranking == "path":
            assert path.score == pytest.approx(whole, abs=1e-3)
        else:
            assert path.score > whole, "names cost less among those that exist"
