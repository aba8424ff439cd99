"""What DoG's search stands on: searches behind text already written, and the question's graph (section 3.1)."""

from __future__ import annotations

from functools import lru_cache
from random import Random

import pytest
import torch

from kgdemo.constraint.triple_chains import FreeText, QueryGraph
from kgdemo.decoding.base import BeamSettings
from kgdemo.decoding.beam import beam_search
from kgdemo.decoding.searches import greedy_search
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.methods.dog import question_graph
from kgdemo.models.base import PROMPT_END
from kgdemo.models.embedding import EmbeddingCache
from kgdemo.models.token_tree import Writer
from tests.helpers.models import random_model
from tests.helpers.reasoning import SpellingEmbedder
from tests.unit.test_decoding import finish

QUESTION = "Where was the director of Inception born?"
model_named = lru_cache(random_model)


# searches behind text ----------------------------------------------------------------------------


def test_a_search_behind_text_is_a_search_in_a_longer_prompt():
    model = model_named("qwen2", 1)
    prompt = tuple(model.style.encode(model.label_tokens, QUESTION, ["Inception"]))
    behind = tuple(model.label_tokens.plain(" Inception -> directed by"))
    writer = Writer(model.tree(prompt))
    constraint = FreeText(model.label_tokens.end)
    there, _ = finish(beam_search(writer.behind(behind), constraint, BeamSettings(3, 5)))
    anew, _ = finish(beam_search(model.tree((*prompt, *behind)), constraint, BeamSettings(3, 5)))
    for left, right in zip(there, anew, strict=True):
        assert [h.tokens for h in left.live] == [h.tokens for h in right.live]
        assert [h.score for h in left.live] == pytest.approx([h.score for h in right.live], abs=1e-3)
    assert writer.behind(behind).root != PROMPT_END
    assert writer.behind(()).root == PROMPT_END


def test_greedy_search_takes_the_most_probable_allowed_token():
    model = model_named("gpt2", 1)
    prompt = model.style.encode(model.label_tokens, QUESTION, ["Inception"])
    _, written = finish(greedy_search(model.tree(prompt), FreeText(model.label_tokens.end), 6))
    ids = list(prompt)
    for token in written.tokens:
        with torch.inference_mode():
            logits = model.model(input_ids=torch.tensor([ids]), use_cache=False).logits
        assert token == int(logits[0, -1].argmax())
        ids.append(token)
    assert len(written.tokens) == 6
    assert not written.state.complete


# the question's graph ----------------------------------------------------------------------------


def test_the_questions_graph_is_small_and_connected():
    rng = Random(1)
    triples = [("Inception", f"relation {i}", f"thing {i}") for i in range(300)]
    triples += [(f"thing {i}", "born in", f"place {i}") for i in range(300)]
    triples += [("thing 7", "directed by", "Christopher Nolan")]
    rng.shuffle(triples)
    kg = KnowledgeGraph.from_triples(triples)
    topic = kg.entities.find("Inception")
    pool = question_graph("Who directed thing 7?", [topic], QueryGraph(kg), EmbeddingCache(SpellingEmbedder()), 2, 40)
    assert 30 < len(pool) <= 40
    assert len(set(pool)) == len(pool)
    reached, left = {topic}, list(pool)
    while left:
        near = [t for t in left if reached & {t[0], t[2]}]
        assert near, "every triple hangs together with the topic"
        reached |= {e for t in near for e in (t[0], t[2])}
        left = [t for t in left if t not in near]
    assert kg.entities.find("Christopher Nolan") in reached
