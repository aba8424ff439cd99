"""LoRA (Hu et al. 2022): small matrices beside the frozen ones, for models too large to train whole.

Needs the package ``peft``, which the app does without: ``pip install ".[lora]"``.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

import torch

from kgdemo.errors import UserError


@dataclass(frozen=True, slots=True)
class Lora:
    """Size and strength of the added matrices.

    Attributes:
        rank: their inner dimension.
        alpha: their product is scaled by ``alpha / rank``.
        dropout: on their input.
        targets: names of the layers that get some; ``all-linear`` is every one but the output layer.
    """

    rank: int = 16
    alpha: int = 32
    dropout: float = 0.05
    targets: str = "all-linear"


def adapted(model: torch.nn.Module, lora: Lora) -> torch.nn.Module:
    """Freeze ``model`` and put trainable low-rank matrices beside its linear layers.

    Raises:
        UserError: peft is not installed.
    """
    if find_spec("peft") is None:
        raise UserError("LoRA needs the package peft; install it with: pip install 'peft>=0.18,<1'")
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=lora.targets,
        task_type="CAUSAL_LM",
    )
    return get_peft_model(model, config)  # type: ignore[arg-type]


def merged(model: torch.nn.Module) -> torch.nn.Module:
    """The model with its low-rank matrices multiplied in, a plain causal model again; others as they are."""
    return model.merge_and_unload() if hasattr(model, "merge_and_unload") else model  # type: ignore[operator]
