"""What a description fits: the members of a set of which the graph states everything that a question says of them.

*Which programming language was designed by a Dutch programmer and appeared in 1991*: of all programming languages those
whose statements account for every word. A name is accounted for by a statement that joins the member, or what the
member is joined to, with what is named; a year by a date; another word by the relation of such a statement, or by
another statement that says it. A word that nothing accounts for rules a member out: what is left is what is meant.

Of a graph that grows nobody can list a set. There the members are looked for around what is named, where at least two
things are, and where no more lies around these and the members than may be read for a question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kgdemo.answering.computation import SAYS_LITTLE, SEX
from kgdemo.answering.description import Description, says_nothing
from kgdemo.answering.operands import (
    HARMLESS,
    LIES_IN,
    PASSES_ON,
    PLACES,
    Sets,
    ability,
    called,
    is_of_kind,
    kinds_told,
    names_of_kind,
)
from kgdemo.answering.telling import CLOSER, IN_YEAR, SAYS_WHAT, Fit, Statement, Telling, joined
from kgdemo.kg.labels import fold
from kgdemo.kg.path import Path
from kgdemo.linking.names import name_index
from kgdemo.models.embedding import Embedder
from kgdemo.query.answer_type import kind_of
from kgdemo.query.measures import NUMBERS, number_of_word

_ASKS = re.compile(
    r"^(?:(?:which|what|name|list)(?: (?:of|are|is|were|was|the|these|a|an|some|two|three|four)\b)*"
    r"|who (?:is|was) (?:the|an?)) ",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(
    rf"^(?:which|what|who|name|list)(?: (?:are|were))?(?: the)? ({'|'.join(NUMBERS)})\b", re.IGNORECASE
)
_WHO = re.compile(r"^who ", re.IGNORECASE)
_ASKS_ELSE = re.compile(
    r"^(?:who|when|where|why|how|whose|whom|is|are|was|were|do|does|did|can|could|if|in|on|at|to|from|for|by)\b", re.I
)
_NOT_READ = re.compile(  # what puts a thing in an order, or is another question
    r"\b(?:nor|least|most|fewest|fewer|more|less|than|or|only|how|why|when|where|over|under|above|below|during|time|"
    r"(?-i:(?:second|third|fourth|fifth|sixth|seventh|last|latest)(?= \w))|first (?!appear|publish|releas|air)|"
    r"(?:larg|small|bigg|tall|high|long|short|old|young|new|earli|lat|deep|fast|clos|near|heavi|rich)est)\b",
    re.IGNORECASE,
)
_ANOTHER = re.compile(r"\bthe (?:\w+ )?\w+ (?:that|which|who|whose|where)\b", re.I)  # *the side that* won
_CAN = re.compile(
    r"\b(?:can(?P<not>['’]?t|not| not)?|are able to) (?!be\b|you\b|we\b|i\b|not\b)(?P<verb>[a-z]+)", re.IGNORECASE
)
_ARTICLES = re.compile(r"^(?:(?:an?|the|some|few|several|any|all|of|good) )+", re.IGNORECASE)
_SET_WORDS = 4
_MOST_READ = 20_000  # edges around what is named, and around what may fit it, of a graph that grows
_MOST_MET = 256  # things that may fit it there, whose surroundings are read together
_MOST_MEMBERS, _MOST_FITTING = 2500, 60
_MEMBERS = ("band member", "has member state", "has member")
ANYBODY = frozenset(  # nouns that say little more than that somebody, or something, is meant
    "musician performer athlete sportsman player "
    "person man woman people men women artist scientist writer author figure leader ruler king queen monarch emperor "
    "one object thing body item".split()
)
_ANYTHING = frozenset("one object thing body item".split())
_AREAS = frozenset(("country", "continent", "state", "region", "province", "island"))
_LITTLE = SAYS_LITTLE | HARMLESS
_NEARER, _SEVERAL = 0.5, 2  # below this cosine several conditions have to act
Between = Mapping[str, Sequence[tuple[str, str]]]  # what something that is named leads to -> by which step, from what


@dataclass(frozen=True, slots=True)
class Found:
    """The members of a set that fit a description; none where nothing does.

    Attributes:
        noun: what the set is called.
        members: those that fit.
        ruled_out: those that a negated phrase leaves out, each with a path to it as a member and one that says why.
        unsaid: the part of the description of which the graph says nothing.
        conditions: how many names, years and numbers act on the answer.
    """

    noun: str = ""
    members: Mapping[str, Fit] = field(default_factory=dict)
    ruled_out: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    unsaid: str = ""
    conditions: int = 0


class Described:
    """Finds what a description fits.

    Args:
        sets: of the graph.
        embedder: of words.
        office: the office that a noun names; empty where none.
        meant: what the question is known to be about.
    """

    def __init__(
        self, sets: Sets, embedder: Embedder, office: Callable[[str], str], meant: Collection[str] = ()
    ) -> None:
        self.sets, self.kg, self._office, self._meant = sets, sets.kg, office, meant
        self._telling = Telling(sets, embedder, self._read)
        self._unread: Collection[str] = ()  # members of a graph that grows
        self._too_far = False  # more lies around these than may be read
        # where a graph has no such relations, nobody has to look for them around every member
        self._nests = any(self.kg.steps_called(label) for label in LIES_IN)

    def fitting(self, asked: str, least: int = 0) -> Found:
        """The members of the set that a question speaks of which fit all that it says.

        Args:
            asked: the question, question word in front.
            least: how many names, years and numbers have to act on them.
        """
        raw, who = _words_of(asked)
        if who and _ANOTHER.search(asked):
            return Found()
        expected = _HOW_MANY.match(asked)
        fewest = number_of_word(expected[1]) if expected else 1
        named = len(raw)  # the end of the first noun that names a set: what stands behind it is said of its members
        for noun, places, members in self._sets(raw, who):
            if places.start >= named:
                continue
            named = min(named, places.stop) if noun.lower() not in ANYBODY and noun.endswith("s") else named
            description = Description(self.kg, raw, places, _LITTLE, self._meant)
            if len(description.phrases) + len(description.must_act) + len(description.named) < least:
                continue
            if self.kg.grows and not self._may_be_read(description):
                continue
            anybody = self._anybody if noun.lower() in ANYBODY else self._around
            found = self._members(members or anybody(noun, description), description)
            if self._too_far:
                return Found()
            if found.members:
                fits = fewest <= len(found.members) <= _MOST_FITTING and found.conditions >= least
                return replace(found, noun=noun) if fits else Found()
            behind = raw[places.stop : places.stop + 1] or [""]
            narrows = behind[0] == "of" or behind[0].endswith("s")  # *the teacher of* somebody, *detective novels*
            if not narrows and any(kind_of(self.kg, kind) == "occupation" for kind in names_of_kind(noun)):
                found = self._members(self._anybody("person", description), description)
                if len(found.members) == 1 and not found.unsaid and found.conditions >= max(least, 1):
                    return replace(found, noun=noun, unsaid=noun)
        return Found()

    def acting(self, asked: str, answers: Mapping[str, Path]) -> tuple[Found, str]:
        """Those of several answers for which every phrase is accounted for that is for some of them.

        Args:
            asked: the question, question word in front.
            answers: with the paths that lead to them.

        Returns:
            those answers, none where all of them are as good; and the words of a further phrase with a name, a year or
            a number that nothing says of any answer.
        """
        raw, _ = _words_of(asked)
        able = self._able(asked, answers)
        if able is not None:
            return able
        begins = next((i for i, word in enumerate(raw) if i and (word[0].isupper() or word.endswith("ed"))), len(raw))
        description = Description(self.kg, raw, range(min(begins, _first_said(raw))), _LITTLE, self._meant)
        phrases = description.phrases
        if len(phrases) < 2 or any(phrase.negated for phrase in phrases):
            return Found(), ""
        near = self._beside(answers, description)
        self._unread = answers.keys() if self.kg.grows else ()
        told = {one: self._telling.told(one, near.get(one, []), description) for one in answers}
        if self._too_far:
            return Found(), ""
        kept = dict(told)
        passed = {entity for path in answers.values() for entity in path.entities}
        reached = {place for own in near.values() for statement in own for place in statement.places}
        reached |= {place for end, places in description.named.items() if end in passed for place in places}
        walked_from = _walked_from(answers, description)
        for i, phrase in enumerate(phrases):
            if not phrase.places.isdisjoint(walked_from):
                continue
            fitting = {one for one, parts in told.items() if parts[i] is not None}
            if fitting:
                kept = {one: parts for one, parts in kept.items() if one in fitting}
            elif i and not phrase.places.isdisjoint(description.must_act) and phrase.places.isdisjoint(reached):
                return Found(), " ".join(description.words[place] for place in sorted(phrase.places))
        if len(kept) in (0, len(answers)):
            return Found(), ""
        fits = {one: joined([part for part in parts if part], answers[one]) for one, parts in kept.items()}
        return Found("of them", fits), ""

    def _able(self, asked: str, answers: Mapping[str, Path]) -> tuple[Found, str] | None:
        """Those of some animals that can, or cannot, do what is asked; what nothing says of any; None if not asked."""
        found = _CAN.search(asked)
        if not found or any(kind_of(self.kg, one) != "animal" for one in answers):
            return None
        fits: dict[str, Fit] = {}
        for one, path in answers.items():
            if told := ability(self.kg, one, fold(found["verb"]), able=not found["not"]):
                fits[one] = Fit([path, Path((told.end, one), (self.sets.inverse(told.relations[0]),))])
        return (Found("of them", fits), "") if fits else (Found(), found[0])

    def _sets(self, raw: Sequence[str], who: bool) -> Iterator[tuple[str, range, Mapping[str, Path | None]]]:
        """Sets that words at the beginning name, those with the longest names first.

        An empty one is of anybody, or of what a graph that grows has not met.
        """
        begins = min(_first_said(raw), _SET_WORDS)
        for length in range(begins, 0, -1):
            for first in range(begins - length + 1):
                noun = " ".join(raw[first : first + length])
                members = {} if noun.lower() in ANYBODY else self._set(noun)
                met = self.kg.grows and bool(self._kinds(noun))
                if 1 < len(members) <= _MOST_MEMBERS or met or noun.lower() in ANYBODY:
                    yield noun, range(first, first + length), members
        if who:
            yield "person", range(0), {}

    def _set(self, noun: str) -> Mapping[str, Path | None]:
        if office := self._office(noun):
            return {**self.sets.ends(office, ("held by",))}
        if members := self.sets.members(noun):
            return {**members}
        groups = [self.kg.entities[name.entity] for name in name_index(self.kg).called(noun)]
        ways = (self.sets.ends(group, (way,)) for way in _MEMBERS for group in groups)
        whole = [kind for kind in names_of_kind(noun) if " " in kind or " " not in noun]
        return {**next((own for own in ways if own), {})} or dict.fromkeys(self._every(whole))

    def _every(self, kinds: Sequence[str]) -> list[str]:
        """The things of the first kind that there is; of one that brackets tell, *(novel)*, wider ones too."""
        found: list[str] = []
        for kind in kinds:
            found += called(self.kg, kind)
            if found and kind in self.kg.types:
                break
        return found

    def _kinds(self, noun: str) -> list[str]:
        """The names of the kind that a noun names, up to one that is a type; but for persons, who may be anything."""
        kinds = [kind for kind in names_of_kind(noun) if " " in kind or " " not in noun]
        first = next((place for place, kind in enumerate(kinds) if kind in self.kg.types), -1)
        return kinds[: first + 1] if kinds[first : first + 1] != ["person"] else []

    def _may_be_read(self, description: Description) -> bool:
        """Whether a question names several things of a graph that grows, and not too much lies around them."""
        spans = set(description.named.values())
        if sum(not any(own < other for other in spans) for own in spans) < _SEVERAL:
            return False
        return sum(self.kg.degrees(self._ids(description.named))) <= _MOST_READ

    def _read(self) -> bool:
        """Have what lies around the members of a graph that grows, all at once; whether no more lies there than may."""
        if self._unread:
            ids = self._ids(self._unread)
            self._unread = ()
            self._too_far = len(ids) > _MOST_MET or sum(self.kg.degrees(ids)) > _MOST_READ
            if not self._too_far:
                self.kg.edges_from(np.array(ids, np.int32))
        return not self._too_far

    def _ids(self, labels: Iterable[str]) -> list[int]:
        return [entity for label in labels if (entity := self.kg.entities.find(label)) is not None]

    def _around(self, noun: str, description: Description) -> Mapping[str, Path | None]:
        """Of a graph that grows what lies around the things that are named and is of the kind of a noun."""
        _, _, ends = self.kg.edges_from(np.array(self._ids(description.named), np.int32))
        kinds = self._kinds(noun)
        around = self.kg.entities.at(np.unique(ends))
        return dict.fromkeys(one for one in around if not kinds_told(self.kg, one).isdisjoint(kinds))

    def _anybody(self, noun: str, description: Description) -> Mapping[str, Path | None]:
        """What is joined to the thing with the longest name; only people, where people are meant."""
        longest = max(map(len, description.named.values()), default=0)
        around = [
            [step for one in self._with_editions(end) for step in self.kg.neighbours(one)]
            for end, places in description.named.items()
            if len(places) == longest and kind_of(self.kg, end) != "feat"
        ]
        members = dict.fromkeys(end for _, end in min(around, key=len, default=[]))
        if noun.lower() in _ANYTHING:
            return members
        people = {member for member in members if self._is_somebody(member)}
        if sexes := SEX.get(noun.lower(), ()):
            people = {one for one in people if any(end in sexes for _, end in self.kg.neighbours(one, directed=True))}
        return {member: path for member, path in members.items() if member in people}

    def _is_somebody(self, one: str) -> bool:
        kinds = ("person", "deity")
        if self.kg.grows:  # where nothing is read that says it otherwise
            return not kinds_told(self.kg, one).isdisjoint(kinds)
        return kind_of(self.kg, one) != "kind" and is_of_kind(self.kg, one, kinds)  # *executed person* is nobody

    def _members(self, members: Mapping[str, Path | None], description: Description) -> Found:
        """Those for which every phrase is accounted for, and as well as for the best of them."""
        self._unread = members.keys() if self.kg.grows else ()
        if self._nests and not self._read():
            return Found()
        near = self._beside(members, description)
        for further in (False, True):
            between = self._between(description) if further else None
            reached = {m: near.get(m, []) + self._within(m, description, further) for m in members}
            reached = {m: own + self._beyond(m, near, between, description) for m, own in reached.items()}
            named = [m for m, own in reached.items() if description.names <= {p for s in own for p in s.places}]
            told = {m: self._telling.told(m, reached[m], description) for m in named if m not in description.named}
            others = [m for m in members if m not in told] if any(c.negated for c in description.phrases) else []
            # what a negation may be known of
            apart = {m: self._telling.told(m, reached[m], description) for m in others}
            kept, ruled_out = _negated(told, apart, members, description)
            whole: Told = {m: parts for m, parts in kept.items() if None not in parts}
            unsaid = frozenset[int]()
            if not whole and kept:  # of one phrase the graph says nothing, and the others leave a single member
                whole, unsaid = _but_for_one(kept, description)
            fits = {m: joined([p for p in parts if p], members[m]) for m, parts in whole.items()}
            fits = {m: fit for m, fit in fits.items() if len(fit.paths) + len(fit.values) > (members[m] is not None)}
            if fits and None not in ruled_out.values():
                best = max(fit.likeness for fit in fits.values())
                unrecorded = [fit.likeness for fit in fits.values() if not fit.by_record]
                if len(unrecorded) < len(fits) and max(unrecorded, default=0.0) >= _NEARER:
                    return Found()
                said = {m: fit for m, fit in fits.items() if fit.likeness > best - CLOSER}
                if len(said) > 1 and any(fit.by_record for fit in said.values()):
                    return Found()
                words = " ".join(description.words[p] for p in sorted(unsaid))
                left_out = {m: paths for m, paths in ruled_out.items() if paths}
                own = min(len(fit.paths) + len(fit.values) - (members[m] is not None) for m, fit in said.items())
                conditions = own + len(left_out)
                if best < _NEARER and conditions < _SEVERAL:  # one relation that is only near says too little
                    continue
                return Found("", said, left_out, words, conditions)
        return Found()

    def _beside(self, members: Mapping[str, Path | None], description: Description) -> dict[str, list[Statement]]:
        """The statements that join members, or the group that they are of, to what the question names."""
        found: dict[str, list[Statement]] = {}
        groups = {path.entities[0] for path in members.values() if path is not None and len(path.relations) == 1}
        for end, places in description.named.items():
            for one in self._with_editions(end):
                for label, member in self.kg.neighbours(one):
                    if member in members:
                        statement = Statement(Path((one, member), (label,)), places, self._telling.both_ways(label))
                        found.setdefault(member, []).append(statement)
            for label, member in self.kg.neighbours(end):
                if member in groups:
                    for one, path in members.items():
                        if path is not None and one != end:
                            way = Path((end, *path.entities), (label, *path.relations))
                            found.setdefault(one, []).append(Statement(way, places, self._telling.both_ways(label)))
        return found

    def _within(self, member: str, description: Description, further: bool) -> list[Statement]:
        """Those that join a member to what lies in a place that is named: a play set in Verona is set in Italy.

        Args:
            member, description: see ``Telling.told``.
            further: any place may hold another one, whatever leads to it; else only what is an area, by relations that
                hold of what a place lies in as well.
        """
        kinds = PLACES if further else _AREAS
        places = [end for end in description.named if kind_of(self.kg, end) in kinds] if self._nests else []
        found = []
        for label, middle in self.kg.neighbours(member, directed=True) if places else ():
            if label not in PASSES_ON and not further:
                continue
            for end in places if kind_of(self.kg, middle) in PLACES else ():
                if self.sets.spreads(middle, kind_of(self.kg, end)):
                    continue
                if (chain := self.sets.containing(middle, end)) is not None and member not in chain.entities:
                    path = Path((*chain.entities, member), (*chain.relations, self.sets.inverse(label)))
                    found.append(Statement(path, description.named[end], self._telling.both_ways(label)))
        return found

    def _between(self, description: Description) -> Between:
        """What the graph states of a kind or a place that is named: who is *Dutch*, and what lies in Italy."""
        between: dict[str, list[tuple[str, str]]] = {}
        stated = {self.sets.inverse(statement): statement for statement in SAYS_WHAT}
        for end in description.named:
            for label, middle in self.kg.neighbours(end):
                if label in stated:
                    between.setdefault(middle, []).append((label, end))
        return between

    def _with_editions(self, end: str) -> list[str]:
        """What is named, and where that is held or given year by year all its editions, if they can be looked for."""
        editions = [] if self.kg.grows else self.sets.editions(end)
        return [end] if end in editions else [end, *editions]

    def _beyond(
        self, member: str, near: Mapping[str, Sequence[Statement]], between: Between | None, description: Description
    ) -> list[Statement]:
        """Those that say it of what a member is joined to: created by somebody who is *Dutch*, or found in a year.

        Args:
            member, description: see ``Telling.told``.
            near: statements that join members to what is named.
            between: see ``_between``; None: only what is near counts.
        """
        if between is None:
            return []
        named = description.named
        found = []
        for label, middle in self.kg.neighbours(member, directed=True) if between else ():
            for from_end, end in between.get(middle, ()):
                if end != member:
                    path = Path((end, middle, member), (from_end, self.sets.inverse(label)))
                    says = (*self._telling.both_ways(label), *filter(None, (kind_of(self.kg, middle),)))
                    found.append(Statement(path, named[end], says))
        for statement in near.get(member, ()) if self._telling.has_years else ():
            middle = statement.path.entities[0]
            for second, end in self.kg.neighbours(middle, directed=True) if len(statement.path.relations) == 1 else ():
                if second.endswith(IN_YEAR) and end in named:
                    path = Path((end, middle, member), (self.sets.inverse(second), *statement.path.relations))
                    found.append(Statement(path, named[end], statement.says))
        return found


def _words_of(asked: str) -> tuple[list[str], bool]:
    """The words behind the question word, none of a question that is not read; and whether it asks who."""
    begin = _ASKS.match(asked) or _WHO.match(asked)
    said = asked[begin.end() :] if begin else asked
    if _NOT_READ.search(said) or (begin is None and _ASKS_ELSE.match(asked)):
        return [], False
    who = begin is not None and bool(_WHO.match(begin[0]))
    return _raw_words(said), who


def _raw_words(said: str) -> list[str]:
    """Words as they are typed, without articles and possessive endings; a comma is one as well."""
    said = _ARTICLES.sub("", re.sub(r"['’]s\b", "", said))
    return [word.rstrip(".'’") for word in re.findall(r"[^\W_][\w’'.]*|,", said)]


def _first_said(raw: Sequence[str]) -> int:
    """The place of the first word that names nothing, before which stands what is asked for."""
    return next((i for i, word in enumerate(raw) if word == "," or says_nothing(word.lower())), len(raw))


def _walked_from(answers: Mapping[str, Path], description: Description) -> set[int]:
    """The places of what all answers are found from over other things: a phrase that names it is met by the way there.

    Who *wrote the films of* a director is not whoever wrote something with him besides.
    """
    places: set[int] = set()
    if any(len(path.relations) < 2 for path in answers.values()):
        return places
    for start in {path.entities[0] for path in answers.values()}:
        name = [fold(re.sub("['’]", "", word)) for word in _raw_words(start)]
        for first in range(len(description.words) - len(name) + 1):
            if description.words[first : first + len(name)] == name:
                places.update(range(first, first + len(name)))
    return places


Told = Mapping[str, list[Fit | None]]


def _negated(
    told: Told, apart: Told, members: Mapping[str, Path | None], description: Description
) -> tuple[Told, dict[str, tuple[Path, ...] | None]]:
    """The members without those that a negated phrase says something of, and these with the paths that say it.

    Args:
        told: what accounts for each phrase about the members that the names lead to.
        apart: the same of the others.
        members, description: see ``Described``.

    Returns:
        both; in place of the paths None for a phrase that says nothing of any member, and so cannot tell them apart.
    """
    kept, ruled_out = dict(told), dict[str, tuple[Path, ...] | None]()
    for i, phrase in enumerate(description.phrases):
        if not phrase.negated:
            continue
        named = any(not description.named.get(m, frozenset()).isdisjoint(phrase.places) for m in members)
        out = {} if named else {m: fit for m, parts in told.items() if (fit := parts[i]) is not None}
        if not out and not named and all(parts[i] is None for parts in apart.values()):
            ruled_out[""] = None
        none = {m for m, fit in out.items() if any(bound == "= 0" for _, bound in fit.values)}
        if none:  # where it is counted how many there are, none is a number like another
            kept = {m: parts for m, parts in kept.items() if m in none}
            continue
        for m, fit in out.items():
            kept.pop(m, None)
            others = [part for k, part in enumerate(told[m]) if k != i and not description.phrases[k].negated]
            said = [part.paths[0] for part in others if part is not None and part.paths]
            if None not in others and fit.paths:
                ruled_out[m] = (*([own] if (own := members[m]) else said[:1]), fit.paths[0])
        kept = {m: [part if j != i else Fit() for j, part in enumerate(parts)] for m, parts in kept.items()}
    return kept, ruled_out


def _but_for_one(told: Told, description: Description) -> tuple[Told, frozenset[int]]:
    """The one member that all phrases fit but one of which the graph says nothing, and that phrase's words."""
    silent = [
        i
        for i, phrase in enumerate(description.phrases)
        if i and not phrase.negated and all(parts[i] is None for parts in told.values())
        if phrase.places.isdisjoint(description.must_act)
    ]
    if len(silent) != 1 or not description.names:
        return {}, frozenset()
    rest = {m: [part for i, part in enumerate(parts) if i != silent[0]] for m, parts in told.items()}
    rest = {m: parts for m, parts in rest.items() if None not in parts}
    return (rest, description.phrases[silent[0]].places) if len(rest) == 1 else ({}, frozenset())
