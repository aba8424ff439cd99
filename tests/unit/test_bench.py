"""The benchmark at toy size: both sides give the same result, and rows say what they promise. No timings."""

from __future__ import annotations

import json
import sys
import time

import pytest

from kgdemo.cli import main
from kgdemo.constraint.label_tokens import PATH_END, LabelTokens
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.lab.benchmarks import comparison as bench
from kgdemo.lab.benchmarks import decode as bench_decode
from kgdemo.lab.benchmarks import index as bench_index
from kgdemo.lab.benchmarks.comparison import (
    Generated,
    ReferenceTrie,
    large_graph,
    networkx_graph,
    tokenizer_of_size,
    two_hop_graph,
    walks,
)
from kgdemo.lab.benchmarks.index import IndexSizes, index_rows, language
from tests.helpers.models import byte_level_tokenizer
from tests.helpers.oracles import all_paths, spelled, splices_exactly

TOY = IndexSizes((30, 60), (2_000, 3_000), triples=600, hub_edges=50, hops=(2, 3), candidates=(90,), beams=3, repeats=2)
TOY_DECODE = bench_decode.DecodeSizes(
    embedded=False,
    shapes=(bench_decode.ModelShape("toy", 2_000, 64, 64, 2),),
    paths=60,
    long_words=5,
    beams=4,
    repeats=2,
)
KEYS = {"name", "ours_ms", "reference_ms", "ratio", "equal"}


def test_index_rows_agree_with_the_reference():
    rows = list(index_rows(TOY, time.perf_counter))
    names = [row.name for row in rows]
    compared = [row for row in rows if row.reference_ms is not None]
    assert len(compared) == 2 * 3 + 2 + 1, names
    assert all(row.equal for row in compared), rows
    assert all(row.ours_ms > 0 for row in rows)
    for part in ("2 hops: first touch", "3 hops: second touch", "read TSV", "re-open", "token ids", "whole automaton"):
        assert any(part in name for name in names), part
    assert all(row.note for row in rows if "touch" in row.name), "a row without a reference says why"


def test_decode_rows_agree_with_generate():
    bound, free, ahead, longer, _, _ = bench_decode.decode_rows(TOY_DECODE, time.perf_counter)
    assert "long labels" in longer.name
    assert ahead.equal is True
    assert ahead.extra["calls_ratio"] <= ahead.extra["calls_ratio_forced"] < 1
    assert longer.equal is True
    assert bound.equal is True
    assert free.equal is None
    assert bound.ratio == bound.reference_ms / bound.ours_ms
    assert bound.extra["lm_calls_per_path"] > 0
    assert 0 < bound.extra["outside_model"] < 1


def test_a_difference_in_paths_or_scores_is_seen():
    path = bench_decode.Hypothesis((1, 2), (-0.5, -0.5), state=None)
    assert bench_decode.same_paths([path], [Generated((1, 2), -1.0)])
    assert not bench_decode.same_paths([path], [Generated((1, 2), -1.1)])
    assert not bench_decode.same_paths([path], [Generated((1, 3), -1.0)])
    assert not bench_decode.same_paths([path], [])


def test_another_order_is_seen_unless_it_is_a_tie():
    first, second, tied = (
        bench_decode.Hypothesis((n,), (score,), state=None) for n, score in ((1, -1.0), (2, -2.0), (3, -2.0000001))
    )
    theirs = [Generated((1,), -1.0), Generated((2,), -2.0)]
    assert bench_decode.same_paths([first, second], theirs)
    assert not bench_decode.same_paths([first, second], theirs[::-1])
    assert bench_decode.same_paths([second, tied], [Generated((3,), -2.0), Generated((2,), -2.0)])


@pytest.mark.parametrize("directed", [False, True])
def test_the_reference_holds_the_paths_of_the_oracle(directed):
    triples = [("a", "r", "b"), ("a", "s", "b"), ("b", "r", "a"), ("b", "t", "c"), ("c", "t", "c")]
    label_tokens = LabelTokens(byte_level_tokenizer())
    graph = networkx_graph(KnowledgeGraph.from_triples(triples), directed)
    expected = set(all_paths(triples, ["a"], 3, directed))
    assert sorted(walks(graph, "a", 3)) == sorted(expected)
    trie = ReferenceTrie.build(graph, ["a"], 3, label_tokens.tokenizer)
    rows = {spelled(label_tokens, path) for path in expected}
    assert trie.rows() == rows
    for row in rows:
        for length in range(len(row)):
            follow = {other[length] for other in rows if other[:length] == row[:length] and len(other) > length}
            assert set(trie.allowed(row[:length])) == follow
    assert trie.allowed((7, 7, 7)) == []


def test_token_ids_beyond_the_surrogates_survive_the_reference():
    rows = [(0xD7FF, 0xD800), (0xDFFF, 150_000)]
    assert ReferenceTrie(rows).rows() == set(rows)


def test_made_up_graphs_and_tokenisers_have_the_size_asked_for():
    triples, hub = two_hop_graph(400)
    assert len({(h, t) for h, _, t in triples}) == len(triples), "one relation an entity pair"
    graph = networkx_graph(KnowledgeGraph.from_triples(triples), directed=True)
    assert 300 < sum(1 for _ in walks(graph, hub, 2)) < 500
    assert len(list(large_graph(500, 40))) == 500
    tokenizer = tokenizer_of_size(3_000)
    assert len(tokenizer) == 3_000
    assert len(tokenizer(PATH_END, add_special_tokens=False)["input_ids"]) == 1
    names = [name for triple in triples[:50] for name in triple]
    assert splices_exactly(LabelTokens(tokenizer), names)
    assert tokenizer.decode(tokenizer(names[0])["input_ids"]) == names[0]


def test_the_language_is_walked_whole():
    kg = KnowledgeGraph.from_triples([("a", "r", "b")])
    label_tokens = LabelTokens(byte_level_tokenizer())
    graph = bench_index.TokenGraph(kg, label_tokens)
    found = language(bench_index.KGAutomaton(graph, [kg.entities.find("a")], 2))
    assert found == {spelled(label_tokens, ("a", "r", "b")), spelled(label_tokens, ("a", "r", "b", "~r", "a"))}


@pytest.mark.parametrize("what", ["index", "decode"])
def test_the_command_prints_one_row_a_line(what, monkeypatch, capsys):
    monkeypatch.setattr(bench_index, "QUICK", TOY)
    monkeypatch.setattr(bench_decode, "QUICK", TOY_DECODE)
    assert main(["bench", what, "--quick", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows
    for row in rows:
        assert set(row) >= KEYS
        assert row["equal"] in (True, None)
        assert (row["reference_ms"] is None) == (row["ratio"] is None)


def test_the_table_names_command_and_machine():
    row = bench.Row("a row", 0.5, 1500.0, 3000.0, True, "≤ 1 ms")
    table = bench.markdown([row, bench.Row("alone", 2000.0)], "bench index")
    assert "CPU cores" in table.splitlines()[0]
    assert "| a row | 0.50 ms | 1.5 s | 3,000x | yes | ≤ 1 ms |" in table
    assert "| alone | 2.0 s | – | – | – | – |" in table
    assert bench.sentence(row) == "a row: 0.50 ms, reference 1.5 s, 3000.0x, same result"


def test_without_marisa_trie_the_command_says_what_to_do(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "marisa_trie", None)
    assert main(["bench", "index", "--quick"]) == 2
    assert "pip install -r tests/requirements.txt" in capsys.readouterr().err
