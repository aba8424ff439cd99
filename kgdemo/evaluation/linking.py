"""How well the linker does alone: the right entity first, and how long it takes."""

from __future__ import annotations

import json
import time
from pathlib import Path
from statistics import median

from tqdm import tqdm

from kgdemo.linking.linker import EntityLinker
from kgdemo.questions import read_questions


def evaluate_linking(linker: EntityLinker, questions: Path, out: Path, limit: int | None = None) -> dict[str, float]:
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
