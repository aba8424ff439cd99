"""The chat reasoner on a local model: decisions among given options are decoded under constraint.

A model on this machine shows its probabilities, so it needs not be trusted to reply in form: the options are
made a trie, and it can write nothing that is not in it. FiDeLiS and Grounding choose so among candidates.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from kgdemo.constraint.choices import ChoiceState, ChoiceTrie
from kgdemo.decoding.beam import BeamSettings, beam_search
from kgdemo.events import LMCall
from kgdemo.models.chat_local import LocalChat
from kgdemo.reasoning import prompts
from kgdemo.reasoning.base import Decision
from kgdemo.reasoning.chat import ChatReasoner

_VERDICTS = ("Yes", "No")


class LocalReasoner(ChatReasoner):
    """See ``base.Reasoner``; free text (plans, thoughts, the answer) is asked for as of any chat model.

    Args:
        model: the model that decides.
    """

    def __init__(self, model: LocalChat) -> None:
        super().__init__(model)
        self.local = model

    def select(self, question: str, task: str, options: Sequence[str], most: int) -> Decision:
        """See ``base.Reasoner``: the options it would write with the highest probabilities."""
        scores, call = self._weigh("select", prompts.choose(question, task, options), options, most)
        order = sorted((i for i in range(len(options)) if scores[i]), key=lambda i: -scores[i])
        return Decision(chosen=tuple(order[:most]), scores=scores, call=call)

    def score(self, question: str, task: str, options: Sequence[str]) -> Decision:
        """See ``base.Reasoner``: an option's rating is the probability that it would be written."""
        scores, call = self._weigh("score", prompts.choose(question, task, options), options, len(options))
        return Decision(scores=scores, call=call)

    def verify(self, question: str, statement: str, premises: Sequence[str]) -> Decision:
        """See ``base.Reasoner``: whether yes is more probable than no."""
        scores, call = self._weigh("verify", prompts.verify(question, statement, premises), _VERDICTS, len(_VERDICTS))
        return Decision(holds=scores[0] > scores[1], scores=scores[:1], call=call)

    def thought(self, question: str, task: str, context: Sequence[str], options: Sequence[str]) -> Decision:
        """See ``base.Reasoner``."""
        if not options:
            return super().thought(question, task, context, options)
        told = "\n".join([task, "So far:", *context])
        made = self.select(question, told, options, 1)
        return Decision(text=options[made.chosen[0]], chosen=made.chosen, scores=made.scores, call=made.call)

    def _weigh(self, purpose: str, prompt: str, options: Sequence[str], most: int) -> tuple[tuple[float, ...], LMCall]:
        """The probabilities of the ``most`` likeliest options, 0 for the others, and the call."""
        began, pieces = time.perf_counter(), self.local.causal.pieces
        trie = ChoiceTrie([pieces.plain(option) for option in options], min(self.local.causal.stop_ids))
        ids = self.local.encode(prompt)
        scores = [0.0] * len(options)
        finished: list[tuple[ChoiceState, float]] = [(trie.start(), 0.0)] if trie.start().complete else []
        written = 0
        if not finished:
            limits = BeamSettings(beams=most, max_tokens=trie.longest, graph_normalised=True)
            search = beam_search(self.local.tree(ids), trie, limits)
            for step in search:
                finished = [(h.state, h.score) for h in step.finished]  # type: ignore[misc]
                written = sum(len(h.tokens) for h in (*step.finished, *step.live))
        for state, score in finished:
            for index in state.options:  # options that read the same are one choice
                scores[index] = math.exp(score) / len(state.options)
        best = sorted(range(len(options)), key=lambda i: -scores[i])[:most]
        output = "; ".join(f"{options[i]} ({scores[i]:.2f})" for i in best if scores[i])
        seconds = time.perf_counter() - began
        return tuple(scores), LMCall(self.name, purpose, prompt, output, len(ids), written, seconds)
