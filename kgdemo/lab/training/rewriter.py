"""Train the rewriter of ``query.rewriter`` on plain questions and how people word them.

``wordings/plain.tsv`` has them, a plain question and then its wordings on each line. Names are exchanged for others in
copies of them, so that the rewriter learns to copy a name, not to know it; plain questions are also read as they are.
The weights that are there are trained further, with rows of their own for new pieces; ``--anew`` begins from nothing::

    python -m kgdemo.lab.training.rewriter --minutes 60
"""

from __future__ import annotations

import logging
import math
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import torch
from torch import Tensor

from kgdemo.lab.training.translator import add_typos, command_line, fit, padded, start_from, token_rows, told
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
_YEAR = re.compile(r"\b(?:1\d{3}|20[0-2]\d)\b")
_CLASSES = (  # words that can stand in place of one another: what is asked of the one could be asked of the other
    "mother father son daughter wife husband brother sister uncle aunt grandfather grandmother",
    "children parents sons daughters brothers sisters wives",
    "author director composer painter architect inventor founder discoverer singer writer sculptor designer producer",
    "wrote directed composed painted designed invented founded discovered built sang produced",
    "written directed composed painted designed invented founded discovered built sung produced",
    "film novel book play opera album song painting poem",
    "films novels books plays operas albums songs paintings poems",
    "river lake mountain island desert city volcano bridge building waterfall",
    "rivers lakes mountains islands deserts cities volcanoes bridges buildings",
    "country state province city continent region",
    "countries states provinces cities regions",
    "largest smallest longest shortest highest lowest deepest oldest youngest fastest heaviest tallest",
    "second third fourth fifth sixth seventh",
    "before after",
    "president king queen emperor pope chancellor",
    "presidents kings queens emperors popes chancellors",
    "actor actress singer footballer scientist physicist philosopher explorer poet",
    "born buried educated married crowned killed",
    "capital currency language population area flag",
)
_ALIKE = {word: tuple(other for other in own.split() if other != word) for own in _CLASSES for word in own.split()}
_OTHER_WORD = 0.4  # how often another word takes the place of one
_LEAST, _LEAST_IN_NAMES = 3, 12  # plain questions in which a piece stands that can be written; in names
_HELD_OUT = 20  # one plain question of so many
_BATCH, _RATE, _WARM_UP, _DROPOUT = 64, 1.2e-3, 300, 0.12
_JUDGED = 600  # of the wordings held out
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
    """A wording with other names, years and words of the same class in place of its own.

    None where it has none of them as the plain question does.
    """
    said, plain = pair
    for name in sorted(set(names_in(plain)), key=len, reverse=True):
        other = random.choice(pool)
        said, plain = _in_place_of(name, other.lower() if name not in said else other, other, said, plain)
    for year in set(_YEAR.findall(plain)):
        other = str(int(year) + random.randint(-60, 15))
        said, plain = _in_place_of(year, other, other, said, plain)
    for word in set(re.findall(r"\b[a-z]+\b", plain)) & _ALIKE.keys():
        other = random.choice(_ALIKE[word])
        if random.random() < _OTHER_WORD and not re.search(rf"\b{other}\b", f"{said} {plain}", re.IGNORECASE):
            said, plain = _in_place_of(word, other, other, said, plain)
    return (said, plain) if plain != pair[1] else None


def _in_place_of(old: str, new_said: str, new_plain: str, said: str, plain: str) -> Pair:
    """A pair with something in place of something else, if it stands in both."""
    pattern = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)", re.IGNORECASE)
    if not pattern.search(said):
        return said, plain
    return pattern.sub(new_said.replace("\\", ""), said), pattern.sub(new_plain.replace("\\", ""), plain)


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


def train(minutes: float, anew: bool = False, seed: int = 0) -> tuple[Rewriter, list[Pair]]:
    """Train a rewriter.

    Args:
        minutes: for how long.
        anew: not from the weights that come with this package.
        seed: of what is drawn.

    Returns:
        it, and the wordings of the plain questions that were held out.
    """
    random = Random(seed)
    torch.manual_seed(seed)
    every = wordings_of()
    random.shuffle(every)
    every.sort(key=lambda one: not _is_held_out(one[0]))
    held = sum(_is_held_out(plain) for plain, _ in every)
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
    if not anew:
        start_from("rewriter", network, pieces)
    fit(network, loss, minutes, _RATE, _WARM_UP)
    return Rewriter(network, pieces), kept


def _is_held_out(plain: str) -> bool:
    """Whether a plain question is kept out of training, the same whatever others there are."""
    return zlib.crc32(plain.encode()) % _HELD_OUT == 0


def sequence_loss(logits: Tensor, right: Tensor) -> Tensor:
    """Minus the log-probability of all that is right, where anything is."""
    known = right.any(2)
    logits, right = logits[known], right[known]
    every = logits.logsumexp(1)
    return (every - logits.masked_fill(~right, -math.inf).logsumexp(1)).mean()


def figures(trained: Rewriter, kept: Sequence[Pair]) -> dict[str, float]:
    """The share of wordings that are rewritten exactly, capitals aside, and the same of those that are taken."""
    made = [(trained.rewritings(said), plain) for said, plain in kept[:: max(len(kept) // _JUDGED, 1)]]
    hits = [(own[0].text.lower() == plain.lower(), own[0].likely) for own, plain in made if own]
    sure = [hit for hit, likely in hits if likely >= LIKELY]
    exact = sum(hit for hit, _ in hits) / len(made)
    return {"exact": exact, "taken": len(sure) / len(made), "exact of these": sum(sure) / max(len(sure), 1)}


def main() -> None:
    """Train, save the weights and log the figures."""
    chosen = command_line(__doc__, 60.0)
    trained, kept = train(chosen.minutes, chosen.anew)
    trained.save(*chosen.folder)
    logger.info("held out: %s", told(figures(trained, kept)))


if __name__ == "__main__":
    main()
