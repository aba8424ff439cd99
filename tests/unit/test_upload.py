"""A graph that a visitor brings: all formats, both limits, and every mistake in one sentence with its line."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.errors import GraphFormatError
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io import formats as upload
from kgdemo.kg.io.formats import PASTED, read_upload
from kgdemo.kg.xray import starters
from kgdemo.linking.linker import EntityLinker
from kgdemo.settings import PUBLIC
from tests.helpers.small import NASTY

FILMS = [("Heat", "directed by", "Michael Mann"), ("Heat", "cast", "Al Pacino"), ("Al Pacino", "born_in", "New York")]
TSV = "".join(f"{h}\t{r}\t{t}\n" for h, r, t in FILMS)
CSV = "head,relation,tail\n" + "".join(f'"{h}",{r},{t}\n' for h, r, t in FILMS)
JSONL = "".join(json.dumps({"head": h, "relation": r, "tail": t}) + "\n" for h, r, t in FILMS)
NT = "".join(f'<http://x.org/{h}> <http://x.org/{r}> "{t}" .\n' for h, r, t in FILMS)
LIMITS = (PUBLIC.upload_bytes, PUBLIC.upload_triples)


@pytest.mark.parametrize(("text", "suffix"), [(TSV, "tsv"), (CSV, "csv"), (JSONL, "jsonl"), (NT, "nt")])
def test_each_format_reads_alike_pasted_sent_and_packed(text, suffix):
    expected = [(h, r.replace("_", " ") if suffix == "nt" else r, t) for h, r, t in FILMS]
    content = text.encode()
    assert read_upload(content, PASTED, *LIMITS) == expected
    assert read_upload(content, f"films.{suffix}", *LIMITS) == expected
    assert read_upload(gzip.compress(content), f"films.{suffix}.gz", *LIMITS) == expected


@pytest.mark.parametrize(
    ("content", "name", "says"),
    [
        (b"a\tb\tc\na\tb\n", PASTED, "line 2: 2 columns"),
        (b'{"head": "a"}', PASTED, "line 1"),
        (b"[" * 100_000, "deep.jsonl", "line 1"),
        (b'{"head": "\\ud800", "relation": "b", "tail": "c"}', PASTED, "line 1: half a character"),
        (b"a,b,c\nd,e", PASTED, "line 2"),
        (b"<a> <b> .", PASTED, "line 1"),
        (b"", PASTED, "no triples"),
        (b" \n\n", PASTED, "no triples"),
        (b"\xff\xfe", PASTED, "UTF-8"),
        (b"a\0b", "x.tsv", "binary"),
        (b"a\tb\tc", "/etc/passwd", "no known triple format"),
        (gzip.compress(TSV.encode(), mtime=0)[:-9], "cut.tsv.gz", "damaged"),
        (b"\x1f\x8b nonsense", PASTED, "damaged"),
    ],
)
def test_a_mistake_is_one_sentence(content, name, says):
    with pytest.raises(GraphFormatError, match=says) as caught:
        read_upload(content, name, *LIMITS)
    assert str(caught.value)[-1] in ".…"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "name", "good", "says"),
    [
        (b"a\tb\tc\na\tb\n\nd\te\tf\n\tx\ty\n", PASTED, 2, ["line 2: 2 columns", "line 5: head, relation and tail"]),
        (b"head,relation,tail\na,b,c\na,b\n", PASTED, 1, ["line 3: 2 columns"]),
        (b'{"head": "a", "relation": "b", "tail": "c"}\n{"head": 1}\n', PASTED, 1, ["line 2: write"]),
        (b'<http://x.org/a> <http://x.org/b> "c" .\nnonsense\n', "x.nt", 1, ["line 2"]),
    ],
)
def test_lines_that_are_no_triples_are_told_and_passed_over_on_request(content, name, good, says):
    with pytest.raises(GraphFormatError):
        read_upload(content, name, *LIMITS)
    faults: list[str] = []
    assert len(read_upload(content, name, *LIMITS, faults=faults)) == good
    assert len(faults) == len(says)
    assert all(fault.startswith(start) for fault, start in zip(faults, says, strict=True)), faults


@given(st.lists(st.text("ab\t ", max_size=8), max_size=12))
def test_what_is_passed_over_is_just_what_no_line_alone_gives(lines):
    alone, faulty = [], 0
    for line in lines:
        try:
            alone += read_upload(f"{line}\n".encode(), "x.tsv", *LIMITS)
        except GraphFormatError:
            faulty += bool(line.strip())
    faults: list[str] = []
    try:
        assert read_upload("".join(f"{line}\n" for line in lines).encode(), "x.tsv", *LIMITS, faults=faults) == alone
    except GraphFormatError:
        assert not alone
    assert len(faults) == faulty


@pytest.mark.parametrize("name", ["x.tsv", "x.jsonl", "x.nt", "x.csv"])
def test_a_file_of_other_lines_is_given_up_early(name):
    faults: list[str] = []
    with pytest.raises(
        GraphFormatError, match=r"more than 1,000 lines that are no triples, first line 1: .+\."
    ) as told:
        read_upload(b"x\n" * 200_000, name, *LIMITS, faults=faults)
    assert len(faults) == 1001
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("blank", [b"\n", b"x\n"])
def test_a_file_of_very_many_lines_is_not_read_at_all(blank, monkeypatch):
    monkeypatch.setattr(upload, "parse_triples", lambda *_: 1 / 0)
    with pytest.raises(GraphFormatError, match="more than 200,000 lines; shorten it"):
        read_upload(blank * 200_001, "x.tsv", *LIMITS)
    packed = gzip.compress(blank * 200_001)
    with pytest.raises(GraphFormatError, match="more than 200,000 lines; shorten it"):
        read_upload(packed, "x.tsv.gz", *LIMITS)


def test_the_limits_hold_before_and_after_unpacking():
    bomb = gzip.compress(b"a\tb\tc\n" * 1_000_000)
    with pytest.raises(GraphFormatError, match="unpacks to more than"):
        read_upload(bomb, "bomb.tsv.gz", *LIMITS)
    with pytest.raises(GraphFormatError, match="at most"):
        read_upload(b"x" * 401, PASTED, 400, 5)
    with pytest.raises(GraphFormatError, match="more than 5 triples"):
        read_upload(b"a\tb\tc\n" * 6, PASTED, 400, 5)
    assert len(read_upload(b"a\tb\tc\n" * 5, PASTED, 400, 5)) == 5


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace"))))
def test_whatever_is_pasted_gives_triples_or_a_sentence(content):
    try:
        triples = read_upload(content, PASTED, *LIMITS)
    except GraphFormatError as error:
        assert str(error)
    else:
        assert all(len(triple) == 3 and all(triple) for triple in triples)


def test_starter_questions_name_entities_that_the_linker_finds():
    kg = KnowledgeGraph.from_triples([*FILMS, *(("Nasty", label[:200], label) for label in NASTY)])
    asked = starters(kg)
    assert "What is Al Pacino born in?" in asked
    linker = EntityLinker(kg)
    assert all(linker.link(question).chosen for question in asked)
    assert len(asked) == len(set(asked)) <= 3


@pytest.mark.parametrize(
    ("relation", "question"),
    [
        ("mother", "What is the mother of Ada?"),
        ("born in", "What is Ada born in?"),
        ("works_at", "Ada works at what?"),
        ("boss", "What is the boss of Ada?"),
    ],
)
def test_a_starter_question_reads_like_one(relation: str, question: str):
    assert starters(KnowledgeGraph.from_triples([("Ada", relation, "Something")])) == [question]
