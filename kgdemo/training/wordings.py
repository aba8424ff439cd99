"""Natural questions with the topic entity taken out: how people ask for a relation, whoever it is about.

There are few natural questions with known answers, and a model that sees the same ones again and again learns that
*Justin Bieber* is asked for his brother. With a slot in place of the name, every question asks the same of any
entity from which its relations can be walked (``ChainSource``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.linking.linker import EntityLinker
from kgdemo.questions import Question
from kgdemo.training.examples import AGREES, meant_paths
from kgdemo.training.paths import RelationPath

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
        readings of the relations, in the order they are walked -> wordings with the slot ``{e}``.
    """
    linker = EntityLinker(kg)
    chains: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for question in questions:
        wording = _with_slot(linker, question)
        if wording is None:
            continue
        meant = _meant(meant_paths(kg, question))
        if not any(kg.relations[step % len(kg.relations)] in held_out for steps in meant for step in steps):
            for steps in meant:
                chains[tuple(kg.readings[step] for step in steps)].append(wording)
    return dict(chains)


def _meant(paths: Sequence[RelationPath]) -> list[tuple[int, ...]]:
    """The steps of those relation paths that agree with the answers best."""
    least = max(AGREES, _AS_GOOD * max((path.weight for path in paths), default=0.0))
    return [path.steps for path in paths if path.weight >= least]


def _with_slot(linker: EntityLinker, question: Question) -> str | None:
    """The question with ``{e}`` where it names its one topic entity."""
    text = question.text
    if len(question.topic_entities) != 1 or "{" in text:
        return None
    for mention in linker.link(text).mentions:
        if mention.candidates[0].entity == question.topic_entities[0]:
            return text[: mention.start] + "{e}" + text[mention.end :]
    return None
