"""One ``Query`` for a question: what its words say, worked out right after entity linking and passed on to every room.

Entity linking and the language models still read the text itself. Everything else that depends on the question (which
path ranks first, whether the answer has the right type, whether something is to be counted) is read off the ``Query``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.words import FUNCTION_WORDS
from kgdemo.query.answer_type import AnswerType, answer_type_of

_WORD = re.compile(r"\w+")
_COUNTING = re.compile(r"\b(how many|number of|count)\b", re.IGNORECASE)


class Form(Enum):
    """What the answer is made of."""

    ENTITY = "entity"  # entities, or a value that the graph holds
    COUNT = "count"  # the number of entities


@dataclass(frozen=True, slots=True)
class Query:
    """A question as it is understood.

    Attributes:
        text: the question as it was typed.
        topics: the entities that it is about, as the graph spells them.
        form: what the answer is made of.
        answer_type: the kind of thing that the question asks for.
        content_words: its words without function words and the topics' names, in lower case; never empty.
    """

    text: str
    topics: tuple[str, ...]
    form: Form
    answer_type: AnswerType
    content_words: tuple[str, ...]


def understand(text: str, topics: Sequence[str], kg: KnowledgeGraph) -> Query:
    """Work out what a question asks.

    Args:
        text: the question as it was typed.
        topics: the entities that it is about; those that the graph does not hold are kept.
        kg: knows the types that an answer may have and the topics' other names.
    """
    form = Form.COUNT if _COUNTING.search(text) else Form.ENTITY
    return Query(text, tuple(topics), form, answer_type_of(text, kg.types), _content_words(text, topics, kg))


def _content_words(text: str, topics: Sequence[str], kg: KnowledgeGraph) -> tuple[str, ...]:
    """See ``Query``; all words where none is left, and the text itself where it has no words."""
    info = [kg.info.get(topic) for topic in topics]
    names = [*topics, *(alias for known in info if known for alias in known.aliases)]
    left_out = FUNCTION_WORDS | {word for name in names for word in _WORD.findall(name.lower())}
    words = list(dict.fromkeys(_WORD.findall(text.lower())))
    return tuple([word for word in words if word not in left_out] or words or [text])
