"""The fine-tuning loop: GCR's recipe (equation 8, appendix E) for any causal language model.

Loss on the output tokens only, AdamW, linear warm-up then cosine decay, bf16 where it helps, gradient
clipping. Every step draws its data from a generator seeded by run seed and step, so a run resumed from
a checkpoint continues as if it had never stopped.
"""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import torch
from torch import Tensor
from torch.nn import functional
from tqdm import tqdm

from kgdemo.training.batches import IGNORED, Batch, EncodedExample, Encoder, collate
from kgdemo.training.examples import Source
from kgdemo.training.head import SampledHead

logger = logging.getLogger(__name__)
_CHUNK = 8  # batches drawn together and sorted by length, so that little is padded


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """One training run.

    Attributes:
        steps: optimiser steps in all.
        batch_size: examples a step.
        learning_rate: the highest, reached after the warm-up.
        warmup: share of the steps spent warming up (GCR: 0.03).
        floor: learning rate at the end, as a share of the highest.
        weight_decay: AdamW's.
        negatives: sampled vocabulary a step; 0 scores the whole vocabulary.
        longest: examples of more tokens are passed over; few, but a whole batch is padded to them.
        entity_weight: loss weight of entity tokens (see ``batches.Encoder``).
        answer_share: share of the examples that go on to the answer (see ``batches.Encoder``).
        save_every: steps between checkpoints.
        seed: of data, dropout and sampling.
    """

    steps: int = 4000
    batch_size: int = 48
    learning_rate: float = 5e-4
    warmup: float = 0.03
    floor: float = 0.05
    weight_decay: float = 0.01
    negatives: int = 2048
    longest: int = 80
    entity_weight: float = 0.4
    answer_share: float = 0.3
    save_every: int = 250
    seed: int = 7


@dataclass(frozen=True, slots=True)
class Share:
    """A source, its part of the examples, and the steps it is used in (``until_step`` 0: to the end)."""

    source: Source
    share: float
    from_step: int = 0
    until_step: int = 0

    def at(self, step: int) -> float:
        """Its part at a step."""
        return self.share if step >= self.from_step and not 0 < self.until_step <= step else 0.0


def train(
    model: torch.nn.Module,
    encoder: Encoder,
    sources: Sequence[Share],
    pad: int,
    config: TrainConfig,
    out: Path,
    on_checkpoint: Callable[[int], None] | None = None,
) -> None:
    """Train ``model`` in place, with checkpoints in ``out``; resumes from the newest one there.

    Args:
        model: a transformers causal language model.
        encoder: turns examples into tokens.
        sources: where examples come from.
        pad: padding token id.
        config: the recipe.
        out: folder for ``checkpoint.pt`` and ``log.jsonl``.
        on_checkpoint: called with the step after each checkpoint.
    """
    out.mkdir(parents=True, exist_ok=True)
    device = next(model.parameters()).device
    head = SampledHead(model.get_output_embeddings()) if config.negatives else None  # type: ignore[operator]
    optimiser = torch.optim.AdamW(
        _groups(model, config.weight_decay), lr=config.learning_rate, betas=(0.9, 0.98), fused=True
    )
    start = _resume(out, model, optimiser)
    if head is not None:
        model.set_output_embeddings(head)  # type: ignore[operator]
    model.train()
    batches = _batches(encoder, sources, pad, config, start)
    began, smooth = time.perf_counter(), 0.0
    for step in tqdm(range(start, config.steps), initial=start, total=config.steps, unit="step", mininterval=5):
        rate = config.learning_rate * _schedule(step / config.steps, config)
        for group in optimiser.param_groups:
            group["lr"] = rate
        torch.manual_seed(config.seed * 1_000_003 + step)
        loss = _loss(model, next(batches), head, config, device)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        smooth = loss.item() if step == start else 0.98 * smooth + 0.02 * loss.item()
        if (step + 1) % 50 == 0:
            _log(out, step + 1, smooth, rate, time.perf_counter() - began)
        if (step + 1) % config.save_every == 0 or step + 1 == config.steps:
            _save(out, step + 1, model, optimiser, head, config)
            if on_checkpoint is not None:
                on_checkpoint(step + 1)
    if head is not None:
        model.set_output_embeddings(head.inner)  # type: ignore[operator]
    model.eval()


def _loss(model, batch: Batch, head: SampledHead | None, config: TrainConfig, device: torch.device) -> Tensor:
    """Weighted cross-entropy of the output tokens (GCR equation 8), one number."""
    outputs = batch.targets.shape[1]
    targets = batch.targets
    if head is not None:
        targets = head.sample(targets, config.negatives, torch.default_generator)
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=_gains_from_bf16(device)):
        logits = model(
            input_ids=batch.input_ids.to(device),
            attention_mask=batch.attention_mask.to(device),
            position_ids=batch.position_ids.to(device),
            logits_to_keep=outputs + 1,
            use_cache=False,
        ).logits[:, :-1]  # (B, O, S): column j predicts output token j
    losses = functional.cross_entropy(
        logits.float().flatten(0, 1), targets.to(device).flatten(), ignore_index=IGNORED, reduction="none"
    )
    weights = batch.weights.to(device).flatten()
    return (losses * weights).sum() / weights.sum()


def _gains_from_bf16(device: torch.device) -> bool:
    """GPUs, and CPUs with tile registers; on others the casts cost more than the arithmetic saves."""
    return device.type != "cpu" or bool(torch.cpu.get_capabilities().get("amx_bf16"))


def _batches(encoder: Encoder, sources: Sequence[Share], pad: int, config: TrainConfig, start: int) -> Iterator[Batch]:
    """Batches from step ``start`` on; each chunk of steps has a generator of its own."""
    for chunk in range(start // _CHUNK, math.ceil(config.steps / _CHUNK)):
        rng = Random(f"{config.seed}-{chunk}")
        drawn: list[EncodedExample] = []
        shares = [share.at(chunk * _CHUNK) for share in sources]
        while len(drawn) < config.batch_size * _CHUNK:
            source = rng.choices([share.source for share in sources], shares)[0]
            example = encoder(source(rng), rng)
            if len(example.prompt) + len(example.output) <= config.longest:
                drawn.append(example)
        drawn.sort(key=lambda example: (len(example.output), len(example.prompt)))
        pieces = [drawn[i : i + config.batch_size] for i in range(0, len(drawn), config.batch_size)]
        rng.shuffle(pieces)
        for piece in pieces[start - chunk * _CHUNK if start > chunk * _CHUNK else 0 :]:
            yield collate(piece, pad, encoder.style.bidirectional)


def _schedule(progress: float, config: TrainConfig) -> float:
    if progress < config.warmup:
        return max(progress, 1e-4) / config.warmup
    turn = (progress - config.warmup) / (1 - config.warmup)
    return config.floor + (1 - config.floor) * 0.5 * (1 + math.cos(math.pi * turn))


def _groups(model: torch.nn.Module, decay: float) -> list[dict[str, object]]:
    """Weight decay on matrices only."""
    matrices = [p for p in model.parameters() if p.ndim >= 2 and p.requires_grad]
    others = [p for p in model.parameters() if p.ndim < 2 and p.requires_grad]
    return [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]


def _save(out: Path, step: int, model, optimiser, head: SampledHead | None, config: TrainConfig) -> None:
    """Write the checkpoint beside the old one, then swap: a crash never leaves half a file."""
    if head is not None:
        model.set_output_embeddings(head.inner)
    state = {"step": step, "model": model.state_dict(), "optimiser": optimiser.state_dict(), "config": asdict(config)}
    torch.save(state, out / "checkpoint.tmp")
    (out / "checkpoint.tmp").replace(out / "checkpoint.pt")
    if head is not None:
        model.set_output_embeddings(head)


def _resume(out: Path, model, optimiser) -> int:
    file = out / "checkpoint.pt"
    if not file.is_file():
        return 0
    state = torch.load(file, weights_only=True, map_location="cpu")
    model.load_state_dict(state["model"])
    optimiser.load_state_dict(state["optimiser"])
    logger.info("resuming at step %d", state["step"])
    return int(state["step"])


def _log(out: Path, step: int, loss: float, rate: float, seconds: float) -> None:
    line = {"step": step, "loss": round(loss, 4), "rate": rate, "seconds": round(seconds, 1)}
    with (out / "log.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")
