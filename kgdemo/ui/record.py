"""Records what the page replays: ``python -m kgdemo.ui.record [NAME "QUESTION"]…`` writes ``assets/traces/NAME.jsonl``.

Without names: the examples, and the gallery of failures in ``assets/failures``.

A recorded run is what the page would have been sent, one record a line, so that it plays without a model.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from kgdemo.pipeline import Pipeline
from kgdemo.settings import Settings
from kgdemo.ui.asking import default_model
from kgdemo.ui.assets import FAILED, TRACES
from kgdemo.ui.feed import records
from kgdemo.ui.record_failures import FAILURES, record_failure
from kgdemo.view.wire import Record

QUESTIONS = {
    "1-flute": "Where was the composer of The Magic Flute born?",
    "2-austria": "Which countries border Austria?",
    "3-lennon": "Where was the wife of John Lennon born?",
    "4-iphone": "Who founded the company that makes the iPhone?",
    "5-vienna": "What language is spoken in the country whose capital is Vienna?",
}

logger = logging.getLogger(__name__)


def record_run(pipeline: Pipeline, settings: Settings, question: str, file: Path) -> int:
    """Write one run; the number of characters."""
    events = pipeline.run(question, settings)
    return write([r for r, _ in records(events, lambda: pipeline.graph(settings.graph))], file)


def write(run: Sequence[Record], file: Path) -> int:
    """Write the records of a run, one a line; the number of characters."""
    file.parent.mkdir(parents=True, exist_ok=True)
    return file.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in run), "utf-8")


def main(arguments: list[str]) -> None:
    """Record the five examples and the failures, or the runs given as pairs of name and question."""
    questions = dict(zip(arguments[::2], arguments[1::2], strict=True)) or QUESTIONS
    pipeline, settings = Pipeline(), Settings(model=default_model())
    pipeline.linker(settings.graph)
    pipeline.world(settings).embedder.encode(
        ["loaded with its first text"]
    )  # so that no recorded time holds the loading
    for name, question in questions.items():
        size = record_run(pipeline, settings, question, TRACES / f"{name}.jsonl")
        logger.info("%s: %s characters", name, size)
    for failure in () if arguments else FAILURES:
        size = write(record_failure(pipeline, failure, settings), FAILED / f"{failure.name}.jsonl")
        logger.info("%s: %s characters", failure.name, size)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(sys.argv[1:])
