"""Random decodes without end: ``python -m kgdemo bench soak``.

A small random graph with nasty labels × a random model × search × constraint × K × hops × look-ahead × direction.
Every emitted path must be in the graph, be spelled as its labels are and closed by the end mark; all must differ,
and none may be missing. What is in the graph is told by the lines that the graph was read from: ``Lines`` reads them
for itself, so that a fault of the product's readers is found too. One in thirty models is a real transformer, the
others are tables of random log-probabilities: to the search they look the same, and take a quarter of the time. A
fault is told with the seed that brings it back.
"""

from __future__ import annotations

import gc
import json
import random
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

from kgdemo.constraint.automaton import Constraint, KGAutomaton
from kgdemo.constraint.label_tokens import ARROW, LabelTokens
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.constraint.trie import EnumeratedTrie
from kgdemo.decoding.base import BeamSettings, Hypothesis, Step
from kgdemo.decoding.beam import beam_search
from kgdemo.decoding.searches import DiverseSettings, SamplingSettings, diverse_search, greedy_path, sample
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph, Triple
from kgdemo.kg.io.formats import parse_triples
from kgdemo.kg.path import Path
from kgdemo.lab.benchmarks.synthetic import FAMILIES, TableTree, byte_level_tokenizer, random_model, wordpiece_tokenizer
from kgdemo.models.base import TokenTree, read_out
from kgdemo.verify import Verifier

NASTY = (
    "New",
    "New York",
    "New York City",
    "new york",
    "a",
    "a -> b",
    "-> b",
    "</PATH>",
    "<PATH> x",
    "x </PATH>",
    "quote\"s 'n' `ticks`",
    "line\nbreak",
    "<b>bold</b>",
    "{{x}} ${y}",
    "日本",
    "Österreich",
    "e\u0301",
    "🎬",
    "\u202ertl",
    "~part",
    "part",
    "part of",
    ".",
    "\u200b",
    "it's",
)
RELATIONS = ("part", "part of", "~part", "-> part", "born in", "</PATH>")
QUESTION = "which part of New York"
SEARCHES = ("beam",) * 6 + ("diverse",) * 2 + ("greedy", "sample")
REAL_MODELS = 1 / 30  # share of decodes with a transformer
_WHOLE, _SHORT = 256, 24  # tokens a path may have; the shorter limit cuts some off

_model = lru_cache(random_model)
_parts = lru_cache(lambda wordpiece: LabelTokens((wordpiece_tokenizer if wordpiece else byte_level_tokenizer)()))


@dataclass(frozen=True, slots=True)
class Case:
    """The parameters of one decode; all of them follow from the seed."""

    seed: int
    triples: tuple[Triple, ...]
    topics: tuple[str, ...]
    hops: int
    directed: bool
    enumerated: bool  # the enumerated trie instead of the automaton
    search: str
    limits: BeamSettings
    groups: int  # of the diverse search
    family: str  # of the transformer; empty: a table
    weights: int  # seed of the model's weights

    @property
    def lines(self) -> list[str]:
        """The graph as a file of JSON lines holds it."""
        return [json.dumps({"head": head, "relation": name, "tail": tail}) for head, name, tail in self.triples]


class Lines:
    """The facts that lines of JSON state, read without any part of the product.

    Args:
        lines: one triple each.
        directed: edges are walked from head to tail only.
    """

    def __init__(self, lines: Sequence[str], directed: bool) -> None:
        records = [json.loads(line) for line in lines]
        names = {record["relation"] for record in records}
        clash = {"part", "~part"} <= names  # then one tilde alone does not tell an inverse from a relation
        self._from: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        for record in records:
            head, name, tail = record["head"], record["relation"], record["tail"]
            self._from[head].add((name, tail))
            if not directed:
                self._from[tail].add((f"~~{name}" if clash and name in ("part", "~part") else f"~{name}", head))

    def states(self, path: Path) -> bool:
        """Whether each hop of a path is a line, or a line read from its tail."""
        return all((relation, tail) in self._from.get(head, ()) for head, relation, tail in path.hops)

    def walks(self, topic: str, hops: int) -> Iterator[tuple[str, ...]]:
        """All walks of one to ``hops`` hops, as (entity, relation, entity, …)."""
        walks: list[tuple[str, ...]] = [(topic,)]
        for _ in range(hops):
            walks = [(*walk, *step) for walk in walks for step in sorted(self._from.get(walk[-1], ()))]
            yield from walks


@dataclass(slots=True)
class Tally:
    """Counts over the decodes; ``seeds`` are those of the decodes with a fault."""

    decodes: int = 0
    paths: int = 0
    unverified: int = 0
    misspelled: int = 0
    unclosed: int = 0
    duplicate: int = 0
    missing: int = 0
    seeds: list[int] = field(default_factory=list)

    @property
    def faults(self) -> int:
        """All faults."""
        return self.unverified + self.misspelled + self.unclosed + self.duplicate + self.missing


def soak(decodes: int, first_seed: int, tally: Tally) -> Iterator[int]:
    """Decode again and again, and add up in ``tally``.

    Yields:
        the seed of every decode, once it is judged.

    Raises:
        RuntimeError: a decode broke off; it says with which seed.
    """
    gc.freeze()  # what is loaded is not gone through again after every few decodes
    for seed in range(first_seed, first_seed + decodes):
        try:
            decode_once(seed, tally)
        except Exception as error:
            raise RuntimeError(f"the decode of seed {seed} broke off") from error
        yield seed


def decode_once(seed: int, tally: Tally) -> None:
    """One decode, judged and added to the tally."""
    before = tally.faults
    case = draw(seed)
    kg = KnowledgeGraph.from_triples(parse_triples(case.lines, ".jsonl", "soak"))
    label_tokens = _model(case.family, case.weights).label_tokens if case.family else _parts(case.weights % 2 == 1)
    finished = run(case, kg, label_tokens)
    judge(case, kg, label_tokens, finished, tally)
    tally.decodes += 1
    tally.paths += len(finished)
    if tally.faults > before:
        tally.seeds.append(seed)


def draw(seed: int) -> Case:
    """The case of a seed."""
    rng = random.Random(seed)
    entities, names = rng.sample(NASTY, rng.randint(1, 6)), rng.sample(RELATIONS, rng.randint(1, 4))
    triples = tuple((rng.choice(entities), rng.choice(names), rng.choice(entities)) for _ in range(rng.randint(1, 10)))
    beams = rng.randint(1, 6)
    limits = BeamSettings(
        beams,
        max_tokens=rng.choice((_WHOLE, _WHOLE, _WHOLE, _SHORT)),
        length_penalty=rng.choice((0.0, 0.0, 1.0, -1.0)),
        graph_normalised=rng.random() < 0.5,
        look_ahead=rng.choice((None, 0, 0, 8, 48)),
    )
    return Case(
        seed,
        triples,
        topics=tuple(dict.fromkeys(rng.choice(triples)[0] for _ in range(rng.choice((1, 1, 2))))),
        hops=rng.randint(1, 3),
        directed=rng.random() < 0.5,
        enumerated=rng.random() < 0.2,
        search=rng.choice(SEARCHES),
        limits=limits,
        groups=rng.choice([groups for groups in (1, 2, 3) if beams % groups == 0]),
        family=rng.choice(FAMILIES) if rng.random() < REAL_MODELS else "",
        weights=rng.randint(0, 3),
    )


def run(case: Case, kg: KnowledgeGraph, label_tokens: LabelTokens) -> Sequence[Hypothesis]:
    """The decode itself; what it found."""
    graph = TokenGraph(kg, label_tokens, case.directed)
    topics = kg.entities.ids_of(case.topics)
    constraint: Constraint[Any] = (
        EnumeratedTrie.build(graph, topics, case.hops) if case.enumerated else KGAutomaton(graph, topics, case.hops)
    )
    return read_out(_search(case, _tree(case, label_tokens), constraint))


def judge(
    case: Case, kg: KnowledgeGraph, label_tokens: LabelTokens, finished: Sequence[Hypothesis], tally: Tally
) -> None:
    """Count what is wrong with the found paths; labels spelled alike share tokens, so one may hold several."""
    verifier, lines, found = Verifier(StatedFacts(case.triples)), Lines(case.lines, case.directed), set()
    for hypothesis in finished:
        ended = hypothesis.tokens[-len(label_tokens.end) :] == label_tokens.end and hypothesis.state.complete
        tally.unclosed += not (ended and hypothesis.state.paths)
        for ids in hypothesis.state.paths:
            path = kg.labelled(ids)
            found.add(path)
            tally.unverified += not (verifier.verify(path).faithful and lines.states(path))
            tally.misspelled += hypothesis.tokens != _spelled(label_tokens, path)
    if case.search != "sample":  # chains that are drawn, each by itself, may be the same
        tally.duplicate += len(finished) - len({hypothesis.tokens for hypothesis in finished})
    if case.search == "beam" and case.limits.max_tokens == _WHOLE:
        exist = {walk for topic in case.topics for walk in islice(lines.walks(topic, case.hops), 200)}
        tally.missing += max(0, min(case.limits.beams, len(exist)) - len(found))


def _tree(case: Case, label_tokens: LabelTokens) -> TokenTree:
    if not case.family:
        return TableTree(len(label_tokens.tokenizer), case.seed % 32)
    model = _model(case.family, case.weights)
    return model.tree(model.style.encode(label_tokens, QUESTION, case.topics))


def _search(case: Case, tree: TokenTree, constraint: Constraint[Any]) -> Generator[Step, None, Sequence[Hypothesis]]:
    limits = case.limits
    if case.search == "greedy":
        return greedy_path(tree, constraint, limits.max_tokens)
    if case.search == "sample":
        return sample(tree, constraint, SamplingSettings(limits.beams, limits.max_tokens, 1.0, case.seed))
    if case.search == "diverse":
        return diverse_search(tree, constraint, DiverseSettings(limits, case.groups))
    return beam_search(tree, constraint, limits)


def _spelled(label_tokens: LabelTokens, path: Path) -> tuple[int, ...]:
    """A path's tokens, label by label."""
    first, *rest = path.labels
    labels = [first, *(part for label in rest for part in (ARROW, label))]
    return tuple(token for label in labels for token in _label(label_tokens, label)) + label_tokens.end


@lru_cache
def _label(label_tokens: LabelTokens, label: str) -> tuple[int, ...]:
    return tuple(label_tokens.plain(f" {label}"))
