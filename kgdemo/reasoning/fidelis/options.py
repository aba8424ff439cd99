"""What can be chosen about FiDeLiS: every component of tables 2, 4 and 5 can be switched off or replaced."""

from __future__ import annotations

from dataclasses import dataclass

from kgdemo.reasoning.options import option

RETRIEVERS = ("path-rag", "vanilla", "tog")
DECIDERS = ("auto", "reasoner", "embeddings", "path-model")


@dataclass(frozen=True, slots=True)
class FidelisOptions:
    """What can be chosen about FiDeLiS; the defaults are the paper's (appendix A.4) where it names them.

    It names no number for ``retrieved`` and ``candidates``. ``decisions`` are by themselves the reasoner's where
    that is a language model, else the path model's where that knows path marks, else the embeddings'.
    """

    width: int = option(4, "paths kept at each step (B)", least=1, most=50, public=4)
    depth: int = option(4, "the most steps; L bounds it further", least=1, most=10, public=4)
    alpha: float = option(0.3, "weight of the look-ahead (equation 2)", most=10)
    retrieved: int = option(50, "relations and entities retrieved for the keywords (m)", least=1, most=1000, public=100)
    candidates: int = option(16, "steps put before the reasoner at once", least=1, most=200, public=32)
    retriever: str = option("path-rag", "who proposes steps (table 2)", choices=RETRIEVERS)
    keywords: bool = option(True, "look for the plan's keywords; no: for the question (table 4)")
    planning: bool = option(True, "the plan gives hints (table 2)")
    beam_search: bool = option(True, "no: one path is kept (table 2)")
    verifier: bool = option(True, "steps and statement are deduced (table 2)")
    last_step: bool = option(True, "the reasoner answers from the paths; no: their ends are the answer (table 2)")
    adequacy: bool = option(False, "ask whether the paths are enough, deduce no statement (table 5)")
    decisions: str = option("auto", "who selects and verifies (appendix B)", choices=DECIDERS)
