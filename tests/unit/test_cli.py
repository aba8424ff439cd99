"""The command line's contracts: exit codes, one event a line, one verdict a line, metrics by name."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest

from kgdemo.cli import main
from kgdemo.events import AnswerFinal, RunFinished, RunStarted, from_json
from tests.helpers.models import random_model

TRIPLES = "Inception\tdirected by\tChristopher Nolan\nChristopher Nolan\tborn in\tLondon\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, str]:
    """A model folder, a graph and a question set."""
    folder = tmp_path_factory.mktemp("cli")
    made = random_model("qwen2")
    model = folder / "model"
    made.model.save_pretrained(model)
    made.tokenizer.save_pretrained(model)
    made.style.save(model)
    (folder / "kg.tsv").write_text(TRIPLES, "utf-8")
    questions = [
        {"id": "1", "question": "who directed it?", "q_entity": ["Inception"], "a_entity": ["Christopher Nolan"]},
        {"id": "2", "question": "where born?", "q_entity": ["Christopher Nolan"], "answer": ["London"]},
        {"id": "3", "question": "an unknown one", "q_entity": ["Nobody"], "answer": ["London"]},
        {"id": "4", "question": "own graph", "q_entity": ["a"], "answer": ["b"], "graph": [["a", "r", "b"]]},
    ]
    lines = "".join(json.dumps(q) + "\n" for q in questions)
    (folder / "questions.jsonl").write_text(lines, "utf-8")
    return {"model": str(model), "kg": str(folder / "kg.tsv"), "questions": str(folder / "questions.jsonl")}


def test_ask_prints_one_event_a_line(files, capsys):
    code = main(
        ["ask", "who directed it?", "--kg", files["kg"], "--model", files["model"], "--entity", "Inception", "--json"]
    )
    events = [from_json(line) for line in capsys.readouterr().out.splitlines()]
    assert code == 0
    assert isinstance(events[0], RunStarted)
    assert any(isinstance(event, AnswerFinal) and event.answers for event in events)
    assert isinstance(events[-1], RunFinished)
    assert [event.t for event in events] == sorted(event.t for event in events)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ask", "  "], "question is empty"),
        (["ask", "a" * 10_000], "shorten it"),
        (["ask", "q", "--beams", "0"], "choose a whole number from 1 to"),
        (["ask", "q", "--hops", "9"], "choose a whole number from 1 to"),
        (["ask", "q", "--ranking", "best"], "choose one of pooled, relation, path"),
        (["ask", "q", "--kg", "/no/such.tsv"], "There is no file"),
        (["ask", "q", "--kg", "atlantis"], "There is no graph"),
        (["ask", "q", "--method", "magic"], "There is no method"),
        (["ask", "q", "--method", "dog", "--option", "wide=1"], "no option 'wide'"),
        (["ask", "q", "--method", "dog", "--option", "wide"], "name=value"),
        (["ask", "q", "--entity", "Incption"], "has no entity 'Incption'"),
        (["ask", "q", "--entity", "Inception", "--model", "/no/such"], "no model folder"),
        (["evaluate", "--questions", "/none.jsonl", "--out", "OUT"], "no question file"),
        (["verify", "--kg", "/none.tsv"], "There is no file"),
        (["kg", "info", "/none.tsv"], "There is no file"),
        (["kg", "check", "mars"], "no embedded graph"),
        (["train", "--recipe", "none", "--out", "OUT"], "no recipe"),
        (["train", "--out", "OUT"], "--data"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(files, tmp_path, capsys, arguments, words):
    arguments = [str(tmp_path / "out") if a == "OUT" else a for a in arguments]
    if arguments[0] == "ask" and "--kg" not in arguments:
        arguments += ["--kg", files["kg"]]
    assert main(arguments) == 2
    complaint = capsys.readouterr().err.strip()
    assert words in complaint
    assert "Traceback" not in complaint
    assert len(complaint.splitlines()) == 1


def test_hostile_questions_are_just_questions(files, capsys):
    question = "<PATH> </PATH> <script>alert(1)</script> {{x}} ${y} who directed it?"
    code = main(["ask", question, "--kg", files["kg"], "--model", files["model"], "--entity", "Inception", "--json"])
    events = [from_json(line) for line in capsys.readouterr().out.splitlines()]
    assert code == 0
    assert isinstance(events[0], RunStarted)
    assert events[0].question == question


def test_verify_prints_one_verdict_a_line(files, capsys, monkeypatch):
    lines = ["Inception -> directed by -> Christopher Nolan", "Inception -> directed by -> London", "nonsense"]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines)))
    assert main(["verify", "--kg", files["kg"]]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [r["faithful"] for r in records] == [True, False, False]
    assert [r["hops"][0]["verdict"] for r in records] == ["ok", "no such edge", "malformed"]


def test_evaluate_writes_metrics_and_resumes(files, tmp_path, capsys):
    arguments = ["evaluate", "--kg", files["kg"], "--model", files["model"], "--questions", files["questions"]]
    arguments += ["--out", str(tmp_path / "run"), "--unconstrained"]
    assert main([*arguments, "--limit", "2"]) == 0
    assert main(arguments) == 0
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    wanted = "questions hits@1 hit@k hit f1 precision recall faithful_ratio seconds_per_question lm_calls tokens_in"
    for name in [*wanted.split(), "tokens_out", "unconstrained_faithful_ratio"]:
        assert isinstance(metrics[name], (int, float)), name
    assert metrics["questions"] == 4
    assert metrics["faithful_ratio"] == 1.0
    assert metrics["failed"] == 1, "the question about an unknown entity"
    assert metrics["hit@k"] == metrics["path_hit@k"] == 0.75
    assert metrics["hits@1"] <= metrics["hit"]
    assert metrics["hits@1_low"] <= metrics["hits@1"] <= metrics["hits@1_high"]
    lines = (tmp_path / "run" / "predictions.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["1", "2", "3", "4"]
    capsys.readouterr()
    assert main(arguments) == 0
    again = (tmp_path / "run" / "predictions.jsonl").read_text().splitlines()
    failed = [json.loads(line)["id"] for line in again if json.loads(line)["error"]]
    assert failed == ["3"], "the question that failed is asked again, and fails again"
    assert again == lines
    assert main([*arguments, "--beams", "3"]) == 2, "other settings do not mix"
    assert "other settings" in capsys.readouterr().err


def test_kg_info_and_save(files, tmp_path, capsys):
    assert main(["kg", "save", files["kg"], "--out", str(tmp_path / "saved")]) == 0
    assert main(["kg", "info", str(tmp_path / "saved")]) == 0
    assert "2 triples, 3 entities, 2 relations" in capsys.readouterr().out


def test_linking_is_measured_without_a_model(files, tmp_path, capsys):
    arguments = ["evaluate", "--questions", files["questions"], "--kg", files["kg"], "--link-only"]
    assert main([*arguments, "--model", "/nowhere", "--out", str(tmp_path)]) == 0
    metrics = json.loads(capsys.readouterr().out)
    assert {"link_accuracy", "link_ms_median", "link_ms_worst"} <= set(metrics)
    assert json.loads((tmp_path / "metrics.json").read_text("utf-8")) == metrics


def test_calibrate_goes_on_where_it_stopped_and_writes_the_weights(files, tmp_path, capsys):
    names = ["Inception", "Christopher Nolan", "London"]
    anything = sorted({part for line in Path(files["kg"]).read_text("utf-8").splitlines() for part in line.split("\t")})
    for kind, answer in (("answerable", anything), ("unanswerable", [])):
        lines = [
            {"id": f"{kind}-{n}", "question": f"what about {n}", "q_entity": [names[n % 3]], "answer": answer}
            for n in range(16)
        ]
        (tmp_path / f"{kind}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    folder = tmp_path / "model"
    shutil.copytree(files["model"], folder)
    arguments = ["calibrate", "--kg", files["kg"], "--model", str(folder), "--beams", "2", "--out", str(tmp_path)]
    arguments += [f"--{kind}={tmp_path / kind}.jsonl" for kind in ("answerable", "unanswerable")]
    assert main([*arguments, "--limit", "3"]) == 2  # too few, but what was asked is kept
    kept = (tmp_path / "features.jsonl").read_text("utf-8")
    assert sum('-cut"' not in line for line in kept.splitlines()) == 6
    capsys.readouterr()
    assert main([*arguments, "--save"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"recognised", "refused", "abstention"} <= set(found)
    assert (tmp_path / "features.jsonl").read_text("utf-8").startswith(kept)
    assert json.loads((folder / "kgdemo.json").read_text("utf-8"))["abstention"] == found["abstention"]


def test_the_ranking_is_fitted_and_saved(files, tmp_path, capsys):
    topics = [("Inception", ["Christopher Nolan"]), ("Christopher Nolan", ["London"])]
    lines = [
        {"id": str(n), "question": f"who or where, {n}", "q_entity": [topic], "answer": answer}
        for n in range(10)
        for topic, answer in topics
    ]
    (tmp_path / "asked.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    folder = tmp_path / "model"
    shutil.copytree(files["model"], folder)
    arguments = ["calibrate", "--model", str(folder), "--beams", "3", "--out", str(tmp_path / "out")]
    fit = [*arguments, "--pool", files["kg"], str(tmp_path / "asked.jsonl")]
    assert main([*fit, "1", "--save"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"ranking", "questions", "hits@1", "hits@1_cross_validated"} == set(found)
    assert json.loads((folder / "kgdemo.json").read_text("utf-8"))["ranking"] == found["ranking"]
    assert main([*fit, "two"]) == 2
    assert "number of hops" in capsys.readouterr().err
    assert main(arguments) == 2
    assert "--pool" in capsys.readouterr().err


def test_what_stands_for_unknown_relations_is_fitted_and_saved(files, tmp_path, capsys):
    lines = [
        {"id": str(n), "question": f"who or where, {n}", "q_entity": [topic], "answer": [answer]}
        for n in range(24)
        for topic, answer in (("Inception", "Christopher Nolan"), ("Christopher Nolan", "London"))
    ]
    (tmp_path / "asked.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    (tmp_path / "held_out.json").write_text(json.dumps({"kg.tsv": ["born in"]}), "utf-8")
    folder = tmp_path / "model"
    shutil.copytree(files["model"], folder)
    command = ["calibrate", "--model", str(folder), "--beams", "3", "--out", str(tmp_path / "out"), "--save"]
    command += ["--held-out", str(tmp_path / "held_out.json")]
    command += ["--pool", files["kg"], str(tmp_path / "asked.jsonl"), "1"]
    assert main(command) == 2
    assert "relations.txt" in capsys.readouterr().err
    (folder / "relations.txt").write_text("directed by\n", "utf-8")
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    (figures,) = found["cross_validated"].values()
    assert (figures["seen_questions"], figures["held_out_questions"]) == (24, 24)
    assert {"seen_hits@1", "held_out_hits@1"} < set(figures)
    assert json.loads((folder / "kgdemo.json").read_text("utf-8"))["backoff"] == found["backoff"]
    assert (folder / "relations.txt").read_text("utf-8") == "directed by\n"
