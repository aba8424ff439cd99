"""``train``, ``bench`` and ``site``: a model fine-tuned, our engine beside the reference, recorded runs to host."""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register ``train --out DIR``, ``bench decode | index | soak`` and ``site OUT``."""
    _add_train(commands.add_parser("train", help="fine-tune a KG-specialised language model"))
    _add_bench(commands.add_parser("bench", help="our engine beside the reference approach"))
    site = commands.add_parser("site", help="write the recorded runs as a page that needs no server")
    site.add_argument("out", type=Path, metavar="OUT", help="folder; index.html in it opens from a disk too")
    site.set_defaults(run=_site)


def _site(arguments: argparse.Namespace) -> int:
    from kgdemo.ui.site import write_site

    print(write_site(arguments.out))
    return 0


def _add_train(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--recipe", default="embedded", metavar="NAME|FILE", help="what to train on, and how")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the public sets that the recipe names")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="checkpoints and log")
    parser.add_argument("--steps", type=int, metavar="N", help="optimiser steps, in place of the recipe's")
    parser.add_argument("--export", type=Path, metavar="DIR", help="write the finished model there (fp16)")
    parser.add_argument("--export-only", action="store_true", help="export the best checkpoint, train no further")
    parser.set_defaults(run=_train)


def _train(arguments: argparse.Namespace) -> int:
    from kgdemo.errors import UserError
    from kgdemo.lab.training.recipe import Recipe
    from kgdemo.lab.training.run import DevHits, export_best, run_recipe

    recipe = Recipe.load(arguments.recipe)
    if arguments.export_only:
        if arguments.export is None:
            raise UserError("--export-only writes a model folder; say where with --export DIR.")
        export_best(recipe, arguments.out, arguments.export)
        return 0
    measure = None if recipe.dev is None else DevHits(recipe.dev, arguments.data)
    run_recipe(recipe, arguments.data, arguments.out, arguments.steps, arguments.export, measure)
    return 0


_WHAT = "soak: random decodes, every path judged; load: many askers of the page at once"


def _add_bench(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("decode", "index", "soak", "load"), help=_WHAT)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, under a minute on two quiet cores")
    parser.add_argument("--cpu-time", action="store_true", help="processor time, for a machine that is busy")
    parser.add_argument("--decodes", type=int, default=1_000, metavar="N", help="of the soak")
    parser.add_argument("--whole", type=int, metavar="N", help="soak: N whole runs instead, by page, API and command")
    parser.add_argument("--seed", type=int, default=0, help="of the soak's first decode; the others follow")
    parser.add_argument("--url", help="load: a page that is served already; else one is started")
    parser.add_argument("--askers", type=int, default=20, metavar="N", help="load: who ask at the same time")
    parser.add_argument("--questions", type=Path, metavar="FILE", help="load: a question set; else the page's examples")
    parser.add_argument("--number", type=int, default=60, metavar="N", help="load: questions in all, over and over")
    parser.add_argument("--different", action="store_true", help="load: make repeated questions differ, by a number")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one row a line")
    form.add_argument("--markdown", action="store_true", help="print a table for a README")
    parser.set_defaults(run=_bench)


def _bench(arguments: argparse.Namespace) -> int:
    if arguments.what == "soak":
        return _soak(arguments) if arguments.whole is None else _soak_whole(arguments)
    if arguments.what == "load":
        return _load(arguments)
    import time
    from dataclasses import asdict

    from kgdemo.lab.benchmarks import decode as bench_decode
    from kgdemo.lab.benchmarks import index as bench_index
    from kgdemo.lab.benchmarks import timing as bench
    from kgdemo.lab.benchmarks.reference import require_marisa

    require_marisa()
    clock = time.process_time if arguments.cpu_time else time.perf_counter
    if arguments.what == "index":
        rows = bench_index.index_rows(bench_index.QUICK if arguments.quick else bench_index.IndexSizes(), clock)
    else:
        rows = bench_decode.decode_rows(bench_decode.QUICK if arguments.quick else bench_decode.DecodeSizes(), clock)
    if arguments.markdown:
        command = " ".join(f"--{flag}" for flag in ("quick", "cpu-time") if getattr(arguments, flag.replace("-", "_")))
        print(bench.markdown(rows, f"bench {arguments.what} {command}".strip()))
        return 0
    for row in rows:
        print(json.dumps(asdict(row), ensure_ascii=False) if arguments.json else bench.sentence(row), flush=True)
    return 0


def _load(arguments: argparse.Namespace) -> int:
    from contextlib import nullcontext
    from dataclasses import asdict
    from itertools import cycle, islice

    from kgdemo.lab.benchmarks import load as bench_load
    from kgdemo.lab.questions import read_questions
    from kgdemo.ui.assets import examples

    if arguments.questions:
        texts = [question.text for question in read_questions(arguments.questions)]
    else:
        texts = [example["question"] for example in examples()]
    questions = list(islice(cycle(texts), max(arguments.number, 1)))
    if arguments.different:  # a question in the same words twice would be answered once
        questions = [text if n < len(texts) else f"{text} ({n // len(texts)})" for n, text in enumerate(questions)]
    with nullcontext(arguments.url) if arguments.url else bench_load.own_server() as url:
        found = bench_load.load(bench_load.Page(url), questions, max(arguments.askers, 1))
    print(json.dumps({"name": "load", **asdict(found)}) if arguments.json else bench_load.sentence(found))
    return 1 if found.failed else 0


def _soak(arguments: argparse.Namespace) -> int:
    import time
    from dataclasses import asdict

    from tqdm import tqdm

    from kgdemo.lab.benchmarks.soak import Tally, soak

    began, tally = time.perf_counter(), Tally()
    decodes = soak(arguments.decodes, arguments.seed, tally)
    for _ in tqdm(decodes, total=arguments.decodes, unit=" decodes", mininterval=5):
        pass
    counts = asdict(tally)
    if arguments.json:
        print(json.dumps({"name": "soak", **counts, "seconds": round(time.perf_counter() - began, 1)}))
    else:
        seeds = counts.pop("seeds")
        print(", ".join(f"{count:,} {name}" for name, count in counts.items()))
        print(f"seeds of the faults: {seeds[:20]}" if seeds else "no faults")
    return 1 if tally.faults else 0


def _soak_whole(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    from tqdm import tqdm

    from kgdemo.cli import main
    from kgdemo.lab.benchmarks.whole_runs import WholeTally, soak_whole

    tally = WholeTally()
    runs = soak_whole(arguments.whole, arguments.seed, tally, main)
    for _ in tqdm(runs, total=arguments.whole, unit=" runs", mininterval=5):
        pass
    if arguments.json:
        print(json.dumps({"name": "soak --whole", **asdict(tally)}, ensure_ascii=False))
    else:
        print(
            f"{tally.runs:,} runs: {tally.answered:,} answered, {tally.paths:,} paths, {tally.refused:,} refused in "
            f"a sentence; slowest {tally.slowest:.1f} s, at most {tally.largest / 1e9:.2f} GB added"
        )
        print("\n".join(tally.faults) if tally.faults else "no faults")
    return 1 if tally.faults else 0
