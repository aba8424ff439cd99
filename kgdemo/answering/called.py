"""What a question calls by another name, by a deed or by a mark, and asks no more of than what it is.

*Which politician was nicknamed the Iron Lady*, *lady with the lamp, crimean war nurse*, *dutch painter fella that cut
off his own ear*: the answer is what the name belongs to, and each further word has to be told of it by the graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from kgdemo.answering.computation import computed_answer
from kgdemo.answering.masked import Named
from kgdemo.answering.operands import names_of_kind
from kgdemo.answering.plans import Plans
from kgdemo.answering.records import ACHIEVED
from kgdemo.answering.walks import Heard
from kgdemo.events import Event, Operand
from kgdemo.kg.labels import FUNCTION_WORDS, bare, fold
from kgdemo.kg.path import Path
from kgdemo.linking.names import name_index
from kgdemo.linking.words import common_words
from kgdemo.query.answer_type import Fit, fits, kind_of, singulars
from kgdemo.query.measures import NUMBERS
from kgdemo.query.query import Form

_ARTICLE = re.compile(r"^(?:the|an?) ", re.IGNORECASE)
_KNOWN_AS = re.compile(
    r"(?:^(?:what(?:['’]?s| is| was) )?(?:the )?name of|\b(?:by the name of|known|nicknamed|dubbed|called|referred to"
    r"|famous|goes by|go by))(?: (?:also|popularly|often|commonly))?(?: as)?(?: the (?:nick)?name(?: of)?)? "
    r"[\"“'‘]?(?P<name>[^?!,]+?)[\"”'’]?\s*[?!.]*$",
    re.IGNORECASE,
)
_SAYS_WHAT = ("occupation", "instance of", "genre", "sport")
_SAYS_WHENCE = (
    *_SAYS_WHAT, "citizen of", "originates from", "located in", "lives in", "worshipped in", "took part in",
    "played for", "plays position", "plays instrument", "art movement", "field of work", "member of band",
)  # fmt: skip
_OF_MANY = re.compile(
    r"^(?:(?:which|what|who) (?:are|were)|name|list)\b|\bingredients\b"
    r"|^(?:which|what) (?:[\w-]+ ){0,2}?[a-z]{2,}[^s\W]s (?:are|were|have|do|did|can|live|won|lay|belong|come|came)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"^(?:what|which|who|whose|where|when|how|in|on|of|at|from)\b", re.IGNORECASE)
_STEM, _FEWEST = 6, 2  # letters of a word, and words of a name, by which it is told
_RAREST, _MOST_NAMES = 4, 1000  # words of a question whose names are looked at, and how many of each
_HOW_MANY = re.compile(r"\bhow many\b|\bare there\b|\bthere are\b", re.IGNORECASE)
_WHICH = re.compile(
    r"^(?:(?:in|on|to|from|of) )?(?:which|what) (?:of the )?(?:[\w-]+ ){0,2}?(?P<noun>[a-z]{3,}) "
    r"(?:is|was|are|were|do|does|did|has|have|had)\b",
    re.IGNORECASE,
)
_OWNS = re.compile(r"(?<!name )\bof (?:the )?[XY]\b|\b[XY]['’]s\b")  # which asks for something else
_DOES = re.compile(r"\b(?:do|does|did)\b", re.IGNORECASE)
_SAYS_NO_MORE = frozenset(  # words that stand for whatever is described
    "guy fella chap bloke lady man woman person people individual individuals thing one ones somebody someone something"
    " called name named real famous known again remember think".split()
)


Words = frozenset[str]


def stems(text: str) -> Words:
    """The content words of a text by their first letters, so that *wives* and *wife* are one."""
    return frozenset(_stem(word) for word in fold(text).split() if word not in FUNCTION_WORDS | _SAYS_NO_MORE)


def _stem(word: str) -> str:
    one = f"{word[:-3]}f" if word.endswith("ves") else word.removesuffix("s")  # *wives*
    return re.sub(r"(?<=\w{4})(?:ing|ed)$", "", one)[:_STEM].rstrip("ey") or word


class Called(Plans):
    """Answers that are what a question calls by another name."""

    def called_so(self, text: str, readings: Sequence[Heard]) -> Iterator[Event]:
        """Who or what a name or a description belongs to, where no more is asked.

        Args:
            text: the question as it was asked.
            readings: of it.
        """
        if " or " in self.plan.asked or self.plan.century:  # which offers a choice, or asks for something else
            return
        if self.plan.form in (Form.ALL, Form.COUNT):
            yield from self._said_in_any_order()
        if self.plan.form not in (Form.ENTITY, Form.ORDINAL, Form.SUPERLATIVE):
            return
        if events := tuple(self._known_as(text)):
            yield from events
            return
        for heard in readings:
            if heard.names and (events := tuple(self._is_described(heard))):
                yield from events
                return
        yield from self._said_in_any_order()

    def _said_in_any_order(self) -> Iterator[Event]:
        """What has a mark, or all that is of a kind, whose name has the words of the question, in whatever order.

        What else the question says has to be told of it: *chubby yellow bear who loves honey*.
        """
        if self.plan.bound or self.plan.initial or self.plan.without or self.plan.during:
            return  # a condition that is read apart
        said = _HOW_MANY.sub("", self.plan.asked)
        asked = stems(said)
        fitting = ((words, one) for words, one in self._marks_and_kinds(said) if words <= asked)
        for words, one in sorted(fitting, key=lambda own: -len(own[0])):
            if 2 * len(words) < len(asked):
                return
            ends = self._meant_by(one)
            if ends and self._is_all_told(asked - words, one, ends):
                if _HOW_MANY.search(self.plan.asked):
                    yield from self._counted([Operand(end, (path,)) for end, path in ends.items()], one)
                else:
                    yield from self._shown_by_paths("step", {end: (path,) for end, path in ends.items()})
                return

    def _meant_by(self, one: str) -> dict[str, Path]:
        """The one holder of a mark, or all of a kind, the best known first; none if they are not what is asked for."""
        is_mark = kind_of(self.kg, one) == "feat"
        ends = self.sets.ends(one, (ACHIEVED if is_mark else "has instance",))
        several = self.plan.form in (Form.ALL, Form.COUNT) or _OF_MANY.search(self.plan.asked)
        if not ends or (is_mark and (several or len(ends) > 1)) or not self._is_of_noun(next(iter(ends))):
            return {}
        if any(fits(self.query.answer_type, kind_of(self.kg, end)) is Fit.NO for end in ends):
            return {}
        known = self.kg.degrees([place for end in ends if (place := self.kg.entities.find(end)) is not None])
        degrees = dict(zip(ends, known, strict=True))
        return {end: ends[end] for end in sorted(ends, key=lambda end: -degrees[end])}

    def _is_all_told(self, more: Words, one: str, ends: Mapping[str, Path]) -> bool:
        """Whether further words of the question are told of what is meant, or say how many these are."""
        if any(re.search(rf"\b{word}\w* of\b", self.plan.asked, re.IGNORECASE) for word in more):
            return False  # which asks for something else
        first = next(iter(ends))
        if kind_of(self.kg, one) != "feat":  # what all are besides, *Renaissance artists*
            around = ([other for _, other in self.kg.neighbours(end, directed=True) if other != one] for end in ends)
            told = {word for other in set.intersection(*map(set, around)) for word in fold(other).split()}
        elif _ASKS.match(self.plan.asked):
            told = set(kind_of(self.kg, first).split())
        else:
            told = self._words_told(first)
        number = {str(len(ends)), *(word for word, count in NUMBERS.items() if count == len(ends))}
        return more <= {_stem(word) for word in (*told, *number, "kinds", "types", "species")}

    def _marks_and_kinds(self, said: str) -> Iterator[tuple[Words, str]]:
        """The marks and kinds with a name that has one of the rarest words of a text, each with that name's words."""
        index = name_index(self.kg)
        telling = {word for word in fold(said).split() if word not in FUNCTION_WORDS | _SAYS_NO_MORE}
        rarest = sorted(telling, key=index.rarity, reverse=True)[:_RAREST]
        words = dict.fromkeys(form for word in rarest for form in (word, *singulars(word)))
        for number in dict.fromkeys(number for word in words for number in index.holding(word, _MOST_NAMES)):
            name = index.name(number)
            known = self.kg.info.get(self.kg.entities[name.entity])
            if (
                known is not None
                and known.type in ("feat", "kind")
                and len(own := stems(" ".join(name.words))) >= _FEWEST
            ):
                yield own, self.kg.entities[name.entity]

    def _is_of_noun(self, one: str) -> bool:
        """Whether something is what *which* asks for: of *which state* nobody is the answer."""
        found = _WHICH.match(self.plan.asked)
        what = [end for label, end in self.kg.neighbours(one, directed=True) if label in _SAYS_WHAT]
        kinds = (kind_of(self.kg, one), *(bare(end) for end in what))
        told = {_stem(fold(kind).split()[-1]) for kind in kinds if kind}
        return found is None or any(_stem(kind.split()[-1]) in told for kind in names_of_kind(found["noun"]))

    def _is_described(self, heard: Heard) -> Iterator[Event]:
        """What one of the names of a reading belongs to, if the graph tells all other words of it."""
        if _OWNS.search(heard.text) or _DOES.search(heard.text):
            return
        for name in heard.masked.names:
            one, path = self._behind(name)
            beside = [other for other in (*heard.masked.names, *heard.masked.beside) if other is not name]
            joined = [self._told_of(one, other, name.entities) for other in beside]
            if not one or None in joined:
                continue
            if not self._is_of_noun(one):
                continue
            said = re.sub(r"\b[XY]\b(?:['’]s)?", " ", heard.text)
            words = [word for word in fold(said).split() if word not in FUNCTION_WORDS | _SAYS_NO_MORE]
            told = self._words_told(one)
            if not all(told & {word, *names_of_kind(word)} for word in words):
                continue
            paths = tuple(own for own in (path, *joined) if own is not None)
            meant = f"{one}: {name.text}"
            if (yield from self._operate("step", meant, [Operand(one, paths)], (one,))) is not None:
                yield computed_answer(f"{one} ({name.text}).", (one,))
            return

    def _told_of(self, one: str, other: Named, own: Sequence[str]) -> Path | None:
        """The path by which another name of the question is told of something, not by one of its own names."""
        besides = (t for t in self.query.topics if t != one and t not in own)  # *Portuguese* is Portugal as well
        return next(filter(None, (self.sets.joined(one, named) for named in (*other.entities, *besides))), None)

    def _behind(self, name: Named) -> tuple[str, Path | None]:
        """What a name that is not its own belongs to, with a path that says what it is; else nothing."""
        said, asked = fold(_ARTICLE.sub("", name.text)), self.query.answer_type
        for entity in name.entities:
            holders = self.sets.ends(entity, (ACHIEVED,)) if kind_of(self.kg, entity) in ("feat", "event") else {}
            if len(holders) == 1 and fits(asked, kind_of(self.kg, next(iter(holders)))) is not Fit.NO:
                return next(iter(holders.items()))
            own = stems(bare(entity))
            called = said in {fold(_ARTICLE.sub("", other)) for other in self.kg.names_of(entity)}
            telling = called and (" " in said or said not in common_words()) and own.isdisjoint(stems(said))
            if telling and fits(asked, kind_of(self.kg, entity)):
                return entity, self._what_it_is(entity)
        return "", None

    def _words_told(self, one: str) -> set[str]:
        """The words that say what something is and where it belongs."""
        around = [end for label, end in self.kg.neighbours(one, directed=True) if label in _SAYS_WHENCE]
        return {*kind_of(self.kg, one).split(), *self.kg.words_of(*around)}

    def _known_as(self, text: str) -> Iterator[Event]:
        """Who or what another name belongs to, where that is asked: *which politician was nicknamed the Iron Lady*.

        What else is named has to be joined to it; with nothing else what it is, or was, says which one it is. The
        *father of* whoever is nicknamed so is another question.
        """
        found = _KNOWN_AS.search(text)
        if (
            not found
            or self.plan.form is not Form.ENTITY
            or re.search(r"\b(?:of|for|by) (?:the|an?) ", text[: found.start()])
        ):
            return
        said = fold(_ARTICLE.sub("", found["name"]))
        for one in self.query.topics:
            if kind_of(self.kg, one) == "feat":  # which only says what something is known for
                continue
            names = {fold(_ARTICLE.sub("", name)) for name in self.kg.names_of(one)}
            told = [self.sets.joined(one, other) for other in self.query.topics if other != one]
            told = told or [self._what_it_is(one)]
            meant = said in names - {fold(one)} and fits(self.query.answer_type, kind_of(self.kg, one)) is not Fit.NO
            paths = tuple(path for path in told if path is not None)
            if meant and len(paths) == len(told):
                operands, also = [Operand(one, paths)], f"{one}, also called {found['name']}"
                if (yield from self._operate("step", also, operands, (one,))) is not None:
                    yield computed_answer(f"{also}.", (one,))
                return

    def _what_it_is(self, one: str) -> Path | None:
        """The path that says what kind of thing something is."""
        told = sorted(self.kg.neighbours(one, directed=True), key=lambda step: step[0] not in _SAYS_WHAT)
        return next((Path((end, one), (self.sets.inverse(label),)) for label, end in told), None)
