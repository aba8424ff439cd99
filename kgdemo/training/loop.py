"""The fine-tuning loop: GCR's recipe (equation 8, appendix E) for any causal language model.

Loss on the output tokens only, AdamW, linear warm-up then cosine decay, bf16 where it helps, gradient
clipping. Every step draws its data from a generator seeded by run seed and step, so a run resumed from
a checkpoint continues as if it had never stopped.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import torch
from torch import Tensor
from torch.nn import functional
from tqdm import tqdm

from kgdemo.errors import UserError
from kgdemo.training.batches import IGNORED, Batch, EncodedExample, Encoder, collate
from kgdemo.training.checkpoints import Checkpoints
from kgdemo.training.config import TrainConfig, schedule
from kgdemo.training.examples import Source
from kgdemo.training.head import SampledHead

Measure = Callable[[torch.nn.Module], float]  # a model in evaluation mode -> how good it is, the more the better
_LOG_EVERY = 50  # steps
_TRIES = 1000  # examples drawn in a row before a limit on their length is called too low
_CHUNK = 8  # batches drawn together and sorted by length, so that little is padded


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
    measure: Measure | None = None,
) -> None:
    """Train ``model`` in place, on the device it is on; resumes from the newest checkpoint in ``out``.

    Args:
        model: a transformers causal language model, adapted by LoRA or whole.
        encoder: turns examples into tokens.
        sources: where examples come from.
        pad: padding token id.
        config: the recipe.
        out: folder for checkpoints and ``log.jsonl``.
        measure: says how good the model is, to keep the best checkpoint; None keeps the newest alone.

    Raises:
        UserError: ``out`` holds a checkpoint of another model.
    """
    checkpoints = Checkpoints(out)
    optimiser = torch.optim.AdamW(
        _groups(model, config.weight_decay), lr=config.learning_rate, betas=(0.9, 0.98), fused=True
    )
    start = checkpoints.resume(model, optimiser)
    head = SampledHead(model.get_output_embeddings()) if config.negatives else None  # type: ignore[operator]
    batches = _batches(encoder, sources, pad, config, start)
    began, smooth = time.perf_counter(), 0.0
    for step in tqdm(range(start, config.steps), initial=start, total=config.steps, unit="step", mininterval=5):
        rate = config.learning_rate * schedule(step / config.steps, config)
        for group in optimiser.param_groups:
            group["lr"] = rate
        torch.manual_seed(config.seed * 1_000_003 + step)
        model.train()
        with _in_place_of_the_head(model, head):
            loss = batch_loss(model, next(batches), head, config.negatives)
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        smooth = loss.item() if step == start else 0.98 * smooth + 0.02 * loss.item()
        done, last = step + 1, step + 1 == config.steps
        if done % _LOG_EVERY == 0 or last:
            _log(out, step=done, loss=round(smooth, 4), rate=rate, seconds=round(time.perf_counter() - began, 1))
        if measure is not None and (done % config.measure_every == 0 or last):
            score = measure(model.eval())
            checkpoints.judge(done, model, score)
            _log(out, step=done, score=score)
        if done % config.save_every == 0 or last:
            checkpoints.save(done, model, optimiser)
    model.eval()


@contextmanager
def _in_place_of_the_head(model: torch.nn.Module, head: SampledHead | None) -> Iterator[None]:
    """Let the sampled head stand where the model's own was, for one step; everybody else sees the whole one."""
    if head is None:
        yield
        return
    model.set_output_embeddings(head)  # type: ignore[operator]
    try:
        yield
    finally:
        model.set_output_embeddings(head.inner)  # type: ignore[operator]


def batch_loss(model: torch.nn.Module, batch: Batch, head: SampledHead | None, negatives: int) -> Tensor:
    """Weighted cross-entropy of the output tokens (GCR equation 8), one number.

    Args:
        model: with ``head`` as its output layer where one is given.
        batch: on the host.
        head: scores a sample of the vocabulary; None scores all of it.
        negatives: size of that sample.
    """
    device = next(model.parameters()).device
    outputs = batch.targets.shape[1]
    targets = batch.targets
    if head is not None:
        targets = head.sample(targets, negatives, torch.default_generator)
    lower = _gains_from_bf16(device)
    dtype = torch.bfloat16 if lower else next(model.parameters()).dtype
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=lower):
        logits = model(
            input_ids=batch.input_ids.to(device),
            attention_mask=batch.added_mask(dtype).to(device),
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
    """GPUs, and CPUs that multiply in bfloat16; on others the casts cost more than the arithmetic saves."""
    able = torch.cpu.get_capabilities()
    return device.type != "cpu" or bool(able.get("avx512_bf16") or able.get("amx_bf16"))


def _batches(encoder: Encoder, sources: Sequence[Share], pad: int, config: TrainConfig, start: int) -> Iterator[Batch]:
    """Batches from step ``start`` on; each chunk of steps has a generator of its own."""
    for chunk in range(start // _CHUNK, math.ceil(config.steps / _CHUNK)):
        rng = Random(f"{config.seed}-{chunk}")
        drawn: list[EncodedExample] = []
        shares = [share.at(chunk * _CHUNK) for share in sources]
        while len(drawn) < config.batch_size * _CHUNK:
            source = rng.choices([share.source for share in sources], shares)[0]
            drawn.append(_short_enough(source, encoder, config.longest, rng))
        drawn.sort(key=lambda example: (len(example.output), len(example.prompt)))
        pieces = [drawn[i : i + config.batch_size] for i in range(0, len(drawn), config.batch_size)]
        rng.shuffle(pieces)
        for piece in pieces[start - chunk * _CHUNK if start > chunk * _CHUNK else 0 :]:
            yield collate(piece, pad, encoder.style.bidirectional)


def _short_enough(source: Source, encoder: Encoder, longest: int, rng: Random) -> EncodedExample:
    for _ in range(_TRIES):
        example = encoder(source(rng), rng)
        if len(example.prompt) + len(example.output) <= longest:
            return example
    raise UserError(f"Of {_TRIES} examples none is within {longest} tokens; raise `longest` in the recipe.")


def _groups(model: torch.nn.Module, decay: float) -> list[dict[str, object]]:
    """Weight decay on matrices only."""
    matrices = [p for p in model.parameters() if p.ndim >= 2 and p.requires_grad]
    others = [p for p in model.parameters() if p.ndim < 2 and p.requires_grad]
    return [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]


def _log(out: Path, **line: float) -> None:
    with (out / "log.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")
