"""The words of measure and order in English questions, and the patterns that are written with them.

An adjective stands for the attributes that it may compare and for one of their ends: *taller* for a greater height,
*older* for an earlier date. Patterns of whole questions are written with pieces in braces, ``{x}`` for a name or
``{be}`` for a form of *to be* (``SLOTS``).
"""

from __future__ import annotations

import re

DATE = "date"
BEGINNING = "beginning"  # when something came to be, however that is called of it
NUMBER = "number"  # how many there are
TODAY = "today"  # in place of the day of a death
AGE = "age"  # years between birth and death
IN_OFFICE = ("in office from", "in office until")
LIFE, COURSE = ("born", "died"), ("began", "ended")
_OF_A_LIFE = re.compile(
    r"\b(?:born|birth|birthday|die|died|dies|dead|death|deceased|passed away|lived|killed|murdered|assassinated"
    r"|executed)\b",
    re.IGNORECASE,
)
_OF_A_DEATH = re.compile(
    r"\b(?:die|died|dies|dead|death|deceased|passed away|killed|murdered|assassinated|executed)\b", re.IGNORECASE
)
# adjectives: the attributes that each may mean, and the forms of its greater and its lesser end
_ADJECTIVES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("height", "elevation"), "high higher highest tall taller tallest", "low lower lowest"),
    (("length", "height", "duration"), "long longer longest", "short shorter shortest"),
    (
        ("area", "population", "diameter", "weight", "volume", "height", "length", "capacity", "followers"),
        "big bigger biggest large larger largest great greater",
        "small smaller smallest little littler littlest tiny tiniest",
    ),
    (("depth",), "deep deeper deepest", "shallow shallower shallowest"),
    (("width", "diameter"), "wide wider widest broad broader broadest", "narrow narrower narrowest"),
    (("weight", "mass", "atomic mass"), "heavy heavier heaviest", "light lighter lightest"),
    (("speed",), "fast faster fastest quick quicker quickest", "slow slower slowest"),
    (("temperature", "Scoville units"), "hot hotter hottest warm warmer warmest", "cold colder coldest"),
    (("mass", "weight"), "massive", ""),
    (("density",), "dense denser densest", ""),
    (("population",), "populous populated", ""),
    (
        ("distance from the Sun",),
        "far farther farthest further furthest distant",
        "close closer closest near nearer nearest",
    ),
    ((DATE,), "new newer newest young younger youngest recent latest later", "old older oldest early earlier earliest"),
)
_GREATER: dict[str, tuple[tuple[str, ...], bool]] = {}
for _attributes, _more, _less in _ADJECTIVES:
    _GREATER |= dict.fromkeys(_more.split(), (_attributes, True)) | dict.fromkeys(_less.split(), (_attributes, False))

COMPARING = frozenset((*_GREATER, "fewer", "fewest", "least", "most"))  # adjectives, compared or not

_MEASURES = (
    "height|elevation|length|area|size|population|depth|diameter|radius|mass|weight|speed|lifespan|width|temperature"
    "|duration|volume|gravity|density|atomic number|atomic mass|atomic weight|melting point|boiling point"
    "|orbital period|box office|running time|runtime|life expectancy|escape velocity|Scoville units"
    "|gestation period|incubation period|gestation|incubation|seats"
    "|distance|circumference|wingspan|half-life|half life|coastline|mains voltage|mains frequency|voltage"
    "|freezing point|angle sum|net height|hoop height|goal width|goal height|alcohol content|alcohol|pH value|pH|price"
    "|budget|gauge|heart rate|voting age|drinking age|driving age|core temperature|surface temperature|axial tilt"
    "|orbital speed|main span|storage capacity|bite force|value"
).split("|")
_SAME_MEASURE = {
    "size": ("area", "population", "diameter", "height"),
    "height": ("height", "elevation"),
    "running time": ("duration",),
    "runtime": ("duration",),
    "distance": ("distance", "length"),
    "gestation period": ("gestation",),
    "incubation period": ("incubation",),
    "people": ("population",),
    "life expectancy": ("life expectancy", "lifespan"),
    "half life": ("half-life",),
    "voltage": ("mains voltage",),
    "alcohol content": ("alcohol",),
    "ph": ("pH",),
    "ph value": ("pH",),
    "inhabitants": ("population",),
    "atomic weight": ("atomic mass",),
    "melting point": ("melting_point", "melting point"),
    "boiling point": ("boiling_point", "boiling point"),
}
HOW = {
    "high": ("height", "elevation"),
    "tall": ("height",),
    "long": ("length", "duration", "distance"),
    "big": ("area", "population", "diameter", "height", "length", "weight"),
    "large": ("area", "population", "diameter", "height"),
    "deep": ("depth",),
    "wide": ("width", "diameter"),
    "heavy": ("weight", "mass"),
    "fast": ("speed",),
    "hot": ("temperature", "Scoville units"),
    "populous": ("population",),
}
_PLACES_IN_ORDER = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
ORDINALS = {word: place for place, word in enumerate(_PLACES_IN_ORDER, 1)} | {
    "last": -1,
    "latest": -1,
    "final": -1,
    "penultimate": -2,
}
PARTICIPLES = {"wrote": "written", "sang": "sung", "drew": "drawn", "won": "won", "made": "made", "built": "built"}

KIN = {  # what somebody is to somebody else, and the relation that says so
    **dict.fromkeys(("father", "mother", "parent"), "child"),
    **dict.fromkeys(("son", "daughter", "child"), "child of"),
    **dict.fromkeys(("brother", "sister", "sibling"), "sibling"),
    **dict.fromkeys(("husband", "wife", "spouse"), "spouse"),
}

SLOTS = {
    "x": r"(?P<x>.+?)",
    "y": r"(?P<y>.+?)",
    "be": r"(?:is|are|was|were)",
    "what": r"(?:what|which|who)",
    "he": r"(?:he|she|it|they)",
    "noun": r"(?P<noun>[\w' -]+?)",
    "measure": rf"(?P<measure>{'|'.join(_MEASURES)})",
    "people": rf"(?P<measure>people|inhabitants|(?:native )?speakers|{'|'.join(_MEASURES)})",
    "how": rf"(?P<adjective>{'|'.join(HOW)})",
    "er": rf"(?:(?P<adjective>{'|'.join(sorted(w for w in _GREATER if w.endswith('er')))})"
    r"|more (?P<stem>populous|populated|distant|recent|massive))",
    "erest": rf"(?:(?P<adjective>{'|'.join(sorted(w for w in _GREATER if w.endswith(('er', 'est'))))})"
    r"|(?:more|most) (?P<stem>populous|populated|distant|recent|massive))",
    "est": rf"(?:(?P<adjective>{'|'.join(sorted(w for w in _GREATER if w.endswith('est')))})"
    r"|(?P<degree>most|least) (?P<stem>populous|populated|distant|recent|massive))",
    "degree": r"(?P<degree>more|most|fewer|fewest|less|least|larger|largest|bigger|biggest|smaller|smallest|greater"
    r"|greatest|higher|highest|lower|lowest|longer|longest)",
    "nth": rf"(?P<nth>{'|'.join(ORDINALS)}|\d{{1,3}}(?:st|nd|rd|th))",
    "kin": rf"(?P<kin>{'|'.join(KIN)})",
    "pair": r"(?:(?:the|an?) )?(?P<x>.+?) *,? +(?:or|and|than|vs\.?|versus) +(?:an? )?(?P<y>.+)",
}


def patterns_of(*templates: str) -> tuple[re.Pattern[str], ...]:
    """Patterns of whole questions; see ``SLOTS``."""
    return tuple(
        re.compile("^" + re.sub(r"\{([a-z]+)\}", lambda piece: SLOTS[piece[1]], template) + "$", re.IGNORECASE)
        for template in templates
    )


def first_match(patterns: tuple[re.Pattern[str], ...], question: str) -> re.Match[str] | None:
    """How the first pattern that fits matches."""
    return next((found for pattern in patterns if (found := pattern.match(question))), None)


def measured_by(word: str) -> tuple[str, ...]:
    return _SAME_MEASURE.get(word.lower(), (word.lower(),))


def degree_of(found: re.Match[str]) -> tuple[tuple[str, ...], bool]:
    """The attributes that an adjective means, and whether it means their greater end."""
    stem = found["stem"]
    if not stem:
        return _GREATER[found["adjective"].lower()]
    attributes, greatest = _GREATER[stem.lower()]
    return attributes, greatest != ((found.groupdict().get("degree") or "").lower() == "least")


_OF_PRICE = {"pricier": True, "priciest": True, "dearer": True, "dearest": True, "costlier": True, "costliest": True,
             "spicier": True, "spiciest": True, "richer": True, "richest": True, "cheaper": False, "cheapest": False,
             "milder": False, "mildest": False, "poorer": False, "poorest": False, "weaker": False,
             "weakest": False}  # fmt: skip


def greater_end(word: str) -> bool | None:
    """Whether a compared adjective means the greater end of what it compares; None where it is none, or of dates."""
    attributes, greatest = _GREATER.get(word, ((), _OF_PRICE.get(word)))
    return greatest if word.endswith(("er", "est")) and attributes != (DATE,) else None


LESSER = frozenset("fewer fewest less least smaller smallest lower lowest".split())


NUMBERS = {  # as they are said
    word: number
    for number, word in enumerate(
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty".split(),
        2,
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100}


def number_of_word(word: str) -> int:
    """Of ``four`` or ``4``: 4."""
    return int(word) if word.isdigit() else NUMBERS[word.lower()]


def place_of(word: str) -> int:
    """Of ``third``, ``3rd`` or ``last``: 3, 3, -1."""
    return ORDINALS.get(word.lower()) or int(re.sub(r"\D", "", word))


_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
_UNITS: tuple[dict[str, float], ...] = (  # of one kind, by the first of each
    {"m": 1, "metres": 1, "meters": 1, "feet": 0.3048, "foot": 0.3048, "ft": 0.3048, "km": 1e3, "kilometres": 1e3,
     "kilometers": 1e3, "miles": 1609.344, "cm": 0.01, "centimetres": 0.01, "centimeters": 0.01, "inches": 0.0254,
     "mm": 1e-3, "millimetres": 1e-3, "millimeters": 1e-3, "yards": 0.9144},
    {"km²": 1, "square kilometres": 1, "square kilometers": 1, "sq km": 1, "km2": 1, "square miles": 2.589988},
    {"kg": 1, "kilos": 1, "kilograms": 1, "t": 1e3, "tonnes": 1e3, "tons": 1e3, "g": 1e-3, "grams": 1e-3,
     "pounds": 0.45359},
    {"km/h": 1, "kilometres per hour": 1, "kilometers per hour": 1, "kmh": 1, "mph": 1.609344,
     "miles per hour": 1.609344, "m/s": 3.6, "metres per second": 3.6, "meters per second": 3.6,
     "km/s": 3600, "kilometres per second": 3600, "kilometers per second": 3600, "miles per second": 5793.638},
    {"l": 1, "litres": 1, "liters": 1, "ml": 1e-3, "millilitres": 1e-3, "milliliters": 1e-3, "cl": 1e-2},
)  # fmt: skip
_TIMES = frozenset("second minute hour day week month year decade century".split())


def is_time(unit: str) -> bool:
    """Whether a unit, in one or many, measures time."""
    return unit.lower().removesuffix("s") in _TIMES


UNIT_WORDS = frozenset(
    {word for units in _UNITS for word in units if len(word) > 2 and word.isalpha()}
    | {"hertz", "fahrenheit", "celsius", "centigrade", "kelvin", "volts", "watts", "decibels"}
)
_COUNTED = frozenset(
    ("", "people", "inhabitants", "residents", "citizens", "minutes", "years", "dollars", "us dollars")
)


# pieces of patterns: a number with its unit, and how it bounds a value
SAID_NUMBER = r"(?P<number>\d[\d,]*(?:\.\d+)?)(?P<scale> (?:thousand|million|billion))?(?: (?P<unit>[a-z][\w²/ ]*?))?"
MORE = r"(?P<more>more than|over|above|at least|greater than|less than|under|below|fewer than|at most|up to)"
SIGNS = {  # what else says more
    "at least": ">=",
    "less than": "<",
    "under": "<",
    "below": "<",
    "fewer than": "<",
    "at most": "<=",
    "up to": "<=",
    **dict.fromkeys(("exactly", "only", "just"), "="),
}


def number_said(number: str, scale: str) -> float:
    """Of ``1,000`` or ``50 million``: the number."""
    return float(number.replace(",", "")) * _SCALES.get(scale.strip().lower(), 1)


def in_unit(number: float, said: str, unit: str) -> float | None:
    """A number with the unit that a question gives it, in another one; None where the two cannot be compared."""
    said = said.strip().lower()
    if said == unit.lower() or said in _COUNTED:
        return number
    return next((number * own[said] / own[unit] for own in _UNITS if said in own and unit in own), None)


_DEGREES = {  # of a temperature: how many make one kelvin, and the zero point
    "celsius": ("°C", 1.0, 273.15), "celcius": ("°C", 1.0, 273.15), "centigrade": ("°C", 1.0, 273.15),
    "fahrenheit": ("°F", 1.8, 459.67), "kelvin": ("K", 1.0, 0.0), "kelvins": ("K", 1.0, 0.0),
}  # fmt: skip
_ASKED_AS = re.compile(
    r"^how many (?P<unit>litres|liters|millilitres|ml|yards|inches) (?=of|are|is|does|do)", re.IGNORECASE
)
_ASKED_IN = re.compile(
    rf",? (?:(?:expressed |measured |given )?in )(?:degrees )?(?P<unit>{'|'.join(_DEGREES)}|feet|yards|inches"
    r"|lit(?:er|re)s|miles per hour|met(?:er|re)s per second|miles|met(?:er|re)s"
    r"|(?:kilo|centi|milli)met(?:er|re)s|km|cm|mm|pounds|kilograms|kg|mph|km/h)"
    r"(?=$|[?.!]| (?:does|do|is|are|did|will)\b)",
    re.IGNORECASE,
)


def unit_asked(question: str) -> tuple[str, str]:
    """The unit in which a value is asked for, in lower case, and the question without it; empty where it says none."""
    if counted := _ASKED_AS.match(question):
        return counted["unit"].lower(), question
    found = _ASKED_IN.search(question)
    return (found["unit"].lower(), question[: found.start()] + question[found.end() :]) if found else ("", question)


def converted(number: float, unit: str, asked: str) -> str:
    """A value in the unit that it is asked in, rounded as it is known; empty where it has that unit or no such one."""
    known = {sign: (per, zero) for sign, per, zero in _DEGREES.values()}
    if asked in _DEGREES and unit in known:
        sign, per, zero = _DEGREES[asked]
        own_per, own_zero = known[unit]
        return "" if sign == unit else f"{(number + own_zero) / own_per * per - zero:,.6g} {sign}"
    one = in_unit(1.0, asked, unit)
    if not one or one == 1:
        return ""
    digits = min(max(3, len(f"{number:g}".replace(".", "").strip("0"))), 4)  # 3.05 m are 10.0 feet, not 10.01
    return f"{number / one:,.{digits}g} {asked}" if number / one < 1000 else f"{number / one:,.0f} {asked}"


_WORLD = re.compile(
    r"\b(?:(?:in|of|on) (?:the )?(?:whole |entire |our )?(?:world|earth|planet|universe|solar system|periodic table)"
    r"|of all(?: time)?|worldwide|ever(?: made| built| written)?|by far|(?:to|from|around) the sun"
    r"|(?:that|which|who) (?:still |ever |currently )?(?:exists?|existed|lived?|lives|runs|stands"
    r"|operates)(?: today)?|alive(?: today)?|living today)\b",
    re.IGNORECASE,
)


def without_world(rest: str) -> str:
    """What is said of the place; nothing where that is the whole world."""
    return " ".join(_WORLD.sub("", rest).split())


WORKS = re.compile(
    r"^(?P<series>.+) (?P<works>(?:book|novel|film|movie|album|song|game|season|episode)s?)$", re.IGNORECASE
)


def parts_of(series: re.Match[str]) -> str:
    return f"which {plural_of(series['works'])} are part of {series['series']}"


def plural_of(noun: str) -> str:
    irregular = {"man": "men", "woman": "women", "person": "people", "wife": "wives", "child": "children"}
    *before, last = noun.split()
    if last.endswith("s") or last.lower() in irregular.values():
        return noun
    plural = irregular.get(last.lower()) or (f"{last[:-1]}ies" if re.search(r"[^aeiou]y$", last) else f"{last}s")
    return " ".join([*before, plural])


_YEAR = r"(?:the year )?(?P<year>\d{3,4})\b(?!s)"
_BOUNDS = tuple(
    (re.compile(rf"\b(?:{words}) +{_YEAR}", re.IGNORECASE), sign)
    for words, sign in (
        ("before|prior to|earlier than", "<"),
        ("up to|until|till|no later than", "<="),
        ("after|later than", ">"),
        ("since", ">="),
    )
)
# *in 1962* is a condition where somebody held an office or won something; elsewhere the year may be what is asked about
_MONTH = "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_IN_A_YEAR = re.compile(
    rf"\b(?:in|during|(?:at|by|around|from) the (?:end|beginning|start|middle) of) +(?:{_MONTH} )?{_YEAR}"
    rf"|\bon +(?:(?:the )?{_DAY} (?:of )?{_MONTH}|{_MONTH} {_DAY}),? +(?P<year_of_day>\d{{4}})\b",
    re.IGNORECASE,
)
OFFICES = (
    r"presidents?|ministers?|kings?|queens?|popes?|chancellors?|emperors?|monarchs?|rulers?|ruled|reigned|tsars?"
    r"|governors?|mayors?|leaders?|in (?:power|office)|on the throne"
)
OFFICE = re.compile(rf"\b(?:{OFFICES})\b", re.IGNORECASE)
_HELD_OR_WON = re.compile(rf"\b(?:{OFFICES}|won|win|winners?|champions?|hosted|awarded|received)\b", re.IGNORECASE)


_CENTURY = re.compile(
    r"\b(?:in|during|of|from) the (?:(?P<part>early|mid|late)[ -])?(?P<century>\d{1,2})(?:st|nd|rd|th)[ -]century\b",
    re.I,
)
_DECADE = re.compile(r"\b(?:in|during|of|from) the (?:(?:early|mid|late)[ -])?(?P<decade>\d{3}0)'?s\b", re.IGNORECASE)
_CAME_OUT = "born|written|published|released|made|painted|composed|built|founded|came out|come out|appeared"
_BETWEEN = re.compile(
    r"\b(?:between|from) (?P<first>\d{4}) (?:and|to|until|till|-) (?P<last>\d{4})\b"
    r"|\b(?P<since>\d{4}) ?[–-] ?(?P<until>\d{4})\b",
    re.IGNORECASE,
)


def _range_of(question: str) -> tuple[str, str]:
    """The years of a century, of a decade or between two, as ``>= 1601 and <= 1700``, and the question without them."""
    for pattern in (_CENTURY, _DECADE, _BETWEEN):
        found = pattern.search(question)
        if not found:
            continue
        if pattern is _CENTURY:
            last = 100 * int(found["century"])
            years = (last - 99, last)
        elif pattern is _DECADE:
            years = (int(found["decade"]), int(found["decade"]) + 9)
        else:
            years = (int(found["first"] or found["since"]), int(found["last"] or found["until"]))
        return f">= {years[0]} and <= {years[1]}", _without(question, found, _CAME_OUT)
    return "", question


def bound_of(question: str) -> tuple[str, str]:
    """The years that a question keeps its answers within, as ``< 1980``, and the question without that."""
    bound, without = _range_of(question)
    if bound:
        return bound, without
    for pattern, sign in _BOUNDS:
        found = pattern.search(question)
        if found:
            return f"{sign} {found['year']}", _without(question, found, _CAME_OUT)
    found = _IN_A_YEAR.search(question)
    if found and _HELD_OR_WON.search(question):
        return f"= {found['year'] or found['year_of_day']}", _without(question, found)
    return "", question


def _without(question: str, found: re.Match[str], verbs: str = "") -> str:
    """A question without the words that a pattern has found, and without a verb right before them."""
    before = question[: found.start()]
    if verbs:
        before = re.sub(rf"(?: (?:was|were|are|is))? (?:{verbs}) *$", "", before, flags=re.IGNORECASE)
    return " ".join((before + question[found.end() :]).strip(" ,").split())


# which end of an order ------------------------------------------------------------------------

_MORE = frozenset("more most maximum max record ahead above exceeds beats tops top leads outlasts outweighs".split())
_LESS = frozenset("less least fewer fewest minimum bottom below under".split())
_EARLY = frozenset("first earlier earliest before older oldest elder eldest sooner preceded precedes predates".split())
_LATE = frozenset("last later latest after younger youngest newer newest recent recently follows followed".split())
_OLDER, _YOUNGER = frozenset(("older", "oldest", "elder", "eldest")), frozenset(("younger", "youngest"))
_DATED = frozenset("born died released founded opened happened discovered invented".split())
_WORD = re.compile(r"[a-z]+|(?<=no. )1\b|(?<=no )1\b|(?<=number )1\b")


def says_greater(text: str, attribute: str) -> bool | None:
    """Whether a text asks for the greater of values of an attribute, *longer*, *later*, or for the lesser.

    Returns:
        None where it says neither, or both.
    """
    words = _WORD.findall(text.lower())
    said: set[bool] = set()
    for place, word in enumerate(words):
        end = _end_said(word, attribute)
        if end is None:
            continue
        if not {"less", "least"}.isdisjoint(words[max(place - 2, 0) : place]):  # *less far south*
            said.discard(False)
            end = not end
        said.add(end)
    return said.pop() if len(said) == 1 else None


def _end_said(word: str, attribute: str) -> bool | None:
    """Whether a word says the greater end of an attribute's values; None where it says no end."""
    if attribute in _DATED:
        return True if word in _LATE else False if word in _EARLY else None
    if attribute in ("latitude", "longitude"):
        greater, lesser = ("north", "south") if attribute == "latitude" else ("east", "west")
        return True if word.startswith(greater) else False if word.startswith(lesser) else None
    if word == "1" or word in _MORE or (attribute in ("age", "age reached") and word in _OLDER):
        return True
    if word in _LESS or (attribute in ("age", "age reached") and word in _YOUNGER):
        return False
    return greater_end(word)


# the dates of lives -----------------------------------------------------------------------------


def speaks_of_a_life(text: str) -> bool:
    """Whether a text speaks of a birth or a death: who won in a year need not have been born in it."""
    return _OF_A_LIFE.search(text) is not None


def dates_said(text: str) -> tuple[str, ...]:
    """Which dates of a life a text speaks of: that of a death, of a birth, or either where it says neither; or none."""
    if not speaks_of_a_life(text):
        return ()
    dies, is_born = _OF_A_DEATH.search(text), re.search(r"\bborn\b|\bbirth", text, re.IGNORECASE)
    return LIFE if bool(dies) == bool(is_born) else LIFE[1:] if dies else LIFE[:1]


def dates_a_life(label: str) -> bool:
    """Whether an attribute, or a relation to a year, dates a birth or a death."""
    return label.removesuffix(" in year") in LIFE
