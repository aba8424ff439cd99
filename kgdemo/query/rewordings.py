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
_DECADES = {
    "twent": 1920, "thirt": 1930, "fort": 1940, "fift": 1950, "sixt": 1960, "sevent": 1970, "eight": 1980,
    "ninet": 1990,
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
    (r"^(.+?) (?:vs\.?|versus|or) (.+?)(?: ?[:;,–]| -+) (?:the )?(more|fewer) (\w+)$", r"more \4: \1 or \2"),
    (r"^(.+?) (?:vs\.?|versus|or) (.+?)(?: ?[:;,–]| -+) (?:the )?(\w+er)(?: one)?$", r"which is \3, \1 or \2"),
    (
        r"^(?:which is )?(\w+er) (?:by|in) (?:area|size|population|height|length|depth|weight)[,:] (.+ or .+)$",
        r"which is \1, \2",
    ),
    (r"^(.+? or .+?), where do more people live$", r"which has more people, \1"),
    (
        r"^(?:are there |do )?more people (?:living |live )?in (.+?) or (?:in )?(.+)$",
        r"which has more people, \1 or \2",
    ),
    (
        r"^(?:normally |usually )?,? ?is there (more|less) ([a-z]+) in (?:an? |the )?"
        r"(?:(?:cup|glass|bottle|bar|gram) of )?"
        r"(.+?) or (?:in )?(?:an? |the )?(?:(?:cup|glass|bottle|bar|gram) of )?(.+)$",
        r"which has \1 \2, \3 or \4",
    ),
    (r"\b(?:had|have|has) (?:the|a) (longer|shorter) life\b(?! expectancy)", r"lived \1"),
    (r"^(which .+?) (?:is|are|was) the (\w+er) one(?=,)", r"\1 is \2"),
    (r"\bcome to (?:the )?(?:cinemas?|theat(?:er|re)s|screens?)\b", "come out"),
    (r"^(which|who)(?: of them| one)? (has|had|have|won) the most (.+), (.+ or .+)$", r"\1 \2 more \3, \4"),
    (
        r"^if (?:you|we|i) (?:put|compare|weigh|place|set) (.+?) and (.+?)"
        r"(?: on a scale| on the scales| side by side)?, "
        r"which(?: one)? (?:would be|is|will be) (?:the )?(\w+er)\b.*$",
        r"which is \3, \1 or \2",
    ),
    # kin and lives
    (r"\b(?:dad|daddy)\b", "father"),
    (r"\b(?:mum|mom|mummy|mommy)\b", "mother"),
    (r"\bauthoress\b", "author"),
    (r"\bpassed away\b", "died"),
    (r"\bcame up with\b", "invented"),
    (r"^who (?:was|is) (the .+) (?:married|wed) to$", r"who is the spouse of \1"),
    (
        r"^(?:the )?year (?:that )?(?:somebody|someone|people|they|anybody) (?:first )?"
        r"(invented|discovered|founded|released|built|made|found) (.+)$",
        r"when was \2 \1",
    ),
    (r"^(\d{4})[:,] (.+) that year$", r"\2 in \1"),
    (
        r"^(?:through|in|into|over|across) how many (\w+) (?:does|do|did) (.+?) (?:flow|run|pass|go)$",
        r"how many \1 does \2 flow through",
    ),
    # what something is called
    (r"\b(?:nicknamed|dubbed|also known as|better known as)\b", "called"),
    (r"\bdebut (?=album|novel|film|single|book|movie|feature|play|symphony|opera)", "first "),
    (r"^(?:there is |there's )?a (?:special )?(?:word|name|term) for (.+?)[.,;:] what is it$", r"what is \1 called"),
    (r"^what (?:do|does|did) (?:you|we|one|people|they) call (the .+)$", r"what is \1"),
    (
        r"\bthe (?:[\w-]+ ){1,3}(?:who|that|which) (?:(?:is|was|were|used to be|went by|had been) )?"
        r"(?:(?:better|also|formerly|once|previously|originally|earlier) )?(?:known as|called|named|by the name of) "
        r"((?:the )?(?-i:[A-Z])\w+(?: (?:of |the |with |de )*(?-i:[A-Z])\w+)*)",
        r"\1",
    ),
    (r"\bhome ?town\b", "birthplace"),
    (r"^((?:what|which)(?: is|'s| was) (?:the )?(?!.* of )[^?]+)'s home country$", r"\1's nationality"),
    (
        r"^(?!what|which|who|when|where|how|is|are|was|were)([^,:;?]+?)[,:] ?(?:so )?what(?: is|'s| was) "
        r"(?:the|its|his|her) (\w+(?: \w+)?)(?: called)?$",
        r"what is the \2 of \1",
    ),
    (
        r"^(?!what|which|who|when|where|how)([^,:;?]+?)[,:] (who|what) (is|was|are|were) (?:she|he|it|they|that)$",
        r"\2 \3 \1",
    ),
    (  # *where was the player born who scored it*
        r"^(where|when|in (?:which|what) \w+) (was|were) (the \w+) (born|buried|shot|killed|raised) "
        r"(who|whose|that) (.+)$",
        r"\1 \2 \3 \5 \6 \4",
    ),
    (r"\b(?:exact|precise|actual) (?=[a-z])", ""),
    (
        r"\b(planets?) (?:that |which )?(?:go(?:es|ing)?|orbit(?:s|ing)?|circl(?:es?|ing)|mov(?:es?|ing)) "
        r"(?:a?round )?(?:our|the) sun\b",
        r"\1",
    ),
    (r"^what(?: is|'s) the (\w+) called (where|that|which|who|with|in which) ", r"which \1 \2 "),
    # of namesakes the one of a year
    (
        r"((?-i:[A-Z])[\w'’ -]+?), the (?:one|film|version|movie|book|novel|song) (?:from|of) (\d{4})\b",
        r"\1 (\2)",
    ),
    # numbers and places in an order
    (r"\bin (?:one|a|just one) single\b", "in a single"),
    (r"\bwhat is (planet|president|symphony|film|book|episode) number (\w+)\b", r"what is the number \2 \1"),
    (
        r"^(?:the )?(?:no\.?|number|#) ?(\d|two|three|four|five) (?:on|in|of|among) (?:the )?(?:list of )?(?:the )?"
        r"(?:world's )?(\w+est) (\w+?)s?$",
        r"what is the number \1 \2 \3 in the world",
    ),
    (
        r"^(?:the )?([\w' -]+?) is the (\w+est) ([\w' -]+?)[.;,] +(?:but |and )?which(?: one| \w+)? comes "
        r"(?:right |just |directly )?(?:after (?:it|that|this)|next|second)$",
        r"what is the second \2 \3",
    ),
    (
        r"^(?!what|which|who|how|the\b|in\b|total\b)(.+?) (?:number of|total of) (\w+s)(?: won)?$",
        r"how many \2 did \1 win",
    ),
    (r"^(.+?) ((?:[a-z]+ )?[a-z]+s), how many(?: in total| altogether| in all)?$", r"how many \2 does \1 have"),
    (
        r"\b(?:independent|sovereign) (?:state|nation|countr(?:y|ie))(s)?\b",
        lambda said: "countries" if said[1] else "country",
    ),
    (
        rf"^(?:the )?(?:total )?number of ([a-z]+s) ((?-i:[A-Z])[\w'’. -]+?) ({'|'.join(PRESENT)})$",
        lambda said: f"how many {said[1]} did {said[2]} {PRESENT[said[3].lower()]}",
    ),
    (
        r"^since (?:what year|which year|when) (?:is|has|have|are) (.+?) (?:been )?(?:in|part of|a member of) (.+)$",
        r"when did \1 join \2",
    ),
    (r"\blifted (the (?:[\w'’]+ )*(?:cup|trophy|title|shield)s?)\b", r"won \1"),
    (r"^(.+?) (?:have|has) got how many (\w+)$", r"how many \2 does \1 have"),
    (
        r"^(?!what|which|who|how|in\b|of\b|at\b|tell|and\b)([\w'’.:& -]{2,40}?),? how many ([a-z]+s)"
        r"(?: are there| in total)?$",
        r"how many \2 does \1 have",
    ),
    (r"\b(?:cut|chopped|hacked|struck|sliced) off (?:the )?(?:(\w+)['’]s head|head of (\w+))\b", r"killed \1\2"),
    (r"\b(?:cut|chopped|hacked|struck|sliced) (?:the )?(?:(\w+)['’]s head|head of (\w+)) off\b", r"killed \1\2"),
    (
        r"^at how many degrees(?: \w+)? (does|do|will) (.+?) (boil|melt|freeze)(?: at)?$",
        r"at what temperature \1 \2 \3",
    ),
    (
        r"^(?:what|which) (?:top |maximum |highest )?speed (?:can|does|do|could) (.+?) (?:reach|run|have|get to|go)$",
        r"how fast is \1",
    ),
    (r"\bhow deep is the deepest (?:point|part|place) (?:of|in) ", "how deep is "),
    (r"^(\w+s) in one (\w+)$", r"how many \1 does a \2 have"),
    (r"^(?!what|which|who|when)([^,:;?]+)[,:] ?(?:the |its |his |her )?(?:date|year)$", r"when was \1"),
    (r"^(when .+|year .+) (?:as an? (?:book|film|movie|novel|song|game))$", r"\1"),
    (r"\b(?:were|was|became|are) (?:the )?(football |rugby |cricket )?world champions?\b", r"won the \1World Cup"),
    (r"^year (.+) won (the .+)$", r"when did \1 win \2"),
    (
        r"^(which|what) (\w+) (?:has |have )?sold (?:the )?(?:most|more) copies"
        r"(?: than any other| ever| of all time)?$",
        r"what is the best-selling \2 of all time",
    ),
    (r"\btop[ -]selling\b", "best-selling"),
    # times
    (r"\bthe (twent|thirt|fort|fift|sixt|sevent|eight|ninet)ies\b", lambda said: f"the {_DECADES[said[1].lower()]}s"),
    # places
    (
        r"^(?:what|which)(?: is the)? (strait|channel|sea|river|gulf|ocean|canal|mountains|range|desert)"
        r"(?: is| lies| runs| flows)? between (.+? and .+)$",
        r"which \1 separates \2",
    ),
    (
        r"\b(countr(?:y|ies)|nations?|states?)((?: in| of) [\w ]+?)? (?:that |which )?(?:have|has) no (?:sea )?"
        r"(?:coast(?:line)?|access to the sea|shore)\b",
        r"landlocked \1\2",
    ),
    (
        r"^(.+?) (?:flows|empties|drains|runs|ends|falls|goes) (?:into|in) (?:what|which) (\w+)$",
        r"into which \2 does \1 flow",
    ),
    (
        r"^(.+?) (?:is|lies) in (?:an?|the) (country|city|state|continent|region) whose "
        r"(capital|currency|language|president) "
        r"is(?: ?\.\.\.| what| which)?$",
        r"what is the \3 of the \2 that \1 is in",
    ),
    # whether it is so
    (r"^(?:does|do) (?:an? |the )?(.+?) (?:still )?(?:officially )?count as (an? .+)$", r"is \1 \2"),
    (
        r",? (?:botanically|officially|scientifically|technically|strictly|biologically)(?: speaking)?(?=$|,)",
        "",
    ),
    (r"\b(?:normal|ordinary|usual) (room temperature)\b", r"\1"),
    (r", (?:please )?(?:just )?(?:give me |name )(?:just |only |any )?one(?: please)?$", ""),
    (r"\bmost (deep|high|tall|long|small|old|young|fast|cold|strong|short|near|light|rich|low)\b", r"\1est"),
    (r"\bmore (deep|high|tall|long|small|old|young|fast|cold|strong|short|near|rich|low)\b", r"\1er"),
    (r"\bmost (large|wide)\b", r"\1st"),
    (r"\bmore (large|wide)\b", r"\1r"),
    (r"\bmore big\b", "bigger"),
    (r"\bmore heavy\b", "heavier"),
    (r"\bmost big\b", "biggest"),
    (r"^((?:which|what) planets .*\b(?:near|clos|farth|furth)er) (?:to|from) the sun(?= than\b)", r"\1"),
    (r"\bon [\w' -]+, (?=\d{1,2} \w+ \d{4}\b)", "on "),
    (r"\bmost hot\b", "hottest"),
    (r"\bmost heavy\b", "heaviest"),
    (r"\b(?:brought|brings|bring) (.+?) to (?:an end|its end|a close)\b", r"ended \1"),
    (r"\bmost of (.+?) (lies|is|are|lie)\b", r"\1 \2"),
    (
        r"^(.*\b(?:come out|came out|released|shown|start|begin|appear|premiere)) "
        r"(?:in (?:the )?(?:cinemas?|theat(?:er|re)s)|on (?:the )?(?:tv|television|radio|screen|stage))$",
        r"\1",
    ),
    (
        r"^(?:what |which )?(?:is )?(?:the )?(\w+) (?:is )?in (?:the )?(\w+th|first|second|third) place "
        r"(?:of|in|on) (.+)$",
        r"what is the \2 \1 of \3",
    ),
    (
        r"^(?:which|what) member (?:states|countries) of (.+?) (are|have|use|border|were) (?!of\b)",
        r"which countries in \1 \2 ",
    ),
    (
        r"\bthe (?:footballer|singer|actor|actress|painter|composer|writer|author|poet|physicist|scientist|philosopher"
        r"|explorer|musician|artist|politician|director|inventor|architect|chemist|mathematician|novelist|dancer"
        r"|athlete|boxer|guitarist|pianist|playwright) (?=(?-i:[A-Z]\w+)(?: (?-i:[A-Z])| (?:was|is|born|died|live|write"
        r"|paint|compose|play|study|win|come)\b|$))",
        "",
    ),
    (r"^who came after (.+?) as (?:the )?\w+(?: \w+)?(?: of .+)?$", r"who succeeded \1"),
    (r"^who came before (.+?) as (?:the )?\w+(?: \w+)?(?: of .+)?$", r"who preceded \1"),
    (
        r"^by (?:total |surface |land )?(area|size|population|height|length|mass|weight),? ((?:what|which)\b.+)$",
        r"\2 by \1",
    ),
    (r"\b(?:last but one|second to last|next to last|second[ -]last)\b", "penultimate"),
    (
        r"^(?:which|what) (\w+) (is|was) ((?-i:[A-Z])[\w. -]+?(?:'s|(?<=s)')) "
        r"((?:very )?(?:first|last|latest|final|second|third|\w+est))$",
        r"what \2 \3 \4 \1",
    ),
    (
        r"\bthe first ((?:[\w']+ ){0,3}(?:championships?|cup|games|olympics)) in ((?:18|19|20)\d\d)\b",
        r"the \1 in \2",
    ),
    (r"^how many (.+?) ((?:in|of|on) .+?) are there$", r"how many \1 are there \2"),
    (
        r"^who (came after|succeeded|followed|came before|preceded) (.+?) as (?:the )?\w+(?: \w+)?(?: of .+)?$",
        r"who \1 \2",
    ),
    (
        r"^what (?:all )?(?:goes|is put|do you put) (?:into|in) (?:an? |the )?(?:classic |traditional |proper )?(.+)$",
        r"what are the main ingredients of \1",
    ),
    (r"\b(?:reached|lived to|attained) (?:the|an?) (?:greater|higher|older) age\b", "lived longer"),
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
    (r"^(?!what|which|who)([^,]+), (?:how|what) (is|are|was|were) (?:it|he|she|they) (?:called|named)$", r"what \2 \1"),
    (r"^(?:what (?:is|was) )?(?:the )?(?:date of birth|birthday|birth ?date) of (.+)$", r"when was \1 born"),
    (r"^(?:what (?:is|was) )?(?:the )?(?:date of death|death ?date) of (.+)$", r"when did \1 die"),
    (r"^(?:what (?:is|was) )?(?:the )?(?:place of birth|birth ?place) of (.+)$", r"where was \1 born"),
    (r"^(which|what) neighbou?rs of ((?-i:[A-Z])[\w' -]+?) (are|have|were)\b", r"\1 countries bordering \2 \3"),
    (
        r"\b(plays?|played|portrays?|portrayed|voices?|voiced) (?:the (?:role|part|character) of"
        r"|(?:an?|the) \w+ (?:called|named)|the character) (?=(?-i:[A-Z]))",
        r"\1 ",
    ),
    (
        r"^((?:what|which) (?:is|was) the (?:first|last|latest|final|second|third|fourth|fifth|sixth) \w+) "
        r"(?:that|which) ((?-i:[A-Z])[\w. -]+?) "
        r"(?:wrote|composed|painted|directed|made|published|released|recorded)$",
        r"\1 by \2",
    ),
    (r"^in order of \w+,? ", ""),
    (
        r"^(which|what) (\w+) has the (second|third|fourth|fifth) (?:largest|biggest|highest|greatest) "
        r"(area|population)\b(.*)$",
        r"what is the \3 largest \2\5 by \4",
    ),
    (
        r"^how long (?:is|does) (?:the )?(?:pregnancy|gestation)(?: period)? of (?:an? |the )?(.+?)(?: last| take)?$",
        r"how long is \1 pregnant",
    ),
    (
        r"^(?:what is the |which is the )?(?:nearest|closest) star\b.*\b(?:apart from|besides|other than"
        r"|except(?: for)?|not counting|after) (?:the |our )?(?:own )?sun$",
        "what is the nearest star to the Sun",
    ),
    (r"\bthe (?:highest|greatest|largest|biggest) number of (?=\w)", "the most "),
    (r"\bthe (?:lowest|smallest) number of (?=\w)", "the fewest "),
    (
        r"^(?:from|since) when (?:to|till|until)(?: when)? (?:was|were|did) (.+? (?:queen|king|pope|president"
        r"|prime minister|chancellor|emperor|reign|rule))(?: .*)?$",
        r"how long was \1",
    ),
    (r"^(?:when|on (?:what|which) (?:day|date)|what day) (?:do|does) .+? celebrate (.+)$", r"when is \1"),
    (
        r"^(?:(?:out )?of|between|from) (?:the )?([^,]+?) (?:and|or) ([^,]+?), "
        r"((?:which|what|who)\b.*\b(?:\w+er|more|fewer|first|last)\b.*)$",
        r"\3, \1 or \2",
    ),
    (r"^((?:which|what|who)(?: one)? has (?:more|fewer) \w+) (?!or\b|of\b|than\b|in\b)(?=[\w' -]+ or )", r"\1, "),
    (r"^(?:which|what) (\w+) (is|was) (.+?)(?:'s|(?<=s)') (?:the )?((?:\w+ )?\w+est)$", r"what \2 the \4 \1 in \3"),
    (r"^who (?:is|was) (?:the one )?(?:married|wed) to (the .+)$", r"who is the spouse of \1"),
    (r"\b(nearest|closest) to us\b", r"\1 to the Earth"),
    (
        r"^(?:which|what) (\w+) (is|lies) (?:the )?(nearest|closest) to (?:the )?((?:planet )?earth)$",
        r"what is the \3 \1 to the \4",
    ),
    (r"^(?:has|have|did) (.+?) (?:ever |already |yet )?(?:joined|join) (.+?)(?: yet| already)?$", r"is \1 in \2"),
    (
        r"^(what|which) (currency|money|language|plug|visa) (?:will|do|does|would|should|must) "
        r"(?:i|we|you|one|people|he|she|they) "
        r"(?:have to |need to )?(?:need|use|take|bring|speak|want|pay with)(?: (?:for|in|on|when|if|with|during))*"
        r"(?: (?:my|our|a|the|your) (?:trip|holiday|visit|journey|stay|vacation) (?:to|in)"
        r"| (?:i|we|you) (?:am |are )?(?:go|going|travel|travelling|fly|visit)(?: to| in)?)? (.+)$",
        r"what is the \2 of \3",
    ),
    (r"^(?:counting|counted|starting|going) (?:outwards? )?from the sun(?: outwards?)?, (.+)$", r"\1 from the sun"),
    (
        r"^(?:apart from|besides|other than|except(?: for)?|not counting|after) (?:the|our)(?: own)? sun, .*\b"
        r"(?:(?:nearest|closest) star|star (?:is|lies) (?:the )?(?:nearest|closest))\b.*$",
        "what is the nearest star to the Sun",
    ),
    (r"^(?:apart from|besides|other than|except(?: for)?|not counting) (?:the|our)(?: own)? sun, ", ""),
    (r",? (?:apart from|besides|other than|except(?: for)?|not counting) (?:the|our)(?: own)? sun$", ""),
    (r"\b(?:bring|brought|put) out\b", "release"),
    (
        r"\b(which|what)(?: one)? (?:was )?(?:launched|opened|appeared|debuted|released|arrived|existed) "
        r"(first|earlier|later|last)\b",
        r"\1 came out \2",
    ),
    (r"^(.+ (?:does|do|did)) ((?-i:[A-Z])[\w. -]+?)(?:'s|(?<=s)') (\w+est) (\w+)\b", r"\1 the \3 \4 in \2"),
    (
        r"(?<!both )\bthe (summer|winter|men's|women's) and (?:the )?(summer|winter|women's|men's) (?=\w)",
        r"both the \1 and the \2 ",
    ),
    (r" AND ", " and "),
    (r"\b(which|who|what)(?: one)? of (?:(?:the|these|those) two|them)\b", r"\1"),
    (r"\b(who|what|which)(?:'s| is| has) got (?=more|the|fewer)", r"\1 has "),
    (r"\bmore (.+?) than (?:in |on |at )?any(?:one|body|thing|where)?(?: other \w+)?(?: else)?$", r"the most \1"),
    (
        rf"^(?:(?:out )?of|among|amongst|from)(?: all)?(?: of)? (?:the )?(?:{_MANY} )?"
        r"((?:[\w'-]+ ){0,2}(?!this|is)\w+s), (?:which|who|what)(?: one)?(?: of them)? (?=is|was|has|have|had|\w+s\b)",
        r"which of the \1 ",
    ),
    (r"\b(most|fewest|least) people(?: living| who live| that live) (?:in it|there|in them)$", r"\1 people"),
    (r"\bhow (tall|high|long|wide|deep) (?:does|do) (.+?) (?:stand|rise|reach|get|go|run|stretch)$", r"how \1 is \2"),
    (r"\bhow far down (?:does|do) (.+?) (?:go|reach|extend)$", r"how deep is \1"),
    (r"^(how fast (?:does|do|can) .+?) (?:in|through) (?:an? |the )?(?:vacuum|air|space)$", r"\1"),
    (r"\b(?:sat|was|been) on the throne\b", "reigned"),
    (r"^how often (did|has|have) (.+?) (win|won|host|hosted)\b", r"how many times \1 \2 \3"),
    (r"^(which \w+(?: \w+)?) with (.+? as an? .+)$", r"\1 has \2"),
    (r"\b(?:which|what) (\w+) is number (\w+) (?:in|of|on) (.+)$", r"what is the number \2 \1 of \3"),
    (r"\b(?:which|what) (\w+) is number (\w+) (from .+)$", r"what is the number \2 \1 \3"),
    (
        r"^(?:which|what) (\w+) became the (\w+) (?:one )?(?:of|in) (.+)$",
        r"what is the \2 \1 of \3",
    ),
    (r"^(?:the |which )?(\w+) with (?:the )?most wins (?:in|of|at) (.+)$", r"which \1 has won \2 the most times"),
    (r"^(?:the )?(?:launch|launching) (?:year|date) (?:of|for) (.+)$", r"when was \1 launched"),
    (r"^(?:the )?(?:release|publication) (?:year|date) (?:of|for) (.+)$", r"when was \1 released"),
    (r"^(?!the |what|which|when)(.+) launch (?:year|date)$", r"when was \1 launched"),
    (r"^(?!the |what|which|when)(.+) (?:release|publication) (?:year|date)$", r"when was \1 released"),
    (
        r"^(?:what|which) (?:species|kinds?|types?|sorts?) of (\w+) (?:grows?|lives?|gets?|runs?|flies|swims?|is|are)"
        r"(?: the)? (\w+est)$",
        r"what is the \2 \1",
    ),
    (
        r"^(?!what|which|who|how)(\w+s) (?:on|of|in) an? (?:standard |modern |full |normal |grand )*(\w+)$",
        r"how many \1 does a \2 have",
    ),
    (
        r"^(?:the )?(.+? monarch|king|queen|.+? ruler|.+? president)"
        r" with the (longest|shortest) (?:reign|time in office)$",
        r"who was the \2 reigning \1",
    ),
    (
        r"^(?:on )?(?:which|what) side (?:of the road )?(?:do|does) (?:they|people|you|cars) drive(?: on)? in (.+)$",
        r"which side of the road does \1 drive on",
    ),
    (
        r"^(?:do|does) (?:they|people|you|cars|everybody|everyone|we) drive on the (left|right)\b.*? in (.+)$",
        r"does \2 drive on the \1 side of the road",
    ),
    (r"^(does .+ drive on the (?:left|right))(?:[- ]hand)?(?: side)?$", r"\1 side of the road"),
    (r"\b(shares?|shared|have|has) (?:a )?land (border|boundary|frontier)s? (with|to)\b", r"\1 a border \3"),
    (r"\bland (borders?)\b", r"\1"),
    (r"^(when .+?),? (?:in )?(?:which|what) (?:year|date|day)$", r"\1"),
    (r"^(?:in )?(?:which|what) year (finished|ended) (?:the )?(.+)$", r"when did the \2 end"),
    (r"^(?:in )?(?:which|what) year (started|began) (?:the )?(.+)$", r"when did the \2 begin"),
    (r"^(?:the )?year of (?:the )?(?:issue|release|publication) of (.+)$", r"when was \1 released"),
    (
        r"^how (?:many \w+|long) (?:does|do|is|lasts?) (?:the |an? )?(?:pregnancy|gestation(?: period)?) "
        r"(?:of|in|for) (.+?)(?: last| take)?$",
        r"how long is \1 pregnant",
    ),
    (
        r"^(?:what is )?(?:the )?sum of (?:the |its |all )*(?:interior |inner |internal )?angles (?:of|in) (.+)$",
        r"what is the angle sum of \1",
    ),
    (
        r"^(?:what|how much) do (?:the |all )*(?:interior |inner )?angles (?:of|in) (.+?) add up to(?: in degrees)?$",
        r"what is the angle sum of \1",
    ),
    (r" while (?:(?:they|he|she) (?:was|were) )?(?:still )?in office$", ""),
    (r"\bdo(?: not|n['’]?t) have any (?=(?:moon|ring)s?\b)", "have no "),
    (r"\bdoes(?: not|n['’]?t) have any (?=(?:moon|ring)s?\b)", "has no "),
    (
        r"^(?:after|behind) ([^,]+), ((?:what|which)(?:['’]?s| is| was) the) next (\w+est) (.+)$",
        r"\2 second \3 \4 after \1",
    ),
    (r" at (?:its|their) (?:deepest|highest|widest|longest|tallest)(?: point)?$", ""),
    (r"\b(planets?|moons?) (?:in|of) (?:our|the) solar system\b", r"\1"),
    (r"\b(?:lie|sit|orbit) (?=(?:closer|nearer|farther|further) )", "are "),
    (r"\b(?:lies|sits|orbits) (?=(?:closer|nearer|farther|further) )", "is "),
    (r"\b(has|have) no (moon|ring)\b", r"\1 no \2s"),
    (r"\b(has|have) at least (?:one|1) (moon|ring)s?\b", r"\1 \2s"),
    (r"\b(?:normal |average |usual )*body temperature (?:of|in|for)\b", "temperature of"),
    (r"^(?:the )?(\w+s of .+?),? how many (?:are there|of them|is there)(?: are there)?$", r"how many \1 are there"),
    (r"\b(?:an? )?(?:neutral |single )?((?-i:[a-z])\w+) atom (?=have\b|has\b|contain)", r"\1 "),
    (r"\bthe (\w+est) single (?=\w)", r"the \1 "),
    (r"^(who .+|which person .+) (the most .+) of (?:all|anyone|anybody|everybody)$", r"\1 \2"),
    (
        r"^((?:what|which)(?: one)? (?:is|are|was|were) the (?:\w+est|most \w+)) of (?:all )?the ([a-z ]+s\b.*)$",
        r"\1 \2",
    ),
    (
        r"^which of ((?-i:[A-Z])[\w .-]+['’]s?) ([a-z ]+s) (?:is|was) the (\w+est|most \w+)$",
        r"what is \1 \3 \2",
    ),
    (r"\b(country|nation) ((?-i:[A-Z])[\w .'-]+?) (?:plays|played|competes|competed) for\b", r"\1 of \2"),
    (
        r"^are there (more|fewer) people (?:living )?in (.+?) than (?:there are )?in (.+)$",
        r"does \2 have \1 people than \3",
    ),
    (r"\blived to be older\b", "lived longer"),
    (r"\bmelts at (?:(?:an?|the) )?(higher|lower) temperature\b", r"has the \1 melting point"),
    (r"\bboils at (?:(?:an?|the) )?(higher|lower) temperature\b", r"has the \1 boiling point"),
    (r"\bmelt at (?:an?|the) (higher|lower) temperature\b", r"have the \1 melting point"),
    (r"\bboil at (?:an?|the) (higher|lower) temperature\b", r"have the \1 boiling point"),
    (r"^since when (?:is|has) (.+?) (?:been )?independent$", r"when did \1 become independent"),
    (r"^since when (?:is|has) (.+?) (?:been )?(?:an? member of|in|part of) (.+)$", r"when did \1 join \2"),
    (r"\bspent the (longest|shortest) time in (?:office|power)\b", r"was in office \1"),
    (r"\b(which|what)( one)?'s (?=\w+er\b)", r"\1\2 is "),
    (r"^(?!the |what|which|when|in |how)((?:battle|treaty|siege|fall|sinking|foundation) of .+) year$", r"when was \1"),
    (
        r"^(which|what) (country|countries|states?) (.+?) (?:but|and) (?:has|have) no "
        r"(?:coast(?:line)?|access to the sea)$",
        r"\1 landlocked \2 \3",
    ),
    (  # *which country that borders Switzerland has no coast*
        r"^(which|what) (country|countries) (?:that |which )?(.+?) has no (?:coast(?:line)?|access to the sea)$",
        r"\1 landlocked \2 \3",
    ),
    (r"^(is|are) (.+) at room temperature$", r"\1 \2"),
    (r"\bf1\b", "Formula One"),
    (r"\bgonna\b", "going to"),
    (r"^was (the .+?) before or after (.+)$", r"did \1 happen before or after \2"),
    (r"^(.+?) (?:vs\.?|versus|or) (.+?)(?: -|,|:) which is the (\w+er) one$", r"which is \3, \1 or \2"),
    (r"\bis pregnant for (longer|shorter)\b", r"has the \1 gestation"),
    (
        r"^with how many (\w+) does (.+?) (?:have|share) (?:an? )?(?:land )?borders?$",
        r"how many \1 border \2",
    ),
    (
        r"\bof the (country|city|continent|state|region) ((?!where|in|that|which|whose|of)[\w' -]+?) "
        r"(comes?|is|are|was|were|lives?) (?:from|in|born in|native to)$",
        r"of the \1 where \2 \3",
    ),
    (r"\broom temp\b", "room temperature"),
    (
        r"^(?:what|which) (?:is )?(?:the )?element (?:is )?(?:number |no\.? )(\d+)"
        r"(?: (?:in|of|on) the periodic table)?$",
        r"which element has the atomic number \1",
    ),
    (
        r"^(?:what|which) (?:alphabet|script) (?:is|do they use for|is used for) (?:the )?(.+?)(?: language)?"
        r"(?: written in| use| written with)?$",
        r"what is the writing system of \1",
    ),
    (r"^name (?:an?|one|any) ((?:[\w-]+ )?\w+) (?:that|which|who) ", r"which \1 "),
    (
        r"^name (?:an?|one|any) ((?:[\w-]+ )?\w+) "
        r"(?=(?:native|located|based|born|found|made|set) (?:in|on|by|to|from)\b)",
        r"which \1 is ",
    ),
    (
        r"^(?!who|what|which|where|when|how)((?:[\w-]+ )?\w+) (?:which|that) "
        r"(is|are|was|lives?|has|can) (?!\w+ (?:is|was)$)",
        r"which \1 \2 ",
    ),
    (r"\bvery (?=first|last)", ""),
    (r",? (?:up to|as of|until|through)(?: and including)? 202[4-6]$", ""),
    (r"(?<=est )(.+?),? by (?:total |land |surface )?(?:area|size)$", r"\1"),
    (
        r"^(?:the )?(?:title|name) of (the (?:first|second|third|fourth|fifth|sixth|last|final|\w+est)\b.+)$",
        r"what is \1",
    ),
    (r"^(?:the )?names? of the (\w+(?: \w+)?) (?:that|which|who) (.+)$", r"which \1 \2"),
    (r"^(is|are|was|were|does|do|did|has|have|can)n't\b", r"\1"),
    (r"\bhit (?:the )?(?:cinemas|theat(?:er|re)s|screens|shelves)\b", "came out"),
    (r"\bwas (younger|older) when (?:he|she|they) died\b", r"died \1"),
    (r", [\w ]+ not (?:counted|included|counting)$", ""),
    (r"\bthats\b", "that is"),
    (r"^(?:which|who) of the ((?-i:[A-Z])\w+s) ((?:is|was) the \w+est)$", r"who \2 member of the \1"),
    (r"^(?:which|what) of (?:the|these|all the) (.+?s(?: of .+?)?) ((?:is|was|has) the \w+est)\b", r"which \1 \2"),
    (
        r"^((?:what|which) (?:is|was)) the (?:title|name) of (the (?:first|second|third|fourth|fifth|sixth|last"
        r"|final)\b.+)$",
        r"\1 \2",
    ),
    (r"^(?:the )?date of the (.+)$", r"when was the \1"),
    (r"^which of (the .+?) (?:were|are|was) (wom[ae]n|men)$", r"which \2 were \1"),
    (r"\b(?:that|which|who) (?:have|has) no (\w+)$", r"without any \1"),
    (r"^(?:does|do) .+? (?:count|class|classify|regard|consider) (.+?) (?:as|to be) (an? .+)$", r"is \1 \2"),
    (r"^((?:who|what) (?:is|was) the (?:oldest|youngest|tallest)) of the (\w+)s$", r"\1 member of the \2s"),
    (r",? (?:going |moving |counting |counted )?(?:outwards?|inwards?|away)(?: from the sun)?$", ""),
    (r"^((?:which|what) (?:planets|\w+ planets))(?: (?:in|of) (?:our|the) solar system)? (?:that )?(?=have\b)", r"\1 "),
    (r"^(planets) (?:(?:in|of) (?:our|the) solar system )?(?:that|which) (?=have\b)", r"which \1 "),
    (r"\b(?:right|just|immediately|directly|straight) (?=(?:after|before)\b)", ""),
    (r"^find (?:me )?(?:all )?(?:the )?(?=\w+s\b)", "name "),
    (r"\bwith (.+?) in (?:the cast|it|them|the lead|(?:a|the) leading role)$", r"starring \1"),
    (
        r"^is there (?:anybody|anyone|somebody|someone|a person|any person) who (.+?),? and (?:who|what) (?:is|was) "
        r"(?:it|he|she|that)$",
        r"who \1",
    ),
    (r"^how long ago (?=(?:did|was|were)\b)", "when "),
    (r"^(when (?:was|were) .+) set up$", r"\1 founded"),
    (r"\b(?:go|went|goes) on sale\b", "come out"),
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
        r"^(?:(?:who|what) (?:is|was) )?(?:the )?(?:paternal (grandfather|grandmother) of (.+)|(.+)'s (?:paternal "
        r"(grandfather|grandmother)|(grandfather|grandmother) on (?:his|her|the|their) father's side))$",
        r"who was the \1\4\5 of \2\3's father",
    ),
    (r"\bgrand(father|mother) of (.+'s (?:father|mother))$", r"\1 of \2"),
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


_CENTURY = re.compile(rf"\b({'|'.join(word for word in ORDINALS if word.endswith('th'))}) century\b", re.IGNORECASE)


def _nth(number: int) -> str:
    return _NTH.get(number, f"{number}th")


def in_other_words(question: str) -> str:
    """A question in the words that the readers of forms know."""
    question = _CENTURY.sub(lambda said: f"{ORDINALS[said[1].lower()]}th century", question)
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
