"""From chains of thought to an answer: a ~ p(a | q, G', z_1…z_n) (section 4.1)."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from kgdemo.answering.answer_sets import conclude, show
from kgdemo.events import AnswerDelta, AnswerFinal, Event
from kgdemo.kg.path import Path
from kgdemo.methods.grounding import tasks
from kgdemo.methods.grounding.agent import Agent
from kgdemo.methods.grounding.chains import (
    OF_SEARCHES,
    OF_TREES,
    Evaluator,
    GroundingOptions,
    Strategy,
    ThoughtChain,
    Thoughts,
    Value,
    meet,
)
from kgdemo.methods.grounding.explore import Exploration
from kgdemo.methods.grounding.strategies import Interaction, Reasoning
from kgdemo.methods.hop_lists import HopList, likeliest_first
from kgdemo.methods.registry import register
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Evidence, Resources
from kgdemo.settings import Settings, chosen


def answer(question: str, chains: Sequence[ThoughtChain], resources: Resources, settings: Settings) -> Iterator[Event]:
    """Show the paths of the chains left, best chain first, and answer from them.

    The paths that a chain finished with come first; a chain that never finished has its trails ranked by
    the reasoner (*answer found but not returned* is the paper's commonest error of trees, section 7).
    """
    prose = deciding.writes_prose(resources.reasoner)
    best = chains[0]
    if best.value is not None and not prose:
        yield from _from_value(best.value, resources, settings)
        return
    paths = yield from _ordered(question, chains, resources, settings.beams)
    evidence = yield from show(paths, resources, settings.beams)
    lines = [line for chain in chains[: 1 if best.finished else None] for line in chain.lines]
    # what lies where two trails meet is not all that either relation leads to
    whole = settings.complete and len(best.answer) < 2
    task = tasks.answer(lines) if prose else ""
    yield from conclude(question, evidence, resources, directed=settings.directed, whole=whole, task=task)


def _ordered(
    question: str, chains: Sequence[ThoughtChain], resources: Resources, limit: int
) -> Generator[Event, None, list[tuple[Path, float]]]:
    """Paths with the scores of their chains, what was finished with before the rest."""
    paths = [
        (path, chain.score) for chain in chains for path in likeliest_first(question, _finished_with(chain), resources)
    ]
    told = {hop_list for chain in chains for hop_list in chain.answer}
    rest = list(dict.fromkeys(hop_list for chain in chains for hop_list in chain.hop_lists if hop_list not in told))
    if not paths:
        if deciding.writes_prose(resources.reasoner):
            texts = [str(hop_list) for hop_list in rest]
            chosen = yield from deciding.select(resources, "answer", question, tasks.ANSWER, texts, limit)
        else:
            scores = yield from deciding.compare(
                resources, "answer", question, [hop_list.steps for hop_list in rest], limit
            )
            chosen = tuple(deciding.best(scores, limit))
        rest = [rest[i] for i in chosen]
    return [*paths, *((path, 0.0) for hop_list in rest for path in hop_list.paths)]


def _finished_with(chain: ThoughtChain) -> list[Path]:
    """The paths to a chain's answer; where it is the meeting of two trails, those that lead there."""
    common = set(meet(chain.answer))
    counted = (chain.value.hop_list,) if chain.value and chain.value.hop_list else ()
    hop_lists: tuple[HopList, ...] = (*chain.answer, *counted)
    return [path for hop_list in hop_lists for path in hop_list.paths if not common or path.end in common]


def _from_value(value: Value, resources: Resources, settings: Settings) -> Iterator[Event]:
    """An answer that is no entity: a feature read or a count, with what was counted as its evidence."""
    paths = [(path, 0.0) for path in value.hop_list.paths] if value.hop_list else []
    evidence: list[Evidence] = yield from show(paths, resources, settings.beams)
    cited = tuple(e.index for e in evidence)
    text = f"{value.text} " + "".join(f"[{index}]" for index in cited)
    yield AnswerDelta(text.strip())
    yield AnswerFinal(text.strip(), (value.text,), (cited,), resources.reasoner.name)


# --------------------------------------------------------------------------------------------------
# Grounding LLM reasoning with knowledge graphs (Amayuelas et al. 2025): six methods.
#
# Two ways for a reasoner to interact with the graph (section 4.2), Agent and Automatic Graph Exploration, each
# under ThoughtChain-, Tree- and Graph-of-Thought (section 4.1).


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
    def run(question: str, topics: Sequence[str], resources: Resources, settings: Settings) -> Iterator[Event]:
        options, thoughts = chosen(GroundingOptions, settings.options), Thoughts(resources)
        interaction: Interaction = Agent(question, topics, resources, settings, thoughts)
        if way == "explore":
            interaction = Exploration(question, topics, resources, settings, thoughts, options)
        chains = yield from Reasoning(question, resources, thoughts, options).run(strategy, interaction)
        yield from answer(question, chains, resources, settings)


for _way in _WAYS:
    for _short in _STRATEGIES:
        _register(_way, _short)
