"""What is compared and ordered: the values that a graph states of its entities, numbers and dates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kgdemo.events import Operand
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.literals import Literal
from kgdemo.kg.path import Path

# a date that a question may mean -> the attributes and the relations to a year that say it, the first one that is known
_DATES: dict[str, tuple[str, ...]] = {
    "born": ("born", "born in year"),
    "died": ("died", "died in year"),
    "began": ("began", "happened", "began in year", "happened in year", "founded in year"),
    "ended": ("ended", "ended in year", "happened in year"),
    "happened": ("happened", "began", "happened in year", "began in year"),
    "opened": ("opened", "completed", "founded in year"),
    "founded": ("founded", "founded in year", "began in year"),
    "released": ("released", "released in year", "published in year"),
    "independence": ("independence",),
    "in office from": ("reign began", "took office"),
    "in office until": ("reign ended", "left office"),
    "discovered": ("discovered", "invented", "discovered in year", "invented in year", "created in year"),
    "date": (
        "born",
        "born in year",
        "opened",
        "completed",
        "founded",
        "founded in year",
        "released",
        "released in year",
        "published in year",
        "happened",
        "began",
        "happened in year",
        "began in year",
    ),
}


def operand_of(
    kg: KnowledgeGraph, entity: str, attributes: Iterable[str], paths: tuple[Path, ...] = ()
) -> Operand | None:
    """An entity with the first of these attributes that the graph states of it; None where it states none."""
    for attribute in (known for name in attributes for known in _DATES.get(name, (name,))):
        literal = kg.literals.get(entity, {}).get(attribute)
        if literal is not None:
            return Operand(entity, paths, attribute, literal.value, literal.unit)
        year = next((end for label, end in kg.neighbours(entity, directed=True) if label == attribute), "")
        if re.fullmatch(r"\d{1,4}", year):
            return Operand(entity, paths, attribute, year, "year")
    return None


def is_date(attribute: str) -> bool:
    """Whether a name stands for a date; see ``operand_of``."""
    return attribute in _DATES


def literal_of(operand: Operand) -> Literal:
    """The value of an operand."""
    return Literal(operand.value, "" if operand.unit == "year" else operand.unit)


def shown_value(operand: Operand) -> str:
    """The value of an operand as people write it."""
    return str(literal_of(operand))


def same_attribute(kg: KnowledgeGraph, entities: Sequence[str], attributes: Iterable[str]) -> list[Operand]:
    """The entities with the first attribute that all of them have; of a set, with the one that most of them have.

    Args:
        kg: the graph.
        entities: two or more.
        attributes: in the order in which they may be meant.

    Returns:
        those entities that have it, all in one unit.
    """
    best: list[Operand] = []
    for attribute in attributes:
        found = [operand for entity in entities if (operand := operand_of(kg, entity, [attribute]))]
        if len(found) > len(best):
            units = [operand.unit.replace("year", "") for operand in found]
            common = max(set(units), key=units.count)
            best = [operand for operand, unit in zip(found, units, strict=True) if unit == common]
        if len(best) == len(entities):
            break
    return best
