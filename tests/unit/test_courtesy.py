"""Pauses of long work while others read, and graphs that are indexed apart."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import torch

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.linking import names
from kgdemo.linking.names import name_index
from kgdemo.models.courtesy import Courtesy, IdleProcessors, running_threads


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


def threads_used(idle: IdleProcessors) -> tuple[str, int]:
    """In which thread work is done, and how many it computes with."""
    return idle.run(lambda: (threading.current_thread().name, torch.get_num_threads()))


def test_arithmetic_takes_all_processors_only_while_nobody_else_wants_one():
    running: list[int | None] = [1]
    own, here = torch.get_num_threads(), threading.current_thread().name
    idle = IdleProcessors(lambda: running[-1])
    assert threads_used(idle) == (here, own)  # not allowed yet
    idle.may_be_used(own, own)
    assert threads_used(idle) == (here, own)  # there are no more
    idle.may_be_used(own + 2, own)
    assert torch.get_num_threads() == own
    where, number = threads_used(idle)
    assert where != here
    assert number == own + 2
    for busy in (2, 9, None):  # None: this machine does not say
        running.append(busy)
        assert threads_used(idle) == (here, own)
    running.append(1)
    assert threads_used(idle) == (where, own + 2)  # always the same thread


def test_a_second_piece_of_work_does_not_wait_for_the_processors_and_a_failure_is_raised():
    idle = IdleProcessors(lambda: 1)
    idle.may_be_used(torch.get_num_threads() + 1, torch.get_num_threads())
    begun, end = threading.Event(), threading.Event()
    first = threading.Thread(target=lambda: idle.run(lambda: (begun.set(), end.wait(30))))
    first.start()
    assert begun.wait(30)
    assert threads_used(idle)[0] == threading.current_thread().name
    end.set()
    first.join(30)
    with pytest.raises(ZeroDivisionError):
        idle.run(lambda: 1 // 0)
    assert threads_used(idle)[0] != threading.current_thread().name  # and the next is served


def test_the_threads_that_run_on_this_machine_are_counted_where_it_says():
    running = running_threads()
    assert running is None if not Path("/proc/loadavg").exists() else running is not None and running >= 1
