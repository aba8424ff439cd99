"""What is to be done with what the graph holds: list it, count it, compare it, or refuse.

A path model is trained on questions whose answer is the end of a path. A question that counts, compares or orders is
taken apart here: into a *base question* of that kind, whose whole answer set the model's paths give, and the operation
upon it (``answering``). All of this is English grammar in regular expressions; a question that fits none is
asked as it stands.

Patterns are written with the pieces of ``query.measures``, and match a whole question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from kgdemo.query.answer_type import singulars
from kgdemo.query.measures import (
    COURSE,
    DATE,
    HOW,
    IN_OFFICE,
    LESSER,
    LIFE,
    NUMBER,
    ORDINALS,
    PARTICIPLES,
    SLOTS,
    TODAY,
    degree_of,
    first_match,
    measured_by,
    patterns_of,
)
from kgdemo.query.wording import beyond_graphs, plain_question


class Form(Enum):
    """What the answer is made of, or why there is none."""

    ENTITY = "entity"  # entities, or a value that a path ends in
    ALL = "all of a kind"
    COUNT = "count"
    YES_NO = "yes or no"
    COMPARISON = "comparison"  # of named things
    SUPERLATIVE = "superlative"  # of all things of a kind
    ORDINAL = "ordinal"
    VALUE = "value"
    SPAN = "span"  # an age, or how long something lasted
    UNANSWERABLE = "unanswerable"


# forms that may speak of nothing that linking finds in the whole question: ``the largest ocean``, ``K2 or Mont Blanc``
WITHOUT_TOPIC = frozenset(
    (Form.ALL, Form.COUNT, Form.COMPARISON, Form.SUPERLATIVE, Form.VALUE, Form.SPAN, Form.UNANSWERABLE, Form.YES_NO)
)


@dataclass(frozen=True, slots=True)
class Plan:
    """A question taken apart.

    Attributes:
        form: what the answer is made of.
        base: the question whose answers are operated on; empty where there is none.
        noun: what kind of things are asked for, as the question calls them: ``rivers``.
        things: what is compared, as the question names it.
        attributes: of which the values are looked at, the first that is known.
        greatest: whether the greatest value is asked for, or the least.
        place: in an order, from 1; from -1 backwards.
        number: how many of an order are asked for, where that is more than one.
        span: two dates, the time between which is compared.
        during: what happened at the time that is asked about, as the question calls it: *World War II*.
        moment: whether that is its ``start``, its ``end``, ``most`` of it, or empty for any part of it.
        hops: how many relations the question names at least, where that is more than two.
        bound: years that the answers must lie within, such as ``< 1980``.
        without: what the answers must have nothing to do with, as the question calls it.
        inner: the question that has to be answered first: *what is the largest country in Africa*.
        outer: the question that is asked of its answer, which stands in place of ``{}``: *the capital of {}*.
        reason: why no graph answers this.
        words: the two words of which one is the answer: it came *before* or *after*.
    """

    form: Form = Form.ENTITY
    base: str = ""
    noun: str = ""
    things: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    greatest: bool = True
    place: int = 0
    number: int = 0
    span: tuple[str, ...] = ()
    during: str = ""
    moment: str = ""
    hops: int = 0
    bound: str = ""
    without: str = ""
    inner: str = ""
    outer: str = ""
    reason: str = ""
    words: tuple[str, ...] = ()


_WHAT_YEAR = re.compile(r"^(?:in )?(?:what|which) year (?=(?:is|are|was|were|did)\b)", re.IGNORECASE)


_IN_A_UNIT = re.compile(  # values are given in the unit that the graph has
    r" (?:in|measured in) (?:degrees )?(?:celsius|fahrenheit|kelvin|met(?:er|re)s|kilomet(?:er|re)s|km|miles|feet|foot"
    r"|square (?:kilomet(?:er|re)s|miles)|kilograms|kilos|kg|tons|tonnes|pounds|years|days|km/h|mph)$",
    re.IGNORECASE,
)


def plan_of(text: str) -> Plan:
    """Take a question apart; see ``Plan``."""
    reason = beyond_graphs(text)
    if reason:
        return Plan(Form.UNANSWERABLE, reason=reason)
    question = re.sub(r"[’`´]", "'", plain_question(text))
    question = re.sub(r"\b(what|who|which|where|when|how)'?s\b", r"\1 is", question, flags=re.IGNORECASE)
    question = _WHAT_YEAR.sub(r"when ", asked_first(_IN_A_UNIT.sub("", question)))
    for reader in (
        _in_the_time_of,
        _counterpart,
        _nested,
        _span,
        _value,
        _count,
        _comparison,
        _greatest_number,
        _superlative,
        _ordinal,
        _yes_no,
        _all_of,
        _all_but,
    ):
        plan = reader(question)
        if plan is not None:
            return plan
    bound, without = bound_of(question)
    changed = without.rstrip("?!. ") != text.strip().rstrip("?!. ")
    hops = 3 if _BEHIND_A_PLACE.search(question) else 0
    return Plan(base=without if changed else "", noun=_head_noun(question), bound=bound, hops=hops)


_BEGINS_ASKING = re.compile(
    r"^(?:what|which|who|whose|whom|where|when|how|is|are|was|were|do|does|did|has|have|had|can|could|name|list|in what"
    r"|in which|of which|by whom)\b",
    re.IGNORECASE,
)
_ASKS_LAST = (  # *Dune was written by whom?*, and the same with what is asked for in front
    (r"(?P<x>.+) (?P<be>is|are|was|were) (?P<what>who|what|where|when|which)(?: one| ones)?", r"{what} {be} {x}"),
    (
        r"(?P<x>.+?) (?P<be>is|are|was|were)(?P<verb> \w+)? (?P<by>in|on|from|of|at|by|after)"
        r" (?P<what>who|whom|what|which)(?P<noun> \w+)?",
        r"{by} {what}{noun} {be} {x}{verb}",
    ),
    (
        r"(?P<x>.+?) (?P<be>is|was) (?P<role>the [\w ]+?) of (?P<what>what|which) (?P<noun>\w+)",
        r"of {what} {noun} {be} {x} {role}",
    ),
    (r"(?P<x>.+?) (?:has|have) how many (?P<noun>\w+(?: \w+)?)", r"how many {noun} does {x} have"),
    (r"(?P<x>.+?) had how many (?P<noun>\w+(?: \w+)?)", r"how many {noun} did {x} have"),
    (r"(?P<x>the (?:\w+ ){1,3}of .+|.+'s \w+(?: \w+)?) (?P<be>is|are|was|were)", r"what {be} {x}"),
)
_ASKS_LAST_PATTERNS = [(re.compile(f"^{pattern}$", re.IGNORECASE), order) for pattern, order in _ASKS_LAST]
_BEST_OF = re.compile(r"\bthe (?P<est>\w+est) of (?P<x>[\w. -]+?)'s (?P<noun>\w+)\b", re.IGNORECASE)


_IS_NTH = patterns_of(r"(?:which|what) {noun} {be} (?:the )?{nth}(?P<rest>(?: (?:from|in|of|to)\b.*)?)")


def asked_first(question: str) -> str:
    """A question whose question word stands at its end, or is left out there, in the usual order."""
    question = _BEST_OF.sub(
        lambda said: f"the {said['est']} {(*singulars(said['noun']), said['noun'])[1]} of {said['x']}", question
    )
    nth = first_match(_IS_NTH, question)
    if nth:
        return f"what is the {nth['nth']} {nth['noun']}{nth['rest']}"
    if _BEGINS_ASKING.match(question):
        return question
    for pattern, order in _ASKS_LAST_PATTERNS:
        found = pattern.match(question)
        if found:
            said = {name: (text or "").lower() if name != "x" else text for name, text in found.groupdict().items()}
            if said.get("what") == "who" and said.get("by"):
                said["what"] = "whom"
            return order.format(**said)
    return question


_AGES = patterns_of(
    r"how old {be} {x} when (?:{he}|(?P=x)) (?:died|was killed|was assassinated|passed away|was murdered)",
    r"(?:at|in) (?:what|which) age did {x} (?:die|pass away)",
    r"how (?:old|long) (?:did|was) {x} (?:live|(?:at|on) (?:his|her|their|the) (?:time of (?:his|her|their) )?death)"
    r"(?: for)?",
    r"how many years did {x} live(?: for)?",
    r"what age was {x} when {he} died",
    r"how old did {x} (?:become|get)",
)
_LASTING = patterns_of(r"how (?:long|many years) did {x} (?:last|go on|continue|exist|take)(?: for)?")


_REIGNING = patterns_of(
    r"how (?:long|many years) (?:did|was|were) {x} (?:reign|rule|govern|in (?:office|power)|on the throne|king|queen"
    r"|pope|president|prime minister|chancellor|emperor)(?: for)?",
)
_OLD_NOW = patterns_of(r"how old {be} {x}(?: now| today)?", r"what age {be} {x}", r"what {be} {x}'s age")


def _span(question: str) -> Plan | None:
    found = first_match(_REIGNING, question)
    if found:
        return Plan(Form.SPAN, things=(found["x"],), attributes=IN_OFFICE)
    found = first_match(_AGES, question)
    if found:
        return Plan(Form.SPAN, things=(found["x"],), attributes=LIFE)
    found = first_match(_OLD_NOW, question)
    if found:
        return Plan(Form.SPAN, things=(found["x"],), attributes=("born", TODAY))
    found = first_match(_LASTING, question)
    return Plan(Form.SPAN, things=(found["x"],), attributes=COURSE) if found else None


_HOW_MUCH = patterns_of(r"how {how} {be} {x}")
_HOW_FAR = patterns_of(
    r"how (?:far|distant) (?:away )?{be} {x}(?: away)? from (?:the )?{y}",
    r"what {be} the (?:average |mean )?distance (?:of|from|between) {x} (?:from|to|and) (?:the )?{y}",
)
_MEASURED_FROM = {"sun": "distance from the Sun", "earth": "distance from the Earth", "us": "distance from the Earth"}
_YEAR_OF = patterns_of(
    r"how (?:long|many (?:days|years|months)) (?:does|do) (?:it take )?{x} (?:need |take )?to (?:go around|orbit|circle"
    r"|revolve around|travel around|complete)\b.*",
    r"how long is (?:a|one) year on {x}",
)
_PEOPLE = patterns_of(
    r"how many (?:people|inhabitants|residents|citizens) (?:live|are there|does|do|are living)(?: in)? {x}(?: have)?"
)
_OF = r"(?:total |average |surface |approximate |maximum |top )*"
_MEASURE_OF = patterns_of(
    rf"(?:what|how much) {{be}} the {_OF}{{measure}} of {{x}}",
    rf"(?:the )?{_OF}{{measure}} of {{x}}",
    rf"what {{be}} {{x}}'s? {_OF}{{measure}}",
    r"(?!what|which|who|the ){x}(?:'s)? (?P<measure>population|height|elevation|diameter|depth)",
    r"what {measure} (?:is|does|has) {x}(?: have)?",
)
_DATES = (  # what is asked of a date, and the attribute that says it
    (r"(?:when|on (?:what|which) (?:day|date)) {be} {x} born(?: on)?", "born"),
    (r"(?:what|when) {be} (?:the )?{x}'s? (?:birthday|birth ?date|date of birth)", "born"),
    (r"what {be} the (?:birthday|birth ?date|date of birth) of {x}", "born"),
    (r"(?:when|on (?:what|which) (?:day|date)) did {x} (?:die|pass away)(?: on)?", "died"),
    (r"when {be} {x} (?:killed|assassinated|murdered|executed|shot)", "died"),
    (r"when did {x} (?:begin|start|break out)", "began"),
    (r"when did {x} (?:end|finish|stop)", "ended"),
    (
        r"when (?:was|did|were) {x} (?:first )?(?:open|opened|completed|finished|inaugurated)"
        r"(?: as .+| to the public)?",
        "opened",
    ),
    (r"when {be} {x} built", "opened"),
    (r"when did {x} (?:become independent|gain (?:its )?independence|get independence)", "independence"),
    (r"when {be} {x} (?:founded|established|created|set up)", "founded"),
    (r"when (?:was|did|were) {x} (?:released|come out|first shown|published)", "released"),
    (r"when {be} {x} (?:invented|discovered|patented)", "discovered"),
    (r"when (?:is|did|was|were) {x}(?: take place| happen| occur| fought| signed)?", "happened"),
    (r"when did {x} (?:sink|fall|erupt|explode|crash|burn down|collapse)", "happened"),
)
_DATE_PATTERNS = [(patterns_of(template), attribute) for template, attribute in _DATES]


def _value(question: str) -> Plan | None:
    found = first_match(_HOW_MUCH, question)
    if found:
        return Plan(Form.VALUE, things=(found["x"],), attributes=HOW[found["adjective"].lower()])
    found = first_match(_HOW_FAR, question)
    attribute = _MEASURED_FROM.get(found["y"].lower(), "") if found else ""
    if found and attribute:
        return Plan(Form.VALUE, things=(found["x"],), attributes=(attribute,))
    found = first_match(_YEAR_OF, question)
    if found:
        return Plan(Form.VALUE, things=(found["x"],), attributes=("orbital period",))
    found = first_match(_PEOPLE, question)
    if found:
        return Plan(Form.VALUE, things=(found["x"],), attributes=("population",))
    found = first_match(_MEASURE_OF, question)
    if found:
        return Plan(Form.VALUE, things=(found["x"],), attributes=measured_by(found["measure"]))
    for patterns, attribute in _DATE_PATTERNS:
        found = first_match(patterns, question)
        if found:
            return Plan(Form.VALUE, things=(found["x"],), attributes=(attribute,))
    return None


_TIMES = patterns_of(r"how many times (?:did|has|have) {x} (?P<verb>win|won|host|hosted) (?P<y>.+)")
_HOW_MANY = patterns_of(
    r"(?:in how many|how many|(?:(?:what {be} )?the )?(?:total )?number of|count(?: the)?)(?: different)? (?P<rest>.+)"
)
_THERE = patterns_of(r"{noun} {be} there(?P<where> .+)?", r"{noun} (?:exist|are known)(?P<where> .+)?")
_BEHIND_NOUN = re.compile(
    r"\s+(?:are|is|were|was|does|do|did|has|have|had|can|share|border|bordering|in|of|by|orbit|belong|make|speak|use"
    r"|play|the|an?|on|there|that|which|who|live|lie|flow|from|with)\b",
    re.IGNORECASE,
)


def _count(question: str) -> Plan | None:
    found = first_match(_TIMES, question)
    if found:
        verb = "host" if found["verb"].lower().startswith("host") else "win"
        noun = _plural(re.sub(r"^the ", "", found["y"], flags=re.IGNORECASE))
        return Plan(Form.COUNT, base=f"which {noun} did {found['x']} {verb}", noun=noun)
    found = first_match(_HOW_MANY, question)
    if not found:
        return None
    rest = found["rest"]
    there = first_match(_THERE, rest)
    if there:
        noun, where = there["noun"], _without_world(there["where"] or "")
        series = _WORKS.match(noun)
        if series and not where:
            return Plan(Form.COUNT, base=_parts_of(series), noun=series["works"])
        return Plan(Form.COUNT, base=f"which {noun} are {where}" if where else "", noun=noun)
    cut = _BEHIND_NOUN.search(rest)
    bound, base = bound_of(f"which {_without_world(rest)}")
    everywhere = re.fullmatch(r"which [\w ]+ (?:are|exist)", base)  # all the elements that there are
    return Plan(
        Form.COUNT, base=base if cut and not everywhere else "", noun=rest[: cut.start()] if cut else rest, bound=bound
    )


_WHICH_IS = r"{what}(?: \w+){0,2}? (?:is|are|was|were|has|lies|came|comes|lived|died|born)? *(?:the )?{erest}\b"
_COMPARISONS = patterns_of(
    rf"{_WHICH_IS}[^,:]*?[,:] *{{pair}}",
    r"{what}(?: \w+){0,2}? {be} (?:the )?{erest}(?: (?:of|between|out of))? {pair}",
    r"(?:between |of )?(?P<x>.+?) (?:or|vs\.?|versus|and) (?P<y>.+?) *[,:?–-]+ *{what}(?: \w+)? {be} (?:the )?{erest}",
    r"{be} (?P<x>.+?) or (?P<y>.+?) (?:the )?{erest}",
    r"(?:the )?{erest}(?: \w+)? *[,:?–-] *{pair}",
)
_IS_MORE = patterns_of(r"{be} {x} {er} than (?P<y>.+)")
_HAS_MORE = patterns_of(
    r"{what}(?: (?:\w+ )?\w+)? (?:has|have|had|covers?) (?:the |a )?{degree} {people}[,:]? +{pair}",
    r"(?:the )?{degree} {people} *[,:?–-] *{pair}",
    r"(?:does|do|did|has|have) {x} (?:have )?(?:a )?{degree} {people} than {y}(?: has| does| have)?",
)
_WHEN_FIRST = patterns_of(
    r"(?P<head>{what}(?: \w+){0,2}? (?:was|were|is|came|died|lived|happened|began|started)"
    r" *(?:out|built|published|released|founded)? *(?:born|died?|first|earlier|later|last)?"
    r" *(?:first|earlier|later|last)?)[,:]? +(?:the )?(?P<x>.+?) *,? +or +(?P<y>.+)"
)
_BEFORE = patterns_of(
    r"(?:was|were|did|is) {x} (?P<verb>founded|established|born|die|built|opened|released|published|written|invented"
    r"|discovered|happen|begin|start) (?:before|earlier than|(?P<after>after|later than)) {y}(?: was| were| did)?",
)
_WEIGHS_MORE = patterns_of(r"{what}(?: \w+)? weighs (?:the )?(?P<degree>more|less|most|least)[,:]? +{pair}")
_VERB_OF_DATE = (
    r"(?P<verb>founded|established|born|die|died|built|opened|released|published|written|invented|discovered|happen"
    r"|begin|start|come out|made|painted|composed|recorded)"
)
_EITHER_FIRST = patterns_of(
    rf"(?:was|were|did|is) {{x}} or {{y}} {_VERB_OF_DATE}(?: out)? (?:the )?(?P<when>first|earlier|later|last)",
)
_EITHER_ORDER = patterns_of(  # one of two words is the answer: *before or after*
    rf"(?:was|were|did|is) {{x}} {_VERB_OF_DATE} (?P<one>before|after|earlier|later) or"
    r" (?P<other>before|after|earlier|later)(?: than)? {y}(?: was| were| did)?",
)
_EITHER_DEGREE = patterns_of(
    r"{be} {x} {er} or (?P<other>\w+) than (?P<y>.+)",
)
_LASTS = r"(?P<lasts>lived?|lasted|last|reigned|reign|ruled|rule|served|serve|died|die)"
_LIVED_LONGER = patterns_of(
    rf"(?:{{what}}(?: \w+){{0,2}}?|who) (?:was |were )?{_LASTS} (?:the |for )?(?P<degree>longer|shorter|longest|younger"
    r"|older)[,:]? +{pair}",
    rf"(?:did|has|have) {{x}} {_LASTS} (?:a |for )?(?P<degree>longer|shorter|younger|older)(?: time| life)? than "
    r"(?P<y>.+?)(?: did)?",
)
_SPANS = {  # the beginnings of words for lasting, and the two dates between which that is
    "liv": LIFE, "die": LIFE, "reign": IN_OFFICE, "rul": IN_OFFICE, "serv": IN_OFFICE, "last": COURSE
}  # fmt: skip


def _span_of(word: str) -> tuple[str, ...]:
    return next(span for stem, span in _SPANS.items() if word.lower().startswith(stem))


_DONE_MORE = patterns_of(
    r"{what}(?: \w+)? (?:has |have |had )?(?P<verb>won|hosted|written|wrote|directed|made|painted|composed|written) "
    r"(?P<degree>more|fewer) (?P<noun>[\w '-]+?s)[,:] +{pair}",
    r"{what}(?: \w+)? (?:has |have |had )?(?P<verb>won|hosted|written|wrote|directed|made|painted|composed|written) "
    r"(?P<degree>more|fewer) (?P<noun>[\w '-]+?s)[,:]? +{pair}",
    r"{what}(?: \w+)? (?P<verb>has|have|had) (?P<degree>more|fewer) {noun}[,:] +{pair}",
)
_PRESENT = {
    "won": "win", "hosted": "host", "written": "write", "wrote": "write", "directed": "direct", "made": "make",
    "painted": "paint", "composed": "compose", "has": "have", "had": "have",
}  # fmt: skip
_DATE_OF_VERB = {
    "founded": "founded", "established": "founded", "born": "born", "die": "died", "died": "died", "built": "opened",
    "opened": "opened", "invented": "discovered", "discovered": "discovered",
}  # fmt: skip


def _comparison(question: str) -> Plan | None:
    found = first_match(_LIVED_LONGER, question)
    if found:
        greatest = found["degree"].lower() not in ("shorter", "younger")
        form = Form.YES_NO if re.match(r"(?:did|has|have)\b", question, re.IGNORECASE) else Form.COMPARISON
        return Plan(form, things=(found["x"], found["y"]), span=_span_of(found["lasts"]), greatest=greatest)
    found = first_match(_HAS_MORE, question)
    if found:
        form = Form.YES_NO if re.match(r"(?:do|does|did|has|have)\b", question, re.IGNORECASE) else Form.COMPARISON
        greatest = found["degree"].lower() not in LESSER
        things = (found["x"], found["y"])
        return Plan(form, things=things, attributes=measured_by(found["measure"]), greatest=greatest)
    found = first_match(_WEIGHS_MORE, question)
    if found:
        things, greatest = (found["x"], found["y"]), found["degree"].lower() not in LESSER
        return Plan(Form.COMPARISON, things=things, attributes=("weight", "mass"), greatest=greatest)
    found = first_match(_DONE_MORE, question)
    if found:
        base = f"which {found['noun']} did {{}} {_PRESENT.get(found['verb'].lower(), found['verb'])}"
        things, greatest = (found["x"], found["y"]), found["degree"].lower() not in LESSER
        return Plan(Form.COMPARISON, base, found["noun"], things, (NUMBER,), greatest)
    found = first_match(_EITHER_DEGREE, question)
    if found:
        attributes, greatest = degree_of(found)
        things, words = (found["x"], found["y"]), (found["adjective"] or found["stem"], found["other"])
        return Plan(Form.COMPARISON, things=things, attributes=attributes, greatest=greatest, words=words)
    for patterns, form in ((_COMPARISONS, Form.COMPARISON), (_IS_MORE, Form.YES_NO)):
        found = first_match(patterns, question)
        if found:
            attributes, greatest = degree_of(found)
            return Plan(form, things=(found["x"], found["y"]), attributes=attributes, greatest=greatest)
    return _comparison_of_dates(question)


def _comparison_of_dates(question: str) -> Plan | None:
    """Which of two things came first, or whether one came before the other."""
    found = first_match(_EITHER_FIRST, question)
    if found:
        attribute = _DATE_OF_VERB.get(found["verb"].lower(), DATE)
        greatest = found["when"].lower() in ("later", "last")
        return Plan(Form.COMPARISON, things=(found["x"], found["y"]), attributes=(attribute,), greatest=greatest)
    found = first_match(_EITHER_ORDER, question)
    if found:
        attribute = _DATE_OF_VERB.get(found["verb"].lower(), DATE)
        things, words = (found["x"], found["y"]), (found["one"].lower(), found["other"].lower())
        return Plan(
            Form.COMPARISON,
            things=things,
            attributes=(attribute,),
            greatest=words[0] in ("after", "later"),
            words=words,
        )
    found = first_match(_BEFORE, question)
    if found:
        attribute = _DATE_OF_VERB.get(found["verb"].lower(), DATE)
        things = (found["x"], found["y"])
        return Plan(Form.YES_NO, things=things, attributes=(attribute,), greatest=bool(found["after"]))
    found = first_match(_WHEN_FIRST, question)
    if not found:
        return None
    head = found["head"].lower()
    attribute = "born" if "born" in head else "died" if "died" in head else DATE
    greatest = bool(re.search(r"\b(?:later|last)\b", head))
    return Plan(Form.COMPARISON, things=(found["x"], found["y"]), attributes=(attribute,), greatest=greatest)


_GREATEST_NUMBER = patterns_of(
    r"(?:which|what|who) .*\b(?:the )?(?:most|fewest) (?!populous|populated|distant|recent)(?:\w+ ){0,2}?"
    r"(?P<things>\w+s)\b.*"
)


# *which country has won the most World Cups*: of each edition it is known who won it
_MOST_EDITIONS = patterns_of(
    r"{what}(?: {noun})? (?:has |have |had )?(?P<verb>won|hosted) (?:the )?(?P<degree>most|fewest) (?P<things>.+?s)"
    r"(?: (?:ever|in history|of all time|so far))?"
)


# *which planet has the most moons*: their number may be stated
_MOST_OF = patterns_of(
    r"{what} (?P<noun>\w+(?: \w+)?) (?:has|have|had) (?:the )?(?P<degree>most|fewest) (?P<things>(?:\w+ )?\w+s)"
    r"(?: (?:ever|in history|of all time|so far))?",
    r"(?:{what} {be} )?the (?P<noun>\w+(?: \w+)?) with the (?P<degree>most|fewest) (?P<things>(?:\w+ )?\w+s)",
)


def _greatest_number(question: str) -> Plan | None:
    """A question for what has the most of something that is counted, not measured."""
    found = first_match(_MOST_EDITIONS, question)
    if found:
        verb, greatest = found["verb"].lower(), found["degree"].lower() == "most"
        base = f"which {found['things']} did it {_PRESENT[verb]}"
        noun, outer = found["noun"] or "", f"{verb} by"
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
    r"{what} {noun}(?P<rest>(?: (?:in|of|on|from)\b.*?)?) (?P<lasts>lived|reigned|ruled|served|lasted) "
    r"(?:for )?(?:the )?(?P<degree>longest|shortest)(?: time)?",
)
_NUMBERS = "two three four five six seven eight nine ten eleven twelve".split()
_TOP = rf"(?:top )?(?P<number>{'|'.join(_NUMBERS)}|\d{{1,2}}) (?:of the )?"
_SUPERLATIVES = patterns_of(
    rf"{_ASKS_FOR}(?:the )?(?:world's )?(?:{{nth}} |{_TOP})?{{est}} {{noun}}{_REST}",
    r"{what} {noun}(?P<rest>(?: (?:in|of|on|by|from)\b.*?)?) (?:is|was|are|has|lies|of) "
    r"(?:the )?(?:{nth} )?{est}(?P<more> .*)?",
)
_HAS_GREATEST_NUMBER = patterns_of(
    r"{what} {noun}(?P<rest>(?: (?:in|of|on|from)\b.*?)?) (?:has|have|had) the {degree} {people}(?P<more> .*)?",
    r"(?:{what} {be} |name )?(?:the )?{noun} with the {degree} {people}(?P<rest> .*)?",
)
_BY_MEASURE = re.compile(rf"^(?P<rest>.*?) *\bby {SLOTS['measure']}\b(?P<more>.*)$", re.IGNORECASE)
_PREPOSITION = re.compile(r"^(?:in|of|on|by|from|to)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"^(?:by|directed|written|painted|made|built|that|which|with)\b", re.IGNORECASE)


def _superlative(question: str) -> Plan | None:
    found = first_match(_LASTED_LONGEST, question)
    if found:
        noun, rest = found["noun"].strip(), _without_world((found["rest"] or "").strip())
        place = _place(found["nth"]) if found.groupdict().get("nth") else 0
        greatest = found["degree"].lower() == "longest"
        base = f"who were the {_plural(noun)} {rest}".strip()
        return Plan(Form.SUPERLATIVE, base, noun, span=_span_of(found["lasts"]), greatest=greatest, place=place)
    found = first_match(_HAS_GREATEST_NUMBER, question)
    if found:
        attributes, greatest = measured_by(found["measure"]), found["degree"].lower() not in LESSER
    else:
        found = first_match(_SUPERLATIVES, question)
        if not found:
            return None
        attributes, greatest = degree_of(found)
    said = found.groupdict()
    rest, more = ((said.get(part) or "").strip() for part in ("rest", "more"))
    if more and not _PREPOSITION.match(more):
        return None
    where = f"{rest} {more}".strip()
    by = _BY_MEASURE.match(where)
    if by:
        attributes, where = measured_by(by["measure"]), f"{by['rest']} {by['more']}".strip()
    where, noun = _without_world(where), found["noun"].strip()
    base = f"which {_plural(noun)} {where}" if _CLAUSE.match(where) else f"which {_plural(noun)} are {where}"
    place = _place(said["nth"]) if said.get("nth") else 0
    number = _number(said["number"]) if said.get("number") else 0
    base = base if where else ""
    return Plan(Form.SUPERLATIVE, base, noun, attributes=attributes, greatest=greatest, place=place, number=number)


def _number(word: str) -> int:
    """Of ``four`` or ``4``: 4."""
    return int(word) if word.isdigit() else _NUMBERS.index(word.lower()) + 2


def _place(word: str) -> int:
    """Of ``third``, ``3rd`` or ``last``: 3, 3, -1."""
    return ORDINALS.get(word.lower()) or int(re.sub(r"\D", "", word))


_WORLD = re.compile(
    r"\b(?:(?:in|of|on) (?:the )?(?:whole |entire |our )?(?:world|earth|planet|universe|solar system|periodic table)"
    r"|of all(?: time)?|ever(?: made| built| written)?|by far|to the sun|from the sun)\b",
    re.IGNORECASE,
)


def _without_world(rest: str) -> str:
    """What is said of the place; nothing where that is the whole world."""
    return " ".join(_WORLD.sub("", rest).split())


_MADE = "made|produced|published|written|released|directed|painted|composed|recorded|founded|built|sung|designed"
_NTH_OF = patterns_of(
    rf"(?:{{what}} {{be}} |name )?(?:the )?(?:very )?{{nth}} (?P<noun>\w+(?: \w+)?) (?:that |which )?{{x}} "
    rf"(?P<verb>{'|'.join(PARTICIPLES)}|directed|painted|composed|released|published|recorded|founded|invented)",
    r"(?:{what} {be} |name )(?:the )?(?:very )?{nth} {noun}"
    rf"(?P<rest> (?:of|to|in|by|on|for|from|that|who|{_MADE})\b.*)?",
    rf"(?:the )?{{nth}} {{noun}}(?P<rest> (?:of|in|by|from|{_MADE})\b.*)?",
    r"(?:{what} {be} )?(?:the )?(?P<whose>(?!what|which|who|the\b)"
    r"(?:(?! (?:of|from|in|by|with|is|are|was|were) )[\w .-])+?)(?:'s?)? {nth} {noun}",
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
_WORKS = re.compile(
    r"^(?P<series>.+) (?P<works>(?:book|novel|film|movie|album|song|game|season|episode)s?)$", re.IGNORECASE
)


def _ordinal(question: str) -> Plan | None:
    found = first_match(_NTH_OF, question)
    if not found:
        return None
    said, noun, place = found.groupdict(), _NOTHING_NEW.sub("", found["noun"].strip()), _place(found["nth"])
    if noun.lower() in _NO_ORDER or not place:
        return None
    if re.fullmatch(r" (?:in|of) the periodic table", said.get("rest") or "", re.IGNORECASE):
        return Plan(Form.SUPERLATIVE, noun=noun, attributes=("atomic number",), greatest=False, place=place)
    if re.fullmatch(r" from (?:the )?sun", said.get("rest") or "", re.IGNORECASE):
        return Plan(Form.SUPERLATIVE, noun=noun, attributes=("distance from the Sun",), greatest=False, place=place)
    series = _WORKS.match(noun)
    if said.get("verb"):
        verb = said["verb"].lower()
        base = f"which {_plural(noun)} were {PARTICIPLES.get(verb, verb)} by {said['x']}"
    elif series and not said.get("rest"):
        base, noun = _parts_of(series), series["works"]
    else:
        rest = f"of {said['whose']}" if said.get("whose") else (said.get("rest") or "").strip()
        if re.match(rf"(?:{_MADE})\b", rest, re.IGNORECASE):
            base = f"which {_plural(noun)} were {rest}"
        elif _WORK.search(noun):
            base = f"which {_plural(noun)} are {rest}".replace(" are of ", " are by ", 1)
        else:
            base = f"who were the {_plural(noun)} {rest}".strip()
    return Plan(Form.ORDINAL, base=base, noun=noun, attributes=(DATE,), place=place)


def _parts_of(series: re.Match[str]) -> str:
    return f"which {_plural(series['works'])} are part of {series['series']}"


def _plural(noun: str) -> str:
    if noun.endswith("s"):
        return noun
    irregular = {"man": "men", "woman": "women", "person": "people", "wife": "wives", "child": "children"}
    *before, last = noun.split()
    plural = irregular.get(last.lower()) or (f"{last[:-1]}ies" if re.search(r"[^aeiou]y$", last) else f"{last}s")
    return " ".join([*before, plural])


_ASKS_WHETHER = patterns_of(r"(?:is|are|was|were|did|does|do|has|have|had|can|could) (?P<rest>.+)")
_IS_A = patterns_of(
    r"{be} {x} (?:still )?(?:(?:classed|classified|considered|regarded|counted|known) (?:as )?)?"
    r"(?:(?:really|actually|also) )?(?:a kind of |a type of )?(?:a|an) {noun}",
    r"are (?P<x>\w+s) (?:really |actually )?{noun}",  # are dolphins mammals
)


def _yes_no(question: str) -> Plan | None:
    if not first_match(_ASKS_WHETHER, question) or " or " in question:  # which of the two it is, is no yes or no
        return None
    kind = first_match(_IS_A, question)
    if kind and not re.search(r"\b(?:in|on|by|with|from|to|of|the)\b", kind["noun"]):
        return Plan(Form.YES_NO, noun=kind["noun"], things=(kind["x"],), base=question)
    return Plan(Form.YES_NO, base=question)


_VERBS = "is|are|was|were|did|does|do|has|have|had"
_HEAD = patterns_of(
    rf"(?:which|what|name(?: the| all| some| a few)?|list(?: the| all| some)?) (?!(?:{_VERBS}|the)\b){{noun}}"
    r"(?: also| ever| still| both)? "
    rf"(?:{_VERBS}|by|of|from|born|directed|written|painted|that|who|which|in|with|set|starring|won|received)\b.*",
    r"(?!who|what|which|where|when|how|name|list)(?:the )?{noun} "
    r"(?:in|by|directed by|written by|painted by|born in|from|with|starring|set in)\b.*",
)


_RELATIVES = (
    "father mother parents? son sons daughters? children wife wives husband spouse brothers? sisters? siblings?"
    " counterpart successor predecessor"
).split()
# a question about something that another question has to find first: *the capital of* the largest country in Africa
_OF_THE_NTH = patterns_of(
    r"(?P<outer>(?!{what} {be} the$).+? (?:of|by|in|from|won|win|wrote|painted|directed|composed|{be})) "
    r"(?P<inner>the (?:very )?(?:{nth} |{est} )(?!names? )[\w' .-]+?)"
    r"(?P<behind> (?:born|die|died|built|founded|released|published|located|called|educated|buried|from))?"
)
# *the father of* the Greek god of war: a thing that is found by two conditions has to be found first
_OF_ONE_OF_A_KIND = patterns_of(
    rf"(?P<outer>{{what}} (?:\w+ )??{{be}} the (?:{'|'.join(_RELATIVES)}) of) "
    r"(?P<inner>the (?:(?:(?!of\b)[\w-]+ ){2}of|(?:(?!of\b)[\w-]+ ){1,3}(?:who|that)) .+?)(?P<behind>)"
)
# *the Roman name of Aphrodite*: the same deity elsewhere
_OTHER_NAME = patterns_of(
    r"(?:{what} {be} )?(?:the )?(?P<where>\w+) (?:name|equivalent|version|counterpart|form) (?:of|for) "
    r"(?:the )?(?:\w+ )?(?:god |goddess |deity )?{x}",
    r"{what} {be} {x} (?:called|known as|named) (?:in|by|among|to) (?:the )?(?P<where>\w+)(?: mythology| myths?)?",
    r"what did the (?P<where>\w+) call (?:the )?(?:\w+ )?(?:god |goddess |deity )?{x}",
)
_MYTHS = frozenset("roman romans greek greeks norse etruscan egyptian egyptians germanic rome greece".split())


def _counterpart(question: str) -> Plan | None:
    found = first_match(_OTHER_NAME, question)
    if not found or found["where"].lower() not in _MYTHS:
        return None
    return Plan(base=f"who is the counterpart of {found['x']}", things=(found["x"],))


_OF_PLACE_WHERE = patterns_of(
    r"(?P<outer>.+? (?:of|in)) the (?P<noun>country|city|town|state|continent|region|nation) "
    r"(?:where|in which|which|that) {x} (?P<be>was|is|were|are|did)"
    r"(?: (?P<verb>born|die|died|located|buried|assassinated|killed|founded|made|set))?(?P<behind>)(?: in)?",
    r"(?P<outer>.+? (?:of|in)) the (?P<noun>country|city|town|state|continent|region|nation) "
    r"(?:where|in which) (?:you|one|we) (?:can |will |would )?(?P<verb>find|see|visit) (?P<x>.+)(?P<behind>)",
)
_ONLY_ASKS = re.compile(r"(?:what|which|who)(?: \w+)? (?:is|are|was|were)", re.IGNORECASE)


def _nested(question: str) -> Plan | None:
    found = first_match(_OF_PLACE_WHERE, question)
    if found:
        be = found.groupdict().get("be") or "is"
        verb = f" {found['verb']}" if found["verb"] and "be" in found.groupdict() else ""
        inner = f"in which {found['noun']} {be} {found['x']}{verb}"
    else:
        found = first_match(_OF_THE_NTH, question) or first_match(_OF_ONE_OF_A_KIND, question)
        if not found or (_ONLY_ASKS.fullmatch(found["outer"]) and not found["behind"]):
            return None
        inner = f"{'what' if 'nth' in found.groupdict() else 'who'} is {found['inner']}"
        if (found["behind"] or "").strip() in ("called", "located") and _ONLY_ASKS.fullmatch(found["outer"]):
            return plan_of(inner)
    outer = found["outer"].replace("{", "").replace("}", "")
    return Plan(base=question, inner=inner, outer=f"{outer} {{}}{found['behind'] or ''}")


# *the currency of the country that* somebody *is from*: three relations, or four by way of a birthplace
_BEHIND_A_PLACE = re.compile(
    r"\bof the (?:countr(?:y|ies)|city|state|continent|region|nation)s? (?:where|in which|that|which|whose|the)\b", re.I
)

_ALL_OF = patterns_of(
    r"(?:what|which) (?:are|were) (?:all )?(?:the )?(?:names of (?:all )?(?:the )?)?(?:\w+ )??{noun}"
    r"(?P<where> (?:of|in|on) .+)?",
    r"(?:name|list)(?: me)?(?: all| some| a few| any)?(?: of)?(?: the)?"
    rf"(?: (?:{'|'.join(_NUMBERS)}))?(?: \w+)?? {{noun}}"
    r"(?P<where> (?:of|in|on) .+)?",
    r"all (?:of )?(?:the )?{noun}(?P<where> (?:of|in|on) .+)?",
)
# *which element has the atomic number 26*: a thing is asked for by its value
_WITH_VALUE = patterns_of(
    r"{what} {noun} (?:has|have|with) (?:an? |the )?{measure} (?:of )?(?P<number>\d[\d,]*)(?: \w+)?"
)


def _all_of(question: str) -> Plan | None:
    """All things of a kind that the world has; what lies in a place is left to the paths."""
    found = first_match(_WITH_VALUE, question)
    if found:
        value, attributes = found["number"].replace(",", ""), measured_by(found["measure"])
        return Plan(Form.ALL, noun=found["noun"], attributes=attributes, bound=f"= {value}")
    found = first_match(_ALL_OF, question)
    if not found or not found["noun"].endswith("s") or _without_world(found["where"] or ""):
        return None
    return Plan(Form.ALL, base=question, noun=found["noun"].strip())


_ALL_BUT = patterns_of(
    r"(?:which|what|name|list) (?:all )?(?:the )?{noun}(?P<rest> (?:in|of|on|by|from|with) .+?)?(?: that| which| who)?"
    r" (?:(?:do|does|did|are|is|was|were|have|has)(?:n't| not)(?: \w+)??|without|not|except(?: for)?) {x}"
)


def _all_but(question: str) -> Plan | None:
    found = first_match(_ALL_BUT, question)
    if not found or not found["rest"]:
        return None
    noun = found["noun"]
    return Plan(base=f"which {_plural(noun)} are{found['rest']}", noun=noun, without=found["x"])


def _head_noun(question: str) -> str:
    """The kind of thing that a plain question asks for, as it calls it; empty where it does not."""
    found = first_match(_HEAD, question)
    return found["noun"] if found and len(found["noun"].split()) <= 3 else ""


def bound_of(question: str) -> tuple[str, str]:
    """The years that a question keeps its answers within, as ``< 1980``, and the question without that."""
    for pattern, sign in _BOUNDS:
        found = pattern.search(question)
        if found:
            return f"{sign} {found['year']}", _without(question, found)
    found = _IN_A_YEAR.search(question)
    if found and _HELD_OR_WON.search(question):
        return f"= {found['year']}", _without(question, found)
    return "", question


def _without(question: str, found: re.Match[str]) -> str:
    """A question without the words that a pattern has found."""
    return " ".join((question[: found.start()] + question[found.end() :]).strip(" ,").split())


# *during World War II*, *when the Berlin Wall fell*: whoever held the office at that time is asked for
_MEANWHILE = re.compile(
    r"^(?P<asked>.*?)[, ]+(?:"
    r"(?:for |through |throughout |during )?(?P<most>most|much|the (?:greater|larger) part|the majority) of"
    r"|(?:at|in|during|by|from) the (?P<moment>start|beginning|outbreak|end|close) of"
    r"|during|throughout|at the time of|in the time of|while|when) "
    r"(?P<event>(?!(?:he|she|it|they|did|was|were)\b)\D.+?)"
    r"(?: (?:was fought|was going on|took place|happened|occurred|fell|sank|exploded|(?P<began>began|started|broke out)"
    r"|(?P<ended>ended|finished|was over))(?: in .+)?)?$",
    re.IGNORECASE,
)


def _in_the_time_of(question: str) -> Plan | None:
    """A question for who held an office at the time of something else."""
    found = _MEANWHILE.match(question)
    if not found or not _OFFICE.search(found["asked"]):
        return None
    said = (found["moment"] or "").lower()
    moment = "most" if found["most"] else ""
    if found["began"] or said in ("start", "beginning", "outbreak"):
        moment = "start"
    elif found["ended"] or said in ("end", "close"):
        moment = "end"
    return Plan(base=found["asked"], during=found["event"], moment=moment)


_YEAR = r"(?:the year )?(?P<year>\d{3,4})\b(?!s)"
_BOUNDS = tuple(
    (re.compile(rf"\b(?:{words}) +{_YEAR}", re.IGNORECASE), sign)
    for words, sign in (("before|prior to|earlier than", "<"), ("after|later than", ">"), ("since", ">="))
)
# *in 1962* is a condition where somebody held an office or won something; elsewhere the year may be what is asked about
_IN_A_YEAR = re.compile(
    rf"\b(?:in|during|(?:at|by|around|from) the (?:end|beginning|start|middle) of) +{_YEAR}", re.IGNORECASE
)
_OFFICES = (
    r"presidents?|ministers?|kings?|queens?|popes?|chancellors?|emperors?|monarchs?|rulers?|ruled|reigned|tsars?"
    r"|governors?|mayors?|leaders?|in (?:power|office)|on the throne"
)
_OFFICE = re.compile(rf"\b(?:{_OFFICES})\b", re.IGNORECASE)
_HELD_OR_WON = re.compile(rf"\b(?:{_OFFICES}|won|win|winners?|champions?|hosted|awarded|received)\b", re.IGNORECASE)
