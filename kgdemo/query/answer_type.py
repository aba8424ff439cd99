"""What kind of thing a question asks for: "which country …", "who …", "currency of …", "films with …".

A small path model weighs these words too little: it may stop at the city in which somebody was born when the country
was asked for. Ranking and abstention therefore take the type as a feature beside the model's probability, and answer
sets are completed with ends of the right type only. No path is ruled out by its type. A type may be *named* ("which
country"), or only be *implied* by a question word or a role ("who", "the author of"), which allows several types.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum
from itertools import takewhile

from kgdemo.kg.graph import KnowledgeGraph


@dataclass(frozen=True, slots=True)
class AnswerType:
    """What a question asks for.

    Attributes:
        types: any of these; empty where the question does not say.
        named: the question names the type itself.
    """

    types: frozenset[str] = frozenset()
    named: bool = False


ANYTHING = AnswerType()


class Fit(IntEnum):
    """Whether a thing may be what a question asks for."""

    NO = 0
    PERHAPS = 1  # some place or other, where a kind of place is asked for
    YES = 2


SYNONYMS = {
    "movie": "film",
    "show": "series",
    "town": "city",
    "nation": "country",
    "nationality": "country",
    "citizenship": "country",
    "capital": "city",
    "novel": "book",
    "state": "region",
    "province": "region",
    "school": "university",
    "singer": "person",
    "firm": "company",
    "college": "university",
    "uni": "university",
    "tongue": "language",
    "god": "deity",
    "goddess": "deity",
    "peak": "mountain",
    "money": "currency",
    "club": "team",
    "brand": "company",
    "prize": "award",
    "style": "movement",
}
_PLACES = frozenset(
    "place city county country region state province continent island building museum university school landmark "
    "monument bridge mountain lake river sea ocean desert stadium habitat".split()
)
_BUILT = frozenset("museum stadium theatre school university landmark monument".split())
_EATEN = frozenset(("drink", "food"))
_SOMEBODY = frozenset(("person", "deity", "character", "mythical figure"))
_WHO = _SOMEBODY.union("band company organization team position dynasty country".split())
_MAKER = _SOMEBODY | {"company", "band", "organization"}
_TIME, _NUMBER = frozenset(("year",)), frozenset(("quantity", "number"))
_ROLES = {  # nouns that are no type but say which types can be meant
    **dict.fromkeys(
        "husband wife wive spouse partner father mother parent child children kid son daughter sibling brother sister "
        "grandparent grandfather grandmother grandchild grandchildren uncle aunt advisor".split(),
        _SOMEBODY,
    ),
    **dict.fromkeys(
        "author writer novelist poet composer director painter sculptor architect inventor founder discoverer creator "
        "maker designer singer songwriter artist actor actress star screenwriter developer producer".split(),
        _MAKER,
    ),
    **dict.fromkeys("winner laureate champion".split(), _WHO),
    **dict.fromkeys("birthplace hometown location place".split(), _PLACES),
    **dict.fromkeys("birthyear birthdate birthday date".split(), _TIME),
    **dict.fromkeys(
        "population height length depth width area age weight size price cost salary income budget revenue profit "
        "speed distance temperature duration gdp".split(),
        _NUMBER,
    ),
}
HELD_BY_ONE = frozenset(
    "captain coach goalkeeper king queen president minister chancellor pope emperor mayor governor commander general "
    "chairman chairwoman ceo boss drummer guitarist bassist vocalist frontman astronaut".split()
)
_QUESTION_WORDS = {"who": _WHO, "whom": _WHO, "whos": _WHO, "where": _PLACES, "wheres": _PLACES, "when": _TIME}
_MUCH = frozenset("many much long old tall far big high deep fast heavy large wide".split())  # how many, not how come
_BEFORE = frozenset(
    "a after all an and are at by can could do few for from give hello hey hi i d in is kind know like list me name of "
    "on please s some sort tell that the there to two us was were with would you".split()
)
_BEHIND = frozenset(
    "at based behind born by for from in made of on spoken that to where which who whom whose with written".split()
)
_VERBS = frozenset("did does do has had have is are was were can".split())
_BEING = frozenset("is are was were s".split())
_ASKING = frozenset(("what", "which", "whats"))
_REACH = 3  # words in which the type is looked for: "which former american state …"


_OF_TODAY = re.compile(r"\b(?:modern|present)[- ]day ")


def answer_type_of(question: str, types: Collection[str]) -> AnswerType:
    """What a question's own words ask for.

    Args:
        question: as it was typed.
        types: those of the graph's entities.

    Returns:
        nothing where the question does not say, or names no type of the graph's.
    """
    words = re.findall(r"[^\W_]+", _OF_TODAY.sub("", question.lower()))
    start = next((place for place, word in enumerate(words) if word not in _BEFORE), len(words))
    first = words[start] if start < len(words) else ""
    if first == "who" and _is_somebody(words[start + 1 :]):
        return AnswerType(_SOMEBODY)
    if first in _QUESTION_WORDS:
        return ANYTHING if _asks_who_that_is(words[start:]) else AnswerType(_QUESTION_WORDS[first])
    if first == "how":
        return AnswerType(_NUMBER) if words[start + 1 : start + 2] and words[start + 1] in _MUCH else ANYTHING
    asking = next((place for place, word in enumerate(words) if word in _ASKING), None)
    described = words[start : asking - 1] if asking and words[asking - 1] in _BEHIND else []
    if asking is None or (described and _VERBS.isdisjoint(described)):  # *the state in which …*
        return _of_phrase(words[start:], types)
    behind = words[asking + 1 :]
    if (behind[:1] and behind[0] in _BEING) or words[asking] == "whats":  # "what is the currency of …"
        dangling = words[-1] in _BEHIND  # "what is the husband of Isis the god of"
        while behind and behind[0] in _BEFORE:
            behind = behind[1:]
        return ANYTHING if dangling else _of_phrase(behind, types)
    near = behind[:_REACH]
    verb = next((i for i, word in enumerate(near) if word in _VERBS or word in _BEFORE), None)
    nouns = near[:verb]
    kinds = [_kind(word, types) for word in nouns]
    first = next((place for place, kind in enumerate(kinds) if kind.types), len(kinds))
    if not kinds[first:]:
        return ANYTHING
    heads = list(takewhile(lambda kind: kind.types, kinds[first:]))  # an *award winner* is no award
    head, behind = nouns[first + len(heads) - 1], words[asking + first + len(heads) + 1 :]
    is_verb = head.endswith("s") and bool(behind) and behind[0] not in _VERBS
    return kinds[first] if nouns[first].endswith("s") or is_verb else heads[-1]  # *instruments play*, *film stars* who


def _asks_who_that_is(words: list[str]) -> bool:
    """Whether nothing but a name is asked about: of Galileo ("who was Galileo and …") it is told what he was."""
    if words[0] != "whos" and not (words[0] == "who" and words[1:2] and words[1] in _BEING):
        return False
    name = list(takewhile(lambda word: word != "and", words[1 if words[0] == "whos" else 2 :]))
    known = _BEHIND | _ROLES.keys() | {"a", "an", "the", "s"}
    return bool(name) and not any(word in known or word.endswith("ed") for word in name)


def _is_somebody(words: list[str]) -> bool:
    """Whether who is asked for has an office or a part that only a person has: *who was India's captain in 2011*."""
    head = next((place for place, word in enumerate(words) if word in _BEHIND), len(words))
    return words[:1] != [] and words[0] in _BEING and head <= _REACH + 1 and words[head - 1] in HELD_BY_ONE


def kind_of(kg: KnowledgeGraph, entity: str) -> str:
    """The type of an entity; that of a number can be read off it, and is empty where nothing is known.

    A word in capitals behind the number is a name's, no unit's: *50 Cent*, *12 Monkeys*.
    """
    known = kg.info.get(entity)
    if known and known.type:
        return known.type
    if re.fullmatch(r"\d{3,4}", entity):
        return "year"
    return "quantity" if entity[:1].isdigit() and not re.search("[A-Z][a-z]{2}", entity) else ""


def fits(answer_type: AnswerType, kind: str) -> Fit:
    """Whether a thing of this type may be meant; what no type is known of is not held against it."""
    if not answer_type.types or not kind or kind in answer_type.types:
        return Fit.YES
    if kind in _EATEN and "ingredient" in answer_type.types:
        return Fit.YES  # a drink may be one
    if kind in _BUILT and "building" in answer_type.types:
        return Fit.PERHAPS
    if kind == "country" and "team" in answer_type.types:  # whose national team that is
        return Fit.PERHAPS
    return Fit.PERHAPS if kind == "place" and not answer_type.types.isdisjoint(_PLACES) else Fit.NO


def _of_phrase(words: list[str], types: Collection[str]) -> AnswerType:
    """The head of a noun phrase: the last word of it, "official *languages* of …", "rust *formula*"."""
    end = next((i for i, word in enumerate(words) if word in _BEHIND or word.endswith("ed")), None)
    if end is None:  # nothing is said behind it: the phrase is the question
        return _kind(words[-1], types) if words else ANYTHING
    if end > _REACH:
        return ANYTHING
    return _kind(words[end - 1], types) if end else ANYTHING


def _kind(word: str, types: Collection[str]) -> AnswerType:
    """What one word asks for: a type it names, or those of a role."""
    forms = singulars(word)
    kinds = {kind for one in forms for kind in (one, SYNONYMS.get(one, one))} - {"place"}  # that is any kind of it
    if "region" in kinds:  # a state is one as well
        kinds |= {"state", "province"}
    if "instrument" in kinds:  # to measure with as well
        kinds |= {"invention", "tool"}
    named = frozenset(kinds.intersection(types))
    if named:
        return AnswerType(named, named=True)
    return next((AnswerType(_ROLES[one]) for one in forms if one in _ROLES), ANYTHING)


def singulars(word: str) -> tuple[str, ...]:
    """A word and what it may be the plural of."""
    forms = [word]
    if word.endswith("ies"):
        forms.append(word[:-3] + "y")
    if word.endswith("s"):
        forms += [word[:-1], word[:-2]] if word.endswith("es") else [word[:-1]]
    return tuple(forms)


_STEM = 5


def same_stem(word: str, other: str) -> bool:
    """Whether a word is another one in another form: *assassinated*, *assassination*."""
    if word == other:
        return True
    if len(word) > _STEM and len(other) > _STEM and word[:_STEM] == other[:_STEM]:
        return True
    return word[:3] == other[:3] and (word in singulars(other) or other in singulars(word))
