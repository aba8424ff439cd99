"""Triples and free text that the path model writes behind a text: what DoG and FiDeLiS share.

A triple is found by token-level beam search under the constraint of a trie (DoG sections 2.2 and 2.3), free text by
greedy search. All searches of a question share token trees, beam ids and step numbers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from kgdemo.constraint.automaton import Constraint, State
from kgdemo.constraint.label_tokens import PATH_END, PATH_START
from kgdemo.constraint.triple_chains import Link, TripleTrie
from kgdemo.decoding.base import BeamSettings, Hypothesis, Step
from kgdemo.decoding.beam import beam_search
from kgdemo.decoding.searches import greedy_search
from kgdemo.events import WITHOUT_GRAPH, DecodeStep, Event, LMCall, Notice
from kgdemo.kg.graph import IdTriple
from kgdemo.methods.search_branch import StepReader, too_long_notice
from kgdemo.models.token_tree import Writer
from kgdemo.reasoners.base import Resources

TRIPLE_TOKENS = 256  # the longest triple; the trie ends it long before
_CACHED_WRITERS = 16
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class WrittenTriple:
    """A triple that was written behind a text.

    Attributes:
        score: its log-probability (DoG equation 3).
        relation_score: that of its relation alone.
        prompt: what the model had read.
        tokens: all tokens behind the prompt, up to the triple's last.
        ending: log-probability that the text ends behind it, where a mark says so and not the free text.
        beam: id of the beam that wrote it.
    """

    link: Link
    score: float
    relation_score: float
    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    ending: float
    beam: int


class TripleWriter:
    """The searches of one question.

    Args:
        resources: the path model writes.
        limits: of each search for triples.
    """

    def __init__(self, resources: Resources, limits: BeamSettings) -> None:
        self.resources, self.limits = resources, limits
        self.model, self.label_tokens = resources.model, resources.model.label_tokens
        self._writers: dict[tuple[int, ...], Writer] = {}
        self._beam_ids: dict[tuple[int, ...], int] = {(): 0}
        self._steps = 0
        self._noticed_too_long = False

    def search(
        self,
        prompt: tuple[int, ...],
        behind: tuple[int, ...],
        trie: TripleTrie,
        ends: Sequence[tuple[int, ...]],
        limit: int,
    ) -> Generator[Event, None, list[WrittenTriple]]:
        """The likeliest triples behind some text, best first.

        Args:
            prompt: what the model reads first.
            behind: what is written already.
            trie: of the triples that may follow.
            ends: the marks behind a triple, as the trie has them; the first one ends the text.
            limit: how many triples to return.
        """
        began = time.perf_counter()
        longest = min(TRIPLE_TOKENS, self.room(prompt, behind))
        if longest < trie.longest:
            yield from self._tell_too_long(longest)
        if longest <= 0:
            return []
        writer, read = self._writer(prompt)
        limits = replace(self.limits, beams=limit * len(ends), max_tokens=longest, keep=0)
        search = beam_search(writer.behind(behind), trie, limits)
        finished = yield from self._as_events(search, StepReader(self.model, trie, True, behind, self._beam_ids))
        found = self._read_off(finished, prompt, behind, trie, ends)[:limit]
        shown = self.label_tokens.tokenizer.decode([*prompt, *behind])
        output = "\n".join(" -> ".join(w.link.labels(self.resources.kg)) for w in found)
        tokens = sum(len(h.tokens) for h in finished)
        yield LMCall(self.model.name, "triples", shown, output, read, tokens, time.perf_counter() - began)
        return found

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
        writer, read = self._writer(prompt)
        search = greedy_search(writer.behind(behind), free, longest)
        written = yield from self._as_events(search, StepReader(self.model, free, constrained, behind, self._beam_ids))
        text = self.label_tokens.tokenizer.decode(list(written.tokens), skip_special_tokens=False)
        shown = self.label_tokens.tokenizer.decode([*prompt, *behind])
        seconds = time.perf_counter() - began
        purpose = "text between triples" if constrained else WITHOUT_GRAPH
        yield LMCall(self.model.name, purpose, shown, text, read, len(written.tokens), seconds)
        return (*behind, *written.tokens), text, written.state

    def room(self, prompt: Sequence[int], behind: Sequence[int]) -> int:
        """Tokens that the model has positions for behind a prompt and what was written behind it."""
        return self.model.context - len(prompt) - len(behind)

    def plain(self, tokens: Sequence[int]) -> str:
        """Tokens as text, without special ones and path marks."""
        text: str = self.label_tokens.tokenizer.decode(list(tokens), skip_special_tokens=True)
        return text.replace(PATH_START, "").replace(PATH_END, "").strip()

    def _writer(self, prompt: tuple[int, ...]) -> tuple[Writer, int]:
        """The token tree of a prompt, and how many tokens had to be read for it."""
        known = self._writers.pop(prompt, None)
        writer = known or Writer(self.model.tree(prompt))
        self._writers[prompt] = writer
        while len(self._writers) > _CACHED_WRITERS:
            del self._writers[next(iter(self._writers))]
        return writer, 0 if known else len(prompt)

    def _as_events(
        self, search: Generator[Step, None, Found], reader: StepReader
    ) -> Generator[DecodeStep, None, Found]:
        """A search to its end, its steps numbered on from those of the searches before."""
        while True:
            try:
                step = next(search)
            except StopIteration as end:
                found: Found = end.value
                return found
            yield replace(reader.read(step), number=self._steps)
            self._steps += 1

    def _read_off(
        self,
        finished: Iterable[Hypothesis],
        prompt: tuple[int, ...],
        behind: tuple[int, ...],
        trie: TripleTrie,
        ends: Sequence[tuple[int, ...]],
    ) -> list[WrittenTriple]:
        """One triple for each leaf, with the log-probability of the first end mark behind it."""
        found: dict[tuple[tuple[int, ...], tuple[IdTriple, ...]], WrittenTriple] = {}
        for hypothesis in finished:
            for leaf in hypothesis.state.leaves:  # type: ignore[attr-defined]
                size, spelled = len(ends[leaf.end]), trie.spelled(leaf.link)
                beam = self._beam_ids[behind + hypothesis.tokens]
                mark = sum(hypothesis.log_probs[-size:])
                ending = -math.inf if leaf.end else mark
                start, stop = len(spelled.first), len(spelled.first) + len(spelled.relation)
                tokens = (*behind, *hypothesis.tokens[:-size])
                known = found.get((tokens, leaf.link.triples))
                found[tokens, leaf.link.triples] = WrittenTriple(
                    leaf.link,
                    hypothesis.score - mark,
                    sum(hypothesis.log_probs[start:stop]),
                    prompt,
                    tokens,
                    max(ending, known.ending) if known else ending,
                    beam,
                )
        best: dict[tuple[IdTriple, ...], WrittenTriple] = {}  # a triple may have been written from either end
        for triple in sorted(found.values(), key=lambda w: -w.score):
            best.setdefault(triple.link.triples, triple)
        return list(best.values())

    def _tell_too_long(self, longest: int) -> Iterator[Notice]:
        """Say once a run that triples or texts are left out because of their length."""
        if not self._noticed_too_long:
            self._noticed_too_long = True
            yield too_long_notice(self.model, max(longest, 0))
