"""Labels that a model has no positions for: their paths are left out and that is said; memory stays in proportion."""

from __future__ import annotations

import tracemalloc

import pytest
import torch

from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.errors import ModelError
from kgdemo.events import AnswerFinal, Notice, PathFound, RunFailed
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import PathIds
from kgdemo.models.base import PROMPT_END
from kgdemo.models.token_tree import PooledTokenTree
from kgdemo.pipeline import Pipeline
from kgdemo.ranking.graph_paths import PathReader
from kgdemo.settings import Settings
from tests.helpers.models import random_model
from tests.helpers.reasoning import of

COMMENT = " ".join(f"word{n % 7}" for n in range(700))
TRIPLES = [
    ("Alice", "teaches", "Bob"),
    ("Bob", "works at", "Acme"),
    ("Alice", "said", COMMENT),
    ("Bob", "said", COMMENT),
]


class FlatTree:
    """A token tree in which every token is as likely as any other."""

    size, calls = 0, 0

    def __init__(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary

    def prompt_log_probs(self) -> torch.Tensor:
        return torch.zeros(self.vocabulary)

    def extend(self, parents, tokens):
        self.size += len(tokens)
        return list(range(self.size - len(tokens), self.size)), torch.zeros(len(tokens), self.vocabulary)


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_graph("long", KnowledgeGraph.from_triples(TRIPLES, "long"), StatedFacts(TRIPLES))
    return pipeline


@pytest.mark.parametrize("method", ["gcr", "dog"])
def test_paths_that_do_not_fit_the_model_are_left_out_and_that_is_said(pipeline, method):
    settings = Settings(graph="long", method=method)
    events = list(pipeline.run("What did Alice and Bob say?", settings))
    assert of(events, AnswerFinal)
    texts = [path.text for path in of(events, PathFound) if path.constrained]
    assert texts
    assert not any(COMMENT in text for text in texts)
    assert [e.text for e in of(events, Notice) if "tokens were left out" in e.text]


def test_a_topic_whose_name_does_not_fit_is_one_sentence(pipeline):
    events = list(pipeline.run("Who said this?", Settings(graph="long"), [COMMENT]))
    assert isinstance(events[-1], RunFailed)
    assert "too long for the model" in events[-1].message


def test_reading_a_long_path_takes_memory_in_proportion_to_its_tokens():
    model = random_model("llama")
    graph = TokenGraph(KnowledgeGraph.from_triples([("a", "b", "word " * 4000)]), model.label_tokens)
    path = PathIds((graph.kg.entities.find("a"), graph.kg.entities.find("word " * 4000)), (0,))
    reader = PathReader(graph, FlatTree(model.vocabulary), 1_000_000)
    tracemalloc.start()
    (found,) = reader.read([path])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found.hypothesis.tokens) > 4000
    assert peak < 20_000_000  # prefixes as tuples would take eight bytes for each pair of tokens


def test_a_path_longer_than_allowed_is_counted_and_not_read():
    model = random_model("llama")
    graph = TokenGraph(KnowledgeGraph.from_triples([("a", "b", "c"), ("a", "b", "word " * 50)]), model.label_tokens)
    paths = [PathIds((graph.kg.entities.find("a"), graph.kg.entities.find(end)), (0,)) for end in ("c", "word " * 50)]
    reader = PathReader(graph, FlatTree(model.vocabulary), 40)
    short, long = reader.read(paths)
    assert short.ids == paths[0]
    assert (long, reader.left_out) == (None, 1)


def test_a_token_tree_names_the_limit_of_its_model():
    model = random_model("llama")
    tree = PooledTokenTree(model.model, [1, 2, 3], False, context=5)
    nodes, _ = tree.extend([PROMPT_END, 0], [4, 5])
    with pytest.raises(ModelError, match="reads 5 tokens at a time and this text has 6"):
        tree.extend(nodes[-1:], [6])
