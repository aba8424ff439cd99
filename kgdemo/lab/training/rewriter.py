"""Train the rewriter of ``query.rewriter`` on plain questions and how people word them.

``wordings/plain.tsv`` has them, a plain question and then its wordings on each line. Names are exchanged for others in
copies of them, so that the rewriter learns to copy a name, not to know it; plain questions are also read as they are::

    python -m kgdemo.lab.training.rewriter --minutes 30
"""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import torch
from torch import Tensor

from kgdemo.lab.training.translator import add_typos, command_line, fit, padded, token_rows, told
from kgdemo.query.rewriter import (
    COPIED,
    LIKELY,
    LONGEST_PLAIN,
    LONGEST_TEXT,
    Network,
    Rewriter,
    pieces_of,
    place_of,
)
from kgdemo.query.translator import BEGIN, END, PAD

WORDINGS = Path(__file__).parent / "wordings" / "plain.tsv"
_NAME = re.compile(r"\b[A-Z][\w'’.-]*(?:(?: (?:of|the|de|da|von|van|in|on|to|for|a))* [A-Z0-9][\w'’.-]*)*")
_ASKS = re.compile(
    r"(?:Which|What|Who|Whose|When|Where|How|In|On|Is|Are|Was|Were|Did|Does|Do|Has|Have|Can|Of|By|At|For|To|From|Name)\b"
)
_LEAST, _LEAST_IN_NAMES = 3, 12  # plain questions in which a piece stands that can be written; in names
_HELD_OUT = 0.05
_BATCH, _RATE, _WARM_UP, _DROPOUT = 64, 1.2e-3, 300, 0.12
_PLAIN = 0.12  # of a batch, questions that are plain already
logger = logging.getLogger(__name__)

Pair = tuple[str, str]  # how it is said, how it is asked plainly


def wordings_of() -> list[tuple[str, list[str]]]:
    """Every plain question with its wordings."""
    lines = (line.split("\t") for line in WORDINGS.read_text("utf-8").splitlines())
    return [(plain, said) for plain, *said in lines]


def names_in(plain: str) -> list[str]:
    """The names in a plain question: what begins with capitals, but for its first word if that asks."""
    found = list[str]()
    for one in _NAME.finditer(plain):
        name, start = one[0], one.start()
        if start == 0 and (asks := _ASKS.match(name)):
            name = name[asks.end() :].strip()
        if len(name) > 2:
            found.append(name.removesuffix("'s").removesuffix("’s").rstrip(".-"))
    return found


def exchanged(pair: Pair, pool: Sequence[str], random: Random) -> Pair | None:
    """A wording with other names in place of its own; None where it has none of them as the plain question does."""
    said, plain = pair
    changed = False
    for name in sorted(set(names_in(plain)), key=len, reverse=True):
        other = random.choice(pool)
        pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        if not pattern.search(said):
            continue
        in_small = name not in said
        said = pattern.sub((other.lower() if in_small else other).replace("\\", ""), said)
        plain, changed = pattern.sub(other.replace("\\", ""), plain), True
    return (said, plain) if changed else None


def written_pieces(plain: Sequence[str]) -> list[str]:
    """The pieces that can be written: those of many plain questions, where they are no part of a name."""
    asked, named = Counter[str](), Counter[str]()
    for question in plain:
        pieces, spans = pieces_of(question)
        within = [found.span() for name in names_in(question) for found in re.finditer(re.escape(name), question)]
        for piece, (start, end) in zip(pieces, spans, strict=True):
            counted = named if any(first <= start and end <= last for first, last in within) else asked
            counted[piece] += bool(piece)
    return sorted(
        piece for piece in asked | named if asked[piece] >= _LEAST or asked[piece] + named[piece] >= _LEAST_IN_NAMES
    )


class Examples:
    """Training examples, drawn in batches of texts of similar length."""

    def __init__(self, pairs: Sequence[Pair], plain: Sequence[str], pieces: Sequence[str], random: Random) -> None:
        self._ids = {piece: number for number, piece in enumerate(pieces)}
        typed = [(add_typos(said, random), asked) for said, asked in pairs] + [(one, one) for one in plain]
        rows = token_rows([said for said, _ in typed], LONGEST_TEXT)
        self._random = random
        self._examples = list[tuple[Tensor, list[int], list[int], list[list[int]], list[int]]]()
        own: list[list[int]] = [[], []]
        for number, ((said, asked), seen) in enumerate(zip(typed, rows, strict=True)):
            example = self._example(said, asked, seen)
            if example is not None:
                own[number >= len(pairs)].append(len(self._examples))
                self._examples.append(example)
        self._groups = [sorted(members, key=lambda place: len(self._examples[place][0])) for members in own]
        logger.info("%d examples of %d", len(self._examples), len(typed))

    def _example(
        self, said: str, asked: str, rows: Tensor
    ) -> tuple[Tensor, list[int], list[int], list[list[int]], list[int]] | None:
        """Rows; ids and places before each piece; places that are that piece; its id where it can be written or -1."""
        source, target = pieces_of(said)[0], [*filter(None, pieces_of(asked)[0]), END]
        if len(target) > LONGEST_PLAIN:
            return None
        ids, places, copies, written = [self._ids[BEGIN]], [-1], list[list[int]](), list[int]()
        for piece in target:
            alike = [place for place, own in enumerate(source) if own == piece]
            if piece not in self._ids and not alike:
                return None
            copies.append(alike)
            written.append(self._ids.get(piece, -1))
            ids.append(self._ids.get(piece, self._ids[COPIED]))
            places.append(place_of(piece, source, places[-1]))
        return rows[: len(source)], ids[:-1], places[:-1], copies, written

    def batch(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Token rows, padding, ids and places before, and what may follow: ``(texts, length, pieces + tokens)``."""
        share, chosen = self._random.random(), list[int]()
        for members, number in zip(self._groups, (1 - _PLAIN, _PLAIN), strict=True):
            size = round(number * _BATCH)
            centre, around = int(share * len(members)), max(size * 6, len(members) // 12)
            chosen += self._random.choices(members[max(centre - around, 0) : centre + around], k=size)
        examples = [self._examples[place] for place in chosen]
        rows, padding = padded([one[0] for one in examples])
        length, pieces = max(len(one[1]) for one in examples), len(self._ids)
        ids = torch.zeros(len(chosen), length, dtype=torch.long)
        places = torch.full((len(chosen), length), -1)
        right = torch.zeros(len(chosen), length, pieces + rows.shape[1], dtype=torch.bool)
        for number, (_, before, at, copies, written) in enumerate(examples):
            ids[number, : len(before)], places[number, : len(at)] = torch.tensor(before), torch.tensor(at)
            for step, (alike, own) in enumerate(zip(copies, written, strict=True)):
                right[number, step, [pieces + place for place in alike]] = True
                if own >= 0:
                    right[number, step, own] = True
        return rows, padding, ids, places, right


def train(minutes: float, seed: int = 0) -> tuple[Rewriter, list[Pair]]:
    """Train a rewriter.

    Args:
        minutes: for how long.
        seed: of what is drawn.

    Returns:
        it, and the wordings of the plain questions that were held out.
    """
    random = Random(seed)
    torch.manual_seed(seed)
    every = wordings_of()
    random.shuffle(every)
    held = int(_HELD_OUT * len(every))
    kept = [(said, plain) for plain, own in every[:held] for said in own]
    pairs = [(said, plain) for plain, own in every[held:] for said in own]
    pool = sorted({name for plain, _ in every for name in names_in(plain)})
    others = [exchanged(pair, pool, random) for pair in pairs]
    pieces = [PAD, BEGIN, END, COPIED, *written_pieces([plain for plain, _ in every[held:]])]
    logger.info("%d plain questions, %d wordings, %d names, %d pieces", len(every), len(pairs), len(pool), len(pieces))
    plain = [plain for plain, _ in every[held:]]
    examples = Examples([*pairs, *filter(None, others)], plain, pieces, random)

    def loss(network: Network) -> Tensor:
        rows, padding, ids, places, right = examples.batch()
        return sequence_loss(network(network.memory(rows, padding), padding, ids, places), right)

    network = Network(pieces, examples.batch()[0].shape[2], _DROPOUT)
    fit(network, loss, minutes, _RATE, _WARM_UP)
    return Rewriter(network, pieces), kept


def sequence_loss(logits: Tensor, right: Tensor) -> Tensor:
    """Minus the log-probability of all that is right, where anything is."""
    known = right.any(2)
    logits, right = logits[known], right[known]
    every = logits.logsumexp(1)
    return (every - logits.masked_fill(~right, -math.inf).logsumexp(1)).mean()


def figures(rewriter: Rewriter, kept: Sequence[Pair]) -> dict[str, float]:
    """The share of wordings that are rewritten exactly, capitals aside, and the same of those that are taken."""
    made = [(rewriter.rewritings(said), plain) for said, plain in kept]
    hits = [(own[0].text.lower() == plain.lower(), own[0].likely) for own, plain in made if own]
    sure = [hit for hit, likely in hits if likely >= LIKELY]
    exact = sum(hit for hit, _ in hits) / len(made)
    return {"exact": exact, "taken": len(sure) / len(made), "exact of these": sum(sure) / max(len(sure), 1)}


def main() -> None:
    """Train, save the weights and log the figures."""
    minutes, folder = command_line(__doc__, 30.0)
    rewriter, kept = train(minutes)
    rewriter.save(*folder)
    logger.info("held out: %s", told(figures(rewriter, kept)))


if __name__ == "__main__":
    main()
