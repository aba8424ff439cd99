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
    parser.add_argument("--export-only", action="store_true", help="export the best checkpoint, train no further")
    parser.set_defaults(run=_train)


def _train(options: argparse.Namespace) -> int:
    from kgdemo.errors import UserError
    from kgdemo.lab.training.recipe import Recipe
    from kgdemo.lab.training.run import DevHits, export_best, run_recipe

    recipe = Recipe.load(options.recipe)
    if options.export_only:
        if options.export is None:
            raise UserError("--export-only writes a model folder; say where with --export DIR.")
        export_best(recipe, options.out, options.export)
        return 0
    measure = None if recipe.dev is None else DevHits(recipe.dev, options.data)
    run_recipe(recipe, options.data, options.out, options.steps, options.export, measure)
    return 0
