"""What is said in many ways, and the way in which the readers of forms know it: one table, tried from top to bottom."""

from __future__ import annotations

import re
from collections.abc import Callable

from kgdemo.query.measures import NUMBERS, ORDINALS, number_of_word

PRESENT = {
    "won": "win", "wrote": "write", "directed": "direct", "painted": "paint", "composed": "compose", "made": "make",
    "recorded": "record", "hosted": "host", "founded": "found", "invented": "invent", "produced": "produce",
    "published": "publish", "discovered": "discover", "released": "release", "built": "build",
    "starred in": "star in", "completed": "complete",
}  # fmt: skip
_MADE_PAST = (
    "published|wrote|painted|composed|invented|discovered|founded|released|recorded|directed|built|won|hosted|found"
)
_MANY = r"(?:two|three|four|five|six|seven|eight|nine|ten|twelve|fifty|\d+)"
_LARGEST_BY = {  # what things are ranked by, and the adjective that says so
    "area": "largest", "size": "largest", "population": "most populous", "height": "tallest", "length": "longest",
    "depth": "deepest", "weight": "heaviest", "mass": "most massive",
}  # fmt: skip
_Rewording = str | Callable[[re.Match[str]], str]
_IN_OTHER_WORDS: tuple[tuple[str, _Rewording], ...] = (  # what is said in many ways, and how it is said here
    # of two things set in front, which one it is
    (
        r"^(?:of |between |out of )?(?:these |the )?(?:two )?(?:\w+s,? )?(?:the )?((?-i:[A-Z])?[^,:;?]+?) "
        r"(?:or|and|vs\.?|versus) (?:the )?([^,:;?]+?)(?: ?[:;,–]| -+) "
        r"((?:which|who|what)\b.*\b(?:\w+er|more|less|fewer|first|last|most)\b.*)$",
        r"\3, \1 or \2",
    ),
    (r"(?<=the )((?:[a-z]+est|most [a-z]+)) one$", r"\1"),
    (r"^how (?:long|big|thick) is (.+) in (pages|chapters|words|verses|volumes)$", r"how many \2 does \1 have"),
    (r"\b(in|after|before|since|until) the year (?=\d{3,4}\b)", r"\1 "),
    (
        r"^((?:which|what) (?:presidents|prime ministers|kings|queens|popes|chancellors|emperors|mayors|governors))"
        r" did (.+?) have (?=after|since|before|between)",
        r"\1 of \2 took office ",
    ),
    (r"\b(?:in|from) (\d{4}) (?:or (?:later|after)|onwards?)\b", r"since \1"),
    (r"\b(?:in|from) (\d{4}) or (?:earlier|before)\b", r"until \1"),
    # kin and lives
    (r"\ban? adult(?= (?:have|has)\b)", "an adult human"),
    (
        r"^(?:does|do|did|is|has|have) (.+?) or (.+?) (?:have|has) (?:the |a )?"
        r"(higher|lower|larger|greater|smaller|bigger|more|fewer) (.+)$",
        r"which has the \3 \4, \1 or \2",
    ),
    (r"\blived to (?:be|become) (?:the )?(?:older|oldest)\b", "lived longer"),
    (r"\b(?:lived to|reached|died at) (?:an? |the )?(?:older|greater|higher) age\b", "lived longer"),
    (r"\b(?:dad|daddy)\b", "father"),
    (r"\bcame up with\b", "invented"),
    (r"^who (?:was|is) (the .+) (?:married|wed) to$", r"who is the spouse of \1"),
    # what something is called
    (r"\b(?:nicknamed|dubbed|also known as|better known as)\b", "called"),
    (
        r"\bthe (?:[\w-]+ ){1,3}(?:who|that|which) (?:(?:is|was|were|used to be|went by|had been) )?"
        r"(?:(?:better|also|formerly|once|previously|originally|earlier) )?(?:known as|called|named|by the name of) "
        r"((?:the )?(?-i:[A-Z])\w+(?: (?:of |the |with |de )*(?-i:[A-Z])\w+)*)",
        r"\1",
    ),
    (r"\bhome ?town\b", "birthplace"),
    (  # *where was the player born who scored it*
        r"^(where|when|in (?:which|what) \w+) (was|were) (the \w+) (born|buried|shot|killed|raised) "
        r"(who|whose|that) (.+)$",
        r"\1 \2 \3 \5 \6 \4",
    ),
    (r"\b(?:exact|precise|actual) (?=[a-z])", ""),
    # of namesakes the one of a year
    # numbers and places in an order
    (
        r"^(?!what|which|who|how|the\b|in\b|total\b)(.+?)(?<! by) (?:number of|total of) (\w+s)(?: won)?$",
        r"how many \2 did \1 win",
    ),
    (
        r"\b(?:independent|sovereign) (?:state|nation|countr(?:y|ie))(s)?\b",
        lambda said: "countries" if said[1] else "country",
    ),
    (
        r"^(?!what|which|who|how|in\b|of\b|at\b|tell|and\b)([\w'’.:& -]{2,40}?),? how many ([a-z]+s)"
        r"(?: are there| in total)?$",
        r"how many \2 does \1 have",
    ),
    # times
    # places
    (
        r"^(?:what|which)(?: is the)? (strait|channel|sea|river|gulf|ocean|canal|mountains|range|desert)"
        r"(?: is| lies| runs| flows)? between (.+? and .+)$",
        r"which \1 separates \2",
    ),
    # whether it is so
    (r"^((?:which|what) planets .*\b(?:near|clos|farth|furth)er) (?:to|from) the sun(?= than\b)", r"\1"),
    (
        r"\bthe (?:footballer|singer|actor|actress|painter|composer|writer|author|poet|physicist|scientist|philosopher"
        r"|explorer|musician|artist|politician|director|inventor|architect|chemist|mathematician|novelist|dancer"
        r"|athlete|boxer|guitarist|pianist|playwright) (?=(?-i:[A-Z]\w+)(?: (?-i:[A-Z])| (?:was|is|born|died|live|write"
        r"|paint|compose|play|study|win|come)\b|$))",
        "",
    ),
    (r"^how many (.+?) ((?:in|of|on) .+?) are there$", r"how many \1 are there \2"),
    (
        r"^who (came after|succeeded|followed|came before|preceded) (.+?) as (?:the )?\w+(?: \w+)?(?: of .+)?$",
        r"who \1 \2",
    ),
    (
        r"\bthe ((?:\w+ )?(?:state|country|city|county|province)) where ((?-i:[A-Z])[\w' -]+) is$",
        r"the \1 that \2 is in",
    ),
    (
        r"\b(mountains|peaks|volcanoes|hills|buildings|towers|skyscrapers) (?:of |that are )?(?:over|above|more than) "
        r"(\d[\d,]*) (met(?:er|re)s|m|feet)(?: high| tall)?\b",
        r"\1 higher than \2 \3",
    ),
    (r"^in (?!how|what|which)((?:the )?[\w' -]+?),? (how many .+)$", r"\2 in \1"),
    (
        r"^(?!what|which|who|in |on |of |if )([^,]+), (is|was|are|were) (?:it|he|she|they) "
        r"((?:an?|the|in|on|from|part|made|still|really)\b.+)$",
        r"\2 \1 \3",
    ),
    (r"^(?:what (?:is|was) )?(?:the )?(?:place of birth|birth ?place) of (.+)$", r"where was \1 born"),
    (r"^who (?:is|was) (?:the one )?(?:married|wed) to (the .+)$", r"who is the spouse of \1"),
    (r"^(?:has|have|did) (.+?) (?:ever |already |yet )?(?:joined|join) (.+?)(?: yet| already)?$", r"is \1 in \2"),
    (
        r"^(what|which) (currency|money|language|plug|visa) (?:will|do|does|would|should|must) "
        r"(?:i|we|you|one|people|he|she|they) "
        r"(?:have to |need to )?(?:need|use|take|bring|speak|want|pay with)(?: (?:for|in|on|when|if|with|during))*"
        r"(?: (?:my|our|a|the|your) (?:trip|holiday|visit|journey|stay|vacation) (?:to|in)"
        r"| (?:i|we|you) (?:am |are )?(?:go|going|travel|travelling|fly|visit)(?: to| in)?)? (.+)$",
        r"what is the \2 of \3",
    ),
    (r"\b(?:bring|brought|put) out\b", "release"),
    (
        r"\b(which|what)(?: one)? (?:was )?(?:launched|opened|appeared|debuted|released|arrived|existed) "
        r"(first|earlier|later|last)\b",
        r"\1 came out \2",
    ),
    (r" AND ", " and "),
    (
        rf"^(?:(?:out )?of|among|amongst|from)(?: all)?(?: of)? (?:the )?(?:{_MANY} )?"
        r"((?:[\w'-]+ ){0,2}(?!this|is)\w+s),? (?:which|who|what)(?: one)?(?: of them)? (?=is|was|has|have|had|\w+s\b)",
        r"which of the \1 ",
    ),
    (
        r"^(?:do|does) (?:they|people|you|cars|everybody|everyone|we) drive on the (left|right)\b.*? in (.+)$",
        r"does \2 drive on the \1 side of the road",
    ),
    (r"^(?:the )?year of (?:the )?(?:issue|release|publication) of (.+)$", r"when was \1 released"),
    (r" while (?:(?:they|he|she) (?:was|were) )?(?:still )?in office$", ""),
    (r"\b(planets?|moons?) (?:in|of) (?:our|the) solar system\b", r"\1"),
    (r"\b(?:normal |average |usual )*body temperature (?:of|in|for)\b", "temperature of"),
    (r"\b(?:an? )?(?:neutral |single )?((?-i:[a-z])\w+) atom (?=have\b|has\b|contain)", r"\1 "),
    (
        r"^((?:what|which)(?: one)? (?:is|are|was|were) the (?:\w+est|most \w+)) of (?:all )?the ([a-z ]+s\b.*)$",
        r"\1 \2",
    ),
    (r"\bmelts at (?:(?:an?|the) )?(higher|lower) temperature\b", r"has the \1 melting point"),
    (r"\bboils at (?:(?:an?|the) )?(higher|lower) temperature\b", r"has the \1 boiling point"),
    (r"^(is|are) (.+) at room temperature$", r"\1 \2"),
    (
        r"\bof the (country|city|continent|state|region) ((?!where|in|that|which|whose|of)[\w' -]+?) "
        r"(comes?|is|are|was|were|lives?) (?:from|in|born in|native to)$",
        r"of the \1 where \2 \3",
    ),
    (
        r"^(?:what|which) (?:alphabet|script) (?:is|do they use for|is used for) (?:the )?(.+?)(?: language)?"
        r"(?: written in| use| written with)?$",
        r"what is the writing system of \1",
    ),
    (
        r"^(?!who|what|which|where|when|how)((?:[\w-]+ )?\w+) (?:which|that) "
        r"(is|are|was|lives?|has|can) (?!\w+ (?:is|was)$)",
        r"which \1 \2 ",
    ),
    (r"\bvery (?=first|last)", ""),
    (r"(?<=est )(.+?),? by (?:total |land |surface )?(?:area|size)$", r"\1"),
    (r"\bwas (younger|older) when (?:he|she|they) died\b", r"died \1"),
    (
        r"^((?:what|which) (?:is|was)) the (?:title|name) of (the (?:first|second|third|fourth|fifth|sixth|last"
        r"|final)\b.+)$",
        r"\1 \2",
    ),
    (r"^(?:does|do) .+? (?:count|class|classify|regard|consider) (.+?) (?:as|to be) (an? .+)$", r"is \1 \2"),
    (r"^((?:who|what) (?:is|was) the (?:oldest|youngest|tallest)) of the (\w+)s$", r"\1 member of the \2s"),
    (r"\b(?:right|just|immediately|directly|straight) (?=(?:after|before)\b)", ""),
    (r"\bwith (.+?) in (?:the cast|it|them|the lead|(?:a|the) leading role)$", r"starring \1"),
    (
        r"^when (?:was|did) (?:the )?(?:very )?(?:first|pilot) episode of (.+?)"
        r"(?: on (?:tv|television)| air(?:ed)?| shown| broadcast)*$",
        r"when did \1 begin",
    ),
    (
        r"^(?:(?:which|what) (?:\w+ )??species (?:belong to|are in|are part of)|(?:(?:list|name|give|show)(?: me)? )?"
        r"(?:all )?(?:the )?species (?:in|of)) (?:the )?genus (\w+)$",
        r"what are the examples of \1",
    ),
    (
        r"^(which|what) (\w+) has the (second|third|fourth|fifth) (?:largest|biggest|highest|greatest) "
        r"(area|population)\b(.*)$",
        r"what is the \3 largest \2\5 by \4",
    ),
    (
        r"^(?:what|which) (?:is )?(?:the )?element (?:is )?(?:number |no\.? )(\d+)"
        r"(?: (?:in|of|on) the periodic table)?$",
        r"which element has the atomic number \1",
    ),
    (r"\b(?:which|what) (\w+) is number (\w+) (?:in|of|on) (.+)$", r"what is the number \2 \1 of \3"),
    (r"^(?:in )?(?:which|what) year (finished|ended) (?:the )?(.+)$", r"when did the \2 end"),
    (r"^(?:in )?(?:which|what) year (started|began) (?:the )?(.+)$", r"when did the \2 begin"),
    (
        r"^how (?:many \w+|long) (?:does|do|is|lasts?) (?:the |an? )?(?:pregnancy|gestation(?: period)?) "
        r"(?:of|in|for) (.+?)(?: last| take)?$",
        r"how long is \1 pregnant",
    ),
    (r"\b(has|have) no (moon|ring)\b", r"\1 no \2s"),
    (r"\b(has|have) at least (?:one|1) (moon|ring)s?\b", r"\1 \2s"),
    (
        r"^are there (more|fewer) people (?:living )?in (.+?) than (?:there are )?in (.+)$",
        r"does \2 have \1 people than \3",
    ),
    (r"^how long ago (?=(?:did|was|were)\b)", "when "),
    (r"^((?:which|what|who)(?: one)? has (?:more|fewer) \w+) (?!or\b|of\b|than\b|in\b)(?=[\w' -]+ or )", r"\1, "),
    (r"^(?:which|what) (\w+) (is|was) (.+?)(?:'s|(?<=s)') (?:the )?((?:\w+ )?\w+est)$", r"what \2 the \4 \1 in \3"),
    (
        r"^(?:what is )?(?:the )?sum of (?:the |its |all )*(?:interior |inner |internal )?angles (?:of|in) (.+)$",
        r"what is the angle sum of \1",
    ),
    (
        r"^(?:what|how much) do (?:the |all )*(?:interior |inner )?angles (?:of|in) (.+?) add up to(?: in degrees)?$",
        r"what is the angle sum of \1",
    ),
    (r"\b(which|what)( one)?'s (?=\w+er\b)", r"\1\2 is "),
)
_IN_OTHER_WORDS_PATTERNS = [(re.compile(pattern, re.IGNORECASE), other) for pattern, other in _IN_OTHER_WORDS]
_NTH = {place: word for word, place in ORDINALS.items()}
_NUMBERED = re.compile(rf"\bthe number (?P<number>{'|'.join(NUMBERS)}|[2-9])\b", re.IGNORECASE)
_RANKED = re.compile(rf"\b(?P<nth>\w+) largest by (?P<measure>{'|'.join(_LARGEST_BY)}) of\b", re.IGNORECASE)
_MADE_IN_WHAT_YEAR = re.compile(  # *Clyde Tombaugh found Pluto in which year*, *the year Darwin published* a book
    rf"^(?:(?P<x>.+?) (?P<verb>{_MADE_PAST}) (?P<y>.+) in (?:what|which) year"
    rf"|(?:the )?year (?:(?:that|when|in which) )?(?P<x2>.+?) (?P<verb2>{_MADE_PAST}) (?P<y2>.+))$",
    re.IGNORECASE,
)


_TENS = {
    word: 1900 + 10 * place
    for place, word in enumerate("twenties thirties forties fifties sixties seventies eighties nineties".split(), 2)
}
_DECADE = re.compile(rf"(?<=\bthe )((?:early|mid|late)[ -])?({'|'.join(_TENS)})\b", re.IGNORECASE)
_CENTURY = re.compile(rf"\b({'|'.join(word for word in ORDINALS if word.endswith('th'))}) century\b", re.IGNORECASE)


def _nth(number: int) -> str:
    return _NTH.get(number, f"{number}th")


def in_other_words(question: str) -> str:
    """A question in the words that the readers of forms know."""
    question = _CENTURY.sub(lambda said: f"{ORDINALS[said[1].lower()]}th century", question)
    question = _DECADE.sub(lambda said: f"{said[1] or ''}{_TENS[said[2].lower()]}s", question)
    for pattern, other in _IN_OTHER_WORDS_PATTERNS:
        question = pattern.sub(other, question)
    question = _NUMBERED.sub(lambda said: f"the {_nth(number_of_word(said['number']))}", question)
    question = _RANKED.sub(lambda said: f"{said['nth']} {_LARGEST_BY[said['measure']]} of", question)
    made = _MADE_IN_WHAT_YEAR.match(question)
    if not made:
        return question
    verb = (made["verb"] or made["verb2"]).lower()
    present = "discover" if verb == "found" else PRESENT[verb]
    return f"when did {made['x'] or made['x2']} {present} {made['y'] or made['y2']}"
