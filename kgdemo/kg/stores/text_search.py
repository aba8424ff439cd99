"""Names nearly spelt like a text, found by a store's own text search.

A text search knows words and their beginnings, not slips. So of each word the half that a slip has left alone is looked
for: *incepton* by ``ince*``, and of several words also all but one of them. What it finds is compared
letter by letter by whoever asked. How a query says this differs from store to store (``SEARCHES``); a store that
has no such search, but not too many facts, goes through its labels.

One word has no other beside it that tells what is meant. What it becomes by one letter is some hundred words, which any
store can look up as whole labels (``one_slip_from``). Where there is no text search and too much to go through, longer
names are looked up so as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from string import ascii_lowercase, ascii_uppercase

from kgdemo.kg.labels import fold
from kgdemo.kg.stores.patterns import as_iri, as_literal

_LEAST = 4  # letters before a *, for Virtuoso
_SHORT = 14  # letters of a single word, all spellings of which are looked up
_MOST_SPELLINGS = 8_000  # in one query
_LITTLE = frozenset("the and for von van del der den des".split())  # as are words of two letters
_CONTAINS = "<bif:contains>"
_QLEVER = "http://qlever.cs.uni-freiburg.de/builtin-functions/"
_WIKIBASE, _BLAZEGRAPH = "http://wikiba.se/ontology#", "http://www.bigdata.com/rdf#"
_MWAPI = "https://www.mediawiki.org/ontology#API/"
_FOUND_ON_WIKIDATA = 50


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
    return [one for one in (begun, *others) if one and any(len(word) >= _LEAST for word in one)]


def _words(text: str) -> list[str]:
    """The words of a text, folded; of letters and digits alone, so that no sign means anything to a search."""
    return fold(text).replace("~", " ").split()


def _beginning(word: str, part: float) -> str:
    """The first part of a word, and a star; all of a short one."""
    return word if len(word) <= _LEAST else f"{word[: max(_LEAST, int(len(word) / part))]}*"


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
    said = " OR ".join(f"({' AND '.join(map(_quoted, words))})" for words in words_to_look_for(text))
    return f"{{ ?o {naming} ?f . ?f {_CONTAINS} {as_literal(said)} }}" if said else ""


def _quoted(word: str) -> str:
    return f"'{word}'"


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
    words = [f"{word}~" if len(word) > _LEAST else word for word in _words(text)]
    if not words:
        return ""
    given = {
        f"{_WIKIBASE}endpoint": "www.wikidata.org",
        f"{_WIKIBASE}api": "Search",
        f"{_MWAPI}srsearch": " ".join(words),
        f"{_MWAPI}srlimit": str(_FOUND_ON_WIKIDATA),
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


def found_by(search: str, texts: Sequence[str], naming: str, most: int, called: Callable[[Sequence[str]], str]) -> str:
    """A pattern that binds ``?o`` to entities that one of some texts may mean, and ``?f`` to how they are called.

    Args:
        search: of ``SEARCHES``, or ``SPELLINGS``.
        texts: names as they were typed, and as names are capitalised.
        naming: the predicates that name, as a query writes them.
        most: entities for each text; which, where there are more, is the store's choice.
        called: writes texts as a store's labels in the languages that are read.
    """
    texts = [re.sub(r"[\x00-\x1f]", " ", text) for text in texts]
    short = [text for text in texts if search == SPELLINGS or (len(text) <= _SHORT and " " not in text)]
    ways = dict.fromkeys(SEARCHES[search](text, naming) for text in texts if text not in short)
    found = [f"{{ SELECT ?o ?f WHERE {{ {way} }} LIMIT {most} }}" for way in ways if way]
    # as names are capitalised, what is spelt in small letters being no name
    spellings = [one for text in short if text[:1].isupper() for one in one_slip_from(text)][:_MOST_SPELLINGS]
    if spellings:
        found.append(f"{{ VALUES ?f {{ {called(spellings)} }} ?o {naming} ?f }}")
    return " UNION ".join(found)
