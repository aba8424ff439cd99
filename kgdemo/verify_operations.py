"""Is an answer that was computed from the graph computed rightly? Worked out anew from the sources alone.

Like ``verify`` for paths, this shares no code with what it checks: it reads values as the source writes them, compares
and counts by itself, and asks the verifier for every path.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from fractions import Fraction

from kgdemo.events import Operand, Operation
from kgdemo.facts import Facts
from kgdemo.verify import Verifier

_DATE = re.compile(r"(-?)(\d{1,4})(?:-(\d{2}))?(?:-(\d{2}))?")
_SEVERAL = re.compile(r"\d{1,4} (?:greatest|least)")
_BOUND = re.compile(r"(<=|>=|<|>|=) (-?\d{1,15}(?:\.\d{1,6})?)")


def verify_operation(operation: Operation, verifier: Verifier) -> bool:
    """Whether every operand is stated and the result follows from them.

    Args:
        operation: what was computed.
        verifier: of the graph that it was computed from.

    Returns:
        False as well for a kind that is not known, or a value that cannot be read.
    """
    operands = operation.operands
    verifier.expect((path for one in operands for path in one.paths), [one.entity for one in operands])
    check = _top if _SEVERAL.fullmatch(operation.kind) else _CHECKS.get(operation.kind)
    if check is None or not all(_is_stated(operand, verifier) for operand in operands):
        return False
    if operation.kind == "without" and not _are_apart(operation, verifier.facts):
        return False
    if operation.kind == "alive" and not _no_death_is_stated(operation, verifier.facts):
        return False
    try:
        return check(operation)
    except (ValueError, IndexError, ZeroDivisionError):
        return False


def _is_stated(operand: Operand, verifier: Verifier) -> bool:
    facts = verifier.facts
    if not facts.has_entity(operand.entity):
        return False
    if not all(path.end == operand.entity and verifier.verify(path).faithful for path in operand.paths):
        return False
    if not operand.attribute:
        return True
    if operand.unit == "year":  # the year is an entity, and the attribute a relation to it
        return facts.holds(operand.entity, operand.attribute, operand.value)
    return facts.states(operand.entity, operand.attribute, operand.value, operand.unit)


def _order(operand: Operand) -> Fraction:
    """The value as a number by which such values are ordered."""
    if operand.unit not in ("", "year"):
        return Fraction(operand.value)
    found = _DATE.fullmatch(operand.value)
    if found is None:
        raise ValueError(operand.value)
    sign, year, month, day = found.groups()
    whole = Fraction(int(year)) * (-1 if sign else 1)
    return whole + Fraction(int(month or 1) - 1, 12) + Fraction(int(day or 1) - 1, 372)


def _extreme(operation: Operation, best: Callable[[list[Fraction]], Fraction]) -> bool:
    if len({operand.unit for operand in operation.operands} - {"", "year"}) > 1:
        return False
    values = [_order(operand) for operand in operation.operands]
    first = [o.entity for o, value in zip(operation.operands, values, strict=True) if value == best(values)]
    return set(operation.result) == set(first)


def _count(operation: Operation) -> bool:
    return operation.result == (str(len({operand.entity for operand in operation.operands})),)


def _nth(operation: Operation) -> bool:
    place = int(operation.argument)
    ordered = sorted(operation.operands, key=_order)
    if len({_order(operand) for operand in ordered}) < len(ordered):
        around = [_order(operand) for operand in ordered]
        wanted = around[place - 1 if place > 0 else place]
        if around.count(wanted) > 1:
            return False
    return operation.result == (ordered[place - 1 if place > 0 else place].entity,)


def _chain(operation: Operation) -> bool:
    """Each operand but the first is led to by a path of one hop from the one before."""
    pairs = zip(operation.operands, operation.operands[1:], strict=False)
    linked = all(any(p.entities == (one.entity, other.entity) for p in other.paths) for one, other in pairs)
    place = int(operation.argument)
    return linked and operation.result == (operation.operands[place - 1 if place > 0 else place].entity,)


def _filter(operation: Operation) -> bool:
    bounds = [_BOUND.fullmatch(part) for part in operation.argument.split(" and ")]

    def fits(operand: Operand, bound: re.Match[str]) -> bool:
        sign, limit, own = bound[1], Fraction(bound[2]), _order(operand)
        if "-" in operand.value[1:]:  # before 1980 is before its first day, in 1980 is any day of it
            own = Fraction(own.__floor__())
        return {"<": own < limit, ">": own > limit, "<=": own <= limit, ">=": own >= limit, "=": own == limit}[sign]

    return None not in bounds and set(operation.result) == {
        o.entity for o in operation.operands if all(bound and fits(o, bound) for bound in bounds)
    }


def _initial(operation: Operation) -> bool:
    """The results are those whose names begin with a letter, or with a word, an article and *County* left aside."""
    wanted = operation.argument

    def begins(entity: str) -> bool:
        name = unicodedata.normalize("NFKD", re.sub(r"^(?:[tT]he |County (?!of ))", "", entity))
        return name[:1].upper() == wanted if len(wanted) == 1 else bool(re.match(rf"{re.escape(wanted)}\b", name, re.I))

    return set(operation.result) == {o.entity for o in operation.operands if begins(o.entity)}


def _century(operation: Operation) -> bool:
    """The century of each date: of 1801 and of 1900 the 19th."""
    wanted = []
    for operand in operation.operands:
        found = re.match(r"(-?)(\d+)(?:-\d\d){0,2}( BC)?$", operand.value or operand.entity)
        if found is None:
            return False
        number = str(-(-int(found[2]) // 100))
        ending = "th" if number in ("11", "12", "13") else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1], "th")
        wanted.append(f"{number}{ending} century{' BC' if found[1] or found[3] else ''}")
    return operation.result == tuple(dict.fromkeys(wanted))


def _both(operation: Operation) -> bool:
    """Every result is led to by paths from two topics at least, or from one over different relations."""
    ways = {o.entity: {(path.entities[0], path.relations) for path in o.paths} for o in operation.operands}
    return set(operation.result) == {entity for entity, own in ways.items() if len(own) > 1}


def _most_paths(operation: Operation) -> bool:
    """Every result is led to from as many different things as none of the others, or from as few."""
    counts = {o.entity: len({path.entities[0] for path in o.paths}) for o in operation.operands}
    best = (max if operation.kind == "most paths" else min)(counts.values())
    return set(operation.result) == {entity for entity, count in counts.items() if count == best}


def _without(operation: Operation) -> bool:
    """No result is led to by paths from more than one topic, and all others are."""
    led = {o.entity for o in operation.operands if len({path.entities[0] for path in o.paths}) > 1}
    return set(operation.result) == {o.entity for o in operation.operands} - led


_DEATHS = ("died", "died in year", "died in")


def _alive(operation: Operation) -> bool:
    """The results are those with whom no death is given, and of all others it is."""
    died = {operand.entity for operand in operation.operands if operand.attribute in _DEATHS}
    return set(operation.result) == {operand.entity for operand in operation.operands} - died


def _no_death_is_stated(operation: Operation, facts: Facts) -> bool:
    return not any(facts.speaks_of(entity, death) for entity in operation.result for death in _DEATHS)


def _are_apart(operation: Operation, facts: Facts) -> bool:
    """Whether no triple joins a result to what is left out: that from which the others' second paths begin."""
    out = {path.entities[0] for operand in operation.operands for path in operand.paths[1:]}
    pairs = [pair for name in operation.result for other in out for pair in ((name, other), (other, name))]
    return not any(facts.holds(head, relation, tail) for head, tail in pairs for relation in facts.relations)


def _holds(operation: Operation) -> bool:
    """``yes`` stands on a path between what is asked; ``no`` on stated things which the claimed one is not among."""
    claimed = operation.argument
    there = any(claimed in (operand.entity, *(p.entities[0] for p in operand.paths)) for operand in operation.operands)
    return operation.result == (("yes",) if there else ("no",)) and bool(operation.operands)


def _top(operation: Operation) -> bool:
    """As many as the kind says, those of the greatest or the least values in their order; none left out is equal."""
    number, end = operation.kind.split()
    if len({operand.unit for operand in operation.operands} - {"", "year"}) > 1:
        return False
    ordered = sorted(operation.operands, key=_order, reverse=end == "greatest")
    chosen, rest = ordered[: int(number)], ordered[int(number) :]
    values = [_order(operand) for operand in chosen]
    follows = [_order(o) for name in operation.result for o in chosen if o.entity == name] == values
    return follows and not any(_order(operand) == values[-1] for operand in rest)


def _spans(operands: Sequence[Operand]) -> list[tuple[str, Fraction, Fraction]]:
    """Operands in pairs: an entity, and the dates from which and until which something was."""
    firsts, lasts = operands[::2], operands[1::2]
    if any(one.entity != other.entity for one, other in zip(firsts, lasts, strict=True)):
        raise ValueError("two dates of different things")
    spans = [(one.entity, _order(one), _order(other)) for one, other in zip(firsts, lasts, strict=True)]
    if any(first > last for _, first, last in spans):
        raise ValueError("an end before its beginning")
    return spans


def _longest(operation: Operation) -> bool:
    """The thing at a place in the order of the time between each one's two dates; no other lasted as long."""
    lengths = [(last - first, name) for name, first, last in _spans(operation.operands)]
    ordered = sorted(lengths, reverse=operation.kind == "longest")
    length, name = ordered[int(operation.argument) - 1]
    return operation.result == (name,) and [own for own, _ in ordered].count(length) == 1


def _meanwhile(operation: Operation) -> bool:
    """What lasted at some time of the first thing; of all the others the one that covers most of it."""
    (_, begin, end), *others = _spans(operation.operands)
    shared = [(min(end, last) - max(begin, first), name) for name, first, last in others]
    if operation.kind == "most of":
        best = max(length for length, _ in shared)
        return best > 0 and [(best, name) for name in operation.result] == [one for one in shared if one[0] == best]
    return set(operation.result) == {name for length, name in shared if length >= 0}


def _difference(operation: Operation) -> bool:
    earlier, later = operation.operands
    dates = [_DATE.fullmatch(operand.value) for operand in (earlier, later)]
    if None in dates:
        return False
    (y0, m0, d0), (y1, m1, d1) = (
        (int(f[2]) * (-1 if f[1] else 1), int(f[3] or 0), int(f[4] or 0)) for f in dates if f is not None
    )
    years = y1 - y0 - (1 if y0 < 0 < y1 else 0)  # there was no year 0
    if m0 and m1:
        return operation.result == (str(years - ((m1, d1) < (m0, d0))),)
    age = operation.argument == "age"  # somebody born in 1756 was 34 or 35 in 1791
    return operation.result == (f"{years - 1} or {years}" if age else str(years),)


def _age(operation: Operation) -> bool:
    """Years from a stated date to the day that the argument names."""
    (born,) = operation.operands
    today = Operand(born.entity, (), "", operation.argument)
    return _difference(Operation("difference", "", (born, today), operation.result, "age"))


def _value(operation: Operation) -> bool:
    (operand,) = operation.operands
    return bool(operand.attribute) and operation.result == (f"{operand.value} {operand.unit}".strip(),)


def _step(operation: Operation) -> bool:
    """A path leads to the answer of the question that had to be asked first."""
    return operation.result == tuple(o.entity for o in operation.operands) and all(o.paths for o in operation.operands)


_CHECKS: dict[str, Callable[[Operation], bool]] = {
    "count": _count,
    "holds": _holds,
    "value": _value,
    "greatest": lambda operation: _extreme(operation, max),
    "least": lambda operation: _extreme(operation, min),
    "nth": _nth,
    "longest": _longest,
    "shortest": _longest,
    "meanwhile": _meanwhile,
    "most of": _meanwhile,
    "chain": _chain,
    "filter": _filter,
    "initial": _initial,
    "century": _century,
    "both": _both,
    "without": _without,
    "alive": _alive,
    "most paths": _most_paths,
    "fewest paths": _most_paths,
    "difference": _difference,
    "step": _step,
    "age": _age,
}
