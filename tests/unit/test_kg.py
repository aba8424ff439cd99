"""Graph and formats: what goes in comes out, and what is wrong is named with its line."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path as FilePath

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.errors import GraphFormatError, UserError
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.io.catalogue import open_graph
from kgdemo.kg.io.formats import parse_triples, read_triples
from kgdemo.kg.io.saved import save
from kgdemo.kg.labels import LabelTable, Literal, relation_name, spoken
from tests.helpers.oracles import backwards
from tests.helpers.strategies import graphs, labels


@settings(max_examples=200, deadline=None)
@given(st.lists(labels))
def test_label_table_is_the_sorted_set(names):
    table = LabelTable.from_labels(names)
    assert sorted(set(names), key=lambda n: n.encode()) == list(table)
    assert all(table[table.find(name)] == name for name in names)
    assert table.find("surely not a label of this table") is None
    backwards_twice = [*range(len(table) - 1, -1, -1)] * 2
    assert table.at(np.array(backwards_twice, np.int32)) == [table[place] for place in backwards_twice]


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_triples_survive_and_repeats_collapse(triples):
    kg = KnowledgeGraph.from_triples([*triples, *triples])
    assert set(kg.triples()) == set(triples)
    assert len(kg) == len(set(triples))
    for head, relation, tail in triples:
        assert kg.has_triple(head, relation, tail)
        assert (relation, tail) in kg.neighbours(head)
        inverse = backwards(relation, kg.relations)
        assert (inverse, head) in kg.neighbours(tail)
        assert (inverse, head) not in kg.neighbours(tail, directed=True)


@settings(max_examples=100, deadline=None)
@given(graphs(), st.lists(st.sampled_from(["film", "person", ""]), min_size=6, max_size=6))
def test_what_can_be_stated_of_a_type_is_what_is_stated_of_its_members(triples, kinds):
    names = sorted({name for head, _, tail in triples for name in (head, tail)})
    info = {name: EntityInfo(type=kind) for name, kind in zip(names, kinds, strict=False)}
    values = {name: {f"{name} long": Literal("1", "m")} for name in names[::2]}
    kg = KnowledgeGraph.from_triples(triples, info=info, literals=values)
    for kind in ("film", "person"):
        members = [name for name, known in info.items() if known.type == kind]
        assert kg.labels_of_type(kind) == {label for name in members for label, _ in kg.neighbours(name)}
        for label, types in kg.steps_of_type(kind).items():
            ends = {end for name in members for own, end in kg.neighbours(name) if own == label}
            assert types == {info[end].type if end in info else "" for end in ends}
        assert kg.attributes_of_type(kind) == {value for name in members for value in values.get(name, {})}
    assert kg.labels_of_type("no such type") == frozenset()
    assert kg.attributes_of_type("no such type") == frozenset()


def test_inverse_steps_read_as_the_schema_says():
    kg = KnowledgeGraph.from_triples(
        [("Inception", "directed by", "Nolan"), ("France", "borders", "Spain")],
        inverse_labels={"directed by": "directed", "borders": "borders"},
    )
    assert kg.neighbours("Nolan") == [("directed", "Inception")]
    assert kg.neighbours("Spain") == [("borders", "France")]


FILES = {
    "a.tsv": "Inception\tdirected by\tNolan\nNolan\tborn in\tLondon\n",
    "a.csv": 'head,relation,tail\nInception,directed by,Nolan\nNolan,born in,"London"\n',
    "a.jsonl": '{"head": "Inception", "relation": "directed by", "tail": "Nolan"}\n'
    '{"head": "Nolan", "relation": "born in", "tail": "London"}\n',
    "a.nt": "# films\n<http://x/Inception> <http://x#directed_by> <http://x/Nolan> .\n"
    '<http://x/Nolan> <http://x/born%20in> "London"@en .\n',
    "a.ttl": "# films\n@prefix f: <http://x/> .\nPREFIX r: <http://x#>\nf:Inception r:directed_by\n  f:Nolan .\n"
    'f:Nolan r:born_in "London"@en .',
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("packed", [False, True])
def test_every_format_reads_the_same(tmp_path: FilePath, name, packed):
    file = tmp_path / (name + ".gz" * packed)
    data = FILES[name].encode()
    file.write_bytes(gzip.compress(data) if packed else data)
    assert list(read_triples(file)) == [("Inception", "directed by", "Nolan"), ("Nolan", "born in", "London")]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.tsv", b"a\tb\tc\na\tb\n", "a.tsv, line 2: 2 columns"),
        ("a.tsv", b"a\tb\tc\n\xff\xfe\n", "a.tsv, line 2: not UTF-8"),
        ("a.tsv", b"a\tb\tc\na\0b\n", "a.tsv, line 2: this is a binary file"),
        ("a.tsv", b"a\t\tc\n", "line 1: head, relation and tail must all be given"),
        ("a.tsv", b"\n\n", "holds no triples"),
        ("a.csv", b"a,b,c\na,b\n", "a.csv, line 2: 2 columns"),
        ("a.jsonl", b'{"head": "a"}\n', "a.jsonl, line 1"),
        ("a.jsonl", b'{"head": 1, "relation": "b", "tail": "c"}\n', "must be strings"),
        ("a.nt", b"<a> <b> .\n", "a.nt, line 1"),
        ("a.pdf", b"", "no known triple format"),
        ("a.tsv.gz", gzip.compress(b"a\tb\tc\n" * 9999, mtime=0)[:-20], "damaged or cut off"),
        ("a.tsv.gz", b"no gzip at all", "damaged or cut off"),
    ],
)
def test_bad_files_are_named(tmp_path: FilePath, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(GraphFormatError) as caught:
        list(read_triples(tmp_path / name))
    assert words in str(caught.value)


def test_a_missing_file_is_named(tmp_path: FilePath):
    with pytest.raises(GraphFormatError, match="There is no file"):
        list(read_triples(tmp_path / "none.tsv"))


@settings(max_examples=200, deadline=None)
@given(st.text(), st.sampled_from([".tsv", ".csv", ".jsonl", ".nt", ".ttl"]))
def test_any_text_is_triples_or_a_named_error(text, suffix):
    try:
        triples = list(parse_triples(text.split("\n"), suffix, "upload"))
    except GraphFormatError as error:
        assert "upload" in str(error)
    else:
        assert all(len(triple) == 3 and all(triple) for triple in triples)


@settings(max_examples=30, deadline=None)
@given(graphs())
def test_a_saved_graph_opens_as_it_was(tmp_path_factory, triples):
    folder = tmp_path_factory.mktemp("saved") / "graph"
    info = {triples[0][0]: EntityInfo("place", ("alias",), "words", {"height": "8848"})}
    kg = KnowledgeGraph.from_triples(triples, "mine", {triples[0][1]: "back"}, info)
    save(kg, StatedFacts(triples, kg.inverse_labels), folder)
    again = open_graph(str(folder))
    assert list(again.triples()) == list(kg.triples())
    assert (again.name, again.step_labels, again.info) == (kg.name, kg.step_labels, kg.info)
    assert isinstance(again.outgoing.targets, np.memmap)
    for head in kg.entities:
        assert again.neighbours(head) == kg.neighbours(head)


def test_a_damaged_saved_graph_is_named(tmp_path: FilePath):
    triples = [("a", "r", "b")]
    save(KnowledgeGraph.from_triples(triples), StatedFacts(triples), tmp_path / "g")
    (tmp_path / "g" / "outgoing.targets.npy").unlink()
    with pytest.raises(GraphFormatError, match="save it again"):
        open_graph(str(tmp_path / "g"))


def test_a_save_that_breaks_off_anywhere_leaves_no_graph_and_takes_none_from_who_has_it_open(tmp_path, monkeypatch):
    old, new = [("a", "r", "b"), ("b", "r", "c")], [("a", "s", "c"), ("c", "s", "d"), ("d", "s", "e")]
    folder, written, whole = tmp_path / "g", [], []
    write = np.save

    def breaking(file, array):
        if len(written) == len(whole):
            raise OSError(28, "No space left on device", str(file))
        written.append(file)
        write(file, array)

    for _ in range(12):
        save(KnowledgeGraph.from_triples(old), StatedFacts(old), folder)
        opened = open_graph(str(folder))
        written.clear()
        monkeypatch.setattr(np, "save", breaking)
        try:
            save(KnowledgeGraph.from_triples(new), StatedFacts(new), folder)
        except OSError:
            with pytest.raises(UserError):
                open_graph(str(folder))
        else:
            assert sorted(open_graph(str(folder)).triples()) == new
        assert sorted(opened.triples()) == old
        monkeypatch.setattr(np, "save", write)
        whole.append(None)
    assert len(written) == 11, "the last of these saves was not broken off"


def test_a_full_disk_is_one_sentence(tmp_path):
    (tmp_path / "kg.tsv").write_text("".join(f"entity {n}\tr\tentity {n + 1}\n" for n in range(2000)), "utf-8")
    limited = (
        "import resource, signal, sys; from kgdemo.cli import main; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", limited, "kg", "save", "kg.tsv", "--out", "saved"]
    environment = {**os.environ, "PYTHONPATH": str(FilePath(__file__).parents[2]), "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert "cannot be read or written" in ran.stderr


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("directed by", "directed by"),
        ("~born_in", "born in"),
        ("/film/film/directed_by", "film directed by"),
        ("/award/award_winner/awards_won./award/award_honor/award", "awards won award honor"),
        ("people.person.place_of_birth", "people person place of birth"),
        ("/", ""),
    ],
)
def test_relations_are_read_as_words(label, words):
    assert spoken(label) == words


def test_the_same_relation_has_one_name_in_all_graphs():
    assert relation_name("/film/film/directed_by") == relation_name("directed_by") == "directed by"
    assert relation_name("film.film.directed_by") == "film.film.directed by", "which no model has learnt to write"
    assert relation_name("Directed by") == "directed by" != relation_name("/film/director/film")
