"""``verify``: paths of any origin, judged one a line."""

from __future__ import annotations

import argparse
import json
import sys

from kgdemo.cli.base import Commands


def add(commands: Commands) -> None:
    """Register ``verify --kg NAME|FILE``."""
    parser = commands.add_parser("verify", help="judge paths, one a line on standard input")
    parser.add_argument("--kg", required=True, metavar="NAME|FILE")
    parser.set_defaults(run=_verify)


def _verify(options: argparse.Namespace) -> int:
    from dataclasses import asdict

    from kgdemo.kg.io.catalogue import open_facts
    from kgdemo.verify import Verifier

    verifier = Verifier(open_facts(options.kg))
    for line in sys.stdin:
        if line.strip():
            path, verdict = verifier.verify_text(line.rstrip("\n"))
            record = {"text": line.rstrip("\n"), "path": path and str(path), **asdict(verdict)}
            print(json.dumps(record, ensure_ascii=False), flush=True)
    return 0
