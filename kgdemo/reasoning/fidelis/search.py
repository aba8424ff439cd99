"""Deductive-verification beam search (FiDeLiS section 3.2, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from kgdemo.events import Event, Thought
from kgdemo.kg.path import Path
from kgdemo.reasoning import deciding
from kgdemo.reasoning.base import World
from kgdemo.reasoning.fidelis import plan as planning
from kgdemo.reasoning.fidelis.by_path_model import ByPathModel
from kgdemo.reasoning.fidelis.decisions import ByEmbeddings, ByReasoner, Decisions, Grown
from kgdemo.reasoning.fidelis.options import FidelisOptions
from kgdemo.reasoning.fidelis.path_rag import PathRag, Retriever, TogRetriever, VanillaRetriever
from kgdemo.reasoning.fidelis.plan import Plan
from kgdemo.reasoning.trails import start
from kgdemo.settings import Settings


class Search:
    """Algorithm 2 for one question.

    Args:
        question, topics: what is asked, and where the walk begins.
        world, settings, fidelis: the graph and who decides, and what was chosen.
    """

    def __init__(
        self, question: str, topics: Sequence[str], world: World, settings: Settings, fidelis: FidelisOptions
    ) -> None:
        self.question, self.world, self.settings, self.fidelis = question, world, settings, fidelis
        self.topics = [topic for topic in topics if topic in world.kg.entities]
        self._thoughts = 0

    def paths(self) -> Generator[Event, None, list[tuple[Path, float]]]:
        """The paths found, likeliest first (line numbers of Algorithm 2 in the comments)."""
        plan = yield from self._plan()  # 2 to 4
        retriever, decisions = self._retriever(plan), self._decisions(plan)
        beam = [Grown(start(topic)) for topic in self.topics]  # 1
        found: list[Grown] = []
        for _ in range(min(self.fidelis.depth, self.settings.hops)):  # 5
            chosen: list[tuple[Grown, Grown]] = []
            for grown in beam:  # 6
                candidates = yield from retriever.candidates(grown.path)  # 7
                if candidates:
                    selected = yield from decisions.select(grown, candidates, self.fidelis.width)
                    chosen += [(grown, longer) for longer in selected]
            kept = yield from self._kept(chosen, decisions)  # 8 to 17
            deduced = (yield from decisions.deduced(kept)) if self.fidelis.verifier and kept else []
            found += deduced
            if not kept or (deduced and decisions.halts):
                break
            beam = kept
        # without a path that the statement follows from, the last ones kept are what there is
        best = sorted(found or [g for g in beam if g.path.relations], key=lambda g: -g.likelihood)
        return [(grown.path, grown.likelihood) for grown in best]

    def _plan(self) -> Generator[Event, None, Plan]:
        """Keywords, planning steps and the declarative statement, in one call (appendix C.1)."""
        text = yield from deciding.plan(self.world, self.question, planning.TASK)
        plan = planning.read_plan(text, self.question, self.topics)
        if not self.fidelis.planning:
            plan = replace(plan, steps="")
        shown = "; ".join(filter(None, [f"keywords: {plan.keywords}", plan.steps, f"to deduce: {plan.statement}"]))
        yield self._thought((), shown, fate="kept")
        return plan

    def _retriever(self, plan: Plan) -> Retriever:
        fidelis = self.fidelis
        if fidelis.retriever == "tog":
            return TogRetriever(self.world, self.settings, self.question, fidelis.width)
        rag = PathRag(
            self.world,
            self.settings,
            plan.keywords if fidelis.keywords else self.question,
            alpha=fidelis.alpha,
            retrieved=fidelis.retrieved,
            most=fidelis.candidates,
        )
        return VanillaRetriever(rag, self.question) if fidelis.retriever == "vanilla" else rag

    def _decisions(self, plan: Plan) -> Decisions:
        name, world = self.fidelis.decisions, self.world
        if name == "auto":
            trained = len(world.model.pieces.start) == 1
            name = "reasoner" if deciding.writes_prose(world.reasoner) else "path-model" if trained else "embeddings"
        if name == "reasoner":
            return ByReasoner(world, self.question, plan, self.settings, self.fidelis.adequacy)
        if name == "embeddings":
            return ByEmbeddings(world, self.question, self.settings)
        return ByPathModel(world, self.question, self.topics, plan, self.settings)

    def _kept(self, chosen: Sequence[tuple[Grown, Grown]], decisions: Decisions) -> Generator[Event, None, list[Grown]]:
        """The B likeliest of the chosen paths whose last step follows from those before it."""
        kept: list[Grown] = []
        for before, grown in sorted(chosen, key=lambda pair: -pair[1].likelihood):
            reason = f"{self.fidelis.width} likelier paths were kept" if len(kept) >= self.fidelis.width else ""
            if not reason and self.fidelis.verifier and not (yield from decisions.follows(before, grown)):
                reason = "its last step does not follow from those before it"
            parents = (before.thought,) if before.thought else ()
            fate = "pruned" if reason else "kept"
            thought = self._thought(parents, str(grown.path), grown.path, grown.likelihood, fate, reason)
            yield thought
            if not reason:
                kept.append(replace(grown, thought=thought.id))
        return kept

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
        read = path is not None and self.world.verifier.verify(path).faithful
        entities, triples = (path.entities, tuple(path.hops)) if path and read else ((), ())
        return Thought("thought", self._thoughts, parents, text, entities, triples, score, fate, reason)
