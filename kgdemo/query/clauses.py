"""A question with several conditions, as one question for each: *which composer died in London and wrote Messiah*.

What fits all of them is what the answers of these questions share. So every condition acts, or its own question is
refused with a reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BEING = "is|are|was|were|has|have|had|did|does|do|can|could"
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
_VERB = rf"(?:(?:{_BEING}|{_PAST}|{_PRESENT}|\w+ed)\b)"
_ADVERB = r"(?:also |both |later |then |once |ever |still |never )*"
_NOUN = r"(?P<noun>(?:(?!of\b|in\b|by\b|that\b|who\b|which\b|whose\b)[\w'.-]+ ){1,4}?)"
_HEAD = re.compile(
    rf"^(?:(?:which|what) (?:one of the )?(?!{_VERB}){_NOUN}|(?P<who>who) )"
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
_NOT_A_CLAUSE = re.compile(rf"(?:{_BEING})$|(?:first|last) (?:to|time)\b", re.IGNORECASE)
_PARTICIPLE = re.compile(rf"^(?:{_MADE})(?= (?:in|by|from|of|on|at|with|to|as|after)\b)", re.IGNORECASE)
_NEGATED = re.compile(rf"^(?P<be>{_BEING})(?:n't| not| never)(?: ever)? |^never |^(?:not|without) ", re.IGNORECASE)
_BOTH = re.compile(
    r"\bboth (?P<article>(?:the|an?) )?(?P<one>(?:(?!and\b)[\w'.-]+ )+)and "
    r"(?:the |an? |in )?(?P<other>(?:(?!and\b)[\w'.-]+ ?)+)$",
    re.IGNORECASE,
)
_SHARES_ITS_NOUN = re.compile(rf"(?:summer|winter|men's|women's|{_PAST}|\w+ed)$", re.IGNORECASE)
# *acted in the films* directed by somebody
_THE_THINGS = re.compile(r"\b(?:the|these|those|all) (?-i:[a-z]\w+)$", re.IGNORECASE)
_SAID_OF_THEM = re.compile(r"(?:starring|set|born|written|composed|directed|founded)\b", re.IGNORECASE)
_ONLY_A_TIME = re.compile(r"\b(?:before|after|since|until|between|in)(?: the year)? (?:the )?\d", re.IGNORECASE)
_OF_TWO = re.compile(r"\bor\b", re.IGNORECASE)


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
    if not found or _OF_TWO.search(question):
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
        elif pieces and _SAID_OF_THEM.match(piece) and _THE_THINGS.search(pieces[-1]):
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
