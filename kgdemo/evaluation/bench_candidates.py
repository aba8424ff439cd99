"""How long a step takes that is not the model's: choosing the best allowed tokens over all beams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import mean, median

import torch
from torch import Tensor
from transformers.generation.logits_process import PrefixConstrainedLogitsProcessor

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.free import FreeText
from kgdemo.constraint.pieces import Pieces
from kgdemo.constraint.tokenised import TokenisedGraph
from kgdemo.decoding.beam import BeamSettings, Hypothesis, Step, beam_search
from kgdemo.decoding.candidates import best_candidates
from kgdemo.evaluation.bench import Clock, Row, timed
from kgdemo.evaluation.reference import ReferenceTrie, networkx_graph
from kgdemo.evaluation.synthetic import two_hop_graph
from kgdemo.kg.graph import KnowledgeGraph


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

    def follow(self, parent: int, tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``TokenTree``."""
        nodes, rows = self.extend([parent] * len(tokens), tokens[-1:] * len(tokens))
        return nodes, rows[-1]


def candidate_rows(pieces: Pieces, beams: int, repeats: int, clock: Clock, paths: int = 9_000) -> Iterator[Row]:
    """Our search over noise, a step's share of it and its slowest step; the reference chooses from the same beams.

    Sub-tries are at hand from an untimed search: what a question costs before it is in rows of its own. Equal: at every
    step the best 2K continuations are the same, tokens and scores.
    """
    triples, hub = two_hop_graph(paths)
    kg = KnowledgeGraph.from_triples(triples)
    graph = TokenisedGraph(kg, pieces, directed=True)
    trie = ReferenceTrie.build(networkx_graph(kg, directed=True), [hub], 2, pieces.tokenizer)
    topic = kg.entities.find(hub)
    assert topic is not None
    tree = NoiseTree(len(pieces.tokenizer), beams)
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


def _plain_choice(rows: Tensor, scores: Sequence[float], most: int) -> list[tuple[int, int]]:
    """Beam and token of the best of all continuations."""
    places = (rows + torch.tensor(scores)[:, None]).view(-1).topk(most).indices.tolist()
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
