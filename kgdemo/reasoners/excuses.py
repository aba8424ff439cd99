"""How chat models say that they have no answer, in many languages, and what they guess all the same."""

from __future__ import annotations

import re

from kgdemo.reasoners.reply import cleaned, unmarked

# how models excuse themselves, by language; each is looked for anywhere in a sentence, ^ at its beginning
_I = r"\b(?:i|we) (?:really |just |simply )?"
_NOT_DO = r"(?: ?not|n['’]t|not)"
_EXCUSES = (
    r"\bno[ _-]answer\b",
    r"\b(?:i['’]m|i am|we are) (?:very |so )?(?:sorry|afraid|unable|not able|unsure|not sure)\b",
    r"^\W*(?:sorry|apologies|unfortunately|regrettably)\b|\bmy apologies\b|\bi apologi[sz]e\b|\bas an ai\b",
    _I
    + r"(?:can(?:no|['’])t|can not|do(?:n['’]t| not)|could(?:n['’]t| not)|am not able to|was unable to) (?:\w+ ){0,2}?"
    r"(?:help|answer|know|find|determine|assist|provide|say|tell|see|have|conclude|identify|comply|infer)",
    r"\b(?:none|neither|no one|not one|nothing) (?:of|in) (?:the|these|those)\b",
    r"\bno (?:\w+ ){0,2}?(?:paths?|answers?|information|evidence|fact) (?:\w+ ){0,4}?"
    r"(?:answers?|states?|says?|supports?|was|were|is|are|here|found|available|exists?|mentions?|contains?|given|bears?|can)\b",
    r"\b(?:paths?|graph|information|facts?|context|question|it|text|data)\b(?: \w+){0,4}? "
    r"(?:do|does|did|can|could|is|are|was|were)" + _NOT_DO + r"(?: \w+){0,2}? "
    r"(?:say|state|answer|mention|contain|provide|tell|include|specify|give|bear|enough|sufficient|clear|possible|available|"
    r"be (?:answered|determined|found)|show|support|reveal|indicate|help|name)",
    r"\b(?:paths?|graph|facts?|they)\b(?: \w+)? (?:only|merely) (?:mentions?|says?|states?|names?|gives?|contains?)\b",
    r"\bisn['’]t enough (?:information|evidence|data)\b|\bwon['’]t speculate\b|\bneed more (?:information|context)\b",
    r"\b(?:cannot|can['’]t|could not) be (?:answered|determined|found|inferred|derived)",
    r"^\W*(?:can ?not|can['’]t|unable to) (?:be |\w+ )?(?:answer|say|tell|help|determine|find)\w*\W*$",
    r"\bno (?:\w+ )?(?:paths?|answers?|information|evidence)\W*$|\brather not (?:answer|say)\b|\bviolates?\b.*\bpolic",
    r"\b(?:paths?|facts?)\b.* (?:do|does|are|is|seem)(?: ?not|n['’]t)(?: seem)?(?: to be)? (?:relevant|related"
    r"|applicable|useful)",
    r"\b(?:insufficient|not enough|lack of) (?:\w+ )?(?:information|evidence|data|context)",
    r"^\W*(?:unknown|n/?a|none|nothing|null|unanswerable|undetermined|"
    r"not (?:specified|stated|mentioned|available|given|known|found|answerable"
    r"|provided))\W*$",
    r"\bleider\b|\btut mir leid\b|\bkeine antwort\b|\bkein(?:er)? (?:der )?pfade?\b|\bkeine (?:information"
    r"|angabe)",  # German
    r"\bich (?:kann|weiß) (?:\w+ ){0,3}?nicht"
    r"|\bweiß (?:ich )?(?:es )?nicht\b",
    r"\bdésolée?\b|\bje ne (?:peux|sais)\b|\baucune? (?:des |de ces )?(?:chemins?|réponse)|\bne permet"
    r"|\bn['’]ai pas\b",  # French
    r"\blo siento\b|\bno (?:puedo|sé|se (?:puede|menciona|indica|dice|encuentra))\b|\blamentablemente\b",  # Spanish
    r"\bningun[oa]?\b.*\b(?:camino|ruta|respuesta)",
    r"\bmi dispiace\b|\bnon (?:posso|lo so|è possibile)\b|\bpurtroppo\b",  # Italian
    r"\bdesculpe\b|\bnão (?:posso|sei|é possível)\b|\binfelizmente\b",  # Portuguese
    r"\bhet spijt me\b|\bhelaas\b",  # Dutch
    r"\bprzykro mi\b|\bniestety\b|\bnie (?:wiem|mogę)\b",  # Polish
    r"\bизвините\b|\bк сожалению\b|\bне (?:могу|знаю)\b|\bнет ответа\b",  # Russian
    r"抱歉|对不起|無法|无法|不知道|没有(?:答案|路径|一条)",  # Chinese
    r"\bnon (?:è|viene) (?:specificat|indicat|menzionat)",
    r"書かれていません|見つかりません|ありません|없습니다|申し訳|わかりません|分かりません|答えられません",  # Japanese
    r"죄송|모르겠|آسف|عذر|üzgünüm|maalesef",  # Korean, Arabic, Turkish
)
REFUSAL = re.compile("|".join(_EXCUSES), re.IGNORECASE)
# “I don't know, but probably Vienna”: what is guessed behind an excuse is an answer all the same
GUESSED = re.compile(
    r"(?:\bbut\b|;|\bhowever\b,?|\bthough\b)\s*((?:.*\b(?:probably|likely|perhaps|maybe|possibly|presumably|guess|suggests?|"
    r"i (?:think|believe)|(?:the|my) (?:best )?(?:answer|guess)(?: is)?))\b:?\s*(.+))$",
    re.IGNORECASE,
)
NOTHING = re.compile(
    r"^\W*(?:not\b|no\b(?!\w)|none\b|unknown|unclear|nowhere|nothing|unavailable|undefined|impossible|null|n/a)",
    re.IGNORECASE,
)


def is_excuse(reply: str) -> bool:
    """Whether a reply that answers nothing says so, rather than saying something else."""
    text = unmarked(cleaned(reply))
    return bool(REFUSAL.search(text) or NOTHING.match(text))
