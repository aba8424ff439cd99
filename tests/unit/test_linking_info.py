"""Side files about entities: with a header or without, and errors that name the line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from kgdemo.cli import main
from kgdemo.errors import GraphFormatError
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.io.catalogue import open_graph
from kgdemo.kg.io.formats import EntityRow, entity_rows, read_entity_info
from kgdemo.kg.io.saved import save
from kgdemo.linking.linker import EntityLinker

HEADER = "mid\tlabel\tfreebase_name\twikidata_label\twikidata_id\tdescription\n"


def written(folder: Path, text: str | bytes, name: str = "entities.tsv") -> Path:
    data = text.encode() if isinstance(text, str) else text
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


@pytest.mark.parametrize("name", ["entities.tsv", "entities.tsv.gz"])
def test_columns_are_taken_by_name(tmp_path: Path, name: str):
    text = HEADER + (
        "/m/1\tHackensack\tHackensack\tHackensack, New Jersey\tQ1\tcity in New Jersey\n"
        "/m/2\tpipe organ\tpipe_organ\tQ281460\tQ281460\t\n"
        "/m/3\tBeck Hansen\tBeck_Hansen\tBeck\tQ3\tmusician\r\n"
    )
    info = read_entity_info(written(tmp_path, text, name))
    assert info["Hackensack"] == EntityInfo("", ("Hackensack, New Jersey",), "city in New Jersey")
    assert info["pipe organ"] == EntityInfo(), "an identifier is no name"
    assert info["Beck Hansen"] == EntityInfo("", ("Beck",), "musician")


def test_columns_may_stand_in_any_order(tmp_path: Path):
    info = read_entity_info(written(tmp_path, "Description\tEntity\tAliases\tType\na city\tParis\tLutetia | \tcity\n"))
    assert info == {"Paris": EntityInfo("city", ("Lutetia",), "a city")}


def test_a_file_without_a_header(tmp_path: Path):
    text = "Paris\tcity\tCity of Light | Lutetia\nLabel\tcompany\nOslo\n\nParis\tcity\tLutetia | Paname\n"
    assert read_entity_info(written(tmp_path, text)) == {
        "Paris": EntityInfo("city", ("City of Light", "Lutetia", "Paname")),
        "Label": EntityInfo("company"),
        "Oslo": EntityInfo(),
    }


def test_an_embedded_graph_gives_every_entity_a_type(tmp_path: Path):
    written(tmp_path, "Paris\tcity\tLutetia\n", "a.entities.tsv")
    written(tmp_path, "Oslo\tcity\nRome\n", "b.entities.tsv")
    rows = entity_rows(tmp_path)
    assert next(rows) == EntityRow("a.entities.tsv, line 1", "Paris", EntityInfo("city", ("Lutetia",)))
    assert next(rows).label == "Oslo"
    with pytest.raises(GraphFormatError, match=r"b\.entities\.tsv, line 2: write entity"):
        next(rows)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEADER + "/m/1\tParis\n/m/2\t\tx\n", "line 3: the entity is missing"),
        ("Paris\tcity\ta\tb\n", "line 1: 4 columns where 3 are expected"),
        (b"Paris\tcity\nK\xf6ln\tcity\n", "line 2: not UTF-8"),
        (b"Paris\0\tcity\n", "line 1: this is a binary file"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, content: str | bytes, message: str):
    with pytest.raises(GraphFormatError, match=message):
        read_entity_info(written(tmp_path, content))


def test_missing_and_damaged_files(tmp_path: Path):
    with pytest.raises(GraphFormatError, match="There is no file"):
        read_entity_info(tmp_path / "none.tsv")
    path = written(tmp_path, "Paris\tcity\n" * 1000, "entities.tsv.gz")
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(GraphFormatError, match="damaged or cut off"):
        read_entity_info(path)


def test_aliases_are_linked(tmp_path: Path):
    info = read_entity_info(written(tmp_path, HEADER + "/m/1\tBeck Hansen\tBeck_Hansen\tLoser Man\tQ3\tmusician\n"))
    linker = EntityLinker(KnowledgeGraph.from_triples([("Beck Hansen", "genre", "rock")], info=info))
    found = linker.link("which genre is loser man")
    assert found.chosen == ("Beck Hansen",)
    assert found.mentions[0].candidates[0].description == "musician"


def test_a_side_file_is_saved_with_the_graph(tmp_path):
    facts, side, saved = (
        tmp_path / "facts.tsv",
        written(tmp_path, "Paris\tcity\tLutetia\nRome\tcity\n"),
        tmp_path / "kg",
    )
    facts.write_text("Paris\tcapital of\tFrance\n", "utf-8")
    assert main(["kg", "save", str(facts), "--entities", str(side), "--out", str(saved)]) == 0
    kg = open_graph(str(saved))
    assert kg.info == {"Paris": EntityInfo("city", ("Lutetia",))}
    linked = EntityLinker(kg).link("what is Lutetia the capital of").mentions
    assert [mention.candidates[0].entity for mention in linked] == ["Paris"]


@pytest.mark.parametrize("source", ["world", "saved"])
def test_a_side_file_goes_with_a_triple_file_alone(tmp_path, source, capsys):
    side, folder = written(tmp_path, "Paris\tcity\n"), tmp_path / "kg"
    triples = [("Paris", "capital of", "France")]
    save(KnowledgeGraph.from_triples(triples), StatedFacts(triples), folder)
    graph = str(folder) if source == "saved" else source
    assert main(["kg", "save", graph, "--entities", str(side), "--out", str(tmp_path / "other")]) != 0
    assert "with a triple file" in capsys.readouterr().err
