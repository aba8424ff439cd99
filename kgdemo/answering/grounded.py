"""Plans that the graph can do, weighed by the parser: its search constrained, as GCR constrains that for paths.

``query.parser`` proposes the likeliest plans for the words, whether the graph can do them or not. Where it can do none
of them, the words are unusual, *everyone in* a band, and still one plan may be far likelier than all others that can
be done: of a band its members.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial

from kgdemo.answering.called import Called
from kgdemo.answering.masked import Masked
from kgdemo.answering.operands import PLACES, attributes_meant
from kgdemo.answering.plans import BOUNDS, Result
from kgdemo.answering.records import ACHIEVED
from kgdemo.answering.walks import LYING, SPANS, Ends, Heard
from kgdemo.events import Event
from kgdemo.query.answer_type import Fit, fits, kind_of, same_stem
from kgdemo.query.parser import AND_OF, ATTRIBUTE, BOTH, NAMES, Parser, value_of_year
from kgdemo.query.plan import Form

Plan = tuple[str, ...]

_LEAST = 0.025  # probability below which no plan is taken: it would be a guess
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


class Grounded(Called):
    """Answers by the one plan that is far likelier than all others that the graph can do."""

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
                if score >= max(_LEAST, _SHARE * sum(scores)):
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
                if score >= max(_LEAST, _SHARE * sum(scores)) and ends:
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
