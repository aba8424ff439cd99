"""Reading Turtle: prefixed names, ``a``, and the short forms ``;`` and ``,`` of N-Triples statements.

What has no name of its own is not read: blank nodes in brackets and lists in parentheses are refused with the line
they stand in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kgdemo.errors import GraphFormatError

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"  # what ``a`` stands for
_TOKEN = re.compile(
    r"\s+|#.*|"
    r"(?P<address><[^<>\"\s]*>)|"
    r"(?P<literal>\"\"\"(?:[^\"\\]|\\.|\"(?!\"\"))*\"\"\"|'''(?:[^'\\]|\\.|'(?!''))*'''"
    r"|\"(?!\"\")(?:[^\"\\\n]|\\.)*\"|\"\"(?!\")|'(?!'')(?:[^'\\\n]|\\.)*'|''(?!'))|"
    r"(?P<language>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)|(?P<datatype>\^\^)|"
    r"(?P<blank>_:[\w\-]+(?:\.+[\w\-]+)*)|"
    r"(?P<name>(?:\w[\w.\-]*)?:(?:[\w:%\-]|\\.|\.(?=[\w:%\-\\.]))*)|"
    r"(?P<number>[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)|"
    r"(?P<word>[A-Za-z]+)|(?P<mark>[.;,])",
    re.DOTALL,
)
_CLOSE = {
    quotes: re.compile(rf"(?:[^{quotes[0]}\\]|\\.|{quotes[0]}(?!{quotes[1:]}))*{quotes}") for quotes in ('"""', "'''")
}
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_LETTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}

Term = str  # ``<address>``, ``_:blank``, or the text of a literal behind a quote


@dataclass(slots=True)
class _Reader:
    """Where in a statement the reader is: the terms so far, and the prefixes declared before it."""

    prefixes: dict[str, str] = field(default_factory=dict)
    base: str = ""
    terms: list[Term] = field(default_factory=list)
    goes_on: bool = False  # a semicolon stands right before
    directive: str = ""  # the one being read: prefix or base
    after_literal: str = ""  # what a datatype mark has announced


def statements(lines: Iterable[str], name: str) -> Iterator[tuple[Term, Term, Term, str]]:
    """Subject, predicate and object of each triple, and where it ends.

    Args:
        lines: lines of text, with or without their line ends.
        name: what to call the source in an error.

    Raises:
        GraphFormatError: naming the first line that is no Turtle, or that uses brackets.
    """
    reader, where = _Reader(), name
    for kind, text, where in _tokens(lines, name):
        if reader.after_literal:  # the type of a literal says nothing about its text
            reader.after_literal = ""
        elif kind == "datatype":
            reader.after_literal = text
        elif reader.directive or (kind == "language" and text in ("@prefix", "@base")):
            _declare(reader, kind, text, where)
        elif kind == "word" and text.lower() in ("prefix", "base"):
            _declare(reader, "language", "@" + text.lower() + " ", where)
        elif kind == "mark":
            yield from _mark(reader, text, where)
        elif kind != "language":
            reader.terms.append(_term(reader, kind, text, where))
            if len(reader.terms) > 3:
                raise GraphFormatError(f"{where}: more than three terms; end a statement with a dot.")
    if reader.terms or reader.directive:
        raise GraphFormatError(f"{where}: the last statement has no end; finish it with a dot, or copy the file again.")


def _tokens(lines: Iterable[str], name: str) -> Iterator[tuple[str, str, str]]:
    """Kind and text of each token, and where it stands."""
    numbered = enumerate(lines, 1)
    for number, line in numbered:
        where, place = f"{name}, line {number}", 0
        while place < len(line):
            found = _TOKEN.match(line, place)
            if found is None and line[place : place + 3] in _CLOSE:
                text, number, line, place = _long_literal(line[place:], numbered)
                if text:
                    yield "literal", text, where
                    where = f"{name}, line {number}"
                    continue
            if found is None:
                raise GraphFormatError(f"{where}: {_complaint(line[place:])}")
            if found.lastgroup:
                yield found.lastgroup, found.group(), where
            place = found.end()


def _long_literal(begun: str, numbered: Iterator[tuple[int, str]]) -> tuple[str, int, str, int]:
    """A literal over several lines; then the line it ends in, its number, and the place behind the literal.

    The literal is empty when it has no end. Every line is looked at once, however many there are.
    """
    parts = [begun.rstrip("\r\n")]
    for number, line in numbered:
        if closed := _CLOSE[begun[:3]].match(line):
            return "\n".join([*parts, closed.group()]), number, line, closed.end()
        parts.append(line.rstrip("\r\n"))
    return "", 0, begun, 0


def _complaint(rest: str) -> str:
    if rest[0] in "[]()":
        return "blank nodes in brackets and lists are not read; give them a name, or save the file as N-Triples."
    return 'write subject predicate object . with <addresses>, prefix:names and "texts".'


def _declare(reader: _Reader, kind: str, text: str, where: str) -> None:
    """One token of a ``@prefix`` or ``@base`` line; in SPARQL's spelling it has no dot at its end."""
    if not reader.directive:
        if reader.terms:
            raise GraphFormatError(f"{where}: a statement before {text.strip()} has no end; finish it with a dot.")
        reader.directive = text
        return
    if kind == "name" and text.endswith(":") and "prefix" in reader.directive and not reader.terms:
        reader.terms.append(text)
        return
    if kind == "address" and len(reader.terms) == ("prefix" in reader.directive):
        address = _absolute(reader, text)[1:-1]
        if reader.terms:
            reader.prefixes[reader.terms[0]] = address
        else:
            reader.base = address
        sparql = reader.directive.endswith(" ")
        reader.directive, reader.terms = "" if sparql else ".", []
        return
    if kind == "mark" and text == "." == reader.directive:
        reader.directive = ""
        return
    raise GraphFormatError(f"{where}: write @prefix name: <address> . or @base <address> .")


def _mark(reader: _Reader, text: str, where: str) -> Iterator[tuple[Term, Term, Term, str]]:
    """A dot, semicolon or comma: the triple is whole, and its first terms may go on."""
    terms = reader.terms
    if len(terms) == 3:
        yield terms[0], terms[1], terms[2], where
    elif not (reader.goes_on and len(terms) == 1 and text in ";."):  # ``;`` may stand before the dot, or twice
        raise GraphFormatError(f"{where}: {len(terms)} terms before {text!r}; write subject predicate object .")
    reader.terms, reader.goes_on = {".": [], ";": terms[:1], ",": terms[:2]}[text], text == ";"


def _term(reader: _Reader, kind: str, text: str, where: str) -> Term:
    if kind == "address":
        return _absolute(reader, text)
    if kind == "blank":
        return text
    if kind == "name":
        prefix, local = text.split(":", 1)
        if prefix + ":" not in reader.prefixes:
            raise GraphFormatError(f"{where}: the prefix {prefix}: is not declared; add @prefix {prefix}: <address> .")
        return f"<{reader.prefixes[prefix + ':']}{_unescaped(local, where)}>"
    if kind == "word" and text == "a" and len(reader.terms) == 1:
        return TYPE
    if len(reader.terms) != 2 or (kind == "word" and text not in ("true", "false")):
        raise GraphFormatError(f"{where}: {text[:40]!r} cannot stand here; {_complaint(' ')}")
    if kind == "literal":
        width = 3 if text[:3] in ('"""', "'''") and len(text) >= 6 else 1
        text = _unescaped(text[width:-width], where)
    return '"' + text


def _absolute(reader: _Reader, address: str) -> str:
    """An address; what has no scheme goes behind the base."""
    return address if ":" in address else f"<{reader.base}{address[1:-1]}>"


def _unescaped(text: str, where: str) -> str:
    def letter(found: re.Match[str]) -> str:
        code = found[1] or found[2]
        if code and int(code, 16) > 0x10FFFF:
            raise GraphFormatError(f"{where}: \\U{code} is no character.")
        return chr(int(code, 16)) if code else _LETTERS.get(found[3], found[3])

    return _ESCAPE.sub(letter, text)
