"""FiDeLiS's decisions: the plan, and who selects and verifies the steps of a path.

The plan (section 3.2, appendix C.1) is made of the question before the search: keywords, steps, and the question as a
declarative statement.

Three decisions are taken at each depth (section 3.2): which candidates go on, whether a step follows from those before
it, and whether the statement can be deduced. A language model is asked for all three (``ByReasoner``). Appendix B
replaces it in beam decisions by small models: by sentence embeddings (``ByEmbeddings``), or by the model that was
trained to write reasoning paths (``ByPathModel``). The latter decodes its choice under the constraint of the
candidates, so that it cannot choose anything else. Where it would end the path, it takes the question to be answered
(table 5's logit-based verification).

What is decided on is proposed by Path-RAG (section 3.1, Algorithm 1) or one of the two retrievers it is compared with
(table 2). At each step of a path few candidates (relation, entity) are pre-selected, by how near relation and entity
are to the question's keywords and by what lies behind them (equation 2). All candidates are read from the graph.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from kgdemo.constraint.triple_chains import Link, QueryGraph, TripleTokens, TripleTrie
from kgdemo.events import CandidatesScored, DeductionChecked, Event
from kgdemo.kg.labels import spoken
from kgdemo.kg.path import Path
from kgdemo.methods.dog.chains import Watching, Writing
from kgdemo.methods.hop_lists import EmbeddingWalk, HopList, openings, prune_entities, walk_decisions
from kgdemo.methods.retrieval import sentence
from kgdemo.methods.search_branch import limits_of
from kgdemo.models.embedding import Bm25, Likeness, embedding_cache
from kgdemo.query.query import Query
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings

_MAX_WHOLE = 2000  # a graph of so few labels is embedded whole, as the paper does; of others what the search reaches
_MAX_READ = 48  # entities embedded for one step: of a hub's thousands those behind the nearest relations
_PER_RELATION = 8  # of them behind one relation
_BY = "sentence embeddings"


@dataclass(frozen=True, slots=True)
class PathCandidate:
    """A path with one more step.

    Attributes:
        path: the extended path.
        score: equation 2, or the retriever's own score.
    """

    path: Path
    score: float


class Retriever(Protocol):
    """Pre-selects the steps that a path may take."""

    def candidates(self, path: Path) -> Generator[Event, None, list[PathCandidate]]:
        """Candidates behind a path, best first."""
        ...


class PathRag:
    """Keyword-driven retrieval with next-hop look-ahead.

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
        """See ``Retriever``; what was not retrieved for the keywords fills the places left."""
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
        """See ``Retriever``."""
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
        """See ``Retriever``."""
        ahead = openings(path, self.resources, self.settings)
        selected = yield from self.decisions.prune_relations(self.query, ahead, self.width)
        found = []
        for rank, opening in enumerate(selected):
            hop_list = yield from prune_entities(self.query, opening, self.resources, self.width)
            found += [PathCandidate(longer, 1.0 - rank / len(selected)) for longer in hop_list.paths]
        return found


def _one_step_on(path: Path, relation: str, entity: str, score: float) -> PathCandidate:
    return PathCandidate(Path((*path.entities, entity), (*path.relations, relation)), score)


def candidates_scored(decision: str, found: Sequence[PathCandidate], by: str = _BY) -> CandidatesScored:
    """Candidates as an event."""
    scores = tuple(candidate.score for candidate in found)
    texts = tuple(str(candidate.path) for candidate in found)
    return CandidatesScored(decision, texts, scores, (True,) * len(found), by)


PLACEHOLDER = "*placeholder*"
_SLOT = re.compile(r"[*_\[<({]*\bplaceholder\b[*_\]>)}]*", re.IGNORECASE)  # models write it in many ways
_ASKING = re.compile(
    r"^(?:tell me|name|list|by|in|on|at|from|of|to|for|with)?\s*"
    r"(?:who|whom|whose|what|which|where|when|how many|how much|how)(?:'s|'re)?\b",
    re.IGNORECASE,
)
MAX_SELECTED_FROM = 40  # candidates put before a reasoner in one beam selection; those that Path-RAG likes best


# The plan ----------------------------------------------------------------------------------------


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


# Who decides -------------------------------------------------------------------------------------


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
    """Takes the decisions."""

    halts: bool  # whether a deduced path ends the search; else the likeliest are taken when all have been found

    def select(self, offered: Sequence[Offer], width: int) -> Generator[Event, None, list[Step]]:
        """The candidates that go on (equation 3), each with the path before it."""
        ...

    def follow(self, steps: Sequence[Step]) -> Generator[Event, None, list[bool]]:
        """Local verification: whether the last step of each follows from those before it."""
        ...

    def deduced(self, beam: Sequence[WalkedPath]) -> Generator[Event, None, list[WalkedPath]]:
        """Global verification: the paths that the statement can be deduced from."""
        ...


class ByReasoner:
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
        steps = sorted(steps, key=lambda step: -step[1].score)[:MAX_SELECTED_FROM]
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


class ByEmbeddings:
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

    def follow(self, steps: Sequence[Step]) -> Generator[Event, None, list[bool]]:
        """See ``Decisions``; that the step begins where the path ends is all it can know."""
        yield from ()
        return [before.path.end == walked.path.entities[-2] for before, walked in steps]

    def deduced(self, beam: Sequence[WalkedPath]) -> Generator[Event, None, list[WalkedPath]]:
        """See ``Decisions``."""
        ahead = [opening for walked in beam for opening in openings(walked.path, self.resources, self.settings)]
        hop_lists = [HopList((walked.path,)) for walked in beam]
        holds, best = yield from EmbeddingWalk(self.resources).enough(self.query, hop_lists, ahead)
        return [g for g in beam if best and g.path in best.paths] if holds else []


class ByPathModel:
    """Beam decisions by the model that was trained to write reasoning paths.

    Args:
        resources, query, plan: what to decide on.
        settings: for how scores are taken and what is shown of forbidden tokens.
    """

    halts = False

    def __init__(self, resources: Resources, query: Query, plan: Plan, settings: Settings) -> None:
        self.resources, self.plan, self.hops = resources, plan, settings.hops
        self.subgraph = QueryGraph(resources.kg, settings.directed, collapse=False)
        limits = limits_of(settings, resources.model)
        self.writing = Writing(resources, query, self.subgraph, Watching(resources.model), limits)
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
        written = yield from self.writing.search(self.prompt, walked.tokens, trie, ends, width)
        found = []
        for triple in written:
            candidate = by_link[triple.link]
            total = walked.likelihood + triple.score
            steps = (*walked.steps, triple.score)
            found.append(WalkedPath(candidate.path, total, steps, triple.tokens, triple.ending))
        return found

    def follow(self, steps: Sequence[Step]) -> Generator[Event, None, list[bool]]:
        """See ``Decisions``; that the step begins where the path ends is all there is to it."""
        yield from ()
        return [before.path.end == walked.path.entities[-2] for before, walked in steps]

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
