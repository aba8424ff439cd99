"""``train``: a KG-specialised language model, fine-tuned."""

from __future__ import annotations

import argparse
from pathlib import Path

from kgdemo.cli.base import Commands


def add(commands: Commands) -> None:
    """Register ``train --out DIR``."""
    parser = commands.add_parser("train", help="fine-tune a KG-specialised language model")
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
