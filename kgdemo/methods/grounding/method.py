"""Grounding LLM reasoning with knowledge graphs (Amayuelas et al. 2025): six methods; and Graph-CoT beside them.

There are two ways to interact with the graph (section 4.2, ``interactions``), each under Chain, Tree and Graph of
Thought (section 4.1). The answer follows from the question and the chains: a ~ p(a | q, G', z_1…z_n).

Graph chain of thought (Jin et al. 2024, Graph-CoT) uses the agent's four functions. Each iteration has three steps: the
model says what is still missing (*reasoning*), says which functions of the graph give it (*interaction*), and the
functions are run (*execution*). It differs from the agent's chain of thought: thought and calls are asked for apart,
and one thought may lead to several calls. Here, too, the calls that are possible are offered, so that none can be
malformed.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from kgdemo.answering.answer_sets import conclude, show
from kgdemo.events import AnswerDelta, AnswerFinal, Event
from kgdemo.kg.path import Path
from kgdemo.methods.grounding.chains import (
    OF_SEARCHES,
    OF_TREES,
    Action,
    GroundingOptions,
    Strategy,
    ThoughtChain,
    Thoughts,
    Value,
    meet,
)
from kgdemo.methods.grounding.decisions import Decisions, EmbeddingDecisions, LanguageModelDecisions, decisions_for
from kgdemo.methods.grounding.interactions import Agent, Exploration
from kgdemo.methods.hop_lists import HopList, likeliest_first
from kgdemo.methods.registry import register
from kgdemo.query.query import Query
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings, chosen, option

Item = TypeVar("Item")


class Interaction(Protocol):
    """A way to think and to look at the graph in turn (section 4.2)."""

    def begin(self) -> ThoughtChain:
        """The state s_0, before any thought."""
        ...

    def expand(self, chains: Sequence[ThoughtChain], branches: int) -> Generator[Event, None, list[list[ThoughtChain]]]:
        """Grow at most ``branches`` chains from each, by one step: thought, interaction, what the graph said.

        A chain that cannot grow comes back finished.
        """
        ...


@dataclass(slots=True)
class Reasoning:
    """One question under one strategy.

    Args:
        decisions: who rates and merges thoughts.
        thoughts: numbers the thoughts.
        options: how many steps, branches and states.
    """

    decisions: Decisions
    thoughts: Thoughts
    options: GroundingOptions

    def run(self, strategy: Strategy, interaction: Interaction) -> Generator[Event, None, list[ThoughtChain]]:
        """Reason until every chain left is finished or n steps are taken; the chains left, best first.

        Where each decision is a call to a model, a tree also ends when its best chain is finished.
        """
        if strategy is Strategy.CHAIN:
            return (yield from self.chain(interaction))
        return (yield from self.tree(interaction, merging=strategy is Strategy.GRAPH))

    def chain(self, interaction: Interaction) -> Generator[Event, None, list[ThoughtChain]]:
        """Chain-of-Thought: each thought follows from all before it."""
        chain = interaction.begin()
        for _ in range(self.options.steps):
            ((chain,),) = yield from interaction.expand([chain], 1)
            if chain.finished:
                break
        return [chain]

    def tree(self, interaction: Interaction, merging: bool) -> Generator[Event, None, list[ThoughtChain]]:
        """Tree-of-Thought by breadth-first search (equations 1 and 2); with merging, Graph-of-Thought (3)."""
        states = [interaction.begin()]
        for _ in range(self.options.steps):
            open_states = [state for state in states if not state.finished]
            expanded = iter((yield from interaction.expand(open_states, self.options.branches)))
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


_PAPER = "Amayuelas et al. 2025 (Grounding), section {}"
_WAYS = {"agent": ("Agent", "4.2.1"), "explore": ("Graph exploration", "4.2.2")}
_STRATEGIES = {
    "cot": ("chain of thought", Strategy.CHAIN),
    "tot": ("tree of thoughts", Strategy.TREE),
    "got": ("graph of thoughts", Strategy.GRAPH),
}
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


def _register(way: str, short: str) -> None:
    """One way to interact under one strategy."""
    (title, section), (thinking, strategy), name = _WAYS[way], _STRATEGIES[short], f"{way}-{short}"
    without = (*(OF_TREES if strategy is Strategy.CHAIN else ()), *(OF_SEARCHES if way == "agent" else ()))

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
        decisions = decisions_for(query, resources, settings, options)
        interaction: Interaction = Agent(query, resources, settings, decisions, thoughts)
        if way == "explore":
            interaction = Exploration(query, resources, settings, decisions, thoughts, options)
        chains = yield from Reasoning(decisions, thoughts, options).run(strategy, interaction)
        yield from answer(query, chains, decisions, resources, settings)


for _way in _WAYS:
    for _short in _STRATEGIES:
        _register(_way, _short)


def answer(
    query: Query, chains: Sequence[ThoughtChain], decisions: Decisions, resources: Resources, settings: Settings
) -> Iterator[Event]:
    """Show the paths of the chains left, best chain first, and answer from them.

    The paths that a chain finished with come first. Where no chain finished, what they have read is ranked
    (*answer found but not returned* is the paper's commonest error of trees, section 7).
    """
    best = chains[0]
    if best.value is not None and decisions.states_values:
        yield from _from_value(best.value, resources, settings)
        return
    paths = yield from _ordered(query, chains, decisions, resources, settings.beams)
    evidence = yield from show(paths, resources, settings.beams)
    lines = [line for chain in chains[: 1 if best.finished else None] for line in chain.lines]
    # what lies where two hop lists meet is not all that either relation leads to
    whole, task = settings.complete and len(best.answer) < 2, decisions.answer_task(lines)
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
