"""``kg trie``: all paths from chosen entities, enumerated offline to a folder and opened memory-mapped."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from kgdemo.cli.base import Commands
from kgdemo.errors import UserError

if TYPE_CHECKING:
    from kgdemo.constraint.token_graph import TokenGraph
    from kgdemo.constraint.trie import EnumeratedTrie
    from kgdemo.kg.graph import KnowledgeGraph


def add(commands: Commands) -> None:
    """Register ``kg trie``."""
    parser = commands.add_parser("trie", help="enumerate the paths from some entities into a folder, or look into one")
    parser.add_argument("graph", metavar="NAME|FILE")
    parser.add_argument("--folder", type=Path, required=True, metavar="DIR", help="where the trie is kept")
    parser.add_argument("--entity", nargs="+", default=[], metavar="E", help="build it for these; else it is opened")
    parser.add_argument("--hops", type=int, default=2, metavar="L", help="longest path")
    parser.add_argument("--model", default="embedded", metavar="ID|DIR", help="whose tokeniser spells the paths")
    parser.add_argument("--directed", action="store_true", help="walk edges from head to tail only")
    parser.add_argument("--after", default="", metavar="TEXT", help="what may follow this beginning of a path?")
    parser.set_defaults(run=_trie)


def _trie(options: argparse.Namespace) -> int:
    from kgdemo.constraint.trie import EnumeratedTrie
    from kgdemo.pipeline import Pipeline
    from kgdemo.settings import Settings

    if options.hops < 1:
        raise UserError(f"The number of hops L is {options.hops}; choose 1 or more.")
    graph = Pipeline().resources(Settings(options.graph, options.model, directed=options.directed)).token_graph
    began = time.perf_counter()
    if options.entity:
        trie = EnumeratedTrie.build(graph, _ids(graph.kg, options.entity), options.hops)
        trie.save(options.folder, graph)
        done = "built and saved"
    else:
        trie, done = EnumeratedTrie.open(options.folder, graph), "opened, memory-mapped"
    ms = 1000 * (time.perf_counter() - began)
    size = f"{len(trie.paths):,} paths, {len(trie.nodes.tokens):,} nodes, {trie.nbytes / 1e6:,.1f} MB"
    print(f"{size}; {done} in {ms:,.1f} ms")
    if options.after:
        for text, left in _following(trie, graph, options.after):
            print(f"{left:>9,} paths  {text!r}")
    return 0


def _ids(kg: KnowledgeGraph, labels: list[str]) -> list[int]:
    found = []
    for label in labels:
        entity = kg.entities.find(label)
        if entity is None:
            raise UserError(f"The graph {kg.name} has no entity {label!r}; check its spelling.")
        found.append(entity)
    return found


def _following(trie: EnumeratedTrie, graph: TokenGraph, text: str) -> list[tuple[str, int]]:
    """The tokens that may follow a beginning, with how many paths each leads to; most paths first."""
    state, label_tokens = trie.start(), graph.label_tokens
    for token in label_tokens.plain(" " + text.strip()):
        successors = trie.successors(state)
        assert successors.tokens is not None
        allowed = successors.tokens.tolist()
        if token not in allowed:
            raise UserError(f"No path of the trie begins with {text!r}; write it as e0 -> relation -> e1.")
        state = successors.take(allowed.index(token))
    successors = trie.successors(state)
    assert successors.tokens is not None
    found = [
        (label_tokens.tokenizer.decode([token]), trie.paths_left(successors.take(place)))
        for place, token in enumerate(successors.tokens.tolist())
    ]
    return sorted(found, key=lambda entry: -entry[1])
