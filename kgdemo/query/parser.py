"""A question in the terms of the graph: a small model that writes plans, given the words around what is named.

A plan is a walk, and what is made of its ends: ``X > directed by > born in``, ``X > author > #died``,
``COUNT X > child``, ``X > starred in & Y > starred in``. The names are left out of the text (``X``, ``Y``), so what
remains says what is asked whatever it is asked of. All-MiniLM-L6-v2 reads the text and stays as it is; two small layers
read its token rows, and a decoder of two layers writes the plan by beam search. It is semantic parsing as translation
(Dong and Lapata 2016) over the rows of a sentence encoder. What of its plans the graph can do is for
``answering.parsed`` to say. ``lab.training.parser`` trains it.
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import bare
from kgdemo.models.embedding import sentence_embedder
from kgdemo.query.translator import BEGIN, END, READ, Translator, load, save

NAMES = ("X", "Y")  # in place of what a question names, in the order in which it does
NONE = "NONE"  # the plan of a question that no plan answers
BOTH, AND_OF = "&", ","  # between walks that lead to the same; between things that are compared
BETWEEN_WALKS = (BOTH, AND_OF, *NAMES)
ATTRIBUTE = "#"  # before the name of a value
LONGEST_TEXT, LONGEST_PLAN = 64, 12  # tokens
BEAMS = 8
_NAME = "parser"
_KEPT = 256  # texts whose plans are kept
_IN_YEAR, _DATES = " in year", {"published": "released"}  # a graph may state a date by a step to the year


@dataclass(frozen=True, slots=True)
class Proposal:
    """A plan that a text may mean.

    Attributes:
        likely: its probability.
        tokens: the plan.
    """

    likely: float
    tokens: tuple[str, ...]


class Network(Translator):
    """Token rows of a text to plans; see ``Translator``."""

    longest_text, longest_plan = LONGEST_TEXT, LONGEST_PLAN + 4

    def forward(self, memory: Tensor, padding: Tensor | None, plans: Tensor) -> Tensor:
        """Logits of what follows each token of plans, ``(texts, length)`` -> ``(texts, length, tokens)``."""
        return self.logits(self.written(memory, padding, plans))


class Parser:
    """Plans for texts.

    Args:
        network: trained.
        tokens: its vocabulary.
    """

    def __init__(self, network: Network, tokens: Sequence[str]) -> None:
        self.tokens, self._network = tuple(tokens), network.eval()
        self._ids = {token: number for number, token in enumerate(tokens)}
        self._kept: OrderedDict[str, tuple[Proposal, ...]] = OrderedDict()

    def plans(self, text: str) -> tuple[Proposal, ...]:
        """The likeliest plans, best first.

        Args:
            text: of a question, with ``NAMES`` in place of what it names.
        """
        if text not in self._kept:
            self._kept[text] = self._search(sentence_embedder().rows([text], READ)[0][:LONGEST_TEXT])
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return self._kept[text]

    @torch.inference_mode()
    def likelihoods(self, text: str, plans: Sequence[tuple[str, ...]]) -> list[float]:
        """The probability of each of some plans, whatever the search would propose; 0 for a token that no plan has.

        Args:
            text: see ``plans``.
            plans: some.
        """
        known = [plan for plan in plans if all(token in self._ids for token in plan)]
        if not known:
            return [0.0] * len(plans)
        memory = self._network.memory(sentence_embedder().rows([text], READ)[0][:LONGEST_TEXT][None])
        whole = [[self._ids[token] for token in (BEGIN, *plan, END)] for plan in known]
        longest = max(map(len, whole))
        ids = torch.tensor([one + [0] * (longest - len(one)) for one in whole])
        scores = self._network(memory.expand(len(known), -1, -1), None, ids[:, :-1]).log_softmax(-1)
        told = scores.gather(2, ids[:, 1:, None])[..., 0].masked_fill(ids[:, 1:] == 0, 0.0).sum(1).exp()
        found = dict(zip(known, told.tolist(), strict=True))
        return [found.get(plan, 0.0) for plan in plans]

    @torch.inference_mode()
    def _search(self, rows: Tensor) -> tuple[Proposal, ...]:
        memory = self._network.memory(rows[None])
        live, done = [(0.0, [self._ids[BEGIN]])], list[tuple[float, list[int]]]()
        for _ in range(LONGEST_PLAN):
            read, plans = memory.expand(len(live), -1, -1), torch.tensor([plan for _, plan in live])
            after = self._network(read, None, plans)[:, -1].log_softmax(-1)
            best = after.topk(min(BEAMS, len(self.tokens)), 1)
            grown = [
                (total + more, [*plan, token])
                for (total, plan), scores, tokens in zip(live, best.values.tolist(), best.indices.tolist(), strict=True)
                for more, token in zip(scores, tokens, strict=True)
            ]
            grown.sort(key=lambda one: -one[0])
            ended = [one for one in grown[: 2 * BEAMS] if one[1][-1] == self._ids[END]]
            live = [one for one in grown if one[1][-1] != self._ids[END]][:BEAMS]
            done = sorted([*done, *ended], key=lambda one: -one[0])[:BEAMS]
            if not live or (len(done) == BEAMS and live[0][0] < done[-1][0]):
                break
        return tuple(Proposal(math.exp(total), tuple(self.tokens[i] for i in plan[1:-1])) for total, plan in done)

    def save(self, *folder: Path) -> None:
        """Write it where ``parser`` reads it, or into a folder."""
        save(self._network, self.tokens, _NAME, *folder)


def value_of_year(step: str) -> str:
    """What a step to a year says, as a value: of *born in year* ``#born``; any other step as it is."""
    date = step.removesuffix(_IN_YEAR)
    return f"{ATTRIBUTE}{_DATES.get(date, date)}" if date != step else step


def with_placeholders(text: str, topics: Sequence[str], kg: KnowledgeGraph) -> tuple[str, dict[str, str]]:
    """A text with placeholders for its topics, in their order there, and that of each; none where there are too many.

    Args:
        text: of a question.
        topics: what it is about.
        kg: the graph, which knows their names.
    """
    places = {topic: place for topic in topics if (place := named_in(text, topic, kg))}
    found = sorted(places, key=lambda topic: places[topic].start())
    apart = all(places[a].end() <= places[b].start() for a, b in pairwise(found))
    if len(found) > len(NAMES) or not apart:
        return text, {}
    marks = dict(zip(found, NAMES, strict=False))
    for topic in reversed(found):
        text = f"{text[: places[topic].start()]}{marks[topic]}{text[places[topic].end() :]}"
    return text, marks


def named_in(text: str, entity: str, kg: KnowledgeGraph) -> re.Match[str] | None:
    """Where a text names an entity, by the longest of its names that stands there."""
    names = sorted({entity, bare(entity), *kg.names_of(entity)}, key=len, reverse=True)
    said = (re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) for name in names)
    return next(filter(None, said), None)


@cache
def parser() -> Parser:
    """The one that comes with this package."""
    return Parser(*load(Network, _NAME))
