"""What a store states, for the verifier: asked of the store itself, by a connection and a memory of its own.

Names become ids by the store's ``find``, hops become triples by the store's ``exists``. Nothing is taken from the graph
that the decoder walks. What a run is about to have judged is announced (``expect``), so that it costs two requests.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping

from kgdemo.facts import Triple
from kgdemo.kg.stores.base import Store, distinct_labels, local_name

_MAX_KEPT = 20_000  # names and triples


class StoreFacts:
    """``Facts`` of a store; safe to use from several threads.

    A name stands for every entity that is called so: a hop is stated where it is for any of them. Of a name with an id
    in brackets (``Fargo (Q222720)``) only the entity with that id is meant.

    Args:
        store: asked by nobody else.
    """

    inverse_labels: Mapping[str, str]

    def __init__(self, store: Store) -> None:
        self._store = store
        self._relations = distinct_labels(store.survey(relations_alone=True).relations)
        self.inverse_labels = {}
        self._lock = threading.RLock()
        self._ids: dict[str, frozenset[str]] = {}
        self._stated: dict[Triple, bool] = {}

    @property
    def relations(self) -> Collection[str]:
        """See ``Facts``."""
        return self._relations.keys()

    def entities(self) -> Iterator[str]:
        """See ``Facts``; those of a store are not listed, so a name counts only as the store spells it."""
        return iter(())

    def has_entity(self, label: str) -> bool:
        """See ``Facts``."""
        return bool(self._called([label])[label])

    def holds(self, head: str, relation: str, tail: str) -> bool:
        """See ``Facts``."""
        self.expect([(head, relation, tail)])
        with self._lock:
            return self._stated.get((head, relation, tail), False)

    def states(self, entity: str, attribute: str, value: str, unit: str) -> bool:
        """See ``Facts``; a store's values are not read."""
        return False

    def has_distinct_ends(self, relation: str) -> bool:
        """See ``Facts``; not to know is to say no."""
        return False

    def forget(self) -> None:
        """See ``Facts``."""
        with self._lock:
            self._ids.clear()
            self._stated.clear()

    def expect(self, triples: Iterable[Triple], names: Iterable[str] = ()) -> None:
        """See ``Facts``: all names in one request, all triples in another."""
        with self._lock:
            if len(self._ids) + len(self._stated) > _MAX_KEPT:
                self.forget()
            asked = [t for t in dict.fromkeys(triples) if t not in self._stated and t[1] in self._relations]
            ids = self._called((*names, *(label for head, _, tail in asked for label in (head, tail))))
            meant = {
                (head, self._relations[triple[1]], tail): triple
                for triple in asked
                for head in ids[triple[0]]
                for tail in ids[triple[2]]
            }
            found = dict.fromkeys(asked, False)
            if meant:
                for there, triple in zip(self._store.exists(list(meant)), meant.values(), strict=True):
                    found[triple] |= there
            self._stated.update(found)

    def _called(self, labels: Iterable[str]) -> dict[str, frozenset[str]]:
        """Label -> the ids of the entities that it stands for."""
        with self._lock:
            wanted = list(dict.fromkeys(labels))
            missing = [label for label in wanted if label not in self._ids]
            if missing:
                self._ids.update(self._find(missing))
            return {label: self._ids[label] for label in wanted}

    def _find(self, labels: list[str]) -> dict[str, frozenset[str]]:
        stems = {label: label.rpartition(" (")[0] for label in labels if label.endswith(")")}
        found = self._store.find([*labels, *stems.values()])
        called = {label: {node.id for text, node in found if text == label == node.label} for label in labels}
        for label, stem in stems.items():
            bracket = label[len(stem) + 2 : -1]
            called[label] |= {n.id for _, n in found if n.label == stem and local_name(n.id) == bracket}
        return {label: frozenset(ids) for label, ids in called.items()}
