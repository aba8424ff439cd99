"""The papers' figures: Hits@1, Hit, F1, precision, recall, and the share of paths that are in the graph."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from kgdemo.kg.graph import KnowledgeGraph, Triple
from kgdemo.kg.path import Path
from kgdemo.kg.words import fold
from kgdemo.verify import Verdict, Verifier


@dataclass(frozen=True, slots=True)
class StepCounts:
    """Steps of the paths of one question.

    Attributes:
        steps, valid: all steps as the verifier reads them, and those in the graph (FiDeLiS section 4.3, *VR*).
        triples, ill: all triples, and those that keep the chain from being well-formed (DoG table 3).
    """

    steps: int = 0
    valid: int = 0
    triples: int = 0
    ill: int = 0


@dataclass(frozen=True, slots=True)
class Prediction:
    """What came of one question; one line of ``predictions.jsonl``.

    Attributes:
        paths: the grounded paths as written, in the order shown.
        ends: the entity each of them leads to.
        faithful: how many of them the verifier found in the graph.
        free_paths, free_faithful: the same counts without the constraint.
        answers: the final answers.
        gold: the right ones.
        seconds, lm_calls, tokens_in, tokens_out: the method's own cost, that of the comparison left out.
        steps, free_steps: of the paths, and of those without the constraint.
        coverage: share of the true steps that the method came across (FiDeLiS section 4.3, *CR*); None where
            no path leads to a right answer.
        error: the message of a run that failed, else empty.
    """

    id: str
    question: str
    topics: tuple[str, ...]
    gold: tuple[str, ...]
    answers: tuple[str, ...]
    paths: tuple[str, ...]
    ends: tuple[str, ...]
    faithful: int
    free_paths: int
    free_faithful: int
    refused: bool
    seconds: float
    lm_calls: int
    tokens_in: int
    tokens_out: int
    error: str = ""
    steps: StepCounts = StepCounts()
    free_steps: StepCounts = StepCounts()
    coverage: float | None = None

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> Prediction:
        """Read back one line of ``predictions.jsonl``."""
        values = {k: tuple(v) if isinstance(v, list) else v for k, v in record.items()}
        counts = {k: StepCounts(**v) for k, v in values.items() if isinstance(v, dict)}
        return cls(**{**values, **counts})  # type: ignore[arg-type]

    def record(self) -> dict[str, object]:
        """As plain JSON values."""
        return asdict(self)


def precision_recall_f1(answers: Iterable[str], gold: Iterable[str]) -> tuple[float, float, float]:
    """Agreement of two sets of names, case and punctuation aside."""
    found, right = {fold(a) for a in answers}, {fold(g) for g in gold}
    hits = len(found & right)
    if not hits:
        return 0.0, 0.0, 0.0
    precision, recall = hits / len(found), hits / len(right)
    return precision, recall, 2 * precision * recall / (precision + recall)


def summarise(predictions: Sequence[Prediction], compared: bool) -> dict[str, float]:
    """All figures of a run, flat. *hits@1* and *hit@k* look at the paths' ends, the others at the answers.

    They are shares of the questions that have an answer. Of those that have none, *recognised* is the share that
    was refused; *refused* is that of all questions, *refused_answerable* that of those with an answer.

    Args:
        predictions: one a question.
        compared: the same search was also run without the constraint.
    """
    count = max(len(predictions), 1)
    asked = [p for p in predictions if p.gold]
    having, lacking = max(len(asked), 1), len(predictions) - len(asked)
    covered = [p.coverage for p in predictions if p.coverage is not None]
    agreement = [precision_recall_f1(p.answers, p.gold) for p in asked]
    paths = sum(len(p.paths) for p in predictions)
    metrics = {
        "questions": len(predictions),
        "hits@1": sum(_among(p.ends[:1], p.gold) for p in asked) / having,
        "hit@k": sum(_among(p.ends, p.gold) for p in asked) / having,
        "hit": sum(_among(p.answers, p.gold) for p in asked) / having,
        "f1": sum(f for _, _, f in agreement) / having,
        "precision": sum(p for p, _, _ in agreement) / having,
        "recall": sum(r for _, r, _ in agreement) / having,
        "faithful_ratio": _share(sum(p.faithful for p in predictions), paths),
        **_step_figures([p.steps for p in predictions]),
        "coverage_ratio": _share(sum(covered), len(covered)),
        "coverage_questions": len(covered),
        "paths": paths,
        "refused": sum(p.refused for p in predictions) / count,
        "refused_answerable": sum(p.refused for p in asked) / having,
        "unanswerable": lacking,
        "recognised": sum(p.refused for p in predictions if not p.gold) / lacking if lacking else 0.0,
        "failed": sum(bool(p.error) for p in predictions),
        "seconds_per_question": sum(p.seconds for p in predictions) / count,
        "lm_calls": sum(p.lm_calls for p in predictions) / count,
        "tokens_in": sum(p.tokens_in for p in predictions) / count,
        "tokens_out": sum(p.tokens_out for p in predictions) / count,
    }
    if compared:
        free = sum(p.free_paths for p in predictions)
        metrics["unconstrained_faithful_ratio"] = _share(sum(p.free_faithful for p in predictions), free)
        metrics["unconstrained_paths"] = free
        figures = _step_figures([p.free_steps for p in predictions])
        metrics |= {f"unconstrained_{name}": value for name, value in figures.items()}
    return metrics


def _step_figures(counts: Sequence[StepCounts]) -> dict[str, float]:
    return {
        "validity_ratio": _share(sum(c.valid for c in counts), sum(c.steps for c in counts)),
        "ill_formed_triples": _share(sum(c.ill for c in counts), sum(c.triples for c in counts)),
        "triples": sum(c.triples for c in counts),
    }


def _share(part: float, whole: float) -> float:
    """A ratio; 0 of nothing, which the counts beside it tell apart from 0 of something."""
    return part / whole if whole else 0.0


def _among(names: Iterable[str], gold: Iterable[str]) -> bool:
    return bool({fold(n) for n in names} & {fold(g) for g in gold})


# --------------------------------------------------------------------------------------------------
# Figures on the steps themselves, as DoG and FiDeLiS report them; all computed from labels and the verifier alone.


def ill_formed(triples: Sequence[Triple], topics: Iterable[str], verifier: Verifier) -> list[Triple]:
    """The triples that keep a chain from being well-formed (DoG section 2.2; *% ill triplet* of table 3).

    A triple is ill when it is not in the graph, or when neither of its ends is a query entity or an end of
    an earlier well-formed triple.

    Args:
        triples: a chain, in the order it was written; an inverse step may stand in its inverse reading.
        topics: the query entities.
        verifier: knows the graph.
    """
    visited = set(topics)
    ill = []
    for triple in triples:
        head, _, tail = triple
        if verifier.verify(Path.from_labels(triple)).faithful and visited & {head, tail}:
            visited |= {head, tail}
        else:
            ill.append(triple)
    return ill


def coverage_ratio(retrieved: Iterable[Hashable], truth: Iterable[Hashable]) -> float:
    """How many of the true steps were among the candidates (FiDeLiS section 4.3, *CR*); 1 where there are none."""
    wanted = set(truth)
    return len(wanted & set(retrieved)) / len(wanted) if wanted else 1.0


def valid_steps(verdicts: Iterable[Verdict]) -> tuple[int, int]:
    """How many of the steps of paths are in the graph, and how many steps there are."""
    hops = [hop for verdict in verdicts for hop in verdict.hops]
    return sum(hop.verdict.holds for hop in hops), len(hops)


def validity_ratio(verdicts: Iterable[Verdict]) -> float:
    """The share of the steps of paths that are in the graph (FiDeLiS section 4.3, *VR*); 1 where there are none."""
    valid, steps = valid_steps(verdicts)
    return valid / steps if steps else 1.0


# --------------------------------------------------------------------------------------------------
# The true reasoning steps of a question: the shortest paths from its entities to its answers.


Step = tuple[frozenset[str], str]  # an edge, whichever way it is walked: both ends, and the stored relation


def true_steps(
    kg: KnowledgeGraph, topics: Iterable[str], gold: Iterable[str], hops: int, directed: bool
) -> frozenset[Step]:
    """The edges of all shortest paths from the topics to each answer (FiDeLiS section 4.3, ground-truth steps).

    Args:
        kg: the graph.
        topics, gold: entity labels; those the graph does not have are passed over.
        hops: answers further away are out of reach.
        directed: follow edges from head to tail only.
    """
    starts = {i for t in topics if (i := kg.entities.find(t)) is not None}
    ends = {i for g in gold if (i := kg.entities.find(g)) is not None}
    return frozenset(
        (frozenset((kg.entities[source], kg.entities[target])), kg.relations[kg.relation_of(step)])
        for source, step, target in kg.shortest_edges(starts, ends, hops, directed)
    )


class Steps:
    """Walked hops as edges of one graph, whichever way and in whichever reading they are walked.

    Args:
        kg: for its readings.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        relations = list(kg.relations)
        self._relation = dict(zip(reversed(kg.step_labels), reversed([*relations, *relations]), strict=True))

    def of(self, hops: Iterable[tuple[str, str, str]]) -> frozenset[Step]:
        """The edges walked; a relation that the graph does not have stays as it is written."""
        return frozenset((frozenset((head, tail)), self._relation.get(r, r)) for head, r, tail in hops)
