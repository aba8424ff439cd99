"""A question in plain words: *Jupiter has the most moons. Second?* asks *which planet has the second most moons*.

People turn a question round, leave half of it out or tell a story with it; the readers of ``query`` know the plain way
to ask it. A small model writes that from what was typed: token rows of All-MiniLM-L6-v2, which stays as it is, two
layers that read them, and two that write, token by token, either one of the words that plain questions are made of or
a copy of what stands in the text (Gu et al. 2016, CopyNet). So a name can be kept, never made up. In which
of both a question is read, ``in_plain_words`` decides. ``lab.training.rewriter`` trains the network.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import torch
from torch import Tensor, nn

from kgdemo.kg.labels import FUNCTION_WORDS, fold
from kgdemo.models.embedding import sentence_embedder
from kgdemo.query.measures import NUMBERS, number_of_word, unit_asked
from kgdemo.query.translator import BEGIN, END, PAD, READ, WIDTH, Translator, load, save
from kgdemo.query.wording import beyond_graphs, is_private

COPIED = "<c>"  # in place of a copy that cannot be written
LONGEST_TEXT, LONGEST_PLAIN = 96, 48  # tokens
LIKELY = 0.1  # probability from which a text is read as it was rewritten
LIKELY_OF_FEW = 0.3  # the same of few words, of which little can be told
SURE = 0.5  # from which a question that asks at once is read so if it has no answer
CERTAIN = 0.9  # from which a name may be left out
_LEAST_SAID = 2  # words of a question, function words aside: of *what about Peru* nothing can be told
_SAY_NOTHING = frozenset("about her him his he she them so then but ok yes no".split())
_BEAMS = 6
_ARTICLES = frozenset(("a", "an", "the"))
_AS_WELL = {"which": "what", "in": "of", "were": "was", "are": "is"}  # small words that may take each other's place
_NAME = "rewriter"
_WORD = re.compile(r"\w+")
_ASKS_AT_ONCE = re.compile(
    r"(?:(?:after|besides|apart from) [^,]+, |(?:in|on|of|at|from|by|for|to) )?(?:what|which|who|whose|when|where|how"
    r"|is|are|was|were|did|does|do|has|have|name|list)(?:['’]?s)?\b[^.!?;:–]*\W*$",
    re.IGNORECASE,
)
_NAMES_IT = re.compile(  # *capital of the country where Chopin was born*
    r"(?!(?:the|an?|i|we|my|our|it|he|she|they|there|so|and|but|please|can|could|would|tell|give|find|number)\b)"
    r"(?:[\w'’-]+ ){1,3}?(?:of|by|whose|through|directed|played) [^,;:.?!–—-]+[?.!]?$",
    re.IGNORECASE,
)
_ASKS_LAST = re.compile(
    r"\b(?:who|what|which|where|when|how|whose|whom)\b(?: \w+)?\W*$|\b(?:no|not|long|many|much)\b", re.IGNORECASE
)
_SHORT, _FEW_WORDS = 20, 5  # words of a question that may ask at once, and of one that is short
_PLACES_BEYOND = ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NEVER_LOST = frozenset(("actor", "capital", "genre", "symbol"))
_SAID_SO = {  # how they are said
    **{form: place for number, place in enumerate(_PLACES_BEYOND, 3) for form in (f"{number}rd", f"{number}th")},
    "capitals": "capital", "symbols": "symbol", "actors": "actor", "genres": "genre",
}  # fmt: skip
_NUMBERED = re.compile(r"\b(?:number|no|nr|position|place|#) ?(\w+)\b")  # *number 3*
_AS_A_PLACE = {
    **{str(number): place for number, place in enumerate(_PLACES_BEYOND, 3)},
    **dict(zip("three four five six seven eight nine ten".split(), _PLACES_BEYOND, strict=True)),
}
_IS_MOST = re.compile(r"\b(?:[a-z]{2,}est|most|least)\b", re.IGNORECASE)
_SPEAKS_OF_AN_ORDER = re.compile(
    r"\b(?:[a-z]+est|most|least|more|less|fewer|[a-z]{3,}er|top|first|second|third|1st|2nd|3rd|last|next|number|no|record"
    r"|than|after|any|ever)\b",
    re.IGNORECASE,
)
_WITH_DIGITS = re.compile(
    r"\b(?:[12]\d{3}|\d{1,3}(?:,\d{3})+|(?=\w*[A-Z])(?=\w*\d)\w+)\b"
)  # a year, or a name like *H2O2*
_NAME_OF_SEVERAL = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][\w’']+(?: (?:(?:of|the|and|in|de|von|van) )*[A-Z][\w’']+)+")
_NAMED = re.compile(r"(?<!^)\b[A-Z][\w’']+(?: (?:(?:of|the|and|de|van|von) )?[A-Z][\w’']+)*")
_SHORT_FOR = frozenset(  # what is said in other words or in letters
    "united states america american kingdom nations european union world war cup olympics olympic games oscar oscars "
    "academy award awards nobel prize prizes british french spanish german italian roman greek english earth sun "
    "moon".split()
)
_CAPITAL = re.compile(r"(?<!^)(?<![\"“‘(])\b[A-Z][a-z][\w’']+")
_BEGINNING = 4  # letters that a name shares with its other forms
_KIN = re.compile(  # but for those of the one who asks
    r"(?<!\bmy )(?<!\bour )\b(?:grand|great-grand)?(?:mother|father|son|daughter|wife|husband|brother|sister"
    r"|uncle|aunt|cousin|nephew|niece|child|parent|spouse|sibling)(?:s|ren)?\b|\bwives\b|\bmarr|\bborn to\b",
    re.IGNORECASE,
)
_TELLS_FIRST = re.compile(r"(?<!\b[A-Z])(?<!\bMr)(?<!\bDr)(?<!\bSt)[.!?:;] \w")
_INITIAL = re.compile(r"\b(?:[A-Z]|Mr|Mrs|Dr|St)\. ")  # of a name
_NEVER_MADE_UP = tuple(  # what a plain question says only if the text says it, in one of these words
    (re.compile(rf"\b(?:{said})\b", re.IGNORECASE), re.compile(rf"\b(?:{meant})", re.IGNORECASE))
    for said, meant in (
        (
            "before",
            "before|until|till|prior|earlier|by|pre|up to|older|not later|ahead|preced|predat|sooner|first|came to",
        ),
        (
            "after|since",
            "after|since|from|later|post|past|follow|next|succe|then|when|newer|younger|over|on|replac|came",
        ),
        ("mother", "mother|mum|mom|mam|ma|parent|gave birth|bore|old lady|son|daughter|child"),
        ("father", "father|dad|da|pa|sire|parent|old man|son|daughter|child|begot|boy|girl|kid"),
        ("sons?", "son|boy|child|kid|offspring|lad|father|mother|parent|heir"),
        ("daughters?", "daughter|girl|child|kid|offspring|lass|father|mother|parent"),
        ("wife|wives", "wi[fv]e|marr|spouse|wed|missus|mrs|husband|partner|bride|widow|woman|women|ladies|lady"),
        ("husbands?", "husband|marr|spouse|wed|hubby|wife|partner|groom|widow|man|men"),
        ("brothers?", "brother|bro|sibling|sister"),
        ("sisters?", "sister|sis|sibling|brother"),
        ("buried", "bur|grave|tomb|rest|lie|laid|inter|cemetery|remains|crypt|lay|entomb"),
        (
            "born",
            "bor|birth|nativ|from|come|came|grow|grew|rais|home|origin|hail|cradle|where|enter|start|b\\.|town|old",
        ),
        (
            "not|no",
            "not|no|n't|never|without|neither|nor|isn|aren|wasn|zero|none|lack|nothing|but|except|apart|other|non",
        ),
    )
)
_NEVER_LEFT = (  # what a text of one sentence says and a plain question then has to say
    re.compile(r"\b(?:never|not|without|neither)\b|n['’]t\b(?! (?:it|he|she|they|there|that|you)\b)", re.IGNORECASE),
    re.compile(r"\b(?:besides|apart from|other than|except)\b", re.IGNORECASE),
    re.compile(r"\d or (?:later|after|earlier|before)\b", re.IGNORECASE),
    re.compile(r"\breal (?:person|people|man|woman|king|queen)\b", re.IGNORECASE),
)
_BREAKS_OFF = re.compile(r"\b(?:the|an?|if|and|or|who|which|that|than)\W*$|^\W*(?:\w+\W+){0,2}$", re.IGNORECASE)
_OF_WHAT = re.compile(r"\b(?:is|was) (?:the|a) (?P<noun>[a-z]+) of (?:what|which|who)\b", re.IGNORECASE)
_SO_MANY = re.compile(rf"\b(?:with|have|has|had|having|won|winning) (\d{{1,2}}|{'|'.join(NUMBERS)})\b", re.IGNORECASE)
_ONLY_BY = re.compile(r"\bonly by\b", re.IGNORECASE)
_SENTENCES = re.compile(r"(?<=[.!:;?]) ")
_THAN_SO_MANY = re.compile(
    rf"\b(?:than|over|above|under|below|at least|at most) (\d+|{'|'.join(NUMBERS)})\b", re.IGNORECASE
)
_JOINED = "+"  # before a piece that stands right behind the one before it


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A text that asks the same in plain words.

    Attributes:
        likely: its probability.
        text: the question.
    """

    likely: float
    text: str


class Network(Translator):
    """Token rows of a text to the plain question, in pieces that are written or copied; see ``Translator``."""

    longest_text, longest_plan = LONGEST_TEXT, LONGEST_PLAIN + 2

    def __init__(self, pieces: Sequence[str], rows: int, dropout: float = 0.0) -> None:
        super().__init__(pieces, rows, dropout)
        self.copied, self.sought = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, memory: Tensor, padding: Tensor | None, plain: Tensor, places: Tensor) -> Tensor:
        """Logits of what follows each piece: of every piece that can be written, then of every token of the text.

        Args:
            memory: see ``memory``.
            padding: True where a text has no token.
            plain: ids of the pieces before, ``(texts, length)``.
            places: of each that is a copy the token, else -1.

        Returns:
            ``(texts, length, pieces + tokens)``.
        """
        source = memory.gather(1, places.clamp(min=0)[..., None].expand(-1, -1, WIDTH))
        rows = self.written(memory, padding, plain, self.copied(source) * (places >= 0)[..., None])
        copies = (self.sought(rows) @ memory.transpose(1, 2)) * WIDTH**-0.5
        if padding is not None:
            copies = copies.masked_fill(padding[:, None], -math.inf)
        return torch.cat([self.logits(rows), copies], 2)


def pieces_of(text: str) -> tuple[list[str], list[tuple[int, int]]]:
    """The tokens of a text, folded, with a mark on those that stand right behind another, and where they stand.

    What the encoder puts around a text is an empty piece, which nothing equals.
    """
    spans = sentence_embedder().spans(text)[:LONGEST_TEXT]
    last, pieces = -1, list[str]()
    for start, end in spans:
        own = fold(text[start:end]) or text[start:end]
        pieces.append(f"{_JOINED if start == last else ''}{own}" if end > start else "")
        last = end if end > start else last
    return pieces, spans


def place_of(piece: str, source: Sequence[str], before: int) -> int:
    """Which token of a text a piece is a copy of: the one behind the last copy, or the first alike; -1 for none."""
    behind = before + 1
    if before >= 0 and behind < len(source) and source[behind] == piece:
        return behind
    return source.index(piece) if piece in source else -1


class Rewriter:
    """Plain questions for texts.

    Args:
        network: trained.
        pieces: those that it can write.
    """

    def __init__(self, network: Network, pieces: Sequence[str]) -> None:
        self.pieces, self._network = tuple(pieces), network.eval()
        self._ids = {piece: number for number, piece in enumerate(pieces)}

    def rewritings(self, text: str) -> list[Rewriting]:
        """The likeliest plain questions for a text, best first; those that differ in a small word only are one."""
        source, spans = pieces_of(text)
        found = self._search(sentence_embedder().rows([text], READ)[0][: len(source)], source)
        together: dict[tuple[str, ...], Rewriting] = {}
        for total, said, at in found:
            own = Rewriting(math.exp(total), assembled(said[1:-1], at[1:-1], text, spans))
            says = tuple(_AS_WELL.get(word, word) for word in _WORD.findall(fold(own.text)) if word not in _ARTICLES)
            likelier = together.get(says)
            together[says] = own if likelier is None else replace(likelier, likely=likelier.likely + own.likely)
        return sorted(together.values(), key=lambda own: -own.likely)

    @torch.inference_mode()
    def _search(self, rows: Tensor, source: Sequence[str]) -> list[tuple[float, list[str], list[int]]]:
        """The likeliest pieces for a text, and of each the token that it is a copy of or -1."""
        memory = self._network.memory(rows[None])
        every = [*self.pieces, *dict.fromkeys(own for own in source if own and own not in self._ids)]
        ids = {piece: number for number, piece in enumerate(every)}
        into = torch.tensor([*range(len(self.pieces)), *(ids.get(own, 0) for own in source)])
        live, done = [(0.0, [BEGIN], [-1])], list[tuple[float, list[str], list[int]]]()
        for _ in range(LONGEST_PLAIN):
            plain = torch.tensor([[self._ids.get(own, self._ids[COPIED]) for own in one[1]] for one in live])
            places = torch.tensor([one[2] for one in live])
            logits = self._network(memory.expand(len(live), -1, -1), None, plain, places)[:, -1]
            shares = torch.zeros(len(live), len(every)).index_add_(1, into, logits.softmax(-1))
            shares[:, [self._ids[PAD], self._ids[COPIED]]] = 0
            best = shares.topk(_BEAMS, 1)
            grown = [
                (total + math.log(share + 1e-9), [*said, every[place]], at)
                for (total, said, at), own, where in zip(live, best.values.tolist(), best.indices.tolist(), strict=True)
                for share, place in zip(own, where, strict=True)
            ]
            grown = [(total, said, [*at, place_of(said[-1], source, at[-1])]) for total, said, at in grown]
            grown.sort(key=lambda one: -one[0])
            done += [one for one in grown[: 2 * _BEAMS] if one[1][-1] == END]
            done = sorted(done, key=lambda one: -one[0])[:_BEAMS]
            live = [one for one in grown if one[1][-1] != END][:_BEAMS]
            if not live or (len(done) == _BEAMS and live[0][0] < done[-1][0]):
                break
        return done

    def save(self, *folder: Path) -> None:
        """Write it where ``rewriter`` reads it, or into a folder."""
        save(self._network, self.pieces, _NAME, *folder)


def assembled(pieces: Sequence[str], places: Sequence[int], source: str, spans: Sequence[tuple[int, int]]) -> str:
    """Pieces as a text; what is a copy is written as it stands in the source, but for *The* at its beginning.

    Args:
        pieces: see ``pieces_of``.
        places: of each the token of the source that it is a copy of, or -1.
        source: the text that was rewritten.
        spans: where each of its tokens stands.
    """
    made = ""
    for piece, place in zip(pieces, places, strict=True):
        copied = place >= 0 and piece not in FUNCTION_WORDS
        own = source[slice(*spans[place])] if copied else piece.removeprefix(_JOINED)
        made += own if piece.startswith(_JOINED) or not made else f" {own}"
    return made[:1].upper() + made[1:]


def in_plain_words(text: str) -> str:
    """A question in the words in which it is read: plain ones, or as it was typed where none are likely.

    What asks at once is read as it was typed: see ``plainer``.

    Args:
        text: as it was typed.
    """
    task = beyond_graphs(text) and not _TELLS_FIRST.search(text)
    found = None if task or _asks_at_once(text) else _rewritten(text)
    least = LIKELY_OF_FEW if len(text.split()) <= _FEW_WORDS else LIKELY
    return found.text if found is not None and found.likely >= least else text


def plainer(text: str) -> str:
    """What a question that asks at once, and has no answer, may ask in plain words; empty where that is not sure."""
    found = _rewritten(text) if _asks_at_once(text) and not beyond_graphs(text) else None
    return found.text if found is not None and found.likely >= SURE else ""


def _rewritten(text: str) -> Rewriting | None:
    """The likeliest rewriting that keeps what is asked; None where none does or says anything else."""
    says = [word for word in _WORD.findall(fold(text)) if word not in FUNCTION_WORDS | _SAY_NOTHING]
    if len(says) < _LEAST_SAID or is_private(text):
        return None
    kept = (one for one in rewriter().rewritings(text) if keeps_what_is_asked(text, one.text))
    found = next((one for one in kept if one.likely >= CERTAIN or not _leaves_a_name(text, one.text)), None)
    if found is None or _WORD.findall(fold(found.text)) == _WORD.findall(fold(text)):
        return None
    unit = unit_asked(text)[0]  # which a plain question may leave out, and the answer may not
    lost = unit and unit not in fold(found.text).split()
    return replace(found, text=f"{found.text.rstrip('?')} in {unit}?") if lost else found


def _asks_at_once(text: str) -> bool:
    """Whether a text is no story and begins with what it asks, or names it, so that other words could only lose it."""
    text = _INITIAL.sub("", text)
    if len(text.split()) > _SHORT:
        return False
    return bool(_ASKS_AT_ONCE.match(text) or (_NAMES_IT.match(text) and not _ASKS_LAST.search(text)))


def keeps_what_is_asked(text: str, plain: str) -> bool:
    """Whether a rewriting asks for the same place in an order, for the end of an order only where the text does.

    The *second* may be said in other ways, *what comes next*; the *seventh* may not. A *big* mountain is not the
    *highest*. Some things that are asked for must never get lost; no year may, of a text of one sentence, and none is
    turned about: *after* it is not *before* it. Nor is a *daughter* a *father*.
    """
    if any(said.search(plain) and not meant.search(text) for said, meant in _NEVER_MADE_UP):
        return False
    if _TELLS_FIRST.search(text) is None and not _says_all(text, plain):
        return False
    asked = next((one for one in reversed(_SENTENCES.split(text)) if one.endswith("?")), "") or text
    if _TELLS_FIRST.search(asked):
        asked = ""  # a remark that is no question may say *not*
    if any(said.search(asked) and not said.search(plain) for said in _NEVER_LEFT):
        return False
    if _ONLY_BY.search(text) and not re.search(r"\bonly\b", plain, re.IGNORECASE):
        return False
    behind = _OF_WHAT.search(text)  # *it is the formula of what* does not ask for a formula
    if behind and re.match(rf"what is the (?:\w+ )?{behind['noun']} of\b", plain, re.IGNORECASE):
        return False
    if _makes_up_a_name(text, plain):
        return False
    if _cuts_a_name(text, plain) or _stutters(plain) or _BREAKS_OFF.search(plain):
        return False
    told, asked = _telling(text), _telling(plain)
    same_place = told.intersection(_PLACES_BEYOND) == asked.intersection(_PLACES_BEYOND)
    in_order = _IS_MOST.search(plain) is None or _SPEAKS_OF_AN_ORDER.search(text) is not None
    return same_place and in_order and _NEVER_LOST & told <= asked


def _says_all(text: str, plain: str) -> bool:
    """Whether a rewriting of one sentence has its years and formulas, its numbers, and kin for kin."""
    kin, kept = len(_KIN.findall(text)), len(_KIN.findall(plain))
    if not {*_WITH_DIGITS.findall(text)} <= {*_WITH_DIGITS.findall(plain)} or kept < min(kin, 2):
        return False
    numbers = {(own.isdigit() and int(own)) or NUMBERS.get(own, 1) for own in _WORD.findall(fold(plain))}
    said = (own for pattern in (_THAN_SO_MANY, _SO_MANY) for own in pattern.findall(text))
    return all(number_of_word(own.lower()) in numbers for own in said)


def _makes_up_a_name(text: str, plain: str) -> bool:
    """Whether a rewriting names somebody of whom the text has no word: who ruled over the sea is no *Poseidon*."""
    said = {word[:_BEGINNING] for word in _WORD.findall(fold(text))}
    for name in _NAMED.findall(plain):
        words = [word for word in _WORD.findall(fold(name)) if word not in FUNCTION_WORDS]
        if words and said.isdisjoint(word[:_BEGINNING] for word in words) and not _SHORT_FOR.issuperset(words):
            return True
    return False


def _cuts_a_name(text: str, plain: str) -> bool:
    """Whether a rewriting has some words of a name of several but not all: of *Cool Runnings* only *Cool*."""
    said = set(_WORD.findall(fold(plain)))
    for name in _NAME_OF_SEVERAL.findall(text):
        words = {fold(word) for word in _WORD.findall(name) if word[0].isupper()} - _ARTICLES
        if words & said and len(words - said) > len(words & said) - 1:
            return True
    return False


def _leaves_a_name(text: str, plain: str) -> bool:
    """Whether a short text of one sentence has a word with a capital that nothing in a rewriting begins like."""
    if _TELLS_FIRST.search(text) or len(text.split()) > _SHORT:
        return False
    said = {word[:_BEGINNING] for word in _WORD.findall(fold(plain))}
    names = (fold(word) for word in _CAPITAL.findall(text) if not word.isupper())
    return any(name[:_BEGINNING] not in said for name in names if name not in FUNCTION_WORDS)


def _stutters(plain: str) -> bool:
    """Whether a text says three words twice."""
    words = _WORD.findall(fold(plain))
    three = [tuple(words[place : place + 3]) for place in range(len(words) - 2)]
    return len(set(three)) < len(three)


def _telling(text: str) -> set[str]:
    """The words of a text, places in an order and what must not get lost said in one way."""
    words = fold(text).replace("-", " ")
    numbered = {_AS_A_PLACE[word] for word in _NUMBERED.findall(words) if word in _AS_A_PLACE}
    return {_SAID_SO.get(word, word) for word in _WORD.findall(words)} | numbered


@cache
def rewriter() -> Rewriter:
    """The one that comes with this package."""
    return Rewriter(*load(Network, _NAME))
