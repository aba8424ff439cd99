"""How far the path model believes in a path's relations, among those that the graph states of such things at all.

The model was trained on several graphs, and it is not told what an entity is. To *who wrote Pride and Prejudice* it may
answer in the words of another graph, or with what is said of a film; then the probability of this graph's ``author`` is
small for a reason that says nothing about the question. So each relation of a path is judged against what the graph
states of any entity of the same type: p(r) over the sum of p(r') for their labels r', whether this entity has them or
not. What the model would have taken there instead is what the graph lacks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.kg.path import Path
from kgdemo.models.base import PROMPT_END, TokenTree
from kgdemo.query.query import Query
from kgdemo.reasoners.base import Resources

_NEGLIGIBLE = -7.0  # log-odds against the best one from which a beginning is not read on
_WIDEST = 16  # beginnings read on at a time
_MIN_LOG_PROB = -15.0  # less says nothing more


@dataclass(frozen=True, slots=True)
class RelationBelief:
    """What the model believes at one hop of a path.

    Attributes:
        log_prob: logarithm of the share that the path's relation has of the probability of all relations that the graph
            states of things of the entity's type; of all its relations where no type is known.
        wanted: the label of the likeliest of them.
        wanted_log_prob: the same share, of that one.
    """

    log_prob: float
    wanted: str
    wanted_log_prob: float


def relation_beliefs(query: Query, path: Path, resources: Resources) -> list[RelationBelief]:
    """What the model believes at each hop of a path, given what stands before it.

    Args:
        query: what is asked.
        path: one of the graph.
        resources: for the model and the graph in its tokens.
    """
    graph, model = resources.token_graph, resources.model
    prompt = model.style.encode(model.label_tokens, query.text, query.topics, query.topic_types)
    tree = model.tree(prompt)
    return [_belief(tree, graph, _labels(graph, entity), path, hop) for hop, entity in enumerate(path.entities[:-1])]


def _labels(graph: TokenGraph, entity: str) -> dict[tuple[int, ...], str]:
    """The tokens of the labels of what may be stated of an entity, with the beginning of the arrow that must follow."""
    kg, arrow = graph.kg, int(graph.label_tokens.arrow[0])
    possible = kg.labels_of_type(kg.info[entity].type) if entity in kg.info else frozenset()
    return {
        (*(int(token) for token in graph.steps.row(step)), arrow): label
        for step, label in enumerate(kg.step_labels)
        if label in possible or not possible
    }


def _belief(
    tree: TokenTree, graph: TokenGraph, labels: Mapping[tuple[int, ...], str], path: Path, hop: int
) -> RelationBelief:
    node, behind = tree.follow(PROMPT_END, _before(graph, path, hop))
    found = _log_probs(tree, node[-1], behind, labels, path.relations[hop])
    by_label: dict[str, float] = {}
    for tokens, log_prob in found.items():
        by_label[labels[tokens]] = max(log_prob, by_label.get(labels[tokens], -math.inf))
    total = math.log(sum(map(math.exp, by_label.values())))
    wanted = max(by_label, key=lambda label: by_label[label])
    own = by_label.get(path.relations[hop], -math.inf) - total
    return RelationBelief(max(_MIN_LOG_PROB, own), wanted, by_label[wanted] - total)


def _before(graph: TokenGraph, path: Path, hop: int) -> list[int]:
    """The tokens of a path up to the arrow before one of its relations."""
    kg, arrow = graph.kg, graph.label_tokens.arrow
    tokens: list[int] = []
    for place, label in enumerate(path.entities[: hop + 1]):
        entity = kg.entities.find(label)
        assert entity is not None, label
        tokens += [*graph.entities.row(entity).tolist(), *arrow]
        if place < hop:
            tokens += [*graph.steps.row(kg.steps_called(path.relations[place])[0]).tolist(), *arrow]
    return tokens


def _log_probs(
    tree: TokenTree, node: int, behind: Tensor, labels: Mapping[tuple[int, ...], str], own: str
) -> dict[tuple[int, ...], float]:
    """The log-probabilities of the labels, but for those whose beginnings are negligible; that of ``own`` is kept."""
    found: dict[tuple[int, ...], float] = {}
    beginnings: list[tuple[tuple[int, ...], int, Tensor, float]] = [((), node, behind, 0.0)]
    best = -math.inf
    while beginnings:
        longer: list[tuple[float, tuple[int, ...], int]] = []
        for begun, parent, row, so_far in beginnings:
            tokens = sorted({label[len(begun)] for label in labels if label[: len(begun)] == begun})
            for token, log_prob in zip(tokens, row[tokens].tolist(), strict=True):
                longer.append((so_far + log_prob, (*begun, token), parent))
        for score, begun, _ in longer:
            if begun in labels:
                found[begun] = score
                best = max(best, score)
        going = [one for one in longer if one[1] not in labels]
        best_here = max([best, *(score for score, _, _ in going)])
        going.sort(key=lambda one: -one[0])
        promising = [one for one in going[:_WIDEST] if one[0] > best_here + _NEGLIGIBLE]
        promising += [one for one in going if one not in promising and _begins(one[1], labels, own)]
        if not promising:
            break
        nodes, rows = tree.extend([parent for _, _, parent in promising], [begun[-1] for _, begun, _ in promising])
        beginnings = [(begun, n, row, score) for (score, begun, _), n, row in zip(promising, nodes, rows, strict=True)]
    return found


def _begins(begun: Sequence[int], labels: Mapping[tuple[int, ...], str], own: str) -> bool:
    return any(label == own and tokens[: len(begun)] == tuple(begun) for tokens, label in labels.items())
