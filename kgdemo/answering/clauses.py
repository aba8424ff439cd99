"""What the answers to several conditions share, each condition having been asked by itself (``query.clauses``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kgdemo.answering.computation import SAYS_LITTLE, MethodRun, computed_answer, listed
from kgdemo.answering.operands import PLACES, Sets
from kgdemo.answering.records import order_of
from kgdemo.events import Event, Operand, Operation
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import FUNCTION_WORDS, fold
from kgdemo.kg.path import Path
from kgdemo.linking.names import name_index
from kgdemo.query.answer_type import kind_of, same_stem
from kgdemo.query.clauses import Clause
from kgdemo.query.measures import NUMBERS, number_of_word
from kgdemo.query.wording import names_in
from kgdemo.ranking.scorer import path_words
from kgdemo.verify import Verifier
from kgdemo.verify_operations import verify_operation

Paths = Mapping[str, tuple[Path, ...]]


def led_to(ran: MethodRun, operations: Sequence[Operation], sets: Sets) -> dict[str, tuple[Path, ...]]:
    """The answers of a run, each with the paths that lead to it; an answer that no path leads to is left out.

    Args:
        ran: the run.
        operations: what was computed in it.
        sets: of its graph.
    """
    if ran.final is None or ran.final.refusal:
        return {}
    for operation in reversed(operations):
        paths = {operand.entity: operand.paths for operand in operation.operands if operand.paths}
        computed = {answer: paths[answer] for answer in ran.final.answers if answer in paths}
        if computed:
            return computed
    ends = [sets.ends(path.entities[0], path.relations) for path in ran.met]
    met = {one: tuple(own[one] for own in ends) for one in ran.final.answers if all(one in own for own in ends)}
    return met if ends and met else {path.end: (path,) for path in ran.cited}


def belonging_to(found: Paths, adjective: str, sets: Sets) -> dict[str, tuple[Path, ...]]:
    """Those that lie in the place that an adjective names, or are its citizens, each with the path that says so."""
    called_so = name_index(sets.kg).called(adjective)
    places = dict.fromkeys(sets.kg.entities[name.entity] for name in called_so)
    place = next((one for one in places if kind_of(sets.kg, one) in PLACES), "")
    belong: dict[str, tuple[Path, ...]] = {}
    for one in found:
        path = sets.containing(one, place) or sets.leads(place, (sets.inverse("citizen of"),), one) if place else None
        if path is not None:
            belong[one] = (path,)
    return belong


def common(
    clauses: Sequence[Clause], found: Sequence[Paths], verifier: Verifier, bounded: Mapping[int, Operation]
) -> Iterator[Event]:
    """What fits every condition, computed and verified; nothing where there is none.

    Args:
        clauses: the conditions, the first of which is not negated.
        found: for each of them what fits it, with its paths.
        verifier: of the graph.
        bounded: the place of each condition that no path says but a value, *longer than the Rhine*, with what told it.
    """
    led = [own for place, own in enumerate(found) if place not in bounded and not clauses[place].negated]
    first = led[0] if led else found[0]
    shared = {one: [own[one] for own in led] for one in first if all(one in own for own in led)}
    if len(led) > 1:
        operands = [Operand(one, tuple(dict.fromkeys(p for own in ways for p in own))) for one, ways in shared.items()]
        numbers = " and ".join(str(len(own)) for own in led)
        both = Operation("both", f"in common of {numbers}: {len(shared)}", tuple(operands), tuple(shared))
        if not shared or not verify_operation(both, verifier):
            return
        yield replace(both, verified=True)
    for place, told in bounded.items():
        valued = [replace(o, paths=_first(shared[o.entity])) for o in told.operands if o.entity in shared]
        shared = {o.entity: shared[o.entity] for o in valued if o.entity in found[place]}
        within = replace(told, text=f"{clauses[place].question}: {len(shared)}", operands=tuple(valued))
        within = replace(within, result=tuple(shared))
        if not shared or not verify_operation(within, verifier):
            return
        yield replace(within, verified=True)
    for clause, own in zip(clauses, found, strict=True):
        if not clause.negated:
            continue
        operands = [Operand(one, (*_first(ways), *own.get(one, ())[:1])) for one, ways in shared.items()]
        shared = {one: ways for one, ways in shared.items() if one not in own}
        left = Operation("without", f"without those of “{clause.question}”", tuple(operands), tuple(shared))
        if not shared or not verify_operation(left, verifier):
            return
        yield replace(left, verified=True)
    if shared:
        yield computed_answer(f"{listed(list(shared))}.", tuple(shared))


def _first(ways: Sequence[tuple[Path, ...]]) -> tuple[Path, ...]:
    """One path that leads to a thing; none where only a value says that it fits."""
    return next((own[:1] for own in ways if own), ())


_OF_A_NUMBER = re.compile(
    rf"\b(?:with|have|has|had|won|scored|wrote|having|winning) (?:at least |over |more than |exactly )?"
    rf"(?P<number>{'|'.join(NUMBERS)}|\d{{1,2}}) (?P<what>[\w' -]+)",
    re.IGNORECASE,
)


def number_unread(question: str, ran: MethodRun, operations: Sequence[Operation], kg: KnowledgeGraph) -> str:
    """How many of something the answers have to have, *five victories*, where nothing says so; else empty."""
    found = _OF_A_NUMBER.search(question)
    said = _words_said(ran.cited, operations, kg) if found else set()
    number = found["number"].lower() if found else ""
    return found[0] if found and said.isdisjoint((number, str(number_of_word(number)))) else ""


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


_AN_ORDER = re.compile(r"\b(?:(?:most|least|fewest) [a-z]+|[a-z]+est)\b", re.IGNORECASE)
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
    found = next(said, None) if end in ("more", "less") else None
    if found is None or ran.final is None or len(ran.final.answers) <= _FEW:
        return ""
    told = (*(operation.text for operation in operations), *map(str, ran.cited))
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
