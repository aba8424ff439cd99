"""Relations kept out of training, to see whether a model reads relations or knows them by heart.

A name is held out everywhere at once: FB15k-237's ``/film/film/genre`` and ``/tv/tv_program/genre``, MetaQA's
``directed_by`` and ``world``'s ``directed by`` would otherwise teach each other's words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from random import Random

from kgdemo.models.relations import spoken_relation


def draw_held_out(graphs: Mapping[str, Iterable[str]], share: float, seed: int) -> dict[str, frozenset[str]]:
    """Choose the relations that a run shall never see.

    Args:
        graphs: name of a graph -> its relations.
        share: part of all spoken names that is held out, rounded up; 0 holds none out.
        seed: the same seed and graphs give the same choice.

    Returns:
        name of the graph -> its relations that are held out.
    """
    names = sorted({spoken_relation(relation) for relations in graphs.values() for relation in relations})
    kept_out = set(Random(f"held-out-{seed}").sample(names, math.ceil(share * len(names))))
    return {
        graph: frozenset(relation for relation in relations if spoken_relation(relation) in kept_out)
        for graph, relations in graphs.items()
    }
