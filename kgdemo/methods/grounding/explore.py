"""Automatic Graph Exploration (section 4.2.2, figure 10, algorithm 1): think, find entities, search, prune.

Each thought names entities; around those not visited yet the graph is searched breadth-first. First relations are
pruned, then entities, then attributes, until what was found is enough.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from kgdemo.events import Event
from kgdemo.kg.path import Path
from kgdemo.methods.grounding.chains import GroundingOptions, ThoughtChain, Thoughts, Value, features_of
from kgdemo.methods.grounding.decisions import Decisions, SearchThought
from kgdemo.methods.hop_lists import HopList, named, openings, prune_entities, start, stems
from kgdemo.query.query import Query
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings


@dataclass(slots=True)
class Exploration:
    """See ``strategies.Interaction``.

    Args:
        query: what is asked; its topics are the first anchors.
        resources, settings: the graph, and L.
        decisions: who thinks and prunes.
        thoughts: numbers the thoughts.
        options: widths and depth of the search.
    """

    query: Query
    resources: Resources
    settings: Settings
    decisions: Decisions
    thoughts: Thoughts
    options: GroundingOptions

    def begin(self) -> ThoughtChain:
        """See ``Interaction``: the question's own entities are seen, not visited."""
        anchors = [topic for topic in self.query.topics if topic in self.resources.kg.entities]
        return ThoughtChain(reached=tuple(start(topic) for topic in anchors), gist=(named(anchors),))

    def expand(self, chains: Sequence[ThoughtChain], branches: int) -> Generator[Event, None, list[list[ThoughtChain]]]:
        """See ``Interaction``: thoughts, and a search for each."""
        expanded_chains = []
        for chain in chains:
            expanded_chains.append((yield from self._expand(chain, branches)))
        return expanded_chains

    def _expand(self, chain: ThoughtChain, branches: int) -> Generator[Event, None, list[ThoughtChain]]:
        fresh = self._unvisited(chain)
        thoughts = (yield from self.decisions.think(chain, fresh, branches)) if fresh else []
        expanded_chains = []
        for thought in thoughts:
            said = self.thoughts.add("thought", chain.last, thought.text, tuple(path.end for path in thought.about))
            yield said
            lines = (*chain.lines, f"Thought: {thought.text}")
            after = replace(chain, branch=said.id, last=(said.id,), lines=lines, gist=thought.gist)
            expanded_chains.append((yield from self._explore(after, thought)))
        return expanded_chains or [replace(chain, finished=True)]

    def _explore(self, chain: ThoughtChain, thought: SearchThought) -> Generator[Event, None, ThoughtChain]:
        """GraphExplore: search around the entities of a thought, to the search depth or until that is enough."""
        query = replace(self.query, text=f"{self.query.text} {thought.gist[-1]}")
        frontier: Sequence[Path] = thought.about
        for _ in range(self.options.search_depth):
            found: list[HopList] = []
            values: list[Value] = []
            for path in frontier[: self.options.frontier]:
                if path.end in chain.done:
                    continue
                chain = replace(chain, done=chain.done | {path.end})
                neighbours = openings(path, self.resources, self.settings)
                selected = yield from self.decisions.walk.prune_relations(query, neighbours, self.options.relations)
                pruned = [prune_entities(query, opening, self.resources, self.options.entities) for opening in selected]
                found += yield from deciding.concurrently(self.resources, pruned)
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
            self.resources,
            "attributes",
            self.query,
            self.resources.prompts.text("explore-attributes"),
            texts,
            self.options.entities,
        )
        return [values[i] for i in chosen]

    def _observed(
        self, chain: ThoughtChain, found: Sequence[HopList], values: Sequence[Value]
    ) -> Generator[Event, None, ThoughtChain]:
        """The triples found as an observation; their ends are seen now."""
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
        values = tuple(map(str, chain.values))
        holds, best = yield from self.decisions.walk.enough(self.query, chain.hop_lists, ahead, values)
        if not holds:
            return chain
        answer = (best,) if best else ()
        return replace(chain, finished=True, answer=answer, gist=best.steps if best else chain.gist)

    def _unvisited(self, chain: ThoughtChain) -> list[Path]:
        """Nodes seen that may still be searched around."""
        return [
            path for path in chain.reached if path.end not in chain.done and len(path.relations) < self.settings.hops
        ]
