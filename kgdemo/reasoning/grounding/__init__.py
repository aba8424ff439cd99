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
_AGENT, _EXPLORE = "4.2.1", "4.2.2"
_METHODS = (
    (
        "agent-cot",
        "Agent, chain of thought",
        "Thinks, takes one action on the graph, reads what it says, and thinks on from there.",
        _AGENT,
        Strategy.CHAIN,
    ),
    (
        "agent-tot",
        "Agent, tree of thoughts",
        "Tries several actions at each step and goes on with the most promising.",
        _AGENT,
        Strategy.TREE,
    ),
    (
        "agent-got",
        "Agent, graph of thoughts",
        "As the tree, and puts chains of thought together where they may add up.",
        _AGENT,
        Strategy.GRAPH,
    ),
    (
        "explore-cot",
        "Graph exploration, chain of thought",
        "Searches the graph around the entities of each thought, pruning relations, then entities, and thinks on.",
        _EXPLORE,
        Strategy.CHAIN,
    ),
    (
        "explore-tot",
        "Graph exploration, tree of thoughts",
        "Follows several thoughts at each step, each with its own search, and goes on with the most promising.",
        _EXPLORE,
        Strategy.TREE,
    ),
    (
        "explore-got",
        "Graph exploration, graph of thoughts",
        "As the tree, and puts the searches of two thoughts together where they may add up.",
        _EXPLORE,
        Strategy.GRAPH,
    ),
)


def _register(name: str, title: str, summary: str, section: str, strategy: Strategy) -> None:
    """One way to interact under one strategy."""
    without = (*(OF_TREES if strategy is Strategy.CHAIN else ()), *(OF_SEARCHES if section == _AGENT else ()))

    @register(name, title, _PAPER.format(section), summary, options=GroundingOptions, without=without)
    def run(question: str, topics: Sequence[str], world: World, settings: Settings) -> Iterator[Event]:
        options, thoughts = chosen(GroundingOptions, settings.options), Thoughts(world)
        interaction: Interaction = Agent(question, topics, world, settings, thoughts)
        if section == _EXPLORE:
            interaction = Exploration(question, topics, world, settings, thoughts, options)
        chains = yield from Reasoning(question, world, thoughts, options).run(strategy, interaction)
        yield from answer(question, chains, world, settings)


for _method in _METHODS:
    _register(*_method)
