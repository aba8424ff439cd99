"""How a question is put to a KG-specialised language model (GCR Figure 10, in our words).

A model folder may carry ``kgdemo.json`` with its own template and attention; without one the default
below is used, wrapped in the tokeniser's chat template when it has one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from kgdemo.constraint.pieces import Pieces
from kgdemo.models.relations import read_relations, write_relations
from kgdemo.models.similarity import LearntSimilarity, read_similarity, write_similarity

STYLE_FILE = "kgdemo.json"
_SLOTS = ("{question}", "{entities}")
DEFAULT_TEMPLATE = (
    "A reasoning path is a chain of facts from a knowledge graph that leads from an entity named in the "
    "question to its answer. Write reasoning paths for the question below, each starting at one of the "
    "topic entities, and then the answer.\n"
    "# Question:\n{question}\n# Topic entities:\n{entities}\n# Reasoning path:\n"
)


@dataclass(frozen=True, slots=True)
class PromptStyle:
    """The text around question and entities, and how the model may look at it.

    Attributes:
        template: holds ``{question}`` and ``{entities}`` once each, in this order.
        bidirectional: the prompt's tokens see one another in both directions (a prefix language model);
            only models trained so gain from it.
        answer_mark: what stands between ``</PATH>`` and the hypothesis answer.
        pool: weights of the experts that rank paths beside this model (``reasoning.prior``), fitted by
            ``python -m kgdemo calibrate --pool``; None: the model is taken at its word.
        backoff: weights of what stands for this model's probability where it was not trained on a relation
            (``reasoning.prior``), fitted by ``python -m kgdemo calibrate --held-out``; None: it is asked all the same.
        relations: spoken names of the relations it was trained on, from a list beside this file (``relations``);
            None: nothing is known of that, and every relation counts as known.
        similarity: of questions and relation paths, as learnt (``similarity``), from a file beside this one; None: that
            opinion is not heard.
        doubt: weights of the signs that no path answers the question, fitted for this model by
            ``python -m kgdemo calibrate``; None: never in doubt.
        doubt_graph: the graph they were fitted on, the only one they are used on; empty: any.
    """

    template: str = DEFAULT_TEMPLATE
    bidirectional: bool = False
    answer_mark: str = "\n# Answer:\n"
    pool: Mapping[str, float] | None = None
    backoff: Mapping[str, float] | None = None
    relations: frozenset[str] | None = None
    similarity: LearntSimilarity | None = None
    doubt: Mapping[str, float] | None = None
    doubt_graph: str = ""

    @classmethod
    def load(cls, folder: Path) -> PromptStyle:
        """Read the style a model folder carries, or return the default; what another version wrote is passed over."""
        file = folder / STYLE_FILE
        record = json.loads(file.read_text("utf-8")) if file.is_file() else {}
        known = {name: value for name, value in record.items() if name in cls.__dataclass_fields__}
        return cls(**{**known, "relations": read_relations(folder), "similarity": read_similarity(folder)})

    def save(self, folder: Path) -> None:
        """Write the style into a model folder."""
        record = asdict(replace(self, relations=None, similarity=None))
        for beside in ("relations", "similarity"):
            del record[beside]
        (folder / STYLE_FILE).write_text(json.dumps(record, indent=2) + "\n", "utf-8")
        if self.relations is not None:
            write_relations(folder, self.relations)
        if self.similarity is not None:
            write_similarity(folder, self.similarity)

    def encode(self, pieces: Pieces, question: str, entities: Sequence[str]) -> list[int]:
        """Token ids of the prompt up to and including ``<PATH>``; user text cannot smuggle in special tokens."""
        before, rest = self._rendered(pieces).split(_SLOTS[0], 1)
        between, after = rest.split(_SLOTS[1], 1)
        literal = pieces.special
        return [
            *literal(before),
            *pieces.plain(question),
            *literal(between),
            *pieces.plain("; ".join(entities)),
            *literal(after),
            *pieces.start,
        ]

    def _rendered(self, pieces: Pieces) -> str:
        if not getattr(pieces.tokenizer, "chat_template", None):
            return self.template
        turn = [{"role": "user", "content": self.template}]
        return pieces.tokenizer.apply_chat_template(turn, tokenize=False, add_generation_prompt=True)  # type: ignore[attr-defined]
