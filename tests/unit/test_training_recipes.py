"""Recipes: from data files to a model folder that the demo loads, and one clear sentence where that cannot be."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kgdemo.cli import main
from kgdemo.errors import ModelError, UserError
from kgdemo.lab.training.loop import Share, TrainConfig, train
from kgdemo.lab.training.run import FOLDER, HELD_OUT_FILE, Lora, Recipe, adapted, export_best, run_recipe, start_model
from kgdemo.lab.training.templates import TemplateSource
from kgdemo.models.causal import CausalModel
from tests.helpers.training import TEMPLATES, encoder_of, film_graph, same_weights, tiny, write_recipe


def exported(folder: Path) -> CausalModel:
    """A model folder as the demo opens it, with what a search asks of it."""
    model = CausalModel.load(str(folder))
    prompt = model.style.encode(model.label_tokens, "who directed Jaws", ("Jaws",))
    assert torch.isfinite(model.tree(prompt).prompt_log_probs()).all()
    return model


@pytest.mark.parametrize("family", ["bert", "qwen2", "llama"])
def test_a_finished_run_is_a_model_the_demo_loads(family: str, tmp_path):
    made = tiny(family)
    recipe = write_recipe(tmp_path, made)
    run_recipe(recipe, tmp_path, tmp_path / "out", export=tmp_path / "model")
    model = exported(tmp_path / "model")
    assert model.style == replace(made.style, relations=frozenset(("directed by", "starring", "born in", "sibling")))
    assert model.label_tokens.start == made.label_tokens.start
    assert not same_weights(model.model, made.model)
    again = tmp_path / "again"
    export_best(recipe, tmp_path / "out", again)
    assert same_weights(exported(again).model, model.model)


def test_what_a_run_did_stands_beside_its_checkpoint(tmp_path):
    recipe = write_recipe(tmp_path, held_out=0.4)
    run_recipe(recipe, tmp_path, tmp_path / "out", steps=2)
    assert json.loads((tmp_path / "out" / "recipe.json").read_text("utf-8"))["held_out"] == 0.4
    held_out = json.loads((tmp_path / "out" / HELD_OUT_FILE).read_text("utf-8"))
    assert len(held_out["films.tsv"]) == 2  # of four


def test_a_model_takes_along_which_relations_it_was_trained_on(tmp_path):
    recipe = write_recipe(tmp_path, held_out=0.4)
    run_recipe(recipe, tmp_path, tmp_path / "out", steps=2, export=tmp_path / "model")
    held_out = json.loads((tmp_path / "out" / HELD_OUT_FILE).read_text("utf-8"))["films.tsv"]
    known = exported(tmp_path / "model").style.relations
    assert known == {"directed by", "starring", "born in", "sibling"} - set(held_out)
    export_best(recipe, tmp_path / "out", tmp_path / "again")
    assert exported(tmp_path / "again").style.relations == known
    further = replace(recipe, model=str(tmp_path / "model"), held_out=0.0)
    run_recipe(further, tmp_path, tmp_path / "more", steps=2, export=tmp_path / "more-model")
    assert exported(tmp_path / "more-model").style.relations == known | set(held_out)


def test_the_best_checkpoint_is_exported(tmp_path):
    weights, scores = [], iter([0.1, 0.9, 0.2])

    def measure(model: CausalModel) -> float:
        weights.append({name: tensor.clone().half() for name, tensor in model.model.state_dict().items()})
        return next(scores)

    run_recipe(write_recipe(tmp_path), tmp_path, tmp_path / "out", export=tmp_path / "model", measure=measure)
    state = exported(tmp_path / "model").model.state_dict()
    assert all(torch.equal(state[name].half(), weights[1][name]) for name in state)


def test_the_command_measures_on_the_development_questions(tmp_path):
    dev = {"graph": "films.tsv", "questions": "questions.jsonl", "limit": 2, "beams": 2}
    write_recipe(tmp_path, dev=dev)
    command = [
        "train",
        "--recipe",
        str(tmp_path / "recipe.json"),
        "--data",
        str(tmp_path),
        "--out",
        str(tmp_path / "out"),
    ]
    assert main([*command, "--steps", "4", "--export", str(tmp_path / "model")]) == 0
    log = [json.loads(line) for line in (tmp_path / "out" / "log.jsonl").read_text("utf-8").splitlines()]
    assert [line["step"] for line in log if "score" in line] == [2, 4]
    assert all(line["score"] in (0.0, 0.5, 1.0) for line in log if "score" in line)
    exported(tmp_path / "model")


# peft 0.21 asks transformers for an attribute that 5.23 has renamed
peft_warns = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")


@peft_warns
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("family", ["qwen2", "llama"])
def test_lora_trains_and_keeps_its_own_matrices_alone(family: str, attention: str, tmp_path):
    pytest.importorskip("peft")
    made = tiny(family, attention)
    model = adapted(made.model, Lora(rank=4, alpha=8))
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    source = TemplateSource(film_graph(), TEMPLATES, hops=(1.0,))
    config = TrainConfig(steps=3, batch_size=4, negatives=20, longest=200)
    train(model, encoder_of(made), [Share(source, 1.0)], 0, config, tmp_path)
    changed = {name for name, tensor in model.state_dict().items() if not torch.equal(tensor, before[name])}
    assert changed
    assert all("lora" in name for name in changed)
    kept = torch.load(tmp_path / "checkpoint.pt", weights_only=True)["model"]
    assert kept.keys() >= changed
    assert all("lora" in name for name in kept)


@peft_warns
@pytest.mark.parametrize("family", ["qwen2", "llama"])
def test_a_run_with_lora_exports_a_plain_model(family: str, tmp_path):
    pytest.importorskip("peft")
    made = tiny(family)
    recipe = write_recipe(tmp_path, made, lora={"rank": 4, "alpha": 8})
    run_recipe(recipe, tmp_path, tmp_path / "out", steps=2)
    run_recipe(recipe, tmp_path, tmp_path / "out", export=tmp_path / "model")  # goes on at step 2
    state, before = exported(tmp_path / "model").model.state_dict(), made.model.state_dict()
    assert state.keys() == before.keys()
    changed = {name for name in state if not torch.equal(state[name].half(), before[name].half())}
    assert changed
    assert all("proj" in name for name in changed)  # neither embeddings nor norms


def test_lora_without_peft_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(UserError, match="pip install"):
        run_recipe(write_recipe(tmp_path, lora={}), tmp_path, tmp_path / "out")


def test_the_app_does_without_peft():
    assert "peft" not in (Path(__file__).parents[2] / "requirements.txt").read_text("utf-8")
    program = "import sys, kgdemo.lab.training.run; sys.exit('peft' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.json")), ids=lambda f: f.stem)
def test_a_recipe_that_ships_can_be_read(file: Path):
    recipe = Recipe.load(file.stem)
    assert recipe.sources
    assert recipe.config.steps > 0
    assert all(bool(s.templates) + bool(s.chains) + bool(s.questions) == 1 for s in recipe.sources)
    assert recipe.dev is None or recipe.dev.questions not in {spec.questions for spec in recipe.sources}
    assert not any("fixtures" in spec.questions for spec in recipe.sources)


def test_minilm_becomes_a_decoder_with_marks_of_its_own():
    model, tokenizer, style = start_model("minilm")
    assert style.bidirectional
    assert [len(tokenizer.tokenize(mark)) for mark in ("<PATH>", "</PATH>", " ->")] == [1, 1, 1]
    assert tokenizer.tokenize("/people/person/place_of_birth") == tokenizer.tokenize("people person place of birth")
    assert model.get_input_embeddings().weight.shape[0] == len(tokenizer)


def test_mistakes_are_named_in_one_sentence(tmp_path):
    recipe = write_recipe(tmp_path)
    (tmp_path / "broken.json").write_text('{"model": "minilm"}', "utf-8")
    with pytest.raises(UserError, match=r"no recipe nonsense; choose .*embedded"):
        Recipe.load("nonsense")
    with pytest.raises(UserError, match=r"broken\.json cannot be read"):
        Recipe.load(str(tmp_path / "broken.json"))
    with pytest.raises(UserError, match="--data"):
        run_recipe(recipe, None, tmp_path / "out")
    (tmp_path / "questions.jsonl").unlink()
    with pytest.raises(UserError, match=r"questions\.jsonl"):
        run_recipe(recipe, tmp_path, tmp_path / "out")
    with pytest.raises(UserError, match="train first"):
        export_best(recipe, tmp_path / "nothing", tmp_path / "model")
    with pytest.raises(ModelError, match="cannot be loaded"):
        start_model(str(tmp_path / "nowhere"))


def test_the_command_says_where_an_export_should_go(tmp_path, capsys):
    assert main(["train", "--out", str(tmp_path), "--export-only"]) == 2
    assert "--export DIR" in capsys.readouterr().err
