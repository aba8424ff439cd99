"""What ``ask``, ``evaluate`` and ``calibrate`` let a user choose about a run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgdemo.settings import Settings


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that become ``Settings``."""
    parser.add_argument("--kg", default="world", metavar="NAME|FILE", help="embedded graph or triple file")
    parser.add_argument("--method", "--methods", default="gcr", help="see `methods`; evaluate takes a,b,c or all")
    parser.add_argument("--beams", type=int, default=10, metavar="K", help="number of paths")
    parser.add_argument("--hops", type=int, default=2, metavar="L", help="longest path")
    parser.add_argument("--model", default="embedded", metavar="ID|DIR")
    parser.add_argument("--directed", action="store_true", help="walk edges from head to tail only")
    parser.add_argument("--ranking", default="pooled", choices=("pooled", "relation", "path"))
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="one of the method's own, listed by `methods`; repeatable",
    )
    searches = ("beam", "diverse", "greedy", "sample")
    parser.add_argument("--search", default="beam", choices=searches, help="how paths are decoded")
    ahead = "read before the search asks: off, forced (what it is certain to ask for) or N likely tokens"
    parser.add_argument("--look-ahead", default="auto", metavar="off|forced|N", help=ahead)


def settings_from(options: argparse.Namespace, compare: bool, explain: int) -> Settings:
    """The settings of a run.

    Args:
        options: What ``add_run_options`` let the user say.
        compare: Also search without the graph.
        explain: Forbidden tokens named per step, with the reason.
    """
    from kgdemo.options import pairs
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
        look_ahead=options.look_ahead,
    )
