"""The command line: ``kgdemo start | test | ask | evaluate | verify | methods | kg | bench | train …``.

In a clone ``start`` and ``test`` run in a bare Python and set everything up; where the package is installed ``start``
serves at once. The others need the requirements, which they import when called, so that ``--help`` is quick.
"""

from __future__ import annotations

import argparse
import logging
import sys

from kgdemo import __version__, bootstrap
from kgdemo.cli import ask, bench, calibrate, evaluate, graphs, methods, templates, train, verify
from kgdemo.errors import UserError


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 when it succeeded, 2 for a mistake of the user's."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        if arguments[:1] == ["start"]:
            return bootstrap.start(arguments[1:])
        if arguments[:1] == ["test"]:
            return bootstrap.test(arguments[1:])
        options = _parser().parse_args(arguments)
        logging.basicConfig(level=logging.INFO if options.verbose else logging.WARNING, format="%(message)s")
        return options.run(options)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output has seen enough
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kgdemo", description=__doc__.split("\n")[0])
    parser.add_argument("--version", action="version", version=f"kgdemo {__version__}")
    parser.add_argument("-v", "--verbose", action="store_true", help="say what is going on")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("start", help="serve the page; in a clone, set up first (--host, --port)")
    commands.add_parser("test", help="in a clone: set up and run the tests (arguments go to pytest)")
    for command in (ask, evaluate, verify, graphs, methods, bench, calibrate, templates, train):
        command.add(commands)
    return parser
