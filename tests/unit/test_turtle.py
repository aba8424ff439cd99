"""Turtle's short forms stand for the triples they abbreviate; what is wrong is named with its line."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.errors import GraphFormatError
from kgdemo.kg.io.formats import parse_triples, read_triples

PREFIX = "@prefix f: <http://x/> .\n@prefix : <http://y#> .\n"


def read(text: str) -> list[tuple[str, str, str]]:
    """The triples of a text."""
    return list(parse_triples(text.splitlines(keepends=True), ".ttl", "a.ttl"))


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
        ("BASE <http://z/>\n<a> <b> <c> .", [("a", "b", "c")]),
        ("f:a f:b f:AC\\/DC .", [("a", "b", "DC")]),
    ],
)
def test_short_forms_are_read_as_they_are_meant(text, expected):
    assert read(PREFIX + text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("f:a f:b f:c", "line 3: the last statement has no end"),
        ('f:a f:b "cut', "line 3: write subject predicate object"),
        ('f:a f:b """cut\noff', "line 3: write subject"),
        ('f:a f:b """not cut\nat all""" . f:b', "line 4: the last statement has no end"),
        ("f:a f:b '''three\n\\'''\nlines''' ; .\nq:x", "line 6: the prefix q: is not declared"),
        ("f:a .", "line 3: 1 terms before '.'"),
        (".", "line 3: 0 terms before '.'"),
        ("f:a f:b .", "line 3: 2 terms before '.'"),
        ("f:a f:b f:c f:d .", "line 3: more than three terms"),
        ("\nq:a f:b f:c .", "line 4: the prefix q: is not declared; add @prefix q:"),
        ("f:a f:b [ f:c f:d ] .", "line 3: blank nodes in brackets and lists are not read"),
        ("f:a f:b (1 2) .", "line 3: blank nodes in brackets and lists are not read"),
        ('"a" f:b f:c .', "line 3: '\"a\"' cannot stand here"),
        ("f:a f:b nonsense .", "line 3: 'nonsense' cannot stand here"),
        ("@prefix f <http://x/> .", "line 3: write"),
        ("f:a f:b @prefix f: <http://x/> .", "line 3: a statement before @prefix has no end"),
        ('f:a f:b "\\UFFFFFFFF" .', "line 3: \\UFFFFFFFF is no character"),
        ('f:a f:b "\\ud800" .', "line 3: half a character"),
        ('f:a f:b "" .', "line 3: head, relation and tail must all be given"),
    ],
)
def test_mistakes_are_named(text, words):
    with pytest.raises(GraphFormatError) as caught:
        read(PREFIX + text)
    assert words in str(caught.value)


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
