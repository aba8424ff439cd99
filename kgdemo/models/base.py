"""What a path model is to everything that uses it: a token tree that searches grow, and the prompt it stands behind.

A pass over few tokens costs about the same whatever their number, since the weights are moved once. So searches that
share a ``JointTree`` read what each will need next in one pass. A search says which nodes it will need (``add``) before
it hands its step out, and asks for their log-probabilities (``read``) when it goes on. By then the other searches of
this tree have said theirs, and all come from one pass. A node that two searches add is one node.

``PromptStyle`` is how a question is put to a KG-specialised language model (GCR Figure 10, in our words), and what is
known of it. A model folder may carry ``kgdemo.json`` with its own template and attention; without one the default below
is used, wrapped in the tokeniser's chat template when it has one. A folder with nothing but such a file drives a
checkpoint that lies elsewhere (``weights``) in the format that it was trained on. A list beside the weights, one spoken
name a line, says which relations the model knows from its training. Of a model without a list nothing is known.

``LearnedSimilarity`` says how similar a question and a relation path are. A sentence encoder sees that *"who fathered
X"* is near to *child of*, but also that it is near to X and to whatever sounds alike. Two square matrices, one for
questions and one for paths, keep of both embeddings what tells which path is asked for. They are trained beside a path
model (``lab.training.ranking``) and lie beside its weights.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from torch import Tensor

from kgdemo.constraint.label_tokens import LabelTokens, PathFormat
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import relation_name, spoken

PROMPT_END = -1  # the node to extend for the first token after the prompt
_KEPT = 4  # passes whose rows are kept for a search that comes later; a row is as long as the vocabulary


class TokenTree(Protocol):
    """Continuations of one prompt: a tree of tokens, each scored once."""

    @property
    def size(self) -> int:
        """Nodes so far; those that the next call appends are numbered from here on."""
        ...

    @property
    def calls(self) -> int:
        """Forward passes so far, that of the prompt among them."""
        ...

    def prompt_log_probs(self) -> Tensor:
        """Log-probabilities of the first token after the prompt, ``(V,)``."""
        ...

    def extend(self, parents: Sequence[int], tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """Append one token to each parent.

        Args:
            parents: node ids, or ``PROMPT_END``; also ids of nodes that stand earlier in this very call.
            tokens: the token appended to each.

        Returns:
            the new nodes' ids, and full-vocabulary log-probabilities of what follows each, ``(n, V)``.
        """
        ...


def extend_chain(tree: TokenTree, parent: int, tokens: Sequence[int]) -> tuple[list[int], Tensor]:
    """Append tokens one behind the other, read in one pass.

    Returns:
        the new nodes' ids, and log-probabilities of what follows the last, ``(V,)``.
    """
    nodes, log_probs = tree.extend([parent, *range(tree.size, tree.size + len(tokens) - 1)], tokens)
    return nodes, log_probs[-1]


class PathModel(Protocol):
    """A language model that writes reasoning paths."""

    name: str
    label_tokens: LabelTokens
    style: PromptStyle
    stop_ids: frozenset[int]
    context: int  # positions for prompt and text together
    vocabulary: int  # size of the log-probabilities

    @property
    def on_gpu(self) -> bool:
        """Whether it computes on something faster than this machine's processor."""
        ...

    @property
    def pooled(self) -> bool:
        """Whether its trees read every token once (``tree``), not whole texts again (``plain``)."""
        ...

    def tree(self, prompt: Sequence[int]) -> TokenTree:
        """Read the prompt once and return the tree of its continuations."""
        ...

    def token_text(self, token: int) -> str:
        """A token as shown to a person; a leading space is kept."""
        ...


class JointTree:
    """A ``TokenTree`` that several searches grow, see above.

    Args:
        tree: the tree that is grown; what others append to it between ``add`` and ``read`` would shift the nodes' ids.
    """

    @classmethod
    def of(cls, tree: TokenTree) -> JointTree:
        """The tree itself where it is such a one."""
        return tree if isinstance(tree, cls) else cls(tree)

    def __init__(self, tree: TokenTree) -> None:
        self._tree = tree
        self._node_of: dict[tuple[int, int], int] = {}  # by parent and token
        self._token_of: dict[int, tuple[int, int]] = {}  # parent and token by node
        self._unread: list[tuple[int, int]] = []  # added, and next to be read; the first is the tree's next node
        self._passes: deque[tuple[int, Tensor]] = deque(maxlen=_KEPT)  # first node and rows (n, V) of each
        self._promised: dict[int, Tensor] = {}  # rows of known nodes that were added again and are yet to be asked for

    @property
    def size(self) -> int:
        """See ``TokenTree``; nodes not yet read are counted."""
        return self._tree.size + len(self._unread)

    @property
    def calls(self) -> int:
        """See ``TokenTree``."""
        return self._tree.calls

    def add(self, parent: int, token: int) -> int:
        """Append a token to a parent, to be read with the next pass; the node's id, an old one where it is known."""
        known = self._node_of.get((parent, token))
        if known is not None:
            kept = self._kept(known)
            if kept is not None:
                self._promised[known] = kept  # its pass may be gone by the time it is asked for
            if kept is not None or known >= self._tree.size:
                return known
        node = self.size
        self._node_of[parent, token] = node
        self._token_of[node] = parent, token
        self._unread.append((parent, token))
        return node

    def add_chain(self, parent: int, tokens: Sequence[int]) -> list[int]:
        """``add`` tokens one behind the other; their nodes."""
        nodes: list[int] = []
        for token in tokens:
            nodes.append(self.add(nodes[-1] if nodes else parent, token))
        return nodes

    def read(self, nodes: Sequence[int]) -> Tensor:
        """Full-vocabulary log-probabilities of what follows nodes that were added, ``(n, V)``."""
        if any(node >= self._tree.size for node in nodes):
            self._read_added()
        begins, ends = nodes[0], nodes[0] + len(nodes)
        if list(nodes) == list(range(begins, ends)):  # as most are: then nothing is copied
            for first, rows in self._passes:
                if first <= begins and ends <= first + len(rows):
                    return rows[begins - first : ends - first]
        return torch.stack([self._row(node) for node in nodes])

    def prompt_log_probs(self) -> Tensor:
        """See ``TokenTree``."""
        self._read_added()
        return self._tree.prompt_log_probs()

    def extend(self, parents: Sequence[int], tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``TokenTree``."""
        self._read_added()
        return self._tree.extend(parents, tokens)

    def _read_added(self) -> None:
        if not self._unread:
            return
        first = self._tree.size
        parents, tokens = zip(*self._unread, strict=True)
        self._unread = []
        _, rows = self._tree.extend(parents, tokens)
        self._passes.append((first, rows))

    def _kept(self, node: int) -> Tensor | None:
        """The row of a node among the passes that are kept."""
        return next((rows[node - first] for first, rows in self._passes if first <= node < first + len(rows)), None)

    def _row(self, node: int) -> Tensor:
        """The row of a node that was read; one no longer kept is read again."""
        promised = self._promised.pop(node, None)
        known = self._kept(node) if promised is None else promised
        if known is not None:
            return known
        parent, token = self._token_of[node]
        return self._tree.extend([parent], [token])[1][0]


Result = TypeVar("Result")
Reading = Generator[None, None, Result]  # adds nodes to a joint tree, yields, reads them; again until it is done


def in_step(*readings: Reading[Any]) -> Reading[list[Any]]:
    """Several readings of one tree as one: what they add in a round is read in one pass.

    Returns:
        what each returns.
    """
    found: list[Any] = [None] * len(readings)
    under_way = dict(enumerate(readings))
    while under_way:
        for place, reading in list(under_way.items()):
            try:
                next(reading)
            except StopIteration as end:
                found[place] = end.value
                del under_way[place]
        if under_way:
            yield
    return found


def read_out(reading: Generator[Any, None, Result]) -> Result:
    """What a reading, or a search, returns when it runs by itself."""
    while True:
        try:
            next(reading)
        except StopIteration as end:
            result: Result = end.value
            return result


# the prompt, and what is known of a model ----------------------------------------------------------------

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
