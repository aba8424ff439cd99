"""What is kept on disk, token ids and names, is what would be made; never a visitor's; what is damaged is made anew."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path as FilePath

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.facts import StatedFacts
from kgdemo.kg.cache import ArrayCache, read_arrays
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.io import catalogue
from kgdemo.kg.io.catalogue import open_graph
from kgdemo.kg.io.saved import save
from kgdemo.linking import names
from kgdemo.linking.matching import FuzzyNames
from kgdemo.linking.names import NameIndex
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
    graph = TokenGraph(kg, label_tokens, cache=ArrayCache(folder, min_labels=5))
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


def nameless(file: FilePath) -> None:
    """Arrays that nobody says what they were made of."""
    with np.load(file) as stored:
        arrays = {name: stored[name] for name in stored.files if stored[name].ndim}
    np.savez(file, **arrays)


def another(file: FilePath) -> None:
    """A whole file that was made of another graph, under this one's name."""
    token_graph(file.parent, KnowledgeGraph.from_triples([(f"Old {i}", "part of", "York") for i in range(20)]))
    (other,) = set(file.parent.iterdir()) - {file}
    other.replace(file)


def pickled(file: FilePath) -> None:
    """Arrays that would run code when read."""
    np.savez(file, offsets=np.array([object()]), ids=np.array([0]), rank=np.array([0]))


@pytest.mark.parametrize("damage", [cut_short, one_bit, nameless, another, pickled, lambda file: file.write_bytes(b"")])
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
        read = read_arrays(file)
        assert read is None or (
            read["ids"].tolist() == whole.entities.ids.tolist()
            and read["offsets"].tolist() == whole.entities.offsets.tolist()
            and read["rank"].tolist() == whole.entity_rank.tolist()
        )


def test_the_folder_keeps_within_its_bounds(tmp_path):
    token_graph(tmp_path)
    (old,) = tmp_path.iterdir()
    (tmp_path / "left over.npz.part").write_bytes(b"of a process that was ended")
    os.utime(old, (1, 1))
    os.utime(tmp_path / "left over.npz.part", (2, 2))
    cache = ArrayCache(tmp_path, min_labels=5, max_bytes=old.stat().st_size)
    other = KnowledgeGraph.from_triples([*list(KG.triples())[1:], ("x", "part of", "York")])
    TokenGraph(other, LabelTokens(byte_level_tokenizer()), cache=cache)
    (left,) = tmp_path.iterdir()
    assert left != old


def test_small_tables_are_not_worth_a_file(tmp_path):
    TokenGraph(KG, LabelTokens(byte_level_tokenizer()), cache=ArrayCache(tmp_path))
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
    pipeline.cache = ArrayCache(tmp_path / "cache", min_labels=5)
    pipeline.add_graph("theirs", KG, StatedFacts(KG.triples()))
    pipeline.resources(Settings("theirs"))
    assert pipeline.linker("theirs").knows("york")
    assert not (tmp_path / "cache").exists()
    pipeline.resources(Settings(str(tmp_path / "mine")))
    assert len(list((tmp_path / "cache").iterdir())) == 1
    assert pipeline.linker(str(tmp_path / "mine")).knows("york")
    assert len(list((tmp_path / "cache").iterdir())) == 2


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


LABELS = st.text(st.characters(codec="utf-8") | st.sampled_from(" -.,:'’&+#$£€()IVXé"), min_size=1, max_size=30)


def all_of(index: NameIndex) -> list[object]:
    """What an index tells."""
    told: list[object] = [index.longest, [index.name(number) for number in range(len(index.texts))]]
    for text in index.texts:
        told.append(index.whole(text.replace(" ", "")))
        told += [(index.rarity(word), index.holding(word, 9), index.knows(word)) for word in text.split(" ")]
    return [*told, [FuzzyNames(index).nearest(text.split(" ")) for text in index.texts[:20]]]


@given(st.dictionaries(LABELS, st.tuples(LABELS, LABELS), min_size=1, max_size=6))
def test_names_that_were_kept_are_those_that_are_found(aliases):
    info = {label: EntityInfo(aliases=own) for label, own in aliases.items()}
    kg = KnowledgeGraph.from_triples([(label, "is", "The \ud800 Alphabet") for label in aliases], info=info)
    with tempfile.TemporaryDirectory() as folder:
        cache = ArrayCache(FilePath(folder), min_labels=1)
        first, again = NameIndex(kg, cache), NameIndex(kg, cache)
    assert all_of(first) == all_of(again) == all_of(NameIndex(kg))


def test_an_embedded_graph_that_was_kept_is_that_of_its_files(tmp_path, monkeypatch):
    shutil.copytree(catalogue.embedded_folder("chemistry"), tmp_path / "data" / "copy")
    monkeypatch.setattr(catalogue, "_HERE", tmp_path / "data")
    plain, cache = open_graph("copy"), ArrayCache(tmp_path / "cache", min_labels=5)
    open_graph("copy", cache=cache)
    monkeypatch.setattr(KnowledgeGraph, "from_triples", lambda *_: pytest.fail("it is kept"))
    kept = open_graph("copy", cache=cache)
    assert list(kept.triples()) == list(plain.triples())
    assert (kept.name, kept.step_labels) == (plain.name, plain.step_labels)
    assert list(kept.info.items()) == list(plain.info.items())
    assert kept.literals == plain.literals
    monkeypatch.undo()
    monkeypatch.setattr(catalogue, "_HERE", tmp_path / "data")
    (file,) = (tmp_path / "cache").iterdir()
    cut_short(file)
    assert list(open_graph("copy", cache=cache).triples()) == list(plain.triples())
    theme = catalogue.themes(tmp_path / "data" / "copy")[0]
    theme.write_text(theme.read_text("utf-8").partition("\n")[2], "utf-8")
    assert len(open_graph("copy", cache=cache)) == len(plain) - 1
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_a_small_embedded_graph_is_not_worth_a_file(tmp_path):
    assert len(open_graph("chemistry", cache=ArrayCache(tmp_path)))
    assert not list(tmp_path.iterdir())


def test_names_are_made_anew_when_the_graph_or_the_code_is_another(tmp_path, monkeypatch):
    cache = ArrayCache(tmp_path, min_labels=5)
    NameIndex(KG, cache)
    monkeypatch.setattr(names._Naming, "arrays", lambda self: pytest.fail("they are kept"))
    assert NameIndex(KG, cache).called("new 7")
    monkeypatch.undo()
    other = KnowledgeGraph.from_triples(KG.triples(), info={"York": EntityInfo(aliases=("Eboracum",))})
    assert NameIndex(other, cache).called("eboracum")
    monkeypatch.setattr(names, "__file__", str(tmp_path / "names.py"))
    for name in ("names.py", "words.py"):
        (tmp_path / name).write_text("another")
    NameIndex(KG, cache)
    assert len(list(tmp_path.glob("*.npz"))) == 3


@pytest.mark.parametrize("damage", [cut_short, nameless, pickled, lambda file: file.write_bytes(b"")])
def test_damaged_names_are_made_anew(tmp_path, damage):
    cache = ArrayCache(tmp_path, min_labels=5)
    whole = all_of(NameIndex(KG, cache))
    (file,) = tmp_path.iterdir()
    damage(file)
    assert all_of(NameIndex(KG, cache)) == whole
    assert read_arrays(file)
