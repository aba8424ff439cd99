"""The command line: ``python -m kgdemo start | test | ask | evaluate | verify | methods | kg | bench | train …``.

``start`` and ``test`` run in a bare Python and set everything up; the others need the requirements, which
they import when called, so that ``--help`` is quick.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from pathlib import Path

from kgdemo import bootstrap
from kgdemo.errors import UserError


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 when it succeeded, 2 for a mistake of the user's."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["start"]:
        return bootstrap.start(arguments[1:])
    if arguments[:1] == ["test"]:
        return bootstrap.test(arguments[1:])
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO if options.verbose else logging.WARNING, format="%(message)s")
    try:
        return options.run(options)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output has seen enough
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m kgdemo", description=__doc__.split("\n")[0])
    parser.add_argument("-v", "--verbose", action="store_true", help="say what is going on")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("start", help="set up and start the app (arguments go to app.py)")
    commands.add_parser("test", help="set up and run the tests (arguments go to pytest)")
    _add_ask(commands.add_parser("ask", help="answer one question"))
    _add_evaluate(commands.add_parser("evaluate", help="answer a question set and measure"))
    verify = commands.add_parser("verify", help="judge paths, one a line on standard input")
    verify.add_argument("--kg", required=True, metavar="NAME|FILE")
    verify.set_defaults(run=_verify)
    graph = commands.add_parser("kg", help="about a graph").add_subparsers(required=True, metavar="info|check|save")
    info = graph.add_parser("info", help="its size, relations and best connected entities")
    info.add_argument("graph", metavar="NAME|FILE")
    info.set_defaults(run=_kg_info)
    check = graph.add_parser("check", help="is an embedded graph well made?")
    check.add_argument("graph", metavar="NAME")
    check.add_argument("--against", type=Path, metavar="DIR", help="public sets to compare with")
    check.set_defaults(run=_kg_check)
    save = graph.add_parser("save", help="write a graph as arrays that open at once")
    save.add_argument("graph", metavar="NAME|FILE")
    save.add_argument("--out", type=Path, required=True, metavar="DIR", help="use this folder as --kg afterwards")
    save.set_defaults(run=_kg_save)
    methods = commands.add_parser("methods", help="the reasoning methods, and what can be chosen about each")
    methods.add_argument("--markdown", action="store_true", help="as the table of the README")
    methods.set_defaults(run=_methods)
    _add_bench(commands.add_parser("bench", help="our engine beside the reference approach"))
    _add_calibrate(commands.add_parser("calibrate", help="fit when a model says that no path answers"))
    _add_train(commands.add_parser("train", help="fine-tune a KG-specialised language model"))
    return parser


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kg", default="world", metavar="NAME|FILE", help="embedded graph or triple file")
    parser.add_argument("--method", "--methods", default="gcr", help="see `methods`; evaluate takes a,b,c or all")
    parser.add_argument("--beams", type=int, default=10, metavar="K", help="number of paths")
    parser.add_argument("--hops", type=int, default=2, metavar="L", help="longest path")
    parser.add_argument("--model", default="embedded", metavar="ID|DIR")
    parser.add_argument("--directed", action="store_true", help="walk edges from head to tail only")
    parser.add_argument("--ranking", default="relation", choices=("path", "relation"))
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="one of the method's own, listed by `methods`; repeatable",
    )
    searches = ("beam", "diverse", "greedy", "sample")
    parser.add_argument("--search", default="beam", choices=searches, help="how paths are decoded")


def _settings(options: argparse.Namespace, compare: bool, explain: int):
    from kgdemo.reasoning.options import pairs
    from kgdemo.settings import Settings

    return Settings(
        graph=options.kg,
        model=options.model,
        method=options.method,
        beams=options.beams,
        hops=options.hops,
        directed=options.directed,
        compare=compare,
        ranking=options.ranking,
        explain=explain,
        options=pairs(options.option),
        search=options.search,
    )


# ask ---------------------------------------------------------------------------------------------


def _add_ask(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question")
    _add_run_options(parser)
    parser.add_argument("--entity", nargs="+", default=[], metavar="E", help="topic entities; else linked")
    parser.add_argument("--unconstrained", action="store_true", help="also search without the graph")
    parser.add_argument("--json", action="store_true", help="print one event a line")
    parser.set_defaults(run=_ask)


def _ask(options: argparse.Namespace) -> int:
    from kgdemo.events import RunFailed, to_json
    from kgdemo.pipeline import Pipeline

    settings = _settings(options, compare=options.unconstrained, explain=4 if options.json else 0)
    failed = ""
    for event in Pipeline().run(options.question, settings, options.entity):
        if options.json:
            print(to_json(event), flush=True)
        else:
            _tell(event)
        if isinstance(event, RunFailed):
            failed = event.message
    if failed:
        print(failed, file=sys.stderr)
    return 2 if failed else 0


def _tell(event) -> None:
    """One event for a person at a terminal; most are passed over."""
    from kgdemo import events

    if isinstance(event, events.EntitiesLinked):
        print("entities:", ", ".join(event.chosen) or "none")
    elif isinstance(event, events.PathFound):
        mark, note = "  " if event.constrained else "~ ", "  also read from the graph" if event.read else ""
        print(f"{mark}{event.index:>2}. {event.text}  ({event.score:.2f}){note}")
    elif isinstance(event, events.PathVerified) and not event.verdict.faithful:
        print("      " + ", ".join(hop.verdict.value for hop in event.verdict.hops))
    elif isinstance(event, events.AnswerFinal):
        print(f"answer: {event.text}  (by {event.by})")
    elif isinstance(event, events.Notice):
        print(event.text)


# evaluate, verify, kg ----------------------------------------------------------------------------


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    _add_run_options(parser)
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N questions")
    parser.add_argument("--link", action="store_true", help="link entities even where the set gives them")
    parser.add_argument("--link-only", action="store_true", help="measure linking alone, without a model")
    parser.add_argument("--unconstrained", action="store_true", help="also measure the search without the graph")
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

    from kgdemo.evaluation.judge import Judge
    from kgdemo.evaluation.linking import evaluate_linking
    from kgdemo.evaluation.runner import evaluate
    from kgdemo.evaluation.several import ALL, evaluate_several, methods_named
    from kgdemo.pipeline import Pipeline

    pipeline = Pipeline()
    judge = Judge.by(pipeline.chat, options.judge) if options.judge is not None else None
    settings = _settings(options, compare=options.unconstrained, explain=0)
    names = methods_named(options.method)
    rest = (options.out, options.limit, options.link, judge)
    if options.link_only:
        metrics = evaluate_linking(pipeline.linker(settings.graph), options.questions, options.out, options.limit)
        print(json.dumps(metrics, indent=2))
    elif len(names) > 1 or options.method.strip() == ALL:
        print(evaluate_several(pipeline, names, options.questions, settings, *rest))
    else:
        metrics = evaluate(pipeline, options.questions, replace(settings, method=names[0]), *rest)
        print(json.dumps(metrics, indent=2))
    return 0


def _add_calibrate(parser: argparse.ArgumentParser) -> None:
    _add_run_options(parser)
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

    pipeline, settings = Pipeline(), _settings(options, compare=False, explain=0)
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


def _verify(options: argparse.Namespace) -> int:
    from dataclasses import asdict

    from kgdemo.kg.catalogue import open_graph
    from kgdemo.verify import Verifier

    verifier = Verifier(open_graph(options.kg))
    for line in sys.stdin:
        if line.strip():
            path, verdict = verifier.verify_text(line.rstrip("\n"))
            record = {"text": line.rstrip("\n"), "path": path and str(path), **asdict(verdict)}
            print(json.dumps(record, ensure_ascii=False), flush=True)
    return 0


def _methods(options: argparse.Namespace) -> int:
    from kgdemo.reasoning.listing import as_markdown, as_text

    print(as_markdown() if options.markdown else as_text())
    return 0


def _kg_info(options: argparse.Namespace) -> int:
    import numpy as np

    from kgdemo.kg.catalogue import open_graph

    kg = open_graph(options.graph)
    print(f"{kg.name}: {len(kg):,} triples, {len(kg.entities):,} entities, {len(kg.relations):,} relations")
    counts = np.bincount(kg.outgoing.relations, minlength=len(kg.relations))
    print("relations (triples):")
    for relation in np.argsort(-counts)[:20]:
        print(f"  {counts[relation]:>9,}  {kg.relations[int(relation)]}")
    degrees = np.diff(kg.outgoing.offsets) + np.diff(kg.incoming.offsets)
    print("best connected entities (edges):")
    for entity in np.argsort(-degrees)[:10]:
        print(f"  {degrees[entity]:>9,}  {kg.entities[int(entity)]}")
    return 0


def _kg_check(options: argparse.Namespace) -> int:
    from kgdemo.kg.catalogue import embedded_folder
    from kgdemo.kg.check import check_folder, disagreements

    folder = embedded_folder(options.graph)
    findings = check_folder(folder)
    for finding in findings:
        print(finding)
    if options.against:
        for finding in disagreements(folder, options.against):
            print(finding)
    print(f"{len(findings)} findings in {options.graph}")
    return 1 if findings else 0


def _kg_save(options: argparse.Namespace) -> int:
    from kgdemo.kg.catalogue import open_graph
    from kgdemo.kg.store import save

    kg = open_graph(options.graph)
    save(kg, options.out)
    print(f"{len(kg):,} triples written to {options.out}")
    return 0


# bench -------------------------------------------------------------------------------------------


def _add_bench(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("decode", "index"))
    parser.add_argument("--quick", action="store_true", help="smaller sizes, under a minute on two quiet cores")
    parser.add_argument("--cpu-time", action="store_true", help="processor time, for a machine that is busy")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one row a line")
    form.add_argument("--markdown", action="store_true", help="print a table for a README")
    parser.set_defaults(run=_bench)


def _bench(options: argparse.Namespace) -> int:
    import time
    from dataclasses import asdict

    from kgdemo.evaluation import bench, bench_decode, bench_index
    from kgdemo.evaluation.reference import require_marisa

    require_marisa()
    clock = time.process_time if options.cpu_time else time.perf_counter
    if options.what == "index":
        rows = bench_index.index_rows(bench_index.QUICK if options.quick else bench_index.IndexSizes(), clock)
    else:
        rows = bench_decode.decode_rows(bench_decode.QUICK if options.quick else bench_decode.DecodeSizes(), clock)
    if options.markdown:
        command = " ".join(f"--{flag}" for flag in ("quick", "cpu-time") if getattr(options, flag.replace("-", "_")))
        print(bench.markdown(rows, f"bench {options.what} {command}".strip()))
        return 0
    for row in rows:
        print(json.dumps(asdict(row), ensure_ascii=False) if options.json else bench.sentence(row), flush=True)
    return 0


# train -------------------------------------------------------------------------------------------


def _add_train(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--recipe", default="embedded", metavar="NAME|FILE", help="what to train on, and how")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the public sets that the recipe names")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="checkpoints and log")
    parser.add_argument("--steps", type=int, metavar="N", help="optimiser steps, in place of the recipe's")
    parser.add_argument("--export", type=Path, metavar="DIR", help="write the finished model there (fp16)")
    parser.add_argument("--export-only", action="store_true", help="export the newest checkpoint, train no further")
    parser.set_defaults(run=_train)


def _train(options: argparse.Namespace) -> int:
    from kgdemo.training.recipe import Recipe, run_recipe

    recipe = Recipe.load(options.recipe)
    run_recipe(recipe, options.data, options.out, options.steps, options.export, options.export_only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
