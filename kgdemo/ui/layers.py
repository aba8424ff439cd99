"""At which layer of the model the graph's token overtakes the invented one: a logit lens on one token of a shown run.

The text before the token is read once more, so that no run pays for what few look at. Only a BERT on a
CPU is read so, the embedded model among them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from kgdemo.errors import UserError
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.models.bert import LeanBert
from kgdemo.models.causal import CausalModel
from kgdemo.query.query import types_of

_MOST_TOPICS = 20
_MOST_TOKENS = 256
_LIKELY = 2000  # of the last layer's tokens, among which the forbidden one is looked for by its text


def layers_record(model: CausalModel, kg: KnowledgeGraph, asked: Mapping[str, Any], longest: int) -> dict[str, Any]:
    """The probabilities of two tokens after each layer, for the browser.

    Args:
        model: the one that wrote the run.
        kg: the graph of the run.
        asked: ``question``; ``topics``, its entities; ``tokens``, ids before the token; ``taken``, the id of the
            graph's token; ``forbidden``, the text of the invented one.
        longest: characters of a question.

    Returns:
        ``layers``, pairs (graph's token, invented one), of the embeddings first; or ``error``.
    """
    lean = model.reader.model
    if not isinstance(lean, LeanBert):
        return {"error": "This model’s layers cannot be looked into here; the embedded model’s can, on a CPU."}
    try:
        question, topics, tokens, taken, forbidden = _read(asked, longest, model.vocabulary)
        prompt = model.style.encode(model.label_tokens, question, topics, types_of(topics, kg))
        if len(prompt) + len(tokens) > model.context:
            raise UserError("The text before this token is longer than the model reads.")
    except UserError as error:
        return {"error": str(error)}
    log_probs = lean.logit_lens(prompt, tokens, model.style.bidirectional)
    likely: list[int] = torch.topk(log_probs[-1], min(_LIKELY, model.vocabulary)).indices.tolist()
    invented = next((token for token in likely if token != taken and model.token_text(token) == forbidden), None)
    if invented is None:
        return {"error": "The invented token is not among those that the model finds likely here."}
    pairs = log_probs[:, [taken, invented]].tolist()
    return {"layers": [[round(math.exp(value), 6) for value in pair] for pair in pairs]}


def _read(asked: Mapping[str, Any], longest: int, vocabulary: int) -> tuple[str, list[str], list[int], int, str]:
    question, topics, tokens = asked.get("question"), asked.get("topics"), asked.get("tokens")
    taken, forbidden = asked.get("taken"), asked.get("forbidden")
    fits = (
        isinstance(question, str)
        and len(question) <= longest
        and isinstance(topics, list)
        and len(topics) <= _MOST_TOPICS
        and all(isinstance(topic, str) and len(topic) <= longest for topic in topics)
        and isinstance(tokens, list)
        and len(tokens) <= _MOST_TOKENS
        and all(type(token) is int and 0 <= token < vocabulary for token in [*tokens, taken])
        and isinstance(forbidden, str)
    )
    if not fits:
        raise UserError("What was asked for cannot be read; load the page anew.")
    return question, topics, tokens, taken, forbidden  # type: ignore[return-value]  # checked above
