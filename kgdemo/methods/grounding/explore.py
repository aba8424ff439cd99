"""Automatic Graph Exploration (section 4.2.2, figure 10, algorithm 1): think, find entities, search, prune.

Each thought names entities; around those not visited yet the graph is searched breadth-first, with the
reasoner pruning first relations, then entities, then attributes, until what was found is enough.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from kgdemo.events import Event
from kgdemo.kg.labels import fold
from kgdemo.kg.path import Path
from kgdemo.methods import retrieval
from kgdemo.methods.grounding import tasks
from kgdemo.methods.grounding.chains import GroundingOptions, ThoughtChain, Thoughts, Value, features_of
from kgdemo.methods.hop_lists import (
    HopList,
    enough,
    named,
    nearest,
    openings,
    prune_entities,
    prune_relations,
    start,
    stems,
)
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings


@dataclass(frozen=True, slots=True)
class _Thought:
    """A thought and the nodes that it names, each by the path that led there."""

    text: str
    about: tuple[Path, ...]
    gist: tuple[str, ...]


@dataclass(slots=True)
class Exploration:
    """See ``strategies.Interaction``.

    Args:
        question, topics: what is asked, and the entities that linking found in it: the first anchors.
        resources, settings: the graph, the reasoner, L.
        thoughts: numbers the thoughts.
        options: widths and depth of the search.
    """

    question: str
    topics: Sequence[str]
    resources: Resources
    settings: Settings
    thoughts: Thoughts
    options: GroundingOptions

    def begin(self) -> ThoughtChain:
        """See ``Interaction``: the question's own entities are seen, not visited."""
        anchors = [topic for topic in self.topics if topic in self.resources.kg.entities]
        return ThoughtChain(reached=tuple(start(topic) for topic in anchors), gist=(named(anchors),))

    def expand(self, chain: ThoughtChain, branches: int) -> Generator[Event, None, list[ThoughtChain]]:
        """See ``Interaction``: thoughts, and a search for each."""
        fresh = self._unvisited(chain)
        prose = deciding.writes_prose(self.resources.reasoner)
        think = self._written if prose else self._compared
        thoughts = (yield from think(chain, fresh, branches)) if fresh else []
        grown = []
        for thought in thoughts:
            said = self.thoughts.add("thought", chain.last, thought.text, tuple(path.end for path in thought.about))
            yield said
            lines = (*chain.lines, f"Thought: {thought.text}")
            after = replace(chain, branch=said.id, last=(said.id,), lines=lines, gist=thought.gist)
            grown.append((yield from self._explore(after, thought)))
        return grown or [replace(chain, finished=True)]

    # thoughts ----------------------------------------------------------------------------------

    def _written(
        self, chain: ThoughtChain, fresh: Sequence[Path], branches: int
    ) -> Generator[Event, None, list[_Thought]]:
        """A language model writes thoughts and finds the entities in them (Search Thought, Entity Extraction)."""
        thoughts: list[_Thought] = []
        for _ in range(branches):
            task = tasks.another(tasks.SEARCH_THOUGHT, [thought.text for thought in thoughts])
            text = yield from deciding.think(self.resources, self.question, task, chain.lines)
            listed = yield from deciding.plan(self.resources, text, tasks.ENTITIES)
            named_now = self._found(listed, chain)
            about = [path for path in named_now if path.end not in chain.done] or list(fresh)
            thoughts.append(_Thought(text, tuple(about[: self.options.frontier]), (text,)))
        return thoughts

    def _found(self, listed: str, chain: ThoughtChain) -> list[Path]:
        """Nodes called as listed: those seen already, else those of the graph with that very name."""
        seen = {fold(path.end): path for path in chain.reached}
        found = []
        for name in (part.strip(" -.\"'") for part in re.split(r"[;\n]", listed)):
            if fold(name) in seen:
                found.append(seen[fold(name)])
            elif name:
                labels = retrieval.nodes(name, self.resources, 1)
                found += [start(label) for label in labels if fold(label) == fold(name)]
        return list(dict.fromkeys(found))

    def _compared(
        self, chain: ThoughtChain, fresh: Sequence[Path], branches: int
    ) -> Generator[Event, None, list[_Thought]]:
        """Without a language model a thought is the wish to know what a relation near the question leads to."""
        ahead = [opening for path in fresh for opening in openings(path, self.resources, self.settings)]
        offered = nearest(self.question, ahead, self.resources)
        steps = [opening.steps for opening in offered]
        scores = yield from deciding.compare(self.resources, "thoughts", self.question, steps, branches)
        chosen = [offered[i] for i in deciding.best(scores, branches)]
        return [_Thought(f"See where {opening.stem} leads.", (opening.path,), opening.steps) for opening in chosen]

    # algorithm 1 -------------------------------------------------------------------------------

    def _explore(self, chain: ThoughtChain, thought: _Thought) -> Generator[Event, None, ThoughtChain]:
        """GraphExplore: search around the entities of a thought, to the search depth or until that is enough."""
        query = f"{self.question} {thought.gist[-1]}"
        frontier: Sequence[Path] = thought.about
        for _ in range(self.options.search_depth):
            found: list[HopList] = []
            values: list[Value] = []
            for path in frontier[: self.options.frontier]:
                if path.end in chain.done:
                    continue
                chain = replace(chain, done=chain.done | {path.end})
                neighbours = openings(path, self.resources, self.settings)
                kept = yield from prune_relations(query, neighbours, self.resources, self.options.relations)
                for opening in kept:
                    found.append((yield from prune_entities(query, opening, self.resources, self.options.entities)))
                values += yield from self._attributes(path)
            chain = yield from self._observed(chain, found, values)
            if not found and not values:
                break
            chain = yield from self._checked(chain)
            if chain.finished:
                break
            frontier = [path for hop_list in found for path in hop_list.paths]
        return chain

    def _attributes(self, path: Path) -> Generator[Event, None, list[Value]]:
        """The attributes of a node that matter (Search Attributes)."""
        known = features_of(path.end, self.resources.kg).items()
        values = [Value(path.end, name, text, (*stems(path), f"{path} -> {name}")) for name, text in known]
        texts = [str(value) for value in values]
        chosen = yield from deciding.select(
            self.resources, "attributes", self.question, tasks.ATTRIBUTES, texts, self.options.entities
        )
        return [values[i] for i in chosen]

    def _observed(
        self, chain: ThoughtChain, found: Sequence[HopList], values: Sequence[Value]
    ) -> Generator[Event, None, ThoughtChain]:
        """The triples found, told; their ends are seen now."""
        said = [*map(str, found), *map(str, values)] or ["Nothing new was found."]
        entities = tuple(dict.fromkeys(end for hop_list in found for end in hop_list.ends))
        triples = tuple(triple for hop_list in found for triple in hop_list.triples)
        observation = self.thoughts.add("observation", chain.last, "; ".join(said), entities, triples)
        yield observation
        known = {path.end for path in chain.reached}
        paths = {path.end: path for hop_list in found for path in hop_list.paths if path.end not in known}
        return replace(
            chain,
            last=(observation.id,),
            lines=(*chain.lines, *(f"Found: {line}" for line in said)),
            hop_lists=tuple(dict.fromkeys((*chain.hop_lists, *found))),
            values=(*chain.values, *values),
            reached=(*chain.reached, *paths.values()),
        )

    def _checked(self, chain: ThoughtChain) -> Generator[Event, None, ThoughtChain]:
        """End?: whether what was found answers the question."""
        ahead = [o for path in self._unvisited(chain) for o in openings(path, self.resources, self.settings)]
        holds, best = yield from enough(
            self.question, chain.hop_lists, ahead, self.resources, tuple(map(str, chain.values))
        )
        if not holds:
            return chain
        answer = (best,) if best else ()
        return replace(chain, finished=True, answer=answer, gist=best.steps if best else chain.gist)

    def _unvisited(self, chain: ThoughtChain) -> list[Path]:
        """Nodes seen that may still be searched around."""
        return [
            path for path in chain.reached if path.end not in chain.done and len(path.relations) < self.settings.hops
        ]
