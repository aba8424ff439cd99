"""FiDeLiS (Sui et al. 2025, section 3): Path-RAG and deductive-verification beam search.

A plan and a declarative statement are made of the question. Paths grow step by step among candidates that Path-RAG
pre-selects (``decisions.PathRag``). A step is kept when it follows from the steps before it, and the search halts once
the statement can be deduced (Algorithm 2). ``decisions`` holds the plan and those who decide. Every component of tables
2, 4 and 5 can be switched off or replaced (``FidelisOptions``).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from kgdemo.answering.answer_sets import conclude, show, without_reasoner
from kgdemo.events import Event, Thought
from kgdemo.kg.path import Path
from kgdemo.methods.fidelis.decisions import (
    ByEmbeddings,
    ByPathModel,
    ByReasoner,
    Decisions,
    Offer,
    PathRag,
    Plan,
    Retriever,
    Step,
    TogRetriever,
    VanillaRetriever,
    WalkedPath,
    read_plan,
)
from kgdemo.methods.hop_lists import start
from kgdemo.methods.registry import register
from kgdemo.models.embedding import Bm25
from kgdemo.query.query import Query
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings, chosen, option

RETRIEVERS = ("path-rag", "vanilla", "tog")
DECIDERS = ("auto", "reasoner", "embeddings", "path-model")


@dataclass(frozen=True, slots=True)
class FidelisOptions:
    """What can be chosen about FiDeLiS; the defaults are the paper's (appendix A.4) where it names them.

    It names no number for ``retrieved`` and ``candidates``. ``decisions=auto`` stands for the reasoner where
    that is a language model, else for the path model where that knows path marks, else for the embeddings.
    """

    width: int = option(4, "paths kept at each step (B)", minimum=1, maximum=50, public=4)
    depth: int = option(4, "the most steps; L bounds it further", minimum=1, maximum=10, public=4)
    alpha: float = option(0.3, "weight of the look-ahead (equation 2)", maximum=10)
    retrieved: int = option(
        50, "relations and entities retrieved for the keywords (m)", minimum=1, maximum=1000, public=100
    )
    candidates: int = option(16, "steps put before the reasoner at once", minimum=1, maximum=200, public=32)
    retriever: str = option("path-rag", "who proposes steps (table 2)", choices=RETRIEVERS)
    embeddings: str = option("minilm", "how near a label is (table 3)", choices=("minilm", "bm25"))
    keywords: bool = option(True, "look for the plan's keywords; no: for the question (table 4)")
    planning: bool = option(True, "the plan gives hints (table 2)")
    beam_search: bool = option(True, "no: one path is kept (table 2)")
    verifier: bool = option(True, "steps and statement are deduced (table 2)")
    last_step: bool = option(True, "the reasoner answers from the paths; no: their ends are the answer (table 2)")
    adequacy: bool = option(False, "ask whether the paths are enough, deduce no statement (table 5)")
    decisions: str = option("auto", "who selects and verifies (appendix B)", choices=DECIDERS)


@register(
    "fidelis",
    "FiDeLiS",
    "Sui et al. 2025 (FiDeLiS), section 3",
    "Plans, grows paths step by step among retrieved candidates, checks that each step follows, and stops when "
    "the answer can be deduced.",
    options=FidelisOptions,
)
def run(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """Section 3: plan, Path-RAG, beam search with deductive verification, and the answer from the paths."""
    fidelis = chosen(FidelisOptions, settings.options)
    fidelis = replace(fidelis, width=min(fidelis.width, settings.beams) if fidelis.beam_search else 1)
    paths = yield from Search(query, resources, settings, fidelis).paths()
    evidence = yield from show(paths, resources, settings.beams)
    if fidelis.last_step:
        yield from conclude(query, evidence, resources, directed=settings.directed, whole=settings.complete)
    else:
        yield without_reasoner(evidence, [e.path.end for e in evidence], "the paths themselves")


class Search:
    """Algorithm 2 for one question.

    Args:
        query: what is asked; the walk begins at its topics.
        resources, settings, fidelis: the graph and who decides, and what was chosen.
    """

    def __init__(self, query: Query, resources: Resources, settings: Settings, fidelis: FidelisOptions) -> None:
        self.query, self.resources, self.settings, self.fidelis = query, resources, settings, fidelis
        self._thoughts = 0

    def paths(self) -> Generator[Event, None, list[tuple[Path, float]]]:
        """The paths found, likeliest first (line numbers of Algorithm 2 in the comments)."""
        plan = yield from self._plan()  # 2 to 4
        retriever, decisions = self._retriever(plan), self._decisions(plan)
        beam = [WalkedPath(start(topic)) for topic in self.query.topics if topic in self.resources.kg.entities]  # 1
        found: list[WalkedPath] = []
        for _ in range(min(self.fidelis.depth, self.settings.hops)):  # 5
            asked = [retriever.candidates(walked.path) for walked in beam]  # 6, 7
            candidates = yield from deciding.concurrently(self.resources, asked)
            offered: list[Offer] = [offer for offer in zip(beam, candidates, strict=True) if offer[1]]
            chosen = (yield from decisions.select(offered, self.fidelis.width)) if offered else []
            selected = yield from self._selected(chosen, decisions)  # 8 to 17
            deduced = (yield from decisions.deduced(selected)) if self.fidelis.verifier and selected else []
            found += deduced
            if not selected or (deduced and decisions.halts):
                break
            beam = selected
        # without a path that the statement follows from, the last ones kept are what there is
        best = sorted(found or [g for g in beam if g.path.relations], key=lambda g: -g.likelihood)
        return [(walked.path, walked.likelihood) for walked in best]

    def _plan(self) -> Generator[Event, None, Plan]:
        """Keywords, planning steps and the declarative statement, in one call (appendix C.1)."""
        text = yield from deciding.plan(self.resources, self.query, self.resources.prompts.text("fidelis-plan"))
        plan = read_plan(text, self.query)
        if not self.fidelis.planning:
            plan = replace(plan, steps="")
        shown = "; ".join(filter(None, [f"keywords: {plan.keywords}", plan.steps, f"to deduce: {plan.statement}"]))
        yield self._thought((), shown, fate="kept")
        return plan

    def _retriever(self, plan: Plan) -> Retriever:
        fidelis = self.fidelis
        if fidelis.retriever == "tog":
            return TogRetriever(self.resources, self.settings, self.query, fidelis.width)
        rag = PathRag(
            self.resources,
            self.settings,
            plan.keywords if fidelis.keywords else self.query.text,
            alpha=fidelis.alpha,
            retrieved=fidelis.retrieved,
            limit=fidelis.candidates,
            likeness=Bm25() if fidelis.embeddings == "bm25" else None,
        )
        return VanillaRetriever(rag, self.query) if fidelis.retriever == "vanilla" else rag

    def _decisions(self, plan: Plan) -> Decisions:
        name, resources = self.fidelis.decisions, self.resources
        if name == "auto":
            trained = len(resources.model.label_tokens.start) == 1
            name = "path-model" if trained else "embeddings"
            if resources.reasoner.is_language_model:
                name = "reasoner"
        if name == "reasoner":
            return ByReasoner(resources, self.query, plan, self.settings, self.fidelis.adequacy)
        if name == "embeddings":
            return ByEmbeddings(resources, self.query, self.settings)
        return ByPathModel(resources, self.query, plan, self.settings)

    def _selected(self, chosen: Sequence[Step], decisions: Decisions) -> Generator[Event, None, list[WalkedPath]]:
        """The B likeliest of the chosen paths whose last step follows from those before it."""
        steps = sorted(chosen, key=lambda pair: -pair[1].likelihood)
        selected: list[WalkedPath] = []
        while steps:  # those that there is room for are asked about at once; where one falls, the next takes its place
            room = self.fidelis.width - len(selected)
            tried, steps = steps[:room], steps[room:]
            held = (yield from decisions.follow(tried)) if self.fidelis.verifier else [True] * len(tried)
            for (before, walked), holds in zip(tried, held, strict=True):
                thought = self._weighed(
                    before, walked, "" if holds else "its last step does not follow from those before"
                )
                yield thought
                if holds:
                    selected.append(replace(walked, thought=thought.id))
            if len(selected) == self.fidelis.width:
                break
        for before, walked in steps:
            yield self._weighed(before, walked, f"{self.fidelis.width} likelier paths were kept")
        return selected

    def _weighed(self, before: WalkedPath, walked: WalkedPath, reason: str) -> Thought:
        """A path that goes on, or the reason why it does not."""
        parents = (before.thought,) if before.thought else ()
        fate = "pruned" if reason else "kept"
        return self._thought(parents, str(walked.path), walked.path, walked.likelihood, fate, reason)

    def _thought(
        self,
        parents: tuple[int, ...],
        text: str,
        path: Path | None = None,
        score: float = 0.0,
        fate: str = "open",
        reason: str = "",
    ) -> Thought:
        self._thoughts += 1
        read = path is not None and self.resources.verifier.verify(path).faithful
        entities, triples = (path.entities, tuple(path.hops)) if path and read else ((), ())
        return Thought("thought", self._thoughts, parents, text, entities, triples, score, fate, reason)
