"""What is asked: a ``Query`` for a question, with the ``Plan`` of what is to be done to answer it.

A query is worked out right after entity linking (``form.understand``) and passed on to every room. Entity linking and
the language models still read the text itself. Everything else that depends on the question (which path ranks first,
whether the answer has the right type, whether something is to be counted) is read off the ``Query``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import FUNCTION_WORDS, spoken
from kgdemo.query.answer_type import AnswerType
from kgdemo.query.measures import COMPARING

_DATA = Path(__file__).parent / "data"


class Form(Enum):
    """What the answer is made of, or why there is none."""

    ENTITY = "entity"  # entities, or a value that a path ends in
    ALL = "all of a kind"
    COUNT = "count"
    YES_NO = "yes or no"
    COMPARISON = "comparison"  # of named things
    SUPERLATIVE = "superlative"  # of all things of a kind
    ORDINAL = "ordinal"
    VALUE = "value"
    SPAN = "span"  # an age, or how long something lasted
    UNANSWERABLE = "unanswerable"


# forms that may speak of nothing that linking finds in the whole question: ``the largest ocean``, ``K2 or Mont Blanc``
WITHOUT_TOPIC = frozenset(
    (Form.ALL, Form.COUNT, Form.COMPARISON, Form.SUPERLATIVE, Form.VALUE, Form.SPAN, Form.UNANSWERABLE, Form.YES_NO)
)


@dataclass(frozen=True, slots=True)
class Plan:
    """A question taken apart.

    Attributes:
        form: what the answer is made of.
        base: the question whose answers are operated on; empty where there is none.
        noun: what kind of things are asked for, as the question calls them: ``rivers``.
        things: what is compared, as the question names it.
        attributes: of which the values are looked at, the first that is known.
        greatest: whether the greatest value is asked for, or the least.
        place: in an order, from 1; from -1 backwards.
        number: how many of an order are asked for, where that is more than one.
        span: two dates, the time between which is compared.
        during: what happened at the time that is asked about, as the question calls it: *World War II*.
        moment: whether that is its ``start``, its ``end``, ``most`` of it, a date of its own, ``born``, or empty for
            any part of it.
        hops: how many relations the question names at least, where that is more than two.
        bound: years that the answers must lie within, such as ``< 1980``.
        unit: of the number that bounds a value, or in which one is asked for, as the question says it: *feet*.
        without: what the answers must have nothing to do with, as the question calls it.
        inner: the question that has to be answered first: *what is the largest country in Africa*.
        outer: the question that is asked of its answer, which stands in place of ``{}``: *the capital of {}*.
        reason: why no graph answers this.
        words: the two words of which one is the answer: it came *before* or *after*; of two events, which are
            the ``things`` then, how they are said to lie: ``before``, ``after``, ``between``, or ``age`` at the second.
        initial: the letter, or the word, that the names of the answers begin with.
        century: whether the time is asked for as a century.
        turned: the question whose answer a yes/no question claims (``query.claimed``).
        claimed: what it claims that to be: a name, ``= 1912``, ``> 8000 metres``, ``*`` for anything, or ``* pope`` for
            any of a kind.
        asked: the question in plain words: without politeness, and with the question word in front.
    """

    form: Form = Form.ENTITY
    base: str = ""
    noun: str = ""
    things: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    greatest: bool = True
    place: int = 0
    number: int = 0
    span: tuple[str, ...] = ()
    during: str = ""
    moment: str = ""
    hops: int = 0
    bound: str = ""
    unit: str = ""
    without: str = ""
    inner: str = ""
    outer: str = ""
    reason: str = ""
    words: tuple[str, ...] = ()
    initial: str = ""
    century: bool = False
    turned: str = ""
    claimed: str = ""
    asked: str = field(default="", compare=False)


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
