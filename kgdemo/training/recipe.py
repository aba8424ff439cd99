"""A training recipe: which model, which data in which shares, and the settings of the loop, as JSON.

The recipe that made the shipped weights is ``recipes/embedded.json``; its command stands in the model card.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from kgdemo.constraint.pieces import Pieces
from kgdemo.errors import UserError
from kgdemo.kg.catalogue import open_graph
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.questions import read_questions
from kgdemo.training.batches import Encoder
from kgdemo.training.examples import QuestionSource, Source
from kgdemo.training.loop import Share, TrainConfig, train
from kgdemo.training.start import start_model
from kgdemo.training.template_source import TemplateSource
from kgdemo.training.templates import load_templates

FOLDER = Path(__file__).parent / "recipes"


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """One source of examples.

    Attributes:
        graph: embedded graph, or a triple file below the data folder.
        share: its part of the examples, relative to the others.
        templates: template file for questions made from the graph's edges; empty for a question set.
        questions: question file below the data folder; empty for templates.
        hops: weights of one, two, … hops (templates only).
        two_topics, renamed: see ``TemplateSource`` (templates only).
        skip: questions at the head of the file kept out, to measure with.
        from_step, until_step: the part of the run in which it is used; 0 as ``until_step``: to the end.
    """

    graph: str
    share: float
    templates: str = ""
    questions: str = ""
    hops: tuple[float, ...] = (1.0,)
    two_topics: float = 0.0
    renamed: float = 0.0
    skip: int = 0
    from_step: int = 0
    until_step: int = 0


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides what a run produces."""

    model: str
    sources: tuple[SourceSpec, ...]
    config: TrainConfig

    @classmethod
    def load(cls, name: str) -> Recipe:
        """Read a recipe that ships with the project, by name, or a JSON file.

        Raises:
            UserError: there is none, or it does not follow the format.
        """
        file = FOLDER / f"{name}.json" if (FOLDER / f"{name}.json").is_file() else Path(name)
        try:
            record = json.loads(file.read_text("utf-8"))
            sources = tuple(SourceSpec(**{**s, "hops": tuple(s.get("hops", (1.0,)))}) for s in record["sources"])
            return cls(record["model"], sources, TrainConfig(**record["config"]))
        except FileNotFoundError as error:
            known = ", ".join(sorted(f.stem for f in FOLDER.glob("*.json")))
            raise UserError(f"There is no recipe {name}; choose {known} or give a JSON file.") from error
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"The recipe {file.name} cannot be read ({error}); see recipes/embedded.json.") from error


def run_recipe(
    recipe: Recipe, data: Path | None, out: Path, steps: int | None, export: Path | None, export_only: bool
) -> None:
    """Train by a recipe, resuming from the newest checkpoint in ``out``.

    Args:
        recipe: what to do.
        data: folder of the public sets; needed when the recipe names any.
        out: folder for checkpoints and log.
        steps: stop after so many steps in place of the recipe's number.
        export: folder to write the finished model to, half precision.
        export_only: export the newest checkpoint without training further.

    Raises:
        UserError: a data file is missing.
    """
    config = recipe.config if steps is None else replace(recipe.config, steps=steps)
    shares = [] if export_only else _shares(recipe, data)  # first: a missing file is said before a model is loaded
    torch.manual_seed(config.seed)
    model, tokenizer, style = start_model(recipe.model)
    if not export_only:
        pieces = Pieces(tokenizer)
        stop = [tokenizer.eos_token_id]
        encoder = Encoder(pieces, style, config.entity_weight, stop, config.answer_share)
        out.mkdir(parents=True, exist_ok=True)
        (out / "recipe.json").write_text(json.dumps(asdict(recipe), indent=2) + "\n", "utf-8")
        train(model, encoder, shares, tokenizer.pad_token_id or 0, config, out)
    if export is not None:
        checkpoint = out / "checkpoint.pt"
        if not checkpoint.is_file():
            raise UserError(f"There is no checkpoint in {out}; train first.")
        model.load_state_dict(torch.load(checkpoint, weights_only=True, map_location="cpu")["model"])
        export.mkdir(parents=True, exist_ok=True)
        model.half().save_pretrained(export)
        tokenizer.save_pretrained(export)
        style.save(export)


def _shares(recipe: Recipe, data: Path | None) -> list[Share]:
    graphs: dict[str, KnowledgeGraph] = {}
    shares = []
    for spec in recipe.sources:
        if spec.graph not in graphs:
            embedded = not Path(spec.graph).suffix
            graphs[spec.graph] = open_graph(spec.graph if embedded else str(_below(data, spec.graph)))
        source = _source(graphs[spec.graph], spec, data)
        shares.append(Share(source, spec.share, spec.from_step, spec.until_step))
    return shares


def _source(kg: KnowledgeGraph, spec: SourceSpec, data: Path | None) -> Source:
    if spec.templates:
        return TemplateSource(kg, load_templates(spec.templates), spec.hops, spec.two_topics, spec.renamed)
    return QuestionSource(kg, read_questions(_below(data, spec.questions))[spec.skip :])


def _below(data: Path | None, name: str) -> Path:
    if data is None:
        raise UserError(f"The recipe needs {name}; give the folder of the public sets with --data.")
    return data / name
