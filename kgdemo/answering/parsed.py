"""What a question asks in the terms of the graph: plans that a model reads off its words, done where they can be.

``query.parser`` proposes plans: a walk from what is named, and what is made of its ends. The graph decides among them.
A plan that no thing of such a type could have is not what is meant, and the others are the likelier for it; one that
such things have and this one lacks says that a fact is missing, and then no other plan may answer in its place. It is
graph-constrained decoding (GCR) of what is asked instead of the path, with execution as the constraint.

The parser proposes the likeliest plans for the words, whether the graph can do them or not. Where it can do none of
them, the words are unusual, *everyone in* a band, and still one plan may be far likelier than all others that can be
done (``Parsed.grounded``): of a band its members.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial

from kgdemo.answering.called import Called
from kgdemo.answering.computation import listed, order_of
from kgdemo.answering.masked import KINDS, Masked, Named, mask, readings
from kgdemo.answering.operands import PLACES, attribute_in_words, attributes_meant, number_of, operand_of
from kgdemo.answering.plans import BOUNDS, HOW_MANY, PLACES_SAID, Result
from kgdemo.answering.records import ACHIEVED
from kgdemo.answering.walks import LYING, MOVEMENT, SPANS, Ends, Heard
from kgdemo.events import AnswerFinal, Event, Mention, Notice
from kgdemo.kg.labels import FUNCTION_WORDS
from kgdemo.query.answer_type import Fit, fits, kind_of, same_stem
from kgdemo.query.measures import DATE, without_world
from kgdemo.query.parser import AND_OF, ATTRIBUTE, BOTH, NAMES, NONE, Parser, Proposal, value_of_year
from kgdemo.query.query import Form
from kgdemo.query.wording import plain_question

Plan = tuple[str, ...]

_LEAST_WEIGHED = 0.025  # probability below which no plan is taken: it would be a guess
_SHARE = 0.7  # of the probability of all that can be done
_SAYS_WHAT = frozenset(  # which is told of anything, and so asked for only by its words
    ("instance of", "has instance", "colour", "genre", "gender", "female called", "male called", "group called",
     "sound called", "occupation", "named after", "gave its name to", "animal family", "animal class", "plant family")
)  # fmt: skip
_STATED_AS = {  # what may be asked of a thing of which it is stated in other words
    "height": ("height", "elevation"), "elevation": ("elevation", "height"), "weight": ("weight", "mass"),
    "diameter": ("diameter", "width"), "lifespan": ("lifespan", "age"),
}  # fmt: skip
_WITH = re.compile(r",? (?:(?:together|along) )?(?:with|alongside|besides|apart from) \0")
_BESIDE_IT = r"(?:with|alongside|besides|apart from|\b(?:did|does|do)) {}\b"
_OF_VALUES = re.compile(r"\b(?:how|when|what year|number|size)\b", re.IGNORECASE)

LIKELY = 0.5  # share of what is possible, from which a plan is taken
_INSTEAD = (  # steps that say the same of things of different types
    ("located in", "lives in", "housed in", "took place in", "hosted by", "set in"),
    ("citizen of", "born in", "originates from", "headquartered in", "based in", "located in"),
    ("made by", "produced by", "production company", "created by", "designed by"),
    ("author", "composed by", "screenplay by", "painted by", "sculpted by", "created by", "invented by", "founded by",
     "directed by", "designed by", "developed by", "performed by"),
    ("wrote", "composed", "painted", "created", "directed", "designed", "performed"),
    ("composed by", "music by"),
    ("starring", "performed by", "portrayed by"),
    ("released music by", "performed", "album by"),
    ("won by", "awarded to"),
    ("participant", "contains"),  # what *is in* a country
    ("held by", "awarded to", "won by", "achieved by"),  # who *was* the person of a year
    ("genre of", "wrote", "composed", "directed", "painted", "created"),  # a *Dickens* novel
)  # fmt: skip
_MADE = ("wrote", "composed", "painted", "directed", "created", "performed")  # of whom stands for what is by him
_NEARLY = {
    "appears in": "starred in", "starred in": "appears in", "won by": "awarded to", "awarded to": "won by"
}  # fmt: skip
_NTH_OF = re.compile(r"(first|second|third|fourth|fifth) (?:ever |modern |men['’]s )*$", re.IGNORECASE)
_YEAR_BEFORE = re.compile(r"\b((?:1[89]|20)\d\d) (?:men['’]s )?$", re.IGNORECASE)
_YEAR_BEHIND = re.compile(
    r",? (?:in |of |from )?(?:the year )?['’]?((?:1[89]|20)\d\d|\d\d)\b(?!['’.]?\d)", re.IGNORECASE
)
_SPEAKS_OF_IT = re.compile(
    r"\b(?:it|its|he|him|his|she|her|they|them|their|this|that|these|those|there|one|ones)\b", re.IGNORECASE
)
_BORN = re.compile(r"\bborn\b", re.IGNORECASE)  # which citizens of a country need not have been there
_WITH_ANOTHER = re.compile(r" (?:in|of|on|by|from|at) |, ")
_HOW_MANY = re.compile(r"\bhow (?:many|often)\b", re.IGNORECASE)
_WORKS = re.compile(r" (?:book|novel|film|movie|album|song|game|part|instalment|installment)\b", re.IGNORECASE)
_SURE = 0.5  # probability from which a plan is held against an answer that was found without it
_VERY_LIKELY = 0.9  # probability from which a plan whose fact is missing says that nothing else answers
_VERY_SURE = 0.85  # the same where a name is left out of it
_ALONE = 0.9  # share of what is possible, from which nothing else is
_TRUSTED = 0.7  # probability from which a plan knows better what is asked for than the question word
_LEAST = 0.2  # probability below which no plan is taken
_LEAST_CLAIM = 0.1  # the same of a claim
_HALF = 0.5  # of a set, of which a value has to be known before one is said to have the greatest
_KIND_NAMED = 0.9  # by which a reading is less likely where a kind of thing is taken for a name


_Lacking = tuple[float, Heard, tuple[str, ...]]  # the probability of a plan that cannot be done, the reading, the plan


@dataclass(slots=True)
class Understood:
    """A plan that can be done.

    Attributes:
        likely: its share among the plans that are possible.
        sure: whether it is likely among all, and proposed as it is done: sure enough to be held against another answer.
        plan, masked: it, and the reading that it is of.
        events: what doing it shows, the answer last.
    """

    likely: float
    sure: bool
    plan: tuple[str, ...]
    masked: Masked
    events: Callable[[], Iterator[Event]]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a question means by a plan.

    Attributes:
        events: what doing it shows, the answer last; none where no plan is likely that can be done.
        sure: whether the plan is.
        lacking: where none can be done though one is very likely, which fact the graph lacks for it.
        about: what the question is about for certain, so that no answer that has nothing to do with it is one.
    """

    events: tuple[Event, ...] = ()
    sure: bool = False
    lacking: str = ""
    about: str = ""


class Parsed(Called):
    """Answers to what a question means by the likeliest plan that the graph can do."""

    def parsed(self, text: str, mentions: Sequence[Mention], parser: Parser) -> Meaning:
        """The answer to what a text means by a plan.

        Args:
            text: the question as it was asked.
            mentions: what linking found in it.
            parser: proposes plans.
        """
        if self.plan.century:  # which is told of a date, see ``Spans.centuries``
            return Meaning()
        called = tuple(self.called_so(text, self._heard(text, mentions)))
        if any(isinstance(event, AnswerFinal) and not event.refusal for event in called):
            return Meaning(called, sure=True)
        lacking = list[_Lacking]()
        found = self.understood(text, mentions, parser, lacking)
        for one in found:
            if one.likely < LIKELY and not one.sure:
                break
            events = tuple(one.events())
            if any(isinstance(event, AnswerFinal) and not event.refusal for event in events):
                told = Notice(f"Understood as: {in_words(one.plan, one.masked)}.")
                return Meaning(
                    (told, *events) if len(one.plan) > 1 else events, one.sure
                )  # *after* alone tells nothing
        weighed = self.grounded(self._heard(text, mentions), parser)
        events = tuple(weighed.events()) if weighed is not None else ()
        if weighed is not None and any(isinstance(event, AnswerFinal) and not event.refusal for event in events):
            return Meaning((Notice(f"Understood as: {in_words(weighed.plan, weighed.masked)}."), *events))
        missed = max(lacking, key=lambda one: one[0], default=None)
        very_likely = missed is not None and missed[0] >= _VERY_LIKELY
        return Meaning(lacking=self._what_is_lacking(*missed[1:]) if missed and very_likely and not found else "")

    def _what_is_lacking(self, heard: Heard, plan: Sequence[str]) -> str:
        """Which fact the graph lacks for a walk; empty where a plan is no walk, or leads somewhere all the same."""
        if plan[0] not in NAMES or any(token in (BOTH, AND_OF) or token[0] == ATTRIBUTE for token in plan):
            return ""
        if self._walk(heard, plan):
            return ""
        last = max((length for length in range(1, len(plan)) if self._walk(heard, plan[:length])), default=1)
        places = listed(list(self._walk(heard, plan[:last])), 3)
        if not places:
            return ""
        return f"The question asks for “{plan[last]}”, and the graph states none for {places}."

    def understood(
        self, text: str, mentions: Sequence[Mention], parser: Parser, lacking: list[_Lacking] | None = None
    ) -> list[Understood]:
        """What a text may mean, of each reading of it the likeliest plan if it can be done; the likeliest first.

        Args:
            text, mentions, parser: see ``parsed``.
            lacking: is given the plans for which a fact is missing.
        """
        about = self._heard(text, mentions)
        lacking = [] if lacking is None else lacking
        found = [one for heard in about if (one := self._best(heard, parser, lacking)) is not None]
        whole = [one for one in found if not one.masked.beside]  # a name is left out only where no plan takes it in
        return sorted(whole or found, key=lambda one: -one.likely)

    def _heard(self, text: str, mentions: Sequence[Mention]) -> list[Heard]:
        """The readings of a text that pass over nothing that it is about."""
        text = without_world(self._what_is_asked(text, mentions)) or text
        plain = readings(text, mentions, frozenset(self.query.topics), self.kg, self._only_says_more)
        every = [own for one in plain if (own := self._of_editions(text, one))] + plain
        there = [one for one in mentions if one.text.lower() in text.lower()]
        lost = [self._passed_over(masked, there, not mentions) for masked in every]
        # *Galilean moons*, which are not what the question is about
        told = [one.candidates[0].entity for one in there if " " in one.text]
        told = [own for own in told if kind_of(self.kg, own) in KINDS and own not in self.query.topics]
        return [  # all that the question is about; a kind of thing, or a record, may be said in the words of a plan
            Heard(masked, kinds=tuple(own for own in (*left, *told) if kind_of(self.kg, own) != "feat"))
            for masked, left in zip(every, lost, strict=True)
            if all(kind_of(self.kg, own) in (*KINDS, "feat", MOVEMENT) or self.sets.editions(own) for own in left)
        ]

    def _what_is_asked(self, text: str, mentions: Sequence[Mention]) -> str:
        """A question without the sentence before it, if it neither speaks of that nor leaves to it what it is about."""
        asked = plain_question(text)
        before = text[: text.find(asked)].rstrip() if asked in text else ""
        named = [one.text for one in mentions if one.candidates[0].entity in self.query.topics]
        apart = before.endswith((".", "!", ":", ";", "…")) and all(name in asked for name in named)
        return asked if apart and not _SPEAKS_OF_IT.search(asked) else text

    def _passed_over(self, masked: Masked, mentions: Sequence[Mention], chosen_by_hand: bool) -> list[str]:
        """What linking found the question to be about and a reading does not name, nor anything it is a part of."""
        named = {entity for name in (*masked.names, *masked.beside, *masked.around) for entity in name.entities}
        if chosen_by_hand:
            return [own for own in self.query.topics if own not in named]
        within = " ".join(name.text.lower() for name in masked.names)
        chosen = ((one.text.lower(), one.candidates[0].entity) for one in mentions)
        lost = ((text, own) for text, own in chosen if own in self.query.topics and own not in named)
        return [own for text, own in lost if text not in within]

    def _of_editions(self, text: str, masked: Masked) -> Masked | None:
        """A reading with one of a series in place of the series: *the first World Cup*, *Wimbledon 2019*."""
        names: list[Named] = []
        for name in masked.names:
            head, rest = text[: name.start], text[name.end :]
            before = _NTH_OF.search(head) or _YEAR_BEFORE.search(head)
            behind = None if before else _YEAR_BEHIND.match(rest)
            said = before or behind
            one = next((own for entity in name.entities if said and (own := self._edition(entity, said[1]))), "")
            if not one:
                names.append(name)
                continue
            start, end = before.start() if before else name.start, name.end + (behind.end() if behind else 0)
            works = _WORKS.match(text[end:])
            end += works.end() if works else 0
            names.append(Named(text[start:end], start, end, (one,)))
        return mask(text, names) if names != list(masked.names) else None

    def _edition(self, series: str, which: str) -> str:
        """One of what is held again and again, or of the parts of a series, by its place or its year."""
        whole = [
            series,
            *(end for label, end in self.kg.neighbours(series, directed=True) if label == "part of series"),
        ]
        parts = self.sets.editions(series) or next(
            (own for one in whole if len(own := [*self.sets.ends(one, ("has part",))]) > 1), []
        )
        dated = {one: order_of(at) for one in parts if (at := operand_of(self.kg, one, (DATE,)))}
        if which.isdigit():
            year = int(which) if len(which) == 4 else 1900 + int(which)
            return next((one for one, own in dated.items() if int(own) == year), "")
        ordered, place = sorted(dated, key=lambda one: dated[one]), PLACES_SAID.get(which.lower(), 0)
        return ordered[place - 1] if 0 < place <= len(ordered) == len(parts) else ""

    def _only_says_more(self, thing: str, other: str) -> bool:
        """Whether a name that stands beside another says only whose or where it is: *the Burj Khalifa in Dubai*."""
        alike = kind_of(self.kg, thing) == kind_of(self.kg, other)
        return (not alike and any(end == other for _, end in self.kg.neighbours(thing, directed=True))) or (
            kind_of(self.kg, other) in PLACES and self.sets.containing(thing, other) is not None
        )

    def _best(self, heard: Heard, parser: Parser, lacking: list[_Lacking]) -> Understood | None:
        """The likeliest plan of a reading; None where what is likeliest cannot be done."""
        done: dict[object, Understood] = {}
        whole = missing = 0.0
        merged = any(_WITH_ANOTHER.search(name.text) for name in heard.masked.names)  # *Catwoman in Batman Returns*
        proposals = parser.plans(heard.text)
        for proposal in self._claims(heard, proposals) if self.plan.form is Form.YES_NO else proposals:
            likely, said = proposal.likely, proposal.tokens
            if said[:1] == ("COUNT",) and not HOW_MANY.search(heard.text):
                said = said[1:]  # *the six actors of* a series are to be named
            heard.trusted = likely >= _TRUSTED
            plan = said if said == (NONE,) else self._possible(heard, said)
            if not plan:
                continue
            whole += likely
            result = self._done(heard, plan) if plan != (NONE,) else None
            result = result or (self._done(heard, other) if (other := _in_other_steps(plan)) != plan else None)
            least = _VERY_SURE if heard.masked.beside else _SURE if plan == said else _TRUSTED
            sure = likely >= least and (plan == said or not merged)
            if result is None:
                missing = max(missing, likely)
                if plan == said != (NONE,):
                    lacking.append((likely, heard, plan))
            elif result[0] in done:  # one and the same in other words
                done[result[0]].likely += likely
                done[result[0]].sure |= sure
            else:
                done[result[0]] = Understood(likely, sure, plan, heard.masked, result[1])
        best = max(done.values(), key=lambda one: one.likely, default=None)
        if best is None and (stated := self._number_in_words(heard)) is not None:
            return Understood(LIKELY, False, stated[0], heard.masked, stated[1])
        claims = self.plan.form is Form.YES_NO  # which one path suffices for, whatever else is not stated
        if (
            best is None
            or (missing >= best.likely and not claims)
            or best.likely < (_LEAST_CLAIM if claims else _LEAST)
        ):
            return None
        best.sure |= best.likely >= _LEAST and _BORN.search(heard.text) is not None and "born in" in best.plan
        alone = best.likely >= max(_SURE, _ALONE * whole)  # nothing else is possible
        best.sure |= alone and not (heard.masked.beside or merged)
        if claims:
            best.likely = max(best.likely, LIKELY)
        best.likely /= max(whole, _HALF)  # where hardly anything is possible, nothing is sure
        best.likely *= _KIND_NAMED ** sum(kind_of(self.kg, name.entities[0]) in KINDS for name in heard.masked.names)
        return best

    def _claims(self, heard: Heard, proposals: Sequence[Proposal]) -> list[Proposal]:
        """Proposals with one for each claim: that Y is where X died, and that X is among those who died in Y, are one.

        Their probability is that among the claims that such things may have at all.
        """
        found: dict[tuple[str, ...], float] = {}
        for proposal in proposals:
            claim = proposal.tokens
            if claim[:1] == ("IS",) and claim[1:3] == NAMES and len(claim) > 3:
                back = tuple(self.sets.inverse(step) for step in reversed(claim[3:]))
                claim = ("IS", NAMES[1], NAMES[0], *back) if all(back) else claim
            if claim[:1] != ("IS",) or self._may_claim(heard, claim):
                found[claim] = found.get(claim, 0.0) + proposal.likely
        whole = max(sum(found.values()), _HALF)
        return sorted((Proposal(likely / whole, claim) for claim, likely in found.items()), key=lambda one: -one.likely)

    def _may_claim(self, heard: Heard, claim: Sequence[str]) -> bool:
        """Whether a walk may lead from such things to such as are claimed: nobody is *killed by* an island."""
        if (
            len(claim) < 4
            or not {*claim[1:3]} <= heard.names.keys()
            or any(step.startswith(ATTRIBUTE) for step in claim[3:])
        ):
            return False
        claimed, types = ({self._type_of(one) for one in heard.names[name].entities} for name in claim[1:3])
        for step in claim[3:]:
            types = {end for kind in types for end in self.kg.steps_of_type(kind).get(step, ())}
        return not types.isdisjoint(claimed) or not (types.isdisjoint(PLACES) or claimed.isdisjoint(PLACES))

    # what is possible --------------------------------------------------------------------------

    def _possible(self, heard: Heard, plan: tuple[str, ...]) -> tuple[str, ...]:
        """A plan if things of such types may have what it asks of them; else with what they have instead, or none.

        A person *comes from* a place by birth, a dish by origin; a song is *by* who composed it, a book by its author;
        what is *adapted from* somebody is adapted from what he wrote.
        """
        if self._is_possible(heard, plan) or self._is_number_stated(heard, plan):
            return plan
        for place, token in enumerate(plan):
            instead = [(step,) for group in _INSTEAD if token in group for step in group]
            by_work = [(step, token) for step in _MADE] if place and plan[place - 1] in NAMES else []
            for steps in (*instead, *by_work):
                if self._is_possible(heard, changed := (*plan[:place], *steps, *plan[place + 1 :])):
                    return changed
        return ()

    def _number_in_words(self, heard: Heard) -> tuple[tuple[str, ...], Callable[[], Iterator[Event]]] | None:
        """The number that a question asks for in the words in which it is stated: *how many times world champion*."""
        named = list(heard.names.items())
        if not _HOW_MANY.search(heard.text) or self.plan.form not in (Form.COUNT, Form.VALUE, Form.ENTITY):
            return None
        for mark, name in named[:1]:
            said = attribute_in_words(self.kg, name.entities[:1], self.query.text)
            stated = operand_of(self.kg, name.entities[0], (said,)) if " " in said else None
            if stated is not None:
                return (mark, f"{ATTRIBUTE}{said}"), partial(self._values_told, [stated])
        return None

    def _is_number_stated(self, heard: Heard, plan: Sequence[str]) -> bool:
        """Whether a number is stated of what is counted there: a sonnet's *lines*, which are no things."""
        if len(plan) != 3 or plan[0] != "COUNT" or plan[1] not in heard.names:
            return False
        nouns = [noun for noun in re.findall(r"[a-z]+", heard.text.lower()) if noun not in FUNCTION_WORDS]
        return any(number_of(self.kg, one, noun) for one in heard.names[plan[1]].entities for noun in nouns)

    # plans that the graph can do, weighed by the parser ---------------------------------------------

    def grounded(self, readings: Sequence[Heard], parser: Parser) -> Understood | None:
        """Of the single steps from what is named, and of pairs of such that meet, the one that is meant by far.

        Args:
            readings: of the question.
            parser: knows how likely a plan is for the words.
        """
        found: list[Understood] = []
        for heard in readings if self.plan.form is Form.ENTITY else ():
            plans = list(self._that_can_be_done(heard, frozenset(parser.tokens)))
            scores = parser.likelihoods(heard.text, [plan for plan, _ in plans])
            for score, (plan, result) in zip(scores, plans, strict=True):
                if score >= max(_LEAST_WEIGHED, _SHARE * sum(scores)):
                    found.append(Understood(score, False, plan, heard.masked, result[1]))
            found += self._beside_another(heard, parser)
        return max(found, key=lambda one: one.likely, default=None)

    def _beside_another(self, heard: Heard, parser: Parser) -> Iterator[Understood]:
        """What a step leads to besides what else is named: *who recorded it with Queen*, *who did he fight there*."""
        for mark, name in heard.names.items() if len(heard.names) == len(NAMES) else ():
            (other,) = (own for own in NAMES if own != mark)
            there = heard.names[other]
            if not re.search(_BESIDE_IT.format(other), heard.text):
                continue
            text = _WITH.sub("", heard.text.replace(other, "\0")).replace("\0", "somebody").replace(mark, NAMES[0])
            alone = Heard(Masked(text, (name,), around=(there,)), kinds=heard.kinds)
            plans = [
                plan
                for plan in self._steps_from(alone, NAMES[0], frozenset(parser.tokens))
                if not self.sets.ends(name.entities[0], plan[1:]).keys().isdisjoint(there.entities)
            ]
            scores = parser.likelihoods(text, plans)
            for score, plan in zip(scores, plans, strict=True):
                walk: Ends = {end: path for end, path in self._walk(alone, plan).items() if end not in there.entities}
                ends = self._of_type_asked(alone, walk)
                if score >= max(_LEAST_WEIGHED, _SHARE * sum(scores)) and ends:
                    paths = {end: (path,) for end, path in ends.items() if path is not None}
                    yield Understood(score, False, plan, alone.masked, partial(self._shown_by_paths, "step", paths))

    def _that_can_be_done(self, heard: Heard, known: Set[str]) -> Iterator[tuple[Plan, Result]]:
        """The plans of known tokens that are weighed, each with what it gives."""
        own = {mark: self._steps_from(heard, mark, known) for mark in heard.names}
        heard.trusted = False
        for plan in self._meeting_pairs(heard, own) if len(own) == len(NAMES) else own.get(NAMES[0], ()):
            if self._is_possible(heard, plan) and (result := self._done(heard, plan)) is not None:
                yield plan, result

    def _steps_from(self, heard: Heard, mark: str, known: Set[str]) -> list[Plan]:
        """The single steps and values of what a placeholder stands for, as far as the parser knows them."""
        first = heard.names[mark].entities[0]
        labels = dict.fromkeys(value_of_year(label) for label, _ in self.kg.neighbours(first))
        values = (f"{ATTRIBUTE}{name}" for name in self.kg.literals.get(first, ()))
        return [(mark, step) for step in (*labels, *values) if step in known and self._may_be_asked(heard.text, step)]

    def _may_be_asked(self, text: str, step: str) -> bool:
        """Whether the words may ask for a step: for a value or for what kind of thing it is only if they say so."""
        if step not in _SAYS_WHAT and not step.startswith(ATTRIBUTE):
            return True
        words = re.findall(r"[a-z]+", text.lower())
        said = any(same_stem(one, word) for one in re.findall(r"[a-z]{3,}", step) for word in words)
        return said or (step.startswith(ATTRIBUTE) and _OF_VALUES.search(text) is not None)

    def _meeting_pairs(self, heard: Heard, own: dict[str, list[Plan]]) -> Iterator[Plan]:
        """The plans of two steps, one from each name, that lead to the same."""
        ends = {
            plan: self._walk(heard, plan).keys()
            for plans in own.values()
            for plan in plans
            if not plan[1].startswith(ATTRIBUTE) and not plan[1].endswith(" called")  # a foal's mother is no donkey
        }
        for one in own[NAMES[0]]:
            for other in own[NAMES[1]]:
                if one in ends and other in ends and not ends[one].isdisjoint(ends[other]):
                    yield (*one, BOTH, *other)

    # what is possible --------------------------------------------------------------------------

    def _is_possible(self, heard: Heard, plan: Sequence[str]) -> bool:
        """Whether things of such types may have what a plan asks of them: a song has no *author*."""
        if {token for token in plan if token in NAMES} != set(heard.names):
            return False
        if len(plan) == len(NAMES) and plan[0] in heard.names and plan[1][0] != ATTRIBUTE:
            own = (self._by_members(heard, entity, plan[1:]) for entity in heard.names[plan[0]].entities[:1])
            if any(own):  # of a whole what is stated of its members
                return True
        types: set[str] = set()
        other: set[str] = set()  # of the first of two walks that meet
        for token in plan:
            if token in NAMES:
                types = {self._type_of(entity) for entity in heard.names[token].entities}
            elif token.startswith(ATTRIBUTE):
                if types and not any(self._may_state(kind, token[1:]) for kind in types):
                    return False
            elif token in (BOTH, AND_OF) or token.isupper():
                types, other = set(), types if token == BOTH else set()
            else:
                inside = (
                    PLACES if not PLACES.isdisjoint(types) and plan.index(token) > 1 else ()
                )  # or what lies around it
                types = {end for kind in (*types, *inside) for end in self.kg.steps_of_type(kind).get(token, ())}
                if not types:
                    return False
        if other and types and other.isdisjoint(types) and (LYING.isdisjoint(other) or LYING.isdisjoint(types)):
            return False  # nothing is both a *child of* somebody and what somebody *appears in*
        return heard.trusted or self._may_end_so(plan, types)

    def _may_end_so(self, plan: Sequence[str], types: Set[str]) -> bool:
        """Whether a walk ends in things of the kind that is asked for, or in places, which may lie in such."""
        asked = self.query.answer_type
        walks = {*plan[:1]} <= {*NAMES, *BOUNDS} and BOTH not in plan
        if not (walks and asked.named and types) or plan[-1].startswith(ATTRIBUTE):
            return True
        return not LYING.isdisjoint(types) or any(fits(asked, kind) is not Fit.NO for kind in types)

    def _type_of(self, entity: str) -> str:
        """The type of a thing; of a feat that of who achieved it, for whom it stands."""
        holders = self.sets.ends(entity, (ACHIEVED,)) if kind_of(self.kg, entity) == "feat" else {}
        return kind_of(self.kg, next(iter(holders), entity))

    def _may_state(self, kind: str, attribute: str) -> bool:
        stated = self.kg.attributes_of_type(kind) | self.kg.labels_of_type(kind)
        spans = SPANS.get(attribute, ())
        names = [first for first, _ in spans] or [*_STATED_AS.get(attribute, (attribute,))]
        return any(not stated.isdisjoint(attributes_meant(name)) for name in names)


def _in_other_steps(plan: tuple[str, ...]) -> tuple[str, ...]:
    """A plan with steps that say nearly the same in place of its own."""
    return tuple(_NEARLY.get(token, token) for token in plan)


def in_words(plan: Sequence[str], masked: Masked) -> str:
    """A plan as people read it, with what is named in place."""
    named = dict(zip(NAMES, (name.text for name in masked.names), strict=False))
    return " → ".join(named.get(token, f"“{token.removeprefix(ATTRIBUTE)}”") for token in plan)
