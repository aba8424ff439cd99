"""What can be asked next: questions about the entities of a run that the graph can answer, made from its own edges.

They stand below every answer and every refusal, so that nobody has to guess what the graph knows.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from kgdemo.events import AnswerFinal, EntitiesLinked, Event, NextQuestions, PathFound, RunFailed, RunStarted
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import fold
from kgdemo.kg.stores.graph import StoreGraph
from kgdemo.kg.xray import question_about, reads_well, starters

LIMIT = 3
_BESIDE = 6  # neighbours that are asked about where an entity itself gives too few questions
_HUBS, _HUB_EDGES = 50, 5000  # well-known things that are looked at, and edges of one that is not too large for that
_MAX_ENDS = 30  # a relation that leads to more is no question for a person

# How a relation is asked for, read as it is walked; those that people ask first come first.
_WORDINGS = {
    "capital": "What is the capital of {e}?",
    "directed by": "Who directed {e}?",
    "author": "Who wrote {e}?",
    "composed by": "Who composed {e}?",
    "painted by": "Who painted {e}?",
    "invented by": "Who invented {e}?",
    "discovered by": "Who discovered {e}?",
    "founded by": "Who founded {e}?",
    "born in": "Where was {e} born?",
    "spouse": "Who was {e} married to?",
    "composed": "What did {e} compose?",
    "painted": "What did {e} paint?",
    "wrote": "What did {e} write?",
    "directed": "Which films did {e} direct?",
    "invented": "What did {e} invent?",
    "discovered": "What did {e} discover?",
    "founded": "What did {e} found?",
    "starring": "Who stars in {e}?",
    "starred in": "Which films did {e} star in?",
    "shares border with": "Which countries border {e}?",
    "official language": "What is the official language of {e}?",
    "currency": "What is the currency of {e}?",
    "capital of": "Which country or region has {e} as its capital?",
    "highest point": "What is the highest mountain in {e}?",
    "largest city": "What is the biggest city of {e}?",
    "birthplace of": "Which famous people were born in {e}?",
    "died in": "Where did {e} die?",
    "educated at": "Where did {e} study?",
    "child": "Who are the children of {e}?",
    "child of": "Who are the parents of {e}?",
    "sibling": "Who are the siblings of {e}?",
    "award received": "Which prize did {e} receive?",
    "plays instrument": "Which instrument does {e} play?",
    "notable work": "What is the most famous work of {e}?",
    "influenced by": "Who influenced {e}?",
    "band member": "Who are the members of {e}?",
    "member of band": "Which band was {e} a member of?",
    "performed by": "Who recorded {e}?",
    "flows through": "Which countries does the {e} flow through?",
    "flows into": "What does the {e} flow into?",
    "continent": "Which continent is {e} in?",
    "located in": "Where is {e} located?",
    "headquartered in": "Where is {e} based?",
    "makes": "What does {e} make?",
    "made by": "Which company makes {e}?",
    "set in": "Where does {e} take place?",
    "character": "Which characters appear in {e}?",
    "housed in": "Where is {e} kept?",
    "designed by": "Who designed {e}?",
    "originates from": "Where does {e} come from?",
    "main ingredient": "What is the main ingredient of {e}?",
    "lives in": "Where does the {e} live?",
    "eats": "What does the {e} eat?",
    "orbits": "What does {e} orbit?",
    "orbited by": "What orbits {e}?",
    "named after": "What is {e} named after?",
    "took place in": "Where did {e} take place?",
    "participant": "Who took part in {e}?",
    "played for": "Which team did {e} play for?",
    "home stadium": "Where does {e} play its home games?",
    "deity of": "What is {e} the deity of?",
    "held by": "Who has held the office of {e}?",
    "position held": "Which office did {e} hold?",
    "succeeded by": "Who succeeded {e}?",
    "genre": "Which genre is {e}?",
    "occupation": "What was the occupation of {e}?",
    "born in year": "In which year was {e} born?",
    "founded in year": "In which year was {e} founded?",
    "happened in year": "In which year was {e}?",
    "died in year": "In which year did {e} die?",
    "released in year": "In which year was {e} released?",
    "published in year": "In which year was {e} published?",
    "began in year": "In which year did {e} begin?",
    "ended in year": "In which year did {e} end?",
    "citizen of": "Which country was {e} a citizen of?",
    "created by": "Who created {e}?",
    "created": "What did {e} create?",
    "designed": "What did {e} design?",
    "portrayed by": "Who played {e}?",
    "launched by": "Who launched {e}?",
    "killed by": "Who killed {e}?",
    "owned by": "Who owns {e}?",
    "won by": "Who won {e}?",
    "doctoral advisor": "Who was the doctoral advisor of {e}?",
    "crossed by river": "Which rivers flow through {e}?",
    "symbol of": "What is {e} a symbol of?",
    "part of": "What is {e} part of?",
    "consists of": "What does {e} consist of?",
}
# "What is the took part in of Jordan?" is nobody's question: words of these relations are no name of what they lead to.
_NO_NOUN = re.compile(r"(took|flew|gave|won|wrote|had|used to|instance of|\w+ed (the|second|music))\b|.*(ed|year)$")
_RANK = {relation: place for place, relation in enumerate(_WORDINGS)}


def next_questions(
    kg: KnowledgeGraph, topics: Sequence[str], answers: Sequence[str], used: Iterable[str] = (), question: str = ""
) -> tuple[str, ...]:
    """Questions that the graph can answer, about topics and answers in turn.

    Args:
        kg: the graph.
        topics: entities of the question, or those nearest to what it names.
        answers: what was answered; one that is no entity of the graph is passed over.
        used: relations of the cited paths, which are not asked for again.
        question: the question itself.

    Returns:
        ``LIMIT``, if the graph can answer so many; where it knows too little about these entities, questions about what
        stands beside them, about the graph's best known ones, and about its first ones.
    """
    known = [entity for entity in dict.fromkeys((*topics, *answers)) if entity in kg.entities and reads_well(entity)]
    asked, taken = fold(question), set(used)
    found: dict[str, None] = {}

    def add(about: Sequence[Sequence[str]]) -> None:
        for turn in range(LIMIT):  # the best question about each, then the second best
            for questions in about:
                if turn < len(questions) and len(found) < LIMIT:
                    found.setdefault(questions[turn])

    def worth(questions: Iterable[str]) -> list[str]:
        return [one for one in questions if fold(one) != asked]

    add([worth(_worded(kg, entity, taken)) for entity in known[:4]])
    if len(found) < LIMIT:
        add([worth(_plain(kg, entity, taken)) for entity in known[:4]])
    if len(found) < LIMIT:  # about what stands beside them
        beside = dict.fromkeys(end for entity in known[:2] for _, end in kg.neighbours(entity) if reads_well(end))
        near = [entity for entity in beside if entity in kg.entities and entity not in known][:_BESIDE]
        add([worth(_worded(kg, entity, set())) for entity in near])
    if len(found) < LIMIT:
        add([worth(_well_known(kg))])
    if len(found) < LIMIT:
        add([worth(starters(kg, LIMIT))])
    return tuple(found)


def _well_known(kg: KnowledgeGraph) -> list[str]:
    """Questions about the things a graph knows most of, each of another relation; none of a graph in a store."""
    if isinstance(kg, StoreGraph):
        return []
    degrees = kg.known_degrees()
    asked: dict[str, str] = {}
    for hub in np.argsort(-degrees, kind="stable")[:_HUBS].tolist():
        entity = kg.entities[hub]
        if degrees[hub] > _HUB_EDGES or not reads_well(entity) or len(asked) == LIMIT:
            continue
        relation = min((r for r in _ends(kg, entity, set(asked)) if r in _RANK), key=_RANK.__getitem__, default=None)
        if relation is not None:
            asked[relation] = _WORDINGS[relation].format(e=entity)
    return list(asked.values())


def _ends(kg: KnowledgeGraph, entity: str, used: set[str]) -> list[str]:
    """Relations of an entity that may be asked for."""
    ends: dict[str, set[str]] = defaultdict(set)
    for relation, end in kg.neighbours(entity):
        ends[relation].add(end)
    return [r for r, found in ends.items() if r not in used and len(found) <= _MAX_ENDS and found != {entity}]


def _worded(kg: KnowledgeGraph, entity: str, used: set[str]) -> list[str]:
    """Questions about one entity, each of another relation, in words that people use."""
    worded = sorted((r for r in _ends(kg, entity, used) if r in _RANK), key=_RANK.__getitem__)
    return [_WORDINGS[relation].format(e=entity) for relation in worded]


def _plain(kg: KnowledgeGraph, entity: str, used: set[str]) -> list[str]:
    """Questions about one entity in the words of its relations, of those that have no others."""
    named = (r for r in _ends(kg, entity, used) if r not in _RANK and not r.startswith("~") and reads_well(r))
    fitting = [relation for relation in named if not _NO_NOUN.match(relation.replace("_", " "))]
    return [question_about(entity, relation) for relation in fitting]


def with_next(events: Iterable[Event], graph: Callable[[], KnowledgeGraph]) -> Iterator[Event]:
    """A run with what can be asked next: behind its answer, or before its end where there is none.

    Args:
        events: of one run.
        graph: gives the graph it was asked on; called once its entities are linked.
    """
    linked, question, relations = None, "", dict[int, tuple[str, ...]]()
    for event in events:
        if isinstance(event, RunFailed) and linked is not None:
            near = linked.chosen or tuple(candidate.entity for candidate in linked.nearest)
            yield NextQuestions(next_questions(graph(), near, (), (), question), t=event.t)
        yield event
        if isinstance(event, RunStarted):
            question = event.question
        elif isinstance(event, EntitiesLinked):
            linked = event
        elif isinstance(event, PathFound) and event.constrained and event.path is not None:
            relations[event.index] = event.path.relations
        elif isinstance(event, AnswerFinal) and linked is not None:
            used = {r for citation in event.citations for number in citation for r in relations.get(number, ())}
            topics = linked.chosen or tuple(candidate.entity for candidate in linked.nearest)
            questions = next_questions(graph(), topics, event.answers, used, question)
            yield replace(NextQuestions(questions), t=event.t)
