"""What DoG writes and how: its options, chains of triples, searches as events, and the seam of the scripts.

A chain grows by triples (Algorithm 1). Two scripts write them (``scripts``). One is the paper's, for a general model
that reads the linearised graph and worked examples, and writes triples between marks with free text in between. The
other is for models that were trained to write reasoning paths (the embedded one, the GCR checkpoints). ``Script`` is
how the search sees them, and ``Writing`` what they share (sections 2.2 and 2.3).
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Protocol, TypeVar

from kgdemo.constraint.base import Constraint, State
from kgdemo.constraint.label_tokens import PATH_END, PATH_START
from kgdemo.constraint.triple_chains import ChainState, Link, QueryGraph, TripleTrie
from kgdemo.decoding.base import BeamSettings, Hypothesis, Step
from kgdemo.decoding.beam import beam_search
from kgdemo.decoding.searches import greedy_search
from kgdemo.events import WITHOUT_GRAPH, DecodeStep, Event, LMCall, Notice
from kgdemo.kg.graph import IdTriple
from kgdemo.methods.search_branch import StepReader, too_long
from kgdemo.models.base import PathModel, TokenTree
from kgdemo.models.token_tree import Writer
from kgdemo.query.query import Query
from kgdemo.reasoners.base import Resources
from kgdemo.settings import option

SCRIPTS = ("auto", "path", "chain")
TRIPLE_TOKENS = 256  # the longest triple; the trie ends it long before
_CACHED_WRITERS = 16
Found = TypeVar("Found")


class Visibility(str, Enum):
    """What of the graph stands in the prompt (DoG section 5.2)."""

    AUTO = "auto"
    FULL = "full"  # the question's whole graph: the model can plan ahead, and the prompt is read once
    LOCAL = "local"  # only what the chain may use next; the prompt is read again after each triple
    HIDDEN = "hidden"  # nothing: the constraint alone knows the graph


@dataclass(frozen=True, slots=True)
class DogOptions:
    """What can be chosen about DoG.

    By default ``triples`` is 120 where the graph stands in the prompt, and 0 where it does not and so need not be
    small. ``script=auto`` stands for ``path`` with models that know the path marks as tokens, else for ``chain``.
    """

    width: int = option(3, "chains kept, and triples tried behind each (bs, table 2)", minimum=1, maximum=50, public=4)
    steps: int = option(0, "triples of a chain (T); 0: as the question's hops and entities allow", maximum=20, public=6)
    triples: int | None = option(None, "size of the question's graph (section 3.1); 0: whole", maximum=5000, public=500)
    visibility: Visibility = option(Visibility.AUTO, "what of the graph stands in the prompt (section 5.2)")
    script: str = option("auto", "write paths, or triples with text between (table 6)", choices=SCRIPTS)
    free_tokens: int = option(64, "longest text between two triples, in tokens", maximum=512, public=64)


# Chains ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Written:
    """A triple that was written behind a chain.

    Attributes:
        score: its log-probability (equation 3).
        relation_score: that of its relation alone.
        prompt: what the model had read.
        tokens: all tokens behind the prompt, up to the triple's last.
        ending: log-probability that the chain ends behind it, where a mark says so and not the free text.
        beam: id of the beam that wrote it.
    """

    link: Link
    score: float
    relation_score: float
    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    ending: float
    beam: int


@dataclass(frozen=True, slots=True)
class Note:
    """Free text behind a triple.

    Attributes:
        tokens: all tokens behind the prompt, up to the mark that begins the next triple.
        text: what was written.
        answer: the hypothesis answer in it, empty where there is none.
        ended: no further triple follows.
    """

    tokens: tuple[int, ...]
    text: str
    answer: str
    ended: bool


@dataclass(frozen=True, slots=True)
class TripleChain:
    """A candidate of Algorithm 1: its triples, its score, and the text so far.

    Attributes:
        state: its triples and the entities they have reached.
        score: the sum of its triples' scores.
        notes: the text behind each triple.
        thought: id of the event that showed its last triple.
        shown: how many triples have been shown.
    """

    state: ChainState
    score: float = 0.0
    relation_score: float = 0.0
    written: tuple[Written, ...] = ()
    notes: tuple[Note, ...] = ()
    thought: int = 0
    shown: int = 0

    @property
    def ended(self) -> bool:
        """Whether the model has concluded."""
        return bool(self.notes) and self.notes[-1].ended

    @property
    def new(self) -> bool:
        """Whether its last triple has just been written."""
        return len(self.written) > self.shown

    def extended(self, triple: Written) -> TripleChain:
        """Lines 10 and 11 of Algorithm 1."""
        return replace(
            self,
            state=self.state.extended(triple.link),
            score=self.score + triple.score,
            relation_score=self.relation_score + triple.relation_score,
            written=(*self.written, triple),
        )

    def closed(self) -> TripleChain:
        """The chain with the mark that ends it."""
        ending = self.written[-1].ending
        return replace(self, score=self.score + ending, relation_score=self.relation_score + ending)


@dataclass(slots=True)
class Watching:
    """Turns the steps of many searches into one run of events: beam ids and step numbers never repeat."""

    model: PathModel
    ids: dict[tuple[int, ...], int] = field(default_factory=lambda: {(): 0})
    steps: int = 0

    def beams(
        self, tree: TokenTree, constraint: Constraint[Any], behind: tuple[int, ...], limits: BeamSettings
    ) -> Generator[DecodeStep, None, list[Hypothesis]]:
        """A beam search; its finished hypotheses hold the tokens that came behind ``behind``."""
        return (yield from self._events(beam_search(tree, constraint, limits), constraint, behind, True))

    def greedy(
        self, tree: TokenTree, constraint: Constraint[Any], behind: tuple[int, ...], longest: int, constrained: bool
    ) -> Generator[DecodeStep, None, Hypothesis]:
        """A greedy search, likewise."""
        return (yield from self._events(greedy_search(tree, constraint, longest), constraint, behind, constrained))

    def _events(
        self,
        search: Generator[Step, None, Found],
        constraint: Constraint[Any],
        behind: tuple[int, ...],
        constrained: bool,
    ) -> Generator[DecodeStep, None, Found]:
        reader = _BehindReader(self.model, constraint, behind, self.ids, constrained)
        while True:
            try:
                step = next(search)
            except StopIteration as end:
                found: Found = end.value
                return found
            yield replace(reader.read(step), number=self.steps)
            self.steps += 1


class _BehindReader(StepReader):
    """Knows what was written before the search began."""

    def __init__(
        self,
        model: PathModel,
        constraint: Constraint[Any],
        behind: tuple[int, ...],
        ids: dict[tuple[int, ...], int],
        constrained: bool,
    ) -> None:
        super().__init__(model, constraint, constrained)
        self._behind, self._ids = behind, ids

    def beam_id(self, tokens: tuple[int, ...]) -> int:
        """See ``StepReader``."""
        return super().beam_id((*self._behind, *tokens))

    def text(self, hypothesis: Hypothesis) -> str:
        """See ``StepReader``."""
        return super().text(replace(hypothesis, tokens=(*self._behind, *hypothesis.tokens)))


# Writing chains -----------------------------------------------------------------------------------


class Script(Protocol):
    """Writes chains.

    Attributes:
        closes: a mark behind each triple may end the chain, and the note is the hypothesis answer behind that
            mark; else the note behind each triple says whether the chain goes on.
    """

    closes: bool

    def prompt(self, chain: TripleChain) -> tuple[int, ...]:
        """What the model reads before the chain's text."""
        ...

    def triples(self, chain: TripleChain, limit: int) -> Generator[Event, None, list[Written]]:
        """The most probable next triples by token-level beam search (line 8 of Algorithm 1), best first."""
        ...

    def note(self, chain: TripleChain) -> Generator[Event, None, Note]:
        """The free text behind the chain's last triple."""
        ...

    def unconstrained(self, prompt: tuple[int, ...], width: int) -> Iterator[Event]:
        """The same prompt without the constraint, verified: the paper's CoT baseline."""
        ...


class Writing:
    """What both scripts share: prompts that fit, token trees, and triples read off finished searches."""

    def __init__(
        self, resources: Resources, query: Query, subgraph: QueryGraph, watching: Watching, limits: BeamSettings
    ) -> None:
        self.resources, self.query, self.subgraph = resources, query, subgraph
        self.model, self.label_tokens = resources.model, resources.model.label_tokens
        self.watching, self.limits = watching, limits
        self._writers: dict[tuple[int, ...], Writer] = {}
        self._noticed_too_long = False

    def writer(self, prompt: tuple[int, ...]) -> tuple[Writer, int]:
        """The token tree of a prompt, and how many tokens had to be read for it."""
        known = self._writers.pop(prompt, None)
        writer = known or Writer(self.model.tree(prompt))
        self._writers[prompt] = writer
        while len(self._writers) > _CACHED_WRITERS:
            del self._writers[next(iter(self._writers))]
        return writer, 0 if known else len(prompt)

    def search(
        self,
        prompt: tuple[int, ...],
        behind: tuple[int, ...],
        trie: TripleTrie,
        ends: Sequence[tuple[int, ...]],
        limit: int,
    ) -> Generator[Event, None, list[Written]]:
        """Token-level beam search for triples behind some text."""
        began = time.perf_counter()
        longest = min(TRIPLE_TOKENS, self.room(prompt, behind))
        if longest < trie.longest:
            yield from self._tell_too_long(longest)
        if longest <= 0:
            return []
        writer, read = self.writer(prompt)
        limits = replace(self.limits, beams=limit * len(ends), max_tokens=longest, keep=0)
        finished = yield from self.watching.beams(writer.behind(behind), trie, behind, limits)
        found = self._read_off(finished, prompt, behind, trie, ends)[:limit]
        shown = self.label_tokens.tokenizer.decode([*prompt, *behind])
        output = "\n".join(" -> ".join(w.link.labels(self.resources.kg)) for w in found)
        tokens = sum(len(h.tokens) for h in finished)
        yield LMCall(self.model.name, "triples", shown, output, read, tokens, time.perf_counter() - began)
        return found

    def _read_off(
        self,
        finished: Iterable[Hypothesis],
        prompt: tuple[int, ...],
        behind: tuple[int, ...],
        trie: TripleTrie,
        ends: Sequence[tuple[int, ...]],
    ) -> list[Written]:
        """One triple for each leaf, with the log-probability of the first end mark behind it."""
        found: dict[tuple[tuple[int, ...], tuple[IdTriple, ...]], Written] = {}
        for hypothesis in finished:
            for leaf in hypothesis.state.leaves:  # type: ignore[attr-defined]
                size, spelled = len(ends[leaf.end]), trie.spelled(leaf.link)
                beam = self.watching.ids[behind + hypothesis.tokens]
                mark = sum(hypothesis.log_probs[-size:])
                ending = -math.inf if leaf.end else mark
                start, stop = len(spelled.first), len(spelled.first) + len(spelled.relation)
                tokens = (*behind, *hypothesis.tokens[:-size])
                known = found.get((tokens, leaf.link.triples))
                found[tokens, leaf.link.triples] = Written(
                    leaf.link,
                    hypothesis.score - mark,
                    sum(hypothesis.log_probs[start:stop]),
                    prompt,
                    tokens,
                    max(ending, known.ending) if known else ending,
                    beam,
                )
        best: dict[tuple[IdTriple, ...], Written] = {}  # a triple may have been written from either end
        for triple in sorted(found.values(), key=lambda w: -w.score):
            best.setdefault(triple.link.triples, triple)
        return list(best.values())

    def write(
        self,
        prompt: tuple[int, ...],
        behind: tuple[int, ...],
        free: Constraint[Any],
        longest: int,
        constrained: bool = True,
    ) -> Generator[Event, None, tuple[tuple[int, ...], str, State]]:
        """Free text, the most probable token at a time: all tokens behind the prompt, the new text, how it ended."""
        began = time.perf_counter()
        longest = min(longest, self.room(prompt, behind))
        if longest <= 0:
            yield from self._tell_too_long(0)
            return behind, "", free.start()
        writer, read = self.writer(prompt)
        written = yield from self.watching.greedy(writer.behind(behind), free, behind, longest, constrained)
        text = self.label_tokens.tokenizer.decode(list(written.tokens), skip_special_tokens=False)
        shown = self.label_tokens.tokenizer.decode([*prompt, *behind])
        seconds = time.perf_counter() - began
        purpose = "text between triples" if constrained else WITHOUT_GRAPH
        yield LMCall(self.model.name, purpose, shown, text, read, len(written.tokens), seconds)
        return (*behind, *written.tokens), text, written.state

    def room(self, prompt: Sequence[int], behind: Sequence[int]) -> int:
        """Tokens that the model has positions for behind a prompt and what was written behind it."""
        return self.model.context - len(prompt) - len(behind)

    def _tell_too_long(self, longest: int) -> Iterator[Notice]:
        """Say once a run that triples or texts are left out because of their length."""
        if not self._noticed_too_long:
            self._noticed_too_long = True
            yield too_long(self.model, max(longest, 0))

    def plain(self, tokens: Sequence[int]) -> str:
        """Tokens as text, without special ones and path marks."""
        text: str = self.label_tokens.tokenizer.decode(list(tokens), skip_special_tokens=True)
        return text.replace(PATH_START, "").replace(PATH_END, "").strip()

    def fitting(self, lines: Sequence[str], room: int) -> str:
        """As many lines as have room, nearest to the question first."""
        chosen, used = [], 0
        for line in lines:
            used += len(self.label_tokens.plain(f" | {line}"))
            if used > room:
                break
            chosen.append(line)
        return " | ".join(chosen)

    def lines(self, links: Iterable[Link], order: Sequence[IdTriple]) -> list[str]:
        """Linearised triples, each once, nearest to the question first where that is known."""
        rank = {triple: place for place, triple in enumerate(order)}
        links = sorted(links, key=lambda link: rank.get(link.triples[0], len(rank)))
        return list(dict.fromkeys(" -> ".join(link.labels(self.subgraph.kg)) for link in links))


def ends_of(pool: Iterable[IdTriple]) -> list[int]:
    """All entities of some triples."""
    return [entity for head, _, tail in pool for entity in (head, tail)]
