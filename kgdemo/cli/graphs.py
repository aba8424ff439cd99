"""``kg info | check | save | trie``: what a graph holds, whether it is well made, and its paths, enumerated offline."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from kgdemo.errors import UserError

if TYPE_CHECKING:
    from kgdemo.constraint.token_graph import TokenGraph
    from kgdemo.constraint.trie import EnumeratedTrie
    from kgdemo.kg.graph import KnowledgeGraph


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register ``kg info``, ``kg check``, ``kg save`` and ``kg trie``."""
    graph = commands.add_parser("kg", help="about a graph").add_subparsers(
        required=True, metavar="info|check|save|trie"
    )

    info = graph.add_parser("info", help="its size, relations and best connected entities")
    info.add_argument("graph", metavar="NAME|FILE")
    info.set_defaults(run=_info)

    check = graph.add_parser("check", help="is an embedded graph well made?")
    check.add_argument("graph", metavar="NAME")
    check.add_argument("--against", type=Path, metavar="DIR", help="public sets to compare with")
    check.set_defaults(run=_check)

    save = graph.add_parser("save", help="write a graph as arrays that open at once")
    save.add_argument("graph", metavar="NAME|FILE")
    beside = "side file of a triple file: its entities' types, aliases, descriptions"
    save.add_argument("--entities", type=Path, metavar="FILE", help=beside)
    save.add_argument("--out", type=Path, required=True, metavar="DIR", help="use this folder as --kg afterwards")
    save.set_defaults(run=_save)

    trie = graph.add_parser("trie", help="enumerate the paths from some entities into a folder, or look into one")
    trie.add_argument("graph", metavar="NAME|FILE")
    trie.add_argument("--folder", type=Path, required=True, metavar="DIR", help="where the trie is kept")
    trie.add_argument("--entity", nargs="+", default=[], metavar="E", help="build it for these; else it is opened")
    trie.add_argument("--hops", type=int, default=2, metavar="L", help="longest path")
    trie.add_argument("--model", default="embedded", metavar="ID|DIR", help="whose tokeniser spells the paths")
    trie.add_argument("--directed", action="store_true", help="walk edges from head to tail only")
    trie.add_argument("--after", default="", metavar="TEXT", help="what may follow this beginning of a path?")
    trie.set_defaults(run=_trie)


def _info(arguments: argparse.Namespace) -> int:
    import numpy as np

    from kgdemo.kg.io.catalogue import open_graph

    kg = open_graph(arguments.graph)
    print(f"{kg.name}: {len(kg):,} triples, {len(kg.entities):,} entities, {len(kg.relations):,} relations")
    counts = np.bincount(kg.outgoing.relations, minlength=len(kg.relations))
    print("relations (triples):")
    for relation in np.argsort(-counts)[:20]:
        print(f"  {counts[relation]:>9,}  {kg.relations[int(relation)]}")
    degrees = np.diff(kg.outgoing.offsets) + np.diff(kg.incoming.offsets)
    print("best connected entities (edges):")
    for entity in np.argsort(-degrees)[:10]:
        print(f"  {degrees[entity]:>9,}  {kg.entities[int(entity)]}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from kgdemo.kg.io.catalogue import embedded_folder
    from kgdemo.lab.check_graph import check_folder, disagreements

    folder = embedded_folder(arguments.graph)
    findings = check_folder(folder)
    for finding in findings:
        print(finding)
    if arguments.against:
        for finding in disagreements(folder, arguments.against):
            print(finding)
    print(f"{len(findings)} findings in {arguments.graph}")
    return 1 if findings else 0


def _save(arguments: argparse.Namespace) -> int:
    from kgdemo.kg.io.catalogue import open_facts, open_graph, save
    from kgdemo.kg.stores.facts import StoreFacts

    kg, facts = open_graph(arguments.graph, arguments.entities), open_facts(arguments.graph)
    if isinstance(facts, StoreFacts):
        raise UserError("A graph behind a store cannot be saved; save the file that the store was filled from.")
    save(kg, facts, arguments.out)
    print(f"{len(kg):,} triples written to {arguments.out}")
    return 0


def _trie(arguments: argparse.Namespace) -> int:
    from kgdemo.constraint.trie import EnumeratedTrie
    from kgdemo.pipeline import Pipeline

    if arguments.hops < 1:
        raise UserError(f"The number of hops L is {arguments.hops}; choose 1 or more.")
    graph = Pipeline().token_graph(arguments.graph, arguments.model, arguments.directed)
    began = time.perf_counter()
    if arguments.entity:
        trie = EnumeratedTrie.build(graph, _ids(graph.kg, arguments.entity), arguments.hops)
        trie.save(arguments.folder, graph)
        done = "built and saved"
    else:
        trie, done = EnumeratedTrie.open(arguments.folder, graph), "opened, memory-mapped"
    ms = 1000 * (time.perf_counter() - began)
    size = f"{len(trie.paths):,} paths, {len(trie.nodes.tokens):,} nodes, {trie.nbytes / 1e6:,.1f} MB"
    print(f"{size}; {done} in {ms:,.1f} ms")
    if arguments.after:
        for text, left in _following(trie, graph, arguments.after):
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
