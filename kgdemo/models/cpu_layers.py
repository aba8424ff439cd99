"""Linear layers for a handful of rows on a CPU.

A search reads few tokens at a time, so nearly all of its time is spent moving weights through matrix products of
1 to 50 rows. PyTorch sends these to MKL in fp32, although it carries a second library, oneDNN, whose kernels are
made for the processor at hand: with few rows they take half the time, a third with a hundred. A copy of the weights
in the order in which these kernels read them (``pack``) saves up to half of that again. Nothing is rounded differently
but the order of the sums.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import layer_norm, scaled_dot_product_attention
from transformers import BertLMHeadModel

from kgdemo.models.batched_forward import Pass

_MAX_BYTES = 2_500_000_000  # of weights that are worth a second copy
_USUAL_ROWS = 16  # what the copy is laid out for; other numbers fare as well


class OneDNNLinear(nn.Linear):
    """A linear layer that computes with oneDNN whenever no gradient is wanted; it shares the given layer's weights.

    Args:
        layer: the layer whose place it takes.
    """

    def __init__(self, layer: nn.Linear) -> None:
        nn.Module.__init__(self)  # nn.Linear's own would make weights only to throw them away
        self.in_features, self.out_features = layer.in_features, layer.out_features
        self.weight, self.bias = layer.weight, layer.bias
        self.training = layer.training
        self._packed: Tensor | None = None
        self._packed_from = (0, 0)  # address and version of the weights that the copy is of

    def pack(self) -> None:
        """Keep a copy of the weights as the kernels read them; it is used until the weights change."""
        self._packed = torch.ops.mkldnn._reorder_linear_weight(self.weight.detach(), _USUAL_ROWS)
        self._packed_from = self._present()

    @property
    def quickest(self) -> Tensor:
        """The packed weights, while they are those of the layer; else the layer's own."""
        return self.weight if self._packed is None or self._packed_from != self._present() else self._packed

    def _present(self) -> tuple[int, int]:
        return self.weight.data_ptr(), self.weight._version

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002  # the name that nn.Linear gives it
        """``input @ weight.T + bias``, shape ``(..., in_features)`` -> ``(..., out_features)``."""
        if (
            torch.is_grad_enabled()
            or input.device.type != "cpu"
            or not input.dtype == self.weight.dtype == torch.float32
        ):
            return functional.linear(input, self.weight, self.bias)
        return product(self, input)


def product(layer: OneDNNLinear, rows: Tensor, activation: Literal["none", "gelu"] = "none") -> Tensor:
    """A linear layer of fp32 rows on a CPU by oneDNN, and what is applied to its output; no gradient."""
    how = "none" if activation == "gelu" else ""  # which gelu: the exact one
    return torch.ops.mkldnn._linear_pointwise(rows, layer.quickest, layer.bias, activation, [], how)


def with_onednn(model: nn.Module) -> nn.Module:
    """Let a model's plain linear layers compute with oneDNN, in place; where PyTorch lacks it, nothing changes."""
    if torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        for name, layer in [(n, m) for n, m in model.named_modules() if type(m) is nn.Linear]:
            model.set_submodule(name, OneDNNLinear(layer))
    return model


def pack(model: nn.Module) -> None:
    """Pack the ``OneDNNLinear`` layers of a model that computes in fp32 on a CPU and is not too large to have twice."""
    layers = [layer for layer in model.modules() if isinstance(layer, OneDNNLinear)]
    fit = all(layer.weight.dtype == torch.float32 and layer.weight.device.type == "cpu" for layer in layers)
    if fit and sum(layer.weight.nbytes for layer in layers) <= _MAX_BYTES:
        for layer in layers:
            layer.pack()


def without_onednn(model: nn.Module) -> nn.Module:
    """A copy of a model as transformers makes it, sharing all weights: what a benchmark compares with."""
    packed = [layer._packed for layer in model.modules() if isinstance(layer, OneDNNLinear)]
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers(), *packed)}
    plain = copy.deepcopy(model, shared)
    for name, layer in [(n, m) for n, m in plain.named_modules() if isinstance(m, OneDNNLinear)]:
        linear = nn.Linear(layer.in_features, layer.out_features, device="meta")
        linear.weight, linear.bias = layer.weight, layer.bias
        plain.set_submodule(name, linear)
    return plain


# --------------------------------------------------------------------------------------------------
# BERT as a decoder, its arithmetic alone: what the embedded model reads tokens with on a CPU.
#
# A search calls the model often, for a few tokens each time, and then a fifth of the time goes into what transformers
# does around the arithmetic: hooks, dropout, chunking, building masks. This is the forward pass of
# ``transformers.BertLMHeadModel`` in evaluation, over its own weights, with masks and positions given, for
# the texts of several questions at once: what they do not share is attention.


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
