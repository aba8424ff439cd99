"""The papers' figures: Hits@1, Hit, F1, precision, recall, and the share of paths that are in the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from kgdemo.verify import fold


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
