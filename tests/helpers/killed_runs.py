"""Evaluations killed again and again: ``python -m tests.helpers.killed_runs QUESTIONS SEED OUT WORKERS KILLS ...``.

Each start is a process forked from this one, so that libraries and models are loaded once for all evaluations. It is
killed by SIGKILL when it has written so many bytes of its files, drawn from SEED, in the middle of a line as a rule;
the last start runs to its end. The number of starts that were killed is written out, a line for each evaluation.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from random import Random

import torch

from kgdemo.lab.evaluation import predictions, runner
from kgdemo.lab.evaluation.workers import Processes
from kgdemo.settings import Settings
from tests.helpers.small import SmallPipeline

ASKED = Settings(beams=2, hops=1, compare=False, explain=0)


def main(questions: str, seed: str, *runs: str) -> None:
    """See above."""
    torch.set_num_threads(1)  # no threads of its own, which a fork would lose
    pipeline = SmallPipeline()
    pipeline.resources(ASKED).embedder.encode(["loaded with its first text"])
    for out, number, kills in zip(runs[::3], runs[1::3], runs[2::3], strict=True):
        rng, killed = Random(seed), 0
        budgets = [rng.randrange(1_300) for _ in range(int(kills))]
        for budget in [*budgets, None]:
            if (child := os.fork()) == 0:
                _evaluate(pipeline, Path(questions), Path(out), int(number), budget)
            _, status = os.waitpid(child, 0)
            killed += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
            if not os.WIFSIGNALED(status) and os.WEXITSTATUS(status):
                sys.exit("a start failed")
        sys.stdout.write(f"{killed}\n")
        sys.stdout.flush()  # what a fork finds unwritten it would write again


def _evaluate(pipeline: SmallPipeline, questions: Path, out: Path, number: int, budget: int | None) -> None:
    if budget is not None:
        predictions.append = _dying(budget)
    code = 1
    try:
        # processes forked from this one, so that no library is loaded anew
        workers = Processes(lambda: pipeline, number, "fork") if number > 1 else None
        runner.evaluate(pipeline, questions, ASKED, out, workers=workers)
        code = 0
    finally:
        os._exit(code)


def _dying(budget: int):
    """``predictions.append`` that kills its own process when so many bytes are written."""
    left = budget

    def append(file: Path, record: dict[str, object]) -> None:
        nonlocal left
        content = (json.dumps(record, ensure_ascii=False) + "\n").encode()
        with file.open("ab") as stream:
            stream.write(content[:left])
        left -= len(content)
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return append


if __name__ == "__main__":
    main(*sys.argv[1:])
