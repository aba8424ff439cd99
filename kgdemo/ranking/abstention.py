"""When no path answers the question: grounded is not the same as relevant (GCR appendix F.5).

The constraint always finds paths, for it may only take what the graph holds. A few features tell whether the best of
them answers: how probable its relations were before the graph forbade the others, how well the path's words cover the
question's, and whether its end is the kind of thing asked for. A logistic regression weighs them; its coefficients
belong to a model (``PromptStyle.abstention``) and are fitted by ``python -m kgdemo calibrate``. The paper names two
such failures, and so does the refusal: the graph is incomplete, or the path is unrelated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from kgdemo.events import AnswerFinal
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.kg.words import spoken
from kgdemo.models.embedding import embedding_cache
from kgdemo.query.answer_type import kind_of
from kgdemo.query.query import Query
from kgdemo.ranking.scorer import coverage, path_words
from kgdemo.reasoners.base import Evidence, Resources

BIAS = "bias"
_MIN_LOG_PROB = -15.0  # less says nothing more
_MIN_SIMILARITY = 0.5  # cosine from which a relation of the graph may be the one that was asked for


@dataclass(frozen=True, slots=True)
class AbstentionFeatures:
    """What tells whether the first path answers.

    Attributes:
        relation_log_prob: logarithm of the probability that the relations found had together, over the full
            vocabulary; the probability of what the graph forbade is missing from it.
        lexical_coverage: how well the path's words cover the question's content words: the mean over the latter of the
            cosine to the nearest of the path's.
        content_words: logarithm of the number of the question's content words; a path says fewer of many.
        type_match: 1 where the path's end is of a type that the question asks for, -1 where it is of another, else 0.
    """

    relation_log_prob: float
    lexical_coverage: float
    content_words: float
    type_match: float


def refusal(query: Query, evidence: Sequence[Evidence], resources: Resources) -> AnswerFinal | None:
    """The answer that says there is none, and which failure it is; None where the paths are trusted.

    Args:
        query: what is asked.
        evidence: ranked paths.
        resources: for graph, embedder and the model's weights. A language model judges the paths itself, so nothing is
            refused before it has read them.
    """
    style = resources.model.style
    if style.abstention is None or not evidence or resources.reasoner.is_language_model:
        return None
    if style.abstention_graph not in ("", resources.kg.name):  # on other graphs these weights would refuse too much
        return None
    features = abstention_features(query, evidence, resources)
    if abstention_log_odds(features, style.abstention) <= 0:
        return None
    chance = math.exp(evidence[0].relation_score)
    given = f"{chance:.1%}" if chance >= 0.001 else "under 0.1%"
    closest = f"the closest path, [{evidence[0].index}], is unrelated (the model gives its relations {given})"
    missing = _missing_relation(query, resources)
    if missing:
        topics = " or ".join(query.topics)
        why = f"The graph is incomplete here: it knows “{missing}”, but not of {topics}; {closest}."
    else:
        why = f"The graph does not hold what is asked for: {closest}."
    text = f"None of these paths answers the question. {why}"
    return AnswerFinal(text, (), (), resources.reasoner.name, refusal=text)


def abstention_features(query: Query, evidence: Sequence[Evidence], resources: Resources) -> AbstentionFeatures:
    """The features of a question's ranked paths, of which there is at least one."""
    groups: dict[tuple[str, tuple[str, ...]], float] = {}
    for item in evidence:
        key = item.path.entities[0], item.path.relations
        groups[key] = max(groups.get(key, _MIN_LOG_PROB), item.relation_score)
    total = sum(map(math.exp, groups.values()))  # of several topics each may have up to 1
    first = [evidence[0], *(item for item in evidence if item.index in evidence[0].partners)]
    said = [word for item in first for word in _words_of(item.path, resources.kg)]
    return AbstentionFeatures(
        relation_log_prob=min(0.0, max(_MIN_LOG_PROB, math.log(total))),
        lexical_coverage=coverage(query.content_words, said, resources.embedder),
        content_words=math.log(len(query.content_words)),
        type_match=_type_match(query, evidence[0].path.end, resources.kg),
    )


def abstention_log_odds(features: AbstentionFeatures, weights: Mapping[str, float]) -> float:
    """Log-odds that the paths do not answer; the bias has the price of a wrong refusal in it."""
    values = asdict(features)
    weighted: float = sum(weight * values[name] for name, weight in weights.items() if name != BIAS)
    return weights.get(BIAS, 0.0) + weighted


def _words_of(path: Path, kg: KnowledgeGraph) -> list[str]:
    """The words of a path's relations, and the types of the entities they lead to."""
    types = [known.type for e in path.entities[1:] if (known := kg.info.get(e)) and known.type]
    return [*types, *path_words(path.relations)]


def _type_match(query: Query, end: str, kg: KnowledgeGraph) -> float:
    """See ``AbstentionFeatures``."""
    if not query.answer_type.types or not kg.info:
        return 0.0
    return 1.0 if kind_of(kg, end) in query.answer_type.types else -1.0


def _missing_relation(query: Query, resources: Resources) -> str:
    """The relation of the graph that is most like the question, if it is like enough and no topic has it."""
    step_labels = list(dict.fromkeys(resources.kg.step_labels))
    asked = " ".join(query.content_words)
    likeness = embedding_cache(resources.embedder).similarity(asked, [spoken(label) for label in step_labels])
    nearest = step_labels[int(likeness.argmax())]
    had = {label for topic in query.topics for label, _ in resources.kg.neighbours(topic)}
    return nearest if likeness.max() >= _MIN_SIMILARITY and nearest not in had else ""
