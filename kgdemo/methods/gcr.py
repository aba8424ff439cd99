"""GCR: graph-constrained reasoning (Luo et al. 2025, section 4).

Three stages: KG-Trie construction (4.2), graph-constrained decoding of K paths with a hypothesis answer each (4.3), and
inductive reasoning over them by a general language model (4.4). Beside it runs the same search without the constraint,
and everything that either search writes is verified.

Either of its two language models can be left out (table 3 and appendix E, Ablation Study). Without the KG-specialised
model the paths within L hops go to the general one as they are. Without the general model the hypothesis answers that
the KG-specialised one wrote behind its paths are the answer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kgdemo.answering.answer_sets import conclude, show, without_reasoner
from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.decoding.base import Hypothesis
from kgdemo.events import (
    WITHOUT_GRAPH,
    AnswerFinal,
    ConstraintReady,
    Event,
    HypothesisAnswer,
    Notice,
    PathFound,
    PathVerified,
)
from kgdemo.kg.labels import fold
from kgdemo.kg.path import Path
from kgdemo.methods import retrieval
from kgdemo.methods.hop_lists import topic_starts
from kgdemo.methods.registry import register
from kgdemo.methods.search_branch import (
    Branch,
    answers_behind,
    constrained_branch,
    limits_of,
    report_unconstrained,
    too_long_notice,
    unconstrained_branch,
)
from kgdemo.models.base import JointTree, Reading, in_step, read_out, unseen_labels
from kgdemo.query.query import Query
from kgdemo.ranking.abstention import RelationBelief, abstained, believing, judges
from kgdemo.ranking.graph_paths import PathReader, conjunctive_first, unseen_paths, with_topics
from kgdemo.ranking.scorer import PathScorer, RankedPath, rank
from kgdemo.reasoners import decisions as deciding
from kgdemo.reasoners.base import Evidence, Resources
from kgdemo.settings import Settings, chosen, option

_MAX_READ = 160  # undecoded paths given to the general model: a hub has hundreds of thousands


@dataclass(frozen=True, slots=True)
class GcrOptions:
    """What can be chosen about GCR: which of its two models take part (table 3), what one is shown (table 4)."""

    path_model: bool = option(True, "no: the reasoner is given the paths within L hops, undecoded (table 3)")
    general_model: bool = option(True, "no: the hypothesis answers are the answer (table 3)")
    examples: int = option(
        0, "worked examples shown to a path model that is not fine-tuned (table 4)", maximum=3, public=1
    )


@register(
    "gcr",
    "Graph-constrained reasoning",
    "Luo et al. 2025 (GCR), section 4",
    "Decodes K reasoning paths while the graph decides token by token what may be said, then answers from them.",
    constrained=True,
    drivable=True,
    options=GcrOptions,
)
def run(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """Stages 4.2 to 4.4 of the paper."""
    gcr = chosen(GcrOptions, settings.options)
    if gcr.path_model:
        evidence, beliefs = yield from decode_paths(query, resources, settings, gcr.examples)
    else:
        evidence, beliefs = (yield from all_paths(query, resources, settings)), None
    for event in abstained(query, evidence, resources, beliefs) if gcr.path_model else ():
        yield event
        if isinstance(event, AnswerFinal):
            return
    if not gcr.general_model:
        yield hypotheses(evidence, resources)
        return
    yield from conclude(query, evidence, resources, directed=settings.directed, whole=settings.complete)


def decode_paths(
    query: Query, resources: Resources, settings: Settings, examples: int = 0
) -> Generator[Event, None, tuple[list[Evidence], list[RelationBelief] | None]]:
    """KG-Trie construction and graph-constrained decoding, the prompt behind so many worked examples.

    Returns:
        the grounded paths, numbered in the order they are ranked; and what the model believes at the hops of the
        first, where that is to be judged by it.
    """
    began = time.perf_counter()
    ids = resources.kg.entities.ids_of(query.topics)
    automaton = KGAutomaton(resources.token_graph, ids, settings.hops)
    paths = automaton.paths_left(automaton.start())
    ms, hit_rate = 1000 * (time.perf_counter() - began), resources.token_graph.sub_tries.state.hit_rate
    yield ConstraintReady("automaton", query.topics, settings.hops, paths, ms, round(hit_rate, 4))

    style = resources.model.style.with_examples(examples)
    prompt = style.encode(resources.model.label_tokens, query.text, query.topics, query.topic_types)
    tree = JointTree(resources.model.tree(prompt))  # run in step, both searches share their forward passes
    constrained = constrained_branch(
        resources.model, prompt, automaton, limits_of(settings, resources.model), settings.search, tree
    )
    branches, unconstrained = [constrained], None
    if settings.compare:
        unconstrained = unconstrained_branch(resources.model, prompt, settings.beams, settings.forced, tree)
        branches.append(unconstrained)
    while branches:
        for branch in list(branches):
            step = branch.advance()
            if step is None:
                branches.remove(branch)
            else:
                yield step
    believe = not examples and judges(resources)  # behind worked examples the model's beliefs are others
    evidence, beliefs = yield from _grounded(constrained, unconstrained, query, resources, settings, believe)
    yield constrained.call("reasoning paths", "\n".join(str(found.path) for found in evidence))
    if unconstrained is not None:
        unconstrained.passes_counted = tree.calls
        written = yield from report_unconstrained(unconstrained, resources, settings.beams)
        yield unconstrained.call(WITHOUT_GRAPH, "\n".join(path.text for path in written))
    return evidence, beliefs


def scorer_for(query: Query, resources: Resources) -> PathScorer:
    """The features that rank a question's paths, with the weights of the path model."""
    style = resources.model.style
    unseen = unseen_labels(resources.kg, style.relations)
    return PathScorer(query, resources.kg, resources.embedder, style.ranking, unseen, style.backoff, style.similarity)


def _grounded(
    constrained: Branch, free: Branch | None, query: Query, resources: Resources, settings: Settings, believe: bool
) -> Generator[Event, None, tuple[list[Evidence], list[RelationBelief] | None]]:
    """Rank, verify and report the constrained paths, read off the automaton's leaves.

    Args:
        constrained: the finished search.
        free: the one without the graph, finished too; None: there is none.
        query, resources, settings: of the run.
        believe: read what the model believes at the hops of the first path.

    Returns:
        the paths that hold, and these beliefs.
    """
    graph, scorer = resources.token_graph, scorer_for(query, resources)
    reader = PathReader(graph, constrained.tree, constrained.longest)
    ranked, meets = _ranked(constrained, query, graph, settings, scorer, reader)
    answers, beliefs = _read_behind(constrained, free, ranked, settings.beams, resources, believe)
    resources.verifier.expect((graph.kg.labelled(found.ids) for found in ranked), answers)
    evidence: list[Evidence] = []
    for index, (found, answer, partners) in enumerate(zip(ranked, answers, meets, strict=True), 1):
        path = graph.kg.labelled(found.ids)
        beam = -1 if found.read else constrained.reader.beam_id(found.hypothesis.tokens)
        verdict = resources.verifier.verify(path, answer)  # first, for a store may fail here
        scores = found.path_score, path, beam, found.relation_score
        yield PathFound(True, index, str(path), *scores, found.read, found.weighed)
        yield HypothesisAnswer(True, index, answer)
        yield PathVerified(True, index, verdict)
        if not verdict.faithful:  # a store has changed since it was read
            beliefs = beliefs if evidence else None
            continue
        evidence.append(
            Evidence(
                index,
                path,
                answer,
                found.path_score,
                found.relation_score,
                partners,
                scorer.fits(path.end),
                resources.kg.said(found.ids.steps),
                resources.kg.is_detour(found.ids),
            )
        )
    if constrained.cut_off or reader.left_out:
        yield too_long_notice(resources.model, constrained.longest)
    yield from _cut_short(ranked, graph, settings.hops)
    return evidence, beliefs


def _ranked(
    constrained: Branch,
    query: Query,
    graph: TokenGraph,
    settings: Settings,
    scorer: PathScorer,
    reader: PathReader,
) -> tuple[list[RankedPath], list[tuple[int, ...]]]:
    """The K best paths, and for each the numbers of those from other topics that it meets.

    Paths over relations that the model was not trained on are read from the graph and ranked with the decoded ones. Not
    so where another ranking takes the model at its word, or where forced tokens say how paths begin.
    """
    finished, ranking, limit = constrained.finished or [], settings.ranking, settings.beams
    unseen: list[Hypothesis] = []
    if ranking == "pooled" and not settings.forced:
        topics = graph.kg.entities.ids_of(query.topics)
        unseen = unseen_paths(graph, topics, scorer, reader, finished, limit, settings.hops)
    finished = [*finished, *unseen]
    if len({path.entities[0] for h in finished for path in h.state.paths}) > 1:
        if ranking != "path":  # the score leaves entities out; a path's own has its topic in it
            finished = with_topics(graph, finished)
        ranked, meets = conjunctive_first(graph, finished, reader, ranking, limit, scorer)
    else:
        ranked = rank(graph, finished, ranking, limit, scorer)
        meets = [()] * len(ranked)
    read = {hypothesis.tokens for hypothesis in unseen}
    return [replace(path, read=path.read or path.hypothesis.tokens in read) for path in ranked], meets


def _read_behind(
    constrained: Branch,
    free: Branch | None,
    ranked: Sequence[RankedPath],
    limit: int,
    resources: Resources,
    believe: bool,
) -> tuple[list[str], list[RelationBelief] | None]:
    """What is read when both searches have ended, in passes that are shared.

    Returns:
        the hypothesis answers behind the ranked paths, and the beliefs at the hops of the first; those behind the
        other search's paths are left with it.
    """
    began, model, tree = time.perf_counter(), resources.model, JointTree.of(constrained.tree)
    readings: list[Reading[Any]] = [answers_behind(constrained, model, [path.hypothesis for path in ranked])]
    if free is not None:
        readings.append(answers_behind(free, model, (free.finished or [])[:limit]))
    if believe and ranked:
        readings.append(believing(resources.kg.labelled(ranked[0].ids), resources, tree))
    answers, *more = read_out(in_step(*readings))
    if free is not None:
        free.answers = more.pop(0)
    constrained.seconds += time.perf_counter() - began
    return answers, next(iter(more), None)


def _cut_short(ranked: Sequence[RankedPath], graph: TokenGraph, hops: int) -> Iterator[Event]:
    """Say so where the best path ends because of L alone: the model would rather have gone on.

    Of the development questions of ``world`` with L=2 that happens to 8 of 237, and 7 of these are answered wrong.
    """
    best = ranked[0] if ranked else None
    if best is None or best.read or len(best.ids.steps) < hops:
        return
    going_on = 1 - math.exp(sum(best.hypothesis.log_probs[-len(graph.label_tokens.end) :]))
    if going_on > 0.5:
        yield Notice(
            f"The model would rather have gone on after path [1] ({going_on:.0%}), but paths end after "
            f"{hops} hop{'s' if hops > 1 else ''}: if the answer falls short, allow one more (L)."
        )


def all_paths(query: Query, resources: Resources, settings: Settings) -> Generator[Event, None, list[Evidence]]:
    """The paths within L hops, verified, in place of those that the KG-specialised model would decode.

    A language model is given all of them; of more than it can read, those behind the relations nearest to the question.
    The embedded reasoner answers from the first path, so it first chooses the K nearest to the question.
    """
    paths: list[Path] = []
    frontier = topic_starts(query, resources)
    for _ in range(settings.hops):
        room = _MAX_READ - len(paths)
        frontier = retrieval.facts(query, frontier, resources, settings, room) if room else []
        paths += frontier
    if len(paths) == _MAX_READ:
        yield Notice(f"There are more paths than can be read at once; the reasoner is given {_MAX_READ}.")
    if not resources.reasoner.is_language_model:
        texts = [str(path) for path in paths]
        nearest = yield from deciding.select(resources, "paths", query, "", texts, settings.beams)
        paths = [paths[i] for i in nearest]
    return (yield from show(((path, 0.0) for path in paths), resources, _MAX_READ))


def hypotheses(evidence: Sequence[Evidence], resources: Resources) -> AnswerFinal:
    """The hypothesis answers as they are; one that names its path's end, as the graph spells it."""
    answers = [e.path.end if fold(e.hypothesis) == fold(e.path.end) else e.hypothesis for e in evidence]
    return without_reasoner(evidence, answers, resources.model.name)
