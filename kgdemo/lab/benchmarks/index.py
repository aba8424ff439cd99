"""How long it takes to build a question's constraint: the automaton, the enumerated KG-Trie and the reference approach.

Not counted on either side: reading the graph and, on ours, the token ids of its labels, which are made once a graph;
both have rows of their own. Another row is the part of a step that is not the model's: choosing the best allowed
tokens over all beams.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers.generation.logits_process import PrefixConstrainedLogitsProcessor

from kgdemo.constraint.automaton import Constraint, KGAutomaton, State
from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.constraint.trie import EnumeratedTrie
from kgdemo.constraint.triple_chains import FreeText
from kgdemo.decoding.base import BeamSettings, Hypothesis, Step, best_candidates
from kgdemo.decoding.beam import beam_search
from kgdemo.facts import StatedFacts
from kgdemo.kg.cache import ArrayCache, LFUCache
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io import saved as saved_graphs
from kgdemo.kg.io.catalogue import build_graph
from kgdemo.kg.io.formats import read_triples
from kgdemo.lab.benchmarks.comparison import (
    HUB,
    Clock,
    ReferenceTrie,
    Row,
    large_graph,
    networkx_graph,
    ours_only,
    side_by_side,
    timed,
    tokenizer_of_size,
    two_hop_graph,
)


class NoiseTree:
    """A ``TokenTree`` without a model: fixed random log-probabilities, row ``i`` for the step's beam ``i``."""

    def __init__(self, vocabulary: int, beams: int) -> None:
        torch.manual_seed(0)
        self.rows = torch.log_softmax(torch.randn(beams, vocabulary), dim=-1)
        self.size = self.calls = 0

    def prompt_log_probs(self) -> Tensor:
        """See ``TokenTree``."""
        return self.rows[0]

    def extend(self, parents: Sequence[int], tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``TokenTree``."""
        self.size += len(tokens)
        self.calls += 1
        return list(range(self.size - len(tokens), self.size)), self.rows[: len(tokens)]


def candidate_rows(
    label_tokens: LabelTokens, beams: int, repeats: int, clock: Clock, paths: int = 9_000
) -> Iterator[Row]:
    """Our search over noise, a step's share of it and its slowest step; the reference chooses from the same beams.

    Sub-tries are at hand from an untimed search: what a question costs before it is in rows of its own. Equal: at every
    step the best 2K continuations are the same, tokens and scores.
    """
    triples, hub = two_hop_graph(paths)
    kg = KnowledgeGraph.from_triples(triples)
    graph = TokenGraph(kg, label_tokens, directed=True)
    trie = ReferenceTrie.build(networkx_graph(kg, directed=True), [hub], 2, label_tokens.tokenizer)
    topic = kg.entities.find(hub)
    assert topic is not None
    tree = NoiseTree(len(label_tokens.tokenizer), beams)
    settings = BeamSettings(beams=beams, look_ahead=None)  # noise is cheap, and its rows go by beam

    def search() -> Iterator[Step]:
        return beam_search(tree, KGAutomaton(graph, [topic], 2), settings)

    steps = list(search())
    mine, theirs, equal = [], [], True
    for _ in range(repeats):
        mine.append(_times(search(), clock))
        live: Sequence[Hypothesis] = [view.hypothesis for view in steps[0].beams]
        spent = []
        for step in steps:
            ms, best = timed(partial(_reference_choice, trie, live, tree.rows, beams), clock)
            spent.append(ms)
            equal = equal and _same(best, live, step)
            live = step.live
        theirs.append(spent)
    name = f"candidates of {beams} beams, vocabulary {tree.rows.shape[1] // 1000}k, {len(trie.trie):,} paths"
    note = f"per step of a search of {len(steps)}, the model's work replaced by noise"
    for what, target, figure in (("", "≤ 0.3 ms", mean), (", slowest step", "≤ 1 ms", max)):
        ours, reference = (figure([median(step) for step in zip(*runs, strict=True)]) for runs in (mine, theirs))
        yield Row(name + what, ours, reference, reference / ours, equal, target, note, repeats)


def free_row(vocabulary: int, beams: int, repeats: int, clock: Clock) -> Row:
    """A step in which every token is allowed: our choice beside the plain one of a beam search, the same tokens."""
    rows = NoiseTree(vocabulary, beams).rows
    scores = torch.linspace(-1.0, 0.0, beams).tolist()
    everything = [FreeText((0,)).successors(FreeText((0,)).start())] * beams
    mine, theirs, equal = [], [], True
    for _ in range(repeats):
        ms, chosen = timed(partial(best_candidates, rows, everything, scores, 2 * beams, False), clock)
        mine.append(ms)
        ms, best = timed(partial(_plain_choice, rows, scores, 2 * beams), clock)
        theirs.append(ms)
        equal = equal and [(c.beam, c.index) for c in chosen] == best
    ours, plain = median(mine), median(theirs)
    name = f"free step of {beams} beams, vocabulary {vocabulary // 1000}k, beside a plain one"
    return Row(name, ours, plain, plain / ours, equal, "≥ 1x", "every token allowed", repeats)


def _plain_choice(rows: Tensor, scores: Sequence[float], limit: int) -> list[tuple[int, int]]:
    """Beam and token of the best of all continuations."""
    places = (rows + torch.tensor(scores)[:, None]).view(-1).topk(limit).indices.tolist()
    return [(place // rows.shape[1], place % rows.shape[1]) for place in places]


def _times(steps: Iterator[Step], clock: Clock) -> list[float]:
    """Milliseconds of each step of a search."""
    found, began = [], clock()
    for _ in steps:
        found.append(1000 * (clock() - began))
        began = clock()
    return found


def _reference_choice(
    trie: ReferenceTrie, live: Sequence[Hypothesis], rows: Tensor, beams: int
) -> list[tuple[float, int, int]]:
    """Mask the vocabulary beam by beam, add the scores, take the best 2K of all: what ``generate`` does in a step."""
    masker = PrefixConstrainedLogitsProcessor(lambda _, ids: trie.allowed(ids.tolist()) or [0], len(live))
    longest = len(live[0].tokens)  # beams of one step are of one length
    ids = torch.tensor([beam.tokens for beam in live], dtype=torch.long).reshape(len(live), longest)
    scores = masker(ids, rows[: len(live)]) + torch.tensor([beam.score for beam in live])[:, None]
    values, places = scores.view(-1).topk(2 * beams)
    width = rows.shape[1]
    return [
        (value, place // width, place % width)
        for value, place in zip(values.tolist(), places.tolist(), strict=True)
        if value > -torch.inf
    ]


def _same(best: Sequence[tuple[float, int, int]], live: Sequence[Hypothesis], step: Step) -> bool:
    """Whether the reference's choices are the step's."""
    ours = {(live[c.parent].tokens, c.token): c.score for c in step.choices}
    theirs = {(live[beam].tokens, token): score for score, beam, token in best}
    return ours.keys() == theirs.keys() and all(abs(ours[key] - theirs[key]) < 1e-3 for key in ours)


_WALKED = 1_000  # the most paths whose language is walked token by token to be compared


@dataclass(frozen=True, slots=True)
class IndexSizes:
    """What to measure.

    Attributes:
        paths: sizes of the enumerated tries.
        vocabularies: sizes of the tokenisers; all sizes are run with the first, one with each of the others.
        triples, hub_edges: size of the large graph.
        hops: path lengths tried at its hub.
        candidates: numbers of paths from which the candidates of a step are chosen, with the last vocabulary.
        beams: K of the candidate rows.
        repeats: of what is quick; what takes seconds is run once (the reference over 20,000 paths, the large graph).
    """

    paths: tuple[int, ...] = (300, 9_000, 50_000, 250_000)
    vocabularies: tuple[int, ...] = (32_000, 152_000)
    triples: int = 1_000_000
    hub_edges: int = 50_000
    hops: tuple[int, ...] = (2, 3, 4)
    candidates: tuple[int, ...] = (9_000, 250_000)
    beams: int = 10
    repeats: int = 5


QUICK = IndexSizes(paths=(300, 9_000, 50_000), triples=200_000, candidates=(9_000,), repeats=3)


def index_rows(sizes: IndexSizes, clock: Clock) -> Iterator[Row]:
    """All rows of ``bench index``, one at a time."""
    for vocabulary in sizes.vocabularies:
        first = vocabulary == sizes.vocabularies[0]
        label_tokens = LabelTokens(tokenizer_of_size(vocabulary))
        for paths in sizes.paths if first else sizes.paths[1:2]:
            yield from _trie_rows(paths, vocabulary, label_tokens, sizes, clock)
    for paths in sizes.candidates:
        yield from candidate_rows(label_tokens, sizes.beams, sizes.repeats, clock, paths)
    yield free_row(len(label_tokens.tokenizer), sizes.beams, sizes.repeats, clock)
    yield from _large_rows(label_tokens, sizes, clock)


def _trie_rows(
    paths: int, vocabulary: int, label_tokens: LabelTokens, sizes: IndexSizes, clock: Clock
) -> Iterator[Row]:
    """One hub with about ``paths`` paths of two hops: automaton and enumerated trie against the reference."""
    triples, hub = two_hop_graph(paths)
    kg = KnowledgeGraph.from_triples(triples)
    graph, theirs = TokenGraph(kg, label_tokens, directed=True), networkx_graph(kg, directed=True)
    topic = kg.entities.find(hub)
    assert topic is not None
    count = int(graph.walks(2)[topic])
    what = f"{count:,} paths, vocabulary {vocabulary // 1000}k"
    repeats, long = sizes.repeats, count >= 20_000  # the reference then takes seconds

    def reference() -> ReferenceTrie:
        return ReferenceTrie.build(theirs, [hub], 2, label_tokens.tokenizer)

    def automaton() -> KGAutomaton:
        graph.sub_tries = LFUCache(graph.sub_tries.max_bytes)
        made = KGAutomaton(graph, [topic], 2)
        _walk_one(made)
        return made

    yield side_by_side(
        f"automaton: {what}",
        automaton,
        reference,
        lambda ours, other: (
            ours.paths_left(ours.start()) == count == len(other.trie)
            and (count > _WALKED or language(ours) == other.rows())
        ),
        repeats,
        clock,
        "≤ 1 ms",
        "from nothing to the end of a first path"
        + ("" if count <= _WALKED else "; compared by the number of paths, the enumerated trie by the paths"),
        long,
    )
    row = side_by_side(
        f"enumerated trie: {what}",
        lambda: EnumeratedTrie.build(graph, [topic], 2),
        reference,
        lambda ours, other: spelled_rows(ours) == other.rows(),
        repeats,
        clock,
        "≥ 25x" if count > 5_000 else "",
        reference_once=long,
    )
    yield replace(row, extra={"megabytes": EnumeratedTrie.build(graph, [topic], 2).nbytes / 1e6})


def _large_rows(label_tokens: LabelTokens, sizes: IndexSizes, clock: Clock) -> Iterator[Row]:
    """A graph with a hub: reading, opening, token ids, the first and the second touch, everything at once."""
    name = f"{sizes.triples:,} triples"
    with tempfile.TemporaryDirectory() as folder:
        file, saved = Path(folder) / "large.tsv", Path(folder) / "large"
        with file.open("w", encoding="utf-8") as stream:
            stream.writelines("\t".join(triple) + "\n" for triple in large_graph(sizes.triples, sizes.hub_edges))
        ms, kg = timed(lambda: build_graph(read_triples(file)), clock)
        yield Row(f"{name}: read TSV", ms, target="≤ 6 s", note="the reference has no loader of its own")
        saved_graphs.save(kg, StatedFacts(read_triples(file)), saved)
        ms, opened = timed(lambda: saved_graphs.load(saved), clock)
        equal = len(opened) == len(kg) and opened.entities.find(HUB) == kg.entities.find(HUB)
        yield Row(f"{name}: re-open memory-mapped", ms, equal=equal, target="≤ 0.5 s")
        ms, graph = timed(partial(TokenGraph, opened, label_tokens, directed=True), clock)
        labels = f"{name}: token ids of {len(kg.entities):,} labels"
        yield Row(labels, ms, target="≤ 4 s", note="once a graph")
        in_cache = partial(TokenGraph, opened, label_tokens, directed=True, cache=ArrayCache(Path(folder) / "cache", 0))
        in_cache()
        ms, again = timed(in_cache, clock)
        equal = np.array_equal(again.entities.ids, graph.entities.ids)
        yield Row(f"{labels}, kept on disk", ms, equal=equal, target="≤ 0.3 s", note="every later start")
        hub = opened.entities.find(HUB)
        assert hub is not None
        for hops in sizes.hops:
            yield from _hub_rows(graph, hub, hops, sizes, clock)
        ms, _ = timed(graph.presort, clock)
        more = {"megabytes": graph.nbytes / 1e6}
        yield Row(f"{name}: whole automaton", ms, target="≤ 6 s, ≤ 300 MB", note="every entity's edges", extra=more)
        del opened, graph, again, in_cache  # memory-mapped files must be let go before their folder is


def _hub_rows(graph: TokenGraph, hub: int, hops: int, sizes: IndexSizes, clock: Clock) -> Iterator[Row]:
    count = int(graph.walks(hops)[hub])  # counted beforehand: once a graph

    def touch() -> None:
        automaton = KGAutomaton(graph, [hub], hops)
        assert automaton.paths_left(automaton.start()) == count
        automaton.sub_trie(hub)

    def first_touch() -> None:
        graph.sub_tries = LFUCache(graph.sub_tries.max_bytes)
        touch()

    why = f"reference not run: {count:,} paths to enumerate"
    what = f"hub of {sizes.hub_edges:,} edges, {hops} hops"
    yield ours_only(f"{what}: first touch", first_touch, sizes.repeats, clock, "≤ 25 ms", why)
    yield ours_only(f"{what}: second touch", touch, sizes.repeats, clock, "≤ 1 ms", why)


def _walk_one(constraint: Constraint[Any]) -> None:
    """Follow the first allowed token to the end of a path."""
    state = constraint.start()
    while state.alive and not state.complete:
        state = constraint.successors(state).take(0)


def language(constraint: Constraint[Any]) -> set[tuple[int, ...]]:
    """All token sequences of a constraint, walked token by token; for small ones."""
    found: set[tuple[int, ...]] = set()
    stack: list[tuple[tuple[int, ...], State]] = [((), constraint.start())]
    while stack:
        tokens, state = stack.pop()
        if state.complete:
            found.add(tokens)
        if state.alive:
            successors = constraint.successors(state)
            assert successors.tokens is not None
            stack += [((*tokens, token), successors.take(i)) for i, token in enumerate(successors.tokens.tolist())]
    return found


def spelled_rows(trie: EnumeratedTrie) -> set[tuple[int, ...]]:
    """The token sequences of an enumerated trie, read off its nodes from the leaves up."""
    nodes = trie.nodes
    parents = np.repeat(np.arange(len(nodes.tokens)), np.diff(nodes.children))
    above, tokens = [-1, *parents.tolist()], nodes.tokens.tolist()
    found = set()
    for leaf in np.unique(nodes.leaves).tolist():
        row, node = [], leaf
        while node:
            row.append(tokens[node])
            node = above[node]
        found.add(tuple(reversed(row)))
    return found
