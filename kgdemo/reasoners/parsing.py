"""Reading what chat models write at a decision: as leniently as a person would, and no further.

A reply is first cleaned of what is not addressed to the reader (``reply``). Then the choice is looked for where people
put it: in JSON, in a table, in bold, behind “Answer:”, on a line of its own, in the concluding sentence. A reply in
which nothing of the kind is found is an error, not a guess: the model is then asked once more.

How final answers are read stands in ``final_answer``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kgdemo.kg.labels import fold
from kgdemo.reasoners.reply import cleaned, is_row, json_in, table, texts_in, unmarked, without_bullet

_LABEL = (
    r"(?:my |the |so,? |therefore,? )*(?:final |short |best |correct )*"
    r"(?:answers?(?: to (?:the|this|your) question)?|replies|reply|"
    r"result|output|conclusion|choices?|selection|selected(?: options?)?|decision|verdict|"
    r"numbers?|ratings?|thoughts?|next thought|plan|keywords?|entities|chain|antwort(?:en)?|réponses?|respuestas?|"
    r"risposta|resposta|ответ|答案|回答|答え)(?:\(s\))?"
)
LABELLED = re.compile(rf"^\W*{_LABEL}(?!\w)\W*?\s*(?:[:：=]|(?<=\w)\s+(?:is|are|ist|est|es|è)\b:?)\s*", re.IGNORECASE)
_PREAMBLE = re.compile(
    r"^(?:sure|certainly|of course|okay|ok|yes|absolutely|great question|great|gerne|natürlich|bien sûr|claro|"
    r"here (?:is|are|you go)|based on|below (?:is|are)|let me|let's|i(?:'|’)ll|i will|looking at|given)\b.*[:!.…]\s*$",
    re.IGNORECASE,
)
_RUN = (
    r"\d+(?:(?:\s*(?:,|;|&|/|and|und|et|y|or|和|及|と|、|，|>|≻|then|followed by)\s*)+(?:and\s+)?(?:options?\s+"
    r"|#)?\d+|\s*[-–]\s*\d+(?!\w)"
    r"|[\s\]\[]+\d+(?!\w|\.\s*\w))*"
)
_PURE = re.compile(rf"^\W*{_RUN}\W*$")
_NUMBERED_LINE = re.compile(r"^\W*(?:options?\s*)?#?(\d+)\W{0,3}[.):\-–—]\W*\S", re.IGNORECASE)
_REJECTED = re.compile(
    r"\b(?:not|no|irrelevant|unrelated|unhelpful|doesn't|isn't|don't|aren't|useless|less|others?|except|discard"
    r"|rule out)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_BOX = re.compile(r"^\W*?\[([ xX✓✔])\]\s*")  # a list of tasks: the chosen ones are ticked
_BY_RANK = re.compile(r"\b(?:choice|pick|preference)\s*(?:[:=]|\bis\b)\s*(?:option\s+)?#?(\d+)(?!\w)", re.IGNORECASE)
_ALL = re.compile(
    r"^\W*all(?:(?: of)? (?:them|these|those|(?:the )?(?:options|above)))?(?: are relevant)?\W*$", re.IGNORECASE
)
_BOLD_RUN = re.compile(rf"(?:\*\*|__)[^\w*\n]{{0,5}}(?:options?\s+)?#?({_RUN})\W{{0,5}}?(?:\*\*|__)", re.IGNORECASE)
_CONCLUDES = re.compile(
    r"\b(?:choose|chose|select(?:ed)?|pick(?:ed)?|go(?:ing)? with|opt for|take|keep|answer|"
    r"best(?: \w+){0,3}? (?:is|are)|"
    r"therefore|thus|hence|so|conclusion|recommend|helpful(?: \w+){0,3}? (?:is|are)|relevant(?: \w+){0,3}? (?:is|are)|"
    rf"likeliest(?: \w+){{0,3}}? (?:is|are))\b\D*?(?<![\w.])({_RUN})(?!\w)",
    re.IGNORECASE,
)
_NAMED_RUN = re.compile(rf"(?:\b(?:options?|numbers?|paths?|no\.)\s*|选项|选择|選択肢|#)({_RUN})(?!\w)", re.IGNORECASE)
_ANY_RUN = re.compile(rf"(?<![\w.])({_RUN})(?!\w)")
_ORDINALS = {
    word: n
    for n, words in enumerate(
        ("first one", "second two", "third three", "fourth four", "fifth five", "sixth six", "seventh seven"), 1
    )
    for word in words.split()
}
_ORDINAL = re.compile(
    rf"\b(?:the ({'|'.join(_ORDINALS)})(?: \w+)?|(?:option|number) ({'|'.join(_ORDINALS)}))\b", re.IGNORECASE
)
_WORDS = {word: n for n, word in enumerate("zero one two three four five six seven eight nine ten".split())}
_HERE_IS = re.compile(
    r"^(?:sure|okay|certainly|of course)\W+here(?:['’]s| is) (?:my|the|a) (?:next )?(?:thought|step|plan"
    r"|answer)\s*[:：]\s*(?=\S)",
    re.IGNORECASE,
)
_OWN_LINE = re.compile(r"^\W*(?:rating|score)\W*(\d{1,3}(?:\.\d+)?)", re.IGNORECASE)
_RATED = re.compile(
    r"^\W*(?:(?:ratings?|scores?) (?:for|of)\s+)?(?:options?\s*|path\s*|no\.\s*)?#?(\d+)\s*(?:\([^()]*\)\s*)?"
    r"[\]|:.)=,→–—-]+\s*(.*)$",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\W*(?:thought|step|action|statement)\s*#?\d{0,2}\W*[:：]\s*", re.IGNORECASE)
_TOO_MANY = 10**9  # more than there are options or paths
_YES = frozenset(
    "y yes yeah yep true correct right entailed supported holds ja oui sí si да はい sim vero wahr".split()
)
_NO = frozenset("n no nope false incorrect wrong unsupported nein non нет いいえ não falsch faux".split())
_DENIED = re.compile(
    r"\b(?:does|do|did|is|are|can|could)(?:\s+not|n['’]t)\s+(?:\w+\s+){0,2}?"
    r"(?:follow|hold|true|supported|entailed|enough|sufficient|suffice|deduced|concluded|inferred|established)|"
    r"\bcannot be (?:\w+ )?(?:deduced|determined|concluded|inferred|established|derived)|"
    r"\b(?:in|un)sufficient\b|\bnot (?:enough|necessarily|supported|entailed)\b|\bafraid not\b|"
    r"\b(?:can ?not|can['’]t) say\b",
    re.IGNORECASE,
)
_CONCLUDED = re.compile(
    r"(?:,|:|\b(?:so|therefore|thus|hence|is|answer|(?<!not )(?<!t )say|think|believe|definitely|clearly"
    r"|certainly|probably))\s+\W*(yes|no|true|false)\b"
    r"(?=\W*(?:$|[,;.:—–]|because|since|as\b))",
    re.IGNORECASE,
)
_AFFIRMED = re.compile(
    r"\b(?:it|statement|conclusion|claim"
    r"|this)\s+(?:\w+\s+)?"
    r"(?:follows|holds|is (?:\w+ )?(?:true|supported|entailed|correct))|"
    r"\b(?:facts|they) (?:are|is) (?:\w+ )?(?:enough|sufficient)|^\W*(?:sufficient|enough)\W*$|\bsuffices?\b"
    r"|\bcan be (?:\w+ )?(?:deduced|concluded|inferred)",
    re.IGNORECASE,
)


class UnreadableReplyError(ValueError):
    """A reply that does not have the form asked for; the message tells the model what is wrong."""


def number_of(digits: str) -> int:
    """A number of any length. One too long to be of use counts as ``_TOO_MANY``: Python reads 4,300 digits at most."""
    digits = digits.strip()
    return int(digits) if len(digits) < 10 else _TOO_MANY


def numbers_in(run: str) -> list[int]:
    """The numbers of a list such as ``1, 3 and 5-7``."""
    found: list[int] = []
    for first, last in re.findall(r"(\d+)(?:\s*[-–]\s*(\d+))?", run):
        low, high = number_of(first), number_of(last or first)
        found += range(low, high + 1) if low <= high < low + 100 else [low, high]
    return list(dict.fromkeys(found))


# Choices -----------------------------------------------------------------------------------------


def chosen_numbers(reply: str, options: int | Sequence[str], limit: int) -> tuple[int, ...]:
    """Indices (from 0) of the options that a reply chooses, best first; numbers that are no option are passed over.

    Args:
        reply: what the model wrote.
        options: how many there are, or their texts, by which one that is repeated without its number is recognised.
        limit: how many to take at the most.

    Raises:
        UnreadableReplyError: it chooses none.
    """
    count = options if isinstance(options, int) else len(options)
    text = cleaned(reply)
    outside: list[int] = []
    for numbers in _choices(text):
        inside = [n for n in dict.fromkeys(numbers) if 1 <= n <= count]
        if inside:
            return tuple(n - 1 for n in inside)[:limit]
        outside += numbers
    if _ALL.match(unmarked(text)):
        return tuple(range(min(count, limit)))
    if not isinstance(options, int) and (named := _options_named(text, options)):
        return tuple(named[:limit])
    if outside:
        raise UnreadableReplyError(f"{outside[0]} is not the number of an option; there are {count}.")
    raise UnreadableReplyError(f"it does not give numbers between 1 and {count}, separated by commas.")


def _choices(text: str) -> Iterator[list[int]]:
    """The numbers in the places where a choice may stand, the plainest place first."""
    data = json_in(text)
    if data is not None:
        yield list(_integers(data))
    written = list(filter(str.strip, text.splitlines()))
    if any((box := _BOX.match(line)) and box[1] != " " for line in written):
        written = [_BOX.sub("", line) for line in written if (box := _BOX.match(line)) and box[1] != " "]
    yield _in_table(written)
    lines: list[str] = []
    for line in (re.sub(r"\s\([^()\d]*\)", "", unmarked(line)) for line in written):  # 2 (most relevant), 4
        if lines and _PURE.match(line) and re.search(r"\d\W*$", lines[-1][-20:]):  # one list, a number a line
            lines[-1] += f", {line}"
        else:
            lines.append(line)
    for line in reversed(lines):
        said = LABELLED.match(line)
        if said and (run := re.match(rf"\W*(?:options?\s*|#)?({_RUN})", line[said.end() :], re.IGNORECASE)):
            yield numbers_in(run.group(1))
    pure = [n for line in lines if _PURE.match(line) for n in numbers_in(line)]
    if pure:
        yield pure
    if len(lines) == 1 and re.fullmatch(r"(?:\W*\(\d+\))+\W*", lines[0]):  # (2), (4)
        yield numbers_in(re.sub(r"\W+", ",", lines[0]))
    bold = [n for run in _BOLD_RUN.findall(text) for n in numbers_in(run)]
    plain = "\n".join(lines)
    concluding = [numbers_in(run) for run in _CONCLUDES.findall(plain)]
    listed = [line for line in lines if _NUMBERED_LINE.match(line)]
    accepted = [line for line in listed if not _REJECTED.search(line)]
    if bold and len(listed) < 2:
        yield bold
    if concluding and len(accepted) != len(listed):
        yield concluding[-1]
    if accepted:
        yield [number_of(match.group(1)) for line in accepted if (match := _NUMBERED_LINE.match(line))]
    if len(by_rank := _BY_RANK.findall(plain)) > 1:
        yield list(map(number_of, by_rank))
    kept = " ".join(sentence for sentence in _SENTENCE.split(plain) if not _REJECTED.search(sentence))
    if kept and len(runs := _ANY_RUN.findall(kept)) == 1 and _REJECTED.search(plain):
        yield numbers_in(runs[0])
    if concluding:
        yield concluding[0]
    for pattern in (_NAMED_RUN, _ANY_RUN):
        runs = [numbers_in(run) for run in pattern.findall(plain)]
        if runs and (pattern is _NAMED_RUN or len(runs) == 1):
            yield runs[0]
    ordinals = [_ORDINALS[(a or b).lower()] for a, b in _ORDINAL.findall(plain)]
    if ordinals:
        yield ordinals


def _in_table(written: Sequence[str]) -> list[int]:
    """The numbers in that column of a table whose head says that it has the choices."""
    heads, rows = table([line for line in written if is_row(line)])
    columns = [n for n, head in enumerate(heads) if re.search("option|choice|number|select", head, re.IGNORECASE)]
    cells = [unmarked(row[columns[0]]) for row in rows if len(row) > columns[0]] if columns else []
    return [number_of(found[1]) for cell in cells if (found := re.match(r"\W*(\d+)(?!\w)", cell))]


def _integers(value: object) -> Iterator[int]:
    """The whole numbers of a JSON value; in an object those under other keys than the reasons."""
    if isinstance(value, bool):
        return
    if isinstance(value, (int, float)):
        if 0 <= value < _TOO_MANY and value == int(value):
            yield int(value)
    elif isinstance(value, str):
        if match := re.match(rf"\W*(?:options?\s*)?#?({_RUN})(?!\w)", value, re.IGNORECASE):
            yield from numbers_in(match.group(1))
    elif isinstance(value, dict):
        if value and all(str(k).isdecimal() and isinstance(v, bool) for k, v in value.items()):
            yield from (number_of(str(k)) for k, v in value.items() if v)
            return
        wanted = [v for k, v in value.items() if not re.search("reason|explan|why|thought|score|rating|conf", str(k))]
        for inner in wanted:
            yield from _integers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _integers(inner)


def _options_named(text: str, options: Sequence[str]) -> list[int]:
    """Options whose text stands in the reply, in its order; of options within one another the longest."""
    said = f" {fold(unmarked(text))} "
    places: list[tuple[int, int]] = []
    for index in sorted(range(len(options)), key=lambda i: -len(options[i])):
        option = f" {fold(options[index])} "
        place = said.find(option) if option.strip() else -1
        if place >= 0:
            places.append((place, index))
            said = said.replace(option, " " + "\0" * (len(option) - 2) + " ", 1)
    return [index for _, index in sorted(places)]


def proposals(reply: str, options: Sequence[str], limit: int) -> tuple[tuple[int, str, str], ...]:
    """Next steps: the index (from 0) of an option each, the thought before it, and what is written behind the number.

    Args:
        reply: what the model wrote: a line for each step, ``thought | number``, or ``thought | number text``.
        options: the texts of the options.
        limit: how many steps to take at the most.

    Raises:
        UnreadableReplyError: it chooses none.
    """
    found: dict[tuple[int, str], str] = {}
    data = json_in(cleaned(reply), numbers=False)
    lines = [unmarked(line).strip("| ") for line in cleaned(reply).splitlines()] if data is None else _step_lines(data)
    for line in lines:
        thought, _, chosen = line.rpartition("|")
        number = re.match(r"\W*(?:\w+\W*){0,2}?#?(\d+)(?!\w)\W*(.*)$", chosen)
        if thought and number and 1 <= number_of(number[1]) <= len(options):
            key = number_of(number[1]) - 1, number[2].strip(" []()\"'.:")
            found.setdefault(key, without_bullet(thought).strip(" |"))
    if not found:
        found = dict.fromkeys(((index, "") for index in chosen_numbers(reply, options, limit)), "")
    return tuple((index, thought, written) for (index, written), thought in found.items())[:limit]


def _step_lines(data: object) -> list[str]:
    """Steps that came as JSON, as the lines that were asked for."""
    if isinstance(data, list):
        return [line for item in data for line in _step_lines(item)]
    if not isinstance(data, dict):
        return []
    if nested := [line for value in data.values() if isinstance(value, (list, dict)) for line in _step_lines(value)]:
        return nested
    thought = next((str(v) for k, v in data.items() if "thought" in str(k) or "reason" in str(k)), "")
    number = next((v for v in data.values() if isinstance(v, int) or str(v).isdecimal()), "")
    return [f"{' '.join(thought.split()).replace('|', '/') or '-'} | {number} {data.get('node') or ''}"]


# Ratings and verdicts ----------------------------------------------------------------------------


def ratings(reply: str, options: int) -> tuple[float, ...]:
    """One rating an option, scaled to 0..1; a scale up to 100 is understood as such.

    Raises:
        UnreadableReplyError: a rating is missing or outside 0 to 10.
    """
    text = cleaned(reply)
    found = _ratings_in_json(json_in(text), options) or _ratings_in_lines(unmarked(text), options)
    missing = [n for n in range(1, options + 1) if n not in found]
    if missing:
        raise UnreadableReplyError(f"the rating of option {missing[0]} is missing; write one line an option.")
    values = [found[n] for n in range(1, options + 1)]
    top = 100.0 if options > 1 and max(values) > 10 and min(v for v in values if v > 0) >= 1 else 10.0
    if options > 1 and max(values) <= 1 and any(value % 1 for value in values):
        top = 1.0
    if any(not 0 <= value <= top for value in values):
        raise UnreadableReplyError("ratings go from 0 to 10.")
    return tuple(value / top for value in values)


def _ratings_in_json(data: object, options: int) -> dict[int, float]:
    if isinstance(data, dict) and len(data) == 1 and isinstance(next(iter(data.values())), (list, dict)):
        data = next(iter(data.values()))
    if isinstance(data, dict):
        pairs = {re.sub(r"\D", "", str(key)): value for key, value in data.items()}
        rated = {number_of(key): _rating(value) for key, value in pairs.items() if key}
        return {key: value for key, value in rated.items() if value is not None}
    if isinstance(data, list) and len(data) == options:
        values = [_rating(item) for item in data]
        return {n: value for n, value in enumerate(values, 1) if value is not None}
    return {}


def _rating(value: object) -> float | None:
    """A rating as JSON has it: a number, a text that begins with one, or an object that holds it."""
    if isinstance(value, dict):
        value = next(
            (v for k, v in value.items() if re.search("score|rating|value|points", str(k), re.IGNORECASE)), None
        )
    if isinstance(value, str):
        match = re.match(r"\s*(\d{1,6}(?:\.\d+)?)", value)
        return float(match.group(1)) if match else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _ratings_in_lines(text: str, options: int) -> dict[int, float]:
    text = re.sub(
        rf"(?<=[:=|–—-] )(?:{'|'.join(_WORDS)})\b",
        lambda word: str(_WORDS[word.group().lower()]),
        text,
        flags=re.IGNORECASE,
    )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if options > 1 and len(lines) == options and all(re.fullmatch(r"\d{1,3}(?:\.\d+)?", line) for line in lines):
        return {n: float(line) for n, line in enumerate(lines, 1)}
    if options == 1 and (out_of := re.search(r"(?<![\w.])(\d{1,2}(?:\.\d+)?)\s*(?:/|out of)\s*10\b", text)):
        return {1: float(out_of[1])}
    listed = re.findall(r"(?<![\w.])\d{1,6}(?:\.\d+)?(?:\s*/\s*10)?(?!\w)", text)
    if (
        len(listed) == options == len(re.findall(r"\d+(?:\.\d+)?", text.replace("/10", "")))
        and len(text.split("\n")) == 1
    ):
        return {n: float(v.split("/")[0]) for n, v in enumerate(listed, 1)}
    pairs = re.findall(r"(?<![\w.])(\d{1,3})\s*(?:[:=]|->|→)\s*(\d{1,3}(?:\.\d+)?)(?![\w.]*\d)", text)
    if len(lines) == 1 and [number_of(number) for number, _ in pairs] == list(range(1, options + 1)):
        return {number_of(number): float(rating) for number, rating in pairs}
    found: dict[int, float] = {}
    number = 0
    for line in text.splitlines():
        own = _OWN_LINE.match(line)
        if own and number and number not in found:
            found[number] = float(own[1])
            continue
        begun = _RATED.match(line)
        if begun is None:
            continue
        number, rest = number_of(begun.group(1)), begun.group(2)
        rated = (
            re.match(r"^(?:rating|score)?\W*(\d{1,6}(?:\.\d+)?)(?!\w)(?!\s+\w+ ->)", rest, re.IGNORECASE)
            or re.search(r"(?:rating|score)\W*(\d{1,6}(?:\.\d+)?)", rest, re.IGNORECASE)
            or re.search(r"(\d{1,6}(?:\.\d+)?)\s*(?:/|out of)\s*10", rest)
            or re.search(r"(?:[:=|–—]|\s-)\s*(\d{1,6}(?:\.\d+)?)(?!\w)", rest)
        )
        if rated and number not in found:
            found[number] = float(rated.group(1))
    return found


def yes_or_no(reply: str) -> bool:
    """The answer to a yes/no question: the first word, what stands behind “Answer:”, or the conclusion.

    Raises:
        UnreadableReplyError: it is neither.
    """
    text = cleaned(reply)
    data = json_in(text)
    if isinstance(data, dict):
        values = [v for v in data.values() if isinstance(v, bool) or _verdict(str(v)) is not None]
        if values:
            return values[0] if isinstance(values[0], bool) else bool(_verdict(str(values[0])))
    plain = unmarked(text)
    lines = [line for line in plain.splitlines() if line.strip()]
    for line in lines[:1]:
        if re.match(r"\W*no\s+\w", line, re.IGNORECASE) and (last := _CONCLUDED.search(line)):
            return last.group(1).lower() in _YES  # “No contradiction is found, so yes”
        if (verdict := _verdict(line)) is not None:
            return verdict
    for line in reversed(lines):
        said = LABELLED.match(line)
        if said and (verdict := _verdict(line[said.end() :])) is not None:
            return verdict
    for sentence in reversed(re.split(r"(?<=[.!?])\s+|\n+", plain)):
        last = _CONCLUDED.search(sentence)
        if last:
            return last.group(1).lower() in _YES
        if (verdict := _verdict(sentence)) is not None:
            return verdict
        if _DENIED.search(sentence):
            return False
        if _AFFIRMED.search(sentence):
            return True
    raise UnreadableReplyError("it does not start with yes or no.")


def _verdict(text: str) -> bool | None:
    """Yes or no where a text begins with it."""
    if found := re.match(r"\W*(?:[是对]|不是|否)", text):
        return found.group().strip()[-1:] in "是对" and "不" not in found.group()
    words = re.findall(r"[^\W\d_]+", text.lower())
    if not words or words[:2] in (["no", "path"], ["no", "fact"], ["right", "now"], ["si", "les"]):
        return None
    if words[:3] == ["yes", "and", "no"]:
        return None
    if words[:2] == ["it", "does"] or words[:2] == ["not", "really"]:
        return words[0] == "it" and words[2:3] not in (["not"], ["n"])
    return True if words[0] in _YES else False if words[0] in _NO else None


def coherence(reply: str) -> int:
    """The judge's rating of a path.

    Raises:
        UnreadableReplyError: no line says ``Score:`` with a whole number from 1 to 5.
    """
    found = re.search(r"score\W*(\d+(?:\.\d+)?)", cleaned(reply), re.IGNORECASE)
    if found is None or found.group(1) not in ("1", "2", "3", "4", "5"):
        raise UnreadableReplyError("it has no line “Score: ” with a whole number from 1 to 5.")
    return int(found.group(1))


# Free text ---------------------------------------------------------------------------------------


def said_lines(reply: str, cut: bool = False) -> tuple[list[str], bool]:
    """The lines of a reply that say something: no preamble, no bullets, no label before them.

    Args:
        reply: what the model wrote.
        cut: it broke off. Of several lines the last is then left out.

    Returns:
        the lines, and whether the last of them is not whole.

    Raises:
        UnreadableReplyError: there is none.
    """
    text = cleaned(reply) or cleaned(re.sub(r"(?<!\S)<(thought)>(.*?)</\1>", r"\2", reply, flags=re.DOTALL))
    data = json_in(text, numbers=False) if text.startswith(("{", "[")) else None
    written = [line for told in texts_in(data) for line in told.splitlines()] or text.splitlines()
    if cut and len(written) > 1:
        written, cut = (written if reply.endswith("\n") else written[:-1]), False
    lines = []
    for raw in written:
        line = _HERE_IS.sub("", without_bullet(unmarked(raw)))
        line = _ITEM.sub("", LABELLED.sub("", line, count=1)).strip() if "|" not in line else line
        line = line.strip('"“”') if line[:1] in '"“' and line[-1:] in '"”' else line
        if line and re.search(r"\w|-", line):
            lines.append(line)
    content = [line for line in lines if not is_preamble(line)] or lines
    content = content or [line for line in map(unmarked, written) if re.search(r"\w", line)]  # labels alone
    if not content:
        raise UnreadableReplyError("it is empty.")
    return content, cut


def is_preamble(line: str) -> bool:
    """Whether a line only announces what comes: “Sure! Here are the answers:”."""
    return bool(_PREAMBLE.match(line)) or (line.endswith((":", "：")) and len(line.split()) > 1)
