"""Answers that are read off the graph where the question says by which relation: a role, a place, a first letter.

The path model takes one relation for the whole of such a question and leaves its second name aside, or stops a place
short of the one asked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

import numpy as np

from kgdemo.answering.computation import Computation, MethodRun, computed_answer, listed, no_answer
from kgdemo.events import Event, Operand
from kgdemo.kg.labels import fold, spoken
from kgdemo.kg.path import Path
from kgdemo.linking.names import name_index
from kgdemo.query.answer_type import fits, kind_of, same_stem
from kgdemo.query.query import Form

_PORTRAYED = "portrayed by"
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
                    return self._shown(ends)
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
        for work in self._link(found["work"]) if found["work"] else ():
            starring = {end: self.sets.leads(work, ("starring",), end) for end in actors if work != character}
            both = {end: (actors[end], second) for end, second in starring.items() if second is not None}
            if both:
                return self._shown_by_paths("both", both)
        return self._shown(actors) if not found["work"] or len(actors) == 1 else None

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
        asked_for = self.query.answer_type
        return self._shown({one: path for one, path in ends.items() if fits(asked_for, kind_of(self.kg, one))})

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
