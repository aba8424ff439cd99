"""How long K reasoning paths take, from the question's entities on: our search and ``generate`` with the reference.

Both sides use the same model, prompt, beams and graph in one process. The prompt is read causally, which is
all ``generate`` can do. Scores are sums of full-vocabulary log-probabilities on both sides, both go on
until no live beam can enter the K best (``length_penalty`` 0, ``early_stopping`` False), and a path ends only
where its end mark is among a step's K best (``late_ends`` False, which is ``generate``'s rule and not our default).
Equal means: the same paths in the same order with the same scores.

Where the remaining time goes, measured on 2026-11-22 with one thread of a busy AMD EPYC, in processor time:

- embedded model, 85 ms a question: linear layers 61 % (115 GFLOP/s), attention 7 %, the rest of the forward pass 10 %,
  log_softmax 5 %, search, constraint and looking ahead 17 % (Python, 0.9 ms a step);
- model of 100M, 1.2 s: linear layers 69 % (142 GFLOP/s), attention 10 %, the rest of transformers' forward pass 16 %,
  log_softmax 1 %, search, constraint and looking ahead 3 %.

The kernels of the linear layers reach 157 GFLOP/s with 64 rows and 54 to 77 with ten, for which the weights hardly come
from memory fast enough: fewer and wider passes are what is left to gain there, and shorter prompts (200 of the 672
tokens that the 100M model reads are its prompt).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import isclose
from statistics import median
from typing import Any, TypeVar, cast

import networkx as nx
import torch

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.decoding.base import BeamSettings, Hypothesis
from kgdemo.decoding.beam import beam_search
from kgdemo.kg.cache import LFUCache
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import open_graph
from kgdemo.lab.benchmarks.comparison import (
    Clock,
    Generated,
    ReferenceTrie,
    Row,
    generate,
    networkx_graph,
    qwen2_shaped,
    tokenizer_of_size,
    two_hop_graph,
)
from kgdemo.models.base import read_out
from kgdemo.models.bert import without_onednn
from kgdemo.models.causal import EMBEDDED_FOLDER, CausalModel
from kgdemo.models.token_tree import PooledTokenTree
from kgdemo.settings import Settings

Found = TypeVar("Found")
_TOLERANCE = 1e-5  # of a score, relative: fp32 sums, added up in another order
_MAX_TOKENS = 128
_HOPS = 2
_AHEAD = 48  # tokens guessed in the rows that count forward passes
_QUESTIONS = (  # the page's examples, with their topics; the rows against generate() ask the first
    ("Where was the composer of The Magic Flute born?", "The Magic Flute"),
    ("Which countries border Austria?", "Austria"),
    ("Where was the wife of John Lennon born?", "John Lennon"),
    ("Who founded the company that makes the iPhone?", "iPhone"),
    ("What language is spoken in the country whose capital is Vienna?", "Vienna"),
)


@dataclass(frozen=True, slots=True)
class ModelShape:
    """A model of Qwen2's build: its name here, vocabulary, width, inner width of the MLP, layers."""

    name: str
    vocabulary: int
    width: int
    inner: int
    layers: int


@dataclass(frozen=True, slots=True)
class DecodeSizes:
    """What to measure.

    Attributes:
        embedded: whether the embedded model is run on ``resources``.
        shapes: models with random weights, run on a made-up graph.
        paths: paths of that graph's hub.
        long_words: words of an entity's label in one more row, with the first shape, so that two hops take some
            80 tokens; 0 leaves it out.
        beams: K.
        repeats: how often each side is run.
    """

    embedded: bool = True
    shapes: tuple[ModelShape, ...] = (
        ModelShape("100M, random weights", 32_000, 768, 3_072, 9),
        ModelShape("0.5B, random weights", 151_936, 896, 4_864, 24),
    )
    paths: int = 9_000
    long_words: int = 9
    beams: int = 10
    repeats: int = 3


QUICK = DecodeSizes(shapes=DecodeSizes().shapes[:1], long_words=0, repeats=1)


@dataclass(frozen=True, slots=True)
class Task:
    """A question put to one model on one graph, with what the reference needs ready.

    ``plain`` is the same model with the same weights as transformers makes it; the reference runs on it.
    """

    name: str
    model: CausalModel
    plain: torch.nn.Module
    graph: TokenGraph
    topic: str
    prompt: Sequence[int]

    @property
    def end(self) -> int:
        """The token that ends a path."""
        return self.model.label_tokens.end[-1]


class Meter:
    """Counts a model's forward passes and the seconds inside them, while it is entered."""

    def __init__(self, model: torch.nn.Module, clock: Clock) -> None:
        self.model = model
        self.clock = clock
        self.calls = 0
        self.seconds = 0.0

    def __enter__(self) -> Meter:
        def before(*_: object) -> None:
            _synchronise()
            self._began = self.clock()

        def after(*_: object) -> None:
            _synchronise()
            self.calls += 1
            self.seconds += self.clock() - self._began

        self._hooks = [self.model.register_forward_pre_hook(before), self.model.register_forward_hook(after)]
        return self

    def __exit__(self, *_: object) -> None:
        for hook in self._hooks:
            hook.remove()


@dataclass(frozen=True, slots=True)
class Timing:
    """One side's run: milliseconds in all, share of them outside the model, and forward passes."""

    ms: float
    outside: float
    calls: int


def decode_rows(sizes: DecodeSizes, clock: Clock) -> Iterator[Row]:
    """All rows of ``bench decode``, three a model, one at a time."""
    if sizes.embedded:
        model, kg = CausalModel.load(str(EMBEDDED_FOLDER)), open_graph("world")
        tasks = [_task("embedded model on world", model, kg, *question) for question in _QUESTIONS]
        yield from _task_rows(tasks[0], sizes, clock)
        yield _ahead_row(tasks, sizes, clock)
    for shape in sizes.shapes:
        yield from _shaped_rows(f"model of {shape.name}", shape, sizes, clock)
    if sizes.long_words:
        shape = sizes.shapes[0]
        yield from _shaped_rows(f"model of {shape.name}, long labels", shape, sizes, clock, sizes.long_words)


def _shaped_rows(name: str, shape: ModelShape, sizes: DecodeSizes, clock: Clock, long_words: int = 0) -> Iterator[Row]:
    """A model with random weights on a made-up graph."""
    model = qwen2_shaped(shape.name, tokenizer_of_size(shape.vocabulary), shape.width, shape.inner, shape.layers)
    triples, hub = two_hop_graph(sizes.paths, words=long_words or 3, fewest=max(1, long_words - 1))
    task = _task(name, model, KnowledgeGraph.from_triples(triples), f"What is known of {hub}?", hub)
    yield from _task_rows(task, sizes, clock, "≥ 3x" if long_words else "≥ 2.5x")
    yield _ahead_row([task], sizes, clock)


def _task(name: str, model: CausalModel, kg: KnowledgeGraph, question: str, topic: str) -> Task:
    prompt = model.style.encode(model.label_tokens, question, [topic])
    return Task(name, model, without_onednn(model.model), TokenGraph(kg, model.label_tokens), topic, prompt)


def _ahead_row(tasks: Sequence[Task], sizes: DecodeSizes, clock: Clock) -> Row:
    """Reading ahead what is likely, beside a forward pass a token; how many passes either takes is in the name."""
    for task in tasks:
        _warm_up(task)
    both = tasks[0].model.style.bidirectional  # as the model was trained; against generate() it has to read causally
    calls: dict[int | None, int] = {}
    spent: dict[int | None, list[float]] = {}
    found: dict[int | None, list[list[Hypothesis]]] = {}
    for _ in range(sizes.repeats):
        for ahead in (_AHEAD, None, 0):
            began = clock()
            runs = [search(task, sizes, ahead, both) for task in tasks]
            spent.setdefault(ahead, []).append(1000 * (clock() - began))
            found[ahead], calls[ahead] = [paths for paths, _ in runs], sum(count for _, count in runs)
    equal = all(same_hypotheses(a, b) for ahead in (_AHEAD, 0) for a, b in zip(found[ahead], found[None], strict=True))
    few, certain, every = calls[_AHEAD], calls[0], calls[None]
    name = f"{tasks[0].name}: {_AHEAD} tokens ahead, {few} forward passes ({certain} if certain, {every} a token)"
    ours, theirs = median(spent[_AHEAD]), median(spent[None])
    extra = {"calls_ratio": few / every, "calls_ratio_forced": certain / every, "forced_ms": median(spent[0])}
    note = f"{len(tasks)} questions; the reference is our own search, one token of each beam a pass"
    return Row(name, ours, theirs, theirs / ours, equal, "≤ 0.35x, 0.55x of the passes", note, sizes.repeats, extra)


def _task_rows(task: Task, sizes: DecodeSizes, clock: Clock, target: str = "≥ 2.5x") -> Iterator[Row]:
    """End to end with the reference's constraint, and against ``generate`` without any."""
    theirs = networkx_graph(task.graph.kg, directed=False)
    ahead = Settings().tokens_ahead(task.model.on_gpu)  # as the product does
    _warm_up(task)
    ours, bound, free = [], [], []
    for _ in range(sizes.repeats):
        timing, mine = _metered(task.model.reader, lambda: search(task, sizes, ahead)[0], clock)
        ours.append(timing)
        timing, other = _metered(task.plain, lambda: _reference(task, theirs, sizes), clock)
        bound.append(timing)
        longest = max((len(h.tokens) for h in mine), default=1)
        freely = partial(generate, task.plain, task.prompt, sizes.beams, longest, task.end, None)
        free.append(_metered(task.plain, freely, clock)[0])
    row = _row(f"{task.name}: {sizes.beams} paths", ours, bound, len(mine), target)
    note = f"from entity to ranked paths, {_HOPS} hops, prompt of {len(task.prompt)} tokens, paths of up to {longest}"
    yield replace(row, equal=same_paths(mine, other), note=note)
    row = _row(f"{task.name}: against generate() without a constraint", ours, free, len(mine), "> 1x")
    yield replace(row, note=f"reference writes {longest} tokens, as many as our longest path has")


@torch.inference_mode()
def _warm_up(task: Task) -> None:
    """One untimed pass on either side: the first to touch the weights would pay for that."""
    PooledTokenTree(task.model.reader, task.prompt, bidirectional=False).prompt_log_probs()
    task.plain(torch.tensor([list(task.prompt)], device=cast(torch.device, task.plain.device)))


def search(
    task: Task, sizes: DecodeSizes, look_ahead: int | None, bidirectional: bool = False
) -> tuple[list[Hypothesis], int]:
    """Our way: automaton from nothing, prompt, beam search; the paths and how many forward passes they took."""
    task.graph.sub_tries = LFUCache(task.graph.sub_tries.max_bytes)
    topic = task.graph.kg.entities.find(task.topic)
    assert topic is not None
    automaton = KGAutomaton(task.graph, [topic], _HOPS)
    tree = PooledTokenTree(task.model.reader, task.prompt, bidirectional)
    steps = beam_search(tree, automaton, BeamSettings(sizes.beams, _MAX_TOKENS, late_ends=False, look_ahead=look_ahead))
    return read_out(steps), tree.calls


def _reference(task: Task, theirs: nx.DiGraph[Any], sizes: DecodeSizes) -> list[Generated]:
    trie = ReferenceTrie.build(theirs, [task.topic], _HOPS, task.model.label_tokens.tokenizer)
    return generate(task.plain, task.prompt, sizes.beams, _MAX_TOKENS, task.end, trie)


def same_paths(ours: Sequence[Hypothesis], theirs: Sequence[Generated]) -> bool:
    """Whether both found the same paths in the same order with the same scores; what is a tie may come either way."""
    mine = {path.tokens: path.total for path in ours}
    if mine.keys() != {path.tokens for path in theirs}:
        return False
    if not all(isclose(mine[path.tokens], path.score, rel_tol=_TOLERANCE) for path in theirs):
        return False
    in_their_order = [mine[path.tokens] for path in theirs]
    return all(a > b or isclose(a, b, rel_tol=_TOLERANCE) for a, b in pairwise(in_their_order))


def same_hypotheses(ours: Sequence[Hypothesis], other: Sequence[Hypothesis]) -> bool:
    """``same_paths`` of two searches of ours."""
    return same_paths(ours, [Generated(path.tokens, path.total) for path in other])


def _metered(model: torch.nn.Module, run: Callable[[], list[Found]], clock: Clock) -> tuple[Timing, list[Found]]:
    with Meter(model, clock) as meter:
        began = clock()
        found = run()
        _synchronise()
        seconds = clock() - began
    return Timing(1000 * seconds, 1 - meter.seconds / seconds, meter.calls), found


def _row(name: str, ours: Sequence[Timing], theirs: Sequence[Timing], paths: int, target: str) -> Row:
    mine, other = median(t.ms for t in ours), median(t.ms for t in theirs)
    extra = {
        "outside_model": median(t.outside for t in ours),
        "reference_outside_model": median(t.outside for t in theirs),
        "lm_calls_per_path": ours[-1].calls / paths if paths else None,
        "reference_lm_calls_per_path": theirs[-1].calls / paths if paths else None,
    }
    return Row(name, mine, other, other / mine, target=target, repeats=len(ours), extra=extra)


def _synchronise() -> None:
    """Wait for a GPU, which answers before it has worked."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
