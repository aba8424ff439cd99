"""Questions answered by their form: listed, counted, compared, ordered, intersected (``query.form``).

A language model as reasoner reads the paths and the question itself, so nothing is computed in its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from kgdemo.answering.claims import Claims
from kgdemo.answering.computation import no_answer
from kgdemo.answering.fitting import Fitting
from kgdemo.answering.lists import Lists
from kgdemo.answering.parsed import Meaning, Parsed
from kgdemo.answering.spans import Spans
from kgdemo.answering.whether import Whether
from kgdemo.events import Event, Mention
from kgdemo.kg.path import Path
from kgdemo.kg.stores.base import StoreError
from kgdemo.query.form import understand
from kgdemo.query.parser import parser
from kgdemo.query.query import Form, Query
from kgdemo.reasoners.base import Resources

_SAME_TIME = re.compile(
    r"\b(?:alive|lived?|living) (?:at|in) the same time\b|\bcontemporar(?:y|ies)\b|\b(?:alive|live|living) when\b|"
    r"\bcould .+ have met\b",
    re.IGNORECASE,
)


def answer(
    query: Query,
    run: Callable[[Query], Iterator[Event]],
    resources: Resources,
    link: Callable[[str], Sequence[str]],
    directed: bool,
    vocabulary: Collection[str] = frozenset(),
) -> Iterator[Event]:
    """The events of a method's run, with what is computed before the answer.

    Args:
        query, run, resources, link, directed, vocabulary: see ``Computation``.
    """
    given = (query, run, resources, link, directed, vocabulary)
    if query.plan.century:
        plainly = replace(query, plan=replace(query.plan, century=False))
        yield from Spans(*given).centuries(answer(plainly, run, resources, link, directed, vocabulary))
        return
    if query.plan.form is Form.UNANSWERABLE:
        yield no_answer(query.plan.reason)
        return
    if query.plan.turned:
        claimed = () if query.plan.turned.startswith("when ") else link(query.plan.claimed)
        others = [topic for topic in query.topics if topic not in claimed]
        turned = understand(query.plan.turned, others or query.topics, resources.kg)
        settled = tuple(Whether(*given).settled(answer(turned, run, resources, link, directed, vocabulary)))
        if settled:
            yield from settled
            return
    lists, claims, orders = Lists(*given), Claims(*given), Spans(*given)
    if query.plan.initial:
        yield from lists.beginning_with()
        return
    if query.plan.during:
        yield from orders.meanwhile()
        return
    if query.plan.words and query.plan.form in (Form.YES_NO, Form.SPAN):

        def when(question: str) -> Iterator[Event]:
            linked = link(question)
            asked = understand(question, [one for one in query.topics if one in linked] or linked[:1], resources.kg)
            return answer(asked, run, resources, link, directed, vocabulary)

        yield from orders.came_before(when) if query.plan.form is Form.YES_NO else orders.between()
        return
    if query.plan.span:
        yield from orders.longest() if query.plan.form is Form.SUPERLATIVE else orders.compare_spans()
        return
    if query.plan.form is Form.YES_NO and _SAME_TIME.search(query.text):
        yield from orders.same_time()
        return
    known = orders.beside() or (orders.existed() if query.plan.form is Form.YES_NO else None)
    known = known or lists.meaning() or (lists.won_when() if query.plan.form is Form.VALUE else None)
    if known is not None:
        yield from known
        return
    ways: dict[Form, Callable[[], Iterator[Event]]] = {
        Form.ENTITY: lists.list_answers,
        Form.ALL: lists.all_of_a_kind,
        Form.COUNT: lists.count,
        Form.YES_NO: orders.compare if query.plan.attributes else claims.yes_or_no,  # is one higher than the other
        Form.COMPARISON: orders.compare,
        Form.SUPERLATIVE: orders.superlative,
        Form.ORDINAL: orders.ordinal,
        Form.VALUE: orders.value,
        Form.SPAN: orders.span,
    }
    yield from ways[query.plan.form]()


def described(
    query: Query, resources: Resources, link: Callable[[str], Sequence[str]], directed: bool, least: int = 0
) -> Iterator[Event]:
    """What fits the question's description of it (``described``); nothing where nothing does.

    Args:
        query, resources, link, directed: see ``Computation``.
        least: how many names, years and numbers have to act on the answer.
    """
    if query.plan.form in (Form.ENTITY, Form.ALL, Form.COUNT):
        yield from Fitting(query, lambda _: iter(()), resources, link, directed).of_description(least)


def acting(
    query: Query,
    resources: Resources,
    link: Callable[[str], Sequence[str]],
    directed: bool,
    answers: Mapping[str, Path],
) -> Iterator[Event]:
    """Those of several answers that fit each clause of a question; see ``Fitting.acting``.

    Args:
        query, resources, link, directed: see ``Computation``.
        answers: each with a path that leads to it.
    """
    yield from Fitting(query, lambda _: iter(()), resources, link, directed).acting(answers)


def in_other_words(
    query: Query, resources: Resources, link: Callable[[str], Sequence[str]], directed: bool, in_steps: bool
) -> Iterator[Event]:
    """What fits its description, or the holder of the record that a question means in other words.

    Nothing where it means none of them.

    Args:
        query, resources, link, directed: see ``Computation``.
        in_steps: the question may speak of something that it describes instead of naming it.
    """
    if fitting := tuple(described(query, resources, link, directed)):
        yield from fitting
        return
    given = (query, lambda _: iter(()), resources, link, directed)
    may_be_record = query.plan.form not in (Form.VALUE, Form.COUNT) and not in_steps
    found = tuple(Lists(*given).of_record_meant()) if may_be_record else ()
    yield from found or Spans(*given).quantity_named()


def understood(
    query: Query,
    text: str,
    mentions: Sequence[Mention],
    resources: Resources,
    link: Callable[[str], Sequence[str]],
    directed: bool,
    vocabulary: Collection[str],
) -> Meaning:
    """What a question means by a plan that the graph can do; see ``Parsed``.

    Args:
        query, resources, link, directed, vocabulary: see ``Computation``.
        text: the question as it was typed.
        mentions: what linking found in it.
    """
    reader = Parsed(query, lambda _: iter(()), resources, link, directed, vocabulary)
    try:
        return reader.parsed(text, mentions, parser())
    except StoreError:  # a word may name a hub that the search does not come near
        return Meaning()
