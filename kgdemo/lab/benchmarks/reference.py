"""The approach that the benchmark compares with: enumerate, tokenise, store, ask (GCR sections 4.2 and 4.3).

What published code for this kind of decoding does, written anew: a depth-first walk over a ``networkx``
graph, every path as text and through the tokeniser, a ``marisa-trie`` in which each token id is one
character, and ``generate`` with ``prefix_allowed_tokens_fn`` and beams. Two things are done better here,
so that results can be compared: an entity pair keeps all its relations, and where no token may follow,
the search ends instead of going on freely.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import networkx as nx
import torch

from kgdemo.constraint.label_tokens import ARROW, PATH_END, Tokenizer
from kgdemo.errors import UserError
from kgdemo.kg.graph import KnowledgeGraph

if TYPE_CHECKING:
    import marisa_trie

_SURROGATES = range(0xD800, 0xE000)  # code points that no string may hold


def require_marisa() -> None:
    """See that ``marisa-trie`` is installed.

    Raises:
        UserError: it is not.
    """
    try:
        import marisa_trie  # noqa: F401  # only whether it is there
    except ImportError as error:
        raise UserError("The benchmark needs marisa-trie; run: pip install -r tests/requirements.txt") from error


def networkx_graph(kg: KnowledgeGraph, directed: bool) -> nx.DiGraph[Any]:
    """The graph as ``networkx`` has it: one edge an entity pair, with all its readings."""
    graph: nx.DiGraph[Any] = nx.DiGraph()
    for entity, label in enumerate(kg.entities):
        for step, target in zip(*kg.steps(entity, directed), strict=True):
            other = kg.entities[int(target)]
            if graph.has_edge(label, other):
                graph[label][other]["step_labels"].append(kg.step_labels[int(step)])
            else:
                graph.add_edge(label, other, step_labels=[kg.step_labels[int(step)]])
    return graph


def walks(graph: nx.DiGraph[Any], topic: str, hops: int) -> Iterator[tuple[str, ...]]:
    """All walks of one to ``hops`` hops, depth first, as (entity, reading, entity, …)."""
    stack: list[tuple[str, ...]] = [(topic,)] if topic in graph else []
    while stack:
        walk = stack.pop()
        if len(walk) > 1:
            yield walk
        if len(walk) // 2 < hops:
            for other, edge in graph[walk[-1]].items():
                stack += [(*walk, relation_label, other) for relation_label in edge["step_labels"]]


class ReferenceTrie:
    """Token sequences as strings in a ``marisa_trie.Trie``.

    Args:
        rows: the token ids of each path.
    """

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        import marisa_trie

        self.trie: marisa_trie.Trie = marisa_trie.Trie(["".join(map(_character, row)) for row in rows])
        self.first = sorted({row[0] for row in rows})

    @classmethod
    def build(cls, graph: nx.DiGraph[Any], topics: Sequence[str], hops: int, tokenizer: Tokenizer) -> ReferenceTrie:
        """Equations 3 to 5: walk, write as text, tokenise, store."""
        found = (walk for topic in dict.fromkeys(topics) for walk in walks(graph, topic, hops))
        texts = [" " + f" {ARROW} ".join(walk) + PATH_END for walk in found]
        return cls(tokenizer(texts, add_special_tokens=False)["input_ids"] if texts else [])

    def allowed(self, tokens: Sequence[int]) -> list[int]:
        """Equation 7: the tokens that may follow; all stored paths with this beginning are looked through."""
        if not tokens:
            return self.first
        prefix = "".join(map(_character, tokens))
        return list({_token(key[len(prefix)]) for key in self.trie.keys(prefix) if len(key) > len(prefix)})

    def rows(self) -> set[tuple[int, ...]]:
        """All stored token sequences."""
        return {tuple(map(_token, key)) for key in self.trie}


def _character(token: int) -> str:
    return chr(token if token < _SURROGATES.start else token + len(_SURROGATES))


def _token(character: str) -> int:
    code = ord(character)
    return code if code < _SURROGATES.start else code - len(_SURROGATES)


@dataclass(frozen=True, slots=True)
class Generated:
    """A path written by ``generate``: its tokens after the prompt, and the sum of their log-probabilities."""

    tokens: tuple[int, ...]
    score: float


def generate(
    model: torch.nn.Module, prompt: Sequence[int], beams: int, max_tokens: int, end: int, trie: ReferenceTrie | None
) -> list[Generated]:
    """Beam search by ``transformers``, with the trie as its constraint or with none.

    ``length_penalty`` 0 makes a score the plain sum of full-vocabulary log-probabilities, and
    ``early_stopping`` False goes on while a live beam could still enter the best, as our search does.

    Args:
        model: a transformers causal language model.
        prompt: token ids.
        beams: K.
        max_tokens: longest path, end mark included.
        end: the token that ends a path.
        trie: the paths that may be written; None: any text.

    Returns:
        finished paths, best first; those that never had a chance (minus infinity) are left out.
    """

    def allowed(_: int, ids: torch.Tensor) -> list[int]:
        return trie.allowed(ids[len(prompt) :].tolist()) or [end]  # type: ignore[union-attr]

    ids = torch.tensor([list(prompt)], device=cast(torch.device, model.device))
    output = model.generate(  # type: ignore[operator]
        ids,
        attention_mask=torch.ones_like(ids),
        prefix_allowed_tokens_fn=allowed if trie else None,
        num_beams=beams,
        num_return_sequences=beams,
        max_new_tokens=max_tokens,
        do_sample=False,
        length_penalty=0.0,
        early_stopping=False,
        eos_token_id=end,
        pad_token_id=end,
        return_dict_in_generate=True,
        output_scores=True,
    )
    found = []
    for row, score in zip(output.sequences[:, len(prompt) :].tolist(), output.sequences_scores.tolist(), strict=True):
        if end in row and score > -1e8:  # lower: transformers' filler for beams that do not exist
            found.append(Generated(tuple(row[: row.index(end) + 1]), score))
    return found
