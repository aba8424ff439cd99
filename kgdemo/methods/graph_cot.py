"""Graph chain of thought (Jin et al. 2024, Graph-CoT): reason, call functions of the graph, read what they return.

Each iteration has three steps: the model says what is still missing (*reasoning*), says which functions of
the graph give it (*interaction*), and the functions are run (*execution*). It differs from the chain of thought of
Grounding's agent, which uses the same four functions: thought and calls are asked for apart, and one thought may lead
to several calls. Here, too, the calls that are possible are offered, so that none can be malformed.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from kgdemo.events import Event
from kgdemo.methods.grounding.chains import Action, GroundingOptions, ThoughtChain, Thoughts
from kgdemo.methods.grounding.decisions import Decisions, EmbeddingDecisions, LanguageModelDecisions
from kgdemo.methods.grounding.interactions import Agent
from kgdemo.methods.grounding.method import answer
from kgdemo.methods.registry import register
from kgdemo.query.query import Query
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings, chosen, option


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
def run(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
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
