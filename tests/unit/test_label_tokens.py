"""Labels in bulk are spelled as one by one, whatever they hold."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.label_tokens import LabelTokens
from tests.helpers.models import byte_level_tokenizer, wordpiece_tokenizer
from tests.helpers.strategies import labels


@pytest.mark.parametrize("tokenizer", [byte_level_tokenizer, wordpiece_tokenizer])
@settings(max_examples=60, deadline=None)
@given(names=st.lists(labels, max_size=8))
def test_many_labels_are_spelled_as_each_alone(tokenizer, names):
    label_tokens = LabelTokens(tokenizer())
    label_tokens.tokenizer(
        ["a", "a b c d e"], padding=True, truncation=True, max_length=2
    )  # settings that must not linger
    table = label_tokens.encode(names)
    assert [table.row(i).tolist() for i in range(len(table))] == [label_tokens.plain(" " + name) for name in names]
