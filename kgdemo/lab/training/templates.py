"""Fine-tuning examples made from templates: sentences with a slot ``{e}`` that turn edges of a graph into questions.

A wording of the last edge becomes the question; earlier hops stand in it as noun phrases ("the director of Jaws"), and
a second topic entity joins as a second condition on the same answer. Files under ``templates/`` hold ``relation,
direction, kind, text`` and, where a wording fits only some heads, the type of the entity on the relation's head side;
tab-separated. ``kind`` is *question* or *noun*; a noun phrase denotes the answer and stands in for the entity of
another question, which is how two-hop questions are made.

Files that end in ``-chains`` hold wordings of several hops at once ("the grandparents of X", "X's country of birth"):
``step labels apart by " -> ", text``. People have single words for many walks; these teach that a short question may
want a long path. Natural questions with a slot in place of their entity are drawn the same way, whatever their number
of hops.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgdemo.errors import UserError
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.lab.questions import Question
from kgdemo.lab.training.examples import (
    AGREES,
    HELD_OUT,
    SEEN,
    Example,
    add_noise,
    path_of_labels,
    spoken_name,
    types_or_none,
)

FOLDER = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Template:
    """One wording; ``head_type`` is empty when it fits every head."""

    text: str
    head_type: str = ""

    def fits(self, head_type: str) -> bool:
        """Whether the wording suits an edge whose head has this type."""
        return not self.head_type or self.head_type == head_type

    def fill(self, entity: str) -> str:
        """The wording with ``entity`` in its slot."""
        return self.text.replace("{e}", entity)


@dataclass(slots=True)
class StepTemplates:
    """All wordings of one relation walked in one direction."""

    questions: list[Template] = field(default_factory=list)
    nouns: list[Template] = field(default_factory=list)


def load_templates(name: str) -> dict[tuple[str, bool], StepTemplates]:
    """Read one template file: (relation, walked backwards) -> its wordings.

    Raises:
        ValueError: a line that does not follow the format, with its number.
    """
    templates: dict[tuple[str, bool], StepTemplates] = defaultdict(StepTemplates)
    for number, line in enumerate((FOLDER / f"{name}.tsv").read_text("utf-8").splitlines(), 1):
        columns = line.split("\t")
        if len(columns) not in (4, 5) or columns[3].count("{e}") != 1:
            raise ValueError(f"{name}.tsv, line {number}: not relation, direction, kind, text with one slot")
        relation, direction, kind, text = columns[:4]
        wordings = templates[relation, {"forward": False, "inverse": True}[direction]]
        target = {"question": wordings.questions, "noun": wordings.nouns}[kind]
        target.append(Template(text, columns[4] if len(columns) == 5 else ""))
    return dict(templates)


def load_chains(name: str) -> dict[tuple[str, ...], list[str]]:
    """Read one file of chains: step labels, in the order they are walked -> wordings.

    Raises:
        ValueError: a line that does not follow the format, with its number.
    """
    chains: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for number, line in enumerate((FOLDER / f"{name}.tsv").read_text("utf-8").splitlines(), 1):
        columns = line.split("\t")
        if len(columns) != 2 or columns[1].count("{e}") != 1:
            raise ValueError(f"{name}.tsv, line {number}: not step labels, text with one slot")
        chains[tuple(columns[0].split(" -> "))].append(columns[1])
    return dict(chains)


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
                self.templates[kg.inverse(found) if backwards else found] = wordings
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
            found = self._step_back(rng, entities[0], set(entities))
            if found is None:
                return None
            before, step, noun = found
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
            same = [
                int(o) for s, o in zip(steps, others, strict=True) if int(s) == self.kg.inverse(last) and o != start
            ]
            question = self._pick(rng, self.templates[last].questions, head)
            if not same or question is None:
                return None
            other = rng.choice(same)
            text = question.text.replace("{e}", f"{self._spoken(rng, start)} and {self._spoken(rng, other)}")
        else:
            found, noun = self._step_back(rng, end, {start, end}), self._pick(rng, self.templates[last].nouns, head)
            if found is None or noun is None:
                return None
            other, _, second = found
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
            step, other = self.kg.inverse(int(steps[pick])), int(others[pick])
            wordings = self.templates.get(step)
            head = other if step < len(self.kg.relations) else entity
            noun = self._pick(rng, wordings.nouns, head) if wordings else None
            if noun is not None and other not in seen:
                return other, step, noun
        return None

    def _example(
        self, rng: Random, text: str, topics: Sequence[int], walk: Sequence[int], entities: Sequence[int]
    ) -> Example:
        others = self.other_names if rng.random() < self.renamed else {}
        step_labels = [rng.choice(others[s]) if others.get(s) else self.kg.step_labels[s] for s in walk]
        path = path_of_labels(self.kg, step_labels, entities)
        names = tuple(self.kg.entities[topic] for topic in topics)
        return Example(add_noise(rng, text), names, path, path[-1], types_or_none(rng, names, self.kg))

    def _edges(self, step: int) -> np.ndarray:
        return self.edges_of[self.kg.relation_of(step)]

    def _between_equals(self, step: int) -> bool:
        """Whether most edges of the step join two entities of one type."""
        edges = self._edges(step)[:400]
        pairs = [
            (self.kg.type_of(int(self.heads[e])), self.kg.type_of(int(self.kg.outgoing.targets[e]))) for e in edges
        ]
        return sum(a == b != "" for a, b in pairs) > len(pairs) / 2

    def _pick(self, rng: Random, wordings: Sequence[Template], head: int) -> Template | None:
        fitting = [t for t in wordings if t.fits(self.kg.type_of(head))]
        return rng.choice(fitting) if fitting else None

    def _spoken(self, rng: Random, entity: int) -> str:
        name, *aliases = self.kg.names_of(self.kg.entities[entity])
        return spoken_name(rng, name, aliases)


def _names(nouns: Sequence[Template]) -> tuple[str, ...]:
    """Relation names in the noun phrases whose slot stands at one end: "the mother of {e}" -> "mother of"."""
    names = []
    for noun in nouns:
        match = re.fullmatch(r"(?:the |an? )?(.+?) (?:the )?\{e\}|\{e\}'s (.+)", noun.text)
        if match and not noun.head_type:
            names.append(match[1] or match[2])
    return tuple(names)


_TRIES = 20  # walks from one start before another is drawn


class ChainSource:
    """Questions made from wordings of relation chains.

    Args:
        kg: the graph.
        chains: wordings by step labels, see ``templates.load_chains``.
        held_out: relations that no example may use.
        levelled: chains are drawn by the square root of the number of their wordings, so that rare walks are seen as
            well; else by the number itself, as often as people ask for them.

    Raises:
        ValueError: no chain can be walked in the graph.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        chains: Mapping[tuple[str, ...], Sequence[str]],
        held_out: frozenset[str] = frozenset(),
        levelled: bool = True,
    ) -> None:
        self.kg = kg
        banned = set(kg.relations.ids_of(held_out))
        step_of = {label: step for step, label in enumerate(kg.step_labels)}
        self.chains: list[tuple[tuple[int, ...], NDArray[np.int32], Sequence[str]]] = []
        for step_labels, wordings in chains.items():
            steps = tuple(step_of[label] for label in step_labels if label in step_of)
            if len(steps) < len(step_labels) or banned & {kg.relation_of(step) for step in steps}:
                continue
            starts = self._starts(steps)
            if len(starts):
                self.chains.append((steps, starts, wordings))
        if not self.chains:
            raise ValueError(f"no chain of relations can be walked in {kg.name}")
        self.weights = [len(wordings) ** (0.5 if levelled else 1.0) for _, _, wordings in self.chains]

    def __call__(self, rng: Random) -> Example:
        while True:
            steps, starts, wordings = rng.choices(self.chains, self.weights)[0]
            walk = self._walk(rng, int(rng.choice(starts)), steps)
            if walk is not None:
                return self._example(rng, steps, walk, rng.choice(wordings))

    def _starts(self, steps: Sequence[int]) -> NDArray[np.int32]:
        """The entities from which all steps can be walked: back from the last one."""
        reached = np.arange(len(self.kg.entities), dtype=np.int32)
        for step in reversed(steps):
            reached = self.kg.follow(reached, [self.kg.inverse(step)])
        return reached

    def _walk(self, rng: Random, start: int, steps: Sequence[int]) -> list[int] | None:
        """A random walk that visits no entity twice."""
        for _ in range(_TRIES):
            walk = [start]
            for step in steps:
                taken, others = self.kg.steps(walk[-1])
                ends = others[taken == step]
                if not len(ends):
                    break
                walk.append(int(rng.choice(ends)))
            if len(walk) == len(steps) + 1 == len(set(walk)):
                return walk
        return None

    def _example(self, rng: Random, steps: Sequence[int], walk: Sequence[int], wording: str) -> Example:
        topic, *aliases = self.kg.names_of(self.kg.entities[walk[0]])
        text = wording.replace("{e}", spoken_name(rng, topic, aliases))
        path = path_of_labels(self.kg, [self.kg.step_labels[step] for step in steps], walk)
        return Example(add_noise(rng, text), (topic,), path, path[-1], types_or_none(rng, [topic], self.kg))


# --------------------------------------------------------------------------------------------------
# Questions made from templates to measure with, where nobody has written any: for every relation that has a template.
# The templates are the training's own, so they tell about relations never seen, never about wordings never seen.


_DRAWN = 100  # drawn for each question that is wanted: where they run out, they all read alike


def template_questions(
    kg: KnowledgeGraph,
    templates: dict[tuple[str, bool], StepTemplates],
    held_out: Collection[str],
    number: int,
    seed: int,
) -> Iterator[Question]:
    """One-hop questions, as many about relations held out of a training run as about the others.

    Args:
        kg: the graph.
        templates: wordings by (relation, walked backwards).
        held_out: relations; with none there are no questions of the second kind.
        number: of questions of either kind; no two of a kind read the same.
        seed: the same seed gives the same questions.

    Raises:
        ValueError: no template fits a relation of either kind, or too few different questions can be made.
    """
    for kind in (SEEN, HELD_OUT) if held_out else (SEEN,):
        own = {step: words for step, words in templates.items() if (step[0] in held_out) == (kind == HELD_OUT)}
        source, rng, seen = TemplateSource(kg, own, hops=(1.0,)), Random(f"{kind}-{seed}"), set[str]()
        for _ in range(_DRAWN * number):
            example = source(rng)
            if example.question not in seen:
                seen.add(example.question)
                yield _one_hop_question(kg, f"{kind}-{len(seen)}", example.question, *example.path[:2])
            if len(seen) == number:
                break
        else:
            raise ValueError(f"the templates make no {number} different questions about relations that are {kind}")


def _one_hop_question(kg: KnowledgeGraph, name: str, text: str, topic: str, relation_label: str) -> Question:
    """All that the relation leads to from the topic answers it."""
    step = kg.step_labels.index(relation_label)
    relation = f"{'~' if step >= len(kg.relations) else ''}{kg.relations[kg.relation_of(step)]}"
    reached = kg.reach(kg.entities.find(topic) or 0, (relation_label,))[-1]
    ends = tuple(kg.entities[end] for end in reached.tolist())
    return Question(name, text, (topic,), ends, ends, relation_path=(relation,))


# --------------------------------------------------------------------------------------------------
# Natural questions as templates: labelled with relation paths of Freebase, they can be asked of any graph.
#
# A question whose entity or answer a graph lacks still says how people ask for a relation: with a slot in place of its
# topic it can be asked of every entity that has one. The labels are written in Freebase's own words, where a fact of
# several arguments takes two relations; ``templates/freebase-paths.tsv`` says what they are called in other graphs.


Chain = tuple[str, ...]  # step labels, in the order they are walked


def labelled_wordings(kg: KnowledgeGraph, file: Path, names: Mapping[Chain, Chain]) -> dict[Chain, list[str]]:
    """The wordings of labelled questions, by what they ask for.

    Args:
        kg: the graph that is to be asked.
        file: JSON lines with ``question``, ``topic_key`` (the topic in lower case, ``_`` between its words),
            ``answer`` and ``relation_paths`` (each with ``relations`` and ``count``, the ends it reaches).
        names: Freebase's relations -> step labels of the graph, see ``freebase_names``; FB15k-237 has most by
            Freebase's own names.

    Returns:
        step labels -> wordings with the slot ``{e}``; questions that do not name their topic, and
        those that the graph has no relation for, are passed over.

    Raises:
        UserError: the file is missing.
    """
    known = set(kg.step_labels)
    chains: dict[Chain, list[str]] = defaultdict(list)
    if not file.is_file():
        raise UserError(f"There is no question file {file}; give the folder of the public sets with --data.")
    for line in file.read_text("utf-8").splitlines():
        record = json.loads(line)
        wording = _with_slot(record["question"], record["topic_key"].replace("_", " "))
        labels = _agreeing(record)
        if wording is None or not labels:
            continue
        meant = {names.get(label) or _joined(label, known) for label in labels}
        if all(known.issuperset(chain) for chain in meant):  # else it may be the one unknown here that was meant
            for chain in meant:
                chains[chain].append(wording)
    return dict(chains)


def freebase_names(graph: str) -> dict[Chain, Chain]:
    """What Freebase's relation paths are called in a graph: ``world``, or ``freebase`` for FB15k-237."""
    lines = (FOLDER / "freebase-paths.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return {tuple(path.split(" / ")): tuple(chain.split(" -> ")) for of, path, chain in rows if of == graph}


def _with_slot(question: str, topic: str) -> str | None:
    """The question with ``{e}`` in place of its topic; None where it does not name the topic word by word."""
    padded = f" {question.rstrip('?').rstrip()} "
    before, found, after = padded.partition(f" {topic}")
    if not found or "{" in question or after[:1] not in (" ", "'"):
        return None
    return f"{before} {{e}}{after}".strip() + "?"


def _agreeing(record: Mapping[str, Any]) -> list[Chain]:
    """The best labelled paths, unless they reach so many ends that they answer by accident."""
    answers = len(record["answer"])
    weights = {
        tuple(path["relations"]): 2 * min(answers, path["count"]) / (answers + path["count"])
        for path in record["relation_paths"]
    }
    best = max(weights.values(), default=0.0)
    return [path for path, weight in weights.items() if weight >= max(best, AGREES)]


def _joined(relations: Sequence[str], known: set[str]) -> Chain:
    """Two relations around a mediator as the one that FB15k-237 makes of them."""
    joined: list[str] = []
    for relation in relations:
        pair = f"{joined[-1]}.{relation}" if joined else ""
        if pair in known:
            joined[-1] = pair
        else:
            joined.append(relation)
    return tuple(joined)
