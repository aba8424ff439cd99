"""What can be chosen about reasoning in steps, with the paper's defaults (section 5, Experimental methods)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kgdemo.reasoning.options import option


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

    Section 7 finds Select slightly better than Score, and nothing gained beyond a search depth of 3. The paper
    names no number for the pruning; 3 is that of Think-on-Graph, whose pruning it follows.
    """

    steps: int = option(10, "n, the longest chain, which is also the deepest tree", least=1, most=30, public=10)
    branches: int = option(3, "k, thoughts grown from each state of a tree", least=1, most=10, public=3)
    kept: int = option(3, "t, states kept at each depth (b in equation 2)", least=1, most=10, public=3)
    evaluator: Evaluator = option(Evaluator.SELECT, "the heuristic that keeps states (section 4.1)")
    search_depth: int = option(3, "d, hops of one graph search", least=1, most=5, public=3)
    relations: int = option(3, "relations kept by the pruning of one search", least=1, most=20, public=3)
    entities: int = option(3, "entities kept by the pruning of one search", least=1, most=20, public=3)
    frontier: int = option(9, "nodes searched at one depth", least=1, most=50, public=9)


OF_TREES = ("branches", "kept", "evaluator")  # a chain has no branches to grow or keep
OF_SEARCHES = ("search_depth", "relations", "entities", "frontier")  # the agent does not search
