"""From what was typed to what is asked: entities linked, mistyped words put right, one ``Query`` made.

Where the question names nothing that the graph holds, this says so, with what may have been meant.
"""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Generator, Sequence

from kgdemo.answering.computation import BY, listed
from kgdemo.answering.operands import all_of_kind
from kgdemo.errors import UserError
from kgdemo.events import AnswerFinal, EntitiesLinked, Event, Notice
from kgdemo.kg.labels import fold
from kgdemo.linking.linker import LIKELY
from kgdemo.linking.names import name_index
from kgdemo.linking.words import name_words
from kgdemo.opened import OpenedGraph
from kgdemo.query.plan import WITHOUT_TOPIC
from kgdemo.query.query import Query, understand
from kgdemo.query.wording import corrected, in_full, unknown_words

_NAMED = 0.3  # a mention from this score on is taken for a name, and its letters are left as they are
_DESCRIBED = re.compile(r"^(?:who|what) (?:is|was|are|were) (?:.* )??(\w+) (?:of|in|on|for)\b", re.IGNORECASE)
_JOINED = re.compile(r"\b(?:of|in|on|for)\b", re.IGNORECASE)
_ORDER = re.compile(r"\b(?:first|second|third|last|(?:larg|high|bigg|old|small)est)\b", re.IGNORECASE)


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """A question as it is understood, and the entities that were found in it."""

    query: Query
    linked: EntitiesLinked

    def names(self, described: str) -> bool:
        """Whether what seems to be described is a name that was found: the *Statue of Liberty*, the *Last Supper*.

        Args:
            described: the question that would have to be asked first: *who is the Statue of Liberty*.
        """
        mentions, given = self.linked.mentions, self.linked.chosen if self.linked.given else ()
        chosen = [mention for mention in mentions if mention.candidates[0].entity in self.linked.chosen]
        names = [mention.text for mention in chosen if mention.candidates[0].type != "position"]
        found = _DESCRIBED.match(described)
        noun = found[1].lower() if found else ""
        return any(_ORDER.search(text) for text in (*given, *(mention.text for mention in chosen))) or any(
            _JOINED.search(text) and noun in text.lower().split() for text in (*given, *names)
        )


def read(question: str, entities: Sequence[str], graph: OpenedGraph) -> Generator[Event, None, Reading | None]:
    """Understand a question.

    Args:
        question: as it was typed.
        entities: topic entities; linked from the question when empty.
        graph: what it is about.

    Returns:
        None where the question names nothing that it could be answered from, which then is the answer.

    Raises:
        UserError: the graph has no such entity.
    """
    if graph.linker.knows_all_names:
        question = in_full(question, lambda name: bool(name_index(graph.kg).whole("".join(name_words(name)))))
    linked = _given(entities, graph) if entities else _linked(question, graph)
    if graph.linker.knows_all_names:
        spelled = _spelled(question, linked, graph)
        if spelled != question:
            yield Notice(f"Read as: {spelled}")
            question, linked = spelled, linked if linked.given else _linked(spelled, graph)
    query = understand(question, linked.chosen, graph.kg)
    without_topic = not linked.chosen and query.plan.form in WITHOUT_TOPIC
    yield dataclasses.replace(linked, nearest=()) if without_topic else linked
    if not linked.chosen and not without_topic:
        said = _nothing_found(query, linked, graph)
        yield AnswerFinal(said, (), (), BY, refusal=said)
        return None
    return Reading(query, linked)


def _linked(question: str, graph: OpenedGraph) -> EntitiesLinked:
    """The entities found in a question."""
    began = time.perf_counter()
    found = graph.linker.link(question)
    return EntitiesLinked(found.mentions, found.chosen, found.nearest, ms=1000 * (time.perf_counter() - began))


def _given(entities: Sequence[str], graph: OpenedGraph) -> EntitiesLinked:
    """The entities that were chosen by hand."""
    began = time.perf_counter()
    known = set(graph.kg.entities.known(entities))  # asked for at once, as a graph behind a store likes it
    for entity in entities:
        if entity not in known:
            near = [candidate.entity for candidate in graph.linker.nearest(entity, 3)]
            hint = f"; did you mean {', '.join(near)}?" if near else "; check its spelling."
            raise UserError(f"The graph {graph.kg.name} has no entity {entity!r}{hint}")
    return EntitiesLinked((), tuple(entities), given=True, ms=1000 * (time.perf_counter() - began))


def _spelled(question: str, linked: EntitiesLinked, graph: OpenedGraph) -> str:
    """The question with mistyped words put right; what names an entity stays as it is."""
    mentions = graph.linker.link(question).mentions if linked.given else linked.mentions
    named = [(m.start, m.end) for m in mentions if m.candidates[0].score >= _NAMED]
    return corrected(question, named, graph.vocabulary, graph.linker.knows)


def _nothing_found(query: Query, linked: EntitiesLinked, graph: OpenedGraph) -> str:
    """What is said of a question without a topic entity."""
    name, noun, linker = graph.kg.name, query.plan.noun, graph.linker
    members = all_of_kind(graph.kg, noun) if noun else []
    if members:
        return (
            f"The graph {name} holds {len(members)} {noun} ({listed(members, 8)}), but nothing by which I could "
            "tell which of them are meant."
        )
    near = ", ".join(candidate.entity for candidate in linked.nearest[:5] if candidate.score >= LIKELY)
    strange = [word for word in unknown_words(query.text, graph.vocabulary) if not linker.knows(fold(word))]
    said = (
        f"The graph {name} knows nothing called {listed(strange)}"
        if strange
        else f"No entity of the graph {name} was found in the question"
    )
    if near:
        return f"{said}; the nearest names are {near}. Pick one or rephrase."
    return f"{said}; name one{'' if linker.knows_all_names else ' as the graph spells it'}, or choose another graph."
