"""Graphs as published: made-up samples of each form are recognised, opened, asked and verified; others are named."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from kgdemo.cli import main
from kgdemo.errors import GraphFormatError
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.io.catalogue import open_facts, open_graph
from kgdemo.kg.io.published import Names
from kgdemo.lab.questions import Question, answerable_in, read_questions, with_graph_labels
from kgdemo.verify import Verifier

GRBENCH = {
    "paper_nodes": {
        "p1": {
            "features": {"title": "On Graphs", "abstract": "long " * 90, "year": 2001, "keywords": ["graphs", ""]},
            "neighbors": {"author": ["a1"], "cited_by": ["p2"], "venue": "v1"},
        },
        "p2": {"features": {"title": "On Graphs", "year": ""}, "neighbors": {"reference": ["p1"]}},
    },
    "author_nodes": {"a1": {"features": {"name": "Ada B."}, "neighbors": {"paper": ["p1"]}}},
    "venue_nodes": {"v1": {"features": {"name": "GraphConf"}, "neighbors": {}}},
    "Disease_nodes": {"d1": {"features": {"name": "cold"}, "neighbors": {"Disease-presents-Symptom": ["s1"]}}},
    "Symptom_nodes": {"s1": {"features": {"name": "cough"}, "neighbors": {"Disease-presents-Symptom": ["d1"]}}},
}
W, P = "http://www.wikidata.org/entity", "http://www.wikidata.org/prop/direct"
RDFS, SKOS, XSD = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2004/02/skos/core#", "XMLSchema"
WIKIDATA = f"""<{W}/Q42> <{P}/P31> <{W}/Q5> .
<{W}/Q42> <{P}/P569> "+1952-03-11T00:00:00Z"^^<http://www.w3.org/2001/{XSD}#dateTime> .
<{W}/Q42> <{P}/P2048> "+1.96"^^<http://www.w3.org/2001/{XSD}#decimal> .
<{W}/Q42> <{P}/P214> "113230702" .
<{W}/Q42> <{P}/P800> <{W}/Q3107329> .
<{W}/Q42> <{P}/P18> <http://commons.wikimedia.org/x.jpg> .
<{W}/Q42> <{RDFS}label> "Douglas Adams"@en .
<{W}/Q42> <{RDFS}label> "Douglas Adams (de)"@de .
<{W}/Q42> <{SKOS}prefLabel> "Douglas Adams"@en .
<{W}/Q42> <{SKOS}altLabel> "Douglas Noel Adams"@en .
<{W}/Q42> <http://schema.org/description> "English writer"@en .
<{W}/Q5> <{RDFS}label> "human"@en .
<{W}/P31> <{RDFS}label> "instance of"@en .
<{W}/P800> <{RDFS}label> "human"@en .
<{W}/Q7> <{P}/P31> <{W}/Q5> .
<{W}/Q7> <{RDFS}label> "human"@en .
"""
CONCEPTNET = "\n".join(
    f"/a/[{r}/,{h}/,{t}/]\t{r}\t{h}\t{t}\t" + json.dumps({"dataset": "/d/x", "weight": 2.0})
    for r, h, t in (
        ("/r/Synonym", "/c/de/hund", "/c/en/dog"),
        ("/r/IsA", "/c/en/hot_dog/n/wn/food", "/c/en/food"),
        ("/r/HasPrerequisite", "/c/en/eat", "/c/en/food/n"),
        ("/r/RelatedTo", "/c/en/food/v", "/c/en/food"),
        ("/r/ExternalURL", "/c/en/food", "http://example.org/food"),
    )
)
UMLS = """C0000001|A1|AUI|RO|C0000002|A2|AUI|may_treat|R1||MED|MED|||N||
C0000003|A1|AUI|PAR|C0000002|A2|AUI||R2||MED|MED|||N||
C0000003|A1|AUI|SY|C0000003|A2|AUI||R3||MED|MED|||N||
"""


def _concept(cui: str, language: str, kind: str, name: str) -> str:
    return f"{cui}|{language}|{kind}|L|PF|S|Y|A|||M|MSH|PT|D1|{name}|0|N||\n"


CONCEPTS = (
    _concept("C0000001", "FRE", "P", "Rhume")
    + _concept("C0000001", "ENG", "S", "Coryza")
    + _concept("C0000001", "ENG", "P", "Common Cold")
    + _concept("C0000002", "ENG", "P", "Honey")
)
FB2M = (
    "www.freebase.com/m/01a\twww.freebase.com/film/film/directed_by\twww.freebase.com/m/02b www.freebase.com/m/03c\n"
    "www.freebase.com/m/02b\twww.freebase.com/people/person/place_of_birth\twww.freebase.com/m/04d\n"
)
FB_NAMES = """<fb:m.01a>\t<fb:type.object.name>\t"Inception"@en\t.
m.02b\ttype.object.name\tChristopher Nolan
m.02b\tcommon.topic.alias\tNolan
fb:m.03c\t<fb:type.object.name>\t"Christopher Nolan"@en\t.
"""

# form -> files of a folder, the first of them the graph; and its triples
SAMPLES: dict[str, tuple[dict[str, str], set[tuple[str, str, str]]]] = {
    "ConceptNet": (
        {"assertions.csv.gz": CONCEPTNET},
        {("hot dog", "is a", "food"), ("eat", "has prerequisite", "food")},
    ),
    "ConceptNet with commas": (
        {"conceptnet.csv": "start,relation,end\n/c/en/dog,/r/IsA,/c/en/animal\n"},
        {("dog", "is a", "animal")},
    ),
    "ConceptNet in English": (
        {"conceptnet.en.txt": "/r/IsA\t/c/en/dog\t/c/en/animal\t1.0\n"},
        {("dog", "is a", "animal")},
    ),
    "GRBench": (
        {"graph.json": json.dumps(GRBENCH)},
        {
            ("On Graphs", "author", "Ada B."),
            ("On Graphs", "cited_by", "On Graphs (p2)"),
            ("On Graphs", "venue", "GraphConf"),
            ("On Graphs", "year", "2001"),
            ("On Graphs", "keywords", "graphs"),
            ("On Graphs (p2)", "reference", "On Graphs"),
            ("Ada B.", "paper", "On Graphs"),
            ("cold", "Disease-presents-Symptom", "cough"),
        },
    ),
    "UMLS": (
        {"MRREL.RRF": UMLS, "MRCONSO.RRF": CONCEPTS, "MRSTY.RRF": "C0000002|T1|A|Organic Chemical|AT||\n"},
        {("Honey", "may treat", "Common Cold"), ("Honey", "PAR", "C0000003")},
    ),
    "UMLS with a file of names": (
        {"relations.rrf": UMLS, "names.txt": "C0000001|Common Cold|\nC0000002\tHoney\n"},
        {("Honey", "may treat", "Common Cold"), ("Honey", "PAR", "C0000003")},
    ),
    "FB2M": (
        {"freebase-FB2M.txt": FB2M, "FB5M.name.txt": FB_NAMES},
        {
            ("Inception", "film.film.directed_by", "Christopher Nolan"),
            ("Inception", "film.film.directed_by", "Christopher Nolan (m.03c)"),
            ("Christopher Nolan", "people.person.place_of_birth", "m.04d"),
        },
    ),
    "Wikidata": (
        {"subset.nt": WIKIDATA},
        {
            ("Douglas Adams", "instance of", "human"),
            ("Douglas Adams", "P569", "1952-03-11"),
            ("Douglas Adams", "P2048", "1.96"),
            ("Douglas Adams", "human", "Q3107329"),
            ("human (Q7)", "instance of", "human"),
        },
    ),
}


def written(folder: Path, form: str) -> Path:
    for name, content in SAMPLES[form][0].items():
        data = content.encode()
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder / next(iter(SAMPLES[form][0]))


@pytest.mark.parametrize("form", SAMPLES)
def test_a_graph_is_recognised_and_the_verifier_reads_the_same(tmp_path: Path, form: str):
    source, expected = str(written(tmp_path, form)), SAMPLES[form][1]
    assert set(open_graph(source).triples()) == expected
    verifier = Verifier(open_facts(source))
    for triple in expected:
        _, verdict = verifier.verify_text(" -> ".join(triple))
        assert verdict.faithful


@pytest.mark.parametrize("form", SAMPLES)
def test_a_graph_is_asked_and_measured(tmp_path: Path, form: str):
    """Each triple is a question: its head and relation are given, its tail is looked for."""
    source, out = written(tmp_path, form), tmp_path / "out"
    lines = [
        {"id": str(n), "question": f"What is {r} of {h}?", "q_entity": [h], "answer": [t]}
        for n, (h, r, t) in enumerate(sorted(SAMPLES[form][1]))
    ]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    given = ["evaluate", f"--kg={source}", f"--questions={tmp_path / 'questions.jsonl'}", f"--out={out}"]
    assert main([*given, "--method=kaping", "--hops=1"]) == 0
    metrics = json.loads((out / "metrics.json").read_text("utf-8"))
    assert (metrics["questions"], metrics["failed"]) == (len(lines), 0)
    assert metrics["ceiling"] == metrics["faithful_ratio"] == metrics["path_hit@k"] == 1.0


def test_what_the_files_say_of_entities(tmp_path: Path):
    info = open_graph(str(written(tmp_path, "Wikidata"))).info
    assert info["Douglas Adams"].type == "human"
    assert info["Douglas Adams"].aliases == ("Q42", "Douglas Noel Adams")
    assert info["Douglas Adams"].description == "English writer"
    (tmp_path / "b").mkdir()
    info = open_graph(str(written(tmp_path / "b", "UMLS"))).info
    assert (info["Honey"].type, info["Common Cold"].aliases) == ("organic chemical", ("C0000001", "Coryza"))
    (tmp_path / "c").mkdir()
    info = open_graph(str(written(tmp_path / "c", "GRBench"))).info
    assert (info["Ada B."].type, info["On Graphs (p2)"].aliases) == ("author", ("p2", "On Graphs"))


def test_names_are_told_apart_and_ids_stand_for_what_has_none():
    names = Names([("1", "Paris"), ("2", "Paris"), ("1", "Lutetia"), ("3", "")])
    assert [names(key) for key in "123"] == ["Paris", "Paris (2)", "3"]
    assert names.info({}, {})["Paris"].aliases == ("1", "Lutetia")


def test_questions_with_ids_are_asked_by_the_graphs_names(tmp_path: Path):
    kg = open_graph(str(written(tmp_path, "FB2M")))
    line = (
        "www.freebase.com/m/01a\twww.freebase.com/film/film/directed_by\twww.freebase.com/m/03c\twho directed it\n"
        "www.freebase.com/m/99z\twww.freebase.com/film/film/directed_by\twww.freebase.com/m/04d\twho directed that\n"
    )
    (tmp_path / "test.txt").write_text(line, "utf-8")
    first, second = with_graph_labels(kg, read_questions(tmp_path / "test.txt"))
    assert (first.topic_entities, first.answers) == (("Inception",), ("Christopher Nolan (m.03c)",))
    assert (second.topic_entities, second.answers) == (("m.99z",), ("m.04d",))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("graph.rrf", "a|b|c\n", "graph.rrf has no known triple format; name it .tsv.*or give a published graph"),
        ("graph.json", '{"nodes": []}', "graph.json has no known triple format"),
        ("graph.json", '{"a_nodes": {"1": {"features": {}, "neighbors": {}}, "2": {"features": 1}}}', "no graph of GR"),
        ("graph.json", '{"a_nodes": {"1": {"features": {}, "neighbors": {}}', "is no graph of GRBench"),
        ("assertions.csv", CONCEPTNET + "\nnothing\n", "assertions.csv, line 6: no assertion"),
        ("MRREL.RRF", UMLS + "C0000003|A1\n", "MRREL.RRF, line 4: 2 columns apart by"),
        ("fb.txt", FB2M + "www.freebase.com/m/1\n", "fb.txt, line 3: 1 columns; FB2M has"),
        ("subset.nt", WIKIDATA + "<a> <b>\n", "subset.nt, line 1"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_in_one_sentence(tmp_path: Path, name: str, content: str, says: str):
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(GraphFormatError, match=says) as raised:
        open_graph(str(tmp_path / name))
    assert "\n" not in str(raised.value)


def test_a_folder_of_grbench_gives_its_graph_and_a_saved_graph_stays_one(tmp_path: Path, capsys):
    written(tmp_path, "GRBench")
    assert main(["kg", "save", str(tmp_path), "--out", str(tmp_path / "saved")]) == 0
    assert set(open_graph(str(tmp_path / "saved")).triples()) == SAMPLES["GRBench"][1]
    (tmp_path / "empty").mkdir()
    with pytest.raises(GraphFormatError, match="empty has no known triple format"):
        open_graph(str(tmp_path / "empty"))


def test_questions_and_graph_come_from_one_folder(tmp_path: Path):
    folder, out = tmp_path / "dblp", tmp_path / "out"
    folder.mkdir()
    written(folder, "GRBench")
    asked = {"qid": "10", "question": "Who is the author of On Graphs?", "answer": "Ada B."}
    (folder / "data.json").write_text(json.dumps(asked), "utf-8")
    assert main(["evaluate", "--questions", str(folder), "--method", "kaping", "--out", str(out)]) == 0
    assert json.loads((out / "settings.json").read_text("utf-8"))["graph"] == str(folder)
    assert json.loads((out / "metrics.json").read_text("utf-8"))["hit"] == 1.0


def test_of_another_graph_those_questions_are_asked_whose_names_are_held():
    info = {"United States": EntityInfo(aliases=("USA",))}
    kg = KnowledgeGraph.from_triples([("Honolulu", "located in", "United States")], info=info)
    held = Question("1", "where is honolulu?", ("Honolulu (city)",), ("usa", "Hawaii"))
    unknown_topic = Question("2", "where are honolulu and hilo?", ("Honolulu", "Hilo"), ("USA",))
    unknown_answer = Question("3", "where is honolulu?", ("Honolulu",), ("Hawaii",))
    (found,) = answerable_in(kg, [held, unknown_topic, unknown_answer])
    assert (found.topic_entities, found.answer_entities) == (("Honolulu",), ("United States",))
