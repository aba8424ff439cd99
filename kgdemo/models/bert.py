"""BERT as a decoder, its arithmetic alone: what the embedded model reads tokens with on a CPU.

A search calls the model often, for a few tokens each time, and then a fifth of the time goes into what transformers
does around the arithmetic: hooks, dropout, chunking, building masks. This is the forward pass of
``transformers.BertLMHeadModel`` in evaluation, over its own weights, with masks and positions given, for
the texts of several questions at once: what they do not share is attention.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm, scaled_dot_product_attention
from transformers import BertLMHeadModel

from kgdemo.models.linear import OneDNNLinear, product
from kgdemo.models.together import Pass


class LeanBert(nn.Module):
    """The arithmetic of a transformers model, whose weights it shares.

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
    def read(self, passes: Sequence[Pass]) -> list[Tensor]:
        """Read tokens of several texts, each behind those in its own cache.

        Returns:
            for each pass the logits of its last tokens, ``(kept, V)``.
        """
        table, sizes = self.embeddings, [one.input_ids.shape[1] for one in passes]
        words = table.word_embeddings.weight[torch.cat([one.input_ids[0] for one in passes])]
        places = table.position_embeddings.weight[torch.cat([one.position_ids[0] for one in passes])]
        rows = _norm(table.LayerNorm, words + places + table.token_type_embeddings.weight[0])  # (n, width)
        for number, layer in enumerate(self.layers):
            attended = self._attend(layer.attention.self, number, rows, passes, sizes)
            output = layer.attention.output
            rows = _norm(output.LayerNorm, rows + product(output.dense, attended))
            inner = product(layer.intermediate.dense, rows, "gelu")
            rows = _norm(layer.output.LayerNorm, rows + product(layer.output.dense, inner))
        kept = [one.logits_to_keep for one in passes]
        last = torch.cat([part[len(part) - keep :] for part, keep in zip(rows.split(sizes), kept, strict=True)])
        last = _norm(self.head.transform.LayerNorm, product(self.head.transform.dense, last, "gelu"))
        return list(product(self.head.decoder, last).split(kept))

    def _attend(
        self, part: nn.Module, number: int, rows: Tensor, passes: Sequence[Pass], sizes: Sequence[int]
    ) -> Tensor:
        """Self-attention of layer ``number``, each text over its own cache; ``(n, width)``, to be projected."""
        parts = [product(linear, rows).split(sizes) for linear in (part.query, part.key, part.value)]
        attended = []
        for one, *mine in zip(passes, *parts, strict=True):
            query, key, value = (x.view(1, len(x), self.heads, -1).transpose(1, 2) for x in mine)  # (1, heads, n, each)
            keys, values = one.past_key_values.update(key, value, number)  # (1, heads, pool, each)
            found = scaled_dot_product_attention(query, keys, values, attn_mask=one.attention_mask)
            attended.append(found[0].transpose(0, 1).reshape(len(mine[0]), -1))
        return torch.cat(attended)


def _norm(norm: nn.LayerNorm, rows: Tensor) -> Tensor:
    return layer_norm(rows, norm.normalized_shape, norm.weight, norm.bias, norm.eps)
