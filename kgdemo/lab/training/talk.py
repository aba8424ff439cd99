"""Train the tagger of ``query.talk`` on messages with their talk marked: ``{{Hi all,}} who wrote Emma{{? thanks}}``.

    python -m kgdemo.lab.training.talk

trains on all of ``talk.txt``, after a cross-validation of which it logs the share of messages read exactly, of those
without talk that are left as they are, and of those of which too much would go.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from kgdemo.models.embedding import sentence_embedder
from kgdemo.query.talk import READ, Tagger

MESSAGES = Path(__file__).parent / "talk.txt"
_FOLDS, _EPOCHS, _BATCH, _DROPOUT, _RATE, _DECAY, _SEED = 5, 15, 32, 0.3, 1e-3, 0.01, 0
_UNTOLD = -1.0  # of a token that stands for no letter, and of padding
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Example:
    """A message.

    Attributes:
        rows: of its tokens, ``(tokens, rows)``.
        told: of each token 1 where it is talk, 0 where it is not, ``_UNTOLD`` where it is no word.
    """

    rows: Tensor
    told: Tensor


def marked(line: str) -> tuple[str, list[tuple[int, int]]]:
    """A message without its marks, and where its talk starts and ends."""
    text, spans, last = "", list[tuple[int, int]](), 0
    for found in re.finditer(r"\{\{(.*?)\}\}", line):
        text += line[last : found.start()]
        spans.append((len(text), len(text) + len(found[1])))
        text, last = text + found[1], found.end()
    return text + line[last:], spans


def examples() -> list[Example]:
    """All messages."""
    embedder, found = sentence_embedder(), list[Example]()
    for line in MESSAGES.read_text("utf-8").splitlines():
        text, spans = marked(line)
        told = [
            float(any(first <= start and end <= last for first, last in spans))
            if re.search(r"\w", text[start:end])
            else _UNTOLD
            for start, end in embedder.spans(text)
        ]
        found.append(Example(embedder.rows([text], READ)[0], torch.tensor(told)))
    return found


def train(given: Sequence[Example]) -> Tagger:
    """A tagger that has read the messages ``_EPOCHS`` times."""
    torch.manual_seed(_SEED)
    tagger = Tagger(_DROPOUT).train()
    optimizer = torch.optim.AdamW(tagger.parameters(), lr=_RATE, weight_decay=_DECAY)
    for _ in range(_EPOCHS):
        order = torch.randperm(len(given)).tolist()
        for first in range(0, len(order), _BATCH):
            batch = [given[place] for place in order[first : first + _BATCH]]
            rows = nn.utils.rnn.pad_sequence([one.rows for one in batch], batch_first=True)
            told = nn.utils.rnn.pad_sequence([one.told for one in batch], True, _UNTOLD)
            known = told >= 0
            loss = nn.functional.binary_cross_entropy_with_logits(tagger(rows)[known], told[known])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return tagger.eval()


@torch.inference_mode()
def figures(given: Sequence[Example]) -> dict[str, float]:
    """The shares of messages that a tagger trained on others reads exactly, leaves alone rightly, and cuts too much."""
    order = torch.randperm(len(given), generator=torch.Generator().manual_seed(_SEED)).tolist()
    exact = plain = alone = too_much = 0
    for fold in range(_FOLDS):
        kept = set(order[fold::_FOLDS])
        with torch.inference_mode(False):
            tagger = train([one for place, one in enumerate(given) if place not in kept])
        for one in (given[place] for place in kept):
            known = one.told >= 0
            said, right = tagger(one.rows[None])[0][known] > 0, one.told[known] > 0
            exact += bool((said == right).all())
            too_much += bool((said & ~right).any())
            plain += not right.any()
            alone += not right.any() and not said.any()
    return {"exact": exact / len(given), "left alone": alone / plain, "too much": too_much / len(given)}


def main() -> None:
    """Measure, train and save."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    given = examples()
    told = ", ".join(f"{name} {value:.3f}" for name, value in figures(given).items())
    logger.info("%d messages: %s", len(given), told)
    train(given).save()


if __name__ == "__main__":
    main()
