"""From examples to padded tensors, and the loop over them: GCR's recipe (equation 8, appendix E) for any causal LM.

Prompts are padded on the left and outputs on the right, so that both begin in one column and the language-model head
runs on the output columns alone (``logits_to_keep``) for every architecture.

Loss on the output tokens only, AdamW, linear warm-up then cosine decay, bf16 where it helps, gradient clipping. Every
step draws its data from a generator seeded by run seed and step, so a run resumed from a checkpoint continues as if it
had never stopped. The newest checkpoint is kept to go on from, and the best one to export. Only what is trained is
kept, so that a run with LoRA writes megabytes where the model has gigabytes.

The language-model head scores a sample of the vocabulary while training. On a CPU a third of a small model's time goes
into logits of tokens that never occur. The tokens of the batch are always scored; of the rest a uniform sample stands
for all, its logits raised by the log of how many tokens each stands for, so the softmax's denominator stays unbiased
and the trained model gives full-vocabulary probabilities (sampled softmax; Jean et al. 2015, section 3.2).
"""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from tqdm import tqdm

from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.errors import UserError
from kgdemo.lab.training.examples import Example, Source
from kgdemo.models.base import PromptStyle

IGNORED = -100


@dataclass(frozen=True, slots=True)
class EncodedExample:
    """Token ids of one example; ``weights`` says how much each output token counts in the loss."""

    prompt: list[int]
    output: list[int]
    weights: list[float]


@dataclass(frozen=True, slots=True)
class Batch:
    """B examples, P prompt columns, O output columns."""

    input_ids: Tensor  # (B, P + O)
    position_ids: Tensor  # (B, P + O)
    may_look: Tensor  # (B, 1, P + O, P + O), boolean
    targets: Tensor  # (B, O), IGNORED where padded
    weights: Tensor  # (B, O)

    def added_mask(self, dtype: torch.dtype) -> Tensor:
        """The mask as a number added to attention scores, ``(B, 1, P + O, P + O)``.

        Eager attention adds what it is given, so that a boolean mask would forbid nothing there; sdpa asks for
        the very type that it computes in.
        """
        return torch.zeros(self.may_look.shape, dtype=dtype).masked_fill_(~self.may_look, torch.finfo(dtype).min)


class Encoder:
    """Turns examples into token ids in the very form that decoding uses.

    Args:
        label_tokens: label tokenisation, shared with the constraint.
        style: the prompt.
        entity_weight: loss weight of entity tokens. Which relation to take is what a question tells;
            which of its tails exists is told by the graph when decoding.
        stop: token ids that end the answer.
        answer_share: share of the examples that go on to the hypothesis answer. It mostly repeats the
            path's end, is learnt at once, and its tokens cost as much as any.
    """

    def __init__(
        self,
        label_tokens: LabelTokens,
        style: PromptStyle,
        entity_weight: float,
        stop: Sequence[int],
        answer_share: float = 1.0,
    ) -> None:
        self.label_tokens, self.style, self.entity_weight, self.stop = label_tokens, style, entity_weight, list(stop)
        self.answer_share = answer_share
        self._label = lru_cache(maxsize=200_000)(lambda label: tuple(label_tokens.plain(" " + label)))
        self._answer_mark = list(label_tokens.special(style.answer_mark)) if style.answer_mark else []

    def __call__(self, example: Example, rng: Random) -> EncodedExample:
        """Encode one example; ``rng`` decides whether its answer is kept."""
        prompt = self.style.encode(self.label_tokens, example.question, example.topic_entities, example.topic_types)
        output: list[int] = []
        weights: list[float] = []

        def write(ids: Sequence[int], weight: float) -> None:
            output.extend(ids)
            weights.extend([weight] * len(ids))

        for place, label in enumerate(example.path):
            if place:
                write(self.label_tokens.arrow, 0.2)
            write(self._label(label), 1.0 if place % 2 else self.entity_weight)
        write(self.label_tokens.end, 1.0)
        if rng.random() >= self.answer_share:
            return EncodedExample(prompt, output, weights)
        write(self._answer_mark, 0.0)
        write([*self._label(example.answer), *self.stop], self.entity_weight)
        return EncodedExample(prompt, output, weights)


def collate(examples: Sequence[EncodedExample], pad: int, bidirectional: bool) -> Batch:
    """Pad examples into one batch; see the module's docstring for the layout."""
    prompts = max(len(e.prompt) for e in examples)
    outputs = max(len(e.output) for e in examples)
    rows, width = len(examples), prompts + outputs
    ids = torch.full((rows, width), pad)
    positions = torch.zeros((rows, width), dtype=torch.long)
    targets = torch.full((rows, outputs), IGNORED)
    weights = torch.zeros((rows, outputs))
    mask = torch.ones(width, width, dtype=torch.bool).tril().repeat(rows, 1, 1)  # (B, T, T)
    for row, example in enumerate(examples):
        start, stop = prompts - len(example.prompt), prompts + len(example.output)
        ids[row, start:stop] = torch.tensor(example.prompt + example.output)
        positions[row, start:stop] = torch.arange(stop - start)
        targets[row, : len(example.output)] = torch.tensor(example.output)
        weights[row, : len(example.output)] = torch.tensor(example.weights)
        if bidirectional:
            mask[row, start:prompts, start:prompts] = True
        mask[row, :, :start] = False
        mask[row, range(start), range(start)] = True  # a padding row must see something, or softmax is NaN
    return Batch(ids, positions, mask[:, None], targets, weights)


# --------------------------------------------------------------------------------------------------
# The loop.


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
        entity_weight: loss weight of entity tokens (see ``Encoder``).
        answer_share: share of the examples that go on to the answer (see ``Encoder``).
        save_every: steps between checkpoints.
        measure_every: steps between measurements on the development questions, where a recipe has some.
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
    measure_every: int = 500
    seed: int = 7


def schedule(progress: float, config: TrainConfig) -> float:
    """Learning rate at a point of the run (0 to 1) as a share of the highest: linear warm-up, then a cosine."""
    if progress < config.warmup:
        return max(progress, 1e-4) / config.warmup
    turn = (progress - config.warmup) / (1 - config.warmup)
    return config.floor + (1 - config.floor) * 0.5 * (1 + math.cos(math.pi * turn))


logger = logging.getLogger(__name__)
NEWEST, BEST = "checkpoint.pt", "best.pt"


class Checkpoints:
    """The checkpoints of one run.

    Args:
        folder: made if need be.

    Attributes:
        best: the best score so far; None before the first.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.best: float | None = None
        folder.mkdir(parents=True, exist_ok=True)

    def save(self, step: int, model: torch.nn.Module, optimiser: torch.optim.Optimizer) -> None:
        """Keep the state after ``step`` steps."""
        state = {"step": step, "model": _trained(model), "optimiser": optimiser.state_dict(), "best": self.best}
        self._write(NEWEST, state)

    def judge(self, step: int, model: torch.nn.Module, score: float) -> None:
        """Keep the model as the best one if none before scored as high."""
        if self.best is None or score > self.best:
            self.best = score
            self._write(BEST, {"step": step, "model": _trained(model), "score": score})

    def resume(self, model: torch.nn.Module, optimiser: torch.optim.Optimizer) -> int:
        """Take up the newest checkpoint: the steps it was taken after, 0 when there is none.

        Raises:
            UserError: it is of another model.
        """
        if not (self.folder / NEWEST).is_file():
            return 0
        state = self._read(NEWEST, model)
        optimiser.load_state_dict(state["optimiser"])
        self.best = state.get("best")
        logger.info("resuming at step %d", state["step"])
        return int(state["step"])

    def load_for_export(self, model: torch.nn.Module) -> None:
        """Give ``model`` the weights of the best checkpoint, of the newest where none was judged.

        Raises:
            UserError: there is none, or it is of another model.
        """
        name = BEST if (self.folder / BEST).is_file() else NEWEST
        if not (self.folder / name).is_file():
            raise UserError(f"There is no checkpoint in {self.folder}; train first.")
        logger.info("exporting %s, step %d", name, self._read(name, model)["step"])

    def _write(self, name: str, state: dict[str, object]) -> None:
        """Write to a temporary file that replaces the old one: a crash never leaves half a file."""
        torch.save(state, self.folder / "checkpoint.tmp")
        (self.folder / "checkpoint.tmp").replace(self.folder / name)

    def _read(self, name: str, model: torch.nn.Module) -> dict[str, Any]:
        state = torch.load(self.folder / name, weights_only=True, map_location="cpu")
        wanted = {key: tensor.shape for key, tensor in _trained(model).items()}
        if {key: tensor.shape for key, tensor in state["model"].items()} != wanted:
            raise UserError(f"The checkpoint in {self.folder} is of another model; give another --out or remove it.")
        model.load_state_dict(state["model"], strict=False)
        result: dict[str, Any] = state
        return result


def _trained(model: torch.nn.Module) -> dict[str, Tensor]:
    """The state of a model less its frozen parameters."""
    frozen = {name for name, parameter in model.named_parameters(remove_duplicate=False) if not parameter.requires_grad}
    return {name: tensor for name, tensor in model.state_dict().items() if name not in frozen}


class SampledHead(nn.Module):
    """Wraps an output layer; ``ids`` None means the whole vocabulary."""

    def __init__(self, inner: nn.Linear) -> None:
        super().__init__()
        self.inner = inner
        self.ids: Tensor | None = None  # (S,) vocabulary ids scored in this step
        self.raise_by: Tensor | None = None  # (S,) added to the logits

    @property
    def weight(self) -> Tensor:
        """The full weight, where transformers looks for it when tying."""
        return self.inner.weight

    @property
    def bias(self) -> Tensor | None:
        """The full bias."""
        return self.inner.bias

    def sample(self, targets: Tensor, negatives: int, generator: torch.Generator) -> Tensor:
        """Choose the tokens to score.

        Args:
            targets: vocabulary ids that must be scored, any shape; negative ids are ignored.
            negatives: how many others to draw, with replacement.

        Returns:
            ``targets`` with each id replaced by its column among the scored tokens.
        """
        vocabulary = self.inner.weight.shape[0]
        needed = torch.unique(targets[targets >= 0])
        drawn = torch.randint(vocabulary, (negatives,), generator=generator)
        drawn = torch.unique(drawn)
        drawn = drawn[~torch.isin(drawn, needed)]
        stands_for = (vocabulary - len(needed)) / max(len(drawn), 1)
        self.ids = torch.cat([needed, drawn]).to(self.inner.weight.device)
        self.raise_by = torch.cat([torch.zeros(len(needed)), torch.full((len(drawn),), math.log(stands_for))])
        columns = torch.searchsorted(needed, targets.clamp(min=0))
        return torch.where(targets >= 0, columns, targets)

    def full(self) -> None:
        """Score the whole vocabulary again."""
        self.ids = self.raise_by = None

    def forward(self, hidden: Tensor) -> Tensor:
        """Logits of the scored tokens, ``(…, S)``."""
        if self.ids is None:
            result: Tensor = self.inner(hidden)
            return result
        bias = None if self.inner.bias is None else self.inner.bias[self.ids]
        logits = functional.linear(hidden, self.inner.weight[self.ids], bias)
        assert self.raise_by is not None
        return logits + self.raise_by.to(logits)


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
    """Put the sampled head in place of the model's output layer for one training step."""
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
        batches = [drawn[i : i + config.batch_size] for i in range(0, len(drawn), config.batch_size)]
        rng.shuffle(batches)
        for batch in batches[max(start - chunk * _CHUNK, 0) :]:
            yield collate(batch, pad, encoder.style.bidirectional)


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
