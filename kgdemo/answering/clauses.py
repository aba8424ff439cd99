"""What the answers to several conditions share, each condition having been asked by itself (``query.nested``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kgdemo.answering.computation import MethodRun, computed_answer, listed
from kgdemo.answering.operands import PLACES, Sets
from kgdemo.events import Event, Operand, Operation
from kgdemo.kg.path import Path
from kgdemo.linking.names import name_index
from kgdemo.query.answer_type import kind_of
from kgdemo.query.nested import Clause
from kgdemo.verify import Verifier
from kgdemo.verify_operations import verify_operation

Paths = Mapping[str, tuple[Path, ...]]


def led_to(ran: MethodRun, operations: Sequence[Operation], sets: Sets) -> dict[str, tuple[Path, ...]]:
    """The answers of a run, each with the paths that lead to it; an answer that no path leads to is left out.

    Args:
        ran: the run.
        operations: what was computed in it.
        sets: of its graph.
    """
    if ran.final is None or ran.final.refusal:
        return {}
    for operation in reversed(operations):
        paths = {operand.entity: operand.paths for operand in operation.operands if operand.paths}
        computed = {answer: paths[answer] for answer in ran.final.answers if answer in paths}
        if computed:
            return computed
    ends = [sets.ends(path.entities[0], path.relations) for path in ran.met]
    met = {one: tuple(own[one] for own in ends) for one in ran.final.answers if all(one in own for own in ends)}
    return met if ends and met else {path.end: (path,) for path in ran.cited}


def belonging_to(found: Paths, adjective: str, sets: Sets) -> dict[str, tuple[Path, ...]]:
    """Those that lie in the place that an adjective names, or are its citizens, each with the path that says so."""
    called_so = name_index(sets.kg).called(adjective)
    places = dict.fromkeys(sets.kg.entities[name.entity] for name in called_so)
    place = next((one for one in places if kind_of(sets.kg, one) in PLACES), "")
    belong: dict[str, tuple[Path, ...]] = {}
    for one in found:
        path = sets.containing(one, place) or sets.leads(place, (sets.inverse("citizen of"),), one) if place else None
        if path is not None:
            belong[one] = (path,)
    return belong


def common(
    clauses: Sequence[Clause], found: Sequence[Paths], verifier: Verifier, bounded: Mapping[int, Operation]
) -> Iterator[Event]:
    """What fits every condition, computed and verified; nothing where there is none.

    Args:
        clauses: the conditions, the first of which is not negated.
        found: for each of them what fits it, with its paths.
        verifier: of the graph.
        bounded: the place of each condition that no path says but a value, *longer than the Rhine*, with what told it.
    """
    led = [own for place, own in enumerate(found) if place not in bounded and not clauses[place].negated]
    first = led[0] if led else found[0]
    shared = {one: [own[one] for own in led] for one in first if all(one in own for own in led)}
    if len(led) > 1:
        operands = [Operand(one, tuple(dict.fromkeys(p for own in ways for p in own))) for one, ways in shared.items()]
        numbers = " and ".join(str(len(own)) for own in led)
        both = Operation("both", f"in common of {numbers}: {len(shared)}", tuple(operands), tuple(shared))
        if not shared or not verify_operation(both, verifier):
            return
        yield replace(both, verified=True)
    for place, told in bounded.items():
        valued = [replace(o, paths=_first(shared[o.entity])) for o in told.operands if o.entity in shared]
        shared = {o.entity: shared[o.entity] for o in valued if o.entity in found[place]}
        within = replace(told, text=f"{clauses[place].question}: {len(shared)}", operands=tuple(valued))
        within = replace(within, result=tuple(shared))
        if not shared or not verify_operation(within, verifier):
            return
        yield replace(within, verified=True)
    for clause, own in zip(clauses, found, strict=True):
        if not clause.negated:
            continue
        operands = [Operand(one, (*_first(ways), *own.get(one, ())[:1])) for one, ways in shared.items()]
        shared = {one: ways for one, ways in shared.items() if one not in own}
        left = Operation("without", f"without those of “{clause.question}”", tuple(operands), tuple(shared))
        if not shared or not verify_operation(left, verifier):
            return
        yield replace(left, verified=True)
    if shared:
        yield computed_answer(f"{listed(list(shared))}.", tuple(shared))


def _first(ways: Sequence[tuple[Path, ...]]) -> tuple[Path, ...]:
    """One path that leads to a thing; none where only a value says that it fits."""
    return next((own[:1] for own in ways if own), ())
