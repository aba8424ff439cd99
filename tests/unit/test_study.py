"""Recipes: every variant can be asked, is written beside the others, and goes on where it was stopped."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kgdemo.__main__ import main
from kgdemo.errors import UserError
from kgdemo.lab.evaluation import runner
from kgdemo.lab.evaluation import study as studies
from kgdemo.lab.evaluation.metrics import Prediction
from kgdemo.lab.evaluation.recipes import RECIPES
from kgdemo.lab.evaluation.runner import answer_by_question, evaluate
from kgdemo.lab.evaluation.study import (
    BEGIN,
    END,
    Progress,
    StudySet,
    study,
    study_all,
    variant_settings,
    with_all_options,
    write_section,
)
from kgdemo.lab.evaluation.workers import Processes
from kgdemo.lab.questions import Question
from kgdemo.methods import method_named
from kgdemo.pipeline import Pipeline
from kgdemo.settings import LOCAL, Settings, check
from tests.helpers.small import SmallPipeline


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    rows = [
        {"id": "1", "question": "Who directed Inception?", "q_entity": ["Inception"], "answer": ["Christopher Nolan"]},
        {"id": "2", "question": "Where is London?", "q_entity": ["London"], "answer": ["England"]},
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return tmp_path / "questions.jsonl"


@pytest.mark.parametrize("name", RECIPES)
def test_every_variant_can_be_asked_and_is_another(name: str):
    variants = [variant_settings(Settings(), changes) for changes in RECIPES[name].variants.values()]
    assert len(set(variants)) == len(variants)
    for settings in variants:
        check("Who?", settings, LOCAL)
        method_named(settings.method).check(settings.options)


def test_a_recipe_writes_runs_tables_and_a_report_and_is_resumed(tmp_path: Path, questions: Path):
    out = tmp_path / "out"
    asked = Settings(beams=2, hops=1, compare=False, explain=0)
    written = study(SmallPipeline(), "ablations", questions, asked, out).table
    assert written == (out / "table.md").read_text("utf-8").rstrip("\n")
    assert written.startswith("After GCR, table 3. ")
    assert [line.split(" | ")[0] for line in written.splitlines()[4:7]] == [
        f"| {name}" for name in RECIPES["ablations"].variants
    ]
    rows = list(csv.DictReader((out / "table.csv").read_text("utf-8").splitlines()))
    assert [row["variant"] for row in rows] == list(RECIPES["ablations"].variants)
    assert all(0 <= float(row["hits@1"]) <= float(row["hit"]) for row in rows)
    assert "without-path-model" in (out / "report.html").read_text("utf-8")
    assert (out / "plot.svg").read_text("utf-8").startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert (out / "plot.png").read_bytes().startswith(b"\x89PNG")
    before = (out / "gcr" / "predictions.jsonl").read_bytes()
    study(SmallPipeline(), "ablations", questions, asked, out)
    assert (out / "gcr" / "predictions.jsonl").read_bytes() == before


def test_how_far_a_recipe_has_come_is_written_after_each_question(tmp_path: Path, questions: Path, monkeypatch):
    seen: list[dict] = []
    see = Progress.see

    def recorded(self: Progress, *told: object) -> None:
        see(self, *told)
        seen.append(json.loads((tmp_path / "out" / "study.json").read_text("utf-8")))

    monkeypatch.setattr(Progress, "see", recorded)
    monkeypatch.setattr(studies, "_EVERY", 0.0)
    asked = Settings(beams=2, hops=1, compare=False, explain=0)
    study(SmallPipeline(), "ablations", questions, asked, tmp_path / "out")
    done = [[row["done"] for row in one["rows"]] for one in seen]
    assert done == [[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 0, 0], [2, 1, 0], [2, 2, 0], [2, 2, 0], [2, 2, 1], [2, 2, 2]]
    assert seen[0]["seconds_left"] is None
    assert all(one["seconds_left"] > 0 for one in seen[1:-1])
    assert seen[-1]["seconds_left"] == 0
    first = seen[-1]["rows"][0]
    assert first["of"] == 2
    assert first["metrics"]["hits@1_low"] <= first["metrics"]["hits@1"] <= first["metrics"]["hits@1_high"]
    assert seen[0]["recipe"] == "ablations"
    seen.clear()
    study(SmallPipeline(), "ablations", questions, asked, tmp_path / "out")
    assert [row["done"] for row in seen[0]["rows"]] == [2, 0, 0], "what is done is known at once"


ASKED = Settings(beams=2, hops=1, compare=False, explain=0)


def test_variants_of_the_same_settings_are_answered_once(tmp_path: Path, questions: Path):
    asked: list[str] = []

    class Counting(SmallPipeline):
        def run(self, question, settings, entities=()):
            asked.append(settings.method)
            yield from super().run(question, settings, entities)

    known: dict[Settings, Path] = {}
    first = study(Counting(), "ablations", questions, ASKED, tmp_path / "ablations", known=known)
    assert asked == ["gcr"] * 6
    assert list(known.values()) == [tmp_path / "ablations" / variant for variant in RECIPES["ablations"].variants]
    asked.clear()
    other = study(Counting(), "transfer", questions, ASKED, tmp_path / "transfer", known=known)
    assert asked == ["direct"] * 2 + ["cot"] * 2, "gcr was asked by the first recipe"
    assert other.runs[2].predictions == first.runs[0].predictions
    assert (
        known[with_all_options(variant_settings(ASKED, "method=gcr path_model=yes"))] == tmp_path / "ablations" / "gcr"
    )
    settings = json.loads((tmp_path / "transfer" / "gcr" / "settings.json").read_text("utf-8"))
    assert (settings["method"], settings["options"]) == ("gcr", {})


def test_all_recipes_of_several_sets_stand_in_a_readme_between_its_marks(
    tmp_path: Path, questions: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(studies, "RECIPES", {name: RECIPES[name] for name in ("ablations", "transfer")})
    readme = tmp_path / "README.md"
    readme.write_text("before\n", "utf-8")
    with pytest.raises(UserError, match="has no lines <!-- studies: begin -->"):
        write_section(readme, {}, "a command")
    readme.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", "utf-8")
    sets = [StudySet("films", "world", questions), StudySet("again", "world", questions)]
    seen = []
    for name, _, finished in study_all(SmallPipeline(), sets, ASKED, tmp_path / "out"):
        seen.append(name)
        write_section(readme, finished, "a command")
    assert seen == ["ablations", "transfer"] * 2
    written = readme.read_text("utf-8")
    assert written.startswith(
        f"before\n{BEGIN}\n`a command`\n\n2 recipes, 2 questions of films and 2 questions of again: "
    )
    assert ": 12 variants, of which 10 differ (the same settings are answered once), in " in written
    assert written.endswith(f"\n{END}\nafter\n")
    assert "\nold\n" not in written
    assert "**ablations** (GCR, table 3). " in written
    assert written.count("\n| without-path-model | ") == 2
    assert written.index("\n| *films* |") < written.index("\n| *again* |")
    table = written[written.index("**ablations**") : written.index("**transfer**")]
    assert "| faithful |" not in table, "a column with one figure is no column"
    assert "\nEverywhere: " in table
    assert "faithful 1.00" in table[table.index("Everywhere") :]
    for of in ("films", "again"):
        assert f"![ablations, {of}](figures/{of}/ablations.svg)" in table
        assert (tmp_path / "figures" / of / "ablations.svg").read_text("utf-8").startswith("<svg xmlns=")
        assert not (tmp_path / "figures" / of / "ablations.png").exists()
        assert (tmp_path / "out" / of / "transfer" / "table.md").is_file()
    write_section(readme, finished, "a command")
    assert readme.read_text("utf-8") == written


def test_all_recipes_are_asked_for_by_sets_or_by_one_file(
    tmp_path: Path, questions: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert main(["study", "beams", f"--out={tmp_path}"]) == 2
    assert "Give --questions FILE, or with `study all` --set NAME KG FILE" in capsys.readouterr().err
    given: list[StudySet] = []
    monkeypatch.setattr(studies, "study_all", lambda _, sets, *__: given.extend(sets) or iter(()))
    assert main(["study", "all", "--set", "films", "world", str(questions), f"--out={tmp_path}"]) == 0
    assert main(["study", "all", f"--questions={questions}", f"--out={tmp_path}"]) == 0
    assert given == [StudySet("films", "world", questions), StudySet("questions", "world", questions)]
    assert main(["study", "all", "--set", "films", "world", str(questions), "1", f"--out={tmp_path}"]) == 0
    assert given[2:] == [StudySet("films", "world", questions, 1)]
    capsys.readouterr()
    for wrong in (["films", "world"], ["films", "world", str(questions), "few"]):
        assert main(["study", "all", "--set", *wrong, f"--out={tmp_path}"]) == 2
        assert f"not {' '.join(wrong)}." in capsys.readouterr().err


def test_questions_are_answered_by_all_runs_before_the_next_as_by_each_alone(
    tmp_path: Path, questions: Path, monkeypatch: pytest.MonkeyPatch
):
    runs = {name: variant_settings(ASKED, changes) for name, changes in RECIPES["ablations"].variants.items()}
    for name, settings in runs.items():
        evaluate(SmallPipeline(), questions, settings, tmp_path / "alone" / name)
    asked: list[tuple[str, str]] = []
    ask = runner.ask

    def watched(pipeline: Pipeline, question: Question, settings: Settings, *rest: Any) -> Prediction:
        asked.append((question.id, next(name for name, own in runs.items() if own == settings)))
        return ask(pipeline, question, settings, *rest)

    monkeypatch.setattr(runner, "ask", watched)
    folders = {tmp_path / "together" / name: settings for name, settings in runs.items()}
    answer_by_question(SmallPipeline(), questions, folders)
    assert asked == [(question, name) for question in ("1", "2") for name in runs]
    for name in runs:
        expected = (tmp_path / "alone" / name / "predictions.jsonl").read_bytes()
        assert (tmp_path / "together" / name / "predictions.jsonl").read_bytes() == expected
    # stopped between two runs it goes on with those that have not answered
    last = list(folders)[-1] / "predictions.jsonl"
    whole = last.read_bytes()
    last.write_bytes(whole[: whole.index(b"\n") + 1])
    asked.clear()
    answer_by_question(SmallPipeline(), questions, folders)
    assert (asked, last.read_bytes()) == ([("2", list(runs)[-1])], whole)
    with closing(Processes(SmallPipeline, 2)) as workers:
        folders = {tmp_path / "workers" / name: settings for name, settings in runs.items()}
        answer_by_question(SmallPipeline(), questions, folders, workers=workers)
    for name in runs:
        expected = (tmp_path / "alone" / name / "predictions.jsonl").read_bytes()
        assert (tmp_path / "workers" / name / "predictions.jsonl").read_bytes() == expected


class LosingWorkers:
    """No question survives them."""

    def answered(self, ask: object, asked: Sequence[Any], lost: Callable[[Any], Any]) -> Iterator[Any]:
        yield from map(lost, asked)

    def close(self) -> None:
        pass


def test_a_question_that_no_worker_survives_is_left_to_the_runs_one_by_one(tmp_path: Path, questions: Path):
    folders = {tmp_path / name: variant_settings(ASKED, f"method={name}") for name in ("gcr", "cot")}
    answer_by_question(SmallPipeline(), questions, folders, workers=LosingWorkers())
    assert not list(tmp_path.glob("*/predictions.jsonl"))
    (tmp_path / "gcr" / "predictions.jsonl").write_text("", "utf-8")
    with pytest.raises(UserError, match="made with other settings"):
        answer_by_question(
            SmallPipeline(), questions, {tmp_path / "gcr": variant_settings(ASKED, "method=gcr beams=1")}
        )


def test_recipes_are_listed_for_people_and_for_programs(capsys: pytest.CaptureFixture[str]):
    assert main(["recipes"]) == 0
    assert "few-shot: GCR, table 4; 3 variants." in capsys.readouterr().out
    assert main(["recipes", "--json"]) == 0
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["name"] for one in listed] == list(RECIPES)
    assert listed[0]["variants"] == {"gcr": "method=gcr compare=yes"}


def test_workers_write_what_one_process_writes(tmp_path: Path, questions: Path, capsys: pytest.CaptureFixture[str]):
    given = ["study", "constraint", f"--questions={questions}", "--beams=2", "--hops=1", "--kg=chemistry"]
    lines = [{"id": n, "question": f"What is {n} made of?", "answer": ["hydrogen"]} for n in ("water", "ammonia")]
    questions.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    for out, workers in (("one", "1"), ("two", "2")):
        assert main([*given, f"--out={tmp_path / out}", f"--workers={workers}"]) == 0
    one, two = (tmp_path / out / "gcr" / "predictions.jsonl" for out in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    assert "After GCR, figure 5" in capsys.readouterr().out
    assert main([*given, f"--out={tmp_path / 'none'}", "--workers=0"]) == 2
    assert "--workers is 0" in capsys.readouterr().err


def test_the_constraint_is_measured_with_and_without(tmp_path: Path, questions: Path):
    written = study(
        SmallPipeline(), "constraint", questions, Settings(beams=2, hops=1, explain=0), tmp_path / "out"
    ).table
    assert "unconstrained_faithful_ratio_correct" in written
    assert "Brackets: 95 % intervals" in written


def test_a_recipe_that_is_none_is_told_which_there_are(tmp_path: Path, questions: Path):
    with pytest.raises(UserError, match="There is no recipe 'magic'; choose one of constraint, beams"):
        study(SmallPipeline(), "magic", questions, Settings(), tmp_path)
