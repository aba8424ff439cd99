"""The embedded reasoner: decisions without any general language model, from probabilities and similarity.

FiDeLiS appendix B names this variant. It never writes prose of its own: an answer is the end of the most
probable group of paths, said plainly and cited.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgdemo.events import AnswerDelta, AnswerFinal, Event
from kgdemo.reasoning.base import Evidence

NAME = "the embedded reasoner"


class EmbeddedReasoner:
    """See ``base.Reasoner``."""

    name = NAME

    def answer(self, question: str, evidence: Sequence[Evidence], task: str = "") -> Iterator[Event]:
        """See ``base.Reasoner``: the ends of the best paths that share topic and relations."""
        if not evidence:
            refusal = "The graph holds no path from these entities, so there is nothing to answer from."
            yield AnswerFinal(refusal, (), (), self.name, refusal=refusal)
            return
        best = evidence[0].path
        group = [e for e in evidence if e.path.relations == best.relations and e.path.entities[0] == best.entities[0]]
        ends = list(dict.fromkeys(e.path.end for e in group))
        citations = tuple(tuple(e.index for e in group if e.path.end == end) for end in ends)
        text = ""
        for end, cited in zip(ends, citations, strict=True):
            piece = f"{', ' if text else ''}{end} " + "".join(f"[{index}]" for index in cited)
            text += piece
            yield AnswerDelta(piece)
        yield AnswerFinal(text, tuple(ends), citations, self.name)
