"""The checker of embedded graphs: each rule finds what breaks it, and the graphs that ship break none."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from kgdemo.cli import main
from kgdemo.kg.io.catalogue import embedded_folder, embedded_names, read_schema
from kgdemo.lab.check_graph import check_folder, disagreements

SCHEMA = [
    "relation\tdomain\trange\tinverse\tkind\tgloss",
    "capital\tcountry\tcity\tcapital of\tone\tthe seat of government",
    "shares border with\tcountry\tcountry\tshares border with\tsymmetric\tthey touch",
    "located in\tplace\tplace\tcontains\tmany\twhere it is",
    "born in year\tperson\tyear\tbirth year of\tone\twhen someone was born",
    "died in year\tperson\tyear\tdeath year of\tone\twhen someone died",
]
FACTS = [
    "Austria\tcapital\tVienna",
    "Austria\tshares border with\tItaly",
    "Vienna\tlocated in\tAustria",
    "Augustus\tborn in year\t63 BC",
    "Augustus\tdied in year\t14",
]
ENTITIES = ["Austria\tcountry", "Italy\tcountry", "Vienna\tcity", "Augustus\tperson\tOctavian"]


def findings(folder: Path, schema: list[str] = SCHEMA, facts: list[str] = FACTS, names: list[str] = ENTITIES) -> str:
    """What the checker says of a graph of these lines, one finding a line."""
    for file, lines in (("schema.tsv", schema), ("facts.tsv", facts), ("facts.entities.tsv", names)):
        (folder / file).write_text("".join(line + "\n" for line in lines), "utf-8")
    return "\n".join(map(str, check_folder(folder)))


def test_a_sound_graph_has_no_findings(tmp_path):
    assert findings(tmp_path) == ""


@pytest.mark.parametrize(
    ("fact", "kind"),
    [
        ("Austria\tcapital\tVienna", "written twice"),
        ("Austria\tcapital\tGraz", "more than one tail: capital: Austria | Vienna, Graz"),
        ("Italy\tshares border with\tAustria", "symmetric pair written both ways"),
        ("Italy\tshares border with\tItaly", "symmetric with itself"),
        ("Austria\tlocated in\tVienna", "true one way only: located in: Austria | Vienna"),
        ("Vienna\tcapital\tGraz", "head of type city, not country"),
        ("Italy\tcapital\tAustria", "tail of type country, not city"),
        ("Italy\tcapital\tRome", "name without a type"),
        ("Italy\tanthem\tVienna", "relation not in the schema"),
    ],
)
def test_a_fact_that_breaks_a_rule_is_found(fact: str, kind: str, tmp_path):
    assert kind in findings(tmp_path, facts=[*FACTS, fact], names=[*ENTITIES, "Graz\tcity"])


def test_nobody_dies_before_being_born(tmp_path):
    told = findings(tmp_path, facts=[*FACTS[:-1], "Augustus\tdied in year\t64 BC"])
    assert told == "ends before it begins: born in year: Augustus | 63 BC | 64 BC"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("largest city\tcountry\tcity\tlargest city of\tone\t", "incomplete: schema: largest city"),
        ("largest city\tcountry\tcity\tlargest city of\tsome\tthe biggest", "incomplete: schema: largest city"),
        ("largest city\tcountry\tcity\tcapital of\tone\tthe biggest", "inverse reading is another relation's"),
        ("largest city\tcountry\tcity\tcapital\tone\tthe biggest", "inverse reading is another relation's"),
        ("ally\tcountry\tcountry\tally of\tsymmetric\tfriends", "symmetric, but not read so"),
        ("largest city\tcountry\tcity\tlargest city of\tone\tthe biggest", "relation without a fact"),
    ],
)
def test_a_schema_that_breaks_a_rule_is_found(line: str, kind: str, tmp_path):
    assert kind in findings(tmp_path, schema=[*SCHEMA, line])


def test_names_that_nothing_is_said_of_and_two_types_for_one_name(tmp_path):
    told = findings(tmp_path, names=[*ENTITIES, "Atlantis\tcountry", "Vienna\tregion"])
    assert "name without a fact: entities: Atlantis" in told
    assert "type region here, city elsewhere" in told


def test_public_sets_are_compared_by_name_alias_and_direction(tmp_path):
    own, public = tmp_path / "own", tmp_path / "public"
    for folder in (own, public / "countries", public / "fb15k237"):
        folder.mkdir(parents=True)
    findings(own, facts=[*FACTS, "Italy\tcapital\tRoma"], names=[*ENTITIES, "Roma\tcity\tRome"])
    (public / "countries" / "triples.tsv").write_text(
        "Austria\tcapital\tLinz\nItaly\tcapital\tRome\nItaly\tshares border with\tAustria\n", "utf-8"
    )
    with gzip.open(public / "fb15k237" / "triples.tsv.gz", "wt", encoding="utf-8") as stream:
        stream.write("Austria\t/location/country/capital\tVienna\n")
    told = [str(finding) for finding in disagreements(own, public)]
    assert [line for line in told if line.startswith("disagrees")] == [
        "disagrees: countries/triples.tsv: Austria | capital | Vienna; there: Linz"
    ]
    assert "compared: capital: 3 facts" in told
    assert "compared: shares border with: 1 facts" in told


@pytest.mark.parametrize("name", embedded_names())
def test_the_graphs_that_ship_are_well_made(name: str, capsys):
    assert main(["kg", "check", name]) == 0
    assert capsys.readouterr().out == f"0 findings in {name}\n"
    schema = read_schema(embedded_folder(name))
    assert any(relation.kind == "one" for relation in schema.values())
