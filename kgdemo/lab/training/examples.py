"""What a fine-tuning example is, and examples from questions with known answers.

A source draws one example at a time from a seeded generator, so a run can be resumed at any step and sees the same
data. Everything is (question, topic entities, path, answer) as GCR section 4.3 has it.

Reasoning paths for fine-tuning: the relation paths that lead from a question's entities to its answers. GCR section
4.3 and appendix C take all shortest paths between question and answer entities. Among them many reach an answer by
accident, so each relation path is weighted by how well the *whole* set of entities it leads to agrees with the answers
(F1).

Some relations are kept out of training, to see whether a model reads relations or knows them by heart. A name is held
out everywhere at once: FB15k-237's ``/film/film/genre`` and ``/tv/tv_program/genre``, MetaQA's ``directed_by`` and
``resources``'s ``directed by`` would otherwise teach each other's words. ``relation_group`` says whether a question is
about held-out relations. Natural question sets ask for few relations: of those that WebQuestions leads to, a third held
out of a training run are asked for by some thirty of its development questions.

Natural questions with the topic entity taken out: how people ask for a relation, whoever it is about. There are few
natural questions with known answers, and a model that sees the same ones again and again learns that *Justin Bieber*
is asked for his brother. With a slot in place of the name, every question asks the same of any entity from which its
relations can be walked (``ChainSource``).
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from kgdemo.errors import UserError
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import relation_name
from kgdemo.lab.questions import Question
from kgdemo.linking.linker import EntityLinker
from kgdemo.query.query import types_of

_MAX_PATHS = 12  # relation paths from one topic that are weighed


@dataclass(frozen=True, slots=True)
class RelationPath:
    """Steps from a topic entity, the entities they end at, and how well these match the answers."""

    topic: int
    steps: tuple[int, ...]
    weight: float


def shortest_relation_paths(kg: KnowledgeGraph, topic: int, answers: set[int]) -> list[RelationPath]:
    """Relation paths of the least length (one or two hops) from ``topic`` to ``answers``, best first."""
    steps, targets = kg.steps(topic)
    wanted = np.fromiter(answers, dtype=np.int32, count=len(answers))
    direct = np.unique(steps[np.isin(targets, wanted)])
    candidates: dict[tuple[int, ...], int] = {(int(step),): 1 for step in direct}
    if not candidates:
        candidates = _two_hops(kg, steps, targets, wanted)
    ranked = sorted(candidates, key=lambda path: -candidates[path])[:_MAX_PATHS]
    paths = [RelationPath(topic, path, _f1(_ends(kg, topic, path), answers)) for path in ranked]
    return sorted(paths, key=lambda path: -path.weight)


def _two_hops(
    kg: KnowledgeGraph, steps: NDArray[np.int32], targets: NDArray[np.int32], answers: NDArray[np.int32]
) -> dict[tuple[int, ...], int]:
    """Two-step paths, meeting in the middle; the count is the number of edges that agree."""
    counts: dict[tuple[int, ...], int] = {}
    for answer in answers:
        back_steps, middles = kg.steps(int(answer))
        shared = np.intersect1d(targets, middles)[:200]
        for middle in shared:
            for first in np.unique(steps[targets == middle]):
                for back in np.unique(back_steps[middles == middle]):
                    path = (int(first), kg.inverse(int(back)))
                    counts[path] = counts.get(path, 0) + 1
    return counts


def _ends(kg: KnowledgeGraph, topic: int, path: tuple[int, ...]) -> set[int]:
    frontier = np.array([topic], dtype=np.int32)
    for step in path:
        frontier = kg.follow(frontier[:500], [step])  # a hub's tail does not change the F1 that matters
    return set(frontier.tolist())


def _f1(found: set[int], right: set[int]) -> float:
    hits = len(found & right)
    return 2 * hits / (len(found) + len(right)) if hits else 0.0


@dataclass(frozen=True, slots=True)
class Example:
    """One fine-tuning instance; ``path`` alternates entity, step label, entity, …; types may be missing."""

    question: str
    topic_entities: tuple[str, ...]
    path: tuple[str, ...]
    answer: str
    topic_types: tuple[str, ...] = ()


def path_of_labels(kg: KnowledgeGraph, step_labels: Sequence[str], entities: Sequence[int]) -> tuple[str, ...]:
    """The labels of a walk in turn: entity, step, entity, …"""
    first, *others = (kg.entities[entity] for entity in entities)
    return (first, *(label for step in zip(step_labels, others, strict=True) for label in step))


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
        banned = set(kg.relations.ids_of(held_out))
        self.items: list[tuple[Question, list[RelationPath], set[int]]] = []
        for question in questions:
            answers = set(kg.entities.ids_of(question.gold))
            paths = plausible_paths(kg, question)
            used = {kg.relation_of(step) for path in paths for step in path.steps}
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
                step_labels = [self.kg.step_labels[step] for step in chosen.steps]
                path = path_of_labels(self.kg, step_labels, [chosen.topic, *walked])
                types = types_or_none(rng, question.topic_entities, self.kg)
                return Example(add_noise(rng, question.text), question.topic_entities, path, path[-1], types)

    def _walk(self, rng: Random, path: RelationPath, answers: set[int]) -> list[int] | None:
        """One random instance of a relation path that ends in an answer."""
        frontiers = [np.array([path.topic], dtype=np.int32)]
        for step in path.steps:
            frontiers.append(self.kg.follow(frontiers[-1][:300], [step]))
        ends = [int(e) for e in frontiers[-1] if int(e) in answers]
        if not ends:
            return None
        walk = [rng.choice(ends)]
        for step, frontier in zip(reversed(path.steps[1:]), reversed(frontiers[1:-1]), strict=True):
            before = np.intersect1d(self.kg.follow(np.array(walk[:1], np.int32), [self.kg.inverse(step)]), frontier)
            walk.insert(0, int(rng.choice(before.tolist())))
        return walk


def relation_paths(kg: KnowledgeGraph, question: Question) -> list[RelationPath]:
    """The relation paths that answer a question: the one that the set gives, else the likeliest shortest ones."""
    answers = set(kg.entities.ids_of(question.gold))
    return known_paths(kg, question) or _found_paths(kg, question, answers)


def plausible_paths(kg: KnowledgeGraph, question: Question) -> list[RelationPath]:
    """Of the relation paths that answer a question those that it may mean, weighted by how likely that is.

    Several relations often lead to the same answers (where a city is, and what it is the capital of), and no answer
    tells which was meant; a question set may.
    """
    likely = {tuple(kg.alike(relation_label)[0] for relation_label in path) for path in question.likely_paths}
    paths = []
    for path in relation_paths(kg, question):
        named = kg.said(path.steps) in likely
        if named or path.weight >= AGREES:
            paths.append(replace(path, weight=path.weight * _LIKELY if named else path.weight))
    return paths


def known_paths(kg: KnowledgeGraph, question: Question) -> list[RelationPath]:
    """The relation path that the question set itself gives, where it does."""
    steps = []
    for relation in question.relation_path:
        found = kg.relations.find(relation.removeprefix("~"))
        if found is None:
            return []
        steps.append(kg.inverse(found) if relation.startswith("~") else found)
    topics = kg.entities.ids_of(question.topic_entities)
    return [RelationPath(topic, tuple(steps), 1.0) for topic in topics] if steps else []


def _found_paths(kg: KnowledgeGraph, question: Question, answers: set[int]) -> list[RelationPath]:
    paths: list[RelationPath] = []
    for topic in kg.entities.ids_of(question.topic_entities) if answers else ():
        paths += shortest_relation_paths(kg, topic, answers)
    best = max((path.weight for path in paths), default=0.0)
    return [path for path in paths if path.weight >= 0.4 * best and path.weight > 0]


def spoken_name(rng: Random, label: str, aliases: Sequence[str] = ()) -> str:
    """How a person would write an entity: mostly without the bracket, sometimes by an alias."""
    if aliases and rng.random() < 0.3:
        return rng.choice(list(aliases))
    return re.sub(r"\s*\([^)]*\)$", "", label) or label if rng.random() < 0.85 else label


_WITH_TYPES = 0.8  # share of the examples in which the topics' types are told: some graphs have none


def types_or_none(rng: Random, topics: Sequence[str], kg: KnowledgeGraph) -> tuple[str, ...]:
    """The topics' types, or none of them."""
    return types_of(topics, kg) if rng.random() < _WITH_TYPES else ()


_TYPO = 0.12  # share of the questions with a wrong letter


def add_noise(rng: Random, text: str) -> str:
    """Lower case, missing question marks and the odd typo, as people type."""
    if rng.random() < 0.6:
        text = text.lower()
    if rng.random() < 0.4:
        text = text.rstrip("?").rstrip()
    if rng.random() < _TYPO and len(text) > 8:
        at = rng.randrange(1, len(text) - 1)
        before, letter, following, rest = text[:at], text[at], text[at + 1], text[at + 2 :]
        other = rng.choice("abcdefghijklmnopqrstuvwxyz")
        wrong = rng.choice((following + letter, following, letter + letter + following, other + following))
        text = before + wrong + rest
    return text


def draw_held_out(graphs: Mapping[str, Iterable[str]], share: float, seed: int) -> dict[str, frozenset[str]]:
    """Choose the relations that a run shall never see.

    Args:
        graphs: name of a graph -> its relations.
        share: part of all spoken names that is held out, rounded up; 0 holds none out.
        seed: the same seed and graphs give the same choice.

    Returns:
        name of the graph -> its relations that are held out.
    """
    names = sorted({relation_name(relation) for relations in graphs.values() for relation in relations})
    kept_out = set(Random(f"held-out-{seed}").sample(names, math.ceil(share * len(names))))
    return {
        graph: frozenset(relation for relation in relations if relation_name(relation) in kept_out)
        for graph, relations in graphs.items()
    }


SEEN, HELD_OUT, UNCLEAR = "seen", "held_out", "unclear"


def read_held_out(file: Path) -> frozenset[str]:
    """The relations listed in the ``held_out.json`` of a training run, of all its graphs.

    Raises:
        UserError: there is no such file, or it is of another kind.
    """
    try:
        record = json.loads(file.read_text("utf-8"))
        return frozenset(str(relation) for relations in record.values() for relation in relations)
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise UserError(f"{file} cannot be read ({error}); give the held_out.json of a training run.") from error


def relation_group(kg: KnowledgeGraph, question: Question, held_out: Collection[str]) -> str:
    """``held_out`` where every relation path that answers the question uses such a relation, ``seen`` where none does.

    *unclear* is the rest: where one path does and another does not, or none is within two hops.
    """
    uses = [
        any(kg.relations[kg.relation_of(step)] in held_out for step in path.steps)
        for path in relation_paths(kg, question)
    ]
    if not uses or any(uses) != all(uses):
        return UNCLEAR
    return HELD_OUT if uses[0] else SEEN


_AS_GOOD = 0.8  # further paths as good as the best one, but for so much, are meant as well


def wordings_of(
    kg: KnowledgeGraph, questions: Sequence[Question], held_out: Collection[str] = ()
) -> dict[tuple[str, ...], list[str]]:
    """The wordings of questions, by what they ask for.

    Args:
        kg: the graph that answers them.
        questions: those of several topic entities, or whose topic the linker does not find, are passed over.
        held_out: relations that no example may use; questions that mean one are passed over.

    Returns:
        step labels, in the order they are walked -> wordings with the slot ``{e}``.
    """
    linker = EntityLinker(kg)
    chains: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for question in questions:
        wording = _with_slot(linker, question)
        if wording is None:
            continue
        meant = _best_steps(plausible_paths(kg, question))
        if not any(kg.relations[kg.relation_of(step)] in held_out for steps in meant for step in steps):
            for steps in meant:
                chains[tuple(kg.step_labels[step] for step in steps)].append(wording)
    return dict(chains)


def _best_steps(paths: Sequence[RelationPath]) -> list[tuple[int, ...]]:
    """The steps of those relation paths that agree with the answers best."""
    minimum = max(AGREES, _AS_GOOD * max((path.weight for path in paths), default=0.0))
    return [path.steps for path in paths if path.weight >= minimum]


def _with_slot(linker: EntityLinker, question: Question) -> str | None:
    """The question with ``{e}`` where it names its one topic entity."""
    text = question.text
    if len(question.topic_entities) != 1 or "{" in text:
        return None
    for mention in linker.link(text).mentions:
        if mention.candidates[0].entity == question.topic_entities[0]:
            return text[: mention.start] + "{e}" + text[mention.end :]
    return None
