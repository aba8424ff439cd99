"""``kg trie`` builds offline what it opens later, and says in a sentence what is wrong."""

from __future__ import annotations

import pytest

from kgdemo.cli import main
from tests.helpers.models import random_model

TRIPLES = (
    "Inception\tdirected by\tNolan\nNolan\tborn in\tLondon\nInception\tborn\tNolan\nDune\tdirected by\tVilleneuve\n"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> dict[str, str]:
    """A graph, a model, and the folder of a trie from ``Inception``."""
    folder = tmp_path_factory.mktemp("trie")
    model = random_model("qwen2")
    for part in (model.model, model.tokenizer):
        part.save_pretrained(folder / "model")
    (folder / "kg.tsv").write_text(TRIPLES, "utf-8")
    files = {"kg": str(folder / "kg.tsv"), "model": str(folder / "model"), "trie": str(folder / "trie")}
    assert main([*command(files), "--entity", "Inception", "--directed"]) == 0
    return files


def command(files: dict[str, str]) -> list[str]:
    """The command without what differs."""
    return ["kg", "trie", files["kg"], "--model", files["model"], "--folder", files["trie"]]


def test_what_was_built_is_opened(made, capsys):
    assert main([*command(made), "--directed", "--after", "Inception -> "]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("4 paths")
    assert "opened, memory-mapped" in first
    assert sum(int(line.split()[0]) for line in rest) == 4


def test_a_relation_narrows_the_paths_left(made, capsys):
    assert main([*command(made), "--directed", "--after", "Inception -> directed by -> Nolan"]) == 0
    counts = [int(line.split()[0]) for line in capsys.readouterr().out.splitlines()[1:]]
    assert counts == [1, 1]  # the path ends, or goes on to London


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--entity", "Nobody"], "no entity 'Nobody'; check its spelling"),
        (["--entity", "Dune", "--hops", "0"], "choose 1 or more"),
        ([], "belongs to another graph or tokeniser; build it again"),  # not directed
        (["--directed", "--after", "Dune ->"], "No path of the trie begins with 'Dune ->'"),
        (["--folder", "/no/such/folder"], "holds no whole KG-Trie"),
    ],
)
def test_mistakes_are_a_sentence_and_code_2(made, capsys, more, words):
    assert main([*command(made), *more]) == 2
    error = capsys.readouterr().err
    assert words in error.splitlines()[-1]
    assert "Traceback" not in error
