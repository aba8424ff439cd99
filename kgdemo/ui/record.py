"""Records the examples: ``python -m kgdemo.ui.record [NAME "QUESTION"]…`` writes ``assets/traces/NAME.jsonl``.

A recorded run is what the page would have been sent, one record a line, so that it plays without a model.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

from kgdemo.pipeline import Pipeline
from kgdemo.settings import Settings
from kgdemo.ui.asking import default_model
from kgdemo.ui.assets import TRACES
from kgdemo.ui.feed import records

QUESTIONS = {
    "1-flute": "Where was the composer of The Magic Flute born?",
    "2-austria": "Which countries border Austria?",
    "3-lennon": "Where was the wife of John Lennon born?",
    "4-iphone": "Who founded the company that makes the iPhone?",
    "5-vienna": "What language is spoken in the country whose capital is Vienna?",
}

logger = logging.getLogger(__name__)


def record_run(pipeline: Pipeline, settings: Settings, question: str, file: Path) -> int:
    """Write one run; the number of bytes."""
    events = pipeline.run(question, settings)
    lines = [json.dumps(r, ensure_ascii=False) for r, _ in records(events, lambda: pipeline.graph(settings.graph))]
    file.parent.mkdir(parents=True, exist_ok=True)
    return file.write_text("\n".join(lines) + "\n", "utf-8")


def main(arguments: list[str]) -> None:
    """Record the five examples, or those given as pairs of name and question."""
    questions = dict(zip(arguments[::2], arguments[1::2], strict=True)) or QUESTIONS
    pipeline, settings = Pipeline(), Settings(model=default_model())
    pipeline.linker(settings.graph)
    pipeline.world(settings).embedder.encode(
        ["loaded with its first text"]
    )  # so that no recorded time holds the loading
    for name, question in questions.items():
        size = record_run(pipeline, settings, question, TRACES / f"{name}.jsonl")
        logger.info("%s: %s characters", name, size)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(sys.argv[1:])
