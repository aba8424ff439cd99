"""What is made of a graph once and kept as long as the graph: its names, its records."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from kgdemo.kg.graph import KnowledgeGraph

Made = TypeVar("Made")


class PerGraph(Generic[Made]):
    """What ``make`` makes of each graph; safe to use from several threads, and no graph waits for another.

    Args:
        make: called once for a graph.
    """

    def __init__(self, make: Callable[[KnowledgeGraph], Made]) -> None:
        self._make = make
        self._made: WeakKeyDictionary[KnowledgeGraph, Made] = WeakKeyDictionary()
        self._making: WeakKeyDictionary[KnowledgeGraph, threading.Lock] = WeakKeyDictionary()
        self._tables = threading.Lock()  # of these two; nothing is made under it

    def of(self, kg: KnowledgeGraph, make: Callable[[KnowledgeGraph], Made] | None = None) -> Made:
        """What was made of a graph.

        Args:
            kg: the graph.
            make: in place of the usual, for who asks first.
        """
        with self._tables:
            making = self._making.setdefault(kg, threading.Lock())
        with making:
            with self._tables:
                known = self._made.get(kg)
            if known is None:
                known = (make or self._make)(kg)
                with self._tables:
                    self._made[kg] = known
            return known
