"""Yes where a path says so, no where the graph states something else in its place, and neither where it is silent."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from kgdemo.answering.computation import SEX, MethodRun, listed, no_answer
from kgdemo.answering.operands import LIES_IN, PASSES_ON, PLACES, names_of_kind
from kgdemo.answering.properties import IS_OR_PLAYS, Properties
from kgdemo.answering.records import ACHIEVED
from kgdemo.events import Event, Operand
from kgdemo.kg.labels import FUNCTION_WORDS, bare, fold, spoken, with_article
from kgdemo.kg.path import Path
from kgdemo.linking.names import name_index
from kgdemo.query.answer_type import kind_of
from kgdemo.query.claimed import kin_claimed
from kgdemo.query.measures import KIN
from kgdemo.ranking.scorer import path_words

_SAYS_NOT_WHAT = frozenset(("part of", "has part", "consists of", "ingredient of", "named after"))
_KIND_OF_KIN = frozenset(("person", "character", "deity"))
_SEXES = frozenset(("woman", "man", "goddess", "god"))
_LIVING = frozenset(("animal", "plant"))
_ARE_THERE = re.compile(
    r"^(?:(?:is|are) there (?:any |an? )?(?:wild )?(?P<noun>[\w' -]+?) (?:living |to be found )?(?:in|on)"
    r"|(?:do|does) (?:wild )?(?P<who>[\w' -]+?) (?:still )?live (?:wild )?(?:in|on)"
    r"|(?:is|are) (?P<which>[\w' -]+?) (?P<native>native|endemic) to) (?P<place>.+?)$",
    re.IGNORECASE,
)
_WAS_EVER_IN = re.compile(
    r"^(?:was|were|has|have) (?P<x>.+?) (?:ever )?(?:been )?(?:in|to) (?P<place>.+)$", re.IGNORECASE
)
_BEEN_THERE = (
    *((one,) for one in ("born in", "died in", "residence", "educated at")),
    *((one, "took place in") for one in ("commanded", "won", "took part in")),
)
_ONE_KIND_OF_MANY = frozenset(("instance of", "has instance", "animal family"))  # others may be left unsaid
_IS_IT = re.compile(r"^(?:is|are|was|were)\b", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:never|not)\b|\b\w+n't\b(?! (?:it|he|she|they|there)\b)", re.IGNORECASE)
_GODS = frozenset("god goddess gods goddesses deity greek roman norse egyptian".split())
_YEAR = re.compile(r"\b[12]\d{3}\b")
_HOSTED = re.compile(r"\bhost(?:ed|s)?\b|\b(?:won|win|wins)\b", re.IGNORECASE)
_MANY = 10  # holders of an office from which the graph is taken to name them all
_MANY_YEARS = 40  # of an award that the graph holds one by one, from which it is taken to name all who won it
_COMPETES = re.compile(
    r"^(?:did|does|do|has|have) .+ (?:run|play|compete|swim|race|box|jump|ride|sail|row|ski)\w* for ", re.I
)
_NEITHER = "The graph says nothing that decides this, neither yes nor no."
_ALIVE = re.compile(r"^(?:is|are) .+ (?:still )?(?:alive|living|dead)$|^does .+ still live$", re.IGNORECASE)
_DONE = re.compile(r"(?:did|has|have)\b", re.IGNORECASE)
_VERB_DONE = re.compile(r"^[Dd]id [^,]*?[A-Z][\w.'’-]* (?P<verb>[a-z]{3,})\b")
_CLAIMS_A_TIME = re.compile(r"[<>=]+ \d{3,4}$")
_LIVED_WHERE = re.compile(r"^(?:was|were|did) .+ (?P<verb>born|buried|die) in (?!\d)", re.IGNORECASE)
_PAST = {"die": "died"}
_OUTCOME = frozenset("win won lose lost beat defeat defeated survive survived".split())
_IS_IN = re.compile(r"^(?:is|was) (?P<x>.+?) in (?:the )?(?P<y>.+)$", re.IGNORECASE)
_CAME_FROM = re.compile(
    r"^(?i:did|do|does) .+ (?:come|originate|hail) from (?!\d)"
    r"|^(?i:is|are|was|were) .*[A-Z][\w/.]+ (?:originally )?from [A-Z]"
)
_COMES_FROM = ("citizen of", "originates from", "located in", "headquartered in", "based in")
_IS_WHERE = (
    "housed in",
    "located in",
    "exhibited in",
    "headquartered in",
    "based in",
    "stands on",
    "buried in",
    "set in",
)
_DONE_TO = re.compile(r"\b(?:born|\w+ed|found|held|built|made|set|spoken|worn|sung|won)$", re.IGNORECASE)
_IS_ONE_BY = re.compile(r"^(?:is|was|are|were) .+ (?:an?|the) (?:\w+ )?(?P<noun>[a-z]+) (?:by|of|from) ", re.IGNORECASE)
_IN_TIME = re.compile(r"\b(?:before|after|earlier|later|sooner|until)\b", re.IGNORECASE)
_OF_PLACE = re.compile(r"\b(?:in|part|on|inside|within|located|lie|lies|belong|belongs)\b", re.IGNORECASE)
_APART = frozenset(("region", "state", "province"))  # kinds of places of which a city lies in one
_LARGEST = frozenset(("country", "continent"))
_ANY_OF = re.compile(
    r"\b(?:won|win|received?|awarded|got|get|given) (?:an?|any|the) (?P<thing>[\w ]+?)[?.! ]*$", re.IGNORECASE
)

_NAMED = frozenset(("named after", "gave its name to"))
_ASKS_NAME = re.compile(r"\b(?:name[ds]?|naming|called|eponym\w*)\b", re.IGNORECASE)

_TWO_OBJECTS = re.compile(r"\b(?:of|from|by|with|in) (?P<one>[\w'-]+(?: \w+)?) and (?P<other>[\w'-]+(?: \w+)?)$")


def _apart(topics: Sequence[str]) -> list[str]:
    """Topics without those whose name is part of another one's: of *red blood cells* nothing is said of blood."""
    named = {topic: set(fold(bare(topic)).split()) for topic in topics}
    return [topic for topic in topics if not any(named[topic] < named[other] for other in topics)]


class Claims(Properties):
    """Answers to questions that ask yes or no."""

    def yes_or_no(self) -> Iterator[Event]:
        """Whether it is so, as far as the graph says."""
        denied = _DENIED.search(self.plan.asked)
        if denied:
            yield no_answer(f"To a question with “{denied[0]}” yes and no mean two things; please ask it without.")
            return
        if self.plan.noun and (yes_no := self._is_a(self.plan.things[0], self.plan.noun)):
            yield from yes_no
            return
        died = self._died() if _ALIVE.match(self.plan.asked) else None
        alive = self._still_alive() if _ALIVE.match(self.plan.asked) and died is None else None
        if died is not None or alive is not None:
            yield from self._no_longer_alive(died) if died is not None else alive or ()
            return
        of_people = (self._is_kin, self._is_real, self._is_of_nation, self._has_been_one_of_nation, self._was_there)
        of_things = (self._is_able, self._are_there, self._has_a_coast)
        for reader in (self._number_claimed, *of_people, *of_things):
            if (told := reader()) is not None:
                yield from told
                return
        stated = self._has_any_stated()
        if stated is not None:
            yield from self._says_number(stated)
            return
        same = self._same_thing()
        if same:
            operand = Operand(same, (), "type", kind_of(self.kg, same))
            yield from self._says("yes", same, [operand], f"Yes: both are names of {same}.")
            return
        having = self._has_one_called()
        if having:
            subject, path = having[0]
            yield from self._says("yes", subject, [Operand(path.end, (path,))], f"Yes: {path}.")
            return
        topics = _apart([topic for topic in self.query.topics if topic in self.kg.entities])
        topics = topics if len(topics) == 2 else self._one_in_the_other(topics) or self._nation_said() or topics
        coloured = self._is_coloured(topics)
        if coloured is not None:
            yield from coloured
            return
        ran = yield from self._base(topics=topics)
        such = self._is_such(topics[0]) if len(topics) == 1 else None
        if such is not None:
            yield from such
        elif len(topics) < 2 and self.plan.noun and topics:
            own = kind_of(self.kg, topics[0])
            said = f"; it calls {topics[0]} {with_article(own)}" if own else ""
            yield no_answer(f"The graph does not say whether {topics[0]} is {with_article(self.plan.noun)}{said}.")
        elif len(topics) < 2:
            known = f" Of {topics[0]} it holds: {self._relations_of(topics[0])}." if topics else ""
            yield no_answer(f"To say yes or no I need two things that the graph knows; I found {len(topics)}.{known}")
        elif re.search(r"\bsame\b|\bboth\b|\bshare\b(?!.*\bborder)", self.query.text, re.IGNORECASE):
            yield from self._shared(ran, topics)
        elif _CLAIMS_A_TIME.match(self.plan.claimed):  # what is so need not have been so by then
            yield no_answer("The graph does not say when that was, so neither yes nor no.")
        else:
            yield from self._decided(ran, topics)

    def _one_in_the_other(self, topics: Sequence[str]) -> list[str]:
        """What two names mean of which one is said to be in the other, where they name one thing or more than two."""
        found = _IS_IN.match(self.plan.asked)
        meant = [next(iter(self._link(found[name])), "") for name in ("x", "y")] if found else [""]
        known = len(topics) < 2 or set(meant) <= set(topics)
        return meant if known and all(meant) and len(set(meant)) == len(meant) else []

    def _said_directly(self, topics: Sequence[str]) -> Iterator[Event] | None:
        """Yes where an edge says that one topic is what the other names, *warm-blooded*; None where none does."""
        for one in topics:
            for label, end in self.kg.neighbours(one, directed=True):
                if end in topics and end != one and label in IS_OR_PLAYS and _IS_IT.match(self.plan.asked):
                    path = Path((one, end), (label,))
                    return self._says("yes", end, [Operand(end, (path,))], f"Yes: {path}.")
        return None

    def _of_an_edition(self, topics: Sequence[str]) -> Iterator[Event] | None:
        """Whether somebody hosted or won one of a series, *has Rio hosted the Olympics*; None where not asked."""
        said = _HOSTED.search(self.plan.asked)
        series = [topic for topic in topics if self.sets.editions(topic) and topic not in self.sets.editions(topic)]
        if not said or len(series) != 1 or len(topics) != len(series) + 1:
            return None
        relation = "hosted by" if said[0].lower().startswith("host") else "won by"
        (other,) = (topic for topic in topics if topic not in series)
        found: dict[str, Path] = {}
        year = _YEAR.search(self.plan.asked)
        editions = [one for one in self.sets.editions(series[0]) if not year or year[0] in one.split()]
        for edition in editions:
            for end, path in self.sets.ends(edition, (relation,)).items():
                found[end] = path
                if (whole := self.sets.onward(path, other)) is not None:
                    return self._says("yes", other, [Operand(whole.end, (whole,))], f"Yes: {path}.")
        if not found:
            return None
        operands = [Operand(end, (path,)) for end, path in found.items()]
        said_no = f"No, as far as the graph says: {series[0]} {relation} {listed(list(found), 12)}."
        return self._says("no", other, operands, said_no)

    def _is_kin(self) -> Iterator[Event] | None:
        """Whether somebody is the son, the wife, the brother of somebody; None where that is not asked, or not known.

        Whose sex the graph does not state may be either. *No* needs the parent, the spouse stated who is one instead.
        """
        claims = kin_claimed(self.plan.asked)
        for name, role, of_whom in claims:
            ones, others = self._people_called(name), self._people_called(of_whom)
            relations = [(KIN[role],), *([("child of", "child")] if KIN[role] == "sibling" else [])]  # of one parent
            pairs = [(one, other) for one in ones for other in others if one == ones[0] or other == others[0]]
            walks = (self.sets.leads(one, walk, other) for walk in relations for one, other in pairs if one != other)
            if (path := next(filter(None, walks), None)) is not None:
                return self._of_the_sex(path, role)
        for name, role, of_whom in claims:
            one, other = (next(iter(self._people_called(text, whole=True)), "") for text in (name, of_whom))
            if one and other and kind_of(self.kg, one) == kind_of(self.kg, other):  # no actor is a character's father
                return self._no_kin(one, role, other)
        return None

    def _people_called(self, name: str, whole: bool = False) -> list[str]:
        """Whom a name may mean, those whom linking chose first; by the whole name, if that is asked."""
        meant = [one for one in self._link(name) if kind_of(self.kg, one) in _KIND_OF_KIN]
        words = set(fold(name).split()) - FUNCTION_WORDS
        meant = [one for one in meant if not whole or self.kg.words_of(one) >= words]
        return sorted(meant, key=lambda one: one not in self.query.topics)

    def _of_the_sex(self, path: Path, role: str) -> Iterator[Event]:
        """Yes where whom a path begins with is not stated to be of the other sex: a brother is no sister."""
        wanted, who = SEX.get(role, ()), path.entities[0]
        stated = {end: label for label, end in self.kg.neighbours(who, directed=True) if end in _SEXES}
        against = next((end for end in stated if wanted and end not in wanted), "")
        if against:
            sex = Path((who, against), (stated[against],))
            return self._says("no", role, [Operand(against, (sex,))], f"No: {path}, and {sex}.")
        return self._says("yes", who, [Operand(path.end, (path,))], f"Yes: {path}.")

    def _no_kin(self, one: str, role: str, other: str) -> Iterator[Event]:
        """No where others are stated to be what somebody is claimed to be, or it is the other way round."""
        relation = KIN[role]
        back = (
            self.sets.leads(one, (self.sets.inverse(relation),), other) if relation in ("child", "child of") else None
        )
        if back is not None:
            return self._says("no", role, [Operand(back.end, (back,))], f"No, it is the other way round: {back}.")
        child, parent = (other, one) if relation == "child" else (one, other)
        stated: dict[str, Path] = {}
        if relation in ("child", "child of"):
            stated = self.sets.ends(child, ("child of",))
            sexes = {end: self._sexes(end) for end in (*stated, parent)}
            enough = len(stated) > 1 or (sexes[parent] and sexes[parent] in [sexes[end] for end in stated])
            stated = stated if enough else {}
        elif relation == "spouse":
            stated = self.sets.ends(one, (relation,)) or self.sets.ends(other, (relation,))
        elif self.sets.ends(other, (relation,)):
            stated = self.sets.ends(one, (relation,))
        if not stated:
            return iter((no_answer(f"The graph does not say whether {one} is {with_article(role)} of {other}."),))
        operands = [Operand(end, (path,)) for end, path in stated.items()]
        told = "; ".join(map(str, stated.values()))
        return self._says("no", role, operands, f"No, as far as the graph says: {told}.")

    def _sexes(self, who: str) -> set[str]:
        return {end.replace("god", "man") for _, end in self.kg.neighbours(who, directed=True) if end in _SEXES}

    def _are_there(self) -> Iterator[Event] | None:
        """Yes where something of a kind is known to live or lie in a place, *are there penguins in Africa*; else None.

        Only what lives nowhere else is native to a place.
        """
        found = _ARE_THERE.match(self.plan.asked)
        places = [one for one in self._link(found["place"]) if kind_of(self.kg, one) in PLACES][:1] if found else []
        if not found or not places:
            return None
        noun = found["noun"] or found["who"] or found["which"]
        inside = self.sets.within(places[0], noun) if found["noun"] else {}
        for end in () if inside or not found["noun"] else self.sets.members(noun):
            for own in self.sets.ends(end, ("located in",)).values():
                if (onward := self.sets.onward(own, places[0])) is not None:
                    inside[onward.end] = onward
        if (path := next(iter(inside.values()), None)) is not None and not self.sets.leaves_continent_open(path):
            return self._says("yes", path.end, [Operand(path.end, (path,))], f"Yes: {path}.")
        kinds = names_of_kind(noun)
        ends = tuple(f" {kind}" for kind in kinds)
        names = (name for name in self.kg.info if name.lower() in kinds or name.lower().endswith(ends))
        for member in (name for name in names if kind_of(self.kg, name) in _LIVING):
            homes = self.sets.ends(member, ("lives in",))
            there = {end: path for end, own in homes.items() if (path := self.sets.onward(own, places[0])) is not None}
            elsewhere = [end for end in homes if kind_of(self.kg, end) in PLACES and end not in there]
            path = next((path for path in there.values() if not self.sets.leaves_continent_open(path)), None)
            if path is not None and not (found["native"] and elsewhere):
                return self._says("yes", path.end, [Operand(path.end, (path,))], f"Yes: {path}.")
        return None

    def _was_there(self) -> Iterator[Event] | None:
        """Whether somebody was in a place, *was Napoleon ever in Egypt*; yes or nothing, for who says where he was not.

        None where that is not asked.
        """
        found = _WAS_EVER_IN.match(self.plan.asked)
        meant = [one for one in self._link(found["place"]) if kind_of(self.kg, one) in PLACES][:1] if found else []
        who = next(iter(self._people_called(found["x"], whole=True) if found and meant else ()), "")
        if not who or kind_of(self.kg, who) != "person":
            return None
        for walk in _BEEN_THERE:
            for path in self.sets.ends(who, walk).values():
                onward = self.sets.onward(path, meant[0])
                if onward is not None and not self.sets.leaves_continent_open(onward):
                    return self._says("yes", who, [Operand(onward.end, (onward,))], f"Yes: {onward}.")
        return iter((no_answer(f"The graph does not say whether {who} was ever in {meant[0]}."),))

    def _has_one_called(self) -> list[tuple[str, Path]]:
        """What a topic has that is called by what stands behind *a* or *any*: has somebody won *an Oscar*."""
        found = _ANY_OF.search(self.query.text)
        if not found:
            return []
        wanted = set(fold(found["thing"]).split())
        having = []
        for topic in self.query.topics:
            for label, end in self.kg.neighbours(topic):
                if any(wanted <= set(fold(name).split()) for name in self.kg.names_of(end)):
                    having.append((topic, Path((topic, end), (label,))))
        return [(topic, path) for topic, path in having if self._decides_outcome(path) and not self._only_named(path)]

    def _only_named(self, path: Path) -> bool:
        """Whether a path says who gave a thing its name, where that is not asked: he need not have received it."""
        return bool(_NAMED & set(path.relations)) and not _ASKS_NAME.search(self.plan.asked)

    def _decided(self, ran: MethodRun, topics: list[str]) -> Iterator[Event]:
        """Yes where a path says so, no where the graph states something else in its place."""
        walks = [walk for walk in ran.walks() if walk[0] in topics][:4]
        named = set(self.query.content_words)
        walks = [walk for walk in walks if named & set(path_words(walk[1]))] or walks  # *capital*, not *largest city*
        if where := _LIVED_WHERE.match(self.plan.asked):  # a citizen of a country need not have been born there
            walks = [(one, (f"{_PAST.get(where['verb'].lower(), where['verb'].lower())} in",)) for one in topics]
        is_in = _IS_IN.match(self.plan.asked)
        there: Sequence[str] = _IS_WHERE if is_in and not _DONE_TO.search(is_in["x"]) else ()
        walks = [*((one, (label,)) for one in topics for label in there if self.sets.ends(one, (label,))), *walks]
        walks = [*((one, (ACHIEVED,)) for one in topics if kind_of(self.kg, one) == "feat"), *walks]
        a_country = any(kind_of(self.kg, topic) == "country" for topic in topics)  # it may be a club
        competes = a_country and _COMPETES.match(self.query.text)
        country = [(one, ("citizen of",)) for one in topics] if competes else []
        both = self._of_two_objects(topics)
        if both is not None:
            yield from both
            return
        came_from = _CAME_FROM.match(self.plan.asked)  # by birth or otherwise; where else somebody was says no *no*
        whence = [(one, (label,)) for one in topics for label in ("born in", *_COMES_FROM)] if came_from else []
        path = self._path_that_says_so([*country, *whence, *walks], topics)
        if path is not None and (
            self._only_named(path)
            or not self._covers(path)
            or self._says_more(path)
            or self.sets.leaves_continent_open(path)
        ):
            yield no_answer(f"The graph says {path}, which does not decide this.")
            return
        if path is not None:
            claimed = next(topic for topic in topics if topic in (path.entities[0], path.end))
            yield from self._says("yes", claimed, [Operand(path.end, (path,))], f"Yes: {path}.")
            return
        if namesake := self._by_a_namesake(topics):
            yield from self._says("yes", namesake.end, [Operand(namesake.end, (namesake,))], f"Yes: {namesake}.")
            return
        held = self._of_an_edition(topics)
        if held is not None:
            yield from held
            return
        around = self._said_directly(topics)
        if around is not None:
            yield from around
            return
        instead = self._stated_instead([*country, *walks], topics)
        if instead is None:
            yield from self._not_among(topics) or iter((no_answer(_NEITHER),))
            return
        subject, relation, claimed, stated = instead
        done = _DONE.match(self.plan.asked) is not None
        instead_path = next(iter(stated.values()))
        verb = _VERB_DONE.match(self.plan.asked)
        otherwise = verb is not None and self._is_unlike(instead_path, fold(verb["verb"]))
        if done and (_IN_TIME.search(self.plan.asked) or otherwise or self._uncovered(instead_path)):
            yield no_answer(_NEITHER)  # what is stated instead is not what somebody is said to have done
            return
        if len(topics) > 2 and set(path_words((relation,))).isdisjoint(self.query.content_words):
            yield no_answer(_NEITHER)  # of three things that are named it is about two, and says what is not asked
            return
        if relation in _ONE_KIND_OF_MANY or (
            self.plan.noun and relation in _SAYS_NOT_WHAT
        ):  # what it is part of says not what it is
            said = with_article(self.plan.noun) if self.plan.noun else claimed
            yield no_answer(f"The graph does not say whether {subject} is {said}.")
            return
        operands = [Operand(end, (path,)) for end, path in stated.items()]
        said = f"{subject} {relation} {listed(list(stated), 8)}"
        yield from self._says("no", claimed, operands, f"No, as far as the graph says: {said}.")

    def _by_a_namesake(self, topics: Sequence[str]) -> Path | None:
        """What joins one of two topics to a namesake of the other that is of the kind named: *a play by* him."""
        found = _IS_ONE_BY.match(self.plan.asked)
        for one in topics if found and len(topics) > 1 else ():
            for other in (self.kg.entities[name.entity] for name in name_index(self.kg).called(bare(one))):
                of_kind = found is not None and kind_of(self.kg, other) in names_of_kind(found["noun"])
                for third in topics if of_kind else ():
                    made = [(label, end) for label, end in self.kg.neighbours(other, directed=True) if end == third]
                    if made and third != one:
                        return Path((third, other), (self.sets.inverse(made[0][0]),))
        return None

    def _of_two_objects(self, topics: Sequence[str]) -> Iterator[Event] | None:
        """Whether something is joined alike to two things, *made of copper and tin*; None where it is to neither."""
        found = _TWO_OBJECTS.search(self.plan.asked)
        named = [self._link(found[name]) for name in ("one", "other")] if found else []
        told = any(
            kind_of(self.kg, topic) == "feat" for topic in topics
        )  # *alloy of copper and zinc* names both as one
        objects = [next((one for one in meant if one in topics or told), "") for meant in named]
        if len(set(objects)) != 2 or not all(objects):
            return None
        for subject in (topic for topic in topics if topic not in objects and kind_of(self.kg, topic) != "feat"):
            ways = [{label for label, end in self.kg.neighbours(subject) if end == one} for one in objects]
            common, either = ways[0] & ways[1], ways[0] | ways[1]
            if not either:
                continue
            label = min(common or either)
            stated = self.sets.ends(subject, (label,))
            operands = [Operand(end, (path,)) for end, path in stated.items()]
            said = f"{subject} {spoken(label)} {listed(list(stated), 8)}."
            if common:
                return self._says("yes", objects[0], operands, f"Yes: {said}")
            missing = next(one for one in objects if one not in stated)
            return self._says("no", missing, operands, f"No, as far as the graph says: {said}")
        return None

    def _covers(self, path: Path) -> bool:
        """Whether a path says what the question claims: who took part in a battle need not have won it."""
        if path.relations in (("instance of",), ("has instance",)):  # the kind is named: *champions of England*
            kind = path.end if path.relations == ("instance of",) else path.entities[0]
            said = set(fold(self.query.text).split()) | FUNCTION_WORDS
            if any(said.issuperset(fold(name).split()) for name in self.kg.names_of(kind)):
                return True
        told = (*path.entities, *self.query.topics)
        names = self.kg.words_of(*told)
        others = [name for name in _NAMES.findall(self.query.text) if not names.issuperset(fold(name).split())]
        if _DONE.match(self.query.text) and self.kg.entities.known(others):
            return False  # whether he got a *Nobel Prize* for it
        if any(_EARLIER.match(relation) for relation in path.relations) and not _ONCE.search(self.query.text):
            return False
        if not _DONE.match(self.query.text):
            return self._is_god_of_that(path) and self._has_the_role(path)
        if _COMPETES.match(self.query.text) and path.relations == ("citizen of",):
            return True
        return self._decides_outcome(path) and not self._uncovered(path)

    def _says_more(self, path: Path) -> bool:
        """Whether a claim compares, or names a colour, of which a path says nothing: is tomato soup *red*."""
        words = set(self.query.content_words)
        colours = (one for one in self.kg.entities.known(f"{word} (colour)" for word in words))
        return bool(re.search(r"\bthan\b", self.plan.asked)) or any(
            one not in path.entities and not any(bare(one) in fold(name).split() for name in path.entities)
            for one in colours
        )

    def _is_god_of_that(self, path: Path) -> bool:
        """Whether a deity is joined to what else the question names: *the god of the sea* is more than a god."""
        gods = [entity for entity in path.entities if kind_of(self.kg, entity) == "deity"]
        names = (name for word in self.query.content_words for name in (word, f"the {word}", f"{word} (domain)"))
        named = [one for one in self.kg.entities.known(names) if kind_of(self.kg, one) != "deity"] if gods else []
        words = {word for word in self.query.content_words if any(word in fold(one).split() for one in named)}
        joined = {one for one in named if any(self.sets.joined(god, one) is not None for god in gods)}
        return all(any(word in fold(one).split() for one in (*joined, *path.entities)) for word in words - _GODS)

    def _decides_outcome(self, path: Path) -> bool:
        """Whether a path to a battle or a contest says who won it, where that is what is asked."""
        outcome = _OUTCOME & set(self.query.content_words)
        return not outcome or kind_of(self.kg, path.end) == "award" or any("won" in r.split() for r in path.relations)

    def _path_that_says_so(self, walks: Sequence[tuple[str, tuple[str, ...]]], topics: Sequence[str]) -> Path | None:
        """A path between two topics over relations that the model would take, or one place within another.

        Who is born in a city is born in its country; the capital of a province is not the country's.
        """
        walks = [(first, said) for first, said in walks if len(said) == 1 or said[0] in PASSES_ON]
        for first, relations in walks:
            for other in topics:
                path = self.sets.leads(first, relations, other) if other != first and len(relations) <= 2 else None
                if path is not None:
                    return path
                if other != first and (path := self._through_its_team(first, relations, other)) is not None:
                    return path
        for first, relations in (one for one in walks if one[1][0] in PASSES_ON):
            for end, path in self.sets.ends(first, relations[:1]).items():
                for other in topics:
                    onward = self.sets.onward(path, other) if other not in (first, end) else None
                    if onward is not None and not self.sets.spreads(end, kind_of(self.kg, other)):
                        return onward
        for one in topics:
            for other in topics:
                chain = self.sets.containing(one, other) if one != other else None
                if chain is not None and (self.plan.noun or _OF_PLACE.search(self.query.text)):  # an African city
                    return chain
        return None

    def _through_its_team(self, first: str, relations: tuple[str, ...], country: str) -> Path | None:
        """A path to the national team of a country: whether *New Zealand* has won the Rugby World Cup."""
        ends = self.sets.ends(first, relations) if len(relations) == 1 else {}
        return next((path for end, path in ends.items() if end.startswith(f"{country} national ")), None)

    def _stated_instead(
        self, walks: Sequence[tuple[str, tuple[str, ...]]], topics: Sequence[str]
    ) -> tuple[str, str, str, dict[str, Path]] | None:
        """What the graph states where the question claims something else; of several statements the shortest.

        Returns:
            the topic that it is stated of, the relation, the topic that was claimed, and the stated ends.
        """
        found = []
        for first, relations in walks:
            if len(relations) != 1:
                continue
            back = self.sets.inverse(relations[0])
            for other in (topic for topic in topics if topic != first):
                for subject, relation, claimed in ((first, relations[0], other), (other, back, first)):
                    stated = self.sets.ends(subject, (relation,)) if relation else {}
                    if relation not in self.kg.relations and not self.sets.ends(
                        claimed, (self.sets.inverse(relation),)
                    ):
                        continue  # that Bhutan has a dragon says nothing of Wales
                    kind = kind_of(self.kg, claimed)
                    fitting = {e: path for e, path in stated.items() if _alike(kind, kind_of(self.kg, e))}
                    name = fold(bare(claimed)).split()
                    words = [set(fold(bare(end)).split()) for end in fitting]
                    if claimed not in fitting and any(set(name) <= own for own in words):
                        return None  # a red *dragon* is one
                    nearly = any(own <= set(name) for own in words)  # Hawaiian *pizza*
                    if kind in PLACES and any(self.sets.containing(claimed, end) is not None for end in fitting):
                        continue  # a citizen of a country may be from any of its cities
                    if fitting and claimed not in fitting and not nearly and not self._may_contain(claimed, fitting):
                        found.append((subject, relation, claimed, fitting))
            if found:
                break
        return min(found, key=lambda one: len(one[3]), default=None)

    def _not_among(self, topics: Sequence[str]) -> Iterator[Event] | None:
        """No, where many are stated to have held an office, or won an award, and one is not among them."""
        held = [topic for topic in topics if kind_of(self.kg, topic) in ("position", "award")]
        others = [topic for topic in topics if topic not in held]
        if len(held) != 1 or len(others) != 1:
            return None
        award = kind_of(self.kg, held[0]) == "award"
        holders = self.sets.ends(held[0], ("awarded to" if award else "held by",))
        alike = [one for one in holders if kind_of(self.kg, one) == kind_of(self.kg, others[0])]
        enough = len(self.sets.editions(held[0])) >= _MANY_YEARS if award else len(holders) >= _MANY
        if not enough or not alike or others[0] in holders:
            return None
        operands = [Operand(end, (path,)) for end, path in holders.items()]
        said = f"No, as far as the graph says: {others[0]} is not among the {len(holders)} whom it holds for {held[0]}."
        return self._says("no", others[0], operands, said)

    def _may_contain(self, claimed: str, stated: Mapping[str, Path]) -> bool:
        """Whether a stated place may lie in the claimed one though the graph does not say so.

        Of a city it states the country, perhaps not the island; a country is never in another.
        """
        kind = kind_of(self.kg, claimed)
        if kind not in PLACES or kind in (_LARGEST | {kind_of(self.kg, end) for end in stated}):
            return False
        around = {end for label, end in self.kg.neighbours(claimed, directed=True) if label in LIES_IN}
        if kind in _APART and all(self._beside(end, kind, around) for end in stated):
            return False  # what lies in England does not lie in Scotland
        return any(self.sets.containing(end, outer) is not None for end in stated for outer in around)

    def _beside(self, place: str, kind: str, around: Collection[str]) -> bool:
        """Whether a place lies in another part of what the claimed place is a part of."""
        part = self.sets.lies_in(place, kind)
        own = self.kg.neighbours(part.end, directed=True) if part is not None else ()
        return any(label in LIES_IN and end in around for label, end in own)

    def _shared(self, ran: MethodRun, topics: list[str]) -> Iterator[Event]:
        """Whether two topics have something in common: the year of their deaths, an author."""
        one, other = topics[:2]
        if len(topics) == 3 and re.search(r"\bboth\b", self.query.text, re.IGNORECASE):
            yield from self._of_both(ran, topics)
            return
        relations = next((r for topic, r in ran.walks() if topic in (one, other) and len(r) == 1), None)
        if relations is None:
            yield no_answer(_NEITHER)
            return
        ends, others = self.sets.ends(one, relations), self.sets.ends(other, relations)
        common = [end for end in ends if end in others]
        if not self._is_the_same(relations, ends):
            yield no_answer(_NEITHER)
        elif common:
            operands = [Operand(end, (ends[end], others[end])) for end in common]
            yield from self._says("yes", one, operands, f"Yes: {relations[0]} is {listed(common)} for both.")
        elif ends and others and self._uncovered(next(iter(ends.values()))):
            yield no_answer(_NEITHER)  # a common *family* is not told by where a language is official
        elif ends and others:
            operands = [Operand(end, (path,)) for end, path in (ends | others).items()]
            text = f"No: {one} {relations[0]} {listed(list(ends))}, {other} {relations[0]} {listed(list(others))}."
            yield from self._says("no", "", operands, text)
        else:
            yield no_answer("The graph does not hold this of both.")

    def _is_the_same(self, relations: Sequence[str], ends: Mapping[str, Path]) -> bool:
        """Whether a relation is about what the question says is the same: a *country*, but no language *family*."""
        said = re.search(r"\bsame (?P<noun>(?:\w+ )?\w+)", self.query.text, re.IGNORECASE)
        kinds = names_of_kind(said["noun"].split()[-1]) if said else ()
        told = {*path_words(relations), *(kind_of(self.kg, end) for end in ends)}
        return not said or not told.isdisjoint(kinds)

    def _of_both(self, ran: MethodRun, topics: Sequence[str]) -> Iterator[Event]:
        """Whether each of two topics leads to the third: were both of them born in Vienna."""
        text = fold(self.query.text)
        last = max(topics, key=lambda topic: max((text.rfind(word) for word in fold(topic).split()), default=-1))
        subjects = [topic for topic in topics if topic != last]
        asked = set(self.query.content_words)
        named = (label for label, _ in self.kg.neighbours(subjects[0]) if asked & set(label.split()))
        walks = [*((label,) for label in named), *(said for topic, said in ran.walks() if topic in subjects)]
        found: dict[str, Path] = {}
        for subject in subjects:
            own = [(subject, relations) for relations in dict.fromkeys(walks)]
            path = self._path_that_says_so(own, [subject, last])
            if path is not None:
                found[subject] = path
                continue
            instead = self._stated_instead(own, [subject, last])
            if instead is not None:
                _, relation, claimed, stated = instead
                operands = [Operand(end, (path,)) for end, path in stated.items()]
                told = f"No, as far as the graph says: {subject} {relation} {listed(list(stated), 8)}."
                yield from self._says("no", claimed, operands, told)
                return
        if len(found) == len(subjects):
            operands = [Operand(path.end, (path,)) for path in found.values()]
            yield from self._says("yes", last, operands, f"Yes: {'; '.join(map(str, found.values()))}.")
        else:
            yield no_answer(_NEITHER)


_NAMES = re.compile(r"\b[A-Z]\w+(?: [A-Z]\w+)+")
_EARLIER = re.compile(r"(?:former|earlier)\b")
_ONCE = re.compile(
    r"\b(?:former|formerly|once|was|were|been|used|before|old|earlier|previous\w*|ever)\b", re.IGNORECASE
)


def _alike(kind: str, other: str) -> bool:
    """Whether one of these types may stand in the other's place: a city where a region was claimed."""
    return kind == other or (kind in PLACES and other in PLACES)
