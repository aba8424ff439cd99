"""The words of measure and order in English questions, and the patterns that are written with them.

An adjective stands for the attributes that it may compare and for one of their ends: *taller* for a greater height,
*older* for an earlier date. Patterns of whole questions are written with pieces in braces, ``{x}`` for a name or
``{be}`` for a form of *to be* (``SLOTS``).
"""

from __future__ import annotations

import re

DATE = "date"
NUMBER = "number"  # how many there are
TODAY = "today"  # in place of the day of a death
AGE = "age"  # years between birth and death
IN_OFFICE = ("in office from", "in office until")
LIFE, COURSE = ("born", "died"), ("began", "ended")
# adjectives: the attributes that each may mean, and the forms of its greater and its lesser end
_ADJECTIVES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("height", "elevation"), "high higher highest tall taller tallest", "low lower lowest"),
    (("length", "height", "duration"), "long longer longest", "short shorter shortest"),
    (
        ("area", "population", "diameter", "weight", "volume", "height", "length"),
        "big bigger biggest large larger largest great greater",
        "small smaller smallest little littler littlest tiny tiniest",
    ),
    (("depth",), "deep deeper deepest", "shallow shallower shallowest"),
    (("width",), "wide wider widest broad broader broadest", "narrow narrower narrowest"),
    (("weight", "mass", "atomic mass"), "heavy heavier heaviest", "light lighter lightest"),
    (("speed",), "fast faster fastest quick quicker quickest", "slow slower slowest"),
    (("temperature",), "hot hotter hottest warm warmer warmest", "cold colder coldest"),
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

_MEASURES = (
    "height|elevation|length|area|size|population|depth|diameter|radius|mass|weight|speed|lifespan|width|temperature"
    "|duration|volume|gravity|density|atomic number|atomic mass|atomic weight|melting point|boiling point"
    "|orbital period"
).split("|")
_SAME_MEASURE = {
    "size": ("area", "population", "diameter", "height"),
    "height": ("height", "elevation"),
    "people": ("population",),
    "inhabitants": ("population",),
    "atomic weight": ("atomic mass",),
    "melting point": ("melting_point", "melting point"),
}
HOW = {
    "high": ("height", "elevation"),
    "tall": ("height",),
    "long": ("length", "duration"),
    "big": ("area", "population", "diameter", "height", "length", "weight"),
    "large": ("area", "population", "diameter", "height"),
    "deep": ("depth",),
    "wide": ("width", "diameter"),
    "heavy": ("weight", "mass"),
    "fast": ("speed",),
    "hot": ("temperature",),
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

SLOTS = {
    "x": r"(?P<x>.+?)",
    "y": r"(?P<y>.+?)",
    "be": r"(?:is|are|was|were)",
    "what": r"(?:what|which|who)",
    "he": r"(?:he|she|it|they)",
    "noun": r"(?P<noun>[\w' -]+?)",
    "measure": rf"(?P<measure>{'|'.join(_MEASURES)})",
    "people": rf"(?P<measure>people|inhabitants|{'|'.join(_MEASURES)})",
    "how": rf"(?P<adjective>{'|'.join(HOW)})",
    "er": rf"(?:(?P<adjective>{'|'.join(sorted(w for w in _GREATER if w.endswith('er')))})"
    r"|more (?P<stem>populous|populated|distant|recent))",
    "erest": rf"(?:(?P<adjective>{'|'.join(sorted(w for w in _GREATER if w.endswith(('er', 'est'))))})"
    r"|(?:more|most) (?P<stem>populous|populated|distant|recent))",
    "est": rf"(?:(?P<adjective>{'|'.join(sorted(w for w in _GREATER if w.endswith('est')))})"
    r"|(?P<degree>most|least) (?P<stem>populous|populated|distant|recent))",
    "degree": r"(?P<degree>more|most|fewer|fewest|less|least|larger|largest|bigger|biggest|smaller|smallest|greater"
    r"|greatest|higher|highest|lower|lowest|longer|longest)",
    "nth": rf"(?P<nth>{'|'.join(ORDINALS)}|\d{{1,3}}(?:st|nd|rd|th))",
    "pair": r"(?:the )?(?P<x>.+?) *,? +(?:or|and|than|vs\.?|versus) +(?P<y>.+)",
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


LESSER = frozenset("fewer fewest less least smaller smallest lower lowest".split())
