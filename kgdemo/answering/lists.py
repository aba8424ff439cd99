"""Lists and counts: everything else that the question names has to act, or is said to be of no use here."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace

from kgdemo.answering.clauses import led_to
from kgdemo.answering.computation import (
    IN_ORDER,
    SAYS_LITTLE,
    SEX,
    MethodRun,
    computed_answer,
    listed,
    no_answer,
    one_alone,
    order_of,
    said_bound,
    unchanged,
    within_bound,
)
from kgdemo.answering.conditions import EITHER
from kgdemo.answering.described import ANYBODY
from kgdemo.answering.editions import Editions
from kgdemo.answering.operands import COMPLETE, PLACES, names_of_kind, number_of, operand_of, shown_value
from kgdemo.events import AnswerFinal, Event, Notice, Operand, Operation
from kgdemo.kg.labels import FUNCTION_WORDS, bare, fold, spoken
from kgdemo.kg.path import Path
from kgdemo.linking.names import name_index
from kgdemo.linking.words import demonyms
from kgdemo.query.answer_type import fits, kind_of
from kgdemo.query.form import understand
from kgdemo.query.measures import DATE, NUMBERS, OFFICE, is_time, speaks_of_a_life
from kgdemo.query.nested import two_steps
from kgdemo.ranking.abstention import applies
from kgdemo.ranking.scorer import path_words

_THEN = ("released", "happened")  # what was in a year: not somebody born or something founded in it
_IN_GENERAL = re.compile(
    r"\b(?:in|on|of|does|do|has|have|make up) an? (?!single\b)\w+|\ban? \w+ (?:has|have)\b", re.IGNORECASE
)
_NAMES_ALL = re.compile(
    r"^(?:(?:what|which|who) (?:are|were)|name|list) (?:all )?(?:the )?(?:(?:two|three|four|five|six|seven|eight"
    r"|nine|ten|twelve|\d+) )?(?P<noun>[\w' -]+?s)(?: (?:of|in|from) .+)?$",
    re.IGNORECASE,
)
_OF_A_PLACE = re.compile(r"(?:the )?(?P<place>[A-Z][\w .-]*?)['’]s? (?P<what>[a-z][a-z ]*s)")
_VICTORY = frozenset("won win winner winners champion champions received awarded".split())
_TOOK_OFFICE = frozenset(("took", "office"))
_OF_ONE_SEX = frozenset("daughter son brother sister".split())
_OF_IT = re.compile(r" (?:of|in|on) ", re.IGNORECASE)
_DIED = frozenset("assassinated died killed shot murdered executed".split())
_WITHIN = frozenset(
    "before after since until between published released written composed painted made came appeared".split()
)
_CAME_TO_OFFICE = re.compile(
    r"\b(?:came?|took|takes?|becam?e|become|elected|crowned|appointed|sworn|chosen|succeeded)\b", re.IGNORECASE
)
_SORTS = frozenset("types kinds sorts examples species".split())
_ANY_THING = re.compile(r"^(?:have |has )?(?:an?|any) (?P<thing>[a-z]+(?: [a-z]+)?)$")
_WHAT_IS_CALLED = re.compile(
    r"^what is (?P<name>[\w' -]+?) (?:now )?(?:called|known as|named)(?: now)?$", re.IGNORECASE
)
_TELLS_WHAT = {"person": "occupation", "city": "located in", "country": "continent"}
_WHO_IS_CALLED = re.compile(r"^who (?:is|was) the (?P<name>[\w' -]+)$", re.IGNORECASE)
_WHO_DID = re.compile(r"^who (?:first )?(?P<verb>\w+ed|flew|swam|sailed|ran|rode|drove|climbed)\b", re.IGNORECASE)
_TAXON = re.compile(r"\b(?:scientific|latin|botanical|binomial) name\b", re.IGNORECASE)
_STILL_ALIVE = re.compile(
    r"^(?:(?:which|what)(?: of)? (?P<of>.+?) (?:are|is|were|was|have) (?:now )?(?:still )?"
    r"(?:(?P<dead>dead|died|deceased|no longer (?:alive|living|with us))|alive|living|around)(?: today| now)?"
    r"(?: in (?P<year>\d{4}))?"
    r"|(?:who|which) (?:are|is) the (?:living|surviving) (?P<whom>.+))$",
    re.IGNORECASE,
)
_ABOUT_A_DEATH = re.compile(
    r",? (?:(?P<way>after|before) (?:(?:he|she|they) (?:had )?died|(?:his|her|their) (?:own )?death)"
    r"|(?:while|when) (?:he|she|they) (?:was|were) (?:still )?alive"
    r"|(?:during|in) (?:his|her|their) (?:own )?lifetime)\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\bNo\. (\d{1,3})\b")
_IS_MANY = re.compile(r"\bhow many\b", re.IGNORECASE)  # who asks so takes it that there are several


_STEM = 4  # letters by which a word of a name is told
_ONLY_SOME = re.compile(r"\b(?:only|by)\b")  # *countries surrounded only by landlocked ones*


class Lists(Editions):
    """Answers that are listed or counted, less what the question rules out."""

    def list_answers(self) -> Iterator[Event]:
        """The method's own answer, less what a second condition rules out."""
        record = "" if self.plan.bound else self._record()
        if record and all(fits(self.query.answer_type, kind_of(self.kg, end)) for end in self._holders(record)):
            yield from self._of_record(record)
            return
        if not self.plan.bound and not two_steps(self.plan.asked) and (record := self._record_meant()):
            yield from self._of_record(record)
            return
        if self.plan.without:
            yield from self._without()
            return
        if people := self.nationals():
            yield from self.list_of_both(people)
            return
        if practising := self._practising():
            ends = {end: path for end, path in practising.items() if path is not None}
            dates = ("died",) if _DIED & set(self.query.content_words) else ("born",)
            yield from self._filtered(MethodRun(), self._dated(ends, dates), len(ends))
            return
        if self.plan.things:  # the rest of the words say what its counterpart is, which the answer shows
            meant = self._link(self.plan.things[0])
            deities = [entity for entity in meant if kind_of(self.kg, entity) == "deity"]
            topic = next(iter([*deities, *meant]), "")
            yield from self._as_answered([topic] if topic else ())
            return
        living = _STILL_ALIVE.match(self.plan.asked)
        if living:
            yield from self._alive(living["of"] or living["whom"], living["year"] or "", dead=bool(living["dead"]))
            return
        known = self.edition_asked() or self._called_so() or self.in_role() or self._group_called()
        if known is not None:
            yield from known
            return
        dying = _ABOUT_A_DEATH.search(self.plan.asked)
        if dying and (died := self._died_of_topic()):
            sign = ">=" if dying["way"] == "after" else "<="  # the year of the death may be meant, too
            base = _ABOUT_A_DEATH.sub("", self.plan.asked)
            self.plan = replace(self.plan, base=base, bound=f"{sign} {int(order_of(died))}")
        ran = yield from self._base()
        final = ran.final
        if final is None or ran.refused:
            by_name = self.said_by_relation() if applies(self.resources) else None
            if by_name is not None:
                yield from by_name
                return
            whole = self._members_of_topic()
            if whole and self.plan.bound:
                dates = ("died",) if _DIED & set(self.query.content_words) else (DATE,)
                yield from self._filtered(ran, self._dated(whole, dates), len(whole))
                return
            if whole:
                yield from self._all(self.plan.noun or "of them", whole)
                return
            known = self._of_all_editions()
            if known is not None:
                yield from known
                return
            other = self._of_another_title(ran)
            yield from self._whole_group() or ((no_answer(other),) if other else unchanged(final))
            return
        done = _WHO_DID.match(self.plan.asked)
        if done and applies(self.resources) and self._is_unlike(ran.cited[0], done["verb"].lower()):
            closest = " → ".join(spoken(relation) for relation in ran.cited[0].relations)
            yield no_answer(f"The closest that the graph holds is “{closest}”, and that does not say “{done['verb']}”.")
            return
        if _TAXON.search(self.plan.asked) and not any("name" in relation for relation in ran.cited[0].relations):
            yield no_answer("The graph does not hold the scientific names of things.")
            return
        if not self._says_when(final.answers):
            yield no_answer(f"The graph does not say when; what it holds is {listed(final.answers, 8)}.")
            return
        if other := self._of_another_time(ran):
            yield no_answer(other)
            return
        if set(final.answers) <= set(self.query.topics) and not EITHER.search(self.query.text):
            yield no_answer(f"What the graph holds only leads back to {listed(final.answers)}.")
            return
        telling = self.plan.noun and ANYBODY.isdisjoint(names_of_kind(self.plan.noun)) and applies(self.resources)
        of_noun = self.sets.members(self.plan.noun) if telling else {}
        if of_noun and not any(one in of_noun for one in final.answers) and not self._set_of(ran, self.plan.noun):
            yield no_answer(f"What the graph holds here are no {self.plan.noun}: {listed(final.answers, 8)}.")
            return
        strange = self._beside_the_point(ran) if applies(self.resources) else ""
        if strange:
            yield no_answer(strange)
            return
        if not self.plan.bound:
            yield from self._one_of_many(ran, self._second_condition(ran, final))
            return
        ends = self._whole_set(ran)
        if len(ends) < 2:  # nothing to choose from
            yield from self._second_condition(ran, final)
            return
        of_sex: Mapping[str, tuple[Path, ...]] | None = self.of_sex(ends)
        narrowed = of_sex or self.joined_too(ran, ends)
        ends = {end: ends[end] for end in narrowed}
        ends = (self.sets.of_noun(ends, self.plan.noun) if self.plan.noun else None) or ends
        sign, said = self.plan.bound.split()[0], set(self.query.content_words)
        office = kind_of(self.kg, ran.cited[0].entities[0]) == "position" or said >= _TOOK_OFFICE
        of_life = speaks_of_a_life(self.query.text)  # when somebody won, or was one of a band, is not when he was born
        office = office or (OFFICE.search(self.plan.asked) is not None and not of_life)
        in_office = [o for end, path in ends.items() if (o := operand_of(self.kg, end, IN_ORDER[:2], (path,)))]
        dated = in_office if office else self._dated(ends, _THEN if sign == "=" else (DATE,))
        if _VICTORY & said or (sign == "=" and not office and not of_life):
            dated = [o for o in dated if kind_of(self.kg, o.entity) != "person"]
        dated = [replace(o, paths=narrowed.get(o.entity, o.paths)) for o in dated]
        lasting = sign == "=" or (" and " in self.plan.bound and not _CAME_TO_OFFICE.search(self.plan.asked))
        if in_office and office and lasting:
            yield from self._in_office(ran, in_office)
        elif dated:
            yield from self._filtered(ran, dated, len(ends))
        elif not applies(self.resources):
            yield Notice(
                f"No dates were found for “{said_bound(self.plan.bound)}”, so the answer may be wider than asked."
            )
            yield final
        else:
            yield no_answer(
                f"The graph holds {len(ends)} ({listed(list(ends), 8)}), but not which of them is meant by "
                f"{said_bound(self.plan.bound)}."
            )

    def _practising(self) -> dict[str, Path]:
        """All of an occupation, where nothing but years of their lives is asked: *composers born after 1850*."""
        said = [one for one in self.query.topics if kind_of(self.kg, one) not in ("year", "century")]
        named = [one for one in said if re.sub(r"^the ", "", fold(one)) != self.plan.noun.lower()]  # a play, so called
        lives = self.plan.bound and not named and speaks_of_a_life(self.plan.asked)
        return self.sets.practitioners(self.plan.noun.lower()) if lives and " " not in self.plan.noun else {}

    def _called_so(self) -> Iterator[Event] | None:
        """Who goes by another name, *the Iron Chancellor*, or what *Byzantium* is; None where that is not asked."""
        found = _WHO_IS_CALLED.match(self.plan.asked) or _WHAT_IS_CALLED.match(self.plan.asked)
        topic = self.query.topics[0] if found and len(self.query.topics) == 1 else ""
        known = self.kg.info.get(topic) if topic else None
        said_by = _TELLS_WHAT.get(known.type if known is not None else "", "")
        if not found or known is None or not said_by:
            return None
        called = {re.sub(r"^the ", "", fold(alias)) for alias in known.aliases}
        if fold(found["name"]) not in called or not (set(fold(topic).split()) - FUNCTION_WORDS).isdisjoint(
            fold(found["name"]).split()
        ):
            return None
        around = ((label, end) for label, end in self.kg.neighbours(topic, directed=True) if label == said_by)
        path = next((Path((end, topic), (self.sets.inverse(label),)) for label, end in around), None)
        return self._shown_by_paths("step", {topic: (path,)}) if path is not None else None

    def _alive(self, whom: str, year: str = "", dead: bool = False) -> Iterator[Event]:
        """Those of some people of whom the graph states no death, or none before a year, where it states others'.

        Args:
            whom: the people.
            year: in which they were alive; empty for today.
            dead: the others are asked for.
        """
        ran = yield from self._base(base=f"who are the {whom}")
        ends = self._whole_set(ran)
        if ran.refused:
            yield from unchanged(ran.final)
            return
        died = {end: operand_of(self.kg, end, ("died",), (path,)) for end, path in ends.items()}
        operands = [own or Operand(end, (ends[end],)) for end, own in died.items()]
        living = tuple(end for end, own in died.items() if own is None)
        if year:
            yield from self._lived_beyond(year, [own for own in died.values() if own is not None], living)
            return
        if len(living) in (0, len(ends)):
            held = f"The graph holds {listed(list(ends), 8)}"
            yield no_answer(f"{held}, and states {'no death of any' if living else 'the deaths of all'} of them.")
            return
        if dead:
            gone = [own for own in died.values() if own is not None]
            result = within_bound(gone, "> 0")
            if (yield from self._operate("filter", f"died: {listed(result)}", gone, result, "> 0")):
                yield computed_answer(f"{listed(result)} (of {len(ends)} that the graph holds).", result, ran)
            return
        text = f"{len(ends)} found, of whom {len(ends) - len(living)} have died"
        if (yield from self._operate("alive", text, operands, living)):
            yield computed_answer(f"{listed(living)} (the graph states no death of them).", living, ran)

    def _lived_beyond(self, year: str, died: Sequence[Operand], living: Sequence[str]) -> Iterator[Event]:
        """Those who died after a year, and those of whom the graph states no death."""
        later = within_bound(died, f"> {year}")
        if (yield from self._operate("filter", f"died > {year}: {listed(later)}", died, later, f"> {year}")):
            found = (*later, *living)
            yield computed_answer(f"{listed(found)} (of {listed(living)} the graph states no death).", found)

    def _died_of_topic(self) -> Operand | None:
        """When the one person whom the question is about died."""
        people = [topic for topic in self.query.topics if kind_of(self.kg, topic) == "person"]
        return operand_of(self.kg, people[0], ("died",)) if len(people) == 1 else None

    def _group_called(self) -> Iterator[Event] | None:
        """All of a group that a topic names by the noun that is asked for, *the Axis powers*; None where none does."""
        found = _NAMES_ALL.match(self.plan.asked)
        if found and (own := self._members_called(found["noun"])):
            return self._all(found["noun"], own)
        kinds = names_of_kind(found["noun"]) if found else ()
        called_so = [
            topic
            for topic in self.query.topics
            if (fold(topic).split() or [""])[-1] in (*kinds, *(f"{k}s" for k in kinds))
        ]
        members = self.sets.members(called_so[0]) if len(called_so) == 1 else {}
        if any(kind_of(self.kg, topic) in PLACES for topic in self.query.topics if topic not in called_so):
            return None  # those *of South America*
        return self._all(found["noun"], members) if found and len(members) > 1 else None

    def _members_called(self, noun: str) -> Mapping[str, Path]:
        """The members of a band, *the Beatles*, or of a group of a place, *Canada's territories*, that a noun names."""
        bands = [one for one in self._link(noun) if kind_of(self.kg, one) == "band"] if noun[:1].isupper() else []
        if bands and name_index(self.kg).called(noun):
            return self.sets.ends(bands[0], ("band member",))
        own = _OF_A_PLACE.fullmatch(noun)
        for place in self._link(own["place"])[:1] if own else ():
            adjectives = (word for places, words in demonyms() if place in places for word in words)
            for adjective in adjectives:
                group = self.sets.members(f"{adjective} {own['what']}") if own else {}
                if len(group) > 1:
                    return {one: path for one, path in group.items() if path is not None}
        return {}

    def _whole_group(self) -> Iterator[Event] | None:
        """All of a group that the question names whole, *the Grand Slam tournaments in tennis*; else None."""
        found = _NAMES_ALL.match(self.plan.asked)
        members = self.sets.members(found["noun"]) if found else {}
        others = set(self.query.topics) - {path.entities[0] for path in members.values()}
        return self._all(found["noun"], members) if found and members and not others else None

    def _members_of_topic(self) -> dict[str, Path]:
        """All of the one group that the question names, where it asks for nothing else: *the members of* a council."""
        if len(self.query.topics) != 1:
            return {}
        every = self.sets.members(self.query.topics[0])
        named_so = not set(names_of_kind(self.plan.noun)).isdisjoint(fold(self.query.topics[0]).split())
        noun = "" if self.plan.noun in _SORTS else self.plan.noun
        fitting = self.sets.of_noun(every, noun) if noun else every
        whole = fitting is None and _NAMES_ALL.match(self.plan.asked)  # it knows no *signs*, but those of the zodiac
        members = fitting or (every if named_so or whole else {})
        nouns = {*self.plan.noun.lower().split(), *names_of_kind(self.plan.noun)}
        if all_of := _NAMES_ALL.match(self.plan.asked.removesuffix(" called")):
            nouns |= {*fold(all_of["noun"]).split(), *NUMBERS, "called"}
        words = {
            word
            for word in self.query.content_words
            if not (self.plan.bound and word in _WITHIN | {self.plan.bound.split()[-1]})
        }
        more = words - nouns - FUNCTION_WORDS - SAYS_LITTLE - {"member", "members"}
        topic = fold(self.query.topics[0]).split()
        more = {word for word in more if set(topic).isdisjoint(names_of_kind(word))}
        around = [{w for _, end in self.kg.neighbours(one) for w in fold(end).split()} for one in members]
        everywhere: set[str] = set(around[0]).intersection(*around[1:]) if around else set()
        for word in more - everywhere:  # *landlocked* countries of a continent
            group = self.sets.members(f"{word} {noun.split()[-1]}") if noun else {}
            members = {end: path for end, path in members.items() if end in group}
        return members

    def _all(self, noun: str, members: Mapping[str, Path | None]) -> Iterator[Event]:
        """All things of a kind, or of a group, counted."""
        if condition := _ONLY_SOME.search(noun):
            yield no_answer(f"“{noun}” has a condition (“{condition[0]}”) that I cannot work out from the graph.")
            return
        operands = [self._member(entity, path) for entity, path in members.items()]
        number = str(len(members))
        operation = yield from self._operate("count", f"all {number} {noun}", operands, (number,))
        if operation is not None:
            yield computed_answer(f"{number} {noun}: {listed(list(members))}.", tuple(members))

    def all_of_a_kind(self) -> Iterator[Event]:
        """All things of a kind; where the graph knows no such kind, the method's own answer."""
        if not self.plan.bound and (people := self.nationals()):
            yield from self.list_of_both(people)
            return
        noun = self.plan.noun
        group = self.sets.members(noun)
        members = self.sets.of_kind(noun) if group or not self._modifier(noun) else {}
        if self.plan.bound:
            yield from self.with_a_value()
            return
        if not members:
            yield from self.list_answers()
            return
        yield from self._all(self.plan.noun, members)

    def _every(self, noun: str) -> list[Operand]:
        """All things of a kind; of *female astronauts* those astronauts that are women."""
        *_, last = noun.lower().split()
        sexed = len(noun.split()) > 1 and any(word in SEX for word in noun.lower().split()[:-1])
        members = self.sets.of_kind(last if sexed else noun)
        if not sexed and (narrowing := self._modifier(noun)) and not self.sets.members(noun):
            said = {word[:_STEM] for word in fold(narrowing).split()}  # of all wars the *Punic* ones
            named = {one: {word[:_STEM] for word in fold(one).split()} for one in members}
            members = {one: path for one, path in members.items() if said <= named[one]}
        of_sex = self.of_sex({end: path or Path((end,), ()) for end, path in members.items()}) if sexed else None
        if of_sex is None:
            return [] if sexed else [self._member(entity, path) for entity, path in members.items()]
        return [
            replace(own, paths=(*own.paths, of_sex[own.entity][1]))
            for own in (self._member(entity, path) for entity, path in members.items() if entity in of_sex)
        ]

    def _member(self, entity: str, path: Path | None) -> Operand:
        """A thing of a kind: with the path from its group, or by its type."""
        return Operand(entity, (path,)) if path else Operand(entity, (), "type", self.kg.info[entity].type)

    def _without(self) -> Iterator[Event]:
        """The answers that nothing joins to what the question leaves out, as far as the graph knows."""
        counted = _ANY_THING.match(self.plan.without)
        if counted and (stated := self._stated_of_topics(counted["thing"])):
            yield from self._with_none(counted["thing"].removesuffix("s"), stated)
            return
        named = set(self._link(self.plan.without))
        out = [topic for topic in self.query.topics if topic in named]
        remaining = [topic for topic in self.query.topics if topic not in out]
        if not out or not remaining:
            yield no_answer(f"The graph knows nothing by the name of “{self.plan.without}” that I could leave out.")
            return
        ran = yield from self._base(topics=remaining)
        noun = self.plan.noun
        ends = self._set_of(ran, noun) if noun else self._whole_set(ran)
        if not ends:
            yield from self._none_found(ran, noun)
            return
        ends = {end: ends[end] for end in self._of_here_and_now(ends)}
        joined = {end: [p for other in out if end != other and (p := self.sets.joined(end, other))] for end in ends}
        words = set(fold(self.plan.without).split())
        alike = {end: [path for path in own if words & set(path_words(path.relations))] for end, own in joined.items()}
        joined = alike if any(alike.values()) else joined  # *border Brazil*: who shares something else with it stays in
        if not any(joined.values()):
            yield no_answer(
                f"The graph links none of the {len(ends)} that it holds to {listed(out)}, so it leaves none out."
            )
            return
        operands = [Operand(end, (path, *joined[end])) for end, path in ends.items()]
        result = tuple(end for end in ends if not joined[end] and end not in out)
        operands = [operand for operand in operands if operand.entity not in out]
        text = f"{len(ends)} from {listed(remaining)}, less those joined to {listed(out)}: {len(result)}"
        operation = yield from self._operate("without", text, operands, result, listed(out))
        if operation is not None and result:
            yield computed_answer(f"{listed(result)} (as far as the graph says).", result, ran)
        elif operation is not None:
            yield no_answer(f"All {len(ends)} that the graph holds are joined to {listed(out)}.")

    def _stated_of_topics(self, thing: str) -> list[Operand]:
        """The members of the group that is asked for, with a number that the graph states of every one of them."""
        groups = (topic for topic in self.query.topics if self.sets.members(topic))
        group = next((self.sets.members(group) for group in groups), {})
        members = {**(self.sets.of_noun(group, self.plan.noun) or self.sets.of_kind(self.plan.noun))}
        numbers = {end: number_of(self.kg, end, f"{thing.removesuffix('s')}s") for end in members}
        stated = [replace(o, paths=(p,) if (p := members[end]) else ()) for end, o in numbers.items() if o is not None]
        return stated if len(stated) == len(members) else []

    def _with_none(self, thing: str, stated: Sequence[Operand]) -> Iterator[Event]:
        """Those of which the graph says that they have none: the planets without a moon."""
        result = within_bound(stated, "= 0")
        text = f"{len(stated)} with their number of {thing}s; 0: {len(result)}"
        operation = yield from self._operate("filter", text, stated, result, "= 0")
        if operation is not None:
            said = f"{listed(result)} (of {len(stated)} whose {thing}s the graph counts)."
            yield computed_answer(said, result) if result else no_answer(f"Each of the {len(stated)} has a {thing}.")

    def _filtered(self, ran: MethodRun, dated: Sequence[Operand], known: int) -> Iterator[Event]:
        """Those of which a year lies within the bound."""
        result = within_bound(dated, self.plan.bound)
        text = f"{known} found, {len(dated)} of them with a year; {said_bound(self.plan.bound)}: {len(result)}"
        operation = yield from self._operate("filter", text, dated, result, self.plan.bound)
        if operation is None:
            return
        if result:
            yield computed_answer(", ".join(result), result, ran)
        else:
            held = f"None of the {len(dated)} that the graph holds with a year"
            yield no_answer(f"{held} is of then ({said_bound(self.plan.bound)}).")

    def _tells_no_sex(self, path: Path) -> bool:
        """Whether daughters or brothers are asked for, where the graph states children and siblings."""
        return path.relations[-1] in ("child", "sibling") and not _OF_ONE_SEX.isdisjoint(names_of_kind(self.plan.noun))

    def _counted_as_one(self, path: Path) -> bool:
        """Whether a path leads to the very thing whose times are to be counted, which the graph has but once."""
        topics = [topic for topic in self.query.topics if topic != path.entities[0]]
        words = [set(fold(kind).split()) for kind in names_of_kind(self.plan.noun)]
        named = any(own <= set(fold(path.end).split()) for own in words if len(own) > 1)
        return path.end in topics and len(path.relations) == 1 and named and not self._editions_won(path)

    def _stated_number(self, stated: Operand) -> Iterator[Event]:
        """A number that the graph states of such a thing, of an insect the legs."""
        text = f"{stated.entity}: {shown_value(stated) if stated.unit else f'{stated.attribute} {stated.value}'}"
        result = (f"{stated.value} {stated.unit}".strip(),)
        operation = yield from self._operate("value", text, [stated], result)
        if operation is not None:
            yield computed_answer(f"{text}.", (stated.value,))

    def _joined_to_all(self, ends: Mapping[str, Path]) -> dict[str, tuple[Path, ...]]:
        """The ends that are joined to every other topic that joins any: of the cups won the *FIFA World* Cups."""
        remaining: dict[str, tuple[Path, ...]] = {end: (path,) for end, path in ends.items()}
        used = {path.entities[0] for path in ends.values()}
        for other in (topic for topic in self.query.topics if topic not in used):
            joined = {e: (*paths, second) for e, paths in remaining.items() if (second := self.sets.joined(e, other))}
            # of *US states* those that are some, before what one of them only borders
            joined = {e: paths for e, paths in joined.items() if len(paths[-1].relations) == 1} or joined
            joined = joined or {e: paths for e, paths in remaining.items() if other in e}
            remaining = joined or remaining
        return remaining

    def _counted_as_listed(self) -> Generator[Event, None, bool]:
        """Count what the question lists where it asks *which* in place of *how many*; whether it lists any."""
        listing = copy(self)
        listing.query = understand(self.plan.base, self.query.topics, self.kg)
        listing.plan = listing.query.plan
        ran, operations = MethodRun(), list[Operation]()
        for event in listing.list_answers():
            ran.see(event)
            if isinstance(event, AnswerFinal):
                ran.final = event
            elif isinstance(event, Operation):
                operations.append(event)
        fitting = led_to(ran, operations, self.sets)
        operands, number = [Operand(one, paths) for one, paths in fitting.items()], str(len(fitting))
        if not fitting:
            return False
        named = listed(list(fitting))
        if (yield from self._operate("count", f"counting {named}", operands, (number,))) is not None:
            yield computed_answer(f"The graph holds {number}, which need not be all: {named}.", (number,), ran)
        return True

    def count(self) -> Iterator[Event]:
        """How many there are, as far as the graph holds them."""
        if self.plan.attributes:
            yield from self.with_a_value()
            return
        if people := self.nationals():
            yield from self.list_of_both(people)
            return
        noun = self.plan.noun
        meant = dict.fromkeys((*self.query.topics, *(self._link(self.query.text) if not self.plan.bound else ())))
        what = _OF_IT.split(noun)[0]
        meant = {one: None for one in meant if fold(bare(one)) not in names_of_kind(what)}  # of a proton no *protons*
        stated = [o for topic in meant if (o := number_of(self.kg, topic, what)) is not None]
        if stated and not self.plan.bound:
            yield from self._stated_number(stated[0])
            return
        if _IN_GENERAL.search(self.query.text) and not self.plan.bound:
            yield no_answer(
                f"It asks how many {noun} such a thing has in general; the graph holds single things and their links."
            )
            return
        if is_time(what):  # which are no things that the graph holds
            yield no_answer(f"The graph does not say how many {noun} that took.")
            return
        ran, ends = MethodRun(), dict[str, Path]()
        if self.plan.base and not self.query.topics:  # all that there are of the kind are not those asked for
            yield no_answer(f"I found nothing in the graph by which I could tell which {noun} are meant.")
            return
        if self.plan.base:
            ran = yield from self._base()
            won = next((path for path in ran.paths.values() if self._counted_as_one(path)), None)
            if won is not None:
                yield no_answer(f"The graph says {won}, but not how often.")
                return
            every = self._set_of(ran, noun)
            ends = {end: every[end] for end in self._of_here_and_now(every)}
            if not ends:
                yield from self._none_found(ran, noun)
                return
            hops = {hop for path in ends.values() for hop in zip(path.entities, path.relations, strict=False)}
            if any(self.kg.is_cut(*hop) for hop in hops):
                yield no_answer("There are more of them than are read from this graph, so I cannot count them.")
                return
            first = next(iter(ends.values()))
            uncovered = noun if self._tells_no_sex(first) else self._uncovered(first)
            if uncovered and not self.plan.bound and (yield from self._counted_as_listed()):
                return
            if uncovered:
                yield no_answer(
                    f"The graph holds {len(ends)} here ({listed(list(ends), 8)}), but nothing by which I could "
                    f"tell which of them “{uncovered}” means."
                )
                return
            of_sex = self.of_sex(ends)
            if of_sex is not None:
                ends = {end: paths[0] for end, paths in of_sex.items()}
            operands = [Operand(end, paths) for end, paths in self._joined_to_all(ends).items()]
            operands = [replace(o, paths=(*o.paths, of_sex[o.entity][1])) if of_sex else o for o in operands]
            if self.plan.bound:
                fitting = within_bound(self._dated(ends), self.plan.bound)
                operands = [operand for operand in operands if operand.entity in fitting]
        else:
            operands = self._every(noun)
            ends = {operand.entity: path for operand in operands for path in operand.paths}
            if not operands:
                yield no_answer(f"The graph knows no kind of thing called “{noun}”.")
                return
        if re.match("how many times", self.plan.asked, re.IGNORECASE):  # each is an edition of the cup that it won
            cups = [set(fold(kind).split()) for kind in names_of_kind(noun) if " " in kind or " " not in noun]
            operands = [o for o in operands if any(cup <= set(fold(o.entity).split()) for cup in cups)]
        names, number = [operand.entity for operand in operands], str(len(operands))
        last = max((int(found[1]) for name in names if (found := _NUMBERED.search(name))), default=0)
        if last > len(operands):
            yield no_answer(f"There are more than the {number} that the graph holds: {listed(names)}.")
            return
        whole = bool(ends) and all(path.relations[-1] in COMPLETE for path in ends.values())
        if len(names) == 1 and not whole and _IS_MANY.search(self.query.text):
            yield one_alone(names[0])
            return
        if not names:
            yield no_answer(f"Of what the graph holds nothing fits the question, but that need not be all the {noun}.")
            return
        operation = yield from self._operate("count", f"counting {listed(names)}", operands, (number,))
        if operation is None:
            return
        noun = names_of_kind(noun)[0] if number == "1" and names_of_kind(noun) else noun
        held = f"{number} {noun}" if whole else f"The graph holds {number} {noun}, which need not be all"
        yield computed_answer(f"{held}: {listed(names)}.", (number,), ran)
