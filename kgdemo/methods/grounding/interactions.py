"""The two ways to interact with the graph (section 4.2): the Agent, and Automatic Graph Exploration.

The agent (figure 9) goes by thought, action, what the graph says, and again. The paper's agent writes its calls as
text. Here the calls that are possible in a state are the options of a decision, so none can be malformed or name a
node that does not exist. Of the relations that lead on from the nodes known, those nearest to the question are
offered.

In the exploration (figure 10, algorithm 1) each thought names entities; around those not visited yet the graph is
searched breadth-first. First relations are pruned, then entities, then attributes, until what was found is enough.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace

from kgdemo.events import Event
from kgdemo.kg.path import Path
from kgdemo.methods import retrieval
from kgdemo.methods.grounding.chains import (
    Action,
    ActionKind,
    GroundingOptions,
    ThoughtChain,
    Thoughts,
    Value,
    call,
    checks,
    endings,
    features,
    features_of,
    retrievals,
)
from kgdemo.methods.grounding.decisions import Decisions, SearchThought
from kgdemo.methods.hop_lists import HopList, named, nearest, openings, prune_entities, start, stems
from kgdemo.query.query import Query
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings

_MAX_REACHED = 5  # neighbours of one relation that the agent may go on from; all are read


@dataclass(slots=True)
class Agent:
    """See ``method.Interaction``.

    Args:
        query: what is asked; its topics are the keywords of RetrieveNode.
        resources, settings: the graph, and L.
        decisions: who thinks and acts.
        thoughts: numbers the thoughts.
    """

    query: Query
    resources: Resources
    settings: Settings
    decisions: Decisions
    thoughts: Thoughts

    def begin(self) -> ThoughtChain:
        """See ``Interaction``."""
        return ThoughtChain()

    def expand(self, chains: Sequence[ThoughtChain], branches: int) -> Generator[Event, None, list[list[ThoughtChain]]]:
        """See ``Interaction``: thoughts and their actions, then what the graph says to each."""
        pending = [self.decisions.act(chain, self._possible(chain), branches) for chain in chains]
        expanded_chains = []
        for chain, steps in zip(chains, (yield from deciding.concurrently(self.resources, pending)), strict=True):
            after = []
            for text, action in steps:
                after.append((yield from self._act(chain, text, action)))
            expanded_chains.append(after or [replace(chain, finished=True)])
        return expanded_chains

    def step(self, chain: ThoughtChain, calls: int) -> Generator[Event, None, ThoughtChain]:
        """One step of a single chain: a thought and at most ``calls`` actions, one after another, until one finishes.

        A chain that cannot grow comes back finished.
        """
        steps = yield from self.decisions.act(chain, self._possible(chain), calls)
        if not steps:
            return replace(chain, finished=True)
        chain = yield from self._think(chain, *steps[0])
        for _, action in steps:
            chain = yield from self._take(chain, action)
            if chain.finished:
                break
        return chain

    def _possible(self, chain: ThoughtChain) -> list[Action]:
        """The calls that make sense in a state."""
        ahead = [
            opening
            for path in chain.reached
            for opening in openings(path, self.resources, self.settings)
            if call(ActionKind.CHECK, path.end, opening.relation) not in chain.done
        ]
        likely = nearest(self.query, ahead, self.resources)
        return [
            *retrievals(chain, self.query.topics),
            *checks(likely, chain, self.query),
            *features(chain, self.resources.kg),
            *endings(chain),
        ]

    def _act(self, chain: ThoughtChain, text: str, action: Action) -> Generator[Event, None, ThoughtChain]:
        """One step: the thought, the action, and the chain with the observation."""
        return (yield from self._take((yield from self._think(chain, text, action)), action))

    def _think(self, chain: ThoughtChain, text: str, action: Action) -> Generator[Event, None, ThoughtChain]:
        """A thought that an action follows from."""
        thought = self.thoughts.add("thought", chain.last, text, action.arguments[:1] if action.opening else ())
        yield thought
        return replace(chain, branch=thought.id, last=(thought.id,), lines=(*chain.lines, f"Thought: {text}"))

    def _take(self, chain: ThoughtChain, action: Action) -> Generator[Event, None, ThoughtChain]:
        """An action, and the chain with the observation."""
        taken = self.thoughts.add("action", chain.last, str(action))
        yield taken
        lines, done = (*chain.lines, f"Action: {action}"), chain.done | {str(action)}
        after = replace(chain, last=(taken.id,), lines=lines, gist=action.steps, done=done)
        if action.kind is ActionKind.FINISH:
            return replace(after, answer=action.answer, value=action.value, finished=True)
        said, after, entities, hop_list = self._observe(after, action)
        triples = hop_list.triples if hop_list else ()
        observation = self.thoughts.add("observation", (taken.id,), said, entities, triples)
        yield observation
        return replace(after, last=(observation.id,), lines=(*after.lines, f"Observation: {said}"))

    def _observe(
        self, chain: ThoughtChain, action: Action
    ) -> tuple[str, ThoughtChain, tuple[str, ...], HopList | None]:
        """Read the graph: what it says, the chain that knows it, the nodes touched, the triples read."""
        node = action.arguments[0]
        if action.kind is ActionKind.RETRIEVE:
            return self._retrieve(chain, node)
        if action.kind is ActionKind.FEATURE:
            feature = action.arguments[1]
            value = Value(node, feature, features_of(node, self.resources.kg)[feature], action.steps)
            return f"{value}.", replace(chain, values=(*chain.values, value)), (node,), None
        assert action.opening is not None
        hop_list = action.opening.follow()
        if action.kind is ActionKind.DEGREE:
            value = Value(
                node, f"number of “{action.opening.relation}”", str(len(hop_list.paths)), action.steps, hop_list
            )
            return f"{value}.", replace(chain, values=(*chain.values, value)), (node,), hop_list
        reached = self._reached(chain, hop_list.paths[:_MAX_REACHED])
        said = f"The neighbours are {named(hop_list.ends)}."
        after = replace(chain, hop_lists=(*chain.hop_lists, hop_list), reached=reached)
        return said, after, (node, *hop_list.ends[:_MAX_REACHED]), hop_list

    def _retrieve(self, chain: ThoughtChain, keyword: str) -> tuple[str, ThoughtChain, tuple[str, ...], None]:
        found = retrieval.nodes(keyword, self.resources, 1)
        if not found:
            return f"No node is called {keyword}.", chain, (), None
        kind = self.resources.kg.info[found[0]].type if found[0] in self.resources.kg.info else ""
        said = f"The node is {found[0]}{f' ({kind})' if kind else ''}."
        return said, replace(chain, reached=self._reached(chain, [start(found[0])])), (found[0],), None

    def _reached(self, chain: ThoughtChain, paths: Sequence[Path]) -> tuple[Path, ...]:
        """The nodes known with some more, each by the first path that led there."""
        known = {path.end for path in chain.reached}
        return (*chain.reached, *(path for path in paths if path.end not in known))


@dataclass(slots=True)
class _Search:
    """The search of one thought.

    Attributes:
        query: the question with the thought behind it.
        chain: the chain that it grows.
        frontier: the nodes to search around next.
        found, values: what the last hop brought.
        ended: nothing new was found, or it is enough.
    """

    query: Query
    chain: ThoughtChain
    frontier: Sequence[Path]
    found: list[HopList] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    ended: bool = False

    def next_nodes(self, limit: int) -> list[Path]:
        """The nodes of the next hop, each searched around once in a chain; what the last hop brought is done with."""
        self.found, self.values = [], []
        fresh: dict[str, Path] = {}
        for path in self.frontier[:limit]:
            if path.end not in self.chain.done:
                fresh.setdefault(path.end, path)
        self.chain = replace(self.chain, done=self.chain.done | fresh.keys())
        return list(fresh.values())


@dataclass(slots=True)
class Exploration:
    """See ``method.Interaction``.

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
        """See ``Interaction``: thoughts, and a search for each, all side by side."""
        pending = [self._thoughts(chain, branches) for chain in chains]
        searches: list[list[_Search]] = []
        for chain, thoughts in zip(chains, (yield from deciding.concurrently(self.resources, pending)), strict=True):
            searches.append([])
            for thought in thoughts:
                searches[-1].append((yield from self._begun(chain, thought)))
        yield from self._explore([search for own in searches for search in own])
        grown = [[search.chain for search in own] for own in searches]
        return [own or [replace(chain, finished=True)] for chain, own in zip(chains, grown, strict=True)]

    def _thoughts(self, chain: ThoughtChain, branches: int) -> Generator[Event, None, list[SearchThought]]:
        """What to look for next, while there are nodes that were not searched around."""
        fresh = self._unvisited(chain)
        return (yield from self.decisions.think(chain, fresh, branches)) if fresh else []

    def _begun(self, chain: ThoughtChain, thought: SearchThought) -> Generator[Event, None, _Search]:
        """The search of a thought."""
        said = self.thoughts.add("thought", chain.last, thought.text, tuple(path.end for path in thought.about))
        yield said
        lines = (*chain.lines, f"Thought: {thought.text}")
        after = replace(chain, branch=said.id, last=(said.id,), lines=lines, gist=thought.gist)
        return _Search(replace(self.query, text=f"{self.query.text} {thought.gist[-1]}"), after, thought.about)

    def _explore(self, searches: Sequence[_Search]) -> Iterator[Event]:
        """GraphExplore: search around the entities of thoughts, to the search depth or until that is enough.

        The searches of several thoughts do not depend on each other, so they go a hop at a time, all together.
        """
        for _ in range(self.options.search_depth):
            yield from self._one_hop([search for search in searches if not search.ended])
            going_on = [search for search in searches if not search.ended]
            checks = [self._checked(search.chain) for search in going_on]
            checked = yield from deciding.concurrently(self.resources, checks)
            for search, chain in zip(going_on, checked, strict=True):
                search.chain, search.ended = chain, chain.finished
            if all(search.ended for search in searches):
                break

    def _one_hop(self, searches: Sequence[_Search]) -> Iterator[Event]:
        """Relations, then entities, then attributes around the frontiers; a search that finds nothing has ended."""
        nodes = [(search, path) for search in searches for path in search.next_nodes(self.options.frontier)]
        choices = [
            self.decisions.walk.prune_relations(
                search.query, openings(path, self.resources, self.settings), self.options.relations
            )
            for search, path in nodes
        ]
        selected = yield from deciding.concurrently(self.resources, choices)
        ahead = [(search, opening) for (search, _), own in zip(nodes, selected, strict=True) for opening in own]
        pruned = [
            prune_entities(search.query, opening, self.resources, self.options.entities) for search, opening in ahead
        ]
        found = yield from deciding.concurrently(self.resources, pruned)
        for (search, _), hop_list in zip(ahead, found, strict=True):
            search.found.append(hop_list)
        attributes = [self._attributes(path) for _, path in nodes]
        for (search, _), values in zip(
            nodes, (yield from deciding.concurrently(self.resources, attributes)), strict=True
        ):
            search.values += values
        for search in searches:
            search.chain = yield from self._observed(search.chain, search.found, search.values)
            search.ended = not (search.found or search.values)
            search.frontier = [path for hop_list in search.found for path in hop_list.paths]

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
