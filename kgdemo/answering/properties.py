"""Whether one thing is or has something: a kind, a colour, a coast, a number of something, something it can do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kgdemo.answering.computation import Computation, computed_answer, listed, no_answer
from kgdemo.answering.operands import (
    SAYS_WHAT_IT_IS,
    ability,
    called,
    is_of_kind,
    names_of_kind,
    number_of,
    operand_of,
    shown_value,
)
from kgdemo.events import Event, Operand
from kgdemo.kg.labels import fold, with_article
from kgdemo.kg.path import Path
from kgdemo.linking.names import name_index
from kgdemo.query.answer_type import kind_of, singulars
from kgdemo.query.measures import NUMBERS, number_of_word, plural_of

_IS_SO = re.compile(r"^(?:is|are|was|were) .+ (?P<adjective>[\w-]+)$", re.IGNORECASE)
_FAITHS = frozenset("hindu muslim islamic christian jewish buddhist sikh pagan".split())  # of a feast, a book, a place
_CLASS = "animal class"
_NOT_REALLY = frozenset(("dwarf", "former", "false", "fictional"))  # a dwarf planet is no planet
_IN_STATE = " at room temperature"
_SEAS = frozenset(("sea", "ocean"))
_COAST = re.compile(
    r"^(?:does|do|has|have) (?P<x>.+?) (?:(?:have |got )?(?:an?|any) (?:sea )?(?:coast(?:line)?|shore(?:line)?)"
    r"|(?:have )?(?:an? |any )?access to (?:the|an?) (?:sea|ocean)"
    r"|border (?:the|any|an) (?:sea|ocean|(?P<sea>.+?)))[?.! ]*$",
    re.IGNORECASE,
)
IS_OR_PLAYS = SAYS_WHAT_IT_IS | {"sport"}
_WIDER = frozenset("capital state province citizenship nationality".split())  # not every city is a capital
_OF_ONE_TYPE = frozenset(  # nothing is of two of these; a country may be a city or an island as well
    "person planet moon continent city river lake mountain sea ocean desert film book song album company language"
    " currency band element substance deity bridge animal plant".split()
) | {"dwarf planet"}
_HAS_ANY = re.compile(
    r"^(?:do|does|did|has|have|had)\b.* (?:have )?(?:(?:an?|any) |(?=children|kids|moons|rings)"
    r"|(?<=have )(?=(?:legs|wings|eyes|eyelids|teeth|hearts?|stomachs?|horns|bones|arms|tentacles|toes)\b))"
    r"(?P<thing>\w+(?: \w+)?)[?.! ]*$",
    re.IGNORECASE,
)
_SAME = re.compile(
    r"^(?:is|are|was|were) (?P<x>.+?) (?:and|as) (?P<y>.+?) (?:the same(?: \w+)?|one and the same|identical)[?.! ]*$",
    re.I,
)
_CLAIMS_NUMBER = re.compile(
    rf"^(?:do|does|did|has|have|had|is|are|was|were)\b.* (?:have|has|won|win|wins|got|hosted|written|made|of)?\b ?"
    rf"(?:exactly |only )?(?P<number>{'|'.join(NUMBERS)}|\d{{1,3}}) (?P<thing>[a-z][\w ]*?s)(?: right)?[?.! ]*$",
    re.IGNORECASE,
)
_IS_ABLE = re.compile(r"^(?:can|could) .+ (?P<verb>[a-z]+)[?.! ]*$", re.IGNORECASE)
_OFTEN = {"twice": 2, "thrice": 3}
_CLAIMS_TIMES = re.compile(
    rf"^(?:did|has|have) .+? (?:win|won) (?:an?|the) (?P<thing>.+?) "
    rf"(?P<often>twice|thrice|(?:{'|'.join(NUMBERS)}) times)$",
    re.IGNORECASE,
)


class Properties(Computation):
    """Answers to questions that ask yes or no of what the graph states of one thing alone."""

    def _is_able(self) -> Iterator[Event] | None:
        """Whether an animal can do something, *can penguins fly*; None where the graph says neither."""
        found = _IS_ABLE.match(self.plan.asked)
        meant = [topic for topic in self.query.topics if kind_of(self.kg, topic) == "animal"] if found else []
        for answer, able in (("yes", True), ("no", False)):
            told = ability(self.kg, meant[0], fold(found["verb"]), able) if found and len(meant) == 1 else None
            if found and told is not None:
                claimed = told.end if able else found["verb"]
                return self._says(answer, claimed, [Operand(told.end, (told,))], f"{answer.capitalize()}: {told}.")
        return None

    def _has_a_coast(self) -> Iterator[Event] | None:
        """Whether a country lies on any sea, or on the one that is named; None where that is not asked or not known."""
        found = _COAST.match(self.query.text)
        country = next(iter(self._link(found["x"])), "") if found else ""
        if not found or not country:
            return None
        named = [one for one in self._link(found["sea"] or "") if kind_of(self.kg, one) in _SEAS]
        if found["sea"] and not named:
            return None
        around = self.sets.ends(country, ("coast on",))
        seas = {end: path for end, path in around.items() if kind_of(self.kg, end) in _SEAS}
        if seas:
            claimed = named[0] if named else next(iter(seas))
            answer = "yes" if claimed in seas else "no"
            said = f"{answer.capitalize()}: {country} has a coast on {listed(list(seas))}."
            return self._says(answer, claimed, [Operand(end, (path,)) for end, path in seas.items()], said)
        inland = next((end for end in self.sets.ends(country, ("instance of",)) if "landlocked" in end), "")
        path = Path((country, inland), ("instance of",))
        return self._says("no", "sea", [Operand(inland, (path,))], f"No: {path}.") if inland else None

    def _is_coloured(self, topics: Sequence[str]) -> Iterator[Event] | None:
        """Whether a thing has the colour that ends the question; None where it asks of none, or the graph grows.

        *Red* is too plain a word to be linked as a name.
        """
        last = self.plan.asked.split()[-1]
        called = () if self.kg.grows else (self.kg.entities[name.entity] for name in name_index(self.kg).called(last))
        colour = next((one for one in called if kind_of(self.kg, one) == "colour"), "")
        if not colour or len(topics) != 1 or topics[0] == colour:
            return None
        (topic,) = topics
        stated = self.sets.ends(topic, ("colour",))
        if not stated:
            return iter((no_answer(f"The graph states no colour of {topic}, which does not decide this."),))
        operands = [Operand(end, (path,)) for end, path in stated.items()]
        said = f"{topic}: colour {listed(list(stated), 8)}."
        return (
            self._says("yes", colour, operands, f"Yes: {said}")
            if colour in stated
            else self._says("no", colour, operands, f"No, as far as the graph says: {said}")
        )

    def _is_such(self, topic: str) -> Iterator[Event] | None:
        """Yes where a thing is of a kind that an adjective tells, *landlocked*; None where the graph is silent."""
        found = _IS_SO.match(self.plan.asked)
        kinds = (end for label, end in self.kg.neighbours(topic, directed=True) if label == "instance of")
        end = next((kind for kind in kinds if found and fold(kind).split()[0] == fold(found["adjective"])), "")
        path = Path((topic, end), ("instance of",))
        return self._says("yes", end, [Operand(end, (path,))], f"Yes: {path}.") if end else None

    def _died(self) -> Operand | None:
        """When the one whom the question is about died."""
        topics = [topic for topic in self.query.topics if kind_of(self.kg, topic) in ("person", "animal")]
        return operand_of(self.kg, topics[0], ("died",)) if len(topics) == 1 else None

    def _no_longer_alive(self, died: Operand) -> Iterator[Event]:
        text = f"{died.entity} died: {shown_value(died)}"
        operation = yield from self._operate("value", text, [died], (f"{died.value} {died.unit}".strip(),))
        if operation is not None:
            answer = "No" if re.search(r"\b(?:alive|living|live)\b", self.query.text, re.IGNORECASE) else "Yes"
            yield computed_answer(f"{answer}: {text}.", (answer,))

    def _has_any_stated(self) -> Operand | None:
        """The number that the graph states of what the question asks for any of: does Venus have *any moons*."""
        found = _HAS_ANY.search(self.query.text)
        numbers = (number_of(self.kg, topic, found["thing"]) for topic in self.query.topics) if found else ()
        return next((number for number in numbers if number is not None), None)

    def _same_thing(self) -> str:
        """What two names that are said to be the same both name, *Farsi* and Persian; empty where they differ."""
        found = _SAME.match(self.query.text)
        meant = [next(iter(self._link(found[name])), "") for name in ("x", "y")] if found else ["", "?"]
        return meant[0] if meant[0] == meant[1] else ""

    def _number_claimed(self) -> tuple[int, Operand] | None:
        """The number that the question gives, and the one that the graph states: does a spider have *eight legs*."""
        found = _CLAIMS_NUMBER.search(self.query.text)
        if not found:
            return self._times_claimed()
        stated = (number_of(self.kg, topic, found["thing"]) for topic in self.query.topics)
        known = next((number for number in stated if number is not None), None)
        return (number_of_word(found["number"]), known) if known is not None else None

    def _times_claimed(self) -> tuple[int, Operand] | None:
        """The same of what was won again: *did she win the Nobel Prize twice*."""
        found = _CLAIMS_TIMES.match(self.plan.asked)
        stated = (number_of(self.kg, topic, plural_of(found["thing"])) for topic in self.query.topics) if found else ()
        known = next((number for number in stated if number is not None), None)
        if not found or known is None:
            return None
        often = found["often"].lower()
        return _OFTEN.get(often) or number_of_word(often.split()[0]), known

    def _is_number(self, claimed: int, stated: Operand) -> Iterator[Event]:
        text = f"{stated.entity}: {stated.attribute} {stated.value}"
        operation = yield from self._operate("value", text, [stated], (f"{stated.value} {stated.unit}".strip(),))
        if operation is not None:
            answer = "Yes" if float(stated.value) == claimed else "No"
            yield computed_answer(f"{answer}: {text}.", (answer,))

    def _says_number(self, stated: Operand) -> Iterator[Event]:
        text = f"{stated.entity}: {shown_value(stated)}"
        operation = yield from self._operate("value", text, [stated], (f"{stated.value} {stated.unit}".strip(),))
        if operation is not None:
            answer = "Yes" if float(stated.value) else "No"
            yield computed_answer(f"{answer}: {text}.", (answer,))

    def _is_a(self, thing: str, noun: str) -> Iterator[Event] | None:
        """Whether a thing is of a kind; None where paths have to tell, or nothing does.

        What is of a kind by its type may be of another as well, a tomato is an ingredient and a fruit, so that *no* is
        said between types alone of which nothing has two.
        """
        entity = self._of_which(thing)
        if not entity:
            return None
        *narrowing, _ = noun.split()
        names = names_of_kind(noun)
        kinds = [kind for kind in names if kind == noun.lower() or _WIDER.isdisjoint(names)]
        exactly = [kind for kind in kinds if " " in kind] if narrowing else kinds  # a greek god is more than a god
        around = self.kg.neighbours(entity, directed=True)
        classes = {end for label, end in around if label == _CLASS}
        if classes and not narrowing and any(known.split()[-1] in kinds for known in self._animal_classes()):
            end = next((end for end in classes if end.split()[-1] in kinds), "")
            path = Path((entity, end or min(classes)), (_CLASS,))
            return self._says(
                "yes" if end else "no", end or noun, [Operand(path.end, (path,))], f"{'Yes' if end else 'No'}: {path}."
            )
        for label, end in self.kg.neighbours(entity):
            kind = end.removesuffix(" (kind)").removesuffix(_IN_STATE)
            told = {kind.lower(), kind.split()[-1]} if label == "instance of" else {end.lower()}
            if kind.split()[0] in _NOT_REALLY and kind.lower() not in exactly and told & set(exactly):
                path = Path((entity, end), (label,))
                return self._says("no", noun, [Operand(end, (path,))], f"No: {path}.")
            if (told & set(exactly) and label in IS_OR_PLAYS) or label == f"{noun.lower()} of":
                path = Path((entity, end), (label,))
                return self._says("yes", end, [Operand(end, (path,))], f"Yes: {path}.")
        of_faith = [(end, end.lower().split()) for label, end in around if label == "instance of"]
        other = next(
            (end for end, (faith, *_) in of_faith if faith in _FAITHS - {one.lower() for one in narrowing}), ""
        )
        if other and not _FAITHS.isdisjoint(one.lower() for one in narrowing):
            path = Path((entity, other), ("instance of",))
            return self._says("no", noun, [Operand(other, (path,))], f"No, as far as the graph says: {path}.")
        own = kind_of(self.kg, entity) if entity in self.kg.info else ""
        operand = Operand(entity, (), "type", own)
        if exactly and is_of_kind(self.kg, entity, exactly):
            return self._says("yes", entity, [operand], f"Yes: {entity} is {with_article(own)}.")
        if (
            own in _OF_ONE_TYPE
            and own not in kinds
            and any(kind in _OF_ONE_TYPE or kind == "country" for kind in kinds)
        ):
            return self._says("no", noun, [operand], f"No: {entity} is {with_article(own)}.")
        return None

    def _of_which(self, thing: str) -> str:
        """The entity that is said to be of a kind: of namesakes one that is, or nearly; else one that was linked."""
        topics = self.query.topics
        meant = self._link(thing) or [one for form in singulars(thing.lower()) for one in self._link(form)]
        heads = {kind.split()[-1] for kind in names_of_kind(self.plan.noun)}
        of_kind = [entity for entity in meant if (kind_of(self.kg, entity) or "?").split()[-1] in heads]
        of_kind += [entity for entity in meant if is_of_kind(self.kg, entity, names_of_kind(self.plan.noun))]
        said = (self.plan.noun, f"{self.plan.noun}{_IN_STATE}")
        of_kind += [entity for entity in meant if any(self.sets.leads(entity, ("instance of",), kind) for kind in said)]
        linked = [entity for entity in meant if entity in topics]
        return next(iter((*of_kind, *linked, *meant, *topics[: len(topics) == 1])), "")

    def _animal_classes(self) -> set[str]:
        animals = called(self.kg, "animal")
        return {
            end for animal in animals for label, end in self.kg.neighbours(animal, directed=True) if label == _CLASS
        }
