"""Pauses of long work while others read, and graphs that are indexed apart."""

from __future__ import annotations

import threading

import pytest

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.linking import names
from kgdemo.linking.names import name_index
from kgdemo.models.courtesy import Courtesy


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
