"""One ``Query`` for a question: what its words say, worked out right after entity linking and passed on to every room.

Entity linking and the language models still read the text itself. Everything else that depends on the question (which
path ranks first, whether the answer has the right type, whether something is to be counted) is read off the ``Query``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import FUNCTION_WORDS, spoken
from kgdemo.query.answer_type import AnswerType, answer_type_of
from kgdemo.query.form import plan_of
from kgdemo.query.measures import COMPARING
from kgdemo.query.plan import Plan

_WORD = re.compile(r"\w+")
_NEIGHBOURS = re.compile(r"\bneighbou?rs?\b", re.IGNORECASE)
_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Query:
    """A question as it is understood.

    Attributes:
        text: the question, without politeness and with the question word in front.
        topics: the entities that it is about, as the graph spells them.
        topic_types: the type of each topic; empty where none is known.
        plan: what the answer is made of, and what has to be done for it.
        answer_type: the kind of thing that the question asks for.
        content_words: its words without function words and the topics' names, in lower case; never empty.
    """

    text: str
    topics: tuple[str, ...]
    topic_types: tuple[str, ...]
    plan: Plan
    answer_type: AnswerType
    content_words: tuple[str, ...]


def understand(text: str, topics: Sequence[str], kg: KnowledgeGraph) -> Query:
    """Work out what a question asks.

    Args:
        text: the question as it was typed.
        topics: the entities that it is about; those that the graph does not hold are kept.
        kg: knows the types that an answer may have and the topics' other names.
    """
    plan = plan_of(text)
    if plan.asked and plan.asked.rstrip("?!. ") != text.strip().rstrip("?!. "):
        text = plan.asked
    words, types = _content_words(text, topics, kg), types_of(topics, kg)
    asked = answer_type_of(text, kg.types)
    if types and types[0] and not asked.named and _NEIGHBOURS.search(text):  # those of a country are countries
        asked = AnswerType(frozenset(types[:1]), named=True)
    return Query(text, tuple(topics), types, plan, asked, words)


def types_of(entities: Sequence[str], kg: KnowledgeGraph) -> tuple[str, ...]:
    """The type of each entity; empty where none is known."""
    return tuple(kg.info[entity].type if entity in kg.info else "" for entity in entities)


def vocabulary_of(kg: KnowledgeGraph) -> frozenset[str]:
    """The words that questions about a graph are made of, in lower case: common ones, its relations', its types'."""
    lines = (_DATA / "words.txt").read_text("utf-8").splitlines()
    common = (word for line in lines if not line.startswith("#") for word in line.split())
    relations = (word for label in kg.step_labels for word in spoken(label).lower().split())
    types = (word for name in kg.types for word in name.lower().split())
    return frozenset((*common, *COMPARING, *FUNCTION_WORDS, *relations, *types))


def _content_words(text: str, topics: Sequence[str], kg: KnowledgeGraph) -> tuple[str, ...]:
    """See ``Query``; all words where none is left, and the text itself where it has no words."""
    info = [kg.info.get(topic) for topic in topics]
    names = [*topics, *(alias for known in info if known for alias in known.aliases)]
    left_out = FUNCTION_WORDS | {word for name in names for word in _WORD.findall(name.lower())}
    words = list(dict.fromkeys(_WORD.findall(text.lower())))
    return tuple([word for word in words if word not in left_out] or words or [text])
