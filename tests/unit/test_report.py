"""Runs as one HTML file: figures with intervals, what changed, and nothing that runs or is fetched."""

from __future__ import annotations

import base64
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from PIL import Image, ImageColor

from kgdemo.cli import main
from kgdemo.errors import UserError
from kgdemo.events import from_json
from kgdemo.lab.evaluation.metrics import Prediction
from kgdemo.lab.evaluation.predictions import trace_file
from kgdemo.lab.evaluation.report import html_report, read_runs, write_plot
from kgdemo.lab.evaluation.runner import evaluate
from kgdemo.settings import Settings
from tests.helpers.small import SmallPipeline

EVIL = "<img src=x onerror=alert(1)>\"'&"


def written(folder: Path, right: int, compare: bool = False) -> Path:
    """A run of 20 questions, so many of them answered right."""
    folder.mkdir(parents=True)
    empty = Prediction("", "", (), ("gold",), (), (f"{EVIL} -> r -> x",), ("gold",), 1, 2, 1, False, 1.0, 1, 2, 3)
    rows = [
        replace(empty, id=str(n), question=f"{EVIL} {n}?", answers=("gold" if n < right else EVIL,)) for n in range(20)
    ]
    (folder / "predictions.jsonl").write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), "utf-8")
    (folder / "settings.json").write_text(json.dumps({"method": EVIL, "compare": compare}), "utf-8")
    return folder


def test_figures_intervals_and_changed_questions_are_in_it(tmp_path: Path):
    runs = read_runs([written(tmp_path / "one", 5), written(tmp_path / "two", 15, compare=True)])
    text = html_report(runs)
    assert re.search(r"hits@1</td><td>0\.250 <small>0\.\d{3}–0\.\d{3}</small></td><td>0\.750", text)
    assert "10 questions changed" in text
    assert len(re.findall(r'<span class="wrong">', text)) == len(re.findall(r'<span class="right">', text)) == 10
    assert "unconstrained_faithful_ratio" in text
    assert "By hops and by number of answers" in text
    assert re.search(r"1 answer <small>20</small></td><td>f1</td><td>0\.250 <small>.*?</td><td>0\.750", text)
    (tmp_path / "one" / "metrics.json").write_text('{"gpt4score": 0.625, "gpt4score_low": 0.5}', "utf-8")
    assert "gpt4score</td><td>0.625" in html_report(read_runs([tmp_path / "one"]))
    assert re.search(r"<td>hits@1</td><td>0\.250</td><td>0\.750</td><td>\+0\.500</td><td>\+0\.\d", text)


def test_hostile_text_stays_text_and_nothing_is_fetched_or_run(tmp_path: Path):
    text = html_report(read_runs([written(tmp_path / EVIL.replace("/", ""), 5), written(tmp_path / "two", 15)]))
    assert "<img" not in text
    assert not re.search(r"<script|https?://|url\(|@import", text)
    body = text[text.index("<body") : text.index("</html>")]
    ET.fromstring(re.sub(r"<br>", "<br/>", body))  # every element is closed


def test_a_comparison_of_methods_is_several_runs_and_names_stay_apart(tmp_path: Path):
    written(tmp_path / "all" / "gcr", 5)
    written(tmp_path / "all" / "dog", 6)
    written(tmp_path / "other" / "gcr", 7)
    names = [run.name for run in read_runs([tmp_path / "all", tmp_path / "other" / "gcr"])]
    assert names[0] == "dog"
    assert names[1:] == [str(tmp_path / "all" / "gcr"), str(tmp_path / "other" / "gcr")]


def test_the_command_writes_it_or_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    run, out = written(tmp_path / "one", 5), tmp_path / "new" / "report.html"
    assert main(["report", str(run), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"1 runs in {out}\n"
    assert out.read_text("utf-8").startswith("<!doctype html>")
    assert main(["report", str(tmp_path / "nowhere")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    (run / "settings.json").unlink()
    with pytest.raises(UserError, match=r"no settings\.json"):
        read_runs([run])


def test_a_plot_is_drawn_twice_from_the_same_shapes(tmp_path: Path):
    """Of the bars in the picture so much is coloured as the SVG says."""
    runs = read_runs([written(tmp_path / "one", 5), written(tmp_path / "two", 15)])
    write_plot(runs, tmp_path / "a.plot")
    svg = ET.fromstring((tmp_path / "a.plot.svg").read_text("utf-8"))
    bars = [rect for rect in svg.iter("{http://www.w3.org/2000/svg}rect") if len(rect)]
    assert [float(bar.get("height")) for bar in bars[:2]] == [50.0, 150.0]
    with Image.open(tmp_path / "a.plot.png") as image:
        assert image.size == (2 * int(svg.get("width")), 2 * int(svg.get("height")))
        for bar in bars[:2]:
            x, y, height = (2 * float(bar.get(name)) for name in ("x", "y", "height"))
            column = [image.getpixel((x + 3, row)) for row in range(int(y) - 4, int(y + height))]
            colour = ImageColor.getrgb(bar.get("fill"))
            assert column.count(colour) == pytest.approx(height, abs=2)
            assert column[0] == (255, 255, 255)


def test_questions_that_differ_open_their_recorded_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    rows = [
        {
            "id": "../1",
            "question": "Who directed Inception?",
            "q_entity": ["Inception"],
            "answer": ["Christopher Nolan"],
        },
        {"id": "2", "question": "Where was Nolan born?", "q_entity": ["Christopher Nolan"], "answer": ["London"]},
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    asked = Settings(beams=2, hops=1, compare=False, explain=0)
    evaluate(SmallPipeline(), tmp_path / "questions.jsonl", asked, tmp_path / "one", traces=True)
    evaluate(SmallPipeline(), tmp_path / "questions.jsonl", asked, tmp_path / "two")
    assert sorted((tmp_path / "one" / "traces").iterdir()) == sorted(
        trace_file(tmp_path / "one", r["id"]) for r in rows
    )
    wrong = tmp_path / "two" / "predictions.jsonl"
    right = [json.loads(line) for line in wrong.read_text("utf-8").splitlines()]
    turned = [{**one, "answers": ["nobody"] if one["answers"] == one["gold"] else one["gold"]} for one in right]
    wrong.write_text("".join(json.dumps(one) + "\n" for one in turned), "utf-8")
    assert main(["report", str(tmp_path / "one"), str(tmp_path / "two"), "--out", str(tmp_path / "a b.html")]) == 0
    links = re.findall(r'<a href="([^"]+)">open its run</a>', (tmp_path / "a b.html").read_text("utf-8"))
    names = {f"a%20b_runs/1.html?recorded={trace_file(tmp_path, row['id']).stem}" for row in rows}
    assert set(links) == names, "of the run that was kept, and of the other none"
    page = (tmp_path / "a b_runs" / "1.html").read_text("utf-8")
    kept = re.findall(r"data:application/x-ndjson;base64,([\w+/=]+)", page)
    runs = [list(map(from_json, base64.b64decode(one).decode().split("\n")[:-1])) for one in kept]
    assert {run[0].question for run in runs} == {row["question"] for row in rows}
