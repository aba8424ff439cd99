"""Set-up with nothing but Python: makes a virtual environment, installs what is needed, runs a command in it.

Only the standard library is imported here, so it works in a bare interpreter.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv"
SUPPORTED = ((3, 10), (3, 13))
# each process has a page and a Chromium of its own, so more than a few would want memory
SIDE_BY_SIDE = ["--numprocesses=auto", "--maxprocesses=4", "--dist=worksteal"]


def start(arguments: list[str]) -> int:
    """Install the requirements and start the app."""
    return _run(_environment("requirements.txt"), [str(ROOT / "app.py"), *arguments])


def test(arguments: list[str]) -> int:
    """Install the requirements of app and tests, Chromium where that is possible, and run the tests."""
    python = _environment("requirements.txt", "tests/requirements.txt")
    _chromium()
    return _run(python, ["-m", "pytest", *SIDE_BY_SIDE, *arguments])


def _run(python: Path, arguments: list[str]) -> int:
    return subprocess.run([str(python), *arguments], cwd=ROOT, check=False).returncode


def _environment(*requirements: str) -> Path:
    """The environment's interpreter, after installing whatever the requirement files newly ask for."""
    low, high = SUPPORTED
    if not low <= sys.version_info[:2] < high:
        raise SystemExit(f"This needs Python 3.10, 3.11 or 3.12; this is {sys.version.split()[0]}.")
    python = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        print(f"Making a virtual environment in {ENVIRONMENT} …", flush=True)
        venv.create(ENVIRONMENT, with_pip=True)
    wanted = "\n".join((ROOT / name).read_text("utf-8") for name in requirements)
    stamp = ENVIRONMENT / f".installed-{hashlib.sha256(wanted.encode()).hexdigest()[:16]}"
    if not stamp.exists():
        print("Installing what the demo needs; the first time this takes some minutes …", flush=True)
        files = [part for name in requirements for part in ("-r", str(ROOT / name))]
        command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "-q", *files]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            raise SystemExit("The installation failed; see pip's message above, mend it and run the command again.")
        stamp.touch()
    return python


def _chromium() -> None:
    """Install Chromium by apt where we may; the browser tests say so and skip where there is none."""
    if any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")):
        return
    if not shutil.which("apt-get") or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return
    print("Installing Chromium for the browser tests …", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "chromium"]):
        if subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False).returncode:
            print("Chromium could not be installed; the browser tests will be skipped.", flush=True)
            return
