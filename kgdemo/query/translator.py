"""From the token rows of a text to a sequence of tokens: what the parser and the rewriter of questions have in common.

All-MiniLM-L6-v2 reads a text and stays as it is; ``LAYERS`` small layers read its token rows, and as many write,
token by token (Vaswani et al. 2017). What is written, and how a search goes on from it, is for each to say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

WIDTH, HEADS, INNER, LAYERS = 192, 4, 576, 2
READ = (3, 6)  # layers of the encoder whose rows are read
PAD, BEGIN, END = "<p>", "<s>", "</s>"
_EMBEDDED = 0.3 * WIDTH**0.5  # by which embeddings are scaled
_DATA = Path(__file__).parent / "data"


class Translator(nn.Module):
    """Reads token rows, and writes.

    Args:
        tokens: the vocabulary of what is written.
        rows: size of a token row.
        dropout: while it is trained.
    """

    longest_text: int  # tokens of a text
    longest_plan: int  # tokens of what is written

    def __init__(self, tokens: Sequence[str], rows: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.read, self.read_norm = nn.Linear(rows, WIDTH), nn.LayerNorm(WIDTH)
        self.text_places = nn.Embedding(self.longest_text, WIDTH)
        self.plan_places = nn.Embedding(self.longest_plan, WIDTH)
        self.tokens = nn.Embedding(len(tokens), WIDTH)
        reader = nn.TransformerEncoderLayer(WIDTH, HEADS, INNER, dropout, "gelu", batch_first=True, norm_first=True)
        writer = nn.TransformerDecoderLayer(WIDTH, HEADS, INNER, dropout, "gelu", batch_first=True, norm_first=True)
        self.reader = nn.TransformerEncoder(reader, LAYERS, enable_nested_tensor=False)
        self.writer = nn.TransformerDecoder(writer, LAYERS)
        self.written_norm, self.bias = nn.LayerNorm(WIDTH), nn.Parameter(torch.zeros(len(tokens)))
        self.dropout = nn.Dropout(dropout)
        for table, spread in ((self.tokens, WIDTH**-0.5), (self.text_places, 0.02), (self.plan_places, 0.02)):
            nn.init.normal_(table.weight, std=spread)

    def memory(self, rows: Tensor, padding: Tensor | None = None) -> Tensor:
        """What is read of texts, ``(texts, tokens, rows)`` -> ``(texts, tokens, WIDTH)``; none if ``padding``.

        Without any, none is given: PyTorch checks it by its compiler's symbols, which take half a second to import.
        """
        read: Tensor = self.read_norm(self.read(rows)) + self.text_places.weight[: rows.shape[1]]
        known: Tensor = self.reader(self.dropout(read), src_key_padding_mask=padding)
        return known

    def written(self, memory: Tensor, padding: Tensor | None, before: Tensor, beside: Tensor | float = 0.0) -> Tensor:
        """The writer's rows behind each token written before.

        Args:
            memory: see ``memory``.
            padding: True where a text has no token.
            before: ids of the tokens, ``(texts, length)``.
            beside: what more is known of each, ``(texts, length, WIDTH)``.

        Returns:
            ``(texts, length, WIDTH)``.
        """
        length = before.shape[1]
        known = self.dropout(self.tokens(before) * _EMBEDDED + beside + self.plan_places.weight[:length])
        unseen = torch.triu(torch.full((length, length), -math.inf, device=before.device), 1)
        rows = self.writer(known, memory, tgt_mask=unseen, memory_key_padding_mask=padding, tgt_is_causal=True)
        normed: Tensor = self.written_norm(rows)
        return normed

    def logits(self, rows: Tensor) -> Tensor:
        """Of every token of the vocabulary, for the rows of ``written``."""
        found: Tensor = rows @ self.tokens.weight.T + self.bias
        return found


def save(network: Translator, tokens: Sequence[str], name: str, folder: Path = _DATA) -> None:
    """Write a network where ``load`` reads it, in half precision, with its vocabulary beside it."""
    (folder / f"{name}.txt").write_text("".join(f"{token}\n" for token in tokens), "utf-8")
    weights = {key: tensor.half().contiguous() for key, tensor in network.state_dict().items()}
    save_file(weights, folder / f"{name}.safetensors")


T = TypeVar("T", bound=Translator)


def load(kind: type[T], name: str) -> tuple[T, list[str]]:
    """A network that comes with this package, and its vocabulary."""
    tokens = (_DATA / f"{name}.txt").read_text("utf-8").splitlines()
    weights = {key: tensor.float() for key, tensor in load_file(_DATA / f"{name}.safetensors").items()}
    network = kind(tokens, weights["read.weight"].shape[1])
    network.load_state_dict(weights)
    return network, tokens
