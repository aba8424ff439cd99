"""Ask every question of a set and record the predictions; an interrupted run goes on where it stopped.

What a chat model has to judge is judged here too: how coherent paths are, from 1 to 5 (GCR appendix F.4), and whether
an answer is right. The share of the answers that it takes for correct is GPT4Score (GRBench, Grounding section 5).
Beside whole runs the linker alone is measured: the right entity first, and how long it takes.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from statistics import median
from typing import TextIO

from tqdm import tqdm

from kgdemo.errors import EndpointError, UserError
from kgdemo.events import to_json
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import build_graph
from kgdemo.lab.evaluation.metrics import (
    Prediction,
    Steps,
    exact_match,
    f1,
    interval,
    substring_match,
    summarise,
    true_steps,
    with_intervals,
)
from kgdemo.lab.evaluation.predictions import PREDICTIONS, Records, RunFigures, append, resumed_records, trace_file
from kgdemo.lab.evaluation.workers import Workers, lost
from kgdemo.lab.questions import Question, read_questions, with_graph_labels
from kgdemo.lab.training.examples import HELD_OUT, SEEN, UNCLEAR, known_paths, relation_group
from kgdemo.linking.linker import Linker
from kgdemo.methods import method_named
from kgdemo.models.chat import ChatModel, LocalChat
from kgdemo.models.embedding import Embedder
from kgdemo.models.endpoint import OpenAIChat
from kgdemo.pipeline import Pipeline
from kgdemo.reasoners.base import SHIPPED
from kgdemo.reasoners.chat import ask_and_parse
from kgdemo.reasoners.parsing import coherence, yes_or_no
from kgdemo.settings import ChatSettings, Settings
from kgdemo.ui.metrics import give_back_memory

logger = logging.getLogger(__name__)
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


# A chat model as the judge -------------------------------------------------------------------------

_MAX_FAILURES = 5  # questions that fail one after another until the model counts as unreachable


@dataclass(frozen=True, slots=True)
class Judge:
    """A chat model, and what it judges.

    Attributes:
        model: the judge.
        paths: how many paths of each question are rated for coherence, best first; 0 for none.
        answers: whether it says which answers are right.
    """

    model: ChatModel
    paths: int = 0
    answers: bool = False

    @classmethod
    def by(cls, chat: ChatSettings, paths: int | None = None, answers: bool = False) -> Judge | None:
        """The chat model of these settings as the judge; None where nothing is to be judged.

        Raises:
            UserError: no chat model is configured, or there is no path to judge.
            ModelError: a local model that cannot be loaded.
        """
        if paths is None and not answers:
            return None
        if not chat.model:
            raise UserError(
                "--judge needs a chat model; set OPENAI_BASE_URL and KGDEMO_CHAT_MODEL or KGDEMO_CHAT_LOCAL."
            )
        if paths is not None and paths < 1:
            raise UserError(f"--judge {paths} would judge nothing; give the number of paths of each question.")
        return cls(LocalChat.load(chat.model) if chat.local else OpenAIChat(chat), paths or 0, answers)

    def metrics(self, predictions: Sequence[Prediction], out: Path) -> dict[str, float]:
        """The judge's metrics; what it says goes to ``judgements.jsonl`` and ``gpt4score.jsonl``.

        Raises:
            EndpointError: the model cannot be asked; what was judged is kept.
        """
        metrics: dict[str, float] = {}
        if self.paths:
            metrics |= rate_paths(self.model, self.paths, predictions, out / "judgements.jsonl")
        if self.answers:
            metrics |= score_answers(self.model, predictions, out / "gpt4score.jsonl")
        return metrics


def rate_paths(model: ChatModel, paths: int, predictions: Sequence[Prediction], file: Path) -> dict[str, float]:
    """Have the coherence of paths rated, from 1 (illogical) to 5 (every step contributes).

    Args:
        model: the judge.
        paths: the first so many of each question.
        predictions: whose paths.
        file: the ratings so far; new ones are added one by one.

    Returns:
        ``coherence`` (mean rating), ``coherence_paths`` (how many were rated) and ``judge_calls``.

    Raises:
        EndpointError: the model failed, or gave no rating twice.
    """
    wanted = [(p, path) for p in predictions for path in dict.fromkeys(p.paths[:paths])]
    done = {(record["id"], record["path"]): record for record in resumed_records(file)}
    for prediction, path in tqdm([one for one in wanted if (one[0].id, one[1]) not in done], unit="path", desc="judge"):
        prompt = SHIPPED.coherence(prediction.question, path, "; ".join(prediction.answers))
        rating, call = ask_and_parse(model, "judge", prompt, lambda reply, _: coherence(reply))
        record = {"id": prediction.id, "path": path, "rating": rating}
        record |= {"reply": call.output.strip(), "calls": call.calls}
        done[prediction.id, path] = record
        append(file, record)
    rated = [done[p.id, path] for p, path in wanted]
    mean = sum(record["rating"] for record in rated) / len(rated) if rated else 0.0
    calls = sum(record["calls"] for record in rated)
    return {"coherence": mean, "coherence_paths": len(rated), "judge_calls": calls}


def score_answers(model: ChatModel, predictions: Sequence[Prediction], file: Path) -> dict[str, float]:
    """Have the judge say of each answer whether it is right; no answer is wrong without being asked about.

    Args:
        model: the judge.
        predictions: questions without a right answer are passed over.
        file: the verdicts so far; new ones are added one by one.

    Returns:
        ``gpt4score``, with its interval; ``gpt4score_questions``, how many were judged; ``gpt4score_failed``, how many
        the model gave no verdict on. These are not counted, and asked again when the evaluation goes on.

    Raises:
        EndpointError: several questions failed one after another; what was judged is kept.
    """
    wanted = [p for p in predictions if p.gold]
    done: dict[tuple[str, tuple[str, ...]], bool] = {(p.id, p.answers): False for p in wanted if not p.answers}
    done |= {(record["id"], tuple(record["answers"])): record["correct"] for record in resumed_records(file)}
    failures = 0
    for one in tqdm([p for p in wanted if (p.id, p.answers) not in done], unit="answer", desc="gpt4score"):
        prompt = SHIPPED.correctness(one.question, ", ".join(one.answers), ", ".join(one.gold))
        try:
            correct, call = ask_and_parse(model, "judge", prompt, lambda reply, _: yes_or_no(reply))
        except EndpointError as error:
            logger.warning("no verdict on question %s: %s", one.id, error)
            failures += 1
            if failures == _MAX_FAILURES:
                raise
            continue
        failures, done[one.id, one.answers] = 0, correct
        append(file, {"id": one.id, "answers": one.answers, "correct": correct, "reply": call.output.strip()})
    judged = [float(done[p.id, p.answers]) for p in wanted if (p.id, p.answers) in done]
    low, high = interval([(correct, 1) for correct in judged])
    score = sum(judged) / len(judged) if judged else 0.0
    counts = {"gpt4score_questions": len(judged), "gpt4score_failed": len(wanted) - len(judged)}
    return {"gpt4score": score, "gpt4score_low": low, "gpt4score_high": high, **counts}


# The linker alone ----------------------------------------------------------------------------------


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
