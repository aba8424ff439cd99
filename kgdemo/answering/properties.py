"""Whether one thing is or has something: a kind, a nation, a colour, a coast, a number of something, an ability."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date

from kgdemo.answering.computation import Computation, computed_answer, listed, no_answer, order_of, within_bound
from kgdemo.answering.operands import (
    PLACES,
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
from kgdemo.kg.labels import bare, fold, with_article
from kgdemo.kg.path import Path
from kgdemo.linking.names import name_index
from kgdemo.linking.words import demonyms, nations
from kgdemo.query.answer_type import kind_of, singulars
from kgdemo.query.claimed import number_claimed
from kgdemo.query.measures import plural_of

_IS_SO = re.compile(r"^(?:is|are|was|were) .+ (?P<adjective>[\w-]+)$", re.IGNORECASE)
_FAITHS = frozenset("hindu muslim islamic christian jewish buddhist sikh pagan".split())  # of a feast, a book, a place
_CLASS = "animal class"
_STATE = frozenset("of the and republic kingdom united states state".split())  # words in the names of many states
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
_IS_ABLE = re.compile(r"^(?:can|could) .+ (?P<verb>[a-z]+)[?.! ]*$", re.IGNORECASE)
_AWARDED = ("award received", "won")
_EDITION = re.compile(r"^[12]\d{3} ")
_OF_NATION = re.compile(
    r"^(?:is|are|was|were) (?P<x>.+?) (?:really |originally |actually )?(?:(?P<one>an? )(?P<before>(?:[\w-]+ )*?))?"
    rf"(?P<nation>{'|'.join(sorted(map(re.escape, nations()), key=len, reverse=True))})(?P<sex>woman)?"
    r"(?: (?P<noun>[a-z][\w -]*?))?(?: by (?:birth|nationality))?(?:,? right)?$",
    re.IGNORECASE,
)
_ORIGINS = ("citizen of", "originates from", "headquartered in", "based in", "located in")  # the surest first
_ONE_OF_NATION = re.compile(
    r"^(?:(?:has|have) there (?:ever )?been|(?:is|are|was|were) there (?:ever )?) ?(?:an? |any )?"
    rf"(?P<nation>{'|'.join(map(re.escape, nations()))}) (?P<noun>[a-z][\w ]*?)$",
    re.IGNORECASE,
)
_OUR_TIME, _OF_NATIONS = 1900, 1000  # years: when the states of today were there, when there were any of their names
_TELLS_NO_KIND = frozenset("citizen national man woman person subject thing one".split())
_A_BEING = frozenset("person people man woman figure character being human".split())
_IS_REAL = re.compile(
    r"^(?:is|are|was|were) (?P<x>.+?) (?:(?:ever )?(?:an? )?(?P<real>real|actual|historical)(?: life)?"
    r"|(?:an? )?(?:fictional|fictitious|imaginary|made-up|mythical|invented))"
    r"(?: (?P<noun>[a-z]+(?: being)?))?$"
    r"|^(?:did|has) (?P<y>.+?) (?P<exist>(?:(?:really|actually|ever|truly) )*(?:exist|existed))$",
    re.IGNORECASE,
)

_LONG_LIFE = 105  # years that hardly anybody lives beyond


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

    def _still_alive(self) -> Iterator[Event] | None:
        """That the graph states no death of the one whom the question is about; None for those of long ago."""
        people = [topic for topic in self.query.topics if kind_of(self.kg, topic) == "person"]
        born = operand_of(self.kg, people[0], ("born",)) if len(people) == 1 else None
        if born is None or order_of(born) < date.today().year - _LONG_LIFE:
            return None
        return self._lives(people[0], born)

    def _lives(self, one: str, born: Operand) -> Iterator[Event]:
        text = f"{one} was born {shown_value(born)}, and the graph states no death"
        if (yield from self._operate("alive", text, [born], (one,))) is not None:
            answer = "No" if re.search(r"\bdead\b", self.query.text, re.IGNORECASE) else "Yes"
            yield computed_answer(f"{answer}, as far as the graph says: {text}.", (answer,))

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

    def _number_claimed(self) -> Iterator[Event] | None:
        """Whether there are as many as the question says: *eight legs*, *more than one Oscar*; None where it does not.

        What is counted may be more than the graph holds, so that a count decides only that there are enough.
        """
        claim = number_claimed(self.plan.asked)
        if claim is None:
            return None
        sign, number, thing = claim
        if len(self.query.topics) == 1 and re.match(r"(?:is|are|was|were) there\b", self.plan.asked, re.IGNORECASE):
            thing = re.sub(r" (?:of|in|on|around) (?:the )?(?-i:[A-Z]).*", "", thing)  # *moons around Jupiter*
        several = thing if singulars(thing.split()[-1].lower())[0] != thing.split()[-1].lower() else plural_of(thing)
        stated = (number_of(self.kg, topic, several) for topic in self.query.topics)
        known = next((one for one in stated if one is not None), None)
        if known is not None:
            return self._is_number(sign, number, known)
        for topic in self.query.topics:
            if held := self._held_at_least(topic, thing):
                return self._are_enough(sign, number, topic, held)
        if sign == "=" or not self.query.topics:
            return None  # two things may be said to be something, *are these two languages*
        return iter((no_answer(f"The graph states no number of “{thing}” here, so neither yes nor no."),))

    def _held_at_least(self, topic: str, thing: str) -> list[Path]:
        """The awards of a kind that are surely different ones: those of a year each, or the kinds of them."""
        wanted = {singulars(word)[0] for word in fold(thing).split()}
        found: dict[str, Path] = {}
        for label, end in self.kg.neighbours(topic):
            names = ({singulars(word)[0] for word in fold(name).split()} for name in self.kg.names_of(end))
            if label in _AWARDED and any(wanted <= words for words in names):
                found[end] = Path((topic, end), (label,))
        words = {end: set(fold(_EDITION.sub("", end)).split()) for end in found}
        of_years = [end for end in found if _EDITION.match(end)]
        kinds = [end for end in found if not _EDITION.match(end)]
        kinds = [end for end in kinds if not any(words[end] < words[other] for other in found)]
        return [found[end] for end in max(of_years, kinds, key=len)]

    def _are_enough(self, sign: str, number: int, topic: str, held: Sequence[Path]) -> Iterator[Event]:
        """Yes or no where as many as are held decide it, though there may be more."""
        count, ends = len(held), [path.end for path in held]
        yes = count > number if sign == ">" else count >= number if sign == ">=" else False
        no = count >= number if sign == "<" else count > number if sign in ("<=", "=") else False
        said = f"{topic} {held[0].relations[0]} {listed(ends, 8)}"
        if not yes and not no:
            yield no_answer(f"The graph holds {count}, which need not be all: {said}.")
            return
        operation = yield from self._operate(
            "count", said, [Operand(path.end, (path,)) for path in held], (str(count),)
        )
        if operation is not None:
            answer = "Yes" if yes else "No"
            yield computed_answer(f"{answer}, at least {count}: {said}.", (answer,))

    def _is_number(self, sign: str, claimed: int, stated: Operand) -> Iterator[Event]:
        text, bound = f"{stated.entity}: {stated.attribute} {stated.value}", f"{sign} {claimed}"
        result = within_bound([stated], bound)
        if (yield from self._operate("filter", text, [stated], result, bound)) is not None:
            answer = "Yes" if result else "No"
            yield computed_answer(f"{answer}: {text}.", (answer,))

    def _is_of_nation(self) -> Iterator[Event] | None:
        """Whether somebody or something is of a country or a region, *Scottish*, *a Spanish explorer*; None if unsure.

        Who is born in a country and a citizen of another may be called either. *No* needs a country that exists today,
        and that nothing joins the two: a citizen of a state that is no more is not of another one for that.
        """
        found = _OF_NATION.match(self.plan.asked)
        subject = self._who_is(found["x"]) if found else ""
        word = found["nation"].lower() if found else ""
        meant = [place for place in self._places_of(word) if place != subject]
        if not found or not subject or not meant:
            return None
        noun = " ".join(filter(None, (found["before"] or "", found["noun"] or "")))
        said = next((path for place in meant if (path := self._from_there(subject, place, word))), None)
        if said is not None:
            of_kind = self._says_kind(subject, noun.strip())
            if of_kind is None:
                return None
            paths = (said, *(path for path in of_kind if path != said))
            operands = [Operand(path.end, (path,)) for path in paths]
            return self._says("yes", said.end, operands, f"Yes: {'; '.join(map(str, paths))}.")
        if len(meant) > 1 or (found["one"] is None and noun):
            return None
        origin = self._from_elsewhere(subject, meant[0])
        operands = [Operand(path.end, (path,)) for path in origin]
        told = "; ".join(map(str, origin))
        if origin:
            return self._says("no", meant[0], operands, f"No, as far as the graph says: {told}.")
        held = (path for label in ("citizen of", "born in") for path in self.sets.ends(subject, (label,)).values())
        why = "".join(f" {path}." for path in held)
        return (
            iter((no_answer(f"The graph does not decide whether {subject} is {word.capitalize()}.{why}"),))
            if why
            else None
        )

    def _nation_said(self) -> list[str]:
        """A thing and the country whose people the last word names, *is curry Indian*; of nobody who has his own."""
        found = _OF_NATION.match(self.plan.asked)
        if not found or found["noun"]:
            return []
        named = [self._who_is(found["x"]), *self._places_of(found["nation"])[:1]]
        return named if all(named) and len(set(named)) > 1 and kind_of(self.kg, named[0]) != "person" else []

    def _who_is(self, name: str) -> str:
        """Whom or what a name means: somebody who is called just so, or else what linking chose."""
        meant = self._link(name)
        people = (one for one in meant if kind_of(self.kg, one) == "person")
        called_so = (one for one in people if fold(name) in map(fold, self.kg.names_of(one)))
        chosen = (one for one in meant if one in self.query.topics)
        return [*called_so, *chosen, *meant, ""][0]

    def _has_been_one_of_nation(self) -> Iterator[Event] | None:
        """Yes where one of a kind is of a nation, *has there ever been a Polish pope*; else None."""
        found = _ONE_OF_NATION.match(self.plan.asked)
        office = self.office_named(found["noun"]) if found else ""
        members = self.sets.ends(office, ("held by",)) if office else {}
        members = members or (self.sets.practitioners(found["noun"]) if found else {})
        for place in self._places_of(found["nation"]) if found else ():
            for end, own in members.items():
                if (said := self._from_there(end, place, found["nation"].lower() if found else "")) is not None:
                    operands = [Operand(end, (own,)), Operand(said.end, (said,))]
                    return self._says("yes", end, operands, f"Yes: {own}; {said}.")
        return None

    def _places_of(self, word: str) -> list[str]:
        """The places that a word means the people of: *Scottish*."""
        named = [place for places, words in demonyms() if word.lower() in map(str.lower, words) for place in places]
        meant = (next((one for one in self._link(name) if kind_of(self.kg, one) in PLACES), "") for name in named)
        return [place for place in dict.fromkeys(meant) if place]

    def _from_there(self, subject: str, place: str, word: str) -> Path | None:
        """The path that says that somebody or something is of a place.

        Nobody is stated to be a citizen of a part of a state, so that there a birthplace tells; of a state it does only
        for those of our time, when the state was there.
        """
        around = self.kg.neighbours(subject, directed=True)
        called_so = (end for label, end in around if label == "instance of" and fold(end).startswith(f"{word} "))
        if (end := next(called_so, "")) and kind_of(self.kg, subject) == "person":
            return Path((subject, end), ("instance of",))
        for label in _ORIGINS:
            for path in self.sets.ends(subject, (label,)).values():
                if (onward := self.sets.onward(path, place)) is not None:
                    return None if self.sets.leaves_continent_open(onward) else onward
        states = self.sets.ends(subject, ("citizen of",))
        life = operand_of(self.kg, subject, ("born",))
        if self.sets.lies_in(place, "country") is not None:
            tells = all(self._is_gone(state) or self.sets.containing(place, state) is not None for state in states)
        else:
            tells = not states and life is not None and order_of(life) >= _OUR_TIME
        born = self.sets.ends(subject, ("born in",)).values() if tells else ()
        return next((onward for path in born if (onward := self.sets.onward(path, place)) is not None), None)

    def _from_elsewhere(self, subject: str, place: str) -> list[Path]:
        """What says that somebody or something is not of a place; empty where it may be.

        Who is a citizen of another state than that of the birthplace may be called something else still.
        """
        around = {end for label, end in self.kg.neighbours(subject)}
        label = next((label for label in _ORIGINS if self.sets.ends(subject, (label,))), "")
        stated = self.sets.ends(subject, (label,)) if label else {}
        born = self.sets.ends(subject, ("born in",)) if label == "citizen of" else {}
        life = operand_of(self.kg, subject, ("born",))
        ancient = label == "citizen of" and (life is None or order_of(life) < _OF_NATIONS)
        if not stated or ancient or place in around or self._is_gone(place):
            return []
        if label == "citizen of" and any(self._speak_alike(state, place) for state in stated):
            return []
        for end in (*stated, *born):
            if kind_of(self.kg, end) not in PLACES or self._is_gone(end) or self._shares_name(end, place):
                return []
            if self.sets.containing(place, end) is not None or self.sets.containing(end, place) is not None:
                return []
        at_home = all(any(self.sets.containing(one, state) is not None for state in stated) for one in born)
        return [*stated.values()] if label != "citizen of" or (born and at_home) else []

    def _is_gone(self, place: str) -> bool:
        """Whether a state is no more."""
        return kind_of(self.kg, place) == "empire" or operand_of(self.kg, place, ("ended",)) is not None

    def _shares_name(self, place: str, other: str) -> bool:
        """Whether a place, or what it lies in, bears a name of the other: Northern *Ireland*."""
        around = [place, *(end for label, end in self.kg.neighbours(place, directed=True) if label == "located in")]
        words = {word for name in self.kg.names_of(other) for word in fold(bare(name)).split() if word not in _STATE}
        return any(not words.isdisjoint(fold(one).split()) for one in around)

    def _speak_alike(self, state: str, other: str) -> bool:
        """Whether two neighbours have a language in common: whom Austria calls its own Germany may, too."""
        one, two = (self.sets.ends(place, ("official language",)) for place in (state, other))
        return not one.keys().isdisjoint(two) and other in self.sets.ends(state, ("shares border with",))

    def _says_kind(self, subject: str, noun: str) -> list[Path] | None:
        """What says that a thing is what a noun says; None where nothing does."""
        if not noun or noun in _TELLS_NO_KIND:
            return []
        kinds = set(names_of_kind(noun)) if " " not in noun else {noun}
        told = (
            Path((subject, end), (label,))
            for label, end in self.kg.neighbours(subject, directed=True)
            if label in SAYS_WHAT_IT_IS and not kinds.isdisjoint((end.lower(), end.lower().split()[-1]))
        )
        path = next(told, None)
        if path is None and not is_of_kind(self.kg, subject, kinds):
            return None
        return [path] if path is not None else []

    def _is_real(self) -> Iterator[Event] | None:
        """Whether somebody was a real person; None where that is not asked, or the graph tells of neither."""
        found = _IS_REAL.match(self.plan.asked)
        if not found:
            return None
        one = self._who_is(found["x"] or found["y"])
        kind, life = kind_of(self.kg, one), operand_of(self.kg, one, ("born", "died"))
        real = bool(found["real"] or found["exist"])
        if kind == "person" and life is not None and (found["noun"] or "person").split()[0] in _A_BEING:
            return self._is_kind_of_being(one, real, life)
        made = next(iter(self.sets.ends(one, ("created by",)).values()), None)
        if kind == "deity" or (kind == "character" and made is not None and bare(one) == one):  # no play's *Macbeth*
            return self._is_kind_of_being(one, not real, made)
        return None

    def _is_kind_of_being(self, entity: str, yes: bool, told: Operand | Path | None) -> Iterator[Event]:
        """Yes or no by what kind of being somebody is, and by what says so."""
        kind = with_article(kind_of(self.kg, entity))
        if isinstance(told, Operand):
            said = f"{entity}: {told.attribute} {shown_value(told)}"
        else:
            said = f"{entity} is {kind}" + (f" ({told})" if told is not None else "")
        answer = "yes" if yes else "no"
        operand = Operand(entity, (), "type", kind_of(self.kg, entity))
        return self._says(answer, entity if yes else "claim", [operand], f"{answer.capitalize()}: {said}.")

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
