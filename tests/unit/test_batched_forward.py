"""Several questions at one model: passes that wait go together, in turns, and say what each alone would say."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.functional import one_hot

from kgdemo.models.base import PROMPT_END
from kgdemo.models.token_tree import BatchedForward, Pass, PooledTokenTree
from tests.unit.test_decoding import model_named


class Gate(nn.Module):
    """A model that answers with its token ids, holds its first pass until it is opened, and remembers the order."""

    def __init__(self, fails_on: int = -1) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))
        self.dtype = torch.float32
        self.fails_on = fails_on
        self.entered, self.open = threading.Event(), threading.Event()
        self.groups: list[list[int]] = []

    def read(self, passes: Sequence[Pass]) -> list[Tensor]:
        ids = [int(one.input_ids) for one in passes]
        self.groups.append(ids)
        self.entered.set()
        assert self.open.wait(30)
        if self.fails_on in ids:
            raise ValueError(f"cannot read {self.fails_on}")
        return [logits(token) for token in ids]

    def forward(self, input_ids: Tensor, **_: object) -> object:
        class Output:
            logits = self.read([asking(int(input_ids))])[0][None]

        return Output()


def logits(token: int) -> Tensor:
    """Those of a model that is sure of a token, ``(1, V)``."""
    return 9.0 * one_hot(torch.tensor([token]), 10)


def told(log_probs: Tensor) -> float:
    """Which token that was; the numbers are probabilities' logarithms."""
    assert float(log_probs.exp().sum()) == pytest.approx(1)
    return float(log_probs.argmax())


def asking(token: int) -> Pass:
    """A pass told by its token."""
    return Pass(torch.tensor([[token]]), torch.empty(0), torch.empty(0), None, 1)


def ask_at_once(gate: Gate, shared: BatchedForward, tokens: Sequence[int]) -> dict[int, object]:
    """Ask for all tokens, the others while the first is held; what each thread got."""
    got: dict[int, object] = {}

    def ask(token: int) -> None:
        try:
            got[token] = told(shared(asking(token)))
        except ValueError as error:
            got[token] = str(error)

    threads = [threading.Thread(target=ask, args=(token,)) for token in tokens]
    threads[0].start()
    assert gate.entered.wait(30)
    for place, thread in enumerate(threads[1:], 1):
        thread.start()
        until(lambda place=place: len(shared._waiting) == place)
    gate.open.set()
    for thread in threads:
        thread.join(30)
    return got


def until(true: Callable[[], bool]) -> None:
    """Let the other threads run until something holds."""
    tick = threading.Event()
    for _ in range(30_000):
        if true():
            return
        tick.wait(0.001)
    raise AssertionError("never came about")


def test_what_waits_goes_in_one_pass():
    gate = Gate()
    got = ask_at_once(gate, BatchedForward(gate, gate.read), range(1, 5))
    assert gate.groups == [[1], [2, 3, 4]]
    assert got == {1: 1.0, 2: 2.0, 3: 3.0, 4: 4.0}


def test_with_two_turns_a_second_pass_begins_beside_the_first_and_what_waits_behind_them_goes_in_one():
    gate = Gate()
    got: dict[int, float] = {}
    shared = BatchedForward(gate, gate.read, turns=2)
    threads = [
        threading.Thread(target=lambda token=token: got.update({token: told(shared(asking(token)))}))
        for token in range(1, 6)
    ]
    for place, thread in enumerate(threads):
        thread.start()
        until(lambda place=place: len(gate.groups) + len(shared._waiting) == place + 1)
    assert gate.groups == [[1], [2]]
    gate.open.set()
    for thread in threads:
        thread.join(30)
    assert gate.groups == [[1], [2], [3, 4, 5]]
    assert got == {token: float(token) for token in range(1, 6)}


def test_a_model_that_reads_one_text_at_a_time_takes_them_in_the_order_they_came():
    gate = Gate()
    got = ask_at_once(gate, BatchedForward(gate), range(1, 6))
    assert gate.groups == [[1], [2], [3], [4], [5]]
    assert got == {token: float(token) for token in range(1, 6)}


def test_a_failure_is_told_to_those_it_belongs_to():
    gate = Gate(fails_on=3)
    got = ask_at_once(gate, BatchedForward(gate), range(1, 5))
    assert got == {1: 1.0, 2: 2.0, 3: "cannot read 3", 4: 4.0}
    gate = Gate(fails_on=3)
    got = ask_at_once(gate, BatchedForward(gate, gate.read), range(1, 5))
    assert got == {1: 1.0, 2: "cannot read 3", 3: "cannot read 3", 4: "cannot read 3"}
    assert told(BatchedForward(gate, lambda _: [logits(7)])(asking(8))) == 7


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this PyTorch carries no oneDNN")
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2), data=st.data())
def test_texts_read_together_get_the_log_probabilities_of_each_alone(seed, data):
    """Two rounds over several token trees: prompts first, then forks behind them."""
    model = model_named("bert", seed)
    token = st.integers(0, model.vocabulary - 1)
    prompts = data.draw(st.lists(st.lists(token, min_size=1, max_size=9), min_size=2, max_size=4))
    held: list[Pass] = []

    class Recorder(BatchedForward):
        def forward(self, wanted: Pass) -> Tensor:
            held.append(wanted)
            return torch.zeros(wanted.logits_to_keep, model.vocabulary)

    alone = [PooledTokenTree(model.reader, prompt, False) for prompt in prompts]
    joint = [PooledTokenTree(Recorder(model.reader.model), prompt, False) for prompt in prompts]
    for _ in range(2):
        expected = []
        held.clear()
        for slow, fast in zip(alone, joint, strict=True):
            tokens = data.draw(st.lists(token, min_size=1, max_size=4))
            parents = [data.draw(st.integers(PROMPT_END, slow.size + place - 1)) for place in range(len(tokens))]
            first = slow.size == 0
            rows = slow.extend(parents, tokens)[1]
            expected.append(torch.cat([slow.prompt_log_probs()[None], rows]) if first else rows)
            fast.extend(parents, tokens)
        for rows, found in zip(expected, model.reader.model.read(held), strict=True):
            assert torch.allclose(torch.log_softmax(found, dim=-1), rows, atol=1e-5)
