"""Clues for and against a match, and what each of them weighs.

The weights were fitted by regression on training questions over FB15k-237 and MetaQA and rounded; those of
clues that these lower-case questions can hardly teach (``capital``, ``cut``, ``time``, ``common``, ``owned``)
were set by hand, and ``bias`` so that the best match of a question, not any match, is right about as often as
its score says. Each clue is a plain quantity, so a weight can be read and doubted.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clues:
    """What speaks for a match; with other numbers, the weights of these clues.

    Attributes:
        bias: 1.
        cover: share of the question's weight that the mention covers.
        mass: weight of the mention's words.
        words: number of words but articles, logarithmic.
        part: 1 for a part of a name; ``missing`` is the share of the name that is not written.
        surname, middle: 1 where that part is a person's last name, or all but what stands in the middle.
        sole: 1 where no other name has these words.
        rest: words missing from the name that stand elsewhere in the question.
        fuzzy: 1 for a misspelt name; ``typo`` is its distance, 0..1.
        short, cut, initials, demonym: 1 for such a name.
        inflected: 1 where a plural s was taken off.
        ordinary: one over the number of words where all of them are ordinary; ``lone``: 1 where there is but one.
        common: 1 where the label itself is written as a common noun.
        owned: 1 right after a possessive of a linked entity: *Verdi's Otello*.
        primary: 1 where the label needs no bracket to tell it from its namesakes.
        capital: 1 where capitals set the mention off, -1 where they set others off.
        exact: 1 where the label has these very capitals.
        beside: number of rare words right before or after: the name may be a longer one. Linked names do not count.
        asked: 1 right after *what* or *which*: the kind of thing asked for.
        within: 1 where a longer whole name holds the mention.
        titled: 1 for a person right after *president* and the like, 2 where the graph links the two;
            below 0 for anything else there.
        human: 1 for a person where the question is one asked of people, -1 for anything else.
        tongue: 1 for a language right after *speak* and the like.
        option: 1 right before or after *or*: one of the answers to choose from.
        lesser, greater: 1 where the graph links it to another mention with more edges, or fewer: *Paris, Texas*.
        behind: 1 where such a mention stands right before.
        time: 1 for digits, months and what follows *during*; for a year where a title must stand.
        sought: 1 for the kind of thing that is asked for: *which city is Guernica in*.
        kind: 1 where the word right before or after says its type: *Friends cast*.
        adapted: where one work is said to be made from another, 1 for the right one of the two, -1 for the other.
        named: the same of *named after*: 1 for *the newton* that is named after somebody, -1 for Newton himself.
        offers: 1 where a neighbour is of a kind that the question names: *museum that has Guernica*.
        together: 1 where an entity of another name in the question is its neighbour: *Jordan's coach at the Bulls*.
        called: 1 for part of a person's name right after *the*: *the newton* is a unit.
        degree, variety: of the entity.
        fit, said: of the entity to the rest of the question.
    """

    bias: float = 0.0
    cover: float = 0.0
    mass: float = 0.0
    words: float = 0.0
    part: float = 0.0
    missing: float = 0.0
    surname: float = 0.0
    middle: float = 0.0
    sole: float = 0.0
    rest: float = 0.0
    fuzzy: float = 0.0
    typo: float = 0.0
    short: float = 0.0
    cut: float = 0.0
    initials: float = 0.0
    demonym: float = 0.0
    inflected: float = 0.0
    ordinary: float = 0.0
    lone: float = 0.0
    common: float = 0.0
    owned: float = 0.0
    primary: float = 0.0
    capital: float = 0.0
    exact: float = 0.0
    beside: float = 0.0
    asked: float = 0.0
    within: float = 0.0
    titled: float = 0.0
    human: float = 0.0
    tongue: float = 0.0
    option: float = 0.0
    lesser: float = 0.0
    greater: float = 0.0
    behind: float = 0.0
    time: float = 0.0
    sought: float = 0.0
    kind: float = 0.0
    adapted: float = 0.0
    named: float = 0.0
    offers: float = 0.0
    together: float = 0.0
    called: float = 0.0
    degree: float = 0.0
    variety: float = 0.0
    fit: float = 0.0
    said: float = 0.0

    def times(self, weights: Clues) -> float:
        """The weighed sum: log-odds."""
        return sum(getattr(self, name) * getattr(weights, name) for name in self.__slots__)


WEIGHTS = Clues(
    bias=-0.5,
    cover=1.0,
    mass=0.7,
    words=1.3,
    part=-2.9,
    missing=-2.95,
    surname=0.8,
    middle=0.6,
    sole=1.8,
    rest=2.3,
    fuzzy=-1.8,
    typo=-1.25,
    short=0.0,
    cut=-1.2,
    initials=-2.3,
    demonym=-0.65,
    inflected=-1.7,
    ordinary=-1.25,
    lone=-1.75,
    common=-0.7,
    owned=1.0,
    primary=0.1,
    capital=0.8,
    exact=1.0,
    beside=-1.5,
    asked=-1.45,
    within=-2.7,
    titled=1.6,
    human=0.95,
    tongue=3.0,
    option=-2.5,
    lesser=0.6,
    greater=-0.75,
    behind=-1.6,
    time=-3.0,
    sought=-1.0,
    kind=1.5,
    adapted=1.5,
    named=3.0,
    offers=0.7,
    together=0.6,
    called=-1.5,
    degree=1.0,
    variety=0.2,
    fit=3.0,
    said=0.6,
)
