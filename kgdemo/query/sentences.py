"""A question in two sentences as one: *a cruise on the Danube. Which capitals lie on that river?*."""

from __future__ import annotations

import re

from kgdemo.query.measures import NUMBERS

_AND_WHAT_OF_IT = re.compile(  # *Who wrote it? And when did she die?*
    r"^(?:who|what)(?:'s| (?:is|was)) (?P<is>the [^?]+)\? (?:and )?(?P<asked>[^?]+)\?*$"
    r"|^who (?P<did>[^?]+)\? (?:and )?(?P<asked_of>[^?]+)\?*$",
    re.IGNORECASE,
)
_OF_WHICH_ONE = (
    (  # *Egypt and Jordan both lie on this sea. Which sea is it?*
        r"^(?P<x>.+?) and (?P<y>.+?) (?:both )?(?:have (?:a )?coasts?|lie|border|share|are) (?:on )?"
        r"(?:the same|this|one|a common) (?P<noun>\w+)[.;,?] *(?:which|what)(?: one| \w+)?"
        r"(?: is (?:it|that|this))?\?*$",
        r"which \g<noun> do both \g<x> and \g<y> border?",
    ),
    (  # *there's a metal that is liquid. What is it called?*
        r"^there(?:['’]s| is| are| was| were) (?:an?|one|some|only one|a certain) (?P<noun>(?:[\w-]+ ){0,2}?[\w-]+) "
        r"(?P<that>with|that|which|who|where|in|on) (?P<rest>[^.?!]+)[.,;:!]+ *(?:and |so )?"
        r"(?:(?:what|which|who)(?: (?:one|\w+))?(?:['’]s| is| was)(?: it| he| she| that| this)?(?: called| named)?"
        r"|(?:what|which|who) (?:am i|do i|do they) (?:looking for|mean|thinking of)"
        r"|what (?:do|did) (?:you|we|they|people) (?:call|name) (?:it|him|her)|(?:its|the) name)\?*$",
        r"which \g<noun> \g<that> \g<rest>?",
    ),
    (
        r"^(?:is|are) there (?:an?|any) (.+?) (?:that|which|who) (.+?)[?,.]+ *(?:and )?which(?: ones?)?\??$",
        r"which \1 \2?",
    ),
    (
        r"^(?:is|are) there (?:an?|any) (?P<noun>.+?) (?P<that>with|that|which|who|where|in|on) "
        r"(?P<rest>.+?)[,?]?(?: -)? "
        r"(?:and |but )?(?:which|what|who)(?: one)?(?:['’]s| is| are| would)(?: it| that| they| the \w+)?"
        r"(?: be| called| named)?\?*$",
        r"which \g<noun> \g<that> \g<rest>?",
    ),
    (
        r"^(?P<x>[^?,.]+?), (?:which|what) (?P<noun>\w+) (?:is|was|would) (?:that|it)(?: be)?\?*$",
        r"which \g<noun> is \g<x>?",
    ),
    (
        r"^(?:ranking|ordering|ordered|ranked|if (?:you|we|one) ranks?) (?P<x>the .+?) by (?:surface |total )?"
        r"(?P<measure>\w+), (?:which|what|who)(?: one)? (?:comes|is|ranks|would be|stands) (?:in )?(?P<nth>\w+)"
        r"(?: place)?\?*$",
        r"what is the \g<nth> largest by \g<measure> of \g<x>?",
    ),
    (
        r"^(?P<x>[A-Z][\w' ]*?) and (?P<y>[A-Z][\w' ]*?) (?:both|are|were|had|have)\b[^?]*[.;] +which (?:one )?of "
        r"(?:the two|them)"
        r" (?P<rest>[^?]+)\?*$",
        r"which \g<rest>, \g<x> or \g<y>?",
    ),  # what stands before *which one* says which of what
    (
        r"^.*?\bthe (?P<x>[A-Z]\w+) (?P<noun>book|novel|film|movie|album)s\b[^?]*?[.;,] +which (?:one |of them )?"
        r"(?:was|came)(?: \w+)? (?P<nth>first|last)\b.*$",
        r"what was the \g<nth> \g<x> \g<noun>?",
    ),
    (
        r"^(?:the )?[\w' -]+? is the (?P<est>\w+est) (?P<noun>[\w' -]+?)[.;,] +(?:but |and )?(?:which|what) "
        r"(?:one |\w+ )?is the (?P<nth>second|third|next)[ -](?:\w+est|biggest)\b.*$",
        r"what is the \g<nth> \g<est> \g<noun>?",
    ),
)
_OF_THAT_ONE = re.compile(  # *a cruise on the Danube. Which capitals lie on that river?*
    r"^.*\b(?:on|in|to|of|with|by|about|for|the) (?:the )?(?P<name>[A-Z]\w+(?: [A-Z]\w+)*)\b[^A-Z?]*[.;!] "
    r"(?P<asked>(?:[Ww]hat|[Ww]hich|[Ww]ho|[Ww]here|[Ww]hen|[Ii]n|[Oo]n|[Hh]ow)\b.*\bthat (?P<noun>river|country"
    r"|city|film|book"
    r"|band|island|mountain|planet|lake|sea|town|song|team)\b.*)$"
)
_STATED_OF_ONE = re.compile(  # *The Starry Night hangs in a museum; which city is that museum in?*
    r"^(?P<x>[^.?!;]+?) (?P<verb>hangs?|lives?|lies?|stands?|flows?|is|was|comes?|plays?|died|stars?)"
    r"(?: (?P<done>\w+ed|born|kept|set|built|found))? (?:only )?(?P<by>in|on|into|at|by|from|after) "
    r"(?:only )?(?:an?|one|a single) (?P<noun>queen|king|god|goddess|man|woman|person|scientist|country|city"
    r"|museum|island|continent|team|club|film|book|novel|play|poem|story|game|opera|comic|river|sea|state"
    r"|town|church|band|author|director|composer)(?: only)?(?:[;.,]| [-–—]) +(?:and )?"
    r"(?P<asked>(?:what|which|who|where|when|in|on|how)\b.*\b(?:its|his|her|that (?P=noun)|that|it|he|she)\b.*?)\?*$",
    re.IGNORECASE,
)
_THAT_ONE = (
    r"\b(?:that (?:country|city|museum|island|team|club|film|book|river|state|town|church|band)|that|it|he|she)\b"
)


_WHICH_ARE_THEY = re.compile(  # *there are two countries surrounded only by … Which are they?*
    rf"^there (?:are|were) (?:only |exactly |just )?(?:(?:{'|'.join(NUMBERS)}|\d+|some|several|a few) )?"
    r"(?P<what>[^.?!;]+)[.;,!:] +(?:which|what|who) (?:ones )?(?:are|were) (?:they|these|those)\?*$",
    re.IGNORECASE,
)
_THERE_IS_ONE = re.compile(  # *there's an element named after Mendeleev. What is its number?*
    r"^there(?:['’]s| is| was) (?:an?|one) (?P<x>[^.?!;]+)[.;,!] +(?:and )?"
    r"(?P<asked>(?:what|which|who|where|when|how|in)\b.*\b(?:its|his|her|their|it|he|she|they)\b.*?)\?*$",
    re.IGNORECASE,
)
_BUT_ITS = re.compile(  # *Hercule Poirot is Belgian, but what nationality was his creator?*
    r"^(?P<x>(?-i:[A-Z])[^.?!;,]+?) (?:is|was|has|had|comes|came|lived|lives) [^.?!;,]+, (?:but|and|so) "
    r"(?P<asked>(?:what|which|who|where|when|how|in)\b.*\b(?:its|his|her|their|it|he|she|they)\b.*?)\?*$",
    re.IGNORECASE,
)
_ITS_OF = re.compile(  # *the man who sang Purple Rain: what was his home town?*
    r"^(?P<x>the [\w-]+ (?:who|that|of|which|with|whose|in|on) [^.?!;:]+?) ?[:–-] "
    r"(?P<asked>(?:what|which|who|where|when|how|in)\b"
    r".*\b(?:its|his|her|their)\b.*?)\?*$",
    re.IGNORECASE,
)
_THERE = re.compile(  # *off to the country whose capital is Lima. What language do they speak there?*
    r"^.*\b(?:in|to|at|for|visit|visiting) (?P<x>the (?:country|city|town|island|state|region|place) [^.?!;]+?)[.;!] +"
    r"(?P<asked>(?:what|which|who|where|when|how|in)\b.*?)(?: over)? there(?:, please)?\?*$",
    re.IGNORECASE,
)
_WHO_IS_THAT = re.compile(  # *the director of Jaws has a famous friend. Who is he?*
    r"^(?P<x>[^.?!;]+?) (?:has|had) an? (?:[\w-]+ )?(?P<what>[\w-]+)[.;,!] +(?:and )?(?P<who>who|what) (?:is|was) "
    r"(?:he|she|it|that)\?*$",
    re.IGNORECASE,
)
_HAD_ONE = re.compile(  # *Louis XVI of France had a wife. Who was her mother?*
    r"^(?P<x>[^.?!;]+?) (?:has|had) (?:an?|one) (?P<what>[\w-]+)[.;,!] +(?:and )?"
    r"(?P<asked>(?:what|which|who|where|when|how|in)\b.*?)\?*$",
    re.IGNORECASE,
)
_TAG = re.compile(  # *Napoleon lost at Waterloo, didn't he?*
    r"^(?P<said>[^.?!]+?),? (?:(?P<helping>is|are|was|were|do|does|did|has|have|had|can|could|will)n['’]?t"
    r" (?:it|he|she|they|there)|innit|right|correct|(?:is that|that's) (?:right|correct|true)|true or false|yes or no)"
    r"\?*$",
    re.IGNORECASE,
)
_BASE_FORM = {  # of verbs that things are said with
    "hangs": "hang", "lies": "lie", "lives": "live", "stands": "stand", "takes": "take", "comes": "come",
    "plays": "play", "flows": "flow", "borders": "border", "orbits": "orbit", "means": "mean",
    "belongs": "belong", "eats": "eat",
    "lays": "lay", "contains": "contain", "has": "have", "speaks": "speak", "won": "win", "lost": "lose",
    "wrote": "write", "painted": "paint", "composed": "compose", "directed": "direct", "played": "play",
    "invented": "invent", "discovered": "discover", "died": "die", "lived": "live", "ruled": "rule", "fought": "fight",
    "sang": "sing", "founded": "found", "became": "become", "took": "take", "came": "come", "married": "marry",
    "killed": "kill", "starred": "star", "hosted": "host", "designed": "design", "built": "build", "began": "begin",
    "ended": "end", "reigned": "reign", "signed": "sign", "sank": "sink",
}  # fmt: skip
_STATES = re.compile(
    rf"^(?P<x>(?!(?:what|which|who|where|when|how|is|are|was|were|do|does|did|has|have|can)\b).+?) "
    rf"(?:(?P<be>is|are|was|were|can)|(?P<verb>{'|'.join(_BASE_FORM)})) (?P<rest>.+)$",
    re.IGNORECASE,
)
_WHOSE = re.compile(
    r"\b(?:its|his|her|their) (?P<what>[\w-]+"
    r"(?: (?!(?:is|was|were|are|called|named|born|die|in|on|of|from|by)\b)[\w-]+){0,2})",
    re.IGNORECASE,
)
_PAST = frozenset(verb for verb in _BASE_FORM if not verb.endswith("s"))


_IS_HE_RIGHT = re.compile(  # *my brother says that … Is he right?*
    r"^(?:[\w' -]+? )(?:says|said|thinks|claims|insists|reckons|believes|told (?:me|us)|swears)(?: that)? "
    r"(?P<said>[^.?!]+)[.,!;:]? (?:but )?(?:is|was|are) (?:he|she|it|that|this|they) (?:right|true|correct)\s*\?*$",
    re.IGNORECASE,
)
_IF_SO = re.compile(  # *is there a* country where …, *and if so which one?*
    r"^(?:is|are|was|were) there (?:an?|any|some) (?P<what>.+?),? (?:and )?if so,? (?P<asked>which|what|who)"
    r"(?: (?:ones?|is it|are they))?\s*\?*$",
    re.IGNORECASE,
)


def referring(text: str) -> str:
    """A question that speaks of *that river* or *which one*, with what a sentence before says of it."""
    text = re.sub(
        r"(?:…|\.\.\.) +(?=(?:and |so )?(?:is|are|was|were|do|does|did|who|what|which|where|when|how)\b)", ". ", text
    )
    if several := _WHICH_ARE_THEY.match(text):
        return f"name the {several['what']}?"
    text = re.sub(r",? (?:right|correct|you know)\? +(?=[A-Z])", ". ", text)
    if told := _IS_HE_RIGHT.match(text):
        text = f"{told['said']}, right?"
    text = _of_whom(_asked_whether(text))
    if one := _IF_SO.match(text):
        return f"{one['asked']} {one['what']}?"
    if one := _THERE_IS_ONE.match(text):
        text = in_place_of_it(one["asked"], f"the {one['x']}") or text
    elif one := _BUT_ITS.match(text) or _ITS_OF.match(text):
        text = in_place_of_it(one["asked"], one["x"]) or text
    elif one := _THERE.match(text):
        text = f"{one['asked']} in {one['x']}?"
    elif one := _WHO_IS_THAT.match(text):
        text = f"{one['who']} is the {one['what']} of {one['x']}?"
    elif one := _HAD_ONE.match(text):
        text = in_place_of_it(one["asked"], f"the {one['what']} of {one['x']}") or text
    told = _OF_THAT_ONE.match(text)
    if told:
        text = re.sub(rf"\bthat {told['noun']}\b", f"the {told['name']}", told["asked"], count=1)
    stated = _STATED_OF_ONE.match(text)
    if stated:
        text = _of_the_one(stated)
    for pattern, asked in _OF_WHICH_ONE:
        text = re.sub(pattern, asked, text, flags=re.IGNORECASE)
    return text


_ONE_IN_ANOTHER = re.compile(
    r"^(?P<x>[A-Z][\w'’-]*[^\Ws](?: [A-Z][\w'’-]+)*) in (?P<y>(?:the )?[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*) ?\?$"
)


def _asked_whether(text: str) -> str:
    """A statement with *isn't it?* or *right?* behind it as the question whether it is so; so *Portugal in NATO?*."""
    if found := _ONE_IN_ANOTHER.match(text):
        return f"is {found['x']} in {found['y']}?"
    tagged = _TAG.match(text)
    stated = _STATES.match(re.sub(r"['’]s (?=an?\b|the\b|still\b)", " is ", tagged["said"])) if tagged else None
    if tagged is None or stated is None:
        return text
    rest = re.sub(r"^(?:still|actually|really|officially) |,? (?:officially|really|actually)$", "", stated["rest"])
    if stated["be"]:
        return f"{stated['be']} {stated['x']} {rest}?"
    verb = stated["verb"].lower()
    return f"{'did' if verb in _PAST else 'does'} {stated['x']} {_BASE_FORM[verb]} {rest}?"


def in_place_of_it(asked: str, one: str) -> str:
    """A question with a thing in place of *its* or *it*; empty where it speaks of none."""
    whose = _WHOSE.sub(lambda said: f"the {said['what']} of {one}", asked, count=1)
    own = whose if whose != asked else re.sub(r"\b(?:it|he|she|they)\b", one, asked, count=1, flags=re.IGNORECASE)
    return f"{own}?" if own != asked else ""


def _of_whom(text: str) -> str:
    """Two questions, the second about the answer of the first, as one: *who is the mother of the god of war*."""
    found = _AND_WHAT_OF_IT.match(text)
    if not found:
        return text
    one, asked = found["is"] or f"the person who {found['did']}", found["asked"] or found["asked_of"]
    return in_place_of_it(asked, one) or text


def _of_the_one(stated: re.Match[str]) -> str:
    """What is asked of a thing that a sentence before describes, as one question."""
    one = f"the {stated['noun']} that {stated['x']} {stated['verb']} {stated['done'] or ''} {stated['by']}"
    one = re.sub(r" +", " ", one)
    behind = re.match(r"(?P<which>(?:what|which) \w+) (?P<rest>(?:is|are) .+) in$", stated["asked"], re.IGNORECASE)
    if behind:
        return f"in {behind['which']} {re.sub(_THAT_ONE, one, behind['rest'], count=1, flags=re.IGNORECASE)}?"
    asked = re.sub(r"\b(?:its|his|her) (?P<what>\w+)", rf"the \g<what> of {one}", stated["asked"], flags=re.IGNORECASE)
    if one not in asked:
        asked = re.sub(_THAT_ONE, one, asked, count=1, flags=re.IGNORECASE)
    return f"{asked}?"
