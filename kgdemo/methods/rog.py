"""RoG-like plan and retrieve (Luo et al. 2024, Reasoning on Graphs): relation paths first, then their instances.

A model plans relation paths without seeing the graph, the graph is searched for paths with just these
relations, and the answer comes from those. A plan can name relations that the graph does not have, or that
lead nowhere from the question's entities: such plans are shown as pruned, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from kgdemo.answering.answer_sets import conclude, show
from kgdemo.events import Event, Thought
from kgdemo.kg.labels import fold, spoken
from kgdemo.kg.path import SEPARATOR, Path
from kgdemo.methods.registry import register
from kgdemo.methods.search_branch import unconstrained_branch
from kgdemo.models.embedding import embedding_cache
from kgdemo.query.query import Query
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings

_OFFERED = 60  # relations named to a chat model; unlike RoG's, it was not trained on the graph's vocabulary
_INSTANCES = 20  # of one plan that are shown; the answer has them all


@dataclass(frozen=True, slots=True)
class Plan:
    """A relation path as written, and its score where the model gives one."""

    relations: tuple[str, ...]
    score: float

    def __str__(self) -> str:
        return SEPARATOR.join(self.relations)


@register(
    "rog",
    "Reasoning on graphs",
    "Luo et al. 2024 (RoG)",
    "Plans relation paths without the graph, then looks in the graph for paths with these relations.",
)
def run(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """Planning, retrieval, reasoning."""
    planning = _written_plans if resources.reasoner.is_language_model else _decoded_plans
    plans = yield from planning(query, resources, settings)
    found: list[tuple[Path, float]] = []
    for number, plan in enumerate(plans, 1):
        instances, reason = _instances(plan, query.topics, resources, settings)
        triples = tuple(dict.fromkeys(hop for path in instances[: settings.beams] for hop in path.hops))
        fate = "kept" if instances else "pruned"
        yield Thought("thought", number, (), f"Plan: {plan}", (), triples, plan.score, fate, reason)
        found += [(path, plan.score) for path in instances]
    evidence = yield from show(found, resources, settings.beams)
    yield from conclude(query, evidence, resources, directed=settings.directed, whole=settings.complete)


def _decoded_plans(query: Query, resources: Resources, settings: Settings) -> Generator[Event, None, list[Plan]]:
    """The relations of the paths that the path model writes freely; the entities it writes are ignored."""
    prompt = resources.model.style.encode(resources.model.label_tokens, query.text, query.topics, query.topic_types)
    branch = unconstrained_branch(resources.model, prompt, settings.beams)
    while (step := branch.advance()) is not None:
        yield step
    best: dict[tuple[str, ...], float] = {}
    for hypothesis in branch.finished or ():
        written = resources.model.label_tokens.path_format.with_arrows(branch.text(hypothesis))
        parts = re.split(r"\s*->\s*", written)
        relations = tuple(part.strip() for part in parts[1::2])
        if relations:
            best.setdefault(relations, hypothesis.score)
    plans = [Plan(_spelled(relations, resources), score) for relations, score in best.items()]
    yield branch.call("plan", "; ".join(map(str, plans)))
    return plans


def _written_plans(query: Query, resources: Resources, settings: Settings) -> Generator[Event, None, list[Plan]]:
    """A chat model's relation paths; it is told the relations that are nearest to the question."""
    step_labels = list(dict.fromkeys(resources.kg.step_labels))
    nearest = embedding_cache(resources.embedder).nearest(query.text, [spoken(r) for r in step_labels], _OFFERED)
    task = resources.prompts.text(
        "rog-plan",
        limit=settings.beams,
        hops=settings.hops,
        topics=", ".join(query.topics),
        relations=", ".join(step_labels[i] for i in nearest),
    )
    text = yield from deciding.plan(resources, query, task)
    paths = ([part.strip() for part in path.split("->")] for path in re.split(r"[;\n]", text))
    written = dict.fromkeys(tuple(filter(None, path))[: settings.hops] for path in paths)
    return [Plan(_spelled(relations, resources), 0.0) for relations in written if relations][: settings.beams]


def _spelled(relations: Sequence[str], resources: Resources) -> tuple[str, ...]:
    """Relations as the graph spells them, where it knows them."""
    known = {fold(relation_label): relation_label for relation_label in reversed(resources.kg.step_labels)}
    return tuple(known.get(fold(relation), relation) for relation in relations)


def _instances(plan: Plan, topics: Sequence[str], resources: Resources, settings: Settings) -> tuple[list[Path], str]:
    """The paths of the graph with these relations, and what there is to say of that."""
    step_labels = set(resources.kg.step_labels)
    unknown = [relation for relation in plan.relations if relation not in step_labels]
    if unknown:
        return [], f"the graph has no relation “{unknown[0]}”"
    kg = resources.kg
    found = [
        kg.labelled(ids)
        for topic in topics
        if (start := kg.entities.find(topic)) is not None
        for ids in kg.paths_over(start, plan.relations, settings.directed, _INSTANCES)
    ]
    if not found:
        return [], "no such path starts at the question's entities"
    return found, f"{len(found)} such path{'s' if len(found) > 1 else ''} in the graph"
