"""DoG: decoding on graphs (Li et al. 2025, section 2).

A language model writes a chain of triples. Each triple must touch what the chain has reached, and the query-centric
subgraph grows by all triples around what has been written (section 2.3, equation 1). A triple-level beam search over
the token-level one keeps the chains with the highest scores (section 2.4, Algorithm 1). A chain hangs together as
trees, and each branch is a path from a topic: these paths are verified and answered from. Beside it runs the same
prompt without the constraint, the paper's CoT baseline.

Two *scripts* write chains. ``ChainScript`` is the paper's, for a general model that reads the linearised graph and
worked examples, and writes triples between marks with free text in between. ``PathScript`` is for models that were
trained to write reasoning paths (the embedded one, the GCR checkpoints).

Where the graph stands in the prompt it is cut to the question (section 3.1 and appendix B): from the neighbourhood of
the query entities the triples most similar to the question are taken one after another, each with the triples that lead
to it from a query entity, until 120 are together (``question_graph``).
"""

from __future__ import annotations

import math
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from kgdemo.answering.answer_sets import conclude
from kgdemo.constraint.label_tokens import PATH_END, PATH_START
from kgdemo.constraint.triple_chains import (
    ChainConstraint,
    ChainState,
    FreeSpan,
    FreeText,
    FreeUntilMark,
    Link,
    QueryGraph,
    TripleTokens,
    TripleTrie,
    watch_for,
)
from kgdemo.events import (
    WITHOUT_GRAPH,
    AnswerFinal,
    ConstraintReady,
    Event,
    HypothesisAnswer,
    PathFound,
    PathVerified,
    Thought,
)
from kgdemo.kg.graph import IdTriple, KnowledgeGraph
from kgdemo.kg.labels import spoken
from kgdemo.kg.path import Path, PathIds
from kgdemo.methods.registry import register
from kgdemo.methods.search_branch import (
    ANSWER_TOKENS,
    TRIPLE_TOKENS,
    TripleWriter,
    WrittenTriple,
    limits_of,
    room_for,
    run_unconstrained,
    unconstrained_branch,
)
from kgdemo.models.base import PromptStyle
from kgdemo.models.embedding import EmbeddingCache, embedding_cache
from kgdemo.query.query import Query
from kgdemo.ranking.abstention import abstained
from kgdemo.reasoners.base import Evidence, Resources
from kgdemo.settings import Settings, chosen, option

MAX_TRIPLES = 120  # section 3.1
# A hub has tens of thousands of triples and an embedder reads some hundreds a second. At each hop only this many times
# the triples wanted are read, chosen by the similarity of their relations, which are few.
_READ_FACTOR = 2


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
    script: str = option(
        "auto", "write paths, or triples with text between (table 6)", choices=("auto", "path", "chain")
    )
    free_tokens: int = option(64, "longest text between two triples, in tokens", maximum=512, public=64)


@register(
    "dog",
    "Decoding on graphs",
    "Li et al. 2025 (DoG), section 2",
    "Writes a chain of triples: each must touch what the chain has reached, and the graph in reach grows with it.",
    constrained=True,
    options=DogOptions,
)
def run(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """Algorithm 1, its chains as verified paths, and an answer from them."""
    dog = chosen(DogOptions, settings.options)
    dog = replace(dog, width=min(dog.width, settings.beams))
    search = Search(query, resources, settings, dog)
    chains = yield from search.chains()
    evidence = yield from grounded(chains, search.topic_ids, resources)
    if settings.compare:
        yield from search.unconstrained()
    for event in abstained(query, evidence, resources):
        yield event
        if isinstance(event, AnswerFinal):
            return
    yield from conclude(query, evidence, resources, directed=settings.directed, whole=settings.complete)


class Search:
    """Algorithm 1 for one question.

    Args:
        query: what is asked; its topics are the query entities.
        resources, settings, dog: the graph and the model, and what was chosen.
    """

    def __init__(self, query: Query, resources: Resources, settings: Settings, dog: DogOptions) -> None:
        self.began = time.perf_counter()
        self.query, self.resources, self.settings, self.dog = query, resources, settings, dog
        self.topic_ids = resources.kg.entities.ids_of(query.topics)
        self.steps = dog.steps or settings.hops * max(1, min(2, len(self.topic_ids)))
        self.subgraph = QueryGraph(resources.kg, settings.directed)
        self.trained = dog.script == "path" or (dog.script == "auto" and len(resources.model.label_tokens.start) == 1)
        self._thoughts = 0
        self.pool = self._pool()
        self.script: Script = PathScript(self) if self.trained else ChainScript(self)

    def chains(self) -> Generator[Event, None, list[TripleChain]]:
        """The best chains, best first (Algorithm 1; its line numbers in the comments)."""
        start = ChainState(tuple(self.topic_ids))  # 1, 2: the query-centric subgraph is what touches the topics
        reach = self.subgraph.links(start.visited)
        ms = 1000 * (time.perf_counter() - self.began)
        yield ConstraintReady("query-centric subgraph", self.query.topics, self.settings.hops, len(reach), ms)
        chains = [TripleChain(start)]
        finished: list[TripleChain] = []
        for step in range(self.steps):  # 3
            extended = yield from self._extended(chains)  # 5 to 13
            chains = yield from self._shown(extended, last=step + 1 == self.steps)  # 14
            if self.script.closes:
                finished = sorted([*finished, *(c.closed() for c in chains)], key=lambda c: -c.score)
                worst = finished[: self.dog.width][-1].score if len(finished) >= self.dog.width else -math.inf
                if not chains or chains[0].score <= worst:  # scores only fall
                    break
            elif all(chain.ended for chain in chains):
                break
        return (yield from self._concluded(finished)) if self.script.closes else [c for c in chains if c.written]

    def unconstrained(self) -> Iterator[Event]:
        """The same prompt without the constraint (the paper's CoT baseline)."""
        prompt = self.script.prompt(TripleChain(ChainState(tuple(self.topic_ids))))
        yield from self.script.unconstrained(prompt, self.dog.width)

    def _extended(self, chains: Sequence[TripleChain]) -> Generator[Event, None, list[TripleChain]]:
        """Every chain with each of its likeliest next triples; the same triples in another order count once."""
        extended: dict[frozenset[IdTriple], TripleChain] = {}
        for chain in chains:
            found = [] if chain.ended else (yield from self.script.triples(chain, self.dog.width))  # 8
            candidates = [chain.extended(triple) for triple in found]  # 9 to 12
            if not found and not self.script.closes:
                candidates = [chain]  # it has ended, or has nowhere to go
            for candidate in candidates:
                known = extended.get(candidate.state.used)
                if known is None or candidate.score > known.score:
                    extended[candidate.state.used] = candidate
        return sorted(extended.values(), key=lambda c: -c.score)

    def _shown(self, extended: Sequence[TripleChain], last: bool) -> Generator[Event, None, list[TripleChain]]:
        """Keep the best chains, write the text behind their new triples, and say what became of all."""
        selected = []
        for rank, chain in enumerate(extended):
            keep = rank < self.dog.width
            if chain.new:
                if keep and not self.script.closes:
                    note = yield from self.script.note(chain)
                    chain = replace(chain, notes=(*chain.notes, note))
                thought = self._thought(chain, keep)
                yield thought
                chain = replace(chain, thought=thought.id, shown=len(chain.written))
                if keep and not chain.ended and not last:
                    yield self._growth(chain)
            selected += [chain] if keep else []
        return selected

    def _concluded(self, finished: Sequence[TripleChain]) -> Generator[Event, None, list[TripleChain]]:
        """The finished chains; the best with the hypothesis answers behind them."""
        concluded = [chain for chain in finished if chain.score > -math.inf][: self.settings.beams]
        for place, chain in enumerate(concluded[: self.dog.width]):
            concluded[place] = replace(chain, notes=((yield from self.script.note(chain)),))
        return concluded

    def _thought(self, chain: TripleChain, selected: bool) -> Thought:
        self._thoughts += 1
        link, kg = chain.written[-1].link, self.resources.kg
        path = self.resources.kg.labelled(link.path)
        text, read = str(path), self.resources.verifier.verify(path).faithful
        if selected and chain.notes and chain.notes[-1].text:
            text += f" — {chain.notes[-1].text}"
        return Thought(
            "thought",
            self._thoughts,
            (chain.thought,) if chain.thought else (),
            text,
            path.entities,
            tuple((kg.entities[h], kg.relations[r], kg.entities[t]) for h, r, t in link.triples if read),
            chain.score,
            "kept" if selected else "pruned",
            "" if selected else f"{self.dog.width} chains score higher",
        )

    def _growth(self, chain: TripleChain) -> Thought:
        """What the last triple brought into reach (equation 1)."""
        self._thoughts += 1
        last = chain.written[-1].link.last
        before = {*self.topic_ids, *(link.last for link in chain.state.links[:-1])}
        links = [] if last in before else self.subgraph.links([last], chain.state.used)
        new = sum(link.last not in before for link in links)
        entity = self.resources.kg.entities[last]
        text = f"{entity} brings {new} more triple{'s' * (new != 1)} within reach"
        return Thought("observation", self._thoughts, (chain.thought,), text, (entity,))

    def _pool(self) -> tuple[IdTriple, ...]:
        """The question's graph (section 3.1, appendix B), nearest triples first; empty stands for the whole graph."""
        size = self.dog.triples
        if size is None:
            size = 0 if self.trained and self.dog.visibility in (Visibility.AUTO, Visibility.HIDDEN) else MAX_TRIPLES
        if not size:
            return ()
        labels = embedding_cache(self.resources.embedder)
        pool = question_graph(self.query.text, self.topic_ids, self.subgraph, labels, self.settings.hops, size)
        self.subgraph = QueryGraph(self.resources.kg, self.settings.directed, frozenset(pool))
        return pool


# Chains -------------------------------------------------------------------------------------------


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
    written: tuple[WrittenTriple, ...] = ()
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

    def extended(self, triple: WrittenTriple) -> TripleChain:
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


# Scripts ------------------------------------------------------------------------------------------


class Script(TripleWriter, ABC):
    """Writes the chains of a search.

    Attributes:
        closes: a mark behind each triple may end the chain, and the note is the hypothesis answer behind that
            mark; else the note behind each triple says whether the chain goes on.
    """

    closes: bool

    def __init__(self, search: Search) -> None:
        super().__init__(search.resources, limits_of(search.settings, search.resources.model))
        self.query, self.subgraph, self.pool = search.query, search.subgraph, search.pool
        self.steps, self.visibility = search.steps, search.dog.visibility

    @abstractmethod
    def prompt(self, chain: TripleChain) -> tuple[int, ...]:
        """What the model reads before the chain's text."""

    @abstractmethod
    def triples(self, chain: TripleChain, limit: int) -> Generator[Event, None, list[WrittenTriple]]:
        """The most probable next triples by token-level beam search (line 8 of Algorithm 1), best first."""

    @abstractmethod
    def note(self, chain: TripleChain) -> Generator[Event, None, Note]:
        """The free text behind the chain's last triple."""

    @abstractmethod
    def unconstrained(self, prompt: tuple[int, ...], width: int) -> Iterator[Event]:
        """The same prompt without the constraint, verified: the paper's CoT baseline."""

    def lines(self, links: Iterable[Link]) -> list[str]:
        """Linearised triples, each once, nearest to the question first where that is known."""
        rank = {triple: place for place, triple in enumerate(self.pool)}
        links = sorted(links, key=lambda link: rank.get(link.triples[0], len(rank)))
        return list(dict.fromkeys(" -> ".join(link.labels(self.subgraph.kg)) for link in links))

    def fitting(self, lines: Sequence[str], room: int) -> str:
        """As many lines as have room, the first ones."""
        chosen, used = [], 0
        for line in lines:
            used += len(self.label_tokens.plain(f" | {line}"))
            if used > room:
                break
            chosen.append(line)
        return " | ".join(chosen)


def ends_of(pool: Iterable[IdTriple]) -> list[int]:
    """All entities of some triples."""
    return [entity for head, _, tail in pool for entity in (head, tail)]


class PathScript(Script):
    """Chains by a model that was trained on reasoning paths.

    Such a model has never seen a linearised graph or a triple that stands alone. For each entity that the chain has
    visited it is shown the path that led there, in the form it was trained on, and what it writes next is the triple
    (equation 3, with the path as the generation so far). Behind each triple it may go on with an arrow or end the path;
    a chain is finished with the probability of the end, and goes on with that of the arrow. What it writes behind the
    end is its hypothesis answer.
    """

    closes = True

    def __init__(self, search: Search) -> None:
        super().__init__(search)
        self.hops = search.settings.hops
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], list[WrittenTriple]] = {}

    def triples(self, chain: TripleChain, limit: int) -> Generator[Event, None, list[WrittenTriple]]:
        """Behind the topics, and behind every path of the chain that may grow."""
        prompt = self.prompt(chain)
        found: dict[tuple[IdTriple, ...], WrittenTriple] = {}
        for behind, heads, left in self._stems(chain):
            for triple in (yield from self._behind(prompt, behind, heads, left, limit + self.steps - 1)):
                known = found.get(triple.link.triples)
                if chain.state.used.isdisjoint(triple.link.triples) and (known is None or triple.score > known.score):
                    found[triple.link.triples] = triple
        return sorted(found.values(), key=lambda w: -w.score)[:limit]

    def note(self, chain: TripleChain) -> Generator[Event, None, Note]:
        """The hypothesis answer behind the end of the path."""
        last = chain.written[-1]
        mark = self.label_tokens.special(self.model.style.answer_mark) if self.model.style.answer_mark else ()
        behind = (*last.tokens, *self.label_tokens.end, *mark)
        free = FreeUntilMark(watch_for(self.label_tokens), self.model.stop_ids, self.model.vocabulary, closed=True)
        tokens, _, _ = yield from self.write(last.prompt, behind, free, ANSWER_TOKENS)
        text = self.plain(tokens[len(behind) :])
        return Note(tokens, text, text, ended=True)

    def unconstrained(self, prompt: tuple[int, ...], width: int) -> Iterator[Event]:
        """Whole paths, as GCR's search without the constraint."""
        yield from run_unconstrained(
            unconstrained_branch(self.model, prompt, width), self.resources, width, WITHOUT_GRAPH
        )

    def _stems(self, chain: TripleChain) -> list[tuple[tuple[int, ...], list[int], int]]:
        """Texts that a triple may be written behind: (text, entities it may start from, hops left there)."""
        topics = self.subgraph.kg.entities.ids_of(self.query.topics)
        left = dict.fromkeys(topics, self.hops)
        stems: list[tuple[tuple[int, ...], list[int], int]] = [((), topics, self.hops)]
        for triple in chain.written:
            link = triple.link
            if link.last not in left:
                left[link.last] = left[link.first] - len(link.path.steps)
                if left[link.last] > 0:
                    stems.append((triple.tokens, [link.last], left[link.last]))
        return stems

    def _behind(
        self, prompt: tuple[int, ...], behind: tuple[int, ...], heads: Sequence[int], left: int, limit: int
    ) -> Generator[Event, None, list[WrittenTriple]]:
        """Triples behind a text: the same for every chain that holds it, so they are searched for once.

        ``limit`` has room for those that a chain holds already.
        """
        key = (prompt, behind)
        if key not in self._known:
            links = [link for link in self.subgraph.links(heads) if len(link.path.steps) <= left]
            # the first mark ends the path, the second announces another triple
            ends = [self.label_tokens.end] if left <= 1 else [self.label_tokens.end, self.label_tokens.arrow]
            triple_tokens = TripleTokens.ONWARD if behind else TripleTokens.WALKED
            trie = TripleTrie(self.resources.token_graph, links, triple_tokens, ends)
            self._known[key] = (yield from self.search(prompt, behind, trie, ends, limit)) if links else []
        return self._known[key]

    def prompt(self, chain: TripleChain) -> tuple[int, ...]:
        """See ``Script``."""
        style, entities = self.model.style, list(self.query.topics)
        bare = style.encode(self.label_tokens, self.query.text, entities)
        room = room_for(self.model, bare, self.model.context) - TRIPLE_TOKENS
        links: list[Link] = []
        if self.visibility is Visibility.FULL:
            links = self.subgraph.links(ends_of(self.pool))
        elif self.visibility is Visibility.LOCAL:
            links = self.subgraph.links(chain.state.visited)
        if links and room > 0:
            entities.append(self.fitting(self.lines(links), room))
        return tuple(style.encode(self.label_tokens, self.query.text, entities))


_FREE_TOKENS = 160  # without a constraint nothing else ends a chain
_SPAN = re.compile(f"{PATH_START}(.*?)(?={PATH_START}|{PATH_END}|$)", re.DOTALL)
_ANSWER_IS = re.compile(r"answer is:?\s*(.+)", re.IGNORECASE)

# DoG table 6 in our own words and with examples of our own: two steps onwards, two triples around one entity,
# and a triple used from its tail.
_TASK = """\
Answer the question from the knowledge graph. Go step by step: write down a triple of the graph between <PATH> and \
</PATH>, say in a few words what it tells, and take another triple only if it is needed. Every triple must touch the \
question's entity or an entity of an earlier triple. Finish with the answer.

"""
_EXAMPLES = (
    """\
Question: which country is graz in?
Graph: [Graz -> river -> Mur | Graz -> located in -> Styria | Styria -> country -> Austria]
Answer: <PATH> Graz -> located in -> Styria</PATH> So Graz is in Styria.
<PATH> Styria -> country -> Austria</PATH> So Styria is in Austria. The answer is: Austria

""",
    """\
Question: what was marie curie's profession?
Graph: [Marie Curie -> profession -> physicist | Marie Curie -> profession -> chemist | Marie Curie -> sex -> female]
Answer: <PATH> Marie Curie -> profession -> physicist</PATH> So she was a physicist.
<PATH> Marie Curie -> profession -> chemist</PATH> She was a chemist too. The answer is: physicist, chemist

""",
    """\
Question: who acted in ingmar bergman's film about death and chess?
Graph: [The Seventh Seal -> directed by -> Ingmar Bergman | The Seventh Seal -> starring -> Max von Sydow]
Answer: <PATH> The Seventh Seal -> directed by -> Ingmar Bergman</PATH> So The Seventh Seal is his film.
<PATH> The Seventh Seal -> starring -> Max von Sydow</PATH> So he acted in it. The answer is: Max von Sydow

""",
)
_QUESTION = "Question: {question}\nGraph: [{entities}]\nAnswer: "


class ChainScript(Script):
    """Chains by a general language model, prompted with the graph and worked examples as in table 6.

    The visibility ``auto`` is full where the context has room for the whole graph of the question, else local.
    """

    closes = False

    def __init__(self, search: Search) -> None:
        super().__init__(search)
        self.free_tokens = search.dog.free_tokens
        graph, model = self.resources.token_graph, self.model
        self._constraint = ChainConstraint(graph, self.subgraph, model.stop_ids, model.vocabulary)
        self._room = model.context - min(model.context // 2, self.steps * (64 + self.free_tokens))
        self._style = self._fitting_style()
        room_for(model, self._encoded(""), 1)  # says so where the question alone is too long
        self._whole = self.lines(self.subgraph.links(ends_of(self.pool))) if self.pool else []
        if self.visibility is Visibility.AUTO:
            fits = len(self._encoded(" | ".join(self._whole))) <= self._room
            self.visibility = Visibility.FULL if self._whole and fits else Visibility.LOCAL

    def triples(self, chain: TripleChain, limit: int) -> Generator[Event, None, list[WrittenTriple]]:
        """See ``Script``."""
        prompt = self.prompt(chain)
        behind = chain.notes[-1].tokens if chain.notes else ()
        trie = self._constraint.trie(chain.state)
        room = self.room(prompt, behind) - self.free_tokens
        if not trie.start().alive or room < trie.longest:
            return []
        return (yield from self.search(prompt, behind, trie, [self.label_tokens.end], limit))

    def note(self, chain: TripleChain) -> Generator[Event, None, Note]:
        """The text until the model begins another triple or ends the text."""
        last = chain.written[-1]
        behind = (*last.tokens, *self.label_tokens.end)
        free = self._constraint.free_text(chain.state)
        if not self.free_tokens:
            return Note((*behind, *self.label_tokens.start), "", "", ended=free.closed)
        tokens, _, state = yield from self.write(last.prompt, behind, free, self.free_tokens)
        text = self.plain(tokens[len(behind) :])
        found = _ANSWER_IS.search(text)
        return Note(
            tokens,
            text,
            found.group(1).strip(" .*") if found else "",
            ended=not (isinstance(state, FreeSpan) and state.opened),
        )

    def unconstrained(self, prompt: tuple[int, ...], width: int) -> Iterator[Event]:
        """One chain, the most probable token at a time; what stands between marks is a triple."""
        room = room_for(self.model, prompt, _FREE_TOKENS)
        end = (min(self.model.stop_ids),) if self.model.stop_ids else self.label_tokens.end
        _, text, _ = yield from self.write(prompt, (), FreeText(end), room, constrained=False)
        for index, span in enumerate(_SPAN.findall(PATH_START + text), 1):
            path, verdict = self.resources.verifier.verify_text(span)
            yield PathFound(False, index, span.strip(), 0.0, path)
            yield PathVerified(False, index, verdict)

    def prompt(self, chain: TripleChain) -> tuple[int, ...]:
        """See ``Script``."""
        if self.visibility is Visibility.HIDDEN:
            return self._encoded("")
        if self.visibility is Visibility.FULL:
            lines = self._whole
        else:
            lines = self.lines(self.subgraph.links(chain.state.visited))
        return self._encoded(self.fitting(lines, self._room - len(self._encoded(""))))

    def _encoded(self, graph: str) -> tuple[int, ...]:
        return tuple(self._style.encode(self.label_tokens, self.query.text, [graph]))

    def _fitting_style(self) -> PromptStyle:
        """As many worked examples as leave half of the room to the graph."""
        for count in range(len(_EXAMPLES), -1, -1):
            template = _TASK + "".join(_EXAMPLES[:count]) + _QUESTION
            style = PromptStyle(template, self.model.style.bidirectional)
            if 2 * len(style.encode(self.label_tokens, self.query.text, [])) <= self._room or not count:
                break
        return style


# From chains to verified paths -------------------------------------------------------------------


def paths_of(chain: TripleChain, topics: Sequence[int]) -> list[PathIds]:
    """A chain as paths from the topics: its triples hang together as trees, and each leaf is a path's end.

    The path of the last triple comes first: it is the one the model concluded with.
    """
    by_entity = {topic: PathIds((topic,), ()) for topic in topics}
    leaves: dict[PathIds, None] = {}
    for link in chain.state.links:
        before = by_entity[link.first]
        path = PathIds((*before.entities, *link.path.entities[1:]), (*before.steps, *link.path.steps))
        leaves.pop(before, None)
        leaves[path] = None
        by_entity.setdefault(link.last, path)
    return list(reversed(leaves))


def grounded(
    chains: Sequence[TripleChain], topics: Sequence[int], resources: Resources
) -> Generator[Event, None, list[Evidence]]:
    """Report and verify the chains' paths, best chain first."""
    found: dict[Path, tuple[TripleChain, str]] = {}
    for chain in chains:
        for place, ids in enumerate(paths_of(chain, topics)):
            answer = chain.notes[-1].answer if chain.notes and not place else ""
            found.setdefault(resources.kg.labelled(ids), (chain, answer))
    evidence = []
    for index, (path, (chain, answer)) in enumerate(found.items(), 1):
        beam = chain.written[-1].beam
        verdict = resources.verifier.verify(path, answer or None)  # first, for a store may fail here
        yield PathFound(True, index, str(path), chain.score, path, beam, chain.relation_score)
        if answer:
            yield HypothesisAnswer(True, index, answer)
        yield PathVerified(True, index, verdict)
        detour = resources.kg.is_detour(path)
        evidence.append(Evidence(index, path, answer, chain.score, chain.relation_score, detour=detour))
    return evidence


# The graph of one question -----------------------------------------------------------------------


def question_graph(
    question: str,
    topics: Sequence[int],
    subgraph: QueryGraph,
    labels: EmbeddingCache,
    hops: int,
    limit: int = MAX_TRIPLES,
) -> tuple[IdTriple, ...]:
    """The stored triples that a chain may use, nearest first.

    Args:
        question: what was asked.
        topics: the query entities' ids.
        subgraph: the whole graph, as links.
        labels: embeddings.
        hops: how far from the query entities to look.
        limit: how many triples to keep.
    """
    reached_by: dict[int, Link | None] = dict.fromkeys(topics)
    frontier = list(reached_by)
    near: list[Link] = []
    for _ in range(hops):
        links = _likeliest(question, subgraph.links(frontier), subgraph.kg, labels, _READ_FACTOR * limit)
        near += links
        frontier = []
        for link in links:
            if link.last not in reached_by:
                reached_by[link.last] = link
                frontier.append(link.last)
    return _connected(_ranked(question, near, subgraph.kg, labels, _READ_FACTOR * limit), reached_by, limit)


def text_of(kg: KnowledgeGraph, link: Link) -> str:
    """A link as the embedder reads it: ``(head, relation, tail)`` in the direction it is walked."""
    steps = "-".join(spoken(kg.step_labels[step]) for step in link.path.steps)
    return f"({kg.entities[link.first]}, {steps}, {kg.entities[link.last]})"


def _likeliest(
    question: str, links: Sequence[Link], kg: KnowledgeGraph, labels: EmbeddingCache, limit: int
) -> list[Link]:
    """The links whose relations are most similar to the question; a fair share of each relation first."""
    if len(links) <= limit:
        return list(links)
    walked = dict.fromkeys(link.path.steps for link in links)
    said = {steps: " ".join(spoken(kg.step_labels[step]) for step in steps) for steps in walked}
    relations = [said[link.path.steps] for link in links]
    names = list(dict.fromkeys(relations))
    score = dict(zip(names, labels.similarity(question, names).tolist(), strict=True))
    seen: dict[str, int] = {}
    turns = []
    for relation in relations:
        seen[relation] = seen.get(relation, 0) + 1
        turns.append(seen[relation] // max(limit // 4, 1))  # no relation takes more than a quarter at first
    order = sorted(range(len(links)), key=lambda i: (turns[i], -score[relations[i]]))
    return [links[i] for i in order[:limit]]


def _ranked(question: str, links: Sequence[Link], kg: KnowledgeGraph, labels: EmbeddingCache, limit: int) -> list[Link]:
    """Links by the similarity of the whole triple, best first."""
    read = _likeliest(question, links, kg, labels, limit)
    order = np.argsort(-labels.similarity(question, [text_of(kg, link) for link in read]), kind="stable")
    return [read[i] for i in order]


def _connected(ranked: Sequence[Link], reached_by: dict[int, Link | None], limit: int) -> tuple[IdTriple, ...]:
    """Take links in order, each with those that lead to it, until ``limit`` triples are together."""
    taken: dict[IdTriple, None] = {}
    for link in ranked:
        chain, back = list(link.triples), reached_by[link.first]
        while back is not None:
            chain += back.triples
            back = reached_by[back.first]
        new = [triple for triple in chain if triple not in taken]
        if len(taken) + len(new) <= limit:
            taken.update(dict.fromkeys(new))
    return tuple(taken)
