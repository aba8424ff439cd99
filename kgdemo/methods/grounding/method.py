"""Grounding LLM reasoning with knowledge graphs (Amayuelas et al. 2025): six methods.

There are two ways to interact with the graph (section 4.2), Agent and Automatic Graph Exploration, each under Chain,
Tree and Graph of Thought (section 4.1). The answer follows from the question and the chains: a ~ p(a | q, G', z_1…z_n).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from kgdemo.answering.answer_sets import conclude, show
from kgdemo.events import AnswerDelta, AnswerFinal, Event
from kgdemo.kg.path import Path
from kgdemo.methods.grounding.agent import Agent
from kgdemo.methods.grounding.chains import (
    OF_SEARCHES,
    OF_TREES,
    GroundingOptions,
    Strategy,
    ThoughtChain,
    Thoughts,
    Value,
    meet,
)
from kgdemo.methods.grounding.decisions import Decisions, decisions_for
from kgdemo.methods.grounding.explore import Exploration
from kgdemo.methods.grounding.strategies import Interaction, Reasoning
from kgdemo.methods.hop_lists import HopList, likeliest_first
from kgdemo.methods.registry import register
from kgdemo.query.query import Query
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings, chosen

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
