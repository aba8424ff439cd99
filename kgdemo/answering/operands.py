"""What operations work on: sets of entities, each with its paths, and the values that a graph states of them.

A set is all ends of a relation path, all things of a kind, or what lies in a place. Every entity of a set comes with
the path by which the graph leads to it, so that the verifier can check each one. Values are numbers and dates, which
are compared and ordered.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from kgdemo.events import Operand
from kgdemo.kg.cache import PerGraph
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import FUNCTION_WORDS, Literal
from kgdemo.kg.path import Path, PathIds
from kgdemo.linking.names import name_index
from kgdemo.query.answer_type import SYNONYMS, kind_of, same_stem, singulars

MAX_MEMBERS = 5000  # of one set; a larger one is refused, not cut

# relations from a place to what lies in it; in that of Freebase both names of the same relation are met
_CONTAINS = ("contains", "has country", "crossed by river", "/location/location/contains", "location.location.contains")
LIES_IN = ("located in", "continent", "flows through", "part of")
COMPLETE = frozenset(  # relations of which an entity's list is whole, so that counting it gives the number
    "shares border with|official language|currency|continent|has country|hosted by|consists of".split("|")
)
_HAS_MEMBERS = ("consists of", "has instance", "gender of")
SAYS_WHAT_IT_IS = frozenset(("occupation", "genre", "position held", "instance of", "gender", "animal class"))
_INSTANCE = "instance of"  # of a *transition metal*, which is a metal
_PRACTISED_BY = "has practitioner"
_MAX_WITHIN = 20_000
_YEARS = (1800, 2051)  # of what is held again and again
_DEEPEST = 4  # a street in a city in a region in a country
_DEED = {"fly": "flight", "see": "sight"}  # what somebody is without who cannot do it
PASSES_ON = frozenset(  # relations to a place that hold of what the place lies in as well
    "born in|died in|buried in|located in|lives in|took place in|housed in|headquartered in|based in|set in|part of"
    "|educated at|destination|flows through|hosted by|home stadium|exhibited in|happened in".split("|")
)
_NATURAL = frozenset(("mountain", "river", "lake", "sea", "ocean", "desert"))
PLACES = frozenset(
    "city country region state province continent island sea ocean desert empire place mountain river lake".split()
)


_MORE_KNOWN = 1.2  # times as many things have a later attribute where it is taken for the one that is meant
HARMLESS = frozenset(  # before a noun, not telling which of them are meant
    "big main major famous known single whole different natural chemical real living musical feature studio".split()
)


class Sets:
    """Reads sets off a graph.

    Args:
        kg: the graph.
        directed: follow edges from head to tail only.
    """

    def __init__(self, kg: KnowledgeGraph, directed: bool = False) -> None:
        self.kg, self._directed = kg, directed
        self._chains: dict[tuple[str, str], Path | None] = {}  # asked for again for each of many answers
        self._holding: dict[str, bool] = {}

    def ends(self, topic: str, relations: Sequence[str]) -> dict[str, Path]:
        """Where relations lead from a topic, without detours; each end with one of its paths."""
        start = self.kg.entities.find(topic)
        if start is None:
            return {}
        layers = self.kg.reach(start, relations, self._directed)
        ends = layers[-1][: MAX_MEMBERS + 1].tolist()
        found = [self.kg.path_to(layers, relations, end, self._directed) for end in ends]
        paths = [self.kg.labelled(ids) for ids in found if not self.kg.is_detour(ids)]
        return {path.end: path for path in paths}

    def leads(self, topic: str, relations: Sequence[str], end: str) -> Path | None:
        """The path over these relations from a topic to an end."""
        start, goal = self.kg.entities.find(topic), self.kg.entities.find(end)
        if start is None or goal is None:
            return None
        layers = self.kg.reach(start, relations, self._directed)
        if not np.isin(goal, layers[-1]):
            return None
        return self.kg.labelled(self.kg.path_to(layers, relations, goal, self._directed))

    def inverse(self, relation: str) -> str:
        """The relation the other way round; empty where the graph has no such relation."""
        steps = self.kg.steps_called(relation)
        return self.kg.step_labels[self.kg.inverse(steps[0])] if steps else ""

    def of_noun(self, ends: Mapping[str, Path], noun: str) -> dict[str, Path] | None:
        """The ends that are of the kind that a noun names; None where the graph cannot tell."""
        kinds = names_of_kind(noun)
        for own in ([kind for kind in kinds if " " in kind], kinds):  # *national parks* before parks
            fitting = {end: path for end, path in ends.items() if is_of_kind(self.kg, end, own)}
            if fitting:
                return fitting
        return {} if any(kind in self.kg.types or kind in self.kg.entities for kind in kinds) else None

    def around(self, topic: str, noun: str) -> dict[str, Path]:
        """The neighbours of a topic that are of a kind, by the relation that leads to most of them."""
        kinds = names_of_kind(noun)
        by_relation: dict[str, dict[str, Path]] = {}
        for label, end in self.kg.neighbours(topic, self._directed):
            known = self.kg.info.get(end)
            if known and known.type in kinds:
                by_relation.setdefault(label, {})[end] = Path((topic, end), (label,))
        return max(by_relation.values(), key=len, default={})

    def members(self, noun: str) -> dict[str, Path]:
        """The parts or examples of what a noun names whole: of *Great Lakes* the lakes, of *noble gases* the gases."""
        *before, _ = noun.lower().split() or [""]
        alone = all(word in HARMLESS for word in before)  # else *banks* are more than *central* ones
        names = (noun, *(name for name in names_of_kind(noun) if alone or " " in name))
        called_so = (name for text in names for name in name_index(self.kg).called(text))
        groups = dict.fromkeys(self.kg.entities[name.entity] for name in called_so)
        found = ({**self.ends(group, (relation,))} for group in groups for relation in _HAS_MEMBERS)
        return next((ends for ends in found if len(ends) > 1), {}) or self.practitioners(noun)

    def practitioners(self, noun: str) -> dict[str, Path]:
        """Who has the occupation that a noun names whole: *astronauts*, not *German composers*."""
        named = (name for name in names_of_kind(noun) if len(name.split()) == len(noun.split()))
        occupation = next((name for name in named if kind_of(self.kg, name) == "occupation"), "")
        return self.ends(occupation, (_PRACTISED_BY,)) if occupation else {}

    def of_kind(self, noun: str) -> dict[str, Path | None]:
        """All things of a kind; those of a group with the path that leads to them."""
        return {**self.members(noun)} or dict.fromkeys(all_of_kind(self.kg, noun))

    def editions(self, topic: str) -> list[str]:
        """What bears the name of a topic and a year: of the FIFA World Cup, or one of them, *1930 FIFA World Cup*."""
        series = re.sub(r"^\d{4} ", "", topic)
        names = (f"{year} {series}" for year in range(*_YEARS))
        return self.kg.entities.known(names)

    def joined(self, end: str, other: str) -> Path | None:
        """The shortest path from another topic to an end: one hop, or two by way of a place within the topic."""
        start, goal = self.kg.entities.find(other), self.kg.entities.find(end)
        if start is None or goal is None:
            return None
        steps, targets = self.kg.steps(goal)
        self.kg.expect(targets)
        around = list(zip(steps.tolist(), targets.tolist(), strict=True))
        for step, target in around:
            if target == start:
                return Path((other, end), (self.kg.step_labels[self.kg.inverse(step)],))
        for step, target in around:
            place = self.kg.entities[target]
            chain = self.containing(place, other) if kind_of(self.kg, place) in PLACES else None
            if chain is not None and end not in chain.entities:
                label = self.kg.step_labels[self.kg.inverse(step)]
                return Path((*chain.entities, end), (*chain.relations, label))
        return None

    def containing(self, inner: str, outer: str) -> Path | None:
        """The path from a place to one that lies within it; on a continent not by way of a place that lies on two."""
        if self.kg.grows:  # what is met later may join them
            return self._chain(inner, outer)
        if not self._holds_anything(outer):
            return None
        if (inner, outer) not in self._chains:
            self._chains[inner, outer] = self._chain(inner, outer)
        return self._chains[inner, outer]

    def onward(self, path: Path, place: str) -> Path | None:
        """A path to a place gone on to one that the place lies in; the path itself where it ends there."""
        if path.end == place:
            return path
        chain = self.containing(path.end, place)
        if chain is None or place in path.entities:
            return None
        outwards = tuple(self.inverse(relation) for relation in reversed(chain.relations))
        return Path((*path.entities, *reversed(chain.entities[:-1])), (*path.relations, *outwards))

    def _holds_anything(self, outer: str) -> bool:
        """Whether anything lies in it."""
        if outer not in self._holding:
            place, labels = self.kg.entities.find(outer), {self.inverse(label) for label in LIES_IN}
            steps = () if place is None else np.unique(self.kg.steps(place)[0]).tolist()
            self._holding[outer] = any(self.kg.step_labels[step] in labels for step in steps)
        return self._holding[outer]

    def _chain(self, inner: str, outer: str) -> Path | None:
        frontier: list[Path] = [Path((inner,), ())]
        is_continent = kind_of(self.kg, outer) == "continent"
        for _ in range(_DEEPEST):
            longer = []
            for path in frontier:
                for label, end in self.kg.neighbours(path.entities[0], directed=True):
                    if label in LIES_IN and end not in path.entities:
                        found = Path((end, *path.entities), (self.inverse(label), *path.relations))
                        if end == outer:
                            return found
                        if is_continent and self._on_two_continents(end):
                            continue
                        if kind_of(self.kg, end) not in _NATURAL or not self.spreads(end, kind_of(self.kg, outer)):
                            longer.append(found)
            frontier = longer[:200]
        return None

    def lies_in(self, inner: str, noun: str) -> Path | None:
        """The shortest path from a place to one of a kind that contains it: from the Taj Mahal to its country."""
        kinds = names_of_kind(noun)
        frontier = [Path((inner,), ())]
        for _ in range(_DEEPEST):
            longer = []
            for path in frontier:
                for label, end in self.kg.neighbours(path.end, directed=True):
                    if label in LIES_IN and end not in path.entities:
                        found = Path((*path.entities, end), (*path.relations, label))
                        if kind_of(self.kg, end) in kinds:
                            return found
                        longer.append(found)
            frontier = longer[:200]
        return None

    def within(self, place: str, noun: str) -> dict[str, Path]:
        """The things of a kind within a place, nearest first, each with the path that leads to it.

        What lies in a country on two continents is taken to lie on one of them only where the graph says so.

        Args:
            place: a label.
            noun: the kind, as a question calls it.
        """
        start = self.kg.entities.find(place)
        steps = [step for label in _CONTAINS for step in self.kg.steps_called(label)]
        if start is None or not steps:
            return {}
        kinds = names_of_kind(noun)
        ends = [(self.kg.entities[ids.entities[-1]], self.kg.labelled(ids)) for ids in self._inside(start, steps)]
        of_kind = [(end, path, known.type) for end, path in ends if (known := self.kg.info.get(end))]
        narrowest = next((kind for kind in kinds if any(own == kind for _, _, own in of_kind)), "")
        return {end: path for end, path, own in of_kind if own == narrowest or self._is_one(end, narrowest)}

    def _is_one(self, entity: str, kind: str) -> bool:
        """Whether something of another type is stated to be of a kind as well: Sicily, a region, *an island*."""
        around = self.kg.neighbours(entity, directed=True)
        return any(label == _INSTANCE and kind and end.split()[-1] == kind for label, end in around)

    def beyond(self, place: str, relation: str) -> dict[str, Path]:
        """Where a relation leads from a place and from all that lies in it: who was born anywhere in a country."""
        start = self.kg.entities.find(place)
        steps = [step for label in _CONTAINS for step in self.kg.steps_called(label)]
        if start is None or not steps or not self.kg.steps_called(relation):
            return {}
        chains = [Path((place,), ()), *(self.kg.labelled(ids) for ids in self._inside(start, steps))]
        found: dict[str, Path] = {}
        for chain in chains:
            if kind_of(self.kg, chain.end) in PLACES:
                for end in self.ends(chain.end, (relation,)):
                    found.setdefault(end, Path((*chain.entities, end), (*chain.relations, relation)))
        return found

    def _inside(self, start: int, steps: Sequence[int]) -> Iterator[PathIds]:
        """Paths from a place to everything in it, nearest first."""
        reached: dict[int, PathIds] = {start: PathIds((start,), ())}
        frontier, is_continent = np.array([start], np.int32), self.kg.type_of(start) == "continent"
        for _ in range(_DEEPEST):
            sources, taken, targets = self.kg.edges_from(frontier)
            fits = np.isin(taken, steps)
            new = []
            edges = (sources[fits].tolist(), taken[fits].tolist(), targets[fits].tolist())
            for source, step, target in zip(*edges, strict=True):
                if target in reached or len(reached) >= _MAX_WITHIN:
                    continue
                before = reached[source]
                reached[target] = PathIds((*before.entities, target), (*before.steps, step))
                yield reached[target]
                new.append(target)
            deeper = [e for e in new if not self.spreads(self.kg.entities[e], self.kg.type_of(start))]
            entities = self.kg.entities
            frontier = np.array(
                [e for e in deeper if not (is_continent and self._on_two_continents(entities[e]))], np.int32
            )
            if not len(frontier):
                return

    def spreads(self, place: str, kind: str) -> bool:
        """Whether a thing in a place need not lie in all that the place lies in: not every peak of the Alps in France.

        Args:
            place: the place.
            kind: of what it is in.
        """
        own = kind_of(self.kg, place)
        if own in ("river", "lake"):
            return True
        ends = {end for label, end in self.kg.neighbours(place, directed=True) if label in LIES_IN}
        return own in _NATURAL and sum(kind_of(self.kg, end) == kind for end in ends) > 1

    def leaves_continent_open(self, path: Path) -> bool:
        """Whether a path joins a continent by way of a place on two: Vladivostok's country is partly in Europe."""
        ends = {kind_of(self.kg, end) for end in (path.entities[0], path.end)}
        return "continent" in ends and any(map(self._on_two_continents, path.entities[1:-1]))

    def _on_two_continents(self, label: str) -> bool:
        return len({end for relation, end in self.kg.neighbours(label, directed=True) if relation == "continent"}) > 1

    def succession(self, members: Collection[str]) -> list[str]:
        """The members in the order in which they succeeded each other; empty where that is not clear.

        Who came back is in it twice.
        """
        import networkx as nx  # few questions ask for an order

        graph: nx.DiGraph[str] = nx.DiGraph()
        for member in members:
            for label, end in self.kg.neighbours(member, directed=True):
                if label == "succeeded by" and end in members:
                    graph.add_edge(member, end)
        if len(graph) < max(2, len(members) - 1) or not nx.is_weakly_connected(graph):
            return []
        firsts = [node for node, degree in graph.in_degree() if degree == 0]
        if len(firsts) != 1 or not nx.has_eulerian_path(graph, firsts[0]):
            return []
        edges = list(nx.eulerian_path(graph, firsts[0]))
        return [edges[0][0], *(later for _, later in edges)]


def names_of_kind(noun: str) -> tuple[str, ...]:
    """What a kind of thing may be called in a graph: ``highest mountain peaks`` -> ``peak``, ``mountain``, …"""
    words = re.findall(r"[^\W_]+", noun.lower())
    last = _singulars(words[-1]) if words else ()
    whole = [" ".join([*words[:-1], one]) for one in last] if len(words) > 1 else []
    return tuple(dict.fromkeys([*whole, *last, *(SYNONYMS[one] for one in last if one in SYNONYMS)]))


_IRREGULAR = dict.fromkeys("people men women man woman human humans".split(), "person")


def _singulars(word: str) -> tuple[str, ...]:
    return (_IRREGULAR[word], word) if word in _IRREGULAR else singulars(word)


_NO_SUCH_KIND = ("dwarf planet",)  # whose last word says what it is not


def is_of_kind(kg: KnowledgeGraph, entity: str, kinds: Collection[str]) -> bool:
    """Whether an entity's type, its occupation, the bracket behind its name or a word of the name says so."""
    known = kg.info.get(entity)
    if known and (known.type in kinds or known.type in _NO_SUCH_KIND):
        return known.type in kinds
    name, bracket = _name_and_bracket(entity)
    if bracket in kinds or any(name.endswith(f" {kind}") or (" " in kind and kind in name) for kind in kinds):
        return True
    if any(f"{kind} no. " in name for kind in kinds):  # Symphony No. 5
        return True
    return any(
        label in SAYS_WHAT_IT_IS
        and (end.lower() in kinds or (label == _INSTANCE and end.removesuffix(" (kind)").split()[-1] in kinds))
        for label, end in kg.neighbours(entity, directed=True)
    )


def _name_and_bracket(entity: str) -> tuple[str, str]:
    """A label in lower case without its bracket, and what the bracket says without a year: ``film``."""
    name, _, bracket = entity.lower().removesuffix(")").partition(" (") if entity.endswith(")") else (entity, "", "")
    return name.lower(), re.sub(r"^\d+ ", "", bracket)


def all_of_kind(kg: KnowledgeGraph, noun: str) -> list[str]:
    """All entities of a kind: with it in the bracket behind their name, or of that type."""
    return next((found for kind in names_of_kind(noun) if (found := called(kg, kind))), [])


def called(kg: KnowledgeGraph, kind: str) -> list[str]:
    """All entities of just this type, or with it in the bracket behind their name; of a graph that grows none."""
    return list(_BY_KIND.of(kg).get(kind, ()))


def kinds_told(kg: KnowledgeGraph, entity: str) -> set[str]:
    """The type of an entity, and the kind in the bracket behind its name."""
    return {kind_of(kg, entity), _name_and_bracket(entity)[1]} - {""}


def _by_kind(kg: KnowledgeGraph) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, known in kg.info.items():
        for kind in kinds_told(kg, name) if name.endswith(")") or not known.type else (known.type,):
            found.setdefault(kind, []).append(name)
    return found


_BY_KIND = PerGraph(_by_kind)


_CAME_TO_BE = (  # the attributes and the relations to a year that say when a thing did
    *("opened", "completed", "founded", "founded in year", "released", "released in year", "published in year"),
    *(
        "first performed",
        "painted",
        "composed",
        "created in year",
        "invented",
        "discovered",
        "invented in year",
        "discovered in year",
    ),
    *("happened", "began", "happened in year", "began in year"),
)
# a date that a question may mean -> what says it, the first one that is known
_DATES: dict[str, tuple[str, ...]] = {
    "born": ("born", "born in year"),
    "died": ("died", "died in year"),
    "began": ("began", "happened", "began in year", "happened in year", "founded in year"),
    "ended": ("ended", "ended in year", "happened in year"),
    "happened": ("happened", "began", "happened in year", "began in year"),
    "opened": ("opened", "completed", "founded in year"),
    "founded": ("founded", "founded in year", "began in year"),
    "released": ("released", "released in year", "published in year", "painted", "composed"),
    "launched": ("launched", "released", "founded", "opened", "released in year", "founded in year"),
    "independence": ("independence", "independence in year"),
    "in office from": ("reign began", "took office"),
    "in office until": ("reign ended", "left office"),
    "discovered": ("discovered", "invented", "discovered in year", "invented in year", "created in year"),
    "beginning": _CAME_TO_BE,
    "date": ("born", "born in year", *_CAME_TO_BE),
}


def attributes_meant(name: str) -> tuple[str, ...]:
    """The attributes, and relations to a year, that may say what a name of a value means."""
    return _DATES.get(name, (name,))


def operand_of(
    kg: KnowledgeGraph, entity: str, attributes: Iterable[str], paths: tuple[Path, ...] = ()
) -> Operand | None:
    """An entity with the first of these attributes that the graph states of it; None where it states none."""
    for attribute in (known for name in attributes for known in attributes_meant(name)):
        literal = kg.literals.get(entity, {}).get(attribute)
        if literal is not None:
            return Operand(entity, paths, attribute, literal.value, literal.unit)
        year = next((end for label, end in kg.neighbours(entity, directed=True) if label == attribute), "")
        if re.fullmatch(r"\d{1,4}", year):
            return Operand(entity, paths, attribute, year, "year")
    return None


_TITLES = " titles"  # how often something was won: *World Cup titles*, which may be stated as *World Cups*


def number_of(kg: KnowledgeGraph, entity: str, noun: str) -> Operand | None:
    """The number that the graph states of what a noun names: of a spider's *legs*, of a planet's *moons*."""
    noun = re.sub(r"\b(?:men's|football|soccer|fifa|uefa|formula (?:one|1)|federal) ", "", noun.lower())
    if noun == "times":  # how often something was done is no time that something takes
        return None
    kinds = set(names_of_kind(noun)[: 1 if " " in noun else None]) | {noun}  # not all countries are *landlocked* ones
    for attribute, literal in kg.literals.get(entity, {}).items():
        own = attribute.lower().removeprefix("number of ")
        titles = noun.endswith(_TITLES) and own.removesuffix(_TITLES).removesuffix("s") == noun.removesuffix(_TITLES)
        if titles or own in kinds or kinds & set(names_of_kind(own)[:2]):
            return Operand(entity, (), attribute, literal.value, literal.unit)
    return None


def attribute_in_words(kg: KnowledgeGraph, entities: Sequence[str], text: str, asked: str = "") -> str:
    """The attribute stated of all of some things whose words a question says: *titles at Wimbledon*; empty for none.

    Args:
        kg: the graph.
        entities: the things.
        text: the question.
        asked: a name of what is asked for; the attribute has to share a word with it, which the question need not say.
    """
    shared = set.intersection(*(set(kg.literals.get(entity, {})) for entity in entities)) if entities else set[str]()
    wanted = _telling_words(asked)
    said = {*_telling_words(text), *wanted}

    def is_said(words: Collection[str], among: Collection[str]) -> list[bool]:
        return [any(same_stem(word, other) for other in among) for word in words]

    words = {name: _telling_words(name) for name in sorted(shared)}
    fitting = [name for name, own in words.items() if own and all(is_said(own, said))]
    fitting = [name for name in fitting if not wanted or any(is_said(words[name], wanted))]
    return max(fitting, key=lambda name: len(words[name]), default="")


def _telling_words(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z]+", text.lower()) if word not in FUNCTION_WORDS]


def ability(kg: KnowledgeGraph, entity: str, verb: str, able: bool) -> Path | None:
    """What says that a thing can do something, a *flying* animal, or that it cannot, a *flightless* bird."""

    def says(word: str) -> bool:
        if able:
            return word.startswith(verb) and word.endswith("ing")
        return word == f"{_DEED.get(verb, verb)}less"

    around = kg.neighbours(entity, directed=True)
    told = (step for step in around if step[0] == _INSTANCE and any(says(word) for word in step[1].lower().split()))
    return next((Path((entity, end), (label,)) for label, end in told), None)


def is_date(attribute: str) -> bool:
    """Whether a name stands for a date; see ``operand_of``."""
    return attribute in _DATES


def literal_of(operand: Operand) -> Literal:
    """The value of an operand."""
    return Literal(operand.value, "" if operand.unit == "year" else operand.unit)


def shown_value(operand: Operand) -> str:
    """The value of an operand as people write it."""
    return str(literal_of(operand))


def same_attribute(kg: KnowledgeGraph, entities: Sequence[str], attributes: Iterable[str]) -> list[Operand]:
    """The entities with the first attribute that all of them have; of a set, with the one that most of them have.

    Args:
        kg: the graph.
        entities: two or more.
        attributes: in the order in which they may be meant.

    Returns:
        those entities that have it, all in one unit.
    """
    best: list[Operand] = []
    for attribute in attributes:
        found = [operand for entity in entities if (operand := operand_of(kg, entity, [attribute]))]
        if len(found) > _MORE_KNOWN * len(best):
            units = [operand.unit.replace("year", "") for operand in found]
            common = max(set(units), key=units.count)
            best = [operand for operand, unit in zip(found, units, strict=True) if unit == common]
        if len(best) == len(entities):
            break
    return best
