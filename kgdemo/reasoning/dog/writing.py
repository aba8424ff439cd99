"""How a language model writes a chain of triples (DoG sections 2.2 and 2.3): the seam and what all scripts share.

Two scripts stand behind it. ``chain_script`` is the paper's: a general model reads the linearised graph and
worked examples, and writes triples between marks with free text in between. ``path_script`` is for models
that were trained to write reasoning paths (the embedded one, the GCR checkpoints).
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from kgdemo.constraint.base import Constraint, State
from kgdemo.constraint.pieces import PATH_END, PATH_START
from kgdemo.constraint.query_graph import IdTriple, Link, QueryGraph
from kgdemo.constraint.triples import TripleTrie
from kgdemo.decoding.beam import BeamSettings, Hypothesis
from kgdemo.decoding.rooted import Writer
from kgdemo.events import WITHOUT_GRAPH, Event, LMCall
from kgdemo.reasoning.base import World
from kgdemo.reasoning.dog.chain import Chain, Note, Watching, Written

TRIPLE_TOKENS = 256  # the longest triple; the trie ends it long before
_KEPT_WRITERS = 16


class Script(Protocol):
    """Writes chains.

    Attributes:
        closes: a mark behind each triple may end the chain, and the note is the hypothesis answer behind that
            mark; else the note behind each triple says whether the chain goes on.
    """

    closes: bool

    def prompt(self, chain: Chain) -> tuple[int, ...]:
        """What the model reads before the chain's text."""
        ...

    def triples(self, chain: Chain, most: int) -> Generator[Event, None, list[Written]]:
        """The most probable next triples by token-level beam search (line 8 of Algorithm 1), best first."""
        ...

    def note(self, chain: Chain) -> Generator[Event, None, Note]:
        """The free text behind the chain's last triple."""
        ...

    def unconstrained(self, prompt: tuple[int, ...], width: int) -> Iterator[Event]:
        """The same prompt without the constraint, verified: the paper's CoT baseline."""
        ...


class Writing:
    """What both scripts share: prompts that fit, token trees, and triples read off finished searches."""

    def __init__(
        self, world: World, question: str, query: QueryGraph, watching: Watching, limits: BeamSettings
    ) -> None:
        self.world, self.question, self.query = world, question, query
        self.model, self.pieces = world.model, world.model.pieces
        self.watching, self.limits = watching, limits
        self._writers: dict[tuple[int, ...], Writer] = {}

    def writer(self, prompt: tuple[int, ...]) -> tuple[Writer, int]:
        """The token tree of a prompt, and how many tokens had to be read for it."""
        known = self._writers.pop(prompt, None)
        writer = known or Writer(self.model.tree(prompt))
        self._writers[prompt] = writer
        while len(self._writers) > _KEPT_WRITERS:
            del self._writers[next(iter(self._writers))]
        return writer, 0 if known else len(prompt)

    def search(
        self,
        prompt: tuple[int, ...],
        behind: tuple[int, ...],
        trie: TripleTrie,
        ends: Sequence[tuple[int, ...]],
        most: int,
    ) -> Generator[Event, None, list[Written]]:
        """Token-level beam search for triples behind some text."""
        began = time.perf_counter()
        writer, read = self.writer(prompt)
        limits = replace(self.limits, beams=most * len(ends), max_tokens=TRIPLE_TOKENS)
        finished = yield from self.watching.beams(writer.behind(behind), trie, behind, limits)
        found = self._read_off(finished, prompt, behind, trie, ends)[:most]
        shown = self.pieces.tokenizer.decode([*prompt, *behind])
        output = "\n".join(" -> ".join(w.link.labels(self.world.kg)) for w in found)
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
                    self.watching.ids[(*behind, *hypothesis.tokens)],
                )
        best: dict[tuple[IdTriple, ...], Written] = {}  # a triple may have been written from either end
        for triple in sorted(found.values(), key=lambda w: -w.score):
            best.setdefault(triple.link.triples, triple)
        return list(best.values())

    def write(
        self, prompt: tuple[int, ...], behind: tuple[int, ...], free: Constraint, longest: int, constrained: bool = True
    ) -> Generator[Event, None, tuple[tuple[int, ...], str, State]]:
        """Free text, the most probable token at a time: all tokens behind the prompt, the new text, how it ended."""
        began = time.perf_counter()
        writer, read = self.writer(prompt)
        written = yield from self.watching.greedy(writer.behind(behind), free, behind, longest, constrained)
        text = self.pieces.tokenizer.decode(list(written.tokens), skip_special_tokens=False)
        shown = self.pieces.tokenizer.decode([*prompt, *behind])
        seconds = time.perf_counter() - began
        purpose = "text between triples" if constrained else WITHOUT_GRAPH
        yield LMCall(self.model.name, purpose, shown, text, read, len(written.tokens), seconds)
        return (*behind, *written.tokens), text, written.state

    def plain(self, tokens: Sequence[int]) -> str:
        """Tokens as text, without special ones and path marks."""
        text = self.pieces.tokenizer.decode(list(tokens), skip_special_tokens=True)
        return text.replace(PATH_START, "").replace(PATH_END, "").strip()

    def fitting(self, lines: Sequence[str], room: int) -> str:
        """As many lines as have room, nearest to the question first."""
        kept, used = [], 0
        for line in lines:
            used += len(self.pieces.plain(f" | {line}"))
            if used > room:
                break
            kept.append(line)
        return " | ".join(kept)

    def lines(self, links: Iterable[Link], order: Sequence[IdTriple]) -> list[str]:
        """Linearised triples, each once, nearest to the question first where that is known."""
        rank = {triple: place for place, triple in enumerate(order)}
        links = sorted(links, key=lambda link: rank.get(link.triples[0], len(rank)))
        return list(dict.fromkeys(" -> ".join(link.labels(self.query.kg)) for link in links))


def ends_of(pool: Iterable[IdTriple]) -> list[int]:
    """All entities of some triples."""
    return [entity for head, _, tail in pool for entity in (head, tail)]
