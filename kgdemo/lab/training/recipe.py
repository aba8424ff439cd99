"""A training recipe: which model, which data in which shares, and the settings of the loop, as JSON.

The recipe that made the shipped weights is ``recipes/embedded.json``; its command stands in the model card.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from kgdemo.errors import UserError
from kgdemo.lab.training.loop import TrainConfig
from kgdemo.lab.training.model import Lora
from kgdemo.lab.training.similarity import SimilarityConfig

FOLDER = Path(__file__).parent / "recipes"


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """One source of examples.

    Attributes:
        graph: embedded graph, or a triple file below the data folder (or at an absolute path).
        share: its part of the examples, relative to the others.
        templates: template file for questions made from the graph's edges.
        chains: file of wordings for several hops at once.
        questions: question file. One of these three is given, the others are empty.
        swapped: the questions are asked of other entities than their own, see ``wordings_of``.
        labelled: the questions bear relation paths of Freebase; which names these have in the graph, see
            ``freebase_names``. They are asked of any entity.
        hops: weights of one, two, … hops (templates only).
        two_topics, renamed: see ``TemplateSource`` (templates only).
        skip: questions at the head of the file kept out, to measure with.
        from_step, until_step: the part of the run in which it is used; 0 as ``until_step``: to the end.
    """

    graph: str
    share: float
    templates: str = ""
    chains: str = ""
    questions: str = ""
    swapped: bool = False
    labelled: str = ""
    hops: tuple[float, ...] = (1.0,)
    two_topics: float = 0.0
    renamed: float = 0.0
    skip: int = 0
    from_step: int = 0
    until_step: int = 0


@dataclass(frozen=True, slots=True)
class DevQuestions:
    """Questions that tell the best checkpoint; none may be in the mixture.

    Attributes:
        graph, questions: as in ``SourceSpec``.
        limit: only the first so many.
        beams, hops: K and L of the search.
    """

    graph: str
    questions: str
    limit: int = 60
    beams: int = 10
    hops: int = 2


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides what a run produces.

    Attributes:
        model: what fine-tuning starts from, see ``start_model``.
        sources: the mixture of examples.
        config: settings of the loop.
        held_out: share of the relations that no example may use, see ``draw_held_out``; which they are is
            written to ``held_out.json`` beside the checkpoint.
        dev: the checkpoint with the highest Hits@1 on these is exported; None: the newest.
        similarity: learn beside it which paths questions ask for; None: what the model starts from has is kept.
        topic_types: the prompt tells the type of each topic entity, see ``PromptStyle``.
        lora: train low-rank matrices only; None: the whole model.
    """

    model: str
    sources: tuple[SourceSpec, ...]
    config: TrainConfig
    held_out: float = 0.0
    dev: DevQuestions | None = None
    similarity: SimilarityConfig | None = None
    topic_types: bool = False
    lora: Lora | None = None

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
            return cls(
                record["model"],
                sources,
                TrainConfig(**record["config"]),
                held_out=float(record.get("held_out", 0.0)),
                dev=DevQuestions(**record["dev"]) if "dev" in record else None,
                similarity=SimilarityConfig(**record["similarity"]) if "similarity" in record else None,
                topic_types=bool(record.get("topic_types", False)),
                lora=Lora(**record["lora"]) if "lora" in record else None,
            )
        except FileNotFoundError as error:
            known = ", ".join(sorted(f.stem for f in FOLDER.glob("*.json")))
            raise UserError(f"There is no recipe {name}; choose {known} or give a JSON file.") from error
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"The recipe {file.name} cannot be read ({error}); see recipes/embedded.json.") from error
