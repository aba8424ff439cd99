"""The two scripts by which a language model writes a chain of triples.

``PathScript`` is for a model that was trained to write reasoning paths. Such a model has never seen a linearised graph
or a triple that stands alone. For each entity that the chain has visited it is shown the path that led there, in the
form it was trained on, and what it writes next is the triple (equation 3, with the path as the generation so far).
Behind each triple it may go on with an arrow or end the path; a chain is finished with the probability of the end, and
goes on with that of the arrow. What it writes behind the end is its hypothesis answer.

``ChainScript`` is the paper's: a general language model, prompted with the graph and worked examples (table 6).
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence

from kgdemo.constraint.base import FreeText
from kgdemo.constraint.label_tokens import PATH_END, PATH_START
from kgdemo.constraint.triple_chains import (
    ChainConstraint,
    FreeSpan,
    FreeUntilMark,
    Link,
    QueryGraph,
    TripleTokens,
    TripleTrie,
    watch_for,
)
from kgdemo.decoding.base import BeamSettings
from kgdemo.events import WITHOUT_GRAPH, Event, PathFound, PathVerified
from kgdemo.kg.graph import IdTriple
from kgdemo.methods.dog.chains import TRIPLE_TOKENS, Note, TripleChain, Visibility, Watching, Writing, Written, ends_of
from kgdemo.methods.search_branch import ANSWER_TOKENS, room_for, unconstrained_branch, written_freely
from kgdemo.models.prompt_style import PromptStyle
from kgdemo.query.query import Query
from kgdemo.reasoners.base import Resources

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


class PathScript(Writing):
    """Chains by a model that was trained on reasoning paths.

    Args:
        resources, query, subgraph, watching, limits: see ``Writing``.
        hops: the longest path from a query entity.
        steps: the most triples a chain may have (T).
        visibility: what of the graph to put behind the entities in the prompt.
        pool: the question's graph, nearest triples first.
    """

    closes = True

    def __init__(
        self,
        resources: Resources,
        query: Query,
        subgraph: QueryGraph,
        watching: Watching,
        limits: BeamSettings,
        *,
        hops: int,
        steps: int,
        visibility: Visibility,
        pool: Sequence[IdTriple],
    ) -> None:
        super().__init__(resources, query, subgraph, watching, limits)
        self.hops, self.steps, self.visibility, self.pool = hops, steps, visibility, pool
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], list[Written]] = {}

    def triples(self, chain: TripleChain, limit: int) -> Generator[Event, None, list[Written]]:
        """See ``Script``: behind the topics, and behind every path of the chain that may grow."""
        prompt = self.prompt(chain)
        found: dict[tuple[IdTriple, ...], Written] = {}
        for behind, heads, left in self._stems(chain):
            for triple in (yield from self._behind(prompt, behind, heads, left, limit + self.steps - 1)):
                known = found.get(triple.link.triples)
                if chain.state.used.isdisjoint(triple.link.triples) and (known is None or triple.score > known.score):
                    found[triple.link.triples] = triple
        return sorted(found.values(), key=lambda w: -w.score)[:limit]

    def note(self, chain: TripleChain) -> Generator[Event, None, Note]:
        """See ``Script``: the hypothesis answer behind the end of the path."""
        last = chain.written[-1]
        mark = self.label_tokens.special(self.model.style.answer_mark) if self.model.style.answer_mark else ()
        behind = (*last.tokens, *self.label_tokens.end, *mark)
        free = FreeUntilMark(watch_for(self.label_tokens), self.model.stop_ids, self.model.vocabulary, closed=True)
        tokens, _, _ = yield from self.write(last.prompt, behind, free, ANSWER_TOKENS)
        text = self.plain(tokens[len(behind) :])
        return Note(tokens, text, text, ended=True)

    def unconstrained(self, prompt: tuple[int, ...], width: int) -> Iterator[Event]:
        """See ``Script``: whole paths, as GCR's search without the constraint."""
        yield from written_freely(unconstrained_branch(self.model, prompt, width), self.resources, width, WITHOUT_GRAPH)

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
    ) -> Generator[Event, None, list[Written]]:
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
            entities.append(self.fitting(self.lines(links, self.pool), room))
        return tuple(style.encode(self.label_tokens, self.query.text, entities))


class ChainScript(Writing):
    """Chains by a general language model, prompted as in table 6.

    Args:
        resources, query, subgraph, watching, limits: see ``Writing``.
        constraint: the well-formed chains.
        visibility: ``full`` or ``local``; ``auto`` is full where the context has room for it.
        pool: the question's graph, nearest triples first.
        free_tokens: longest text between two triples; 0: no text, triples only.
        steps: the most triples a chain may have (T).
    """

    closes = False

    def __init__(
        self,
        resources: Resources,
        query: Query,
        subgraph: QueryGraph,
        watching: Watching,
        limits: BeamSettings,
        *,
        constraint: ChainConstraint,
        visibility: Visibility,
        pool: Sequence[IdTriple],
        free_tokens: int,
        steps: int,
    ) -> None:
        super().__init__(resources, query, subgraph, watching, limits)
        self.constraint, self.pool, self.free_tokens = constraint, pool, free_tokens
        self._room = self.model.context - min(self.model.context // 2, steps * (64 + free_tokens))
        self._style = self._fitting_style()
        room_for(self.model, self._encoded(""), 1)  # says so where the question alone is too long
        self._whole = self.lines(subgraph.links(ends_of(pool)), pool) if pool else []
        if visibility is Visibility.AUTO:
            fits = len(self._encoded(" | ".join(self._whole))) <= self._room
            visibility = Visibility.FULL if self._whole and fits else Visibility.LOCAL
        self.visibility = visibility

    def triples(self, chain: TripleChain, limit: int) -> Generator[Event, None, list[Written]]:
        """See ``Script``."""
        prompt = self.prompt(chain)
        behind = chain.notes[-1].tokens if chain.notes else ()
        trie = self.constraint.trie(chain.state)
        room = self.room(prompt, behind) - self.free_tokens
        if not trie.start().alive or room < trie.longest:
            return []
        return (yield from self.search(prompt, behind, trie, [self.label_tokens.end], limit))

    def note(self, chain: TripleChain) -> Generator[Event, None, Note]:
        """See ``Script``: until the model begins another triple or ends the text."""
        last = chain.written[-1]
        behind = (*last.tokens, *self.label_tokens.end)
        free = self.constraint.free_text(chain.state)
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
        """See ``Script``: one chain, the most probable token at a time; what stands between marks is a triple."""
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
            lines = self.lines(self.subgraph.links(chain.state.visited), self.pool)
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
