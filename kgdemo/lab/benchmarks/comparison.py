"""What ``bench decode`` and ``bench index`` share: two ways to one result, timed side by side in one process.

First come the timings, medians of interleaved repeats, ours and the reference by turns, so that whatever else the
machine does falls on both. Targets are reported, never asserted. Then the reference approach that ours is compared
with; last what both are run on: made-up graphs, tokenisers and models with the sizes of real ones, no download, no
data.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, TypeVar, cast

import networkx as nx
import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast, Qwen2Config

from kgdemo.constraint.label_tokens import ARROW, PATH_END, PATH_START
from kgdemo.constraint.label_tokens import Tokenizer as AnyTokenizer
from kgdemo.errors import UserError
from kgdemo.kg.graph import KnowledgeGraph, Triple
from kgdemo.models.base import PromptStyle
from kgdemo.models.causal import CausalModel
from kgdemo.settings import processors

if TYPE_CHECKING:
    import marisa_trie


Made = TypeVar("Made")
Other = TypeVar("Other")
Clock = Callable[[], float]  # seconds


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a benchmark.

    Attributes:
        name: what was timed.
        ours_ms, reference_ms: medians; the reference's is None where it was not run, and ``note`` says why.
        ratio: reference_ms / ours_ms.
        equal: whether both gave the same result; None where there is nothing to compare with.
        target: what we want of this row, in words.
        note: what a reader should know.
        repeats: how often each was run.
        extra: further figures by name.
    """

    name: str
    ours_ms: float
    reference_ms: float | None = None
    ratio: float | None = None
    equal: bool | None = None
    target: str = ""
    note: str = ""
    repeats: int = 1
    extra: Mapping[str, float | None] | None = None


def timed(call: Callable[[], Made], clock: Clock = time.perf_counter) -> tuple[float, Made]:
    """Milliseconds that a call took, and what it returned."""
    began = clock()
    made = call()
    return 1000 * (clock() - began), made


def side_by_side(
    name: str,
    ours: Callable[[], Made],
    reference: Callable[[], Other],
    same: Callable[[Made, Other], bool],
    repeats: int,
    clock: Clock,
    target: str = "",
    note: str = "",
    reference_once: bool = False,
) -> Row:
    """Time two ways to the same result by turns; ``same`` is asked about the last two results, untimed.

    ``reference_once`` is for a reference that takes seconds: only ours is repeated then.
    """
    mine, theirs = [], []
    for number in range(repeats):
        ms, made = timed(ours, clock)
        mine.append(ms)
        if number == 0 or not reference_once:
            ms, other = timed(reference, clock)
            theirs.append(ms)
    ours_ms, reference_ms = median(mine), median(theirs)
    ratio = reference_ms / ours_ms if ours_ms else None
    return Row(name, ours_ms, reference_ms, ratio, same(made, other), target, note, repeats)


def ours_only(
    name: str, ours: Callable[[], object], repeats: int, clock: Clock, target: str = "", note: str = ""
) -> Row:
    """Time something the reference approach has no answer to, or would take too long for."""
    return Row(name, median(timed(ours, clock)[0] for _ in range(repeats)), target=target, note=note, repeats=repeats)


def machine() -> str:
    """The machine in words: cores, processor, GPU."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [
            line.split(":", 1)[1] for line in info.read_text("utf-8").splitlines() if line.startswith("model name")
        ]
        cpu = " ".join(names[0].replace("(R)", "").replace("(TM)", "").split()) if names else cpu
    gpu = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "no GPU"
    return f"{processors()} CPU cores, {cpu}, {gpu}"


def sentence(row: Row) -> str:
    """A row for a person at a terminal."""
    text = f"{row.name}: {_duration(row.ours_ms)}"
    if row.reference_ms is not None and row.ratio is not None:
        text += f", reference {_duration(row.reference_ms)}, {row.ratio:.1f}x"
    if row.equal is not None:
        text += ", same result" if row.equal else ", RESULTS DIFFER"
    extra = ", ".join(f"{name} {value:.3g}" for name, value in (row.extra or {}).items() if value is not None)
    return "; ".join(part for part in (text, extra, row.note) if part)


def markdown(rows: Iterable[Row], command: str) -> str:
    """The rows as a Markdown table under a line that names command, machine and date."""
    heading = f"`python -m kgdemo {command}`, {machine()}, {date.today().isoformat()}:"
    lines = [heading, "", "| | ours | reference | ratio | same result | target |", "|---|---:|---:|---:|---|---|"]
    for row in rows:
        theirs = "–" if row.reference_ms is None else _duration(row.reference_ms)
        ratio = "–" if row.ratio is None else f"{row.ratio:,.0f}x" if row.ratio >= 10 else f"{row.ratio:.1f}x"
        equal = {None: "–", True: "yes", False: "no"}[row.equal]
        cells: Sequence[str] = (row.name, _duration(row.ours_ms), theirs, ratio, equal, row.target or "–")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _duration(ms: float) -> str:
    if ms >= 1000:
        return f"{ms / 1000:.1f} s"
    return f"{ms:.1f} ms" if ms >= 1 else f"{ms:.2f} ms"


# --------------------------------------------------------------------------------------------------
# The reference approach: enumerate, tokenise, store, ask (GCR sections 4.2 and 4.3).
#
# What published code for this kind of decoding does, written anew: a depth-first walk over a ``networkx`` graph, every
# path as text and through the tokeniser, a ``marisa-trie`` in which each token id is one character, and ``generate``
# with ``prefix_allowed_tokens_fn`` and beams. Two things are done better here, so that results can be compared: an
# entity pair keeps all its relations, and where no token may follow, the search ends instead of going on freely.


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
    """The graph as ``networkx`` has it: one edge an entity pair, with all its step labels."""
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
    """All walks of one to ``hops`` hops, depth first, as (entity, step label, entity, …)."""
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
    def build(cls, graph: nx.DiGraph[Any], topics: Sequence[str], hops: int, tokenizer: AnyTokenizer) -> ReferenceTrie:
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


# --------------------------------------------------------------------------------------------------
# Made-up graphs, tokenisers and models. Labels are words of syllables, so that they share token prefixes as real names
# do.


_ONSETS = "b c d f g h k l m n p r s t v w br ch dr fl gr kl pr sh st tr".split()
HUB = "The Hub"
_SYLLABLES = [onset + vowel for onset in _ONSETS for vowel in ("a", "e", "i", "o", "u", "an", "el", "in", "or", "us")]


def labels(count: int, words: int, seed: int, fewest: int = 1) -> list[str]:
    """Different names of ``fewest`` to ``words`` words, two syllables each; a number keeps the last ones apart."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(fewest, words + 1, count)
    drawn = rng.integers(0, len(_SYLLABLES), (count, words, 2))
    found: dict[str, None] = {}
    for size, row in zip(sizes.tolist(), drawn.tolist(), strict=True):
        name = " ".join((_SYLLABLES[a] + _SYLLABLES[b]).capitalize() for a, b in row[:size])
        found[name if name not in found else f"{name} {len(found)}"] = None
    return list(found)


def two_hop_graph(paths: int, words: int = 3, fewest: int = 1) -> tuple[list[Triple], str]:
    """A graph whose first entity, a hub, has about ``paths`` paths of up to two hops, edges walked forwards.

    Never more than one relation from one entity to another, which is all a plain ``networkx.DiGraph`` can
    hold. Entities' labels have ``fewest`` to ``words`` words. Those around the hub are linked among themselves, so that
    longer paths exist as well.

    Returns:
        the triples and the hub's label.
    """
    around = max(2, int(np.sqrt(paths)))
    fan = max(1, round(paths / around) - 1)
    entities = labels(around * 4 + 2, words, 0, fewest)
    relations = labels(40, 2, 1)
    rng = np.random.default_rng(0)
    edges = [(0, target) for target in range(1, around + 1)]
    for source in range(1, around + 1):
        edges += [(source, int(target)) for target in rng.choice(len(entities) - 1, fan, replace=False) + 1]
    kinds = rng.integers(0, len(relations), len(edges)).tolist()
    triples = [(entities[h], relations[r].lower(), entities[t]) for (h, t), r in zip(edges, kinds, strict=True)]
    return triples, entities[0]


def large_graph(triples: int, hub_edges: int) -> Iterator[Triple]:
    """A sparse random graph with three triples an entity, and ``HUB`` with ``hub_edges`` edges among them."""
    names = [HUB, *labels(max(10, triples // 3), 3, 0)]
    relations = [name.lower() for name in labels(200, 2, 1)]
    rng = np.random.default_rng(0)
    ends: NDArray[np.int64] = rng.integers(1, len(names), (triples, 2))
    ends[:hub_edges, 0] = 0
    ends[:hub_edges, 1] = np.arange(hub_edges) % (len(names) - 1) + 1
    kinds = rng.integers(0, len(relations), triples)
    for (head, tail), kind in zip(ends.tolist(), kinds.tolist(), strict=True):
        yield names[head], relations[kind], names[tail]


def tokenizer_of_size(vocabulary: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokeniser with ``vocabulary`` tokens, the kind that Llama-3 and Qwen2 have.

    It knows the syllables of ``labels`` and the arrow, and is filled up with letter groups that hardly
    occur: what costs time is how many tokens there are, not what they say.
    """
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {token: number for number, token in enumerate(["<eos>", PATH_START, PATH_END, *letters])}
    merges: list[tuple[str, str]] = []

    def learn(left: str, right: str) -> None:
        if left + right not in vocab and len(vocab) < vocabulary:
            vocab[left + right] = len(vocab)
            merges.append((left, right))

    learn("-", ">")
    learn("Ġ", "->")
    for syllable in _SYLLABLES:
        for word in (syllable, "Ġ" + syllable, "Ġ" + syllable.capitalize()):
            for end in range(1, len(word)):
                learn(word[:end], word[end])
    known = list(vocab)[3:]
    for left in known:  # their products go on in turn until the vocabulary is full
        if len(vocab) >= vocabulary:
            break
        for right in letters:
            learn(left, right)
    tokenizer = Tokenizer(BPE(vocab, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>", pad_token="<eos>")
    fast.add_special_tokens({"additional_special_tokens": [PATH_START, PATH_END]})
    return fast


def qwen2_shaped(name: str, tokenizer: PreTrainedTokenizerFast, width: int, inner: int, layers: int) -> CausalModel:
    """A causal language model of Qwen2's build with random weights: what it says is noise, what it costs is real."""
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=max(1, width // 64),
        num_key_value_heads=max(1, width // 448),
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=0,
    )
    torch.manual_seed(0)
    return CausalModel(name, AutoModelForCausalLM.from_config(config), tokenizer, PromptStyle())
