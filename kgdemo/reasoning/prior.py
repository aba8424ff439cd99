"""What speaks for a path beside the path model: a logarithmic opinion pool, one question at a time.

The path model is sure of itself where it should not be: it takes the likelier relation over the one that the
question names, and stops one hop short. So its log-probability is one expert among five, each with a weight
(a log-linear pool; Genest and Zidek 1986, section 3):

    likelihood  log-probability that the model gives to a path's relations, over all its tails that were found
    named       the end is not of the type that the question names ("which country …"): -1, else 0
    meant       the end is of no type that the question word or a role allows ("who", "the author of"): -1, else 0
    learnt      similarity of the question to the path's relations as the model's training has taught it, if it has
    covered     how well the relations' words cover the question's, by word embeddings

The weights are maximum-likelihood estimates of a softmax over a question's candidates (``evaluation.pooling``,
``python -m kgdemo calibrate --pool``) and belong to a model, for they say how far its probabilities can be
trusted. A model without any has its probabilities taken at their word.

Of a relation that the model was never trained on its probability says little, and relations of the same field that
it knows take all of it. There the pool backs off, as language models do from what they have not counted (Katz 1987):
in place of the likelihood stands what similarity, coverage and the number of hops make likely, a constant for how
seldom such a relation is meant, and what the model says of the rest of the path: its known relations, and whether it
goes on or ends (``BACKOFF``; fitted by ``calibrate --held-out`` on relations held out of training).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import spoken
from kgdemo.kg.path import Path
from kgdemo.linking.base import Embedder
from kgdemo.models.similarity import LearntSimilarity, path_sentence
from kgdemo.reasoning.asked_type import Fit, asked_types, fits, kind_of
from kgdemo.reasoning.label_index import label_index

EXPERTS = ("likelihood", "named", "meant", "learnt", "covered")
# of a model without weights of its own: 77 questions of the development set name a type, and none of them means
# another, which by the rule of succession makes a wrong end 1 in 79
UNFITTED: Mapping[str, float] = dict.fromkeys(EXPERTS, 0.0) | {"likelihood": 1.0, "named": math.log(79)}
BACKOFF = ("constant", "likelihood", "known", "learnt", "covered", "hops")
LITTLE = frozenset(
    "a an and are as at by did do does for from had has have how in is it its many me much name of on or please s tell "
    "that the their there these they this to was were what whats when where which who whom whose whos why will with "
    "you".split()
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the experts say of one path; see above."""

    likelihood: float
    named: float
    meant: float
    learnt: float
    covered: float

    def pooled(self, weights: Mapping[str, float]) -> float:
        """Log-odds of the path, but for a constant."""
        return sum(weight * getattr(self, name) for name, weight in weights.items())


class Prior:
    """The experts beside the path model, for one question.

    Args:
        question: as asked.
        topics: the topic entities.
        kg: for types and the topics' names.
        embedder: of words.
        weights: of all experts; see ``PromptStyle.pool``.
        unseen: how the relations read that the model was not trained on.
        backoff: weights of what makes a path with such a relation likely; see ``PromptStyle.backoff``.
        similarity: of questions and relation paths, as learnt; heard if it is for vectors as long as the embedder's.

    Attributes:
        words: the question's words that matter.
        labels: the embedder's vectors.
    """

    def __init__(
        self,
        question: str,
        topics: Sequence[str],
        kg: KnowledgeGraph,
        embedder: Embedder,
        weights: Mapping[str, float] | None = None,
        unseen: frozenset[str] = frozenset(),
        backoff: Mapping[str, float] | None = None,
        similarity: LearntSimilarity | None = None,
    ) -> None:
        self.weights = UNFITTED if weights is None else weights
        self.backoff = backoff
        self.unseen = frozenset() if backoff is None else unseen
        self.asked = asked_types(question, kg.types)
        self.question, self.words, self.labels = question, question_words(question, topics, kg), label_index(embedder)
        self._kg, self._similarity = kg, similarity

    def fits(self, end: str) -> Fit:
        """Whether this end may be the kind of thing asked for."""
        return fits(self.asked, kind_of(self._kg, end))

    def read(self, paths: Sequence[Path]) -> None:
        """Embed what opinions on these paths need, all at once: that takes a fraction of the time of one by one."""
        texts = [self.question, *self.words]
        for relations in dict.fromkeys(path.relations for path in paths):
            texts += [path_sentence(relations), *path_words(relations)]
        self.labels.vectors(list(dict.fromkeys(texts)))

    def opinion(self, path: Path, likelihood: float, known: float) -> Opinion:
        """What the experts say of a path.

        Args:
            path: as labels.
            likelihood: log-probability of its relations, by the model.
            known: the same without the relations that the model was not trained on (``ranking.known_score``).
        """
        wrong = 0.0 if self.fits(path.end) else -1.0
        named, meant = (wrong, 0.0) if self.asked.named else (0.0, wrong)
        learnt = self._learnt(path)
        covered = coverage(self.words, path_words(path.relations), self.labels.embedder)
        if self.backoff is not None and not self.unseen.isdisjoint(path.relations):
            signs = (1.0, likelihood, known, learnt, covered, len(path.relations))
            likelihood = sum(self.backoff.get(name, 0.0) * sign for name, sign in zip(BACKOFF, signs, strict=True))
        return Opinion(likelihood, named, meant, learnt, covered)

    def _learnt(self, path: Path) -> float:
        asked, said = self.labels.vectors([self.question, path_sentence(path.relations)])
        if self._similarity is None or len(self._similarity.question) != len(asked):
            return 0.0
        return float(self._similarity.of(asked, said[None])[0])


def coverage(asked: Sequence[str], said: Sequence[str], embedder: Embedder) -> float:
    """How well words cover those of a question: the mean over the latter of the cosine to the nearest one."""
    labels = label_index(embedder)
    return float((labels.vectors(asked) @ labels.vectors(list(dict.fromkeys(said))).T).max(axis=1).mean())


def question_words(question: str, topics: Sequence[str], kg: KnowledgeGraph) -> list[str]:
    """A question's words without little ones and the topics' names; all of them where nothing is left."""
    info = [kg.info.get(topic) for topic in topics]
    names = [*topics, *(alias for known in info if known for alias in known.aliases)]
    taken = LITTLE | {word for name in names for word in _WORD.findall(name.lower())}
    words = list(dict.fromkeys(_WORD.findall(question.lower())))
    return [word for word in words if word not in taken] or words or [question]


def path_words(relations: Sequence[str]) -> list[str]:
    """The words of a path's relations."""
    words = [word for relation in relations for word in spoken(relation).split() if word not in LITTLE]
    return words or [relations[-1]]
