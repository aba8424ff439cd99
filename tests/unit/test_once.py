"""A value is built once, others are not held up by it, and failures and forgetting leave nothing wrong behind."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from kgdemo.opened import OncePerKey


def test_callers_of_one_key_wait_for_one_builder_and_those_of_another_do_not():
    cache, begun, go_on, built = OncePerKey(), threading.Event(), threading.Event(), []

    def slow() -> str:
        built.append(1)
        begun.set()
        assert go_on.wait(60)
        return "slow"

    with ThreadPoolExecutor(4) as threads:
        waiting = [threads.submit(cache.get, "a", slow) for _ in range(3)]
        assert begun.wait(60)
        assert threads.submit(cache.get, "b", lambda: "quick").result(60) == "quick"
        assert not any(one.done() for one in waiting)
        go_on.set()
        assert {one.result(60) for one in waiting} == {"slow"}
    assert len(built) == 1


def test_a_failure_is_not_kept():
    cache = OncePerKey()
    with pytest.raises(ZeroDivisionError):
        cache.get("a", lambda: 1 // 0)
    assert list(cache) == []
    assert cache.get("a", lambda: 2) == 2


def test_one_who_waited_for_a_failure_builds_anew():
    cache, begun, go_on = OncePerKey(), threading.Event(), threading.Event()

    def fail() -> int:
        begun.set()
        assert go_on.wait(60)
        raise ValueError

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(cache.get, "a", fail)
        assert begun.wait(60)
        second = threads.submit(cache.get, "a", lambda: 2)
        go_on.set()
        assert second.result(60) == 2
        assert isinstance(first.exception(60), ValueError)
    assert cache.peek("a") == 2


@pytest.mark.parametrize("change", ["drop", "put"])
def test_what_was_dropped_or_set_while_it_was_built_does_not_come_back(change):
    cache, begun, go_on = OncePerKey(), threading.Event(), threading.Event()

    def old() -> str:
        begun.set()
        assert go_on.wait(60)
        return "old"

    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(cache.get, "a", old)
        assert begun.wait(60)
        if change == "drop":
            cache.drop(lambda key: key == "a")
        else:
            cache.put("a", "new")
        go_on.set()
        assert first.result(60) == "old"
    assert cache.get("a", lambda: "new") == "new"


def test_a_builder_may_ask_for_other_keys():
    cache = OncePerKey()
    assert cache.get("a", lambda: cache.get("b", lambda: 1) + 1) == 2
