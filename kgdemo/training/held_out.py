"""Relations kept out of training, to see whether a model reads relations or knows them by heart.

A name is held out everywhere at once: FB15k-237's ``/film/film/genre`` and ``/tv/tv_program/genre``, MetaQA's
``directed_by`` and ``world``'s ``directed by`` would otherwise teach each other's words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from random import Random


def spoken_relation(relation: str) -> str:
    """The words that tell a relation from others: the last part of a Freebase name, without underscores.

    >>> spoken_relation("/film/film/release_date_s./film/film_regional_release_date/film_release_region")
    'film release region'
    """
    return relation.rstrip("/").rsplit("/", 1)[-1].replace("_", " ").casefold().strip()


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
