"""Baselines that look into the graph: some retrieve once and answer, RoG plans first, and ToG walks step by step.

Text-RAG and Graph-RAG (Grounding section 5, Baselines), KAPING (Baek et al. 2023), BM25, and the direct answer with the
graph in the prompt (DoG section 3.3) differ in what they may retrieve: sentences of the whole graph's text, by
embeddings or by their words, the neighbours of what was found as well, the triples around the question's own entities,
or all that lies around these up to L hops. One look, no reasoning on the way. A whole graph is not embedded beforehand:
on a CPU that takes minutes and most of it is never asked for. Nodes are first found by the words of their names, then
ranked by embeddings; facts around a hub are first cut to those whose relations are near the question.

RoG (Luo et al. 2024, Reasoning on Graphs): a model plans relation paths without seeing the graph, the graph is searched
for paths with just these relations, and the answer comes from those. A plan can name relations that the graph does not
have, or that lead nowhere from the question's entities: such plans are shown as pruned, with the reason.

ToG (Sun et al. 2024, Think-on-Graph): at each depth relations are proposed and pruned by the reasoner, then entities,
and the reasoner says whether the N paths left are enough. Grounding's algorithm 1 prunes in the same way, so the
decisions are the same code (``WalkDecisions``).
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from kgdemo.answering.answer_sets import conclude, show
from kgdemo.events import CandidatesScored, Event, Thought
from kgdemo.kg.graph import KnowledgeGraph, Triple
from kgdemo.kg.labels import fold, spoken
from kgdemo.kg.path import SEPARATOR, Path
from kgdemo.linking.names import NameIndex, name_index
from kgdemo.linking.words import ordinary_words, words_of
from kgdemo.methods.hop_lists import (
    HopList,
    Opening,
    WalkDecisions,
    nearest,
    openings,
    prune_entities,
    start,
    topic_starts,
    walk_decisions,
)
from kgdemo.methods.registry import register
from kgdemo.methods.search_branch import unconstrained_branch
from kgdemo.models.embedding import Bm25, Likeness, embedding_cache
from kgdemo.query.query import Query
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings, chosen, option

MAX_READ = 160  # facts embedded for one question
_BY_WORD = 200  # names looked at for one word
_RANKED = 32  # nodes embedded for one text


def nodes(text: str, resources: Resources, limit: int) -> list[str]:
    """The entities whose text is nearest to ``text`` (RetrieveNode; Text-RAG's retriever)."""
    labels = resources.kg.entities
    if text in labels and limit == 1:
        return [text]
    found = [labels[i] for i in _by_words(text, name_index(resources.kg), _RANKED)]
    order = embedding_cache(resources.embedder).nearest(
        text, [node_text(label, resources.kg) for label in found], limit
    )
    return [found[i] for i in order]


def node_text(label: str, kg: KnowledgeGraph) -> str:
    """What a graph says of a node besides its edges."""
    info = kg.info.get(label)
    if info is None:
        return label
    attributes = (f"{name}: {value}" for name, value in info.attributes.items())
    return "; ".join(filter(None, [label, info.type, ", ".join(info.aliases), info.description, *attributes]))


def facts(
    query: Query, starts: Iterable[Path], resources: Resources, settings: Settings, limit: int = MAX_READ
) -> list[Path]:
    """Paths one hop longer than ``starts``: those whose relations are nearest to the question first.

    Args:
        query: decides which relations come first where there are too many facts.
        starts: paths to go on from; of no hops for the facts around an entity.
        resources, settings: the graph, and how it is walked.
        limit: how many to return.
    """
    found = [opening for path in starts for opening in openings(path, resources, settings)]
    longer: list[Path] = []
    for opening in nearest(query, found, resources, len(found)):
        longer += opening.follow().paths
        if len(longer) >= limit:
            break
    return longer[:limit]


def rank(query: Query, paths: Sequence[Path], likeness: Likeness, limit: int) -> list[tuple[Path, float]]:
    """The paths nearest to the question with their likeness to it, each read as one sentence."""
    unique = list(dict.fromkeys(paths))
    near = likeness.similarity(query.text, [sentence(path) for path in unique])
    order = sorted(range(len(unique)), key=lambda i: -near[i])[:limit]
    return [(unique[i], float(near[i])) for i in order]


def sentence(path: Path) -> str:
    """A path as words: ``Inception directed by Christopher Nolan``."""
    return " ".join(spoken(label) if place % 2 else label for place, label in enumerate(path.labels))


def _by_words(text: str, index: NameIndex, limit: int) -> list[int]:
    """Entities whose names share telling words with a text; a name that is covered whole counts most."""
    words = words_of(text)
    score: dict[int, float] = defaultdict(float)
    for word in words:
        for key in word.keys:
            weight = 0.0 if key in ordinary_words() else index.rarity(key)
            for name in index.whole(key):
                score[name.entity] = max(score[name.entity], weight)
            for number in index.holding(key, _BY_WORD):
                name = index.name(number)
                score[name.entity] += weight / math.sqrt(len(name.words))
    for first in range(len(words)):
        for last in range(first + 2, min(len(words), first + index.longest) + 1):
            for name in index.whole("".join(word.key for word in words[first:last])):
                score[name.entity] += last - first
    return sorted(score, key=lambda entity: -score[entity])[:limit]


# One look -----------------------------------------------------------------------------------------

_NODES = 5  # nodes whose sentences are read
_EXTENDED = 5  # facts whose neighbours Graph-RAG adds


@register(
    "text-rag",
    "Text-RAG",
    "Amayuelas et al. 2025 (Grounding), section 5",
    "Searches the graph's facts as plain sentences by words and embeddings, and answers from the nearest.",
)
def text_rag(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """The graph as text: no entity linking, no following of edges. The topics are not used."""
    yield from _answer_from(query, _sentences(query, resources, settings), resources, settings)


@register(
    "graph-rag",
    "Graph-RAG",
    "Amayuelas et al. 2025 (Grounding), section 5",
    "As Text-RAG, with the neighbours of what was found, one hop further.",
)
def graph_rag(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """Text-RAG's facts, and the facts around the entities that the best of them lead to."""
    found = _sentences(query, resources, settings)
    near = [path for path, _ in rank(query, found, embedding_cache(resources.embedder), _EXTENDED)]
    further = facts(query, near, resources, settings)
    yield from _answer_from(query, [*found, *further], resources, settings)


@register(
    "kaping",
    "KAPING",
    "Baek et al. 2023 (KAPING)",
    "Takes the K triples around the question's entities that are nearest to it by embeddings.",
)
def kaping(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """Triples of the linked entities, one hop, ranked by embeddings; K is the number of paths."""
    found = facts(query, topic_starts(query, resources), resources, settings)
    yield from _answer_from(query, found, resources, settings)


@register(
    "bm25",
    "BM25",
    "Robertson and Zaragoza 2009 (BM25)",
    "As Text-RAG, with the facts ranked by the words that they share with the question.",
)
def bm25(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """Sparse retrieval. Rarity is counted among the facts around the nodes found, not in the whole graph."""
    yield from _answer_from(query, _sentences(query, resources, settings), resources, settings, Bm25())


@dataclass(frozen=True, slots=True)
class DirectGraphOptions:
    """How much of the graph is put into the prompt."""

    triples: int = option(60, "facts in the prompt, those likest the question first", minimum=1, maximum=400, public=60)


@register(
    "direct-graph",
    "Direct answer from the graph",
    "Li et al. 2025 (DoG), section 3.3",
    "Puts the graph around the question's entities into the prompt as triples, and asks for the answer at once.",
    options=DirectGraphOptions,
)
def direct_graph(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """The baseline Direct Answering: the graph is visible, but no chain of triples is written on the way."""
    limit = chosen(DirectGraphOptions, settings.options).triples
    frontier, triples = topic_starts(query, resources), []
    for _ in range(settings.hops):
        frontier = facts(query, frontier, resources, settings)
        triples += [Path.from_labels(path.hops[-1]) for path in frontier]
    yield from _answer_from(query, triples, resources, replace(settings, beams=limit))


def _sentences(query: Query, resources: Resources, settings: Settings) -> list[Path]:
    """Facts around the nodes whose text is nearest to the question."""
    return facts(query, [start(node) for node in nodes(query.text, resources, _NODES)], resources, settings)


def _answer_from(
    query: Query, found: Sequence[Path], resources: Resources, settings: Settings, words: Bm25 | None = None
) -> Iterator[Event]:
    """The reasoner's answer from the K paths nearest to the question, by embeddings or by the words shared with it."""
    ranked = rank(query, found, words or embedding_cache(resources.embedder), settings.beams)
    if words:
        ranked = [(path, score) for path, score in ranked if score > 0]  # the others share no word
    texts, scores = tuple(str(path) for path, _ in ranked), tuple(score for _, score in ranked)
    by = "BM25" if words else "sentence embeddings"
    yield CandidatesScored("retrieval", texts, scores, (True,) * len(ranked), by)
    evidence = yield from show(ranked, resources, settings.beams)
    yield from conclude(query, evidence, resources, directed=settings.directed, whole=settings.complete)


# Reasoning on graphs ------------------------------------------------------------------------------

_OFFERED = 60  # relations named to a chat model; unlike RoG's, it was not trained on the graph's vocabulary
_INSTANCES = 20  # of one plan that are shown; the answer has them all


@dataclass(frozen=True, slots=True)
class Plan:
    """A relation path as written, and its score where the model gives one."""

    relations: tuple[str, ...]
    score: float

    def __str__(self) -> str:
        return SEPARATOR.join(self.relations)


@register(
    "rog",
    "Reasoning on graphs",
    "Luo et al. 2024 (RoG)",
    "Plans relation paths without the graph, then looks in the graph for paths with these relations.",
)
def rog(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """Planning, retrieval, reasoning."""
    planning = _written_plans if resources.reasoner.is_language_model else _decoded_plans
    plans = yield from planning(query, resources, settings)
    found: list[tuple[Path, float]] = []
    for number, plan in enumerate(plans, 1):
        instances, reason = _instances(plan, query.topics, resources, settings)
        triples = tuple(dict.fromkeys(hop for path in instances[: settings.beams] for hop in path.hops))
        fate = "kept" if instances else "pruned"
        yield Thought("thought", number, (), f"Plan: {plan}", (), triples, plan.score, fate, reason)
        found += [(path, plan.score) for path in instances]
    evidence = yield from show(found, resources, settings.beams)
    yield from conclude(query, evidence, resources, directed=settings.directed, whole=settings.complete)


def _decoded_plans(query: Query, resources: Resources, settings: Settings) -> Generator[Event, None, list[Plan]]:
    """The relations of the paths that the path model writes freely; the entities it writes are ignored."""
    prompt = resources.model.style.encode(resources.model.label_tokens, query.text, query.topics, query.topic_types)
    branch = unconstrained_branch(resources.model, prompt, settings.beams)
    while (step := branch.advance()) is not None:
        yield step
    best: dict[tuple[str, ...], float] = {}
    for hypothesis in branch.finished or ():
        written = resources.model.label_tokens.path_format.with_arrows(branch.text(hypothesis))
        parts = re.split(r"\s*->\s*", written)
        relations = tuple(part.strip() for part in parts[1::2])
        if relations:
            best.setdefault(relations, hypothesis.score)
    plans = [Plan(_spelled(relations, resources), score) for relations, score in best.items()]
    yield branch.call("plan", "; ".join(map(str, plans)))
    return plans


def _written_plans(query: Query, resources: Resources, settings: Settings) -> Generator[Event, None, list[Plan]]:
    """A chat model's relation paths; it is told the relations that are nearest to the question."""
    step_labels = list(dict.fromkeys(resources.kg.step_labels))
    nearest = embedding_cache(resources.embedder).nearest(query.text, [spoken(r) for r in step_labels], _OFFERED)
    task = resources.prompts.text(
        "rog-plan",
        limit=settings.beams,
        hops=settings.hops,
        topics=", ".join(query.topics),
        relations=", ".join(step_labels[i] for i in nearest),
    )
    text = yield from deciding.plan(resources, query, task)
    paths = ([part.strip() for part in path.split("->")] for path in re.split(r"[;\n]", text))
    written = dict.fromkeys(tuple(filter(None, path))[: settings.hops] for path in paths)
    return [Plan(_spelled(relations, resources), 0.0) for relations in written if relations][: settings.beams]


def _spelled(relations: Sequence[str], resources: Resources) -> tuple[str, ...]:
    """Relations as the graph spells them, where it knows them."""
    known = {fold(relation_label): relation_label for relation_label in reversed(resources.kg.step_labels)}
    return tuple(known.get(fold(relation), relation) for relation in relations)


def _instances(plan: Plan, topics: Sequence[str], resources: Resources, settings: Settings) -> tuple[list[Path], str]:
    """The paths of the graph with these relations, and what there is to say of that."""
    step_labels = set(resources.kg.step_labels)
    unknown = [relation for relation in plan.relations if relation not in step_labels]
    if unknown:
        return [], f"the graph has no relation “{unknown[0]}”"
    kg = resources.kg
    found = [
        kg.labelled(ids)
        for start in kg.entities.ids_of(topics)
        for ids in kg.paths_over(start, plan.relations, settings.directed, _INSTANCES)
    ]
    if not found:
        return [], "no such path starts at the question's entities"
    return found, f"{len(found)} such path{'s' if len(found) > 1 else ''} in the graph"


# Think on graph -----------------------------------------------------------------------------------

WIDTH = 3  # N, the paper's beam width
DEPTH = 3  # the paper's greatest depth; L bounds it further
_DROPPED_SHOWN = 6  # dropped options that are shown as thoughts, the nearest; all are among the candidates


@register(
    "tog",
    "Think on graph",
    "Sun et al. 2024 (ToG)",
    "Grows three paths hop by hop: the reasoner prunes relations, then entities, and says when it is enough.",
)
def tog(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """Search and prune relations, search and prune entities, reason; at most three hops."""
    decisions = walk_decisions(resources)
    beams = topic_starts(query, resources)
    hop_lists: list[HopList] = []
    thoughts = _Thoughts()
    for _ in range(min(DEPTH, settings.hops)):
        ahead = [opening for beam in beams for opening in openings(beam, resources, settings)]
        if not ahead:
            break
        selected = yield from decisions.prune_relations(query, ahead, WIDTH)
        left = nearest(query, [opening for opening in ahead if opening not in selected], resources, _DROPPED_SHOWN)
        yield from thoughts.relations_dropped(left, len(selected))
        hop_lists, beams = yield from _pruned(query, selected, resources, decisions, thoughts)
        further = [opening for beam in beams for opening in openings(beam, resources, settings)]
        holds, best = yield from decisions.enough(query, hop_lists, further)
        if holds:
            beams = [path for path in beams if best and path in best.paths] or beams
            break
    paths = [(path, 0.0) for path in beams if path.relations]
    evidence = yield from show(paths, resources, settings.beams)
    yield from conclude(query, evidence, resources, directed=settings.directed, whole=settings.complete)


def _pruned(
    query: Query, selected: Sequence[Opening], resources: Resources, decisions: WalkDecisions, thoughts: _Thoughts
) -> Generator[Event, None, tuple[list[HopList], list[Path]]]:
    """The N paths left behind the relations kept, one of each relation before a second of any, and their hop lists."""
    pruned = [prune_entities(query, opening, resources, WIDTH) for opening in selected]
    found = yield from deciding.concurrently(resources, pruned)
    columns = zip_longest(*(hop_list.paths for hop_list in found))
    candidates = [path for path in chain.from_iterable(columns) if path is not None]
    beams = yield from decisions.prune_paths(query, candidates, WIDTH)
    yield from thoughts.paths_weighed(candidates, beams)
    left = [HopList(tuple(path for path in hop_list.paths if path in beams)) for hop_list in found]
    return [hop_list for hop_list in left if hop_list.paths], beams


class _Thoughts:
    """The search as a tree: every path kept hangs from the one it grew from, and what was dropped beside it."""

    def __init__(self) -> None:
        self._count = 0
        self._of: dict[Path, int] = {}  # the thought of each path kept

    def relations_dropped(self, dropped: Sequence[Opening], selected: int) -> Iterator[Event]:
        """Relations that nothing was looked up for."""
        for opening in dropped:
            yield self._thought(opening.path, opening.stem, "pruned", f"not among the {selected} relations kept")

    def paths_weighed(self, candidates: Sequence[Path], selected: Sequence[Path]) -> Iterator[Event]:
        """Paths read from the graph, those that go on and those that do not."""
        for path in [*selected, *(path for path in candidates if path not in selected)]:
            before = Path(path.entities[:-1], path.relations[:-1])
            fate, reason = ("kept", "") if path in selected else ("pruned", f"not among the {len(selected)} paths kept")
            thought = self._thought(before, str(path), fate, reason, (path.end,), (path.hops[-1],))
            yield thought
            if path in selected:
                self._of[path] = thought.id

    def _thought(
        self,
        before: Path,
        text: str,
        fate: str,
        reason: str,
        entities: tuple[str, ...] = (),
        triples: tuple[Triple, ...] = (),
    ) -> Thought:
        self._count += 1
        parents = (self._of[before],) if before in self._of else ()  # the topics are no thoughts
        return Thought("thought", self._count, parents, text, entities, triples, fate=fate, reason=reason)
