"""What every computed answer works with: the method's run, whole answer sets, and operations that the verifier redoes.

A method finds the answers of the base question (``query.form``); its best cited relation path gives the whole answer
set. What is computed from the set is an ``Operation``. The verifier computes it again from the sources, and only then
is it the answer. Where something is missing, the answer says what, and gives what the graph does hold.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rapidfuzz.distance import OSA

from kgdemo.answering.marks import Marks
from kgdemo.answering.operands import (
    HARMLESS,
    MAX_MEMBERS,
    PLACES,
    Sets,
    called,
    is_of_kind,
    literal_of,
    names_of_kind,
    operand_of,
)
from kgdemo.answering.records import ACHIEVED, of_one_order, says_order
from kgdemo.events import Answerability, AnswerFinal, Event, Notice, Operand, Operation, PathFound, PathVerified
from kgdemo.kg.labels import FUNCTION_WORDS, bare, date_parts, fold, spoken
from kgdemo.kg.path import Path
from kgdemo.linking.names import name_index
from kgdemo.models.embedding import embedding_cache
from kgdemo.query.answer_type import fits, kind_of
from kgdemo.query.form import understand
from kgdemo.query.measures import DATE
from kgdemo.query.nested import WHOLE, asks_of_kin
from kgdemo.query.query import Form, Query
from kgdemo.query.wording import names_in, plain_question
from kgdemo.ranking.scorer import path_words
from kgdemo.reasoners.base import Resources
from kgdemo.verify_operations import verify_operation

_PEOPLE = frozenset(("person", "man", "woman", "human", "people", "men", "women"))
_WHOLE = ("has country",)  # what lies in a place is listed by it whole
_UNLIKE = 0.31  # cosine to the nearest word below which a word of the question is about something else
_ROLES = frozenset(("captained", "refereed", "sponsored"))  # which no coach and no winner has
_ANOTHER_VERB = 0.28  # cosine of a verb to the nearest word of the relations, below which it is another one
_WHEN_DID = re.compile(r"^(?:when did|(?:in )?(?:what|which) year (?:did|was|were|is|are))\b", re.IGNORECASE)
_EVERY_YEAR = re.compile(
    r"^(?:when|(?:on |at )?(?:what|which) (?:date|day|time of (?:the )?year)) (?:is|are|do|does)\b", re.I
)
_LIVING = frozenset("born birth birthday die died dies death dead pass passed killed live lived alive kill end".split())
SAYS_LITTLE = frozenset(
    "both great can could list name named not of else lie lies come comes came most other others was were people men "
    "man based belong belongs take takes took part parts go goes went get got make made call called different there "
    "exist known ever total number many much all show tell find found lot kind kinds sort type types example examples "
    "world whole put play played plays like one ones thing things work works live lives speak spoken use used can't "
    "grandparents grandchildren cousins uncle aunt modern today current currently official officially famous in on at "
    "off over under next behind near beside beyond between either them they neighbours neighbors neighbouring side "
    "two three four five six seven eight nine ten rule every each still please have has had having some any few "
    "very history times "
    "up place usually normally typically often mainly mostly commonly generally same cinema cinemas theaters "
    "theatres native several give gives gave given ones also proper real traditional typical classic authentic".split()
)
_IN_YEARS = re.compile(r"\b(?:in|during|before|after|since|until) (?:the )?\d{3,4}s?\b")  # the first of those alone
_TITLES = {  # of heads of state, by what they are
    **dict.fromkeys("king queen monarch emperor empress tsar sultan".split(), "monarch"),
    "president": "president",
    "chancellor": "chancellor",
}
_ELEMENTS = frozenset(("land", "water", "air", "sea"))  # where the fastest is so
_OF_SEVERAL = re.compile(  # one of those that are named
    r"\bor\b|\bcompared?\b|\bthan (?!(?:in |at |on )?(?:any|all|every))", re.IGNORECASE
)
_SEASON = re.compile(r"\b(?:summer|winter)\b", re.IGNORECASE)
_TIME = frozenset(("year",))
_INSIDE = "located in"
_AWAY = frozenset(("coast on", "bordered by", "shares border with"))  # relations that lead out of a place
_HELD = frozenset("won win wins hold holds held achieved scored".split())
_MOST = re.compile(r"\b\w+est\b", re.IGNORECASE)
_ORDERS = frozenset("first second third last only".split())
_STEM = 4  # letters that a word shares with a name that is made of it: *moons*, *moonless*
_LONG_WORD = 5  # letters from which one of a word may be wrong
_SHOWN = 30  # members of a set named in a sentence
BY = "computed from the graph"
IN_ORDER = ("took office", "reign began", "wedding")  # what tells the order in which people came, before their birth
ORDER_WORD = re.compile(
    r"\b(?:first|second|third|fourth|fifth|last|eldest|oldest|youngest|largest|smallest|biggest|longest|shortest|highest"
    r"|tallest|lowest|latest|earliest|newest|deepest|fastest|the (?:most|least|fewest))\b(?= +\w)",
    re.IGNORECASE,
)

_BEYOND_EARTH = re.compile(
    r"\b(?:solar system|universe|space|planets?|moons?|mars|venus|jupiter|saturn|mercury)\b", re.I
)
_OF_THE_PAST = re.compile(
    r"\b(?:was|were|ever|history|historical|former|ancient|had been|of all time)\b", re.IGNORECASE
)
_SEVERAL_OF = re.compile(r"(?P<one>(?:\w+ )?\w+[^s\W])s (?P<of>of .+)")
_STATES = frozenset(("country", "empire", "state", "territory"))
_EXTINCT = frozenset(("extinct", "prehistoric", "dinosaur"))
_CELESTIAL = frozenset(("planet", "moon", "dwarf planet", "celestial body"))
_SAYS_SEX = ("gender", "instance of")  # of a person, of a deity
SEX = {  # words that say whether a man or a woman is meant
    **dict.fromkeys(
        "woman women female females actress actresses mother wife wives daughter daughters sister sisters queen queens "
        "girl girls grandmother aunt lady ladies empress goddess goddesses".split(),
        ("woman", "goddess"),
    ),
    **dict.fromkeys(
        "man men male males father husband husbands son sons brother brothers boy boys grandfather uncle".split(),
        ("man", "god"),
    ),
}
_ROLE_THERE = re.compile(  # *was Freddie Mercury the drummer in Queen*
    r"^(?:is|was|are|were) .+ (?:the|an?) (?P<role>[a-z]+(?: [a-z]+)?) (?:in|of|for) (?-i:[A-Z])", re.IGNORECASE
)


@dataclass(slots=True)
class MethodRun:
    """What a method's run has shown so far."""

    paths: dict[int, Path] = field(default_factory=dict)
    final: AnswerFinal | None = None
    doubt: float = -math.inf  # log-odds that the paths do not answer, where that was calibrated

    def see(self, event: Event) -> None:
        if isinstance(event, PathFound) and event.constrained and event.path is not None:
            self.paths[event.index] = event.path
        elif isinstance(event, PathVerified) and event.constrained and not event.verdict.faithful:
            self.paths.pop(event.index, None)
        elif isinstance(event, Answerability):
            self.doubt = event.log_odds

    @property
    def refused(self) -> bool:
        """Whether the method found no answer."""
        return self.final is None or bool(self.final.refusal) or not self.cited

    @property
    def cited(self) -> list[Path]:
        """The paths that the answer cites, in its order."""
        numbers = [] if self.final is None else [i for citation in self.final.citations for i in citation]
        return [self.paths[i] for i in dict.fromkeys(numbers) if i in self.paths]

    @property
    def met(self) -> list[Path]:
        """The paths that the first answer cites: one, or those of several topics that meet in it."""
        numbers = self.final.citations[0] if self.final is not None and self.final.citations else ()
        return [self.paths[i] for i in numbers if i in self.paths] or self.cited[:1]

    def walks(self) -> list[tuple[str, tuple[str, ...]]]:
        """The topics and relations of the paths, each once, cited ones first."""
        return list(dict.fromkeys((p.entities[0], p.relations) for p in (*self.cited, *self.paths.values())))

    def citing(self, answers: Sequence[str]) -> tuple[tuple[int, ...], ...]:
        """For each answer the shown paths that end in it."""
        return tuple(tuple(i for i, path in self.paths.items() if path.end == answer) for answer in answers)


class Computation:
    """What every way of answering from sets and values works with.

    Args:
        query: what is asked, with its plan.
        run: asks the method a question about the same topics.
        resources: graph and verifier.
        link: the entities that a piece of the question names, surest first.
        directed: follow edges from head to tail only.
        vocabulary: words that questions are made of, in lower case; another one with a capital letter is a name.
    """

    def __init__(
        self,
        query: Query,
        run: Callable[[Query], Iterator[Event]],
        resources: Resources,
        link: Callable[[str], Sequence[str]],
        directed: bool,
        vocabulary: Collection[str] = frozenset(),
    ) -> None:
        self.query, self.plan, self.resources, self.kg = query, query.plan, resources, resources.kg
        self.sets = Sets(resources.kg, directed)
        self._ask, self._link, self._vocabulary = run, link, vocabulary

    def _base(
        self, plainly: bool = False, topics: Sequence[str] = (), base: str = ""
    ) -> Generator[Event, None, MethodRun]:
        """Run the method on the base question, or on the question as it is; all but its final answer.

        Args:
            plainly: ask the question as it is.
            topics: those it is about; by default all.
            base: the question; by default that of the plan.
        """
        base = self.query.text if plainly else base or self.plan.base or self.query.text
        topics = topics or self.query.topics
        same = base == self.query.text and tuple(topics) == self.query.topics
        query = self.query if same else understand(base, topics, self.kg)
        ran = MethodRun()
        if not self.query.topics:
            ran.final = no_answer("I found nothing in the question that the graph knows by name.")
            return ran
        for event in self._ask(query):
            ran.see(event)
            if isinstance(event, AnswerFinal):
                ran.final = event
            else:
                yield event
        return ran

    def _plainly(self) -> Iterator[Event]:
        """The method's answer to the question as it was asked."""
        ran = yield from self._base(plainly=True)
        yield from unchanged(ran.final)

    def _operate(
        self, kind: str, text: str, operands: Sequence[Operand], result: tuple[str, ...], argument: str = ""
    ) -> Generator[Event, None, Operation | None]:
        """Report an operation that the verifier has computed as well; None where it has not."""
        if len(operands) > MAX_MEMBERS:
            yield no_answer(f"There are more than {MAX_MEMBERS:,} of them, more than are computed with.")
            return None
        operation = Operation(kind, text, tuple(operands), result, argument)
        if not verify_operation(operation, self.resources.verifier):
            yield Notice("What was computed from the graph could not be verified, so it is not shown.")
            yield no_answer("What was computed from the graph could not be verified.")
            return None
        yield (checked := replace(operation, verified=True))
        return checked

    def _of_another_time(self, ran: MethodRun) -> str:
        """What is said where a year of birth or death answers what is not asked: when somebody *ran* a mile."""
        if said := self._of_another_title(ran):
            return said
        relation = ran.cited[0].relations[-1] if ran.cited and not ran.refused else ""
        if relation.endswith(" in year") and _EVERY_YEAR.match(self.plan.asked):
            return "It asks for the day in every year, and the graph holds single dates."
        asked = _WHEN_DID.match(self.plan.asked) and _LIVING.isdisjoint(self.query.content_words)
        if relation not in ("born in year", "died in year") or not asked:
            return ""
        return f"The closest that the graph holds is “{spoken(relation)}”, and that is not what is asked."

    def _of_another_title(self, ran: MethodRun) -> str:
        """What is said where a head of state is not what the question calls him, or another year is asked about.

        The closest path may lead to him and be refused: that he holds another office is the better reason.
        """
        closest = next(iter((*ran.cited, *ran.paths.values())), None)
        if closest is None or closest.relations[-1] not in ("head of state", "head of government"):
            return ""
        head = closest.end
        held = [end for label, end in self.kg.neighbours(head, directed=True) if label == "position held"]
        titles = {title for word in fold(self.plan.asked).split() if (title := _TITLES.get(word.removesuffix("s")))}
        own = {title for position in held for word in fold(position).split() if (title := _TITLES.get(word))}
        if titles and own and titles.isdisjoint(own):
            return f"The graph knows no such office there; {head} is {listed(held)}."
        year = _IN_YEARS.search(self.plan.asked)
        return f"The graph says who it is now ({head}), not who it was {year[0]}." if year else ""

    def _whole_set(self, ran: MethodRun) -> dict[str, Path]:
        """All entities that the best cited relation path leads to and that fit the type asked for as its end does."""
        if not ran.cited:
            return {}
        best, *partners = ran.met
        answer_type = understand(self.plan.base or self.query.text, self.query.topics, self.kg).answer_type
        fit = fits(answer_type, kind_of(self.kg, best.end))
        ends = self.sets.ends(best.entities[0], best.relations)
        for partner in partners:
            others = self.sets.ends(partner.entities[0], partner.relations)
            ends = {end: path for end, path in ends.items() if end in others}
        return {end: path for end, path in ends.items() if fits(answer_type, kind_of(self.kg, end)) >= fit}

    def _set_of(self, ran: MethodRun, noun: str) -> dict[str, Path]:
        """The things of a kind that the base question asks for: of the paths' sets the first that has any.

        What lies in a place is read by containment as well, since a path of two hops leaves out what is deeper.
        """
        kind = noun.split()[-1] if noun else ""
        called_so = names_of_kind(noun)[1:2] if " " in noun else ()
        for topic, relations in ran.walks() if called_so else ():  # *member states*: where *has member state* leads
            if len(relations) == 1 and called_so[0] in " ".join(path_words(relations)):
                return {e: path for e, path in self.sets.ends(topic, relations).items() if e not in self.query.topics}
        decoded: dict[str, Path] = {}
        for topic, relations in ran.walks()[:1] if ran.refused else ran.walks()[:5]:
            ends = {e: path for e, path in self.sets.ends(topic, relations).items() if e not in self.query.topics}
            fitting = ends if kind_of(self.kg, topic) == "position" else self.sets.of_noun(ends, noun)
            if fitting is None:  # the graph knows no such kind: what the model found is taken at its word
                anything = kind in _PEOPLE or relations[-1] == self.sets.inverse(
                    _INSIDE
                )  # a country has more than *hospitals*
                fitting = {} if anything or ran.refused else ends
            if fitting:
                decoded = fitting
                break
        if re.search(r"\b(?:in|of|on)\b", self.plan.base):
            for topic in self.query.topics:
                if decoded and all(path.relations[-1] in _WHOLE for path in decoded.values()):
                    return decoded
                if kind_of(self.kg, topic) in PLACES:
                    inside = self.sets.within(topic, noun)
                    elsewhere = any(_AWAY & set(path.relations) for path in decoded.values())  # beyond an ocean
                    return inside if len(inside) > len(decoded) or (inside and elsewhere) else decoded
        if not decoded:  # the moons of a planet lie around it, whatever the model makes of *of*
            decoded = max((self.sets.around(topic, noun) for topic in self.query.topics), key=len, default={})
            alone = not ran.refused or re.fullmatch(r"which [\w ]+ are (?:of|in|around) .+", self.plan.base)
            decoded = decoded if alone else {}
        return decoded

    def _of_here_and_now(self, ends: Mapping[str, Path | None]) -> dict[str, Path | None]:
        """Without what lies on another planet and the states that are no more, where the question looks at neither."""
        here = dict(ends)
        if not _BEYOND_EARTH.search(self.query.text):
            away = {
                end
                for end in ends
                for label, around in self.kg.neighbours(end, directed=True)
                if label == "located in" and around != "Earth" and kind_of(self.kg, around) in _CELESTIAL
            }
            here = {end: path for end, path in ends.items() if end not in away} or here
        if _OF_THE_PAST.search(self.query.text):
            return here
        gone = {end for end in here if kind_of(self.kg, end) in _STATES and operand_of(self.kg, end, ("ended",))}
        gone |= {end for end in here if kind_of(self.kg, end) == "animal" and self._is_extinct(end)}
        return {end: path for end, path in here.items() if end not in gone}

    def _is_extinct(self, animal: str) -> bool:
        kinds = (end for label, end in self.kg.neighbours(animal, directed=True) if label == "instance of")
        return any(not _EXTINCT.isdisjoint(kind.split()) for kind in kinds)

    def _dated(self, ends: Mapping[str, Path], dates: Sequence[str] = (DATE,)) -> list[Operand]:
        """Those of which the graph knows a year."""
        return [o for end, path in ends.items() if (o := operand_of(self.kg, end, dates, (path,))) is not None]

    def _dates(self, entities: Sequence[str]) -> list[str]:
        return ["born"] if entities and all(kind_of(self.kg, e) == "person" for e in entities) else [DATE]

    def _modifier(self, noun: str) -> str:
        """What narrows a kind down where the graph knows only the wider one: of *land animals* the *land*."""
        *before, _ = noun.split() or [""]
        narrowing = [word for word in before if word.lower() not in HARMLESS]
        if not narrowing or any(" " in kind and called(self.kg, kind) for kind in names_of_kind(noun)):
            return ""
        return " ".join(narrowing)

    def _of_place(self, adjective: str, noun: str) -> dict[str, Path]:
        """The things of a kind within the place that an adjective names: *South American* countries."""
        called_so = name_index(self.kg).called(adjective)
        places = dict.fromkeys(self.kg.entities[name.entity] for name in called_so)
        return next((ends for place in places if (ends := self.sets.within(place, noun.split()[-1]))), {})

    def _uncovered(self, path: Path, words: Sequence[str] = (), of_kind: bool = True) -> str:
        """A word of the question that nothing about a path is like: of the moons that with an *atmosphere*.

        Args:
            path: to one of the answers.
            words: those looked at; by default the content words but for the kind of thing that is asked for.
            of_kind: a word may be about what kind of thing the path leads to as well, not about its relations alone.
        """
        kinds = [kind_of(self.kg, entity) for entity in path.entities[1:]]
        nouns = {word for kind in (self.plan.noun.lower(), *names_of_kind(self.plan.noun)) for word in kind.split()}
        named = {word[:_STEM] for entity in (*path.entities, *self.query.topics) for word in fold(entity).split()}
        said = [*path_words(path.relations), *(filter(None, kinds) if of_kind else ())]
        words = words or [word for word in self.query.content_words if word not in nouns]
        telling = [w for w in words if w in self._vocabulary and w not in SAYS_LITTLE and w[:_STEM] not in named]
        if not telling:
            return ""
        vectors = embedding_cache(self.resources.embedder)
        nearest = (vectors.vectors(telling) @ vectors.vectors(list(dict.fromkeys(said))).T).max(axis=1)
        return telling[int(nearest.argmin())] if nearest.min() < _UNLIKE else ""

    def _has_the_role(self, path: Path) -> bool:
        """Whether an end of a path has the occupation that is claimed: a member of a band is not its drummer."""
        found = _ROLE_THERE.match(self.plan.asked)
        role = fold(found["role"]) if found else ""
        if not role or kind_of(self.kg, role) != "occupation" or role in path_words(path.relations):
            return True
        ends = (path.entities[0], path.end)
        return any(role == fold(bare(other)) for end in ends for _, other in self.kg.neighbours(end, directed=True))

    def _is_unlike(self, path: Path, verb: str) -> bool:
        """Whether a verb says something else than any relation of a path: who *captained* a side did not win it."""
        vectors = embedding_cache(self.resources.embedder)
        said = list(dict.fromkeys(path_words(path.relations)))
        if verb in _ROLES:
            return not any(word[:_STEM] == verb[:_STEM] for word in said)
        return float((vectors.vectors([verb]) @ vectors.vectors(said).T).max()) < _ANOTHER_VERB

    def _record(self) -> str:
        """The record or first that the whole question names, such as *First woman in space*; else empty."""
        if asks_of_kin(self.plan.asked):  # *the father of somebody's father* is not his father
            return ""
        words = {word for word in self.query.content_words if len(word) > 1} - SAYS_LITTLE - FUNCTION_WORDS
        words -= {*names_of_kind(self.plan.noun), *_HELD}  # whoever *holds* it
        for topic in self.query.topics:
            names = self.kg.names_of(topic)
            achieved = self.sets.ends(topic, (ACHIEVED,))
            if not self._may_hold(achieved, names) or not self._order_said(names) or not self._where_said(names):
                continue
            told = {word for name in names for word in re.findall(r"\w+", fold(name))}
            others = (other for other in self.query.topics if other != topic)
            if any(
                told.isdisjoint(fold(other).split()) and all(self.sets.joined(end, other) is None for end in achieved)
                for other in others
            ):  # of a place that the record is not of
                continue
            if achieved and all(_alike_in(word, told) for word in words):
                return topic
        if self.sets.members(self.plan.noun):  # the deepest of the *Great Lakes*
            return ""
        if self.plan.base or not self.plan.noun or self.plan.place > 1:  # of a place or somebody, or the second of them
            return ""
        nouns = names_of_kind(self.plan.noun)
        if self._modifier(self.plan.noun):  # the largest *African* country is not the largest one
            nouns = tuple(noun for noun in nouns if " " in noun)
        said = [f"{word} {noun}" for word in _MOST.findall(self.query.text) for noun in nouns]
        said += [f"{text} in the world" for text in said]
        named = (name.entity for text in said for name in name_index(self.kg).called(text))
        records = (one for one in map(self.kg.entities.__getitem__, named) if self._where_said(self.kg.names_of(one)))
        return next((one for one in records if self.sets.ends(one, (ACHIEVED,))), "")

    def _record_meant(self) -> str:
        """The record that the question means in other words (``records``), joined to what else it names; or empty."""
        text = self.query.text
        if _OF_SEVERAL.search(text) or not says_order(text) or _IN_YEARS.search(text):
            return ""
        if asks_of_kin(self.plan.asked):
            return ""
        marks = Marks(self.kg, self.resources.embedder)
        whole = (one for one, gap in marks.of_question(plain_question(text), self.query.answer_type) if gap == WHOLE)
        meant = next(whole, None)
        if meant is None or not self._where_said(self.kg.names_of(meant.mark)):
            return ""
        record = meant.mark
        known, holders = self.kg.info[record], self._holders(record)
        if self.of_sex(holders) == {}:  # the first person there was a man, and it is the first woman that is asked for
            return ""
        told = {word[:_STEM] for name in (record, *known.aliases) for word in fold(name).split()}
        kinds = names_of_kind(self.plan.noun)
        held = {word[:_STEM] for one in holders for word in fold(one).split()}
        for name in names_in(self.plan.asked):  # of somebody whom linking has not taken
            linked = () if fold(name)[:_STEM] in told | held else self._link(name)
            if linked and all(self.sets.joined(one, other) is None for one in holders for other in linked):
                return ""
        said = {word[:_STEM] for word in fold(self.plan.asked).split()}
        for topic in self.query.topics:
            named = [word[:_STEM] for word in fold(bare(topic)).split()]
            aside = kind_of(self.kg, topic) == "feat" or topic.lower() in kinds or topic.islower()
            aside = aside or said.isdisjoint(named)  # what was left aside when the question was put in other words
            if not aside and told.isdisjoint(named) and all(self.sets.joined(one, topic) is None for one in holders):
                return ""  # of a place, or somebody, that the record is not about
        return record

    def _where_said(self, names: Sequence[str]) -> bool:
        """Whether a record is one *on land* or *in the air*, where the question says so."""
        words = {word for name in names for word in fold(name).split()}
        return _ELEMENTS & set(fold(self.plan.asked).split()) <= words

    def _order_said(self, names: Sequence[str]) -> bool:
        """Whether the question says the order that a record is named by, and no other: the *first* prize, any prize."""
        said = _ORDERS.intersection(fold(self.query.text).split())
        orders = [{word for word in fold(name).split() if word in _ORDERS} for name in names]
        return any(order <= said and bool(order) == bool(said) for order in orders)

    def _may_hold(self, holders: Collection[str], names: Sequence[str]) -> bool:
        """Whether a record may be of what the question asks for: an ocean's trench is no deepest *lake*."""
        if self.plan.form is Form.SUPERLATIVE and not any(of_one_order(self.query.text, name) for name in names):
            return False  # it only describes where the highest of something is
        kinds = names_of_kind(self.plan.noun)
        if not kinds or self.plan.form is not Form.SUPERLATIVE:
            return True
        said = {word for name in names for word in fold(name).split()}
        return not said.isdisjoint((*kinds, *fold(self.plan.noun).split())) or any(
            is_of_kind(self.kg, one, kinds) for one in holders
        )

    def of_sex(self, ends: Mapping[str, Path]) -> dict[str, tuple[Path, Path]] | None:
        """Those of some people who are women, or men, where the question says so.

        Returns:
            each with the path that leads to it and the one that says so; None where the question does not say, or where
            the graph says it of none of them.
        """
        kinds = self._sex_asked()
        stated = {
            end: Path((kind, end), (self.sets.inverse(label),))
            for end in ends
            for label, kind in self.kg.neighbours(end, directed=True)
            if label in _SAYS_SEX and kind in ("woman", "man", "goddess", "god")
        }
        if not kinds or not stated:
            return None
        return {end: (ends[end], path) for end, path in stated.items() if path.entities[0] in kinds}

    def _sex_asked(self) -> tuple[str, ...]:
        """What says that women, or men, are asked for; empty where neither are, or both: *sons and daughters*."""
        asked = fold(self.plan.asked or self.query.text).split()  # not what stands around the question
        kinds = {SEX[word] for word in self.query.content_words if word in SEX and word in asked}
        return kinds.pop() if len(kinds) == 1 else ()

    def office_named(self, noun: str) -> str:
        """The office that a noun names whole: *US presidents*."""
        several = _SEVERAL_OF.fullmatch(noun)  # *presidents of the USA*
        single = (f"{several['one']} {several['of']}",) if several else ()
        names = (name for one in (*names_of_kind(noun), *single) for name in name_index(self.kg).called(one))
        called_so = (self.kg.entities[name.entity] for name in names)
        return next((one for one in called_so if kind_of(self.kg, one) == "position"), "")

    def _says(self, answer: str, claimed: str, operands: Sequence[Operand], text: str) -> Iterator[Event]:
        """Yes or no as the answer, with what says so."""
        operation = yield from self._operate("holds", text, operands, (answer,), claimed)
        if operation is not None:
            yield computed_answer(text, (answer.capitalize(),))

    def _holders(self, feat: str) -> dict[str, Path]:
        return self.sets.ends(feat, (ACHIEVED,))

    def of_record_meant(self) -> Iterator[Event]:
        """Who or what the record belongs to that the question means in other words; nothing where it means none."""
        if record := self._record_meant():
            yield from self._of_record(record)

    def _of_record(self, feat: str) -> Iterator[Event]:
        """Who or what a record belongs to."""
        ends = self._holders(feat)
        operands = [Operand(end, (path,)) for end, path in ends.items()]
        operation = yield from self._operate("step", f"{feat}: {listed(list(ends))}", operands, tuple(ends))
        if operation is not None:
            yield computed_answer(f"{listed(list(ends))} ({feat}).", tuple(ends))

    def _editions_called(self, what: str) -> list[str]:
        """The editions of a series by its name; the *Olympics* are those in summer and in winter."""
        names = [what] if _SEASON.search(what) else [what, f"winter {what}"]
        linked = ([one for one in self._link(name) if self.sets.editions(one)] for name in names)
        series = dict.fromkeys(one for own in linked for one in own[:1])
        return [edition for one in series for edition in self.sets.editions(one)]

    def _shown_by_paths(self, kind: str, ends: Mapping[str, tuple[Path, ...]]) -> Iterator[Event]:
        """Entities as the answer, with the paths that lead to them."""
        operands = [Operand(end, paths) for end, paths in ends.items()]
        text = "; ".join(str(paths[0]) for paths in ends.values())
        operation = yield from self._operate(kind, text, operands, tuple(ends))
        if operation is not None:
            yield computed_answer(f"{listed(list(ends))} ({text}).", tuple(ends))

    def _shown(self, ends: Mapping[str, Path]) -> Iterator[Event] | None:
        """Entities as the answer, each with the one path that leads to it; None where there are none."""
        return self._shown_by_paths("step", {end: (path,) for end, path in ends.items()}) if ends else None

    def _says_when(self, answers: Sequence[str]) -> bool:
        """Whether any answer is a year, where the question asks when."""
        return self.query.answer_type.types != _TIME or any(kind_of(self.kg, one) in _TIME for one in answers)

    def _none_found(self, ran: MethodRun, noun: str) -> Iterator[Event]:
        if ran.refused:
            yield from unchanged(ran.final)
        else:
            yield no_answer(f"The graph holds no {noun} here; what was found is of another kind.")

    def _relations_of(self, entity: str) -> str:
        own = [*self.kg.literals.get(entity, {}), *(label for label, _ in self.kg.neighbours(entity))]
        return ", ".join(list(dict.fromkeys(own))[:6])


def _alike_in(word: str, words: Collection[str]) -> bool:
    """Whether a word is among others; of a long one a letter may be wrong."""
    return word in words or (len(word) > _LONG_WORD and any(OSA.distance(word, one) <= 1 for one in words))


def unchanged(final: AnswerFinal | None) -> Iterator[Event]:
    if final is not None:
        yield final


def no_answer(why: str) -> AnswerFinal:
    return AnswerFinal(why, (), (), BY, refusal=why)


def one_alone(name: str) -> AnswerFinal:
    """What is said where one thing is counted of which the graph need not hold all."""
    return no_answer(f"The graph holds one here, {name}, and one alone is no count.")


def computed_answer(text: str, answers: tuple[str, ...], ran: MethodRun | None = None) -> AnswerFinal:
    return AnswerFinal(text, answers, (ran or MethodRun()).citing(answers), BY)


def listed(names: Sequence[str], limit: int = _SHOWN) -> str:
    """Names in a sentence, the first ones of many."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def order_of(operand: Operand) -> float:
    return literal_of(operand).order


_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    "<=": operator.le,
    "<": operator.lt,
    ">": operator.gt,
    ">=": operator.ge,
}


def within_bound(dated: Sequence[Operand], bound: str) -> tuple[str, ...]:
    """The entities whose value fits all parts of a bound, such as ``>= 1601 and <= 1700``, in the values' order."""
    limits = [(_COMPARED[sign], float(limit)) for sign, limit in (part.split() for part in bound.split(" and "))]

    def fits(operand: Operand) -> bool:
        is_day = "-" in operand.value[1:]  # any day of a year is in it
        value = order_of(operand) // 1 if is_day else order_of(operand)
        return all(compared(value, limit) for compared, limit in limits)

    return tuple(o.entity for o in sorted(dated, key=order_of) if fits(o))


def said_bound(bound: str) -> str:
    """A bound of years in words."""
    if " and " in bound:
        first, last = (part.split()[1] for part in bound.split(" and "))
        return f"between {first} and {last}"
    sign, year = bound.split()
    return f"{ {'<': 'before', '<=': 'until', '>': 'after', '>=': 'since', '=': 'in'}[sign] } {year}"


def is_one_moment(earlier: Operand, later: Operand) -> bool:
    """Whether two dates only say when something happened, by the day and by the year, and not how long it took."""
    return all(one.attribute.startswith("happened") for one in (earlier, later))


def years_between(earlier: Operand, later: Operand, kind: str) -> str:
    (y0, m0, d0), (y1, m1, d1) = date_parts(earlier.value), date_parts(later.value)
    years = y1 - y0 - (1 if y0 < 0 < y1 else 0)  # there was no year 0
    if m0 and m1:
        return str(years - ((m1, d1 or 0) < (m0, d0 or 0)))
    return f"{years - 1} or {years}" if kind == "age" else str(years)
