"""Questions whose question word stands last, or is left out, in the usual order: *Dune was written by whom?*."""

from __future__ import annotations

import re

from kgdemo.query.answer_type import singulars
from kgdemo.query.measures import first_match, patterns_of
from kgdemo.query.rewordings import PRESENT

_BEGINS_ASKING = re.compile(
    r"^(?:what|which|who|whose|whom|where|when|how|is|are|was|were|do|does|did|has|have|had|can|could|name|list|in what"
    r"|in which|of which|by whom)\b",
    re.IGNORECASE,
)
_ASKS_AT_ALL = re.compile(r"\b(?:what|which|who|whose|whom|where|when|how)\b", re.IGNORECASE)
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
    (
        r"(?P<x>.+?) (?P<be>is|was|were|are) (?:first )?(?P<verb>\w+(?:ed|en|ilt|orn|un)) (?P<what>when|where)",
        "{what} {be} {x} {verb}",
    ),
    (r"(?P<x>the .+?) (?:has|had) (?P<what>what|which) (?:title|name)", r"{what} is {x}"),
    (r"(?P<x>.+?) (?:has|have) how many (?P<noun>\w+(?: \w+)?)", r"how many {noun} does {x} have"),
    (r"(?P<x>.+?) had how many (?P<noun>\w+(?: \w+)?)", r"how many {noun} did {x} have"),
    (r"(?P<x>the (?:\w+ ){1,3}of .+|.+'s \w+(?: \w+)?) (?P<be>is|are|was|were)", r"what {be} {x}"),
)
_ASKS_LAST_PATTERNS = [(re.compile(f"^{pattern}$", re.IGNORECASE), order) for pattern, order in _ASKS_LAST]
_VERB_FORMS = {  # the past of verbs that dates are asked with, and how they stand behind *did*
    "fell": "fall", "sank": "sink", "sunk": "sink", "died": "die", "began": "begin", "started": "start", "ended": "end",
    "opened": "open", "broke out": "break out", "came out": "come out", "happened": "happen", "erupted": "erupt",
    "exploded": "explode", "crashed": "crash", "collapsed": "collapse",
}  # fmt: skip
_IN_WHAT_YEAR = re.compile(
    rf"^(?P<x>.+?) (?P<verb>{'|'.join(_VERB_FORMS)}) (?:(?:in|on) (?:what|which) (?:year|day|date)|when)$",
    re.IGNORECASE,
)
_NO_HELPING = r"(?!(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b)"
_INDIRECT = re.compile(  # as behind *do you know*: *where Mozart was born*
    r"^(?P<asked>where|when|(?:in|on) (?:what|which) \w+|how (?:old|tall|long|high|deep|big|large|heavy|far(?: away)?"
    r")) "
    rf"{_NO_HELPING}(?P<x>.+?) (?P<be>is|was|are|were)(?P<rest> \w+| from .+)?$",
    re.IGNORECASE,
)
_THE_YEAR = re.compile(  # *the year penicillin was discovered*
    r"^(?:the )?(?:exact )?(?:date|day|year) (?:(?:that|when|on which|in which) )?"
    r"(?=(?!of\b|in\b).+ (?:was|were) \w+(?:ed|en|t|rn|d)$)",
    re.IGNORECASE,
)
_AFTER_ONE = re.compile(
    r"^(?:after|besides|apart from|next to|behind|not counting|leaving aside|ignoring) [^,]+, (?=(?:what|which|who)\b)",
    re.IGNORECASE,
)
_AFTER_THE_FIRST = re.compile(  # *the second largest planet after Jupiter*
    r"(?P<head>\b(?:second|third|fourth|fifth|next)[ -]\w+est .+?),? (?:after|behind) (?:the )?[^,]+$", re.IGNORECASE
)
_THE_ONE_WHO = re.compile(
    r", the (?:one|man|woman|person) (?:(?:who|that|which) (?:also )?|(?=the |people |we |they ))[^,]+$", re.IGNORECASE
)
_WHAT_IT_WAS = re.compile(  # as behind *tell me*: *what the first labour was*
    r"^(?P<what>what|who|which \w+) (?P<x>(?:the|an?) .+?) (?P<be>is|was|are|were)$",
    re.I,
)
_SINCE_WHEN = re.compile(
    rf"^(?:when|(?:in )?(?:what|which) year) {_NO_HELPING}(?P<x>.+) (?P<verb>{'|'.join(_VERB_FORMS)})$", re.IGNORECASE
)
_WHEN_IT_WAS = re.compile(
    rf"^when {_NO_HELPING}(?P<x>.+?) (?P<be>was|were) (?P<done>\w+(?:ed|en|lt|rn|nd|ld|de))$", re.I
)
_WHEN_IT_DID = re.compile(
    rf"^when {_NO_HELPING}(?P<x>.+?) (?P<verb>{'|'.join(_VERB_FORMS)}) (?P<rest>(?!by\b|in\b|from\b).+)$", re.IGNORECASE
)
_THE_DATE = re.compile(  # *the date the Berlin Wall fell*
    rf"^(?:the )?(?:exact )?(?:date|day|year) (?:(?:that|when|on which|in which) )?(?=.+ (?:{'|'.join(_VERB_FORMS)})$)",
    re.I,
)
_DID_PAST = re.compile(
    rf"^(?P<when>when|in (?:what|which) year) did (?P<x>.+) (?P<verb>{'|'.join(_VERB_FORMS)})$", re.I
)
# *a country shares a border with how many others*; of other verbs the helping one stands before the number
_HOW_MANY_LAST = re.compile(
    r"^(?P<x>(?!in\b|of\b).+?) (?P<verb>shares?|borders?|won|wins?|wrote|directed|painted|composed|made|recorded"
    r"|hosted|plays?|contains?|includes?)(?P<rest>\b.*?) how many (?P<noun>\w+(?: \w+)?)$",
    re.IGNORECASE,
)
_IN_ORDER = r"(?:first|second|third|fourth|fifth|sixth|seventh|last|latest|\d+(?:st|nd|rd|th)|\w+est)"
_CALLED = re.compile(  # *the first album is called what*, *what is the first album called*
    rf"^(?:(?P<last>.*\b{_IN_ORDER} .+?),? (?:(?:is|was|are|were) )?(?:called|named|titled) what"
    r"|(?P<called>the .+?) (?:is|was|are|were) (?:called|named|known as) what"
    rf"|(?P<first>(?:what|which|who) (?:is|was|are|were) .*\b{_IN_ORDER} .+?) (?:called|named|titled|located))$",
    re.IGNORECASE,
)
_TO_BE_MADE = re.compile(  # the third book of a series *to be published*
    rf"\b(?P<head>{_IN_ORDER} .+?) (?:to be|that was|that were|ever) (?:published|released|made|written|filmed)$",
    re.IGNORECASE,
)
_IS_IT_SO = re.compile(  # a statement with *right?* behind it asks whether it is so
    r"^(?P<x>.+?) (?P<be>is|are|was|were|has|have|can) (?P<rest>.+?)(?:,? (?:right|correct|true|yes|no)"
    r"|, (?:is|are|was|were|has|have|can)n't (?:it|he|she|they|there))$",
    re.IGNORECASE,
)


_BEST_OF = re.compile(r"\bthe (?P<est>\w+est) of (?P<x>[\w. -]+?)'s (?P<noun>\w+)\b", re.IGNORECASE)


_IS_NTH = patterns_of(
    r"(?:which|what) {noun} (?:{be}|comes?|came|stands) (?:the )?{nth}(?: one)?(?P<rest>(?: (?:from|in|of|to)\b.*)?)"
)


_MEASURES = {"height": "highest", "size": "largest", "area": "largest", "length": "longest", "depth": "deepest"}
_MEASURES |= {"population": "most populous", "weight": "heaviest", "speed": "fastest", "age": "oldest"}
_NEXT = r"(?P<nth>second|third|fourth|next|number (?:two|three|four)|runner[- ]up)(?: (?:place|one))?"
_NTH = {"next": "second", "number two": "second", "number three": "third", "number four": "fourth"}
_AFTER_STATED_FIRST = re.compile(  # *Jupiter is the largest planet. Which is second?*
    r"^(?:if |as |since |because )?(?P<x>[^,.;:]+?)(?:['’]s| is| was| are| were) the (?P<est>most \w+|\w+est|first)"
    r"(?P<rest> [^,.;:?]+)[,.;:–-]+ *(?:and |so |then |but )?(?P<what>who|which|what)(?: (?P<noun>(?!one\b)\w+))?"
    rf"(?: ones?)?(?:['’]s| is| was| comes?| came| stands?| ranks?| goes)(?: in)? (?:the )?{_NEXT}\b[^?]*[?.!]*$",
    re.IGNORECASE,
)
_NEXT_AFTER = re.compile(  # *after the ostrich, what's the next tallest bird*
    r"^after [^,]+, (?:what|which)(?:['’]?s| is| was) the (?:next|second) "
    r"(?P<est>most \w+|\w+est) (?P<rest>[^?]+?)[?.!]*$",
    re.IGNORECASE,
)
_CALLED_IN_THE_END = re.compile(  # *the capital of Mongolia, what's it called?*
    r"^(?P<x>(?:the|that|this) [^,?]+?), (?:(?:what|how)(?:['’]?s| is| was| do you| do they)? "
    r"(?:it|he|she|they|that|this)? ?(?:called|named|call it)|(?:its|his|her|the) name)[?.!]*$",
    re.IGNORECASE,
)
_AFTER_DONE_FIRST = re.compile(  # *Armstrong walked on the Moon first, who was second?*
    r"^(?:if |as |since )?[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*)* (?P<did>[a-z]\w+ [^,.;:?]+?) first[,.;:–-]+ *"
    r"(?:and |so |then )?"
    rf"(?P<what>who|which (?P<noun>\w+)) (?:is|was|comes?|came|did it|went) (?:the )?{_NEXT}\b[^?]*[?.!]*$"
)
_WAS_DEBUT = re.compile(  # *Pablo Honey was Radiohead's debut. What was their second album?*
    r"^[A-Z][^,.;:?]*? (?:is|was) (?P<whose>[A-Z][^,.;:?]*?['’]s) (?:debut|first)\b[^,.;:?]*[,.;:–-]+ *"
    r"(?P<asks>(?i:what|which|who)) (?:is|was) (?:his|her|their|its|the) "
    r"(?P<nth>second|third|fourth|next) (?P<noun>\w+)[?.!]*$"
)
_HAD_FIRST = re.compile(  # *Athens had the first modern Olympics. What city got the second?*
    r"^(?:if |as |since )?[A-Z][\w'’. -]*? (?P<did>had|hosted|held|got|won|staged|ran) the (?:very )?first "
    rf"(?P<what>[^,.;:?]+)[,.;:–-]+ *(?:and |so |then |but )?(?P<who>who|(?:which|what) \w+) "
    rf"(?:had|hosted|held|got|won|staged|ran|did) (?:the )?{_NEXT}\b[^?]*[?.!]*$",
    re.IGNORECASE,
)
_DONE_AGAIN = re.compile(  # *Uruguay won the World Cup first. Which country was the second to win it?*
    r"^(?:if |as |since )?[A-Z][\w'’. -]*? [a-z]+ (?P<what>[^,.;:?]+?) first[,.;:–-]+ *(?:and |so |then |but )?"
    r"(?P<asks>(?:who|which \w+) was (?:the )?(?:second|third|next) (?:one )?to \w+) it[?.!]*$",
    re.IGNORECASE,
)
_NTH_BY = re.compile(  # *which mountain comes second for height*
    rf"^(?:after [^,]+, )?(?:which|what) (?P<noun>\w+) (?:is|comes|ranks|stands) (?:the )?{_NEXT} "
    rf"(?:for|in|by|in terms of) (?P<by>{'|'.join(_MEASURES)})(?P<rest>[^?]*)[?.!]*$",
    re.IGNORECASE,
)
_MANY = r"(?:two|three|four|five|six|seven|eight|nine|ten|twelve)"
_WHAT_IS_MORE = re.compile(  # *whats bigger canada or china*
    r"^what(?:['’]?s| is| was) (?P<more>(?:more|less) \w+|\w+er),? (?P<x>[^,?]+?) or (?P<y>[^,?]+?)[?.!]*$",
    re.IGNORECASE,
)
_BEEN_LONGER = re.compile(  # *which drink has been around longer, Pepsi or Coca-Cola*
    r"^(?P<what>what|who|which(?: \w+)?)(?:['’]s| has) been around (?:longer|for longer),? (?P<rest>[^?]+ or [^?]+)",
    re.IGNORECASE,
)
_BEGAN_FIRST = re.compile(  # *what kicked off first, the American Revolution or the French one*
    r"^(?P<what>what|which(?: \w+)?) (?:kicked off|got going|got started|started|broke out|began) "
    r"(?:first|earlier)[,:]? (?P<rest>[^?]+ or [^?]+)",
    re.IGNORECASE,
)
_ONE_BEHIND = re.compile(r"\bthe (?P<x>[\w-]+) (?P<noun>[\w-]+) or the (?P<y>[\w-]+) one\b", re.IGNORECASE)
_IS_MORE = re.compile(
    r"^(?P<what>(?:which|what)(?: (?!is\b|was\b)\w+){1,2})['’]s (?=(?:more|less|\w+er)\b)", re.IGNORECASE
)
_SUPPOSED = re.compile(r"^(?P<be>is|are|was|were) (?P<x>.+?) (?:supposed|meant|said) to be (?=\w)", re.IGNORECASE)
_ALL_OF = re.compile(rf"^all (?P<many>{_MANY}|\d\d?) of (?P<x>[A-Z][^,?]+?)(?: by name)?[?.!]*$", re.IGNORECASE)
_ALL_NAMES = re.compile(rf"^(?:all )?(?:the )?(?P<all>(?:{_MANY}|\d\d?) [^,?]+?s)['’]? names[?.!]*$", re.IGNORECASE)
_BETWEEN_FIRST = re.compile(  # *between Venus and Mars, which is nearer the Sun?*
    r"^(?:between|out of|of) (?P<x>[^,?]+?) (?:and|or) (?P<y>[^,?]+?),? "
    r"(?P<what>(?:which|who)\b(?: one)?[^?,]*)[?.!]*$",
    re.IGNORECASE,
)
_MADE_WITH = re.compile(  # *who co-founded Microsoft together with Bill Gates?*
    r"^who (?:else )?(?:co-?)?(?P<did>founded|wrote|created|invented|discovered|directed|developed|started) "
    r"(?P<x>[^?,]+?) (?:(?:together|along|jointly) )?with (?P<y>[A-Z][^?,]*)[?.!]*$",
    re.IGNORECASE,
)
_OF_ALL_THE = re.compile(r" of (?:all )?the (?P<noun>\w+s)$")
_CLAIMS = re.compile(  # *The Mona Lisa is in the Louvre?*
    r"^(?!(?:is|are|was|were|has|have|had|can|could|do|does|did)\b)"
    r"[^,;:?]+? (?:is|are|was|were|has|have|can) [^,;:?]+\?$",
    re.IGNORECASE,
)
_NAMED_LAST = re.compile(  # *Haile Gebrselassie ran for which country?*
    r"^(?P<x>(?!(?:in|on|at|by|to|of|from|for)\b)[^,.;:?]+?) "
    r"(?P<verb>(?!(?:is|are|was|were|has|have|had|and|or|in|of)\b)[a-z]+)"
    r"(?P<by> (?:for|from|in|on|at|to|with|of|by|against|into))? (?:which|what) (?P<noun>[a-z]+(?: [a-z]+)?)[?.!]*$",
)
_MADE_LAST = re.compile(  # *M-Pesa was launched in Kenya in which year?*
    r"^(?P<x>[^,.;:?]+?) (?P<be>is|are|was|were) (?P<made>[a-z]+(?: [\w'’-]+){0,5}) (?P<by>in|on|at|by|from|to|for|of) "
    r"(?:which|what) (?P<noun>[a-z]+(?: [a-z]+)?)[?.!]*$",
)


_NAMES_OF = re.compile(  # *titles of the three Lord of the Rings volumes*
    rf"^(?:(?:give me|list|what are) )?(?:the )?(?:(?:full|first|last|real) )?(?:names|titles) of (?:all )?"
    rf"(?P<all>(?:the |these |those )?{_MANY} [^?]+?|the [^?]+?s)[?.!]*$",
    re.IGNORECASE,
)
_NAMES_BEHIND = re.compile(  # *founders of Google, names*
    r"^(?:the )?(?P<all>[^,?]+s\b[^,?]*), "
    r"(?:(?:all )?(?:their |the )?names?|titles|list(?: them)?|all of them|name them)[?.!]*$",
    re.IGNORECASE,
)
_SO_MANY = re.compile(  # *the three main Axis powers in World War II*
    rf"^(?:the|all) (?P<many>{_MANY}) (?:(?:main|major|original|famous|different) )?"
    r"(?P<all>(?!.*\b(?:is|are|was|were|who|which|that|did|does|has|have)\b)[^,?]*s\b[^,?]*)[?.!]*$",
    re.IGNORECASE,
)
_STANDS_THERE = re.compile(
    r"^(?P<many>how many [\w-]+) (?:stand|sit|lie|hang|exist|can be found|are found) (?P<where>around|at|in|on|near) ",
    re.I,
)


def in_usual_order(question: str) -> str:
    """A question that states something before it asks for what is left open, as one that asks at once.

    Args:
        question: without talk around it, *If the tiger is the biggest of the cats, who comes second?*.
    """
    question = _STANDS_THERE.sub(r"\g<many> are there \g<where> ", question)
    question = _ONE_BEHIND.sub(r"the \g<x> \g<noun> or the \g<y> \g<noun>", question)
    question = _SUPPOSED.sub(r"\g<be> \g<x> ", _IS_MORE.sub(r"\g<what> is ", question))
    for in_order in (_behind_the_first, _listed, _of_two_or_others, _named_last):
        if asked := in_order(question):
            return asked
    if _BEGINS_ASKING.match(question) or _ASKS_AT_ALL.search(question):
        return question
    question = re.sub(r"^that (?=[A-Z].*\?$)", "", question)
    return f"{question.rstrip('?')}, right?" if _CLAIMS.match(question) else question


def _behind_the_first(question: str) -> str:
    """What is second where the first is told, *Jupiter is the largest planet. Which is second?*; empty if it is not."""
    if following := _NEXT_AFTER.match(question):
        return f"what is the second {following['est']} {following['rest']}?"
    if nth := _AFTER_STATED_FIRST.match(question):
        rest = _OF_ALL_THE.sub(lambda of: f" {(*singulars(of['noun']), of['noun'])[1]}", nth["rest"])
        if nth["est"].lower() == "first":
            return f"{nth['what']}{' ' + nth['noun'] if nth['noun'] else ''} was the {_nth(nth)}{rest}?"
        return f"what is the {_nth(nth)} {nth['est'].lower()}{rest}?"
    if debut := _WAS_DEBUT.match(question):
        return f"{debut['asks']} was {debut['whose']} {_nth(debut)} {debut['noun']}?"
    if had := _HAD_FIRST.match(question):
        did = "hosted" if had["did"].lower() in ("had", "held", "got", "staged") else had["did"]
        return f"{had['who']} {did} the {_nth(had)} {had['what']}?"
    if again := _DONE_AGAIN.match(question):
        return f"{again['asks']} {again['what']}?"
    if done := _AFTER_DONE_FIRST.match(question):
        return f"{done['what']} {done['did']} {_nth(done)}?"
    ranked = _NTH_BY.match(question)
    if not ranked:
        return ""
    return f"what is the {_nth(ranked)} {_MEASURES[ranked['by'].lower()]} {ranked['noun']}{ranked['rest']}?"


def _listed(question: str) -> str:
    """What is to be named, *titles of the three volumes*, *the capital of Mongolia, what's it called*; else empty."""
    if called := _CALLED_IN_THE_END.match(question):
        return f"what is {called['x']}?"
    if named := _NAMES_OF.match(question) or _NAMES_BEHIND.match(question) or _ALL_NAMES.match(question):
        return f"name {re.sub('^(?!the |these |those )', 'the ', named['all'])}"
    if some := _SO_MANY.match(question):
        return f"name the {some['many']} {some['all']}"
    whole = _ALL_OF.match(question)
    return f"who are the members of {whole['x']}?" if whole else ""


def _of_two_or_others(question: str) -> str:
    """Which of two is meant, *whats bigger canada or china*, or who besides somebody; empty where it is neither."""
    if older := _BEEN_LONGER.match(question):
        return f"{older['what'].lower().replace('what', 'which')} is older, {older['rest']}?"
    if began := _BEGAN_FIRST.match(question):
        return f"{began['what'].lower().replace('what', 'which')} began first, {began['rest']}?"
    if more := _WHAT_IS_MORE.match(question):
        return f"which is {more['more']}, {more['x']} or {more['y']}?"
    if two := _BETWEEN_FIRST.match(question):
        return f"{two['what']}, {two['x']} or {two['y']}?"
    others = _MADE_WITH.match(question)
    if not others:
        return ""
    did = "founded" if others["did"].lower() == "started" else others["did"]
    return f"besides {others['y']}, who {did} {others['x']}?"


def _named_last(question: str) -> str:
    """A statement whose last word is asked for, *M-Pesa was launched in Kenya in which year?*; else empty."""
    before = question.rpartition(" ")[0].rpartition(" ")[0]
    if _BEGINS_ASKING.match(question) or _ASKS_AT_ALL.search(before):
        return ""
    if made := _MADE_LAST.match(question):
        return f"{made['by']} which {made['noun']} {made['be']} {made['x']} {made['made']}?"
    last = _NAMED_LAST.match(question)
    if not last:
        return ""
    verb, by = last["verb"], last["by"] or ""
    if verb in PRESENT:
        return f"which {last['noun']} did {last['x']} {PRESENT[verb]}{by}?"
    if re.search(r"[^s]s$", verb):
        return f"which {last['noun']} does {last['x']} {verb[:-1]}{by}?"
    return f"which {last['noun']} {last['x']} {verb}{by}?"


def _nth(found: re.Match[str]) -> str:
    """Which of an order is asked for, when the first is told."""
    said = found["nth"].lower().replace("-", " ")
    return _NTH.get(said, "second" if said == "runner up" else said)


def asked_first(question: str) -> str:
    """A question whose question word stands at its end, or is left out there, in the usual order."""
    question = _BEST_OF.sub(
        lambda said: f"the {said['est']} {(*singulars(said['noun']), said['noun'])[1]} of {said['x']}", question
    )
    question = _AFTER_THE_FIRST.sub(r"\g<head>", _THE_ONE_WHO.sub("", question))
    question = _asked_whole(_plainly_asked(_topic_first(question)))
    question = _called_what(_TO_BE_MADE.sub(r"\g<head>", question))
    nth = first_match(_IS_NTH, question)
    if nth:
        return f"what is the {nth['nth']} {nth['noun']}{nth['rest']}"
    indirect = _INDIRECT.match(question)
    if indirect:
        question = f"{indirect['asked']} {indirect['be']} {indirect['x']}{indirect['rest'] or ''}"
    question = _WHAT_IT_WAS.sub(r"\g<what> \g<be> \g<x>", _AFTER_ONE.sub("", question))
    question = _THE_YEAR.sub("when ", _THE_DATE.sub("when ", question))
    question = _WHEN_IT_WAS.sub(r"when \g<be> \g<x> \g<done>", question)
    if told := _WHEN_IT_DID.match(question):
        return f"when did {told['x']} {_VERB_FORMS[told['verb'].lower()]} {told['rest']}"
    since = _SINCE_WHEN.match(question)
    if since:
        return f"when did {since['x']} {_VERB_FORMS[since['verb'].lower()]}"
    past = _DID_PAST.match(question)
    if past:
        return f"{past['when']} did {past['x']} {_VERB_FORMS[past['verb'].lower()]}"
    if _BEGINS_ASKING.match(question):
        return question
    return _stated_first(question) or _put_first(question)


_TOPIC_FIRST = re.compile(  # *feta: is it a Greek cheese*
    r"^(?P<x>(?!\b(?:what|which|who|where|when|how|is|are|was|were|do|does|did)\b)[^,:;]+?) *(?:[,:;]| [–-]) *"
    r"(?P<before>(?:in |on )?(?:what|which|who|where|when|how|is|are|was|were|do|does|did|has|have)\b(?: \w+){0,3}?) "
    r"(?P<it>he|she|it|they|his|her|its|their)\b(?P<rest>.*)$",
    re.IGNORECASE,
)
_ASKS_BEHIND = re.compile(  # *letters of the Greek alphabet: how many*, *Pink Floyd's first album: title*
    r"^(?P<x>(?![^,:;]* (?:who|that|which) )[^,:;]+?) *(?:[,:;]| [–-]) *(?:(?P<many>how many(?: are there)?)|(?:the )?"
    r"(?:title|name|which(?: one)?|who|what)(?: (?:is|was) (?:it|he|she|that))?)$",
    re.IGNORECASE,
)


_MADE_BEHIND = re.compile(  # *Neptune's largest moon: discovered by whom*
    r"^(?P<x>[^,:;]+?) *(?:[,:;]| [–-]) *(?:(?:is|was|were) )?(?P<verb>discovered|invented|directed|painted|composed"
    r"|founded|designed|built) by (?:whom|who)$",
    re.IGNORECASE,
)
_YEAR_BEHIND = re.compile(
    r"^(?P<x>[^,:;]+?) *(?:[,:;]| [–-]) *(?:(?:the )?(?:year|date) of )?"
    r"(?P<what>publication|release|birth|death|foundation|founding)(?: (?:year|date))?$",
    re.IGNORECASE,
)
_VERB_OF = {
    "publication": "was {} published", "release": "was {} released", "birth": "was {} born", "death": "did {} die",
    "foundation": "was {} founded", "founding": "was {} founded",
}  # fmt: skip


def _topic_first(question: str) -> str:
    """A question that names its topic before it asks, as one sentence."""
    made = _MADE_BEHIND.match(question)
    if made:
        return f"who {made['verb']} {made['x']}"
    dated = _YEAR_BEHIND.match(question)
    if dated:
        return f"when {_VERB_OF[dated['what'].lower()].format(dated['x'])}"
    behind = _ASKS_BEHIND.match(question)
    if behind:
        return f"{'how many' if behind['many'] else 'what is'} {behind['x']}"
    found = _TOPIC_FIRST.match(question)
    if not found:
        return question
    whose = "'s" if found["it"].lower() in ("his", "her", "its", "their") else ""
    return f"{found['before']} {found['x']}{whose}{found['rest']}"


_WHETHER = re.compile(  # *whether Texas or Alaska has the larger area*
    r"^whether (?:the )?(?P<x>.+?) or (?:the )?(?P<y>.+?) "
    r"(?P<rest>(?:is|are|was|were|has|have|had|came|died|lived|began) .+)$",
    re.IGNORECASE,
)
_SIMPLY_WHETHER = re.compile(
    r"^whether (?P<x>.+?)(?: (?P<be>is|are|was|were|has|have|can)(?P<rest> .+))?$", re.IGNORECASE
)
_IT_IS_SO = re.compile(  # *am I right that* something is so
    r"^(?:would you say(?: that)?|am i (?:right|correct) (?:that|in thinking that|in saying that)"
    r"|is it (?:true|right|correct|a fact) that) (?P<rest>.+)$",
    re.IGNORECASE,
)


def _plainly_asked(question: str) -> str:
    """A question that is wrapped into another one, as it is asked alone."""
    whether = _WHETHER.match(question)
    if whether:
        return f"which {whether['rest']}, {whether['x']} or {whether['y']}"
    simply = _SIMPLY_WHETHER.match(question)
    if simply:
        return f"{simply['be'] or 'do'} {simply['x']}{simply['rest'] or ''}"
    so = _IT_IS_SO.match(question)
    if not so:
        return question
    helping = "do" if question.lower().startswith("would you") else "did"
    return _stated_first(f"{so['rest']} right") or f"{helping} {so['rest']}"


# *list all*, *every*: the question asks for all of them anyway
_LISTING = re.compile(
    r"^(?:please )?(?:(?:list|name|give|show|tell)(?: me| us)?(?: (?:the|all|every|some|any|a few|of|names? of))* |"
    r"(?:the )?names? of (?:(?:the|all) )*|(?:all|every|some|any)(?: of)?(?: the)? )",
    re.IGNORECASE,
)
_BEFORE = r"(?:(?!(?:of|in|by|from|on|with|to|for|and|or|is|are|was|were|the)\b)[\w'’.-]+ ){0,3}?"
_THINGS = rf"(?P<noun>{_BEFORE}(?!(?:was|is|has|does|this|his|its|us|as)\b)(?:\w*[a-z]{{2}}s|\w*men|people|children))"
_MADE_BY = (
    "born|directed|written|painted|composed|founded|invented|discovered|released|published|produced|made|built|created"
    "|designed|sung|performed|recorded|assassinated|killed|played|portrayed|hosted|owned|ruled|awarded"
)
_IS_SO = "set|based|located|situated|spoken|native|named"
_ASKED_SHORT = (  # what is asked for in a few words, and the whole question: *inventors born in Scotland*
    (rf"{_THINGS} (?P<verb>{_MADE_BY}) (?P<rest>.+)", "which {noun} were {verb} {rest}"),
    (rf"{_THINGS} (?P<verb>{_IS_SO}) (?P<rest>.+)", "which {noun} are {verb} {rest}"),
    (rf"{_THINGS} (?:that|who|which) (?P<rest>.+), how many", "how many {noun} {rest}"),
    (r"(?P<noun>\w+(?: \w+)?) (?:that|who|which) (?P<rest>(?:has|have) .+)", "which {noun} {rest}"),
    (rf"{_THINGS} (?:that|who|which) (?P<rest>(?!you|i|we\b).+)", "which {noun} {rest}"),
    (rf"{_THINGS} where (?P<x>.+?) (?P<be>is|are|was|were) (?P<rest>.+)", "in which {noun} {be} {x} {rest}"),
    (
        rf"{_THINGS} (?:that |which )?(?P<x>.+?) (?P<verb>directed|wrote|painted|composed|made|founded|invented|won"
        r"|hosted|produced|recorded|starred in)"
        r"(?P<rest>(?: (?:up to|before|after|since|until|between|in|starring) .+)?)",
        "which {noun} did {x} {present}{rest}",
    ),
    (r"(?P<noun>.+ (?:films|movies)) with (?P<x>(?!an?\b|the\b)\w+ \w.*)", "which {noun} star {x}"),
    (r"(?:a )?(?:full |complete )?list of (?:all )?(?:the )?(?P<noun>[\w' -]+s)", "what are the {noun}"),
    (rf"{_THINGS} list", "what are the {noun}"),
)
_ASKED_SHORT_PATTERNS = [(re.compile(f"^{pattern}$", re.IGNORECASE), whole) for pattern, whole in _ASKED_SHORT]
_ASKS_INSIDE = re.compile(
    r"\b(?:what|which|who|whom|where|when|how)$|\b(?:in|by|of) (?:what|which|whom)\b", re.IGNORECASE
)


_BARE_KIND = re.compile(rf"^{_THINGS}$", re.IGNORECASE)


def _asked_whole(question: str) -> str:
    """The whole question where it is put in a few words, or as a request: *list all films directed by* somebody."""
    listing = _LISTING.match(question)
    said = (question[listing.end() :] if listing else question).removeprefix("the ")
    if (not listing and _BEGINS_ASKING.match(question)) or (
        _ASKS_INSIDE.search(said) and not said.endswith("how many")
    ):
        return question
    for pattern, whole in _ASKED_SHORT_PATTERNS:
        found = pattern.match(said)
        if found:
            parts = {name: text or "" for name, text in found.groupdict().items()}
            return whole.format(**parts, present=PRESENT.get(parts.get("verb", "").lower(), ""))
    return f"what are the {said}" if listing and _BARE_KIND.match(said) else question


def _called_what(question: str) -> str:
    """A question for what something is called, as one for what it is, where it is told by its place in an order."""
    called = _CALLED.match(question)
    if not called:
        return question
    return called["first"] or f"what is {called['last'] or called['called']}"


def _stated_first(question: str) -> str:
    """The question in a statement that ends in *how many*, *in what year* or *right*; empty where there is none."""
    when = _IN_WHAT_YEAR.match(question)
    if when:
        return f"when did {when['x']} {_VERB_FORMS[when['verb'].lower()]}"
    many = _HOW_MANY_LAST.match(question)
    if many:
        verb = many["verb"].lower()
        helping, verb = ("did", PRESENT[verb]) if verb in PRESENT else ("does", verb.removesuffix("s"))
        return f"how many {many['noun']} {helping} {many['x']} {verb}{many['rest']}"
    so = _IS_IT_SO.match(question)
    return f"{so['be'].lower()} {so['x']} {so['rest']}" if so else ""


def _put_first(question: str) -> str:
    """See ``asked_first``; the question as it stands where no pattern fits."""
    for pattern, order in _ASKS_LAST_PATTERNS:
        found = pattern.match(question)
        if found:
            said = {name: (text or "").lower() if name != "x" else text for name, text in found.groupdict().items()}
            if said.get("what") == "who" and said.get("by"):
                said["what"] = "whom"
            return order.format(**said)
    return question
