"""``calibrate``: when a model says that no path answers, and how paths are ranked, fitted on question sets."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kgdemo.cli.base import Commands
from kgdemo.cli.run_options import add_run_options, settings_from

if TYPE_CHECKING:
    from kgdemo.models.prompt_style import PromptStyle
    from kgdemo.pipeline import Pipeline
    from kgdemo.settings import Settings


def add(commands: Commands) -> None:
    """Register ``calibrate (--answerable FILE --unanswerable FILE | --pool KG FILE L … [--held-out F]) --out DIR``."""
    parser = commands.add_parser(
        "calibrate", help="fit when a model says that no path answers, or how its paths are ranked"
    )
    add_run_options(parser)
    parser.add_argument("--answerable", type=Path, metavar="FILE", help="questions with an answer")
    parser.add_argument("--unanswerable", type=Path, metavar="FILE", help="questions without one")
    pool_help = "fit the weights of the ranking instead, on these questions; repeatable"
    parser.add_argument("--pool", nargs=3, action="append", metavar=("KG", "FILE", "L"), help=pool_help)
    held_out_help = "held_out.json of the model's training: fit how relations that it does not know are ranked"
    parser.add_argument("--held-out", type=Path, metavar="FILE", help=held_out_help)
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
    if options.pool and options.held_out:
        style, figures = _backoff(options, pipeline, settings, style)
    elif options.pool:
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
    from kgdemo.lab.calibration.abstention import calibrate, collect

    judged = collect(pipeline, options.answerable, options.unanswerable, settings, options.out, options.limit)
    weights, figures = calibrate(judged)
    return replace(style, abstention=weights, abstention_graph=settings.graph), {"abstention": weights, **figures}


def _pool(
    options: argparse.Namespace, pipeline: Pipeline, settings: Settings, style: PromptStyle
) -> tuple[PromptStyle, dict[str, object]]:
    from kgdemo.lab.calibration.ranking import cross_validated, fit_ranking, hits, searched

    found = [
        one.candidates
        for file, asked in _question_sets(options, settings)
        for one in searched(pipeline, file, asked, options.limit)
    ]
    weights = fit_ranking(found)
    figures = {"ranking": weights, "questions": len(found), "hits@1": hits(weights, found)}
    return replace(style, ranking=weights), {**figures, "hits@1_cross_validated": cross_validated(found)}


def _backoff(
    options: argparse.Namespace, pipeline: Pipeline, settings: Settings, style: PromptStyle
) -> tuple[PromptStyle, dict[str, object]]:
    from kgdemo.errors import UserError
    from kgdemo.lab.calibration.backoff import PLAIN, fit_backoff, hits_over_relations, labelled_examples
    from kgdemo.lab.calibration.ranking import searched
    from kgdemo.lab.evaluation.runner import read_held_out
    from kgdemo.ranking.scorer import UNFITTED

    if style.relations is None:
        raise UserError(f"The model {settings.model} has no relations.txt; export it anew from its training.")
    pipeline.model(settings.model).style = replace(style, backoff=PLAIN)
    held_out, found = read_held_out(options.held_out), []
    for file, asked in _question_sets(options, settings):
        own = searched(pipeline, file, asked, options.limit)
        found += labelled_examples(pipeline.graph(asked.graph), own, held_out, style.ranking or UNFITTED, str(file))
    weights = fit_backoff(found)
    return replace(style, backoff=weights), {
        "backoff": weights,
        "cross_validated": hits_over_relations(found),
    }


def _question_sets(options: argparse.Namespace, settings: Settings) -> Iterator[tuple[Path, Settings]]:
    """What ``--pool`` names: question files, and graph and number of hops to search them with."""
    from kgdemo.errors import UserError

    for graph, file, hops in options.pool:
        if not hops.isdecimal():
            raise UserError(f"--pool takes KG FILE L, and L is a number of hops, not {hops!r}.")
        yield Path(file), replace(settings, graph=graph, hops=int(hops))
