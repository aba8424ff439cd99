"""Questions in several parts: something that has to be found first, the time of something else, several conditions.

Some questions are asked in two steps at once (``nested``). Others may be where the path model, which walks two
relations by itself, finds no answer to them whole (``two_steps``). Of several conditions, *which composer died in
London and wrote Messiah*, each is asked by itself (``clauses_of``): what fits all of them is what the answers of these
questions share, so that every condition acts, or its own question is refused with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from kgdemo.kg.labels import fold
from kgdemo.query.measures import OFFICE, SLOTS, first_match, patterns_of
from kgdemo.query.query import Plan

# *during World War II*, *when the Berlin Wall fell*: whoever held the office at that time is asked for
_MEANWHILE = re.compile(
    r"^(?P<asked>.*?)[, ]+(?:"
    r"(?:for |through |throughout |during )?(?P<most>most|much|the (?:greater|larger) part|the majority) of"
    r"|(?:at|in|during|by|from) the (?P<moment>start|beginning|outbreak|end|close) of"
    r"|during|throughout|at the time of|in the time of|while|when|(?:in )?the year(?: that| when)?) "
    r"(?P<event>(?!(?:he|she|it|they|did|was|were)\b)\D.+?)"
    r"(?: (?:was fought|was going on|took place|happened|occurred|(?P<verb>fell|sank|went down|exploded)"
    r"|(?:was )?(?P<own>born|died|released|published|founded|built|painted|written|composed|came out)"
    r"|(?P<began>began|started|broke out)"
    r"|(?P<ended>ended|finished|was over))(?: in .+)?)?$",
    re.IGNORECASE,
)


_EVENTS = {"fell": "fall", "sank": "sinking", "went down": "sinking", "exploded": "explosion"}


def in_the_time_of(question: str) -> Plan | None:
    """A question for who held an office at the time of something else."""
    found = _MEANWHILE.match(question)
    if not found or not OFFICE.search(found["asked"]):
        return None
    said = (found["moment"] or "").lower()
    moment = "most" if found["most"] else ""
    if found["began"] or said in ("start", "beginning", "outbreak"):
        moment = "start"
    elif found["ended"] or said in ("end", "close"):
        moment = "end"
    elif found["own"]:
        moment = found["own"].lower() if found["own"].lower() in ("born", "died") else "date"
    event = f"the {_EVENTS[found['verb'].lower()]} of {found['event']}" if found["verb"] else found["event"]
    return Plan(base=found["asked"], during=event, moment=moment)


_RELATIVES = (
    "teacher tutor pupil student"
    " father mother parents? son sons daughters? children wife wives husband spouse brothers? sisters? siblings?"
    " counterpart successor predecessor"
).split()
_WHICH_OF_THEM = "(?:twin|older|younger|elder|half|first|second|third|last|late|only|eldest)"
# a question about something that another question has to find first: *the capital of* the largest country in Africa
_OF_THE_NTH = patterns_of(
    r"(?P<outer>(?!{what} {be} the$).+? (?:of|by|in|from|won|win|wrote|painted|directed|composed|discovered"
    r"|invented|founded|built|designed|created|killed|rules?|ruled|does|do|did|{be})) "
    r"(?P<inner>the (?:very |world's )?(?:{nth} |{est} )(?!names?\b|century\b|time\b)[\w' .-]+?)"
    r"(?P<behind> (?:born|die|died|built|founded|released|published|located|called|educated|buried|from"
    r"|killed|assassinated|shot|murdered|held|played|staged|awarded|(?:live|roam|occur)(?: in| on)?(?: in the "
    r"wild| wild| free)?|go a?round|orbit"
    r"|grow(?: in| on)?"
    r"|lie(?: in| on)?|come from|belong to|(?:flow|empty|drain|run|end)(?: in| into)?))?"
)
_OF_HIS_NTH = patterns_of(  # who discovered *Neptune's largest moon*
    r"(?P<outer>.+? (?:of|discovered|invented|founded|built|designed|created|wrote|painted|directed|composed)) "
    r"(?P<inner>(?:the )?[\w .-]+?(?:'s?|s') (?:{nth}|{est}) [\w' -]+?)(?P<behind>)"
)
# *the father of* the Greek god of war: a thing that is found by two conditions has to be found first
_OF_ONE_OF_A_KIND = patterns_of(
    rf"(?P<outer>{{what}} (?:\w+ )??{{be}} the (?:{'|'.join(_RELATIVES)}) of) "
    r"(?P<inner>the (?:(?:(?!of\b)[\w-]+ ){2}of|(?:(?!of\b)[\w-]+ ){1,3}(?:who|that)) .+?)(?P<behind>)",
    rf"(?P<outer>(?:{{what}} (?:\w+ )??{{be}} )?the (?:{'|'.join(_RELATIVES)}) of) "
    rf"(?P<inner>(?!what|who)[^,]+?(?:'s?|(?<=s)'|s) (?:{_WHICH_OF_THEM} )?"
    rf"(?:{'|'.join(_RELATIVES)}))(?P<behind>)",
)
# *the Roman name of Aphrodite*: the same deity elsewhere
_OTHER_NAME = patterns_of(
    r"(?:{what} {be} )?(?:the )?(?P<where>\w+) (?:name|equivalent|version|counterpart|form) (?:of|for) "
    r"(?:the )?(?:\w+ )?(?:god |goddess |deity )?{x}",
    r"what did the (?P<where>\w+) call (?:the )?(?:\w+ )?(?:god |goddess |deity )?{x}",
)
_MYTHS = frozenset("roman romans greek greeks norse etruscan egyptian egyptians germanic rome greece".split())


def counterpart(question: str) -> Plan | None:
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
_WHO_WON = re.compile(r"(?:what|which|who)(?: \w+)? (?:won|wins|got|received)", re.IGNORECASE)  # it is who is first
_ONLY_ASKS = re.compile(r"(?:what|which|who)(?: \w+)? (?:is|are|was|were)", re.IGNORECASE)
_ONLY_DOES = re.compile(r"(?:what|which|who)(?: \w+)? (?:do|does|did)", re.IGNORECASE)  # with no verb behind


_GREATEST_OF_THE_NTH = patterns_of(  # *the biggest moon of* the sixth planet from the Sun
    r"(?P<outer>{what} {be} the \w+est [\w -]+? (?:of|in|on)) (?P<inner>the (?:{nth} |{est} )[\w' .-]+)(?P<behind>)",
)


def nested(question: str) -> Plan | None:
    found = first_match(_OF_PLACE_WHERE, question)
    if found:
        be = found.groupdict().get("be") or "is"
        verb = f" {found['verb']}" if found["verb"] and "be" in found.groupdict() else ""
        inner = f"in which {found['noun']} {be} {found['x']}{verb}"
    else:
        found = (
            first_match(_GREATEST_OF_THE_NTH, question)
            or first_match(_OF_THE_NTH, question)
            or first_match(_OF_HIS_NTH, question)
            or first_match(_OF_ONE_OF_A_KIND, question)
        )
        only_asks = found and (_ONLY_ASKS.fullmatch(found["outer"]) or _WHO_WON.fullmatch(found["outer"]))
        if not found or (only_asks and (found["behind"] or "").strip() != "from"):
            return None
        if found.groupdict().get("nth") and found["nth"][0].isupper():
            return None  # *The Seventh Seal* is a name
        if not found["behind"] and re.search(r"\b(?:do|does|did)$", found["outer"], re.IGNORECASE):
            return None  # *where did the first Olympic Games take place*: the verb belongs to what was taken for a name
        inner = f"{'what' if 'nth' in found.groupdict() else 'who'} is {found['inner']}"
    outer = found["outer"].replace("{", "").replace("}", "")
    return Plan(base=question, inner=inner, outer=f"{outer} {{}}{found['behind'] or ''}")


_PERSONS = frozenset("person man woman guy girl boy lady one people".split())
BEING = "is|are|was|were|did|does|do"
_JOINING = re.compile(  # what may stand before the thing that is described
    rf"\b(?:of|in|by|for|to|with|from|through|on|near|at|after|{BEING}|has|have|had|won|wrote|bought|made|led"
    r"|taught|\w\w\w+ed)$",
    re.I,
)
_ASKED_BEHIND = re.compile(  # *where was* the author of a book *born*
    rf"(?P<question>(?:where|when|how \w+|(?:in|at|on) (?:which|what) \w+|(?:which|what) (?:country|city|state|town)) "
    rf"(?:{BEING}) .+)"
    r"(?P<behind> (?:born|die|died|built|founded|released|published|located|educated|buried|married|from|come from"
    r"|set|made|invented|discovered|killed|assassinated))",
    re.IGNORECASE,
)
_DOES_BEHIND = re.compile(  # *when did* the films directed by somebody *come out*: the verb comes last
    r"(?P<question>(?:where|when|how|who|(?:(?:in|at|on) )?(?:which|what)(?: \w+)*?) (?:do|does|did) "
    r"the \w+ (?:\w+ by|that|who|which) .+?)"
    r"(?P<behind> [a-z]+(?: (?:out|in|from|under|to|on|at|place))?)",
    re.IGNORECASE,
)
_NOUN = r"(?P<noun>(?!of\b)[\w'-]+(?: (?!of\b|in\b|who\b|that\b|which\b|where\b)[\w'-]+){0,2}?)"
_WITH_A_CLAUSE = re.compile(  # *the author of* the book that a film is based on
    rf"(?:the|an?) {_NOUN} (?P<relative>who|that|which|whose|where|in which|on which|from which|by which)"
    r" (?P<clause>.+)",
    re.IGNORECASE,
)
_WITH_A_PARTICIPLE = re.compile(  # *the element* named after somebody, *the club* that somebody managed
    rf"the {_NOUN} (?P<clause>(?:named after|written by|directed by|invented by|discovered by|founded by|composed by"
    r"|painted by|played by|created by|designed by|ruled by|conquered by|won by|born in|based on) .+)",
    re.IGNORECASE,
)
_WITH_A_DOER = re.compile(
    rf"the {_NOUN} (?P<who>(?-i:[A-Z])[\w.'-]*(?: (?:the |of |van |von |da |de )*(?-i:[A-Z])[\w.'-]*)*) "
    r"(?P<did>managed|coached|wrote|directed|founded|invented|discovered|painted|composed|created|played for|married"
    r"|ruled|led|built|designed|conquered|killed|sailed on|starred in|won|played|plays)"
    r"(?P<behind>(?: (?:for|in|from|with|at) .+)?)",
    re.IGNORECASE,
)
_WITH_A_NUMBER = re.compile(  # *the symbol of* the element with atomic number 79
    rf"the {_NOUN} with (?:an? |the )?(?P<value>{SLOTS['measure'].replace('?P<measure>', '?:')} (?:of )?\d[\d,]*)", re.I
)
_PLURAL_VERB = re.compile(r"(?:have|are|were|do|don't|aren't|haven't)\b", re.IGNORECASE)
_OF_ANOTHER = re.compile(rf"the {_NOUN} (?:of|in) .+", re.IGNORECASE)  # *the population of* the capital of a country
_WITH_AN_OWNER = re.compile(  # *the mother of* somebody's wife
    r"(?P<outer>.+ (?:of|in|by|to|is|was|did|does)) (?P<owned>(?:the )?[\w .'-]+?(?:'s?|s) "
    r"(?P<noun>wife|husband|spouse|mother|father|teacher|tutor|pupil|student|sons?|daughters?|brothers?|sisters?|parents|child|children|capital|currency"
    r"|author|director|composer|founder|creator|inventor|successor|predecessor))",
    re.IGNORECASE,
)


_WAS = re.compile(
    r"^(?:when|where|how|(?:in )?(?:what|which) (?:year|month|country|city)) (?:was|were)$", re.IGNORECASE
)
_DONE = re.compile(r" (?:\w+(?:ed|nd|ght)|born|built|begun|held|made|written|shot|won|found)$", re.IGNORECASE)
_HELD_THERE = re.compile(r" (?:held|hosted|staged) (?:in|by|at) ", re.IGNORECASE)
_CLAUSE = re.compile(r"\b(?:that|which|who|whose|whom|where|when|by)\b", re.IGNORECASE)


def two_steps(question: str, clauses_only: bool = False) -> tuple[str, str] | None:
    """The question that may be asked first, and the one that is then asked of its answer, which stands for ``{}``.

    Args:
        question: in plain words.
        clauses_only: take what a clause describes, *the country where …*, and not *the capital of …*.

    Returns:
        None where nothing in the question is described in place of being named.
    """
    asked = _ASKED_BEHIND.fullmatch(question) or _DOES_BEHIND.fullmatch(question)
    question, behind = (asked["question"], asked["behind"]) if asked else (question, "")
    for article in reversed(list(re.finditer(r"\b(?:the|an?) ", question))):
        before, described = question[: article.start()].strip(), question[article.start() :]
        done = _DONE.search(described) or _HELD_THERE.search(described)
        if _WAS.search(before) and done and not _CLAUSE.search(described):
            continue  # *when was the National Health Service in Britain started*: the verb is the question's own
        if _IS_SAID.search(described) and not _CLAUSE.search(described):
            continue  # *which volcanoes in the North Island of New Zealand are higher than 2,500 m*
        first = _first_asked(described, clauses_only) if _JOINING.search(before) else ""
        whole = _ONLY_ASKS.fullmatch(before) or (not behind and _ONLY_DOES.fullmatch(before))
        if first and not whole and not _WHO_WON.fullmatch(before):
            return first, _with_a_gap(before, behind)
    owned = None if clauses_only else _owned(question)
    if owned:
        return _who_is(owned["owned"], owned["noun"]), _with_a_gap(owned["outer"], behind)
    return None


def _owned(question: str) -> re.Match[str] | None:
    """What a question asks of somebody's kin, or of another's capital or author."""
    owned = _WITH_AN_OWNER.fullmatch(question)
    return owned if owned and not _ONLY_ASKS.fullmatch(owned["outer"]) else None


def asks_of_kin(question: str) -> bool:
    """Whether it is asked of somebody's father or wife, not of him: one relation from him says nothing of that."""
    asked = _ASKED_BEHIND.fullmatch(question) or _DOES_BEHIND.fullmatch(question)
    return _owned(asked["question"] if asked else question) is not None


_LAST_CLAUSE = re.compile(
    r"\b(?:the|an?) (?:[\w'-]+ ){1,3}(?P<clause>(?:who|whose|that|where|(?:which|in which)(?= \S+ \S)) .+)$",
    re.IGNORECASE,
)


_SAID_OF_THEM = re.compile(  # *which members of* a band *were knighted*
    r"(?:which|what|how many) [\w'’ -]+ of .+? (?:were|was|are|is|have been|has been|got) (?P<clause>\w{3,}ed)$",
    re.IGNORECASE,
)


def last_clause(question: str) -> str:
    """What is said of a thing at the end of a question, *whose currency is the real*; empty where nothing is."""
    found = _LAST_CLAUSE.search(question) or _SAID_OF_THEM.match(question)
    return found["clause"] if found else ""


_IS_SAID = re.compile(r"\b(?:is|are|was|were) (?!called|known|named)", re.IGNORECASE)
_OF_TWO = re.compile(
    r"^(?:which|who|what)\b.+[,:] *(?:the |an? )?(?P<x>[^,]+?),? or (?:the |an? )?(?P<y>[^,]+)$", re.IGNORECASE
)


def is_neither(question: str, said: Collection[str]) -> bool:
    """Whether it is asked which of two it is, *…, Poland or Bulgaria*, and the answers' names are not those of either.

    Of the first all words have to be among these, of the second the first one, behind which the question may go on.
    """
    found = _OF_TWO.match(question)
    if not found:
        return False
    one, other = fold(found["x"]).split(), fold(found["y"]).split()
    return not set(one) <= set(said) and other[0] not in said


def of_several(inner: str) -> bool:
    """Whether a question that is asked first is one for several things: *which films was directed by* somebody."""
    return bool(re.match(r"which (?:\w+ )?(?:\w+[^s\W]s|men|women|people|children) ", inner))


_ASKS_WHO_THAT_IS = re.compile(
    r"(?:.*\b)?(?:(?:who|what|which)(?: one)?(?:['’]s| (?:is|was|are|were))|name|tell me|give me)(?: the name of)? ?$",
    re.IGNORECASE,
)


WHOLE = "{}"  # a gap that is all of a question
_CLAUSE_AT_THE_END = re.compile(  # *in which country was* the painter *born* who cut off his ear
    rf"(?P<before>(?:where|when|(?:(?:in|at|on) )?(?:which|what)(?: [\w-]+){{1,3}}) (?:{BEING}) )"
    r"(?P<thing>the [\w' -]+?)"
    r"(?P<behind> (?:born|buried|die|died|educated|set|made|found)) (?P<clause>(?:who|that|which|whose) .+)",
    re.IGNORECASE,
)


def descriptions(question: str) -> Iterator[tuple[str, str]]:
    """The parts of a question that may describe something, and the question with a gap in the place of each.

    Args:
        question: in plain words.

    Yields:
        the longer ones first; the gap is all there is where nothing else is asked than what is described.
    """
    if late := _CLAUSE_AT_THE_END.fullmatch(question):
        yield f"{late['thing']} {late['clause']}", _with_a_gap(late["before"].rstrip(), late["behind"])
        return
    if asks := _ASKS_WHICH.match(question):
        yield f"{asks['who'] or 'the'} {question[asks.end() :]}", WHOLE
    elif not _ASKS.match(question):
        yield question, WHOLE
    asked = _ASKED_BEHIND.fullmatch(question) or _DOES_BEHIND.fullmatch(question)
    question, behind = (asked["question"], asked["behind"]) if asked else (question, "")
    for article in re.finditer(r"\b(?:the|an?) (?=\S+ \S)", question):
        before, described = question[: article.start()], question[article.start() :]
        if not before.strip() or _ASKS_WHO_THAT_IS.fullmatch(before):
            yield described + behind, WHOLE
        else:
            yield described, _with_a_gap(before.rstrip(), behind)


_ASKS = re.compile(
    rf"(?:{BEING}|who|what|which|whose|when|how|why|in|on|at|the|an?|can|could|has|have|had)\b", re.IGNORECASE
)
_ASKS_WHEN = re.compile(
    r"(?:when|(?:in|on) (?:which|what) (?:year|month|day|date)|(?:which|what) (?:year|date|day)|how long ago)"
    r" (?:did|was|were|is|had) (?P<clause>.+?)(?: (?:happen|take place|occur))?",
    re.IGNORECASE,
)


_OF_A_LIFE = re.compile(r"\b(?:born|die|died|married)\b", re.IGNORECASE)


def when_asked(question: str) -> str:
    """The clause of which a question asks when it happened; empty where none is asked so."""
    found = _ASKS_WHEN.fullmatch(question)
    return found["clause"] if found and not _OF_A_LIFE.search(found["clause"]) else ""


_ASKS_WHICH = re.compile(rf"(?:which|what|(?P<who>who)) (?!(?:{BEING}|has|have|had|can|could|would)\b)", re.I)


def _with_a_gap(before: str, behind: str) -> str:
    return f"{before.replace('{', '').replace('}', '')} {{}}{behind}"


def _first_asked(described: str, clauses_only: bool) -> str:
    """The question for what a phrase describes; empty where it may be a name."""
    valued = _WITH_A_NUMBER.fullmatch(described)
    if valued:
        return f"which {valued['noun']} has {valued['value']}"
    participle = _WITH_A_PARTICIPLE.fullmatch(described)
    verbs = {"was", "were", "is", "are"}
    if (
        participle
        and verbs.isdisjoint(participle["noun"].split())
        and not all(word[0].isupper() for word in participle["noun"].split())
    ):
        asked = "who" if participle["noun"].lower() in _PERSONS else f"which {participle['noun']}"
        return f"{asked} was {participle['clause']}"
    doer = _WITH_A_DOER.fullmatch(described)
    if doer and doer["noun"].islower():
        return f"which {doer['noun']} was {_PASSIVE.get(doer['did'].lower(), doer['did'])} by {doer['who']}"
    found = _WITH_A_CLAUSE.fullmatch(described)
    if found and _PLURAL_VERB.match(found["clause"]) and not found["noun"].endswith(("s", "men", "people")):
        return ""  # *planets of the solar system that have no moon*: said of the planets
    if not found:
        other = None if clauses_only else _OF_ANOTHER.fullmatch(described)
        return _who_is(described, other["noun"]) if other else ""
    noun, relative, clause = found["noun"], found["relative"].lower(), found["clause"]
    if all(word[0].isupper() for word in noun.split()):
        return ""  # *the Labour Party* is a name, and the clause is said of something before it
    asked = "who" if noun.lower() in _PERSONS else f"which {noun}"
    whose = re.fullmatch(r"(?P<what>[\w ]+?) (?P<be>is|was) (?P<x>.+)", clause, re.IGNORECASE)
    if relative == "whose":
        return f"of {asked} {whose['be']} {whose['x']} the {whose['what']}" if whose else f"{asked} has {clause}"
    if relative == "where":
        return f"in {asked} {_turned(clause)}"
    return f"{asked} {clause}" if " " not in relative else f"{relative.split()[0]} {asked} {_turned(clause)}"


_PASSIVE = {"wrote": "written", "led": "led", "sailed on": "sailed on", "starred in": "starred in"}


def _who_is(described: str, noun: str) -> str:
    return f"{'what' if noun.lower() in _THINGS else 'who'} is {described}"


_THINGS = frozenset("capital currency city country language river mountain".split())
_WITH_BEING = re.compile(r"^(?P<x>.+?) (?P<be>is|are|was|were)(?P<rest> .+)?$", re.IGNORECASE)


def _turned(clause: str) -> str:
    """The words of a clause in the order of a question: *the Louvre is* becomes *is the Louvre*."""
    if comes := re.fullmatch(r"(?P<x>.+) (?:comes?|came) from", clause, re.IGNORECASE):
        return f"does {comes['x']} come from"
    found = _WITH_BEING.match(clause)
    return f"{found['be']} {found['x']}{found['rest'] or ''}" if found else clause


# several conditions ----------------------------------------------------------------------------

_AUX = "is|are|was|were|has|have|had|did|does|do|can|could"
_PAST = (  # irregular ones; the others end in *ed*
    "won|wrote|sang|led|fought|flew|became|made|built|held|ran|went|took|drew|came|gave|left|lost|began|sat|met|shot|set"
    "|hung|grew|stood|spoke|taught|fell|beat|wore|lay|rode|sank|swam|threw"
)
_PRESENT = (
    "stars?|speaks?|borders?|lies?|lives?|flows?|contains?|belongs?|lays?|eats?|begins?|starts?|ends?|uses?|plays?"
    "|features?|orbits?|cross(?:es)?|touch(?:es)?|produces?|grows?|means?|includes?|holds?|shares?|appears?|comes?"
)
_MADE = (  # what was done to something
    "born|directed|written|composed|painted|set|built|based|located|founded|invented|discovered|released|published"
    "|named|played|sung|produced|designed|educated|buried|killed|held|won|hosted|spoken|made|ripened|served"
)
_VERB = rf"(?:(?:{_AUX}|{_PAST}|{_PRESENT}|\w+ed)\b)"
_ADVERB = r"(?:also |both |later |then |once |ever |still |never )*"
_WHICH_NOUN = r"(?P<noun>(?:(?!of\b|in\b|by\b|that\b|who\b|which\b|whose\b)[\w'.-]+ ){1,4}?)"
_HEAD = re.compile(
    rf"^(?:(?:which|what) (?:one of the )?(?!{_VERB}){_WHICH_NOUN}|(?P<who>who) )"
    rf"(?P<rest>(?:that |who |which )?{_ADVERB}(?:{_VERB}|whose\b|(?:{_MADE}|starring)\b|(?:by|of|in|from|with)\b).*)$",
    re.IGNORECASE,
)
# where another condition begins: *and*, *but*, a comma, each before a verb; or a participle behind another condition
_BETWEEN = re.compile(
    rf"(?:,? (?:and|but|yet|though|although|even though|while)|,)(?: (?:that|who|which|it|he|she|they))? "
    rf"(?={_ADVERB}(?:{_VERB}|whose\b|(?:{_MADE}|starring)\b))"
    rf"|(?<!was)(?<!were)(?<!not) (?=starring\b|(?:set|born) in \w|(?:written|composed|directed|founded) (?:in|by) \w)",
    re.IGNORECASE,
)
_ONE_OF_ANOTHERS = re.compile(  # *which daughter of Zeus is* the goddess of hunting
    r"^which (?P<noun>daughter|son|child|wife|brother|sister|pupil|student) of (?P<x>(?-i:[A-Z])[\w. ]+?) (?:is|was) "
    r"(?P<also>(?:the|an?) .+)$",
    re.IGNORECASE,
)
_NOT_A_CLAUSE = re.compile(rf"(?:{_AUX})$|(?:first|last) (?:to|time)\b", re.IGNORECASE)
_PARTICIPLE = re.compile(rf"^(?:{_MADE})(?= (?:in|by|from|of|on|at|with|to|as|after)\b)", re.IGNORECASE)
_NEGATED = re.compile(rf"^(?P<be>{_AUX})(?:n't| not| never)(?: ever)? |^never |^(?:not|without) ", re.IGNORECASE)
_BOTH = re.compile(
    r"\bboth (?P<article>(?:the|an?) )?(?P<one>(?:(?!and\b)[\w'.-]+ )+)and "
    r"(?:the |an? |in )?(?P<other>(?:(?!and\b)[\w'.-]+ ?)+)$",
    re.IGNORECASE,
)
_SHARES_ITS_NOUN = re.compile(rf"(?:summer|winter|men's|women's|{_PAST}|\w+ed)$", re.IGNORECASE)
# *acted in the films* directed by somebody
_THE_THINGS = re.compile(r"\b(?:the|these|those|all) (?-i:[a-z]\w+)$", re.IGNORECASE)
_SAID_OF_THE_THINGS = re.compile(r"(?:starring|set|born|written|composed|directed|founded)\b", re.IGNORECASE)
_ONLY_A_TIME = re.compile(r"\b(?:before|after|since|until|between|in)(?: the year)? (?:the )?\d", re.IGNORECASE)
_EITHER = re.compile(r"\bor\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clause:
    """One condition of a question.

    Attributes:
        question: asks for all that fit it.
        negated: whether these are not to be among the answers.
        place: in place of a question, an adjective of the place that the answers must belong to: *Asian*.
    """

    question: str
    negated: bool = False
    place: str = ""


def clauses_of(question: str, both: bool = True) -> tuple[Clause, ...]:
    """The conditions of a question, each asked by itself; none where it has but one.

    Args:
        question: in plain words, the question word in front.
        both: take *both this and that* apart as well.
    """
    question = question.rstrip("?!. ")
    two = _ONE_OF_ANOTHERS.match(question)
    if two:
        return Clause(f"who is {two['also']}"), Clause(f"who is the {two['noun']} of {two['x']}")
    found = _HEAD.match(question)
    if not found or _EITHER.search(question):
        return ()
    noun = (found["noun"] or "").strip()
    pieces = _pieces(found["rest"], both)
    if len(pieces) < 2 or any(_NOT_A_CLAUSE.search(piece) for piece in pieces):
        return ()
    whole, plain = (f"which {noun}", f"which {_plain(noun)}") if noun else ("who", "who")
    clauses = [_clause(plain if place else whole, piece) for place, piece in enumerate(pieces)]
    return () if clauses[0].negated else tuple(clauses)


def of_place(question: str) -> tuple[Clause, ...]:
    """What is asked without the adjective of a place before its noun, and the place: *which Asian cities …*."""
    found = _ADJECTIVE.match(question.rstrip("?!. "))
    if not found:
        return ()
    return Clause(f"{found['before']}{found['rest']}"), Clause("", place=found["place"])


_WHERE = re.compile(rf"(?P<where>(?:in|from) (?:the )?\w+(?: [A-Z]\w+)?) (?P<rest>{_ADVERB}{_VERB} .+)$", re.IGNORECASE)
_ADJECTIVE = re.compile(
    r"^(?P<before>(?:(?i:in|on) )?(?i:which|what|how many) )(?P<place>(?:(?:North|South|East|West|Central) )?"
    r"[A-Z]\w+(?:n|sh|ese|ch|ss|k|i)) (?P<rest>[a-z]+ .+)$"
)


def _pieces(rest: str, both: bool) -> list[str]:
    """What is said between the words that join conditions; a time belongs to the condition before it."""
    rest = re.sub(r"^(?:that|who|which) ", "", rest)
    if both and (where := _WHERE.match(rest)):  # *mammals in Australia lay eggs*
        return [where["where"], where["rest"]]
    two = _BOTH.search(rest)
    pieces: list[str] = []
    for piece in (piece.strip(" ,") for piece in _BETWEEN.split(rest[: two.start()] if two else rest)):
        if pieces and (_ONLY_A_TIME.search(piece) or piece.startswith("whose")):
            pieces[-1] += f" and {piece}"
        elif pieces and _SAID_OF_THE_THINGS.match(piece) and _THE_THINGS.search(pieces[-1]):
            pieces[-1] += f" {piece}"
        elif piece:
            pieces.append(piece)
    if not two or not pieces:
        return pieces
    *pieces, before = pieces
    if not both:
        return [*pieces, f"{before} {rest[two.start() :]}"]
    one, other = two["one"].split(), two["other"].split()
    single = len(one) == 1 and (_SHARES_ITS_NOUN.match(one[0]) or (two["article"] or "").startswith("a"))
    return [*pieces, *(f"{before} {' '.join(part)}" for part in ([*one, *(other[1:] if single else [])], other))]


def _clause(asked: str, piece: str) -> Clause:
    """What is said of the answers, as a question of its own."""
    negated = _NEGATED.match(piece)
    be = (negated["be"] or "").lower() if negated else ""
    said = re.sub(rf"^{_ADVERB}", "", piece[negated.end() :] if negated else piece, flags=re.IGNORECASE)
    if not be and _PARTICIPLE.match(said):
        be = "was"
    if said.startswith("starring"):
        said = said.replace("starring", "star", 1)
    elif re.match(r"(?:by|of|in|from|with)\b", said):
        be = be or "are"
    if be == "did":  # *did not walk*: those are left out who walked
        verb, _, rest = said.partition(" ")
        be, said = "", f"{_past(verb)} {rest}"
    return Clause(" ".join(filter(None, (asked, be, said))), negated is not None)


_PAST_OF = {
    "win": "won", "write": "wrote", "sing": "sang", "lead": "led", "fly": "flew", "become": "became", "make": "made",
    "build": "built", "hold": "held", "run": "ran", "go": "went", "take": "took", "come": "came", "lose": "lost",
    "begin": "began", "meet": "met", "direct": "directed", "fight": "fought", "speak": "spoke", "die": "died",
}  # fmt: skip


def _past(verb: str) -> str:
    return _PAST_OF.get(verb, f"{verb}d" if verb.endswith("e") else f"{verb}ed")


def _plain(noun: str) -> str:
    """The kind of thing alone, without what narrows it down: of *Dublin-born writer* the writer."""
    *before, last = noun.split()
    return f"{before[-1]} {last}" if before and before[-1].lower() in _PART_OF_THE_NAME else last


_PART_OF_THE_NAME = frozenset("prime football rock chemical us capital blue tennis video".split())
