"""Graphs on disk: built from files that do not fit into memory, and read where they lie."""

from __future__ import annotations

import json
from pathlib import Path as FilePath
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo import events
from kgdemo.cli import main
from kgdemo.errors import GraphFormatError
from kgdemo.facts import SavedFacts, StatedFacts, write_index
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io import saved as saved_graphs
from kgdemo.kg.io.catalogue import open_facts, open_graph, save_source
from kgdemo.kg.io.saved import SavedStore, build_arrays, load, save, symmetric_relations
from kgdemo.kg.stores.graph import StoreGraph
from kgdemo.pipeline import Pipeline
from kgdemo.settings import LOCAL, Settings
from tests.helpers.strategies import graphs

_TRIPLES = [
    ("Paris", "capital of", "France"),
    ("Lyon", "located in", "France"),
    ("France", "borders", "Spain"),
    ("Spain", "borders", "France"),
    ("Victor Hugo", "born in", "Besançon"),
    ("Besançon", "located in", "France"),
    ("Victor Hugo", "died in", "Paris"),
]


@pytest.fixture
def file(tmp_path: FilePath) -> FilePath:
    path = tmp_path / "small.tsv"
    path.write_text("".join("\t".join(triple) + "\n" for triple in _TRIPLES), "utf-8")
    return path


def _arrays(folder: FilePath) -> dict[str, np.ndarray]:
    return {path.name: np.load(path) for path in sorted(folder.glob("*.npy"))}


@settings(max_examples=80, deadline=None)
@given(triples=graphs(), rows=st.integers(1, 12))
def test_arrays_built_in_chunks_are_those_built_in_memory(tmp_path_factory, triples, rows) -> None:
    whole, chunked = (tmp_path_factory.mktemp("graph") for _ in range(2))
    kg, facts = KnowledgeGraph.from_triples(triples), StatedFacts(triples)
    save(kg, facts, whole)
    build_arrays(iter(triples), chunked, rows)
    write_index(triples, {}, chunked, rows)
    here, there = _arrays(whole), _arrays(chunked)
    assert here.keys() == there.keys()
    for name, array in here.items():
        assert array.dtype == there[name].dtype, name
        assert array.tolist() == there[name].tolist(), name
    assert not [path for path in chunked.iterdir() if path.is_dir()]


@settings(max_examples=40, deadline=None)
@given(triples=graphs(), rows=st.integers(1, 5))
def test_the_index_written_in_chunks_holds_what_was_stated_and_nothing_else(tmp_path_factory, triples, rows) -> None:
    folder = tmp_path_factory.mktemp("graph")
    build_arrays(iter(triples), folder, rows)
    write_index(triples, {}, folder, rows)
    facts, entities = SavedFacts(folder), sorted({label for h, _, t in triples for label in (h, t)})
    assert sorted(facts.entities()) == entities
    for head in entities:
        for relation in {relation for _, relation, _ in triples}:
            for tail in entities:
                assert facts.holds(head, relation, tail) == ((head, relation, tail) in triples)


def test_a_file_is_saved_as_its_graph_in_memory_is(tmp_path: FilePath, file: FilePath) -> None:
    known = tmp_path / "entities.tsv"
    known.write_text("Paris\tcity\tCity of Light\nNowhere\tcity\t\n", "utf-8")
    assert save_source(str(file), tmp_path / "chunked", known) == len(_TRIPLES)
    kg = open_graph(str(file), known)
    facts = open_facts(str(file))
    assert isinstance(facts, StatedFacts)
    save(kg, facts, tmp_path / "whole")
    assert load(tmp_path / "chunked").info == load(tmp_path / "whole").info == kg.info
    for name in ("graph.json", "info.jsonl"):
        texts = [(tmp_path / folder / name).read_text("utf-8") for folder in ("chunked", "whole")]
        assert json.loads(texts[0]) == json.loads(texts[1])


def test_a_file_that_turns_out_to_be_bad_leaves_no_graph(tmp_path: FilePath, file: FilePath) -> None:
    with file.open("a", encoding="utf-8") as stream:
        stream.write("no triple\n")
    with pytest.raises(GraphFormatError, match="line 8"), patch.object(saved_graphs, "ROWS", 3):
        save_source(str(file), tmp_path / "saved")
    with pytest.raises(GraphFormatError):
        open_graph(str(tmp_path / "saved"))
    assert not [path for path in (tmp_path / "saved").iterdir() if path.is_dir()]


def test_a_store_cannot_be_saved(tmp_path: FilePath, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kg", "save", "sparql:http://127.0.0.1:1/", "--out", str(tmp_path / "saved")]) == 2
    assert "save the file" in capsys.readouterr().err


@settings(max_examples=40, deadline=None)
@given(triples=graphs(), data=st.data())
def test_ends_up_to_a_limit_lie_evenly_among_all_in_the_order_of_labels(triples, data) -> None:
    kg = KnowledgeGraph.from_triples(triples)
    head, relation, _ = data.draw(st.sampled_from(triples))
    limit = data.draw(st.integers(1, 5))
    found = SavedStore(kg).ends([(str(kg.entities.find(head)), str(kg.relations.find(relation)), True)], limit)
    every = sorted(
        {t for h, r, t in triples if (h, r) == (head, relation)}, key=lambda t: t.encode("utf-8", "surrogatepass")
    )
    read = [edge.end.label for edge in found.edges]
    assert found.complete == (len(every) <= limit)
    assert len(read) == min(limit, len(every))
    places = [every.index(label) for label in read]
    gaps = [behind - place for place, behind in zip(places, [*places[1:], len(every)], strict=True)]
    assert min(gaps) > 0
    assert max(gaps) - min(gaps) <= 1


def test_relations_stored_both_ways_are_told_by_some_of_their_facts() -> None:
    pairs = [(f"e{i}", "near", f"e{i + 1}") for i in range(40)] + [(f"e{i + 1}", "near", f"e{i}") for i in range(30)]
    one_way = [(f"e{i}", "above", f"e{i + 1}") for i in range(40)]
    kg = KnowledgeGraph.from_triples([*pairs, *one_way, ("e1", "is", "e1")])
    assert symmetric_relations(kg) == ["near"] == [r for r in kg.relations if len(kg.alike(r)) > 1]


# a saved graph that is read where it lies -----------------------------------------------------------


def test_a_large_saved_graph_answers_as_the_one_in_memory(
    tmp_path: FilePath, file: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline, told = Pipeline(LOCAL), []
    folder = tmp_path / "saved"
    for most in (saved_graphs.LARGE, 3):
        monkeypatch.setattr(saved_graphs, "LARGE", most)
        save_source(str(file), folder)
        run = list(pipeline.run("Where was Victor Hugo born?", Settings(graph=str(folder), compare=False, explain=0)))
        paths = [(e.text, pytest.approx(e.score, abs=1e-3)) for e in run if isinstance(e, events.PathFound)]
        verdicts = [e.verdict for e in run if isinstance(e, events.PathVerified)]
        answers = [(e.text, e.answers) for e in run if isinstance(e, events.AnswerFinal)]
        told.append((paths, verdicts, answers))
        assert isinstance(pipeline.graph(str(folder)), StoreGraph) == (most == 3)
        pipeline.forget_graph(str(folder))
    assert told[0] == told[1]
    assert told[0][2][0][1] == ("Besançon",)


def test_a_large_saved_graph_is_told_about_but_its_paths_are_not_enumerated(
    tmp_path: FilePath, file: FilePath, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(saved_graphs, "LARGE", 3)
    folder = str(tmp_path / "saved")
    save_source(str(file), tmp_path / "saved")
    assert main(["kg", "info", folder]) == 0
    assert "7 triples, 6 entities" in capsys.readouterr().out
    assert main(["kg", "trie", folder, "--folder", str(tmp_path / "trie"), "--entity", "Paris"]) == 2
    assert "too large" in capsys.readouterr().err
