"""When no path answers the question: grounded is not the same as relevant (GCR appendix F.5).

The constraint always finds paths, for it may only take what the graph holds. A few signs tell whether the best
of them answers: how probable the relations were before the graph had its say, how well the path's words cover
the question's, and whether its end is the kind of thing asked for. A logistic regression weighs them; its
coefficients belong to a model (``PromptStyle.doubt``) and are fitted by ``python -m kgdemo calibrate``. The
paper names two such failures, and so does the refusal: the graph is incomplete, or the path is unrelated.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

from kgdemo.events import AnswerFinal
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.reasoning.base import Evidence, World
from kgdemo.reasoning.label_index import label_index, spoken

BIAS = "bias"
_LEAST = -15.0  # log-probability; less says nothing more
_MISSED = 0.5  # cosine similarity from which a relation of the graph may be the one that was asked for
_WORD = re.compile(r"\w+")
_LITTLE = frozenset(
    "a an and are as at by did do does for from had has have how in is it its many me much name of on or please s tell "
    "that the their there these they this to was were what whats when where which who whom whose whos why will with "
    "you".split()
)
_PLACES = "city country region continent island building museum university landmark mountain lake sea desert stadium"
_ASKED_BY = {  # question word -> types of what it asks for; what asks for a number finds hardly any in a graph
    "who": frozenset("person deity character band company organization team position dynasty".split()),
    "where": frozenset(_PLACES.split()),
    "when": frozenset({"year"}),
    "how": frozenset({"quantity"}),
}
_MUCH = frozenset("many much long old tall far big high deep fast heavy large wide".split())  # how many, not how come
_QUANTITIES = frozenset(
    "population height length depth width area age weight size price cost salary income budget revenue profit speed "
    "distance temperature duration gdp".split()
)
_SPELLED = {"whos": "who", "whom": "who", "whose": "who", "wheres": "where", "whens": "when", "hows": "how"}


@dataclass(frozen=True, slots=True)
class Signs:
    """What tells whether the first path answers.

    Attributes:
        left: logarithm of the probability that the relations found had together, over the full vocabulary; what
            the graph forbade is missing from it.
        covered: how well the path's words cover those of the question: the mean over the latter of the cosine
            similarity to the nearest of the path's. The topics' names are left out on both sides.
        words: logarithm of the number of those words of the question; of many a path says fewer.
        kind: 1 where its end is of a type that the question word asks for, -1 where it is of another, else 0.
    """

    left: float
    covered: float
    words: float
    kind: float


def signs(question: str, topics: Sequence[str], evidence: Sequence[Evidence], world: World) -> Signs:
    """The signs of a question's ranked paths, of which there is at least one."""
    groups: dict[tuple[str, tuple[str, ...]], float] = {}
    for item in evidence:
        key = item.path.entities[0], item.path.relations
        groups[key] = max(groups.get(key, _LEAST), item.relation_score)
    total = sum(map(math.exp, groups.values()))  # of several topics each may have up to 1
    asked = _asked(question, topics, world.kg)
    first = [evidence[0], *(item for item in evidence if item.index in evidence[0].partners)]
    said = [word for item in first for word in _said(item.path, world.kg)]
    labels = label_index(world.embedder)
    nearest = (labels.vectors(asked) @ labels.vectors(list(dict.fromkeys(said))).T).max(axis=1)
    return Signs(
        left=min(0.0, max(_LEAST, math.log(total))),
        covered=float(nearest.mean()),
        words=math.log(len(asked)),
        kind=_kind(question, evidence[0].path.end, world.kg),
    )


def doubt(found: Signs, weights: Mapping[str, float]) -> float:
    """Log-odds that the paths do not answer, in which the price of a wrong refusal is included."""
    values = asdict(found)
    return weights.get(BIAS, 0.0) + sum(weight * values[name] for name, weight in weights.items() if name != BIAS)


def refusal(question: str, topics: Sequence[str], evidence: Sequence[Evidence], world: World) -> AnswerFinal | None:
    """The answer that says there is none, and which failure it is; None where the paths are trusted.

    Args:
        question: as asked.
        topics: the topic entities.
        evidence: ranked paths.
        world: for graph, embedder and the model's weights; a reasoner that judges paths itself is left to it.
    """
    style = world.model.style
    weights = style.doubt
    if weights is None or not evidence or world.reasoner.judges_paths:
        return None
    if style.doubt_graph not in ("", world.kg.name):  # other words, other signs: there they would refuse too much
        return None
    found = signs(question, topics, evidence, world)
    if doubt(found, weights) <= 0:
        return None
    chance = math.exp(evidence[0].relation_score)
    given = f"{chance:.1%}" if chance >= 0.001 else "under 0.1%"
    closest = f"the closest path, [{evidence[0].index}], is unrelated (the model gives its relations {given})"
    missing = _missing(question, topics, world)
    if missing:
        why = f"The graph is incomplete here: it knows “{missing}”, but not of {' or '.join(topics)}; {closest}."
    else:
        why = f"The graph does not hold what is asked for: {closest}."
    text = f"None of these paths answers the question. {why}"
    return AnswerFinal(text, (), (), world.reasoner.name, refusal=text)


def _missing(question: str, topics: Sequence[str], world: World) -> str:
    """The relation of the graph that is most like the question, if it is like enough and no topic has it."""
    readings = list(dict.fromkeys(world.kg.readings))
    asked = " ".join(_asked(question, topics, world.kg))
    likeness = label_index(world.embedder).similarity(asked, [spoken(reading) for reading in readings])
    nearest = readings[int(likeness.argmax())]
    had = {reading for topic in topics for reading, _ in world.kg.neighbours(topic)}
    return nearest if likeness.max() >= _MISSED and nearest not in had else ""


def _asked(question: str, topics: Sequence[str], kg: KnowledgeGraph) -> list[str]:
    """A question's words without little ones and the topics' names; all of them where nothing is left."""
    info = [kg.info.get(topic) for topic in topics]
    names = [*topics, *(alias for known in info if known for alias in known.aliases)]
    taken = _LITTLE | {word for name in names for word in _WORD.findall(name.lower())}
    words = list(dict.fromkeys(_WORD.findall(question.lower())))
    return [word for word in words if word not in taken] or words or [question]


def _said(path: Path, kg: KnowledgeGraph) -> list[str]:
    """The words of a path's relations, and the types of the entities they lead to."""
    words = [word for relation in path.relations for word in spoken(relation).split()]
    types = [info.type for info in map(kg.info.get, path.entities[1:]) if info and info.type]
    return [*types, *(word for word in words if word not in _LITTLE)] or [path.relations[-1]]


def _kind(question: str, end: str, kg: KnowledgeGraph) -> float:
    """See ``Signs``."""
    words = [_SPELLED.get(word, word) for word in _WORD.findall(question.lower())]
    asked = next(filter(None, (_types_asked(word, after) for word, after in pairwise([*words, ""]))), None)
    if asked is None or not kg.info:
        return 0.0
    known = kg.info.get(end)
    number = "year" if re.fullmatch(r"\d{3,4}", end) else "quantity" if end[:1].isdigit() else ""
    return 1.0 if ((known and known.type) or number) in asked else -1.0


def _types_asked(word: str, after: str) -> frozenset[str] | None:
    """The types that a word of a question asks for, if it asks."""
    if word in _QUANTITIES:
        return _ASKED_BY["how"]
    return _ASKED_BY.get(word) if word != "how" or after in _MUCH else None
