"""A question with placeholders for what it names: what remains says what is asked, whatever it is asked of.

Which words are names is not certain: *the ceiling of the Sistine Chapel* is a thing, and so is the chapel, and *table*
names something too. So there are several readings, and the parser says which of them makes sense. What is a name for
certain has a placeholder in all of them: nothing that a question names is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import combinations

from rapidfuzz import fuzz

from kgdemo.events import Mention
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import FUNCTION_WORDS, bare, fold
from kgdemo.linking.names import name_index
from kgdemo.linking.words import common_words, ordinary_words
from kgdemo.query.answer_type import kind_of
from kgdemo.query.measures import UNIT_WORDS
from kgdemo.query.parser import NAMES

_ALIKE = 84  # of 100, from which a mistyped name is the name
_SHORTEST = 3  # letters
_LONGEST_NAME = 7  # words
_MOST = 6  # readings that are looked at
_WORD = re.compile(r"[^\W_](?:[\w'’.-]*[^\W_])?")
KINDS = frozenset(("kind", "occupation", "domain", "quantity", "field", "class", "shape", "colour", "unit", "year"))
_JOINER = re.compile(r",?[?.:]? (?:or|and|vs\.?|versus|than) (?:an? |the |of )*", re.IGNORECASE)
_SAYS_MORE = re.compile(r",? (?:in|of|on|by|from|at) (?:the |a )?|, | [(]", re.IGNORECASE)
_IN_UNITS = re.compile(r"\b(?:how many|in) $", re.IGNORECASE)
_ADJECTIVE = re.compile(r"(?:'s|’s)? |ish |n ")
_FEAT = "feat"
_WITH_PLACE = re.compile(r"(?:the )?(?P<thing>.+?) (?:in|of|at)(?: the)? (?P<place>\S.*)", re.IGNORECASE)
_SEVERAL_OF = re.compile(r"(?P<one>(?:\w+ )?\w+[^s\W])s (?P<of>of .+)")  # *prime ministers of Canada*
_OWN = re.compile(r"['’]s?$")
_NO_NAMES = frozenset(("one", "man", "woman", "people", "it", "he", "she", "they", "name", "who", "us"))
_ARTICLE = re.compile(r"(?:the|a|an) ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Named:
    """A stretch of a question and the entities that it may mean, the likeliest first."""

    text: str
    start: int
    end: int
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Masked:
    """A reading of a question.

    Attributes:
        text: with placeholders.
        names: what they stand for, in their order.
        beside: what only says more of a thing that the question is about, and is left out of the text.
        around: a place at the end of the text, left out of it, in which a thing that is named lies.
    """

    text: str
    names: tuple[Named, ...]
    beside: tuple[Named, ...] = ()
    around: tuple[Named, ...] = ()


def readings(
    text: str,
    mentions: Sequence[Mention],
    topics: Set[str],
    kg: KnowledgeGraph,
    joined: Callable[[str, str], bool],
) -> list[Masked]:
    """The ways to tell the names in a question from its other words.

    Args:
        text: the question.
        mentions, topics: what linking found in it, and what of that it took for what is asked about.
        kg: the graph.
        joined: whether a place says only more of a thing: *the Burj Khalifa in Dubai*.
    """
    every = list(_named(text, mentions, kg))
    if not mentions:  # the topics were chosen by hand, so they are what their names mean
        chosen = [tuple(own for own in one.entities if own in topics) or one.entities for one in every]
        every = [replace(one, entities=own) for one, own in zip(every, chosen, strict=True)]
    names = [one for one in every if _is_name(one, topics, kg)]
    longer = [one for one in every if one not in names and " " in one.text and not topics.isdisjoint(one.entities)]
    names = [one for one in names if not any(whole.start <= one.start and one.end <= whole.end for whole in longer)]
    sure = _apart(names)
    kinds = [one for one in every if one not in names and all(_is_beside(one, own) for own in sure)]
    found: dict[tuple[Named, ...], None] = {}
    if len(sure) <= len(NAMES):
        found[tuple(sure)] = None
        for one in _apart(kinds):
            if len(sure) < len(NAMES):
                found[tuple(sorted((*sure, one), key=lambda own: own.start))] = None
    for one, other in combinations(_apart(kinds) if not sure else [], 2):
        if joiner := _JOINER.fullmatch(text[one.end : other.start]):
            pair: dict[tuple[Named, ...], None] = {(one, other): None}
            if " or " in joiner[0]:  # of *a mile or a kilometre* neither is read alone
                found = pair
                break
            found |= pair
    for one in sure if 1 < len(sure) <= len(NAMES) + 1 else ():
        if _ASKED_FOR.search(text[: one.start]):  # *which World Cups did* somebody win
            found[tuple(own for own in sure if own != one)] = None
    told = [one for one in sure if _says_whose(text, one)]
    for one in told if 1 < len(sure) <= len(NAMES) + 1 else ():
        found[tuple(own for own in sure if own != one)] = None
    for one, other in combinations(sure, 2):
        for kept, place in ((one, other), (other, one)):
            rest = [own for own in sure if own not in (kept, place)]
            between = text[one.end : other.start]  # *Maximus in Gladiator* is no Gladiator
            only_says_more = (_SAYS_MORE if kept is one else _ADJECTIVE).fullmatch(between)
            if only_says_more and joined(kept.entities[0], place.entities[0]) and len(rest) < len(NAMES):
                whole = Named(text[one.start : other.end], one.start, other.end, kept.entities)
                found[tuple(sorted((whole, *rest), key=lambda own: own.start))] = None
    return [mask(text, names, [one for one in told if one not in names]) for names in list(found)[:_MOST]]


def mask(text: str, names: Sequence[Named], without: Sequence[Named] = ()) -> Masked:
    """A text with placeholders for some of its stretches, given in their order.

    Args:
        text: of a question.
        names: the stretches.
        without: stretches that are left out: of *the French emperor who lost at X* is left *the emperor who lost at X*.
    """
    parts, at = [], 0
    marks = dict(zip(names, NAMES, strict=False))
    beside = [one for one in without if all(_is_beside(one, own) for own in names)]
    for name in sorted((*names, *beside), key=lambda own: own.start):
        head, mark, end = text[at : name.start], marks.get(name, ""), name.end
        if name not in marks:
            owner = _OWNER.match(text, end)
            mark = "the " if owner and not _ARTICLE.search(head[-4:]) else ""
            end = owner.end() if owner else end + 1
        parts += [head, mark]
        at = end
    return Masked("".join((*parts, text[at:])), tuple(names), tuple(beside))


_ASKED_FOR = re.compile(r"\b(?:which|what)(?: of the)? $", re.IGNORECASE)
_OWNER = re.compile(r"['’]s? ")
_BEFORE_A_NOUN = re.compile(r"(?:['’]s?)? (?=(?P<word>[A-Za-z]+)\b)")
_BEFORE_IT = re.compile(
    r"(?:^|[,:;(] |\b(?:the|a|an|of|which|what|that|this|is|was|are|were|his|her|their|its|[12]\d{3}) )$", re.IGNORECASE
)
_JOINING = frozenset(
    "first last next too also then within without during before after since until than between through against via"
    " plus".split()
)


def _says_whose(text: str, name: Named) -> bool:
    """Whether a name stands before a noun that it says more of: *Dalí's famous picture*, *the French emperor*."""
    behind = _BEFORE_A_NOUN.match(text, name.end)
    noun = behind is not None and behind["word"] not in FUNCTION_WORDS | _JOINING
    return noun and _BEFORE_IT.search(text[: name.start]) is not None


def _named(text: str, mentions: Sequence[Mention], kg: KnowledgeGraph) -> Iterator[Named]:
    """All stretches that are names: those that linking found, with its candidates first, and those of the index."""
    meant = {_as_it_stands(one.text, text): _of_such_name(one, kg) for one in mentions}
    words = list(_WORD.finditer(text))
    seen = set()
    for first in range(len(words)):
        for last in range(min(first + _LONGEST_NAME, len(words)) - 1, first - 1, -1):
            start, end = words[first].start(), words[last].end()
            said = text[start:end]
            if owner := _OWN.search(said):
                end, said = end - len(owner[0]), said[: -len(owner[0])]
            if fold(said) in UNIT_WORDS and _IN_UNITS.search(text[:start]):
                continue  # what a value is asked in
            linked = said.isupper() and fold(said) in meant  # *the US* is no *us*
            if not linked and (fold(said) in _NO_NAMES or all(own in FUNCTION_WORDS for own in fold(said).split())):
                continue
            if len(said) < _SHORTEST and not said[-1].isdigit() and not linked:
                continue
            exactly = [said] if " " in said and said in kg.entities else []
            entities = dict.fromkeys((*exactly, *meant.get(fold(said), ()), *_called(said, kg)))
            told = (
                kind_of(kg, next(iter(entities), "")) == _FEAT and fold(said).split()[0] in FUNCTION_WORDS
            )  # *is the father of*
            if entities and (start, end) not in seen and not told:
                seen.add((start, end))
                yield Named(said, start, end, tuple(entities))


def _as_it_stands(name: str, text: str) -> str:
    """A name that linking found, folded: its first word where it shares the last with another, *Charlotte or Emily*."""
    words = fold(name).split()
    return " ".join(words) if " ".join(words) in fold(text) else next(iter(words), "")


def _of_such_name(mention: Mention, kg: KnowledgeGraph) -> list[str]:
    """The entities that linking found for a mention which are called so, or nearly: by no description."""
    said = fold(mention.text)
    likeness = {
        one.entity: max(
            (fuzz.ratio(said, fold(name)) for name in (*kg.names_of(one.entity), bare(one.entity))), default=0
        )
        for one in mention.candidates
    }
    return [entity for entity, alike in likeness.items() if alike >= max(_ALIKE, max(likeness.values()) - 1)]


def _called(said: str, kg: KnowledgeGraph) -> Iterator[str]:
    return (kg.entities[name.entity] for own in _spellings(said) for name in name_index(kg).called(own))


def _spellings(said: str) -> Iterator[str]:
    """A name as it stands there, and as it may be written: *the World Cup in 1966*, which is the 1966 World Cup."""
    yield said
    if found := _SEVERAL_OF.fullmatch(said):
        yield f"{found['one']} {found['of']}"
    if found := _WITH_PLACE.fullmatch(said):
        yield f"{found['thing']} {found['place']}"
        yield f"{found['place']} {found['thing']}"


def _is_name(one: Named, topics: Set[str], kg: KnowledgeGraph) -> bool:
    """Whether a stretch is the name of something in particular, and no common word that something is called."""
    kind = kind_of(kg, one.entities[0])
    called_so = fold(one.text) in {fold(name) for name in (one.entities[0], *kg.names_of(one.entities[0]))}
    if kind in KINDS or (kind == _FEAT and not (called_so and one.entities[0] in topics)):
        return False  # a feat describes who achieved it, unless its very name stands there
    if re.fullmatch(r"\d\d?", one.text):
        return False  # *the 4 presidents*
    words = _ARTICLE.sub("", one.text).split()
    if one.start > 0 and any(word[:1].isupper() for word in words):
        return True
    strange = any(word.lower() not in ordinary_words() for word in words)
    said = len(words) > 1 or words[0].lower() not in common_words() or not topics.isdisjoint(one.entities)
    return strange and said


def _is_beside(one: Named, other: Named) -> bool:
    return one.end <= other.start or other.end <= one.start


def _apart(names: Sequence[Named]) -> list[Named]:
    """Of stretches that overlap the longest, in their order."""
    chosen: list[Named] = []
    for one in sorted(names, key=lambda own: (own.start - own.end, own.start)):
        if all(_is_beside(one, own) for own in chosen):
            chosen.append(one)
    return sorted(chosen, key=lambda own: own.start)
