"""What is held or given year by year: its editions, and what is asked of all of them, of one, or of a holder's."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import product

from kgdemo.answering.bounded import Bounded
from kgdemo.answering.computation import (
    MethodRun,
    computed_answer,
    listed,
    no_answer,
    order_of,
    said_bound,
    unchanged,
    within_bound,
)
from kgdemo.answering.operands import PLACES, operand_of, shown_value
from kgdemo.events import Event, Operand
from kgdemo.kg.labels import FUNCTION_WORDS, bare, fold
from kgdemo.kg.path import Path
from kgdemo.query.answer_type import Fit, fits, kind_of
from kgdemo.query.measures import ORDINALS, place_of
from kgdemo.query.nested import of_place

_WHICH_EDITION = re.compile(
    r"\bthe (?:very )?(?P<nth>first|second|third|last|latest) (?:ever |modern )?"
    r"(?P<what>(?:[\w'-]+ ){0,3}?(?:cup|games|olympics|prize|championship|contest|open|bowl|awards?|euros?))\b",
    re.IGNORECASE,
)
_RUNNER_UP = "runner-up"
_CAME_SECOND = re.compile(
    r"\brunners?[ -]?up\b|\b(?:losing|beaten) finalist\b|\bcame second\b|^who lost\b|\blost (?:in )?the .*\bfinal\b",
    re.I,
)
_WON_WHEN = re.compile(
    r"^(?:when|in (?:what|which) years?|(?:what|which) years?) (?:did|was|were|has) .+? "
    r"(?:win|won|receive|get|given|awarded) (?:(?:its|his|her|their|the) (?P<nth>first|second|third|last|latest) )?"
    r"(?:the |an? )?(?P<what>.+?)$",
    re.I,
)
_HOSTS_WITHIN = re.compile(
    r"^(?:which|what) (?:\w+ )?(?:cities|towns|places|city|town|place) (?:in|of) (?P<where>.+?) (?:have |has )?"
    r"(?:ever )?hosted (?:the |an? )?(?P<what>[^\d,]+?)$",
    re.IGNORECASE,
)
_WON, _YEAR_OF_IT = frozenset(("award received", "won", "awarded")), "happened in year"
_OF_WOMEN = frozenset(("womens", "women"))
_YEAR = re.compile(r"\b[12]\d{3}\b")
_NEXT_EDITION = re.compile(
    r"^(?:which|what|who)(?: [\w']+){0,2}? (?P<verb>hosted|held|won) (?:the )?(?:next )?(?P<what>[^\d,]+?) "
    r"(?:directly |right |immediately |straight |just )?(?P<way>after|before) (?:the one (?:in|of) )?(?P<x>.+)$",
    re.IGNORECASE,
)
_TIMES = {"twice": 2, "two times": 2, "more than once": 2, "thrice": 3, "three times": 3, "four times": 4}
_WON_OFTEN = re.compile(
    rf"^(?:who|which|what)\b.*\b(?:won|awarded|received|given|got|hosted)\b.* (?P<often>{'|'.join(_TIMES)})$",
    re.IGNORECASE,
)


class Editions(Bounded):
    """Answers about what is held again and again."""

    def edition_asked(self) -> Iterator[Event] | None:
        """What is asked of one edition, or of who won or hosted several; None where that is not asked or not known."""
        return (
            self.won_when()
            or self._of_next_edition()
            or self._hosts_within()
            or self._won_often()
            or self._runner_up()
            or self._of_its_editions()
            or self._nth_edition()
        )

    def _of_all_editions(self) -> Iterator[Event] | None:
        """What is asked of what is held again and again, of all its editions: the cities that hosted the games."""
        every = next((own for topic in self.query.topics if (own := self.sets.editions(topic))), [])
        return self._of_each(every) if every and len(self.query.topics) == 1 else None

    def _of_each(self, editions: Sequence[str]) -> Iterator[Event]:
        if of_place(self.plan.asked):  # of *Asian* cities each has to be looked at by itself
            yield no_answer("The graph does not say of its editions from which place they are.")
            return
        dated = self._dated({name: Path((name,), ()) for name in editions}, ("happened",))
        editions = [operand.entity for operand in dated if order_of(operand) < date.today().year + 1]
        ran = yield from self._base(topics=editions[-1:])
        if ran.refused or len(ran.cited[0].relations) > 1:
            yield from unchanged(ran.final)
            return
        relations = ran.cited[0].relations
        paths: dict[str, tuple[Path, ...]] = {}
        for edition in editions:
            for end, path in self.sets.ends(edition, relations).items():
                paths[end] = (*paths.get(end, ()), path)
        asked = self.query.answer_type
        fit = {end: fits(asked, kind_of(self.kg, end)) for end in paths} if asked.named else {}
        if best := max(fit.values(), default=Fit.NO):  # of those who won it the *countries*
            paths = {end: own for end, own in paths.items() if fit[end] is best}
        text = f"{relations[0]} of {len(editions)} that the graph holds"
        operands = [Operand(end, own) for end, own in paths.items()]
        if (yield from self._operate("step", text, operands, tuple(paths))):
            yield computed_answer(f"{listed(list(paths))} (of {len(editions)} that the graph holds).", tuple(paths))

    def _of_its_editions(self) -> Iterator[Event] | None:
        """The answer for the editions of a topic within the years asked for; None where it has no editions."""
        sign, _, year = self.plan.bound.partition(" ")
        if sign not in ("=", "<", ">", ">="):
            return None
        every = list(dict.fromkeys(name for topic in self.query.topics for name in self.sets.editions(topic)))
        editions = [name for name in every if name.startswith(year)]
        if sign == "=" and editions:
            return self._as_answered(editions[:1])
        return self._of_editions(every) if sign != "=" and every else None

    def _nth_edition(self) -> Iterator[Event] | None:
        """The answer for the first or the last edition of a topic: who hosted the *first* World Cup; else None."""
        found = _WHICH_EDITION.search(self.plan.asked)
        if not found:
            return None
        series = next((topic for topic in self.query.topics if self.sets.editions(topic)), "")
        called = {fold(series).split()[-1], "olympics", "games", "cup"} if series else frozenset[str]()
        if fold(found["what"]).split()[-1] not in called:
            return None
        every = self.sets.editions(series)
        dated = self._dated({name: Path((name,), ()) for name in every}, ("happened",))
        if len(dated) < len(every) or any(topic in every for topic in self.query.topics):
            return None
        place = ORDINALS[found["nth"].lower()]
        held = [operand for operand in dated if order_of(operand) < date.today().year + 1]
        ordered = sorted((replace(operand, paths=()) for operand in held), key=order_of)
        return self._of_edition(ordered, place) if abs(place) <= len(ordered) else None

    def _of_edition(self, ordered: Sequence[Operand], place: int) -> Iterator[Event]:
        chosen = ordered[place - 1 if place > 0 else place]
        text = ", ".join(f"{operand.entity} ({shown_value(operand)})" for operand in ordered[:8])
        if (yield from self._operate("nth", text, ordered, (chosen.entity,), str(place))) is None:
            return
        if self.plan.asked.lower().startswith(("when", "in what year", "in which year")):
            yield computed_answer(f"{shown_value(chosen)} ({chosen.entity}).", (shown_value(chosen),))
        else:
            yield from self._as_answered([chosen.entity])

    def _as_answered(self, topics: Sequence[str]) -> Iterator[Event]:
        """The method's own answer, asked of these topics."""
        ran = yield from self._base(topics=topics)
        yield from unchanged(ran.final)

    def _of_editions(self, editions: Sequence[str]) -> Iterator[Event]:
        """What is asked of the editions within a bound: the hosts of the games since a year."""
        others = [topic for topic in self.query.topics if not self.sets.editions(topic)]
        if (others and kind_of(self.kg, others[0]) in PLACES) or of_place(self.plan.asked):
            yield no_answer("The graph does not say of its editions from which place they are.")
            return
        dated = self._dated({name: Path((name,), ()) for name in editions}, ("happened",))
        within = within_bound([replace(o, paths=()) for o in dated], self.plan.bound)
        ran = yield from self._base(topics=list(within[:1] or editions[:1]))
        if ran.refused or not ran.cited or len(ran.cited[0].relations) > 1:
            yield from unchanged(ran.final)
            return
        relations = ran.cited[0].relations
        text = f"{len(dated)} with their year, of which {len(within)} {said_bound(self.plan.bound)}"
        operands = [replace(o, paths=()) for o in dated]
        operation = yield from self._operate("filter", text, operands, within, self.plan.bound)
        found = {end: path for name in within for end, path in self.sets.ends(name, relations).items()}
        of_sex = self.of_sex(found)
        if operation is not None and of_sex is not None:
            yield from self._narrowed(ran, found, of_sex)
            return
        ends = [end for name in within for end in self.sets.ends(name, relations)]
        if operation is not None and ends:
            told = ", ".join(f"{name}: {listed(list(self.sets.ends(name, relations)))}" for name in within)
            yield computed_answer(told, tuple(dict.fromkeys(ends)), ran)
        elif operation is not None:
            yield no_answer(f"The graph does not hold this of the {len(within)} {said_bound(self.plan.bound)}.")

    def _in_office(self, ran: MethodRun, began: Sequence[Operand]) -> Iterator[Event]:
        """Who was in office in a year or between two; who left in the first of two or came in the last was not."""
        first, *others = re.findall(r"\d+", self.plan.bound)
        year = others[0] if others else first
        until, since = (f"< {year}", f"> {first}") if others else (f"<= {year}", f">= {year}")
        earlier = within_bound(began, until)
        text = f"{len(began)} with the day they took office; {said_bound(until)}: {len(earlier)}"
        operation = yield from self._operate("filter", text, began, earlier, until)
        left = [o for e in earlier if (o := operand_of(self.kg, e, ["left office", "reign ended"])) is not None]
        result = within_bound(left, since)
        text = f"of these, {len(left)} with the day they left it; {said_bound(since)}: {len(result)}"
        checked = yield from self._operate("filter", text, left, result, since)
        if operation is None or checked is None:
            return
        if result:
            yield computed_answer(", ".join(result), result, ran)
        else:
            none = f"none was in office {said_bound(self.plan.bound)}"
            yield no_answer(f"Of the {len(began)} that the graph holds with their years, {none}.")

    def _editions_won(self, path: Path) -> bool:
        """Whether the same relation leads to single editions as well: to the *1970 FIFA World Cup*."""
        ends = self.sets.ends(path.entities[0], path.relations)
        return any(edition in ends for edition in self.sets.editions(path.end))

    # said of it ----------------------------------------------------------------------------------

    def _of_next_edition(self) -> Iterator[Event] | None:
        """Who hosted or won the edition after another, *the next Olympics after London 2012*; None where not asked."""
        found = _NEXT_EDITION.match(self.plan.asked)
        editions = sorted(set(self._editions_called(found["what"])) if found else ())
        relation = "hosted by" if found and found["verb"].lower().startswith("h") else "won by"
        for place, edition in enumerate(editions if found else ()):
            year = _YEAR.search(found["x"]) if found else None
            around = () if year else (*self._link(found["x"]), found["x"]) if found else ()
            ends = self.sets.ends(edition, ("hosted by",)) | self.sets.ends(edition, ("won by",))
            if (year and edition.startswith(year[0])) or not ends.keys().isdisjoint(around):
                at = place + (1 if found and found["way"].lower() == "after" else -1)
                return self._shown(self.sets.ends(editions[at], (relation,))) if 0 <= at < len(editions) else None
        return None

    def _hosts_within(self) -> Iterator[Event] | None:
        """The places of a country or continent that hosted one of a series; None where not asked or not known."""
        found = _HOSTS_WITHIN.match(self.plan.asked)
        editions = self._editions_called(found["what"]) if found else []
        hosts: dict[str, Path] = {}
        for where in self._link(found["where"])[:1] if found and editions else ():
            for edition in editions:
                ends = self.sets.ends(edition, ("hosted by",)).items()
                inside = {host: path for host, path in ends if host != where and self.sets.containing(host, where)}
                hosts = {**inside, **hosts}
        return self._shown(hosts)

    def _runner_up(self) -> Iterator[Event] | None:
        """Who came second in a contest, which the path model would take for who won it; None where not asked."""
        if not _CAME_SECOND.search(self.plan.asked):
            return None
        ends = next((own for topic in self.query.topics if (own := self.sets.ends(topic, (_RUNNER_UP,)))), {})
        if not ends:
            refused = no_answer("The graph does not say who came second there.")
            return iter((refused,)) if any("won by" in dict(self.kg.neighbours(t)) for t in self.query.topics) else None
        return self._shown(ends)

    def won_when(self) -> Iterator[Event] | None:
        """The year of the edition that somebody won or was given; None where that is not asked or not known."""
        found = _WON_WHEN.match(self.plan.asked)
        words = set(fold(bare(found["what"])).split()) - FUNCTION_WORDS if found else set()
        ends = self._years_won(words, self._link(found["what"])) if found else {}
        for topic in self.query.topics if found and not ends else ():  # of the series that is named no other one's
            for label, end in self.kg.neighbours(topic):
                year = re.match(r"\d{4}(?= )", end)
                if (
                    year
                    and label in _WON
                    and words <= (said := set(fold(end).split()))
                    and words.isdisjoint(_OF_WOMEN) is said.isdisjoint(_OF_WOMEN)
                    and (_YEAR_OF_IT, year[0]) in self.kg.neighbours(end)
                ):
                    ends[year[0]] = Path((topic, end, year[0]), (label, _YEAR_OF_IT))
        if found and (nth := found["nth"]) and ends:
            ordered, place = sorted(ends), place_of(nth.lower().replace("latest", "last"))
            ends = {year: ends[year] for year in ordered[place - 1 if place > 0 else place :][:1]}
        return self._shown(ends)

    def _years_won(self, words: Collection[str], called: Iterable[str]) -> dict[str, Path]:
        """The years of those editions of a series that another topic, or its national team, won."""
        ends: dict[str, Path] = {}
        for series in dict.fromkeys((*self.query.topics, *called)):
            if self.kg.words_of(series).isdisjoint(words):
                continue
            others = [topic for topic in self.query.topics if topic != series]
            for edition in self.sets.editions(series):
                for winner, path in self.sets.ends(edition, ("won by",)).items():
                    year = next(iter(self.sets.ends(edition, (_YEAR_OF_IT,))), "")
                    if year and any(winner == one or winner.startswith(f"{one} national ") for one in others):
                        ends[year] = Path((path.end, edition, year), (self.sets.inverse("won by"), _YEAR_OF_IT))
        return ends

    def _won_often(self) -> Iterator[Event] | None:
        """Who won, was given or hosted so many of a series; None where that is not asked or not known."""
        found = _WON_OFTEN.match(self.plan.asked)
        relations = ("hosted by",) if found and "host" in found[0].lower() else ("won by", "awarded to")
        for series in self.query.topics if found else ():
            times: dict[str, list[Path]] = {}
            for edition, relation in product(self.sets.editions(series), relations):
                for end, path in self.sets.ends(edition, (relation,)).items():
                    if fits(self.query.answer_type, kind_of(self.kg, end)) is not Fit.NO:  # *countries*, not players
                        times.setdefault(end, []).append(path)
            least = _TIMES[found["often"].lower()] if found else 0
            most = least if re.search(r"\b(?:exactly|only|just)\b", self.plan.asked) else max(_TIMES.values()) * 100
            often = {end: tuple(paths) for end, paths in times.items() if least <= len(paths) <= most}
            if often:
                return self._shown_by_paths("both", often)
        return None
