"""RDF as labels: Turtle's short forms, nameless nodes, and mistakes named with their line."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.errors import GraphFormatError
from kgdemo.kg.io.formats import PASTED, parse_triples, read_triples, read_upload

PREFIX = "@prefix f: <http://x/> .\n@prefix : <http://y#> .\n"


def read(text: str, suffix: str = ".ttl") -> list[tuple[str, str, str]]:
    """The triples of a text."""
    return list(parse_triples(text.splitlines(keepends=True), suffix, f"a{suffix}"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f:a f:b f:c .", [("a", "b", "c")]),
        ("f:a f:b f:c, f:d ; f:e f:g .", [("a", "b", "c"), ("a", "b", "d"), ("a", "e", "g")]),
        ("f:a f:b f:c ; ; .", [("a", "b", "c")]),
        ("f:a a :Film .", [("a", "type", "Film")]),
        ("_:b1 f:b _:b2 .", [("_:b1", "b", "_:b2")]),
        (
            'f:a f:b "c"^^f:text , "d"@en-GB, 5, 1.5e3, true .',
            [("a", "b", t) for t in ("c", "d", "5", "1.5e3", "true")],
        ),
        ('f:a f:b "say \\"\\u00e9\\U0001F3AC\\" now\\tthen" .', [("a", "b", 'say "é🎬" now\tthen')]),
        ("f:a f:b 'it is', '''it's''' .", [("a", "b", "it is"), ("a", "b", "it's")]),
        ('f:a f:b """two\nlines, a # and "quotes" .""" .', [("a", "b", 'two\nlines, a # and "quotes" .')]),
        ("f:a f:b f:c.d . # not f:x\nf:e f:b f:c.", [("a", "b", "c.d"), ("e", "b", "c")]),
        ("@base <http://z/> .\n<a_b> <born%20in> <#c> .", [("a b", "born in", "c")]),
        ("<no_scheme> <b> <with blank> .", [("no scheme", "b", "with blank")]),
        ("f:a f:b f:AC\\/DC .", [("a", "b", "DC")]),
        (
            "f:a f:b [ f:c f:d ], [ f:e f:g ] .",
            [
                ("_:nameless 1", "c", "d"),
                ("a", "b", "_:nameless 1"),
                ("_:nameless 2", "e", "g"),
                ("a", "b", "_:nameless 2"),
            ],
        ),
        (
            "f:a f:b (1 f:c) .",
            [
                ("_:nameless 1", "first", "1"),
                ("a", "b", "_:nameless 1"),
                ("_:nameless 2", "first", "c"),
                ("_:nameless 1", "rest", "_:nameless 2"),
                ("_:nameless 2", "rest", "nil"),
            ],
        ),
    ],
)
def test_turtle_is_read_as_it_is_meant(text, expected):
    assert read(PREFIX + text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("f:a f:b f:c", "line 3: Unexpected end"),
        ('f:a f:b "cut', "line 3: Unexpected end"),
        ('f:a f:b """cut\noff', "line 3: Unexpected end"),
        ('f:a f:b """not cut\nat all""" . f:b', "line 4: Unexpected end"),
        ("f:a f:b '''three\n\\'''\nlines''' ; .\nq:x", "line 6: The prefix q: has not been declared"),
        ("f:a .", "line 3: "),
        ("f:a f:b f:c f:d .", "line 3: A dot is expected"),
        ("\nq:a f:b f:c .", "line 4: The prefix q: has not been declared"),
        ('"a" f:b f:c .', "line 3: "),
        ("f:a f:b nonsense .", "line 3: nonsense is not a valid RDF object"),
        ("@prefix f <http://x/> .", "line 3: "),
        ('f:a f:b "\\UFFFFFFFF" .', "line 3: "),
        ('f:a f:b "\\ud800" .', "line 3: "),
        ('f:a f:b f:c . f:a f:b " " .', "triple 2 (a b (nothing)): head, relation and tail must all be given"),
    ],
)
def test_mistakes_are_named_in_one_sentence(text, words):
    with pytest.raises(GraphFormatError) as caught:
        read(PREFIX + text)
    said = str(caught.value)
    assert said.startswith(f"a.ttl, {words}")
    assert said.endswith(".")
    assert "\n" not in said


def test_n_triples_have_one_triple_a_line():
    good = '# films\n\n<http://x/a_b> <http://x#c> "d"@en .\n_:n1 <http://x/c%20d> "5"^^<http://t/int> . # five\n'
    assert read(good, ".nt") == [("a b", "c", "d"), ("_:n1", "c d", "5")]
    with pytest.raises(GraphFormatError, match=r"^a\.nt, line 5: .*write <head> <relation> <tail> \."):
        read(good + "<http://x/a> f:b <http://x/c> .\n", ".nt")


def test_triples_come_before_the_end_of_the_file_is_read():
    def lines():
        yield from ["<http://x/a> <http://x/b> <http://x/c> .\n"] * 9999
        raise AssertionError("read to the end")

    assert next(parse_triples(lines(), ".ttl", "a.ttl")) == ("a", "b", "c")


def test_turtle_may_be_pasted_and_the_limit_of_triples_holds():
    pasted = PREFIX.encode() + b"f:a f:b f:c; f:d f:e ."
    assert read_upload(pasted, PASTED, 1000, 2) == [("a", "b", "c"), ("a", "d", "e")]
    with pytest.raises(GraphFormatError, match="more than 1 triples"):
        read_upload(pasted, PASTED, 1000, 1)


names = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,8}", fullmatch=True)
texts = st.text(min_size=1, max_size=12).filter(lambda t: t.strip() and not any("\ud800" <= c <= "\udfff" for c in t))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(names, names, st.one_of(names, texts)), min_size=1, max_size=6), st.randoms())
def test_what_is_written_is_read_back(triples, rng):
    """The writer is the oracle: it abbreviates at random."""
    text, last = PREFIX, ("", "")
    for place, (head, relation, tail) in enumerate(triples):
        escaped = "".join(c if c.isalnum() and c.isascii() else f"\\U{ord(c):08X}" for c in tail)
        shown = rng.choice([f'"{escaped}"', f"'{escaped}'", f'"""{escaped}"""'])
        joint = "" if not place else ", " if last == (head, relation) else "; " if last[0] == head else " .\n"
        begin = {", ": "", "; ": f"f:{relation} "}.get(joint, f"f:{head}{rng.choice([' ', chr(10)])}f:{relation} ")
        text, last = text + joint + begin + shown, (head, relation)
    assert read(text + " .") == [(head, relation, tail.strip()) for head, relation, tail in triples]


@pytest.mark.parametrize("name", ["a.ttl", "a.nt"])
@pytest.mark.parametrize(
    ("content", "packed", "words"),
    [
        (b"", False, "holds no triples"),
        (b"", True, "holds no triples"),
        (b"# a comment only\n", True, "holds no triples"),
        (b"<http://x/a> <http://x/b> <http://x/c> .\n<http://x/a> <http", False, "line 2: "),
        (b"<http://x/a> <http://x/b> <http://x/c> .\n<http://x/a> <http", True, "line 2: "),
        (b"<http://x/a> <http://x/b> <http://x/c> .\n\0\1\2", False, "line 2: this is a binary file"),
        (b"<http://x/a> <http://x/b> <http://x/c> .\n\xff\xfe", True, "line 2: not UTF-8"),
    ],
)
def test_bad_files_are_named_with_their_line(tmp_path, name, content, packed, words):
    file = tmp_path / (name + ".gz" * packed)
    file.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(GraphFormatError) as caught:
        list(read_triples(file))
    assert words in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize("name", ["a.ttl.gz", "a.nt.gz"])
def test_a_cut_archive_is_named(tmp_path, name):
    content = gzip.compress(b"".join(b"<http://x/a%d> <http://x/b> <http://x/c> .\n" % n for n in range(9999)))
    (tmp_path / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(GraphFormatError, match="damaged or cut off after"):
        list(read_triples(tmp_path / name))
    with pytest.raises(GraphFormatError, match="There is no file"):
        list(read_triples(tmp_path / ("none" + name)))
