"""The embedded reasoner: decisions without a general language model, by the similarity of sentence embeddings.

FiDeLiS appendix B names this variant. It writes no text of its own: a plan is the question's content words, and an
answer is the ends of the best group of paths, cited.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgdemo.events import AnswerDelta, AnswerFinal, Event
from kgdemo.models.embedding import Embedder, embedding_cache
from kgdemo.query.query import Query
from kgdemo.reasoners.base import Decision, Evidence

NAME = "the embedded reasoner"
# cosine similarity above which a statement counts as said by the premises; MiniLM puts unrelated
# sentences below 0.3 and paraphrases above 0.6
_ENTAILED = 0.55


class EmbeddedReasoner:
    """See ``base.Reasoner``.

    Args:
        embedder: sentence embeddings for the choices.
    """

    name = NAME
    is_language_model = False
    at_once = 1
    samples = False

    def __init__(self, embedder: Embedder) -> None:
        self._labels = embedding_cache(embedder)  # the same options come up again and again

    def select(self, question: str, task: str, options: Sequence[str], limit: int) -> Decision:
        """See ``base.Reasoner``: the options most similar to the question."""
        scores = self._similarity(question, options)
        order = sorted(range(len(options)), key=lambda i: -scores[i])[:limit]
        return Decision(chosen=tuple(order), scores=tuple(scores))

    def score(self, question: str, task: str, options: Sequence[str]) -> Decision:
        """See ``base.Reasoner``: cosine similarity to the question."""
        return Decision(scores=tuple(self._similarity(question, options)))

    def propose(self, question: str, task: str, context: Sequence[str], options: Sequence[str], limit: int) -> Decision:
        """See ``base.Reasoner``: the options most similar to the question; it writes no thoughts."""
        return self.select(question, task, options, limit)

    def verify(self, question: str, statement: str, premises: Sequence[str], task: str = "") -> Decision:
        """See ``base.Reasoner``: whether the premises taken together are close to the statement."""
        if not premises:
            return Decision(holds=False, scores=(0.0,))
        joined = ". ".join(premises)
        best = max(self._similarity(statement, [*premises, joined]))
        return Decision(holds=best >= _ENTAILED, scores=(best,))

    def plan(self, query: Query, task: str, temperature: float = 0.0) -> Decision:
        """See ``base.Reasoner``: the content words of the question."""
        return Decision(text=", ".join(query.content_words))

    def thought(self, question: str, task: str, context: Sequence[str]) -> Decision:
        """See ``base.Reasoner``: repeats the last line of the context."""
        return Decision(text=context[-1] if context else question)

    def answer(self, question: str, evidence: Sequence[Evidence], task: str = "") -> Iterator[Event]:
        """See ``base.Reasoner``: the ends of the paths that share topic and relations with the first one.

        Where the first path meets others, only the ends of paths that do; where its end is of the type asked
        for, only ends of that type.
        """
        if not evidence:
            refusal = "The graph holds no path from these entities, so there is nothing to answer from."
            yield AnswerFinal(refusal, (), (), self.name, refusal=refusal)
            return
        first = evidence[0]
        group = [e for e in evidence if _same_group(e, first) and bool(e.partners) == bool(first.partners)]
        ends = list(dict.fromkeys(e.path.end for e in group))
        citations = tuple(tuple(n for e in group if e.path.end == end for n in (e.index, *e.partners)) for end in ends)
        mark = " and " if first.partners else ""  # of paths that meet each says a part
        text = ""
        for end, cited in zip(ends, citations, strict=True):
            piece = f"{', ' if text else ''}{end} " + mark.join(f"[{index}]" for index in cited)
            text += piece
            yield AnswerDelta(piece)
        yield AnswerFinal(text, tuple(ends), citations, self.name)

    def _similarity(self, text: str, options: Sequence[str]) -> list[float]:
        scores: list[float] = self._labels.similarity(text, options).tolist()
        return scores


def _same_group(one: Evidence, other: Evidence) -> bool:
    """Whether two paths start from the same topic over relations that say the same, to the same kind of thing.

    A detour is of another group than a path that goes on.
    """
    relations, others = (e.said or e.path.relations for e in (one, other))
    same_topic = one.path.entities[0] == other.path.entities[0]
    return relations == others and same_topic and one.fits == other.fits and one.detour == other.detour
