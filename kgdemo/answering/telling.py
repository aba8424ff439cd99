"""What the graph states of a thing that accounts for a phrase of a description (``described``).

A name is accounted for by a statement that joins the thing, or what it is joined to, with what is named; a year by one
of its dates; another word by the relation of such a statement, or by another statement that says it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

from kgdemo.answering.computation import within_bound
from kgdemo.answering.description import Description, Phrase
from kgdemo.answering.operands import Sets, number_of, operand_of
from kgdemo.events import Operand
from kgdemo.kg.labels import fold
from kgdemo.kg.path import Path
from kgdemo.models.embedding import Embedder, embedding_cache
from kgdemo.query.answer_type import kind_of, same_stem, singulars
from kgdemo.query.measures import dates_a_life, dates_said
from kgdemo.ranking.scorer import path_words

_MOST_COMPARED = 2000  # words of relations, of which a graph that was handed over may have very many
SAYS_WHAT = frozenset(  # what tells which one something is that a member is joined to
    ("citizen of", "occupation", "instance of", "gender", "genre", "located in", "continent", "born in")
)
IN_YEAR = " in year"
_RECORD = "achieved"
_KIN = {"child": ("child", "children", "son", "daughter"), "child of": ("parent", "parents", "father", "mother")}
_DEED = 5  # words
_TELLS = SAYS_WHAT | {_RECORD, "deity of", "symbol of", "participant of", "position held", "field of work"}
_HUB = 300  # links from which those that lead to a thing are not looked at, only its own statements
_SAME = 0.42  # cosine from which a word says a relation
_NEAREST = 0.35  # from which it does where no relation of the member says it better
_OF_ONE_STEM = 0.85  # how alike two words of one stem are
_SAID = 0.6  # of a date, where something else in the phrase may be what it is the date of
CLOSER = 0.12  # by how much another relation, or the statements of another member, may say it better
_OF_A_YEAR = re.compile(r"\b\d{4}\b")
_CAME = frozenset(
    "first appeared appear came out released published made year years started introduced announced".split()
)

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
        values: of the member, each with the bound that it is within, such as ``= 1991``.
        likeness: cosine of the word that its statements say least well.
        by_record: whether a word is said by a record of it alone, which others that fit need not hold.
    """

    paths: list[Path] = field(default_factory=list)
    values: list[tuple[Operand, str]] = field(default_factory=list)
    likeness: float = 1.0
    by_record: bool = False


class Telling:
    """Tells of single things whether the graph states what phrases say.

    Args:
        sets: of the graph.
        embedder: of words.
        may_read: has what lies around the things of a graph that grows; whether no more lies there than may be read.
    """

    def __init__(self, sets: Sets, embedder: Embedder, may_read: Callable[[], bool]) -> None:
        self.sets, self.kg, self._may_read = sets, sets.kg, may_read
        self._vectors = embedding_cache(embedder)
        self._compared: set[str] = set()
        self.has_years = any(label.endswith(IN_YEAR) for label in self.kg.step_labels)  # else nobody has to look

    def both_ways(self, label: str) -> tuple[str, ...]:
        """The words of a relation and of its inverse: *bordered by*, *coast on*; of kin those of the one meant."""
        if label in _KIN:
            return _KIN[label]
        return tuple(path_words((label, self.sets.inverse(label))))

    def told(self, member: str, statements: Sequence[Statement], description: Description) -> list[Fit | None]:
        """What accounts for each phrase about a member; None for a phrase for which nothing does."""

        @cache
        def around() -> Around:
            if not self._may_read():
                return ()
            return self.kg.neighbours(member, directed=self.kg.degree(self.kg.entities.find(member) or 0) > _HUB)

        return [self._phrase(phrase, member, around, statements, description) for phrase in description.phrases]

    def _phrase(
        self,
        phrase: Phrase,
        member: str,
        around: Callable[[], Around],
        statements: Sequence[Statement],
        description: Description,
    ) -> Fit | None:
        """What accounts for a phrase; None where something in it is not accounted for."""
        fit, left, words = Fit(), set(phrase.places), description.words
        lives = dates_said(" ".join(words))
        if not lives:  # who won a prize in a year need not have been born in it
            statements = [own for own in statements if not dates_a_life(self.sets.inverse(own.path.relations[-1]))]
        self._counted(member, phrase, left, description, fit)
        for place in phrase.places & description.bounds.keys():
            others = [words[p] for p in phrase.places if p not in description.bounds]
            named_too = any(place not in s.places and not s.places.isdisjoint(phrase.places) for s in statements)
            bound = description.bounds[place]
            if (date := self._date(member, bound, others, named_too, lives)) is not None:
                fit.values.append((date, bound))
                left.discard(place)
        by_place: dict[frozenset[int], list[Statement]] = {}
        later = {place for place, bound in description.bounds.items() if not bound.startswith("= ")}
        for statement in statements:  # what came out in 1850 did not come out after it
            if (named := statement.places & left) and not named <= later:
                by_place.setdefault(named, []).append(statement)
        left -= {place for named in by_place for place in named}
        if not left.isdisjoint(description.must_act):
            return None
        plain = [words[place] for place in left]
        chosen = [self._best(alternatives, plain) for alternatives in by_place.values()]
        fit.paths = [statement.path for statement in chosen]
        says = [word for statement in chosen for word in statement.says]
        says += [word for value, _ in fit.values for word in path_words((value.attribute,))]
        return fit if all(self._said(word, says, member, around, fit) for word in plain) else None

    def _counted(self, member: str, phrase: Phrase, left: set[int], description: Description, fit: Fit) -> None:
        """Take the numbers that the graph states of a member out of what is left: *88 keys*, *no moons*, *rings*."""
        for place in sorted(phrase.places - {p + 1 for p in description.numbers}):
            number = description.numbers.get(place)
            thing = description.words[place + (number is not None)]
            stated = number_of(self.kg, member, thing) if thing.endswith("s") or phrase.negated else None
            if stated is None:
                continue
            has = place > 0 and description.words[place - 1] in ("has", "have", "had", "with")
            if number is None and not has and not phrase.negated:
                continue
            bound = f"= {number}" if number is not None else "= 0" if phrase.negated else "> 0"
            if within_bound([stated], bound):
                fit.values.append((stated, bound))
                left -= {place, place + (number is not None)}

    def _said(self, word: str, says: Sequence[str], member: str, around: Callable[[], Around], fit: Fit) -> bool:
        """Whether a word that names nothing is said, by what a phrase is already known to mean or by a statement."""
        if any(same_stem(word, other) for other in says) or (fit.values and word in _CAME):
            return True
        to_it = [(label, end) for label, end in around() if self._tells(label, end, word)]
        if not says:
            to_it += [(label, end) for label, end in around() if any(same_stem(word, w) for w in path_words((label,)))]
        if to_it:
            to_it.sort(key=lambda statement: statement[0] == _RECORD)
            exactly = any(word in _folded(end) or word in path_words((label,)) for label, end in to_it)
            fit.likeness = min(fit.likeness, 1.0 if exactly else _OF_ONE_STEM)  # *assassination attempt*
            fit.by_record |= to_it[0][0] == _RECORD
            fit.paths.append(Path((to_it[0][1], member), (self.sets.inverse(to_it[0][0]),)))
            return True
        every = list(dict.fromkeys(w for label, _ in around() for w in path_words((label,))))
        near = self._nearest(word, says)
        fit.likeness = min(fit.likeness, near)
        best = self._nearest(word, every)
        return near >= max(_SAME, best - CLOSER) or (near >= _NEAREST and near >= best)

    def _tells(self, label: str, end: str, word: str) -> bool:
        """Whether what something is, or what it did, says a word: *liquid at room temperature*, *Cut off his ear*.

        A title or a name does not: *The Merry Wives of Windsor* says of nobody that she was his wife. Nor does what
        holds of a year alone: of those who joined it, *country that joined the EU in 2004* tells no more than some.
        """
        if _OF_A_YEAR.search(end):
            return False
        if label not in _TELLS and fold(end) not in (word, *singulars(word)):
            return False
        if not any(same_stem(word, own) for own in _folded(end)):
            return False
        if kind_of(self.kg, end) == "feat" and len(_folded(end)) > _DEED:  # of which one word says too little
            return False
        begins = kind_of(self.kg, end) in ("event", "feat") and same_stem(word, _folded(end)[0])
        return begins or any(same_stem(word, fold(own)) for own in re.findall(r"\b[a-z][\w-]*", end))

    def _best(self, statements: Sequence[Statement], plain: Sequence[str]) -> Statement:
        """Of the statements about one name that whose relation the words of the phrase say."""

        def said(statement: Statement) -> tuple[int, int, float]:
            alike = sum(any(same_stem(word, own) for own in statement.says) for word in plain)
            near = sum(self._nearest(word, statement.says) for word in plain)
            return alike, -len(statement.path.relations), near

        return max(statements, key=said)

    def _date(
        self, member: str, bound: str, others: Sequence[str], named: bool, lives: Sequence[str]
    ) -> Operand | None:
        """A date of a member within a bound, and of its dates the one that the other words of the phrase say.

        Args:
            member, bound: see ``Fit``.
            others: the words.
            named: whether some of them name something, which the date may be of if they do not say the member's.
            lives: the dates of a life that count.
        """
        stated_by = self.kg.neighbours(member, directed=True) if self.has_years else ()
        years = (label for label, _ in stated_by if label.endswith(IN_YEAR))
        attributes = (*self.kg.literals.get(member, {}), *years)
        stated = (operand_of(self.kg, member, (attribute,)) for attribute in attributes)
        dates = [own for own in stated if own is not None and own.unit in ("", "year") and _is_date(own.value)]
        dates = [o for o in dates if not dates_a_life(o.attribute) or o.attribute.removesuffix(IN_YEAR) in lives]
        if not any(within_bound([own], bound) for own in dates):
            return None
        like = {
            own: max((self._nearest(word, path_words((own.attribute,))) for word in others), default=0.0)
            for own in dates
        }
        least = max(_SAID if named else 0.0, max(like.values()) - CLOSER)
        return next((own for own in dates if like[own] >= least and within_bound([own], bound)), None)

    def _nearest(self, word: str, others: Sequence[str]) -> float:
        """Cosine of a word and the nearest of others; none of more relations than a question may be held against."""
        self._compared.update(others)
        if not others or len(self._compared) > _MOST_COMPARED:
            return 0.0
        return float((self._vectors.vectors([word]) @ self._vectors.vectors(list(others)).T).max())


def joined(parts: Sequence[Fit], path: Path | None) -> Fit:
    """What accounts for all phrases, and the path that leads to the member of a set."""
    paths = [*((path,) if path else ()), *(path for part in parts for path in part.paths)]
    values = [value for part in parts for value in part.values]
    likeness = min((part.likeness for part in parts), default=1.0)
    return Fit(list(dict.fromkeys(paths)), values, likeness, any(part.by_record for part in parts))


def _is_date(value: str) -> bool:
    return re.fullmatch(r"-?\d{3,4}(?:-\d\d(?:-\d\d)?)?", value) is not None


@lru_cache(maxsize=50_000)
def _folded(label: str) -> tuple[str, ...]:
    return tuple(fold(label).split())
