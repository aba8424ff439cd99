"""``kg info | check | save | trie``: about a graph."""

from __future__ import annotations

import argparse
from pathlib import Path

from kgdemo.cli import tries
from kgdemo.cli.base import Commands


def add(commands: Commands) -> None:
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
    tries.add(graph)


def _info(options: argparse.Namespace) -> int:
    import numpy as np

    from kgdemo.kg.io.catalogue import open_graph

    kg = open_graph(options.graph)
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


def _check(options: argparse.Namespace) -> int:
    from kgdemo.kg.io.catalogue import embedded_folder
    from kgdemo.lab.check_graph import check_folder, disagreements

    folder = embedded_folder(options.graph)
    findings = check_folder(folder)
    for finding in findings:
        print(finding)
    if options.against:
        for finding in disagreements(folder, options.against):
            print(finding)
    print(f"{len(findings)} findings in {options.graph}")
    return 1 if findings else 0


def _save(options: argparse.Namespace) -> int:
    from kgdemo.kg.io.arrays import save
    from kgdemo.kg.io.catalogue import open_facts, open_graph

    kg = open_graph(options.graph, options.entities)
    save(kg, open_facts(options.graph), options.out)
    print(f"{len(kg):,} triples written to {options.out}")
    return 0
