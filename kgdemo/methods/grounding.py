"""Grounding LLM reasoning with knowledge graphs (Amayuelas et al. 2025): six methods; and Graph-CoT beside them.

There are two ways to interact with the graph (section 4.2), each under Chain, Tree and Graph of Thought (section 4.1).
The answer follows from the question and the chains: a ~ p(a | q, G', z_1…z_n).

The *agent* (section 4.2.1, figure 9) goes by thought, action, what the graph says, and again. The paper's agent writes
its calls as text. Here the calls that are possible in a state are the options of a decision, so none can be malformed
or name a node that does not exist. Of the relations that lead on from the nodes known, those nearest to the question
are offered.

In *automatic graph exploration* (section 4.2.2, figure 10, algorithm 1) each thought names entities; around those not
visited yet the graph is searched breadth-first. First relations are pruned, then entities, then attributes, until what
was found is enough.

Graph chain of thought (Jin et al. 2024, Graph-CoT) uses the agent's four functions. Each iteration has three steps: the
model says what is still missing (*reasoning*), says which functions of the graph give it (*interaction*), and the
functions are run (*execution*). It differs from the agent's chain of thought: thought and calls are asked for apart,
and one thought may lead to several calls.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from kgdemo.answering.answer_sets import conclude, show
from kgdemo.events import AnswerDelta, AnswerFinal, Event
from kgdemo.kg.path import Path
from kgdemo.methods import retrieval
from kgdemo.methods.hop_lists import (
    HopList,
    likeliest_first,
    named,
    nearest,
    openings,
    prune_entities,
    start,
    stems,
    topic_starts,
)
from kgdemo.methods.registry import register
from kgdemo.methods.thought_chains import (
    Action,
    ActionKind,
    Decisions,
    EmbeddingDecisions,
    GroundingOptions,
    LanguageModelDecisions,
    SearchThought,
    ThoughtChain,
    Thoughts,
    Value,
    call,
    checks,
    endings,
    features,
    features_of,
    meet,
    retrievals,
)
from kgdemo.query.query import Query
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings, chosen, option

Item = TypeVar("Item")
_MAX_REACHED = 5  # neighbours of one relation that the agent may go on from; all are read


_PAPER = "Amayuelas et al. 2025 (Grounding), section {}"
_WAYS = {"agent": ("Agent", "4.2.1"), "explore": ("Graph exploration", "4.2.2")}
_STRATEGIES = {"cot": "chain of thought", "tot": "tree of thoughts", "got": "graph of thoughts"}
_SUMMARIES = {
    "agent-cot": "Thinks, takes one action on the graph, reads what it says, and thinks on from there.",
    "agent-tot": "Tries several actions at each step and goes on with the most promising.",
    "agent-got": "As the tree, and puts chains of thought together where they may add up.",
    "explore-cot": "Searches the graph around the entities of each thought, pruning relations, then entities, "
    "and thinks on.",
    "explore-tot": "Follows several thoughts at each step, each with its own search, and goes on with the most "
    "promising.",
    "explore-got": "As the tree, and puts the searches of two thoughts together where they may add up.",
}
_OF_TREES = ("branches", "kept", "evaluator")  # a chain has no branches to grow or keep
_OF_SEARCHES = ("search_depth", "relations", "entities", "frontier")  # the agent does not search


def _register(way: str, strategy: str) -> None:
    """One way to interact under one strategy."""
    (title, section), thinking, name = _WAYS[way], _STRATEGIES[strategy], f"{way}-{strategy}"
    without = (*(_OF_TREES if strategy == "cot" else ()), *(_OF_SEARCHES if way == "agent" else ()))

    @register(
        name,
        f"{title}, {thinking}",
        _PAPER.format(section),
        _SUMMARIES[name],
        options=GroundingOptions,
        without=without,
    )
    def run(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
        options, thoughts = chosen(GroundingOptions, settings.options), Thoughts(resources)
        by = LanguageModelDecisions if resources.reasoner.is_language_model else EmbeddingDecisions
        decisions = by(query, resources, settings, options)
        agent = Agent(query, resources, settings, decisions, thoughts)
        exploration = Exploration(query, resources, settings, decisions, thoughts, options)
        reasoning = Reasoning(agent if way == "agent" else exploration, decisions, thoughts, options)
        chains = yield from reasoning.chain() if strategy == "cot" else reasoning.tree(merging=strategy == "got")
        yield from answer(query, chains, decisions, resources, settings)


for _way in _WAYS:
    for _strategy in _STRATEGIES:
        _register(_way, _strategy)


def answer(
    query: Query, chains: Sequence[ThoughtChain], decisions: Decisions, resources: Resources, settings: Settings
) -> Iterator[Event]:
    """Show the paths of the chains left, best chain first, and answer from them.

    A feature or a count that the best chain finished with is the answer as it stands where no language model puts it
    into words. The paths that a chain finished with come first. Where no chain finished, what they have read is ranked
    (*answer found but not returned* is the paper's commonest error of trees, section 7).
    """
    best = chains[0]
    if best.value is not None and not decisions.asks_a_model:
        yield from _from_value(best.value, resources, settings)
        return
    paths = yield from _ordered(query, chains, decisions, resources, settings.beams)
    evidence = yield from show(paths, resources, settings.beams)
    lines = [line for chain in chains[: 1 if best.finished else None] for line in chain.lines]
    # what lies where two hop lists meet is not all that either relation leads to
    whole = settings.complete and len(best.answer) < 2
    task = resources.prompts.text("answer-thoughts", thoughts="\n".join(lines))
    yield from conclude(query, evidence, resources, directed=settings.directed, whole=whole, task=task)


def _from_value(value: Value, resources: Resources, settings: Settings) -> Iterator[Event]:
    """An answer that is no entity: a feature read or a count, with what was counted as its evidence."""
    paths = [(path, 0.0) for path in value.hop_list.paths] if value.hop_list else []
    evidence = yield from show(paths, resources, settings.beams)
    cited = tuple(e.index for e in evidence)
    text = f"{value.text} " + "".join(f"[{index}]" for index in cited)
    yield AnswerDelta(text.strip())
    yield AnswerFinal(text.strip(), (value.text,), (cited,), resources.reasoner.name)


def _ordered(
    query: Query, chains: Sequence[ThoughtChain], decisions: Decisions, resources: Resources, limit: int
) -> Generator[Event, None, list[tuple[Path, float]]]:
    """Paths with the scores of their chains; those that a chain finished with come before the rest."""
    paths = [
        (path, chain.score) for chain in chains for path in likeliest_first(query, _finished_with(chain), resources)
    ]
    answers = {hop_list for chain in chains for hop_list in chain.answer}
    rest = list(dict.fromkeys(hop_list for chain in chains for hop_list in chain.hop_lists if hop_list not in answers))
    if not paths:
        rest = yield from decisions.rank(rest, limit)
    return [*paths, *((path, 0.0) for hop_list in rest for path in hop_list.paths)]


def _finished_with(chain: ThoughtChain) -> list[Path]:
    """The paths to a chain's answer; where two hop lists meet in it, those that lead there."""
    common = set(meet(chain.answer))
    counted = (chain.value.hop_list,) if chain.value and chain.value.hop_list else ()
    hop_lists: tuple[HopList, ...] = (*chain.answer, *counted)
    return [path for hop_list in hop_lists for path in hop_list.paths if not common or path.end in common]


# Chain, Tree and Graph of Thought (section 4.1) ---------------------------------------------------


@dataclass(slots=True)
class Reasoning:
    """One question under one strategy; the chains left come best first.

    Args:
        interaction: how the graph is looked at.
        decisions: who rates and merges thoughts.
        thoughts: numbers the thoughts.
        options: how many steps, branches and states.
    """

    interaction: Agent | Exploration
    decisions: Decisions
    thoughts: Thoughts
    options: GroundingOptions

    def chain(self) -> Generator[Event, None, list[ThoughtChain]]:
        """Chain-of-Thought: each thought follows from all before it."""
        chain = self.interaction.begin()
        for _ in range(self.options.steps):
            ((chain,),) = yield from self.interaction.expand([chain], 1)
            if chain.finished:
                break
        return [chain]

    def tree(self, merging: bool) -> Generator[Event, None, list[ThoughtChain]]:
        """Tree-of-Thought by breadth-first search (equations 1 and 2); with merging, Graph-of-Thought (3).

        Where each decision is a call to a model, it also ends when its best chain is finished.
        """
        states = [self.interaction.begin()]
        for _ in range(self.options.steps):
            open_states = [state for state in states if not state.finished]
            expanded = iter((yield from self.interaction.expand(open_states, self.options.branches)))
            expanded_chains = [chain for state in states for chain in ([state] if state.finished else next(expanded))]
            candidates = yield from self._without_twins(expanded_chains)
            if merging:
                merged = yield from self._merged(candidates)
                candidates = yield from self._without_twins([*candidates, *merged])
            states = yield from self._selected(candidates)
            if all(state.finished for state in states) or (self.decisions.asks_a_model and states[0].finished):
                break
        return states

    def _selected(self, candidates: Sequence[ThoughtChain]) -> Generator[Event, None, list[ThoughtChain]]:
        """The t best states by the heuristic V(p, s), best first; the others are pruned, with the reason."""
        limit = self.options.kept
        none_finished = not any(chain.finished for chain in candidates)
        if self.decisions.asks_a_model and len(candidates) <= limit and none_finished:
            for chain in candidates:
                yield from self._judged(chain, "kept", f"no more than {limit} states to choose among")
            return list(candidates)
        ranked = yield from self.decisions.rate(candidates, limit)
        order, scores = ranked.order, ranked.scores
        for place, i in enumerate(order, 1):
            reason = f"rated {scores[i]:.2f}, number {place}" if ranked.rated else f"chosen as number {place}"
            yield from self._judged(candidates[i], "kept", reason, scores[i])
        last = f"the last one kept {scores[order[-1]]:.2f}"
        for i in sorted(set(range(len(candidates))) - set(order)):
            reason = f"rated {scores[i]:.2f}, {last}" if ranked.rated else f"not among the {limit} chosen"
            yield from self._judged(candidates[i], "pruned", reason, scores[i])
        return [replace(candidates[i], score=scores[i]) for i in order]

    def _judged(self, chain: ThoughtChain, fate: str, reason: str, score: float = 0.0) -> Iterator[Event]:
        """Emit a chain's newest thought again with its fate; a chain without thoughts has none."""
        if chain.branch:
            yield self.thoughts.judge(chain.branch, fate, reason, score)

    def _without_twins(self, chains: Sequence[ThoughtChain]) -> Generator[Event, None, list[ThoughtChain]]:
        """Chains that know something of their own; two that came to the same knowledge are one."""
        first: dict[object, ThoughtChain] = {}
        for chain in chains:
            twin = first.setdefault(chain.known, chain)
            if twin is not chain:
                yield from self._judged(chain, "pruned", f"comes to no more than thought {twin.branch}")
        return list(first.values())

    def _merged(self, candidates: Sequence[ThoughtChain]) -> Generator[Event, None, list[ThoughtChain]]:
        """A thought out of each two neighbours, floor(n / 2) at each depth (equation 3; appendix E, table 5).

        The thoughts do not depend on each other, so they are asked for at once.
        """
        pairs = []
        for one, other in zip(candidates[::2], candidates[1::2], strict=False):
            met = meet((*one.answer, *other.answer)) if one.answer and other.answer and one.gist != other.gist else ()
            if met or not (one.finished and other.finished):  # else both have ended: no thought follows from the pair
                pairs.append((one, other, met))
        asked = [self.decisions.merge(one, other, _both(one, other)) for one, other, _ in pairs]
        texts = yield from deciding.concurrently(self.thoughts.resources, asked)
        merged = []
        for (one, other, met), text in zip(pairs, texts, strict=True):
            merged.append((yield from self._merge(one, other, met, text)))
        return merged

    def _merge(
        self, one: ThoughtChain, other: ThoughtChain, met: Sequence[str], text: str
    ) -> Generator[Event, None, ThoughtChain]:
        """A(z_a, z_b): what either chain knows, and a thought that follows from both."""
        parents = (*(one.last or ()), *(n for n in other.last if n not in one.last))
        reason = f"of thoughts {one.branch} and {other.branch}"
        thought = self.thoughts.add("thought", parents, text, tuple(met), fate="merged", reason=reason)
        yield thought
        answer = tuple(dict.fromkeys((*one.answer, *other.answer))) if met else ()
        gist = one.gist
        if one.gist != other.gist:
            gist = (*one.gist, *other.gist, f"{one.gist[-1]} and {other.gist[-1]}")
        return ThoughtChain(
            last=(thought.id,),
            branch=thought.id,
            lines=(*_both(one, other), f"Merged: {text}"),
            gist=gist,
            reached=_union(one.reached, other.reached),
            hop_lists=_union(one.hop_lists, other.hop_lists),
            values=_union(one.values, other.values),
            done=one.done | other.done,
            answer=answer,
            finished=bool(answer),
        )


def _both(one: ThoughtChain, other: ThoughtChain) -> tuple[str, ...]:
    """Two chains as a language model reads them."""
    return ("Chain 1:", *one.lines, "Chain 2:", *other.lines)


def _union(one: Iterable[Item], other: Iterable[Item]) -> tuple[Item, ...]:
    return tuple(dict.fromkeys((*one, *other)))


# The agent (section 4.2.1) ------------------------------------------------------------------------


@dataclass(slots=True)
class Agent:
    """Thought, action, observation.

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
        """The state s_0, before any thought."""
        return ThoughtChain()

    def expand(self, chains: Sequence[ThoughtChain], branches: int) -> Generator[Event, None, list[list[ThoughtChain]]]:
        """Grow at most ``branches`` chains from each, by one step: thought, action, then what the graph says.

        A chain that cannot grow comes back finished.
        """
        pending = [self.decisions.act(chain, self._possible(chain), branches) for chain in chains]
        expanded_chains = []
        for chain, steps in zip(chains, (yield from deciding.concurrently(self.resources, pending)), strict=True):
            after = []
            for text, action in steps:
                thinking = yield from self._think(chain, text, action)
                after.append((yield from self._take(thinking, action)))
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
        said = f"The neighbours are {named(hop_list.ends)}."
        after = replace(chain.reaching(hop_list.paths[:_MAX_REACHED]), hop_lists=(*chain.hop_lists, hop_list))
        return said, after, (node, *hop_list.ends[:_MAX_REACHED]), hop_list

    def _retrieve(self, chain: ThoughtChain, keyword: str) -> tuple[str, ThoughtChain, tuple[str, ...], None]:
        found = retrieval.nodes(keyword, self.resources, 1)
        if not found:
            return f"No node is called {keyword}.", chain, (), None
        kind = self.resources.kg.info[found[0]].type if found[0] in self.resources.kg.info else ""
        said = f"The node is {found[0]}{f' ({kind})' if kind else ''}."
        return said, chain.reaching([start(found[0])]), (found[0],), None


# Automatic graph exploration (section 4.2.2) ------------------------------------------------------


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
    """Thoughts, and a search in the graph for each.

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
        """The state s_0: the question's own entities are seen, not visited."""
        anchors = topic_starts(self.query, self.resources)
        return ThoughtChain(reached=tuple(anchors), gist=(named([path.end for path in anchors]),))

    def expand(self, chains: Sequence[ThoughtChain], branches: int) -> Generator[Event, None, list[list[ThoughtChain]]]:
        """As for the agent: thoughts, and a search for each, all side by side."""
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
        return replace(
            chain.reaching(path for hop_list in found for path in hop_list.paths),
            last=(observation.id,),
            lines=(*chain.lines, *(f"Found: {line}" for line in said)),
            hop_lists=tuple(dict.fromkeys((*chain.hop_lists, *found))),
            values=(*chain.values, *values),
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


# Graph-CoT ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GraphCotOptions:
    """What can be chosen about it."""

    steps: int = option(10, "iterations at the most", minimum=1, maximum=30, public=10)
    calls: int = option(2, "functions called for one thought", minimum=1, maximum=10, public=3)


class _ReasonThenCall(LanguageModelDecisions):
    """The decisions of a language model, with a thought of its own before the calls."""

    def act(
        self, chain: ThoughtChain, actions: Sequence[Action], branches: int
    ) -> Generator[Event, None, list[tuple[str, Action]]]:
        """See ``Decisions``: reasoning, then interaction."""
        task = self._task("graph-cot")
        thought = yield from deciding.think(self.resources, self.query, task, chain.lines)
        thinking = replace(chain, lines=(*chain.lines, f"Thought: {thought}"))
        calls = yield from super().act(thinking, actions, branches)
        return [(thought, action) for _, action in calls]


@register(
    "graph-cot",
    "Graph-CoT",
    "Jin et al. 2024 (Graph-CoT)",
    "Says what is missing, calls functions of the graph that give it, reads what they return, and reasons on.",
    options=GraphCotOptions,
)
def graph_cot(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """Iterations until the model finishes, or their number is reached; then the answer from what was read."""
    options, thoughts = chosen(GraphCotOptions, settings.options), Thoughts(resources)
    asks_a_model = resources.reasoner.is_language_model
    by = _ReasonThenCall if asks_a_model else EmbeddingDecisions
    decisions: Decisions = by(query, resources, settings, GroundingOptions())
    agent = Agent(query, resources, settings, decisions, thoughts)
    chain = agent.begin()
    for _ in range(options.steps):
        chain = yield from agent.step(chain, options.calls if asks_a_model else 1)
        if chain.finished:
            break
    yield from answer(query, [chain], decisions, resources, settings)
