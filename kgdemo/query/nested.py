"""Questions about something that another question has to find first, and questions about the time of something else."""

from __future__ import annotations

import re

from kgdemo.query.measures import OFFICE, first_match, patterns_of
from kgdemo.query.plan import Plan

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
    return Plan(base=found["asked"], during=found["event"], moment=moment)


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
_ONLY_ASKS = re.compile(r"(?:what|which|who)(?: \w+)? (?:is|are|was|were)", re.IGNORECASE)


def nested(question: str) -> Plan | None:
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
    outer = found["outer"].replace("{", "").replace("}", "")
    return Plan(base=question, inner=inner, outer=f"{outer} {{}}{found['behind'] or ''}")
