"""A small graph with question templates, a question set and a tiny model to train on them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import torch

from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.lab.training.loop import Encoder, TrainConfig
from kgdemo.lab.training.run import Recipe
from kgdemo.lab.training.templates import StepTemplates, Template
from kgdemo.models.causal import CausalModel
from tests.helpers.models import random_model

TRIPLES = [
    ("Inception", "directed by", "Christopher Nolan"),
    ("Tenet", "directed by", "Christopher Nolan"),
    ("Jaws", "directed by", "Steven Spielberg"),
    ("Inception", "starring", "Tom Hardy"),
    ("Tenet", "starring", "Elizabeth Debicki"),
    ("Tenet", "starring", "Michael Caine"),
    ("Inception", "starring", "Michael Caine"),
    ("Christopher Nolan", "born in", "London"),
    ("Tom Hardy", "born in", "London"),
    ("Steven Spielberg", "born in", "Cincinnati"),
    ("Christopher Nolan", "sibling", "Jonathan Nolan"),
]
TYPES = {"Inception": "film", "Tenet": "film", "Jaws": "film", "London": "city", "Cincinnati": "city"}

TEMPLATES = {
    ("directed by", False): StepTemplates([Template("who directed {e}?")], [Template("the director of {e}")]),
    ("directed by", True): StepTemplates([Template("what did {e} direct?")], [Template("films by {e}")]),
    ("starring", False): StepTemplates([Template("who is in {e}?")], [Template("the star of {e}")]),
    ("starring", True): StepTemplates([Template("what is {e} in?")], [Template("films with {e}")]),
    ("born in", False): StepTemplates([Template("where was {e} born?")], [Template("the birthplace of {e}")]),
}


def film_graph() -> KnowledgeGraph:
    """Eleven facts on three films."""
    info = {
        label: EntityInfo(TYPES.get(label, "person"), ("Nolan",) if label == "Christopher Nolan" else ())
        for head, _, tail in TRIPLES
        for label in (head, tail)
    }
    return KnowledgeGraph.from_triples(TRIPLES, "films", {"sibling": "sibling", "directed by": "directed"}, info)


def tiny(family: str = "bert", attention: str = "eager") -> CausalModel:
    """A random model of two layers, its attention computed as named."""
    made = random_model(family)
    made.model.set_attn_implementation(attention)  # type: ignore[operator]
    return made


def encoder_of(made: CausalModel, entity_weight: float = 0.5, answer_share: float = 0.5) -> Encoder:
    """What turns examples into this model's tokens."""
    return Encoder(made.label_tokens, made.style, entity_weight, [made.tokenizer.eos_token_id], answer_share)


def same_weights(first: torch.nn.Module, second: torch.nn.Module) -> bool:
    """Whether two models are equal to the bit."""
    mine, other = first.state_dict(), second.state_dict()
    return mine.keys() == other.keys() and all(torch.equal(mine[name], other[name]) for name in mine)


def write_recipe(folder: Path, model: CausalModel | None = None, **changes: object) -> Recipe:
    """A recipe over files in ``folder``: a graph and questions about it, and a model folder to start from."""
    (folder / "films.tsv").write_text("".join("\t".join(t) + "\n" for t in TRIPLES), "utf-8")
    questions = [
        {"id": "1", "question": "who directed jaws?", "q_entity": ["Jaws"], "a_entity": ["Steven Spielberg"]},
        {"id": "2", "question": "where was tom hardy born?", "q_entity": ["Tom Hardy"], "a_entity": ["London"]},
        {"id": "3", "question": "who is in tenet?", "q_entity": ["Tenet"], "a_entity": ["Michael Caine"]},
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(q) + "\n" for q in questions), "utf-8")
    made = model or tiny("qwen2")
    made.model.save_pretrained(folder / "start")  # type: ignore[operator]
    made.tokenizer.save_pretrained(folder / "start")
    made.style.save(folder / "start")
    config = TrainConfig(steps=6, batch_size=4, negatives=0, longest=200, save_every=2, measure_every=2)
    record = {
        "model": str(folder / "start"),
        "config": asdict(config),
        "sources": [{"graph": "films.tsv", "questions": "questions.jsonl", "share": 1.0}],
        **changes,
    }
    (folder / "recipe.json").write_text(json.dumps(record), "utf-8")
    return Recipe.load(str(folder / "recipe.json"))
