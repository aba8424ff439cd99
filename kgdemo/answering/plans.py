"""Plans done on the graph: what walks lead to, its values, how many, which has most, how long between: verified."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial

from kgdemo.answering.computation import (
    IN_ORDER,
    MethodRun,
    computed_answer,
    is_one_moment,
    listed,
    no_answer,
    one_alone,
    order_of,
    within_bound,
    years_between,
)
from kgdemo.answering.operands import (
    COMPLETE,
    PLACES,
    attribute_in_words,
    is_of_kind,
    names_of_kind,
    number_of,
    operand_of,
    same_attribute,
    shown_value,
)
from kgdemo.answering.walks import SPANS, Ends, Heard, Walks, attributes_of, kin_as_said
from kgdemo.events import Event, Operand
from kgdemo.kg.labels import FUNCTION_WORDS, date_parts
from kgdemo.query.answer_type import Fit, fits, kind_of, same_stem
from kgdemo.query.claimed import kin_claimed, number_claimed
from kgdemo.query.measures import (
    AGE,
    BEGINNING,
    DATE,
    IN_OFFICE,
    UNIT_WORDS,
    dates_a_life,
    is_time,
    says_greater,
    speaks_of_a_life,
)
from kgdemo.query.parser import AND_OF, ATTRIBUTE, BOTH, NAMES
from kgdemo.query.query import Form, Plan

_IN_ORDER = ("order", "wedding", *IN_ORDER, "released", "happened", BEGINNING, "born")
_NOT = re.compile(r"\b(?:not|without|except|besides|never|other than|apart from|neither|nobody|none)\b|n['’]t\b", re.I)
_OFTEN = re.compile(
    r"\b(?:how (?:often|many times)|number of times|most (?:often|times)|twice|more than once"
    r"|(?:two|three|four|five|several|multiple|many) times"
    r"|than (?:in |at |on )?any)\b",
    re.IGNORECASE,
)
HOW_MANY = re.compile(r"\b(?:how many|number|count|amount|total)\b", re.IGNORECASE)
_FAR_KIN = re.compile(r"\b(?:grand\w+|uncles?|aunts?|cousins?|nephews?|nieces?|\w+-in-law)\b", re.IGNORECASE)
_TAG = re.compile(
    r"(?:, )?\b(?:isn|aren|wasn|weren|doesn|didn|don|won|hasn)['’]?t (?:it|he|she|they|you|there)\b", re.I
)
_TWICE = re.compile(  # another condition
    r"\b(?:both|also|as well|too|at the same time|and (?:are|is|was|were|has|have|had|lives?|lay|lays|can))\b", re.I
)
_OF_TWO = re.compile(r"\b(?:or|and|than|versus|vs|between|compared)\b|[,;:/]", re.IGNORECASE)
_THAN = re.compile(r"\bthan\b", re.IGNORECASE)
_EACH = re.compile(r"\b(?:each|per|apiece)\b", re.IGNORECASE)  # *how many pieces does each side have*
_ORDERED = re.compile(
    r"\b(?:first|second|third|fourth|fifth|sixth|last|final|debut|latest|earliest|\w{3,}est|most|least|fewest|"
    r"number (?:one|two|three|four|five|\d+)|\d+(?:st|nd|rd|th)|next|previous|only)\b",
    re.IGNORECASE,
)
_NO_ORDER = re.compile(
    r"\b(?:first name|last name|at least|at most|in the first place|latest|west|forest|guest"
    r"|first (?:performed|published|released|shown|broadcast|aired|staged|printed))\b",
    re.I,
)
PLACES_SAID = {
    **{word: place for place, word in enumerate("first second third fourth fifth sixth seventh eighth".split(), 1)},
    **{word: place for place, word in enumerate("one two three four five six seven eight".split(), 1)},
    "last": -1, "final": -1,
}  # fmt: skip
_CARDINALS = frozenset("one two three four five six seven eight".split())  # which count more often than they order
_NTH = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b|\b(?:number|no\.?|#) ?(\d{1,2}|[a-z]+)\b", re.IGNORECASE)
_AT_THAT_AGE = re.compile(r"\b(?:oldest|youngest) .*\b(?:to (?:have |ever |be )?[a-z]+|ever)\b", re.IGNORECASE)
_UNIT = re.compile(r"\b(?:how many|in) ((?:square |cubic )?[a-z]+)\b", re.IGNORECASE)
_DECADE = re.compile(r"\b(1\d\d|20\d)0['’]?s\b")
_YEAR = re.compile(r"(?<![\w'’])(?:1\d{3}|20\d{2})(?!\w)")
_SQUARED = re.compile(r"\b(?:k?m|cm|mi)[23]\b")  # no number that says which are meant
BOUNDS = {"AFTER": ">", "BEFORE": "<", "IN": "="}
_NUMBERED = (*BOUNDS, "NTH", "MOST", "LEAST")  # operations for which a number in the question has a meaning
_OFFICES = ("held by", "ruled by")  # of whom no birth says when that was
_IN_OFFICE_FROM = ("took office", "reign began")
_SAYS_KIND = ("instance of", "plant family", "animal family", "genre", "occupation")  # of which it may have more
_STEP_SAID = {  # words without which a question does not ask for these, however likely that looks
    "gender": re.compile(
        r"\b(?:fe)?male|\b(?:wo)?m[ae]n\b|\bgender|\bsex\b|\bboy|\bgirl|\bmare|\bcow\b", re.IGNORECASE
    ),
    "born in": re.compile(
        r"\bborn|\bbirth|\bfrom\b|\bnative|\bgr[eo]w|\braised|\bhome|\bcom(?:e|ing)\b|\borigin|world", re.I
    ),
}
_OF_ONE_GENDER = re.compile(r"\b(?:(?:fe)?male|(?:wo)?m[ae]n|queens?|girls?|boys?)\b", re.IGNORECASE)
_CENTURY = re.compile(r"\bcentur(?:y|ies)\b", re.IGNORECASE)
_HOW_MANY_OF = re.compile(r"\bhow many (?P<noun>[a-z]+)\b", re.IGNORECASE)
_FEW = 6  # things whose values are told one by one
_HALF = 0.5  # of a set, of which a value has to be known before one is said to have the greatest

Result = tuple[object, Callable[[], Iterator[Event]]]  # what tells it from others, and its events


_OFFICE = (IN_OFFICE[0], "took office")
_LEFT_OFFICE = re.compile(
    r"\b(?:kill|assassinat|murder|shot|resign|impeach|execut|depos|abdicat|die|dead|left|ousted|overthrow)",
    re.IGNORECASE,
)
_IN_POWER = re.compile(
    r"\b(?:office|power|throne|rul\w+|reign\w*|serv\w+|govern\w*|president|minister|king|queen|emperor|pope|chancellor"
    r"|leader|head|last\w*|was|were)\b",
    re.IGNORECASE,
)


_FROM_THEN = re.compile(r"\b(?:since|from) (?:the year )?\d", re.IGNORECASE)  # that year too
_AREA = "area"
_OF_A_YEAR = frozenset(  # what leads from a year to all that happened in it
    f"{what} year of" for what in ("birth", "death", "ending", "beginning", "foundation", "publication", "release")
)
_AWARDED = "award received"
_OFTEN_AWARDED = frozenset(("film", "series", "album", "song"))  # more often than a graph lists


class Plans(Walks):
    """Answers by plans."""

    def _done(self, heard: Heard, plan: Sequence[str]) -> Result | None:
        """What a plan gives; None where the graph does not hold it, or where words of the question are passed over."""
        said = _asked(_TAG.sub("", heard.text))
        if (self.plan.form is Form.YES_NO) != (plan[0] == "IS"):
            return None
        if _NOT.search(said) or _OFTEN.search(said) or _FAR_KIN.search(said) or not self._orders_alike(said, plan):
            return None
        step_said = _STEP_SAID.get(plan[-1])
        if _CENTURY.search(said) or (step_said is not None and not step_said.search(said)):
            return None
        if plan[0] in ("NTH", "LAST", "COUNT", "MOST", "LEAST") and _OF_ONE_GENDER.search(said):
            return None  # the first *woman* in an office is not the first in it
        if _EACH.search(said) and plan[0] in ("COUNT", *NAMES):
            return None
        if _TWICE.search(said) and BOTH not in plan and AND_OF not in plan:
            return None
        if re.search(r"\d", _SQUARED.sub("", said)) and plan[0] not in _NUMBERED:
            return None
        operation, *rest = plan if plan[0] not in NAMES else ("", *plan)
        ways: dict[str, Callable[[Heard, list[str]], Result | None]] = {
            "": self._ends_of, "COUNT": self._number_of, "IS": self._whether, "BETWEEN": self._between,
            "AGE": self._age_at, "NTH": self._nth, "LAST": self._last,
            "MORE": partial(self._compared, greatest=True), "LESS": partial(self._compared, greatest=False),
            "MOST": partial(self._extreme_of, greatest=True), "LEAST": partial(self._extreme_of, greatest=False),
            **{name: partial(self._bounded, sign=sign) for name, sign in BOUNDS.items()},
        }  # fmt: skip
        rest = kin_as_said(heard.text, rest)
        try:
            return ways[operation](heard, rest) if operation in ways else None
        except (IndexError, KeyError, ValueError):  # a plan that is not well formed
            return None

    def _orders_alike(self, said: str, plan: Sequence[str]) -> bool:
        """Whether a plan orders things where the words do: *the first* of several is not any of them."""
        said = _NO_ORDER.sub("", said)
        if {"highest point", "lowest point", "largest city", "capital"} & set(plan):
            said = re.sub(r"\b\w+est\b", "", said)
        if plan[0] in ("MOST", "LEAST"):
            return bool(_ORDERED.search(said)) and not re.search(r"\bor\b", said)
        by_order = plan[0] not in (*NAMES, "COUNT", "IS", *BOUNDS)
        dated = plan[-1] in ("#first climbed", "#discovered", "#invented", "#opened", "#lasted")
        return by_order or dated or not _ORDERED.search(said)

    # entities and values -----------------------------------------------------------------------

    def _ends_of(self, heard: Heard, plan: list[str]) -> Result | None:
        if BOTH in plan:
            return self._meeting(heard, plan)
        if plan[-1].startswith(ATTRIBUTE):
            return self._values_of(heard, plan)
        ends = self._of_type_asked(heard, self._walk(heard, plan)) if len(plan) > 1 else {}
        if plan[-1] in _OF_A_YEAR:  # of a year is much: only what is of the kind that is asked for, and of that year
            noun = self.plan.noun or next(self._nouns(heard.text), "")
            within = {end: path for end, path in ends.items() if path is not None}
            ends = {**(self.sets.of_noun(within, noun) or {})} if noun else ends
            if self.plan.bound and not self.plan.bound.startswith("="):
                return None
        paths = {end: (path,) for end, path in ends.items() if path is not None}
        return (frozenset(paths), lambda: self._shown_by_paths("step", paths)) if paths else None

    def _meeting(self, heard: Heard, plan: list[str]) -> Result | None:
        at = plan.index(BOTH)
        one, other = self._walk(heard, plan[:at]), self._walk(heard, plan[at + 1 :])
        other = {**self._within(one, heard, plan[at + 1 :]), **other}
        one = {**self._within(other, heard, plan[:at]), **one}
        other = other if not other.keys().isdisjoint(one) else self._lying_in(heard, plan[at + 1], one)
        ends = self._of_type_asked(heard, {end: path for end, path in one.items() if end in other})
        pairs = {end: (path, second) for end, path in ends.items() if path and (second := other[end])}
        return (frozenset(pairs), lambda: self._shown_by_paths("both", pairs)) if pairs else None

    def _lying_in(self, heard: Heard, name: str, ends: Ends) -> Ends:
        """Those ends that lie in a place of which the words say no more than that: *which of them are in Egypt*."""
        said = re.search(rf"\bin (?:the )?{name}\b", heard.text) and name in heard.names
        places = [one for one in heard.names[name].entities if kind_of(self.kg, one) in PLACES] if said else []
        inside = {end: self.sets.containing(end, places[0]) for end in ends} if places else {}
        return {end: path for end, path in inside.items() if path is not None}

    def _values_of(self, heard: Heard, plan: list[str]) -> Result | None:
        ends, attribute = self._walk(heard, plan[:-1]), plan[-1][1:]
        if len(plan) == 2 and attribute not in SPANS:  # of namesakes the one of which such a thing is stated
            named = self._of_one_type(heard.names[plan[0]].entities, plan[1:])
            ends = {one: None for one in named if operand_of(self.kg, one, attributes_of(attribute)) is not None}
            ends = dict([*ends.items()][:1])
        if attribute in SPANS:
            pairs = (self._pair_of(end, path, attribute) for end, path in ends.items())
            spans = [span for span in pairs if span and not is_one_moment(*span)]
            if any(first.attribute in _OFFICE for first, _ in spans) and not _IN_POWER.search(heard.text):
                return None  # how long somebody *spent in prison*
            key: tuple[object, ...] = ("lasted", *(first.entity for first, _ in spans))
            return (key, lambda: self._differences(spans)) if 0 < len(spans) <= _FEW else None
        said = attribute == _AREA and _AREA in heard.text.lower().split()  # in place of the size that is meant
        stated = self._valued(ends, (attribute,) if said else attributes_of(attribute))
        if not stated or len(ends) > _FEW or not self._is_counted_so(heard, attribute, stated[0]):
            return None
        key = ("value", *((one.entity, one.attribute) for one in stated))
        return key, lambda: self._values_told(stated)

    def _is_counted_so(self, heard: Heard, attribute: str, stated: Operand) -> bool:
        """Whether a value may be what *how many* of something asks for: a wingspan is no number of wings."""
        found = _HOW_MANY_OF.search(heard.text)
        if found is None:
            return True
        noun = found["noun"].lower()
        if noun in UNIT_WORDS:  # *how many minutes*: no distance
            return is_time(noun) == is_time(stated.unit) or stated.unit in ("", "year")
        said = {*attribute.lower().split(), *stated.unit.lower().split()}
        return any(one in said or f"{one}s" in said for one in (noun, *names_of_kind(noun)))

    def _differences(self, spans: Sequence[tuple[Operand, Operand]]) -> Iterator[Event]:
        told, results = [], []
        for one, other in spans:
            kind = AGE if one.attribute.startswith("born") else "span"
            years = years_between(one, other, kind)
            text = _dates_of(one, other)
            if (yield from self._operate("difference", f"{text}: {years} years", [one, other], (years,), kind)) is None:
                return
            told.append(f"{years} years ({text})")
            results.append(years)
        yield computed_answer(f"{'; '.join(told)}.", tuple(results))

    def _values_told(self, stated: Sequence[Operand]) -> Iterator[Event]:
        if len(stated) == 1:
            dated = stated[0].unit in ("", "year")
            attributes = (DATE if dated else stated[0].attribute,)
            asked_in = _UNIT.search(self.query.text)
            unit = self.plan.unit or (asked_in[1] if asked_in else "")
            plan = Plan(Form.VALUE, things=(stated[0].entity,), attributes=attributes, unit=unit)
            yield from self._planned(plan, (stated[0].entity,))._stated(stated[0])
            return
        year = re.search(r"\byears?\b", self.query.text) is not None
        shown = [_year_of(one) if year and one.unit in ("", "year") else shown_value(one) for one in stated]
        for one in stated:
            if (yield from self._operate("value", _said(one), [one], (f"{one.value} {one.unit}".strip(),))) is None:
                return
        yield computed_answer(f"{'; '.join(map(_said, stated))}.", tuple(shown))

    # numbers, yes and no -----------------------------------------------------------------------

    def _number_of(self, heard: Heard, plan: list[str]) -> Result | None:
        before = self._walk(heard, plan[:-1])
        for noun in re.findall(r"[a-z]+", heard.text.lower()) if len(before) == 1 else ():  # a spider's legs
            if noun not in FUNCTION_WORDS and (stated := number_of(self.kg, next(iter(before)), noun)) is not None:
                path = next(iter(before.values()))
                own = replace(stated, paths=() if path is None else (path,))
                return ("value", own.entity, own.attribute), partial(self._values_told, [own])
        noun, ends = self._of_noun_said(heard, self._walk(heard, plan), plan[1:])
        operands = [Operand(end, (path,)) for end, path in ends.items() if path is not None]
        counted = partial(self._counted, operands, noun or "they")
        return (("count", str(len(operands))), counted) if operands else None

    def _counted(self, operands: Sequence[Operand], noun: str) -> Iterator[Event]:
        """How many of something the graph holds, where that may be all of it."""
        number, ends = str(len(operands)), listed([operand.entity for operand in operands])
        last = {(path.entities[0], path.relations[-1]) for operand in operands for path in operand.paths[:1]}
        if number == "1" and not any(relation in COMPLETE for _, relation in last):
            yield one_alone(ends)
            return
        if any(relation == _AWARDED and kind_of(self.kg, one) in _OFTEN_AWARDED for one, relation in last):
            yield no_answer(f"The graph holds {number} ({ends}), and such lists of awards are seldom whole.")
            return
        if (yield from self._operate("count", f"{noun}: {ends}", operands, (number,))) is not None:
            yield computed_answer(f"The graph holds {number}, which need not be all: {ends}.", (number,))

    def _whether(self, heard: Heard, plan: list[str]) -> Result | None:
        """*Yes* by a path to what is claimed; *no* where the walk leads to one thing only, which is another.

        What leads to a place leads to the place around it.
        """
        counted = number_claimed(self.plan.asked)
        if (counted and counted[0] != "=") or kin_claimed(self.plan.asked):
            return None  # which one path does not tell
        claimed, ends = heard.names[plan[0]].entities, self._walk(heard, plan[1:])
        there = next((one for one in claimed if one in ends), None)
        around = () if there is not None else self._place_around(ends, claimed)
        there, ends = around or (there, ends)
        operands = [Operand(end, (path,)) for end, path in ends.items() if path is not None]
        denied = claimed[0]
        if there is None:
            trusted = heard.trusted and plan[-1] not in _SAYS_KIND
            denied, operands = self._stated_alone(heard, plan, operands) if trusted else ("", [])
            if not operands:
                return None
        own = [one for one in operands if there is None or one.entity == there]
        path = own[0].paths[0]
        if there is not None and (self.sets.leaves_continent_open(path) or not self._has_the_role(path)):
            return None
        answer, text = "no" if there is None else "yes", str(path)
        return ("whether", answer), lambda: self._says(answer, there or denied, own, f"{answer.capitalize()}: {text}.")

    def _stated_alone(self, heard: Heard, plan: list[str], ends: list[Operand]) -> tuple[str, list[Operand]]:
        """What was claimed, and the one thing that a walk leads to instead, there or back; none where it may be it."""
        claimed, subject = (heard.names[name].entities for name in plan[:2])
        kinds = {kind_of(self.kg, one) for one in (claimed[0], *(own.entity for own in ends))}
        if plan[-1] == "located in" and len(kinds) > 1:  # what lies in a part of the world may lie on an island
            return claimed[0], []
        if len(ends) == 1 and not self._are_joined(ends[0].entity, claimed):
            return claimed[0], ends
        inverses = [self.sets.inverse(step) for step in reversed(plan[2:])]
        led = self._walk(heard, [plan[0], *inverses]) if all(inverses) else {}
        back = [Operand(end, (path,)) for end, path in led.items() if path is not None]
        alone = len(back) == 1 and not self._are_joined(back[0].entity, subject[:1])
        return subject[0], back if alone else []

    def _place_around(self, ends: Ends, claimed: Sequence[str]) -> tuple[str, Ends] | tuple[()]:
        """A claimed place in which an end of a walk lies, with the path there; none where none does."""
        places = [one for one in claimed if kind_of(self.kg, one) in PLACES]
        for end, path in ends.items():
            for place in places:
                onward = self.sets.onward(path, place) if path is not None else None
                if onward is not None and not self.sets.spreads(end, kind_of(self.kg, place)):
                    return place, {place: onward}
        return ()

    def _are_joined(self, end: str, claimed: Sequence[str]) -> bool:
        """Whether what is claimed may be another word for an end, or the place that it lies in."""
        alike = [one for one in claimed if kind_of(self.kg, one) != kind_of(self.kg, end)]  # one city is not another
        return any(self.sets.joined(end, one) or self.sets.containing(end, one) for one in alike)

    # compared and ordered ----------------------------------------------------------------------

    def _compared(self, heard: Heard, plan: list[str], greatest: bool) -> Result | None:
        attribute, at = plan[0][1:], plan.index(AND_OF)
        if not _OF_TWO.search(heard.text) or len(_THAN.findall(heard.text)) > 1:
            return None  # *X's first studio album* compares nothing, *bigger than X but smaller than Y* other things
        greatest = _end_said(heard.text, attribute, greatest)
        pair = [self._walk(heard, plan[1:at]), self._walk(heard, plan[at + 1 :])]
        if len(plan) == 4:  # of namesakes those that can be compared
            kinds = names_of_kind(next(self._nouns(heard.text), ""))
            named = [heard.names[plan[1]].entities, heard.names[plan[3]].entities]
            of_kind = [[one for one in own if is_of_kind(self.kg, one, kinds)] or own for own in named]
            own = copy(self)
            own.plan = replace(self.plan, attributes=attributes_of(attribute))
            pair = [{one: None} for one in own._comparable(*of_kind)]
        ends = {**pair[0], **pair[-1]}
        if any(len(own) != 1 for own in pair) or len(ends) < 2:
            return None
        asked = self.query.answer_type
        if asked.named and any(fits(asked, kind_of(self.kg, end)) is Fit.NO for end in ends):
            return None  # *which planet is smaller than the Earth and has a moon* compares no moon
        key = ("extreme", greatest, frozenset(ends))
        if attribute in SPANS:
            names, span = tuple(name.text for name in heard.masked.names), SPANS[attribute][0]
            own = self._planned(Plan(Form.COMPARISON, things=names, greatest=greatest, span=span), self.query.topics)
            return (key, own.compare_spans) if len(plan) == 4 else None
        operands = self._same(ends, attributes_of(attribute))
        if len(operands) < len(ends) and (said := attribute_in_words(self.kg, list(ends), heard.text)):
            operands = self._same(ends, (said,))  # *which ran for more seasons*
        return (key, lambda: self._most(operands, greatest)) if len(operands) == len(ends) else None

    def _same(self, ends: Ends, attributes: Sequence[str]) -> list[Operand]:
        """Those ends with the attribute that all of them have, or most; each with its path."""
        found = same_attribute(self.kg, list(ends), attributes) if ends else []
        return [replace(one, paths=() if (path := ends[one.entity]) is None else (path,)) for one in found]

    def _most(self, operands: Sequence[Operand], greatest: bool) -> Iterator[Event]:
        values = [order_of(operand) for operand in operands]
        best = max(values) if greatest else min(values)
        result = tuple(one.entity for one, value in zip(operands, values, strict=True) if value == best)
        against = " against ".join(f"{shown_value(one)} ({one.entity})" for one in operands[:12])
        kind, text = "greatest" if greatest else "least", f"{operands[0].attribute}: {against}"
        if (yield from self._operate(kind, text, operands, result)) is not None:
            of = f" (of {len(operands)} that the graph holds)" if len(operands) > 2 else f": {against}"
            first = next(one for one in operands if one.entity == result[0])
            yield computed_answer(f"{listed(result)}: {first.attribute} {shown_value(first)}{of}.", result)

    def _extreme_of(self, heard: Heard, plan: list[str], greatest: bool) -> Result | None:
        attributes, place = attributes_of(plan[0][1:]), self._place_said(heard.text)
        greatest = _end_said(heard.text, plan[0][1:], greatest)
        if plan[0][1:] in SPANS or place < 0 or _AT_THAT_AGE.search(heard.text):
            return None
        if len(plan) == 1:
            return self._extreme_of_kind(heard, attributes, greatest, place)
        _noun, ends = self._of_noun_said(heard, self._walk(heard, plan[1:]), plan[2:])
        operands = self._same(ends, attributes)
        if len(operands) < 2 or len(operands) < _HALF * len(ends):
            return None
        if place > 1:
            way = -place if greatest else place
            return ("nth", way, frozenset(ends)), lambda: self._nth_of(MethodRun(), operands, way)
        return ("extreme", greatest, frozenset(ends)), lambda: self._most(operands, greatest)

    def _extreme_of_kind(self, heard: Heard, attributes: tuple[str, ...], greatest: bool, place: int) -> Result | None:
        """Of all things of a kind, where nothing is named."""
        noun = next(self._nouns(heard.text), "")
        if not noun or sum(operand_of(self.kg, one, attributes) is not None for one in self.sets.of_kind(noun)) < 3:
            return None
        plan = Plan(Form.SUPERLATIVE, noun=noun, attributes=attributes, greatest=greatest, place=place)
        return ("superlative", noun, greatest, place), lambda: self._planned(plan, ()).superlative()

    def _nth(self, heard: Heard, plan: list[str]) -> Result | None:
        return self._at_place(heard, plan, self._place_said(heard.text))

    def _last(self, heard: Heard, plan: list[str]) -> Result | None:
        return self._at_place(heard, plan, -1)

    def _at_place(self, heard: Heard, plan: list[str], place: int) -> Result | None:
        _, ends = self._of_noun_said(heard, self._walk(heard, plan), plan[1:])
        dated = self._same(ends, _IN_ORDER) if place else []
        if len(dated) < len(ends) or not dated:
            return None
        if place == -1:  # the last is the latest, by whatever plan
            return ("extreme", True, frozenset(ends)), lambda: self._nth_of(MethodRun(), dated, place)
        return ("nth", place, frozenset(ends)), lambda: self._nth_of(MethodRun(), dated, place)

    def _place_said(self, text: str) -> int:
        """The place in an order that a text names, from 1, from the end below 0; 0 for none, or for several."""
        if found := _NTH.search(text):
            said = (found[1] or found[2]).lower()
            return int(said) if said.isdigit() else PLACES_SAID.get(said, 0)
        words = re.findall(r"[a-z]+", text.lower())
        places = {PLACES_SAID[word] for word in words if word in PLACES_SAID and word not in _CARDINALS}
        return places.pop() if len(places) == 1 else 0

    # times -------------------------------------------------------------------------------------

    def _between(self, heard: Heard, plan: list[str]) -> Result | None:
        one, other, *_ = [
            self._valued(self._walk(heard, [head]), attributes_of(attribute[1:]))
            for head, attribute in zip(plan[::2], plan[1::2], strict=True)
        ]
        if len(one) != 1 or len(other) != 1:
            return None
        earlier, later = sorted((one[0], other[0]), key=order_of)
        key = ("between", earlier.entity, later.entity)
        return key, lambda: self._differences([(replace(earlier, attribute=earlier.attribute), later)])

    def _age_at(self, heard: Heard, plan: list[str]) -> Result | None:
        who, whom, attribute = plan
        born = self._valued(self._walk(heard, [who]), ("born",))
        then = self._valued(self._walk(heard, [whom]), attributes_of(attribute[1:]))
        if len(born) != 1 or len(then) != 1 or order_of(born[0]) >= order_of(then[0]):
            return None
        lived = born[0].entity == then[0].entity and then[0].attribute.startswith("died")
        key = ("lasted", born[0].entity) if lived else ("between", born[0].entity, then[0].entity)
        return key, lambda: self._differences([(born[0], then[0])])

    def _bounded(self, heard: Heard, plan: list[str], sign: str) -> Result | None:
        decade = _DECADE.search(heard.text)
        years = _YEAR.findall(_DECADE.sub("", heard.text))
        if plan:
            _, ends = self._of_noun_said(heard, self._of_type_asked(heard, self._walk(heard, plan)), plan[1:])
        else:  # *popes*, which names an office
            office = next(filter(None, map(self.office_named, self._nouns(heard.text))), "")
            ends = {**self.sets.ends(office, _OFFICES[:1])} if office else {}
        in_office = not plan or plan[-1] in _OFFICES
        if in_office and _LEFT_OFFICE.search(heard.text):
            return None  # who was killed in office since then took it before
        dated = self._valued(ends, (*self._dates_said(heard, ends), *(_IN_OFFICE_FROM if in_office else (DATE,))))
        if not speaks_of_a_life(heard.text):  # who won in a year was not born in it
            dated = [own for own in dated if not dates_a_life(own.attribute)]
        sign = ">=" if sign == ">" and _FROM_THEN.search(heard.text) else sign
        bound = f"{sign} {years[0]}" if len(years) == 1 and not decade else ""
        if decade and not years and sign == "=":
            bound = f">= {decade[1]}0 and <= {decade[1]}9"
        result = within_bound(dated, bound) if bound and dated else ()
        if not result and sign == "=" and len(years) == 1 and not decade and plan:
            return self._of_that_year(heard, plan, int(years[0]))

        def within() -> Iterator[Event]:
            said = f"{dated[0].attribute} {bound.removeprefix('= ')}"
            if (yield from self._operate("filter", f"{len(dated)} with it; {said}", dated, result, bound)) is not None:
                yield computed_answer(f"{listed(result)}: {said}.", result)

        return (frozenset(result), within) if result else None

    def _dates_said(self, heard: Heard, ends: Ends) -> list[str]:
        """The dates of things that the words name: of plays when they were *first performed*."""
        words = [word for word in re.findall(r"[a-z]+", heard.text.lower()) if word not in FUNCTION_WORDS]
        dates = {name for end in ends for name, own in self.kg.literals.get(end, {}).items() if own.is_date}
        return sorted(name for name in dates if all(any(same_stem(w, word) for word in words) for w in name.split()))

    def _of_that_year(self, heard: Heard, plan: list[str], year: int) -> Result | None:
        """What a walk gives from the one of several namesakes that is of a year: *Psycho, the one from 1960*."""
        name = heard.names[plan[0]]
        dated = {one: operand_of(self.kg, one, (DATE,)) for one in name.entities}
        meant = tuple(one for one, own in dated.items() if own is not None and int(order_of(own)) == year)
        if not meant:
            return None
        names = tuple(replace(n, entities=meant) if n == name else n for n in heard.masked.names)
        own = Heard(replace(heard.masked, names=names), kinds=heard.kinds)
        return self._ends_of(own, plan)

    def _planned(self, plan: Plan, topics: tuple[str, ...]) -> Plans:
        """This, for a question with another plan."""
        own = copy(self)
        own.plan = replace(plan, asked=self.plan.asked)
        own.query = replace(self.query, plan=own.plan, topics=topics)
        return own


def _asked(text: str) -> str:
    """Of several sentences the last one that asks."""
    sentences = re.split(r"(?<=[.?!])\s+(?=[A-Z])", text)
    return next((one for one in reversed(sentences) if one.endswith("?")), text)


def _dates_of(one: Operand, other: Operand) -> str:
    later = "" if one.entity == other.entity else f"{other.entity} "
    return f"{one.entity}: {one.attribute} {shown_value(one)}, {later}{other.attribute} {shown_value(other)}"


def _end_said(text: str, attribute: str, proposed: bool) -> bool:
    """Whether the greater of values is asked for: words of opposite meaning are much alike to a model, so by rule."""
    said = says_greater(text, attribute)
    return proposed if said is None else said


def _year_of(dated: Operand) -> str:
    year = date_parts(dated.value)[0]
    return str(year) if year > 0 else f"{-year} BC"


def _said(stated: Operand) -> str:
    return f"{stated.entity}: {stated.attribute} {shown_value(stated)}"
