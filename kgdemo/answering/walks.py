"""Where the walks of a plan lead: by places that contain one another, by kin of a sex, to the kind asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kgdemo.answering.masked import Masked, Named
from kgdemo.answering.operands import PLACES, attributes_meant, called, is_of_kind, names_of_kind, operand_of
from kgdemo.answering.orders import BEGINNINGS
from kgdemo.answering.records import ACHIEVED
from kgdemo.answering.spans import Spans
from kgdemo.events import Operand
from kgdemo.kg.labels import FUNCTION_WORDS, bare, fold
from kgdemo.kg.path import Path
from kgdemo.query.answer_type import Fit, fits, kind_of, same_stem
from kgdemo.query.measures import BEGINNING, COURSE, IN_OFFICE, LIFE, without_world
from kgdemo.query.parser import AND_OF, ATTRIBUTE, BOTH, NAMES
from kgdemo.ranking.scorer import path_words

SPANS = {  # what is said by two dates: the attributes, the first that is known
    "age reached": (LIFE,), "age": (LIFE,), "lasted": (COURSE, IN_OFFICE), "duration in office": (IN_OFFICE,),
    "reign": (IN_OFFICE,), "in office": (IN_OFFICE,),
}  # fmt: skip
_ALIKE = {  # one attribute may be stated under several names
    "height": ("height", "elevation"), "elevation": ("elevation", "height"), "weight": ("weight", "mass"),
    "area": ("area", "population"), "diameter": ("diameter", "width"), "happened": ("happened", BEGINNING),
    "completed": ("completed", BEGINNING), "launched": ("launched", BEGINNING), "lifespan": ("lifespan", "age"),
}  # fmt: skip
_COUNTED = re.compile(  # *how many symphonies*, *the last queen*
    r"\b(?:how many|number of|count of|amount of|first|second|third|fourth|fifth|last|final|latest|\w{3,}est"
    r"|\d(?:nd|rd|th))"
    r"(?: (?:different|of the|the|other|official|total))* (?P<noun>[a-z]+)\b",
    re.IGNORECASE,
)
_ANYTHING = frozenset(
    "one ones thing things people person are is was were do does did of in to that has have had".split()
)
_STEM = 4  # letters
_KIN = frozenset(("child", "child of", "sibling", "spouse"))
_KIN_WORDS: dict[str, str] = {
    **dict.fromkeys("father dad daddy son sons brother brothers husband husbands".split(), "m"),
    **dict.fromkeys("mother mum mom daughter daughters sister sisters wife wives".split(), "f"),
    **dict.fromkeys("parent parents child children kid kids sibling siblings spouse spouses".split(), ""),
}
_WHO = re.compile(
    r"\bthe (?:(?P<f>woman|lady|girl|actress|authoress)|(?P<m>man|guy|bloke|gentleman|chap)) (?:who|that|behind)\b",
    re.I,
)
_SEX_SAID = re.compile(r"\b(?:(?P<f>women|woman|females?|ladies)|(?:men|males?))\b(?!['’]s)", re.IGNORECASE)
_PARTS = {
    **dict.fromkeys(("singer", "vocalist", "frontman", "frontwoman"), ("singer",)),
    "guitarist": ("guitarist", "guitar", "electric guitar"),
    **dict.fromkeys(("bassist", "bass player", "bass guitarist"), ("bassist", "bass guitar")),
    "drummer": ("drummer", "drums"),
    "keyboardist": ("keyboardist", "keyboard instrument", "keyboard", "synthesizer"),
    "pianist": ("pianist", "piano"),
}
_PLAYS = {"guitar": "guitarist", "bass": "bassist", "drums": "drummer", "piano": "pianist", "keyboards": "keyboardist"}
_ROLE_IN_BAND = re.compile(
    rf"\b(?P<role>{'|'.join(_PARTS)})s?\b|\b(?:plays?|played) (?:the )?(?P<played>{'|'.join(_PLAYS)})\b", re.IGNORECASE
)
_WHICH_ONE = re.compile(r"(?:which|what) (?P<noun>[\w'’-]+(?: minister| president)?) ", re.IGNORECASE)
_WHICH_NOUN = re.compile(
    r"(?:which|what) (?P<noun>[a-z]+) (?:are|is|were|was|have|has|had|live|lives|grow|grows)\b", re.IGNORECASE
)
_STEP_TO = {
    **dict.fromkeys("father dad daddy mother mum mom parent parents".split(), "child of"),
    **dict.fromkeys("son sons daughter daughters child children kid kids".split(), "child"),
    **dict.fromkeys("brother brothers sister sisters sibling siblings".split(), "sibling"),
    **dict.fromkeys("husband husbands wife wives spouse spouses".split(), "spouse"),
}
_SEXES = {"man": "m", "god": "m", "woman": "f", "goddess": "f"}
MOVEMENT, _OFFICE = "movement", "position"
_IS_A = "instance of"
_INSIDE, _STATE = "located in", "country"
_AROUND = re.compile(r"\b(state|province|continent|region|county)\b(?! (?:of|is|was)\b)", re.IGNORECASE)
_HOLDS = "contains"  # what a place holds lies in that place
LYING = PLACES | frozenset(("museum", "building", "stadium", "university", "school", "theatre"))
_MEMBERS = ("consists of", "has instance", "has part")
_MOST_MEMBERS = 60
_UP = 4  # places that contain one another

Ends = dict[str, Path | None]


@dataclass(slots=True)
class Heard:
    """A reading while its plans are done: its words, and what its placeholders stand for."""

    masked: Masked
    trusted: bool = False  # the plan at hand says what is asked for more surely than the question word
    kinds: tuple[str, ...] = ()  # that the question names beside
    names: dict[str, Named] = field(init=False)

    def __post_init__(self) -> None:
        self.names = dict(zip(NAMES, self.masked.names, strict=False))

    @property
    def text(self) -> str:
        return self.masked.text


_ASKS_WHAT_IT_IS = re.compile(  # *what is the first satellite to go round the Earth*: what it goes round is known
    rf"(?:(?:what|who|which)(?: [\w-]+)?(?:['’]s| is| was) )?(?:the |an? )?(?:{'|'.join(NAMES)})\b(?!['’])",
    re.IGNORECASE,
)


class Walks(Spans):
    """Walks over the graph, read with the words of a question."""

    def _walk(self, heard: Heard, chain: Sequence[str]) -> Ends:
        """Where a chain leads: a name, then relations."""
        head, *steps = chain
        if head not in heard.names or any(
            step in (*NAMES, BOTH, AND_OF) or step[0] == ATTRIBUTE or step.isupper() for step in steps
        ):
            raise ValueError(chain)
        named = self._of_one_type(heard.names[head].entities, steps[:1])
        for entity in named:
            held = kind_of(self.kg, entity) == "feat" and steps[:1] != [ACHIEVED]
            own = steps
            if held:  # of what is asked for itself only what is said in so many words is asked as well
                words = re.findall(r"[a-z]{3,}", heard.text.lower())
                asked = any(same_stem(word, one) for word in path_words(tuple(steps)) for one in words)
                own = [ACHIEVED] if not asked and _ASKS_WHAT_IT_IS.match(heard.text) else [ACHIEVED, *steps]
            ends: Ends = {**self._led_to_by(heard, entity, own)} if own else {entity: None}
            if ends := self._beside(heard, self._of_kin(heard, self._of_whom(heard, ends), own)):
                return ends
        return next(filter(None, (self._by_members(heard, entity, steps) for entity in named if len(steps) == 1)), {})

    def _by_members(self, heard: Heard, entity: str, steps: Sequence[str]) -> Ends:
        """Where a step leads from all that belongs to a whole of which it is not stated: what weekdays are named after.

        The host of a series of games is that of its editions. The words have to name the step.
        """
        said = re.findall(r"[a-z]{3,}", heard.text.lower())
        if not any(same_stem(word, one) for word in path_words(tuple(steps)) for one in said):
            return {}
        members = {end: path for label in _MEMBERS for end, path in self.sets.ends(entity, (label,)).items()}
        found: Ends = {}
        said_names = fold(" ".join(name.text for name in heard.masked.names)).split()
        whole = set(fold(entity).split()) <= set(said_names)  # *the Olympics* are more than those of the summer
        for edition in self.sets.editions(entity) if whole else ():
            if edition != entity:
                found |= self.sets.ends(edition, tuple(steps))
        for member, path in members.items() if 1 < len(members) <= _MOST_MEMBERS else ():
            for end, last in self.sets.ends(member, tuple(steps)).items():
                if end not in path.entities:
                    found.setdefault(end, Path((*path.entities, end), (*path.relations, *last.relations)))
        return found

    def _beside(self, heard: Heard, ends: Ends) -> Ends:
        """Those ends on whose walks lies something that has to do with each name that only says more of it."""
        for name in heard.masked.beside:
            ends = {
                end: path
                for end, path in ends.items()
                if any(self._has_to_do(one, name) for one in ((end,) if path is None else path.entities[1:]))
            }
        return ends

    def _has_to_do(self, one: str, name: Named) -> bool:
        around = {end for _, end in self.kg.neighbours(one)}
        return fold(name.text) in fold(one).split() or any(
            other == one or other in around or self.sets.containing(one, other) is not None for other in name.entities
        )

    def _of_one_type(self, entities: Sequence[str], first: Sequence[str]) -> list[str]:
        """Of namesakes those of the type of the first of which anything like it is stated: of *Elephant* no film."""

        def may_state(kind: str) -> bool:
            if not first or kind == "feat":
                return True
            if first[0][0] != ATTRIBUTE:
                return first[0] in self.kg.steps_of_type(kind)
            meant = {own for name in attributes_of(first[0][1:]) for own in attributes_meant(name)}
            return not meant.isdisjoint(self.kg.attributes_of_type(kind) | self.kg.labels_of_type(kind))

        kinds = {entity: kind_of(self.kg, entity) for entity in entities}
        meant = next((kind for kind in kinds.values() if may_state(kind)), None)
        return [entity for entity, kind in kinds.items() if meant is None or kind == meant]

    def _led_to_by(self, heard: Heard, entity: str, steps: Sequence[str]) -> dict[str, Path]:
        """Where steps lead, by way of the places around where something larger has what no place of such a kind has.

        That is a country, or a *state* or *continent* where the words say so.
        """
        said = _AROUND.search(heard.text)
        kinds = names_of_kind(said[1].lower()) if said else (_STATE,)
        for between in range(_UP if len(steps) > 1 else 1):
            for at in range(1, len(steps)) if between else (1,):
                found = self.sets.ends(entity, (*steps[:at], *(_INSIDE,) * between, *steps[at:]))
                if between:
                    found = {
                        end: path
                        for end, path in found.items()
                        if kind_of(self.kg, path.entities[at + between]) in kinds
                        and steps[at] not in self.kg.steps_of_type(kind_of(self.kg, path.entities[at]))
                    }
                if found:
                    return found
        return {}

    def _within(self, ends: Ends, heard: Heard, chain: Sequence[str]) -> Ends:
        """Those ends to which a single step leads from a place within the one that is named: *born in* some country."""
        if len(chain) != 2 or chain[0] not in heard.names:
            return {}
        back, found = self.sets.inverse(chain[1]), Ends()
        places = [one for one in heard.names[chain[0]].entities if kind_of(self.kg, one) in PLACES]
        for end in ends if places else ():
            for between in self.sets.ends(end, (back,)):
                if (inside := self.sets.containing(between, places[0])) is not None:
                    found[end] = Path((*inside.entities, end), (*inside.relations, chain[1]))
        return found

    def _of_whom(self, heard: Heard, ends: Ends) -> Ends:
        """Those ends to which the walk leads by a woman, or a man, where the words say so: *the woman who wrote it*."""
        found = _WHO.search(heard.text)
        sex = "" if found is None else "f" if found["f"] else "m"
        by = {end: path.entities[1:-1] for end, path in ends.items() if path is not None}
        kept = {end: ends[end] for end, own in by.items() if any(self._sex(one) == sex for one in own)}
        return kept if sex and kept else ends

    def _of_kin(self, heard: Heard, ends: Ends, steps: Sequence[str]) -> Ends:
        """Those ends on whose walks kin is of the sex that the words say: of *X's father's mother* first a man."""
        kin = [place for place, step in enumerate(steps, 1) if step in _KIN]
        said = [_KIN_WORDS[word] for word in kin_words(heard.text)]
        if not kin or len(said) != len(kin):
            return ends
        return {
            end: path
            for end, path in ends.items()
            if path is not None
            and all(not sex or self._sex(path.entities[at]) in ("", sex) for at, sex in zip(kin, said, strict=True))
        }

    def _sex(self, entity: str) -> str:
        around = self.kg.neighbours(entity, directed=True)
        return next((_SEXES[end] for label, end in around if label in ("gender", "instance of") and end in _SEXES), "")

    def _of_type_asked(self, heard: Heard, ends: Ends) -> Ends:
        """The ends of the kind that is asked for, or the places of that kind that they lie in."""
        named = {entity for name in heard.names.values() for entity in name.entities}
        ends = {end: path for end, path in ends.items() if end not in named}
        for kind in heard.kinds:  # of a planet's moons the *Galilean moons*, where some of them are
            editions = self.sets.editions(kind)  # of what a team won the *World Cups*
            movement = kind_of(self.kg, kind) == MOVEMENT  # of who was born in a place the *impressionists*
            beside = {end: self.kg.neighbours(end) for end in ends}
            of_kind = {
                end: path
                for end, path in ends.items()
                if end in editions
                or (_IS_A, kind) in beside[end]
                or (movement and any(other == kind for _, other in beside[end]))
            }
            ends = of_kind if editions or movement else of_kind or ends
        asked = self.query.answer_type
        if not asked.named:
            ends = self._of_kind_said(heard, ends)
        fit = {end: fits(asked, kind_of(self.kg, end)) for end in ends}
        best = max(fit.values(), default=Fit.NO)
        if best is Fit.NO:
            around = [self._containing(path) for path in ends.values() if path is not None] if asked.types else []
            found: Ends = {path.end: path for path in around if path is not None}
            last = {path.relations[-1] for path in ends.values() if path is not None}
            said = path_words(tuple(last)) if last else []
            meant = not asked.named or not asked.types.isdisjoint(said)  # what *has symbol* leads to
            return found or (ends if heard.trusted and meant else {})
        paths = {end: path for end, path in ends.items() if fit[end] is best and path is not None}
        nouns = list(self._nouns(heard.text))  # of those who were born in a place the *composers*
        narrowed = (own for noun in nouns if 0 < len(own := self.sets.of_noun(paths, noun) or {}) < len(paths))
        paths = next(narrowed, paths)
        known = self.kg.degrees([place for end in paths if (place := self.kg.entities.find(end)) is not None])
        order = dict(zip(paths, known, strict=True))
        paths = self._of_office(heard, self._of_role(heard, self._of_sex_said(heard, paths)))
        return {end: paths[end] for end in sorted(paths, key=lambda one: -order[one])}  # the best known first

    def _of_kind_said(self, heard: Heard, ends: Ends) -> Ends:
        """The ends that are of the kind of thing that *which* asks for, *which conifers*, if there is such a kind."""
        found = _WHICH_NOUN.match(heard.text)
        kinds = names_of_kind(found["noun"]) if found else ()
        if not any(kind_of(self.kg, kind) == "kind" for kind in kinds):
            return ends
        return {end: path for end, path in ends.items() if is_of_kind(self.kg, end, kinds)}

    def _of_sex_said(self, heard: Heard, paths: dict[str, Path]) -> dict[str, Path]:
        """Of people the women, or the men, where the words say so: *the women who have been Prime Minister*."""
        said = _SEX_SAID.search(heard.text)
        sexes = {end: self._sex(end) for end in paths} if said else {}
        if said is None or not any(sexes.values()):
            return paths
        return {end: path for end, path in paths.items() if sexes[end] == ("f" if said["f"] else "m")}

    def _of_office(self, heard: Heard, paths: dict[str, Path]) -> dict[str, Path]:
        """Of people those who held the office that is asked for, *which Taoiseach signed it*."""
        asked = _WHICH_ONE.match(heard.text)
        said = (one for name in heard.masked.beside for one in name.entities if kind_of(self.kg, one) == _OFFICE)
        office = next(said, "") or (self.office_named(asked["noun"]) if asked else "")
        holders = self.sets.ends(office, ("held by",)) if office else {}
        return {end: path for end, path in paths.items() if end in holders} if holders else paths

    def _of_role(self, heard: Heard, paths: dict[str, Path]) -> dict[str, Path]:
        """Of the members of a band those of the part that the words say: the one who is known as its *lead singer*."""
        said = _ROLE_IN_BAND.search(heard.text)
        if said is None or any(path.relations[-1] != "band member" for path in paths.values()):
            return paths
        parts = _PARTS[(said["role"] or _PLAYS[said["played"].lower()]).lower()]

        def known_as(band: str, label: str, other: str) -> bool:
            own = fold(other).split()
            return label == "achieved" and parts[0] in own[:2] and set(fold(bare(band)).split()) <= set(own)

        def plays(_: str, label: str, other: str) -> bool:
            return label in ("occupation", "plays instrument") and other in parts

        for telling in (known_as, plays):
            kept = {
                end: path
                for end, path in paths.items()
                if any(telling(path.entities[-2], *one) for one in self.kg.neighbours(end))
            }
            if kept:
                return kept
        return {}

    def _containing(self, path: Path) -> Path | None:
        """A walk on to the place of the kind asked for that its end lies in."""
        lies = kind_of(self.kg, path.end) in LYING and path.relations[-1] != _HOLDS
        for _ in range(_UP if lies else 0):
            around = [end for label, end in self.kg.neighbours(path.end, directed=True) if label == "located in"]
            fitting = [end for end in around if fits(self.query.answer_type, kind_of(self.kg, end)) is not Fit.NO]
            further = next((end for end in (*fitting, *around) if end not in path.entities), None)
            if further is None:
                return None
            path = Path((*path.entities, further), (*path.relations, "located in"))
            if further in fitting:
                return path
        return None

    def _nouns(self, text: str) -> Iterator[str]:
        """The nouns of a text that name kinds of things, two words before one."""
        words = re.findall(r"[a-z]+(?:-[a-z]+)?", without_world(text).lower())
        for length in (2, 1):
            for noun in (" ".join(words[first : first + length]) for first in range(len(words) - length + 1)):
                kinds = [kind for kind in names_of_kind(noun) if length == 1 or " " in kind]
                if noun not in FUNCTION_WORDS and any(called(self.kg, kind) for kind in kinds):
                    yield noun

    def _of_noun_said(self, heard: Heard, ends: Ends, steps: Sequence[str]) -> tuple[str, Ends]:
        """The ends of the kind that the words name; nothing where none of them is what is counted or ordered."""
        paths = {end: path for end, path in ends.items() if path is not None}
        for noun in self._nouns(heard.text):
            if own := self.sets.of_noun(paths, noun):
                return noun, {**own}
        asked = _COUNTED.search(heard.text)
        told = {word[:_STEM] for word in path_words(tuple(steps))}
        kinds = {kind_of(self.kg, end) for end in ends}
        noun = asked["noun"].lower() if asked else ""
        alike = (
            not noun
            or noun[:_STEM] in told
            or noun in (*_KIN_WORDS, *_ANYTHING)
            or not kinds.isdisjoint(names_of_kind(noun))
        )
        return "", ends if alike else {}

    def _valued(self, ends: Ends, attributes: Sequence[str]) -> list[Operand]:
        """Those ends of which the graph states one of these attributes, each with its path."""
        found = (operand_of(self.kg, end, attributes, () if path is None else (path,)) for end, path in ends.items())
        return [operand for operand in found if operand is not None]

    def _pair_of(self, end: str, path: Path | None, attribute: str) -> tuple[Operand, Operand] | None:
        paths = () if path is None else (path,)
        for first, last in SPANS[attribute]:
            one, other = operand_of(self.kg, end, [first], paths), operand_of(self.kg, end, [last], paths)
            if one is not None and other is not None:
                return one, other
        return None


def attributes_of(attribute: str) -> tuple[str, ...]:
    """The names under which a graph may state an attribute, the best one first."""
    return _ALIKE.get(attribute, (attribute, BEGINNING) if attribute in (*BEGINNINGS, "invented") else (attribute,))


def kin_words(text: str) -> list[str]:
    """The words for kin in a text, in the order in which they lead away from what is named."""
    at = next((found.start() for found in re.finditer(rf"\b{NAMES[0]}\b", text)), len(text))
    words = [(found.start(), found[0].lower()) for found in re.finditer(r"[a-z]+", text, re.IGNORECASE)]
    said = [(place, word) for place, word in words if word in _KIN_WORDS]
    return [word for place, word in said if place > at] + [word for place, word in reversed(said) if place < at]


def kin_as_said(text: str, plan: list[str]) -> list[str]:
    """A plan with the kin that the words name, where they name as much of it: a *father* is no child."""
    kin, words = [place for place, token in enumerate(plan) if token in _KIN], kin_words(text)
    if len(kin) != len(words):
        return plan
    said = dict(zip(kin, (_STEP_TO[word] for word in words), strict=True))
    return [said.get(place, token) for place, token in enumerate(plan)]
