"""How a graph in a store of RDF is shaped, the parts of queries that follow from it, and what a reply's rows hold.

What goes into a query passes ``as_iri`` or ``as_literal``, so neither a label nor an id that a store once replied can
change what is asked; only the operator's profile may bring query text of its own.

A relation is a predicate. Where a graph has statement nodes, as Wikidata's ``p:`` and ``ps:`` and Freebase's mediators
do, it may also be two predicates, from an entity to a statement and from there to another entity. Such a relation's
id is both ids with a space between them, which no id holds. The statement itself is never an entity.

Mistyped names are found by a store's own text search (``SEARCHES``). Such a search knows words and their beginnings,
not slips. So it is given the half of each word that a slip has left alone (*incepton* by ``ince*``), and of several
words also all but one of them. The caller compares what is found letter by letter. A store without a text search goes
through its labels while it has few facts. A single word has no other beside it that tells what is meant: every
spelling one letter away is looked up as a whole label (``one_slip_from``), and so are longer names where there is no
text search and too much to go through.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase, ascii_uppercase

from kgdemo.kg.labels import fold
from kgdemo.kg.stores.base import Step, StoreError, local_name

RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*\Z")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_DIRECT, _STATED = False, True  # whether a fact is one triple, or two around a statement


Row = Mapping[str, Mapping[str, str]]  # variable -> term, as SPARQL's JSON results write it


@dataclass(frozen=True, slots=True)
class SparqlProfile:
    """The shape of a graph in a store of RDF.

    Attributes:
        label, aliases, description, type: the predicates that say these of an entity; empty: none does.
        languages: of labels, the one liked best first; ``""`` is text without a language.
        facts: beginnings of the predicates that are facts; none: every predicate is one.
        leave_out: predicates that are no facts, beside those that name, describe and type.
        entities: beginnings of the ids that may be ends of facts; none: every IRI.
        relations: a graph pattern that binds ``?relation`` to the facts' predicates and ``?named`` to what carries
            their labels; for stores too large to list the predicates in use. Where facts are folded it binds
            ``?value`` as well, and ``?value_named`` where that has a name of its own, as a qualifier has.
        statement: a graph pattern that says of ``?statement`` that it stands for a fact; empty: nothing does. Two
            triples around one, to it by one of ``facts`` and on from it by one of ``values``, are one fact then.
        values: beginnings of the predicates that lead on from a statement; none: those of facts.
        symmetric: predicates that say the same in both directions, where they are not counted.
        search: how the store finds mistyped names: its own text search, ``virtuoso``, ``qlever`` or ``wikidata``;
            ``labels`` for going through all of them, ``spellings`` for looking up what is one letter away; empty:
            the first of these two where the store has no more than a million facts, else the second.
    """

    label: str = RDFS_LABEL
    aliases: str = ""
    description: str = ""
    type: str = RDF_TYPE
    languages: tuple[str, ...] = ("en", "")
    facts: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    relations: str = ""
    statement: str = ""
    values: tuple[str, ...] = ()
    symmetric: tuple[str, ...] = ()
    search: str = ""

    @property
    def no_facts(self) -> tuple[str, ...]:
        """The predicates that are no facts."""
        named = (self.label, self.aliases, self.description, self.type)
        return tuple(dict.fromkeys(iri for iri in (*named, *self.leave_out) if iri))


class Patterns:
    """Parts of queries for one shape of graph.

    In all of them ``?s`` is an entity that is asked for, ``?p`` its relation (with ``?q`` where a graph has statement
    nodes) and ``?d`` whether it is the fact's head; ``?m`` is a statement.

    Args:
        profile: the shape.
    """

    def __init__(self, profile: SparqlProfile) -> None:
        self.profile = profile
        self._ways = (_DIRECT, _STATED) if profile.statement else (_DIRECT,)
        self.relation = "?p ?q" if profile.statement else "?p"  # the variables that hold one
        self.each = "DISTINCT " if profile.statement else ""  # several statements may say the same

    def count(self, ends: str) -> str:
        """How many ends there are, whichever statements say so."""
        return f"COUNT({self.each}{ends})" if self.each else "COUNT(*)"

    # facts -------------------------------------------------------------------------------------

    def fact(self, relation: str, head: str, tail: str) -> str:
        """That a fact of a relation, given by its id, joins two variables.

        Args:
            relation: the id.
            head, tail: the variables.
        """
        first, _, second = relation.partition(" ")
        if not second:
            return f"{head} {as_iri(first)} {tail} ."
        return self._around(head, as_iri(first), as_iri(second), tail)

    def either_way(self, values: str, end: str, others: Sequence[Step] = ()) -> str:
        """All facts of the entities ``?s``, with their other ends.

        Args:
            values: binds ``?s``; may be empty.
            end: the variable of the other ends.
            others: of more entities, the relations that are asked for.
        """
        sides = []
        for stated in self._ways:
            for outgoing in (True, False):
                own = self.steps([step for step in others if step[2] == outgoing], stated)
                sides += [f"{{ {bound} {self._one_way(end, outgoing, stated)} }}" for bound in (values, own) if bound]
        sides = sides or [f"{{ VALUES ?s {{ }} ?s ?p {end} }}"]
        return f"{' UNION '.join(sides)} {self.real(end)} {self.facts('?p')}"

    def along(self, steps: Sequence[Step], end: str) -> str:
        """The facts of these steps, with their other ends."""
        sides = []
        for stated in self._ways:
            for outgoing in (True, False):
                own = self.steps([step for step in steps if step[2] == outgoing], stated)
                sides += [f"{{ {own} {self._one_way(end, outgoing, stated)} }}"] if own else []
        return f"{' UNION '.join(sides)} {self.real(end)}"

    def _one_way(self, end: str, outgoing: bool, stated: bool) -> str:
        head, tail = ("?s", end) if outgoing else (end, "?s")
        if stated:
            fact = self._around(head, "?p", "?q", tail) + self._begins("?q", self.profile.values)
        else:
            fact = f"{head} ?p {tail} ." + (' BIND("" AS ?q)' if self.profile.statement else "")
        return f"{fact} BIND({int(outgoing)} AS ?d)"

    def _around(self, head: str, first: str, second: str, tail: str) -> str:
        """Two triples around a statement; an entity that it leads back to is no other end."""
        return (
            f"{head} {first} ?m . ?m {second} {tail} . FILTER({head} != {tail}) "
            f"FILTER EXISTS {{ {self._is_statement('?m')} }} "
        )

    def steps(self, steps: Sequence[Step], stated: bool) -> str:
        """``VALUES`` of entities and relations, of those relations that are or are not around statements."""
        rows = [(e, *relation.split(" ")) for e, relation, _ in steps if (" " in relation) == stated]
        return _values("?s ?p ?q" if stated else "?s ?p", rows)

    def stated(self, triples: Sequence[tuple[str, str, str]]) -> str:
        """Those of these facts that the store states, in ``?s``, the relation's variables, and ``?o``."""
        plain = [triple for triple in triples if " " not in triple[1]]
        folded = [(head, *relation.split(" "), tail) for head, relation, tail in triples if " " in relation]
        sides = []
        if plain:
            sides.append(f"{_values('?s ?p ?o', plain)} ?s ?p ?o")
        if folded:
            sides.append(f"{_values('?s ?p ?q ?o', folded)} {self._around('?s', '?p', '?q', '?o')}")
        return " UNION ".join(f"{{ {side} }}" for side in sides)

    def in_use(self) -> str:
        """A query for the predicates in use, ``?p`` (and ``?q``), with the number of their facts, ``?n``."""
        used = "{ SELECT ?p (COUNT(*) AS ?n) WHERE { ?s ?p ?o } GROUP BY ?p }"
        if self.profile.statement:
            folded = f"{self._one_way('?o', True, _STATED)} {self.facts('?p')}"
            used += f" UNION {{ SELECT ?p ?q (COUNT(*) AS ?n) WHERE {{ {folded} }} GROUP BY ?p ?q }}"
        return f"SELECT {self.relation} ?n WHERE {{ {{ {used} }} {self.facts('?p')} }}"

    def relation_of(self, row: Row) -> str:
        """The id of the relation that a row holds; empty where it holds none."""
        first, second = id_in(row, "p"), id_in(row, "q")
        return f"{first} {second}" if first and second else first

    def facts(self, variable: str) -> str:
        """That a predicate is that of facts."""
        out = ", ".join(map(as_iri, self.profile.no_facts))
        return self._begins(variable, self.profile.facts) + (f"FILTER({variable} NOT IN ({out}))" if out else "")

    # entities ----------------------------------------------------------------------------------

    def real(self, end: str) -> str:
        """That an end of a fact is an entity."""
        return f"FILTER(isIRI({end})) {self.entity(end)}"

    def entity(self, variable: str) -> str:
        """That an id may be an entity's."""
        no_statement = f"FILTER NOT EXISTS {{ {self._is_statement(variable)} }}" if self.profile.statement else ""
        return self._begins(variable, self.profile.entities) + no_statement

    def stated_of(self, variable: str) -> str:
        """That something is no predicate, and no mere type: of which things are, but of which nothing is stated."""
        filters = f"FILTER NOT EXISTS {{ ?a {variable} ?b }}"
        if self.profile.type:
            is_type = f"EXISTS {{ ?c {as_iri(self.profile.type)} {variable} }}"
            filters += f" FILTER(!{is_type} || EXISTS {{ {variable} ?x ?y . FILTER(isIRI(?y)) {self.facts('?x')} }})"
        return filters

    def said(self, entity: str) -> str:
        """The labels and types of an entity, ``?l`` and ``?t``."""
        typed = f"OPTIONAL {{ {entity} {as_iri(self.profile.type)} ?t }}" if self.profile.type else ""
        return f"{self.named(entity, '?l')} {typed}"

    def named(self, subject: str, label: str) -> str:
        """The labels of something."""
        tags = ", ".join(as_literal(lang) for lang in self.profile.languages)
        return f"OPTIONAL {{ {subject} {as_iri(self.profile.label)} {label} . FILTER(LANG({label}) IN ({tags})) }}"

    def called(self, texts: Sequence[str]) -> str:
        """These texts in each of the profile's languages."""
        return " ".join(_in_language(text, lang) for text in texts for lang in self.profile.languages)

    def unnamed(self, id_: str) -> str:
        """What an entity without a label is called: by its id, or by the last part of it where that leads back."""
        name = local_name(id_)
        return name if id_ in self.ids_called(name) else id_

    def ids_called(self, name: str) -> list[str]:
        """The ids that a name may stand for: its own, and those that the profile's beginnings make of it."""
        bases = [begin[: max(begin.rfind("/"), begin.rfind("#")) + 1] for begin in self.profile.entities]
        made = [base + name for base, begin in zip(bases, self.profile.entities, strict=True) if base]
        begins = self.profile.entities or ("http",)
        return [one for one in dict.fromkeys((name, *made)) if one.startswith(begins) and is_iri(one)]

    def _is_statement(self, variable: str) -> str:
        return self.profile.statement.replace("?statement", variable)

    def _begins(self, variable: str, beginnings: Sequence[str]) -> str:
        begins = " || ".join(f"STRSTARTS(STR({variable}), {as_literal(one)})" for one in beginnings)
        return f"FILTER({begins}) " if begins else ""


def as_iri(text: str) -> str:
    """An IRI as a query writes it.

    Raises:
        StoreError: it is none.
    """
    if not is_iri(text):
        raise StoreError(f"{text[:60]!r} is no id that may be asked for.")
    return f"<{text}>"


def as_literal(text: str) -> str:
    """A text as a query writes it."""
    return '"' + "".join(_ESCAPES.get(c, c if c >= " " else f"\\u{ord(c):04x}") for c in text) + '"'


def _in_language(text: str, language: str) -> str:
    return as_literal(text) + (f"@{language}" if re.fullmatch(r"[A-Za-z]+(-[A-Za-z0-9]+)*", language) else "")


def _values(variables: str, rows: Sequence[Sequence[str]]) -> str:
    """``VALUES`` of ids; empty where there are none."""
    written = " ".join(f"({' '.join(map(as_iri, row))})" for row in rows)
    return f"VALUES ({variables}) {{ {written} }}" if rows else ""


# rows of replies -----------------------------------------------------------------------------------


def is_iri(text: str) -> bool:
    """Whether a query may name something by this text."""
    return bool(_IRI.match(text))


def id_in(row: Row, name: str) -> str:
    """The IRI that a variable is bound to; empty for anything else, an id that no query could name included."""
    term = row.get(name)
    return _checked(term.get("value", "")) if term is not None and term.get("type") == "uri" else ""


@lru_cache(maxsize=100_000)
def _checked(iri: str) -> str:
    return iri if _IRI.match(iri) else ""


def ids_in(rows: Iterable[Row], name: str) -> set[str]:
    """The IRIs that a variable is bound to in some of these rows."""
    return {iri for row in rows if (iri := id_in(row, name))}


def text_in(row: Row, name: str) -> str:
    """What a variable is bound to, as text; empty where it is not."""
    return row.get(name, {}).get("value", "")


def number_in(row: Row, name: str) -> int:
    """The whole number that a variable is bound to.

    Raises:
        StoreError: it is none.
    """
    try:
        return int(float(text_in(row, name)))
    except (ValueError, OverflowError) as error:
        raise StoreError("The graph store counted something that is no number; ask again.") from error


# mistyped names ------------------------------------------------------------------------------------

_MIN_PREFIX = 4  # letters before a *, for Virtuoso
_SHORT = 14  # letters of a single word, all spellings of which are looked up
_MAX_SPELLINGS = 8_000  # in one query
_LITTLE = frozenset("the and for von van del der den des".split())  # as are words of two letters
_CONTAINS = "<bif:contains>"
_QLEVER = "http://qlever.cs.uni-freiburg.de/builtin-functions/"
_WIKIBASE, _BLAZEGRAPH = "http://wikiba.se/ontology#", "http://www.bigdata.com/rdf#"
_MWAPI = "https://www.mediawiki.org/ontology#API/"
_WIKIDATA_LIMIT = 50


def words_to_look_for(text: str) -> list[list[str]]:
    """What to look for in place of a text that may have a slip: alternatives, each of words that have to be there.

    Args:
        text: a name as it was typed.

    Returns:
        words, folded; one that ends in * stands for all that begin so.
    """
    words = [word for word in _words(text) if len(word) > 2 and word not in _LITTLE]
    begun = [_beginning(word, 2) for word in words]
    longer = [_beginning(word, 1.5) for word in words]
    others = [[*longer[:place], *longer[place + 1 :]] for place in range(len(words))] if len(words) > 1 else []
    return [one for one in (begun, *others) if one and any(len(word) >= _MIN_PREFIX for word in one)]


def _words(text: str) -> list[str]:
    """The words of a text, folded; of letters and digits alone, so that no sign means anything to a search."""
    return fold(text).replace("~", " ").split()


def _beginning(word: str, part: float) -> str:
    """The first part of a word, and a star; all of a short one."""
    return word if len(word) <= _MIN_PREFIX else f"{word[: max(_MIN_PREFIX, int(len(word) / part))]}*"


def one_slip_from(text: str) -> list[str]:
    """What a text becomes by one letter more, less, other, or swapped with the next; capitals stay where they are."""
    made: dict[str, None] = {}
    for place in range(len(text) + 1):
        head, rest = text[:place], text[place:]
        letters = ascii_uppercase if not place and text[:1].isupper() else ascii_lowercase
        made |= dict.fromkeys(f"{head}{letter}{rest if place else rest.lower()}" for letter in letters)
        if rest:
            made[_begun(head + rest[1:], text)] = None
            made[_begun(head + rest[1:2] + rest[:1] + rest[2:], text)] = None
            made |= dict.fromkeys(f"{head}{letter}{rest[1:]}" for letter in letters)
    return [one for one in made if one.strip() and one != text]


def _begun(made: str, text: str) -> str:
    """A text with a capital letter in front where another one has it."""
    return made[:1].upper() + made[1:2].lower() + made[2:] if text[:1].isupper() else made


def in_virtuoso(text: str, naming: str) -> str:
    """Virtuoso's text index of literals: ``bif:contains`` with words, phrases and their beginnings."""
    said = " OR ".join("(" + " AND ".join(f"'{word}'" for word in words) + ")" for words in words_to_look_for(text))
    return f"{{ ?o {naming} ?f . ?f {_CONTAINS} {as_literal(said)} }}" if said else ""


def in_qlever(text: str, naming: str) -> str:
    """QLever's text index, built from literals."""
    entity, word = as_iri(f"{_QLEVER}contains-entity"), as_iri(f"{_QLEVER}contains-word")
    ways = (
        f"{{ ?text {entity} ?f . ?text {word} {as_literal(' '.join(words))} . ?o {naming} ?f }}"
        for words in words_to_look_for(text)
    )
    return " UNION ".join(ways)


def in_wikidata(text: str, naming: str) -> str:
    """The search of Wikidata's own pages, which finds words with a slip by a tilde behind them."""
    words = [f"{word}~" if len(word) > _MIN_PREFIX else word for word in _words(text)]
    if not words:
        return ""
    given = {
        f"{_WIKIBASE}endpoint": "www.wikidata.org",
        f"{_WIKIBASE}api": "Search",
        f"{_MWAPI}srsearch": " ".join(words),
        f"{_MWAPI}srlimit": str(_WIKIDATA_LIMIT),
    }
    parameters = " ".join(
        f"{as_iri(_BLAZEGRAPH + 'serviceParam')} {as_iri(name)} {as_literal(value)} ." for name, value in given.items()
    )
    item = f"?o {as_iri(_WIKIBASE + 'apiOutputItem')} {as_iri(_MWAPI + 'title')} ."
    return f"{{ SERVICE {as_iri(_WIKIBASE + 'mwapi')} {{ {parameters} {item} }} ?o {naming} ?f }}"


def among_labels(text: str, naming: str) -> str:
    """All labels that have one half of a text, where a store has no text search and few enough of them."""
    said = " ".join(text.lower().split())
    halves = (said[: len(said) // 2], said[len(said) // 2 :])
    tests = " || ".join(f"CONTAINS(?low, {as_literal(half)})" for half in halves if len(half.strip()) > 1)
    return f"{{ ?o {naming} ?f . BIND(LCASE(STR(?f)) AS ?low) FILTER({tests}) }}" if tests else ""


SEARCHES: dict[str, Callable[[str, str], str]] = {  # profile's name -> pattern of a text and the naming predicates
    "virtuoso": in_virtuoso,
    "qlever": in_qlever,
    "wikidata": in_wikidata,
    "labels": among_labels,
}
SPELLINGS = "spellings"  # the way of a store that has no text search and too many labels to go through


def found_by(search: str, texts: Sequence[str], naming: str, limit: int, called: Callable[[Sequence[str]], str]) -> str:
    """A pattern that binds ``?o`` to entities that one of some texts may mean, and ``?f`` to how they are called.

    Args:
        search: of ``SEARCHES``, or ``SPELLINGS``.
        texts: names as they were typed, and as names are capitalised.
        naming: the predicates that name, as a query writes them.
        limit: entities for each text; which, where there are more, is the store's choice.
        called: writes texts as a store's labels in the languages that are read.
    """
    texts = [re.sub(r"[\x00-\x1f]", " ", text) for text in texts]
    short = [text for text in texts if search == SPELLINGS or (len(text) <= _SHORT and " " not in text)]
    ways = dict.fromkeys(SEARCHES[search](text, naming) for text in texts if text not in short)
    found = [f"{{ SELECT ?o ?f WHERE {{ {way} }} LIMIT {limit} }}" for way in ways if way]
    # as names are capitalised, what is spelt in small letters being no name
    spellings = [one for text in short if text[:1].isupper() for one in one_slip_from(text)][:_MAX_SPELLINGS]
    if spellings:
        found.append(f"{{ VALUES ?f {{ {called(spellings)} }} ?o {naming} ?f }}")
    return " UNION ".join(found)
