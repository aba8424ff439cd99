"""When no path answers the question: grounded is not the same as relevant (GCR appendix F.5).

The constraint always finds paths, for it may only take what the graph holds. A few features tell whether the best of
them answers: how probable its relations were before the graph forbade the others, what the model believes of them among
the graph's own relations, how like the question they are, and whether the end is the kind of thing asked for. A
logistic regression weighs them; its coefficients belong to a model (``PromptStyle.abstention``) and are fitted by
``python -m kgdemo calibrate``. Where it refuses, it says what is missing: the relation that the model would have taken,
or the kind of thing that was asked for.
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
from kgdemo.models.prompt_style import path_sentence
from kgdemo.query.answer_type import kind_of
from kgdemo.query.query import Query
from kgdemo.ranking.relation_belief import RelationBelief, relation_beliefs
from kgdemo.reasoners.base import Evidence, Resources

BIAS = "bias"
_MIN_LOG_PROB = -15.0  # less says nothing more
_LIKELY = 0.5  # probability from which the model means the relations of a path


@dataclass(frozen=True, slots=True)
class AbstentionFeatures:
    """What tells whether the first path answers.

    Attributes:
        first_log_prob: logarithm of the probability of the path's relations over the full vocabulary, and so without
            what the graph forbade.
        first_relation: logarithm of the share that the first relation has of the probability of all that the graph
            states of such things; see ``ranking.relation_belief``.
        later_relations: the same of the relations behind the first, together.
        type_match: 1 where the path's end is of a type that the question asks for, -1 where it is of another, else 0.
        learned_similarity: of the question to the relations, as learned beside the model; 0 without.
    """

    first_log_prob: float
    first_relation: float
    later_relations: float
    type_match: float
    learned_similarity: float


def refusal(query: Query, evidence: Sequence[Evidence], resources: Resources) -> AnswerFinal | None:
    """The answer that says there is none, and why; None where the paths are trusted.

    Args:
        query: what is asked.
        evidence: ranked paths.
        resources: for graph, embedder and the model's weights. A language model judges the paths itself, so nothing is
            refused before it has read them.
    """
    style = resources.model.style
    if style.abstention is None or not evidence or resources.reasoner.is_language_model or not applies(resources):
        return None
    features = abstention_features(query, evidence, resources)
    if abstention_log_odds(features, style.abstention) <= 0:
        return None
    text = f"None of these paths answers the question. {_why(query, evidence[0], features, resources)}"
    return AnswerFinal(text, (), (), resources.reasoner.name, refusal=text)


def applies(resources: Resources) -> bool:
    """Whether the graph is one that the weights were fitted on; on others they would refuse too much."""
    return resources.model.style.abstention_graph in ("", resources.kg.name)


def _why(query: Query, first: Evidence, features: AbstentionFeatures, resources: Resources) -> str:
    """What is missing, as far as it is known."""
    lacking = _lacking(first.path, relation_beliefs(query, first.path, resources), resources.kg)
    if lacking:
        return lacking
    kind = kind_of(resources.kg, first.path.end)
    if features.type_match < 0 and query.answer_type.named and kind:
        wanted = " or ".join(sorted(query.answer_type.types))
        return f"It asks for a {wanted}; the closest path, [{first.index}], ends in {first.path.end}, a {kind}."
    chance = math.exp(first.relation_score)
    said = " → ".join(spoken(relation) for relation in first.path.relations)
    if chance < _LIKELY:
        given = f"{chance:.1%}" if chance >= 0.001 else "under 0.1%"
        return f"The closest path, [{first.index}], says “{said}”, which the model thinks is meant with {given} only."
    words = ", ".join(f"“{word}”" for word in query.content_words)
    return f"The closest path, [{first.index}], says “{said}”, and that does not cover what is asked with {words}."


def _lacking(path: Path, beliefs: Sequence[RelationBelief], kg: KnowledgeGraph) -> str:
    """The relation that the model looks for and an entity of the path has not; empty where it has all of them."""
    for entity, belief in zip(path.entities, beliefs, strict=False):
        had = {spoken(label) for label, _ in kg.neighbours(entity)}
        if spoken(belief.wanted) not in had:
            kind = f"relations of a {kind_of(kg, entity)}" if kind_of(kg, entity) else "graph's relations"
            share = f"{math.exp(belief.wanted_log_prob):.0%} among the {kind}"
            return f"The model looks for “{spoken(belief.wanted)}” ({share}), and the graph states none for {entity}."
    return ""


def abstention_features(query: Query, evidence: Sequence[Evidence], resources: Resources) -> AbstentionFeatures:
    """The features of a question's ranked paths, of which there is at least one."""
    first = evidence[0]
    beliefs = [belief.log_prob for belief in relation_beliefs(query, first.path, resources)]
    return AbstentionFeatures(
        first_log_prob=min(0.0, max(_MIN_LOG_PROB, first.relation_score)),
        first_relation=beliefs[0],
        later_relations=sum(beliefs[1:]),
        type_match=_type_match(query, first.path.end, resources.kg),
        learned_similarity=_similarity(query, first.path, resources),
    )


def _similarity(query: Query, path: Path, resources: Resources) -> float:
    """See ``AbstentionFeatures``."""
    similarity = resources.model.style.similarity
    question, relations = embedding_cache(resources.embedder).vectors([query.text, path_sentence(path.relations)])
    if similarity is None or len(similarity.question) != len(question):
        return 0.0
    return float(similarity.of(question, relations[None])[0])


def abstention_log_odds(features: AbstentionFeatures, weights: Mapping[str, float]) -> float:
    """Log-odds that the paths do not answer; the bias has the price of a wrong refusal in it."""
    values = asdict(features)
    weighted: float = sum(weight * values[name] for name, weight in weights.items() if name != BIAS)
    return weights.get(BIAS, 0.0) + weighted


def _type_match(query: Query, end: str, kg: KnowledgeGraph) -> float:
    """See ``AbstentionFeatures``."""
    if not query.answer_type.types or not kg.info:
        return 0.0
    return 1.0 if kind_of(kg, end) in query.answer_type.types else -1.0
