"""The Benchmark tab's side of the server: studies by name, one at a time, resumed, compared; and none in public."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from kgdemo.settings import LOCAL, PUBLIC
from kgdemo.ui.benchmark import SHIPPED, Studies, routes

# A command line that answers one question a start and then waits for its input to end, so that each test knows where
# the study stands.
COMMAND = """
import json, sys
from pathlib import Path
command, *given = sys.argv[1:]
if command == "recipes":
    print(json.dumps({"name": "beams", "after": "", "reports": "", "compares": "", "variants": {"one": "method=dog"}}))
elif command == "compare":
    print(json.dumps({"name": "hit", "first": len(given), "second": 1.0, "low": 0, "high": 0, "p": 1}))
else:
    options = dict(one[2:].split("=", 1) for one in given if "=" in one)
    if options["kg"] == "broken":
        sys.exit("There is no graph broken; choose another.")
    out = Path(options["out"])
    (out / "one").mkdir(exist_ok=True)
    file = out / "one" / "predictions.jsonl"
    done = len(file.read_text().splitlines()) if file.exists() else 0
    line = {"id": str(done), "question": f"<b>{done}?", "topics": ["t"], "answers": ["a"], "gold": ["a"]}
    with file.open("a") as stream:
        stream.write(json.dumps(line) + "\\n")
    row = {"name": "one", "done": done + 1, "of": int(options["limit"]), "metrics": {}, "right": ["0"]}
    known = {"variants": {"one": "method=dog"}, "rows": [row], "seconds_left": 3.0}
    (out / "study.json").write_text(json.dumps(known))
    print("ready", file=sys.stderr, flush=True)
    if done + 1 < row["of"]:
        sys.stdin.read()
"""


@pytest.fixture
def studies(tmp_path: Path) -> Iterator[Studies]:
    (tmp_path / "command.py").write_text(COMMAND, "utf-8")
    made = Studies(tmp_path / "studies", (sys.executable, str(tmp_path / "command.py")))
    yield made
    made.stop()


@pytest.fixture
def client(studies: Studies) -> TestClient:
    return TestClient(Starlette(routes=routes(LOCAL, studies)), client=("127.0.0.1", 1))


def choice(tmp_path: Path, **changed: object) -> dict[str, object]:
    (tmp_path / "set.jsonl").write_text("{}\n", "utf-8")
    own = {"recipe": "beams", "questions": str(tmp_path / "set.jsonl"), "size": 3, "graph": "world"}
    return {**own, "beams": 2, "hops": 1, **changed}


def answered(studies: Studies, name: str, number: int) -> None:
    """Wait until the process says so in its log."""
    log = studies._folder / name / "log.txt"
    while "ready" not in log.read_text("utf-8"):
        assert studies.running or "ready" in log.read_text("utf-8"), log.read_text("utf-8")
    assert studies.state(name)["rows"][0]["done"] == number


def test_a_study_is_started_watched_stopped_and_resumed(client: TestClient, studies: Studies, tmp_path: Path):
    assert [one["name"] for one in client.get("/benchmark").json()["recipes"]] == ["beams"]
    name = client.post("/benchmark", json=choice(tmp_path)).json()["name"]
    answered(studies, name, 1)
    state = client.get(f"/benchmark/{name}").json()
    assert (state["state"], state["seconds_left"], state["choice"]["size"]) == ("running", 3.0, 3)
    refused = client.post("/benchmark", json=choice(tmp_path, beams=3))
    assert (refused.status_code, "Another study is running" in refused.json()["error"]) == (400, True)
    assert client.post("/benchmark/stop", json={}).json() == {}
    assert client.get(f"/benchmark/{name}").json()["state"] == "stopped"
    listed = client.get("/benchmark").json()
    assert (listed["studies"], listed["running"]) == ([name], "")
    for number in (2, 3):
        assert client.post("/benchmark", json=choice(tmp_path)).json()["name"] == name, "the same choice is resumed"
        answered(studies, name, number)
        studies.stop()
    assert client.get(f"/benchmark/{name}").json()["state"] == "done"
    listed = client.get(f"/benchmark/{name}/one").json()
    assert listed["method"] == "dog"
    assert [(one["question"], one["right"]) for one in listed["questions"]] == [
        ("<b>0?", True),
        ("<b>1?", False),
        ("<b>2?", False),
    ]
    other = client.post("/benchmark", json=choice(tmp_path, beams=3)).json()["name"]
    assert other != name


def test_two_runs_are_compared_by_the_command_line(client: TestClient, studies: Studies, tmp_path: Path):
    name = client.post("/benchmark", json=choice(tmp_path, size=1)).json()["name"]
    answered(studies, name, 1)
    told = client.post("/benchmark/compare", json={"first": [name, "one"], "second": [name, "one"]}).json()["rows"]
    assert [(row["name"], row["first"]) for row in told] == [("hit", 3)]


def test_what_a_study_complains_of_is_shown(client: TestClient, studies: Studies, tmp_path: Path):
    name = client.post("/benchmark", json=choice(tmp_path, graph="broken")).json()["name"]
    while studies.running:
        pass
    state = client.get(f"/benchmark/{name}").json()
    assert (state["state"], state["complaint"]) == ("failed", "There is no graph broken; choose another.")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"recipe": "magic"}, "There is no recipe"),
        ({"questions": "/nowhere/at/all.jsonl"}, "There is no question file"),
        ({"size": 0}, "form of a study"),
        ({"size": "3"}, "form of a study"),
        ({"hops": 9}, "form of a study"),
        ({"more": 1}, "form of a study"),
    ],
)
def test_a_choice_that_is_none_is_refused(client: TestClient, tmp_path: Path, changed: dict[str, object], says: str):
    refused = client.post("/benchmark", json=choice(tmp_path, **changed))
    assert refused.status_code == 400
    assert says in refused.json()["error"]


@pytest.mark.parametrize("name", ["..", "%2e%2e", "none", ".hidden", "a%2fb", "x" * 300])
def test_no_other_folder_is_read(client: TestClient, tmp_path: Path, name: str):
    (tmp_path / "choice.json").write_text("{}", "utf-8")
    for answer in (client.get(f"/benchmark/{name}"), client.get(f"/benchmark/{name}/one")):
        assert answer.status_code in (400, 404) or "recipes" in answer.json(), answer.text
    two = {"first": [name, "one"], "second": [name, ".."]}
    assert client.post("/benchmark/compare", json=two).status_code == 400


def test_a_form_of_another_site_starts_nothing(client: TestClient, tmp_path: Path):
    sent = json.dumps(choice(tmp_path))
    refused = client.post("/benchmark", content=sent, headers={"content-type": "text/plain"})
    assert refused.status_code == 400
    assert client.get("/benchmark").json()["studies"] == []


def test_the_sets_of_a_clone_have_their_graph(studies: Studies):
    assert {(one["name"], one["graph"]) for one in studies.sets} >= {
        ("world_dev", "world"),
        ("chemistry_test", "chemistry"),
    }
    lines = (SHIPPED / "chemistry_test.jsonl").read_text("utf-8").splitlines()
    assert {one["name"]: one["questions"] for one in studies.sets}["chemistry_test"] == len(lines)


def test_a_public_server_has_no_benchmarks(studies: Studies):
    assert routes(PUBLIC, studies) == []
    assert not PUBLIC.studies


def test_an_attached_study_says_what_it_cannot_read_and_ends_before_its_input(tmp_path: Path):
    (tmp_path / "set.jsonl").write_text('{"something": "else"}', "utf-8")
    command = [sys.executable, "-m", "kgdemo", "study", "beams", "--attached", f"--questions={tmp_path / 'set.jsonl'}"]
    with subprocess.Popen(
        [*command, f"--out={tmp_path / 'out'}"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as study:
        assert study.wait() == 2
        assert "is no question set that is known" in study.stderr.read().splitlines()[-1]


def test_an_attached_study_ends_with_its_input(tmp_path: Path):
    (tmp_path / "set.jsonl").write_text(json.dumps({"id": "1", "question": "Who?", "answer": ["a"]}), "utf-8")
    command = [sys.executable, "-m", "kgdemo", "study", "beams", "--attached", f"--questions={tmp_path / 'set.jsonl'}"]
    ended = subprocess.run([*command, f"--out={tmp_path / 'out'}"], stdin=subprocess.DEVNULL, check=False)
    assert ended.returncode == -15
