"""No triple that DoG decodes is ill-formed, whatever model and graph (table 3 b); without the constraint most are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.automaton import Successors
from kgdemo.constraint.label_tokens import PATH_START
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.constraint.triple_chains import ChainConstraint, ChainState, FreeSpan, FreeText, QueryGraph, TripleState
from kgdemo.decoding.searches import SamplingSettings, sample
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.lab.evaluation.metrics import ill_formed
from kgdemo.models.causal import EMBEDDED, CausalModel
from kgdemo.verify import Verifier
from tests.helpers.models import random_model
from tests.helpers.oracles import labels_of
from tests.helpers.reasoning import film_world
from tests.helpers.strategies import graphs
from tests.unit.test_decoding import finish

QUESTION = "Where was the director of Inception born?"
NOTHING_WRITTEN = FreeSpan()


@lru_cache
def model_named(family: str, seed: int) -> CausalModel:
    """A random model, or the one that is shipped."""
    return CausalModel.load(EMBEDDED) if family == EMBEDDED else random_model(family, seed)


class Eager:
    """A token tree whose model is eager to begin triples; random models hardly ever are."""

    def __init__(self, tree, mark: int, bias: float) -> None:
        self.tree, self.mark, self.bias = tree, mark, bias

    def _pushed(self, rows: torch.Tensor) -> torch.Tensor:
        rows = rows.clone()
        rows[..., self.mark] += self.bias
        return torch.log_softmax(rows, dim=-1)

    def prompt_log_probs(self) -> torch.Tensor:
        return self._pushed(self.tree.prompt_log_probs())

    def extend(self, parents, tokens):
        nodes, rows = self.tree.extend(parents, tokens)
        return nodes, self._pushed(rows)


@dataclass(frozen=True)
class WholeState:
    """A point in a chain: inside a triple, or in the free text between two."""

    chain: ChainState
    inside: TripleState | None
    free: FreeSpan = NOTHING_WRITTEN

    @property
    def complete(self) -> bool:
        return self.free.ended

    @property
    def alive(self) -> bool:
        return self.free.alive if self.inside is None else self.inside.alive


class WholeChains:
    """Whole chains token by token, as a constraint; the first triple has been begun by the prompt."""

    def __init__(self, constraint: ChainConstraint, topics: Sequence[int]) -> None:
        self.constraint, self.topics = constraint, tuple(topics)

    def _begun(self, chain: ChainState) -> WholeState:
        return WholeState(chain, self.constraint.trie(chain).start())

    def start(self) -> WholeState:
        return self._begun(ChainState(self.topics))

    def successors(self, state: WholeState) -> Successors[WholeState]:
        if state.inside is not None:
            within = state.inside.trie.successors(state.inside)
            return Successors(within.tokens, lambda i: self._within(state.chain, within.take(i)))
        between = self.constraint.free_text(state.chain).successors(state.free)
        return Successors(between.tokens, lambda i: self._between(state.chain, between.take(i)))

    def _within(self, chain: ChainState, inside: TripleState) -> WholeState:
        # a mark spelled in plain letters may also go on as part of a longer label: the triple is taken at its first end
        return WholeState(chain.extended(inside.leaves[0].link), None) if inside.complete else WholeState(chain, inside)

    def _between(self, chain: ChainState, free: FreeSpan) -> WholeState:
        return self._begun(chain) if free.opened else WholeState(chain, None, free)


def sampled_chains(kg: KnowledgeGraph, topics: Sequence[str], model: CausalModel, seed: int, count: int, tokens: int):
    """Chains that a model writes by chance under the constraint, finished or not, each as its triples."""
    ids = [kg.entities.find(topic) for topic in topics]
    graph = TokenGraph(kg, model.label_tokens)
    triples = ChainConstraint(graph, QueryGraph(kg, collapse=False), model.stop_ids, model.vocabulary)
    tree = Eager(model.tree(model.style.encode(model.label_tokens, QUESTION, topics)), model.label_tokens.start[0], 9.0)
    steps, finished = finish(
        sample(tree, WholeChains(triples, ids), SamplingSettings(count, tokens, temperature=1.0, seed=seed))
    )
    states = [hypothesis.state for hypothesis in (*steps[-1].live, *finished)]
    return [[triple for link in state.chain.links for triple in labels_of(kg, link)] for state in states]


@pytest.mark.parametrize(("family", "minimum"), [("qwen2", 1000), ("bert", 1000), (EMBEDDED, 100)])
def test_no_ill_formed_triple_in_thousands(family, minimum):
    """Table 3 (b): 0.00 % for any model, 2,100 triples together; few of them by the embedded one, which is slower."""
    rng = Random(family)
    count = 0
    for seed in range(40):
        triples = [(rng.choice("abcdefghijkl"), rng.choice("rst"), rng.choice("abcdefghijkl")) for _ in range(30)]
        kg = KnowledgeGraph.from_triples(triples)
        verifier, topics = Verifier(StatedFacts(triples)), [triples[0][0], triples[1][2]]
        for chain in sampled_chains(kg, topics, model_named(family, seed % 3), seed, count=32, tokens=140):
            assert not ill_formed(chain, topics, verifier)
            assert len(set(chain)) == len(chain), "a triple is used once"
            count += len(chain)
        if count >= minimum:
            break
    assert count >= minimum


@settings(max_examples=25, deadline=None)
@given(triples=graphs(), family=st.sampled_from(["qwen2", "bert"]), seed=st.integers(0, 9))
def test_chains_over_nasty_labels_are_well_formed(triples, family, seed):
    kg = KnowledgeGraph.from_triples(triples)
    topics = [triples[0][0]]
    for chain in sampled_chains(kg, topics, model_named(family, seed % 3), seed, count=4, tokens=50):
        assert not ill_formed(chain, topics, Verifier(StatedFacts(triples)))


def test_without_the_constraint_most_triples_are_ill():
    resources = film_world()
    model = resources.model
    tree = Eager(
        model.tree(model.style.encode(model.label_tokens, QUESTION, ["Inception"])), model.label_tokens.start[0], 6.0
    )
    steps, _ = finish(sample(tree, FreeText(model.label_tokens.end), SamplingSettings(20, 60, temperature=1.0)))
    texts = [model.label_tokens.tokenizer.decode(list(h.tokens)) for h in (*steps[-1].live, *steps[-1].finished)]
    spans = [span for text in texts for span in text.split(PATH_START) if span]
    assert sum(resources.verifier.verify_text(span)[1].faithful for span in spans) < 0.05 * len(spans)
