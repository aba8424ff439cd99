"""Fine-tuning examples made from templates over the edges of a graph.

A wording of the last edge becomes the question; earlier hops stand in it as noun phrases ("the director
of Jaws"), and a second topic entity joins as a second condition on the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from random import Random

import numpy as np

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.training.examples import Example, roughen, spoken_name
from kgdemo.training.templates import StepTemplates, Template

_BOTH = ("who or what is both {a} and {b}", "what is {a} and also {b}", "{a} that is also {b}", "{a} and {b}?")


class TemplateSource:
    """Questions made from templates over the edges of a graph, one to ``hops`` hops.

    Relations are drawn by the square root of their frequency: rare ones are seen, common ones lead. Those
    between two entities of one type (parent, influenced by, …) count double: a question must teach in
    which direction they are walked.

    Args:
        kg: the graph.
        templates: wordings by (relation, walked backwards).
        hops: weights of one, two, … hops.
        two_topics: share of the one-hop questions that name two entities leading to one answer.
        renamed: share of the examples whose relations bear other words than the graph's own, taken from
            their noun phrases. Relations are then read, not learnt by heart, which is what a graph that
            the model has never seen asks for.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        templates: dict[tuple[str, bool], StepTemplates],
        hops: Sequence[float],
        two_topics: float = 0.0,
        renamed: float = 0.0,
    ) -> None:
        self.kg, self.two_topics, self.renamed = kg, two_topics, renamed
        self.hop_weights = list(hops)
        self.heads = np.repeat(np.arange(len(kg.entities), dtype=np.int32), np.diff(kg.outgoing.offsets))
        self.templates: dict[int, StepTemplates] = {}
        for (relation, backwards), wordings in templates.items():
            found = kg.relations.find(relation)
            if found is not None:
                self.templates[found + len(kg.relations) * backwards] = wordings
        order = np.argsort(kg.outgoing.relations, kind="stable")
        bounds = np.searchsorted(kg.outgoing.relations[order], np.arange(len(kg.relations) + 1))
        self.edges_of = [order[a:b] for a, b in pairwise(bounds)]
        self.steps = [s for s, t in self.templates.items() if t.questions and len(self._edges(s))]
        self.step_weights = [len(self._edges(s)) ** 0.5 * (1 + self._between_equals(s)) for s in self.steps]
        self.other_names = {s: _names(t.nouns) for s, t in self.templates.items()}
        if not self.steps:
            raise ValueError(f"no template fits a relation of {kg.name}")

    def __call__(self, rng: Random) -> Example:
        hops = rng.choices(range(1, len(self.hop_weights) + 1), self.hop_weights)[0]
        while True:
            two = hops == 1 and rng.random() < self.two_topics
            example = self._draw_two(rng) if two else self._draw(rng, hops)
            if example is not None:
                return example

    def _draw(self, rng: Random, hops: int) -> Example | None:
        """Draw the last edge first, then walk back from its start along edges that have a noun phrase."""
        start, last, end, head = self._edge(rng)
        question = self._pick(rng, self.templates[last].questions, head)
        walk, entities = [last], [start, end]
        text = question.text if question else ""
        for _ in range(hops - 1):
            grown = self._step_back(rng, entities[0], set(entities))
            if grown is None:
                return None
            before, step, noun = grown
            walk.insert(0, step)
            entities.insert(0, before)
            text = text.replace("{e}", noun.text)
        if not text:
            return None
        topic = entities[0]
        return self._example(rng, text.replace("{e}", self._spoken(rng, topic)), (topic,), walk, entities)

    def _draw_two(self, rng: Random) -> Example | None:
        """Two entities, one edge from each to the same answer: "films with A and B", "A's film that is also …"."""
        start, last, end, head = self._edge(rng)
        if rng.random() < 0.5:
            steps, others = self.kg.steps(end)
            same = [int(o) for s, o in zip(steps, others, strict=True) if int(s) == self._turned(last) and o != start]
            question = self._pick(rng, self.templates[last].questions, head)
            if not same or question is None:
                return None
            other = rng.choice(same)
            text = question.text.replace("{e}", f"{self._spoken(rng, start)} and {self._spoken(rng, other)}")
        else:
            grown, noun = self._step_back(rng, end, {start, end}), self._pick(rng, self.templates[last].nouns, head)
            if grown is None or noun is None:
                return None
            other, _, second = grown
            said = [noun.fill(self._spoken(rng, start)), second.fill(self._spoken(rng, other))]
            rng.shuffle(said)
            text = rng.choice(_BOTH).format(a=said[0], b=said[1])
        topics = [start, other]
        rng.shuffle(topics)
        return self._example(rng, text, tuple(topics), [last], [start, end])

    def _edge(self, rng: Random) -> tuple[int, int, int, int]:
        """A random edge: where its step starts, the step, where it ends, and the head of its triple."""
        step = rng.choices(self.steps, self.step_weights)[0]
        edge = int(self._edges(step)[rng.randrange(len(self._edges(step)))])
        head, tail = int(self.heads[edge]), int(self.kg.outgoing.targets[edge])
        return (head, step, tail, head) if step < len(self.kg.relations) else (tail, step, head, head)

    def _step_back(self, rng: Random, entity: int, seen: set[int]) -> tuple[int, int, Template] | None:
        """An edge into ``entity`` whose step has a noun phrase: its start, the step, the phrase."""
        steps, others = self.kg.steps(entity)
        for _ in range(6):
            if not len(steps):
                return None
            pick = rng.randrange(len(steps))
            step, other = self._turned(int(steps[pick])), int(others[pick])
            wordings = self.templates.get(step)
            head = other if step < len(self.kg.relations) else entity
            noun = self._pick(rng, wordings.nouns, head) if wordings else None
            if noun is not None and other not in seen:
                return other, step, noun
        return None

    def _example(
        self, rng: Random, text: str, topics: Sequence[int], walk: Sequence[int], entities: Sequence[int]
    ) -> Example:
        renamed = rng.random() < self.renamed
        path = [self.kg.entities[entities[0]]]
        for step, entity in zip(walk, entities[1:], strict=True):
            names = self.other_names[step] if renamed else ()
            path += [rng.choice(names) if names else self.kg.readings[step], self.kg.entities[entity]]
        return Example(roughen(rng, text), tuple(self.kg.entities[t] for t in topics), tuple(path), path[-1])

    def _edges(self, step: int) -> np.ndarray:
        return self.edges_of[step % len(self.kg.relations)]

    def _turned(self, step: int) -> int:
        """The same edge walked from its other end."""
        relations = len(self.kg.relations)
        return step - relations if step >= relations else step + relations

    def _between_equals(self, step: int) -> bool:
        """Whether most edges of the step join two entities of one type."""
        edges = self._edges(step)[:400]
        pairs = [(self._type(int(self.heads[e])), self._type(int(self.kg.outgoing.targets[e]))) for e in edges]
        return sum(a == b != "" for a, b in pairs) > len(pairs) / 2

    def _type(self, entity: int) -> str:
        info = self.kg.info.get(self.kg.entities[entity])
        return info.type if info else ""

    def _pick(self, rng: Random, wordings: Sequence[Template], head: int) -> Template | None:
        fitting = [t for t in wordings if t.fits(self._type(head))]
        return rng.choice(fitting) if fitting else None

    def _spoken(self, rng: Random, entity: int) -> str:
        info = self.kg.info.get(self.kg.entities[entity])
        return spoken_name(rng, self.kg.entities[entity], info.aliases if info else ())


def _names(nouns: Sequence[Template]) -> tuple[str, ...]:
    """Relation names in the noun phrases whose slot stands at one end: "the mother of {e}" -> "mother of"."""
    names = []
    for noun in nouns:
        match = re.fullmatch(r"(?:the |an? )?(.+?) (?:the )?\{e\}|\{e\}'s (.+)", noun.text)
        if match and not noun.head_type:
            names.append(match[1] or match[2])
    return tuple(names)
