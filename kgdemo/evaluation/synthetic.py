"""Made-up graphs, tokenisers and models for the benchmark: the sizes of real ones, no download, no data.

Labels are words of syllables, so that they share token prefixes as real names do.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast, Qwen2Config

from kgdemo.constraint.pieces import PATH_END, PATH_START
from kgdemo.kg.graph import Triple
from kgdemo.models.causal import CausalModel
from kgdemo.models.prompt import PromptStyle

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


def two_hop_graph(paths: int, seed: int = 0, words: int = 3, fewest: int = 1) -> tuple[list[Triple], str]:
    """A graph whose first entity, a hub, has about ``paths`` paths of up to two hops, edges walked forwards.

    Never more than one relation from one entity to another, which is all a plain ``networkx.DiGraph`` can
    hold. Entities' labels have ``fewest`` to ``words`` words. Those around the hub are linked among themselves, so that
    longer paths exist as well.

    Returns:
        the triples and the hub's label.
    """
    around = max(2, int(np.sqrt(paths)))
    fan = max(1, round(paths / around) - 1)
    entities = labels(around * 4 + 2, words, seed, fewest)
    relations = labels(40, 2, seed + 1)
    rng = np.random.default_rng(seed)
    edges = [(0, target) for target in range(1, around + 1)]
    for source in range(1, around + 1):
        edges += [(source, int(target)) for target in rng.choice(len(entities) - 1, fan, replace=False) + 1]
    kinds = rng.integers(0, len(relations), len(edges)).tolist()
    triples = [(entities[h], relations[r].lower(), entities[t]) for (h, t), r in zip(edges, kinds, strict=True)]
    return triples, entities[0]


def large_graph(triples: int, hub_edges: int, seed: int = 0) -> Iterator[Triple]:
    """A sparse random graph with three triples an entity, and ``HUB`` with ``hub_edges`` edges among them."""
    names = [HUB, *labels(max(10, triples // 3), 3, seed)]
    relations = [name.lower() for name in labels(200, 2, seed + 1)]
    rng = np.random.default_rng(seed)
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
