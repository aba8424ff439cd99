"""Who takes the decisions of reasoning in steps: a language model, or sentence embeddings.

A language model writes thoughts and is asked for each choice. Embeddings compare what could be done, as paths, with the
question; a thought then says in words what was chosen.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from kgdemo.events import Event
from kgdemo.kg.labels import fold
from kgdemo.kg.path import Path
from kgdemo.methods import retrieval
from kgdemo.methods.grounding.chains import (
    ANY_NODE,
    Action,
    Evaluator,
    GroundingOptions,
    ThoughtChain,
    retrieval_of,
)
from kgdemo.methods.hop_lists import (
    EmbeddingWalk,
    HopList,
    LanguageModelWalk,
    WalkDecisions,
    nearest,
    openings,
    start,
)
from kgdemo.query.answer_type import fits, kind_of
from kgdemo.query.query import Query
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings


@dataclass(frozen=True, slots=True)
class SearchThought:
    """A thought and the nodes that it names, each by the path that led there; ``gist`` as in ``ThoughtChain``."""

    text: str
    about: tuple[Path, ...]
    gist: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RatedStates:
    """The outcome of an evaluation (the heuristic V of section 4.1).

    Attributes:
        order: indices of the states to keep, best first.
        scores: one for each state.
        rated: each state has a rating of its own; else the scores only say in which place a state was chosen.
    """

    order: Sequence[int]
    scores: Sequence[float]
    rated: bool


class Decisions(Protocol):
    """Takes the decisions.

    Attributes:
        walk: those of a search in the graph.
        asks_a_model: each decision is a call, so none is taken that changes nothing: few states are not rated, and a
            tree ends when its best chain has.
        states_values: a feature or a count that a chain finished with is the answer as it stands; else it is put into
            words with the paths.
    """

    walk: WalkDecisions
    asks_a_model: bool
    states_values: bool

    def act(
        self, chain: ThoughtChain, actions: Sequence[Action], branches: int
    ) -> Generator[Event, None, list[tuple[str, Action]]]:
        """At most ``branches`` thoughts of an agent, each with the action that follows from it."""
        ...

    def think(
        self, chain: ThoughtChain, fresh: Sequence[Path], branches: int
    ) -> Generator[Event, None, list[SearchThought]]:
        """At most ``branches`` thoughts of a search; ``fresh`` are the nodes seen but not searched around."""
        ...

    def rate(self, states: Sequence[ThoughtChain], limit: int) -> Generator[Event, None, RatedStates]:
        """The ``limit`` states that are worth growing."""
        ...

    def merge(self, one: ThoughtChain, other: ThoughtChain, lines: Sequence[str]) -> Generator[Event, None, str]:
        """A thought that follows from two chains; ``lines`` are both."""
        ...

    def rank(self, hop_lists: Sequence[HopList], limit: int) -> Generator[Event, None, list[HopList]]:
        """The likeliest of what was read, where no chain has finished."""
        ...

    def answer_task(self, lines: Sequence[str]) -> str:
        """What the reasoner is told for the answer, from the lines of the chains; empty for the usual."""
        ...


def decisions_for(query: Query, resources: Resources, settings: Settings, options: GroundingOptions) -> Decisions:
    """The decisions of these resources' reasoner."""
    by = LanguageModelDecisions if resources.reasoner.is_language_model else EmbeddingDecisions
    return by(query, resources, settings, options)


class LanguageModelDecisions:
    """See ``Decisions``; each is a question to the language model.

    Args:
        query: what is asked.
        resources, settings: the graph and the reasoner, and L.
        options: the evaluator and the widths of the search.
    """

    asks_a_model = True
    states_values = False

    def __init__(self, query: Query, resources: Resources, settings: Settings, options: GroundingOptions) -> None:
        self.query, self.resources, self.options = query, resources, options
        self.walk: WalkDecisions = LanguageModelWalk(resources)

    def act(
        self, chain: ThoughtChain, actions: Sequence[Action], branches: int
    ) -> Generator[Event, None, list[tuple[str, Action]]]:
        """See ``Decisions``: it proposes thoughts and the actions that follow from them, all in one call.

        It may also name any node to find, which the actions offered do not (RetrieveNode of Graph-CoT takes any text).
        """
        options = [action.option for action in actions]
        steps = yield from deciding.propose(
            self.resources,
            "action",
            self.query,
            self._task("agent"),
            chain.lines,
            [*options, *([ANY_NODE] if len(options) > 1 else [])],
            branches,
        )
        decided: list[tuple[str, Action]] = []
        for i, text, written in steps:
            if i < len(actions):
                decided.append((text or actions[i].thought, actions[i]))
            elif written and (action := retrieval_of(written)).option not in chain.done:
                decided.append((text or action.thought, action))
        taken = dict.fromkeys(str(action) for _, action in decided)
        return [next(step for step in decided if str(step[1]) == name) for name in taken]

    def think(
        self, chain: ThoughtChain, fresh: Sequence[Path], branches: int
    ) -> Generator[Event, None, list[SearchThought]]:
        """See ``Decisions``: it writes thoughts and finds the entities in them (Search Thought, Entity Extraction)."""
        thoughts: list[SearchThought] = []
        for _ in range(branches):
            task = self._task("explore-thought", before=_other_than([thought.text for thought in thoughts]))
            text = yield from deciding.think(self.resources, self.query, task, chain.lines)
            listed = yield from deciding.plan(
                self.resources, replace(self.query, text=text), self._task("explore-entities")
            )
            about = [path for path in self._nodes(listed, chain) if path.end not in chain.done] or list(fresh)
            thoughts.append(SearchThought(text, tuple(about[: self.options.frontier]), (text,)))
        return thoughts

    def rate(self, states: Sequence[ThoughtChain], limit: int) -> Generator[Event, None, RatedStates]:
        """See ``Decisions``: it rates every state, or chooses the best, as the evaluator says."""
        decision = f"thoughts ({self.options.evaluator.value})"
        texts = [chain.summary for chain in states]
        if self.options.evaluator is Evaluator.SCORE:
            scores = yield from deciding.score(
                self.resources, decision, self.query, self._task("states-score"), texts, limit
            )
            return RatedStates(deciding.best(scores, limit), scores, rated=True)
        chosen = yield from deciding.select(
            self.resources, decision, self.query, self._task("states-select"), texts, limit
        )
        places = {i: 1 - place / len(chosen) for place, i in enumerate(chosen)}
        return RatedStates(chosen, [places.get(i, 0.0) for i in range(len(states))], rated=False)

    def merge(self, one: ThoughtChain, other: ThoughtChain, lines: Sequence[str]) -> Generator[Event, None, str]:
        """See ``Decisions``."""
        return (yield from deciding.think(self.resources, self.query, self._task("merge"), lines))

    def rank(self, hop_lists: Sequence[HopList], limit: int) -> Generator[Event, None, list[HopList]]:
        """See ``Decisions``."""
        texts = [str(hop_list) for hop_list in hop_lists]
        chosen = yield from deciding.select(
            self.resources, "answer", self.query, self._task("paths-answer"), texts, limit
        )
        return [hop_lists[i] for i in chosen]

    def answer_task(self, lines: Sequence[str]) -> str:
        """See ``Decisions``."""
        return self._task("answer-thoughts", thoughts="\n".join(lines))

    def _task(self, name: str, **slots: str) -> str:
        return self.resources.prompts.text(name, **slots)

    def _nodes(self, listed: str, chain: ThoughtChain) -> list[Path]:
        """Nodes called as listed: those seen already, else those of the graph with that very name."""
        seen = {fold(path.end): path for path in chain.reached}
        found = []
        for name in (part.strip(" -.\"'") for part in re.split(r"[;\n]", listed)):
            if fold(name) in seen:
                found.append(seen[fold(name)])
            elif name:
                labels = retrieval.nodes(name, self.resources, 1)
                found += [start(label) for label in labels if fold(label) == fold(name)]
        return list(dict.fromkeys(found))


def _other_than(thoughts: Sequence[str]) -> str:
    """What was thought already, so that the next thought differs (the k samples of equation 1)."""
    return "\n".join(
        ["These were thought already; take another direction:", *(f"- {t}" for t in thoughts)] if thoughts else []
    )


class EmbeddingDecisions:
    """See ``Decisions``; each compares paths with the question.

    Args:
        query: what is asked.
        resources, settings: the graph and the embedder, and L.
        options: the evaluator, whose name the events bear; embeddings choose by their ratings, so both are one.
    """

    asks_a_model = False
    states_values = True

    def __init__(self, query: Query, resources: Resources, settings: Settings, options: GroundingOptions) -> None:
        self.query, self.resources, self.settings, self.options = query, resources, settings, options
        self.walk: WalkDecisions = EmbeddingWalk(resources)

    def act(
        self, chain: ThoughtChain, actions: Sequence[Action], branches: int
    ) -> Generator[Event, None, list[tuple[str, Action]]]:
        """See ``Decisions``: the actions nearest to the question, each with a thought that says so.

        What is not the kind of thing asked for ends no chain, unless nothing else is left to do.
        """
        wanted, kg = self.query.answer_type, self.resources.kg
        fitting = [a for a in actions if not a.answer or any(fits(wanted, kind_of(kg, end)) for end in a.ends)]
        actions = fitting or actions
        chosen = yield from self._best("action", [action.steps for action in actions], branches)
        return [(actions[i].thought, actions[i]) for i in chosen]

    def think(
        self, chain: ThoughtChain, fresh: Sequence[Path], branches: int
    ) -> Generator[Event, None, list[SearchThought]]:
        """See ``Decisions``: a thought is the wish to know what a relation near the question leads to."""
        ahead = [opening for path in fresh for opening in openings(path, self.resources, self.settings)]
        offered = nearest(self.query, ahead, self.resources)
        chosen = yield from self._best("thoughts", [opening.steps for opening in offered], branches)
        taken = [offered[i] for i in chosen]
        return [SearchThought(f"See where {o.stem} leads.", (o.path,), o.steps) for o in taken]

    def rate(self, states: Sequence[ThoughtChain], limit: int) -> Generator[Event, None, RatedStates]:
        """See ``Decisions``: the states whose newest step is nearest to the question."""
        decision = f"thoughts ({self.options.evaluator.value})"
        steps = [chain.gist for chain in states]
        scores = yield from deciding.compare(self.resources, decision, self.query, steps, limit)
        return RatedStates(deciding.best(scores, limit), scores, rated=True)

    def merge(self, one: ThoughtChain, other: ThoughtChain, lines: Sequence[str]) -> Generator[Event, None, str]:
        """See ``Decisions``: both are named."""
        yield from ()
        return f"Put together: {one.gist[-1]}; {other.gist[-1]}."

    def rank(self, hop_lists: Sequence[HopList], limit: int) -> Generator[Event, None, list[HopList]]:
        """See ``Decisions``."""
        chosen = yield from self._best("answer", [hop_list.steps for hop_list in hop_lists], limit)
        return [hop_lists[i] for i in chosen]

    def answer_task(self, lines: Sequence[str]) -> str:
        """See ``Decisions``: nothing."""
        return ""

    def _best(self, decision: str, options: Sequence[Sequence[str]], limit: int) -> Generator[Event, None, list[int]]:
        scores = yield from deciding.compare(self.resources, decision, self.query, options, limit)
        return deciding.best(scores, limit)
