"""Fine-tuning examples whose wording stands for several hops at once: "the grandparents of X", "X's country of birth".

``TemplateSource`` strings noun phrases together, one a hop, so that every hop has words of its own. People have
single words for many walks; these teach that a short question may want a long path. Natural questions with a slot
in place of their entity (``wordings``) are drawn the same way, whatever their number of hops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.training.examples import Example, roughen, spoken_name

_TRIES = 20  # walks from one start before another is drawn


class ChainSource:
    """Questions made from wordings of relation chains.

    Args:
        kg: the graph.
        chains: wordings by the readings of their relations, see ``templates.load_chains``.
        held_out: relations that no example may use.
        levelled: chains are drawn by the square root of the number of their wordings, so that rare walks are seen as
            well; else by the number itself, as often as people ask for them.

    Raises:
        ValueError: no chain can be walked in the graph.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        chains: Mapping[tuple[str, ...], Sequence[str]],
        held_out: frozenset[str] = frozenset(),
        levelled: bool = True,
    ) -> None:
        self.kg = kg
        self.heads = np.repeat(np.arange(len(kg.entities), dtype=np.int32), np.diff(kg.outgoing.offsets))
        banned = {i for relation in held_out if (i := kg.relations.find(relation)) is not None}
        step_of = {reading: step for step, reading in enumerate(kg.readings)}
        self.chains: list[tuple[tuple[int, ...], NDArray[np.int32], Sequence[str]]] = []
        for readings, wordings in chains.items():
            steps = tuple(step_of[reading] for reading in readings if reading in step_of)
            if len(steps) < len(readings) or banned & {step % len(kg.relations) for step in steps}:
                continue
            starts = self._starts(steps)
            if len(starts):
                self.chains.append((steps, starts, wordings))
        if not self.chains:
            raise ValueError(f"no chain of relations can be walked in {kg.name}")
        self.weights = [len(wordings) ** (0.5 if levelled else 1.0) for _, _, wordings in self.chains]

    def __call__(self, rng: Random) -> Example:
        while True:
            steps, starts, wordings = rng.choices(self.chains, self.weights)[0]
            walk = self._walk(rng, int(rng.choice(starts)), steps)
            if walk is not None:
                return self._example(rng, steps, walk, rng.choice(wordings))

    def _starts(self, steps: Sequence[int]) -> NDArray[np.int32]:
        """The entities from which all steps can be walked: back from the last one."""
        edges, relations = self.kg.outgoing, len(self.kg.relations)
        reached = np.arange(len(self.kg.entities), dtype=np.int32)
        for step in reversed(steps):
            here, there = (self.heads, edges.targets) if step < relations else (edges.targets, self.heads)
            reached = np.unique(here[(edges.relations == step % relations) & np.isin(there, reached)])
        return reached

    def _walk(self, rng: Random, start: int, steps: Sequence[int]) -> list[int] | None:
        """A random walk that visits no entity twice."""
        for _ in range(_TRIES):
            walk = [start]
            for step in steps:
                taken, others = self.kg.steps(walk[-1])
                ends = others[taken == step]
                if not len(ends):
                    break
                walk.append(int(rng.choice(ends)))
            if len(walk) == len(steps) + 1 == len(set(walk)):
                return walk
        return None

    def _example(self, rng: Random, steps: Sequence[int], walk: Sequence[int], wording: str) -> Example:
        topic = self.kg.entities[walk[0]]
        info = self.kg.info.get(topic)
        text = wording.replace("{e}", spoken_name(rng, topic, info.aliases if info else ()))
        path = [topic]
        for step, entity in zip(steps, walk[1:], strict=True):
            path += [self.kg.readings[step], self.kg.entities[entity]]
        return Example(roughen(rng, text), (topic,), tuple(path), path[-1])
