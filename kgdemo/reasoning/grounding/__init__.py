"""Grounding LLM reasoning with knowledge graphs (Amayuelas et al. 2025): six methods.

Two ways for a reasoner to interact with the graph (section 4.2), Agent and Automatic Graph Exploration, each
under Chain-, Tree- and Graph-of-Thought (section 4.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgdemo.events import Event
from kgdemo.reasoning.base import World, register
from kgdemo.reasoning.grounding.agent import Agent
from kgdemo.reasoning.grounding.answering import answer
from kgdemo.reasoning.grounding.chains import Thoughts
from kgdemo.reasoning.grounding.explore import Exploration
from kgdemo.reasoning.grounding.options import OF_SEARCHES, OF_TREES, Evaluator, GroundingOptions, Strategy
from kgdemo.reasoning.grounding.strategies import Interaction, Reasoning
from kgdemo.reasoning.options import chosen
from kgdemo.settings import Settings

__all__ = ["Evaluator", "GroundingOptions", "Strategy"]

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
    (title, section), (told, strategy), name = _WAYS[way], _STRATEGIES[short], f"{way}-{short}"
    without = (*(OF_TREES if strategy is Strategy.CHAIN else ()), *(OF_SEARCHES if way == "agent" else ()))

    @register(
        name,
        f"{title}, {told}",
        _PAPER.format(section),
        _SUMMARIES[name],
        options=GroundingOptions,
        without=without,
    )
    def run(question: str, topics: Sequence[str], world: World, settings: Settings) -> Iterator[Event]:
        options, thoughts = chosen(GroundingOptions, settings.options), Thoughts(world)
        interaction: Interaction = Agent(question, topics, world, settings, thoughts)
        if way == "explore":
            interaction = Exploration(question, topics, world, settings, thoughts, options)
        chains = yield from Reasoning(question, world, thoughts, options).run(strategy, interaction)
        yield from answer(question, chains, world, settings)


for _way in _WAYS:
    for _short in _STRATEGIES:
        _register(_way, _short)
