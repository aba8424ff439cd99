"""Token ids kept on disk are those that would be made; a visitor's are never kept; what is damaged is made anew."""

from __future__ import annotations

import os
from pathlib import Path as FilePath

import numpy as np
import pytest

from kgdemo.constraint import token_graph as kept
from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.constraint.token_graph import TokenCache, TokenGraph
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import save
from kgdemo.pipeline import Pipeline
from kgdemo.settings import Settings, cache_folder
from tests.helpers.models import byte_level_tokenizer, random_model, wordpiece_tokenizer

KG = KnowledgeGraph.from_triples([(f"New {i}", "part of", "York") for i in range(20)])


class Counting(LabelTokens):
    """Counts the times that labels are spelled."""

    times = 0

    def encode(self, labels, behind=" "):
        """See ``LabelTokens``."""
        self.times += 1
        return super().encode(labels, behind)


def token_graph(folder: FilePath, kg: KnowledgeGraph = KG, tokenizer=byte_level_tokenizer) -> tuple[TokenGraph, int]:
    """The graph with its ids kept in ``folder``, and how often entity labels were spelled for it."""
    label_tokens = Counting(tokenizer())
    graph = TokenGraph(kg, label_tokens, store=TokenCache(folder, min_labels=5))
    return graph, label_tokens.times - 1  # the steps' labels are few and always spelled


def test_the_second_start_spells_nothing_and_finds_the_same(tmp_path):
    first, spelled = token_graph(tmp_path / "cache")
    again, spelled_again = token_graph(tmp_path / "cache")
    assert (spelled, spelled_again) == (1, 0)
    plain = TokenGraph(KG, LabelTokens(byte_level_tokenizer()))
    for graph in (first, again):
        assert graph.entities.ids.tolist() == plain.entities.ids.tolist()
        assert graph.entities.offsets.tolist() == plain.entities.offsets.tolist()
        assert graph.entity_rank.tolist() == plain.entity_rank.tolist()


def test_another_graph_or_tokeniser_has_a_file_of_its_own(tmp_path):
    token_graph(tmp_path)
    other = KnowledgeGraph.from_triples([*KG.triples(), ("New 0", "part of", "Boston")])
    assert token_graph(tmp_path, other)[1] == 1
    assert token_graph(tmp_path, tokenizer=wordpiece_tokenizer)[1] == 1
    assert len(list(tmp_path.iterdir())) == 3


def cut_short(file: FilePath) -> None:
    """Half of the file."""
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def one_bit(file: FilePath) -> None:
    """One id is another."""
    with np.load(file) as stored:
        ids = stored["ids"].tobytes()
    content = bytearray(file.read_bytes())
    content[content.index(ids)] ^= 1
    file.write_bytes(bytes(content))


def too_few(file: FilePath) -> None:
    """A whole file, of other labels."""
    with np.load(file) as stored:
        arrays = {name: stored[name][:-1] for name in stored.files}
    np.savez(file, **arrays)


def pickled(file: FilePath) -> None:
    """Arrays that would run code when read."""
    np.savez(file, offsets=np.array([object()]), ids=np.array([0]), rank=np.array([0]))


@pytest.mark.parametrize("damage", [cut_short, one_bit, too_few, pickled, lambda file: file.write_bytes(b"")])
def test_a_damaged_file_is_made_anew(tmp_path, damage):
    whole, _ = token_graph(tmp_path)
    (file,) = tmp_path.iterdir()
    damage(file)
    again, spelled = token_graph(tmp_path)
    assert spelled == 1
    assert again.entities.ids.tolist() == whole.entities.ids.tolist()
    assert token_graph(tmp_path)[1] == 0


def test_no_changed_byte_changes_what_is_read(tmp_path):
    small = KnowledgeGraph.from_triples([(f"New {i}", "part of", "York") for i in range(5)])
    whole, _ = token_graph(tmp_path, small)
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    for place in range(0, len(content), 3):
        file.write_bytes(content[:place] + bytes([content[place] ^ 0x41]) + content[place + 1 :])
        read = kept._read(file, len(small.entities))
        assert read is None or (
            read.table.ids.tolist() == whole.entities.ids.tolist()
            and read.table.offsets.tolist() == whole.entities.offsets.tolist()
            and read.rank.tolist() == whole.entity_rank.tolist()
        )


def test_the_folder_keeps_within_its_bounds(tmp_path):
    token_graph(tmp_path)
    (old,) = tmp_path.iterdir()
    (tmp_path / "left over.npz.part").write_bytes(b"of a process that was ended")
    os.utime(old, (1, 1))
    os.utime(tmp_path / "left over.npz.part", (2, 2))
    store = TokenCache(tmp_path, min_labels=5, max_bytes=old.stat().st_size)
    other = KnowledgeGraph.from_triples([*list(KG.triples())[1:], ("x", "part of", "York")])
    TokenGraph(other, LabelTokens(byte_level_tokenizer()), store=store)
    (left,) = tmp_path.iterdir()
    assert left != old


def test_small_tables_are_not_worth_a_file(tmp_path):
    TokenGraph(KG, LabelTokens(byte_level_tokenizer()), store=TokenCache(tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path, caplog):
    (tmp_path / "file").write_text("no folder")
    graph, spelled = token_graph(tmp_path / "file" / "cache")
    assert spelled == 1
    assert len(graph.entities) == len(KG.entities)
    assert "set KGDEMO_CACHE to another folder" in caplog.text


def test_a_visitors_graph_is_never_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("KGDEMO_CACHE", str(tmp_path / "cache"))
    save(KG, StatedFacts(KG.triples()), tmp_path / "mine")
    pipeline = Pipeline()
    monkeypatch.setattr(pipeline, "model", lambda name: random_model("qwen2"))
    pipeline.token_cache = TokenCache(tmp_path / "cache", min_labels=5)
    pipeline.add_graph("theirs", KG, StatedFacts(KG.triples()))
    pipeline.resources(Settings("theirs"))
    assert not (tmp_path / "cache").exists()
    pipeline.resources(Settings(str(tmp_path / "mine")))
    assert len(list((tmp_path / "cache").iterdir())) == 1


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"KGDEMO_CACHE": "/somewhere"}, FilePath("/somewhere")),
        ({"KGDEMO_CACHE": ""}, None),
        ({"KGDEMO_CACHE": "~/x"}, FilePath.home() / "x"),
        ({}, FilePath.home() / ".cache" / "kgdemo"),
    ],
)
def test_the_environment_names_the_folder(environment, folder):
    assert cache_folder(environment) == folder
