"""Questions for what is stated of one thing: how high it is, when it was founded, how far it lies from the Sun."""

from __future__ import annotations

import re

from kgdemo.query.measures import HOW, IN_OFFICE, OFFICES, first_match, measured_by, patterns_of
from kgdemo.query.plan import Form, Plan

_HOW_MUCH = patterns_of(r"how {how} {be} {x}")
_HOW_FAR = patterns_of(
    r"how (?:far|distant) {be} it from (?:the )?{x} to (?:the )?{y}(?: on average)?",
    r"how (?:far|distant) (?:away )?{be} {x}(?: away)? from (?:the )?{y}",
    r"(?:{what} {be} )?(?:the )?(?:average |mean )?distance (?:of|from|between) {x} (?:from|to|and) (?:the )?{y}",
)
_MEASURED_FROM = {"sun": "distance from the Sun", "earth": "distance from the Earth", "us": "distance from the Earth"}
_YEAR_OF = patterns_of(
    r"how (?:long|many (?:earth )?(?:days|years|months)) (?:does|do) {x} (?:need|take) "
    r"(?:for |to make |to complete |to do )?(?:one |an? )?(?:full )?(?:trip|orbit|journey|lap|revolution|turn)"
    r"(?: (?:a?round|of) .+)?",
    r"how (?:long|many (?:days|years|months)) (?:does|do) (?:it take )?{x} (?:need |take )?to (?:go (?:once )?a?round"
    r"|orbit|circle|revolve around|travel around|complete)\b.*",
    r"how long is (?:a|one) year on {x}",
)
_PEOPLE = patterns_of(
    r"how many (?:people|inhabitants|residents|citizens) (?:live|are there|does|do|are living)(?: in)? {x}(?: have)?"
)
_OF = r"(?:total |average |surface |approximate |maximum |top |exact |current |official |estimated )*"
_MEASURE_OF = patterns_of(
    rf"(?:roughly |about |approximately )?(?:what|how much) {{be}} the {_OF}{{measure}} (?:of|in) {{x}}(?: in 202\d)?",
    rf"(?:the )?{_OF}{{measure}} (?:of|in) {{x}}(?: in 202\d)?",
    rf"what {{be}} {{x}}'s? {_OF}{{measure}}",
    r"(?!what|which|who|the )(?P<x>[^,:;]+?)(?:'s)? (?P<measure>population|height|elevation|diameter|depth)",
    r"what {measure} (?:is|does|has) {x}(?: have)?",
)
_PREGNANT = patterns_of(
    r"how (?:long|many (?:months|days|weeks|years)) (?:is|are) (?:an? |the )?{x} pregnant(?: for)?",
    r"how (?:long|many (?:months|days|weeks|years)) (?:does|do|must) (?:an? |the )?(?:pregnant |mother |female )?{x} "
    r"carry (?:its|her|their|a) (?:young|baby|babies|child|calf|calves|cubs?|pups?|foals?|joey)(?: for)?",
)
_FAST = patterns_of(r"how fast (?:can|does|do|will) {x} (?:run|swim|fly|go|move|travel|get)(?: at most)?")
_LIVES = patterns_of(
    r"how (?:long|many years) (?:does|do|can|will) {x} (?:usually |normally |typically )?live(?: for)?"
)
_DAY_ON = patterns_of(r"how (?:long|many hours) {be} (?:a|one) day on {x}")
_HOLDS = patterns_of(
    r"how (?:much(?: \w+)?|many (?:ml|millilit(?:er|re)s|lit(?:er|re)s)(?: of \w+)?) (?:does|do|can|{be} in) {x}"
    r"(?: hold)?"
)
_TOOK = patterns_of(
    r"how much (?:money )?did {x} (?:make|earn|gross|take|bring in|take in)(?: at the box office| worldwide)*"
)
_RUN_IN = patterns_of(
    r"how (?:far|long) (?:do|does|must) (?:you|one|people|(?:a |the )?runners?|athletes) (?:have to |need to )?"
    r"(?:run|walk|swim|cycle) in {x}",
)
_MINUTES = patterns_of(
    r"how long (?:does|do|is) (?:an? |one )?{x} (?:match|game|matches|games)(?: last| take| go on)?",
    r"(?:for )?how many (?:minutes|hours) (?:is|does|did|are) {x}(?: last| run| take| long)*",
)
_CHANGES_AT = patterns_of(
    r"(?:at )?(?:what|which) temperature (?:does|do|will) {x} (?P<verb>melt|freeze|boil) at",
    r"(?:at|to) (?:what|which) temperature (?:does|do|will) {x} (?P<verb>melt|freeze|boil)",
)
_DATES = (  # what is asked of a date, and the attribute that says it
    (r"(?:when|on (?:what|which) (?:day|date)) {be} {x} born(?: on)?", "born"),
    (r"(?:what|when) {be} (?:the )?{x}'s? (?:birthday|birth ?date|date of birth)", "born"),
    (r"what {be} the (?:birthday|birth ?date|date of birth) of {x}", "born"),
    (r"(?:when|on (?:what|which) (?:day|date)) did {x} (?:die|pass away)(?: on)?", "died"),
    (r"when {be} {x} (?:killed|assassinated|murdered|executed|shot)", "died"),
    (r"when did {x} (?:die out|go extinct|become extinct)", "extinct"),
    (r"when did {x} (?:begin|start|break out|premiere|debut|first air)(?: as .+)?", "began"),
    (
        r"when (?:did|was|were) {x} (?:end|finish|stop|retired?|withdrawn|decommissioned|disband(?:ed)?|split up"
        r"|break up|shut down|close(?:d down)?|dissolved)(?: from service| from use| for good)?",
        "ended",
    ),
    (
        r"when (?:was|did|were) {x} (?:first )?(?:open|opened|completed|finished|inaugurated|dedicated|unveiled)"
        r"(?: as .+| to .+)?",
        "opened",
    ),
    (r"when {be} {x} built", "opened"),
    (r"when {be} {x} (?:painted|composed|written|made|recorded|filmed|drawn|sculpted)", "released"),
    (
        r"when did {x} (?:split|separate|secede|break away|become independent"
        r"|(?:get|gain|win|achieve|declare)(?: its)? independence) from .+",
        "independence",
    ),
    (r"when did {x} (?:become independent|gain (?:its )?independence|get independence)", "independence"),
    (r"when {be} {x} (?:founded|established|created|set up|started|formed|introduced)(?: in (?:the )?\w+)?", "founded"),
    (
        r"when (?:was|did|were) {x} (?:released|come out|first shown|published)"
        r"(?: (?:in|to) (?:the )?(?:cinemas?|theat(?:er|re)s?|movies|print|shops|public))?",
        "released",
    ),
    (r"when (?:was|were) {x} first (?:played|held|run|staged|awarded|contested|celebrated|organi[sz]ed)", "founded"),
    (r"when did {x} first take place", "founded"),
    (
        r"when did {x} (?:become|take over as|take office as|start as) (?:the )?(?:[\w-]+ )*?"
        rf"(?:{OFFICES})(?: of .+)?",
        IN_OFFICE[0],
    ),
    (rf"when did {{x}} (?:stop being|cease to be) (?:the )?(?:[\w-]+ )*?(?:{OFFICES})(?: of .+)?", IN_OFFICE[1]),
    (r"when did {x} (?:become|become an) independent(?: country| state| nation)?", "independence"),
    (r"when did {x} land(?: on .+)?", "landed"),
    (r"when {be} {x} launched(?: into .+)?", "launched"),
    (
        r"when did (?:.+?) (?:publish|release|write|compose|paint|record|film) (?:(?:his|her|their|the) )?{x}",
        "released",
    ),
    (r"when did (?:.+?) (?:invent|discover|patent) (?:(?:his|her|their|the) )?{x}", "discovered"),
    (r"when did (?:.+?) (?:found|establish|set up) (?:(?:his|her|their|the) )?{x}", "founded"),
    (r"when {be} {x} (?:invented|discovered|patented)", "discovered"),
    (r"when did {x} (?:sink|(?P<event>fall)|erupt|explode|crash|burn down|collapse)(?: to (?:the )?\w+)?", "happened"),
    (r"when (?:is|did|was|were) {x}(?: take place| happen| occur| fought| signed)?", "happened"),
)
_DATE_PATTERNS = [(patterns_of(template), attribute) for template, attribute in _DATES]


def _how_far(question: str) -> Plan | None:
    """The plan of a question for the distance of something from the Sun or from the Earth, however it is said."""
    found = first_match(_HOW_FAR, question)
    if not found:
        return None
    for thing, other in ((found["x"], found["y"]), (found["y"], found["x"])):
        attribute = _MEASURED_FROM.get(re.sub(r"^the ", "", other.lower()), "")
        if attribute:
            return Plan(Form.VALUE, things=(thing,), attributes=(attribute,))
    return None


def value(question: str) -> Plan | None:
    """The plan of a question for a value or a date; None where it is another one."""
    found = first_match(_PREGNANT, question)
    if found:
        return Plan(Form.VALUE, things=(found["x"],), attributes=("gestation",))
    for patterns, attributes in (
        (_FAST, ("speed",)),
        (_LIVES, ("lifespan",)),
        (_DAY_ON, ("day length", "rotation period")),
        (_HOLDS, ("volume", "capacity")),
    ):
        if found := first_match(patterns, question):
            return Plan(Form.VALUE, things=(found["x"],), attributes=attributes)
    found = first_match(_HOW_MUCH, question)
    if found:
        return Plan(Form.VALUE, things=(found["x"],), attributes=HOW[found["adjective"].lower()])
    distance = _how_far(question)
    if distance is not None:
        return distance
    found = first_match(_YEAR_OF, question)
    if found:
        return Plan(Form.VALUE, things=(found["x"],), attributes=("orbital period",))
    found = first_match(_PEOPLE, question)
    if found:
        return Plan(Form.VALUE, things=(found["x"],), attributes=("population",))
    found = first_match(_TOOK, question)
    if found:
        return Plan(Form.VALUE, things=(found["x"],), attributes=("box office",))
    found = first_match(_MINUTES, question)
    if found:
        return Plan(Form.VALUE, things=(found["x"],), attributes=("duration",))
    found = first_match(_RUN_IN, question)
    if found:
        return Plan(Form.VALUE, things=(found["x"],), attributes=("length", "distance"))
    found = first_match(_CHANGES_AT, question)
    if found:
        point = "boiling point" if found["verb"].lower() == "boil" else "melting point"
        return Plan(Form.VALUE, things=(found["x"],), attributes=measured_by(point))
    found = first_match(_MEASURE_OF, question)
    if found:
        return Plan(Form.VALUE, things=(found["x"],), attributes=measured_by(found["measure"]))
    for patterns, attribute in _DATE_PATTERNS:
        found = first_match(patterns, question)
        if found:
            said = found.groupdict().get("event") or question.rsplit(" ", 1)[-1]
            event = _EVENT_OF.get(said.lower(), "")
            things = (found["x"], f"{event} of {found['x']}") if event else (found["x"],)
            return Plan(Form.VALUE, things=things, attributes=(attribute,))
    return None


_EVENT_OF = {  # what is told by a verb may be an event with a name of its own: the *fall* of the Berlin Wall
    "fall": "fall", "sink": "sinking", "erupt": "eruption", "explode": "explosion", "assassinated": "assassination",
    "executed": "execution", "signed": "signing", "crash": "crash",
}  # fmt: skip
