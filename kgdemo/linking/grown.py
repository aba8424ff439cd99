"""Linking to an edited graph: the old graph's linker, which knows nearly all names, beside a small one for the rest.

Indexing the names of a large graph takes seconds; an edit adds a handful of them.
"""

from __future__ import annotations

from collections.abc import Collection

from kgdemo.events import Candidate, Mention
from kgdemo.linking.base import Linking
from kgdemo.linking.linker import EntityLinker


class GrownLinker:
    """Links to a graph with a few entities more.

    Args:
        base: the linker of the graph before its edits.
        small: a linker of the added triples alone.
        new: the entities that only the edited graph has.
    """

    def __init__(self, base: EntityLinker, small: EntityLinker, new: Collection[str]) -> None:
        self.base, self.small, self.new = base, small, frozenset(new)

    def link(self, question: str, most_candidates: int = 5) -> Linking:
        """See ``EntityLinker``. A new entity is taken where its mention is no shorter than an old one's there."""
        old, found = self.base.link(question, most_candidates), self.small.link(question, most_candidates)
        fresh = [m for m in found.mentions if m.candidates[0].entity in self.new]
        chosen = [m for m in fresh if m.candidates[0].entity in found.chosen]
        mentions, beaten = list(chosen), set()
        for mention in old.mentions:
            name = mention.candidates[0].entity
            rivals = [m for m in chosen if m.start < mention.end and mention.start < m.end]
            if not rivals or (name in old.chosen and all(_length(mention) > _length(rival) for rival in rivals)):
                mentions = [m for m in mentions if m not in rivals] + [mention]
            else:
                beaten.add(name)
        mentions.sort(key=lambda m: m.start)
        kept = [name for name in old.chosen if name not in beaten]
        taken = [m.candidates[0].entity for m in mentions if m in chosen]
        nearest = () if kept or taken else (*old.nearest, *self.small.nearest(question, 2))[:most_candidates]
        return Linking(tuple(mentions), tuple(dict.fromkeys([*kept, *taken])), nearest)

    def warm_up(self) -> None:
        """See ``EntityLinker``."""
        self.base.warm_up()

    def nearest(self, text: str, most: int = 5) -> tuple[Candidate, ...]:
        """See ``EntityLinker``."""
        fresh = tuple(c for c in self.small.nearest(text, most) if c.entity in self.new)
        return (*fresh, *self.base.nearest(text, most))[:most]


def _length(mention: Mention) -> int:
    return mention.end - mention.start
