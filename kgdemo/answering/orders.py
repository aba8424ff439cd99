"""What is compared and ordered: two things, all of a kind, a place in an order; and values and spans of time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise, product

from kgdemo.answering.computation import (
    IN_ORDER,
    Computation,
    MethodRun,
    computed_answer,
    listed,
    no_answer,
    order_of,
    unchanged,
)
from kgdemo.answering.operands import (
    PLACES,
    attribute_in_words,
    is_of_kind,
    names_of_kind,
    number_of,
    operand_of,
    same_attribute,
    shown_value,
)
from kgdemo.events import Event, Operand
from kgdemo.kg.labels import FUNCTION_WORDS, fold
from kgdemo.kg.path import Path
from kgdemo.query.answer_type import kind_of
from kgdemo.query.measures import BEGINNING, DATE, NUMBER
from kgdemo.query.query import Form
from kgdemo.ranking.scorer import path_words

_TOLD_BY = re.compile(r"^[A-Z][^']*'s? [a-z]+ (?=[A-Z])")  # *Jupiter's moon* Ganymede
_SEVERAL = 5  # are named where *the longest rivers* are asked for
_PARTS = ("part", "volume", "instalment", "installment")
_MAINLAND, _ISLANDS = re.compile(r"\bmainland\b", re.IGNORECASE), ("instance of", "island country")
BEGINNINGS = ("founded", "discovered", "opened", "released", "began")
_FEW = 0.5  # of all people, of whom a value has to be known before anybody is said to have the greatest one
_ALONE = 3  # things of which the value of one says nothing of who has the greatest
_PRONOUNS = frozenset(("it", "he", "she", "they"))  # though a film is called so
_NAMESAKES = 4  # of a name, that are compared
_IS_ONE = re.compile(r"\b(?:is|was|has) the \w+est\b", re.IGNORECASE)
_AT_THAT_AGE = re.compile(r"\b(?:oldest|youngest) .*\bto (?:have |ever |be )?[a-z]+\b", re.IGNORECASE)
_SEX = re.compile(r"^(?:wom[ae]n|female|lady|black) (?=\w)", re.IGNORECASE)
_GOVERNS = re.compile(r"\b(?:president|minister|chancellor|pope|mayor|governor)s?\b", re.IGNORECASE)
_REIGNS = re.compile(r"\b(?:monarch|king|queen|emperor|tsar|sultan|pharaoh)s?\b", re.IGNORECASE)
_COMPARED_KIND = re.compile(
    r"(?:which|what)(?: one)?(?: of (?:these|those|the)(?: two)?)? (?P<noun>\w+) "
    r"(?:is|was|has|are|were|came|died|lived|began|started|won)\b",
    re.IGNORECASE,
)


class Orders(Computation):
    """Answers that are read off values: compared, ordered, or stated."""

    def compare(self) -> Iterator[Event]:
        """Which of the things named has more of it."""
        candidates = {thing: self._named(thing) for thing in self.plan.things}
        missing = [thing for thing, entities in candidates.items() if not entities]
        if missing:
            yield no_answer(f"I found nothing in the graph called {listed(missing)}.")
            return
        if self.plan.attributes == (NUMBER,):
            counted = [[e for e in own if number_of(self.kg, e, self.plan.noun)] for own in candidates.values()]
            meant = zip(counted, candidates.values(), strict=True)
            yield from self._compare_numbers([(having or own)[0] for having, own in meant])
            return
        entities = self._comparable(*candidates.values())
        if len(entities) < 2:
            yield no_answer(f"Both names lead to {entities[0]}; say which two things are to be compared.")
            return
        operands = same_attribute(self.kg, entities, self._attributes(entities))
        if len(operands) < len(entities):
            said = attribute_in_words(self.kg, entities, self.query.text, self._attribute_name())
            operands = same_attribute(self.kg, entities, (said,)) if said else operands
        if len(operands) < len(entities):
            lacking = [entity for entity in entities if entity not in {operand.entity for operand in operands}]
            held = f"The graph holds no {self._attribute_name()} for {listed(lacking)}"
            yield no_answer(f"{held}, so it cannot compare them.")
            return
        result, kind = self._extreme(operands)
        values = " against ".join(f"{shown_value(o)} ({o.entity})" for o in operands)
        operation = yield from self._operate(kind, f"{operands[0].attribute}: {values}", operands, result)
        if operation is None:
            return
        equal = len(result) > 1
        if self.plan.words and not equal:
            word = self.plan.words[0 if result[0] == entities[0] else 1]
            yield computed_answer(f"{word.capitalize()}: {operands[0].attribute} {values}.", (word,))
        elif self.plan.form is Form.YES_NO:
            answer = "No" if equal or result[0] != entities[0] else "Yes"
            yield computed_answer(f"{answer}: {operands[0].attribute} {values}.", (answer,))
        else:
            text = f"They are equal: {values}." if equal else f"{result[0]}: {operands[0].attribute} {values}."
            yield computed_answer(text, result)

    def _compare_numbers(self, entities: Sequence[str]) -> Iterator[Event]:
        """Of which of several things the graph holds more, by the relation that leads to those of the first."""
        noun, first = self.plan.noun, entities[0]
        stated = [o for entity in entities if (o := number_of(self.kg, entity, noun)) is not None]
        if len(stated) < len(entities) and (said := attribute_in_words(self.kg, entities, self.query.text, noun)):
            stated = same_attribute(self.kg, entities, (said,))
        if len(stated) == len(entities):
            result, kind = self._extreme(stated)
            values = " against ".join(f"{shown_value(o)} ({o.entity})" for o in stated)
            if (yield from self._operate(kind, values, stated, result)) is not None:
                yield computed_answer(f"{listed(result)}: {values}.", result)
            return
        ran = yield from self._base(topics=[first], base=self.plan.base.format(first))
        counts: dict[str, int] = {}
        said_so = {word for kind in names_of_kind(noun) for word in kind.split()}
        relations = next(
            (
                said
                for topic, said in ran.walks()
                if (ends := self._fitting(self.sets.ends(topic, said), noun))
                and (self.sets.of_noun(ends, noun) is not None or said_so & set(path_words(said)))
            ),
            None,
        )
        if ran.refused or relations is None:
            yield no_answer(f"The graph holds no {noun} of {first}, so it cannot compare them.")
            return
        for entity in entities:
            fitting = self._fitting(self.sets.ends(entity, relations), noun)
            operands, number = [Operand(end, (path,)) for end, path in fitting.items()], str(len(fitting))
            text = f"{noun} of {entity}: {listed(list(fitting))}"
            if operands and (yield from self._operate("count", text, operands, (number,))) is None:
                return
            counts[entity] = len(fitting)
        said = ", ".join(f"{entity} {number}" for entity, number in counts.items())
        if len(set(counts.values())) == 1:
            yield no_answer(f"The graph holds as many of each ({said}).")
            return
        best = (max if self.plan.greatest else min)(counts, key=lambda entity: counts[entity])
        yield computed_answer(f"{best} ({said}, as far as the graph holds them).", (best,), ran)

    def _most_stated(self) -> Iterator[Event] | None:
        """Of the things of a kind the one with most of what the graph states the number of; None where it does not."""
        every = self.sets.of_kind(self.plan.noun) if self.plan.noun else {}
        stated = [o for entity in every if (o := number_of(self.kg, entity, self.plan.things[0])) is not None]
        return self._best_of(MethodRun(), stated) if len(stated) > 1 else None

    def _fitting(self, ends: Mapping[str, Path], noun: str) -> dict[str, Path]:
        """The ends of a kind, or of that name: of what was won the *World Cups*."""
        own = {end: path for end, path in ends.items() if end != path.entities[0]}
        fitting = self.sets.of_noun(own, noun)
        return own if fitting is None else fitting

    def _named(self, thing: str) -> list[str]:
        """The entities that a name in the question may mean, those first that the whole question was linked to.

        The noun of the question belongs to the name, which *university* is older, Oxford or Harvard, and is the kind
        of what is meant where a namesake is of that kind: which *novel* is older, Emma or Persuasion.
        """
        thing = _TOLD_BY.sub("", thing)
        if thing.lower() in _PRONOUNS:
            return []
        noun = _COMPARED_KIND.search(self.plan.asked)
        linked = [*(self._link(f"{thing} {noun['noun']}") if noun else ()), *self._link(thing)]
        linked = [*(entity for entity in linked if entity in self.query.topics), *linked]
        said = set(fold(thing).split()) - FUNCTION_WORDS
        linked = [entity for entity in linked if said <= self.kg.words_of(entity)] or linked  # Parthenon, no Pantheon
        kinds = names_of_kind(noun["noun"]) if noun else ()
        of_kind = [entity for entity in linked if is_of_kind(self.kg, entity, kinds)]
        return list(dict.fromkeys(of_kind or linked))

    def _with_value(self, thing: str) -> str:
        """The entity that a name means where a value is asked of it: of several the first one that has the value."""
        head = re.split(r" (?:in|of|on|at|between) ", _TOLD_BY.sub("", thing))[0]
        said = {fold(word) for word in re.findall(r"\b[A-Z][\w'-]+", head)}  # *the National Health Service* in Britain
        entities = [one for one in self._named(thing) if not said or said & self.kg.words_of(one)]
        attributes = self._attributes(entities[:1])
        return next((e for e in entities if operand_of(self.kg, e, attributes) is not None), next(iter(entities), ""))

    def _comparable(self, *candidates: Sequence[str]) -> list[str]:
        """Of what each name may mean the first ones that have a value of one attribute, and are of one type if any."""
        pairs = [list(pair) for pair in product(*(one[:_NAMESAKES] for one in candidates))]
        having = [pair for pair in pairs if len(same_attribute(self.kg, pair, self._attributes(pair))) == len(pair)]
        alike = [pair for pair in having if len({kind_of(self.kg, entity) for entity in pair}) == 1]
        return list(dict.fromkeys([*alike, *having, pairs[0]][0]))

    def most_editions(self) -> Iterator[Event]:
        """Who won, or was host of, most of what is held again and again."""
        stated = self._most_stated()
        if stated is not None:
            yield from stated
            return
        thing, relation = self.plan.things[0], self.plan.outer or "has"
        editions = next((own for e in (*self._link(thing), *self.query.topics) if (own := self.sets.editions(e))), [])
        paths: dict[str, tuple[Path, ...]] = {}
        for edition in editions:
            for end, path in self.sets.ends(edition, (relation,)).items():
                paths[end] = (*paths.get(end, ()), path)
        kinds = names_of_kind(self.plan.noun)
        of_kind = {end: own for end, own in paths.items() if is_of_kind(self.kg, end, kinds)}
        if 2 * sum(map(len, of_kind.values())) > sum(map(len, paths.values())):  # else it is the *team* of a country
            paths = of_kind
        if not paths:
            yield no_answer(
                f"The graph does not list the {thing} one by one. I count for one name at a time; ask how many {thing} "
                "it is for the ones you think of."
            )
            return
        ordered = sorted(paths, key=lambda end: len(paths[end]), reverse=self.plan.greatest)
        most = len(paths[ordered[0]])
        result = tuple(end for end in ordered if len(paths[end]) == most)
        operands = [Operand(end, paths[end]) for end in ordered]
        text = ", ".join(f"{end} {len(paths[end])}" for end in ordered[:8])
        kind = "most paths" if self.plan.greatest else "fewest paths"
        operation = yield from self._operate(kind, text, operands, result)
        if operation is not None:
            said = f"{listed(result)}: {most} of the {len(editions)} that the graph holds ({text})."
            yield computed_answer(said, result)

    def superlative(self) -> Iterator[Event]:
        """Which thing of a kind has most or least of it, or the place in that order that is asked for."""
        noun = self.plan.noun
        if record := "" if self.plan.without else self._record():
            yield from self._of_record(record)
            return
        if self.plan.attributes == (NUMBER,):
            yield from self.most_editions()
            return
        if _AT_THAT_AGE.search(self.query.text):
            yield no_answer("It asks how old they were when they did it, and the graph does not state that.")
            return
        one = _IS_ONE.search(self.plan.asked) or not _is_plural(noun)
        number = self.plan.number or (1 if one else _SEVERAL)
        first = number == 1 and self.plan.place in (0, 1) and not self.plan.without
        if not self._has_values():
            yield from self._plainly()
            return
        ran, ends = MethodRun(), dict[str, Path | None]()
        group = self.sets.members(noun)
        modifier = "" if group else self._modifier(noun)
        inside = self._of_place(modifier, noun) if modifier and not self.plan.base else {}
        besides = [topic for topic in self.query.topics if topic.lower() not in names_of_kind(noun)]
        if modifier and not inside and not self.plan.base and not besides:
            yield no_answer(
                f"The graph does not tell “{modifier} {noun.split()[-1]}” from others, so it cannot compare them."
            )
            return
        if inside or (inside := self._of_group(noun)):
            ends = {**inside}
        elif self.query.topics and (self.plan.base or modifier):
            ran = yield from self._base()
            ends = {**self._set_of(ran, noun)}
            if self.plan.base:  # of what is named: what holds a record is no moon of Venus
                ends = {e: p for e, p in ends.items() if p is None or kind_of(self.kg, p.entities[0]) != "feat"}
            if not ends:
                yield from self._none_found(ran, noun)
                return
        else:
            ends = self._of_here_and_now(self.sets.of_kind(noun))
            if not ends:
                yield no_answer(f"The graph knows no kind of thing called “{noun}”, so it cannot compare them.")
                return
        if self.plan.without:
            place = next(iter(self._link(self.plan.without)), "")
            if kind_of(self.kg, place) not in PLACES:
                yield no_answer(f"I found no place in the graph called {self.plan.without}.")
                return
            ends = {end: path for end, path in ends.items() if self.sets.containing(end, place) is None}
        if _MAINLAND.search(self.query.text):
            ends = {end: path for end, path in ends.items() if _ISLANDS not in self.kg.neighbours(end, directed=True)}
        operands = [
            replace(operand, paths=() if (path := ends[operand.entity]) is None else (path,))
            for operand in same_attribute(self.kg, list(ends), self._attributes(list(ends)))
        ]
        if first and len(operands) < len(ends) and (record := self._record_meant()):
            yield from self._of_record(record)
            return
        if not operands:
            held = f"The graph holds {len(ends)} {noun} ({listed(list(ends), 8)})"
            such = self._attribute_name()
            lacking = f"not {such} they are" if such.startswith("how ") else f"no {such} of them"
            yield no_answer(f"{held}, but {lacking}.")
            return
        if len(operands) == 1 and len(ends) > _ALONE:
            yield no_answer(
                f"The graph holds the {operands[0].attribute} of {operands[0].entity} only, of {len(ends)}."
            )
            return
        if len(operands) < _FEW * len(ends) and not ran.cited and kind_of(self.kg, operands[0].entity) == "person":
            held = f"The graph holds the {operands[0].attribute} of {len(operands)} only of {len(ends)}"
            yield no_answer(f"{held}, too few to tell who has the greatest or the least of all.")
            return
        if operands[0].attribute.startswith("born") and any(operand_of(self.kg, end, IN_ORDER) for end in ends):
            yield no_answer(
                "Of those who held an office it may mean their age then or now; I can tell neither of all of them."
            )
            return
        if self.plan.place:
            yield from self._nth_of(ran, operands, -self.plan.place if self.plan.greatest else self.plan.place)
            return
        operands.sort(key=order_of, reverse=self.plan.greatest)  # the first ones are those that are looked at
        if 1 < number < len(operands):
            yield from self._first_of(ran, operands, number)
            return
        yield from self._best_of(ran, operands)

    def _of_group(self, noun: str) -> dict[str, Path]:
        """The members of a topic that is called by the noun: of *the Seven Wonders* the wonders."""
        last = (fold(noun).split() or [""])[-1]
        groups = (topic for topic in self.query.topics if last.endswith("s") and last in fold(topic).split())
        return next((members for group in groups if (members := self.sets.members(group))), {})

    def _best_of(self, ran: MethodRun, operands: Sequence[Operand]) -> Iterator[Event]:
        """The things of the greatest or the least value."""
        if len(operands) == 1:
            (only,) = operands
            yield no_answer(
                f"The graph states the {only.attribute} of {only.entity} only, so there is nothing to compare."
            )
            return
        result, kind = self._extreme(operands)
        best = next(operand for operand in operands if operand.entity == result[0])
        counted = best.attribute == best.unit  # 11 *Oscars*, of the films whose number of them is stated
        of = f"of the {len(operands)} whose {'number' if counted else best.attribute} the graph holds"
        operation = yield from self._operate(kind, f"{kind} {best.attribute} of {len(operands)}", operands, result)
        if operation is not None:
            stated = shown_value(best) if counted else f"{best.attribute} {shown_value(best)}"
            yield computed_answer(f"{listed(list(result))}: {stated} ({of}).", result, ran)

    def _first_of(self, ran: MethodRun, ordered: Sequence[Operand], number: int) -> Iterator[Event]:
        """The first ones of an order; where several have the last one's value, there are more or fewer of them."""
        while number < len(ordered) and order_of(ordered[number]) == order_of(ordered[number - 1]):
            number += 1
        chosen = ordered[:number]
        result = tuple(o.entity for o in chosen)
        kind, attribute = "greatest" if self.plan.greatest else "least", chosen[0].attribute
        text = f"the {number} of {kind} {attribute} of {len(ordered)}"
        operation = yield from self._operate(f"{number} {kind}", text, ordered, result)
        if operation is not None:
            values = ", ".join(f"{o.entity} ({shown_value(o)})" for o in chosen)
            yield computed_answer(f"{values}, of the {len(ordered)} whose {attribute} the graph holds.", result, ran)

    def ordinal(self) -> Iterator[Event]:
        """Which came first, third or last."""
        if record := self._record():
            yield from self._of_record(record)
            return
        editions = [name for topic in self.query.topics if self._is_called(topic) for name in self.sets.editions(topic)]
        whose = [topic for topic in self.query.topics if not self._is_called(topic)]  # those that *London* hosted
        dated = same_attribute(self.kg, editions, self._dates(editions)) if editions and not whose else []
        if dated:
            yield from self._nth_of(MethodRun(), dated, self.plan.place)
            return
        ran = yield from self._base()
        if ran.final is None or not ran.paths:
            yield from unchanged(ran.final)
            return
        ends = self._set_of(ran, self.plan.noun)
        if len(ends) < 2 and (numbered := self._numbered_parts()):
            yield from self._nth_of(MethodRun(), numbered, self.plan.place)
            return
        if len(ends) < 2:
            yield from self._only_plainly()
            return
        of_sex = self.of_sex(ends) if _SEX.match(self.plan.noun) else None
        if of_sex:
            yield from self._nth_of_sex(ran, of_sex)
            return
        if unlike := self._another_office(next(iter(ends.values()))):
            yield no_answer(f"The graph holds {len(ends)} here ({listed(list(ends), 8)}), but {unlike}.")
            return
        strange = self._uncovered(next(iter(ends.values())), self.plan.noun.lower().split())
        if strange and not self.sets.of_noun(ends, self.plan.noun):
            yield no_answer(
                f"The graph holds {len(ends)} here ({listed(list(ends), 8)}), but none that it calls {strange}."
            )
            return
        place = self.plan.place
        chain = self.sets.succession(ends)
        if chain and abs(place) <= len(chain):
            operands = [Operand(chain[0], (ends[chain[0]],))]
            operands += [Operand(b, (Path((a, b), ("succeeded by",)),)) for a, b in pairwise(chain)]
            result = (chain[place - 1 if place > 0 else place],)
            operation = yield from self._operate("chain", " → ".join(chain[:12]), operands, result, str(place))
            if operation is not None:
                yield computed_answer(f"{result[0]} (of {len(chain)} that the graph holds in order).", result, ran)
            return
        numbered = same_attribute(self.kg, list(ends), ["order"])
        if are_consecutive(numbered):
            numbered = [replace(o, paths=(ends[o.entity],)) for o in numbered]
            yield from self._nth_of(ran, numbered, place)
            return
        dates = [*IN_ORDER, *self._dates(list(ends))]
        dated = [replace(o, paths=(ends[o.entity],)) for o in same_attribute(self.kg, list(ends), dates)]
        if len(dated) < len(ends) or dated[0].attribute.startswith("born"):
            held = f"The graph holds {len(ends)} ({listed(list(ends), 12)})"
            yield no_answer(f"{held}, but not the order in which they came.")
            return
        yield from self._nth_of(ran, dated, place)

    def _numbered_parts(self) -> list[Operand]:
        """The parts of a topic, or the members of a group, that the graph numbers; none where it does not."""
        kinds = names_of_kind(self.plan.noun)
        for topic in self.query.topics:
            members = self.sets.members(topic)
            named_so = not set(kinds).isdisjoint((*fold(topic).split(), *_PARTS))
            fitting = self.sets.of_noun(members, self.plan.noun)  # None of *signs*: of a word that is no kind here
            fitting = members if fitting is None or (named_so and not fitting) else fitting
            numbered = same_attribute(self.kg, list(fitting), ["order"]) if fitting else []
            if len(numbered) == len(fitting) and are_consecutive(numbered):
                return [replace(o, paths=(fitting[o.entity],)) for o in numbered]
        return []

    def _nth_of_sex(self, ran: MethodRun, of_sex: Mapping[str, tuple[Path, Path]]) -> Iterator[Event]:
        """The first woman of those who held an office."""
        dates = [*IN_ORDER, *self._dates(list(of_sex))]
        dated = [replace(o, paths=of_sex[o.entity]) for o in same_attribute(self.kg, list(of_sex), dates)]
        if len(dated) < len(of_sex) or (len(dated) > 1 and dated[0].attribute.startswith("born")):
            yield no_answer(f"The graph holds {listed(list(of_sex), 12)}, but not the order in which they came.")
        elif len(dated) == 1 and self.plan.place in (1, -1):
            yield from self._best_of(ran, dated)
        else:
            yield from self._nth_of(ran, dated, self.plan.place)

    def _another_office(self, path: Path) -> str:
        """Why those of an office are not those asked for: they reign, or only some of them are meant."""
        narrowing = _SEX.match(self.plan.noun)
        if narrowing:
            return f"not which of them is meant by “{narrowing[0].strip()}”"
        held = " ".join((*path.relations, *path.entities[:-1]))
        office = _GOVERNS.search(self.plan.noun)
        if office and _REIGNS.search(held) and not _GOVERNS.search(held):
            return f"none as {self.plan.noun}"
        return ""

    def _is_called(self, topic: str) -> bool:
        """Whether the things asked for bear a topic's name: the first *World Cup*."""
        names = self.kg.names_of(topic)
        return bool(self.plan.noun) and any(fold(name).endswith(fold(self.plan.noun.split()[-1])) for name in names)

    def _nth_of(self, ran: MethodRun, dated: Sequence[Operand], place: int) -> Iterator[Event]:
        """The one at a place in the order of the values; the last of dates is the last so far."""
        if place < 0:
            dated = [
                operand for operand in dated if operand.unit not in ("", "year") or order_of(operand) < _tomorrow()
            ]
        if abs(place) > len(dated):
            yield no_answer(f"The graph holds {len(dated)} of them with their {dated[0].attribute}, so there is none.")
            return
        ordered = sorted(dated, key=order_of)
        chosen = ordered[place - 1 if place > 0 else place]
        if sum(order_of(o) == order_of(chosen) for o in dated) > 1:
            same = [o.entity for o in dated if order_of(o) == order_of(chosen)]
            yield no_answer(
                f"{listed(same)} have the same value in the graph ({shown_value(chosen)}), so it does not tell."
            )
            return
        shown = ordered if place > 0 else ordered[::-1]
        text = ", ".join(f"{o.entity} ({_place_or_value(o)})" for o in shown[:12])
        operation = yield from self._operate("nth", text, shown, (chosen.entity,), str(place))
        if operation is not None:
            said = f"{chosen.entity}, {_place_or_value(chosen)} (of {len(dated)} that the graph holds)."
            yield computed_answer(said, (chosen.entity,), ran)

    def _only_plainly(self) -> Iterator[Event]:
        """The method's answer to the question itself where its words say the order: *first president*.

        The path model does not read "first", so the answer stands only where relations or names repeat what is asked.
        """
        plain = yield from self._base(plainly=True)
        words = {word for word in self.query.content_words if len(word) > 3} - {self.plan.noun}
        said = {w for path in plain.cited for part in (*path.relations, *path.entities) for w in fold(part).split()}
        if plain.refused or (words and not words & said):
            noun = self.plan.noun
            yield no_answer(
                f"The graph does not say in which order {noun} came here, so it cannot tell the one asked for."
            )
            return
        fitting = self.sets.of_noun({path.end: path for path in plain.cited}, self.plan.noun)
        if fitting and plain.final is not None and set(fitting) != set(plain.final.answers):
            yield computed_answer(", ".join(fitting), tuple(fitting), plain)
        else:
            yield from unchanged(plain.final)

    def _attribute_name(self) -> str:
        return self.plan.attributes[0].replace("_", " ")

    def _attributes(self, entities: Sequence[str]) -> list[str]:
        """The attributes that are meant of these: large cities have many people, large countries much land."""
        attributes = list(self.plan.attributes)
        if attributes[0] == "area" and entities and all(kind_of(self.kg, e) == "city" for e in entities):
            attributes.remove("population")
            attributes.insert(0, "population")
        if attributes[0] in BEGINNINGS:  # of a drink founded as a company, and one that was invented
            attributes.append(BEGINNING)
        return self._dates(entities) if attributes == [DATE] else attributes

    def _has_values(self) -> bool:
        return bool(self.kg.literals) or self.plan.attributes == (DATE,)

    def _extreme(self, operands: Sequence[Operand]) -> tuple[tuple[str, ...], str]:
        values = [order_of(operand) for operand in operands]
        best = max(values) if self.plan.greatest else min(values)
        chosen = tuple(o.entity for o, value in zip(operands, values, strict=True) if value == best)
        return chosen, "greatest" if self.plan.greatest else "least"


def _place_or_value(operand: Operand) -> str:
    return f"number {operand.value}" if operand.attribute == "order" else shown_value(operand)


def _tomorrow() -> float:
    """The end of today, as dates are ordered."""
    return order_of(Operand("", (), "", date.today().isoformat())) + 1 / 365


def are_consecutive(numbered: Sequence[Operand]) -> bool:
    """Whether things are numbered from 1 on without a gap, so that none is missing before any."""
    return len(numbered) > 1 and sorted(float(o.value) for o in numbered) == list(range(1, len(numbered) + 1))


def _is_plural(noun: str) -> bool:
    return noun.endswith("s") and not noun.endswith(("ss", "us", "is", "series"))
