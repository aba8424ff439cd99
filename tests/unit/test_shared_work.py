"""Parts of one piece of work on two threads, and pauses of long work while others read."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch
from torch import nn

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.linking import names
from kgdemo.linking.names import name_index
from kgdemo.models.bert import ROWS, OneDNNLinear, product
from kgdemo.models.embedding import sentence_embedder
from kgdemo.models.shared_work import Courtesy, SecondThread, one_after_another

needs_onednn = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this PyTorch carries no oneDNN")


def part(number: int):
    return lambda: torch.tensor(float(number))


def test_results_come_in_the_order_of_the_parts():
    for turns in (0, 1):
        shared = SecondThread(threading.Semaphore(turns))
        for count in (0, 1, 7):
            assert [float(one) for one in shared.share([part(n) for n in range(count)])] == list(range(count))


def test_a_second_thread_helps_where_a_turn_is_free():
    turns, last = threading.Semaphore(1), threading.Event()

    def waits() -> torch.Tensor:
        assert last.wait(30)  # alone, this thread would wait for what it has not yet done
        return torch.tensor(0.0)

    def ends() -> torch.Tensor:
        last.set()
        return torch.tensor(1.0)

    assert [float(one) for one in SecondThread(turns).share([waits, ends])] == [0.0, 1.0]
    assert turns.acquire(blocking=False)  # given back
    assert not turns.acquire(blocking=False)


def test_a_fault_in_a_part_is_raised_and_the_turn_given_back():
    turns = threading.Semaphore(1)
    shared = SecondThread(turns)

    def fails() -> torch.Tensor:
        raise ValueError("no such row")

    for parts in ([fails, part(1)], [part(0), fails], [fails, fails]):
        with pytest.raises(ValueError, match="no such row"):
            shared.share(parts)
    assert [float(one) for one in shared.share([part(4)])] == [4.0]
    assert turns.acquire(blocking=False)


@needs_onednn
@pytest.mark.parametrize("share", [one_after_another, SecondThread(threading.Semaphore(1)).share])
def test_a_layer_made_in_parts_says_to_the_bit_what_it_says_whole(share):
    layer = nn.Linear(24, 1021)
    whole, parted = OneDNNLinear(layer), OneDNNLinear(layer, parts=4)
    whole.pack()
    parted.pack()
    assert len(parted.quickest) == 4
    with torch.inference_mode():
        for rows in (*ROWS[:14], 7, 51, ROWS[-1] + 3):
            given = torch.randn(rows, 24)
            assert torch.equal(product(parted, given, "gelu", share), product(whole, given, "gelu"))


class Clock:
    def __init__(self) -> None:
        self.now, self.slept = 100.0, 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds


def test_long_work_rests_as_long_as_it_works_while_others_read_and_not_else():
    clock = Clock()
    courtesy = Courtesy(clock, clock.sleep)

    def work(others: bool) -> tuple[float, float]:
        """Seconds worked and rested."""
        clock.slept, begun = 0.0, clock.now
        for _ in range(1000):
            clock.now += 0.001
            if others:
                courtesy.has_read()
            courtesy.pause()
        return clock.now - begun - clock.slept, clock.slept

    worked, rested = work(others=False)
    assert worked == pytest.approx(1.0)
    assert rested == 0.0
    worked, rested = work(others=True)
    assert worked == pytest.approx(1.0)
    assert rested == pytest.approx(1.0, rel=0.05)


def test_no_graph_waits_until_another_one_is_indexed(monkeypatch):
    large, small = (KnowledgeGraph.from_triples([(f"{name} a", "part", f"{name} b")]) for name in ("large", "small"))
    begun, done = threading.Event(), threading.Event()

    class Slow:
        def pause(self) -> None:
            if threading.current_thread() is thread:
                begun.set()
                assert done.wait(30)

    thread = threading.Thread(target=name_index, args=(large,))
    monkeypatch.setattr(names, "COURTESY", Slow())
    thread.start()
    assert begun.wait(30)
    found: list[object] = []
    other = threading.Thread(target=lambda: found.append(name_index(small)))
    other.start()
    other.join(10)
    waited = not found
    done.set()
    thread.join(30)
    other.join(30)
    assert not waited
    assert name_index(large) is name_index(large)


@needs_onednn
@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 131])
def test_a_sentence_has_one_vector_whatever_is_embedded_beside_it_and_on_which_thread(count):
    texts = [f"the {number} of part{' of part' * (number % 7)}" for number in range(count)]
    together = sentence_embedder().encode(texts)
    alone = [sentence_embedder().encode([text])[0] for text in texts]
    assert together.shape == (count, 384)
    assert all(np.allclose(one, other, atol=1e-6) for one, other in zip(together, alone, strict=True))
