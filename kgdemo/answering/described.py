"""What a description fits: the members of a set of which the graph states everything that a question says of them.

*Which programming language was designed by a Dutch programmer and appeared in 1991*: of all programming languages those
whose statements account for every word. A name is accounted for by a statement that joins the member, or what the
member is joined to, with what is named; a year by a date; another word by the relation of such a statement, or by
another statement that says it. A word that nothing accounts for rules a member out: what is left is what is meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from kgdemo.answering.computation import SAYS_LITTLE, within_bound
from kgdemo.answering.operands import Sets, called, is_of_kind, names_of_kind, operand_of
from kgdemo.events import Operand
from kgdemo.kg.labels import FUNCTION_WORDS, fold
from kgdemo.kg.path import Path
from kgdemo.linking.names import name_index
from kgdemo.models.embedding import Embedder, embedding_cache
from kgdemo.query.answer_type import kind_of, singulars
from kgdemo.ranking.scorer import path_words

_ASKS = re.compile(
    r"^(?:(?:which|what|name|list)(?: (?:of|are|is|were|was|the|these|a|an|some|two|three|four)\b)*"
    r"|who (?:is|was) (?:the|an?)) ",
    re.IGNORECASE,
)
_WHO = re.compile(r"^who ", re.IGNORECASE)
_ASKS_ELSE = re.compile(
    r"^(?:who|when|where|why|how|whose|whom|is|are|was|were|do|does|did|can|could|if|in|on|at|to|from|for|by)\b", re.I
)
_NOT_READ = re.compile(  # what rules something out, or puts it in an order
    r"\b(?:not|never|no|nor|without|except|besides|least|most|fewest|fewer|more|less|than|or|only|how|why|when|where|"
    r"(?-i:(?:second|third|fourth|fifth|sixth|seventh|last|latest)(?= \w))|first (?!appear|publish|releas|air)|"
    r"\w+n't|(?:larg|small|bigg|tall|high|long|short|old|young|new|earli|lat|deep|fast|clos|near|heavi|rich)est)\b",
    re.IGNORECASE,
)
_CLAUSE = frozenset("and that which who whose but , while".split())
_SET_WORDS, _NAME_WORDS = 4, 6  # of the name of a set, and of an entity
_MOST_MEMBERS, _MOST_FITTING = 2500, 30
_MEMBERS = ("band member", "has member state", "has member", "member of organization of")
_ANYBODY = frozenset(  # nouns that say little more than that somebody, or something, is meant
    "person man woman people men women artist scientist writer author figure leader ruler king queen monarch emperor "
    "one object thing body item".split()
)
_SAYS_WHAT = frozenset(  # what tells which one something is that a member is joined to
    ("citizen of", "occupation", "instance of", "gender", "genre", "located in", "continent", "born in")
)
_HUB = 300  # links from which those that lead to a thing are not looked at, only its own statements
_STEM = 5
_SAME = 0.42  # cosine from which a word says a relation
_CLOSER = 0.12  # by how much another relation, or the statements of another member, may say it better
_FREE = frozenset(
    "also too later then who that which whose and but both well once ever had been being became become while its their "
    "his her it he she they subsequently additionally another someone somebody something earlier before through into "
    "out near along around during since until after".split()
)
_CAME = frozenset("first appeared appear came out released published made year years started introduced".split())
_SIGNS = {"before": "<", "after": ">", "since": ">=", "until": "<=", "from": ">="}

Around = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Statement:
    """What the graph states of a member that accounts for a name in the question.

    Attributes:
        path: from what is named to the member.
        places: of the words that name it.
        says: the words of the relations, and what kind of thing lies between.
    """

    path: Path
    places: frozenset[int]
    says: tuple[str, ...]


@dataclass(slots=True)
class Fit:
    """How a member fits.

    Attributes:
        paths: to the member, which account for the words; one of them may say that it is a member.
        dates: of the member, each with the bound that it is within, such as ``= 1991``.
        likeness: cosine of the word that its statements say least well.
    """

    paths: list[Path] = field(default_factory=list)
    dates: list[tuple[Operand, str]] = field(default_factory=list)
    likeness: float = 1.0


@dataclass(frozen=True, slots=True)
class Found:
    """The members of a set that fit a description; none where nothing does.

    Attributes:
        noun: what the set is called.
        members: those that fit.
        unsaid: the part of the description of which the graph says nothing.
    """

    noun: str = ""
    members: Mapping[str, Fit] = field(default_factory=dict)
    unsaid: str = ""


class Described:
    """Finds what a description fits.

    Args:
        sets: of the graph.
        embedder: of words.
        office: the office that a noun names; empty where none.
    """

    def __init__(self, sets: Sets, embedder: Embedder, office: Callable[[str], str]) -> None:
        self.sets, self.kg, self._office = sets, sets.kg, office
        self._vectors = embedding_cache(embedder)

    def fitting(self, asked: str) -> Found:
        """The members of the set that a question speaks of which fit all that it says.

        Args:
            asked: the question, question word in front.
        """
        begin = _ASKS.match(asked) or _WHO.match(asked)
        said = asked[begin.end() :] if begin else asked
        if _NOT_READ.search(said) or (begin is None and _ASKS_ELSE.match(asked)):
            return Found()
        raw = [word.rstrip(".'’") for word in re.findall(r"[^\W_][\w’'.]*|,", re.sub(r"['’]s\b", "", said))]
        for noun, places, members in self._sets(raw, begin is not None and bool(_WHO.match(begin[0]))):
            words = _Words(self, raw, places)
            found = self._members(members or self._anybody(noun, words), words)
            if not found.members:
                continue
            whole = len(found.members) == len(members)
            return Found() if whole or len(found.members) > _MOST_FITTING else Found(noun, found.members, found.unsaid)
        return Found()

    def _sets(self, raw: Sequence[str], who: bool) -> Iterator[tuple[str, range, Mapping[str, Path | None]]]:
        """Sets that words at the beginning name, those with the longest names first; an empty one is of anybody."""
        begins = next((i for i, word in enumerate(raw) if word.lower() in FUNCTION_WORDS | _FREE | {","}), len(raw))
        begins = min(begins, _SET_WORDS)
        for length in range(begins, 0, -1):
            for first in range(begins - length + 1):
                noun = " ".join(raw[first : first + length])
                members = {} if noun.lower() in _ANYBODY else self._set(noun)
                if 1 < len(members) <= _MOST_MEMBERS or noun.lower() in _ANYBODY:
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
        return {**next((own for own in ways if own), {})} or dict.fromkeys(
            next((every for kind in whole if (every := called(self.kg, kind))), ())
        )

    def _anybody(self, noun: str, words: _Words) -> Mapping[str, Path | None]:
        """What is joined to the named thing that fewest are joined to; only people, where people are meant."""
        around = [self.kg.neighbours(end) for end in words.named]
        members = dict.fromkeys(end for _, end in min(around, key=len, default=[]))
        if noun.lower() in ("one", "object", "thing", "body", "item"):
            return members
        return {member: path for member, path in members.items() if is_of_kind(self.kg, member, ("person", "deity"))}

    def _members(self, members: Mapping[str, Path | None], words: _Words) -> Found:
        """Those for which every clause is accounted for, and as well as for the best of them."""
        near = self._beside(members, words)
        for further in (False, True):
            statements = {m: near.get(m, []) + (self._beyond(m, words) if further else []) for m in members}
            named = [m for m, own in statements.items() if words.names <= {p for s in own for p in s.places}]
            told = {m: self._told(m, statements[m], words) for m in named}
            whole = {m: parts for m, parts in told.items() if None not in parts}
            unsaid = frozenset[int]()
            if not whole and told:  # of one clause the graph says nothing, and the others leave a single member
                silent = {
                    i
                    for i, clause in enumerate(words.clauses)
                    if clause.isdisjoint(words.names | words.bounds.keys()) and all(p[i] is None for p in told.values())
                }
                rest = {m: parts for m, parts in told.items() if None not in _less(parts, silent)}
                if len(rest) == 1 == len(silent) and silent != {0} and words.names:
                    whole, unsaid = rest, words.clauses[silent.pop()]
            fits = {m: _joined([p for p in parts if p], members[m]) for m, parts in whole.items()}
            fits = {m: fit for m, fit in fits.items() if len(fit.paths) + len(fit.dates) > (members[m] is not None)}
            if fits:
                best = max(fit.likeness for fit in fits.values())
                kept = {m: fit for m, fit in fits.items() if fit.likeness > best - _CLOSER}
                return Found("", kept, " ".join(words.words[p] for p in sorted(unsaid)))
        return Found()

    def _beside(self, members: Mapping[str, object], words: _Words) -> dict[str, list[Statement]]:
        """The statements that join members to what the question names."""
        found: dict[str, list[Statement]] = {}
        for end, places in words.named.items():
            for label, member in self.kg.neighbours(end):
                if member in members:
                    statement = Statement(Path((end, member), (label,)), places, tuple(path_words((label,))))
                    found.setdefault(member, []).append(statement)
        return found

    def _beyond(self, member: str, words: _Words) -> list[Statement]:
        """Those that say it of what a member is joined to: created by somebody who is *Dutch*."""
        found = []
        for label, middle in self.kg.neighbours(member, directed=True):
            for second, end in self.kg.neighbours(middle, directed=True):
                if second in _SAYS_WHAT and end in words.named and end != member:
                    path = Path((end, middle, member), (self.sets.inverse(second), self.sets.inverse(label)))
                    says = (*path_words((label,)), *filter(None, (kind_of(self.kg, middle),)))
                    found.append(Statement(path, words.named[end], says))
        return found

    def _told(self, member: str, statements: Sequence[Statement], words: _Words) -> list[Fit | None]:
        """What accounts for each clause about a member; None for a clause for which nothing does."""
        around = self.kg.neighbours(member, directed=self.kg.degree(self.kg.entities.find(member) or 0) > _HUB)
        return [self._clause(clause, member, around, statements, words) for clause in words.clauses]

    def _clause(
        self, clause: frozenset[int], member: str, around: Around, statements: Sequence[Statement], words: _Words
    ) -> Fit | None:
        """What accounts for a clause; None where something in it is not accounted for."""
        fit, left = Fit(), set(clause)
        for place in clause & words.bounds.keys():
            others = [words.words[p] for p in clause if p not in words.bounds]
            named_too = any(place not in s.places and not s.places.isdisjoint(clause) for s in statements)
            bound = words.bounds[place]
            if (date := self._date(member, bound, others, named_too)) is not None:
                fit.dates.append((date, bound))
                left.discard(place)
        by_place: dict[frozenset[int], list[Statement]] = {}
        for statement in statements:
            if named := statement.places & clause:
                by_place.setdefault(named, []).append(statement)
        left -= {place for named in by_place for place in named}
        if not left.isdisjoint(words.names | words.bounds.keys()):
            return None
        plain = [words.words[place] for place in left]
        chosen = [self._best(alternatives, plain) for alternatives in by_place.values()]
        fit.paths = [statement.path for statement in chosen]
        says = [word for statement in chosen for word in statement.says]
        says += [word for date, _ in fit.dates for word in path_words((date.attribute,))]
        return fit if all(self._said(word, says, member, around, fit) for word in plain) else None

    def _said(self, word: str, says: Sequence[str], member: str, around: Around, fit: Fit) -> bool:
        """Whether a word that names nothing is said, by what a clause is already known to mean or by a statement."""
        if any(_alike(word, other) for other in says) or (fit.dates and word in _CAME):
            return True
        to_it = [(label, end) for label, end in around if any(_alike(word, w) for w in _folded(end))]
        if not says:
            to_it += [(label, end) for label, end in around if any(_alike(word, w) for w in path_words((label,)))]
        if to_it:
            fit.paths.append(Path((to_it[0][1], member), (self.sets.inverse(to_it[0][0]),)))
            return True
        every = list(dict.fromkeys(w for label, _ in around for w in path_words((label,))))
        near = self._nearest(word, says)
        fit.likeness = min(fit.likeness, near)
        return near >= max(_SAME, self._nearest(word, every) - _CLOSER)

    def _best(self, statements: Sequence[Statement], plain: Sequence[str]) -> Statement:
        """Of the statements about one name that whose relation the words of the clause say."""

        def said(statement: Statement) -> tuple[int, int, float]:
            alike = sum(any(_alike(word, own) for own in statement.says) for word in plain)
            near = sum(self._nearest(word, statement.says) for word in plain)
            return alike, -len(statement.path.relations), near

        return max(statements, key=said)

    def _date(self, member: str, bound: str, others: Sequence[str], named: bool) -> Operand | None:
        """A date of a member within a bound, and of its dates the one that the other words of the clause say.

        Args:
            member, bound: see ``Fit``.
            others: the words.
            named: whether some of them name something, which the date may be of if they do not say the member's.
        """
        stated = (operand_of(self.kg, member, (attribute,)) for attribute in self.kg.literals.get(member, {}))
        dates = [own for own in stated if own is not None and own.unit in ("", "year") and _is_date(own.value)]
        if not any(within_bound([own], bound) for own in dates):
            return None
        like = {
            own: max((self._nearest(word, path_words((own.attribute,))) for word in others), default=0.0)
            for own in dates
        }
        least = max(_SAME if named else 0.0, max(like.values()) - _CLOSER)
        return next((own for own in dates if like[own] >= least and within_bound([own], bound)), None)

    def _nearest(self, word: str, others: Sequence[str]) -> float:
        if not others:
            return 0.0
        return float((self._vectors.vectors([word]) @ self._vectors.vectors(list(others)).T).max())


class _Words:
    """The words of a question apart from those that name the set.

    Attributes:
        words: all of them, folded.
        clauses: the places of those that have to be accounted for, clause by clause.
        named: entities that some of them name, with their places.
        names: the places of words with a capital letter.
        bounds: of years, by the place of the year.
    """

    def __init__(self, owner: Described, raw: Sequence[str], of_set: range) -> None:
        self.words = [fold(word) for word in raw]
        little = SAYS_LITTLE | FUNCTION_WORDS | _FREE
        content = {
            place
            for place, word in enumerate(self.words)
            if word and place not in of_set and (word not in little or (raw[place][0].isupper() and place))
        }
        self.bounds = dict(self._bounds(content))
        self.names = frozenset(p for p in content if raw[p][0].isupper() or raw[p][0].isdigit()) - self.bounds.keys()
        self.named = dict(self._named(owner, raw, content, of_set))
        self.clauses = list(self._clauses(content))

    def _named(
        self, owner: Described, raw: Sequence[str], content: set[int], of_set: range
    ) -> Iterator[tuple[str, frozenset[int]]]:
        for length in range(1, _NAME_WORDS + 1):
            for first in range(len(raw) - length + 1):
                places = frozenset(range(first, first + length))
                if not places & content or not places.isdisjoint(of_set):
                    continue
                text = " ".join(raw[first : first + length])
                forms = (text, *singulars(text.lower())) if length == 1 and text.isalpha() else (text,)
                for name in (name for form in forms for name in name_index(owner.kg).called(form)):
                    yield owner.kg.entities[name.entity], places

    def _clauses(self, content: set[int]) -> Iterator[frozenset[int]]:
        begins = 0
        for place in range(len(self.words) + 1):
            if place == len(self.words) or not self.words[place] or self.words[place] in _CLAUSE:
                if clause := frozenset(p for p in content if begins <= p < place):
                    yield clause
                begins = place

    def _bounds(self, content: set[int]) -> Iterator[tuple[int, str]]:
        for place in sorted(content):
            if found := re.fullmatch(r"([12]\d{3})(s?)", self.words[place]):
                year = int(found[1])
                sign = _SIGNS.get(self.words[place - 1], "=") if place else "="
                last = year + (99 if year % 100 == 0 else 9)
                yield place, f">= {year} and <= {last}" if found[2] and sign == "=" else f"{sign} {year}"


def _less(parts: Sequence[Fit | None], without: set[int]) -> list[Fit | None]:
    return [part for i, part in enumerate(parts) if i not in without]


def _joined(parts: Sequence[Fit], path: Path | None) -> Fit:
    """What accounts for all clauses, and the path that leads to the member of a set."""
    paths = [*((path,) if path else ()), *(path for part in parts for path in part.paths)]
    dates = [date for part in parts for date in part.dates]
    return Fit(list(dict.fromkeys(paths)), dates, min((part.likeness for part in parts), default=1.0))


def _is_date(value: str) -> bool:
    return re.fullmatch(r"-?\d{3,4}(?:-\d\d(?:-\d\d)?)?", value) is not None


@lru_cache(maxsize=50_000)
def _folded(label: str) -> tuple[str, ...]:
    return tuple(fold(label).split())


def _alike(word: str, other: str) -> bool:
    """Whether a word is another one in another form: *assassinated*, *assassination*."""
    if word == other:
        return True
    if len(word) > _STEM and len(other) > _STEM and word[:_STEM] == other[:_STEM]:
        return True
    return word[:3] == other[:3] and (word in singulars(other) or other in singulars(word))
