"""Questions for what is stated of things: of one how high it is, which of two is higher, which of a kind came third.

Each reader takes a whole question in plain words, and gives its ``Plan``, or None where it is of another kind.
"""

from __future__ import annotations

import re
from dataclasses import replace

from kgdemo.query.measures import (
    COURSE,
    DATE,
    HOW,
    IN_OFFICE,
    LESSER,
    LIFE,
    NUMBER,
    NUMBERS,
    OFFICES,
    PARTICIPLES,
    SLOTS,
    WORKS,
    bound_of,
    degree_of,
    first_match,
    measured_by,
    number_of_word,
    parts_of,
    patterns_of,
    place_of,
    plural_of,
    without_world,
)
from kgdemo.query.query import Form, Plan

_HOW_FAR = patterns_of(
    r"how (?:far|distant) (?:away )?{be} (?:it from )?{x}(?: away)? (?:from|to) (?:the )?{y}(?: on average)?",
    r"(?:{what} {be} )?(?:the )?(?:average |mean )?distance (?:of|from|between) {x} (?:from|to|and) (?:the )?{y}",
)
_MEASURED_FROM = {"sun": "distance from the Sun", "earth": "distance from the Earth", "us": "distance from the Earth"}
_OF = r"(?:total |average |surface |approximate |maximum |top |exact |current |official |estimated )*"
_ONCE_ROUND = (
    r"how (?:long|many (?:days|years|months)) (?:does|do) (?:it take )?{x} (?:need |take )?to (?:go (?:once )?a?round"
    r"|orbit|circle|revolve around|travel around|complete)\b.*"
)
_AT_A_POINT = r"(?:at |to )?(?:what|which) temperature (?:does|do|will) {x} "
_STATED = [  # what is asked, and the attributes that say it; none where the question names the measure itself
    (r"how (?:long|many (?:months|days|weeks|years)) (?:is|are) (?:an? |the )?{x} pregnant(?: for)?", ("gestation",)),
    (
        r"how (?:long|many (?:months|days|weeks|years)) (?:does|do|must) (?:an? |the )?(?:pregnant |mother |female )?"
        r"{x} carry (?:its|her|their|a) (?:young|baby|babies|child|calf|calves|cubs?|pups?|foals?|joey)(?: for)?",
        ("gestation",),
    ),
    (r"how fast (?:can|does|do|will) {x} (?:run|swim|fly|go|move|travel|get)(?: at most)?", ("speed",)),
    (
        r"how (?:long|many years) (?:does|do|can|will) {x} (?:usually |normally |typically )?live(?: for)?",
        ("lifespan",),
    ),
    (r"how (?:long|many hours) {be} (?:a|one) day on {x}", ("day length", "rotation period")),
    (
        r"how (?:much(?: \w+)?|many (?:ml|millilit(?:er|re)s|lit(?:er|re)s)(?: of \w+)?) (?:does|do|can|{be} in) {x}"
        r"(?: hold)?",
        ("volume", "capacity"),
    ),
    (r"how {how} {be} {x}", ()),
    (_ONCE_ROUND, ("orbital period",)),
    (
        r"how many (?:people|inhabitants|residents|citizens) (?:live|are there|does|do|are living)(?: in)? {x}"
        r"(?: have)?",
        ("population",),
    ),
    (
        r"how much (?:money )?did {x} (?:make|earn|gross|take|bring in|take in)(?: at the box office| worldwide)*",
        ("box office",),
    ),
    (r"how long (?:does|do|is) (?:an? |one )?{x} (?:match|game|matches|games)(?: last| take| go on)?", ("duration",)),
    (r"(?:for )?how many (?:minutes|hours) (?:is|does|did|are) {x}(?: last| run| take| long)*", ("duration",)),
    (rf"{_AT_A_POINT}(?:melt|freeze)(?: at)?", measured_by("melting point")),
    (rf"{_AT_A_POINT}boil(?: at)?", measured_by("boiling point")),
    (
        rf"(?:roughly |about |approximately )?(?:what|how much) {{be}} the {_OF}{{measure}} (?:of|in) {{x}}"
        r"(?: in 202\d)?",
        (),
    ),
    (rf"(?:the )?{_OF}{{measure}} (?:of|in) {{x}}(?: in 202\d)?", ()),
    (r"(?!what|which|who|the )(?P<x>[^,:;]+?)(?:'s)? (?P<measure>population|height|elevation|diameter|depth)", ()),
]
_DATES = [  # what is asked of a date, and the attribute that says it
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
        r"when did {x} (?:(?:split|separate|secede|break away) from .+|(?:become(?: an)? independent(?: country| state"
        r"| nation)?|(?:get|gain|win|achieve|declare)(?: its)? independence)(?: from .+)?)",
        "independence",
    ),
    (r"when {be} {x} (?:founded|established|created|set up|started|formed|introduced)(?: in (?:the )?\w+)?", "founded"),
    (
        r"when (?:was|did|were) {x} (?:released|come out|first shown|published)"
        r"(?: (?:in|to) (?:the )?(?:cinemas?|theat(?:er|re)s?|movies|print|shops|public))?",
        "released",
    ),
    (r"when (?:was|were) {x} first (?:played|held|run|staged|awarded|contested|celebrated|organi[sz]ed)", "founded"),
    (
        r"when did {x} (?:become|take over as|take office as|start as) (?:the )?(?:[\w-]+ )*?"
        rf"(?:{OFFICES})(?: of .+)?",
        IN_OFFICE[0],
    ),
    (rf"when did {{x}} (?:stop being|cease to be) (?:the )?(?:[\w-]+ )*?(?:{OFFICES})(?: of .+)?", IN_OFFICE[1]),
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
]
_STATED_PATTERNS = [(patterns_of(template), attributes) for template, attributes in _STATED]
_DATE_PATTERNS = [(patterns_of(template), attribute) for template, attribute in _DATES]
_EVENT_OF = {  # what is told by a verb may be an event with a name of its own: the *fall* of the Berlin Wall
    "fall": "fall", "sink": "sinking", "erupt": "eruption", "explode": "explosion", "assassinated": "assassination",
    "executed": "execution", "signed": "signing", "crash": "crash",
}  # fmt: skip


def value(question: str) -> Plan | None:
    """The plan of a question for a value or a date of one thing; None where it is another one."""
    if distance := _how_far(question):
        return distance
    for patterns, attributes in _STATED_PATTERNS:
        if found := first_match(patterns, question):
            said = found.groupdict()
            named = HOW[said["adjective"].lower()] if "adjective" in said else measured_by(said.get("measure", ""))
            return Plan(Form.VALUE, things=(found["x"],), attributes=attributes or named)
    for patterns, attribute in _DATE_PATTERNS:
        if found := first_match(patterns, question):
            told = found.groupdict().get("event") or question.rsplit(" ", 1)[-1]
            event = _EVENT_OF.get(told.lower(), "")
            things = (found["x"], f"{event} of {found['x']}") if event else (found["x"],)
            return Plan(Form.VALUE, things=things, attributes=(attribute,))
    return None


def _how_far(question: str) -> Plan | None:
    """The plan of a question for the distance of something from the Sun or from the Earth, however it is said."""
    found = first_match(_HOW_FAR, question)
    for thing, other in ((found["x"], found["y"]), (found["y"], found["x"])) if found else ():
        if attribute := _MEASURED_FROM.get(re.sub(r"^the ", "", other.lower())):
            return Plan(Form.VALUE, things=(thing,), attributes=(attribute,))
    return None


_WHICH_IS = r"{what}(?: \w+){0,2}? (?:is|are|was|were|has|lies|came|comes|lived|died|born)? *(?:the )?{erest}\b"
_LONGER_YEAR = patterns_of(
    r"{what}(?: \w+)? has (?:the |a )?(?P<degree>longer|longest|shorter|shortest) (?P<round>years?|days?)[,:]? +{pair}",
)
_ROUNDS = {"year": "orbital period", "day": "day length"}
_TO_ORBIT = re.compile(r"\btakes? \w+(?: time)? to (?:orbit|circle|go a?round)\b", re.IGNORECASE)
_LIVES_LONGER = patterns_of(
    r"{what}(?: \w+){0,2}? (?:lives?|gets|grows) (?:the )?(?P<degree>longer|longest|older|oldest)[,:]? {pair}",
)
_COMPARISONS = patterns_of(
    rf"{_WHICH_IS}[^,:]*?[,:] *{{pair}}",
    r"{what}(?: \w+){0,2}? (?:runs?|swims?|flies|moves?|goes|grows|lives?|lies) (?:the )?{erest}[,:]? *(?:an? )?"
    r"(?P<x>.+?) *,? +(?:or|and) +(?:an? )?(?P<y>.+)",
    r"{what}(?: \w+){0,2}? {be} (?:the )?{erest}(?: (?:of|between|out of))? (?!\w+ (?:in|of|on) the ){pair}",
    r"{be} (?P<x>.+?) or (?P<y>.+?) (?:the )?{erest}(?: \w+| (?:to|from) the \w+)?(?: by \w+)?",
    r"{be} (?:the )?(?P<x>.+?) {erest},? or (?:is |was )?(?:the )?(?P<y>(?!\w+ than\b).+)",
    r"(?:the )?{erest}(?: \w+)? *[,:?–-] *{pair}",
)
_IS_MORE = patterns_of(
    r"{be} {x} {er} (?:in|by|in terms of) (?:total |land )?{measure} than (?P<y>.+)",
    r"{be} {x} {er} than (?P<y>.+?) (?:in|by|in terms of) (?:total |land )?{measure}",
    r"{be} {x} {er} than (?P<y>.+)",
)
_HAS_MORE = patterns_of(
    r"{what}(?: (?:\w+ )?\w+)? (?:(?:can |could )?(?:has|have|had|covers?|reach|reaches)) (?:the |a )?{degree} {people}"
    r"[,:]? +{pair}",
    r"(?P<whether>does|do|did|has|have) {x} (?:have )?(?:a )?{degree} {people} than {y}(?: has| does| have)?",
)
_OFFICE_FIRST = patterns_of(  # who was president first
    rf"{{what}}(?: \w+)? (?:was|were|became|held office as) "
    rf"(?:(?:the )?(?:[\w.]+ ){{0,2}}?(?:{OFFICES})(?: of .+?)?|in office) "
    r"(?P<when>first|earlier|before|later|last)[,:]? +{pair}",
)
_WHEN_FIRST = patterns_of(
    r"(?P<head>{what}(?: \w+){0,2}? (?:was|were|is|came|died|lived|happened|began|started|ended|finished)"
    r" *(?:out|\w+(?:ed|en|ilt|ght|nt|wn|rn|de|ng))?"
    r" *(?:born|died?|first|earlier|later|last)?"
    r" *(?:first|earlier|later|last)?)[,:]? +(?:the )?(?P<x>.+?) *,? +or +(?P<y>.+)",
    r"(?P<head>{what}(?: \w+)? did .+? (?:publish|write|release|paint|compose|record|make|found|build|direct|invent)"
    r" (?:first|earlier|later|last))[,:]? +(?:the )?(?P<x>.+?) *,? +or +(?P<y>.+)",
)
_THEN = r"(?:before|earlier than|(?P<after>after|later than))"
_BEFORE = patterns_of(
    r"(?:was|were|did|is) {x} (?P<verb>founded|established|born|live|die|built|opened|released|published|written"
    r"|invented|discovered|happen|begin|start|come out|open|painted|composed|finished|completed|launched|signed) "
    rf"{_THEN} (?!.+ (?:born|died|founded|built|began|started|ended|broke out|published|released)$){{y}}"
    r"(?: was| were| did)?",
)
_ANY_EVENTS = patterns_of(  # *did the First World War break out before the Titanic sank*: each with a date of its own
    rf"(?:was|were|did) {{x}} {_THEN} (?P<y>(?:the )?(?-i:[A-Z]).*? (?-i:[a-z]{{3,}})(?: [a-z]+)?)",
)
_VERB_OF_DATE = (
    r"(?P<verb>founded|established|born|die|died|built|opened|released|published|written|invented|discovered|happen"
    r"|begin|start|end|finish|come out|made|painted|composed|recorded)"
)
_EITHER_FIRST = patterns_of(
    rf"(?:was|were|did|is) {{x}} or {{y}} {_VERB_OF_DATE}(?: out)? (?:the )?(?P<when>first|earlier|later|last)",
)
_EITHER_WORD = re.compile(  # one of two words is the answer: *before or after*, *longer or shorter*
    r"^(?P<asked>(?:[Ii]s|[Aa]re|[Ww]as|[Ww]ere|[Dd]id) .+?) (?P<one>[a-z]+) or (?P<other>[a-z]+)(?P<y> .+)$"
)
_LASTS = r"(?P<lasts>lived?|lasted|last|reigned|reign|ruled|rule|served|serve|died|die)"
_LIVED_LONGER = patterns_of(
    rf"(?:{{what}}(?: \w+){{0,2}}?|who) (?:was |were )?{_LASTS} (?:the |for )?(?P<degree>longer|shorter|longest|younger"
    r"|older)[,:]? +{pair}",
    rf"{{what}} (?P<lasts>was|were) (?:the )?(?:[\w.]+ ){{0,2}}?(?:{OFFICES})(?: of .+?)? (?:for )?(?:the )?"
    r"(?P<degree>longer|shorter|longest)[,:]? +{pair}",
    rf"(?:did|has|have) {{x}} {_LASTS} (?:a |for )?(?P<degree>longer|shorter|younger|older)(?: time| life)? than "
    r"(?P<y>.+?)(?: did)?",
)
_SPANS = {  # the beginnings of words for lasting, and the two dates between which that is
    "liv": LIFE, "die": LIFE, "was in": IN_OFFICE, "was p": IN_OFFICE, "was k": IN_OFFICE, "was q": IN_OFFICE,
    "reign": IN_OFFICE, "rul": IN_OFFICE, "serv": IN_OFFICE,
    "last": COURSE,
}  # fmt: skip


def _span_of(word: str) -> tuple[str, ...]:
    return next((span for stem, span in _SPANS.items() if word.lower().startswith(stem)), IN_OFFICE)


_DONE_MORE = patterns_of(
    r"{what}(?: \w+)? (?:has |have |had )?(?P<verb>won|hosted|written|wrote|directed|made|painted|composed|written) "
    r"(?P<degree>more|fewer) (?P<noun>[\w '-]+?s)[,:] +{pair}",
    r"{what}(?: \w+)? (?:has |have |had )?(?P<verb>won|hosted|written|wrote|directed|made|painted|composed|written) "
    r"(?P<degree>more|fewer) (?P<noun>[\w '-]+?s)[,:]? +{pair}",
    r"(?:{what}|who)(?: \w+)? (?:has |have |had )?(?P<verb>won|hosted) (?:the )?(?P<noun>[\w '/-]+?) "
    r"(?P<degree>more|fewer) (?:times|often)[,:]? +{pair}",
    r"{what}(?: \w+)? (?P<verb>has|have|had) (?P<degree>more|fewer) {noun}[,:] +{pair}",
    r"(?:the )?(?P<degree>more|fewer|most)(?P<verb>) (?P<noun>[\w '-]+?s) *[,:–-] *{pair}",
    r"{be} there (?P<degree>more|fewer)(?P<verb>) (?P<noun>[\w '-]+?s) (?:of|in) (?:the )?(?P<x>.+?) or "
    r"(?:of |in )?(?:the )?(?P<y>.+)",
    r"(?:did|does|do|has|have) (?:the )?(?P<x>.+?) or (?:the )?(?P<y>.+?) (?P<verb>win|won|host|hosted|write|written"
    r"|direct|directed|make|made|paint|painted|compose|composed|have|score|scored) (?:the )?"
    r"(?P<degree>more|fewer|most) (?P<noun>[\w '-]+?s)",
)
_PRESENT = {
    "won": "win", "hosted": "host", "written": "write", "wrote": "write", "directed": "direct", "made": "make",
    "painted": "paint", "composed": "compose", "has": "have", "had": "have",
}  # fmt: skip
_DATE_OF_VERB = {
    "founded": "founded", "established": "founded", "born": "born", "live": "born", "die": "died", "died": "died",
    "built": "opened", "opened": "opened", "finished": "opened", "completed": "opened", "invented": "discovered",
    "end": "ended", "ended": "ended", "finish": "ended",
    "dedicated": "opened", "unveiled": "opened", "inaugurated": "opened",
    "discovered": "discovered", "launched": "launched",
}  # fmt: skip


_LIES_FURTHER = patterns_of(
    r"{what}(?: \w+)? (?:is|lies|are|lie) (?:further|farther) (?P<way>north|south|east|west)[,:]? {pair}",
)


def comparison(question: str) -> Plan | None:
    """Which of two has more of something, or came first; whether one has more, or came before the other."""
    if found := _EITHER_WORD.match(question):
        plan = comparison(f"{found['asked']} {found['one']}{found['y']}")
        if plan is not None and plan.form is Form.YES_NO and not plan.words:
            return replace(plan, form=Form.COMPARISON, words=(found["one"], found["other"]))
    if found := first_match(_LIES_FURTHER, question):
        way = found["way"].lower()
        attribute = "latitude" if way in ("north", "south") else "longitude"
        return _of_two(found, (attribute,), way in ("north", "east"))
    if found := first_match(_LONGER_YEAR, question):
        longer = found["degree"].lower().startswith("long")
        return _of_two(found, (_ROUNDS[found["round"].lower().rstrip("s")],), longer)
    if found := first_match(_LIVES_LONGER, question):
        return _of_two(found, ("lifespan",))
    if found := first_match(_LIVED_LONGER, question):
        greatest = found["degree"].lower() not in ("shorter", "younger")
        asks_whether = re.match(r"(?:did|has|have)\b", question, re.IGNORECASE) is not None
        plan = _of_two(found, (), greatest, asks_whether)
        return replace(plan, span=_span_of(found["lasts"]))
    if found := first_match(_HAS_MORE, question):
        greatest = found["degree"].lower() not in LESSER
        return _of_two(found, measured_by(found["measure"]), greatest, "whether" in found.groupdict())
    if found := first_match(_DONE_MORE, question):
        verb = found["verb"].lower() or "have"
        noun = plural_of(found["noun"].split("/")[-1].strip())
        often = re.search(r"\b(?:times|often)\b", question, re.IGNORECASE)
        noun = f"{noun.removesuffix('s')} titles" if often and verb == "won" else noun
        plan = _of_two(found, (NUMBER,), found["degree"].lower() not in LESSER)
        return replace(plan, base=f"which {noun} did {{}} {_PRESENT.get(verb, verb)}", noun=noun)
    for patterns, asks_whether in ((_COMPARISONS, False), (_IS_MORE, True)):
        if found := first_match(patterns, question):
            attributes, greatest = degree_of(found)
            if attributes == ("distance from the Sun",) and not re.search(r"\bsun\b", question, re.IGNORECASE):
                attributes = ("distance",)
            if _TO_ORBIT.search(question):
                attributes = ("orbital period",)
            measure = found.groupdict().get("measure")
            return _of_two(found, measured_by(measure) if measure else attributes, greatest, asks_whether)
    return _comparison_of_dates(question)


def _of_two(
    found: re.Match[str], attributes: tuple[str, ...], greatest: bool = True, asks_whether: bool = False
) -> Plan:
    """The plan of a question that compares two things, or asks whether one has more than the other."""
    form = Form.YES_NO if asks_whether else Form.COMPARISON
    return Plan(form, things=(found["x"], found["y"]), attributes=attributes, greatest=greatest)


def _comparison_of_dates(question: str) -> Plan | None:
    """Which of two things came first, or whether one came before the other."""
    if found := first_match(_EITHER_FIRST, question):
        attribute = _DATE_OF_VERB.get(found["verb"].lower(), DATE)
        return _of_two(found, (attribute,), found["when"].lower() in ("later", "last"))
    if found := first_match(_BEFORE, question):
        attribute = _DATE_OF_VERB.get(found["verb"].lower(), DATE)
        return _of_two(found, (attribute,), bool(found["after"]), asks_whether=True)
    if found := first_match(_ANY_EVENTS, question):
        word = "after" if found["after"] else "before"
        return Plan(Form.YES_NO, things=(found["x"], found["y"]), words=(word,))
    if found := first_match(_OFFICE_FIRST, question):
        return _of_two(found, IN_OFFICE[:1], found["when"].lower() in ("later", "last"))
    found = first_match(_WHEN_FIRST, question)
    head = found["head"].lower() if found else ""
    if not found or not re.search(r"\b(?:first|earlier|later|last)\b", head):
        return None
    verb = next((verb for verb in _DATE_OF_VERB if re.search(rf"\b{verb}\b", head)), "")
    return _of_two(found, (_DATE_OF_VERB.get(verb, DATE),), bool(re.search(r"\b(?:later|last)\b", head)))


_GREATEST_NUMBER = patterns_of(
    r"(?:which|what|who) .*\b(?:the )?(?:most|fewest) (?!populous|populated|distant|recent)(?:\w+ ){0,2}?"
    r"(?P<things>\w+s)\b.*"
)


# *which country has won the most World Cups*: of each edition it is known who won it
_MOST_EDITIONS = patterns_of(
    r"{what}(?: {noun})? (?:has |have |had )?(?P<verb>won|hosted) (?:the )?(?P<degree>most|fewest) (?P<things>.+?s)"
    r"(?: (?:ever|in history|of all time|so far))?",
    r"{what}(?: {noun})? (?:has |have |had )?(?P<verb>won|hosted) (?:the )?(?P<things>.+?) (?:the )?"
    r"(?P<degree>most|fewest) (?:times|often)(?: (?:ever|in history|so far))?",
)


_EVER = r"(?:ever|in history|of all time|so far|worldwide|in the (?:whole )?world|on earth)"
# *which planet has the most moons*: their number may be stated
_MOST_OF = patterns_of(
    r"{what} (?P<noun>\w+(?: \w+)?) (?:has|have|had) (?:won )?(?:the )?(?P<degree>most|fewest) "
    rf"(?P<things>(?:\w+ ){{0,3}}\w+s)(?: {_EVER})*",
)


def greatest_number(question: str) -> Plan | None:
    """A question for what has the most of something that is counted, not measured."""
    found = first_match(_MOST_EDITIONS, question)
    if found:
        verb, greatest = found["verb"].lower(), found["degree"].lower() == "most"
        base = f"which {found['things']} did it {_PRESENT[verb]}"
        noun, outer = re.sub(r"^(?:has|have|had)$", "", found["noun"] or ""), f"{verb} by"
        return Plan(Form.SUPERLATIVE, base, noun, (found["things"],), (NUMBER,), greatest, outer=outer)
    found = None if first_match(_HAS_GREATEST_NUMBER, question) else first_match(_MOST_OF, question)
    if found:
        greatest = found["degree"].lower() == "most"
        return Plan(Form.SUPERLATIVE, "", found["noun"], (found["things"],), (NUMBER,), greatest)
    found = first_match(_GREATEST_NUMBER, question)
    if not found or first_match(_HAS_GREATEST_NUMBER, question):
        return None
    things = found["things"]
    reason = (
        f"It asks who has the most or fewest {things}. I count for one name at a time; ask how many {things} it is "
        "for the ones you think of."
    )
    return Plan(Form.UNANSWERABLE, reason=reason) if things.endswith("s") else None


_REST = r"(?P<rest> (?:in|of|on|by|from|that|which|to|ever|at|with|directed|written|painted|made|built)\b.*)?"
_ASKS_FOR = r"(?:{what} {be} |name (?:me )?|list )?"
_LONGEST = r"(?P<degree>longest|shortest)[ -](?P<lasts>reigning|serving|ruling|lived|living|lasting)"
_LASTED_LONGEST = patterns_of(
    rf"{_ASKS_FOR}(?:the )?(?:{{nth}} )?{_LONGEST} {{noun}}{_REST}",
    r"{what} {noun}(?P<rest>(?: (?:in|of|on|from)\b.*?)?) "
    r"(?P<lasts>lived|reigned|ruled|served|lasted|was in office|was in power) "
    r"(?:for )?(?:the )?(?P<degree>longest|shortest)(?: time)?(?: (?:in|as|on) [\w ]+)?",
)
_TOP = rf"(?:top )?(?P<number>{'|'.join(NUMBERS)}|\d{{1,2}}) (?:of the )?"
_SUPERLATIVES = patterns_of(
    rf"{_ASKS_FOR}(?:the )?(?:world's )?(?:{{nth}} |{_TOP})?{{est}} {{noun}}{_REST}",
    r"{what} {noun}(?P<rest>(?: (?:in|of|on|by|from)\b.*?)?) (?:is|was|are|has|lies|of) "
    r"(?:the )?(?:{nth} )?{est}(?P<more> .*)?",
    r"(?:{what} {be} )?(?:the )?(?P<whose>(?!what|which|who|the |world|in |into |on |from |at |of |to |how"
    r" |when |where )"
    r"[\w. -]+?)'s? (?:{nth} )?{est} {noun}"
    r"(?P<more> by .*)?",
)
_HAS_GREATEST_NUMBER = patterns_of(
    r"{what} {noun}(?P<rest>(?: (?:in|of|on|from)\b.*?)?) (?:has|have|had) the {degree} (?:average |mean )?{people}"
    r"(?P<more> .*)?",
    r"(?:{what} {be} |name )?(?:the )?{noun} with the {degree} {people}(?P<rest> .*)?",
)
_BY_MEASURE = re.compile(rf"^(?P<rest>.*?) *\bby {SLOTS['measure']}\b(?P<more>.*)$", re.IGNORECASE)
_PREPOSITION = re.compile(r"^(?:in|of|on|by|from|to)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"^(?:by|directed|written|painted|made|built|that|which|with)\b", re.IGNORECASE)


_MOST_SUCH = patterns_of(
    r"{what} {noun}(?P<rest> (?:in|of|from) .+?)? {be} the (?P<degree>most|least) (?P<such>\w+)(?: .*)?"
)
_GROSSED = patterns_of(  # *which of his films made the most money*, *the highest-grossing film of 1994*
    r"{what} (?:of )?{noun}(?P<rest> (?:by|of|in|from|directed|made|with) .+?)? (?:has |have )?(?:made|grossed|earned)"
    r"(?: in)? the (?P<degree>most|least)(?: money)?(?: (?:at the box office|worldwide|ever))*",
    r"(?:{what} {be} )?(?:the )?(?P<whose>(?!what|which|who|the\b)[\w. -]+'s?)? ?"
    r"(?P<degree>highest|lowest|most|biggest)[ -](?:gross|earn)ing {noun}"
    r"(?P<rest> (?:by|of|in|from|directed|made|with) .+?)?(?: (?:ever|worldwide))*",
)


def _by_gross(question: str) -> Plan | None:
    """A question for what took most money, of which the box office is stated."""
    found = first_match(_GROSSED, question)
    if not found:
        return None
    said = found.groupdict()
    noun, rest = plural_of(found["noun"].strip()), without_world((said.get("rest") or "").strip())
    whose = re.sub(r"'s?$", "", (said.get("whose") or "").strip())
    rest = f"by {whose}" if whose else rest
    base = (f"which {noun} {rest}" if _CLAUSE.match(rest) else f"which {noun} are {rest}") if rest else ""
    greatest = found["degree"].lower() not in LESSER
    return Plan(Form.SUPERLATIVE, base, found["noun"].strip(), attributes=("box office",), greatest=greatest)


_OUTSIDE = re.compile(r" (?:outside(?: of)?|not counting|excluding) (?:the )?(?P<place>.+)$", re.IGNORECASE)


def superlative(question: str) -> Plan | None:
    outside = _OUTSIDE.search(question)
    plan = _superlative(question[: outside.start()] if outside else question)
    return replace(plan, without=outside["place"]) if plan is not None and outside else plan


def _superlative(question: str) -> Plan | None:
    gross = _by_gross(question)
    if gross is not None:
        return gross
    found = first_match(_MOST_SUCH, question)
    if found and found["such"].lower() not in ("populous", "populated", "recent", "distant"):
        return Plan(Form.SUPERLATIVE, noun=found["noun"], attributes=(f"how {found['such']}",), greatest=True)
    found = first_match(_LASTED_LONGEST, question)
    if found:
        noun, rest = found["noun"].strip(), without_world((found["rest"] or "").strip())
        place = place_of(found["nth"]) if found.groupdict().get("nth") else 0
        greatest = found["degree"].lower() == "longest"
        bound, base = bound_of(f"who were the {plural_of(noun)} {rest}".strip())
        span = _span_of(found["lasts"])
        return Plan(Form.SUPERLATIVE, base, noun, span=span, greatest=greatest, place=place, bound=bound)
    found = first_match(_HAS_GREATEST_NUMBER, question)
    if found:
        attributes, greatest = measured_by(found["measure"]), found["degree"].lower() not in LESSER
    else:
        found = first_match(_SUPERLATIVES, question)
        if not found:
            return None
        attributes, greatest = degree_of(found)
    said = found.groupdict()
    if said.get("whose"):
        said["rest"] = f"in {said['whose']}"
    rest, more = ((said.get(part) or "").strip() for part in ("rest", "more"))
    if more and not _PREPOSITION.match(more):
        return None
    where = f"{rest} {more}".strip()
    by = _BY_MEASURE.match(where)
    if by:
        attributes, where = measured_by(by["measure"]), f"{by['rest']} {by['more']}".strip()
    where, noun = without_world(where), found["noun"].strip()
    base = f"which {plural_of(noun)} {where}" if _CLAUSE.match(where) else f"which {plural_of(noun)} are {where}"
    place = place_of(said["nth"]) if said.get("nth") else 0
    number = number_of_word(said["number"]) if said.get("number") else 0
    base = base if where else ""
    return Plan(Form.SUPERLATIVE, base, noun, attributes=attributes, greatest=greatest, place=place, number=number)


_MADE = "made|produced|published|written|released|directed|painted|composed|recorded|founded|built|sung|designed"
_NTH_OF = patterns_of(
    rf"(?:{{what}} {{be}} |name )?(?:the )?(?:very )?{{nth}} (?P<noun>\w+(?: \w+)?) (?:that |which )?{{x}} "
    rf"(?P<verb>{'|'.join(PARTICIPLES)}|directed|painted|composed|released|published|recorded|founded|invented)",
    r"(?:{what} {be} |name )(?:the )?(?:very )?{nth} {noun}"
    rf"(?P<rest> (?:of|to|in|by|on|for|from|that|who|{_MADE})\b.*)?",
    rf"(?:the )?{{nth}} {{noun}}(?P<rest> (?:of|in|by|from|{_MADE})\b.*)?",
    r"(?:{what} {be} )?(?:the )?(?P<whose>(?!what|which|who|the\b|(?:is|are|was|were|do|does|did|has|have|can)\b)"
    r"(?:(?! (?:of|from|in|by|with|is|are|was|were) )[\w .-])+?)(?:'s?)? {nth} {noun}",
)
_LAST_TIME = patterns_of(
    r"(?:when|in (?:what|which) year) did {x} {nth} (?P<verb>host|win) {y}",
    r"(?:when|in (?:what|which) year) (?:was|is) the {nth} time (?:that )?{x} (?:has |have )?(?P<verb>won|hosted) {y}",
)
_FIRST_WOMAN = patterns_of(
    r"(?:{what} {be} )?(?:the )?(?:very )?{nth} (?P<noun>woman|female|lady|black) (?:person )?"
    r"(?:to (?:become|be(?: elected| appointed)?|serve as|hold)|who (?:became|was(?: elected| appointed)?)|as) "
    rf"(?:the )?(?P<office>(?:\w+ )*?(?:{OFFICES})\b.*)"
)
_NOTHING_NEW = re.compile(  # said of works that are all so
    r"^(?:(?:feature(?:-length)?|full-length|complete|completed|finished|studio|official|published|major|ever)[ -])+",
    re.IGNORECASE,
)
_NO_ORDER = frozenset("name names language lady".split())  # a first name is no name that comes first
_WORK = re.compile(
    r"\b(?:books?|novels?|films?|movies?|albums?|songs?|singles?|games?|symphon(?:y|ies)|operas?|plays?|paintings?|poems?"
    r"|concertos?|sonatas?|ballets?|musicals?|stor(?:y|ies))$",
    re.IGNORECASE,
)


def last_time(question: str) -> Plan | None:
    """A question for when something was last won or hosted, as one for the last edition."""
    found = first_match(_LAST_TIME, question)
    if not found:
        return None
    editions = plural_of(re.sub(r"^the ", "", found["y"], flags=re.IGNORECASE))
    verb = found["verb"].lower()
    base = f"which {editions} did {found['x']} {_PRESENT.get(verb, verb)}"
    return Plan(Form.ORDINAL, base, editions, attributes=(DATE,), place=place_of(found["nth"]))


def ordinal(question: str) -> Plan | None:
    found = first_match(_FIRST_WOMAN, question) or first_match(_NTH_OF, question)
    if not found:
        return None
    if "office" in found.groupdict():
        office = found["office"]
        return Plan(Form.ORDINAL, f"who were the {office}", f"{found['noun']} {office}", place=place_of(found["nth"]))
    said, noun, place = found.groupdict(), _NOTHING_NEW.sub("", found["noun"].strip()), place_of(found["nth"])
    if noun.lower() in _NO_ORDER or not place:
        return None
    if re.fullmatch(r" (?:in|of) the periodic table", said.get("rest") or "", re.IGNORECASE):
        return Plan(Form.SUPERLATIVE, noun=noun, attributes=("atomic number",), greatest=False, place=place)
    if re.fullmatch(r" from (?:the )?sun", said.get("rest") or "", re.IGNORECASE):
        return Plan(Form.SUPERLATIVE, noun=noun, attributes=("distance from the Sun",), greatest=False, place=place)
    series = WORKS.match(noun)
    if said.get("verb"):
        verb = said["verb"].lower()
        base = f"which {plural_of(noun)} were {PARTICIPLES.get(verb, verb)} by {said['x']}"
    elif series and not said.get("rest"):
        base, noun = parts_of(series), series["works"]
    else:
        rest = f"of {said['whose']}" if said.get("whose") else (said.get("rest") or "").strip()
        if re.match(rf"(?:{_MADE})\b", rest, re.IGNORECASE):
            base = f"which {plural_of(noun)} were {rest}"
        elif _WORK.search(noun):
            base = f"which {plural_of(noun)} are {rest}".replace(" are of ", " are by ", 1)
        else:
            base = f"who were the {plural_of(noun)} {rest}".strip()
    return Plan(Form.ORDINAL, base=base, noun=noun, attributes=(DATE,), place=place)
