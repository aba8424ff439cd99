"""``ask``: one question, its events for a person or one a line."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from kgdemo.cli.base import Commands
from kgdemo.cli.run_options import add_run_options, settings_from

if TYPE_CHECKING:
    from kgdemo.events import Event


def add(commands: Commands) -> None:
    """Register ``ask QUESTION``."""
    parser = commands.add_parser("ask", help="answer one question")
    parser.add_argument("question")
    add_run_options(parser)
    parser.add_argument("--entity", nargs="+", default=[], metavar="E", help="topic entities; else linked")
    parser.add_argument("--unconstrained", action="store_true", help="also search without the graph")
    parser.add_argument("--json", action="store_true", help="print one event a line")
    parser.set_defaults(run=_ask)


def _ask(options: argparse.Namespace) -> int:
    from kgdemo.events import RunFailed, to_json
    from kgdemo.pipeline import Pipeline

    settings = settings_from(options, compare=options.unconstrained, explain=4 if options.json else 0)
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


def _tell(event: Event) -> None:
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
