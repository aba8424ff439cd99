"""Why something that was found is no answer to what is asked, for all that it is in the graph.

*Exists is not answers*: a question may name a kind, a number, a condition or a person that what was found has nothing
to do with. Each function here says in words what that is, and is empty where nothing is held against an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kgdemo.answering.computation import SAYS_LITTLE, MethodRun, listed
from kgdemo.answering.operands import PLACES, Sets, is_of_kind, names_of_kind
from kgdemo.answering.records import ACHIEVED, order_of
from kgdemo.events import AnswerFinal, Operation
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import FUNCTION_WORDS, fold, spoken
from kgdemo.kg.path import Path
from kgdemo.linking.names import name_index
from kgdemo.query.answer_type import HELD_BY_ONE, Fit, fits, kind_of, same_stem, singulars
from kgdemo.query.measures import NUMBERS, UNIT_WORDS, number_of_word
from kgdemo.query.query import Form, Query
from kgdemo.query.wording import names_in
from kgdemo.ranking.scorer import path_words

_OF_A_NUMBER = re.compile(
    rf"\b(?:with|have|has|had|won|scored|wrote|having|winning) (?:at least |over |more than |exactly )?"
    rf"(?P<number>{'|'.join(NUMBERS)}|\d{{1,2}}) (?P<what>[\w' -]+)",
    re.IGNORECASE,
)


_SO_OFTEN = re.compile(rf"\b(?:(?P<number>{'|'.join(NUMBERS)}|\d{{1,2}}) times|twice)\b", re.IGNORECASE)
_ASKS_WHOM = re.compile(r"(?:which|who|what)\b", re.IGNORECASE)


def number_unread(question: str, ran: MethodRun, operations: Sequence[Operation], kg: KnowledgeGraph) -> str:
    """How many of something the answers have to have, *five victories*, where nothing says so; else empty."""
    often = _SO_OFTEN.search(question) if _ASKS_WHOM.match(question) and not operations else None
    found = _OF_A_NUMBER.search(question) or often
    said = _words_said(ran.cited, operations, kg) if found else set()
    number = (found["number"] or "two").lower() if found else ""
    return found[0] if found and said.isdisjoint((number, str(number_of_word(number)))) else ""


_YEARS = re.compile(r"\b(?:1[0-9]|20)\d{2}\b")


def year_unread(query: Query, ran: MethodRun, operations: Sequence[Operation], kg: KnowledgeGraph) -> str:
    """A year that a question speaks of, *between 1979 and 1990*, where an answer rests on none; else empty."""
    years = _YEARS.findall(query.plan.asked)
    said = _words_said(ran.cited, operations, kg) | kg.words_of(*query.topics) if years else set()
    return years[0] if years and not any(one in word for one in years for word in said) else ""


_LIES_BETWEEN = re.compile(r"\b(?:lies?|is|are|located|situated|found|runs?|flows?) (?:\w+ )?between\b", re.IGNORECASE)
_JOINS = re.compile(r"border|coast|connect|separat|cross|flow|between|shore|located|contains|part", re.IGNORECASE)


def is_not_between(question: str, ran: MethodRun, operations: Sequence[Operation]) -> bool:
    """Whether a question asks for what lies between two things and no relation says that what was found does.

    Both planets orbit the Sun, which does not lie *between* them.
    """
    if not _LIES_BETWEEN.search(question):
        return False
    paths = [
        *ran.cited,
        *(p for one in operations if one.kind in ("both", "step") for o in one.operands for p in o.paths),
    ]
    return bool(paths) and not any(_JOINS.search(relation) for path in paths for relation in path.relations)


_AN_ORDER = re.compile(
    r"\b(?:(?:most|least|fewest) [a-z]+|[a-z]+est|(?<=the )(?:first|last)(?= (?!of\b)[a-z]))\b", re.IGNORECASE
)
_BEST_OF = re.compile(
    r"\b(?:best|top|highest|biggest)[- ]?(?:selling|known|paid|rated|ranked|grossing)\b", re.IGNORECASE
)
_FEW = 3  # answers that may all be the *most famous* ones


def order_unread(question: str, ran: MethodRun, operations: Sequence[Operation]) -> str:
    """What picks one of many, *the most beautiful*, where many are the answer and nothing says it of them; else empty.

    Args:
        question: in plain words.
        ran: how it was answered.
        operations: what was computed of it.
    """
    end, _ = order_of(question)
    said = (one for one in _AN_ORDER.finditer(question) if order_of(one[0])[0] == end)
    found = next(said, None) if end in ("more", "less", "first", "last") else _BEST_OF.search(question)
    if found is None or ran.final is None or len(ran.final.answers) <= _FEW:
        return ""
    ways = (" ".join((*path.entities[:-1], *path.relations)) for path in ran.cited)  # an end may be *Budapest*
    told = (*(operation.text for operation in operations), *ways)
    if not end:
        return "" if any(found[0].lower() in text.lower() for text in told) else found[0]
    return "" if any(order_of(text)[0] == end for text in told) else found[0]


_SO_MANY = re.compile(  # *the four inner planets*, but any of them in *one of the four*, and any two in *name two*
    rf"(?:(?:which|what|who (?:are|were)|what (?:are|were)|name|list|all)(?: the)?|the) "
    rf"(?P<number>(?:{'|'.join(NUMBERS)})|1?\d) "
    r"(?P<what>(?:[\w'’-]+ ){0,4}?[a-z]+(?:s|men|women|people|children))\b",
    re.IGNORECASE,
)


def not_so_many(question: str, answers: Sequence[str]) -> str:
    """That a question speaks of another number of things than were found; empty where it does not.

    Args:
        question: in plain words.
        answers: what was found.
    """
    found = _SO_MANY.match(question)
    if found is None or re.match(r"(?:name|list) (?!the)", question, re.IGNORECASE):
        return ""
    said = found["number"].lower()
    if number_of_word(said) == len(answers):
        return ""
    return f"The question speaks of {said} {found['what']}; what I find is {len(answers)}: {listed(list(answers), 8)}."


_TOLD_APART = frozenset("language city country continent river mountain lake planet currency film".split())
_ASKS_WHICH = re.compile(r"(?:which|what) (?!(?:is|are|was|were|has|have|had|of)\b)", re.IGNORECASE)
_OF_A_VALUE = frozenset((Form.YES_NO, Form.COUNT, Form.VALUE, Form.SPAN, Form.COMPARISON))


def of_another_kind(query: Query, answers: Sequence[str], sets: Sets) -> str:
    """That what was found is not of the kind that a question names; empty where any of it may be.

    Args:
        query: the question.
        answers: what was found.
        sets: of the graph.
    """
    kinds, noun = [kind_of(sets.kg, one) for one in answers], query.plan.noun
    if not answers or not all(kinds):
        return ""
    if query.answer_type.named and all(fits(query.answer_type, kind) is Fit.NO for kind in kinds):
        asked = listed(sorted(query.answer_type.types))
        told = f"{listed(list(answers), 3)}, is of the kind {listed(sorted({*kinds}))}"
        return f"It asks for {asked}; what was found, {told}."
    members = {} if query.answer_type.types or not noun or sets.kg.grows else sets.members(noun)
    alike = {kind_of(sets.kg, one) for one in members} - {"occupation"}  # *scientist* is a group of those
    if not alike or any(one in members for one in answers) or not alike.isdisjoint(kinds):
        return ""
    return f"What the graph holds here is no {noun}: {listed(list(answers), 3)}."


_ARE_OF_A_KIND = re.compile(  # *which islands are independent countries*
    r"^(?:which|what) (?:[\w'’-]+ )+?(?:is|are|was|were) (?:(?:also|really|an?|all) )*(?P<noun>(?:[a-z]+ )?[a-z]+)$",
    re.I,
)
_UPWARDS = re.compile(
    r"^(?:(?:which|what)(?: are(?: the)?)? )?(?:types|kinds|sorts|species|breeds) of (?P<of>[a-z]+)\b", re.I
)


_SAYS_WHAT = frozenset(("instance of", "animal class", "animal family", "plant family", "genre"))


def _of_no_such_kind(asked: str, answers: Sequence[str], sets: Sets) -> str:
    """That none of what was found is what the question says of it, *are independent countries*, or is a kind of it."""
    found, upwards = _ARE_OF_A_KIND.match(asked), _UPWARDS.match(asked)
    if upwards:
        named = [
            sets.kg.entities[name.entity]
            for one in singulars(upwards["of"])
            for name in name_index(sets.kg).called(one)
        ]
        own = {end for one in named for label, end in sets.kg.neighbours(one, directed=True) if label in _SAYS_WHAT}
        if answers and all(one in own for one in answers):
            return f"It asks for what is a {upwards['of']}; what was found, {listed(list(answers), 3)}, is what it is."
    kinds = names_of_kind(found["noun"].split()[-1]) if found else ()
    if not answers or sets.kg.types.isdisjoint(kinds) or any(is_of_kind(sets.kg, one, kinds) for one in answers):
        return ""
    return f"What the graph holds here are no {found['noun']}: {listed(list(answers), 3)}." if found else ""


_HOSTED = re.compile(r"\bhost(?:s|ed|ing)?\b", re.IGNORECASE)
_HOSTED_BOTH = re.compile(r"\bhosted (?:both|the [^,]+ and the)\b", re.IGNORECASE)


def _of_no_host(query: Query, operations: Sequence[Operation]) -> str:
    """That who *hosted both* games is asked for and what was found only won some of them; empty where it is not so."""
    if not _HOSTED_BOTH.search(query.plan.asked) or query.plan.form is Form.YES_NO:
        return ""
    for operand in (operand for one in operations for operand in one.operands if operand.paths):
        told = [path for path in operand.paths if path.entities[0] in query.topics] or list(operand.paths)
        for start in dict.fromkeys(path.entities[0] for path in told):
            said = [start, *(label for path in told if path.entities[0] == start for label in path.relations)]
            if not any(map(_HOSTED.search, said)):
                return f"It asks who hosted; what I find of {start} is “{spoken(said[-1])}”."
    return ""


def _of_other_years(query: Query, operations: Sequence[Operation]) -> str:
    """That a question keeps to some years and what was found rests on others; empty where it does not."""
    years = [int(year) for year in re.findall(r"\d{4}", query.plan.bound)]
    if len(years) != 2 or any(one.kind == "filter" for one in operations):
        return ""
    paths = [path for one in operations for operand in one.operands for path in operand.paths]
    told = [[int(year) for entity in path.entities for year in _YEARS.findall(entity)] for path in paths]
    if any(own and not any(years[0] <= year <= years[1] for year in own) for own in told):
        return f"It asks for {years[0]} to {years[1]}; what I find is of other years as well."
    return ""


def _of_nobody_named(query: Query, operations: Sequence[Operation], kg: KnowledgeGraph) -> str:
    """That a value was found of something else than of the person whom the question names; empty where it was not."""
    values = [operand for one in operations if one.kind == "value" for operand in one.operands]
    if len(values) != len([operand for one in operations for operand in one.operands]) or not values:
        return ""
    said = kg.words_of(
        *(one.entity for one in values), *(e for one in values for path in one.paths for e in path.entities)
    )
    people = [
        topic for topic in query.topics if kind_of(kg, topic) == "person" and UNIT_WORDS.isdisjoint(kg.words_of(topic))
    ]
    other = next((one for one in people if kg.words_of(one).isdisjoint(said)), "")
    return f"What I find is of {values[0].entity}; of {other} the graph does not say it." if other else ""


_AT_THAT_AGE = re.compile(
    r"\b(?:young|old)est\b.*\b(?:elected|to (?:become|be|win|take|reach|serve|score|play|climb|fly)|at the time)\b",
    re.I,
)


def _of_another_age(asked: str, operations: Sequence[Operation]) -> str:
    """That who was born last is found where the youngest at some time is asked for; empty where it is not so."""
    by_birth = any(operand.attribute == "born" for one in operations for operand in one.operands)
    if not by_birth or not _AT_THAT_AGE.search(asked):
        return ""
    return "It asks who was youngest or oldest at the time; what I could compare are the dates of birth only."


_THE_PLACE_WHERE = re.compile(
    r"\bthe (?P<noun>city|state|country|county|province|region|continent|town|island) (?:where|in which|that|which)\b",
    re.I,
)


def through_another_kind(asked: str, paths: Iterable[Path], kg: KnowledgeGraph) -> str:
    """That what is asked of *the state where* something is was found of a country; empty where it was not.

    Args:
        asked: the question in plain words.
        paths: what the answer rests on.
        kg: knows what kind of place something is.
    """
    found = _THE_PLACE_WHERE.search(asked)
    middle = {entity for path in paths for entity in path.entities[1:] if kind_of(kg, entity) in PLACES}
    noun = found["noun"].lower() if found else ""
    if not noun or not middle or any(is_of_kind(kg, one, names_of_kind(noun)) for one in middle):
        return ""
    return f"It asks of a {noun}; what I find is of {listed(sorted(middle), 3)}."


_THE_ONE = re.compile(  # who has an office that only one has
    r"^(?:who|which \w+) (?:is|was|are) (?:[\w'’-]+(?:['’]s?)? )??(?:(?:the|now|current|present) )*(?P<role>[a-z]+)"
    r"(?: (?:of|in|for|at|on)\b|$)",
    re.IGNORECASE,
)


def _no_such_role(asked: str, answers: Sequence[str], operations: Sequence[Operation]) -> str:
    """That several are found where the one in a part is asked for, *the captain*, of which nothing is said."""
    found = _THE_ONE.match(asked)
    role = found["role"].lower() if found else ""
    paths = [path for one in operations for operand in one.operands for path in operand.paths]
    if role not in HELD_BY_ONE or len(answers) < _FEW or not paths:
        return ""
    said = {word for path in paths for part in (path.entities[0], *path.relations) for word in fold(part).split()}
    if role in said or (role in ("ceo", "boss") and "executive" in said):
        return ""
    return f"What I find is {listed(list(answers), 8)}; which of them the {role} is, I cannot tell."


_GENDERS = {
    **dict.fromkeys(
        "woman girl actress lady female mother daughter sister wife aunt niece queen princess".split(), "woman"
    ),
    **dict.fromkeys("man father son brother husband uncle nephew grandfather king prince".split(), "man"),
    "grandmother": "woman",
}
_ASKS_FOR_ONE = re.compile(
    rf"(?:who|which|what)(?: (?:is|was|are|were))?(?: the)?(?: [\w-]+)? (?P<one>{'|'.join(_GENDERS)})\b(?!['’])",
    re.IGNORECASE,
)


def _of_another_gender(query: Query, answers: Sequence[str], kg: KnowledgeGraph) -> str:
    """That a question asks for a woman, *the first woman on the Moon*, and what was found is none; or for a man."""
    found = _ASKS_FOR_ONE.match(query.plan.asked)
    wanted = _GENDERS[found["one"].lower()] if found else ""
    told = {end for one in answers for label, end in kg.neighbours(one, directed=True) if label == "gender"}
    places = all(kind_of(kg, one) in PLACES for one in answers)
    if not wanted or not (told or places) or wanted in told:
        return ""
    return f"It asks for a {wanted}; what was found, {listed(list(answers), 3)}, is none."


_ONE_OF_TWO = re.compile(
    r"^(?:which|who|what) [^,]*, (?:the |an? )?([^,]+?) or (?:the |an? )?([^,?]+?)\??$", re.IGNORECASE
)


def _none_of_those_named(query: Query, answers: Sequence[str], kg: KnowledgeGraph) -> str:
    """That a question asks which of some things it is, and what was found is none of them."""
    offered = _ONE_OF_TWO.search(query.plan.asked)
    said = query.plan.things if query.plan.form is Form.COMPARISON else offered.groups() if offered else ()
    things = [fold(thing) for thing in said]
    if len(things) < 2 or " or " not in query.plan.asked:
        return ""
    named = {fold(name) for one in answers for name in kg.names_of(one)}
    of_them = len(answers) <= len(things) and any(t in name or name in t for t in things for name in named)
    if not named or of_them:
        return ""
    return f"It asks which of {listed(said)} it is; what was found is {listed(list(answers), 3)}."


def name_passed_over(question: str, operations: Sequence[Operation], kg: KnowledgeGraph) -> str:
    """What a question names that nothing of what says *yes* to it has to do with; empty where it names nothing else.

    Args:
        question: in plain words.
        operations: what was computed of it.
        kg: knows by what names things go.
    """
    paths = [path for operation in operations for operand in operation.operands for path in operand.paths]
    if not any(str(path) in operation.text for operation in operations for path in paths):
        return ""  # it is said in words of its own, *Paris*, which do not tell what it rests on
    said = _words_said(paths, operations, kg)
    passed = {entity for path in paths for entity in path.entities}
    names = [
        name
        for name in names_in(question)
        if fold(name) not in FUNCTION_WORDS
        and passed.isdisjoint(kg.entities[one.entity] for one in name_index(kg).called(name))  # *Swedish*
    ]
    return " ".join(name for name in names if not any(same_stem(fold(name), one) for one in said))


def unread(clauses: Sequence[str], ran: MethodRun, operations: Sequence[Operation], kg: KnowledgeGraph) -> str:
    """The first condition of which no word is found in what an answer rests on; empty where there is none.

    Args:
        clauses: of the question, each as a question of its own or as it stands.
        ran: the run that answered it whole.
        operations: what was computed of it.
        kg: knows by what names things go.
    """
    paths = [*ran.cited, *(path for operation in operations for o in operation.operands for path in o.paths)]
    said = _words_said(paths, operations, kg)
    asked = [fold(clause).split() for clause in clauses]
    # the noun, which all of them begin with
    everywhere = set(asked[0]).intersection(*asked) if len(asked) > 1 else set()
    for clause, words in zip(clauses, asked, strict=True):
        own = [word for word in words if word not in FUNCTION_WORDS | SAYS_LITTLE | everywhere]
        if own and not any(same_stem(word, one) for word in own for one in said):
            return clause
    return ""


def _words_said(paths: Sequence[Path], operations: Sequence[Operation], kg: KnowledgeGraph) -> set[str]:
    """The words of what an answer rests on: of its relations, of the names on its paths, and of what was computed."""
    said = {word for path in paths for word in path_words(path.relations)}
    said |= kg.words_of(*{entity for path in paths for entity in path.entities})
    said |= kg.words_of(*{operand.entity for operation in operations for operand in operation.operands})
    return said | {w for one in operations for w in fold(f"{one.text} {one.argument}").split()}


_NAMED_LAST = re.compile(
    r"\b(?:by|wrote|painted|composed|directed|sang|recorded) "
    r"(?P<name>(?:[Tt]he )?[A-Z][\w'’-]+(?: (?:and|of|the|[A-Z][\w'’-]+))+)\?*$"
)


def _strange_name(query: Query, kg: KnowledgeGraph) -> str:
    """The name at the end of a question of which the topics have less than half the words; empty where there is none.

    *An album by Gravel Monsignor and the Tuesday Ferrets*; of *The Saltbush Parrots of Wirrabeena Crossing* no *The
    Crossing* is meant.
    """
    found = _NAMED_LAST.search(query.text)
    words = set(fold(found["name"]).split()) - FUNCTION_WORDS if found else set[str]()
    known = {word for topic in query.topics for name in kg.names_of(topic) for word in fold(name).split()}
    return found["name"] if found and 2 * len(words & known) < len(words) else ""


_NTH_MOST = re.compile(r"\b(second|third|fourth|fifth)[ -](?:(?:\w+)?est|most|[a-z]+est)\b", re.IGNORECASE)


def _of_another_place(asked: str, operations: Sequence[Operation]) -> str:
    """That the *second largest* is asked for and what was found is known for being the largest."""
    place = _NTH_MOST.search(asked)
    known = bool(operations) and all(one.kind == "step" for one in operations)
    if not place or not known or any(place[1].lower() in one.text.lower() for one in operations):
        return ""
    return f"It asks for the {place[0]}; what I find is another one: {operations[-1].text}."


_WITHIN = re.compile(r"\b(?:in|inside|within|part of|surrounded|enclosed|encircled)\b", re.IGNORECASE)
_BESIDE = re.compile(r"\bborder", re.IGNORECASE)


def _only_beside(asked: str, operations: Sequence[Operation]) -> str:
    """A path by which two places border on one another, where a claim has one lie within the other; else empty."""
    paths = (path for one in operations for operand in one.operands for path in operand.paths)
    beside = next((path for path in paths if any(_BESIDE.search(relation) for relation in path.relations)), None)
    return str(beside) if beside is not None and _WITHIN.search(asked) and not _BESIDE.search(asked) else ""


_MEASURE_OF = re.compile(
    r"^(?:what|how much) (?:is|was|are|were) (?:the )?(?:.+['’]s )?(?:\w+ )??(?P<one>\w+) (?P<other>\w+)(?: of| in|$)",
    re.I,
)


_SAY_NO_MORE = frozenset("content level value amount number count size figure percentage".split())  # behind a measure


def _of_another_measure(asked: str, operations: Sequence[Operation], kg: KnowledgeGraph) -> str:
    """That a value was found of which the question has another word behind its name: *population density*."""
    found = _MEASURE_OF.match(asked.rstrip("?"))
    values = [operand for one in operations if one.kind == "value" for operand in one.operands if operand.attribute]
    if not found or len(values) != 1:
        return ""
    said, other = fold(values[0].attribute).split(), fold(found["other"])
    named = kg.words_of(values[0].entity) | FUNCTION_WORDS | _SAY_NO_MORE
    if fold(found["one"]) not in said or other in said or other in named or other in fold(values[0].unit).split():
        return ""
    return f"It asks for the {found['one']} {found['other']}; the graph holds the {values[0].attribute} only."


_OPPOSITES = {  # a relation, the one that leads the other way, and how the first is asked for
    "succeeded by": ("preceded by", re.compile(r"\b(?:succeeded|followed|came after|took over from|replaced)\b", re.I)),
    "preceded by": ("succeeded by", re.compile(r"\b(?:preceded|came before)\b", re.I)),
}


def _of_another_relation(asked: str, operations: Sequence[Operation], missing: str) -> str:
    """That the graph lacks what the question names, *who owns it*, and what was found is another relation's.

    Args:
        asked: the question in plain words.
        operations: what was computed.
        missing: the relation that the model looks for and the graph does not state of the topic.
    """
    paths = [path for one in operations for operand in one.operands for path in operand.paths]
    words = [word for word in fold(asked).split() if word not in FUNCTION_WORDS and len(word) > 2]

    def said(relation: str) -> int:
        told = path_words((relation,))
        return sum(any(one.startswith(word[: max(3, min(len(word) - 1, 5))]) for word in words) for one in told)

    if not paths or any(len(path.relations) > 1 for path in paths):
        return ""
    used = {path.relations[0] for path in paths}
    missing = missing or next(
        (own for own, (other, asks) in _OPPOSITES.items() if used == {other} and asks.search(asked)), ""
    )
    if not missing:
        return ""
    if missing in used or ACHIEVED in used or said(missing) <= max(map(said, used)):
        return ""
    return f"The graph states no “{spoken(missing)}” of {paths[0].entities[0]}; what it holds is “{spoken(min(used))}”."


def objection(
    query: Query, final: AnswerFinal, operations: Sequence[Operation], sets: Sets, unknown: str, missing: str = ""
) -> str:
    """The first thing that is held against an answer, however it was found; empty where nothing is.

    Args:
        query: the question.
        final: the answer.
        operations: what was computed for it.
        sets: of the graph.
        unknown: a name in the question that nobody knows; empty for none.
        missing: the relation that the model looks for and the graph does not state; empty for none.
    """
    asked, answers, kg = query.plan.asked, final.answers, sets.kg
    if answers and all(kind_of(kg, one) == "feat" for one in answers):
        return f"What the graph holds here is only what is known of something: {listed(answers)}."
    if strange := _strange_name(query, kg) or unknown:
        return f"The graph knows nothing by the name of “{strange}”."
    said = not_so_many(asked, answers) or _of_another_gender(query, answers, kg)
    said = said or _of_another_place(asked, operations)
    said = said or _none_of_those_named(query, answers, kg) or _of_no_such_kind(asked, answers, sets)
    said = said or _of_another_relation(asked, operations, missing)
    paths = (path for one in operations for operand in one.operands for path in operand.paths)
    said = said or through_another_kind(asked, paths, kg) or _of_another_age(asked, operations)
    said = said or _of_no_host(query, operations) or _of_other_years(query, operations)
    said = said or _no_such_role(asked, answers, operations) or _of_nobody_named(query, operations, kg)
    of_a_kind = _ASKS_WHICH.match(asked) or query.plan.form in (Form.SUPERLATIVE, Form.ORDINAL)
    of_a_kind = of_a_kind or (query.answer_type.named and query.answer_type.types <= _TOLD_APART)
    if not said and operations and of_a_kind and query.plan.form not in _OF_A_VALUE:
        said = of_another_kind(query, answers, sets)  # *which rocket launched Apollo 11*
    yes = query.plan.form is Form.YES_NO and [one.lower() for one in answers] == ["yes"]
    said = said or _of_another_measure(asked, operations, kg)
    if yes and (beside := _only_beside(asked, operations)):
        return f"The graph says {beside}, which does not decide this."
    name = name_passed_over(asked, operations, kg) if yes and operations else ""
    return said or (f"{final.text} But of “{name}” that says nothing, so neither yes nor no." if name else "")
