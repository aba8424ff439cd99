"""A question that asks yes or no, turned round: the question whose answer it claims, and the answer that it claims.

*Is the blue whale the largest animal* claims that *the blue whale* answers *what is the largest animal*. What orders,
measures and dates is computed for the question turned round, and its answer is held against the claim.
"""

from __future__ import annotations

import re

from kgdemo.query.measures import (
    MORE,
    NUMBERS,
    OFFICE,
    OFFICES,
    SAID_NUMBER,
    SIGNS,
    degree_of,
    first_match,
    measured_by,
    number_of_word,
    number_said,
    patterns_of,
    plural_of,
)

_DONE = {"win": "won", "host": "hosted", "have": "has", "write": "written", "direct": "directed", "make": "made"}

_NEARER = patterns_of(
    r"(?:is|are) {x} (?P<way>(?:clos|near|farth|furth)er(?: away)?) (?P<to>to|from) (?P<place>.+?) than {y}(?: is)?"
)
_COMPASS = patterns_of(
    r"(?:is|are|does|do) {x} (?:located |lie |lies )?(?:(?:further|farther) )?(?:to the )?"
    r"(?P<way>north|south|east|west)(?:ern)? (?:of|than) {y}(?: is)?"
)
_OFFICE = rf"(?P<office>(?:the )?(?:(?:us|american|british|french|german|prime) )*(?:{OFFICES})(?: of .+?)?)"
_IN_OFFICE = patterns_of(
    rf"was {{x}} {_OFFICE} (?P<way>before|after) {{y}}(?: was)?",
    rf"did {{x}} (?:become|(?:serve|rule|reign|govern) as) {_OFFICE} (?P<way>before|after) {{y}}(?: did)?",
)
_MORE_OFTEN = patterns_of(
    r"(?:has|have|did|does|do|had) {x} (?:ever )?(?P<verb>won?|win|hosted?) (?P<noun>.+?) (?P<degree>more|less) "
    r"(?:often|times|frequently) than {y}(?: has| have| did)?",
)
_MORE_OF = patterns_of(
    r"(?:has|have|did|does|do|had) {x} (?:ever )?(?P<verb>won|win|hosted|host|have|has|got|written|write|directed"
    r"|direct|made|make)? ?(?P<degree>more|fewer) (?!{people}\b)"
    r"(?P<noun>[\w' -]+?s(?: (?:on|in) (?:the |a )?\w+)?) than {y}(?: has| have| did| does)?"
)
_EXTREME = patterns_of(
    r"(?P<be>{be}) {x} (?:really |still |actually |truly |currently )?"
    r"(?P<asked>the (?:world's |(?:second|third) )?{est}\b.*)",
)
_NTH = patterns_of(
    r"(?P<be>{be}) {x} (?:really |actually )?(?P<asked>the (?:very )?(?:(?!last name){nth}) .+)",
)
_IN_YEAR = patterns_of(
    r"(?P<aux>did|was|were) (?P<rest>.+?) (?P<way>in|before|after|since) (?:the year )?(?P<year>[12]?\d{3})",
)
_LASTED = re.compile(r"\b(?:still|exist|alive|live|last|rule|reign|belong|part|in (?:office|power))\b", re.IGNORECASE)
_WON_FIRST = patterns_of(r"did {x} (?P<verb>win|host) (?P<y>the (?:very )?(?:first|last) .+)")
_WON_IN = patterns_of(
    r"did {x} (?P<verb>win|host) (?P<y>(?:the )?.+?) (?:of|in) (?:the year )?(?P<year>[12]\d{3})",
    r"(?:was|were) (?P<y>(?:the )?.+?) (?P<year>[12]\d{3})? ?(?P<verb>won|hosted) by {x}",
)
_ABOVE = patterns_of(
    rf"(?:is|are|was|were) {{x}} {{er}} than (?:about )?{SAID_NUMBER}",
    rf"(?:is|are|was|were) {{x}} (?:about )?{MORE} {SAID_NUMBER} (?:in )?"
    r"(?P<measure>tall|high|long|deep|wide|heavy|height)",
)
_HAS_ABOVE = patterns_of(
    rf"(?:does|do|did|has|have|had) {{x}} (?:have )?(?:a |an )?(?P<measure>population|height|length|area|depth|weight) "
    rf"(?:of )?{MORE} {SAID_NUMBER}",
    rf"(?:does|do|did|has|have|had) {{x}} (?P<measure>have|weigh|measure|cover) {MORE} {SAID_NUMBER}",
)
_MEASURED = {
    "tall": "height", "high": "height", "long": "length", "deep": "depth", "wide": "width", "heavy": "weight",
    "have": "population", "weigh": "weight", "measure": "length", "cover": "area",
}  # fmt: skip
_PEOPLE = frozenset("people inhabitants residents citizens".split())
_IS_THERE = patterns_of(
    r"(?:is|are) there (?:an?|any|other|another)(?: other)? {noun} (?:that (?:is|are) )?{er} than {y}"
)
_MARRIED = patterns_of(
    r"(?:was|is|were|are) {x} (?:ever |still )?married",
    r"did {x} (?:ever )?(?:marry|get married|have an? (?:wife|husband|spouse))",
    r"(?:does|did|has|had) {x} (?:ever )?(?:have|had) (?:an?|any) (?:wife|husband|spouse)",
)
_SOMEBODY = re.compile(r"\b(?:person|man|woman|human|people|player|actor|actress|singer|writer|president)\b", re.I)
_IS_ANY = patterns_of(
    r"(?P<be>is|are|was|were) there (?:ever )?(?:(?:an?|any|some|other) )?{noun}(?: (?P<link>that|which|who|with)"
    r" (?P<clause>.+))?",
    r"(?:has|have|had) there (?P<be>)(?:ever |yet )?been (?:(?:an?|any) )?{noun}(?: (?P<link>that|which|who|with)"
    r" (?P<clause>.+))?",
)
_IT_WAS = patterns_of(r"(?P<be>is|was|were) it {x} (?P<asks>who|that|which) (?P<clause>.+)")
_KIN = patterns_of(
    r"{be} {x} (?:really |actually )?(?:(?:the|an?|one of the) )?{kin} (?:of|to) {y}",
    r"{be} (?P<both>.+)(?:'s|(?<=s)') {kin}",
)
_DEGREE = rf"(?:{MORE}|(?P<just>exactly|only|just))"
_NUMBER_WORD = rf"(?:{'|'.join(NUMBERS)}|\d{{1,3}}(?:,\d{{3}})*)"
_OFTEN = {"once": 1, "twice": 2, "thrice": 3}
_HAS_SO_MANY = patterns_of(
    rf"(?:do|does|did|has|have|had|is|are|was|were) .+? {_DEGREE} (?P<number>one|{_NUMBER_WORD}) (?P<thing>[a-z].*?)"
    r"(?: right)?",
    r"(?:do|does|did|has|have|had|is|are|was|were)\b.*? (?P<more>)(?:(?P<just>exactly|only|just) )?"
    rf"(?P<number>{_NUMBER_WORD}) (?P<thing>[a-z][\w ]*?s)(?: right)?",
)
_SO_OFTEN = patterns_of(
    rf"(?:did|has|have) .+? (?:win|won|receive|received|get|got) (?:an?|the) (?P<thing>.+?) (?:{_DEGREE} )?"
    rf"(?P<number>once|twice|thrice|{_NUMBER_WORD} times)",
)
ANYTHING = "*"


def turned_round(question: str) -> tuple[str, str]:
    """The question that a yes/no question claims the answer of, and what it claims that to be.

    Returns:
        a question, and a name, ``= 1912``, ``> 8000 metres``, ``*``, which any answer fits, or ``* pope``, which any of
        a kind does; both empty where a question claims nothing of this kind.
    """
    if " or " in question:  # which of the two it is, is no yes or no
        return "", ""
    for reader in (_order, _count, _measure, _year, _existence, _it_was):
        if found := reader(question):
            return found
    return "", ""


def _order(question: str) -> tuple[str, str] | None:
    """Which of two, or which of all."""
    if found := first_match(_NEARER, question):
        return f"which is {found['way']} {found['to']} {found['place']}, {found['x']} or {found['y']}", found["x"]
    if found := first_match(_COMPASS, question):
        return f"which is further {found['way'].lower()}, {found['x']} or {found['y']}", found["x"]
    if found := first_match(_IN_OFFICE, question):
        when = "first" if found["way"].lower() == "before" else "last"
        return f"who was {found['office']} {when}, {found['x']} or {found['y']}", found["x"]
    found = first_match(_EXTREME, question) or first_match(_NTH, question)
    if not found or re.search(r"\b(?:there|it|this|that|one of|among)\b", found["x"], re.IGNORECASE):
        return None
    asks = "who" if OFFICE.search(found["asked"]) or _SOMEBODY.search(found["asked"]) else "what"
    return f"{asks} {found['be'].lower()} {found['asked']}", found["x"]


def _count(question: str) -> tuple[str, str] | None:
    """Who has done something more often."""
    if found := first_match(_MORE_OFTEN, question):
        noun = plural_of(re.sub(r"^the ", "", found["noun"], flags=re.IGNORECASE))
        degree = "more" if found["degree"].lower() == "more" else "fewer"
    elif found := first_match(_MORE_OF, question):
        noun, degree = found["noun"], found["degree"].lower()
    else:
        return None
    verb = (found["verb"] or "have").lower()
    verb = _DONE.get(verb, verb)
    done = verb if verb in ("has", "had") else f"has {verb}"
    return f"who {done} {degree} {noun}, {found['x']} or {found['y']}", found["x"]


def _measure(question: str) -> tuple[str, str] | None:
    """Above or below a number."""
    if found := first_match(_ABOVE, question):
        said = found.groupdict()
        if said.get("measure"):
            measure, sign = (
                _MEASURED.get(said["measure"].lower(), said["measure"]),
                SIGNS.get(said["more"].lower(), ">"),
            )
        else:
            attributes, greater = degree_of(found)
            measure, sign = attributes[0], ">" if greater else "<"
    elif found := first_match(_HAS_ABOVE, question):
        measure, sign = found["measure"].lower(), SIGNS.get(found["more"].lower(), ">")
        if measure == "have" and (found["unit"] or "").lower() not in _PEOPLE:
            return None
        measure = _MEASURED.get(measure, measure)
    else:
        return None
    if measured_by(measure) == ("date",):
        return None
    limit = number_said(found["number"], found["scale"] or "")
    return f"what is the {measure} of {found['x']}", f"{sign} {limit:.15g} {found['unit'] or ''}".strip()


def _year(question: str) -> tuple[str, str] | None:
    """The first one, or in a year, or before or after one."""
    if found := first_match(_WON_FIRST, question):
        return f"who {_DONE[found['verb'].lower()]} {found['y']}", found["x"]
    if (found := first_match(_WON_IN, question)) and found["year"]:
        done = _DONE.get(found["verb"].lower(), found["verb"].lower())
        return f"who {done} {found['y']} in {found['year']}", found["x"]
    found = first_match(_IN_YEAR, question)
    if not found or _LASTED.search(found["rest"]):
        return None
    sign = {"in": "=", "before": "<", "after": ">", "since": ">="}[found["way"].lower()]
    return f"when {found['aux'].lower()} {found['rest']}", f"{sign} {found['year']}"


def _it_was(question: str) -> tuple[str, str] | None:
    """*Was it Adolphe Sax who invented the saxophone*."""
    found = first_match(_IT_WAS, question)
    if not found or re.match(r"(?:in|on|at|from|by|for|with)\b|.*\d", found["x"], re.IGNORECASE):
        return None
    asks = "who" if found["asks"].lower() == "who" else "what"
    return f"{asks} {found['clause']}", found["x"]


def number_claimed(question: str) -> tuple[str, int, str] | None:
    """How many of something a question says that there are: of *more than one Oscar* ``>``, 1 and *Oscars*."""
    if found := first_match(_SO_OFTEN, question):
        word = found["number"].lower()
        number = _OFTEN.get(word) or _number(word.removesuffix(" times"))
    elif found := first_match(_HAS_SO_MANY, question):
        number = _number(found["number"].lower())
    else:
        return None
    return SIGNS.get((found["more"] or "exactly").lower(), ">"), number, found["thing"]


def _number(word: str) -> int:
    return 1 if word == "one" else number_of_word(word.replace(",", ""))


def kin_claimed(question: str) -> list[tuple[str, str, str]]:
    """Who is said to be what to whom, *Thor*, *son*, *Odin*, in each way in which the words may be parted."""
    found = first_match(_KIN, question)
    if not found:
        return []
    said = found.groupdict()
    if said.get("y"):
        return [(said["x"], said["kin"].lower(), said["y"])]
    words = said["both"].split()
    return [(" ".join(words[:cut]), said["kin"].lower(), " ".join(words[cut:])) for cut in range(1, len(words))]


def _existence(question: str) -> tuple[str, str] | None:
    """Whether there is any at all."""
    if found := first_match(_IS_THERE, question):
        degree = found["adjective"] or f"more {found['stem']}"
        return f"which {plural_of(found['noun'])} are {degree} than {found['y']}", ANYTHING
    if found := first_match(_MARRIED, question):
        return f"who was the spouse of {found['x']}", ANYTHING
    if found := first_match(_IS_ANY, question):
        noun, clause = found["noun"], found["clause"]
        if clause and found["link"].lower() == "with":
            return f"which {plural_of(noun)} have {clause}", f"{ANYTHING} {noun}"
        if clause:
            return f"which {noun} {clause}", f"{ANYTHING} {noun}"
        return f"which {plural_of(noun)} are there", f"{ANYTHING} {noun}"
    return None
