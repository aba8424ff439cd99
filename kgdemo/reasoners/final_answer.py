"""Reading the final answer that a chat model writes: the names answered and the paths each cites (GCR section 4.4).

Models wrap the few names asked for in preambles, Markdown, sentences and explanations, or excuse themselves. What
counts is, in this order: names with citations, what “the answer is …” says, names on lines of their own, and last a
name within a sentence. An excuse is no answer, and so are sentences around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from kgdemo.kg.labels import fold
from kgdemo.kg.path import Path
from kgdemo.reasoners.parsing import LABELLED, is_preamble, number_of, numbers_in
from kgdemo.reasoners.reply import (
    GUESSED,
    NOTHING,
    PATH_WORD,
    REFUSAL,
    cleaned,
    given_to_a_call,
    json_in,
    of_a_call,
    unmarked,
    without_bullet,
    without_tables,
)

CitedName = tuple[str, tuple[int, ...]]

_NUMBERS = r"\d+(?:\s*(?:,|;|&|/|and|und|et|y|–|-|to)\s*(?:paths?\s*|#|\[)?\d+\]?)*"
# [2], [1, 3], 【1】, [^1], [Path 1], (paths 1 and 2), “according to path 2”
_CITED = re.compile(
    rf"(?:\b{PATH_WORD}\s*)?[\[【]{{1,2}}\s*(?:\^|#|p\.?\s?|see |from |via )?(?:{PATH_WORD}\s*)?#?({_NUMBERS})"
    rf"\s*(?:†[^\]】]*)?[\]】]{{1,2}}"
    rf"|[(（]\s*(?:see |from |via |per |siehe |voir )*{PATH_WORD}\s*\[?#?({_NUMBERS})\]?\s*[)）]"
    rf"|\s[-–—,(]?\s*(?:see |from |via |per |according to |supported by |siehe )+"
    rf"{PATH_WORD}\s*\[?#?({_NUMBERS})\]?\)?"
    rf"|^\W*(?:(?:based on|according to|from|per)\s+)?{PATH_WORD}\s+({_NUMBERS})(?=\s*[:：,])"
    rf"|[\"\s]\s*#\s*{PATH_WORD}\s+({_NUMBERS})",
    re.IGNORECASE,
)
_RAISED = re.compile(r"(?<=\w) +([¹²³⁴-⁹]{1,2})(?=\s*$)", re.MULTILINE)  # a footnote: Vienna ¹
_FROM_RAISED = str.maketrans("¹²³⁴⁵⁶⁷⁸⁹", "123456789")
_ROUND = re.compile(r"\s\((\d{1,3}(?:\s*,\s*\d{1,3})*)\)\s*[.,;]?\s*$")  # Vienna (1)
_FINAL = re.compile(r"^\W*(?:so,? |therefore,? )?(?:the |my )?final answers?(?: is| are)?\s*[:：]?\W*", re.IGNORECASE)
_REASON = (
    r"(?:explanation|reasoning|reason|rationale|justification|note|notes|evidence|because|why|disclaimer|"
    r"confidence|begründung|erklärung|explication|justificación|explicación|解释|说明|理由)"
)
_SOURCES = r"(?:supporting |reasoning |cited )*(?:paths?|sources?|references?|citations?)"
_REASONS = re.compile(rf"^\W*(?:{_REASON}|{_SOURCES})\s*\W*[:：]", re.IGNORECASE)
_HEADING = re.compile(rf"^\s*(?:#+\s+\W*|\*\*)(?:the )?(?:{_REASON}|{_SOURCES})\W*$", re.IGNORECASE)
_SOURCES_OF_ONE = re.compile(rf"^\W*{_SOURCES}\s*\W*[:：]\s*(.*)$", re.IGNORECASE)
_ANSWER_IS = re.compile(
    r"\b(?:answers?(?: to (?:the|this|your) question)?|antwort(?:en)?|réponses?|respuestas?|risposta|resposta)\s+"
    r"(?:is|are|would be|must be|should be|was|lautet|ist|sind|est|sont|es|son|è|é)\b\s*:?\s*"
    r"(?:that it is |probably |likely )?"
    r"(.+)$|(?:答案|答え|回答)\s*(?:是|为|は|:|：)\s*(.+?)(?:です|である)?[。.]?$",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^\W*(?:who|whose|whom|what|which|where|when|why|how|in (?:what|which)|is|are|was|were|do|does|did)\b",
    re.IGNORECASE,
)
# as models write questions without a question mark; in titles the verb has a capital: *Where Is My Mind*
_ASKING = re.compile(r"^\W*(?i:who|whom|what|where|when|why|how)\s+(?:did|do|does|is|was|were|are|has|have)\s")
_IS_ANSWER = re.compile(r"^(.+?)\s+(?:is|are) (?:the|my|a) (?:correct |right |final )?answers?\b", re.IGNORECASE)
_NOT_BUT = re.compile(r"\b[Nn]ot\s+[^.;:]{1,60}?,?\s+but(?: rather)?\s+")
_IT_IS = re.compile(r"^\W*(?:it|that)(?:['’]s| is| was)\s+", re.IGNORECASE)
_NOT_THIS = re.compile(r"^\W*(?:(?:it|that)(?:['’]s| is| was)\s+)?not\s+", re.IGNORECASE)
_COUNTED = re.compile(r"^\W*there (?:are|is|were|was) (\d[\d,.]*)\s+[a-z]+(?: [a-z]+)?\W*$", re.IGNORECASE)
_YES_OR_NO = re.compile(r"^\W*(yes|no)\b\W*(?:$|[,.:;–—-]\s)", re.IGNORECASE)
_FILLER = re.compile(
    r"^\W*(?:sure|certainly|of course|okay|ok|yes|hello|hi|thanks?(?: you)?|great question|good question|absolutely|"
    r"i hope this helps|hope (?:this|that) helps|let me know.*|feel free.*|please let.*|is there anything.*|"
    r"you(?:'|’)re welcome|"
    r"(?:answers?|final answers?|paths?|names?|entity)(?: (?:supporting )?(?:paths?|citations?))?|"
    r"gerne|klar|voilà|claro|bien sûr|done|end)\W*$",
    re.IGNORECASE,
)
_VERB = (
    r"(?:is|was|are|were|has|have|had|ist|war|sind|wurde|est|était|sont|fut|es|fue|son|era|è|nació|nacque|nasceu|naquit|lies|died|lived|located|born|"
    r"composed|directed|wrote|founded|says?|states?|shows?|leads?|means|follows?|think|believe|would|can|must|named|says)"
)
# verbs that stand in titles as well, where they begin with a capital: *The Girl Who Played with Fire*
_SMALL_VERB = (
    r"(?-i:gives?|yields?|provides?|indicates?|flows?|runs|drains|leads|borders|belongs|became|married|played|plays|stars|starred|won|painted|invented|"
    r"discovered|speaks?|features|contains)"
)
_PROSE = re.compile(rf"\b(?:{_VERB}|{_SMALL_VERB})\b", re.IGNORECASE)
_TAIL = re.compile(
    rf"^.*\b(?:{_VERB}|{_SMALL_VERB}|né|née|geboren|nació|nato)\b\s+(.+?)(?:\s+geboren)?$", re.IGNORECASE
)
_BEFORE_NAME = re.compile(
    r"^(?:(?:born|located|composed|directed|written|founded|situated|called|named|known|found|né|née|nacido|into|through|in|at|by|as|to|"
    r"of|from|on|à|en|a|the (?:city|town|village|country|state|composer|director|author|person|film|river|answer)"
    r" (?:of|is)?|"
    r"that|most likely|probably|likely|indeed|also|von|das|der|die|le|la)\s+)+",
    re.IGNORECASE,
)
_BOLD = re.compile(r"\*\*([^*\n]+?)\*\*|__([^_\n]+?)__")
_SENTENCE = re.compile(
    r"(?<=[^\W\d_]{3}[.!?])\s+(?=[A-ZÀ-Ý\"“*\[])|(?<=[\])\d][.!?])\s+(?=[A-ZÀ-Ý\"“*])|(?<=[。！？])|(?<=\*\*[.!?])\s+"
)
_AND = re.compile(
    r"^\s*\(?(?:[,;、，/|]|also\b|and\b|und\b|et\b|y\b|e\b|as well as\b|or\b|&|,\s*and\b)\s*", re.IGNORECASE
)
_INSTEAD = re.compile(r"^\W*(?:and |but )?(?:not|rather than|instead of|as opposed to)\b", re.IGNORECASE)
_HEDGE = re.compile(
    r"(?:\b(?:possibly|maybe|perhaps|probably|likely|presumably|either|it|is|was|could|might|may|be|in|at|the|answer|so|then)\b"
    r"|[^\W\d_a-zA-ZÀ-ž]|\W)+",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"\s+(?:[-–—]{1,2}|=>|→)\s+.*$|\s*[:：]\s+.*$|,?\s+\b(?:because|since|as shown|which|who|weil|car|porque)\b.*$"
    r"|,\s+(?:as the|not|but|where|a|an)\s.*$"
)
_NEXT_QUESTION = re.compile(r"^\W*(?:question|frage|pregunta|user)\s*:", re.IGNORECASE)
_LEADS = re.compile(r"^(?:(?:(?:thus|so|therefore|hence|both|then)\b,?|(?:yes|well),)\s+)+(?=\S)", re.IGNORECASE)
_FROM = re.compile(r"^\W*(?:from|according to|based on|as per|per|in|as)\s+$", re.IGNORECASE)
_SUPPORT = re.compile(
    r"^\W*(?:also |this is |it is |further )*(?:supported|confirmed|stated|see|evidenced)\b", re.IGNORECASE
)
_ARROW = re.compile(r"\s*(?:->|→|—>|=>)\s*")
_SUGGESTED = re.compile(r"\s*\(suggested answer:[^()]*(?:\([^()]*\)[^()]*)*\)?")  # repeated from the prompt
_ECHO = re.compile(r"^\W*\[(\d+)\] .*(?:->|→)")  # a path as the prompt lists it
_ANSWERS = re.compile(r"^\W*answers?\s*:\s*(.*)$", re.IGNORECASE)  # what the prompt ends with
_ASKED = re.compile(r"^\W*question\s*:", re.IGNORECASE)
_THE = re.compile(r"^the\s+(?=[A-Z0-9])", re.IGNORECASE)
# “The answer to the question: (the question over again) / is: Vienna”
_ASKED_AGAIN = re.compile(
    r"^(\W*the answer to (?:the|this|your) question)\s*:[^\n]*\n\s*is\s*:", re.IGNORECASE | re.MULTILINE
)
_BEGUN = re.compile(r"(?:->|→|—>|=>)\s*$")  # a path that was not written to its end
_ANSWER_KEYS = (
    "final_answer answers answer name entity entities result results response output value text title label".split()
)
_MAX_SENTENCE = 500  # characters, for what is looked for in all of a sentence
_MAX_WORDS = 12  # of a name; longer is a sentence


@dataclass(frozen=True, slots=True)
class _Part:
    """A name found in a reply.

    ``weight``: 4 with citations, 3 within a sentence that has some, 2 announced, 1 on its own, 0 within a sentence.
    """

    name: str
    cited: tuple[int, ...]
    weight: int


def read_answer(reply: str, paths: Mapping[int, Path], cut: bool = False) -> tuple[CitedName, ...]:
    """The names that a reply answers, each with the numbers of the paths it cites; empty where it is a refusal.

    Args:
        reply: what the model wrote.
        paths: the paths that it was given, by number. Other numbers cite nothing; the paths' own entities are
            recognised in a sentence.
        cut: the reply broke off, so a last line without a citation may be half a name and is left out.
    """
    return _Reader(paths).read(cleaned(reply), cut)


class _Reader:
    """One reply; see ``read_answer``."""

    def __init__(self, paths: Mapping[int, Path]) -> None:
        self.paths = paths
        self.known = {fold(entity): entity for path in paths.values() for entity in path.entities}
        self.relations = {fold(relation) for path in paths.values() for relation in path.relations}

    def read(self, text: str, cut: bool) -> tuple[CitedName, ...]:
        text = of_a_call(text)
        data = json_in(text, numbers=False)
        if data is not None:
            return self._merged(self._in_json(data))
        text = _RAISED.sub(lambda note: f" [{note[1].translate(_FROM_RAISED)}]", _ASKED_AGAIN.sub(r"\1 is:", text))
        written = text.splitlines()
        lines = [_SUGGESTED.sub("", line) for line in _behind_the_prompt(written, len(self.paths), cut)]
        if cut and lines:
            lines[-1] = re.sub(r"\s+\([^()]*$", "", lines[-1])  # a bracket that was begun
        lines = [line for line in lines if line.strip() and not _BEGUN.search(line)]
        if cut and lines and not self._whole(lines[-1], written):
            lines = lines[:-1]
        final = [n for n, line in enumerate(lines) if _FINAL.match(unmarked(line))]
        if final:
            rest = _FINAL.sub("", unmarked(lines[final[-1]]), count=1)
            lines = [*([rest] if rest else []), *lines[final[-1] + 1 :]]
        parts, refused = self._parts(lines)
        strongest = max((part.weight for part in parts), default=-1)
        if refused and strongest < (1 if final else 2):
            return ()
        if not parts and lines and (said := _YES_OR_NO.match(_CITED.sub("", unmarked(lines[0])))):
            return ((said[1], self._all_cited(lines[0])),)
        strong = [part for part in parts if part.weight == strongest or (part.weight == 1 and strongest == 4)]
        return self._merged(strong[:1] if strongest == 0 else strong)

    def _whole(self, line: str, written: Sequence[str]) -> bool:
        """Whether a last line may be whole although the reply was cut: it ends with a citation, or in a known name.

        Small models write the same lines over and over: what another line goes on from is only the beginning of it.
        """
        plain = without_bullet(unmarked(line))
        begun = _CITED.sub("", plain).strip()
        if any(_CITED.sub("", without_bullet(unmarked(other))).strip().startswith(f"{begun} ") for other in written):
            return False
        cited = [match.end() for match in _CITED.finditer(plain)]
        named = _ARROW.split(_CITED.sub("", plain))[-1]
        return bool(cited and not plain[cited[-1] :].strip(" .,;")) or fold(named) in self.known

    def _parts(self, lines: Sequence[str]) -> tuple[list[_Part], bool]:
        """What each sentence says, and whether one of them is an excuse."""
        parts: list[_Part] = []
        refused = explaining = False  # explaining: reasons came before the answer, and still come
        listed = list(without_tables(lines))
        for place, raw in enumerate(listed):
            sources = _SOURCES_OF_ONE.match(unmarked(raw))
            if sources and len(parts) == 1 and not parts[0].cited:
                numbers = [
                    n
                    for n in map(number_of, re.findall(r"\d+", sources[1] or " ".join(listed[place + 1 :])))
                    if n in self.paths
                ]
                parts = [_Part(parts[0].name, tuple(dict.fromkeys(numbers)), parts[0].weight)]
            if parts and _HEADING.match(raw):
                break
            if not parts and (_REASONS.match(unmarked(raw)) or _HEADING.match(raw)):
                explaining = True
                continue
            if explaining and not (LABELLED.match(unmarked(raw)) or raw.lstrip().startswith("#")):
                continue
            explaining = False
            if _REASONS.match(unmarked(raw)) or (parts and _NEXT_QUESTION.match(unmarked(raw))):
                break
            for sentence in self._sentences(without_bullet(raw)):
                if parts and not parts[-1].cited and not _stripped(_CITED.sub("", unmarked(sentence))):
                    parts[-1] = _Part(parts[-1].name, self._all_cited(sentence), parts[-1].weight)  # Vienna. [2]
                    continue
                if parts and parts[-1].cited and _SUPPORT.match(sentence):
                    found, cited = [], dict.fromkeys((*parts[-1].cited, *self._all_cited(sentence)))
                    parts[-1] = _Part(parts[-1].name, tuple(cited), parts[-1].weight)
                    continue
                sentence = self._guess(sentence)
                found = self._sentence(_NOT_BUT.sub("", sentence), refused)
                if not found:
                    refused = refused or bool(REFUSAL.search(unmarked(sentence)))
                parts += found
        return parts, refused

    def _guess(self, sentence: str) -> str:
        """What is guessed behind an excuse, with what is cited for it; other sentences as they are."""
        guessed = GUESSED.search(sentence) if len(sentence) < _MAX_SENTENCE else None
        if guessed is None or REFUSAL.search(guessed[2]) or not REFUSAL.search(sentence[: guessed.start()]):
            return sentence
        before = "" if _CITED.search(guessed[2]) else "".join(f"[{n}]" for n in self._all_cited(guessed[1]))
        return f"{guessed[2]} {before}"

    def _sentences(self, line: str) -> list[str]:
        if fold(_CITED.sub("", unmarked(line))) in self.known:
            return [line]
        sentences = [part.strip() for part in _SENTENCE.split(line) if part and part.strip()]
        return [part for whole in sentences for part in (re.split(r";\s+(?=(?:it|that)\b)", whole))]

    def _sentence(self, marked: str, refused: bool) -> list[_Part]:
        plain = without_bullet(unmarked(marked))
        plain = LABELLED.sub("", plain, count=1) if not _ANSWER_IS.search(plain) else plain
        plain = plain if fold(_stripped(_CITED.sub("", plain))) in self.known else _LEADS.sub("", plain)
        if self._is_known(_IT_IS.sub("", plain)):
            plain = _IT_IS.sub("", plain)
        bare = _stripped(_CITED.sub("", plain))
        if not bare or self._is_known(_NOT_THIS.sub("", plain), bare):
            return []
        if counted := _COUNTED.match(bare):
            cited = self._all_cited(plain)
            return [_Part(counted[1].rstrip(",."), cited, 4 if cited else 2)]
        if fold(bare) not in self.known:
            announced = self._announced(plain)
            if announced is not None:
                return announced
            if REFUSAL.search(plain) or _FILLER.match(plain) or _is_question(plain):
                return []
            if is_preamble(plain) and not _CITED.search(plain):
                return []
        segments = list(self._cited_segments(plain))
        if not any(cited for _, cited in segments):
            rounded = _ROUND.search(plain)
            if rounded and set(numbers_in(rounded[1])) <= set(self.paths):
                segments = [(plain[: rounded.start()], tuple(numbers_in(rounded[1])))]
        parts: list[_Part] = []
        for text, cited in segments:
            follows = bool(parts) and not _AND.match(text)
            if _INSTEAD.match(text) and (parts or self._is_known(_NOT_THIS.sub("", text))):
                continue
            if follows and (object_of := self._object(text, cited, parts[-1])):
                parts[-1] = object_of
                continue
            if (
                follows and fold(_stripped(text)) not in self.known
            ):  # an explanation behind the name: its citations support that name
                last = parts[-1]
                if cited and last.cited:
                    parts[-1] = _Part(last.name, tuple(dict.fromkeys((*last.cited, *cited))), last.weight)
                continue
            parts += self._names(_AND.sub("", text) if parts else text, cited, marked, refused)
        if _PROSE.search(plain) and any(map(self._is_end, parts)):
            parts = [
                part for part in parts if self._is_end(part) or not part.cited
            ]  # “The composer is … [1], born in …”
        return [_Part(part.name, part.cited, min(part.weight, parts[0].weight)) for part in parts]

    def _is_known(self, text: str, whole: str = "") -> bool:
        """Whether a text is the name of an entity, citations aside; of ``whole`` it has to be a part."""
        bare = _stripped(_CITED.sub("", text))
        return fold(bare) in self.known and bare != whole

    def _is_an_end(self, text: str) -> bool:
        """Whether a text names where some path ends."""
        return fold(_stripped(text)) in {fold(path.end) for path in self.paths.values()}

    def _is_end(self, part: _Part) -> bool:
        """Whether a name stands at the end of a path that it cites."""
        return any(fold(self.paths[n].end) == fold(part.name) for n in part.cited)

    def _object(self, text: str, cited: tuple[int, ...], subject: _Part) -> _Part | None:
        """What a cited sentence says of its cited subject: *Salzburg* in “Mozart [1] was born in Salzburg [1]”."""
        if self._is_end(subject) or not re.match(rf"\s*(?:{_VERB}|{_SMALL_VERB})\b", text, re.IGNORECASE):
            return None
        said = f" {fold(text)} "
        ends = [self.paths[n].end for n in cited if f" {fold(self.paths[n].end)} " in said]
        return _Part(ends[0], cited, 4) if ends else None

    def _announced(self, plain: str) -> list[_Part] | None:
        """What “the answer is …” says; None where nothing is announced."""
        match = _ANSWER_IS.search(plain)
        said = (match[1] or match[2]) if match else None
        cited = self._all_cited(plain)
        if said is None and (match := _IS_ANSWER.match(plain)):
            said = match[1]
        if said is None:
            return None
        bare = _stripped(_CITED.sub("", said))
        if (_is_question(said) or NOTHING.match(bare)) and fold(bare) not in self.known:
            return []
        segments = [(text, numbers) for text, numbers in self._cited_segments(said) if text.strip()]
        parts: list[_Part] = []
        for text, numbers in segments:
            if parts and not _AND.match(text):
                continue
            names = self._split(_stripped(_BEHIND.sub("", _AND.sub("", text) if parts else text)))
            parts += [_Part(self._tidy(name), numbers or cited, 4 if numbers or cited else 2) for name in names if name]
        return parts

    def _cited_segments(self, text: str) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Stretches of text, each with the citations behind it; before it where the text begins with them."""
        matches = list(_CITED.finditer(text))
        if not matches:
            yield text, ()
            return
        begins = text[: matches[0].start()]
        if not begins.strip(" \"'“-–—:") or _FROM.match(begins):  # [1] Vienna
            rest = text[matches[0].end() :]
            yield re.sub(r"^\s*(?:[-–—:.,→]|->)\s*", "", _CITED.sub("", rest)), self._all_cited(text)
            return
        before, begin, numbers = begins, 0, []
        for place, match in enumerate(matches):
            numbers += self._numbers(match)
            begin = match.end()
            end = matches[place + 1].start() if place + 1 < len(matches) else len(text)
            between = text[begin:end]
            if between.strip(" ,;&") and (place + 1 < len(matches) or re.search(r"\w", between)):
                yield before, tuple(dict.fromkeys(numbers))
                before, numbers = between, []
        if numbers or (begin == matches[-1].end() and before == begins):
            yield before, tuple(dict.fromkeys(numbers))
        elif _AND.match(before) and self._is_an_end(_AND.sub("", before)):
            yield before, ()

    def _numbers(self, match: re.Match[str]) -> list[int]:
        return [n for n in numbers_in(next(g for g in match.groups() if g)) if n in self.paths]

    def _all_cited(self, text: str) -> tuple[int, ...]:
        return tuple(dict.fromkeys(n for match in _CITED.finditer(text) for n in self._numbers(match)))

    def _names(self, text: str, cited: tuple[int, ...], marked: str, refused: bool) -> list[_Part]:
        """The name or names of a stretch of text."""
        bare = _stripped(text)
        if not re.search(r"\w", bare):
            return []
        if fold(bare) in self.known:
            return [_Part(self._tidy(bare), cited, 4 if cited else 1)]
        if len(ends := _ARROW.split(bare)) > 1:  # the path itself is repeated
            head, colon, _ = ends[0].rpartition(": ")
            name = self._tidy(head if colon else self._without_relation(ends[-1]))
            if self.known and not colon and fold(name) not in self.known:
                return []  # a path that nobody gave: it was made up, or stands in the prompt's example
            return [_Part(name, cited, 4 if cited else 1)]
        if _PROSE.search(bare) and _BOLD.search(marked) and (bold := self._bold(marked, bare)):
            return [_Part(name, cited, 3 if cited else 0) for name in bold]
        short = _stripped(_BEHIND.sub("", bare))
        split = self._split(short)
        if len(split) > 1:
            return [_Part(self._tidy(name), cited, 4 if cited else 1) for name in split]
        prose = _PROSE.search(short) and not short.istitle()  # a title may hold a verb: *Where Is My Mind*
        if short and not prose and len(short.split()) <= _MAX_WORDS:
            name = self._tidy(bare.rpartition(": ")[2]) if ": " in bare else ""
            name = name if fold(name) in self.known else self._tidy(short)
            sentence = ":" in bare or (bool(re.search(r"[.!?]$", text.strip())) and len(short.split()) > 2)
            return [_Part(name, cited, 4 if cited else 0 if sentence and fold(name) not in self.known else 1)]
        if refused:
            return []
        return [_Part(name, cited, 3 if cited else 0) for name in self._in_prose(bare, cited) if name]

    def _bold(self, marked: str, text: str) -> list[str]:
        """The names of a sentence that stand in bold."""
        bold = [_stripped(one or other) for one, other in _BOLD.findall(marked)]
        named = [name for name in bold if name and not LABELLED.match(name + ":") and fold(name) in fold(text)]
        ends = {fold(path.end) for path in self.paths.values()}
        return [self._tidy(name) for name in dict.fromkeys([n for n in named if fold(n) in ends] or named)]

    def _in_prose(self, text: str, cited: tuple[int, ...]) -> list[str]:
        """The name within a sentence: behind the verb, or the end of a path it cites."""
        said = f" {fold(text)} "
        near = [self.paths[n].end for n in cited] or [path.end for path in self.paths.values()]
        ends = [end for end in dict.fromkeys(near) if f" {fold(end)} " in said]
        tail = _TAIL.match(_stripped(_BEHIND.sub("", text)))
        name = _THE.sub("", _stripped(_BEFORE_NAME.sub("", tail[1]))) if tail else ""
        if name and fold(name) in self.known:
            return [self._tidy(name)]
        if ends:
            return ends
        if name and len(name.split()) <= _MAX_WORDS and (name[:1].isupper() or name[:1].isdigit()):
            return [name]
        return []

    def _split(self, text: str) -> list[str]:
        """Several names in a row; a comma parts names only where the parts are known and the whole is not."""
        if fold(text) in self.known:
            return [text]
        by_semicolon = [part for part in map(_stripped, text.split(";")) if part]
        if len(by_semicolon) > 1:
            return by_semicolon
        parts = [
            part
            for part in map(_stripped, re.split(r",\s*(?:and |und |et |y )?|\s+(?:and|und|et|y|&)\s+|、", text))
            if part
        ]
        ends = {fold(path.end) for path in self.paths.values()}
        return parts if len(parts) > 1 and all(fold(part) in ends for part in parts) else [text]

    def _without_relation(self, text: str) -> str:
        """The end of a path in which the arrow behind its last relation was forgotten: *born in Salzburg*."""
        words = text.split()
        for place in range(1, len(words)):
            if fold(" ".join(words[:place])) in self.relations and fold(" ".join(words[place:])) in self.known:
                return " ".join(words[place:])
        return text

    def _tidy(self, name: str) -> str:
        name = _stripped(name)
        if fold(name) in self.known:
            return name
        # the city of X; X, Austria; X (Austria); 维也纳 (X)
        shorter = (
            _BEFORE_NAME.sub("", name),
            *re.split(r",| ?[(（]", name)[:1],
            *re.findall(r"[(（]([^()（）]+)[)）]", name),
        )
        found = next((_stripped(one) for one in shorter if one and fold(one) in self.known), "")
        return found or self._beside_hedges(name) or name

    def _beside_hedges(self, name: str) -> str:
        """The known name that has only hedges or words of another script around it: *Possibly Vienna*."""
        for words in re.finditer(
            r"[A-ZÀ-Ž0-9][\w'’.-]*(?: [\w'’.-]+)*", re.sub(r"(?<=[^\W\d_a-zA-ZÀ-ž])(?=[A-Z])", " ", name)
        ):
            split = words.group().split()[:_MAX_WORDS]
            for first, last in combinations(range(len(split) + 1), 2):
                part = " ".join(split[first:last])
                if fold(part) in self.known and _HEDGE.fullmatch(name.replace(part, " ", 1)):
                    return part
        return ""

    # JSON

    def _in_json(self, data: object, cited: tuple[int, ...] = ()) -> list[_Part]:
        if isinstance(data, str):
            numbers = self._all_cited(data) or cited
            name = _stripped(_CITED.sub("", unmarked(data)))
            if not name or (fold(name) not in self.known and (REFUSAL.search(name) or NOTHING.match(name))):
                return []
            return [_Part(self._tidy(part), numbers, 4) for part in self._split(name)]
        if isinstance(data, list):
            return [part for item in data for part in self._in_json(item, cited)]
        if isinstance(data, (int, float)) and not isinstance(data, bool):
            return [_Part(str(data), cited, 3)]
        if not isinstance(data, dict):
            return []
        if (called := given_to_a_call(data)) is not None:
            return self._in_json(called, cited)
        citing = ("path", "cit", "support", "evidence", "source", "ref")
        numbers = cited
        for key, value in data.items():
            if any(word in str(key).lower() for word in citing):
                listed = re.findall(r"\d+", str(value)) if not isinstance(value, dict) else []
                numbers = tuple(dict.fromkeys(n for n in map(number_of, listed) if n in self.paths)) or cited
        for wanted in _ANSWER_KEYS:
            for key, value in data.items():
                if str(key).lower().replace(" ", "_") == wanted:
                    if isinstance(value, list) and (each := self._cited_each(data, citing, len(value))):
                        return [part for item, by in zip(value, each, strict=True) for part in self._in_json(item, by)]
                    return self._in_json(value, numbers)
        for key, value in data.items():
            if re.search("answer|entit|result", str(key), re.IGNORECASE) and not isinstance(value, (bool, int)):
                return self._in_json(value, numbers)
        named = [
            (k, v)
            for k, v in data.items()
            if (isinstance(v, int) and not isinstance(v, bool)) or (isinstance(v, list) and not any(map(_is_object, v)))
        ]
        if named and len(named) == len(data):  # {"Vienna": [1]}
            return [
                _Part(str(k), tuple(n for n in map(number_of, re.findall(r"\d+", str(v))) if n in self.paths), 3)
                for k, v in named
            ]
        inner = [value for value in data.values() if isinstance(value, (dict, list))]
        texts = [value for key, value in data.items() if isinstance(value, str) and key not in ("refusal", "error")]
        told: list[object] = [*(inner or texts)]
        return self._in_json(told[0], numbers) if len(told) == 1 else []

    def _cited_each(self, data: Mapping[str, object], citing: Sequence[str], count: int) -> list[tuple[int, ...]]:
        """The paths of each of so many answers, where they stand as a list of lists beside them."""
        for key, value in data.items():
            lists = isinstance(value, list) and len(value) == count and all(isinstance(item, list) for item in value)
            if lists and any(word in str(key).lower() for word in citing):
                found = [map(number_of, re.findall(r"\d+", str(item))) for item in value]  # type: ignore[attr-defined]
                return [tuple(dict.fromkeys(n for n in numbers if n in self.paths)) for numbers in found]
        return []

    @staticmethod
    def _merged(parts: Iterable[_Part]) -> tuple[CitedName, ...]:
        """Each name once, with all that it cites."""
        found: dict[str, tuple[str, tuple[int, ...]]] = {}
        for part in parts:
            if not part.name or LABELLED.fullmatch(f"{part.name}:"):
                continue
            name, cited = found.get(fold(part.name) or part.name, (part.name, ()))
            found[fold(part.name) or part.name] = (name, tuple(dict.fromkeys((*cited, *part.cited))))
        return tuple(found.values())


def _behind_the_prompt(lines: list[str], paths: int, cut: bool) -> list[str]:
    """The lines of a reply without what it repeats of the prompt.

    Small models go on with the text they were given: the paths once more, the question, and then an answer, or none.
    Who repeats all the paths, or is cut on the way from the first one, has chosen none.

    Args:
        lines: of the reply.
        paths: how many were given.
        cut: the reply broke off.
    """
    for number, line in enumerate(lines):
        if (ends := _ANSWERS.match(line)) and any(_ECHO.match(before) for before in lines[:number]):
            return [*([ends[1]] if ends[1] else []), *lines[number + 1 :]]
    echoed = [int(match[1][:9]) for line in lines if (match := _ECHO.match(line))]
    in_order = len(echoed) > 1 and echoed == list(range(1, len(echoed) + 1))
    all_of_them = (cut or len(echoed) >= paths) and (len(echoed) > 2 or any(map(_SUGGESTED.search, lines)))
    if in_order and (all_of_them or any(map(_ASKED.match, lines))):
        return [line for line in lines if not (_ECHO.match(line) or _ASKED.match(line))]
    return lines


def _is_question(text: str) -> bool:
    """Whether a sentence is the question over again."""
    return bool(text.endswith("?") and _ASKS.match(text) and _PROSE.search(text)) or bool(_ASKING.match(text))


def _stripped(text: str) -> str:
    """A name without the quotes and the punctuation around it; a bracket stays where its partner does."""
    text = text.strip().strip('"“”„«»‹›`').strip()
    text = re.sub(r"^[\s,;:.–—-]+(?=\D)|[\s,;:!?。，、–—→-]+$", "", text)
    if text.endswith(".") and not re.search(r"(?:\b[^\W\d_]\.|\b(?:Jr|Sr|St|Inc|Ltd|Co|etc)\.)$", text):
        text = text.rstrip(".")
    return text.strip().strip("\"“”„«»‹›`'").strip()


def _is_object(value: object) -> bool:
    return isinstance(value, dict)
