"""What the container installs is locked, permitted and as asked for; the container itself has no rights to spare."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
LOCKED = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements.lock").read_text("utf-8"), re.MULTILINE))
# of the licences that packages name, those under which they may be handed on together with this project
PERMITTED = re.compile(r"Apache|MIT|BSD|ISC|PSF|Python Software Foundation|MPL|Mozilla|Unlicense|Zlib|HPND|CMU", re.I)
FORBIDDEN = re.compile(r"GPL|proprietary|commercial", re.I)


def at_hand(name: str) -> bool:
    """Whether a package is installed here in the version that is locked: of others nothing is known."""
    try:
        return name not in LOCKED or metadata.version(name) == LOCKED[name]
    except metadata.PackageNotFoundError:
        return False


def asked() -> list[Requirement]:
    lines = (line.split("#")[0].strip() for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines())
    return [Requirement(line) for line in lines if line]


def test_what_is_asked_for_is_locked_within_its_bounds():
    torch = re.search(r"torch==(\S+)", DOCKERFILE)
    assert torch is not None
    locked = {**LOCKED, "torch": torch.group(1)}
    for wanted in asked():
        assert wanted.specifier.contains(locked[canonicalize_name(wanted.name)]), wanted


def test_whatever_a_locked_package_needs_is_locked_too():
    there = {"python_version": "3.12", "python_full_version": "3.12.0", "sys_platform": "linux", "extra": ""}
    for name in filter(at_hand, [*LOCKED, "torch"]):
        for need in map(Requirement, metadata.requires(name) or ()):
            if need.marker is None or need.marker.evaluate(there):
                left_out = canonicalize_name(need.name).startswith(("torch", "triton", "nvidia", "cuda"))
                assert left_out or canonicalize_name(need.name) in LOCKED, (name, need)


def test_every_locked_file_has_its_hash_and_none_is_for_gpus():
    entries = re.split(r"^(?=[\w.-]+==)", (ROOT / "requirements.lock").read_text("utf-8"), flags=re.MULTILINE)[1:]
    assert len(entries) == len(LOCKED) > 50
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry) for entry in entries)
    assert not [name for name in LOCKED if name.startswith(("nvidia", "cuda", "triton", "torch"))]


def licence(name: str) -> str:
    """What a package says of its licence."""
    about = metadata.metadata(name)
    classifiers = [line.split(" :: ")[-1] for line in about.get_all("Classifier", []) if line.startswith("License")]
    return about["License-Expression"] or " OR ".join(classifiers) or (about["License"] or "")[:100]


def test_locked_packages_may_be_handed_on():
    licences = {name: licence(name) for name in LOCKED if at_hand(name)}
    assert not {name: said for name, said in licences.items() if not PERMITTED.search(said) or FORBIDDEN.search(said)}


def test_the_container_installs_by_hash_and_runs_without_rights():
    steps = re.sub(r"\\\n\s*", "", DOCKERFILE)
    installs = re.findall(r"pip install ([^&\n]*)", steps)
    assert all("--no-deps" in one for one in installs)
    assert [("--require-hashes" in one) for one in installs] == [True, False], "all but torch"
    (user,) = re.findall(r"^USER (\d+):\d+$", steps, re.MULTILINE)
    assert int(user) > 0
    copied = " ".join(re.findall(r"^COPY (.*) \S+$", steps, re.MULTILINE)).split()
    let_in = set(re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE))
    assert set(copied) == let_in
    assert all((ROOT / name).exists() for name in copied)


def test_the_container_has_a_python_that_the_project_takes():
    (version,) = re.findall(r"^FROM python:(\d+\.\d+)-slim$", DOCKERFILE, re.MULTILINE)
    (taken,) = re.findall(r'^requires-python = "(.*)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert Requirement(f"python{taken}").specifier.contains(f"{version}.0")
