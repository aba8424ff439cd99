"""Questions made from templates over the edges of a graph, to measure with where nobody has written any.

Natural question sets ask for few relations: of those that WebQuestions leads to, a third held out of a training run
are asked for by some thirty of its development questions. Templates ask for every relation that has one. They are the
training's own (``training.templates``), so they tell about relations never seen, never about wordings never seen.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from random import Random

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.lab.evaluation.runner import HELD_OUT, SEEN
from kgdemo.lab.questions import Question
from kgdemo.lab.training.templates import StepTemplates, TemplateSource

_TRIES = 100  # drawn for each question that is wanted: where they run out, they all read alike


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
        for _ in range(_TRIES * number):
            example = source(rng)
            if example.question not in seen:
                seen.add(example.question)
                yield _question(kg, f"{kind}-{len(seen)}", example.question, *example.path[:2])
            if len(seen) == number:
                break
        else:
            raise ValueError(f"the templates make no {number} different questions about relations that are {kind}")


def write_questions(file: Path, questions: Sequence[Question]) -> None:
    """Write them as JSONL in the schema of RoG; see ``questions``."""
    with file.open("w", encoding="utf-8") as stream:
        for one in questions:
            record = {"id": one.id, "question": one.text, "q_entity": one.topic_entities}
            record |= {"a_entity": one.answer_entities, "answer": one.answers, "rel_path": one.relation_path}
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")


def _question(kg: KnowledgeGraph, name: str, text: str, topic: str, relation_label: str) -> Question:
    """All that the relation leads to from the topic answers it."""
    step = kg.step_labels.index(relation_label)
    relation = f"{'~' if step >= len(kg.relations) else ''}{kg.relations[kg.relation_of(step)]}"
    reached = kg.reach(kg.entities.find(topic) or 0, (relation_label,))[-1]
    ends = tuple(kg.entities[end] for end in reached.tolist())
    return Question(name, text, (topic,), ends, ends, relation_path=(relation,))
