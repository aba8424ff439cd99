"""The page's scripts: their own tests in Node.js, and their types where TypeScript is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TSC = ROOT / "node_modules" / ".bin" / "tsc"

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed (apt install nodejs)")


def _passes(*command: str) -> None:
    """Run a command in the repository; fail with what it wrote."""
    result = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", check=False
    )
    if result.returncode:
        pytest.fail(f"{' '.join(command)}\n{result.stdout}", pytrace=False)


def test_the_scripts_pass_their_own_tests():
    _passes("node", "--test", *map(str, sorted((ROOT / "tests" / "js").glob("*.test.js"))))


@pytest.mark.skipif(not TSC.is_file(), reason="TypeScript is not installed (npm install)")
def test_the_types_of_the_scripts_hold():
    _passes(str(TSC), "-p", "jsconfig.json")
