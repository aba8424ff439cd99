"""The constraint for anybody's ``generate()``: a logits processor of transformers (GCR section 4.3, equation 7).

    processor = GraphLogitsProcessor(kg, tokenizer, [["Inception"], ["Dune"]], hops=2)
    model.generate(**batch, logits_processor=[processor], num_beams=4)

Between ``<PATH>`` and ``</PATH>`` only paths of the graph can be written; outside nothing changes. Our own
search is faster (it reads nothing twice) and drops dead beams; this is for those who have a pipeline already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import LogitsProcessor, PreTrainedTokenizerBase

from kgdemo.constraint.automaton import Constraint, KGAutomaton, State
from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.errors import ModelError
from kgdemo.kg.graph import KnowledgeGraph

WAY_OUT = -1e9  # worse than any path, yet finite: transformers prefers it to tokens at -inf


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a text stands: inside a path (``state``), or outside behind the ``last`` few tokens."""

    last: tuple[int, ...] = ()
    state: State | None = None
    lost: bool = False  # the text inside the path is not of the graph


class GraphLogitsProcessor(LogitsProcessor):
    """Lets paths of a graph through, and nothing else, between the path marks.

    Inside a path allowed tokens keep their scores, every other token gets -inf, and the end of text gets
    ``WAY_OUT``: beam search needs somewhere to put beams that have fewer ways on than it has beams. A text
    that takes it holds no complete path. Where nothing may follow (no topic entity is in the graph, or the
    prompt has begun a path that is not) only the end of text is left.

    Args:
        graph: the graph; hand over a ``TokenGraph`` to spell its labels once for many questions.
        tokenizer: the model's fast tokeniser; the path marks should be tokens of its own, or else stand
            in the text as ``tokenizer("<PATH>")`` spells them.
        topics: topic entities' labels, a list for each row of the batch; unknown ones are left out.
        hops: longest path (L).
        directed: walk edges from head to tail only; of a ``TokenGraph`` its own setting counts.

    Raises:
        ModelError: the tokeniser has no end of text.
    """

    def __init__(
        self,
        graph: KnowledgeGraph | TokenGraph,
        tokenizer: PreTrainedTokenizerBase,
        topics: Sequence[Sequence[str]],
        hops: int = 2,
        directed: bool = False,
    ) -> None:
        if tokenizer.eos_token_id is None:
            raise ModelError("The tokeniser has no end of text; set tokenizer.eos_token, it is the only way out.")
        if isinstance(graph, KnowledgeGraph):
            graph = TokenGraph(graph, LabelTokens(tokenizer), directed)
        self.end_of_text = int(tokenizer.eos_token_id)
        self.start = tuple(graph.label_tokens.start)
        self.constraints: list[Constraint[Any]] = [
            KGAutomaton(graph, graph.kg.entities.ids_of(row), hops) for row in topics
        ]
        self._places: dict[tuple[int, tuple[int, ...]], _Place] = {}

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Mask the scores of rows that stand inside a path.

        Args:
            input_ids: ``(rows, length)``; rows are the batch's, each repeated once a beam.
            scores: logits or log-probabilities, ``(rows, V)``.

        Returns:
            the scores, masked, ``(rows, V)``.

        Raises:
            ValueError: the rows cannot be those of this batch.
        """
        if len(input_ids) % len(self.constraints):
            raise ValueError(
                f"{len(input_ids)} rows are no multiple of {len(self.constraints)} lists of topic entities"
            )
        beams = len(input_ids) // len(self.constraints)
        places = {}
        masked = scores.clone()
        for row, ids in enumerate(input_ids.tolist()):
            question, text = row // beams, tuple(ids)
            place = places[question, text] = self._place(question, text)
            if place.state is not None:
                masked[row] = self._masked(scores[row], place, self.constraints[question])
        self._places = places  # the next call's texts are one token longer than these
        return masked

    def _masked(self, scores: Tensor, place: _Place, constraint: Constraint[Any]) -> Tensor:
        masked = torch.full_like(scores, -torch.inf)
        masked[self.end_of_text] = max(WAY_OUT, torch.finfo(scores.dtype).min)
        if not place.lost and place.state is not None and place.state.alive:
            tokens = constraint.successors(place.state).tokens
            allowed = torch.as_tensor(tokens, dtype=torch.long, device=scores.device)
            masked[allowed] = scores[allowed]
        return masked

    def _place(self, question: int, text: tuple[int, ...]) -> _Place:
        """Where a text stands; read on from what is known of it, whichever beam that was."""
        known = self._places.get((question, text[:-1]))
        place, rest = (known, text[-1:]) if known is not None else (_Place(), text)
        for token in rest:
            place = self._after(place, token, self.constraints[question])
        return place

    def _after(self, place: _Place, token: int, constraint: Constraint[Any]) -> _Place:
        if place.state is None:
            last = (*place.last, token)[-len(self.start) :]
            return _Place(state=constraint.start()) if last == self.start else _Place(last)
        if place.lost:
            return place
        allowed = constraint.successors(place.state)
        found = np.flatnonzero(allowed.tokens == token)
        if not len(found):
            return _Place(state=place.state, lost=True)
        state = allowed.take(int(found[0]))
        return _Place() if state.complete else _Place(state=state)
