"""Questions that compare and order: which of two is higher, which is the longest of a kind, which came third.

Each reader takes a whole question in plain words, and gives its ``Plan``, or None where it is of another kind.
"""

from __future__ import annotations

import re
from dataclasses import replace

from kgdemo.query.measures import (
    COURSE,
    DATE,
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
from kgdemo.query.plan import Form, Plan

_WHICH_IS = r"{what}(?: \w+){0,2}? (?:is|are|was|were|has|lies|came|comes|lived|died|born)? *(?:the )?{erest}\b"
_ORBITS_LONGER = patterns_of(
    r"(?:(?:between|of|out of) )?(?:the )?(?P<x>.+?) (?:and|or) (?:the )?(?P<y>.+?) *[,:–-] *{what}(?: \w+)? "
    r"(?:takes|needs) (?P<degree>longer|less|more)(?: time)? to (?:orbit|go a?round|circle).*",
    r"{what}(?: \w+)? (?:takes|needs) (?P<degree>longer|less|more)(?: time)? to (?:orbit|go a?round|circle)[^,:]*"
    r"[,:] {pair}",
)
_LONGER_YEAR = patterns_of(
    r"{what}(?: \w+)? has (?:the |a )?(?P<degree>longer|longest|shorter|shortest) (?P<round>years?|days?)[,:]? +{pair}",
)
_ROUNDS = {"year": "orbital period", "day": "day length"}
_LIVES_LONGER = patterns_of(
    r"{what}(?: \w+){0,2}? (?:lives?|gets|grows) (?:the )?(?P<degree>longer|longest|older|oldest)[,:]? {pair}",
    r"(?:do|does) {x} (?:live|get) (?P<degree>longer|older) than (?P<y>.+?)(?: do| does)?",
)
_COMPARISONS = patterns_of(
    r"compare (?:the )?(?P<x>.+?) (?:and|with|to) (?:the )?(?P<y>.+?) and (?:tell|show|give) me (?:which(?: one)? is )?"
    r"(?:the )?{erest}(?: one)?",
    rf"{_WHICH_IS}[^,:]*?[,:] *{{pair}}",
    r"{what}(?: \w+){0,2}? (?:runs?|swims?|flies|moves?|goes|grows|lives?|lies) (?:the )?{erest}[,:]? *(?:an? )?"
    r"(?P<x>.+?) *,? +(?:or|and) +(?:an? )?(?P<y>.+)",
    r"{what}(?: \w+){0,2}? {be} (?:the )?{erest}(?: (?:of|between|out of))? (?!\w+ (?:in|of|on) the ){pair}",
    r"(?:between |out of |from |of )?(?:the )?(?P<x>.+?) (?:or|vs\.?|versus|and) (?:the )?(?P<y>.+?) *[,:?–-]+ "
    r"*{what}(?: \w+)? {be} (?:the )?{erest}(?: (?:in|by) \w+)?",
    r"{be} (?P<x>.+?) or (?P<y>.+?) (?:the )?{erest}(?: \w+| (?:to|from) the \w+)?(?: by \w+)?",
    r"(?:the )?(?P<x>[^,:]+), (?:the )?(?P<y>[^,:]+?) *[,:]+ *{what}(?: \w+){0,2}? {be} (?:the )?{erest}",
    r"{be} (?:the )?(?P<x>.+?) {erest},? or (?:is |was )?(?:the )?(?P<y>(?!\w+ than\b).+)",
    r"(?:the )?{erest}(?: \w+)? *[,:?–-] *{pair}",
)
_IS_MORE = patterns_of(
    r"{be} {x} {er} (?:in|by|in terms of) (?:total |land )?{measure} than (?P<y>.+)",
    r"{be} {x} {er} than (?P<y>.+?) (?:in|by|in terms of) (?:total |land )?{measure}",
    r"{be} {x} {er} than (?P<y>.+)",
)
_HAS_MORE = patterns_of(
    r"{what}(?: (?:\w+ )?\w+)? (?:(?:can |could )?(?:has|have|had|covers?|reach|reaches)) (?:the |a"
    r" )?{degree} {people}[,:]?"
    r" +{pair}",
    r"(?:the )?{degree} {people} *[,:?–-] *{pair}",
    r"(?:do |where do )?(?P<degree>more|fewer) (?P<measure>people|inhabitants) live in (?:the )?(?P<x>.+?) or "
    r"(?:in )?(?:the )?(?P<y>.+)",
    r"(?:the )?(?P<x>.+?) (?:or|vs\.?|versus) (?:the )?(?P<y>.+?) *[,:?–-]+ *(?:{what}(?: \w+)? (?:has|have|had) )?"
    r"(?:the )?{degree} {people}",
    r"(?:does|do|did) (?:the )?(?P<x>.+?) or (?:the )?(?P<y>.+?) have (?:a |the )?{degree} {people}",
    r"(?:does|do|did|has|have) {x} (?:have )?(?:a )?{degree} {people} than {y}(?: has| does| have)?",
)
_OFFICE_FIRST = patterns_of(  # who was president first
    rf"{{what}}(?: \w+)? (?:was|were|became|held office as) "
    rf"(?:(?:the )?(?:[\w.]+ ){{0,2}}?(?:{OFFICES})(?: of .+?)?|in office) "
    r"(?P<when>first|earlier|before|later|last)[,:]? +{pair}",
)
_PAIR_FIRST = patterns_of(  # of the two, which was finished first
    r"(?:between |out of |from |of )?(?:the )?(?P<x>.+?) (?:or|vs\.?|versus|and) (?:the )?(?P<y>.+?) *[,:?–-]+ *"
    r"(?P<head>{what}(?: \w+){0,2}? (?:was|were|is|are|came|did|died|lived|happened|began|started)"
    r" *(?:out|built|finished|completed|opened|published|released|founded|invented|born|died?|come)? *(?:out )?"
    r"(?:first|earlier|later|last))",
)
_WHEN_FIRST = patterns_of(
    r"(?P<head>{what}(?: \w+){0,2}? (?:was|were|is|came|died|lived|happened|began|started|ended|finished)"
    r" *(?:out|\w+(?:ed|en|ilt|ght|nt|wn|rn|de|ng))?"
    r" *(?:born|died?|first|earlier|later|last)?"
    r" *(?:first|earlier|later|last)?)[,:]? +(?:the )?(?P<x>.+?) *,? +or +(?P<y>.+)",
    r"(?P<head>{what}(?: \w+)? did .+? (?:publish|write|release|paint|compose|record|make|found|build|direct|invent)"
    r" (?:first|earlier|later|last))[,:]? +(?:the )?(?P<x>.+?) *,? +or +(?P<y>.+)",
)
_BEFORE = patterns_of(
    r"(?:was|were|did|is) {x} (?P<verb>founded|established|born|live|die|built|opened|released|published|written"
    r"|invented|discovered|happen|begin|start|come out|open|painted|composed|finished|completed|launched|signed)"
    r" (?:before|earlier than|(?P<after>after|later than)) {y}(?: was| were| did)?",
)
_ONE_EVENT = (
    "(?:born|die|founded|established|built|finished|completed|dedicated|unveiled|inaugurated|opened|released|published"
    "|written|invented|discovered|painted|composed|launched|signed|begin|start|end)"
)
_OTHER_EVENT = rf"(?P<other>{_ONE_EVENT}|died|began|started|ended|broke out|took place|happened)"
_TWO_EVENTS = patterns_of(  # *did Mozart die before Beethoven was born*: each with a date of its own
    rf"(?:was|were|did) {{x}} (?P<verb>{_ONE_EVENT}) (?:before|(?P<after>after)) {{y}} "
    rf"(?:(?:was|were|did) )?{_OTHER_EVENT}",
    r"(?:was|were) {x} (?:already |yet )?(?P<verb>born|founded|built|opened)(?: already| yet)? when {y} "
    rf"(?:(?:was|were) )?{_OTHER_EVENT}",
)
_ANY_EVENTS = patterns_of(  # *did the First World War break out before the Titanic sank*
    r"(?:was|were|did) {x} (?:before|(?P<after>after)) (?P<y>(?:the )?(?-i:[A-Z]).*? (?-i:[a-z]{3,})(?: [a-z]+)?)",
)
_WEIGHS_MORE = patterns_of(r"{what}(?: \w+)? weighs (?:the )?(?P<degree>more|less|most|least)[,:]? +{pair}")
_VERB_OF_DATE = (
    r"(?P<verb>founded|established|born|die|died|built|opened|released|published|written|invented|discovered|happen"
    r"|begin|start|end|finish|come out|made|painted|composed|recorded)"
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
    r"(?:the )?(?P<x>.+?) or (?:the )?(?P<y>.+?) *[,:–-] *{what} (?P<lasts>was in office|was president|was king"
    r"|was queen|was prime minister|reigned|ruled|lived|lasted) (?:for )?(?:the )?(?P<degree>longer|shorter|longest)",
    rf"{{what}} (?P<lasts>was|were) (?:the )?(?:[\w.]+ ){{0,2}}?(?:{OFFICES})(?: of .+?)? (?:for )?(?:the )?"
    r"(?P<degree>longer|shorter|longest)[,:]? +{pair}",
    rf"(?:did|does) (?:the )?(?P<x>.+?) or (?:the )?(?P<y>.+?) {_LASTS} (?:the |for )?(?P<degree>longer|shorter)",
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
    r"(?:the )?(?P<x>.+?) (?:or|vs\.?|versus) (?:the )?(?P<y>.+?),? *[:?–-]* *{what}(?: \w+)? (?:has |have |had )?"
    r"(?P<verb>won|hosted|written|wrote|directed|made|painted|composed) (?:the )?(?P<degree>more|fewer|most) "
    r"(?P<noun>[\w '-]+?s)",
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
    r"(?:between|of|out of) (?:the )?(?P<x>.+?) (?:and|or) (?:the )?(?P<y>.+?),? {what}(?: \w+)? "
    r"(?:has |have |had )?(?P<verb>won|hosted|written|wrote|directed|made|has|have) (?:the )?"
    r"(?P<degree>more|fewer|most) (?P<noun>[\w '-]+?s)",
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
    r"(?:do|does|is|are|lies) {x} or {y} (?:lie |lies |located )?(?:further|farther|more to the|closer to the) "
    r"(?P<way>north|south|east|west)(?:ern)?",
    r"{what}(?: \w+)? (?:is|lies|are|lie) (?:further|farther) (?P<way>north|south|east|west)[,:]? {pair}",
)


def comparison(question: str) -> Plan | None:
    found = first_match(_LIES_FURTHER, question)
    if found:
        attribute = "latitude" if found["way"].lower() in ("north", "south") else "longitude"
        greatest = found["way"].lower() in ("north", "east")
        return Plan(Form.COMPARISON, things=(found["x"], found["y"]), attributes=(attribute,), greatest=greatest)
    found = first_match(_ORBITS_LONGER, question)
    if found:
        things, longer = (found["x"], found["y"]), found["degree"].lower() != "less"
        return Plan(Form.COMPARISON, things=things, attributes=("orbital period",), greatest=longer)
    found = first_match(_LONGER_YEAR, question)
    if found:
        things, longer = (found["x"], found["y"]), found["degree"].lower().startswith("long")
        attribute = _ROUNDS[found["round"].lower().rstrip("s")]
        return Plan(Form.COMPARISON, things=things, attributes=(attribute,), greatest=longer)
    found = first_match(_LIVES_LONGER, question)
    if found:
        form = Form.YES_NO if re.match(r"(?:do|does)\b", question, re.IGNORECASE) else Form.COMPARISON
        return Plan(form, things=(found["x"], found["y"]), attributes=("lifespan",))
    found = first_match(_LIVED_LONGER, question)
    if found:
        greatest = found["degree"].lower() not in ("shorter", "younger")
        asks_whether = re.match(r"(?:did|has|have)\b", question, re.IGNORECASE) and " or " not in question
        form = Form.YES_NO if asks_whether else Form.COMPARISON
        return Plan(form, things=(found["x"], found["y"]), span=_span_of(found["lasts"]), greatest=greatest)
    found = first_match(_HAS_MORE, question)
    if found:
        either = re.search(r"\bor\b", question, re.IGNORECASE)  # which of two, however it is asked
        asks_whether = re.match(r"(?:do|does|did|has|have)\b", question, re.IGNORECASE) and not either
        form = Form.YES_NO if asks_whether else Form.COMPARISON
        greatest = found["degree"].lower() not in LESSER
        things = (found["x"], found["y"])
        return Plan(form, things=things, attributes=measured_by(found["measure"]), greatest=greatest)
    found = first_match(_WEIGHS_MORE, question)
    if found:
        things, greatest = (found["x"], found["y"]), found["degree"].lower() not in LESSER
        return Plan(Form.COMPARISON, things=things, attributes=("weight", "mass"), greatest=greatest)
    found = first_match(_DONE_MORE, question)
    if found:
        verb = found["verb"].lower() or "have"
        noun = plural_of(found["noun"].split("/")[-1].strip())
        often = re.search(r"\b(?:times|often)\b", question, re.IGNORECASE)
        noun = f"{noun.removesuffix('s')} titles" if often and verb == "won" else noun
        base = f"which {noun} did {{}} {_PRESENT.get(verb, verb)}"
        things, greatest = (found["x"], found["y"]), found["degree"].lower() not in LESSER
        return Plan(Form.COMPARISON, base, noun, things, (NUMBER,), greatest)
    found = first_match(_EITHER_DEGREE, question)
    if found:
        attributes, greatest = degree_of(found)
        things, words = (found["x"], found["y"]), (found["adjective"] or found["stem"], found["other"])
        return Plan(Form.COMPARISON, things=things, attributes=attributes, greatest=greatest, words=words)
    for patterns, form in ((_COMPARISONS, Form.COMPARISON), (_IS_MORE, Form.YES_NO)):
        found = first_match(patterns, question)
        if found:
            attributes, greatest = degree_of(found)
            if attributes == ("distance from the Sun",) and not re.search(r"\bsun\b", question, re.IGNORECASE):
                attributes = ("distance",)
            measure = found.groupdict().get("measure")
            attributes = measured_by(measure) if measure else attributes
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
    found = first_match(_TWO_EVENTS, question)
    if found:
        things = (f"{found['x']} {found['verb']}", f"{found['y']} {found['other']}")
        return Plan(Form.YES_NO, things=things, words=("after" if found.groupdict().get("after") else "before",))
    found = first_match(_BEFORE, question)
    if found:
        attribute = _DATE_OF_VERB.get(found["verb"].lower(), DATE)
        things = (found["x"], found["y"])
        return Plan(Form.YES_NO, things=things, attributes=(attribute,), greatest=bool(found["after"]))
    found = first_match(_ANY_EVENTS, question)
    if found:
        word = "after" if found["after"] else "before"
        return Plan(Form.YES_NO, things=(found["x"], found["y"]), words=(word,))
    found = first_match(_OFFICE_FIRST, question)
    if found:
        things, greatest = (found["x"], found["y"]), found["when"].lower() in ("later", "last")
        return Plan(Form.COMPARISON, things=things, attributes=IN_OFFICE[:1], greatest=greatest)
    found = first_match(_WHEN_FIRST, question) or first_match(_PAIR_FIRST, question)
    if not found:
        return None
    head = found["head"].lower()
    if not re.search(r"\b(?:first|earlier|later|last)\b", head):
        return None
    verb = next((verb for verb in _DATE_OF_VERB if re.search(rf"\b{verb}\b", head)), "")
    attribute = _DATE_OF_VERB.get(verb, DATE)
    greatest = bool(re.search(r"\b(?:later|last)\b", head))
    return Plan(Form.COMPARISON, things=(found["x"], found["y"]), attributes=(attribute,), greatest=greatest)


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
    r"(?:{what} {be} )?the (?P<noun>\w+(?: \w+)?) with the (?P<degree>most|fewest) "
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
    r"{what} (?:of )?(?P<whose>.+'s?) {noun} (?:has |have )?(?:made|grossed|earned|took)"
    r"(?: in)? the (?P<degree>most|least)(?: money)?(?: (?:at the box office|worldwide|ever))*",
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
