"""BERT as a decoder, its arithmetic alone: what the embedded model reads tokens with on a CPU.

A search calls the model often, for a few tokens each time, and then a fifth of the time goes into what transformers
does around the arithmetic: hooks, dropout, chunking, building masks. This is the forward pass of
``transformers.BertLMHeadModel`` in evaluation, over its own weights, for one text with a mask and positions given.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm, scaled_dot_product_attention
from transformers import BertLMHeadModel, Cache

from kgdemo.models.linear import OneDNNLinear, product


@dataclass(frozen=True, slots=True)
class Output:
    """What a forward pass returns, by transformers' name for it: ``logits``, ``(1, kept, V)``."""

    logits: Tensor


class LeanBert(nn.Module):
    """Called like the transformers model whose weights it shares.

    Args:
        model: what ``suits`` says yes to.
    """

    def __init__(self, model: BertLMHeadModel) -> None:
        super().__init__()
        self.embeddings = model.bert.embeddings
        self.layers = model.bert.encoder.layer
        self.head = model.cls.predictions
        self.heads = model.config.num_attention_heads
        self.dtype = model.dtype

    @staticmethod
    def suits(model: nn.Module) -> bool:
        """Whether a model is a BERT decoder in fp32 on a CPU whose linear layers are ``OneDNNLinear``."""
        return (
            type(model) is BertLMHeadModel
            and model.config.hidden_act == "gelu"
            and not model.config.add_cross_attention
            and model.device.type == "cpu"
            and model.dtype is torch.float32
            and isinstance(model.cls.predictions.decoder, OneDNNLinear)
        )

    @torch.inference_mode()
    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        past_key_values: Cache,
        use_cache: bool,
        logits_to_keep: int,
    ) -> Output:
        """Read n tokens behind those in the cache.

        Args:
            input_ids, position_ids: ``(1, n)``.
            attention_mask: added to the attention scores, ``(1, 1, n, pool)``.
            past_key_values: keys and values so far; those of these tokens are added.
            use_cache: True; there for the sake of the transformers signature.
            logits_to_keep: for how many of the last tokens logits are wanted.
        """
        table = self.embeddings
        words = table.word_embeddings.weight[input_ids[0]]
        places = table.position_embeddings.weight[position_ids[0]]
        rows = _norm(table.LayerNorm, words + places + table.token_type_embeddings.weight[0])  # (n, width)
        for number, layer in enumerate(self.layers):
            attended = self._attend(layer.attention.self, number, rows, attention_mask, past_key_values)
            output = layer.attention.output
            rows = _norm(output.LayerNorm, rows + product(output.dense, attended))
            inner = product(layer.intermediate.dense, rows, "gelu")
            rows = _norm(layer.output.LayerNorm, rows + product(layer.output.dense, inner))
        last = rows[len(rows) - logits_to_keep :]
        last = _norm(self.head.transform.LayerNorm, product(self.head.transform.dense, last, "gelu"))
        return Output(product(self.head.decoder, last)[None])

    def _attend(self, part: nn.Module, number: int, rows: Tensor, mask: Tensor, cache: Cache) -> Tensor:
        """Self-attention of layer ``number`` over the whole cache, without its output projection; ``(n, width)``."""
        query, key, value = (
            product(linear, rows).view(1, len(rows), self.heads, -1).transpose(1, 2)
            for linear in (part.query, part.key, part.value)
        )  # (1, heads, n, width / heads)
        keys, values = cache.update(key, value, number)  # (1, heads, pool, width / heads)
        attended = scaled_dot_product_attention(query, keys, values, attn_mask=mask)
        return attended[0].transpose(0, 1).reshape(len(rows), -1)


def _norm(norm: nn.LayerNorm, rows: Tensor) -> Tensor:
    return layer_norm(rows, norm.normalized_shape, norm.weight, norm.bias, norm.eps)
