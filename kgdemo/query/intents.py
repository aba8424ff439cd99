"""What is asked of the things that a question names, however it is worded: learnt from wordings of plain questions.

What is asked is told by the words around the names, so the names are left out (``X``, ``Y``) and what remains is
embedded. A multinomial logistic regression over such embeddings says which plain question it is a paraphrase of, *how
high is X* or *who painted X*: semantic parsing via paraphrasing (Berant and Liang 2014), with a closed list of plain
questions. ``lab.training.intents`` fits it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.query.measures import greater_end

VALUE, COMPARE, MOST, STEP = "value", "compare", "most", "step"
X, Y = "X", "Y"  # in place of what a question names
_DATA = Path(__file__).parent / "data"
_WEIGHTS, _NAMES = "intents.safetensors", "intents.tsv"


@dataclass(frozen=True, slots=True)
class Intent:
    """A plain question.

    Attributes:
        operation: ``value`` of X, ``compare`` X and Y, ``most`` of a kind, or a ``step`` from X.
        of: the attribute, or the relation.
        direction: ``forward`` or ``inverse`` along a relation; else empty.
    """

    operation: str
    of: str
    direction: str = ""


_AS_A_VALUE = {  # a graph may state a year by a relation
    Intent(STEP, f"{date} in year", "forward"): Intent(VALUE, date)
    for date in ("born", "died", "released", "founded", "began", "ended", "happened")
} | {Intent(STEP, "published in year", "forward"): Intent(VALUE, "released")}


class Intents:
    """The plain questions that are known, and how likely a text is a paraphrase of each.

    Args:
        known: the plain questions.
        weights: one row each, ``(len(known), d)``.
        bias: of each, ``(len(known),)``.
    """

    def __init__(self, known: tuple[Intent, ...], weights: NDArray[np.float32], bias: NDArray[np.float32]) -> None:
        self.known, self._weights, self._bias = known, weights, bias

    def likely(self, vector: NDArray[np.float32], operations: Collection[str]) -> Mapping[Intent, float]:
        """The probability of each plain question, the likeliest first; of two ways to say a year they are added up.

        Args:
            vector: the embedding of a text without its names, ``(d,)``; of another width nothing is likely.
            operations: those that are possible, by the number of things that are named.
        """
        if vector.shape[0] != self._weights.shape[1]:
            return {}
        possible = [place for place, one in enumerate(self.known) if one.operation in operations]
        odds = self._weights[possible] @ vector + self._bias[possible]
        share = np.exp(odds - odds.max())
        share /= share.sum()
        found: dict[Intent, float] = {}
        for place, probability in zip(possible, share.tolist(), strict=True):
            one = _AS_A_VALUE.get(self.known[place], self.known[place])
            found[one] = found.get(one, 0.0) + probability
        return dict(sorted(found.items(), key=lambda own: -own[1]))

    def save(self, folder: Path = _DATA) -> None:
        """Write them where ``intents`` reads them, in half precision."""
        lines = ("\t".join((one.operation, one.of, one.direction)) for one in self.known)
        (folder / _NAMES).write_text("".join(f"{line}\n" for line in lines), "utf-8")
        tensors = {"weights": self._weights, "bias": self._bias}
        rows = {name: np.ascontiguousarray(tensor, np.float16) for name, tensor in tensors.items()}  # saved as they lie
        save_file(rows, folder / _WEIGHTS)


@cache
def intents() -> Intents:
    """Those that come with this package."""
    lines = (_DATA / _NAMES).read_text("utf-8").splitlines()
    tensors = load_file(_DATA / _WEIGHTS)
    known = tuple(Intent(*line.split("\t")) for line in lines)
    return Intents(known, tensors["weights"].astype(np.float32), tensors["bias"].astype(np.float32))


def intent_of(label: str, kg: KnowledgeGraph) -> Intent:
    """The plain question that a step asks of where it begins.

    Args:
        label: of the step, in either direction.
        kg: the graph.
    """
    if label in kg.relations:
        step = Intent(STEP, label, "forward")
        return _AS_A_VALUE.get(step, step)
    return Intent(STEP, next((name for name, back in kg.inverse_labels.items() if back == label), label), "inverse")


def masked(text: str, topics: Sequence[str], kg: KnowledgeGraph) -> str:
    """A text with a placeholder for each of its topics that it names."""
    for topic in topics:
        if place := named_in(text, topic, kg):
            text = f"{text[: place.start()]}{X}{text[place.end() :]}"
    return text


def named_in(text: str, entity: str, kg: KnowledgeGraph) -> re.Match[str] | None:
    """Where a text names an entity, by the longest of its names that stands there."""
    names = sorted({entity, re.sub(r" \([^)]*\)$", "", entity), *kg.names_of(entity)}, key=len, reverse=True)
    said = (re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) for name in names)
    return next(filter(None, said), None)


_MORE = frozenset("more most maximum max record ahead above exceeds beats tops top leads outlasts outweighs".split())
_LESS = frozenset("less least fewer fewest minimum bottom below under".split())
_EARLY = frozenset("first earlier earliest before older oldest elder eldest sooner preceded precedes predates".split())
_LATE = frozenset("last later latest after younger youngest newer newest recent recently follows followed".split())
_OLDER, _YOUNGER = frozenset(("older", "oldest", "elder", "eldest")), frozenset(("younger", "youngest"))
_DATED = frozenset("born died released founded opened happened discovered invented".split())
_WORD = re.compile(r"[a-z]+|(?<=no. )1\b|(?<=no )1\b|(?<=number )1\b")


def says_greater(text: str, attribute: str) -> bool | None:
    """Whether a text asks for the greater of values of an attribute, *longer*, *later*, or for the lesser.

    Returns:
        None where it says neither, or both.
    """
    words = _WORD.findall(text.lower())
    said: set[bool] = set()
    for place, word in enumerate(words):
        end = _end_said(word, attribute)
        if end is None:
            continue
        if not {"less", "least"}.isdisjoint(words[max(place - 2, 0) : place]):  # *less far south*
            said.discard(False)
            end = not end
        said.add(end)
    return said.pop() if len(said) == 1 else None


def _end_said(word: str, attribute: str) -> bool | None:
    """Whether a word says the greater end of an attribute's values; None where it says no end."""
    if attribute in _DATED:
        return True if word in _LATE else False if word in _EARLY else None
    if attribute in ("latitude", "longitude"):
        greater, lesser = ("north", "south") if attribute == "latitude" else ("east", "west")
        return True if word.startswith(greater) else False if word.startswith(lesser) else None
    if word == "1" or word in _MORE or (attribute == "age" and word in _OLDER):
        return True
    if word in _LESS or (attribute == "age" and word in _YOUNGER):
        return False
    return greater_end(word)
