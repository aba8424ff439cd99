"""FiDeLiS (Sui et al. 2025, section 3): Path-RAG and deductive-verification beam search.

A *plan* is made of the question before the search (section 3.2, appendix C.1): keywords, steps, and the question as a
declarative statement. Paths grow step by step among candidates that *Path-RAG* pre-selects (section 3.1, Algorithm 1),
or one of the two retrievers it is compared with (table 2); all candidates are read from the graph. A step is kept when
it follows from the steps before it, and the search halts once the statement can be deduced (Algorithm 2).

Three decisions are taken at each depth (section 3.2): which candidates go on, whether a step follows from those before
it, and whether the statement can be deduced. A language model is asked for all three (``ByReasoner``). Appendix B
replaces it in beam decisions by small models: by sentence embeddings (``ByEmbeddings``), or by the model that was
trained to write reasoning paths (``ByPathModel``). The latter decodes its choice under the constraint of the
candidates, so that it cannot choose anything else. Where it would end the path, it takes the question to be answered
(table 5's logit-based verification).

Every component of tables 2, 4 and 5 can be switched off or replaced (``FidelisOptions``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from kgdemo.answering.answer_sets import conclude, show, without_reasoner
from kgdemo.constraint.triple_chains import Link, QueryGraph, TripleTokens, TripleTrie
from kgdemo.events import CandidatesScored, DeductionChecked, Event, Thought
from kgdemo.kg.labels import spoken
from kgdemo.kg.path import Path
from kgdemo.methods.hop_lists import EmbeddingWalk, HopList, openings, prune_entities, topic_starts, walk_decisions
from kgdemo.methods.registry import register
from kgdemo.methods.retrieval import sentence
from kgdemo.methods.search_branch import TripleWriter, limits_of
from kgdemo.models.embedding import Bm25, Likeness, embedding_cache
from kgdemo.query.query import Query
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings, chosen, option

_MAX_WHOLE = 2000  # a graph of so few labels is embedded whole, as the paper does; of others what the search reaches
_MAX_READ = 48  # entities embedded for one step: of a hub's thousands those behind the nearest relations
_PER_RELATION = 8  # of them behind one relation
_MAX_OFFERED = 40  # candidates put before a reasoner in one beam selection; those that Path-RAG likes best
_BY = "sentence embeddings"


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
    retriever: str = option("path-rag", "who proposes steps (table 2)", choices=("path-rag", "vanilla", "tog"))
    embeddings: str = option("minilm", "how near a label is (table 3)", choices=("minilm", "bm25"))
    keywords: bool = option(True, "look for the plan's keywords; no: for the question (table 4)")
    planning: bool = option(True, "the plan gives hints (table 2)")
    beam_search: bool = option(True, "no: one path is kept (table 2)")
    verifier: bool = option(True, "steps and statement are deduced (table 2)")
    last_step: bool = option(True, "the reasoner answers from the paths; no: their ends are the answer (table 2)")
    adequacy: bool = option(False, "ask whether the paths are enough, deduce no statement (table 5)")
    decisions: str = option(
        "auto",
        "who selects and verifies (appendix B)",
        choices=("auto", "reasoner", "embeddings", "path-model"),
    )


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
        beam = [WalkedPath(path) for path in topic_starts(self.query, self.resources)]  # 1
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


# The plan -----------------------------------------------------------------------------------------

PLACEHOLDER = "*placeholder*"
_SLOT = re.compile(r"[*_\[<({]*\bplaceholder\b[*_\]>)}]*", re.IGNORECASE)  # models write it in many ways
_ASKING = re.compile(
    r"^(?:tell me|name|list|by|in|on|at|from|of|to|for|with)?\s*"
    r"(?:who|whom|whose|what|which|where|when|how many|how much|how)(?:'s|'re)?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What was made of the question before the search (appendix C.1)."""

    keywords: str
    steps: str
    statement: str

    def filled(self, path: Path) -> str:
        """The declarative statement with the path's end in the answer's place (appendix C.6)."""
        return self.statement.replace(PLACEHOLDER, path.end)


def read_plan(text: str, query: Query) -> Plan:
    """The three parts of a plan.

    A reasoner that gives keywords only gets the statement by rule, and of its keywords those that name the
    topics are left out: they are where the walk begins, not what to look for.
    """
    text = _SLOT.sub(PLACEHOLDER, text)
    parts = [part.strip() for part in text.split("|" if "|" in text else "\n")]
    if len(parts) == 3 and all(parts) and PLACEHOLDER in parts[2]:
        return Plan(*parts)
    named = set(re.findall(r"\w+", " ".join(query.topics).casefold()))
    words = [word.strip() for word in parts[0].split(",")]
    telling = [word for word in words if not set(re.findall(r"\w+", word.casefold())) & named]
    return Plan(", ".join(telling) or parts[0] or query.text, "", statement_of(query.text))


def statement_of(question: str) -> str:
    """A question as a statement: its question word becomes the placeholder."""
    text = question.strip().rstrip("?").strip()
    statement, count = _ASKING.subn(PLACEHOLDER, text, count=1)
    return statement if count else f"{text}: {PLACEHOLDER}"


# Retrievers ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PathCandidate:
    """A path with one more step.

    Attributes:
        path: the extended path.
        score: equation 2, or the retriever's own score.
    """

    path: Path
    score: float


class PathRag:
    """Keyword-driven retrieval with next-hop look-ahead (equation 2).

    Args:
        resources, settings: the graph, and how it is walked.
        keywords: what to look for: the keywords joined, or the question itself (table 4, *w/o keywords*).
        alpha: weight of the look-ahead (equation 2).
        retrieved: how many relations and entities to retrieve (*m*).
        limit: how many candidates to return.
        likeness: BM25; sentence embeddings where nothing is given.
    """

    def __init__(
        self,
        resources: Resources,
        settings: Settings,
        keywords: str,
        *,
        alpha: float,
        retrieved: int,
        limit: int,
        likeness: Bm25 | None = None,
    ) -> None:
        self.kg, self.directed = resources.kg, settings.directed
        self.labels: Likeness = likeness or embedding_cache(resources.embedder)
        self.by = "BM25" if likeness else _BY
        self.keywords, self.alpha, self.limit = keywords, alpha, limit
        self._relations = self._nearest(list(dict.fromkeys(self.kg.step_labels)), retrieved, spoken)
        self._entities = self._nearest(
            list(self.kg.entities) if len(self.kg.entities) <= _MAX_WHOLE else [], retrieved, str
        )

    def candidates(self, path: Path) -> Generator[Event, None, list[PathCandidate]]:
        """Candidates behind a path, best first; what was not retrieved for the keywords fills the places left."""
        steps = self.steps(path.end, path.entities)
        hits = [(r, e) for r, e in steps if r in self._relations or e in self._entities]
        base = self._base(self.readable(hits))[: self.limit]
        if len(base) < self.limit:
            others = [step for step in steps if step not in set(hits)]
            base += self._base(self.readable(others))[: self.limit - len(base)]
        scored = [(*step, score + self.alpha * self._ahead(step[1], path)) for step, score in base]
        found = [_one_step_on(path, *step) for step in sorted(scored, key=lambda s: -s[2])]
        yield candidates_scored("Path-RAG", found, self.by)
        return found

    def _nearest(self, labels: Sequence[str], limit: int, read: Callable[[str], str]) -> frozenset[str]:
        """Algorithm 1, lines 12 and 13."""
        if len(labels) > _MAX_WHOLE:
            return frozenset()
        return frozenset(
            labels[i] for i in self.labels.nearest(self.keywords, [read(label) for label in labels], limit)
        )

    def steps(self, entity: str, visited: Sequence[str]) -> list[tuple[str, str]]:
        """What leads on, but not back."""
        neighbours = self.kg.neighbours(entity, self.directed)
        return [(r, e) for r, e in dict.fromkeys(neighbours) if e not in visited]

    def readable(self, steps: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """So many steps as can be embedded: behind the nearest relations, a few of each."""
        score = self._relation_scores([r for r, _ in steps])
        taken: dict[str, int] = {}
        few = []
        for relation, entity in sorted(steps, key=lambda step: -score[step[0]]):
            taken[relation] = taken.get(relation, 0) + 1
            if taken[relation] <= _PER_RELATION:
                few.append((relation, entity))
        return few[:_MAX_READ]

    def _relation_scores(self, relations: Sequence[str]) -> dict[str, float]:
        names = list(dict.fromkeys(relations))
        scores = self.labels.similarity(self.keywords, [spoken(name) for name in names]).tolist()
        return dict(zip(names, scores, strict=True))

    def _base(self, steps: Sequence[tuple[str, str]]) -> list[tuple[tuple[str, str], float]]:
        """Steps with their base score S0, best first."""
        relation = self._relation_scores([r for r, _ in steps])
        entity = self.labels.similarity(self.keywords, [e for _, e in steps]).tolist()
        scored = [(step, relation[step[0]] + near) for step, near in zip(steps, entity, strict=True)]
        return sorted(scored, key=lambda s: -s[1])

    def _ahead(self, entity: str, path: Path) -> float:
        """The best base score one hop further; of the next steps the one with the nearest relation is read."""
        found = self.kg.entities.find(entity) if self.alpha else None
        if found is None:
            return 0.0
        steps, targets = self.kg.steps(found, self.directed)
        visited = [self.kg.entities.find(label) for label in (*path.entities, entity)]
        left = ~np.isin(targets, [known for known in visited if known is not None])
        steps, targets = steps[left], targets[left]
        if not len(steps):
            return 0.0
        different, first, place = np.unique(steps, return_index=True, return_inverse=True)
        labels = [self.kg.step_labels[step] for step in different.tolist()]
        score = self._relation_scores([labels[i] for i in np.argsort(first).tolist()])
        best = int(np.array([score[label] for label in labels])[place].argmax())  # a hub has thousands: by id
        return self._base([(labels[int(place[best])], self.kg.entities[int(targets[best])])])[0][1]


class VanillaRetriever:
    """Each relation and entity as one text, by similarity to the question (section 4.3).

    Args:
        rag: for the steps and the embeddings.
        query: what is asked.
    """

    def __init__(self, rag: PathRag, query: Query) -> None:
        self.rag, self.query = rag, query

    def candidates(self, path: Path) -> Generator[Event, None, list[PathCandidate]]:
        """See ``PathRag``."""
        steps = self.rag.readable(self.rag.steps(path.end, path.entities))
        near = self.rag.labels.similarity(self.query.text, [f"{spoken(r)} {e}" for r, e in steps]).tolist()
        order = sorted(range(len(steps)), key=lambda i: -near[i])[: self.rag.limit]
        found = [_one_step_on(path, *steps[i], near[i]) for i in order]
        yield candidates_scored("vanilla retriever", found, self.rag.by)
        return found


class TogRetriever:
    """Relations, then entities, pruned by the reasoner as think-on-graph does (table 2, *using ToG*).

    Args:
        resources, settings: the graph, how it is walked, and who decides.
        query: what is asked.
        width: how many relations to keep, and entities behind each.
    """

    def __init__(self, resources: Resources, settings: Settings, query: Query, width: int) -> None:
        self.resources, self.settings, self.query, self.width = resources, settings, query, width
        self.decisions = walk_decisions(resources)

    def candidates(self, path: Path) -> Generator[Event, None, list[PathCandidate]]:
        """See ``PathRag``."""
        ahead = openings(path, self.resources, self.settings)
        selected = yield from self.decisions.prune_relations(self.query, ahead, self.width)
        found = []
        for rank, opening in enumerate(selected):
            hop_list = yield from prune_entities(self.query, opening, self.resources, self.width)
            found += [PathCandidate(longer, 1.0 - rank / len(selected)) for longer in hop_list.paths]
        return found


Retriever = PathRag | VanillaRetriever | TogRetriever


def _one_step_on(path: Path, relation: str, entity: str, score: float) -> PathCandidate:
    return PathCandidate(Path((*path.entities, entity), (*path.relations, relation)), score)


def candidates_scored(decision: str, found: Sequence[PathCandidate], by: str = _BY) -> CandidatesScored:
    """Candidates as an event."""
    scores = tuple(candidate.score for candidate in found)
    texts = tuple(str(candidate.path) for candidate in found)
    return CandidatesScored(decision, texts, scores, (True,) * len(found), by)


# Who decides --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WalkedPath:
    """A path of the beam.

    Attributes:
        likelihood: what paths are compared by; of one kind within a run.
        steps: how it came about, one score a step.
        tokens: its text, where the path model wrote it.
        ending: log-probability that the path model ends it here.
        thought: id of the event that showed it.
    """

    path: Path
    likelihood: float = 0.0
    steps: tuple[float, ...] = ()
    tokens: tuple[int, ...] = ()
    ending: float = -math.inf
    thought: int = 0


Offer = tuple[WalkedPath, Sequence[PathCandidate]]  # a path, and what may come behind it
Step = tuple[WalkedPath, WalkedPath]  # a path, and the same one step longer


class Decisions(Protocol):
    """Takes the decisions.

    Attributes:
        halts: a deduced path ends the search; else the likeliest are taken when all have been found.
    """

    halts: bool

    def select(self, offered: Sequence[Offer], width: int) -> Generator[Event, None, list[Step]]:
        """The candidates that go on (equation 3), each with the path before it."""
        ...

    def follow(self, steps: Sequence[Step]) -> Generator[Event, None, list[bool]]:
        """Local verification: whether the last step of each follows from those before it.

        A step begins where its path ends; without a language model that is all there is to it.
        """
        yield from ()
        return [True] * len(steps)

    def deduced(self, beam: Sequence[WalkedPath]) -> Generator[Event, None, list[WalkedPath]]:
        """Global verification: the paths that the statement can be deduced from."""
        ...


class ByReasoner(Decisions):
    """All decisions by the reasoner of the resources, usually a language model.

    Args:
        resources, query, plan: what to decide on.
        adequacy: ask whether the path is enough instead of deducing the statement (table 5).
    """

    halts = True

    def __init__(self, resources: Resources, query: Query, plan: Plan, settings: Settings, adequacy: bool) -> None:
        self.resources, self.query, self.plan = resources, query, plan
        self.settings, self.adequacy = settings, adequacy

    def select(self, offered: Sequence[Offer], width: int) -> Generator[Event, None, list[Step]]:
        """See ``Decisions``: at most ``width`` of all candidates, in one call; the plan gives hints."""
        hints = f"The plan of the walk: {self.plan.steps}" if self.plan.steps else ""
        task = self.resources.prompts.text("fidelis-select", hints=hints)
        steps = [(walked, candidate) for walked, candidates in offered for candidate in candidates]
        steps = sorted(steps, key=lambda step: -step[1].score)[:_MAX_OFFERED]
        texts = [str(candidate.path) for _, candidate in steps]
        chosen = yield from deciding.select(self.resources, "beam selection", self.query, task, texts, width)
        return [(steps[i][0], _longer(*steps[i])) for i in chosen]

    def follow(self, steps: Sequence[Step]) -> Generator[Event, None, list[bool]]:
        """See ``Decisions``; the first step has nothing before it to follow from. All are asked side by side."""
        pending = [self._follows(before, walked) for before, walked in steps if before.path.relations]
        held = iter((yield from deciding.concurrently(self.resources, pending)))
        return [next(held) if before.path.relations else True for before, _ in steps]

    def deduced(self, beam: Sequence[WalkedPath]) -> Generator[Event, None, list[WalkedPath]]:
        """See ``Decisions``; all are asked side by side."""
        held = yield from deciding.concurrently(self.resources, [self._deduces(walked) for walked in beam])
        return [walked for walked, holds in zip(beam, held, strict=True) if holds]

    def _follows(self, before: WalkedPath, walked: WalkedPath) -> Generator[Event, None, bool]:
        step = sentences(walked.path)[-1]
        task = self.resources.prompts.text("fidelis-step", claim=self.plan.statement)
        return (yield from deciding.verify(self.resources, self.query, step, sentences(before.path), task))

    def _deduces(self, walked: WalkedPath) -> Generator[Event, None, bool]:
        if self.adequacy:
            ahead = openings(walked.path, self.resources, self.settings)
            hop_lists = [HopList((walked.path,))]
            holds, _ = yield from walk_decisions(self.resources).enough(self.query, hop_lists, ahead)
            return holds
        statement = self.plan.filled(walked.path)
        task = self.resources.prompts.text("fidelis-statement")
        return (yield from deciding.verify(self.resources, self.query, statement, sentences(walked.path), task))


class ByEmbeddings(Decisions):
    """Beam decisions by sentence embeddings.

    They cannot deduce: the paths found are compared with what lies ahead, and when one that was found is
    nearest to the question, that is the end.

    Args:
        resources, query, settings: what to decide on.
    """

    halts = True

    def __init__(self, resources: Resources, query: Query, settings: Settings) -> None:
        self.resources, self.query, self.settings = resources, query, settings

    def select(self, offered: Sequence[Offer], width: int) -> Generator[Event, None, list[Step]]:
        """See ``Decisions``: at most ``width`` behind each path; the ends' names say nothing to it and are left out."""
        steps: list[Step] = []
        for walked, candidates in offered:
            texts = [HopList((c.path,)).stem for c in candidates]
            chosen = embedding_cache(self.resources.embedder).nearest(self.query.text, texts, width)
            yield candidates_scored("beam selection", [candidates[i] for i in chosen])
            steps += [(walked, _longer(walked, candidates[i])) for i in chosen]
        return steps

    def deduced(self, beam: Sequence[WalkedPath]) -> Generator[Event, None, list[WalkedPath]]:
        """See ``Decisions``."""
        ahead = [opening for walked in beam for opening in openings(walked.path, self.resources, self.settings)]
        hop_lists = [HopList((walked.path,)) for walked in beam]
        holds, best = yield from EmbeddingWalk(self.resources).enough(self.query, hop_lists, ahead)
        return [g for g in beam if best and g.path in best.paths] if holds else []


class ByPathModel(Decisions):
    """Beam decisions by the model that was trained to write reasoning paths.

    Args:
        resources, query, plan: what to decide on.
        settings: for how scores are taken and what is shown of forbidden tokens.
    """

    halts = False

    def __init__(self, resources: Resources, query: Query, plan: Plan, settings: Settings) -> None:
        self.resources, self.plan, self.hops = resources, plan, settings.hops
        self.subgraph = QueryGraph(resources.kg, settings.directed, collapse=False)
        self.writer = TripleWriter(resources, limits_of(settings, resources.model))
        self.prompt = tuple(
            resources.model.style.encode(resources.model.label_tokens, query.text, query.topics, query.topic_types)
        )

    def select(self, offered: Sequence[Offer], width: int) -> Generator[Event, None, list[Step]]:
        """See ``Decisions``: at most ``width`` behind each path, by beam search over the trie of its candidates."""
        steps: list[Step] = []
        for walked, candidates in offered:
            steps += [(walked, longer) for longer in (yield from self._select(walked, candidates, width))]
        return steps

    def _select(
        self, walked: WalkedPath, candidates: Sequence[PathCandidate], width: int
    ) -> Generator[Event, None, list[WalkedPath]]:
        by_link = self._links(walked.path, candidates)
        label_tokens = self.resources.model.label_tokens
        last = len(walked.path.relations) + 1 >= self.hops
        # the second mark announces another step
        ends = [label_tokens.end] if last else [label_tokens.end, label_tokens.arrow]
        triple_tokens = TripleTokens.ONWARD if walked.tokens else TripleTokens.WALKED
        trie = TripleTrie(self.resources.token_graph, list(by_link), triple_tokens, ends)
        written = yield from self.writer.search(self.prompt, walked.tokens, trie, ends, width)
        found = []
        for triple in written:
            candidate = by_link[triple.link]
            total = walked.likelihood + triple.score
            steps = (*walked.steps, triple.score)
            found.append(WalkedPath(candidate.path, total, steps, triple.tokens, triple.ending))
        return found

    def deduced(self, beam: Sequence[WalkedPath]) -> Generator[Event, None, list[WalkedPath]]:
        """See ``Decisions``: every path may end here, with its probability; an event says whether that is likely."""
        for walked in beam:
            holds = walked.ending > math.log(0.5)
            premises = tuple(sentences(walked.path))
            yield DeductionChecked(self.plan.filled(walked.path), premises, holds, self.resources.model.name)
        ended = [walked for walked in beam if walked.ending > -math.inf]
        return [replace(walked, likelihood=walked.likelihood + walked.ending) for walked in ended]

    def _links(self, path: Path, candidates: Sequence[PathCandidate]) -> dict[Link, PathCandidate]:
        """The candidates as the constraint knows them."""
        kg = self.resources.kg
        wanted = {(c.path.relations[-1], c.path.end): c for c in candidates}
        start, *ends = (kg.entities.find(label) for label in (path.end, *(c.path.end for c in candidates)))
        assert start is not None
        links = self.subgraph.links_to(start, {end for end in ends if end is not None})
        steps = [(link, (kg.step_labels[link.path.steps[0]], kg.entities[link.last])) for link in links]
        return {link: wanted[step] for link, step in steps if step in wanted}


def sentences(path: Path) -> list[str]:
    """Each hop as a sentence."""
    return [sentence(Path.from_labels(hop)) for hop in path.hops]


def _longer(walked: WalkedPath, candidate: PathCandidate) -> WalkedPath:
    """A path with the candidate's step; compared by the mean of its steps' scores."""
    steps = (*walked.steps, candidate.score)
    return WalkedPath(candidate.path, sum(steps) / len(steps), steps)
