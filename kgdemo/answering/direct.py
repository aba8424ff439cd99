"""Answers that are read off the graph where the question says by which relation: a role, a place, a first letter.

The path model takes one relation for the whole of such a question and leaves its second name aside, or stops a place
short of the one asked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import product

import numpy as np

from kgdemo.answering.computation import Computation, MethodRun, computed_answer, listed, no_answer
from kgdemo.events import Event, Operand
from kgdemo.kg.labels import FUNCTION_WORDS, bare, fold, spoken
from kgdemo.kg.path import Path
from kgdemo.linking.names import name_index
from kgdemo.query.answer_type import Fit, fits, kind_of, same_stem
from kgdemo.query.measures import place_of
from kgdemo.query.query import Form

_PORTRAYED, _STARRING = "portrayed by", "starred in"
_ROLE = re.compile(
    r"^(?:(?:who|what|which) (?:is|was) (?:the )?(?:actor|actress|man|woman|person|one) (?:who|that)"
    r"|who|(?:which|what) (?:actor|actress|man|woman|person)) "
    r"(?:played|plays|portrayed|portrays|acted|acted as|voiced|voices|starred as|stars as"
    r"|did the voice of|does the voice of|was the voice of|is the voice of) (?:as )?"
    r"(?:the (?:role|part|character) of )?(?P<role>.+?)"
    r"(?: in (?:the )?(?P<work>.+?)(?: (?:films?|movies?|series|show))?)?$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"\b(?:to|from|in|by|at|with|born|married|educated)$", re.IGNORECASE)  # *plays X married to*
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


_MEANS = ("means", "stands for")
_ASKS_MEANING = re.compile(
    r"^(?:in (?:the )?(?P<work>[^,]+), )?(?:what (?:does|do|did|is|was) (?:the )?(?:literal )?(?:meaning of )?(?:the )?"
    r"(?:(?:musical |latin |french |italian |spanish |irish |german )?(?:word|phrase|name|term|title|saying|expression"
    r"|abbreviation|acronym|letters|motto|idiom)s? )?|(?:the )?meaning of (?:the (?:word|phrase|name|term|title) )?)"
    r"[\"“'‘]?(?P<x>.+?)[\"”'’]?(?P<asks> (?:really |actually |literally )?"
    r"(?:mean|stand for|translate (?:to|as|into))\b.*)?$",
    re.IGNORECASE,
)


class Direct(Computation):
    """Answers by a relation that the question names in other words."""

    def meaning(self) -> Iterator[Event] | None:
        """What a word, a sign or a name means, or is short for; None where the question asks for something else."""
        found = _ASKS_MEANING.match(self.plan.asked)
        if not found or not (found["asks"] or "meaning of" in self.plan.asked.lower()):
            return None
        called_so = (self.kg.entities[name.entity] for name in name_index(self.kg).called(found["x"]))
        said = found["x"]
        words = self.kg.entities.known(f"word “{one}”" for one in (said, said.lower(), said.capitalize()))
        for one in dict.fromkeys((*words, *called_so)):
            for relation in _MEANS:
                if ends := self.sets.ends(one, (relation,)):
                    return self._shown_by_paths("step", {end: (path,) for end, path in ends.items()})
        return None

    def in_role(self) -> Iterator[Event] | None:
        """Who played a character in a work; None where the question asks for something else or the graph does not say.

        Of several actors those are meant who starred in the work. Of a single one it is taken that he or she did: that
        a character belongs to a series of films is seldom stated of each film.
        """
        found = _ROLE.match(self.plan.asked)
        if not found or _GOES_ON.search(found["role"]):
            return None
        character, actors = next(
            ((one, ends) for one in self._link(found["role"]) if (ends := self.sets.ends(one, (_PORTRAYED,)))), ("", {})
        )
        if not actors:
            return None
        if not found["work"]:
            return self._shown_by_paths("step", {end: (path,) for end, path in actors.items()})
        works = [work for work in self._link(found["work"]) if work != character]
        both: dict[str, tuple[Path, ...]] = {}
        for work in works:
            for end, path in actors.items():
                second = self.sets.leads(work, ("starring",), end)
                if second is not None:
                    both.setdefault(end, (path, second))
            if both:
                break
        if both:
            return self._shown_by_paths("both", both)
        return (
            self._shown_by_paths("step", {end: (path,) for end, path in actors.items()}) if len(actors) == 1 else None
        )

    def of_next_edition(self) -> Iterator[Event] | None:
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
                beside = self.sets.ends(editions[at], (relation,)) if 0 <= at < len(editions) else {}
                return self._shown_by_paths("step", {e: (path,) for e, path in beside.items()}) if beside else None
        return None

    def hosts_within(self) -> Iterator[Event] | None:
        """The places of a country or continent that hosted one of a series; None where not asked or not known."""
        found = _HOSTS_WITHIN.match(self.plan.asked)
        if not found:
            return None
        hosts: dict[str, tuple[Path, ...]] = {}
        editions = self._editions_called(found["what"])
        for where in self._link(found["where"])[:1] if editions else ():
            for edition in editions:
                for host, path in self.sets.ends(edition, ("hosted by",)).items():
                    inside = self.sets.containing(host, where) if host != where else None
                    if inside is not None:
                        hosts.setdefault(host, (path,))
        return self._shown_by_paths("step", hosts) if hosts else None

    def said_by_relation(self) -> Iterator[Event] | None:
        """What a relation of the topic leads to whose own words the question says, *drives on*; None where none does.

        For where the path model does not know the relation. Two that are said leave it open which one is meant.
        """
        if len(self.query.topics) != 1:
            return None
        (topic,) = self.query.topics
        asked = fold(self.plan.asked).split()
        said: list[str] = []
        place = self.kg.entities.find(topic)
        steps = [] if place is None else self.kg.steps_from(np.array([place])).tolist()
        for label in (self.kg.step_labels[step] for step in steps):
            words = spoken(label).lower().split() if not label.startswith("~") else []
            runs = (asked[first : first + len(words)] for first in range(len(asked) - len(words) + 1))
            if len(words) > 1 and any(all(map(same_stem, run, words)) for run in runs):
                said.append(label)
        ends = self.sets.ends(topic, (said[0],)) if len(said) == 1 else {}
        kept = {
            one: path for one, path in ends.items() if fits(self.query.answer_type, kind_of(self.kg, one)) is not Fit.NO
        }
        return self._shown_by_paths("step", {one: (path,) for one, path in kept.items()}) if kept else None

    def runner_up(self) -> Iterator[Event] | None:
        """Who came second in a contest, which the path model would take for who won it; None where not asked."""
        if not _CAME_SECOND.search(self.plan.asked):
            return None
        ends = next((own for topic in self.query.topics if (own := self.sets.ends(topic, (_RUNNER_UP,)))), {})
        if not ends:
            refused = no_answer("The graph does not say who came second there.")
            return iter((refused,)) if any("won by" in dict(self.kg.neighbours(t)) for t in self.query.topics) else None
        return self._shown_by_paths("step", {end: (path,) for end, path in ends.items()})

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
                    ends[year[0]] = (Path((topic, end, year[0]), (label, _YEAR_OF_IT)),)
        if found and (nth := found["nth"]) and ends:
            ordered, place = sorted(ends), place_of(nth.lower().replace("latest", "last"))
            ends = {year: ends[year] for year in ordered[place - 1 if place > 0 else place :][:1]}
        return self._shown_by_paths("step", ends) if ends else None

    def _years_won(self, words: Collection[str], called: Iterable[str]) -> dict[str, tuple[Path, ...]]:
        """The years of those editions of a series that another topic, or its national team, won."""
        ends: dict[str, tuple[Path, ...]] = {}
        for series in dict.fromkeys((*self.query.topics, *called)):
            if self.kg.words_of(series).isdisjoint(words):
                continue
            others = [topic for topic in self.query.topics if topic != series]
            for edition in self.sets.editions(series):
                for winner, path in self.sets.ends(edition, ("won by",)).items():
                    year = next(iter(self.sets.ends(edition, (_YEAR_OF_IT,))), "")
                    if year and any(winner == one or winner.startswith(f"{one} national ") for one in others):
                        back = self.sets.inverse("won by")
                        ends[year] = (Path((path.end, edition, year), (back, _YEAR_OF_IT)),)
        return ends

    def won_often(self) -> Iterator[Event] | None:
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

    def beginning_with(self) -> Iterator[Event]:
        """The things of a kind whose names begin with a letter; how many, where that is asked."""
        noun, ran = self.plan.noun, MethodRun()
        modifier = "" if self.sets.members(noun) else self._modifier(noun)
        if self.plan.base and self.query.topics:
            ran = yield from self._base()
            ends: Mapping[str, Path | None] = self._set_of(ran, noun)
        elif modifier:
            ends = {**self._of_place(modifier, noun)}
        else:
            ends = self.sets.of_kind(noun)
        groups = (own for topic in self.query.topics if (own := self.sets.members(topic)))  # *wives of Henry VIII*
        ends = ends or self._people_called(noun) or next(groups, {})
        if not ends:
            yield no_answer(f"The graph knows no kind of thing called “{noun}”.")
            return
        letter = self.plan.initial
        operands = [Operand(end, (path,)) if path else self._of_type(end) for end, path in ends.items()]
        result = tuple(end for end in ends if _begins(end, letter))
        text = f"{len(ends)} {noun}, of which {len(result)} begin with {letter}"
        operation = yield from self._operate("initial", text, operands, result, letter)
        if operation is None:
            return
        if not result and self.plan.form is not Form.COUNT:
            yield no_answer(f"None of the {len(ends)} {noun} that the graph holds begins with {letter}.")
            return
        said = f"{listed(result)} (of the {len(ends)} {noun} that the graph holds)."
        counted = self.plan.form is Form.COUNT
        yield computed_answer(
            f"{len(result)}: {said}" if counted else said, (str(len(result)),) if counted else result, ran
        )

    def _people_called(self, noun: str) -> Mapping[str, Path | None]:
        """Those who held the office that a noun names: *US presidents*, *popes*, *English kings*."""
        office = self.office_named(noun)
        return {**self.sets.ends(office, ("held by",))} if office else {}

    def _of_type(self, entity: str) -> Operand:
        return Operand(entity, (), "type", self.kg.info[entity].type)


def _begins(name: str, word: str) -> bool:
    """Whether a name begins with a word, or with a single letter: *County Antrim* with an A."""
    name = unicodedata.normalize("NFKD", re.sub(r"^(?:[tT]he |County (?!of ))", "", name))
    return name[:1].upper() == word if len(word) == 1 else fold(name).split()[:1] == fold(word).split()
