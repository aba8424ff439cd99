"""Tiny models with random weights and tokenisers, built without a download: for the soak and for tests.

A ``TableTree`` is a model that is only a table of log-probabilities, so a search over one costs what the search
costs; ``random_model`` makes real transformers of each family.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
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

from kgdemo.constraint.pieces import PATH_END, PATH_START
from kgdemo.models.base import PROMPT_END
from kgdemo.models.causal import CausalModel
from kgdemo.models.prompt import PromptStyle

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
    """A lower-casing WordPiece tokeniser as BERT has."""
    tokenizer = Tokenizer(WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    specials = ["[UNK]", "[SEP]", "[CLS]", "[PAD]"]
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=specials, show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
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
    config = {
        "qwen2": lambda: Qwen2Config(vocab_size=size, intermediate_size=64, num_key_value_heads=2, **_SMALL),
        "llama": lambda: LlamaConfig(vocab_size=size, intermediate_size=64, num_key_value_heads=2, **_SMALL),
        "gpt2": lambda: GPT2Config(vocab_size=size, n_embd=32, n_layer=2, n_head=4, n_positions=1024),
        "bloom": lambda: BloomConfig(vocab_size=size, hidden_size=32, n_layer=2, n_head=4),
        "opt": lambda: OPTConfig(vocab_size=size, ffn_dim=64, word_embed_proj_dim=32, **_SMALL),
        "bert": lambda: BertConfig(vocab_size=size, intermediate_size=64, is_decoder=True, **_SMALL),
    }[family]()
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config)
    with torch.no_grad():  # sharper than fresh weights, so that beams differ
        for parameter in model.parameters():
            parameter.mul_(3.0 if parameter.ndim > 1 else 1.0)
    template = "{question} : {entities} "
    style = PromptStyle(template, bidirectional=family == "bert", answer_mark="")
    return CausalModel(family, model, tokenizer, style)


class TableTree:
    """A ``TokenTree`` without a model: the row behind a node follows from all tokens up to it.

    Args:
        vocabulary: size of the log-probabilities.
        seed: of the table.
        rows: different rows; nodes share them at random.
    """

    def __init__(self, vocabulary: int, seed: int, rows: int = 61) -> None:
        self.rows = _table(vocabulary, seed, rows)
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

    def follow(self, parent: int, tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``TokenTree``."""
        first = len(self._at)
        nodes, rows = self.extend([parent, *range(first, first + len(tokens) - 1)], tokens)
        return nodes, rows[-1]


@lru_cache(maxsize=32)
def _table(vocabulary: int, seed: int, rows: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.log_softmax(3.0 * torch.randn(rows, vocabulary, generator=generator), dim=-1)
