"""How methods end: the paths they found are verified and shown, then the reasoner answers from them."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence

from kgdemo.events import AnswerFinal, Event, PathFound, PathVerified
from kgdemo.kg.path import Path
from kgdemo.reasoning.answer_sets import complete
from kgdemo.reasoning.asked_type import asked_types
from kgdemo.reasoning.base import Evidence, World


def show(paths: Iterable[tuple[Path, float]], world: World, most: int) -> Generator[Event, None, list[Evidence]]:
    """Verify paths that a method read from the graph and report them in the order given, each once.

    A path that does not verify is reported with its verdict and is no evidence.

    Args:
        paths: each with its score, best first.
        world: for the verifier.
        most: how many to take.
    """
    evidence = []
    best: dict[Path, float] = {}
    for path, score in paths:
        best.setdefault(path, score)
    for index, (path, score) in enumerate(list(best.items())[:most], 1):
        verdict = world.verifier.verify(path)
        yield PathFound(True, index, str(path), score, path)
        yield PathVerified(True, index, verdict)
        if verdict.faithful:
            evidence.append(Evidence(index, path, path.end, score))
    return evidence


def conclude(
    question: str, evidence: Sequence[Evidence], world: World, *, directed: bool, whole: bool, task: str = ""
) -> Iterator[Event]:
    """The reasoner's answer.

    Args:
        question: what was asked.
        evidence: what it may cite.
        world: for reasoner and graph.
        directed: follow edges from head to tail only.
        whole: let the answer take in the other entities that a cited relation path leads to.
        task: what the reasoner is told besides; empty for the usual.
    """
    for event in world.reasoner.answer(question, evidence, task):
        if isinstance(event, AnswerFinal) and whole:
            asked = asked_types(question, world.kg.types)
            yield from complete(event, list(evidence), world, directed, asked)
        else:
            yield event


def without_reasoner(evidence: Sequence[Evidence], answers: Sequence[str], by: str) -> AnswerFinal:
    """An answer that no reasoner has thought over: what each path says, each thing once.

    Args:
        evidence: the paths.
        answers: what each of them says; empty texts are passed over.
        by: who found them.
    """
    told = list(dict.fromkeys(filter(None, answers)))
    citations = tuple(tuple(e.index for e, said in zip(evidence, answers, strict=True) if said == one) for one in told)
    text = ", ".join(one + "".join(f" [{i}]" for i in cited) for one, cited in zip(told, citations, strict=True))
    refusal = "" if told else "No path was found."
    return AnswerFinal(text or refusal, tuple(told), citations, by, refusal=refusal)
