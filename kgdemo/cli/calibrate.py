"""``calibrate``: when a model says that no path answers, and how its paths are ranked, fitted on question sets."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kgdemo.cli.base import Commands
from kgdemo.cli.run_options import add_run_options, settings_from

if TYPE_CHECKING:
    from kgdemo.models.prompt import PromptStyle
    from kgdemo.pipeline import Pipeline
    from kgdemo.settings import Settings


def add(commands: Commands) -> None:
    """Register ``calibrate (--answerable FILE --unanswerable FILE | --pool KG FILE L …) --out DIR``."""
    parser = commands.add_parser(
        "calibrate", help="fit when a model says that no path answers, or how its paths are ranked"
    )
    add_run_options(parser)
    parser.add_argument("--answerable", type=Path, metavar="FILE", help="questions with an answer")
    parser.add_argument("--unanswerable", type=Path, metavar="FILE", help="questions without one")
    pool_help = "fit the weights of the ranking instead, on these questions; repeatable"
    parser.add_argument("--pool", nargs=3, action="append", metavar=("KG", "FILE", "L"), help=pool_help)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="signs and figures")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N questions of each set")
    parser.add_argument("--save", action="store_true", help="write the weights into the model's folder")
    parser.set_defaults(run=_calibrate)


def _calibrate(options: argparse.Namespace) -> int:
    from kgdemo.errors import UserError
    from kgdemo.models.causal import model_folder
    from kgdemo.pipeline import Pipeline

    pipeline, settings = Pipeline(), settings_from(options, compare=False, explain=0)
    options.out.mkdir(parents=True, exist_ok=True)
    style = pipeline.model(settings.model).style
    if options.pool:
        style, figures = _pool(options, pipeline, settings, style)
    elif options.answerable and options.unanswerable:
        style, figures = _doubt(options, pipeline, settings, style)
    else:
        raise UserError("Give --answerable and --unanswerable to fit doubt, or --pool to fit the ranking.")
    text = json.dumps(figures, indent=2)
    (options.out / "calibration.json").write_text(text + "\n", "utf-8")
    if options.save:
        style.save(model_folder(settings.model))
    print(text)
    return 0


def _doubt(
    options: argparse.Namespace, pipeline: Pipeline, settings: Settings, style: PromptStyle
) -> tuple[PromptStyle, dict[str, object]]:
    from kgdemo.evaluation.calibration import calibrate, collect

    judged = collect(pipeline, options.answerable, options.unanswerable, settings, options.out, options.limit)
    weights, figures = calibrate(judged)
    return replace(style, doubt=weights, doubt_graph=settings.graph), {"doubt": weights, **figures}


def _pool(
    options: argparse.Namespace, pipeline: Pipeline, settings: Settings, style: PromptStyle
) -> tuple[PromptStyle, dict[str, object]]:
    from kgdemo.errors import UserError
    from kgdemo.evaluation.pooling import candidates, cross_validated, fit_pool, hits

    found = []
    for graph, file, hops in options.pool:
        if not hops.isdecimal():
            raise UserError(f"--pool takes KG FILE L, and L is a number of hops, not {hops!r}.")
        asked = replace(settings, graph=graph, hops=int(hops))
        found += candidates(pipeline, Path(file), asked, options.limit)
    weights = fit_pool(found)
    figures = {"pool": weights, "questions": len(found), "hits@1": hits(weights, found)}
    return replace(style, pool=weights), {**figures, "hits@1_cross_validated": cross_validated(found)}
