"""Random decodes without end: ``python -m kgdemo bench soak``.

A small random graph with nasty labels × a random model × search × constraint × K × hops × look-ahead × direction.
Every emitted path must be in the graph, be spelled as its labels are and closed by the end mark; all must differ,
and none may be missing. What is in the graph is told by the lines that the graph was read from: ``Lines`` reads them
for itself, so that a fault of the product's readers is found too. A fault is told with the seed that brings it back.

The models are tiny, made here with random weights and their own tokenisers, without a download; tests use them too. One
in thirty is a real transformer (``random_model``), the others are tables of random log-probabilities (``TableTree``):
to the search they look the same, and take a quarter of the time.
"""

from __future__ import annotations

import gc
import json
import random
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers, trainers
from tokenizers.models import BPE, WordPiece
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    BertConfig,
    BloomConfig,
    GPT2Config,
    LlamaConfig,
    OPTConfig,
    PreTrainedTokenizerFast,
    Qwen2Config,
)

from kgdemo.constraint.automaton import Constraint, KGAutomaton
from kgdemo.constraint.label_tokens import ARROW, PATH_END, PATH_START, LabelTokens
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.constraint.trie import EnumeratedTrie
from kgdemo.decoding.base import BeamSettings, Hypothesis, Step
from kgdemo.decoding.beam import beam_search
from kgdemo.decoding.searches import DiverseSettings, SamplingSettings, diverse_search, greedy_path, sample
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph, Triple
from kgdemo.kg.io.formats import parse_triples
from kgdemo.kg.path import Path
from kgdemo.models.base import PROMPT_END, PromptStyle, TokenTree, read_out
from kgdemo.models.causal import CausalModel
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
FAMILIES = ("qwen2", "llama", "gpt2", "bert")  # model families that take a 4-D attention mask
REAL_MODELS = 1 / 30  # share of decodes with a transformer
_WHOLE, _SHORT = 256, 24  # tokens a path may have; the shorter limit cuts some off


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


# --------------------------------------------------------------------------------------------------
# The models: of real transformers' build, or tables.


CORPUS = (
    "Where was the director of Inception born? Inception -> directed by -> Christopher Nolan -> born in -> London",
    "New York is part of the United States of America; New and York are words, part and of too.",
    "Österreich -> grenzt an -> Česko, 日本, العربية, emoji 🎬 and quotes \" ' ` < > & { } $",
)


@lru_cache
def byte_level_tokenizer(marks: bool = True) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokeniser as Qwen2 and Llama-3 have."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=alphabet, special_tokens=["<eos>"], show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>", pad_token="<eos>")
    if marks:
        fast.add_tokens([PATH_START, PATH_END], special_tokens=True)
    return fast


@lru_cache
def wordpiece_tokenizer() -> PreTrainedTokenizerFast:
    """A lower-casing WordPiece tokeniser as BERT has.

    Its vocabulary is the corpus's words, their halves and their letters. The library's trainer is not asked: of pairs
    as frequent it merges another one in every process, and then the same seed would be another decode.
    """
    normalizer, cut = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    specials = ["[UNK]", "[SEP]", "[CLS]", "[PAD]"]
    words = {word for text in CORPUS for word, _ in cut.pre_tokenize_str(normalizer.normalize_str(text))}
    pieces = {piece for word in words for piece in (*word, *(f"##{letter}" for letter in word[1:]), word)}
    pieces |= {
        piece for word in words if word[1:] for half in [len(word) // 2] for piece in (word[:half], f"##{word[half:]}")
    }
    vocabulary = {token: number for number, token in enumerate([*specials, *sorted(pieces)])}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = cut
    tokenizer.decoder = decoders.WordPiece()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", sep_token="[SEP]", cls_token="[CLS]", pad_token="[PAD]"
    )
    fast.eos_token = "[SEP]"
    fast.add_tokens([PATH_START, PATH_END], special_tokens=True)
    fast.add_tokens(["->"])
    return fast


_SMALL: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 1024,
}


def random_model(family: str, seed: int = 0) -> CausalModel:
    """A tiny model with random weights.

    Args:
        family: ``qwen2``, ``llama``, ``gpt2`` or ``bert``; ``bloom`` and ``opt`` take no 4-D attention mask.
        seed: of the weights.
    """
    tokenizer = wordpiece_tokenizer() if family == "bert" else byte_level_tokenizer()
    size = len(tokenizer)
    configs: dict[str, Callable[[], Any]] = {
        "qwen2": lambda: Qwen2Config(vocab_size=size, intermediate_size=64, num_key_value_heads=2, **_SMALL),
        "llama": lambda: LlamaConfig(vocab_size=size, intermediate_size=64, num_key_value_heads=2, **_SMALL),
        "gpt2": lambda: GPT2Config(vocab_size=size, n_embd=32, n_layer=2, n_head=4, n_positions=1024),
        "bloom": lambda: BloomConfig(vocab_size=size, hidden_size=32, n_layer=2, n_head=4),
        "opt": lambda: OPTConfig(vocab_size=size, ffn_dim=64, word_embed_proj_dim=32, **_SMALL),
        "bert": lambda: BertConfig(vocab_size=size, intermediate_size=64, is_decoder=True, **_SMALL),
    }
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(configs[family]())
    with torch.no_grad():  # sharper than fresh weights, so that beams differ
        for parameter in model.parameters():
            parameter.mul_(3.0 if parameter.ndim > 1 else 1.0)
    template = "{question} : {entities} "
    style = PromptStyle(template, bidirectional=family == "bert", answer_mark="")
    return CausalModel(family, model, tokenizer, style)


_TABLE_ROWS = 61  # the nodes of a ``TableTree`` share them at random


class TableTree:
    """A ``TokenTree`` without a model: the row behind a node follows from all tokens up to it.

    Args:
        vocabulary: size of the log-probabilities.
        seed: of the table.
    """

    def __init__(self, vocabulary: int, seed: int) -> None:
        self.rows = _table(vocabulary, seed)
        self.calls = 1
        self._at: list[int] = []  # the row behind each node

    @property
    def size(self) -> int:
        """See ``TokenTree``."""
        return len(self._at)

    def prompt_log_probs(self) -> Tensor:
        """See ``TokenTree``."""
        return self.rows[0]

    def extend(self, parents: Sequence[int], tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``TokenTree``."""
        first = len(self._at)
        for parent, token in zip(parents, tokens, strict=True):
            before = 0 if parent == PROMPT_END else self._at[parent]
            self._at.append(hash((before, token)) % len(self.rows))
        self.calls += 1
        return list(range(first, len(self._at))), self.rows[self._at[first:]]


@lru_cache(maxsize=32)
def _table(vocabulary: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.log_softmax(3.0 * torch.randn(_TABLE_ROWS, vocabulary, generator=generator), dim=-1)


_model = lru_cache(random_model)
_parts = lru_cache(lambda wordpiece: LabelTokens((wordpiece_tokenizer if wordpiece else byte_level_tokenizer)()))
