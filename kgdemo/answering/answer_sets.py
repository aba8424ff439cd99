"""How methods end: paths are verified and shown, the reasoner answers from them, and the answer set is completed.

A question with eight right answers gets eight: the other ends of a cited relation path are read from the graph. Where
the cited path meets paths of other topics, the answers are all the entities where such paths meet.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from kgdemo.answering.operands import MAX_MEMBERS
from kgdemo.events import IN_GRAPH, NOWHERE, ON_PATH, AnswerFinal, Event, Notice, PathFound, PathVerified
from kgdemo.kg.graph import KnowledgeGraph, Layers
from kgdemo.kg.labels import fold
from kgdemo.kg.path import Path, PathIds
from kgdemo.linking.names import name_index
from kgdemo.query.answer_type import ANYTHING, AnswerType, fits, kind_of
from kgdemo.query.query import Query
from kgdemo.reasoners.base import Evidence, Resources


def show(
    paths: Iterable[tuple[Path, float]], resources: Resources, limit: int
) -> Generator[Event, None, list[Evidence]]:
    """Verify paths that a method read from the graph and report them in the order given, each once.

    A path that does not verify is reported with its verdict and is no evidence.

    Args:
        paths: each with its score, best first.
        resources: for the verifier.
        limit: how many to take.
    """
    evidence = []
    best: dict[Path, float] = {}
    for path, score in paths:
        best.setdefault(path, score)
    for index, (path, score) in enumerate(list(best.items())[:limit], 1):
        verdict = resources.verifier.verify(path)
        yield PathFound(True, index, str(path), score, path)
        yield PathVerified(True, index, verdict)
        if verdict.faithful:
            evidence.append(Evidence(index, path, path.end, score, detour=resources.kg.is_detour(path)))
    return evidence


def conclude(
    query: Query, evidence: Sequence[Evidence], resources: Resources, *, directed: bool, whole: bool, task: str = ""
) -> Iterator[Event]:
    """The reasoner's answer.

    What a language model says stays as it said it: each answer is looked up on the paths it cites, and what the graph
    adds stands beside the answers, not among them. Our own reasoner speaks for the graph, so the two are one there.

    Args:
        query: what is asked.
        evidence: what it may cite.
        resources: for reasoner and graph.
        directed: follow edges from head to tail only.
        whole: add the other entities that a cited relation path leads to.
        task: what the reasoner is told besides; empty for the usual.
    """
    general = resources.reasoner.is_language_model
    for event in resources.reasoner.answer(query.text, evidence, task):
        if isinstance(event, AnswerFinal):
            final = placed(event, evidence, resources.kg) if general else event
            if whole:
                yield from complete(final, evidence, resources, directed, query.answer_type, apart=general)
            else:
                yield final
        else:
            yield event


def placed(final: AnswerFinal, evidence: Sequence[Evidence], kg: KnowledgeGraph) -> AnswerFinal:
    """An answer with the place of each name: on a path it cites, elsewhere in the graph, or nowhere in it."""
    on_path = {e.index: {fold(entity) for entity in e.path.entities} for e in evidence}

    def place(name: str, cited: Sequence[int]) -> str:
        if any(fold(name) in on_path.get(index, ()) for index in cited):
            return ON_PATH
        read = any(fold(name) in entities for entities in on_path.values())
        known = read or name in kg.entities or name_index(kg).called(name)
        return IN_GRAPH if known else NOWHERE

    places = tuple(place(name, cited) for name, cited in zip(final.answers, final.citations, strict=True))
    return replace(final, places=places)


def without_reasoner(evidence: Sequence[Evidence], answers: Sequence[str], by: str) -> AnswerFinal:
    """An answer without a reasoner: what each path says, each thing once.

    Args:
        evidence: the paths.
        answers: what each of them says; empty texts are passed over.
        by: who found them.
    """
    different = list(dict.fromkeys(filter(None, answers)))
    citations = tuple(
        tuple(e.index for e, said in zip(evidence, answers, strict=True) if said == one) for one in different
    )
    text = ", ".join(one + "".join(f" [{i}]" for i in cited) for one, cited in zip(different, citations, strict=True))
    refusal = "" if different else "No path was found."
    return AnswerFinal(text or refusal, tuple(different), citations, by, refusal=refusal)


def complete(
    final: AnswerFinal,
    evidence: Sequence[Evidence],
    resources: Resources,
    directed: bool,
    answer_type: AnswerType = ANYTHING,
    apart: bool = False,
) -> Iterator[Event]:
    """Add to an answer the entities that its best cited relation path leads to as well.

    Each addition is verified like any path; what is added is listed apart, so that the page can say so. Only ends that
    fit the type asked for as well as the path's are added. Where there are more than ``MAX_MEMBERS``, none is, and
    a notice says so.

    Args:
        final, evidence: the answer, and the paths that it may cite.
        resources: for graph and verifier.
        directed: follow edges from head to tail only.
        answer_type: what is asked for.
        apart: the answers stay as they are, and only a path that leads to what cites it is taken up: an answer that is
            not on its path is not repaired.
    """
    cited = [
        e
        for e in evidence
        if any(
            e.index in numbers and (not apart or fold(name) == fold(e.path.end))
            for name, numbers in zip(final.answers, final.citations, strict=True)
        )
    ]
    if final.refusal or not cited:
        yield final
        return
    best = cited[0]
    kg, paths = resources.kg, [best.path, *(e.path for e in evidence if e.index in best.partners)]
    fit = fits(answer_type, kind_of(kg, best.path.end))
    walks, ends = _common_ends(kg, paths, directed)
    fitting = [end for end in ends if fits(answer_type, kind_of(kg, kg.entities[end])) >= fit]
    if len(fitting) > MAX_MEMBERS:
        yield Notice(
            f"The relations of path [{best.index}] lead to more than {MAX_MEMBERS:,} entities; the answer lists only "
            "those that the paths above have found."
        )
        yield final
        return
    answered = {fold(name) for name in final.answers} if apart else set(final.answers)
    led = {
        end: [kg.path_to(layers, path.relations, end, directed) for path, layers in zip(paths, walks, strict=True)]
        for end in fitting
        if (fold(kg.entities[end]) if apart else kg.entities[end]) not in answered
    }
    resources.verifier.expect(kg.labelled(ids) for own in led.values() for ids in own)
    additions = [kg.entities[end] for end, own in led.items() if all(_holds(ids, resources) for ids in own)]
    if apart:
        yield replace(final, completed=tuple(additions))
        return
    citations = (*final.citations, *((best.index, *best.partners) for _ in additions))
    yield AnswerFinal(final.text, (*final.answers, *additions), citations, final.by, tuple(additions), final.refusal)


def _common_ends(kg: KnowledgeGraph, paths: Sequence[Path], directed: bool) -> tuple[list[Layers], list[int]]:
    """What each path's topic and relations reach, and the entities that all of them lead to, none of them a topic."""
    topics = [kg.entities.find(path.entities[0]) or 0 for path in paths]
    walks = [kg.reach(topic, path.relations, directed) for topic, path in zip(topics, paths, strict=True)]
    ends = np.setdiff1d(reduce(np.intersect1d, [layers[-1] for layers in walks]), topics)
    return walks, kg.in_order(ends).tolist()


def _holds(ids: PathIds, resources: Resources) -> bool:
    """Whether a path is in the graph and no detour."""
    return not resources.kg.is_detour(ids) and resources.verifier.verify(resources.kg.labelled(ids)).faithful
