"""``calibrate``: when a model says that no path answers, fitted on two question sets."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from kgdemo.cli.base import Commands
from kgdemo.cli.run_options import add_run_options, settings_from


def add(commands: Commands) -> None:
    """Register ``calibrate --answerable FILE --unanswerable FILE --out DIR``."""
    parser = commands.add_parser("calibrate", help="fit when a model says that no path answers")
    add_run_options(parser)
    parser.add_argument("--answerable", type=Path, required=True, metavar="FILE", help="questions with an answer")
    parser.add_argument("--unanswerable", type=Path, required=True, metavar="FILE", help="questions without one")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="signs and figures")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N questions of each set")
    parser.add_argument("--save", action="store_true", help="write the weights into the model's folder")
    parser.set_defaults(run=_calibrate)


def _calibrate(options: argparse.Namespace) -> int:
    from dataclasses import replace

    from kgdemo.evaluation.calibration import calibrate, collect
    from kgdemo.models.causal import model_folder
    from kgdemo.pipeline import Pipeline

    pipeline, settings = Pipeline(), settings_from(options, compare=False, explain=0)
    judged = collect(pipeline, options.answerable, options.unanswerable, settings, options.out, options.limit)
    weights, figures = calibrate(judged)
    text = json.dumps({"doubt": weights, **figures}, indent=2)
    (options.out / "calibration.json").write_text(text + "\n", "utf-8")
    if options.save:
        replace(pipeline.model(settings.model).style, doubt=weights, doubt_graph=settings.graph).save(
            model_folder(settings.model)
        )
    print(text)
    return 0
