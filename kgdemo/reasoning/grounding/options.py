"""What can be chosen about reasoning in steps, with the paper's defaults (section 5, Experimental methods)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Strategy(str, Enum):
    """How thoughts are organised (section 4.1)."""

    CHAIN = "chain"
    TREE = "tree"
    GRAPH = "graph"


class Evaluator(str, Enum):
    """The heuristic V that keeps states (section 4.1): choose the best, or rate each."""

    SELECT = "select"
    SCORE = "score"


@dataclass(frozen=True, slots=True)
class GroundingOptions:
    """See the module.

    Attributes:
        steps: n, the longest chain, which is also the deepest tree.
        branches: k, thoughts grown from each state of a tree.
        kept: t (b in equation 2), states kept at each depth.
        evaluator: which heuristic keeps them; section 7 finds Select slightly better.
        search_depth: d, hops of one graph search; section 7 finds nothing gained beyond 3.
        relations, entities: kept by the pruning of one search; the paper names no number, 3 is that of
            Think-on-Graph, whose pruning it follows.
        frontier: nodes searched at one depth, so that pruned searches cannot overgrow either.
    """

    steps: int = 10
    branches: int = 3
    kept: int = 3
    evaluator: Evaluator = Evaluator.SELECT
    search_depth: int = 3
    relations: int = 3
    entities: int = 3
    frontier: int = 9
