"""How a question is put to a KG-specialised language model (GCR Figure 10, in our words), and what is known of it.

A model folder may carry ``kgdemo.json`` with its own template and attention; without one the default below is used,
wrapped in the tokeniser's chat template when it has one. A folder with nothing but such a file drives a checkpoint that
lies elsewhere (``weights``) in the format that it was trained on. A list beside the weights, one spoken name a line,
says which relations the model knows from its training. Of a model without a list nothing is known.

``LearnedSimilarity`` says how similar a question and a relation path are. A sentence encoder sees that *"who fathered
X"* is near to *child of*, but also that it is near to X and to whatever sounds alike. Two square matrices, one for
questions and one for paths, keep of both embeddings what tells which path is asked for. They are trained beside a path
model (``lab.training.run``) and lie beside its weights.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from kgdemo.constraint.label_tokens import LabelTokens, PathFormat
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import relation_name, spoken

RELATIONS_FILE = "relations.txt"


def read_relations(folder: Path) -> frozenset[str] | None:
    """The spoken names of the relations that the model in a folder was trained on; None where no list says so."""
    file = folder / RELATIONS_FILE
    return frozenset(file.read_text("utf-8").split("\n")[:-1]) if file.is_file() else None


def write_relations(folder: Path, names: Iterable[str]) -> None:
    """Put the list into a model's folder."""
    (folder / RELATIONS_FILE).write_text("".join(f"{name}\n" for name in sorted(set(names))), "utf-8")


def unseen_labels(kg: KnowledgeGraph, known: frozenset[str] | None) -> frozenset[str]:
    """How those relations of a graph read, in both directions, that a model was not trained on.

    Args:
        kg: the graph.
        known: spoken names of the relations it was trained on; None: any may be among them.
    """
    if known is None:
        return frozenset()
    unseen = [relation_name(relation) not in known for relation in kg.relations]
    if not any(unseen):
        return frozenset()
    by_step = list(zip(kg.step_labels, [*unseen, *unseen], strict=True))
    return frozenset(r for r, new in by_step if new) - {r for r, new in by_step if not new}


SIMILARITY_FILE = "similarity.safetensors"


@dataclass(frozen=True, slots=True, eq=False)
class LearnedSimilarity:
    """Two linear maps of sentence embeddings of width d.

    Attributes:
        question: for questions, ``(d, d)``.
        path: for relation paths, ``(d, d)``.
    """

    question: NDArray[np.float32]
    path: NDArray[np.float32]

    def of(self, question: NDArray[np.float32], paths: NDArray[np.float32]) -> NDArray[np.float32]:
        """Cosine of the mapped embeddings.

        Args:
            question: embedding, ``(d,)``.
            paths: embeddings of path sentences (``path_sentence``), ``(n, d)``.

        Returns:
            ``(n,)``, from -1 to 1.
        """
        left, right = self.question @ question, paths @ self.path.T
        result: NDArray[np.float32] = (right @ left) / (np.linalg.norm(right, axis=1) * np.linalg.norm(left) + 1e-6)
        return result


def path_sentence(relations: Sequence[str]) -> str:
    """A relation path as it is put to the sentence encoder."""
    return " ".join(map(spoken, relations))


def read_similarity(folder: Path) -> LearnedSimilarity | None:
    """What lies in a model's folder; None where it has none."""
    file = folder / SIMILARITY_FILE
    if not file.is_file():
        return None
    tensors = load_file(file)
    return LearnedSimilarity(tensors["question"].astype(np.float32), tensors["path"].astype(np.float32))


def write_similarity(folder: Path, similarity: LearnedSimilarity) -> None:
    """Put it into a model's folder, in half precision."""
    halves = {"question": similarity.question.astype(np.float16), "path": similarity.path.astype(np.float16)}
    save_file(halves, folder / SIMILARITY_FILE)


# question, topic entities, reasoning path: what a model that was not fine-tuned is shown (GCR figure 12, in our words)
EXAMPLES = (
    ("Who wrote the opera Carmen?", "Carmen", "Carmen -> composed by -> Georges Bizet"),
    ("In which country does the Danube end?", "Danube", "Danube -> mouth in -> Black Sea -> borders -> Romania"),
    (
        "Where was the painter of The Scream born?",
        "The Scream",
        "The Scream -> painted by -> Edvard Munch -> born in -> Løten",
    ),
)
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
        ranking: weights of the features that rank this model's paths (``ranking.scorer``), fitted by
            ``python -m kgdemo calibrate --pool``; None: its own probability decides.
        backoff: weights of what replaces this model's probability where it was not trained on a relation
            (``ranking.scorer``), fitted by ``python -m kgdemo calibrate --held-out``; None: nothing replaces it.
        relations: spoken names of the relations it was trained on, from a list beside this file (``relations``);
            None: nothing is known of that, and every relation counts as known.
        similarity: of questions and relation paths, as learnt (``similarity``), from a file beside this one; None: the
            feature is 0.
        abstention: weights of the features that tell that no path answers the question (``ranking.abstention``),
            fitted for this model by ``python -m kgdemo calibrate``; None: it never abstains.
        abstention_graph: the graph they were fitted on, the only one they are used on; empty: any.
        topic_types: each topic entity is followed by its type, where one is known; only models trained so read it.
        chat: the template is the user's turn of the tokeniser's chat template, where it has one; no: it is the whole
            prompt, and the path begins where it ends.
        reply: what the model's own turn begins with, before the path.
        path: how a path is written.
        one_way: the model was trained on paths that follow edges from head to tail only, and is asked for no others.
        weights: folder or hub name of the checkpoint that this style is for; empty: it lies beside this file.
    """

    template: str = DEFAULT_TEMPLATE
    bidirectional: bool = False
    answer_mark: str = "\n# Answer:\n"
    ranking: Mapping[str, float] | None = None
    backoff: Mapping[str, float] | None = None
    relations: frozenset[str] | None = None
    similarity: LearnedSimilarity | None = None
    abstention: Mapping[str, float] | None = None
    abstention_graph: str = ""
    topic_types: bool = False
    chat: bool = True
    reply: str = ""
    path: PathFormat = field(default_factory=PathFormat)
    one_way: bool = False
    weights: str = ""

    @classmethod
    def load(cls, folder: Path) -> PromptStyle:
        """Read the style a model folder carries, or return the default; what another version wrote is passed over.

        Raises:
            ValueError: the file is not JSON, its template lacks a slot, or its paths have no separators.
        """
        file = folder / STYLE_FILE
        record = json.loads(file.read_text("utf-8")) if file.is_file() else {}
        known = {name: value for name, value in record.items() if name in cls.__dataclass_fields__}
        template = known.get("template", DEFAULT_TEMPLATE)
        if not 0 <= template.find(_SLOTS[0]) < template.find(_SLOTS[1]):
            raise ValueError(f"the template of {STYLE_FILE} needs {_SLOTS[0]} and, behind it, {_SLOTS[1]}")
        known["path"] = _path_format(known.get("path", {}))
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

    def with_examples(self, number: int) -> PromptStyle:
        """This prompt behind the first so many of ``EXAMPLES`` (few-shot; GCR appendix G, figure 12)."""
        shown = [
            f"Example {place}\n# Question:\n{question}\n# Topic entities:\n{entities}\n"
            f"# Reasoning path:\n{self.path.from_arrows(path)}\n\n"
            for place, (question, entities, path) in enumerate(EXAMPLES[:number], 1)
        ]
        return replace(self, template="".join(shown) + self.template)

    def encode(
        self, label_tokens: LabelTokens, question: str, entities: Sequence[str], types: Sequence[str] = ()
    ) -> list[int]:
        """Token ids of the prompt, with what a path begins with; user text cannot smuggle in special tokens.

        Args:
            label_tokens: the model's tokeniser.
            question: as it was typed.
            entities: what it is about.
            types: of these entities, in their order, empty where not known; none: no type is told.
        """
        if self.topic_types and types:
            entities = [f"{name}: {kind}" if kind else name for name, kind in zip(entities, types, strict=True)]
        before, rest = self._rendered(label_tokens).split(_SLOTS[0], 1)
        between, after = rest.split(_SLOTS[1], 1)
        literal = label_tokens.special
        return [
            *literal(before),
            *label_tokens.plain(question),
            *literal(between),
            *label_tokens.plain("; ".join(entities)),
            *literal(after),
            *(literal(self.reply) if self.reply else ()),
            *label_tokens.start,
        ]

    def _rendered(self, label_tokens: LabelTokens) -> str:
        tokenizer: Any = label_tokens.tokenizer  # those of chat models can do more than ours
        if not self.chat or not getattr(tokenizer, "chat_template", None):
            return self.template
        turn = [{"role": "user", "content": self.template}]
        return str(tokenizer.apply_chat_template(turn, tokenize=False, add_generation_prompt=True))


def _path_format(record: object) -> PathFormat:
    """What ``path`` says in the file of a style.

    Raises:
        ValueError: it is no object of texts, or names a part that a path does not have.
    """
    parts = sorted(PathFormat.__dataclass_fields__)
    if not isinstance(record, dict) or not all(isinstance(value, str) for value in record.values()):
        raise ValueError(f"path in {STYLE_FILE} is no object of texts; it has {', '.join(parts)}")
    if unknown := sorted(set(record) - set(parts)):
        raise ValueError(f"path in {STYLE_FILE} has no part {unknown[0]!r}; it has {', '.join(parts)}")
    return PathFormat(**record)
