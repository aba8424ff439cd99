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
from kgdemo.reasoning.grounding.options import Evaluator, GroundingOptions, Strategy
from kgdemo.reasoning.grounding.strategies import Reasoning
from kgdemo.settings import Settings

__all__ = ["Evaluator", "GroundingOptions", "Strategy", "run_agent", "run_exploration"]

_PAPER = "Amayuelas et al. 2025 (Grounding)"
_DEFAULTS = GroundingOptions()


def run_agent(
    question: str,
    topics: Sequence[str],
    world: World,
    settings: Settings,
    strategy: Strategy,
    options: GroundingOptions = _DEFAULTS,
) -> Iterator[Event]:
    """The agent under one strategy."""
    thoughts = Thoughts(world)
    agent = Agent(question, topics, world, settings, thoughts)
    chains = yield from Reasoning(question, world, thoughts, options).run(strategy, agent)
    yield from answer(question, chains, world, settings)


def run_exploration(
    question: str,
    topics: Sequence[str],
    world: World,
    settings: Settings,
    strategy: Strategy,
    options: GroundingOptions = _DEFAULTS,
) -> Iterator[Event]:
    """Automatic Graph Exploration under one strategy."""
    thoughts = Thoughts(world)
    exploration = Exploration(question, topics, world, settings, thoughts, options)
    chains = yield from Reasoning(question, world, thoughts, options).run(strategy, exploration)
    yield from answer(question, chains, world, settings)


@register(
    "agent-cot",
    "Agent, chain of thought",
    _PAPER,
    "Thinks, takes one action on the graph, reads what it says, and thinks on from there.",
)
def agent_cot(question: str, topics: Sequence[str], world: World, settings: Settings) -> Iterator[Event]:
    """Section 4.2.1 under Chain-of-Thought (Graph-CoT)."""
    return run_agent(question, topics, world, settings, Strategy.CHAIN)


@register(
    "agent-tot",
    "Agent, tree of thoughts",
    _PAPER,
    "Tries several actions at each step and goes on with the most promising.",
)
def agent_tot(question: str, topics: Sequence[str], world: World, settings: Settings) -> Iterator[Event]:
    """Section 4.2.1 under Tree-of-Thought."""
    return run_agent(question, topics, world, settings, Strategy.TREE)


@register(
    "agent-got",
    "Agent, graph of thoughts",
    _PAPER,
    "As the tree, and puts chains of thought together where they may add up.",
)
def agent_got(question: str, topics: Sequence[str], world: World, settings: Settings) -> Iterator[Event]:
    """Section 4.2.1 under Graph-of-Thought."""
    return run_agent(question, topics, world, settings, Strategy.GRAPH)


@register(
    "explore-cot",
    "Graph exploration, chain of thought",
    _PAPER,
    "Searches the graph around the entities of each thought, pruning relations, then entities, and thinks on.",
)
def explore_cot(question: str, topics: Sequence[str], world: World, settings: Settings) -> Iterator[Event]:
    """Section 4.2.2 under Chain-of-Thought."""
    return run_exploration(question, topics, world, settings, Strategy.CHAIN)


@register(
    "explore-tot",
    "Graph exploration, tree of thoughts",
    _PAPER,
    "Follows several thoughts at each step, each with its own search, and goes on with the most promising.",
)
def explore_tot(question: str, topics: Sequence[str], world: World, settings: Settings) -> Iterator[Event]:
    """Section 4.2.2 under Tree-of-Thought."""
    return run_exploration(question, topics, world, settings, Strategy.TREE)


@register(
    "explore-got",
    "Graph exploration, graph of thoughts",
    _PAPER,
    "As the tree, and puts the searches of two thoughts together where they may add up.",
)
def explore_got(question: str, topics: Sequence[str], world: World, settings: Settings) -> Iterator[Event]:
    """Section 4.2.2 under Graph-of-Thought."""
    return run_exploration(question, topics, world, settings, Strategy.GRAPH)
