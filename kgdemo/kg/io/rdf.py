"""Reading RDF: N-Triples and Turtle, parsed by pyoxigraph and turned into readable labels.

An address becomes its last part in words (``http://example.org/films#directed_by``: *directed by*), a literal its text
without language and datatype. A blank node has no name: it keeps the mark that the file gives it (``_:b1``), and where
the file gives none, as for brackets and lists, it is numbered in the order of appearance. Lists are chains of *first*
and *rest*, as RDF defines them. ``rdfs:label`` is read as a relation like any other: a label may stand anywhere in
a file, so naming entities by it would mean to hold the whole file before the first triple is known.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import IO, cast
from urllib.parse import unquote

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse

from kgdemo.errors import GraphFormatError

_FORMATS = {".nt": RdfFormat.N_TRIPLES, ".ttl": RdfFormat.TURTLE}
_GENERATED = re.compile(r"[0-9a-f]{24,32}")  # the parser's own mark of a nameless node: a random number of 128 bits


def read_rdf(lines: Iterable[str], suffix: str, name: str) -> Iterator[tuple[str, str, str]]:
    """Labels of subject, predicate and object of each triple, as they are read.

    Args:
        lines: lines of text, with or without their line ends; no more of them is held than the parser needs.
        suffix: ``.nt`` or ``.ttl``.
        name: what to call the source in an error.

    Raises:
        GraphFormatError: naming the line that is no RDF, or the triple that has an empty part.
    """
    nameless: dict[str, str] = {}
    for number, terms in enumerate(statements(lines, suffix, name), 1):
        labels = [_label(term, nameless) for term in terms]
        if not all(labels):
            shown = " ".join(label or "(nothing)" for label in labels)
            raise GraphFormatError(
                f"{name}, triple {number} ({shown[:200]}): head, relation and tail must all be given."
            )
        yield labels[0], labels[1], labels[2]


def statements(lines: Iterable[str], suffix: str, name: str) -> Iterator[tuple[object, object, object]]:
    """Subject, predicate and object of each triple as the parser's own terms; see ``read_rdf``."""
    quads = parse(_stream(lines), format=_FORMATS[suffix], lenient=True)  # lenient: addresses need not be valid IRIs
    try:
        for quad in quads:
            yield quad.subject, quad.predicate, quad.object
    except SyntaxError as error:
        what = str(error.msg).partition(": ")[2].replace("\n", " ").rstrip(".") or "this is no RDF"
        raise GraphFormatError(f"{name}, line {error.lineno}: {what[:200]}; write {_HINTS[suffix]}") from error


_HINTS = {
    ".nt": '<head> <relation> <tail> . or <head> <relation> "text" .',
    ".ttl": 'subject predicate object . with <addresses>, declared prefix:names and "texts".',
}


def _label(term: object, nameless: dict[str, str]) -> str:
    """The words of a term, stripped.

    Args:
        term: from the parser.
        nameless: numbered marks of the blank nodes that have none of their own; grows.
    """
    if isinstance(term, NamedNode):
        return _readable(term.value)
    if isinstance(term, Literal):
        return term.value.strip()
    if isinstance(term, BlankNode):
        if _GENERATED.fullmatch(term.value):
            return nameless.setdefault(term.value, f"_:nameless {len(nameless) + 1}")
        return f"_:{term.value}"
    return str(term)  # a triple about which another one speaks (RDF 1.2)


def _readable(address: str) -> str:
    """The last part of an address in words."""
    last = re.split(r"[/#]", address.rstrip("/#"))[-1]
    return (unquote(last).replace("_", " ") or address).strip()


def _stream(lines: Iterable[str]) -> IO[bytes]:
    return cast("IO[bytes]", _Lines(lines))  # the parser only calls ``read``


class _Lines(io.RawIOBase):
    """Lines of text as the stream of bytes that the parser reads."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._rest = b""
        self._between = ""  # what the last line lacks of its end

    def read(self, size: int = -1) -> bytes:
        """At most ``size`` bytes, at least one unless the lines are at an end."""
        while len(self._rest) < size or size < 0:
            line = next(self._lines, None)
            if line is None:
                break
            self._rest += (self._between + line).encode("utf-8", "surrogatepass")
            self._between = "" if line.endswith("\n") else "\n"
        taken, self._rest = (self._rest, b"") if size < 0 else (self._rest[:size], self._rest[size:])
        return taken
