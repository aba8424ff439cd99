"""Set-up with nothing but Python: makes a virtual environment, installs what is needed, runs a command in it.

Only the standard library is imported here, so it works in a bare interpreter. That is for a clone; where pip has
installed the package, everything is there already and the page is served at once.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

from kgdemo.errors import UserError

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv"
SUPPORTED = ((3, 10), (3, 13))
APP = ("requirements.txt",)
TESTS = (*APP, "kgdemo/kg/stores/requirements.txt", "kgdemo/lab/requirements.txt", "tests/requirements.txt")
TESTS_FAILED = 1  # pytest's exit status; others say that it could not run them
# each process has a page and a Chromium of its own, so more than a few would want memory
SIDE_BY_SIDE = ["--numprocesses=auto", "--maxprocesses=4", "--dist=worksteal"]


def start(arguments: list[str]) -> int:
    """Serve the page; in a clone, install the requirements first."""
    if _installed():
        from kgdemo.ui.serve import main

        main(arguments)
        return 0
    return _run(_environment(*APP), [str(ROOT / "app.py"), *arguments])


def test(arguments: list[str]) -> int:
    """Install what app and tests need, Chromium and Node.js where that is possible, and run the tests.

    Tests that fail side by side are run once more, one by one: on a busy machine a page may be slower than its test
    waits for. What fails again is a fault.

    Raises:
        UserError: this is an installed package, which has no tests.
    """
    if not (ROOT / "tests" / "requirements.txt").is_file():
        raise UserError("The tests are not part of the installed package: run `python -m kgdemo test` in a clone.")
    python = _environment(*TESTS)
    _by_apt("chromium", ("chromium", "chromium-browser", "google-chrome"), "the browser tests")
    _by_apt("nodejs", ("node",), "the tests of the page's scripts")
    code = _run(python, ["-m", "pytest", *SIDE_BY_SIDE, *arguments])
    if code == TESTS_FAILED:
        print("What failed is run once more, one test at a time.", flush=True)
        code = _run(python, ["-m", "pytest", "--last-failed", "--last-failed-no-failures=none", *arguments])
    return code


def _installed() -> bool:
    """Whether pip has installed this package, and with it what it needs, for the interpreter that runs this."""
    try:
        metadata.version("kgdemo")
    except metadata.PackageNotFoundError:
        return False
    return True


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


def _by_apt(package: str, programs: tuple[str, ...], needed_by: str) -> None:
    """Install a system package where we may and none of its programs is there; what needs it says so and skips."""
    if any(shutil.which(name) for name in programs):
        return
    if not shutil.which("apt-get") or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return
    print(f"Installing {package} for {needed_by} …", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", package]):
        if subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False).returncode:
            print(f"{package} could not be installed; {needed_by} will be skipped.", flush=True)
            return
