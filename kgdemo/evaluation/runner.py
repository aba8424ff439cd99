"""Ask every question of a set and write down what came of it; a broken run goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

from tqdm import tqdm

from kgdemo.errors import UserError
from kgdemo.evaluation.judge import Judge, judge_all
from kgdemo.evaluation.metrics import Prediction, summarise
from kgdemo.evaluation.reading import Reading
from kgdemo.evaluation.truth import Steps, true_steps
from kgdemo.evaluation.unseen import summarise_groups
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.pipeline import Pipeline
from kgdemo.questions import Question, read_questions
from kgdemo.reasoning import method_named
from kgdemo.settings import Settings


def evaluate(
    pipeline: Pipeline,
    questions: Path,
    settings: Settings,
    out: Path,
    limit: int | None = None,
    link: bool = False,
    judge: Judge | None = None,
    held_out: Collection[str] = (),
    together: int = 1,
) -> dict[str, float]:
    """Run a question set with one method.

    Args:
        pipeline: answers the questions.
        questions: JSONL in the schema of RoG.
        settings: method, graph, K, L and so on; ``compare`` also measures the unconstrained search.
        out: folder for ``predictions.jsonl`` and ``metrics.json``.
        limit: only the first so many questions.
        link: find the topic entities in the text even where the set gives them.
        judge: rates how coherent the paths are (GCR appendix F.4).
        held_out: relations that the model was not trained on; questions about them are also measured apart.
        together: how many questions are under way at the same time; their forward passes are shared
            (``models.together``). Predictions are those of one by one, their seconds hold the waiting for others.

    Returns:
        the metrics, as written.

    Raises:
        UserError: ``out`` holds predictions made with other settings, there is no such method or option, or
            ``together`` is no number of questions.
        EndpointError: the judge could not be asked; what it has judged is kept.
    """
    card = method_named(settings.method)
    card.check(settings.options, public=False)
    if together < 1:
        raise UserError(f"--together is {together}; give 1 or more questions.")
    out.mkdir(parents=True, exist_ok=True)
    wanted = read_questions(questions)[:limit]
    file = out / "predictions.jsonl"
    _same_settings(out, {**_plain(settings), "questions": str(questions), "link": link}, file.exists())
    done = {p.id: p for p in _read(file)}
    left = [q for q in wanted if q.id not in done]
    _warm_up(pipeline, settings, left)
    with file.open("a", encoding="utf-8") as stream, ThreadPoolExecutor(together) as threads:
        answered = threads.map(lambda question: ask(pipeline, question, settings, link), left)
        for prediction in tqdm(_stopping(answered, threads), unit="question", desc=card.name, total=len(left)):
            done[prediction.id] = prediction
            stream.write(json.dumps(prediction.record(), ensure_ascii=False) + "\n")
            stream.flush()
    predictions = [done[q.id] for q in wanted]
    metrics = summarise(predictions, settings.compare)
    if held_out:
        metrics |= summarise_groups(pipeline.graph(settings.graph), wanted, predictions, held_out)
    if judge is not None:
        metrics |= judge_all(judge, predictions, out / "judgements.jsonl")
    (out / "metrics.json").write_text(json.dumps(metrics, indent=2) + "\n", "utf-8")
    return metrics


def _stopping(answered: Iterator[Prediction], threads: ThreadPoolExecutor) -> Iterator[Prediction]:
    """Predictions as they come, in order; where the reader breaks off, questions not begun are dropped."""
    try:
        yield from answered
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


def ask(pipeline: Pipeline, question: Question, settings: Settings, link: bool) -> Prediction:
    """One question; a failure is recorded, not raised, so that one bad line does not stop a run."""
    if question.graph:
        source = f"question:{question.id}"
        pipeline.add_graph(source, KnowledgeGraph.from_triples(question.graph, source))
        settings = replace(settings, graph=source)
    kg = pipeline.graph(settings.graph)
    topics = () if link else tuple(e for e in question.topic_entities if e in kg.entities)
    if not link and not topics:
        topics = question.topic_entities[:1]  # unknown to the graph: let the run say so
    reading = Reading(pipeline.verifier(settings.graph), Steps(kg), tuple(topics))
    for event in pipeline.run(question.text, settings, topics):
        reading.see(event)
    truth = true_steps(kg, question.topic_entities, question.gold, settings.hops, settings.directed)
    if question.graph:
        pipeline.forget_graph(settings.graph)
    return reading.prediction(question, truth)


def _warm_up(pipeline: Pipeline, settings: Settings, questions: Sequence[Question]) -> None:
    """Load everything first, so that the first question's seconds hold no loading; a bad name is refused here."""
    if any(not question.graph for question in questions):
        pipeline.world(settings).embedder.encode(["loaded with its first text"])
    elif questions:
        pipeline.model(settings.model)


def _read(file: Path) -> list[Prediction]:
    if not file.exists():
        return []
    lines = file.read_text("utf-8").split("\n")
    return [Prediction.from_record(json.loads(line)) for line in lines if line.endswith("}")]


def _plain(settings: Settings) -> dict[str, object]:
    return {**asdict(settings), "options": dict(settings.options)}


def _same_settings(out: Path, settings: dict[str, object], resumed: bool) -> None:
    file = out / "settings.json"
    text = json.dumps(settings, indent=2, sort_keys=True) + "\n"
    if resumed and file.exists() and file.read_text("utf-8") != text:
        raise UserError(f"{out} holds predictions made with other settings; give another --out or remove it.")
    file.write_text(text, "utf-8")
