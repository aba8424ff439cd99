"""Path-RAG (FiDeLiS section 3.1, Algorithm 1) and the two retrievers it is compared with (table 2).

At each step of a path few candidates (relation, entity) are pre-selected, by how near relation and entity are
to the question's keywords and by what lies behind them (equation 2). All candidates are read from the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

from kgdemo.events import CandidatesScored, Event
from kgdemo.kg.labels import spoken
from kgdemo.kg.path import Path
from kgdemo.methods.hop_lists import openings, prune_entities, walk_decisions
from kgdemo.models.embedding import Bm25, Likeness, embedding_cache
from kgdemo.query.query import Query
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
        found = [_longer(path, *step) for step in sorted(scored, key=lambda s: -s[2])]
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
        onward = self.steps(entity, (*path.entities, entity)) if self.alpha else []
        if not onward:
            return 0.0
        score = self._relation_scores([r for r, _ in onward])
        best = max(onward, key=lambda step: score[step[0]])
        return self._base([best])[0][1]


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
        found = [_longer(path, *steps[i], near[i]) for i in order]
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


def _longer(path: Path, relation: str, entity: str, score: float) -> PathCandidate:
    return PathCandidate(Path((*path.entities, entity), (*path.relations, relation)), score)


def candidates_scored(decision: str, found: Sequence[PathCandidate], by: str = _BY) -> CandidatesScored:
    """Candidates as an event."""
    scores = tuple(candidate.score for candidate in found)
    texts = tuple(str(candidate.path) for candidate in found)
    return CandidatesScored(decision, texts, scores, (True,) * len(found), by)
