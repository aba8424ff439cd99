"""What of a reply is addressed to the reader, without what a chat model or its server wraps it in.

Reasoning blocks, the marks of a chat template, code fences, tags and boxes are taken away; Markdown emphasis stays,
since what stands in bold is often what is chosen. JSON, calls and tables are read as such. Last comes how chat models
say, in many languages, that they have no answer, and what they guess all the same.
"""

from __future__ import annotations

import ast
import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence

_BLOCKS = r"think|thinking|thought|reasoning|reflection|scratchpad|analysis"
# <think>, </think>, ◁think▷, [THINK]; the reply of a reasoning model in an analysis channel
_MARK = re.compile(rf"(<|◁|\[)(/?)({_BLOCKS})[>▷\]]|<\|channel\|>(?:analysis|commentary)<\|message\|>", re.IGNORECASE)
PATH_WORD = r"(?:reasoning )?(?:paths?|pfade?n?|chemins?|caminos?|percors[oi]|refs?\.?|sources?|路径|путь)"
# an action as agents write them, or a call: Finish[Vienna], answer(name="Vienna", paths=[2])
_ACTION = re.compile(
    r"^\W*(?:(?:action|function call)\s*:\s*)?(?:finish|(?:submit_|final_)?answer|submit"
    r"|respond)\s*(?:\[(?!\d)(.*)\]|\((.*)\))\W*$",
    re.IGNORECASE,
)
_KEYWORD = re.compile(r"(\w+)\s*=\s*(\"[^\"]*\"|'[^']*'|\[[^\]]*\]|\d+)")
_MAX_READ = 20_000  # characters of what is addressed to the reader; of more, the end
_CHANNEL = re.compile(r"\A.*<\|channel\|>final\b[^\n]{0,40}?<\|message\|>", re.DOTALL)
# the same where the server has left the marks out: “analysisPath 1 fits.assistantfinalVienna”
_BARE_CHANNEL = re.compile(
    r"\A(?:analysis(?=[A-Z]).*?)?assistant(?:final|(?=\s*\n))|\Aanalysis(?=[A-Z]).*\Z", re.DOTALL
)
_TURN = re.compile(r"\A\s*(?:<start_of_turn>\s*model|assistant|model)\s*\n")
_SPECIAL = re.compile(r"<\|[^|>\n]{1,40}\|>|</?s>|<(?:end|start)_of_turn>|\[/?INST\]")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w-]*[ \t]*$\n?|```", re.MULTILINE)
_BOXED = re.compile(r"\\boxed\{(?:\\text\{)?([^{}]*)\}+")
_TAGGED = re.compile(r"[<\[]/?\s*(?:final|(?:final[_ ])?answers?|response|output)\s*[>\]]", re.IGNORECASE)
_ASIDE = re.compile(r"<(confidence|explanation|rationale|justification|score)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_HTML = re.compile(
    r"</?(?:p|b|i|u|em|strong|sup|sub|span|div|ul|ol|code|pre|tool_call|function_call)(?:\s[^<>\n]*)?/?>", re.IGNORECASE
)
_NEW_LINE = re.compile(r"<br\s*/?>(?!\s*\[)|</?li>", re.IGNORECASE)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:nbsp|amp|lt|gt|quot|apos|#\d{1,6}|#x[0-9a-f]{1,6});", re.IGNORECASE)
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]+)\]\((?:https?:|#|/|www\.)[^)\s]*\)")  # a Markdown link
_BULLET = re.compile(r"^\s*(?:[-*•‣–—>#]+\s+|\(?\d{1,3}[.):]\s+|\([a-z]\)\s+|[a-z][.)]\s+)+")
_JSON_OF_NAMES = re.compile(r"\{|^\s*\[(?=\s*[\"'{\]])", re.MULTILINE)
_JSON = re.compile(r"\{|\[(?=\s*(?:[\"'{\[\]]|\d+\s*(?:,|\]\s*\Z)))")


def cleaned(reply: str) -> str:
    """A reply without reasoning blocks, special tokens and code fences; Markdown emphasis stays.

    A reply that was cut while the model was still thinking says nothing, and comes back empty.
    """
    text = _TURN.sub("", _BARE_CHANNEL.sub("", without_thinking(reply)))[-4 * _MAX_READ :]
    text = _SPECIAL.sub("", _FENCE.sub("", text))
    text = _BREAK.sub(" ", _NEW_LINE.sub("\n", _HTML.sub("", _ASIDE.sub("", text))))
    text = _ENTITY.sub(lambda entity: html.unescape(entity.group()), text).replace("\xa0", " ")
    text = _BOXED.sub(r"\nFinal answer: \1\n", text)
    text = _TAGGED.sub(lambda tag: "\n" if "/" in tag.group() else "\nFinal answer: ", text)
    text = _LINK.sub(lambda link: f"[{link[1]}]" if link[1].isdecimal() else link[1], text).strip()
    return re.sub(r"(?:[ \t]*\n){3,}", "\n\n", text)[-_MAX_READ:]


def without_thinking(reply: str, ended: bool = True) -> str:
    """A reply without its reasoning blocks.

    Args:
        reply: as far as it has come.
        ended: nothing more comes; else a tag that has only begun is held back.
    """
    if not any(mark in reply for mark in "<◁["):
        return reply
    if not ended:
        reply = re.sub(r"[<◁][^<>◁▷\s]{0,24}\Z", "", reply)
    text, kept, place, inside = _CHANNEL.sub("", reply), [], 0, ""
    for mark in _MARK.finditer(text):
        kept += [] if inside else [text[place : mark.start()]]
        place, name = mark.end(), (mark[3] or "channel").lower()
        if not mark[2]:
            inside = inside or name
        elif not inside:
            kept = []  # it was opened by the prompt
        elif inside == name:
            inside = ""
    return "".join(kept) if inside else "".join(kept) + text[place:]


def unmarked(text: str) -> str:
    """Text without Markdown emphasis, headings and quotes."""
    text = re.sub(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]+)+", "", text, flags=re.MULTILINE)
    return re.sub(r"\*{1,3}|`|(?<!\w)_{1,3}|_{1,3}(?!\w)|~~", "", text).strip()


def without_bullet(line: str) -> str:
    """A line without the bullet or number that it begins with."""
    return _BULLET.sub("", line).strip()


def json_in(text: str, numbers: bool = True) -> object:
    """The JSON value that a text holds, also where it is broken off or slightly wrong; None where there is none.

    Args:
        text: a cleaned reply.
        numbers: a list of numbers is one; else it is a citation.
    """
    begin = (_JSON if numbers else _JSON_OF_NAMES).search(text)
    if begin is None:
        return None
    body = text[begin.start() :]
    ends = [m.end() for m in re.finditer(r"[}\]]", body)]
    tries = [body[:end] for end in reversed(ends[-40:])]
    mended = () if re.match(r"\[\s*\d", body) else _closed(body)  # a list of numbers is read as text as well
    for candidate in (*tries, *mended):
        text = re.sub(r",\s*([}\]])", r"\1", candidate)
        for read in (json.loads, ast.literal_eval):
            try:
                value = read(text)
            except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
                continue
            if isinstance(value, (dict, list)):
                return value
    return None


def _closed(body: str) -> Iterator[str]:
    """A JSON text that broke off, closed behind its last whole value."""
    cut = body
    for _ in range(12):
        opened, quoted, escaped = [], False, False
        for char in cut:
            if quoted:
                quoted, escaped = (char != '"' or escaped), char == "\\" and not escaped
            elif char == '"':
                quoted = True
            elif char in "{[":
                opened.append("}" if char == "{" else "]")
            elif char in "}]" and opened:
                opened.pop()
        if not quoted and opened:
            yield cut.rstrip().rstrip(",:") + "".join(reversed(opened))
        shorter = max(cut.rfind(","), cut.rfind("{"), cut.rfind("["))
        if shorter <= 0:
            return
        cut = cut[:shorter]


def table(lines: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """The heads of the columns and the rows of a Markdown table; no heads where no ruler stands below them."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    ruled = [all(re.fullmatch(r"[:\-\s]*", cell) for cell in row) for row in rows]
    if len(rows) > 1 and ruled[1] and not ruled[0]:
        return rows[0], [row for row, ruler in zip(rows[2:], ruled[2:], strict=True) if not ruler]
    return [], [row for row, ruler in zip(rows, ruled, strict=True) if not ruler]


def is_row(line: str) -> bool:
    """Whether a line is one of a Markdown table."""
    return bool(re.match(r"^\s*\|.*\|\s*$", line))


def texts_in(value: object) -> list[str]:
    """The texts of a JSON value in their order; in an object with a thought, an answer or the like, only that."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in texts_in(item)]
    if isinstance(value, dict):
        told = [value[key] for key in ("thought", "next_thought", "answer", "text") if key in value]
        return [text for item in (told or value.values()) for text in texts_in(item)]
    return []


def of_a_call(text: str) -> str:
    """What stands between the brackets of an action or a call, named arguments as JSON; other text as it is."""
    called = _ACTION.match(text)
    if called is None:
        return text
    inner = called[1] or called[2] or ""
    given = {key: json_in(f"[{value}]") or value.strip("\"'") for key, value in _KEYWORD.findall(inner)}
    return json.dumps(given) if given else inner


def given_to_a_call(data: Mapping[str, object]) -> object:
    """What a call of a function gives it, as models write one though they were given no functions; None for others."""
    inner = data.get("function") if isinstance(data.get("function"), dict) else data
    for key in ("arguments", "parameters", "input"):
        given = inner.get(key) if isinstance(inner, dict) else None
        if isinstance(given, str):
            given = json_in(given, numbers=False)
        if isinstance(given, (dict, list)):
            return given
    return None


def without_tables(lines: Sequence[str]) -> Iterator[str]:
    """The lines, a table as a line for each of its rows: its answer, and the paths it cites."""
    rows: list[str] = []
    for line in [*lines, ""]:
        if is_row(line):
            rows.append(line)
            continue
        heads, cells = table(rows)
        for row in cells:
            yield _row(heads, row)
        rows = []
        yield line


def _row(heads: Sequence[str], cells: list[str]) -> str:
    """A row of a table as a line of text; bare numbers are citations where they stand last or their column says so."""

    def column(said: str) -> int | None:
        found = [n for n, head in enumerate(heads) if re.search(said, head, re.IGNORECASE) and n < len(cells)]
        return found[0] if found else None

    citing = column(rf"{PATH_WORD}|cit|evidence|support")
    last = len(cells) - 1 if citing is None else citing
    if len(cells) > 1 and re.fullmatch(r"\d+(?:\s*,\s*\d+)*", cells[last]):
        cells[last] = f"[{cells[last]}]"
    answer = column(r"answer|name|entity|result|city|place|person")
    if answer is None or answer == citing:
        return " ".join(cells)
    return f"{cells[answer]} {cells[citing]}" if citing is not None else cells[answer]


# Excuses ------------------------------------------------------------------------------------------

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
