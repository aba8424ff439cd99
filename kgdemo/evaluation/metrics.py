"""The papers' figures: Hits@1, Hit, F1, precision, recall, and the share of paths that are in the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from kgdemo.verify import fold


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

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> Prediction:
        """Read back one line of ``predictions.jsonl``."""
        values = {k: tuple(v) if isinstance(v, list) else v for k, v in record.items()}
        return cls(**values)  # type: ignore[arg-type]

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
    """
    count = max(len(predictions), 1)
    asked = [p for p in predictions if p.gold]
    having, lacking = max(len(asked), 1), len(predictions) - len(asked)
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
        "faithful_ratio": sum(p.faithful for p in predictions) / paths if paths else 0.0,
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
        metrics["unconstrained_faithful_ratio"] = sum(p.free_faithful for p in predictions) / free if free else 0.0
    return metrics


def _among(names: Iterable[str], gold: Iterable[str]) -> bool:
    return bool({fold(n) for n in names} & {fold(g) for g in gold})
