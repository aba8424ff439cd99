"""What a fine-tuning example is, and examples from questions with known answers.

A source draws one example at a time from a seeded generator, so a run can be resumed at any step and
sees the same data. Everything is (question, topic entities, path, answer) as GCR section 4.3 has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.questions import Question
from kgdemo.training.paths import RelationPath, follow, shortest_relation_paths


@dataclass(frozen=True, slots=True)
class Example:
    """One fine-tuning instance; ``path`` alternates entity, relation reading, entity, …"""

    question: str
    topic_entities: tuple[str, ...]
    path: tuple[str, ...]
    answer: str


Source = Callable[[Random], Example]
AGREES = 0.3  # F1 of what a relation path leads to: below this it reaches the answer by accident
_LIKELY = 1.5  # times as much counts a relation path that the question set takes for likely


class QuestionSource:
    """Questions with known answers, each paired with the relation paths that lead there.

    Args:
        kg: the graph.
        questions: those without a path to an answer are passed over.
        held_out: relations that no example may use. A question whose paths use one is left out whole: with
            its true path gone, what is left would lead to the answer by accident.
    """

    def __init__(self, kg: KnowledgeGraph, questions: Sequence[Question], held_out: Collection[str] = ()) -> None:
        self.kg = kg
        banned = {i for relation in held_out if (i := kg.relations.find(relation)) is not None}
        self.items: list[tuple[Question, list[RelationPath], set[int]]] = []
        for question in questions:
            answers = {i for label in question.gold if (i := kg.entities.find(label)) is not None}
            paths = meant_paths(kg, question)
            used = {step % len(kg.relations) for path in paths for step in path.steps}
            if paths and answers and not used & banned:
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


def relation_paths(kg: KnowledgeGraph, question: Question) -> list[RelationPath]:
    """The relation paths that answer a question: the one that the set gives, else the likeliest shortest ones."""
    answers = {i for label in question.gold if (i := kg.entities.find(label)) is not None}
    return _known_paths(kg, question) or _found_paths(kg, question, answers)


def meant_paths(kg: KnowledgeGraph, question: Question) -> list[RelationPath]:
    """Of the relation paths that answer a question those that it may mean, weighted by how likely that is.

    Several relations often lead to the same answers (where a city is, and what it is the capital of), and no answer
    tells which was meant; a question set may.
    """
    likely = {tuple(kg.alike(reading)[0] for reading in path) for path in question.likely_paths}
    paths = []
    for path in relation_paths(kg, question):
        named = kg.said(path.steps) in likely
        if named or path.weight >= AGREES:
            paths.append(replace(path, weight=path.weight * _LIKELY if named else path.weight))
    return paths


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
