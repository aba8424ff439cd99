"""Everything else that a question names has to act on its answers, or is said to be of no use.

The path model finds what one condition gives. A second entity, an adjective of a place, an occupation, an office,
*women* or *now* narrow that down; a word that should and does not is named.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from rapidfuzz.distance import OSA

from kgdemo.answering.computation import (
    IN_ORDER,
    ORDER_WORD,
    SAYS_LITTLE,
    SEX,
    MethodRun,
    computed_answer,
    listed,
    no_answer,
    order_of,
    said_bound,
    within_bound,
)
from kgdemo.answering.direct import Direct
from kgdemo.answering.operands import (
    HARMLESS,
    PLACES,
    SAYS_WHAT_IT_IS,
    is_of_kind,
    names_of_kind,
    operand_of,
    shown_value,
)
from kgdemo.events import AnswerFinal, Event, Notice, Operand
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import FUNCTION_WORDS, bare, fold, spoken
from kgdemo.kg.path import Path
from kgdemo.linking.names import Name, name_index
from kgdemo.linking.words import common_words
from kgdemo.models.embedding import embedding_cache
from kgdemo.query.answer_type import kind_of
from kgdemo.query.measures import DATE, dates_a_life, speaks_of_a_life
from kgdemo.query.query import Form
from kgdemo.query.wording import names_in
from kgdemo.ranking.abstention import applies
from kgdemo.ranking.scorer import path_words

_STEM = 4  # letters that an adjective shares with its name
_SHORT_NAME = 5  # letters of a name in which one may be wrong; of a longer one two
_NEGATION = re.compile(
    r"\b(?:not(?! (?:just|only)\b)|never|no|without|except|besides|landlocked|\w+n't|other than)\b", re.IGNORECASE
)
_BUT = frozenset(("except", "besides", "other than"))
_BUT_WHOM = re.compile(
    r"\b(?:except(?: for)?|besides|other than) (?:the )?(?P<name>.+?)"
    r"(?=,| (?:is|are|was|were|has|have|do|did|play|in|on)\b|$)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b[12]\d{3}\b")
_CLAUSE = re.compile(  # which of them *has a* thing
    r"\b(?:(?:has|have|had) (?:an?|the|no|more)|with|that|whose|been \w+ed)\b", re.IGNORECASE
)
_HAS = re.compile(  # what it has: not *has been*, *have walked*
    r"^(?:which|what)\b.* (?:has|have) (?!been\b|\w+(?:ed|en|on|un|ut)\b)(?P<had>.+)", re.IGNORECASE
)
_WORD_FOR = re.compile(  # what such a thing is called
    r"^what (?:(?:is|are) (?:an? )?[\w ]+ called|do (?:you|we|they) call an?)\b", re.IGNORECASE
)
_WHICH_ARE = re.compile(r"\b(?:which|what) [\w ]+? (?:is|are|was|were) ", re.IGNORECASE)
_ALIKE = re.compile(
    r"\b(?:same|other|shares?|also|like|fellow|siblings?|common|besides|else|\w*mates?)\b", re.IGNORECASE
)
_FOR = re.compile(r"\bfor (?:the |his |her |their )?(?:\w+ in )?[A-Z]")
_ONE_ASKED = re.compile(
    r"^(?:(?:who|what|which \w+)(?:'s| is| was)|name) the (?:\w+ )*?(?!\w*[^s\W]s\b)\w+ (?:of|in|on|for)\b",
    re.IGNORECASE,
)
_ASKS_FOR_ONE = re.compile(
    r"^(?:who(?:'s| is| was) the (?:\w+ )??(?!\w*[^s\W]s\b)\w+ (?:of|in|on|for|who|that)\b|(?:what|which) "
    r"(?!\w*[^s\W]s\b)\w+ )",
    re.IGNORECASE,
)
_MANY_FOR_ONE = 20  # answers to a question for one thing, beyond which each word of it has to say something of them
_SAYS_IT = 0.4  # cosine from which a word is another word for one of those that tell what was found
_FAR = 1.5  # times better known than any other is the one that is meant where one is asked for
EITHER = re.compile(  # one of those named last, *solid or liquid*; not *a king or queen as head of state*
    r"\bor\b(?:(?! (?:as|of|in|that|who|which|for|with)\b) [\w'-]+){1,4}[?.! ]*$", re.IGNORECASE
)
_SAYS_WHAT = frozenset(("instance of", "gender", "genre", "occupation", "animal class", "part of series"))
_SAYS_NATIONAL = frozenset(
    "worked working active painting born from came come century centuries years year lived live living who been "
    "were".split()
)
_SAYS_WHEN = frozenset("before after since until between later earlier".split())
_IN_OFFICE = frozenset("office elected inaugurated became power".split())
_BORN_THERE = re.compile(r"\bborn in (?!the [12]?\d{2}|\d)", re.IGNORECASE)  # a place, not a time
_NO_NAMES = PLACES | {"occupation", "position", "language"}  # what *Scottish inventors* may be linked to
_NAMED_BY_KIND = frozenset(("animal", "plant"))
_COMES_FROM = frozenset(("originates from", "citizen of", "located in", "based in"))
_WHO_HOLDS = re.compile(  # an office, today
    r"^(?:who|what) is (?:the |now )?(?:current |present |reigning )?(?:king|queen|monarch|emperor|sultan|pope"
    r"|president|prime minister|chancellor|ruler|leader|head of (?:state|government)|mayor|governor|secretary)\b"
    r"(?! (?:who|that|whose|when)\b)",
    re.IGNORECASE,
)
_YEAR_ALONE, _LIVED = re.compile(r"\d{3,4}$"), re.compile(r"(?:birth|death) year of$")


class Conditions(Direct):
    """Answers that are narrowed down by what else the question says."""

    def _beside_the_point(self, ran: MethodRun) -> str:
        """Why what was found answers another question than the one asked; empty where it may be this one."""
        best, *partners = ran.met
        said = " → ".join(spoken(relation) for relation in best.relations)
        word = self._narrowing_topic(best)
        if word:
            return f"The closest that the graph holds is “{said}” of {best.entities[0]}, which leaves out “{word}”."
        siblings = len(best.relations) == 2 and self.sets.inverse(best.relations[0]) == best.relations[1]
        if siblings and _WHICH_ARE.search(self.query.text) and not _ALIKE.search(self.query.text):
            return f"The closest that the graph holds is what is {said} like {best.entities[0]}, not what is one."
        starts = {path.entities[0] for path in (best, *partners)}
        awards = [topic for topic in starts if kind_of(self.kg, topic) == "award"]
        if awards and len(starts) > len(awards) and len(self._whole_set(ran)) > 1 and _FOR.search(self.query.text):
            held = f"{listed(list(self._whole_set(ran)), 8)} are joined to {listed(sorted(starts))}"
            return f"{held}, but the graph does not say who of them won for it."
        return ""

    def _one_of_many(self, ran: MethodRun, events: Iterator[Event]) -> Iterator[Event]:
        """The events, where they do not end in many answers to a question for the one that another word tells."""
        for event in events:
            word = self._not_one_of_many(ran) if event is ran.final and applies(self.resources) else ""
            if word:
                said = " → ".join(spoken(relation) for relation in ran.cited[0].relations)
                held = f"The graph holds {len(self._whole_set(ran))} by “{said}”"
                yield no_answer(f"{held}, but not what “{word}” says of them.")
            else:
                yield event

    def _not_one_of_many(self, ran: MethodRun) -> str:
        """A word of a question for one thing that says which of the many that were found; empty where it says none."""
        answers = ran.final.answers if ran.final is not None else ()
        if len(answers) <= _MANY_FOR_ONE or not _ASKS_FOR_ONE.match(self.plan.asked):
            return ""
        path = ran.cited[0]
        told = {*path_words(path.relations), *(kind_of(self.kg, entity) for entity in path.entities)}
        told |= {word for entity in (*path.entities, *self.query.topics) for word in fold(entity).split()}
        told |= {*names_of_kind(self.plan.noun), *SAYS_LITTLE, *self.plan.noun.lower().split()}
        stems = {word[:_STEM] for word in told}
        words = [word for word in self.query.content_words if word[:_STEM] not in stems and word in common_words()]
        if not words:
            return ""
        vectors = embedding_cache(self.resources.embedder)
        said = dict.fromkeys((*path_words(path.relations), *filter(None, (kind_of(self.kg, e) for e in path.entities))))
        nearest = (vectors.vectors(words) @ vectors.vectors(list(said)).T).max(axis=1)
        return words[int(nearest.argmin())] if nearest.min() < _SAYS_IT else ""

    def _narrowing_topic(self, path: Path) -> str:
        """A word right before the name of a kind of thing that says which of it, or what is done to it.

        *Big* cats are not just cats, and what *lays* eggs does not eat them.
        """
        name = path.entities[0]
        if not name.islower():
            return ""
        before: list[str] = re.findall(
            rf"\b([a-z]+) {re.escape(name.removesuffix('s'))}(?:s|es)?\b", self.query.text.lower()
        )
        words = [word for word in before if word in self.query.content_words]
        if words and _WORD_FOR.search(self.query.text):
            return "" if words[0] in path_words(path.relations) else words[0]
        return self._uncovered(path, words, of_kind=False) if words else ""

    def _unmet(self, ran: MethodRun, ends: Mapping[str, Path]) -> str:
        """A word of the question that should have narrowed the answers down and did not; empty where there is none."""
        if len(ends) < 2:
            return ""
        if _CLAUSE.search(self.query.text):
            uncovered = self._uncovered(next(iter(ends.values())))
            if uncovered:
                return uncovered
        if narrowing := self._kind_unmet(ends) or self._narrowing_unmet(ends):
            return narrowing
        had = _HAS.search(self.query.text)
        words = [word for word in self.query.content_words if had and word in fold(had["had"]).split()]
        if words and (uncovered := self._uncovered(next(iter(ends.values())), words, of_kind=False)):
            return uncovered
        text, met = self.query.text, self._met(ran)
        for pattern in (ORDER_WORD, _NEGATION, _YEAR):
            found = next((word for word in pattern.findall(text) if word.lower() not in met), "")
            if found:
                return found
        names = [word for word in names_in(text) if self._vocabulary and word.lower() not in common_words()]
        return next((word for word in names if not any(_alike_spelt(fold(word), one) for one in met)), "")

    def _met(self, ran: MethodRun) -> set[str]:
        """The words of what the question names and of the paths that the answer cites."""
        labels = [part for path in ran.cited for part in (*path.entities, *path.relations)]
        return self.kg.words_of(*self.query.topics) | {word for label in labels for word in fold(label).split()}

    def _kind_unmet(self, ends: Mapping[str, Path]) -> str:
        """A kind that the noun is narrowed by and that no answer is of: of *island countries* the island."""
        *narrowing, _ = self.plan.noun.lower().split() or [""]
        whole = [kind for kind in names_of_kind(self.plan.noun) if " " in kind]
        unmet = next((word for word in narrowing if word in self.kg.types), "")
        return "" if any(is_of_kind(self.kg, end, whole) for end in ends) else unmet

    def _narrowing_unmet(self, ends: Mapping[str, Path]) -> str:
        """A word before the noun that nothing about the answers says: of *national teams* that they are national."""
        *before, _ = self.plan.noun.lower().split() or [""]
        if not FUNCTION_WORDS.isdisjoint(before):  # *operas of* somebody
            return ""
        before = [word for word in before if word not in HARMLESS | SAYS_LITTLE and not self._is_kind(word)]
        whole = [kind for kind in names_of_kind(self.plan.noun) if " " in kind]
        if not before or any(is_of_kind(self.kg, end, whole) for end in ends):
            return ""
        kinds = [word for word in before if kind_of(self.kg, word) in _NAMED_BY_KIND]
        if kinds and not any(kinds[0] in fold(end).split() for end in ends):
            return kinds[0]  # of *dog* breeds
        path = next(iter(ends.values()))
        parts = (*path.entities, *path.relations)
        said = self.kg.words_of(*self.query.topics) | {word for part in parts for word in fold(part).split()}
        strange = [word for word in before if word not in self._vocabulary]
        unlike = next((word for word in strange if not any(_of_one_stem(fold(word), one) for one in said)), "")
        words = [word for word in before if word in self._vocabulary]
        return unlike or (self._uncovered(path, words, of_kind=False) if words else "")

    def _is_kind(self, word: str) -> bool:
        """Whether a word names a kind of thing by itself: *movies* made from somebody's books."""
        return not self.kg.types.isdisjoint(names_of_kind(word))

    def nationals(self) -> dict[str, tuple[Path, Path]]:
        """The people of an occupation and a place, *Scottish inventors*; none where the question says anything else.

        Returns:
            each with the path from the occupation and the one from the place: citizens, and who was born there.
        """
        noun = re.split(r" (?:from|in|of) ", self.plan.noun)[0]
        *before, last = fold(noun).split() or [""]
        office = self.office_named(noun) if before else ""
        people = self.sets.ends(office, ("held by",)) if office else self.sets.practitioners(last)
        named = {self.kg.entities[name.entity] for word in before for name in _names(self.kg, word)}
        meant = dict.fromkeys([*(self._people_of(topic) for topic in self.query.topics), *self._places_meant(())])
        places = [one for one in meant if kind_of(self.kg, one) in PLACES and not (office and one in named)]
        if not people or len(places) != 1 or any(kind_of(self.kg, one) not in _NO_NAMES for one in meant):
            return {}
        adjectives = before if office else [word for word in before if places[0] in named]
        said = set(self.query.content_words) - {last, *names_of_kind(last), *adjectives, *fold(places[0]).split()}
        said = {word for word in said if not (self.plan.bound and (word[0].isdigit() or word in _SAYS_WHEN))}
        said -= _IN_OFFICE if office and self.plan.bound else set()
        if said - _SAYS_NATIONAL - SAYS_LITTLE - HARMLESS or (before and not adjectives):
            return {}
        born = self.sets.beyond(places[0], self.sets.inverse("born in"))
        only_born = _BORN_THERE.search(self.plan.asked) and (office or not adjectives)
        citizens = {} if only_born else self.sets.ends(places[0], (self.sets.inverse("citizen of"),))
        belong = {**born, **citizens}
        return {one: (path, belong[one]) for one, path in people.items() if one in belong}

    def list_of_both(self, people: Mapping[str, tuple[Path, Path]]) -> Iterator[Event]:
        """People of an occupation and a place, within the years that are asked for; how many, where that is asked."""
        operands = [Operand(end, paths) for end, paths in people.items()]
        topics = {path.entities[0] for paths in people.values() for path in paths}
        operation = yield from self._operate("both", f"joined to {listed(sorted(topics))}", operands, tuple(people))
        result = tuple(people)
        if operation is not None and self.plan.bound:
            took_office = bool(_IN_OFFICE & set(self.query.content_words))
            dates, which = (IN_ORDER[:2], "the day they took office") if took_office else (("born",), "their birth")
            dated = self._dated({end: paths[0] for end, paths in people.items()}, dates)
            result = within_bound(dated, self.plan.bound)
            text = f"{len(dated)} with {which}; {said_bound(self.plan.bound)}: {len(result)}"
            operation = yield from self._operate("filter", text, dated, result, self.plan.bound)
        if operation is None:
            return
        if not result:
            held = f"The graph holds {len(people)} ({listed(list(people), 8)})"
            yield no_answer(f"{held}, none of them born {said_bound(self.plan.bound)}.")
        elif self.plan.form is Form.COUNT:
            number = str(len(result))
            said = f"The graph holds {number}, which need not be all: {listed(result)}."
            yield computed_answer(said, (number,))
        else:
            known = sorted(result, key=lambda one: -len(self.kg.neighbours(one)))
            shown = list(result) if self.plan.bound else known  # by their years, or the best known first
            yield computed_answer(f"{listed(shown)} (of those that the graph holds).", tuple(shown))

    def _second_condition(self, ran: MethodRun, final: AnswerFinal) -> Iterator[Event]:
        """Keep the answers that are joined to everything else that the question names, as far as the graph knows."""
        ends = self._whole_set(ran)
        negation = next((word.lower() for word in _NEGATION.findall(self.query.text)), "")
        name, kept = self._but_those_named(ends) if negation in _BUT else ("", {})
        if kept:
            yield from self._without_those(ran, name, kept)
            return
        if negation not in ("", "landlocked", *self._met(ran)) and applies(self.resources):
            held = f"The graph holds {len(ends)} that fit the rest of the question ({listed(list(ends), 8)})"
            yield no_answer(f"{held}, but nothing by which I could tell which of them “{negation}” means.")
            return
        if EITHER.search(self.query.text):  # solid, liquid or gas: not all of them are to hold
            yield final
            return
        of_sex = self.of_sex(ends)
        if of_sex and (strange := self._said_of_none(ran.cited[0])) and applies(self.resources):
            held = f"The graph holds {len(ends)} ({listed(list(ends), 8)})"
            yield no_answer(f"{held}, but nothing by which I could tell which of them “{strange}” means.")
            return
        if of_sex:
            ends = {end: paths[0] for end, paths in of_sex.items()}
        if len(ends) > 1 and _WHO_HOLDS.match(self.plan.asked):
            holder = self._holder_now(ran, ends)
            if holder is not None:
                yield from holder
                return
        if of_sex is not None and not self._more_is_named(ran):
            yield from self._narrowed(ran, ends, of_sex)
            return
        if members := self._of_group_named(ends):
            yield from self._joined(ran, members, len(ends), [self.plan.noun])
            return
        if capitals := self._capitals_on(ran, ends):
            yield from self._joined(ran, capitals, len(ends), [ran.cited[0].entities[0]])
            return
        used = {entity for path in ran.cited for entity in path.entities[:-1]}
        starts = {path.entities[0] for path in ran.met}
        if len(starts) > 1:  # paths that meet, but one of them only by way of where another begins, say nothing of it
            used -= {path.entities[0] for path in ran.met if starts & set(path.entities[1:-1])}
        named = [
            self._people_of(topic) for topic in self.query.topics if topic not in used and topic in self.kg.entities
        ]
        remaining: dict[str, tuple[Path, ...]] = {**of_sex} if of_sex else {e: (path,) for e, path in ends.items()}
        applied: list[str] = []
        loose: list[str] = []
        adjectives = self._places_meant(used)
        for other in [*named, *adjectives, *self._unlinked(used)]:
            joined = {
                end: (*paths, second)
                for end, paths in remaining.items()
                if end != other and (second := self._joining(end, other)) is not None
            }
            if not joined and other in named:
                other, joined = self._as_namesake(other, remaining)
            if joined:
                remaining, applied = joined, [*applied, other]
            elif other in named or self._must_hold(other, adjectives, remaining):
                loose.append(other)
        members = self._members_joined(ran) if set(loose) - set(named) or not applied else {}
        if members:
            yield from self._joined(ran, members, len(members), sorted(starts))
            return
        said = {word for other in applied for word in fold(other).split()}
        loose = [other for other in loose if not any(self._is_around(topic, other) for topic in used)]
        for other in loose:  # a game called God of War, where war has been met already
            if said.isdisjoint(fold(other).split()):
                yield self._not_joined(ran, final, other, list(remaining))
                return
        if of_sex is not None and not applied:
            yield from self._narrowed(ran, ends, of_sex)
            return
        if not applied:
            unmet = self._unmet(ran, ends)
            if unmet and not applies(self.resources):
                yield Notice(f"Nothing was found for “{unmet}” of the question, so the answer may be wider than it.")
                yield final
            elif _YEAR.fullmatch(unmet) and (dated := self._dated_things(ends)):
                yield from self._of_year(ran, dated, unmet)
            elif unmet:
                held = f"The graph holds {len(ends)} that fit the rest of the question ({listed(list(ends), 8)})"
                yield no_answer(f"{held}, but nothing by which I could tell which of them “{unmet}” means.")
            elif len(starts) > 1 and len(final.answers) > 1 and _ONE_ASKED.match(self.plan.asked):
                meeting = [self.sets.ends(path.entities[0], path.relations) for path in ran.met]
                yield from self._joined(
                    ran, {end: tuple(one[end] for one in meeting if end in one) for end in ends}, len(ends), starts
                )
            elif len(wider := self._met_within(ran)) > len(final.answers):
                yield from self._joined(ran, wider, len(ends), starts)
            else:
                yield final
            return
        yield from self._joined(ran, remaining, len(ends), applied)

    def _but_those_named(self, ends: Mapping[str, Path]) -> tuple[str, dict[str, Path]]:
        """What the question leaves out, *instruments other than violins*, and the answers without that; else none."""
        found = _BUT_WHOM.search(self.plan.asked)
        if not found:
            return "", {}
        said = f" {fold(found['name'])} "
        kept = dict(ends)
        for end in ends:
            names = (fold(name) for name in (bare(end), *self.kg.names_of(end)))
            if any(f" {form} " in said for name in names for form in (name, f"{name}s")):
                del kept[end]
        topics = [topic for topic in self.query.topics if f" {fold(bare(topic))} " in said]  # *besides Spain*
        return found["name"], kept if topics or len(kept) < len(ends) else {}

    def _without_those(self, ran: MethodRun, name: str, kept: Mapping[str, Path]) -> Iterator[Event]:
        """The answers less those that the question itself names."""
        operands = [Operand(end, (path,)) for end, path in kept.items()]
        if (yield from self._operate("step", f"{listed(list(kept))} (besides {name})", operands, tuple(kept))):
            yield computed_answer(f"{listed(list(kept))} (besides {name}).", tuple(kept), ran)

    def _more_is_named(self, ran: MethodRun) -> bool:
        """Whether a word beside the noun names something that may narrow the answers down: the brother of the *sea*."""
        used = {entity for path in ran.cited for entity in path.entities}
        words = [word for word in self.query.content_words if word not in SEX and word not in self.plan.noun.split()]
        return any(one not in used for one in self.kg.entities.known(words))

    def _capitals_on(self, ran: MethodRun, ends: Mapping[str, Path]) -> dict[str, tuple[Path, ...]]:
        """The capitals that a river flows through, of all those of countries that it flows through."""
        best = ran.cited[0]
        if not self.plan.noun.lower().startswith("capital") or len(best.relations) != 2:
            return {}
        if not {"countries", "country", "states"}.isdisjoint(self.query.content_words):
            return {}
        direct = {end: self.sets.leads(best.entities[0], best.relations[:1], end) for end in ends}
        return {end: (ends[end], path) for end, path in direct.items() if path is not None}

    def _said_of_none(self, path: Path) -> str:
        """A verb that no relation of a path is like: of wives those who were *beheaded*."""
        named = {word[:_STEM] for entity in (*path.entities, *self.query.topics) for word in fold(entity).split()}
        nouns = {word for kind in (self.plan.noun.lower(), *names_of_kind(self.plan.noun)) for word in kind.split()}
        left = [w for w in self.query.content_words if w not in nouns | SAYS_LITTLE | SEX.keys() and not w.isdigit()]
        telling = [word for word in left if word.endswith("ed") and word[:_STEM] not in named]
        return next((word for word in telling if self._is_unlike(path, word)), "")

    def _dated_things(self, ends: Mapping[str, Path]) -> list[Operand]:
        """Those of which the graph knows a year that may be meant: of people only where it is said to be of a life."""
        dated = self._dated(ends, ("discovered", DATE))
        of_life = speaks_of_a_life(self.query.text)
        return [own for own in dated if of_life or not dates_a_life(own.attribute)]

    def _of_year(self, ran: MethodRun, dated: Sequence[Operand], year: str) -> Iterator[Event]:
        """Those of the answers that are of a year which the question only says."""
        result = within_bound(dated, f"= {year}")
        text = f"{len(dated)} with a year; {year}: {len(result)}"
        operation = yield from self._operate("filter", text, dated, result, f"= {year}")
        if operation is not None and result:
            yield computed_answer(", ".join(result), result, ran)
        elif operation is not None:
            yield no_answer(f"None of the {len(dated)} that the graph holds with a year is from {year}.")

    def _met_within(self, ran: MethodRun) -> dict[str, tuple[Path, ...]]:
        """Where paths of two topics meet, one of them a place: what meets anywhere within it, *plays set in Italy*."""
        if len(ran.met) != 2:
            return {}
        places = [path for path in ran.met if kind_of(self.kg, path.entities[0]) in PLACES and len(path.relations) == 1]
        others = [path for path in ran.met if path not in places]
        if len(places) != 1 or len(others) != 1:
            return {}
        (place,), (other,) = places, others
        ends = self.sets.beyond(place.entities[0], place.relations[0])
        return {e: (p, ends[e]) for e, p in self.sets.ends(other.entities[0], other.relations).items() if e in ends}

    def _of_group_named(self, ends: Mapping[str, Path]) -> dict[str, tuple[Path, ...]]:
        """Those that belong to the group that the noun names whole, *US states*, with the path that says so."""
        noun = fold(self.plan.noun)
        group = next((topic for topic in self.query.topics if noun and fold(topic) == noun), "")
        members = self.sets.members(group) if group else {}
        return {end: (path, members[end]) for end, path in ends.items() if end in members}

    def _as_namesake(
        self, other: str, remaining: Mapping[str, tuple[Path, ...]]
    ) -> tuple[str, dict[str, tuple[Path, ...]]]:
        """What is called like something that joins no answer, and joins some: of a god of *wine* not the ingredient."""
        name = bare(other)
        for one in self._link(name):
            own = fold(bare(one))
            if one != other and fold(name) in (own, *(fold(called) for called in self.kg.names_of(one))):
                joined = {
                    e: (*p, second) for e, p in remaining.items() if e != one and (second := self._joining(e, one))
                }
                if joined:
                    return one, joined
        return other, {}

    def joined_too(self, ran: MethodRun, ends: Mapping[str, Path]) -> dict[str, tuple[Path, ...]]:
        """Those of the answers that every other topic joins that joins any: the makers that a country has."""
        remaining: dict[str, tuple[Path, ...]] = {end: (path,) for end, path in ends.items()}
        used = {entity for path in ran.cited for entity in path.entities}
        for topic in (self._people_of(topic) for topic in self.query.topics if topic not in used):
            joined = {
                e: (*p, second) for e, p in remaining.items() if e != topic and (second := self._joining(e, topic))
            }
            remaining = joined or remaining
        return remaining

    def _joined(
        self, ran: MethodRun, remaining: Mapping[str, tuple[Path, ...]], among: int, joined_to: Collection[str]
    ) -> Iterator[Event]:
        """The answers that two paths or more lead to; the best known one where one is asked for."""
        operands = [Operand(end, paths) for end, paths in remaining.items()]
        first = ran.cited[0].entities[0]
        text = f"{among} from {first}, of which {len(remaining)} joined to {listed(list(joined_to))} as well"
        operation = yield from self._operate("both", text, operands, tuple(remaining))
        if operation is not None:
            weights = {end: self._prominence(paths) for end, paths in remaining.items()}
            best = sorted(remaining, key=lambda end: -weights[end])
            if len(best) > 1 and _ONE_ASKED.match(self.plan.asked) and weights[best[0]] > _FAR * weights[best[1]]:
                others = f"of {len(best)} that fit, the one that the graph knows best; the others: {listed(best[1:])}"
                yield computed_answer(f"{best[0]} ({others}).", tuple(best[:1]), ran)
            else:
                yield computed_answer(", ".join(best), tuple(best), ran)

    def _holder_now(self, ran: MethodRun, ends: Mapping[str, Path]) -> Iterator[Event] | None:
        """Who holds an office now: the last of those who succeeded each other, or who came last; None if not known."""
        chain = self.sets.succession(ends)
        if chain:
            return self._last_of(ran, chain, ends)
        came = [o for end, path in ends.items() if (o := operand_of(self.kg, end, IN_ORDER[:2], (path,))) is not None]
        return self._in_office_now(ran, came) if came else None

    def _last_of(self, ran: MethodRun, chain: Sequence[str], ends: Mapping[str, Path]) -> Iterator[Event]:
        """The last one of a succession."""
        operands = [Operand(chain[0], (ends[chain[0]],))]
        operands += [Operand(b, (Path((a, b), ("succeeded by",)),)) for a, b in pairwise(chain)]
        operation = yield from self._operate("chain", " → ".join(chain[-12:]), operands, (chain[-1],), "-1")
        if operation is not None:
            said = f"{chain[-1]}, the last of {len(chain)} that the graph holds in order."
            yield computed_answer(said, (chain[-1],), ran)

    def _in_office_now(self, ran: MethodRun, came: Sequence[Operand]) -> Iterator[Event]:
        """The last one who came to an office."""
        came = sorted(came, key=order_of, reverse=True)
        if len(came) > 1 and order_of(came[0]) == order_of(came[1]):
            yield no_answer(f"{came[0].entity} and {came[1].entity} came to it at the same time, so it does not tell.")
            return
        text = f"the last of {len(came)} who came to it: {came[0].entity}, {shown_value(came[0])}"
        operation = yield from self._operate("nth", text, came, (came[0].entity,), "-1")
        if operation is not None:
            said = f"{came[0].entity}, since {shown_value(came[0])}, the last of {len(came)} that the graph holds."
            yield computed_answer(said, (came[0].entity,), ran)

    def _narrowed(
        self, ran: MethodRun, ends: Mapping[str, Path], of_sex: Mapping[str, tuple[Path, ...]]
    ) -> Iterator[Event]:
        """Those of the answers that the graph says are women, or men."""
        if not of_sex:
            word = next(word for word in self.query.content_words if word in SEX)
            yield no_answer(f"The graph holds {len(ends)} here ({listed(list(ends), 8)}), but no {word} among them.")
            return
        yield from self._joined(ran, of_sex, len(ends), sorted({paths[1].entities[0] for paths in of_sex.values()}))

    def _places_meant(self, used: Collection[str]) -> list[str]:
        """The places whose adjectives stand in the question and were not linked: *Italian* cheeses."""
        index, words = name_index(self.kg), self.query.content_words
        meant = dict.fromkeys(
            self.kg.entities[name.entity]
            for word in words
            if word not in self.kg.types  # an *island* is not Ísland
            for name in index.whole(word)
        )
        return [
            place
            for place in meant
            if kind_of(self.kg, place) in ("country", "continent", "region")
            and fold(place) not in words
            and place not in used
            and place not in self.query.topics
        ]

    def _people_of(self, topic: str) -> str:
        """The country in place of a language of the same name, where people are asked for, *Irish* writers.

        And the other way round where the question speaks of a language.
        """
        if kind_of(self.kg, topic) == "country" and {"language", "languages", "speaks", "spoken"} & set(
            self.query.content_words
        ):
            adjectives = [word for word in self.query.text.split() if word.lower() != fold(topic)]
            named = {self.kg.entities[name.entity] for word in adjectives for name in _names(self.kg, word)}
            return next((one for one in sorted(named) if topic in named and kind_of(self.kg, one) == "language"), topic)
        asked = self.query.answer_type.types | {kind_of(self.kg, n) for n in names_of_kind(self.plan.noun)}
        if kind_of(self.kg, topic) != "language" or "language" in asked:
            return topic
        called_so = name_index(self.kg).called(topic)
        same = (self.kg.entities[name.entity] for name in called_so)
        return next((one for one in same if kind_of(self.kg, one) == "country" and self.plan.noun), topic)

    def _must_hold(self, other: str, adjectives: Collection[str], ends: Iterable[str]) -> bool:
        """Whether what none of the answers is joined to rules them out: where they come from, or what they were."""
        if other in adjectives:
            return self._come_from_elsewhere(ends)
        return self._is_what_they_are(other)

    def _is_what_they_are(self, entity: str) -> bool:
        """Whether the noun of the question names an occupation or an office: *composers*, *US presidents*."""
        kind, kinds = kind_of(self.kg, entity), names_of_kind(self.plan.noun)
        if kind == "position":
            return any(self.kg.entities[name.entity] == entity for noun in kinds for name in _names(self.kg, noun))
        return kind == "occupation" and entity in kinds

    def _members_joined(self, ran: MethodRun) -> dict[str, tuple[Path, ...]]:
        """Those of a group or an office that the noun names and the cited relation joins to a topic: *US presidents*.

        Only where the noun is more than a kind that the graph gives its things as a type.
        """
        kinds = [kind for kind in names_of_kind(self.plan.noun) if kind not in self.kg.types]
        offices = (self.kg.entities[name.entity] for noun in kinds for name in _names(self.kg, noun))
        held = [self.sets.ends(one, ("held by",)) for one in offices if kind_of(self.kg, one) == "position"]
        members = {**self.sets.members(self.plan.noun)} if self.plan.noun else {}
        every = next((ends for ends in (*held, members) if ends), {})
        topic, relation = ran.cited[0].entities[0], ran.cited[0].relations[-1]
        return {
            end: (path, second)
            for end, path in every.items()
            if topic != path.entities[0] and (second := self._by_relation(end, relation, topic)) is not None
        }

    def _by_relation(self, end: str, relation: str, topic: str) -> Path | None:
        """The path that ends in a relation: from the topic, or by way of a place within it where somebody was born."""
        for place, back in self.sets.ends(end, (self.sets.inverse(relation),)).items():
            chain = Path((topic,), ()) if place == topic else self.sets.containing(place, topic)
            if chain is not None and end not in chain.entities:
                return Path((*chain.entities, back.entities[0]), (*chain.relations, relation))
        return None

    def _come_from_elsewhere(self, ends: Iterable[str]) -> bool:
        """Whether the graph says of any of these where it comes from."""
        return any(label in _COMES_FROM for end in ends for label, _ in self.kg.neighbours(end, directed=True))

    def _is_around(self, topic: str, other: str) -> bool:
        """Whether a name only says more of a topic: what place it lies in, or what it is, as of *feta cheese*."""
        around = self.kg.neighbours(topic, directed=True)
        if any(label in _SAYS_WHAT and end == other for label, end in around):
            return True
        if kind_of(self.kg, other) == "feat":  # a record that the topic itself holds
            return bool(self.sets.leads(other, ("achieved by",), topic))
        words = fold(other).split()
        if not words:  # a name of signs alone
            return False
        last = words[-1]
        if re.search(rf"\b{re.escape(last)}['’]s?\b", self.query.text, re.IGNORECASE) and self.sets.joined(
            topic, other
        ):
            return True  # *Orwell's* Nineteen Eighty-Four
        by = re.search(r"\b(?:by|of|from) (?:the )?(?P<other>.+)", fold(self.query.text))
        named = by and by["other"].startswith(words[0]) and self.sets.joined(topic, other)  # X *by* Y
        return bool(named) or bool(self.sets.containing(topic, other))

    def _joining(self, end: str, other: str) -> Path | None:
        """What joins an answer to something else; what is called by a place's adjective has to lie in it."""
        if other in {_place_of(word) for word in self.query.content_words} - set(self.query.content_words):
            return self.sets.containing(end, other)
        path = self.sets.joined(end, other)
        lived = _LIVED.match(path.relations[-1]) if path is not None and _YEAR_ALONE.match(other) else None
        if lived and not speaks_of_a_life(self.plan.asked):
            return None  # who died in 1945 need not have been in office then
        is_noun = fold(bare(other)) in names_of_kind(self.plan.noun) if self.plan.noun else False
        if path is None or not is_noun or self.sets.inverse(path.relations[-1]) in SAYS_WHAT_IT_IS:
            return path
        return None  # what is made with a spice is no *spice*, what a bird eats no *bird*

    def _prominence(self, paths: Sequence[Path]) -> float:
        """How well an answer is known for what joins it: its edges over the root of how many things join it so.

        Of Poseidon more is known than of Triton, and Ares is a god of little else but war.
        """
        last = paths[-1]
        alike = len(self.sets.ends(last.end, (self.sets.inverse(last.relations[-1]),)))
        return len(self.kg.neighbours(last.end)) / math.sqrt(max(alike, 1))

    def _unlinked(self, used: set[str]) -> list[str]:
        """Entities that are called by common words of the question, so that linking did not take them: *war*, *sea*.

        The noun that says what is asked for is one of them: of *composers* the occupation.
        """
        kinds = names_of_kind(self.plan.noun)
        names: dict[str, None] = {}
        for word in (*(word for word in self.query.content_words if len(word) > 1), *kinds):
            of_kind = [f"{one} {kind}" for one in (word, *names_of_kind(word)) for kind in (*kinds, "person")]
            names.update(
                dict.fromkeys(
                    (
                        word,
                        *self._strange_name(word),
                        f"the {word}",
                        _place_of(word),
                        *of_kind,
                        *(self._sex_asked() if word in SEX else ()),
                    )
                )
            )
        found = [n for n in self.kg.entities.known(names) if n not in used and n not in self.query.topics]
        offices = (name for kind in kinds for name in name_index(self.kg).called(kind))
        called_so = dict.fromkeys(self.kg.entities[name.entity] for name in offices)
        found += [one for one in called_so if kind_of(self.kg, one) == "position" and one not in used]
        return list(dict.fromkeys(found))

    def _strange_name(self, word: str) -> tuple[str, ...]:
        """A name that was typed without its capital letter, and that linking did not take: *leto*."""
        return (word.capitalize(),) if self._vocabulary and word not in self._vocabulary else ()

    def _not_joined(self, ran: MethodRun, final: AnswerFinal, other: str, ends: Sequence[str]) -> AnswerFinal:
        if other in final.answers:  # it only names one of the answers again
            return no_answer(f"The graph does not say how {other} belongs to this question.")
        first = ran.cited[0]
        return no_answer(
            f"The graph holds {len(ends)} that fit one part of the question ({first.entities[0]} "
            f"{' '.join(first.relations)}: {listed(ends, 8)}), but it links none of them to {other}."
        )


def _names(kg: KnowledgeGraph, text: str) -> list[Name]:
    return name_index(kg).called(text)


def _place_of(word: str) -> str:
    """The place that an adjective may be made of, *scandinavian*; otherwise the word itself."""
    return word[:-1].capitalize() if word.endswith("ian") else word


def _of_one_stem(word: str, other: str) -> bool:
    """Whether a word may be an adjective of a name, or the other way round: *german*, *germany*."""
    return word[:_STEM] == other[:_STEM] or _alike_spelt(word, other)


def _alike_spelt(word: str, other: str) -> bool:
    """Whether a name is another one, or that one mistyped or in the plural; an *island* is not Iceland."""
    if {word, other} & common_words():
        return word == other
    return OSA.distance(word, other, score_cutoff=2) <= (2 if len(word) > _SHORT_NAME else 1)
