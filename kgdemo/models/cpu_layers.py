"""Linear layers for a handful of rows on a CPU.

A search reads few tokens at a time, so nearly all of its time is spent moving weights through matrix products of
1 to 50 rows. PyTorch sends these to MKL in fp32, although it carries a second library, oneDNN, whose kernels are
made for the processor at hand: with few rows they take half the time, a third with a hundred. A copy of the weights
in the order in which these kernels read them (``pack``) saves up to half of that again. Nothing is rounded differently
but the order of the sums.

oneDNN compiles code for each number of rows that it meets, about half a megabyte for each layer's shape, and keeps
that of the last thousand: after some hundred questions more than the model and the graph take together. So rows are
filled up to one of ``ROWS`` and longer inputs multiplied part by part: what is kept is ``len(ROWS)`` for each shape.
"""

from __future__ import annotations

import copy
from bisect import bisect_left
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

_MAX_BYTES = 2_500_000_000  # of weights that are worth a second copy
_USUAL_ROWS = 16  # what the copy is laid out for; other numbers fare as well
ROWS = (
    1,
    2,
    3,
    4,
    *range(8, 33, 4),
    *range(40, 65, 8),
    *range(80, 129, 16),
    *range(160, 257, 32),
    *range(320, 513, 64),
)


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
    weight, found = layer.quickest, []
    for part in rows.reshape(-1, layer.in_features).split(ROWS[-1]):
        filled = functional.pad(part, (0, 0, 0, row_count(len(part)) - len(part)))
        made: Tensor = torch.ops.mkldnn._linear_pointwise(filled, weight, layer.bias, activation, [], how)
        found.append(made[: len(part)])
    result = found[0] if len(found) == 1 else torch.cat(found)
    return result.reshape(*rows.shape[:-1], layer.out_features)


def row_count(rows: int) -> int:
    """The number of ``ROWS`` that so many rows, at most the last of them, are filled up to; none stay none."""
    return ROWS[bisect_left(ROWS, rows)] if rows else 0


def has_onednn() -> bool:
    """Whether this PyTorch carries the kernels."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def with_onednn(model: nn.Module) -> nn.Module:
    """Let a model's plain linear layers compute with oneDNN, in place; where PyTorch lacks it, nothing changes."""
    if has_onednn():
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
