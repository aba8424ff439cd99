"""The papers' figures, each defined once: of the answers, of the paths, and of the steps of the paths.

A figure of a question is a numerator and a denominator. Over a set, a figure is the sum of the one by the sum of the
other; a denominator of 0 leaves the question out. The figures on steps, as DoG and FiDeLiS report them, are computed
from labels and the verifier alone; the true steps of a question are the shortest paths from its entities to its
answers.

Bootstrap intervals say how certain a figure of one run is; a paired test compares two runs over the same questions. A
figure is a ratio of sums over questions (a mean where each question counts one), so the bootstrap resamples questions,
each with all its paths. The test of two runs flips the sign of each question's difference at random (Fisher's
randomisation test): it assumes nothing about the distribution of the differences.
"""

from __future__ import annotations

import calendar
import re
import string
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq

from kgdemo.kg.graph import KnowledgeGraph, Triple
from kgdemo.kg.labels import fold
from kgdemo.kg.path import Path
from kgdemo.verify import Verdict, Verifier

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_DATE = re.compile(rf"(?:\d{{1,2}} )?(?:{'|'.join(calendar.month_name[1:])}) (?P<year>\d{{3,4}})")
_folded = lru_cache(maxsize=20_000)(fold)  # each figure of each variant of a study compares the same names


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
    """The outcome of one question: one line of ``predictions.jsonl``.

    Attributes:
        paths: the grounded paths as written, in the order shown.
        ends: the entity each of them leads to.
        faithful: how many of them the verifier found in the graph.
        right_paths, right_faithful: how many end in a right answer, and how many of those are in the graph.
        free_paths, free_faithful, free_right_paths, free_right_faithful: the same counts without the constraint.
        answers: the final answers.
        with_graph: the same and what the graph adds to them; more than the answers where a general model spoke.
        gold: the right ones.
        seconds, lm_calls, tokens_in, tokens_out: the method's own cost, that of the comparison left out.
        processor_seconds: of the whole process while the question was asked, the comparison and, where several
            questions are under way (``--batched``), the others' work included.
        steps, free_steps: of the paths, and of those without the constraint.
        coverage: share of the true steps that the method came across (FiDeLiS section 4.3, *CR*); None where
            no path leads to a right answer.
        depths: hops of each of the paths (FiDeLiS table 6).
        hops: of the shortest path to a right answer, within those that were asked for; 0 without one.
        triplet_f1: see ``triplet_f1``; None where no path leads to a right answer.
        limited: the method took all the steps that it may take.
        right_path_f1: of all ends of the relation path that the question set gives; None where it gives none.
        error: the message of a run that failed, or in which the general model could not be asked; else empty. It is
            asked again when the evaluation goes on.
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
    with_graph: tuple[str, ...] = ()
    steps: StepCounts = StepCounts()
    free_steps: StepCounts = StepCounts()
    coverage: float | None = None
    right_paths: int = 0
    right_faithful: int = 0
    free_right_paths: int = 0
    free_right_faithful: int = 0
    depths: tuple[int, ...] = ()
    hops: int = 0
    triplet_f1: float | None = None
    limited: bool = False
    right_path_f1: float | None = None
    processor_seconds: float = 0.0

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> Prediction:
        """Read back one line of ``predictions.jsonl``."""
        values = {k: tuple(v) if isinstance(v, list) else v for k, v in record.items()}
        counts = {k: StepCounts(**v) for k, v in values.items() if isinstance(v, dict)}
        return cls(**{**values, **counts})  # type: ignore[arg-type]


Parts = tuple[float, float]
Match = Callable[[str, str], bool]  # (answer, right answer)


def exact_match(answer: str, right: str) -> bool:
    """Whether two names are the same, case, accents and punctuation aside; of a year any day of it is right."""
    dated = _DATE.fullmatch(answer)
    return _folded(dated["year"] if dated and right.isdigit() else answer) == _folded(right)


def substring_match(answer: str, right: str) -> bool:
    """Whether a text holds a right answer, as the scripts of RoG, and after it GCR, match: a lenient reading.

    Both are put in lower case, without ASCII punctuation and articles. "North Korea" so holds "Korea".
    """
    wanted = _normalised(right)
    return bool(wanted) and wanted in _normalised(answer)


@lru_cache(maxsize=20_000)
def _normalised(text: str) -> str:
    text = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def hits_at_1(found: Sequence[str], gold: Collection[str], match: Match = exact_match) -> float:
    """*Hits@1*: whether the first is right (DoG section 3.1, FiDeLiS section 4.1)."""
    return float(any(match(answer, right) for answer in found[:1] for right in gold))


def hit(found: Sequence[str], gold: Collection[str], match: Match = exact_match) -> float:
    """*Hit*: whether any is right (GCR section 5.1); never less than *Hits@1*."""
    return float(any(match(answer, right) for answer in found for right in gold))


def precision(found: Sequence[str], gold: Collection[str], match: Match = exact_match) -> float:
    """The share of the answers that are right; 0 without any."""
    different = _distinct(found)
    return _share(sum(any(match(answer, right) for right in gold) for answer in different), len(different))


def recall(found: Sequence[str], gold: Collection[str], match: Match = exact_match) -> float:
    """The share of the right answers that are given."""
    wanted = _distinct(gold)
    return _share(sum(any(match(answer, right) for answer in found) for right in wanted), len(wanted))


def f1(found: Sequence[str], gold: Collection[str], match: Match = exact_match) -> float:
    """The harmonic mean of precision and recall (GCR section 5.1)."""
    p, r = precision(found, gold, match), recall(found, gold, match)
    return _share(2 * p * r, p + r)


def accuracy(found: Sequence[str], gold: Collection[str], match: Match = exact_match) -> float:
    """Whether all that is given is right and nothing is missing; among choices, whether the choice is right."""
    return float(bool(found) and precision(found, gold, match) == 1.0 == recall(found, gold, match))


def rouge_l(text: str, reference: str) -> float:
    """*Rouge-L*: the F-measure of the longest common subsequence of words (Lin 2004; Grounding section 5).

    Words are runs of letters and digits in lower case, unstemmed, as in the package that GRBench is scored with.
    """
    words, wanted = (re.findall(r"[^\W_]+", one.lower()) for one in (text, reference))
    return _share(2 * LCSseq.similarity(words, wanted), len(words) + len(wanted))


def _distinct(names: Iterable[str]) -> list[str]:
    """Names without those that are the same but for case, accents and punctuation."""
    return list({_folded(name): name for name in names}.values())


Figure = Callable[["Prediction"], Parts]
_OF_NAMES = {
    "hits@1": hits_at_1,
    "hit": hit,
    "accuracy": accuracy,
    "precision": precision,
    "recall": recall,
    "f1": f1,
}


def _figures() -> dict[str, Figure]:
    """All figures by their name in ``metrics.json``."""

    def of(
        names: Callable[[Prediction], Sequence[str]], rate: Callable[..., float], match: Match = exact_match
    ) -> Figure:
        return lambda p: (rate(names(p), p.gold, match), 1) if p.gold else (0, 0)

    found = {name: of(lambda p: p.answers, rate) for name, rate in _OF_NAMES.items()}
    found |= {f"{name}_substring": of(lambda p: p.answers, rate, substring_match) for name, rate in _OF_NAMES.items()}
    found |= {
        "f1_with_graph": of(lambda p: p.with_graph or p.answers, f1),
        "recall_with_graph": of(lambda p: p.with_graph or p.answers, recall),
        "path_hits@1": of(lambda p: p.ends, hits_at_1),
        "path_hit@k": of(lambda p: p.ends, hit),
        # whether the graph could give a right answer at all: one is within L hops
        "right_path_f1": lambda p: (p.right_path_f1 or 0.0, p.right_path_f1 is not None),
        "ceiling": lambda p: (p.coverage is not None, 1) if p.gold else (0, 0),
        "faithful_ratio": lambda p: (p.faithful, len(p.paths)),
        "faithful_ratio_correct": lambda p: (p.right_faithful, p.right_paths),
        "unconstrained_faithful_ratio": lambda p: (p.free_faithful, p.free_paths),
        "unconstrained_faithful_ratio_correct": lambda p: (p.free_right_faithful, p.free_right_paths),
        "unconstrained_path_hit@k": lambda p: (p.free_right_paths > 0, 1) if p.gold else (0, 0),
        "coverage_ratio": lambda p: (p.coverage or 0.0, p.coverage is not None),
        "triplet_f1": lambda p: (p.triplet_f1 or 0.0, p.triplet_f1 is not None),
        "rouge_l": lambda p: (rouge_l(", ".join(p.answers), ", ".join(p.gold)), 1) if p.gold else (0, 0),
        "depth": lambda p: (sum(p.depths), len(p.depths)),
        "true_depth": lambda p: (p.hops, p.hops > 0),
    }

    def error(name: str) -> Figure:
        return lambda p: (error_of(p) == name, 1) if p.gold else (0, 0)

    return {**found, **{f"error_{name}": error(name) for name in ERRORS}}


# Why no right answer was given, the first that fits: the run failed; no path within L hops leads to a right answer (GCR
# appendix F.5, the graph lacks the fact); a path leads there, and the answer passes it over; the method took all its
# steps; the paths lead elsewhere (the last three: Grounding section 7). With *Hit* these shares add up to 1.
ERRORS = ("failed", "no_path", "not_returned", "limit", "wrong_path")


def error_of(prediction: Prediction) -> str:
    """One of ``ERRORS``; nothing where a right answer is given, or none exists."""
    gold = prediction.gold
    if not gold or hit(prediction.answers, gold):
        return ""
    if prediction.error:
        return "failed"
    if hit(prediction.ends, gold):
        return "not_returned"
    if prediction.coverage is None:
        return "no_path"
    return "limit" if prediction.limited else "wrong_path"


# Questions sorted as GCR's tables 15 (number of answers) and 16 (hops) have them.
GROUPS: dict[str, Callable[[Prediction], bool]] = {
    "1_hop": lambda p: p.hops == 1,
    "2_hops": lambda p: p.hops == 2,
    "3_hops_or_more": lambda p: p.hops >= 3,
    "1_answer": lambda p: len(p.gold) == 1,
    "2_to_4_answers": lambda p: 2 <= len(p.gold) <= 4,
    "5_to_9_answers": lambda p: 5 <= len(p.gold) <= 9,
    "10_answers_or_more": lambda p: len(p.gold) >= 10,
}
GROUP_FIGURES = ("f1", "hit", "hits@1")


FIGURES = _figures()


def summarise(predictions: Sequence[Prediction], compared: bool) -> dict[str, float]:
    """All figures of a run, flat.

    ``hits@1, hit, accuracy, precision, recall, f1`` are of the final answers, of the questions that have one; a refusal
    is wrong there. With ``_substring`` they match as the papers' scripts do. ``path_hits@1`` and ``path_hit@k`` (also
    called ``hit@k``) are of the ends of the ranked paths. ``faithful_ratio`` is of all paths,
    ``faithful_ratio_correct`` of those that end in a right answer (GCR section 5.3, figure 5). Of the questions without
    an answer, *recognised* is the share that was refused; *refused* is that of all, *refused_answerable* that of those
    with an answer.

    Args:
        predictions: one a question.
        compared: the same search was also run without the constraint.
    """
    count = max(len(predictions), 1)
    answerable = [p for p in predictions if p.gold]
    lacking = len(predictions) - len(answerable)
    metrics = {
        "questions": len(predictions),
        **{
            name: ratio([figure(p) for p in predictions])
            for name, figure in FIGURES.items()
            if compared or not name.startswith("unconstrained_")
        },
        **_step_figures([p.steps for p in predictions]),
        "right_path_questions": sum(p.right_path_f1 is not None for p in predictions),
        "coverage_questions": sum(p.coverage is not None for p in predictions),
        "paths": sum(len(p.paths) for p in predictions),
        "correct_paths": sum(p.right_paths for p in predictions),
        "refused": sum(p.refused for p in predictions) / count,
        "refused_answerable": sum(p.refused for p in answerable) / max(len(answerable), 1),
        "unanswerable": lacking,
        "recognised": sum(p.refused for p in predictions if not p.gold) / lacking if lacking else 0.0,
        "failed": sum(bool(p.error) for p in predictions),
        "seconds_per_question": sum(p.seconds for p in predictions) / count,
        "processor_seconds_per_question": sum(p.processor_seconds for p in predictions) / count,
        "lm_calls": sum(p.lm_calls for p in predictions) / count,
        "tokens_in": sum(p.tokens_in for p in predictions) / count,
        "tokens_out": sum(p.tokens_out for p in predictions) / count,
    }
    metrics["hit@k"] = metrics["path_hit@k"]
    if compared:
        metrics["unconstrained_paths"] = sum(p.free_paths for p in predictions)
        metrics["unconstrained_correct_paths"] = sum(p.free_right_paths for p in predictions)
        figures = _step_figures([p.free_steps for p in predictions])
        metrics |= {f"unconstrained_{name}": value for name, value in figures.items()}
    return metrics


def ratio(parts: Sequence[Parts]) -> float:
    """A figure over several questions."""
    return _share(sum(part for part, _ in parts), sum(whole for _, whole in parts))


def _step_figures(counts: Sequence[StepCounts]) -> dict[str, float]:
    return {
        "validity_ratio": _share(sum(c.valid for c in counts), sum(c.steps for c in counts)),
        "ill_formed_triples": _share(sum(c.ill for c in counts), sum(c.triples for c in counts)),
        "triples": sum(c.triples for c in counts),
    }


def _share(part: float, whole: float) -> float:
    """A ratio; 0 of nothing, which the counts beside it tell apart from 0 of something."""
    return part / whole if whole else 0.0


def ill_formed(triples: Sequence[Triple], topics: Iterable[str], verifier: Verifier) -> list[Triple]:
    """The triples that keep a chain from being well-formed (DoG section 2.2; *% ill triplet* of table 3).

    A triple is ill when it is not in the graph, or when neither of its ends is a query entity or an end of
    an earlier well-formed triple.

    Args:
        triples: a chain, in the order it was written; an inverse step may bear its own label.
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


def triplet_f1(told: Collection[Hashable], truth: Collection[Hashable]) -> float:
    """*Triplet-F1* (DoG section 5.1, table 3): the triples reasoned with against those of the true paths."""
    wanted, given = set(truth), set(told)
    return _share(2 * len(wanted & given), len(wanted) + len(given))


def coverage_ratio(retrieved: Iterable[Hashable], truth: Iterable[Hashable]) -> float:
    """How many of the true steps were among the candidates (FiDeLiS section 4.3, *CR*); 1 where there are none."""
    wanted = set(truth)
    return len(wanted & set(retrieved)) / len(wanted) if wanted else 1.0


def valid_steps(verdicts: Iterable[Verdict]) -> tuple[int, int]:
    """How many of the steps of paths are in the graph, and how many steps there are."""
    hops = [hop for verdict in verdicts for hop in verdict.hops]
    return sum(hop.verdict.holds for hop in hops), len(hops)


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
    starts, ends = (set(kg.entities.ids_of(labels)) for labels in (topics, gold))
    return frozenset(
        (frozenset((kg.entities[source], kg.entities[target])), kg.relations[kg.relation_of(step)])
        for source, step, target in kg.shortest_edges(starts, ends, hops, directed)
    )


class Steps:
    """Walked hops as edges of one graph, whichever way they are walked and whichever step label they bear.

    Args:
        kg: for its step labels.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        relations = list(kg.relations)
        self._relation = dict(zip(reversed(kg.step_labels), reversed([*relations, *relations]), strict=True))

    def of(self, hops: Iterable[tuple[str, str, str]]) -> frozenset[Step]:
        """The edges walked; a relation that the graph does not have stays as it is written."""
        return frozenset((frozenset((head, tail)), self._relation.get(r, r)) for head, r, tail in hops)


# How certain a figure is ---------------------------------------------------------------------------

RESAMPLES, FLIPS = 2_000, 10_000
_LEVEL = 0.95  # share of the resamples that lie within an interval
_KEPT = 500  # questions of a set whose resamples are kept, in 8 MB
_EXACT = 12  # questions that differ, up to which all ways to flip them are gone through


def interval(parts: Sequence[Parts]) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of a ratio of sums; the same parts give the same interval.

    Args:
        parts: numerator and denominator of each question.

    Returns:
        low and high; both 0 where there is nothing to measure.
    """
    rows = np.array([part for part in parts if part[1]], dtype=np.float64).reshape(-1, 2)
    if not len(rows):
        return 0.0, 0.0
    found = []
    for resamples in _small_resamples(len(rows)) if len(rows) <= _KEPT else _resamples(len(rows)):
        drawn = resamples @ rows
        found.append(drawn[:, 0] / drawn[:, 1])
    low, high = np.quantile(np.concatenate(found), [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return float(low), float(high)


def _resamples(count: int) -> Iterator[NDArray[np.int64]]:
    """How often each question is drawn, a hundred times at a time: resamples of a large set would fill the memory."""
    rng = np.random.default_rng(0)
    for _ in range(0, RESAMPLES, 100):
        yield rng.multinomial(count, np.full(count, 1 / count), size=100)


@lru_cache(maxsize=8)
def _small_resamples(count: int) -> tuple[NDArray[np.int64], ...]:
    """All resamples of a small set: drawing takes nearly all the time of an interval, and a run has dozens of them."""
    return tuple(_resamples(count))


def with_intervals(metrics: Mapping[str, float], predictions: Sequence[Prediction]) -> dict[str, float]:
    """The metrics, for each ratio of sums over questions ``NAME_low`` and ``NAME_high``, and those of groups."""
    found = dict(metrics)
    for name, figure in FIGURES.items():
        if name in metrics:
            found[f"{name}_low"], found[f"{name}_high"] = interval([figure(p) for p in predictions])
    return found | by_groups(predictions)


def by_groups(predictions: Sequence[Prediction]) -> dict[str, float]:
    """``questions_GROUP`` and, with intervals, ``f1_GROUP`` and the like, of each group that has questions."""
    found: dict[str, float] = {}
    for group, fits in GROUPS.items():
        own = [p for p in predictions if p.gold and fits(p)]
        if not own:
            continue
        found[f"questions_{group}"] = len(own)
        for name in GROUP_FIGURES:
            parts = [FIGURES[name](p) for p in own]
            found[f"{name}_{group}"] = ratio(parts)
            found[f"{name}_{group}_low"], found[f"{name}_{group}_high"] = interval(parts)
    return found


def paired_test(differences: Sequence[float]) -> float:
    """How often chance alone makes a difference as large as this one: the two-sided p of a randomisation test.

    Args:
        differences: of each question, second run less first; of up to 12 questions that differ, all flips are gone
            through.
    """
    given: NDArray[np.float64] = np.array([d for d in differences if d], dtype=np.float64)
    if not len(given):
        return 1.0
    seen = abs(given.sum()) - 1e-9
    if len(given) <= _EXACT:
        signs = 1 - 2 * ((np.arange(2 ** len(given))[:, None] >> np.arange(len(given))) & 1)
        return float((abs(signs @ given) >= seen).mean())
    rng = np.random.default_rng(0)
    as_large = sum(
        int((abs(rng.choice((-1, 1), (100, len(given))) @ given) >= seen).sum()) for _ in range(FLIPS // 100)
    )
    return (as_large + 1) / (FLIPS + 1)
