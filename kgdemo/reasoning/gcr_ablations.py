"""GCR without one of its two language models (table 3 and appendix E, Ablation Study).

Without the KG-specialised model the paths within L hops go to the general one as they are. Without the general
model the hypothesis answers that the KG-specialised one wrote behind its paths are the answer.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from kgdemo.events import AnswerFinal, Event, Notice
from kgdemo.kg.path import Path
from kgdemo.reasoning import deciding, retrieval
from kgdemo.reasoning.base import Evidence, World
from kgdemo.reasoning.conclusion import show, without_reasoner
from kgdemo.reasoning.options import option
from kgdemo.settings import Settings
from kgdemo.verify import fold

_FED = 160  # paths given to the general model at the most: a hub has hundreds of thousands


@dataclass(frozen=True, slots=True)
class GcrOptions:
    """What can be chosen about GCR: which of its two models take part (table 3)."""

    path_model: bool = option(True, "no: the reasoner is given the paths within L hops, undecoded (table 3)")
    general_model: bool = option(True, "no: the hypothesis answers are the answer (table 3)")


def all_paths(
    question: str, topics: Sequence[str], world: World, settings: Settings
) -> Generator[Event, None, list[Evidence]]:
    """The paths within L hops, verified, in place of those that the KG-specialised model would decode.

    A language model is given all; of more than it could read those behind the relations nearest to the question.
    The embedded reasoner answers from the first path, so it chooses the K nearest to the question first.
    """
    known = [topic for topic in topics if topic in world.kg.entities]
    paths: list[Path] = []
    frontier = retrieval.starts_at(known)
    for _ in range(settings.hops):
        frontier = retrieval.facts(question, frontier, world, settings, _FED - len(paths)) if len(paths) < _FED else []
        paths += frontier
    if len(paths) == _FED:
        yield Notice(f"There are more paths than can be read at once; the reasoner is given {_FED}.")
    if not deciding.writes_prose(world.reasoner):
        texts = [str(path) for path in paths]
        chosen = yield from deciding.select(world, "paths", question, "", texts, settings.beams)
        paths = [paths[i] for i in chosen]
    return (yield from show(((path, 0.0) for path in paths), world, _FED))


def hypotheses(evidence: Sequence[Evidence], world: World) -> AnswerFinal:
    """The hypothesis answers as they are; one that names its path's end, as the graph spells it."""
    answers = [e.path.end if fold(e.hypothesis) == fold(e.path.end) else e.hypothesis for e in evidence]
    return without_reasoner(evidence, answers, world.model.name)
