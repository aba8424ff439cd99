"""Chain-, Tree- and Graph-of-Thought over any way of interacting with the graph (section 4.1)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from kgdemo.events import Event
from kgdemo.reasoning import deciding
from kgdemo.reasoning.base import World
from kgdemo.reasoning.grounding import tasks
from kgdemo.reasoning.grounding.chains import Chain, Thoughts, meet
from kgdemo.reasoning.grounding.options import Evaluator, GroundingOptions, Strategy


class Interaction(Protocol):
    """A way to think and to look at the graph in turn (section 4.2)."""

    def begin(self) -> Chain:
        """The state s_0, before any thought."""
        ...

    def expand(self, chain: Chain, branches: int) -> Generator[Event, None, list[Chain]]:
        """Grow at most ``branches`` chains, each by one step: thought, interaction, what the graph said.

        A chain that cannot grow comes back finished.
        """
        ...


@dataclass(slots=True)
class Reasoning:
    """One question under one strategy."""

    question: str
    world: World
    thoughts: Thoughts
    options: GroundingOptions

    def run(self, strategy: Strategy, interaction: Interaction) -> Generator[Event, None, list[Chain]]:
        """Reason until every chain left is finished or n steps are taken; the chains left, best first."""
        if strategy is Strategy.CHAIN:
            return (yield from self.chain(interaction))
        return (yield from self.tree(interaction, merging=strategy is Strategy.GRAPH))

    def chain(self, interaction: Interaction) -> Generator[Event, None, list[Chain]]:
        """Chain-of-Thought: each thought follows from all before it."""
        chain = interaction.begin()
        for _ in range(self.options.steps):
            (chain,) = yield from interaction.expand(chain, 1)
            if chain.finished:
                break
        return [chain]

    def tree(self, interaction: Interaction, merging: bool) -> Generator[Event, None, list[Chain]]:
        """Tree-of-Thought by breadth-first search (equations 1 and 2); with merging, Graph-of-Thought (3)."""
        states = [interaction.begin()]
        for _ in range(self.options.steps):
            grown: list[Chain] = []
            for state in states:
                if state.finished:
                    grown.append(state)
                else:
                    grown += yield from interaction.expand(state, self.options.branches)
            candidates = yield from self._without_twins(grown)
            if merging:
                merged = yield from self._merged(candidates)
                candidates = yield from self._without_twins([*candidates, *merged])
            states = yield from self._kept(candidates)
            if all(state.finished for state in states):
                break
        return states

    # evaluation --------------------------------------------------------------------------------

    def _kept(self, candidates: Sequence[Chain]) -> Generator[Event, None, list[Chain]]:
        """The t best states, best first, by the heuristic V; the others are pruned and told why."""
        prose = deciding.writes_prose(self.world.reasoner)
        texts = [chain.told(prose) for chain in candidates]
        most, evaluator = self.options.kept, self.options.evaluator
        scores: Sequence[float] = ()
        if evaluator is Evaluator.SELECT or len(candidates) == 1:
            order = list(
                (
                    yield from deciding.select(
                        self.world, "thoughts (select)", self.question, tasks.SELECT_STATE, texts, most
                    )
                )
            )
        else:
            scores = yield from deciding.score(
                self.world, "thoughts (score)", self.question, tasks.SCORE_STATE, texts, most
            )
            order = sorted(range(len(candidates)), key=lambda i: -scores[i])[:most]
        rated = [scores[i] if scores else 1 - place / len(order) for place, i in enumerate(order)]
        for place, (i, score) in enumerate(zip(order, rated, strict=True), 1):
            reason = f"rated {score:.2f}, number {place}" if scores else f"chosen as number {place}"
            yield self.thoughts.judge(candidates[i].branch, "kept", reason, score)
        for i, chain in enumerate(candidates):
            if i not in order:
                score = scores[i] if scores else 0.0
                bar = (
                    f"rated {score:.2f}, the last one kept {rated[-1]:.2f}" if scores else f"not among the best {most}"
                )
                yield self.thoughts.judge(chain.branch, "pruned", bar, score)
        return [replace(candidates[i], score=score) for i, score in zip(order, rated, strict=True)]

    def _without_twins(self, chains: Sequence[Chain]) -> Generator[Event, None, list[Chain]]:
        """Chains that know something of their own; two that came to the same knowledge are one."""
        first: dict[object, Chain] = {}
        for chain in chains:
            twin = first.setdefault(chain.known, chain)
            if twin is not chain:
                yield self.thoughts.judge(chain.branch, "pruned", f"knows no more than thought {twin.branch}")
        return list(first.values())

    # merging -----------------------------------------------------------------------------------

    def _merged(self, candidates: Sequence[Chain]) -> Generator[Event, None, list[Chain]]:
        """A thought out of each two neighbours, floor(n / 2) at each depth (equation 3; appendix E, table 5)."""
        merged = []
        for one, other in zip(candidates[::2], candidates[1::2], strict=False):
            together = meet((*one.answer, *other.answer)) if one.answer and other.answer else ()
            if one.finished and other.finished and not together:
                continue  # both have ended, in different places: there is no next thought to the two of them
            merged.append((yield from self._merge(one, other, together)))
        return merged

    def _merge(self, one: Chain, other: Chain, together: Sequence[str]) -> Generator[Event, None, Chain]:
        """A(z_a, z_b): what either chain knows, and a thought that follows from both."""
        lines = ("Chain 1:", *one.lines, "Chain 2:", *other.lines)
        if deciding.writes_prose(self.world.reasoner):
            text = yield from deciding.think(self.world, self.question, tasks.MERGE, lines)
        else:
            text = f"Put together: {one.gist}; {other.gist}."
        parents = (*(one.last or ()), *(n for n in other.last if n not in one.last))
        thought = self.thoughts.add(
            "thought",
            parents,
            text,
            tuple(together),
            fate="merged",
            reason=f"of thoughts {one.branch} and {other.branch}",
        )
        yield thought
        answer = tuple(dict.fromkeys((*one.answer, *other.answer))) if together else ()
        return Chain(
            last=(thought.id,),
            branch=thought.id,
            lines=(*lines, f"Merged: {text}"),
            gist=one.gist if one.gist == other.gist else f"{one.gist} and {other.gist}",
            reached=_union(one.reached, other.reached),
            trails=_union(one.trails, other.trails),
            values=_union(one.values, other.values),
            done=one.done | other.done,
            answer=answer,
            finished=bool(answer),
        )


def _union(one: tuple, other: tuple) -> tuple:
    return tuple(dict.fromkeys((*one, *other)))
