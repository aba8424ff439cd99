"""The seam between a constraint and the search, and the constraints that need no graph.

The search knows nothing of graphs. It asks a state which tokens may follow, moves on, and reads the paths off a
finished state as entity and step ids; nothing is ever parsed back from text.

``FreeText`` is the comparison, no constraint at all. ``FreeUntilMark`` is the text between the triples of a chain (DoG
section 2.3); it fails closed, for a mark can be written with other tokens than its own, or hidden inside a longer
token. So the text is watched letter by letter, and a token that would run over a mark is forbidden. The last
constraint lets a model write one of some given texts and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.label_tokens import PATH_START, LabelTokens
from kgdemo.kg.path import PathIds


class State(Protocol):
    """A point in the constraint's language; immutable."""

    @property
    def complete(self) -> bool:
        """Whether the tokens so far end with ``</PATH>``."""
        ...

    @property
    def paths(self) -> Sequence[PathIds]:
        """The paths that end here; several when labels are spelled with the same tokens, none in free text."""
        ...

    @property
    def alive(self) -> bool:
        """Whether any token may follow."""
        ...


Place = TypeVar("Place", bound=State)
Reached = TypeVar("Reached", bound=State, covariant=True)


@dataclass(frozen=True, slots=True)
class Successors(Generic[Reached]):
    """What may follow a state.

    Attributes:
        tokens: allowed token ids, sorted, each once; int64 (what torch indexes with) or int32, shape ``(n,)``.
            None: the whole vocabulary.
        take: index into ``tokens`` (a token id, when these are None) -> the state that token leads to.
        inside_entity: all of ``tokens`` go on with an entity's label, so which of them exists is for the
            graph to say, and none of them decides on a relation or on the path's end.
    """

    tokens: NDArray[np.integer] | None
    take: Callable[[int], Reached]
    inside_entity: bool = False


class Constraint(Protocol[Place]):
    """A set of reasoning paths, seen as a language of token sequences; each kind has states of its own."""

    def start(self) -> Place:
        """The state after ``<PATH>``."""
        ...

    def successors(self, state: Place) -> Successors[Place]:
        """The tokens that may follow ``state`` (GCR equation 7)."""
        ...

    def paths_left(self, state: Place) -> int:
        """How many paths can still be reached; counted, not enumerated."""
        ...


class Unbound(ABC):
    """What the states of free text share: it goes on until its end mark, and holds no paths."""

    __slots__ = ()

    @property
    @abstractmethod
    def complete(self) -> bool:
        """See ``base.State``."""

    @property
    def alive(self) -> bool:
        """See ``base.State``."""
        return not self.complete

    @property
    def paths(self) -> Sequence[PathIds]:
        """None: what was written is text, and whether it is a path is for ``verify`` to say."""
        return ()


@dataclass(frozen=True, slots=True)
class FreeState(Unbound):
    """The last tokens written, as many as the end mark is long."""

    end: tuple[int, ...]
    last: tuple[int, ...] = ()

    @property
    def complete(self) -> bool:
        """See ``base.State``."""
        return self.last == self.end


class FreeText:
    """A ``Constraint`` that forbids nothing.

    Args:
        end: token ids of the end mark.
    """

    def __init__(self, end: tuple[int, ...]) -> None:
        self.end = end

    def start(self) -> FreeState:
        """See ``base.Constraint``."""
        return FreeState(self.end)

    def successors(self, state: FreeState) -> Successors[FreeState]:
        """See ``base.Constraint``."""
        return Successors(None, lambda token: FreeState(self.end, (*state.last, token)[-len(self.end) :]))

    def paths_left(self, state: FreeState) -> int:
        """Unknown without a graph; 0."""
        return 0


class MarkWatch:
    """Sees a mark in free text, however its letters are cut into tokens.

    Args:
        texts: the text of every token.
        mark: what to look for; printable ASCII without spaces.
    """

    def __init__(self, texts: Sequence[str], mark: str) -> None:
        self.texts = texts
        self.mark = mark
        self._hits: dict[int, tuple[NDArray[np.int32], NDArray[np.int32]]] = {}

    def after(self, matched: int, token: int) -> int:
        """How many letters of the mark stand at the end of the text; all of them: it has been written."""
        text = self.mark[:matched] + (self.texts[token] if token < len(self.texts) else "")
        longest = min(len(text), len(self.mark))
        return next((n for n in range(longest, 0, -1) if text.endswith(self.mark[:n])), 0)

    def hits(self, matched: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Tokens that would finish the mark, and tokens that would run over it."""
        if matched not in self._hits:
            begun, rest = self.mark[:matched], self.mark[matched:]
            near = [i for i, text in enumerate(self.texts) if rest in text or self.mark in text]
            full = [i for i in near if self.mark in begun + self.texts[i]]
            ends = {
                i
                for i in full
                if (begun + self.texts[i]).find(self.mark) + len(self.mark) == matched + len(self.texts[i])
            }
            over = [i for i in full if i not in ends]
            self._hits[matched] = np.array(sorted(ends), np.int32), np.array(over, np.int32)
        return self._hits[matched]


@lru_cache(maxsize=4)
def watch_for(label_tokens: LabelTokens) -> MarkWatch:
    """The watch of a tokeniser for the mark that begins a path; made once."""
    tokenizer = label_tokens.tokenizer
    names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    return MarkWatch([_text_of(name or "") for name in names], PATH_START)


def _text_of(name: str) -> str:
    """A token's text as far as ASCII marks care: word starts of any tokeniser become a space."""
    return name[2:] if name.startswith("##") else name.replace("Ġ", " ").replace("▁", " ")


@dataclass(frozen=True, slots=True)
class FreeSpan(Unbound):
    """Free text between two triples.

    Attributes:
        matched: letters of the mark at the end of the text so far.
        opened: the mark that begins a triple has been written.
        ended: a token that ends the text has been written.
    """

    matched: int = 0
    opened: bool = False
    ended: bool = False

    @property
    def complete(self) -> bool:
        """See ``base.State``: the span is over, one way or the other."""
        return self.opened or self.ended


class FreeUntilMark:
    """Free text up to the mark that begins the next triple, or up to the end of the text.

    Args:
        watch: looks for the mark.
        stops: tokens that end the text.
        vocabulary: size of the model's vocabulary.
        closed: no triple is left, so the mark may not be written.
    """

    def __init__(self, watch: MarkWatch, stops: frozenset[int], vocabulary: int, closed: bool = False) -> None:
        self.watch, self.stops, self.vocabulary, self.closed = watch, stops, vocabulary, closed

    def start(self) -> FreeSpan:
        """See ``base.Constraint``."""
        return FreeSpan()

    def successors(self, state: FreeSpan) -> Successors[FreeSpan]:
        """See ``base.Constraint``."""
        finishing, over = self.watch.hits(state.matched)
        forbidden = np.union1d(finishing, over) if self.closed else over
        forbidden = np.setdiff1d(forbidden, np.array(sorted(self.stops), np.int32))
        if not len(forbidden):
            return Successors(None, lambda token: self._after(state, token))
        tokens = np.setdiff1d(np.arange(self.vocabulary, dtype=np.int32), forbidden)
        return Successors(tokens, lambda i: self._after(state, int(tokens[i])))

    def paths_left(self, state: FreeSpan) -> int:
        """See ``base.Constraint``; unknown."""
        return 0

    def _after(self, state: FreeSpan, token: int) -> FreeSpan:
        if token in self.stops:
            return FreeSpan(ended=True)
        matched = self.watch.after(state.matched, token)
        return FreeSpan(opened=True) if matched == len(self.watch.mark) else FreeSpan(matched)


@dataclass(frozen=True, slots=True)
class ChoiceState:
    """A node of the trie: ``depth`` tokens written, rows ``low..high`` of the sorted options still possible."""

    trie: ChoiceTrie
    low: int
    high: int
    depth: int = 0

    @property
    def complete(self) -> bool:
        """See ``base.State``: the options left are spelled alike, so the choice has been made."""
        return self.trie.rows[self.low][0] == self.trie.rows[self.high - 1][0]

    @property
    def alive(self) -> bool:
        """See ``base.State``."""
        return not self.complete

    @property
    def options(self) -> tuple[int, ...]:
        """Indices of the options left."""
        return tuple(index for _, index in self.trie.rows[self.low : self.high])

    @property
    def paths(self) -> Sequence[PathIds]:
        """See ``base.State``; options are no paths."""
        return ()


class ChoiceTrie:
    """A ``Constraint`` of given texts.

    A choice is complete as soon as no other option begins as what was written: the rest of it is forced, and
    its tokens would tell nothing. The scores that matter are therefore those among the allowed tokens, which
    ``inside_entity`` asks the search for; with them the options' probabilities add up to 1, long or short.

    Args:
        options: token ids of each, at least one; one may begin as another does.
        end: a token that is part of none, put behind each.
    """

    def __init__(self, options: Sequence[Sequence[int]], end: int) -> None:
        self.rows = sorted(((*option, end), index) for index, option in enumerate(options))
        self.longest = max(len(tokens) for tokens, _ in self.rows)

    def start(self) -> ChoiceState:
        """See ``base.Constraint``."""
        return ChoiceState(self, 0, len(self.rows))

    def successors(self, state: ChoiceState) -> Successors[ChoiceState]:
        """See ``base.Constraint``."""
        next_tokens = np.array([tokens[state.depth] for tokens, _ in self.rows[state.low : state.high]], np.int32)
        starts = np.flatnonzero(np.diff(next_tokens, prepend=-1))
        bounds = np.append(starts, len(next_tokens)) + state.low

        def take(i: int) -> ChoiceState:
            return ChoiceState(self, int(bounds[i]), int(bounds[i + 1]), state.depth + 1)

        return Successors(next_tokens[starts], take, inside_entity=True)

    def paths_left(self, state: ChoiceState) -> int:
        """See ``base.Constraint``: how many options are left."""
        return state.high - state.low
