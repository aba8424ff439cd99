"""A reasoning path as labels: what is shown, stored, verified and cited."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

SEPARATOR = " -> "


@dataclass(frozen=True, slots=True)
class Path:
    """``entities[0] -> relations[0] -> entities[1] -> …``.

    Attributes:
        entities: labels, one more than relations.
        relations: step labels: ``relation``, or for a step against the edge ``~relation`` or the schema's words.
    """

    entities: tuple[str, ...]
    relations: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.entities) != len(self.relations) + 1:
            raise ValueError(f"{len(self.entities)} entities do not fit {len(self.relations)} relations")

    @classmethod
    def from_labels(cls, labels: Sequence[str]) -> Path:
        """Build a path from alternating entity and relation labels."""
        return cls(tuple(labels[::2]), tuple(labels[1::2]))

    @property
    def end(self) -> str:
        """The entity the path leads to."""
        return self.entities[-1]

    @property
    def hops(self) -> list[tuple[str, str, str]]:
        """The path's steps, each (entity, relation, entity)."""
        return list(zip(self.entities, self.relations, self.entities[1:], strict=False))

    @property
    def labels(self) -> list[str]:
        """Entities and relations alternately, see ``from_labels``."""
        return [self.entities[0], *(label for _, *step in self.hops for label in step)]

    def __str__(self) -> str:
        return SEPARATOR.join(self.labels)


@dataclass(frozen=True, slots=True)
class PathIds:
    """A reasoning path by ids: ``entities`` has one more member than ``steps``."""

    entities: tuple[int, ...]
    steps: tuple[int, ...]


def is_detour(entities: Sequence[Hashable], relations: Sequence[Hashable]) -> bool:
    """Whether a walk comes back to where it began, or turns back: such a walk says nothing that is asked for.

    The films that share a director with *Alien* are not *Alien*, nor is who played in them its own cast; but the writer
    of a director's films may be that director. An edge from an entity to itself is no detour: no shorter walk says that
    the capital of Singapore is Singapore.

    Args:
        entities: those visited, in order.
        relations: what is walked between them, the same whichever way.
    """
    return len(entities) > 2 and (entities[0] in entities[1:] or turns_back(entities, relations))


def turns_back(entities: Sequence[Hashable], relations: Sequence[Hashable]) -> bool:
    """Whether a walk leaves an entity over the relation that it came by, to the entity that it came from."""
    hops = zip(entities, entities[2:], relations, relations[1:], strict=False)
    return any(source == target and came == leaves for source, target, came, leaves in hops)
