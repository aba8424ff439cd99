"""The sentence that asks, said in plain words, and what no graph answers: other languages, reasons, opinions.

People tell before they ask, and ask for what is no fact. All of this is told by words alone, before anything is looked
up; how the words are written is put right by ``spelling``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kgdemo.query.measures import NUMBERS

_LATIN = 0x24F  # the last letter of the Latin alphabets' code points

_ASKING_SENTENCE = re.compile(  # "…, so here goes: what is …?"; a full stop may stand in a name
    r"(?:^|(?<=[.!?:;])\s+|,\s+(?:but|so)\s+"
    r"|^(?!(?:if (?:you|we|i) (?:put|compare|weigh|place|set)|in|on"
    r"|at|during|out of|between|of|from|what|who|which|where|when|how)\b)(?:[\w']+ ){4,}[\w']+,\s+"
    r"|\b(?:know|wonder|wondering|ask|asking),?\s+"
    r"|\b(?:tell|telling|remind|reminding|inform|enlighten|show) (?:me|us)(?: about)?,?\s+)"
    r"(?P<asked>(?:(?:in|at|on|of|for|from|to|by|during)\s+)?"
    r"(?:whats?|whos?|whose|whom|which|wheres?|when|how|is|are|was|were|did|does|do|name|list)\b[^?!]*\?)",
    re.IGNORECASE,
)
_BEHIND_A_DASH = re.compile(  # *we are off to Zurich - what money do they use in Switzerland?*
    r"^.{3,}? [-–—] (?P<asked>(?:(?:in|at|on|of) )?(?:what|which|who|where|when|how)\b[^?]*\?)\s*$", re.IGNORECASE
)
_REFERS_BACK = re.compile(
    r"\b(?:he|she|it|its|his|her|they|their|them|that|this|those|there|ones?|two|both)\b"
    r"(?! (?:use|speak|eat|drive|pay|call)\b)",
    re.I,
)
_CLAIMED = re.compile(  # *my brother says that … Is that true?*
    r"^(?:fact check:? |(?:.*?\b(?:claims?|says?|said|told (?:me|us)|thinks?|believes?|insists?|heard|read|learnt"
    r"|learned)(?: that)? ))?"
    r"(?P<said>[^.?!]+)[.,;:]? (?:(?:true(?: or (?:not|false))?|right|correct|yes or no)|(?:is|was) (?:that|this"
    r"|it) (?:really "
    r")?(?:true|right|correct|so)"
    r"|(?:\w+(?: speaking)?, )?(?<!who )(?<!what )(?<!which )(?<!where )(?:is|was|are|were|does|did|do) (?:it|he"
    r"|she|they)(?: really)?)\?*$",
    re.IGNORECASE,
)
_OFFERS_TWO = re.compile(
    r"^(?:\S+ ){1,8}(?:or|vs\.?|versus) .{1,60}[:,;–-]\s*$", re.IGNORECASE
)  # *Bach or Verdi: who …*
_IN_A_MYTH = re.compile(  # whether it is so *in Norse mythology*: it is asked of the gods that are named
    r"^in (?:the )?(?:real )?(?:[\w-]+ )?(?:mythology|myths?|legends?|folklore)(?:, not [^,]+)?,? "
    r"(?=(?:is|are|was|were|did|does|do|has|have)\b|what (?:is|was|are|were) (?-i:[A-Z])[\w' -]+'s )",
    re.IGNORECASE,
)
_OF_A_MYTH = re.compile(
    r"^in (?P<whose>greek|roman|norse|egyptian|hindu|celtic|aztec|japanese)(?: mythology| myths?| legends?)?,? "
    r"(?P<asked>(?:who|what|which \w+) (?:is|was|are|were) the) (?P<god>gods?|goddess(?:es)?)\b",
    re.IGNORECASE,
)
_AT_THE_END = re.compile(
    r"(?:[\s,]*\b(?:(?:does|do) (?:anyone|anybody|someone|you) know|any ideas?|(?<=, )(?:dear|love|mate)|please|pls"
    r"|plz|thanks|thank you|thx|exactly|by the way|do you know|right now"
    r"|at the moment"
    r"|at present|in the end|in all|in total|(?:according to|by) (?:the )?(?:tradition|legend)"
    r"|on average|approximately|though|tho|(?<=, )help|nowadays|these days|again|so far|(?<!in )today"
    r"|or not|for (?:me|us)"
    r"|for (?:an?|my|our|the) (?:\w+ ){0,3}?(?:poster|project|quiz|homework|presentation|essay|lesson|class)))*"
    r"(?:[\s?!]|(?<=[a-z])\.)*$",
    re.IGNORECASE,
)

_WHY = re.compile(
    r"^(?:(?:please )?explain (?:to me |me |us |step by step )*(?:how|why|what)|why|how come|for what reason"
    r"|what(?: is|'s| was) the (?:reason|purpose|meaning (?=of life)|point)|what causes?d?)\b",
    re.IGNORECASE,
)
_LIVE = re.compile(
    r"""\b(?:weather|forecast|tonight|tomorrow|(?<!sang\ )(?<!wrote\ )(?<!sung\ )(?<!called\ )(?-i:(?<!\w\ )Y|y)esterday
    |this\ (?:week|month|year|morning|evening)|next\ (?:week|month|year)|last\ (?:week|month|night)
    |(?:happen\w*|play\w*|won|win|winning|losing|open|wear\w*|doing|going|trending|leading|trains?|flights?|news|on
      |presidents?|ministers?|kings?|queens?|leaders?|popes?|ceos?|champions?|coach|manager)
      \b.*\b(?:(?<!in\ )today|right\ now|at\ the\ moment)
    |at\ this\ (?:very\ )?moment|as\ we\ speak
    |what\ time\ is\ it|stock\ price|share\ price|exchange\ rate
    |how\ (?:many|much)\b.*\b(?:dollars?|euros?|pounds?|yen|rupees?)\ (?:right\ now|today|worth)
    |how\ many\ \w+\ (?:is|are|do\ i\ get\ for)\ (?:one|1|an?|ten|100)\ (?:us\ )?(?:dollars?|euros?|pounds?|yen)
    |ticket\ price|price\ of|(?:tickets|seats|tables|rooms)\ (?:left|available|free)
    |how\ much\ (?:does|do|is|are)\b.*\b(?:cost|worth)|latest\ (?:news|score|results?)|opening\ hours|traffic)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_TASK = re.compile(
    r"^(?:(?:write|compose|make up|invent|draw|paint|sing|draft|translate|summari[sz]e|tell me an?|recite)(?: me| us)? "
    r"(?:(?:an?|the|this|some) )?(?:\w+ ){0,2}"
    r"(?:poem|story|song|essay|joke|letter|picture|text|speech|email|code|tale)\b"
    r"|(?:translate|summari[sz]e) )",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"""\b(?:should(?!\ (?:like|love)\ (?:to|the|a)\b)|ought|favou?rite|in\ your\ opinion
    |do\ you\ (?:think|like|prefer|believe)
    |(?<!personal\ )(?:the\ )?(?:best|worst|greatest|nicest|coolest|cutest|prettiest|funniest
      |most\ (?:beautiful|interesting|famous|important|influential|popular|boring|overrated|underrated|talented))
     (?![- ]selling|\ picture|\ director|\ actor|\ actress|\ known|\ supporting|\ original|\ film|\ friend|\ lake
       |\ (?:places?|things?|time)\ to|(?-i:\ [A-Z]))
    |better|worse|nicer|more\ beautiful|more\ important)\b
    |\b(?:is|are)\ there\ (?:an?\ |any\ )?gods?\b|\bdo(?:es)?\ (?:an?\ )?gods?\ (?:really\ )?exist
    |\breally\ (?:belong|deserve|matter)s?\b
    |^(?:is|are|was|were)\ .+\ (?:disgusting|delicious|tasty|ugly|beautiful|boring|funny|cool|nice|bad|good|scary
     |weird|stupid|fun|evil|overrated|underrated|worth\ \w+)[?.!\s]*$""",
    re.IGNORECASE | re.VERBOSE,
)
_SAID_TO_BE = re.compile(r"\b(?:said|thought|believed|held|supposed|considered) to (?:be|have been)\b", re.IGNORECASE)
_FUTURE = re.compile(  # not *Will* that is somebody's name
    r"""^(?:(?:who|what|when|where|how|which)\b(?:\ \w+){0,3}?\ (?:will|shall)\b|will)
    (?!\ (?:i|we|you|he|she|they|one|people)\ need\b)
    \ (?:(?:not|never|ever|still|next)\ )?
      (?:the|an?|it|he|she|they|we|you|i|there|this|that|be|become|win|host|have|happen|get|take|lead|rule|play|end|come|go
      |die|direct|make|meet|reach|replace|succeed|start|begin|land
      |(?:\w+\ ){1,3}(?:ever\ )?(?:win|be|become|host|have|happen|end|die|write|release|publish|return|retire)\b)\b
    |^(?:who|what|when|where|which)\b.*(?:\b(?:is|are)|['’]s)\ (?:going\ to|gonna)\b
    |^(?:when|where)\ (?:is|are)\ the\ next\b
    |^(?:when|where|who)\b.*\bin\ the\ future\b""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKS_AT_ONCE = re.compile(
    r"^(?:in |on |at |of )?(?:what|which|who|whose|where|when|how|is|are|do|does|did"
    r"|would|will|can|could|may|name|tell)\b",
    re.I,
)
_PERSONAL = re.compile(
    r"""\b(?:my|our)\ (?:own\ |best\ |(?:\w+\ )(?=teacher))?
    (?:neighbou?r(?!\ totoro)|name|friend|mother|mum|mom|father|dad|brother|sister|wife
    |husband|son|daughter|teacher|boss|girlfriend|boyfriend|dog|cat|pet|car|phone|house|home|school|class|birthday
    |age|address|password|uncle|aunt|cousin|grand\w+)s?\b
    |\b(?:most\ )?like\ me\b|\b(?:am|did|have|was)\ i\b(?!\ (?:right|correct))|\bmy\ \w+[’']s\b""",
    re.IGNORECASE | re.VERBOSE,
)
_PRIVATE = re.compile(
    r"\b(?:(?:tele)?phone|mobile|cell|fax) number|\be-?mail(?: address)?\b|\bpasswords?\b"
    r"|\b(?:home|private|postal) address|\bbank account|\bcredit card|\bwi-?fi\b",
    re.IGNORECASE,
)
_HOW_TO = re.compile(
    r"^how (?:do|does|can|could|to|should|would|might|is|are|did|was|were)\b(?!.*\b(?:old|many)\b)", re.IGNORECASE
)
_HOW_IT_IS = re.compile(r"^how (?:is|are|was|were|did)\b.*\b(?:called|named|spelled|die|died|related)\b", re.IGNORECASE)
_NO_GRAPH = {
    "language": "I read English only; this looks like another language. Please ask in English.",
    "why": "It asks for a reason, and a graph holds facts, not reasons.",
    "task": "It asks for something to be written or done; I answer questions, one at a time.",
    "live": "It asks for what changes from day to day, and this graph is not kept up to the day.",
    "future": "It asks for what is yet to come, and a graph holds what has been and is.",
    "opinion": "It asks for a judgement, and a graph holds facts, not opinions.",
    "personal": "It asks about you or somebody whom you know, and the graph holds what is known of everybody.",
    "private": "It asks for what is nobody's but its owner's, which a graph of common knowledge does not hold.",
    "how": "It asks how something is done or works, and a graph holds facts, not explanations.",
}
_ENGLISH = frozenset(
    "the of is was what who which where when how are were did does do in to by has have had a an on for and from with "
    "whose many it that name tell list".split()
)
_FOREIGN = frozenset(
    "der die das und ist wer wie wo wann welche welcher welches hat ein eine von mit wurde nicht den dem "  # German
    "le la les des est qui que quel quelle quels où quand comment une dans sont pour avec du et au "  # French
    "el los las es quién quien qué cuál cual dónde donde cuándo cuando cómo como una del por para fue "  # Spanish
    "il lo gli chi cosa quando dove quale sono della nel di che è "  # Italian
    "o os uma quem onde qual são foi da "  # Portuguese
    "waar wanneer welke het een van zijn".split()  # Dutch
)

_CALLED_BEHIND = re.compile(  # *the deepest lake, how is it called*
    r"^(?P<x>(?:the|an?|first|last) [^,?]+), (?:(?:how|what) (?:is|was) (?:it|he|she) called|"
    r"what(?: is|'s) (?:its|his|her|the) name|"
    r"which(?: one)? is (?:it|that)|(?:what|how) do (?:you|we|they|people) call it)\W*$",
    re.IGNORECASE,
)


def plain_question(text: str) -> str:
    """A question without what stands before and behind it; of several sentences the one that asks.

    Args:
        text: what was typed, or its plain words.
    """
    whole = " ".join(text.split())
    text = _CALLED_BEHIND.sub(r"what is \g<x>", _IN_A_MYTH.sub("", _WHICH_ONES.sub(r"which \g<x> \g<y>", whole)))
    behind = _BEHIND_A_DASH.match(text)
    if behind and re.search(r" [A-Z]", behind["asked"]) and not _REFERS_BACK.search(behind["asked"]):
        text = behind["asked"]
    claimed = _CLAIMED.match(text)
    asking = [found for found in _ASKING_SENTENCE.finditer(text) if found["asked"].count(" ") > 1]
    if claimed:
        text = f"{claimed['said']} right?"
    elif asking and not _OFFERS_TWO.search(text[: asking[-1].start("asked")]):
        text = asking[-1]["asked"]
    text = _AT_THE_END.sub("", text) or text or whole
    for pattern, better in _SAID_AT_EASE:
        text = pattern.sub(better, text)
    return text


_IN_FEWER_WORDS = (
    (
        re.compile(r"\bpresidents of (?:the )?(?:USA?|U\.S\.(?:A\.)?|United States(?: of America)?|America)(?!\w)"),
        "US presidents",
    ),
    (re.compile(r"\b(?:the )?second world war\b"), "World War II"),  # in small letters the *second* is a place
    (re.compile(r"\b(?:the )?first world war\b"), "World War I"),
    (re.compile(r"\b(?:King|Queen|Emperor|Empress|Tsar|Pope) (?=[A-Z][a-z]+ [IVX]+\b)"), ""),
    (re.compile(r" together with (?:his|her|their) (?:husband|wife|brother|sister|partner)\b", re.IGNORECASE), ""),
)
_SO_MANY_OF_THEM = re.compile(  # *name the five great lakes*
    r"^(?P<lead>(?i:(?:.*\b)?(?:name|list|(?:what|who|which) (?:are|were))(?: all)?(?: of)?(?: the)?)"
    rf"(?: [A-Z]\w+['’]s)?) (?:{'|'.join(NUMBERS)}|\d\d?) (?P<rest>[\w ]+s\b.*)$"
)


def in_fewer_words(question: str, is_name: Callable[[str], bool]) -> str:
    """A question with what it names in the words that names have, and without how many things it asks for.

    Args:
        question: as it was typed.
        is_name: whether some words are a name, *three musketeers*.
    """
    for pattern, better in _IN_FEWER_WORDS:
        question = pattern.sub(better, question)
    found = _SO_MANY_OF_THEM.match(question)
    if not found:
        return question
    words = question[found.end("lead") :].split()
    names = (" ".join(words[:length]).strip("?.!, ") for length in range(2, 5))
    return question if any(map(is_name, names)) else f"{found['lead']} {found['rest']}"


_WHICH_ONES = re.compile(  # *are there mammals that lay eggs? Which ones?*
    r"^(?:are|is) there (?:any |an? )?(?P<x>\w+) (?:that|which|who) (?P<y>[^?]+)\?,? (?:and )?(?:if so,? )?which"
    r"(?: ones?)?(?: are they| is it)?\W*$",
    re.IGNORECASE,
)
_SAID_AT_EASE = (
    # *can you see Michelangelo's David in Florence*
    (
        re.compile(
            r"^can (?:you|i|we|one|people) (?:still )?(?:see|visit|find) (?P<x>.+?) in (?P<y>(?:the )?(?-i:[A-Z]).+)$",
            re.I,
        ),
        r"is \g<x> in \g<y>",
    ),
    # *does Pluto still count as a proper planet*
    (
        re.compile(
            r"^(?:does|do|is|are) (?P<x>.+?) (?:still )?(?:officially )?(?:count(?:ed|s)?|considered|classed|classified"
            r"|regarded)(?: to be| as)? (?P<a>an?) (?:proper |real |true )?(?P<y>[a-z]+)"
            r"(?:,? (?:by|according to) .+)?$",
            re.IGNORECASE,
        ),
        r"is \g<x> \g<a> \g<y>",
    ),
    (re.compile(r"^(?P<q>how many .+) now$", re.IGNORECASE), r"\g<q>"),
    # *lightest of all the chemical elements*
    (re.compile(r"^(?:the )?(?P<est>[a-z]{3,}est) of (?:all )?(?:the )?(?P<x>[a-z ]+?)s$", re.I), r"the \g<est> \g<x>"),
    # *gold or lead: which is the denser metal*
    (
        re.compile(
            r"^(?P<x>[^:,?]+ or [^:,?]+)[:,] (?:which|who|what)(?: one)? (?P<be>is|was) the "
            r"(?P<er>[a-z]{2,}e(?:r|st)|(?:more|less) [a-z]+) [a-z]+$",
            re.IGNORECASE,
        ),
        r"which \g<be> \g<er>, \g<x>",
    ),
    # *out of Saturn, Mars and Earth which is the largest*
    (
        re.compile(
            r"^(?:out of|of|among|between) (?P<x>[^?]+?),? (?:and|or) (?P<y>[^,?]+?),? "
            r"(?P<which>(?:which|who|what)(?: one)? (?:is|was|are|has) the [a-z]{2,}est)$",
            re.IGNORECASE,
        ),
        r"\g<which>: \g<x> or \g<y>",
    ),
    # *what's in a BLT?*, *what goes into a margarita?*
    (
        re.compile(
            r"^(?:what|which)(?:['’]?s| is| are| (?:\w+ ){0,2}?goe?s?)(?: there)? (?:in|into) an? (?P<x>[\w'’ -]+)$",
            re.IGNORECASE,
        ),
        r"what are the main ingredients of \g<x>",
    ),
    (re.compile(r"^(?P<who>who|what) (?P<x>the .+) (?P<be>was|is|were|are)$", re.IGNORECASE), r"\g<who> \g<be> \g<x>"),
    # *how tall is Hyperion, that giant redwood tree?*
    (
        re.compile(
            r"^(?P<q>(?i:how|when|where|what|who)\b[^,?]* [A-Z][\w'’-]*), (?:that|the|this|an?) "
            r"(?:(?!(?:is|was|are|were|did|does|who|which|that|or|and)\b)[\w'’-]+ ?){1,6}\?*$"
        ),
        r"\g<q>",
    ),
    # *there's this film with a boy who is left at home, what's it called*
    (
        re.compile(
            r"^(?:my \w+ (?:says|said|told me|thinks)(?: that)? )?there(?:['’]?s| is| was) (?:this|that|an?) "
            r"(?P<x>.+?),? what(?:['’]?s| is| was) (?:it|he|she|its name"
            r"|the name)(?: called)?\b",
            re.IGNORECASE,
        ),
        r"what is the \g<x>",
    ),
    (
        re.compile(
            r"^(?P<who>who|what)(?:['’]?s| is| was) (?:that|this) (?=\w+ (?:\w+ ){0,4}?(?:who|that|which)\b)", re.I
        ),
        r"\g<who> is the ",
    ),
    (
        re.compile(r"^what (?:do|would) (?:you|we|they|people) call (?:that|this|the|an?) ", re.IGNORECASE),
        "what is the ",
    ),
    (re.compile(r"^(?:the )?names of (?:all |each of )?(?:the )?(?=[a-z])", re.IGNORECASE), "name the "),
    (
        re.compile(
            r"^(?P<much>how (?:many|much|long) [\w ]*?)\bshould (?P<x>an? [\w ]+) (?=have|last|be)", re.IGNORECASE
        ),
        r"\g<much>does \g<x> ",
    ),
)
_NAME = re.compile(r"(?<=[^.?!\s] )[A-Z][^\W\d_]+")  # a capital letter that does not begin a sentence


def names_in(text: str) -> list[str]:
    """The words of a question that are written as names are."""
    return _NAME.findall(text)


_ON_THE_COAST = re.compile(
    r"\b(?:have|has) (?:a |an? \w+ )?(?:coasts?|coastlines?|shores?) (?:on|along|at|of)\b", re.IGNORECASE
)


_NO_COAST = re.compile(
    r"\b(?P<which>which|what|list|name) (?P<before>[\w ]*?)(?P<noun>countr(?:y|ies)|states?)"
    r"(?P<where>(?: are| is| lie)? (?:in|of|that borders?) [\w ]+?)? "
    r"(?:without(?: an?| any)?|(?:(?:and|that|which) )?"
    r"(?:(?:with|have|has) no|(?:do|does)(?: not|n['’]?t) (?:have|border|touch)(?: an?| any| the)?))"
    r" (?:sea ?)?(?:coast(?:line)?s?|access|sea|ocean)(?: to (?:the|an) (?:sea|ocean))?(?: at all)?\b",
    re.IGNORECASE,
)
_LATIN_NAME = re.compile(r"\b(?:latin|botanical|binomial|taxonomic) name\b(?= (?:of|for)\b|[?.! ]*$)", re.IGNORECASE)


_MOTHER_TONGUE = re.compile(
    r"\b(?:do|does) (?:the )?most (?:people|humans) speak(?: natively| as (?:their|a) (?:mother tongue|first language"
    r"|native language))?\b|\bis spoken (?:natively )?by (?:the )?most (?:people|humans)\b",
    re.IGNORECASE,
)
_OF_ENGLAND = re.compile(  # who reigns there now reigns over the United Kingdom
    r"^(?P<now>.*\b(?:(?:who|what) is|present|current|reigning)\b.*\b(?:king|queen|monarch)) of england\b",
    re.IGNORECASE,
)


_CAR_MAKERS = re.compile(
    r"\b(?:car ?(?:makers?|manufacturers?|companies|company|brands?|producers?)"
    r"|auto(?:mobile )?(?:makers?|manufacturers?))\b",
    re.IGNORECASE,
)


_NUMBER = "first|second|third|fourth|fifth"
_BOTH_NUMBERED = re.compile(  # *the First or the Second World War*
    rf"\b(?P<one>{_NUMBER})(?P<or> (?:or|and) (?:the )?)(?P<other>{_NUMBER}) "
    r"(?P<name>(?-i:[A-Z])\w+(?: (?-i:[A-Z])\w+)?)",
    re.IGNORECASE,
)
_CANNOT_FLY = re.compile(
    r"\b(?P<birds>birds?)(?P<where> (?:from|of|in) [\w ]+?)?,? (?:(?:that|which|who) )?"
    r"(?:can't|cannot|can not|don't|are unable to|aren't able to) fly\b",
    re.I,
)
_HAS_GOT = re.compile(r"\b(?P<many>how many .+?) (?:has|have) (?P<x>.+?)(?: normally| usually)? got\b", re.IGNORECASE)
_OWN_OFFICE = re.compile(  # *India's first prime minister*
    r"\b(?P<owner>(?-i:[A-Z])\w+)['’]s (?:very )?(?P<nth>first|second|third|last) "
    r"(?P<office>(?:female |woman )?(?:prime minister|president|chancellor|king|queen|emperor|monarch))\b",
    re.IGNORECASE,
)
_BIRTHPLACE = re.compile(
    r"^(?:please )?(?:what (?:is|was) |name |tell me |give me )?(?:the )?"
    r"(?:(?:birth ?place|place of birth) of (?P<x>[^?]+?)|(?P<owner>[^?]+?)(?:'s|’s) (?:birth ?place|place of birth))"
    r"(?=[?.! ]*$)",
    re.IGNORECASE,
)
_BIRTH_DATE = re.compile(
    r"^(?:please )?(?:what(?: is|['’]s| was) |tell me |give me )?(?:the )?"
    r"(?:(?:date of birth|birth ?date|birth ?day|birth ?year) of (?P<x>[^?]+?)"
    r"|(?P<owner>[^?]+?)['’]s (?:date of birth|birth ?date|birth ?day|birth ?year))(?=[?.! ]*$)",
    re.IGNORECASE,
)
_PASS_AWAY, _PASSES_AWAY = (re.compile(rf"\b{word} away\b", re.IGNORECASE) for word in ("pass", "pass(?:ed|es)"))
_IN_DEGREES = re.compile(  # a value is given in the unit that the graph has, and as it is at sea level
    r"(?<=\w) (?:at sea level"
    r"|at (?:normal|standard) pressure|\((?:normal|standard) pressure\)|on average)(?= |[?.! ]*$)",
    re.IGNORECASE,
)


_OF_NATION = {  # who is from there, by an adjective
    **dict.fromkeys(("frenchman", "frenchwoman"), "French"), **dict.fromkeys(("englishman", "englishwoman"), "English"),
    **dict.fromkeys(("irishman", "irishwoman"), "Irish"), **dict.fromkeys(("welshman", "welshwoman"), "Welsh"),
    **dict.fromkeys(("dutchman", "dutchwoman"), "Dutch"), **dict.fromkeys(("scotsman", "scotswoman"), "Scottish"),
    "spaniard": "Spanish", "dane": "Danish", "swede": "Swedish", "finn": "Finnish", "pole": "Polish",
    "turk": "Turkish", "scot": "Scottish", "briton": "British", "brit": "British",
}  # fmt: skip
_IS_OF_NATION = re.compile(
    rf"^(?P<is>(?:is|was|are|were) .+?) an? (?P<who>{'|'.join(_OF_NATION)})(?=[?.! ]*$)", re.IGNORECASE
)


def in_plain_verbs(text: str) -> str:
    """A question in which a thing is named only to say what is done: to *have a coast on* a sea is to *border* it."""
    text = _NO_COAST.sub(lambda said: f"which {said['before']}{said['noun']}{said['where'] or ''} are landlocked", text)
    text = _LATIN_NAME.sub("scientific name", text)
    text = re.sub(r"\b(?:(?:in|during|of) |so far )?this century\b", "since 2001", text, flags=re.IGNORECASE)
    text = _OF_ENGLAND.sub(r"\g<now> of the United Kingdom", _MOTHER_TONGUE.sub("has the most native speakers", text))
    text = _OF_A_MYTH.sub(r"\g<asked> \g<whose> \g<god>", text)
    text = _CANNOT_FLY.sub(r"flightless \g<birds>\g<where>", text)
    text = _OWN_OFFICE.sub(r"the \g<nth> \g<office> of \g<owner>", text)
    text = re.sub(r"\b(gave|brought|left|taught) us\b", r"\1", text, flags=re.IGNORECASE)
    text = re.sub(r"(?<=est )(\w+(?: \w+)?) (?:alive|living)(?: today| now)?\b", r"\1", text, flags=re.IGNORECASE)
    text = re.sub(r"\bhuman being\b", "person", text, flags=re.IGNORECASE)
    text = _IS_OF_NATION.sub(lambda said: f"{said['is']} {_OF_NATION[said['who'].lower()]}", text)
    text = re.sub(r"\b(\d{4}) (?:men's )?(?:(?:football|soccer) )world cup\b", r"\1 FIFA World Cup", text, flags=re.I)
    text = re.sub(r"\bcapitol(?= of\b)", "capital", text, flags=re.IGNORECASE)
    text = re.sub(r",? (?:while|whilst|when) (?:still )?in (?:office|power)\b", "", text, flags=re.IGNORECASE)
    text = _HAS_GOT.sub(r"\g<many> does \g<x> have", text)
    text = _BOTH_NUMBERED.sub(r"\g<one> \g<name>\g<or>\g<other> \g<name>", text)
    text = re.sub(
        r"^(what|who)(?:'s| (is|was|are|were)) the names? of (?=the |[\w ]+'s )",
        lambda said: f"{said[1]} {said[2] or 'is'} ",
        text,
        flags=re.IGNORECASE,
    )
    text = _BIRTH_DATE.sub(lambda said: f"when was {said['x'] or said['owner']} born", text)
    text = _PASSES_AWAY.sub("died", _PASS_AWAY.sub("die", text))
    text = _BIRTHPLACE.sub(lambda said: f"where was {said['x'] or said['owner']} born", text)
    text = _IN_DEGREES.sub("", text)
    text = _CAR_MAKERS.sub(
        lambda found: "automotive companies" if found[0].endswith("s") else "automotive company", text
    )
    text = re.sub(r"\b(die|died) at an? (younger|older) age\b", r"\1 \2", text, flags=re.IGNORECASE)
    return _ON_THE_COAST.sub("border", text)


def beyond_graphs(text: str) -> str:
    """Why no graph of facts answers a question; empty where one may."""
    return _NO_GRAPH.get(_kind_beyond(plain_question(text), text), "")


def is_private(text: str) -> bool:
    """Whether a text asks for what is nobody's but its owner's."""
    return _kind_beyond(plain_question(text), text) == "private"


def _kind_beyond(question: str, text: str) -> str:
    letters = [letter for letter in text if letter.isalpha()]
    if letters and sum(ord(letter) > _LATIN for letter in letters) > len(letters) / 2:
        return "language"
    words = re.findall(r"[^\W\d_]+", question.lower())
    known = sum(word in _ENGLISH for word in words)
    if sum(word in _FOREIGN and word not in _ENGLISH for word in words) >= max(2, known + 1):
        return "language"
    if _WHY.search(question):
        return "why"
    said = " ".join(text.split())
    if _TASK.match(question):
        return "task"
    if _LIVE.search(said[max(said.find(question), 0) :]):
        return "live"
    if _PERSONAL.search(question) and _ASKS_AT_ONCE.match(question):
        return "personal"
    if _PRIVATE.search(question):
        return "private"
    if _FUTURE.search(question):
        return "future"
    opinion = _OPINION.search(question)
    if opinion and not (_in_a_title(question, opinion) or _SAID_TO_BE.search(question)):
        return "opinion"
    return "how" if _HOW_TO.search(question) and not _HOW_IT_IS.search(question) else ""


def _in_a_title(question: str, found: re.Match[str]) -> bool:
    """Whether words that judge are part of a name, *World's Greatest Dad*, where not every word has a capital."""
    before, said = question[: found.start()], re.sub(r"^the ", "", found[0])
    plain = [word for word in re.findall(r"\w+", question.replace(found[0], "")) if len(word) > 3]
    return said[:1].isupper() and bool(re.search(r"[A-Z][\w'’]* $", before)) and any(word.islower() for word in plain)
