"""When no path answers the question: grounded is not the same as relevant (GCR appendix F.5).

The constraint always finds paths, for it may only take what the graph holds. A few signs tell whether the best
of them answers: how probable the relations were before the graph had its say, how well the path's words cover
the question's, and whether its end is the kind of thing asked for. A logistic regression weighs them; its
coefficients belong to a model (``PromptStyle.abstention``) and are fitted by ``python -m kgdemo calibrate``. The
paper names two such failures, and so does the refusal: the graph is incomplete, or the path is unrelated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from kgdemo.events import AnswerFinal
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import spoken
from kgdemo.kg.path import Path
from kgdemo.models.embedding import label_index
from kgdemo.query.answer_type import answer_type_of, kind_of
from kgdemo.ranking.scorer import coverage, path_words, question_words
from kgdemo.reasoners.base import Evidence, Resources

BIAS = "bias"
_LEAST = -15.0  # log-probability; less says nothing more
_MISSED = 0.5  # cosine similarity from which a relation of the graph may be the one that was asked for


@dataclass(frozen=True, slots=True)
class AbstentionFeatures:
    """What tells whether the first path answers.

    Attributes:
        left: logarithm of the probability that the relations found had together, over the full vocabulary; what
            the graph forbade is missing from it.
        covered: how well the path's words cover those of the question: the mean over the latter of the cosine
            similarity to the nearest of the path's. The topics' names are left out on both sides.
        words: logarithm of the number of those words of the question; of many a path says fewer.
        kind: 1 where its end is of a type that the question asks for, -1 where it is of another, else 0.
    """

    left: float
    covered: float
    words: float
    kind: float


def abstention_features(
    question: str, topics: Sequence[str], evidence: Sequence[Evidence], resources: Resources
) -> AbstentionFeatures:
    """The signs of a question's ranked paths, of which there is at least one."""
    groups: dict[tuple[str, tuple[str, ...]], float] = {}
    for item in evidence:
        key = item.path.entities[0], item.path.relations
        groups[key] = max(groups.get(key, _LEAST), item.relation_score)
    total = sum(map(math.exp, groups.values()))  # of several topics each may have up to 1
    asked = question_words(question, topics, resources.kg)
    first = [evidence[0], *(item for item in evidence if item.index in evidence[0].partners)]
    said = [word for item in first for word in _said(item.path, resources.kg)]
    return AbstentionFeatures(
        left=min(0.0, max(_LEAST, math.log(total))),
        covered=coverage(asked, said, resources.embedder),
        words=math.log(len(asked)),
        kind=_kind(question, evidence[0].path.end, resources.kg),
    )


def abstention_log_odds(found: AbstentionFeatures, weights: Mapping[str, float]) -> float:
    """Log-odds that the paths do not answer, in which the price of a wrong refusal is included."""
    values = asdict(found)
    return weights.get(BIAS, 0.0) + sum(weight * values[name] for name, weight in weights.items() if name != BIAS)


def refusal(
    question: str, topics: Sequence[str], evidence: Sequence[Evidence], resources: Resources
) -> AnswerFinal | None:
    """The answer that says there is none, and which failure it is; None where the paths are trusted.

    Args:
        question: as asked.
        topics: the topic entities.
        evidence: ranked paths.
        resources: for graph, embedder and the model's weights; a reasoner that judges paths itself is left to it.
    """
    style = resources.model.style
    weights = style.abstention
    if weights is None or not evidence or resources.reasoner.judges_paths:
        return None
    if style.abstention_graph not in (
        "",
        resources.kg.name,
    ):  # other words, other signs: there they would refuse too much
        return None
    found = abstention_features(question, topics, evidence, resources)
    if abstention_log_odds(found, weights) <= 0:
        return None
    chance = math.exp(evidence[0].relation_score)
    given = f"{chance:.1%}" if chance >= 0.001 else "under 0.1%"
    closest = f"the closest path, [{evidence[0].index}], is unrelated (the model gives its relations {given})"
    missing = _missing(question, topics, resources)
    if missing:
        why = f"The graph is incomplete here: it knows “{missing}”, but not of {' or '.join(topics)}; {closest}."
    else:
        why = f"The graph does not hold what is asked for: {closest}."
    text = f"None of these paths answers the question. {why}"
    return AnswerFinal(text, (), (), resources.reasoner.name, refusal=text)


def _missing(question: str, topics: Sequence[str], resources: Resources) -> str:
    """The relation of the graph that is most like the question, if it is like enough and no topic has it."""
    step_labels = list(dict.fromkeys(resources.kg.step_labels))
    asked = " ".join(question_words(question, topics, resources.kg))
    likeness = label_index(resources.embedder).similarity(
        asked, [spoken(relation_label) for relation_label in step_labels]
    )
    nearest = step_labels[int(likeness.argmax())]
    had = {relation_label for topic in topics for relation_label, _ in resources.kg.neighbours(topic)}
    return nearest if likeness.max() >= _MISSED and nearest not in had else ""


def _said(path: Path, kg: KnowledgeGraph) -> list[str]:
    """The words of a path's relations, and the types of the entities they lead to."""
    types = [known.type for e in path.entities[1:] if (known := kg.info.get(e)) and known.type]
    return [*types, *path_words(path.relations)]


def _kind(question: str, end: str, kg: KnowledgeGraph) -> float:
    """See ``AbstentionFeatures``."""
    asked = answer_type_of(question, kg.types)
    if not asked.types or not kg.info:
        return 0.0
    return 1.0 if kind_of(kg, end) in asked.types else -1.0
