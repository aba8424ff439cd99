"""When no path answers the question: grounded is not the same as relevant (GCR appendix F.5).

The constraint always finds paths, for it may only take what the graph holds. A few features tell whether the best of
them answers: how probable its relations were before the graph forbade the others, how much of what the model looks for
its entities have, how like the question they are, and whether the end is the kind of thing asked for. A
logistic regression weighs them; its coefficients belong to a model (``PromptStyle.abstention``) and are fitted by
``python -m kgdemo calibrate``. Where it refuses, it says what is missing: the relation that the model would have taken,
or the kind of thing that was asked for.

The model was trained on several graphs. To *who wrote Pride and Prejudice* it may answer in the words of another one;
then the probability of this graph's ``author`` is small for a reason that says nothing about the question. So what it
looks for at a hop is judged among the relations that the graph states of any entity of the same type. The share of
those that this entity has is close to one where the graph can answer, and close to zero where just the relation asked
for is missing; the likeliest of the others is then what the graph lacks.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from torch import Tensor

from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.events import Answerability, AnswerFinal
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import spoken, with_article
from kgdemo.kg.path import Path, PathIds
from kgdemo.models.base import PROMPT_END, JointTree, Reading, in_step, read_out, unseen_labels
from kgdemo.query.answer_type import kind_of
from kgdemo.query.parser import BETWEEN_WALKS, NONE, parser, value_of_year, with_placeholders
from kgdemo.query.query import Query
from kgdemo.ranking.scorer import PathScorer, path_words
from kgdemo.reasoners.base import Evidence, Resources

BIAS = "bias"
RELIABILITY_FILE = "reliability.json"  # beside a model's weights, see ``lab.training.reliability``
_MIN_LOG_PROB = -15.0  # lower values are clipped
_STEM = 6  # letters: direct|ed, direct|or
_MUCH_LIKELIER = 6.0  # higher values are clipped
_LIKELY = 0.5  # probability from which the model means the relations of a path


@dataclass(frozen=True, slots=True)
class AbstentionFeatures:
    """What tells whether the first path answers.

    Attributes:
        first_log_prob: logarithm of the probability of the path's relations over the full vocabulary, and so without
            what the graph forbade; backed off as in the ranking where a relation is one that the model was not
            trained on.
        held_relations: how much of what the model looks for the entities of the path have, as a logarithm, summed over
            the hops; small where what is asked for is missing. See ``relation_beliefs``. A relation that the model was
            not trained on is left out.
        type_match: 1 where the path's end is of a type that the question asks for, -1 where it is of another, else 0.
        learned_similarity: of the question to the relations, as learned beside the model; 0 without.
        asked_otherwise: by how much the likeliest plan for the words is likelier than the walk along the path, as a
            logarithm, times how likely it is; 0 where the words do not tell which of them are a name
            (``query.parser``).
    """

    first_log_prob: float
    held_relations: float
    type_match: float
    learned_similarity: float
    asked_otherwise: float


def abstained(
    query: Query,
    evidence: Sequence[Evidence],
    resources: Resources,
    beliefs: Sequence[RelationBelief] | None = None,
) -> Iterator[Answerability | AnswerFinal]:
    """How likely the paths are to answer, then the refusal where they are not trusted; nothing where that is not known.

    Args:
        query: what is asked.
        evidence: ranked paths.
        resources: for graph, embedder and the model's weights. A language model judges the paths itself, so nothing is
            refused before it has read them.
        beliefs: the ``relation_beliefs`` of the first path, where they have been read.
    """
    style = resources.model.style
    if style.abstention is None or not evidence or not judges(resources):
        return
    beliefs = relation_beliefs(query, evidence[0].path, resources) if beliefs is None else beliefs
    features = abstention_features(query, evidence[0], beliefs, resources)
    odds = abstention_log_odds(features, style.abstention)
    if odds <= 0 or _meets(evidence[0], features) or _in_so_many_words(query, evidence[0], features):
        yield Answerability(round(odds, 3))
        return
    why, missing = _why(query, evidence[0], features, beliefs, resources)
    text = f"None of these paths answers the question. {why}"
    yield Answerability(round(odds, 3), missing)
    yield AnswerFinal(text, (), (), resources.reasoner.name, refusal=text)


def _meets(first: Evidence, features: AbstentionFeatures) -> bool:
    """Whether single relations of two topics meet in what is asked for: by chance that is rare.

    *Scorsese movies with DiCaprio*: the words say little of either relation, the film that both lead to does.
    """
    return bool(first.partners) and len(first.path.relations) == 1 and features.type_match > 0


def _in_so_many_words(query: Query, first: Evidence, features: AbstentionFeatures) -> bool:
    """Whether the question asks for the path's one relation by its very words and for nothing else.

    *Who directed Spirited Away?*: a name of common words may lead the model astray, what is asked for is plain.
    """
    if len(first.path.relations) != 1 or features.type_match < 0 or query.plan.bound:
        return False
    said = {word[:_STEM] for word in path_words(first.path.relations)}
    nouns = query.plan.noun.lower().split() if features.type_match > 0 else []  # *films* that somebody directed
    words = [word for word in query.content_words if word not in nouns]
    return bool(words) and all(word[:_STEM] in said for word in words)


def judges(resources: Resources) -> bool:
    """Whether the model has weights for abstention that hold for this graph, and no language model judges instead."""
    fitted = resources.model.style.abstention is not None and applies(resources)
    return fitted and not resources.reasoner.is_language_model


def applies(resources: Resources) -> bool:
    """Whether the graph is one that the weights were fitted on; on others they would refuse too much."""
    return resources.model.style.abstention_graph in ("", resources.kg.name)


def _why(
    query: Query,
    first: Evidence,
    features: AbstentionFeatures,
    beliefs: Sequence[RelationBelief],
    resources: Resources,
) -> tuple[str, str]:
    """What is missing, as far as it is known: a sentence, and the relation if it is one."""
    unseen = unseen_labels(resources.kg, resources.model.style.relations)
    lacking, relation = _lacking(first.path, beliefs, resources.kg, unseen)
    if lacking:
        return lacking, relation
    kind = kind_of(resources.kg, first.path.end)
    if features.type_match < 0 and query.answer_type.named and kind:
        wanted = " or ".join(sorted(query.answer_type.types))
        ends = f"ends in {first.path.end}, {with_article(kind)}"
        return f"It asks for {with_article(wanted)}; the closest path, [{first.index}], {ends}.", ""
    chance = math.exp(first.relation_score)
    said = " → ".join(spoken(relation) for relation in first.path.relations)
    if chance < _LIKELY:
        given = f"{chance:.1%}" if chance >= 0.001 else "under 0.1%"
        return (
            f"The closest path, [{first.index}], says “{said}”, which the model thinks is meant with {given} only.",
            "",
        )
    words = ", ".join(f"“{word}”" for word in query.content_words)
    return f"The closest path, [{first.index}], says “{said}”, and that does not cover what is asked with {words}.", ""


def _lacking(
    path: Path, beliefs: Sequence[RelationBelief], kg: KnowledgeGraph, unseen: Collection[str]
) -> tuple[str, str]:
    """The relation that the model looks for and an entity of the path has not: a sentence, its label; or nothing.

    At a relation that the model was not trained on it looks for nothing that could be told.
    """
    for entity, belief, taken in zip(path.entities, beliefs, path.relations, strict=False):
        if taken in unseen:
            continue
        had = {spoken(label) for label, _ in kg.neighbours(entity)}
        if spoken(belief.wanted) not in had and math.exp(belief.wanted_log_prob) >= _LIKELY:
            kind = f"relations of {with_article(kind_of(kg, entity))}" if kind_of(kg, entity) else "graph's relations"
            share = f"{math.exp(belief.wanted_log_prob):.0%} among the {kind}"
            said = f"The model looks for “{spoken(belief.wanted)}” ({share}), and the graph states none for {entity}."
            return said, kg.relations[kg.relation_of(kg.steps_called(belief.wanted)[0])]
    return "", ""


def abstention_features(
    query: Query, first: Evidence, beliefs: Sequence[RelationBelief], resources: Resources
) -> AbstentionFeatures:
    """The features of a question's first path; ``beliefs`` are its ``relation_beliefs``."""
    style, kg = resources.model.style, resources.kg
    unseen = unseen_labels(kg, style.relations)
    scorer = PathScorer(query, kg, resources.embedder, style.ranking, unseen, style.backoff, style.similarity)
    ranked = scorer.features(first.path, first.relation_score, known_likelihood=0.0)
    known = [belief for belief, relation in zip(beliefs, first.path.relations, strict=True) if relation not in unseen]
    return AbstentionFeatures(
        first_log_prob=max(_MIN_LOG_PROB, min(0.0, ranked.likelihood)),
        held_relations=sum(belief.held_log_prob for belief in known),
        type_match=_type_match(query, first.path.end, kg),
        learned_similarity=ranked.learned_similarity,
        asked_otherwise=_asked_otherwise(query, first.path, resources),
    )


def _asked_otherwise(query: Query, path: Path, resources: Resources) -> float:
    """See ``AbstentionFeatures``."""
    text, marks = with_placeholders(query.text, query.topics, resources.kg)
    mark = marks.get(path.entities[0])
    if mark is None:  # its name is mistyped, and stands where none is to stand
        return 0.0
    plans = [plan for plan in parser().plans(text) if plan.tokens[:1] != (NONE,)]
    walk = (mark, *(value_of_year(step) for step in path.relations))
    own = sum(plan.likely for plan in plans if _holds_walk(plan.tokens, walk))
    first = max((plan.likely for plan in plans), default=0.0)
    return first * min(_MUCH_LIKELIER, math.log(first / own)) if own else first * _MUCH_LIKELIER


def _holds_walk(plan: Sequence[str], walk: Sequence[str]) -> bool:
    """Whether a plan walks so somewhere, and no further."""
    places = (place for place, token in enumerate(plan) if token == walk[0])
    return any(
        tuple(plan[place : place + len(walk)]) == tuple(walk) and (*plan, "")[place + len(walk)] in ("", *BETWEEN_WALKS)
        for place in places
    )


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


_NEGLIGIBLE = -7.0  # log-odds against the best one from which a beginning is not read on
_WIDEST = 16  # beginnings read on at a time
_MIN_SHARE = 1e-6  # lower values are clipped


@dataclass(frozen=True, slots=True)
class RelationBelief:
    """What the model believes at one hop of a path.

    Attributes:
        wanted: the label of the likeliest relation that the graph states of things of the entity's type; of all its
            relations where no type is known.
        wanted_log_prob: logarithm of the share that this one has of the probability of them all.
        held_log_prob: the same, of those together that the graph states of this very entity.
    """

    wanted: str
    wanted_log_prob: float
    held_log_prob: float


def relation_beliefs(query: Query, path: Path, resources: Resources) -> list[RelationBelief]:
    """What the model believes at each hop of a path of the graph, given what stands before it."""
    model = resources.model
    tree = model.tree(model.style.encode(model.label_tokens, query.text, query.topics, query.topic_types))
    return read_out(believing(path, resources, JointTree(tree)))


def believing(path: Path, resources: Resources, tree: JointTree) -> Reading[list[RelationBelief]]:
    """``relation_beliefs``, to be read along with something else; the hops are read side by side."""
    graph, model = resources.token_graph, resources.model
    strange = unseen_labels(resources.kg, model.style.relations)
    labels = [
        _labels(graph, entity, strange - {said}) for entity, said in zip(path.entities, path.relations, strict=False)
    ]
    if not labels:
        return []
    before = [_before(graph, path, hop) for hop in range(len(labels))]  # each goes on from the one before
    way = tree.add_chain(PROMPT_END, before[-1])
    ends = [way[len(tokens) - 1] for tokens in before]
    yield
    rows = tree.read(ends)
    hops = zip(labels, path.entities, ends, rows, strict=False)
    found: list[RelationBelief] = yield from in_step(
        *(_belief(tree, graph.kg, own, entity, (end, row)) for own, entity, end, row in hops)
    )
    return found


def _labels(graph: TokenGraph, entity: str, strange: Collection[str]) -> dict[tuple[int, ...], str]:
    """The tokens of the labels of what may be stated of an entity, with the beginning of what must follow.

    Relations that the model was not trained on are no relations that it may look for.
    """
    kg, behind = graph.kg, graph.label_tokens.to_entity[0]
    possible = kg.labels_of_type(kg.info[entity].type) if entity in kg.info else frozenset()
    possible = (possible or frozenset(kg.step_labels)) - frozenset(strange) or possible
    return {
        (*(int(token) for token in graph.steps.row(step)), behind): label
        for step, label in enumerate(kg.step_labels)
        if label in possible or not possible
    }


def _belief(
    tree: JointTree,
    kg: KnowledgeGraph,
    labels: Mapping[tuple[int, ...], str],
    entity: str,
    before: tuple[int, Tensor],
) -> Reading[RelationBelief]:
    """What the model believes behind an entity: the node before its relation, and the row behind that."""
    found = yield from _log_probs(tree, *before, labels)
    by_label: dict[str, float] = {}
    for tokens, log_prob in found.items():
        by_label[labels[tokens]] = max(log_prob, by_label.get(labels[tokens], -math.inf))
    total = math.log(sum(map(math.exp, by_label.values())))
    wanted = max(by_label, key=lambda label: by_label[label])
    held = _held(kg, entity)
    share = sum(math.exp(log_prob - total) for label, log_prob in by_label.items() if label in held)
    return RelationBelief(wanted, by_label[wanted] - total, math.log(max(share, _MIN_SHARE)))


def _held(kg: KnowledgeGraph, entity: str) -> set[str]:
    """The labels of the steps that an entity has."""
    known = kg.entities.find(entity)
    assert known is not None, entity
    return {kg.step_labels[step] for step in set(kg.steps(known)[0].tolist())}


def _before(graph: TokenGraph, path: Path, hop: int) -> list[int]:
    """The tokens of a path up to the arrow before one of its relations."""
    kg = graph.kg
    entities = tuple(known for label in path.entities if (known := kg.entities.find(label)) is not None)
    assert len(entities) == len(path.entities), path.entities
    steps = tuple(kg.steps_called(relation)[0] for relation in path.relations)
    pieces = graph.spelled(PathIds(entities, steps))
    return [token for piece in pieces[: 4 * hop + 2] for token in piece]


def _log_probs(
    tree: JointTree, node: int, behind: Tensor, labels: Mapping[tuple[int, ...], str]
) -> Reading[dict[tuple[int, ...], float]]:
    """The log-probabilities of the labels, but for those whose beginnings are negligible.

    A beginning that goes on in one way alone is read up to where labels part.
    """
    found: dict[tuple[int, ...], float] = {}
    scored: dict[tuple[int, ...], tuple[int, Tensor]] = {(): (node, behind)}  # node and row of a beginning
    beginnings: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    best = -math.inf
    while beginnings:
        longer: list[tuple[float, tuple[int, ...]]] = []
        for begun, so_far in beginnings:
            tokens = _following(labels, begun)
            for token, log_prob in zip(tokens, scored[begun][1][tokens].tolist(), strict=True):
                longer.append((so_far + log_prob, (*begun, token)))
        for score, begun in longer:
            if begun in labels:
                found[begun] = score
                best = max(best, score)
        going = [one for one in longer if one[1] not in labels]
        best_here = max([best, *(score for score, _ in going)])
        going.sort(key=lambda one: -one[0])
        promising = [one for one in going[:_WIDEST] if one[0] > best_here + _NEGLIGIBLE]
        yield from _score(tree, labels, scored, [begun for _, begun in promising if begun not in scored])
        beginnings = [(begun, score) for score, begun in promising]
    return found


def _score(
    tree: JointTree,
    labels: Mapping[tuple[int, ...], str],
    scored: dict[tuple[int, ...], tuple[int, Tensor]],
    beginnings: Sequence[tuple[int, ...]],
) -> Reading[None]:
    """Score beginnings of labels, and each up to where it goes on in several ways, in one pass."""
    planned: dict[tuple[int, ...], int] = {}
    for begun in beginnings:
        planned[begun] = node = tree.add(scored[begun[:-1]][0], begun[-1])
        while len(tokens := _following(labels, begun)) == 1 and (begun := (*begun, tokens[0])) not in labels:
            planned[begun] = node = tree.add(node, begun[-1])
    if planned:
        yield
        rows = tree.read(list(planned.values()))
        scored.update((begun, (node, row)) for (begun, node), row in zip(planned.items(), rows, strict=True))


def _following(labels: Mapping[tuple[int, ...], str], begun: tuple[int, ...]) -> list[int]:
    """The tokens that go on from the beginning of a label."""
    return sorted({label[len(begun)] for label in labels if label[: len(begun)] == begun})
