"""What is to be done with what the graph holds: list it, count it, compare it, or refuse.

A path model is trained on questions whose answer is the end of a path. A question that counts, compares or orders is
taken apart here: into a *base question* of that kind, whose whole answer set the model's paths give, and the operation
upon it (``answering``). All of this is English grammar in regular expressions; a question that fits none is
asked as it stands.

Patterns are written with the pieces of ``query.measures``, and match a whole question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import FUNCTION_WORDS
from kgdemo.query.answer_type import AnswerType, answer_type_of
from kgdemo.query.claimed import turned_round
from kgdemo.query.measures import (
    AGE,
    COURSE,
    HOW,
    IN_OFFICE,
    LIFE,
    MORE,
    NUMBER,
    NUMBERS,
    SAID_NUMBER,
    SIGNS,
    TODAY,
    WORKS,
    bound_of,
    degree_of,
    first_match,
    measured_by,
    number_said,
    parts_of,
    patterns_of,
    plural_of,
    unit_asked,
    without_world,
)
from kgdemo.query.nested import counterpart, in_the_time_of, nested, of_several, two_steps
from kgdemo.query.orders import comparison, greatest_number, last_time, ordinal, superlative, value
from kgdemo.query.query import Form, Plan, Query, types_of
from kgdemo.query.rewordings import in_other_words
from kgdemo.query.wording import beyond_graphs, plain_question

_WHAT_YEAR = re.compile(
    r"^(?:(?:in |on )?(?:what|which) (?:year|date|day)|at what date) (?=(?:is|are|was|were|did)\b)", re.IGNORECASE
)


_WHAT_CENTURY = re.compile(
    r"^(?:in |during )?(?:what|which) century (?P<asked>(?:is|are|was|were|did)\b.+?)(?: in)?$", re.IGNORECASE
)


_IN_A_UNIT = re.compile(  # values are given in the unit that the graph has
    r"(?: (?:in|measured in))? (?:degrees )?(?:celsius|celcius|centigrade|fahrenheit|kelvin)$"
    r"| (?:in|measured in) (?:minutes|hours|seconds|met(?:er|re)s|kilomet(?:er|re)s|km|miles|feet|foot"
    r"|square (?:kilomet(?:er|re)s|miles)|kilograms|kilos|kg|tons|tonnes|pounds|years|days|km/h|mph|m/s"
    r"|(?:km|kilomet(?:er|re)s|miles) (?:per|an) hour|g/cm(?:3|³)"
    r"|grams per cubic centimet(?:er|re))$",
    re.IGNORECASE,
)


_HOW_MANY_UNITS = re.compile(  # *how many metres tall*
    r"^how many (?:met(?:er|re)s|feet|km|kilomet(?:er|re)s|miles|centimet(?:er|re)s|cm|kilos|kilograms|kg|tons|tonnes"
    r"|years|minutes|hours) (?=(?:tall|high|long|deep|wide|heavy|old) )",
    re.IGNORECASE,
)
_GIVE_THE_MEASURE = re.compile(
    r"^(?:give|state|find|name|tell|show|say)(?: me| us)? (?=(?:the )?(?:\w+ ){1,3}of )", re.I
)
_NTH_PRESIDENT = re.compile(r"(\b[1-4]\d(?:st|nd|rd|th) president)$", re.IGNORECASE)  # of no other country that many
_ZERO = re.compile(r"(?<=\b(?:with|have) )zero\b|(?<=\bhas )zero\b", re.IGNORECASE)
_AFTER_ONE = re.compile(  # who is left out of the answer; see ``pipeline``
    r"^(?:besides|apart from|next to|not counting|leaving aside|ignoring) [^,]+, (?=(?:what|which|who)\b)",
    re.IGNORECASE,
)
_NO_APOSTROPHE = re.compile(r"\b(do|does|did|is|are|was|were|has|have|had|ca)nt\b", re.IGNORECASE)


_LEFT_OUT = re.compile(
    r",? (?:(?:not|without) (?:counting|including)|excluding|ignoring|leaving out"
    r"|without (?:its|the|any|his|her|their))"
    r" [\w' -]+$",
    re.IGNORECASE,
)


def plan_of(text: str) -> Plan:
    """Take a question apart; see ``Plan``."""
    reason = beyond_graphs(text)
    if reason:
        return Plan(Form.UNANSWERABLE, reason=reason)
    question = re.sub(r"[’`´]", "'", plain_question(text))
    question = re.sub(r"\b(second|third|fourth|fifth)-(?=\w+est\b)", r"\1 ", question, flags=re.IGNORECASE)
    question = re.sub(r"\s+[–—-]+\s+", ", ", question)
    question = _NO_APOSTROPHE.sub(r"\1n't", question)
    question = re.sub(r"\b(what|who|which|where|when|how)'?s\b", r"\1 is", question, flags=re.IGNORECASE)
    question = _AFTER_ONE.sub("", _ZERO.sub("no", question))
    century = _WHAT_CENTURY.match(question)
    question = f"when {century['asked']}" if century else question
    question = _NTH_PRESIDENT.sub(r"\1 of the United States", in_other_words(question))
    unit, question = unit_asked(question)
    initial, asked = initial_of(_IN_A_UNIT.sub("", question))
    question = _HOW_MANY_UNITS.sub("how ", _WHAT_YEAR.sub("when ", asked))
    bare = _GIVE_THE_MEASURE.sub("", question)
    question = bare if value(bare) is not None else question
    plan = _read(question, text)
    left_out = _LEFT_OUT.search(question)
    if left_out and plan.form in (Form.VALUE, Form.SPAN, Form.SUPERLATIVE) and not plan.without:
        said = left_out[0].strip(" ,")
        reason = f"The graph states such values whole, so I cannot answer for “{said}”. Ask without it."
        return Plan(Form.UNANSWERABLE, reason=reason, asked=asked)
    if initial and plan.form is not Form.COUNT:
        every = _all_called(question)
        plan, initial = (every, initial) if every.noun else (plan, "")  # of no kind: a description that hints at a name
    unit = unit if plan.form is Form.VALUE else plan.unit
    return replace(plan, asked=asked, initial=initial, century=century is not None, unit=unit)


def _read(question: str, text: str) -> Plan:
    """The plan of a question in plain words; ``text`` is how it was typed."""
    turned, claimed = turned_round(question)
    plan = _read_as_it_stands(question, text)
    if not turned:
        return plan
    plan = plan if plan.form is Form.YES_NO else Plan(Form.YES_NO, base=question)
    return replace(plan, turned=turned, claimed=claimed)


def _read_as_it_stands(question: str, text: str) -> Plan:
    for reader in (
        _of_moments,
        in_the_time_of,
        counterpart,
        last_time,
        nested,
        _span,
        value,
        _bounded,
        _count,
        comparison,
        greatest_number,
        superlative,
        ordinal,
        _yes_no,
        _all_of,
        _all_but,
    ):
        plan = reader(question)
        if plan is not None:
            return _of_described(plan, question)
    bound, without = bound_of(question)
    made = _MADE_BY.match(without) if bound else None
    without = f"which {made['works']} did {made['by']} {_MADE[made['works'].lower()]}" if made else without
    changed = without.rstrip("?!. ") != text.strip().rstrip("?!. ")
    hops = 3 if _BEHIND_A_PLACE.search(question) else 0
    return Plan(base=without if changed else "", noun=_head_noun(question), bound=bound, hops=hops)


_MADE = {
    **dict.fromkeys("novels books plays poems stories".split(), "write"),
    **dict.fromkeys("operas symphonies ballets concertos".split(), "compose"),
    "films": "direct", "movies": "direct", "paintings": "paint", "albums": "record", "songs": "record",
}  # fmt: skip
_MADE_BY = re.compile(rf"^(?:which|what) (?P<works>{'|'.join(_MADE)}) by (?P<by>.+)$", re.IGNORECASE)
# *the currency of the country that* somebody *is from*: three relations, or four by way of a birthplace
_BEHIND_A_PLACE = re.compile(
    r"\bof the (?:countr(?:y|ies)|city|state|continent|region|nation)s? (?:where|in which|that|which|whose|the)\b", re.I
)


_OF_A_SET = (Form.SUPERLATIVE, Form.ORDINAL, Form.COUNT, Form.ALL)


def _of_described(plan: Plan, question: str) -> Plan:
    """A plan for something that is described, not named: *the capital of Denmark* has to be found before its value."""
    if plan.inner or plan.words or plan.form not in (Form.VALUE, Form.SPAN, *_OF_A_SET):
        return plan
    steps = two_steps(question, clauses_only=plan.form in _OF_A_SET)
    if steps is None:
        return plan
    if plan.form is Form.VALUE and of_several(steps[0]):  # a path asks it of all of them
        return replace(plan, form=Form.ENTITY, things=(), attributes=())
    return replace(plan, inner=steps[0], outer=steps[1])


_INITIAL = re.compile(
    r",? (?:and )?(?:(?:that|which|whose names?|with (?:an? )?names?) )?(?:(?:do|does) )?(?:all )?(?:start"
    r"|begin)(?:s|ning"
    r"|ing)? (?:with|in) "
    r"(?:the |an? )?(?:letter |initial )?['\"“‘]?(?P<letter>[a-z])['\"”’]?"
    r"(?=$|,? (?:that|which|who|in|of|on|by|from|and)\b)(?: and)?",
    re.IGNORECASE,
)


_NAMED_SO = re.compile(  # *kings named Henry*
    r" (?:(?:were|was|are|is|have been|has been) )?(?:named|called) "
    r"(?P<word>(?!what\b|who\b|after\b|by\b|in\b|the\b)[A-Za-z][\w'-]+)"
    r"(?= (?:belong|rul|reign|were|was|are|have|had|has|from|of|in|that|who|before|after|did|to)|$)"
)


_OF_SO_MANY = re.compile(  # *which of the six counties*
    rf"^(which|what) of (?:the|these|those) (?:(?:{'|'.join(NUMBERS)}|\d+) )?(?=[a-z]+(?:s|men|people)\b)",
    re.IGNORECASE,
)


def initial_of(question: str) -> tuple[str, str]:
    """The letter that the names asked for begin with, and the question without that; empty where it says none."""
    whole = _OF_SO_MANY.sub(r"\1 ", question)
    named = _NAMED_SO.search(whole)
    if named and re.search(r"[a-z]s$|men$|people$|how many|^(?:which|what) [a-z]+s ", whole[: named.start()], re.I):
        return named["word"].capitalize(), whole[: named.start()] + whole[named.end() :]
    found = _INITIAL.search(whole)
    return (found["letter"].upper(), whole[: found.start()] + whole[found.end() :]) if found else ("", question)


_KIND_AND_PLACE = patterns_of(
    r"(?:(?:what|which|name|list|give|are there|is there)(?: me)?(?: {be})?(?: there)? )?(?:all |any |some |an? |the )*"
    r"(?:names? of (?:an? |the )?)?{noun}"
    r"(?P<where> (?:in|of|on|from|by) .+| (?:that|which|who) .+)?"
)
_KIND_OF_AN_OWNER = patterns_of(r"(?:(?:what|which|list|name)(?: of)? )?{x}(?:'s|(?<=s)') {noun}")


def _all_called(question: str) -> Plan:
    """The plan of a question for all things of a kind whose names begin with a letter."""
    owned = first_match(_KIND_OF_AN_OWNER, question)
    if owned:
        noun = plural_of(owned["noun"])
        return Plan(Form.ALL, base=f"which {noun} are by {owned['x']}", noun=noun)
    found = first_match(_KIND_AND_PLACE, question)
    noun, where = (plural_of(found["noun"]), without_world(found["where"] or "")) if found else ("", "")
    clause = re.match(r"(?:that|which|who) (?P<clause>.+)", where)
    base = f"which {noun} {clause['clause']}" if clause else f"which {noun} are {where}"
    return Plan(Form.ALL, base=base if where else "", noun=noun)


_AGES = patterns_of(
    r"how old {be} {x} when (?:{he}|(?P=x)) (?:died|was killed|was assassinated|passed away|was murdered|was shot"
    r"|was executed|was beheaded|drowned)",
    r"(?:at|in) (?:what|which) age did {x} (?:die|pass away)",
    r"how (?:old|long) (?:did|was) {x} (?:live|(?:at|on) (?:his|her|their|the) (?:time of (?:his|her|their) )?death)"
    r"(?: for)?",
    r"how many years did {x} live(?: for)?",
    r"what age was {x} when {he} died",
    r"how old did {x} (?:become|get)",
)
_LASTING = patterns_of(
    r"(?:for )?how (?:long|many years) (?:did|does) {x} (?:last|go on|continue|exist|take|stand)(?: for)?"
    r"(?P<where> in .+)?"
)


_REIGNING = patterns_of(
    r"how (?:long|many years) (?:did|was|were) {x} (?:reign|rule|govern|in (?:office|power)|on the throne|king|queen"
    r"|pope|president|prime minister|chancellor|emperor)(?: for)?",
)
_AGES_IN_OFFICE = patterns_of(
    r"(?:how old {be}|(?:at|in) (?:what|which) age (?:did|was)|what age {be}) {x}(?: when {he})? (?:became|become"
    r"|was (?:elected|crowned|appointed|sworn in|inaugurated)|elected|crowned|took office|take office"
    r"|c[ao]me to (?:the throne|power))(?: .+)?",
)
_AGES_ELSE = patterns_of(
    r"how old {be} {x} when (?P<y>.+)",
    r"(?:at|in) (?:what|which) age (?:did|was) {x} (?P<y>.+)",
)
_YEARS_BETWEEN = patterns_of(
    r"how (?:many (?:years|decades)|long) (?P<way>after|before) (?P<x>.+?),? (?:did|does) (?P<y>.+)",
    r"how (?:many (?:years|decades)|long) (?P<way>after|before) (?P<x>.+),? (?:was|were|is) (?P<y>.+)",
    r"how (?:many (?:years|decades)|long) (?:(?:was|is|were|are) (?:it|there) |(?:did )?(?:lie|lay|pass|passed|elapsed"
    r"|went by) |apart (?:were|are) )?(?P<way>between) (?P<x>.+?) and (?P<y>.+)",
)
_OLD_NOW = patterns_of(r"how old {be} {x}(?: now| today)?", r"what age {be} {x}", r"what {be} {x}'s age")


def _of_moments(question: str) -> Plan | None:
    """A question for the time between two events."""
    if found := first_match(_YEARS_BETWEEN, question):
        return Plan(Form.SPAN, things=(found["x"], found["y"]), words=(found["way"].lower(),))
    if any(first_match(patterns, question) for patterns in (_AGES, _AGES_IN_OFFICE)):
        return None
    found = first_match(_AGES_ELSE, question)
    then = re.sub(r"^(?!(?:he|she|they)\b)", "he ", found["y"]) if found else ""
    return Plan(Form.SPAN, things=(f"{found['x']} born", then), words=(AGE,)) if found else None


def _span(question: str) -> Plan | None:
    found = first_match(_REIGNING, question)
    if found:
        return Plan(Form.SPAN, things=(found["x"],), attributes=IN_OFFICE)
    found = first_match(_AGES, question)
    if found:
        return Plan(Form.SPAN, things=(found["x"],), attributes=LIFE)
    if found := first_match(_AGES_IN_OFFICE, question):
        return Plan(Form.SPAN, things=(found["x"],), attributes=("born", IN_OFFICE[0]))
    found = first_match(_OLD_NOW, question)
    if found:
        return Plan(Form.SPAN, things=(found["x"],), attributes=("born", TODAY))
    found = first_match(_LASTING, question)
    return Plan(Form.SPAN, things=(f"{found['x']}{found['where'] or ''}",), attributes=COURSE) if found else None


_TIMES = patterns_of(r"how many times (?:did|has|have) {x} (?P<verb>win|won|host|hosted) (?P<y>.+)")
_HOW_MANY = patterns_of(
    r"(?:in how many|how many|(?:(?:what {be} )?the )?(?:total )?number of|count(?: the)?)(?: different)? (?P<rest>.+)"
)
_THERE = patterns_of(r"{noun} {be} there(?P<where> .+)?", r"{noun} (?:exist|are known)(?P<where> .+)?")
_BEHIND_NOUN = re.compile(
    r"\s+(?:are|is|were|was|does|do|did|has|have|had|can|share|border|bordering|in|of|by|orbit|belong|make|speak|use"
    r"|play|the|an?|on|there|that|which|who|live|lie|flow|from|with|founded|wrote|invented|discovered|directed|won|made"
    r"|built|signed|joined|walked|played|ruled|reigned|died|survived|competed|took)\b",
    re.IGNORECASE,
)


def _count(question: str) -> Plan | None:
    found = first_match(_TIMES, question)
    if found:
        verb = "host" if found["verb"].lower().startswith("host") else "win"
        noun = plural_of(re.sub(r"^the ", "", found["y"], flags=re.IGNORECASE))
        return Plan(Form.COUNT, base=f"which {noun} did {found['x']} {verb}", noun=noun)
    found = first_match(_HOW_MANY, question)
    if not found:
        return None
    rest = found["rest"]
    there = first_match(_THERE, rest)
    if there:
        noun, where = there["noun"], without_world(there["where"] or "")
        series = WORKS.match(noun)
        if series and not where:
            return Plan(Form.COUNT, base=parts_of(series), noun=series["works"])
        return Plan(Form.COUNT, base=f"which {noun} are {where}" if where else "", noun=noun)
    cut = _BEHIND_NOUN.search(rest)
    bound, base = bound_of(f"which {without_world(rest)}")
    everywhere = re.fullmatch(r"which [\w ]+ (?:are|exist)", base)  # all the elements that there are
    return Plan(
        Form.COUNT, base=base if cut and not everywhere else "", noun=rest[: cut.start()] if cut else rest, bound=bound
    )


_ASKS_WHETHER = patterns_of(r"(?:is|are|was|were|did|does|do|has|have|had|can|could) (?P<rest>.+)")
_IS_A = patterns_of(
    r"{be} {x} (?:really |actually )?(?:a )?(?:kinds?|types?|sorts?) of (?:an? )?{noun}",
    r"{be} {x} (?:still )?(?:(?:classed|classified|considered|regarded|counted|known) (?:as )?)?one of the {noun}s",
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
    rf"(?:which|what|name(?: the| all| some| a few| an?)?|list(?: the| all| some)?) (?!(?:{_VERBS}|the)\b){{noun}}"
    r"(?: also| ever| still| both)? "
    rf"(?:{_VERBS}|comes?|came|lies?|lives?|belongs?|by|of|from|born|directed|written|painted|that|who|which|in|with|set|starring|won|got|earned|received|\w+ed|wrote|sang|led|fought|flew|became|makes?|forms?|made|built|holds?|held"
    r"|grows?|produces?|exports?|eats?|lays?|orbits?|speaks?|uses?|plays?|borders?|touch(?:es)?|shares?|cross(?:es)?"
    r"|surrounds?|contains?|faces?|flows?)\b.*",
    r"(?!who|what|which|where|when|how|name|list)(?:the )?{noun} "
    r"(?:in|by|directed by|written by|painted by|born in|from|with|starring|set in)\b.*",
)


_ALL_OF = patterns_of(
    r"(?:what|which|who) (?:are|were) (?:all )?(?:the )?(?:names of (?:all )?(?:the )?)?(?:\w+ )??{noun}"
    r"(?P<where> (?:of|in|on) .+)?",
    r"(?:name|list)(?: me)?(?: all| some| a few| any)?(?: of)?(?: the)?"
    rf"(?: (?:{'|'.join(NUMBERS)}))?(?: \w+)?? {{noun}}"
    r"(?P<where> (?:of|in|on) .+)?",
    r"all (?:of )?(?:the )?{noun}(?P<where> (?:of|in|on) .+)?",
)
# *which element has the atomic number 26*: a thing is asked for by its value
_WITH_VALUE = patterns_of(
    r"{what} {noun} (?:has|have|with) (?:an? |the )?{measure} (?:of )?(?P<number>\d[\d,]*)(?: \w+)?"
)


_KIND_BOUNDED = (
    r"(?:(?P<many>how many|number of)|(?:what|which|name|list)(?: are| is)?)?(?: me\b)?(?: all\b)?(?: the\b)? *{noun}"
    r"(?P<where> (?:in|of|on|from|by) .+?)?,? "
)
_LYING = (
    r"(?: (?:(?:that|which) )?(?:lie|lies|are|located|stand|found)(?= (?:in|on)\b))?(?P<where_behind> (?:in|of|on) .+)?"
)
_BOUNDED = patterns_of(  # *islands larger than 1,000 km²*, *countries with over 100 million people*
    rf"{_KIND_BOUNDED}(?:(?:that |which )?(?:is|are|was|were) )?{{er}} than {SAID_NUMBER}{_LYING}",
    rf"{_KIND_BOUNDED}(?:with|that have|which have|that has|have|has)"
    rf"(?: an?| the)? (?:{{measure}} (?:of )?)?{MORE} {SAID_NUMBER}{_LYING}",
)


_BOUNDED_AS = patterns_of(  # *planets that are over 100,000 km in diameter*, *birds that weigh more than 100 kg*
    rf"{_KIND_BOUNDED}(?:(?:that |which )?(?:is|are|was|were) )?{MORE} {SAID_NUMBER}"
    rf"(?: (?:in )?(?P<adjective>{'|'.join(HOW)})| in {{measure}})",
    rf"{_KIND_BOUNDED}(?:that |which )?(?:usually |can )?"
    rf"(?P<verb>weighs?|lasts?|runs?|swims?|fl(?:y|ies))(?: (?:for|at))?(?: a speed of)? {MORE} {SAID_NUMBER}",
)
_DONE_SO = {"weigh": ("weight", "mass"), "last": ("duration",)}  # what else is done at a speed
_COUNTED = patterns_of(  # *planets with more than 50 moons*, *films that have won at least ten Academy Awards*
    rf"{_KIND_BOUNDED}(?:that |which |who )?(?:with|having|has|have|had|won)(?: won)? {MORE} (?P<number>\d+) "
    rf"(?P<counted>[a-z][\w' -]+?){_LYING}",
)
_NUMBER_WORD = re.compile(
    rf"\b(?P<more>than|over|above|below|under|least|most|up to) (?P<word>one|{'|'.join(NUMBERS)})\b", re.IGNORECASE
)
_BOUNDED_BY = patterns_of(
    rf"{_KIND_BOUNDED}(?:(?:that |which )?(?:is|are|was|were) )?{{er}} than {{y}}"
    r"(?:,? (?:but|and) (?:that |which )?(?:lie|lies|are|is|located|flow|stand)(?P<where_behind> (?:in|on|of) .+))?"
)
_MORE_SAID = re.compile(r" (?:but|and) (?:\w+ )*(?:has|have|is|are|lie|lies|was|were|can|in|with|not)\b", re.IGNORECASE)


def _bounded(question: str) -> Plan | None:
    """A question for the things of a kind whose value is above or below a number, or that of another thing."""
    if first_match(_ASKS_WHETHER, question):
        return None
    question = _NUMBER_WORD.sub(lambda said: f"{said['more']} {_in_digits(said['word'])}", question)
    found = first_match(_BOUNDED_AS, question) or first_match(_BOUNDED, question)
    said = found.groupdict() if found else {}
    counts = said.get("more") and not (said.get("measure") or said.get("adjective") or said.get("verb"))
    if counts and (said["unit"] or "").lower() not in ("people", "inhabitants", "residents", "citizens"):
        found = None
    found = found or first_match(_COUNTED, question)
    if not found:
        return _bounded_by(question)
    said = found.groupdict()
    if not said.get("more"):
        attributes, greater = degree_of(found)
        sign = ">" if greater else "<"
    else:
        attributes, sign = _bounded_so(said), SIGNS.get(said["more"].lower(), ">")
    limit = number_said(said["number"], said.get("scale") or "")
    noun, where = plural_of(said["noun"].strip()), without_world(said["where"] or said.get("where_behind") or "")
    return Plan(
        Form.COUNT if said["many"] else Form.ALL,
        base=f"which {noun} are {where}" if where else "",
        noun=noun,
        attributes=attributes,
        bound=f"{sign} {round(limit, 6):.15g}",
        unit=(said.get("unit") or "").strip(),
    )


def _bounded_so(said: Mapping[str, str | None]) -> tuple[str, ...]:
    """What is bounded: a measure, what a verb or an adjective measures, or how many there are of something."""
    if counted := said.get("counted"):
        return (NUMBER, counted)
    if verb := said.get("verb"):
        return _DONE_SO.get(verb.lower().removesuffix("s"), ("speed",))
    adjective = said.get("adjective")
    return HOW[adjective.lower()] if adjective else measured_by(said.get("measure") or "population")


def _in_digits(word: str) -> str:
    return "1" if word.lower() == "one" else str(NUMBERS[word.lower()])


def _bounded_by(question: str) -> Plan | None:
    """*Which countries are bigger than Canada*."""
    found = first_match(_BOUNDED_BY, question)
    noun = found["noun"].strip() if found else ""
    if not found or plural_of(noun) != noun or _MORE_SAID.search(found["y"]):
        return None
    if noun.lower().startswith(("are ", "were ", "is ", "was ")):  # *are the Beatles* older asks yes or no
        return None
    attributes, greater = degree_of(found)
    where = without_world(found["where"] or found["where_behind"] or "")
    return Plan(
        Form.COUNT if found["many"] else Form.ALL,
        base=f"which {noun} are {where}" if where else "",
        noun=noun,
        things=(found["y"],),
        attributes=attributes,
        bound=">" if greater else "<",
    )


def _all_of(question: str) -> Plan | None:
    """All things of a kind that the world has; what lies in a place is left to the paths."""
    found = first_match(_WITH_VALUE, question)
    if found:
        value, attributes = found["number"].replace(",", ""), measured_by(found["measure"])
        return Plan(Form.ALL, noun=found["noun"], attributes=attributes, bound=f"= {value}")
    found = first_match(_ALL_OF, question)
    if not found or not found["noun"].endswith("s") or without_world(found["where"] or ""):
        return None
    return Plan(Form.ALL, base=question, noun=found["noun"].strip())


_WHERE_NOT = patterns_of(  # *countries where Spanish is not an official language*
    r"(?:(?:which|what|name|list|in which|in what) (?:all )?(?:the )?)?{noun}(?P<rest> (?:in|of|on) .+?)? "
    r"(?:where|in which) {x} (?:is|are|was|were)(?:n't| not) .+",
    r"in (?:which|what) {noun}(?P<rest> (?:in|of|on) .+?)? (?:is|are|was|were) {x} not .+",
)
_ALL_BUT = patterns_of(
    r"(?:(?:which|what|name|list) (?:all )?(?:the )?)?{noun}(?P<rest> (?:in|of|on|by|from|with) .+?)?"
    r"(?: that| which| who)?"
    r" (?:(?:do|does|did|are|is|was|were|have|has)(?:n't| not)(?: \w+)??|without|not|except(?: for)?) {x}"
)


def _all_but(question: str) -> Plan | None:
    found = first_match(_WHERE_NOT, question) or first_match(_ALL_BUT, question)
    if not found or not (found["rest"] or " " in found["noun"]) or plural_of(found["noun"]) != found["noun"]:
        return None
    noun, rest = found["noun"], found["rest"]
    base = f"which {plural_of(noun)} are{rest}" if rest else f"which {noun} are there"
    return Plan(base=base, noun=noun, without=found["x"])


_NOUN_ALONE = re.compile(  # *landlocked South American countries*: the noun with the word right before it
    rf"^(?!(?:{_VERBS}|what|which|who|where|when|how|name|list)\b)(?:[\w'-]+ ){{0,3}}?(?P<noun>[\w-]+ [a-z]+s)$"
)


def _head_noun(question: str) -> str:
    """The kind of thing that a plain question asks for, as it calls it; empty where it does not."""
    found = first_match(_HEAD, question) or _NOUN_ALONE.match(question)
    return found["noun"] if found and len(found["noun"].split()) <= 3 else ""


# the whole question ------------------------------------------------------------------------------

_WORD = re.compile(r"\w+")
_NEIGHBOURS = re.compile(r"\bneighbou?rs?\b", re.IGNORECASE)


def understand(text: str, topics: Sequence[str], kg: KnowledgeGraph) -> Query:
    """Work out what a question asks.

    Args:
        text: the question as it was typed.
        topics: the entities that it is about; those that the graph does not hold are kept.
        kg: knows the types that an answer may have and the topics' other names.
    """
    plan = plan_of(text)
    if plan.asked and plan.asked.rstrip("?!. ") != text.strip().rstrip("?!. "):
        text = plan.asked
    words, types = _content_words(text, topics, kg), types_of(topics, kg)
    asked = answer_type_of(text, kg.types)
    if types and types[0] and not asked.named and _NEIGHBOURS.search(text):  # those of a country are countries
        asked = AnswerType(frozenset(types[:1]), named=True)
    return Query(text, tuple(topics), types, plan, asked, words)


def _content_words(text: str, topics: Sequence[str], kg: KnowledgeGraph) -> tuple[str, ...]:
    """See ``Query``; all words where none is left, and the text itself where it has no words."""
    info = [kg.info.get(topic) for topic in topics]
    names = [*topics, *(alias for known in info if known for alias in known.aliases)]
    left_out = FUNCTION_WORDS | {word for name in names for word in _WORD.findall(name.lower())}
    words = list(dict.fromkeys(_WORD.findall(text.lower())))
    return tuple([word for word in words if word not in left_out] or words or [text])
