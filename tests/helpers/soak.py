"""Random decodes without end: ``python -m tests.helpers.soak [N]`` (100,000 by default).

Random small graph × tiny model with random weights × search × K × hops × look-ahead × direction; every emitted
path must verify, all must differ, and none may be missing. The suite holds a fast share of it
(``test_decoding``); this is for a night. A failure ends it, and says with which seed it comes back.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from functools import lru_cache

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.tokenised import TokenisedGraph
from kgdemo.decoding.beam import BeamSettings, beam_search
from kgdemo.decoding.diverse import DiverseSettings, diverse_search
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.verify import Verifier
from tests.helpers.models import random_model
from tests.helpers.oracles import all_paths
from tests.helpers.strategies import NASTY

RELATIONS = ("part", "part of", "~part", "-> part", "born in", "</PATH>")
model_named = lru_cache(random_model)


def random_triples(rng: random.Random) -> list[tuple[str, str, str]]:
    """Up to ten triples over few nasty labels."""
    entities = rng.sample(NASTY, rng.randint(1, 6))
    names = rng.sample(RELATIONS, rng.randint(1, 4))
    return [(rng.choice(entities), rng.choice(names), rng.choice(entities)) for _ in range(rng.randint(1, 10))]


def decode_once(seed: int) -> int:
    """One decode; how many paths it emitted.

    Raises:
        AssertionError: a path is not in the graph, comes twice, or one is missing.
    """
    rng = random.Random(seed)
    triples = random_triples(rng)
    topic, hops, directed = triples[0][0], rng.randint(1, 3), rng.random() < 0.5
    model = model_named(rng.choice(("qwen2", "llama", "gpt2", "bert")), rng.randint(0, 3))
    kg = KnowledgeGraph.from_triples(triples)
    automaton = KGAutomaton(TokenisedGraph(kg, model.pieces, directed), [kg.entities.find(topic)], hops)
    tree = model.tree(model.style.encode(model.pieces, "which part of New York", [topic]))
    beams = rng.randint(1, 6)
    limits = BeamSettings(
        beams,
        length_penalty=rng.choice((0.0, 0.0, 1.0, -1.0)),
        graph_normalised=rng.random() < 0.5,
        look_ahead=rng.choice((None, 0, 0, 8, 48)),
    )
    diverse = rng.random() < 0.2
    search = (
        diverse_search(tree, automaton, DiverseSettings(limits, rng.choice([g for g in (1, 2, 3) if beams % g == 0])))
        if diverse
        else beam_search(tree, automaton, limits)
    )
    while True:
        try:
            next(search)
        except StopIteration as end:
            finished = end.value
            break
    # labels spelled alike share their tokens, so one hypothesis may hold several paths
    paths = [
        Path(tuple(kg.entities[e] for e in ids.entities), tuple(kg.readings[s] for s in ids.steps))
        for hypothesis in finished
        for ids in hypothesis.state.paths
    ]
    verifier = Verifier(kg)
    assert all(verifier.verify(path).faithful for path in paths), f"seed {seed}: a path is not in the graph"
    assert len({h.tokens for h in finished}) == len(finished), f"seed {seed}: a path comes twice"
    exist = set()
    for path in all_paths(triples, [topic], hops, directed):
        exist.add(path)
        if len(exist) > beams:
            break
    assert diverse or len(paths) >= min(beams, len(exist)), f"seed {seed}: a path is missing"
    return len(finished)


def main(arguments: Sequence[str]) -> int:
    """Decode ``N`` times from a seed on; prints how far it is."""
    count = int(arguments[0]) if arguments else 100_000
    first = int(arguments[1]) if len(arguments) > 1 else 0
    began, paths = time.perf_counter(), 0
    for number in range(count):
        paths += decode_once(first + number)
        if (number + 1) % 100 == 0 or number + 1 == count:
            seconds = time.perf_counter() - began
            sys.stdout.write(f"{number + 1:,} decodes, {paths:,} paths, 0 failures, {seconds:,.0f} s\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
