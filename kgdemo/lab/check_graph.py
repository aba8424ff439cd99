"""Is an embedded graph well made? Types, repeats, dangling names, one-tail relations, and public sets.

``python -m kgdemo kg check world [--against FOLDER]`` prints every finding; contributors run it before they
commit facts. Findings against public sets are for a person to judge: sets are dated and spell names their own way.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kgdemo.errors import GraphFormatError
from kgdemo.kg.graph import EntityInfo, Triple
from kgdemo.kg.io.catalogue import Relation, literal_files, read_schema, themes
from kgdemo.kg.io.formats import entity_rows, joined, read_triples
from kgdemo.kg.labels import read_literals

PLACES = frozenset(
    "country city region state province continent island mountain river lake sea ocean desert building bridge monument "
    "museum university school stadium landmark".split()
)
KINDS = frozenset(("one", "many", "symmetric"))
ONE_WAY = frozenset(("child", "located in", "orbits", "part of war", "part of album", "flows into", "doctoral advisor"))
ENDS = {"born in year": "died in year", "began in year": "ended in year"}  # where something begins -> where it ends


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at: what kind, where, and the fact."""

    kind: str
    where: str
    fact: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.fact}"


def check_folder(folder: Path) -> list[Finding]:
    """All findings of an embedded graph's own files."""
    schema, info = read_schema(folder), joined(entity_rows(folder))
    findings = list(_schema(schema))
    seen: dict[Triple, str] = {}
    tails: dict[tuple[str, str], list[str]] = defaultdict(list)
    for theme in themes(folder):
        for number, triple in enumerate(read_triples(theme), 1):
            where = f"{theme.name}, line {number}"
            head, relation, tail = triple
            fact = " | ".join(triple)
            if triple in seen:
                findings.append(Finding("written twice", where, f"{fact} (also {seen[triple]})"))
                continue
            seen[triple] = where
            if relation not in schema:
                findings.append(Finding("relation not in the schema", where, fact))
                continue
            findings += _types(schema[relation], triple, info, where)
            tails[head, relation].append(tail)
            if schema[relation].kind == "symmetric":
                if (tail, relation, head) in seen:
                    findings.append(Finding("symmetric pair written both ways", where, fact))
                if head == tail:
                    findings.append(Finding("symmetric with itself", where, fact))
    for (head, relation), found in tails.items():
        if schema[relation].kind == "one" and len(found) > 1:
            findings.append(Finding("more than one tail", relation, f"{head} | {', '.join(found)}"))
    findings += _unused(info, seen)
    stated = {relation for _, relation, _ in seen}
    findings += [Finding("relation without a fact", "schema", r) for r in schema if r not in stated]
    findings += _one_way(schema, seen)
    findings += _order(tails)
    findings += _values(folder, info)
    for row in entity_rows(folder):
        if row.info.type != info[row.label].type:
            what = f"type {row.info.type} here, {info[row.label].type} elsewhere"
            findings.append(Finding(what, row.where, row.label))
    return findings


def _values(folder: Path, info: Mapping[str, EntityInfo]) -> Iterator[Finding]:
    """Values that cannot be read, and those of things that the graph does not have."""
    for file in literal_files(folder):
        try:
            stated = read_literals([file])
        except GraphFormatError as error:
            yield Finding("no value", file.name, str(error))
            continue
        yield from (Finding("value of an unknown entity", file.name, one) for one in stated if one not in info)


def _schema(schema: Mapping[str, Relation]) -> Iterator[Finding]:
    """What is missing or said twice in the schema itself."""
    step_labels = Counter(relation.inverse for relation in schema.values())
    for name, relation in schema.items():
        parts = (name, *relation.domain, *relation.range, relation.inverse, relation.gloss)
        if not all(part.strip() for part in parts) or relation.kind not in KINDS:
            yield Finding("incomplete", "schema", name)
        if (relation.kind == "symmetric") != (relation.inverse == name):
            yield Finding("symmetric, but not read so, or the reverse", "schema", name)
        if relation.kind != "symmetric" and (relation.inverse in schema or step_labels[relation.inverse] > 1):
            yield Finding("inverse reading is another relation's", "schema", f"{name} | {relation.inverse}")


def _one_way(schema: Mapping[str, Relation], facts: Collection[Triple]) -> Iterator[Finding]:
    """Pairs that cannot both be true: nobody is the child of their own child."""
    for head, relation, tail in facts:
        if relation in ONE_WAY & schema.keys() and head <= tail and (tail, relation, head) in facts:
            yield Finding("true one way only", relation, f"{head} | {tail}")


def _order(tails: Mapping[tuple[str, str], list[str]]) -> Iterator[Finding]:
    """Lives and wars that end before they begin."""
    for (head, relation), found in tails.items():
        ends = tails.get((head, ENDS.get(relation, "")), ())
        if any(_year(end) < _year(begin) for begin in found for end in ends):
            yield Finding("ends before it begins", relation, f"{head} | {', '.join(found)} | {', '.join(ends)}")


def _year(label: str) -> int:
    return -int(label.removesuffix(" BC")) if label.endswith(" BC") else int(label)


def _types(relation: Relation, triple: Triple, info: Mapping[str, EntityInfo], where: str) -> Iterator[Finding]:
    for label, allowed, side in ((triple[0], relation.domain, "head"), (triple[2], relation.range, "tail")):
        kind = entity_type(label, info)
        if not kind:
            yield Finding("name without a type", where, label)
        elif kind not in allowed and not (kind in PLACES and "place" in allowed):
            yield Finding(f"{side} of type {kind}, not {'|'.join(allowed)}", where, " | ".join(triple))


def entity_type(label: str, info: Mapping[str, EntityInfo]) -> str:
    """The type of an entity; a bare number is a year."""
    if label in info:
        return info[label].type
    return "year" if label.lstrip("-").removesuffix(" BC").isdigit() else ""


def _unused(info: Mapping[str, EntityInfo], seen: Iterable[Triple]) -> Iterator[Finding]:
    used = {label for head, _, tail in seen for label in (head, tail)}
    for label in info:
        if label not in used:
            yield Finding("name without a fact", "entities", label)


# against public sets -----------------------------------------------------------------------------

# our relation -> (file below the folder, its relation, whether it runs the other way)
COUNTERPARTS: dict[str, tuple[tuple[str, str, bool], ...]] = {
    "born in": (("fb15k237/triples.tsv.gz", "/people/person/place_of_birth", False),),
    "died in": (("fb15k237/triples.tsv.gz", "/people/deceased_person/place_of_death", False),),
    "citizen of": (("fb15k237/triples.tsv.gz", "/people/person/nationality", False),),
    "directed by": (("fb15k237/triples.tsv.gz", "/film/director/film", True),),
    "music by": (("fb15k237/triples.tsv.gz", "/film/film/music", False),),
    "screenplay by": (("fb15k237/triples.tsv.gz", "/film/film/written_by", False),),
    "capital": (
        ("fb15k237/triples.tsv.gz", "/location/country/capital", False),
        ("countries/triples.tsv", "capital", False),
    ),
    "official language": (
        ("fb15k237/triples.tsv.gz", "/location/country/official_language", False),
        ("countries/triples.tsv", "official language", False),
    ),
    "currency": (("countries/triples.tsv", "currency", False),),
    "shares border with": (("countries/triples.tsv", "shares border with", False),),
    "continent": (("countries/triples.tsv", "region", False),),
}


def disagreements(folder: Path, public: Path) -> Iterator[Finding]:
    """Facts whose head and relation a public set knows too, but with none of our tails.

    Args:
        folder: an embedded graph's folder.
        public: the folder that holds ``fb15k237`` and ``countries``.
    """
    info = joined(entity_rows(folder))
    ours: dict[tuple[str, str], set[str]] = defaultdict(set)
    symmetric = {name for name, relation in read_schema(folder).items() if relation.kind == "symmetric"}
    for theme in themes(folder):
        for head, relation, tail in read_triples(theme):
            ours[relation, head].add(tail)
            if relation in symmetric:
                ours[relation, tail].add(head)
    theirs = {file: list(read_triples(public / file)) for file in {f for c in COUNTERPARTS.values() for f, _, _ in c}}
    compared = Counter[str]()
    for relation, counterparts in COUNTERPARTS.items():
        for file, name, backwards in counterparts:
            known: dict[str, set[str]] = defaultdict(set)
            for head, other, tail in theirs[file]:
                if other == name:
                    known[tail if backwards else head].add(head if backwards else tail)
            for (ours_relation, head), tails in ours.items():
                if ours_relation != relation or head not in known:
                    continue
                compared[relation] += 1
                names = {_plain(n) for t in tails for n in (t, *(info[t].aliases if t in info else ()))}
                if not names & {_plain(t) for t in known[head]}:
                    fact = f"{head} | {relation} | {', '.join(sorted(tails))}; there: {', '.join(sorted(known[head]))}"
                    yield Finding("disagrees", file, fact)
    for relation, count in compared.items():
        yield Finding("compared", relation, f"{count} facts")


def _plain(label: str) -> str:
    return label.split(" (")[0].casefold()
