"""From labels to token ids: the parts that every reasoning path is spliced from.

A path is written ``<PATH> e0 -> r1 -> e1 … </PATH>`` (GCR section 4.1 and Figure 9), or as a checkpoint was trained to
write it (``PathFormat``). Labels are cut *before* the space, never after it: tokenising ``" " + label`` and ``" ->"``
apart and splicing gives what tokenising the whole string gives, for byte-level BPE and for WordPiece alike.

Very many labels are spelled by way of their words, of which a graph has far fewer than labels. Byte-level BPE and
WordPiece cut a text into pre-tokens and spell each on its own. Where every space begins a pre-token, a label's tokens
are those of its words. Whether it does depends on the characters that meet there, so that is looked up for one label
of every such pair, whose spelling is compared as well; a tokeniser that sees across spaces is found out, and all
labels are spelled as a whole.

A sub-trie is a sorted run of labels. No node is ever stored as such: in rows sorted by the rank of their tokens, a
node is a range of rows that agree so far (``branching``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, pairwise
from typing import Any, Protocol

import numpy as np
import tokenizers
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class TokenTable:
    """Token ids of many labels, ragged: label ``i`` is ``ids[offsets[i]:offsets[i + 1]]``."""

    offsets: NDArray[np.int64]  # (labels + 1,)
    ids: NDArray[np.int32]  # (tokens,)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, label: int) -> NDArray[np.int32]:
        """Token ids of one label."""
        return self.ids[self.offsets[label] : self.offsets[label + 1]]

    def rows(self, labels: NDArray[np.integer]) -> TokenTable:
        """A table of these labels, in this order; each may come several times."""
        begins, lengths = self.offsets[labels], self.offsets[labels + 1] - self.offsets[labels]
        offsets = np.zeros(len(labels) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return TokenTable(offsets, self.ids[np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], lengths)])

    def joined(self, more: TokenTable) -> TokenTable:
        """These labels, with more of them behind."""
        offsets = np.concatenate([self.offsets, self.offsets[-1] + more.offsets[1:]])
        return TokenTable(offsets, np.concatenate([self.ids, more.ids]))


def ranks(table: TokenTable) -> NDArray[np.int64]:
    """Rank of each label in the lexicographic order of token sequences."""
    # big-endian bytes compare like the token sequences they hold, and bytes sort fast
    flat = table.ids.astype(">i4").tobytes()
    bounds = (table.offsets * 4).tolist()
    keys = [flat[a:b] for a, b in pairwise(bounds)]
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
    rank = np.empty(len(keys), dtype=np.int64)
    rank[order] = np.arange(len(keys))
    return rank


Spell = Callable[[list[str]], list[list[int]]]  # texts -> the token ids of each
Cut = Callable[[str], list[str]]  # a text -> its pre-tokens
_BATCH = 20_000  # texts spelled at once
_SPACE, _LINE_END = ord(" "), ord("\n")
_SPACES = frozenset(" Ġ▁")  # a space, and how byte-level and SentencePiece pre-tokenisers write it


def spell_all(labels: Sequence[str], spell: Spell, gap: str = " ") -> TokenTable:
    """Token ids of ``gap + label`` for each label, every label as a whole."""
    rows: list[list[int]] = []
    for start in range(0, len(labels), _BATCH):
        rows += spell([gap + label for label in labels[start : start + _BATCH]])
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    flat = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=int(offsets[-1]))
    return TokenTable(offsets, flat)


def spell_by_words(labels: Sequence[str], spell: Spell, cut: Cut) -> TokenTable:
    """The same token ids as ``spell_all`` gives; each word is spelled once, however many labels hold it.

    Args:
        labels: any text.
        spell: the tokeniser, special tokens spelled out.
        cut: its pre-tokeniser.
    """
    simple = np.fromiter(map(_is_simple, labels), np.bool_, len(labels))
    whole = [label for label, by_words in zip(labels, simple.tolist(), strict=True) if not by_words]
    lines = "\n".join(label for label, by_words in zip(labels, simple.tolist(), strict=True) if by_words)
    if not lines:
        return spell_all(labels, spell)
    letters = np.frombuffer(lines.encode("ascii"), np.uint8)
    words = lines.replace("\n", " ").split(" ")
    ids: defaultdict[str, int] = defaultdict()
    ids.default_factory = ids.__len__
    used = np.fromiter(map(ids.__getitem__, words), np.int64, len(words))
    in_words = spell_all(list(ids), spell).rows(used)
    gaps = np.flatnonzero((letters == _SPACE) | (letters == _LINE_END))
    ends = np.append(np.flatnonzero(letters[gaps] == _LINE_END) + 1, len(words))  # of labels, counted in words
    by_words = TokenTable(in_words.offsets[np.concatenate([[0], ends])], in_words.ids)
    if not _agrees(by_words, lines, letters, spell, cut):
        return spell_all(labels, spell)
    if not whole:
        return by_words
    places = np.empty(len(labels), np.int64)
    places[simple] = np.arange(len(by_words))
    places[~simple] = len(by_words) + np.arange(len(whole))
    return by_words.joined(spell_all(whole, spell)).rows(places)


def _is_simple(label: str) -> bool:
    """Whether a label is words of ASCII letters, digits and marks with one space between them."""
    return label.isascii() and label.isprintable() and "  " not in f" {label} "


def _agrees(by_words: TokenTable, lines: str, letters: NDArray[np.uint8], spell: Spell, cut: Cut) -> bool:
    """Whether labels are spelled as their words are, tried for every pair of characters that meet at a space."""
    spaces = np.flatnonzero(letters == _SPACE)
    _, firsts = np.unique(letters[spaces - 1].astype(np.int64) * 256 + letters[spaces + 1], return_index=True)
    line_ends = np.flatnonzero(letters == _LINE_END)
    tried = np.unique(np.searchsorted(line_ends, spaces[firsts])).tolist()
    if not tried:
        return True
    every = lines.split("\n")
    texts = [" " + every[label] for label in tried]
    if any(_SPACES.intersection(part[1:]) for text in texts for part in cut(text)):
        return False
    return all(row == by_words.row(label).tolist() for label, row in zip(tried, spell(texts), strict=True))


PATH_START = "<PATH>"
PATH_END = "</PATH>"
ARROW = "->"
_MANY = 5_000  # labels from which on it pays to spell them word by word


def _gap(behind: str) -> str:
    """The space that belongs to a label behind this text."""
    return " " if behind.endswith(" ") else ""


class Tokenizer(Protocol):
    """The part of a transformers tokeniser that we use."""

    def __call__(self, text: Any, add_special_tokens: bool = ..., split_special_tokens: bool = ...) -> Any: ...

    def __len__(self) -> int: ...

    def decode(self, token_ids: list[int], skip_special_tokens: bool = ...) -> Any: ...

    def convert_tokens_to_ids(self, tokens: str) -> Any: ...

    def convert_ids_to_tokens(self, ids: list[int]) -> Any: ...


@dataclass(frozen=True, slots=True)
class PathFormat:
    """What stands before, between and behind the labels of a path; one space at the end belongs to the next label.

    Attributes:
        begin: before the first entity.
        relation, entity: before the relation of a hop, and before the entity that it leads to.
        again: behind an entity that the path goes on from and names once more, as triples do; empty: it goes on.
        end: behind the last entity.

    Raises:
        ValueError: nothing to see parts two labels, or ends the path.
    """

    begin: str = f"{PATH_START} "
    relation: str = f" {ARROW} "
    entity: str = f" {ARROW} "
    again: str = ""
    end: str = PATH_END

    def __post_init__(self) -> None:
        for name in ("relation", "entity", "end"):
            if not getattr(self, name).strip():
                raise ValueError(f"“{name}” of a path's format is empty; write what stands there")

    def from_arrows(self, text: str) -> str:
        """A path written as ``e0 -> r1 -> e1`` in this format, with its begin and end."""
        labels = text.split(f" {ARROW} ")
        written = self.begin + labels[0]
        for place in range(1, len(labels), 2):
            written += self.again + labels[place - 1] if place > 1 and self.again else ""
            written += self.relation + labels[place] + self.entity + labels[place + 1]
        return written + self.end

    def with_arrows(self, text: str) -> str:
        """A path in this format, without its begin and end, written as ``e0 -> r1 -> e1``.

        A triple that begins elsewhere than the one before it ended leaves no path: both names stay.
        """
        arrow = f" {ARROW} "
        if (self.relation, self.entity, self.again) == (arrow, arrow, ""):
            return text
        labels: list[str] = []
        for part in _parted(text, self.again) if self.again else [text]:
            own: list[str] = []
            rest = part
            while len(pieces := _parted(rest, self.entity if len(own) % 2 else self.relation, 1)) == 2:
                own.append(pieces[0])
                rest = pieces[1]
            own.append(rest)
            labels += own[1:] if labels and labels[-1].casefold() == own[0].casefold() else own
        return arrow.join(labels)


def _parted(text: str, separator: str, limit: int = 0) -> list[str]:
    """The parts of a text; how a tokeniser spaces the marks of the separator does not matter."""
    marks = [re.escape(mark) for mark in separator if not mark.isspace()]
    pattern = r"\s*".join(["", *marks, ""]) if marks else re.escape(separator)
    return [part.strip() for part in re.split(pattern, text, maxsplit=limit)]


class LabelTokens:
    """Token ids of labels, separators and path marks for one tokeniser.

    Special tokens inside labels are neutralised: a label ``</PATH>`` is spelled in ordinary tokens and
    can never be taken for the end of a path.

    Args:
        tokenizer: of the model.
        path_format: how its paths are written.

    Attributes:
        start, end: what a path begins and ends with.
        to_relation, to_entity: what stands before a relation, and before the entity that it leads to.
        again: what stands before an entity that is named once more.
        arrow: the separator of our own format, which DoG's chains are written with.
    """

    def __init__(self, tokenizer: Tokenizer, path_format: PathFormat | None = None) -> None:
        self.tokenizer = tokenizer
        self.path_format = path_format or PathFormat()
        self.start = self.special(self.path_format.begin.removesuffix(" "))
        self.end = self.special(self.path_format.end)
        self.arrow = tuple(self.plain(" " + ARROW))
        self.to_relation, self.to_entity, self.again = (
            tuple(self.plain(part.removesuffix(" ")))
            for part in (self.path_format.relation, self.path_format.entity, self.path_format.again)
        )

    def special(self, mark: str) -> tuple[int, ...]:
        """Token ids of a path mark: its own token when the vocabulary has one, else its spelling."""
        return tuple(self.tokenizer(mark, add_special_tokens=False)["input_ids"])

    def plain(self, text: str) -> list[int]:
        """Token ids of untrusted text, special tokens spelled out."""
        return list(self.tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"])

    def encode(self, labels: Sequence[str], behind: str = " ") -> TokenTable:
        """Token ids of each label behind a text: with a space before it where that text ends with one."""
        gap = _gap(behind)
        if not gap or len(labels) < _MANY or not self._keeps_to_words():
            return spell_all(labels, self._plain_batch, gap)
        return spell_by_words(labels, self._plain_batch, self._pre_tokens)

    def heads_read_alike(self) -> bool:
        """Whether an entity that begins a path is spelled as one that a relation leads to."""
        return _gap(self.path_format.begin) == _gap(self.path_format.entity)

    def named_again(self, label: str) -> tuple[int, ...]:
        """What follows an entity that the path goes on from: its name once more where the format has it so."""
        if not self.path_format.again:
            return self.to_relation
        return (*self.again, *self.plain(_gap(self.path_format.again) + label), *self.to_relation)

    def fingerprint(self) -> str:
        """A digest of all that decides on how labels are spelled; empty for a tokeniser that does not tell."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None:
            return ""
        self.plain("")  # sets the backend as for labels: neither padding nor cutting is part of the digest
        gap = "" if _gap(self.path_format.entity) else " bare"
        return blake2b(f"{tokenizers.__version__}{gap} {backend.to_str()}".encode(), digest_size=20).hexdigest()

    def _plain_batch(self, texts: list[str]) -> list[list[int]]:
        """``plain`` for many texts; past the first, the Rust tokeniser is asked without going through transformers."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        slow = texts if backend is None else texts[:1]
        # this call also sets the backend to neither pad nor cut and to spell out special tokens
        rows = list(self.tokenizer(slow, add_special_tokens=False, split_special_tokens=True)["input_ids"])
        if backend is not None:
            rows += [encoded.ids for encoded in backend.encode_batch_fast(texts[1:], add_special_tokens=False)]
        return rows

    def _keeps_to_words(self) -> bool:
        """Whether the tokeniser may be asked word by word: it pre-tokenises, and no added token takes in a space."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None or backend.pre_tokenizer is None:
            return False
        added = backend.get_added_tokens_decoder().values()
        return not any(token.lstrip or token.rstrip or " " in token.content for token in added if not token.special)

    def _pre_tokens(self, text: str) -> list[str]:
        """The stretches of a text that the tokeniser looks at one by one."""
        backend = self.tokenizer.backend_tokenizer  # type: ignore[attr-defined]  # of fast tokenisers, see _keeps_to_words
        normalised = text if backend.normalizer is None else backend.normalizer.normalize_str(text)
        return [part for part, _ in backend.pre_tokenizer.pre_tokenize_str(normalised)]


# labels sorted by their tokens -------------------------------------------------------------------

FEW = 8  # names that a node may still become, from which on they are looked at one by one
_AT_ONCE = 50_000  # rows of a hub that are compared at once


@dataclass(frozen=True, slots=True)
class Branching:
    """What follows one node inside a sorted run of labels.

    Attributes:
        complete: how many labels end here; they sort before the longer ones.
        tokens: the tokens with which the others go on, sorted, ``(n,)``; int64 as torch indexes, but int32 of a
            single label.
        edges: rows ``edges[i]:edges[i + 1]`` go on with ``tokens[i]``, ``(n + 1,)``.
    """

    complete: int
    tokens: NDArray[np.integer]
    edges: Sequence[int] | NDArray[np.int64]


Branchings = dict[tuple[int, int, int, int], Branching]  # by segment, low, high, depth


@dataclass(frozen=True, slots=True)
class SubTrie:
    """The steps from one entity. Rows are sorted by token rank: first by step, then by target.

    ``targets[bounds[i]:bounds[i + 1]]`` are the entities that ``steps[i]`` leads to, -1 those that have not been read;
    ``nodes`` are those that beams have visited.
    """

    steps: NDArray[np.int32]  # (distinct steps,)
    bounds: NDArray[np.int64]  # (distinct steps + 1,)
    targets: NDArray[np.int32]  # (edges,)
    nodes: Branchings = field(default_factory=dict, compare=False)

    @property
    def nbytes(self) -> int:
        """Size of its arrays, and about what their objects and the visited nodes take."""
        return self.steps.nbytes + self.bounds.nbytes + self.targets.nbytes + 400 + 600 * len(self.nodes)


def branching(table: TokenTable, labels: NDArray[np.int32], low: int, depth: int) -> Branching:
    """Group sorted labels that agree in ``depth`` tokens by the token that comes next.

    Args:
        table: the labels' token ids.
        labels: rows of a sub-trie, from row ``low`` on.
        low: the row that the first of them stands in.
        depth: how many tokens they agree in.
    """
    if len(labels) == 1:  # most nodes lie behind the last fork, on one label
        label = labels[0]
        here, end = table.offsets[label] + depth, table.offsets[label + 1]
        return Branching(int(here >= end), table.ids[here : min(here + 1, end)], (low, low + 1))
    begins = table.offsets[labels]
    # complete labels share all tokens so far and nothing more, so they sort before the longer ones
    complete = int(np.count_nonzero(table.offsets[labels + 1] - begins <= depth))
    tokens = table.ids[begins[complete:] + depth].astype(np.int64)
    bounds = starts_of_runs(tokens)
    return Branching(complete, tokens[bounds[:-1]], bounds + (low + complete))


def starts_of_runs(values: NDArray[np.integer]) -> NDArray[np.int64]:
    """Where each run of equal values starts, and at last how many values there are; ``(runs + 1,)``."""
    starts = np.ones(len(values) + 1, np.bool_)
    np.not_equal(values[1:], values[:-1], out=starts[1:-1])
    return starts.nonzero()[0]


@dataclass(frozen=True, slots=True)
class Hub:
    """The ends of one relation of an entity, of which there may be a million, sorted by their names beforehand.

    The trie is written level by level: the first row of each node, and the token that leads there. So what follows a
    node is a slice of the next level, found by binary search. Where ``FEW`` rows or fewer are left nothing is written:
    there the names themselves are read.

    Attributes:
        targets: the saved graph's ids of the ends, by rows; int32.
        firsts, tokens: of each node below the root its first row and its token, level by level; int32.
        levels: where each level begins among the nodes, and at last how many there are.
    """

    targets: NDArray[np.int32]
    firsts: NDArray[np.int32]
    tokens: NDArray[np.int32]
    levels: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.targets)

    def branching(self, low: int, high: int, depth: int) -> Branching:
        """What follows a node of more than ``FEW`` rows; see ``branching``.

        Args:
            low, high: its rows.
            depth: how many tokens they agree in.
        """
        if depth + 1 >= len(self.levels):
            return Branching(high - low, np.empty(0, np.int64), np.array([high]))
        level = slice(self.levels[depth], self.levels[depth + 1])
        firsts = self.firsts[level]
        begin, behind = np.searchsorted(firsts, np.array([low, high], np.int32)).tolist()
        edges = np.append(firsts[begin:behind].astype(np.int64), high)
        return Branching(int(edges[0]) - low, self.tokens[level][begin:behind].astype(np.int64), edges)


def shared_with_the_one_before(table: TokenTable) -> NDArray[np.int32]:
    """How many tokens each row begins with that the row before it begins with too; of the first row none."""
    shared = np.zeros(len(table), np.int32)
    lengths = np.diff(table.offsets)
    for first in range(1, len(table), _AT_ONCE):
        rows = np.arange(first, min(first + _AT_ONCE, len(table)))
        depth = 0
        while len(rows):
            rows = rows[np.minimum(lengths[rows], lengths[rows - 1]) > depth]
            rows = rows[table.ids[table.offsets[rows] + depth] == table.ids[table.offsets[rows - 1] + depth]]
            depth += 1
            shared[rows] = depth
    return shared


def shared_by_many(shared: NDArray[np.int32]) -> NDArray[np.int32]:
    """How many tokens each row begins with that more than ``FEW`` rows do; -1 where there are no more rows.

    Rows are sorted, so those that begin alike are neighbours: more than ``FEW`` of them fill a window with the row in
    it, whose rows all agree with the one before in as many tokens.
    """
    windows = np.full(len(shared) + FEW, -1, np.int32)  # by the last row of each; what runs over the end agrees in none
    if len(shared) > FEW:
        windows[FEW : len(shared)] = np.lib.stride_tricks.sliding_window_view(shared[1:], FEW).min(axis=1)
    most: NDArray[np.int32] = np.lib.stride_tricks.sliding_window_view(windows, FEW + 1).max(axis=1)
    return most
