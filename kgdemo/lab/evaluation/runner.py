"""Ask every question of a set and record the predictions; an interrupted run goes on where it stopped.

Beside whole runs it measures the linker alone: the right entity first, and how long it takes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import asdict, replace
from functools import lru_cache, partial
from pathlib import Path
from statistics import median
from typing import TextIO

from tqdm import tqdm

from kgdemo.errors import UserError
from kgdemo.events import to_json
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import build_graph
from kgdemo.lab.evaluation.judge import Judge
from kgdemo.lab.evaluation.metrics import (
    Prediction,
    Steps,
    exact_match,
    f1,
    substring_match,
    summarise,
    true_steps,
    with_intervals,
)
from kgdemo.lab.evaluation.predictions import PREDICTIONS, Records, RunFigures, trace_file
from kgdemo.lab.evaluation.workers import Workers, lost
from kgdemo.lab.questions import Question, read_questions, with_graph_labels
from kgdemo.lab.training.examples import HELD_OUT, SEEN, UNCLEAR, known_paths, relation_group
from kgdemo.linking.linker import Linker
from kgdemo.methods import method_named
from kgdemo.models.embedding import Embedder
from kgdemo.pipeline import Pipeline
from kgdemo.settings import Settings
from kgdemo.ui.metrics import give_back_memory

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def evaluate(
    pipeline: Pipeline,
    questions: Path,
    settings: Settings,
    out: Path,
    limit: int | None = None,
    link: bool = False,
    judge: Judge | None = None,
    held_out: Collection[str] = (),
    batched: int = 1,
    workers: Workers | None = None,
    watch: Callable[[Sequence[Prediction], int], None] = lambda predictions, number: None,
    traces: bool = False,
) -> dict[str, float]:
    """Run a question set with one method.

    Args:
        pipeline: answers the questions.
        questions: JSONL in the schema of RoG.
        settings: method, graph, K, L and so on; ``compare`` also measures the unconstrained search.
        out: folder for ``predictions.jsonl`` and ``metrics.json``.
        limit: only the first so many questions.
        link: find the topic entities in the text even where the set gives them.
        judge: rates the paths, scores the answers, or both.
        held_out: relations that the model was not trained on; questions about them are also measured apart.
        batched: how many questions are under way at the same time; their forward passes are joined
            (``token_tree.BatchedForward``). The predictions do not change; seconds include waiting for the others.
        workers: answer side by side in place of ``pipeline``; the predictions and their order do not change.
        watch: called with the predictions so far and how many there will be, at the start and after each question.
        traces: keep each run as the page opens it, in ``traces``; some 80 kB a question.

    Returns:
        the metrics, as written.

    Raises:
        UserError: ``out`` holds predictions made with other settings, there is no such method or option, or
            ``batched`` and ``workers`` do not go together.
        EndpointError: the judge could not be asked; what it has judged is kept.
    """
    card = method_named(settings.method)
    card.check(settings.options)
    if batched < 1:
        raise UserError(f"--batched is {batched}; give 1 or more questions.")
    if workers and batched > 1:
        raise UserError(f"--batched is {batched} and there are workers; give only one of --workers and --batched.")
    out.mkdir(parents=True, exist_ok=True)
    wanted = _wanted(pipeline, questions, settings, limit)
    _same_settings(out, _run_settings(settings, questions, link), (out / PREDICTIONS).exists())
    records = Records(out)
    left: list[_Item] = [(q, {out: settings}) for q in wanted if q.id not in records.done]
    watch(list(records.done.values()), len(wanted))
    answer = partial(_ask_item, link, traces)
    with closing(_answered(pipeline, left, answer, batched, workers, lambda item: {out: lost(item[0])})) as answered:
        for predictions in tqdm(answered, unit="question", desc=card.name, total=len(left)):
            records.write(predictions[out])
            watch(list(records.done.values()), len(wanted))
    records.arrange(q.id for q in wanted)
    rows = [records.done[q.id] for q in wanted]
    metrics = with_intervals(summarise(rows, settings.compare), rows)
    if held_out:
        metrics |= summarise_groups(pipeline.graph(settings.graph), wanted, rows, held_out)
    if judge is not None:
        metrics |= judge.metrics(rows, out)
    (out / "metrics.json").write_text(json.dumps(metrics, indent=2) + "\n", "utf-8")
    return metrics


def summarise_groups(
    kg: KnowledgeGraph, questions: Sequence[Question], predictions: Sequence[Prediction], held_out: Collection[str]
) -> dict[str, float]:
    """``seen_questions``, ``seen_hits@1`` and of paths, the same for ``held_out``, and ``unclear_questions``."""
    sorted_in: dict[str, list[Prediction]] = {SEEN: [], HELD_OUT: [], UNCLEAR: []}
    for question, prediction in zip(questions, predictions, strict=True):
        sorted_in[relation_group(kg, question, held_out)].append(prediction)
    metrics: dict[str, float] = {f"{UNCLEAR}_questions": len(sorted_in[UNCLEAR])}
    for name in (SEEN, HELD_OUT):
        own = summarise(sorted_in[name], compared=False)
        metrics |= {f"{name}_{figure}": own[figure] for figure in ("questions", "hits@1", "path_hits@1", "path_hit@k")}
    return metrics


def _wanted(pipeline: Pipeline, questions: Path, settings: Settings, limit: int | None) -> list[Question]:
    """The questions of a set, with entities called as the graph calls them."""
    wanted = read_questions(questions)[:limit]
    if any(not question.graph for question in wanted):
        wanted = with_graph_labels(pipeline.graph(settings.graph), wanted)
    return wanted


def answer_by_question(
    pipeline: Pipeline,
    questions: Path,
    runs: Mapping[Path, Settings],
    limit: int | None = None,
    workers: Workers | None = None,
) -> None:
    """Answer for many runs of the same questions, each question under all settings before the next one.

    What the runs share is computed once: a question alone has more than a thousand texts to embed, too many to keep
    until the next run asks it. ``evaluate`` then finds everything answered, and measures. Nothing is written for a
    question that kills its worker again and again: ``evaluate`` finds out which run does that.

    Args:
        pipeline, questions, limit, workers: see ``evaluate``.
        runs: settings by the folder that is given to ``evaluate``; all are of the same graph.

    Raises:
        UserError: a folder holds predictions made with other settings.
    """
    if not runs:
        return
    wanted = _wanted(pipeline, questions, next(iter(runs.values())), limit)
    records = {}
    for folder, settings in runs.items():
        folder.mkdir(parents=True, exist_ok=True)
        _same_settings(folder, _run_settings(settings, questions), (folder / PREDICTIONS).exists())
        records[folder] = Records(folder)
    items: list[_Item] = [
        (question, {folder: own for folder, own in runs.items() if question.id not in records[folder].done})
        for question in wanted
    ]
    left = [item for item in items if item[1]]
    answer = partial(_ask_item, False, False)
    with closing(_answered(pipeline, left, answer, 1, workers, lambda _: {})) as answered:
        for predictions in tqdm(answered, unit="question", desc="all runs", total=len(left)):
            for folder, prediction in predictions.items():
                records[folder].write(prediction)


_Item = tuple[Question, dict[Path, Settings]]  # a question, and its settings in each run, by the run's folder
_Answer = Callable[[Pipeline, _Item], dict[Path, Prediction]]


def _answered(
    pipeline: Pipeline,
    items: Sequence[_Item],
    answer: _Answer,
    batched: int,
    workers: Workers | None,
    lost: Callable[[_Item], dict[Path, Prediction]],
) -> Generator[dict[Path, Prediction], None, None]:
    """Predictions as they come, in order; where the reader breaks off, questions not begun are dropped."""
    if workers:
        yield from workers.answered(partial(_answer_in_worker, answer), items, lost)
        return
    for needed in {one for item in items for one in _to_load(item)}:
        _warm_up(pipeline, *needed)
    with ThreadPoolExecutor(batched) as threads:
        try:
            yield from threads.map(partial(answer, pipeline), items)
        finally:
            threads.shutdown(wait=False, cancel_futures=True)


def _ask_item(link: bool, traces: bool, pipeline: Pipeline, item: _Item) -> dict[Path, Prediction]:
    question, runs = item
    return {
        folder: ask(pipeline, question, settings, link, folder if traces else None) for folder, settings in runs.items()
    }


def _answer_in_worker(answer: _Answer, pipeline: Pipeline, item: _Item) -> dict[Path, Prediction]:
    for needed in _to_load(item):
        _warm_up_once(pipeline, *needed)
    return answer(pipeline, item)


def _to_load(item: _Item) -> set[tuple[Settings, bool]]:
    """The parts of the settings that something is loaded for, and whether the question brings its graph."""
    question, runs = item
    return {
        (Settings(graph=own.graph, model=own.model, directed=own.directed, prompts=own.prompts), bool(question.graph))
        for own in runs.values()
    }


def _warm_up(pipeline: Pipeline, settings: Settings, own_graph: bool) -> None:
    """Load everything first, so that the first question's seconds hold no loading; a bad name is refused here."""
    if own_graph:  # that of the question is not there before it is asked
        pipeline.model(settings.model)
    else:
        pipeline.resources(settings).embedder.encode(["loaded with its first text"])


_warm_up_once = lru_cache(maxsize=8)(_warm_up)  # in a worker, which gets its settings with each question


def ask(
    pipeline: Pipeline, question: Question, settings: Settings, link: bool, traced: Path | None = None
) -> Prediction:
    """One question; a failure is recorded, not raised, so that one bad line does not stop a run.

    Args:
        pipeline, settings, link: see ``evaluate``.
        question: what is asked.
        traced: the folder of the evaluation, where the events of the run are to be kept in it.

    Returns:
        what came of it.
    """
    if question.graph:
        source = f"question:{question.id}"
        pipeline.add_graph(source, build_graph(question.graph, source), StatedFacts(question.graph))
        settings = replace(settings, graph=source)
    kg = pipeline.graph(settings.graph)
    topics = () if link else tuple(e for e in question.topic_entities if e in kg.entities)
    if not link and not topics:
        topics = question.topic_entities[:1]  # unknown to the graph: let the run say so
    busy = time.process_time()
    figures = RunFigures(pipeline.verifier(settings.graph), Steps(kg), tuple(topics), _step_limit(settings))
    with _new(trace_file(traced, question.id)) if traced else nullcontext() as trace:
        for event in pipeline.run(prompt_of(question), settings, topics):
            figures.see(event)
            if trace:
                trace.write(to_json(event) + "\n")
    busy = time.process_time() - busy
    asked = (kg, question.topic_entities, question.gold)
    truth = true_steps(*asked, settings.hops, settings.directed)
    hops = next((n for n in range(1, settings.hops + 1) if true_steps(*asked, n, settings.directed)), 0) if truth else 0
    if question.graph:
        pipeline.forget_graph(settings.graph)
    give_back_memory()
    prediction = figures.prediction(question, truth, len(question.relation_path) or hops)
    prediction = replace(prediction, right_path_f1=right_path_f1(kg, question), processor_seconds=busy)
    if not question.choices:
        return prediction
    chosen = choice_of(question.choices, prediction, pipeline.resources(settings).embedder)
    return replace(prediction, answers=chosen, with_graph=chosen, refused=not chosen)


def _new(file: Path) -> TextIO:
    file.parent.mkdir(exist_ok=True)
    return file.open("w", encoding="utf-8")


def right_path_f1(kg: KnowledgeGraph, question: Question) -> float | None:
    """F1 of all that the relation path of the question set leads to: what a method that finds that path could reach.

    Of several topics it is what all of them lead to. None where the set gives no path, or one that the graph lacks.
    """
    ends = [
        {kg.entities[end] for end in kg.reach(path.topic, kg.said(path.steps))[-1].tolist()}
        for path in known_paths(kg, question)
    ]
    return f1(tuple(set.intersection(*ends)), question.gold) if ends else None


def _step_limit(settings: Settings) -> int:
    """The steps that a method may take one after another; 0 where it has no such option."""
    options = {option.name: option.default for option in method_named(settings.method).options}
    return int({**options, **dict(settings.options)}.get("steps", "0"))


def prompt_of(question: Question) -> str:
    """The question with its choices, as every prompt gets it (GCR section 5.4, FiDeLiS appendix A.5)."""
    listed = "; ".join(f"({letter}) {choice}" for letter, choice in zip(_LETTERS, question.choices, strict=False))
    return f"{question.text} Choices: {listed}." if listed else question.text


def choice_of(choices: Sequence[str], prediction: Prediction, embedder: Embedder) -> tuple[str, ...]:
    """The choice that a method's answers mean, so that every method can be asked among choices.

    The first answer that names a choice or its letter, else the first whose text holds one, else the choice most
    similar to the answers, or to the best paths where there are none. Nothing where there is nothing to go by.
    """
    for answer in prediction.answers:
        letter = answer.strip("() .").upper()
        if len(letter) == 1 and letter in _LETTERS[: len(choices)]:
            return (choices[_LETTERS.index(letter)],)
        if named := [choice for choice in choices if exact_match(answer, choice)]:
            return (named[0],)
    for answer in prediction.answers:
        if held := [choice for choice in choices if substring_match(answer, choice)]:
            return (max(held, key=len),)
    given = prediction.answers or prediction.paths[:3]
    if not given:
        return ()
    vectors = embedder.encode([". ".join(given), *choices])
    similar = vectors[1:] @ vectors[0]
    return (choices[int(similar.argmax())],)


def _run_settings(settings: Settings, questions: Path, link: bool = False) -> dict[str, object]:
    """What has to be the same when a run goes on."""
    return {**asdict(settings), "options": dict(settings.options), "questions": str(questions), "link": link}


def _same_settings(out: Path, settings: dict[str, object], resumed: bool) -> None:
    file = out / "settings.json"
    text = json.dumps(settings, indent=2, sort_keys=True) + "\n"
    if resumed and file.exists() and file.read_text("utf-8") != text:
        raise UserError(f"{out} holds predictions made with other settings; give another --out or remove it.")
    file.write_text(text, "utf-8")


def evaluate_linking(linker: Linker, questions: Path, out: Path, limit: int | None = None) -> dict[str, float]:
    """Link every question of a set that names its topic entities.

    Args:
        linker: of the graph the questions are about.
        questions: JSONL in the schema of RoG.
        out: folder for ``metrics.json`` and ``links.jsonl``, one question a line.
        limit: only the first so many questions.

    Returns:
        ``link_accuracy``: the share of questions whose topic entities are all first candidates of mentions;
        ``link_chosen``: the share of those whose topic entities are all taken by the linker itself;
        ``link_ms_median``, ``link_ms_worst``: milliseconds a question, once the linker is warm;
        ``link_cpu_ms_median``, ``link_cpu_ms_worst``: processor time, which other work on the machine delays less.
    """
    out.mkdir(parents=True, exist_ok=True)
    wanted = [question for question in read_questions(questions)[:limit] if question.topic_entities]
    linker.warm_up()  # what is loaded and embedded once is no question's own time
    for question in wanted[:5]:
        linker.link(question.text)
    right, taken, took, worked, lines = 0, 0, [], [], []
    for question in tqdm(wanted, unit="question"):
        began, busy = time.perf_counter(), time.process_time()
        found = linker.link(question.text)
        took.append(1000 * (time.perf_counter() - began))
        worked.append(1000 * (time.process_time() - busy))
        first = {mention.candidates[0].entity for mention in found.mentions if mention.candidates}
        ok = first.issuperset(question.topic_entities)
        right, taken = right + ok, taken + set(found.chosen).issuperset(question.topic_entities)
        record = {"id": question.id, "right": ok, "ms": round(took[-1], 2), "wanted": question.topic_entities}
        mentions = {m.text: [candidate.entity for candidate in m.candidates] for m in found.mentions}
        lines.append(json.dumps({**record, "question": question.text, "mentions": mentions}, ensure_ascii=False))
    (out / "links.jsonl").write_text("".join(line + "\n" for line in lines), "utf-8")
    metrics = {
        "questions": len(wanted),
        "link_accuracy": right / max(len(wanted), 1),
        "link_chosen": taken / max(len(wanted), 1),
        "link_ms_median": median(took) if took else 0.0,
        "link_ms_worst": max(took, default=0.0),
        "link_cpu_ms_median": median(worked) if worked else 0.0,
        "link_cpu_ms_worst": max(worked, default=0.0),
    }
    (out / "metrics.json").write_text(json.dumps(metrics, indent=2) + "\n", "utf-8")
    return metrics
