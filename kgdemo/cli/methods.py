"""``methods``: the registry, listed."""

from __future__ import annotations

import argparse

from kgdemo.cli.base import Commands


def add(commands: Commands) -> None:
    """Register ``methods [--markdown]``."""
    parser = commands.add_parser("methods", help="the reasoning methods, and what can be chosen about each")
    parser.add_argument("--markdown", action="store_true", help="as the table of kgdemo/methods/README.md")
    parser.set_defaults(run=_methods)


def _methods(options: argparse.Namespace) -> int:
    from kgdemo.methods.registry import as_markdown, as_text

    print(as_markdown() if options.markdown else as_text())
    return 0
