"""FiDeLiS (Sui et al. 2025): Path-RAG and deductive-verification beam search.

A plan and a declarative statement are made of the question; paths grow step by step among candidates that
Path-RAG pre-selects (``path_rag``); a step is kept when it follows from the steps before it, and the search
halts once the statement can be deduced (``search``). Who takes the decisions is in ``decisions``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kgdemo.events import Event
from kgdemo.reasoning.base import World, register
from kgdemo.reasoning.conclusion import conclude, show, without_reasoner
from kgdemo.reasoning.fidelis.options import FidelisOptions
from kgdemo.reasoning.fidelis.search import Search
from kgdemo.reasoning.options import chosen
from kgdemo.settings import Settings


@register(
    "fidelis",
    "FiDeLiS",
    "Sui et al. 2025 (FiDeLiS), section 3",
    "Plans, grows paths step by step among retrieved candidates, checks that each step follows, and stops when "
    "the answer can be deduced.",
    options=FidelisOptions,
)
def run(question: str, topics: Sequence[str], world: World, settings: Settings) -> Iterator[Event]:
    """Section 3: plan, Path-RAG, beam search with deductive verification, and the answer from the paths."""
    fidelis = chosen(FidelisOptions, settings.options)
    fidelis = replace(fidelis, width=min(fidelis.width, settings.beams) if fidelis.beam_search else 1)
    paths = yield from Search(question, topics, world, settings, fidelis).paths()
    evidence = yield from show(paths, world, settings.beams)
    if fidelis.last_step:
        yield from conclude(question, evidence, world, directed=settings.directed, whole=settings.complete)
    else:
        yield without_reasoner(evidence, [e.path.end for e in evidence], "the paths themselves")
