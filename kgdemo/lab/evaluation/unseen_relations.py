"""Questions about relations that a model was not trained on, beside questions about those it was.

A training run that holds relations out lists them in ``held_out.json``. Natural question sets ask for few relations: of
those that WebQuestions leads to, a third held out of a training run are asked for by some thirty of its development
questions. Where nobody has written any, templates make questions, for every relation that has one. They are the
training's own (``training.templates``), so they tell about relations never seen, never about wordings never seen.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from random import Random

from kgdemo.errors import UserError
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.lab.evaluation.metrics import Prediction, summarise
from kgdemo.lab.questions import Question
from kgdemo.lab.training.examples import relation_paths
from kgdemo.lab.training.templates import StepTemplates, TemplateSource

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


def group(kg: KnowledgeGraph, question: Question, held_out: Collection[str]) -> str:
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


def summarise_groups(
    kg: KnowledgeGraph, questions: Sequence[Question], predictions: Sequence[Prediction], held_out: Collection[str]
) -> dict[str, float]:
    """``seen_questions``, ``seen_hits@1`` and of paths, the same for ``held_out``, and ``unclear_questions``."""
    sorted_in: dict[str, list[Prediction]] = {SEEN: [], HELD_OUT: [], UNCLEAR: []}
    for question, prediction in zip(questions, predictions, strict=True):
        sorted_in[group(kg, question, held_out)].append(prediction)
    metrics: dict[str, float] = {f"{UNCLEAR}_questions": len(sorted_in[UNCLEAR])}
    for name in (SEEN, HELD_OUT):
        own = summarise(sorted_in[name], compared=False)
        metrics |= {f"{name}_{figure}": own[figure] for figure in ("questions", "hits@1", "path_hits@1", "path_hit@k")}
    return metrics


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
