"""What linking found, as a question means it: which mentions are names here, and which of its namesakes each means.

Linking scores every stretch by itself. What stands around it tells the rest: a *band* before *Queen* says what Queen
is, behind *in* comes a place, *Wimbledon 1985* is the one of that year.
"""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from kgdemo.answering.operands import is_of_kind, names_of_kind
from kgdemo.events import EntitiesLinked, Mention
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import FUNCTION_WORDS, bare, fold
from kgdemo.linking.linker import Linker
from kgdemo.linking.names import name_index
from kgdemo.linking.words import common_words, ordinary_words
from kgdemo.query.answer_type import kind_of
from kgdemo.query.wording import plain_question


def names_meant(question: str, linker: Linker, kg: KnowledgeGraph) -> EntitiesLinked:
    """The entities that a question names.

    Args:
        question: its text.
        linker: finds what may be named.
        kg: the graph that is asked about.
    """
    began = time.perf_counter()
    found = linker.link(question)
    mentions, chosen = _asked_about(question, *_named(question, found.mentions, found.chosen, kg))
    mentions, chosen = _of_the_year(question, mentions, chosen, kg)
    if linker.knows_all_names:
        mentions, chosen = _of_women(question, mentions, chosen, kg)
        mentions, chosen = _instead(mentions, chosen, _called_whole(mentions, kg))
        mentions, chosen = _instead(mentions, chosen, _who_did(question, mentions, kg))
        mentions, chosen = _of_its_kind(question, mentions, chosen, kg)
    chosen = _places(question, mentions, chosen)
    mentions, chosen = _but_asides(mentions, chosen, kg)
    chosen = _told_by_an_owner(question, mentions, chosen, kg)
    chosen = (*chosen, *_unrivalled(mentions, chosen))
    return EntitiesLinked(mentions, chosen, found.nearest, ms=1000 * (time.perf_counter() - began))


def _named(
    question: str, mentions: tuple[Mention, ...], chosen: tuple[str, ...], kg: KnowledgeGraph
) -> tuple[tuple[Mention, ...], tuple[str, ...]]:
    """What is named: *I* is not the symbol of iodine, and *Queen* is what the *band* is called."""
    no_names = {m.candidates[0].entity for m in mentions if _is_no_symbol(m) and "symbol" not in question.lower()}
    if len(chosen) > 1:
        no_names |= {m.candidates[0].entity for m in mentions if m.text in ("TV", "television", "Television")}
        no_names |= {m.candidates[0].entity for m in mentions if _is_a_word(m, question)}
        no_names |= {
            one.candidates[0].entity
            for one, other in pairwise(sorted(mentions, key=lambda mention: mention.start))
            if _CALLED.fullmatch(question[one.end : other.start]) and _is_its_kind(one, other, kg)
        }
    no_names |= {m.candidates[0].entity for m in mentions if _is_no_acronym(m, kg)}
    no_names |= {m.candidates[0].entity for m in mentions if m.text == "it"}  # though a film is called so
    no_names |= {m.candidates[0].entity for m in mentions if _is_described(m, question)}
    no_names |= {m.candidates[0].entity for m in mentions if m.text in common_words() and _is_accented(m)}
    if re.search(r"\b(?:start|begin|letter|initial)", question):
        no_names |= {m.candidates[0].entity for m in mentions if re.fullmatch("[A-Z]", m.text)}
    no_names |= {m.candidates[0].entity for m in mentions if _SETS.match(question, m.start)}
    left = tuple(m for m in mentions if m.candidates[0].entity not in no_names)
    return left, tuple(entity for entity in chosen if entity not in no_names)


_CALLED = re.compile(r" (?:(?:of|called|named) )?")


def _is_its_kind(one: Mention, other: Mention, kg: KnowledgeGraph) -> bool:
    """Whether a word only says what is named next: the *band* Queen, a *statue* of David."""
    noun = re.sub(r"^(?:the|an?) ", "", one.text, flags=re.IGNORECASE)
    follows = len(noun.split()) == 1 and noun.islower()
    return follows and is_of_kind(kg, other.candidates[0].entity, names_of_kind(noun))


def _is_no_acronym(mention: Mention, kg: KnowledgeGraph) -> bool:
    """Whether an everyday word was taken for an acronym: a *car* is no CAR, and *Who* is no WHO."""
    said = fold(mention.text)
    names = [name for name in kg.names_of(mention.candidates[0].entity) if fold(name) == said]
    everyday = not mention.text.isupper() and said in ordinary_words()
    return everyday and bool(names) and all(name.isupper() for name in names)


def _of_women(
    question: str, mentions: tuple[Mention, ...], chosen: tuple[str, ...], kg: KnowledgeGraph
) -> tuple[tuple[Mention, ...], tuple[str, ...]]:
    """With the women's tournament in place of the one of the same name, where the question says so."""
    meant: dict[str, str] = {}
    for mention in mentions:
        before, words = _WOMENS.search(question[: mention.start]), mention.text.split()
        names = [f"{before[0]}{' '.join(words[:last])}" for last in range(len(words), 0, -1)] if before else []
        called = (kg.entities[found.entity] for name in names for found in name_index(kg).called(name))
        if other := next(called, ""):
            meant[mention.candidates[0].entity] = other
    return _instead(mentions, chosen, meant)


_WOMENS = re.compile(r"\b(?:women|woman|ladies)['’]?s? $", re.IGNORECASE)


def _of_its_kind(
    question: str, mentions: tuple[Mention, ...], chosen: tuple[str, ...], kg: KnowledgeGraph
) -> tuple[tuple[Mention, ...], tuple[str, ...]]:
    """What is said to be a work or a band is the one of that name; where there is none, it is no place either."""
    meant, others = dict[str, str](), set[str]()
    for mention in mentions:
        first, said = mention.candidates[0], _KIND_BEFORE.search(question[: mention.start])
        kinds = names_of_kind(said["noun"].lower()) if said else ()
        if not said or is_of_kind(kg, first.entity, kinds):
            continue
        called = [kg.entities[found.entity] for found in name_index(kg).called(mention.text)]
        if one := next((own for own in called if is_of_kind(kg, own, kinds)), ""):
            meant[first.entity] = one
        elif first.type in _NO_WORKS:
            others.add(first.entity)
    left = tuple(m for m in mentions if m.candidates[0].entity not in others)
    return _instead(left, tuple(one for one in chosen if one not in others), meant)


_KIND_BEFORE = re.compile(
    r"\b(?:the|an?|this|that|his|her|their) (?:\w+ )?"
    r"(?P<noun>band|film|movie|song|album|novel|book|play|painting|opera|musical|ballet|series|game) "
    r"(?:called |named |titled )?[\"“'‘]?$",
    re.IGNORECASE,
)
_NO_WORKS = frozenset("city country state region person deity animal plant mountain river".split())


def _who_did(question: str, mentions: Sequence[Mention], kg: KnowledgeGraph) -> dict[str, str]:
    """The best known person of a name in place of what else is called so, where a person's verb stands behind it."""
    meant: dict[str, str] = {}
    for mention in mentions:
        first = mention.candidates[0]
        does = first.type not in _SOMEBODY and _DOES.match(question, mention.end)
        called = [kg.entities[found.entity] for found in name_index(kg).called(mention.text)] if does else []
        people = [one for one in called if kind_of(kg, one) == "person"]
        if people:
            meant[first.entity] = max(people, key=lambda one: len(kg.neighbours(one)))
    return meant


def _called_whole(mentions: Sequence[Mention], kg: KnowledgeGraph) -> dict[str, str]:
    """What bears a name whole in place of what bears only a part of it: the series of the *Star Wars films*."""
    meant: dict[str, str] = {}
    for mention in mentions:
        first, *others = mention.candidates
        said = fold(mention.text)

        def is_so_called(entity: str, said: str = said) -> bool:
            return any(fold(name) == said for name in (bare(entity), *kg.names_of(entity)))

        likely = [one.entity for one in others if one.score >= _LIKELY]
        if likely and not is_so_called(first.entity) and (whole := next(filter(is_so_called, likely), "")):
            meant[first.entity] = whole
    return meant


_LIKELY = 0.8  # score from which another candidate may be meant
_SOMEBODY = frozenset("person character deity band team company organization".split())
_DOES = re.compile(
    r" (?:reign(?:s|ed)?|abdicated?|marr(?:y|ied)|(?:was |get |got |been )?(?:born|married|crowned)|die[ds]?"
    r"|paint(?:ed)?|wr[io]te|compose[ds]?|s[ai]ng)\b",
    re.IGNORECASE,
)


def _instead(
    mentions: tuple[Mention, ...], chosen: tuple[str, ...], meant: Mapping[str, str]
) -> tuple[tuple[Mention, ...], tuple[str, ...]]:
    """Mentions and topics with others in place of some entities."""

    def put_right(mention: Mention) -> Mention:
        first, *others = mention.candidates
        named = dataclasses.replace(first, entity=meant.get(first.entity, first.entity))
        return dataclasses.replace(mention, candidates=(named, *others))

    return tuple(map(put_right, mentions)), tuple(meant.get(entity, entity) for entity in chosen)


def _of_the_year(
    question: str, mentions: tuple[Mention, ...], chosen: tuple[str, ...], kg: KnowledgeGraph
) -> tuple[tuple[Mention, ...], tuple[str, ...]]:
    """Of what is held again and again the one of the year that the question names: *wimbledon winner 1985*."""
    years = set(_YEAR.findall(question))
    meant: dict[str, str] = {}
    for mention in mentions if len(years) == 1 and not _BOUND_BY_YEAR.search(question) else ():
        (year,), entity = years, mention.candidates[0].entity
        said = _WORK.sub("", mention.text)
        namesakes = [kg.entities[name.entity] for name in name_index(kg).called(said)]
        of_year = [f"{year}{entity[4:]}" if _YEAR.match(entity) else f"{year} {entity}"]
        of_year += [one for one in namesakes if f"({year}" in one]
        if singles := _SINGLES.search(question):
            of_year.append(f"{year} {entity} – {'Women' if singles['women'] else 'Men'}'s singles")
        if mention.candidates[0].type == "occupation":  # who was *pope* then is who held the office
            of_year += [one for one in namesakes if kind_of(kg, one) == "position"]
        if entity in chosen and (other := next((one for one in of_year if one in kg.entities), "")):
            meant[entity] = other
    return _instead(mentions, chosen, meant)


_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_SINGLES = re.compile(r"\b(?:(?P<women>women|ladies)|men|gentlemen)['’]?s? singles\b", re.IGNORECASE)
_BOUND_BY_YEAR = re.compile(
    r"\b(?:before|after|since|until|till|from|between|by|than|to|including) (?:the year )?[12]\d{3}\b", re.IGNORECASE
)
_WORK = re.compile(r"^(?:the )|(?: (?:film|movie|novel|book|series|version|remake))$", re.IGNORECASE)


def _is_accented(mention: Mention) -> bool:
    """Whether a name has letters that the question writes without accents: *angles* are no Anglès."""
    name = bare(mention.candidates[0].entity)
    return not name.isascii() and mention.text.isascii() and fold(name) == fold(mention.text)


_RULER = re.compile(r"(?:the )?(?:queen|king|pope|president|emperor|prince|princess)")
_SAID_WHICH = re.compile(
    r"(?:['’]s)? (?:who|that|which|whose|whom|shown|depicted|named|called|born|buried|crowned|killed|executed|on)\b"
)


def _is_described(mention: Mention, question: str) -> bool:
    """Whether a title is no name, since it is said which of its holders is meant: *the queen shown on* a stamp."""
    return bool(_RULER.fullmatch(mention.text) and _SAID_WHICH.match(question, mention.end))


def _asked_about(
    question: str, mentions: tuple[Mention, ...], chosen: tuple[str, ...]
) -> tuple[tuple[Mention, ...], tuple[str, ...]]:
    """What is named where the question is asked; what stands around it counts where nothing is named there.

    *I teach on Monday: which planet does Titan belong to?* is not about Monday.
    """
    asked = plain_question(question).removeprefix("name ")
    start = question.find(asked)
    inside = tuple(m for m in mentions if start <= m.start and m.end <= start + len(asked)) if start >= 0 else ()
    about = {candidate.entity for mention in inside for candidate in mention.candidates} & set(chosen)
    elsewhere = {candidate.entity for m in mentions if m not in inside for candidate in m.candidates} - about
    if not about or not elsewhere & set(chosen):
        return mentions, chosen
    return inside, tuple(entity for entity in chosen if entity not in elsewhere)


def _is_no_symbol(mention: Mention) -> bool:
    """Whether a mention is just a word that is written like a chemical symbol: *I*, *In*, *As*, *a gram* (Agram)."""
    word, _, rest = mention.text.partition(" ")
    joined = word.lower() in ("a", "an") and rest.islower() and mention.candidates[0].entity[:1].isupper()
    written = mention.text.lower() in FUNCTION_WORDS | {"will", "i"}  # *I will* is not about a William
    return (written and (len(mention.text) <= len("In") or mention.text == "will")) or bool(joined)


_NAMES_OF_WORDS = frozenset("deity city island band company character mountain river lake state region song".split())


def _is_a_word(mention: Mention, question: str) -> bool:
    """Whether a small word is a verb or noun here though something is called so: *set* up, on *sale*.

    Only where the question writes its names with capital letters.
    """
    first = mention.candidates[0]
    plain = mention.text.islower() and " " not in mention.text and first.entity[:1].isupper()
    writes_names = bool(re.search(r"(?<=[^.?!\s] )[\w]*[A-Z]", question))
    return plain and writes_names and first.type in _NAMES_OF_WORDS and mention.text in common_words()


_SETS = re.compile(r"(?:set|based|found) (?:in|on)\b")  # a play *set in* Scotland is not about the god
_IN_PLACE = re.compile(r"\b(?:in|at|near) $", re.IGNORECASE)
_LEVEL = 0.1  # of scores that say nothing of which is likelier
_CALLED_SO = frozenset(("city", "country", "state", "region", "province", "island", "continent"))


def _places(question: str, mentions: Sequence[Mention], chosen: tuple[str, ...]) -> tuple[str, ...]:
    """The place that is meant: behind *in* nobody of that name, and by *african* the continent itself."""
    meant: dict[str, str] = {}
    for mention in mentions:
        first, said = mention.candidates[0], fold(mention.text)
        places = [one for one in mention.candidates if one.type in _CALLED_SO]
        called_so = next((one.entity for one in places if fold(one.entity) == said), "")
        if called_so and first.type == "person" and _IN_PLACE.search(question[: mention.start]):
            meant[first.entity] = called_so
        adjective_of = next((one for one in places if said.startswith(fold(one.entity).rstrip("aeiou"))), first)
        if " " in fold(first.entity) and " " not in said and first.score - adjective_of.score < _LEVEL:
            meant[first.entity] = adjective_of.entity
    return tuple(dict.fromkeys(meant.get(entity, entity) for entity in chosen))


_TITLED = frozenset("film album song book play series team character game franchise product landmark airport".split())


def _but_asides(
    mentions: tuple[Mention, ...], chosen: tuple[str, ...], kg: KnowledgeGraph
) -> tuple[tuple[Mention, ...], tuple[str, ...]]:
    """Without everyday words that are titles too and have nothing to do with what else is named.

    Whoever asks for their *homework*, or of *room* temperature, means neither the album nor the film.
    """
    asides: set[str] = set()
    for mention in mentions if len(chosen) > 1 else ():
        first = mention.candidates[0]
        words = fold(mention.text).split()
        usual = common_words() if len(words) == 1 else ordinary_words()  # *real madrid* is no everyday word
        everyday = mention.text.islower() and all(word in usual for word in words)
        if everyday and first.type in _TITLED and first.entity in chosen and not first.entity.islower():
            others = set(chosen) - {first.entity}
            if all(end not in others for _, end in kg.neighbours(first.entity)):
                asides.add(first.entity)
    left = tuple(entity for entity in chosen if entity not in asides)
    return tuple(m for m in mentions if m.candidates[0].entity not in asides) if left else mentions, left or chosen


_OWNED = re.compile(
    r"^['’]s? (?:half-|step-?|younger |older |twin |first |second )?\w+,? $"
)  # between *Marie Curie* and *Irène*: 's daughter


def _told_by_an_owner(
    question: str, mentions: Sequence[Mention], chosen: tuple[str, ...], kg: KnowledgeGraph
) -> tuple[str, ...]:
    """Without whom somebody is told by: of *Marie Curie's daughter Irène* the daughter alone."""
    named = sorted((m for m in mentions if m.candidates[0].entity in chosen), key=lambda mention: mention.start)
    meant: dict[str, str] = {}
    for owner, owned in pairwise(named):
        one, around = owner.candidates[0].entity, {end for _, end in kg.neighbours(owner.candidates[0].entity)}
        kin = owned.candidates[0].type == "person" and _OWNED.match(question[owner.end : owned.start])
        relative = next((own.entity for own in owned.candidates if own.entity in around), "") if kin else ""
        if relative:
            meant |= {one: "", owned.candidates[0].entity: relative}
    return tuple(filter(None, dict.fromkeys(meant.get(entity, entity) for entity in chosen)))


_UNRIVALLED, _RIVAL = 0.3, 0.1  # score of a name that is no English word, and share of it that the next one may have


def _unrivalled(mentions: Sequence[Mention], chosen: Sequence[str]) -> Iterator[str]:
    """What else is named for certain, since the word is no English one and hardly anything else is called so."""
    for mention in mentions:
        first, *others = mention.candidates
        strange = not any(word in ordinary_words() for word in fold(mention.text).split())
        alone = first.score >= _UNRIVALLED and all(one.score <= _RIVAL * first.score for one in others)
        if strange and alone and first.entity not in chosen and first.type in ("person", "country", "city", "deity"):
            yield first.entity
