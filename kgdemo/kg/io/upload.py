"""A graph that a visitor pastes or sends: any format of ``formats``, within limits, and questions to start from.

Nothing is written to disk, and no address or path in the upload is followed. A packed file is unpacked only up to the
limit.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator

from kgdemo.errors import GraphFormatError
from kgdemo.kg.graph import KnowledgeGraph, Triple
from kgdemo.kg.io.formats import kind_of, lines_of, parse_triples

PASTED = "pasted text"
_GZIP = b"\x1f\x8b"
_PREPOSITIONS = frozenset("about at by for from in into of on to under with".split())
_ASKABLE = 60  # characters of a name that reads well in a question
LINES_A_TRIPLE = 10  # blank lines, comments and Turtle's line breaks take some
MAX_FAULTS = 1000  # lines that are no triples; with more of them it is no such file


def read_upload(
    content: bytes, name: str, max_bytes: int, max_triples: int, max_label: int = 0, faults: list[str] | None = None
) -> list[Triple]:
    """The triples of a text or file.

    Args:
        content: its bytes, plain or gzip.
        name: its file name, which gives the format; with ``PASTED`` the format is guessed from the text.
        max_bytes: the limit for the content as it comes, and again for the unpacked content.
        max_triples: how many triples it may hold.
        max_label: characters of the longest name it may hold; 0 for no limit.
        faults: if given, up to ``MAX_FAULTS`` lines that are no triples are passed over, and what is wrong with each is
            put in here; Turtle alone has no lines of its own, so there the first fault ends it.

    Raises:
        GraphFormatError: it is too large, damaged, empty, or has a line (named) that is no triple.
    """
    if len(content) > max_bytes:
        size, limit = _size(len(content)), _size(max_bytes)
        raise GraphFormatError(f"{name} has {size}; at most {limit} can be taken, so shorten it.")
    if content.startswith(_GZIP):
        content = _unpacked(content, name, max_bytes)
    if content.count(b"\n") > LINES_A_TRIPLE * max_triples:
        raise GraphFormatError(f"{name} has more than {LINES_A_TRIPLE * max_triples:,} lines; shorten it.")
    suffix = _guessed(content) if name == PASTED else kind_of(name)
    triples: list[Triple] = []
    lines = lines_of(io.BytesIO(content), name)
    read = parse_triples(lines, suffix, name)
    if faults is not None and suffix != ".ttl":
        read = _readable(lines, suffix, name, faults)
    for triple in read:
        if len(triples) == max_triples:
            raise GraphFormatError(f"{name} has more than {max_triples:,} triples; leave some out.")
        longest = max(triple, key=len)
        if 0 < max_label < len(longest):
            raise GraphFormatError(
                f"{name} has a name of {len(longest):,} characters, beginning {longest[:30]!r}; "
                f"at most {max_label} can be taken, so shorten it."
            )
        triples.append(triple)
    if not triples:
        raise GraphFormatError(f"{name} holds no triples; write one a line, for example head<TAB>relation<TAB>tail.")
    return triples


def _readable(lines: Iterable[str], suffix: str, name: str, faults: list[str]) -> Iterator[Triple]:
    """The triples of those lines that can be read; what is wrong with the others goes to ``faults``."""
    for number, line in enumerate(lines, 1):
        try:
            yield from parse_triples([line], suffix, name)
        except GraphFormatError as error:
            faults.append(str(error).replace(f"{name}, line 1:", f"line {number}:"))
            if len(faults) > MAX_FAULTS:
                raise GraphFormatError(
                    f"{name} has more than {MAX_FAULTS:,} lines that are no triples, first {faults[0]}"
                ) from error


def starters(kg: KnowledgeGraph, limit: int = 3) -> list[str]:
    """A few questions that the graph can answer, each about another entity and, while there are such, relation."""
    found: dict[str, str] = {}
    spare: dict[str, str] = {}
    tails: dict[tuple[str, str], int] = defaultdict(int)
    seen: set[str] = set()
    for place, (head, relation, _) in enumerate(kg.triples()):
        if place == 5000 or len(found) == limit:
            break
        tails[head, relation] += 1
        if head in seen or tails[head, relation] > 1 or not reads_well(head) or not reads_well(relation):
            continue
        if relation in found:
            spare.setdefault(head, question_about(head, relation))
        else:
            found[relation] = question_about(head, relation)
            seen.add(head)
    return [*found.values(), *(q for head, q in spare.items() if head not in seen)][:limit]


def question_about(head: str, relation: str) -> str:
    """A question for the tails of a head and a relation, in the relation's own words."""
    words = relation.replace("_", " ")
    first = words.split()[0].lower()
    if first.endswith("s") and not first.endswith("ss"):  # teaches, works at; a plural such as members passes too
        return f"{head} {words} what?"
    if words.split()[-1].lower() in _PREPOSITIONS:
        return f"What is {head} {words}?"
    return f"What is the {words} of {head}?"


def reads_well(label: str) -> bool:
    """Whether a label can stand in a question."""
    return len(label) <= _ASKABLE and label.isprintable() and any(letter.isalpha() for letter in label)


def _guessed(content: bytes) -> str:
    """The format of a pasted text, from its first line that is not blank."""
    first = next((line.strip() for line in content.splitlines() if line.strip()), b"")
    if first.startswith(b"{"):
        return ".jsonl"
    if first.lower().startswith((b"<", b"_:", b"#", b"@prefix", b"prefix", b"@base", b"base")) and (
        b"\t" not in first and b"," not in first
    ):
        return ".ttl"  # N-Triples are Turtle too
    return ".tsv" if b"\t" in first or b"," not in first else ".csv"


def _unpacked(content: bytes, name: str, limit: int) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            unpacked = packed.read(limit + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise GraphFormatError(f"{name} is damaged or cut off ({error}); pack it again.") from error
    if len(unpacked) > limit:
        raise GraphFormatError(f"{name} unpacks to more than {_size(limit)}, which is the most; shorten it.")
    return unpacked


def _size(count: int) -> str:
    return f"{count / 1_000_000:,.1f} MB" if count >= 100_000 else f"{count:,} bytes"
