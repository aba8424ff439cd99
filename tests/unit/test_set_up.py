"""The set-up of a clone, and what the same commands do where pip has installed the package."""

from __future__ import annotations

import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

from kgdemo.cli import main
from kgdemo.cli import run as run_commands


@pytest.fixture
def commands(monkeypatch) -> list[list[str]]:
    """The programs that would have been run, by a superuser on a system with nothing but apt."""
    ran: list[list[str]] = []

    def run(command, **_):
        ran.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None)
    monkeypatch.setattr("os.geteuid", lambda: 0, raising=False)
    return ran


def test_an_installed_package_serves_at_once(monkeypatch, commands):
    served = []
    monkeypatch.setattr(run_commands, "_installed", lambda: True)
    monkeypatch.setitem(sys.modules, "kgdemo.ui.serve", types.SimpleNamespace(main=served.append))
    assert main(["start", "--port", "1"]) == 0
    assert (served, commands) == ([["--port", "1"]], [])


def test_a_clone_is_set_up_before_it_serves(monkeypatch, commands, tmp_path):
    monkeypatch.setattr(run_commands, "_installed", lambda: False)
    monkeypatch.setattr(run_commands, "ENVIRONMENT", tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").touch()
    assert main(["start", "--port", "1"]) == 0
    assert main(["start"]) == 0
    install, first, second = commands  # what is installed already is not installed again
    assert install[1:4] == ["-m", "pip", "install"]
    assert install[-1].endswith("requirements.txt")
    app = str(run_commands.ROOT / "app.py")
    assert [first[1:], second[1:]] == [[app, "--port", "1"], [app]]


def test_an_installed_package_says_where_its_tests_are(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(run_commands, "ROOT", tmp_path)
    assert main(["test"]) == 2
    assert "in a clone" in capsys.readouterr().err


def test_chromium_and_node_are_installed_for_the_tests(monkeypatch, commands, tmp_path):
    monkeypatch.setattr(run_commands, "_environment", lambda *_: tmp_path / "python")
    assert main(["test", "-x"]) == 0
    assert [command[-1] for command in commands if command[:2] == ["apt-get", "install"]] == ["chromium", "nodejs"]
    assert commands[-1][1:3] == ["-m", "pytest"]
    assert commands[-1][-1] == "-x"


@pytest.mark.parametrize(("codes", "runs"), [([0], 1), ([1, 0], 2), ([1, 1], 2), ([2], 1)])
def test_what_fails_side_by_side_is_run_once_more_alone(monkeypatch, codes, runs):
    monkeypatch.setattr(run_commands, "_environment", lambda *_: Path("python"))
    monkeypatch.setattr(run_commands, "_by_apt", lambda *_: None)
    asked: list[list[str]] = []

    def run(_, arguments: list[str]) -> int:
        asked.append(arguments)
        return codes[len(asked) - 1]

    monkeypatch.setattr(run_commands, "_run_python", run)
    assert run_commands.test(["-k", "page"]) == codes[-1]
    assert len(asked) == runs
    assert all(arguments[-2:] == ["-k", "page"] for arguments in asked)
    assert all("--last-failed" in arguments for arguments in asked[1:])
