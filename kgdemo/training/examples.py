"""Where fine-tuning examples come from: templates over a graph, and questions with answers.

A source draws one example at a time from a seeded generator, so a run can be resumed at any step and
sees the same data. Everything is (question, topic entities, path, answer) as GCR section 4.3 has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import numpy as np

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.questions import Question
from kgdemo.training.paths import RelationPath, follow, shortest_relation_paths
from kgdemo.training.templates import StepTemplates, Template


@dataclass(frozen=True, slots=True)
class Example:
    """One fine-tuning instance; ``path`` alternates entity, relation reading, entity, …"""

    question: str
    topic_entities: tuple[str, ...]
    path: tuple[str, ...]
    answer: str


Source = Callable[[Random], Example]


class TemplateSource:
    """Questions made from templates over the edges of a graph, one to ``hops`` hops.

    Relations are drawn by the square root of their frequency: rare ones are seen, common ones lead.
    """

    def __init__(
        self, kg: KnowledgeGraph, templates: dict[tuple[str, bool], StepTemplates], hops: Sequence[float]
    ) -> None:
        self.kg = kg
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
        self.step_weights = [len(self._edges(s)) ** 0.5 for s in self.steps]
        if not self.steps:
            raise ValueError(f"no template fits a relation of {kg.name}")

    def __call__(self, rng: Random) -> Example:
        hops = rng.choices(range(1, len(self.hop_weights) + 1), self.hop_weights)[0]
        while True:
            example = self._draw(rng, hops)
            if example is not None:
                return example

    def _edges(self, step: int):
        return self.edges_of[step % len(self.kg.relations)]

    def _draw(self, rng: Random, hops: int) -> Example | None:
        """Draw the last edge first, then walk back from its start along edges that have a noun phrase."""
        last = rng.choices(self.steps, self.step_weights)[0]
        edge = int(self._edges(last)[rng.randrange(len(self._edges(last)))])
        head, tail = int(self.heads[edge]), int(self.kg.outgoing.targets[edge])
        start, end = (head, tail) if last < len(self.kg.relations) else (tail, head)
        question = self._pick(rng, self.templates[last].questions, head)
        walk: list[int] = [last]
        entities = [start, end]
        text = question.text if question else ""
        for _ in range(hops - 1):
            grown = self._step_back(rng, entities[0], set(entities))
            if grown is None:
                return None
            before, step, noun = grown
            walk.insert(0, step)
            entities.insert(0, before)
            text = text.replace("{e}", noun)
        if not text:
            return None
        topic = self.kg.entities[entities[0]]
        path = [topic]
        for step, entity in zip(walk, entities[1:], strict=True):
            path += [self.kg.readings[step], self.kg.entities[entity]]
        spoken = text.replace("{e}", spoken_name(rng, topic, self._aliases(topic)))
        return Example(roughen(rng, spoken), (topic,), tuple(path), path[-1])

    def _step_back(self, rng: Random, entity: int, seen: set[int]) -> tuple[int, int, str] | None:
        """An edge into ``entity`` whose step has a noun phrase: its start, the step, the phrase."""
        relations = len(self.kg.relations)
        steps, others = self.kg.steps(entity)
        for _ in range(6):
            if not len(steps):
                return None
            pick = rng.randrange(len(steps))
            back, other = int(steps[pick]), int(others[pick])
            step = back - relations if back >= relations else back + relations
            wordings = self.templates.get(step)
            noun = self._pick(rng, wordings.nouns, other if step < relations else entity) if wordings else None
            if noun is not None and other not in seen:
                return other, step, noun.text
        return None

    def _pick(self, rng: Random, wordings: Sequence[Template], head: int) -> Template | None:
        info = self.kg.info.get(self.kg.entities[head])
        fitting = [t for t in wordings if t.fits(info.type if info else "")]
        return rng.choice(fitting) if fitting else None

    def _aliases(self, label: str) -> tuple[str, ...]:
        info = self.kg.info.get(label)
        return info.aliases if info else ()


class QuestionSource:
    """Questions with known answers, each paired with the relation paths that lead there."""

    def __init__(self, kg: KnowledgeGraph, questions: Sequence[Question]) -> None:
        self.kg = kg
        self.items: list[tuple[Question, list[RelationPath], set[int]]] = []
        for question in questions:
            answers = {i for label in question.gold if (i := kg.entities.find(label)) is not None}
            paths = _known_paths(kg, question) or _found_paths(kg, question, answers)
            if paths and answers:
                self.items.append((question, paths, answers))

    def __len__(self) -> int:
        return len(self.items)

    def __call__(self, rng: Random) -> Example:
        while True:
            question, paths, answers = rng.choice(self.items)
            chosen = rng.choices(paths, [path.weight**2 for path in paths])[0]
            walked = self._walk(rng, chosen, answers)
            if walked is not None:
                path = [self.kg.entities[chosen.topic]]
                for step, entity in zip(chosen.steps, walked, strict=True):
                    path += [self.kg.readings[step], self.kg.entities[entity]]
                return Example(roughen(rng, question.text), question.topic_entities, tuple(path), path[-1])

    def _walk(self, rng: Random, path: RelationPath, answers: set[int]) -> list[int] | None:
        """One random instance of a relation path that ends in an answer."""
        frontiers = [np.array([path.topic], dtype=np.int32)]
        for step in path.steps:
            frontiers.append(follow(self.kg, frontiers[-1][:300], step))
        ends = [int(e) for e in frontiers[-1] if int(e) in answers]
        if not ends:
            return None
        walk = [rng.choice(ends)]
        relations = len(self.kg.relations)
        for step, frontier in zip(reversed(path.steps[1:]), reversed(frontiers[1:-1]), strict=True):
            back = step - relations if step >= relations else step + relations
            before = np.intersect1d(follow(self.kg, np.array([walk[0]], dtype=np.int32), back), frontier)
            walk.insert(0, int(rng.choice(before.tolist())))
        return walk


def _known_paths(kg: KnowledgeGraph, question: Question) -> list[RelationPath]:
    """The relation path that the question set itself gives, where it does."""
    steps = []
    for relation in question.relation_path:
        found = kg.relations.find(relation.removeprefix("~"))
        if found is None:
            return []
        steps.append(found + len(kg.relations) * relation.startswith("~"))
    topics = [i for label in question.topic_entities if (i := kg.entities.find(label)) is not None]
    return [RelationPath(topic, tuple(steps), 1.0) for topic in topics] if steps else []


def _found_paths(kg: KnowledgeGraph, question: Question, answers: set[int]) -> list[RelationPath]:
    paths: list[RelationPath] = []
    for label in question.topic_entities:
        topic = kg.entities.find(label)
        if topic is not None and answers:
            paths += shortest_relation_paths(kg, topic, answers)
    best = max((path.weight for path in paths), default=0.0)
    return [path for path in paths if path.weight >= 0.4 * best and path.weight > 0]


def spoken_name(rng: Random, label: str, aliases: Sequence[str] = ()) -> str:
    """How a person would write an entity: mostly without the bracket, sometimes by an alias."""
    if aliases and rng.random() < 0.3:
        return rng.choice(list(aliases))
    return re.sub(r"\s*\([^)]*\)$", "", label) or label if rng.random() < 0.85 else label


def roughen(rng: Random, text: str) -> str:
    """Lower case, missing question marks and the odd typo, as people type."""
    if rng.random() < 0.6:
        text = text.lower()
    if rng.random() < 0.4:
        text = text.rstrip("?").rstrip()
    if rng.random() < 0.06 and len(text) > 8:
        at = rng.randrange(1, len(text) - 1)
        swapped = text[:at] + text[at + 1] + text[at] + text[at + 2 :]
        text = rng.choice([swapped, text[:at] + text[at + 1 :]])
    return text
