"""Made-up graphs, tokenisers and models for the benchmark: the sizes of real ones, no download, no data.

Labels are words of syllables, so that they share token prefixes as real names do.

Tiny models with random weights and tokenisers, built without a download: for the soak and for tests. A ``TableTree``
is a model that is only a table of log-probabilities, so a search over one costs what the search costs;
``random_model`` makes real transformers of each family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
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

from kgdemo.constraint.label_tokens import PATH_END, PATH_START
from kgdemo.kg.graph import Triple
from kgdemo.models.base import PROMPT_END, PromptStyle
from kgdemo.models.causal import CausalModel

_ONSETS = "b c d f g h k l m n p r s t v w br ch dr fl gr kl pr sh st tr".split()
HUB = "The Hub"
_SYLLABLES = [onset + vowel for onset in _ONSETS for vowel in ("a", "e", "i", "o", "u", "an", "el", "in", "or", "us")]


def labels(count: int, words: int, seed: int, fewest: int = 1) -> list[str]:
    """Different names of ``fewest`` to ``words`` words, two syllables each; a number keeps the last ones apart."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(fewest, words + 1, count)
    drawn = rng.integers(0, len(_SYLLABLES), (count, words, 2))
    found: dict[str, None] = {}
    for size, row in zip(sizes.tolist(), drawn.tolist(), strict=True):
        name = " ".join((_SYLLABLES[a] + _SYLLABLES[b]).capitalize() for a, b in row[:size])
        found[name if name not in found else f"{name} {len(found)}"] = None
    return list(found)


def two_hop_graph(paths: int, words: int = 3, fewest: int = 1) -> tuple[list[Triple], str]:
    """A graph whose first entity, a hub, has about ``paths`` paths of up to two hops, edges walked forwards.

    Never more than one relation from one entity to another, which is all a plain ``networkx.DiGraph`` can
    hold. Entities' labels have ``fewest`` to ``words`` words. Those around the hub are linked among themselves, so that
    longer paths exist as well.

    Returns:
        the triples and the hub's label.
    """
    around = max(2, int(np.sqrt(paths)))
    fan = max(1, round(paths / around) - 1)
    entities = labels(around * 4 + 2, words, 0, fewest)
    relations = labels(40, 2, 1)
    rng = np.random.default_rng(0)
    edges = [(0, target) for target in range(1, around + 1)]
    for source in range(1, around + 1):
        edges += [(source, int(target)) for target in rng.choice(len(entities) - 1, fan, replace=False) + 1]
    kinds = rng.integers(0, len(relations), len(edges)).tolist()
    triples = [(entities[h], relations[r].lower(), entities[t]) for (h, t), r in zip(edges, kinds, strict=True)]
    return triples, entities[0]


def large_graph(triples: int, hub_edges: int) -> Iterator[Triple]:
    """A sparse random graph with three triples an entity, and ``HUB`` with ``hub_edges`` edges among them."""
    names = [HUB, *labels(max(10, triples // 3), 3, 0)]
    relations = [name.lower() for name in labels(200, 2, 1)]
    rng = np.random.default_rng(0)
    ends: NDArray[np.int64] = rng.integers(1, len(names), (triples, 2))
    ends[:hub_edges, 0] = 0
    ends[:hub_edges, 1] = np.arange(hub_edges) % (len(names) - 1) + 1
    kinds = rng.integers(0, len(relations), triples)
    for (head, tail), kind in zip(ends.tolist(), kinds.tolist(), strict=True):
        yield names[head], relations[kind], names[tail]


def tokenizer_of_size(vocabulary: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokeniser with ``vocabulary`` tokens, the kind that Llama-3 and Qwen2 have.

    It knows the syllables of ``labels`` and the arrow, and is filled up with letter groups that hardly
    occur: what costs time is how many tokens there are, not what they say.
    """
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {token: number for number, token in enumerate(["<eos>", PATH_START, PATH_END, *letters])}
    merges: list[tuple[str, str]] = []

    def learn(left: str, right: str) -> None:
        if left + right not in vocab and len(vocab) < vocabulary:
            vocab[left + right] = len(vocab)
            merges.append((left, right))

    learn("-", ">")
    learn("Ġ", "->")
    for syllable in _SYLLABLES:
        for word in (syllable, "Ġ" + syllable, "Ġ" + syllable.capitalize()):
            for end in range(1, len(word)):
                learn(word[:end], word[end])
    known = list(vocab)[3:]
    for left in known:  # their products go on in turn until the vocabulary is full
        if len(vocab) >= vocabulary:
            break
        for right in letters:
            learn(left, right)
    tokenizer = Tokenizer(BPE(vocab, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>", pad_token="<eos>")
    fast.add_special_tokens({"additional_special_tokens": [PATH_START, PATH_END]})
    return fast


def qwen2_shaped(name: str, tokenizer: PreTrainedTokenizerFast, width: int, inner: int, layers: int) -> CausalModel:
    """A causal language model of Qwen2's build with random weights: what it says is noise, what it costs is real."""
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=max(1, width // 64),
        num_key_value_heads=max(1, width // 448),
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=0,
    )
    torch.manual_seed(0)
    return CausalModel(name, AutoModelForCausalLM.from_config(config), tokenizer, PromptStyle())


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


FAMILIES = ("qwen2", "llama", "gpt2", "bert")  # model families that take a 4-D attention mask
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
