"""The command line: ``run`` has what anybody runs (ask, kg, start, …), ``laboratory`` what measures and trains.

Both register their commands with ``add(commands)``; the library is imported inside the functions that run them, never
above, so that ``--help`` is quick and ``start`` and ``test`` work in a bare Python. Begin with ``run.add_settings``:
what a run may be given is declared in ``kgdemo.settings``, and every command takes its arguments from there.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import logging
import sys

from kgdemo import __version__
from kgdemo.cli import laboratory, run
from kgdemo.errors import UserError

logger = logging.getLogger(__name__)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 when it succeeded, 2 for a mistake of the user's."""
    words = sys.argv[1:] if arguments is None else arguments
    if arguments is None and words[:1] == ["ask"]:
        # The process ends with its one question, which leaves little garbage. To look for it among all that is loaded,
        # again and again and once more at the end, took a third of the question's processor time.
        gc.disable()
        atexit.register(gc.freeze)
    try:
        if words[:1] == ["start"]:
            return run.start(words[1:])
        if words[:1] == ["test"]:
            return run.test(words[1:])
        given = parser().parse_args(words)
        logging.basicConfig(level=logging.INFO if given.verbose else logging.WARNING, format="%(message)s")
        return int(given.run(given))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output has seen enough
        return 0
    except OSError as error:  # a full disk, a folder without rights: nothing that a traceback would explain
        logger.info("broken off", exc_info=True)
        place = f"{error.filename} " if error.filename else "A file "
        print(f"{place}cannot be read or written ({error.strerror or error}); check disk and rights.", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    """All commands with their arguments."""
    whole = argparse.ArgumentParser(prog="kgdemo", description="Faithful answers to questions from a knowledge graph.")
    whole.add_argument("--version", action="version", version=f"kgdemo {__version__}")
    whole.add_argument("-v", "--verbose", action="store_true", help="say what is going on")
    commands = whole.add_subparsers(required=True, metavar="COMMAND")
    for module in (run, laboratory):
        module.add(commands)
    return whole
