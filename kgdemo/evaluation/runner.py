"""Ask every question of a set and write down what came of it; a broken run goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from kgdemo.errors import UserError
from kgdemo.evaluation.metrics import Prediction, summarise
from kgdemo.events import AnswerFinal, EntitiesLinked, PathFound, PathVerified, RunFailed, RunFinished
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.pipeline import Pipeline
from kgdemo.questions import Question, read_questions
from kgdemo.settings import Settings


def evaluate(
    pipeline: Pipeline, questions: Path, settings: Settings, out: Path, limit: int | None = None, link: bool = False
) -> dict[str, float]:
    """Run a question set.

    Args:
        pipeline: answers the questions.
        questions: JSONL in the schema of RoG.
        settings: method, graph, K, L and so on; ``compare`` also measures the unconstrained search.
        out: folder for ``predictions.jsonl`` and ``metrics.json``.
        limit: only the first so many questions.
        link: find the topic entities in the text even where the set gives them.

    Returns:
        the metrics, as written.

    Raises:
        UserError: ``out`` holds predictions made with other settings.
    """
    out.mkdir(parents=True, exist_ok=True)
    wanted = read_questions(questions)[:limit]
    file = out / "predictions.jsonl"
    _same_settings(out, {**_plain(settings), "questions": str(questions), "link": link}, file.exists())
    done = {p.id: p for p in _read(file)}
    with file.open("a", encoding="utf-8") as stream:
        for question in tqdm([q for q in wanted if q.id not in done], unit="question"):
            prediction = ask(pipeline, question, settings, link)
            done[question.id] = prediction
            stream.write(json.dumps(prediction.record(), ensure_ascii=False) + "\n")
            stream.flush()
    metrics = summarise([done[q.id] for q in wanted], settings.compare)
    (out / "metrics.json").write_text(json.dumps(metrics, indent=2) + "\n", "utf-8")
    return metrics


def ask(pipeline: Pipeline, question: Question, settings: Settings, link: bool) -> Prediction:
    """One question; a failure is recorded, not raised, so that one bad line does not stop a run."""
    if question.graph:
        source = f"question:{question.id}"
        pipeline.add_graph(source, KnowledgeGraph.from_triples(question.graph, source))
        settings = replace(settings, graph=source)
    topics = () if link else tuple(e for e in question.topic_entities if e in pipeline.graph(settings.graph).entities)
    if not link and not topics:
        topics = question.topic_entities[:1]  # unknown to the graph: let the run say so
    bound: dict[int, tuple[str, str]] = {}
    written: dict[int, tuple[str, str]] = {}
    faithful = free = free_faithful = 0
    answer, finished, error = AnswerFinal("", (), (), ""), RunFinished(0.0, 0, 0, 0), ""
    for event in pipeline.run(question.text, settings, topics):
        if isinstance(event, EntitiesLinked):
            topics = event.chosen
        elif isinstance(event, PathFound):
            (bound if event.constrained else written)[event.index] = (event.text, event.path.end if event.path else "")
        elif isinstance(event, PathVerified):
            if event.constrained:
                faithful += event.verdict.faithful
            else:
                free, free_faithful = free + 1, free_faithful + event.verdict.faithful
        elif isinstance(event, AnswerFinal):
            answer = event
        elif isinstance(event, RunFinished):
            finished = event
        elif isinstance(event, RunFailed):
            error = event.message
    if written and not bound:  # a method that does not look at the graph is judged by the paths it wrote
        bound, faithful = written, free_faithful
    if question.graph:
        pipeline.forget_graph(settings.graph)
    return Prediction(
        question.id,
        question.text,
        tuple(topics),
        tuple(sorted(question.gold)),
        answer.answers,
        tuple(text for text, _ in bound.values()),
        tuple(end for _, end in bound.values()),
        faithful,
        free,
        free_faithful,
        bool(answer.refusal),
        finished.seconds,
        finished.lm_calls,
        finished.tokens_in,
        finished.tokens_out,
        error,
    )


def table(rows: Sequence[tuple[str, dict[str, float]]], columns: Sequence[str]) -> str:
    """Metrics of several runs as a Markdown table."""
    show: Callable[[float], str] = lambda v: f"{v:.3f}" if isinstance(v, float) else str(v)  # noqa: E731 - one use
    lines = ["| method | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(show(m.get(c, 0.0)) for c in columns) + " |" for name, m in rows]
    return "\n".join(lines)


def _read(file: Path) -> list[Prediction]:
    if not file.exists():
        return []
    lines = file.read_text("utf-8").split("\n")
    return [Prediction.from_record(json.loads(line)) for line in lines if line.endswith("}")]


def _plain(settings: Settings) -> dict[str, object]:
    return {name: getattr(settings, name) for name in type(settings).__dataclass_fields__}


def _same_settings(out: Path, settings: dict[str, object], resumed: bool) -> None:
    file = out / "settings.json"
    text = json.dumps(settings, indent=2, sort_keys=True) + "\n"
    if resumed and file.exists() and file.read_text("utf-8") != text:
        raise UserError(f"{out} holds predictions made with other settings; give another --out or remove it.")
    file.write_text(text, "utf-8")
