"""``evaluate``: a question set, measured."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from kgdemo.cli.base import Commands
from kgdemo.cli.run_options import add_run_options, settings_from


def add(commands: Commands) -> None:
    """Register ``evaluate --questions FILE --out DIR``."""
    parser = commands.add_parser("evaluate", help="answer a question set and measure")
    add_run_options(parser)
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N questions")
    together = "questions under way at the same time; the model reads for all of them at once"
    parser.add_argument("--together", type=int, default=1, metavar="N", help=together)
    parser.add_argument("--link", action="store_true", help="link entities even where the set gives them")
    parser.add_argument("--link-only", action="store_true", help="measure linking alone, without a model")
    parser.add_argument("--unconstrained", action="store_true", help="also measure the search without the graph")
    parser.add_argument(
        "--held-out",
        type=Path,
        metavar="FILE",
        help="held_out.json of the model's training: also measure questions about seen and unseen relations apart",
    )
    parser.add_argument(
        "--judge",
        type=int,
        nargs="?",
        const=3,
        metavar="N",
        help="let the chat model rate the first N paths of each question for coherence, 1 to 5 (N is 3)",
    )
    parser.set_defaults(run=_evaluate)


def _evaluate(options: argparse.Namespace) -> int:
    from dataclasses import replace

    from kgdemo.lab.evaluation.compare_methods import ALL, compare_methods, methods_named
    from kgdemo.lab.evaluation.judge import Judge
    from kgdemo.lab.evaluation.runner import evaluate, evaluate_linking, read_held_out
    from kgdemo.pipeline import Pipeline

    pipeline = Pipeline()
    judge = Judge.by(pipeline.chat, options.judge) if options.judge is not None else None
    settings = settings_from(options, compare=options.unconstrained, explain=0)
    names = methods_named(options.method)
    rest, together = (options.out, options.limit, options.link, judge), options.together
    if options.link_only:
        metrics = evaluate_linking(pipeline.linker(settings.graph), options.questions, options.out, options.limit)
        print(json.dumps(metrics, indent=2))
    elif len(names) > 1 or options.method.strip() == ALL:
        print(compare_methods(pipeline, names, options.questions, settings, *rest, together=together))
    else:
        held_out = read_held_out(options.held_out) if options.held_out else frozenset()
        one = replace(settings, method=names[0])
        metrics = evaluate(pipeline, options.questions, one, *rest, held_out=held_out, together=together)
        print(json.dumps(metrics, indent=2))
    return 0
