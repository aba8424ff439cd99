"""``bench``: our engine beside the reference approach, and random decodes without end."""

from __future__ import annotations

import argparse
import json

from kgdemo.cli.base import Commands


def add(commands: Commands) -> None:
    """Register ``bench decode | index | soak``."""
    parser = commands.add_parser("bench", help="our engine beside the reference approach")
    parser.add_argument("what", choices=("decode", "index", "soak"), help="soak: random decodes, every path judged")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, under a minute on two quiet cores")
    parser.add_argument("--cpu-time", action="store_true", help="processor time, for a machine that is busy")
    parser.add_argument("--decodes", type=int, default=1_000, metavar="N", help="of the soak")
    parser.add_argument("--seed", type=int, default=0, help="of the soak's first decode; the others follow")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one row a line")
    form.add_argument("--markdown", action="store_true", help="print a table for a README")
    parser.set_defaults(run=_bench)


def _bench(options: argparse.Namespace) -> int:
    if options.what == "soak":
        return _soak(options)
    import time
    from dataclasses import asdict

    from kgdemo.lab.benchmarks import decode as bench_decode
    from kgdemo.lab.benchmarks import index as bench_index
    from kgdemo.lab.benchmarks import timing as bench
    from kgdemo.lab.benchmarks.reference import require_marisa

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


def _soak(options: argparse.Namespace) -> int:
    import time
    from dataclasses import asdict

    from tqdm import tqdm

    from kgdemo.lab.benchmarks.soak import Tally, soak

    began, tally = time.perf_counter(), Tally()
    for _ in tqdm(soak(options.decodes, options.seed, tally), total=options.decodes, unit=" decodes", mininterval=5):
        pass
    counts = asdict(tally)
    if options.json:
        print(json.dumps({"name": "soak", **counts, "seconds": round(time.perf_counter() - began, 1)}))
    else:
        seeds = counts.pop("seeds")
        print(", ".join(f"{count:,} {name}" for name, count in counts.items()))
        print(f"seeds of the faults: {seeds[:20]}" if seeds else "no faults")
    return 1 if tally.faults else 0
