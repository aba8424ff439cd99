"""Figures on the steps themselves, as DoG and FiDeLiS report them; all computed from labels and the verifier alone."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from kgdemo.kg.graph import Triple
from kgdemo.kg.path import Path
from kgdemo.verify import HopVerdict, Verdict, Verifier


def ill_formed(triples: Sequence[Triple], topics: Iterable[str], verifier: Verifier) -> list[Triple]:
    """The triples that keep a chain from being well-formed (DoG section 2.2; *% ill triplet* of table 3).

    A triple is ill when it is not in the graph, or when neither of its ends is a query entity or an end of
    an earlier well-formed triple.

    Args:
        triples: a chain, in the order it was written; an inverse step may stand in its inverse reading.
        topics: the query entities.
        verifier: knows the graph.
    """
    visited = set(topics)
    ill = []
    for triple in triples:
        head, _, tail = triple
        if verifier.verify(Path.from_labels(triple)).faithful and visited & {head, tail}:
            visited |= {head, tail}
        else:
            ill.append(triple)
    return ill


def coverage_ratio(retrieved: Iterable[Hashable], truth: Iterable[Hashable]) -> float:
    """How many of the true steps were among the candidates (FiDeLiS section 4.3, *CR*); 1 where there are none."""
    wanted = set(truth)
    return len(wanted & set(retrieved)) / len(wanted) if wanted else 1.0


def valid_steps(verdicts: Iterable[Verdict]) -> tuple[int, int]:
    """How many of the steps of paths are in the graph, and how many steps there are."""
    hops = [hop for verdict in verdicts for hop in verdict.hops]
    return sum(hop.verdict is HopVerdict.OK for hop in hops), len(hops)


def validity_ratio(verdicts: Iterable[Verdict]) -> float:
    """The share of the steps of paths that are in the graph (FiDeLiS section 4.3, *VR*); 1 where there are none."""
    valid, steps = valid_steps(verdicts)
    return valid / steps if steps else 1.0
