"""The rules of the house: who may import whom, what is linted, and what the README must keep true."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import networkx
import pytest

ROOT = Path(__file__).resolve().parents[2]
FLOORS = [
    ["errors", "facts"],
    ["kg", "settings"],
    ["events", "verify", "verify_operations", "constraint"],
    ["models", "view"],
    ["linking", "query"],
    ["decoding", "opened"],
    ["reasoners"],
    ["ranking"],
    ["answering"],
    ["methods", "reading"],
    ["steps"],
    ["pipeline"],
    ["ui"],
    ["lab"],
    ["__main__", "cli"],
]
FLOOR = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
FILES = sorted((ROOT / "kgdemo").rglob("*.py"))


def room_of(module: str) -> str:
    """The room a module of the package belongs to."""
    return module.split(".")[1] if "." in module else ""


def imports(file: Path) -> set[str]:
    """Modules that a file imports, at the top or inside functions."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_a_file_imports_only_from_below_or_its_own_room():
    offenders = []
    for file in FILES:
        parts = file.relative_to(ROOT / "kgdemo").with_suffix("").parts
        if parts == ("__init__",):
            continue
        own = parts[0]
        for module in imports(file):
            room = room_of(module)
            if not module.startswith("kgdemo.") or room not in FLOOR:
                continue
            same_folder = room == own or (len(parts) == 1 and FLOOR[room] == FLOOR[own])
            if not same_folder and FLOOR[room] >= FLOOR[own]:
                offenders.append(f"{file.relative_to(ROOT)} may not import {module}")
    assert not offenders, "\n".join(offenders)


def test_rooms_keep_to_their_trade():
    offenders = []
    for file in FILES:
        room = file.relative_to(ROOT / "kgdemo").parts[0].removesuffix(".py")
        modules = imports(file)
        names = {m.split(".")[0] for m in modules}
        here = file.relative_to(ROOT)
        if room != "ui" and "gradio" in names:
            offenders.append(f"{here}: only ui/ imports gradio")
        no_torch = {"kg", "constraint", "facts", "verify", "events", "view", "linking"}
        if room in no_torch and names & {"torch", "transformers"}:
            offenders.append(f"{here}: {room} knows nothing of torch models")
        if file.parent == ROOT / "kgdemo" / "kg" and any(m.startswith("kgdemo.kg.io") for m in modules):
            offenders.append(f"{here}: a graph does not know how it was read")
    assert not offenders, "\n".join(offenders)


def test_the_verifier_shares_no_code_with_the_decoder():
    code = "import sys, kgdemo.verify; print(*(name for name in sys.modules if name.startswith('kgdemo')))"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    modules = {"kgdemo", "kgdemo.verify", "kgdemo.facts", "kgdemo.errors", "kgdemo.kg", "kgdemo.kg.path"}
    assert set(loaded.stdout.split()) == modules


def test_the_command_line_starts_in_a_bare_python():
    bare = [ROOT / "kgdemo" / f"{name}.py" for name in ("__main__", "errors", "settings", "__init__")]
    for file in [*bare, *sorted((ROOT / "kgdemo" / "cli").glob("*.py"))]:
        name, top = file.stem, ast.parse(file.read_text("utf-8")).body
        for node in top:
            modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for module in modules:
                assert module.split(".")[0] in {*sys.stdlib_module_names, "kgdemo"}, f"{name} imports {module}"


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
    ],
    ids=" ".join,
)
def test_linter_formatter_and_type_checker_are_content(command):
    result = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_no_prints_in_the_library():
    for file in FILES:
        if file.parent.name != "cli":
            assert not re.search(r"^\s*print\(", file.read_text("utf-8"), re.MULTILINE), file


def test_no_files_import_each_other_in_a_circle():
    modules = {".".join(file.relative_to(ROOT).with_suffix("").parts): imports(file) for file in FILES}
    graph = networkx.DiGraph((name, other) for name, others in modules.items() for other in others if other in modules)
    circles = [sorted(found) for found in networkx.strongly_connected_components(graph) if len(found) > 1]
    assert not circles
