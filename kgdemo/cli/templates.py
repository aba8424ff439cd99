"""``templates``: questions made from templates, to measure with."""

from __future__ import annotations

import argparse
from pathlib import Path

from kgdemo.cli.base import Commands


def add(commands: Commands) -> None:
    """Register ``templates NAME --kg KG --out FILE``."""
    parser = commands.add_parser("templates", help="write questions made from templates, to measure with")
    parser.add_argument("templates", metavar="NAME", help="template file of the training: world, freebase or metaqa")
    parser.add_argument("--kg", required=True, metavar="NAME|FILE", help="the graph to ask about")
    held_out_help = "held_out.json of a training run: as many questions again about the relations it never saw"
    parser.add_argument("--held-out", type=Path, metavar="FILE", help=held_out_help)
    parser.add_argument("--number", type=int, default=100, metavar="N", help="questions of either kind")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSONL, to give to --questions")
    parser.set_defaults(run=_templates)


def _templates(options: argparse.Namespace) -> int:
    from kgdemo.errors import UserError
    from kgdemo.kg.io.catalogue import open_graph
    from kgdemo.lab.evaluation.runner import read_held_out
    from kgdemo.lab.evaluation.template_questions import template_questions, write_questions
    from kgdemo.lab.training.templates import FOLDER, load_templates

    known = sorted(file.stem for file in FOLDER.glob("*.tsv") if not file.stem.endswith("-chains"))
    if options.templates not in known:
        raise UserError(f"There are no templates {options.templates}; choose one of {', '.join(known)}.")
    held_out = read_held_out(options.held_out) if options.held_out else frozenset()
    kg, templates = open_graph(options.kg), load_templates(options.templates)
    try:
        questions = list(template_questions(kg, templates, held_out, options.number, options.seed))
    except ValueError as error:
        raise UserError(f"{error}; give the graph that the templates were written for, or another --number.") from error
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write_questions(options.out, questions)
    print(f"{len(questions)} questions in {options.out}")
    return 0
