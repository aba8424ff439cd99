"""The index of a hub's names: paths lead to all of its ends and to nothing else, though hardly any name is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path as FilePath
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.cli import main
from kgdemo.constraint.automaton import AutomatonState, KGAutomaton, reason
from kgdemo.constraint.label_tokens import FEW, LabelTokens
from kgdemo.constraint.token_graph import GrowingTokenGraph, TokenGraph, open_hubs, write_hubs
from kgdemo.facts import StatedFacts, Triple
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io import saved
from kgdemo.kg.io.catalogue import open_graph
from kgdemo.kg.io.saved import SavedStore, load, save
from kgdemo.kg.path import PathIds
from kgdemo.kg.stores import graph as store_graph
from kgdemo.kg.stores.graph import MAX_ENDS, StoreGraph
from kgdemo.models.causal import embedded_label_tokens
from tests.helpers.models import byte_level_tokenizer, wordpiece_tokenizer
from tests.helpers.stores import CountedStore
from tests.helpers.strategies import graphs
from tests.unit.test_automaton import language

_BEYOND = 3  # ends from which on these tests have an index
SPELLING = {"byte-level": LabelTokens(byte_level_tokenizer()), "wordpiece": LabelTokens(wordpiece_tokenizer())}
# few letters, so that many names begin alike; WordPiece spells those of unknown letters alike altogether
names = st.lists(st.text("ab éЖ", min_size=1, max_size=6), min_size=1, max_size=40, unique=True)


def _saved(folder: FilePath, triples: list[Triple], label_tokens: LabelTokens, piece: int = 1000) -> KnowledgeGraph:
    """A saved graph with an index."""
    save(KnowledgeGraph.from_triples(triples), StatedFacts(triples), folder)
    kg = load(folder)
    write_hubs(kg, folder, label_tokens, _BEYOND, piece)
    return kg


def _grown(kg: KnowledgeGraph, folder: FilePath, label_tokens: LabelTokens) -> tuple[StoreGraph, GrowingTokenGraph]:
    """The same graph as it is read where it lies."""
    remote = StoreGraph(CountedStore(SavedStore(kg)), "saved", folder)
    return remote, GrowingTokenGraph(remote, label_tokens)


def _spoken(kg: KnowledgeGraph, automaton: KGAutomaton) -> dict[tuple[int, ...], set[str]]:
    return {
        tokens: {str(kg.labelled(PathIds(entities, steps))) for entities, steps in paths}
        for tokens, paths in language(automaton).items()
    }


@pytest.mark.parametrize("tokenizer", SPELLING)
@settings(max_examples=150, deadline=None)
@given(names=names, piece=st.integers(1, 50))
def test_what_may_follow_is_what_a_look_at_every_name_finds(tmp_path_factory, tokenizer, names, piece) -> None:
    folder, label_tokens = tmp_path_factory.mktemp("graph"), SPELLING[tokenizer]
    kg = _saved(folder, [("hub", "lists", name) for name in names], label_tokens, piece)
    index = open_hubs(folder, label_tokens.fingerprint(), len(kg))
    assert index is not None
    hub = index.hub((str(kg.entities.find("hub")), "0", True))
    assert (hub is not None) == (len(names) > _BEYOND)
    if hub is None:
        return
    spelled = {name: label_tokens.plain(" " + name) for name in names}
    in_rows = [kg.entities[int(target)] for target in hub.targets]
    assert sorted(in_rows) == sorted(names)
    nodes = [(0, len(hub), [])] if len(hub) > FEW else []
    while nodes:
        low, high, prefix = nodes.pop()
        node = hub.branching(low, high, len(prefix))
        begun = {name: tokens for name, tokens in spelled.items() if tokens[: len(prefix)] == prefix}
        assert set(in_rows[low:high]) == set(begun)
        assert set(in_rows[low : low + node.complete]) == {n for n, tokens in begun.items() if tokens == prefix}
        onward = {tokens[len(prefix)] for tokens in begun.values() if len(tokens) > len(prefix)}
        assert node.tokens.tolist() == sorted(onward)
        for token, first, behind in zip(node.tokens.tolist(), node.edges[:-1], node.edges[1:], strict=True):
            if behind - first > FEW:
                nodes.append((int(first), int(behind), [*prefix, token]))
            else:
                ending = {name for name, tokens in begun.items() if tokens[: len(prefix) + 1] == [*prefix, token]}
                assert set(in_rows[first:behind]) == ending


@pytest.mark.parametrize("tokenizer", SPELLING)
@settings(max_examples=60, deadline=None)
@given(
    triples=graphs(),
    names=names,
    turned=st.booleans(),
    hops=st.integers(1, 2),
    directed=st.booleans(),
    data=st.data(),
)
def test_the_language_of_a_saved_graph_with_hubs_is_that_of_the_whole_graph(
    tmp_path_factory, tokenizer, triples, names, turned, hops, directed, data
) -> None:
    folder, label_tokens = tmp_path_factory.mktemp("graph"), SPELLING[tokenizer]
    hub = triples[0][0]
    names = names[:20]
    triples = [*triples[:5], *((name, "in", hub) if turned else (hub, "lists", name) for name in names)]
    kg = _saved(folder, triples, label_tokens, data.draw(st.integers(1, 30)))
    topic = data.draw(st.sampled_from([hub, triples[-1][0]]))
    whole = KGAutomaton(TokenGraph(kg, label_tokens, directed), [kg.entities.find(topic)], hops)
    with patch.object(store_graph, "MAX_ENDS", _BEYOND):
        remote = StoreGraph(CountedStore(SavedStore(kg)), "saved", folder)
        graph = GrowingTokenGraph(remote, label_tokens, directed)
        expected = _spoken(kg, whole)
        for _ in range(2):  # the second question finds what the first one has read
            found = _spoken(remote, KGAutomaton(graph, [remote.entities.find(topic)], hops))
            assert found == expected


@pytest.mark.parametrize("tokenizer", SPELLING)
@pytest.mark.parametrize("others", [2, 30])
def test_two_hubs_at_one_entity_are_told_apart(tmp_path: FilePath, tokenizer: str, others: int) -> None:
    label_tokens = SPELLING[tokenizer]
    triples = [("hub", "lists", f"entry {i}") for i in range(30)]
    triples += [("hub", relation, f"note {i}") for relation in ("a", "z") for i in range(others)]
    kg = _saved(tmp_path, triples, label_tokens)
    with patch.object(store_graph, "MAX_ENDS", _BEYOND):
        remote, graph = _grown(kg, tmp_path, label_tokens)
        whole = KGAutomaton(TokenGraph(kg, label_tokens), [kg.entities.find("hub")], 2)
        assert _spoken(remote, KGAutomaton(graph, [remote.entities.find("hub")], 2)) == _spoken(kg, whole)
    assert len(remote.indexed) == (1 if others == 2 else 3)


def _along(automaton: KGAutomaton, tokens: list[int]) -> AutomatonState:
    """The state behind these tokens."""
    state = automaton.start()
    for token in tokens:
        successors = automaton.successors(state)
        state = successors.take(successors.tokens.tolist().index(token))
    return state


def test_few_names_are_read_and_what_was_found_is_among_the_ends(tmp_path: FilePath) -> None:
    label_tokens = SPELLING["byte-level"]
    triples = [(f"entry {i:04}", "in", "Hub") for i in range(2000)]
    kg = _saved(tmp_path, triples, label_tokens)
    with patch.object(store_graph, "MAX_ENDS", _BEYOND):
        remote, graph = _grown(kg, tmp_path, label_tokens)
        automaton = KGAutomaton(graph, [remote.entities.find("Hub")], 1)
        state = _along(automaton, [*_path("Hub", "~in", "entry 1234"), *label_tokens.end])
        assert automaton.paths_left(_along(automaton, _path("Hub", "~in"))) == 2000
        assert "no edge Hub → ~in" in reason(automaton, _along(automaton, _path("Hub", "~in", "entry 1")), 3, "x")
        assert len(graph.entities) < 100
        assert remote.store.asked.count("ends") == 0
        assert automaton.paths_left(state) == 1
        found, asked = remote.entities.find("entry 1234"), list(remote.store.asked)
        assert found is not None
        assert remote.has_steps(found)
        assert remote.store.asked == asked  # the edge that led there is known
        assert ("~in", "entry 1234") in remote.neighbours("Hub")
        assert "a path may lead to any of them" in remote.cut[0]
        assert remote.is_cut("Hub", "~in")


def _path(*labels: str) -> list[int]:
    label_tokens = SPELLING["byte-level"]
    return label_tokens.plain(" " + " -> ".join(labels))


def _no_index(folder: FilePath) -> None:
    (folder / "hubs.json").unlink()


def _shorter(folder: FilePath) -> None:
    np.save(folder / "hubs.targets.npy", np.load(folder / "hubs.targets.npy")[:-1])


def _of_other_facts(folder: FilePath) -> None:
    header = json.loads((folder / "hubs.json").read_text("utf-8"))
    header["made_from"][-1] += 1
    (folder / "hubs.json").write_text(json.dumps(header), "utf-8")


def _garbled(folder: FilePath) -> None:
    (folder / "hubs.json").write_text("{", "utf-8")


def _arrays_gone(folder: FilePath) -> None:
    for name in ("targets", "firsts", "tokens"):
        (folder / f"hubs.{name}.npy").unlink()


@pytest.mark.parametrize("harm", [_no_index, _shorter, _of_other_facts, _garbled, _arrays_gone, None])
def test_an_index_that_does_not_fit_is_done_without(
    tmp_path: FilePath, harm: Callable[[FilePath], None] | None
) -> None:
    written, asked = SPELLING["byte-level"], SPELLING["byte-level" if harm else "wordpiece"]
    kg = _saved(tmp_path, [(f"entry {i}", "in", "Hub") for i in range(30)], written)
    if harm:
        harm(tmp_path)
    with patch.object(store_graph, "MAX_ENDS", _BEYOND):
        remote, graph = _grown(kg, tmp_path, asked)
        found = _spoken(remote, KGAutomaton(graph, [remote.entities.find("Hub")], 1))
    assert len(set().union(*found.values())) == _BEYOND
    assert "3 of them are read" in remote.cut[0]


def test_the_index_is_written_when_a_large_graph_is_saved(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(saved, "LARGE", 3)
    file, folder = tmp_path / "hub.tsv", tmp_path / "saved"
    file.write_text("".join(f"entry {i}\tin\tHub\n" for i in range(MAX_ENDS + 100)), "utf-8")
    assert main(["kg", "save", str(file), "--out", str(folder)]) == 0
    assert "1 hub" in capsys.readouterr().out
    label_tokens = embedded_label_tokens()
    remote = open_graph(str(folder))
    assert isinstance(remote, StoreGraph)
    automaton = KGAutomaton(GrowingTokenGraph(remote, label_tokens), [remote.entities.find("Hub")], 1)
    for i in range(0, MAX_ENDS + 100, 97):
        state = _along(automaton, [*label_tokens.plain(f" Hub -> ~in -> entry {i}"), *label_tokens.end])
        assert [str(remote.labelled(path)) for path in state.paths] == [f"Hub -> ~in -> entry {i}"]
