"""Labels spelled word by word are spelled as whole ones, and a tokeniser for which that does not hold is found out."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, trainers
from tokenizers.models import BPE
from transformers import PreTrainedTokenizerFast

from kgdemo.constraint import label_tokens as pieces_module
from kgdemo.constraint.label_tokens import LabelTokens, spell_all, spell_by_words
from tests.helpers.models import CORPUS, byte_level_tokenizer, wordpiece_tokenizer
from tests.helpers.strategies import labels

LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
NAMES = [f"{a} {b}" for a, b in product(["New", "part", "born 1815", "it's", "x-", "Čes", "a  b"], ["York", "of", "?"])]


def trained(pre_tokenizer: pre_tokenizers.PreTokenizer | None) -> PreTrainedTokenizerFast:
    """A BPE tokeniser over the tests' corpus and names, with merges as greedy as its pre-tokeniser lets them be."""
    tokenizer = Tokenizer(BPE(unk_token="?"))
    if pre_tokenizer is None:
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
    else:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["?"],
        show_progress=False,
    )
    tokenizer.train_from_iterator([*CORPUS, *NAMES] * 3, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def llama_like() -> PreTrainedTokenizerFast:
    """Cut by Llama-3's pattern, then spelled in bytes."""
    cut = pre_tokenizers.Split(Regex(LLAMA_3), "isolated")
    in_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return trained(pre_tokenizers.Sequence([cut, in_bytes]))


def across_spaces() -> PreTrainedTokenizerFast:
    """Byte-level without a pattern: its tokens take in several words."""
    return trained(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))


@pytest.mark.parametrize("tokenizer", [byte_level_tokenizer, wordpiece_tokenizer, llama_like, across_spaces])
@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(st.one_of(labels, st.sampled_from(NAMES), st.lists(labels).map(" ".join)), min_size=1, max_size=8)
)
def test_by_words_is_as_a_whole(tokenizer, names):
    label_tokens = LabelTokens(tokenizer())
    table = spell_by_words(names, label_tokens._plain_batch, label_tokens._pre_tokens)
    assert [table.row(i).tolist() for i in range(len(table))] == [label_tokens.plain(" " + name) for name in names]


def test_a_word_is_spelled_once():
    label_tokens, asked = LabelTokens(llama_like()), []

    def spell(texts: list[str]) -> list[list[int]]:
        asked.append(list(texts))
        return label_tokens._plain_batch(texts)

    names = [f"{a} {b}" for a in ("Ada", "Bela", "Cora") for b in ("Gray", "Grant", "Green")]
    table = spell_by_words(names, spell, label_tokens._pre_tokens)
    assert sorted(asked[0]) == sorted({f" {word}" for name in names for word in name.split()})
    assert sum(map(len, asked[1:])) == 1  # a G follows an a, always: one label is tried for all
    assert len(table) == len(names)


def test_a_tokeniser_that_sees_across_spaces_is_found_out():
    label_tokens, asked = LabelTokens(across_spaces()), []

    def spell(texts: list[str]) -> list[list[int]]:
        asked.append(list(texts))
        return label_tokens._plain_batch(texts)

    whole = spell_all(["New York"], label_tokens._plain_batch)
    assert len(whole.ids) < len(label_tokens.plain(" New")) + len(
        label_tokens.plain(" York")
    )  # one token for both, as trained
    assert spell_by_words(["New York"], spell, label_tokens._pre_tokens).ids.tolist() == whole.ids.tolist()
    assert asked[-1] == [" New York"]


@pytest.mark.parametrize(
    ("tokenizer", "added", "by_words"),
    [
        (byte_level_tokenizer, None, True),
        (wordpiece_tokenizer, None, True),
        (lambda: trained(None), None, False),  # no pre-tokeniser: merges go where they like
        (llama_like, "New York", False),  # an added token of two words
    ],
)
def test_only_tokenisers_that_pre_tokenise_are_asked_by_words(monkeypatch, tokenizer, added, by_words):
    fast = tokenizer()
    if added:
        fast.add_tokens([added])
    label_tokens, used = LabelTokens(fast), []
    monkeypatch.setattr(pieces_module, "_MANY", 2)
    monkeypatch.setattr(pieces_module, "spell_by_words", lambda *a: used.append(1) or spell_by_words(*a))
    table = label_tokens.encode(NAMES)
    assert bool(used) == by_words
    assert [table.row(i).tolist() for i in range(len(table))] == [label_tokens.plain(" " + name) for name in NAMES]
