"""Reasons look through all targets of a hub at once, and find what a look at one after another finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.automaton import KGAutomaton, first_spelled
from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.kg.graph import KnowledgeGraph
from tests.helpers.models import byte_level_tokenizer
from tests.helpers.strategies import graphs

PIECES = LabelTokens(byte_level_tokenizer())


@settings(max_examples=100, deadline=None)
@given(triples=graphs(), cut=st.integers(0, 8), data=st.data())
def test_the_first_target_spelled_so_is_the_one_a_loop_finds(triples, cut, data):
    kg = KnowledgeGraph.from_triples(triples)
    graph = TokenGraph(kg, PIECES)
    topic = kg.entities.find(triples[0][0])
    targets = KGAutomaton(graph, [topic], 2).sub_trie(topic).targets
    label = graph.entities.row(data.draw(st.integers(0, len(kg.entities) - 1)))
    prefix = np.append(label[:cut], data.draw(st.sampled_from([*label.tolist(), 5]))).astype(np.int32)
    rows = [graph.entities.row(int(target)).tolist() for target in targets]
    begun = [place for place, row in enumerate(rows) if row[: len(prefix)] == prefix.tolist()]
    assert first_spelled(graph.entities, targets, prefix) == (begun[0] if begun else None)
