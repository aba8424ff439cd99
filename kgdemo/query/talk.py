"""What in a typed text is only talk around a question: *my grandson asks me,* how tall is the Eiffel Tower*, please*.

People greet, explain why they ask, remark on the matter and say how they want the answer. A tagger tells such words
from the question, whatever they are: a small recurrent network over the token rows of All-MiniLM-L6-v2, which stays as
it is, gives each word the probability that it is talk (Huang et al. 2015 without its last layer). ``lab.training.talk``
trains it. What a question could lose only at the price of its meaning, a name or a condition, is never talk.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from kgdemo.models.embedding import sentence_embedder
from kgdemo.query.measures import NUMBERS

READ = (3, 6)  # layers of the encoder whose rows are read
_ROWS, _WIDTH = 768, 64  # of the rows; of the network
_TALK, _BESIDE = 0.8, 0.5  # probability from which a word is talk; and from which it goes with one beside it
_LEAST_WORDS = 2  # of a question, without which everything is left as it is
_WEIGHTS = Path(__file__).parent / "data" / "talk.safetensors"
_NO_TALK = re.compile(  # which looks like talk and is not: *exactly two times*, *and tell me the longer one*
    rf"\b(?:exactly|precisely|only|just|at least|at most) (?:\d+|{'|'.join(NUMBERS)}|once|twice)(?: times)?\b"
    r"|\b(?:\w+er|more|less|first),? (?:the )?[^,?.]{2,40}? or [^,?.]{2,40}"
    r"|\band (?:tell|show|give) me (?:the|which)(?: one)?(?: is)?(?: the)? \w+er\b(?: one)?",
    re.IGNORECASE,
)
_ENDS = re.compile(r"[.!?](?:\s|$)")  # of a sentence
_WORD = re.compile(r"\w+(?:['’.*&-]\w+)*")


class Tagger(nn.Module):
    """Token rows of texts to the log-odds that each token is talk.

    Args:
        dropout: while it is trained.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.read = nn.Linear(_ROWS, _WIDTH)
        self.both_ways = nn.GRU(_WIDTH, _WIDTH, bidirectional=True, batch_first=True)
        self.odds = nn.Linear(2 * _WIDTH, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, rows: Tensor) -> Tensor:
        """Log-odds, ``(texts, tokens, rows)`` -> ``(texts, tokens)``."""
        seen, _ = self.both_ways(torch.relu(self.read(self.dropout(rows))))
        odds: Tensor = self.odds(self.dropout(seen))
        return odds[..., 0]

    def save(self, file: Path = _WEIGHTS) -> None:
        """Write it where ``without_talk`` reads it, in half precision."""
        save_file({name: tensor.half().contiguous() for name, tensor in self.state_dict().items()}, file)


def without_talk(text: str, names: Collection[str] = ()) -> str:
    """A question without the talk around it; as it stands where hardly a word would be left.

    Args:
        text: as it was typed.
        names: what is left in it whatever is said around it.
    """
    named = [found.span() for name in names for found in re.finditer(re.escape(name), text)]
    named += [found.span() for found in _NO_TALK.finditer(text)]
    words = talk(text)
    goes = [likely >= _TALK for _, _, likely in words]
    for way in (range(1, len(words)), range(len(words) - 2, -1, -1)):
        for place in way:
            goes[place] |= words[place][2] >= _BESIDE and goes[place - way.step]
    kept = [
        (start, end)
        for (start, end, _), gone in zip(words, goes, strict=True)
        if not gone or any(first <= start and end <= last for first, last in named)
    ]
    if len(kept) < _LEAST_WORDS or len(kept) == len(_WORD.findall(text)):
        return text
    return cut(text, kept)


def cut(text: str, kept: list[tuple[int, int]]) -> str:
    """A text of which only some words are kept, with the signs between two of them that stood side by side.

    Args:
        text: the text.
        kept: where each of the words starts and ends.
    """
    words = [found.span() for found in _WORD.finditer(text)]
    place, made, last = {span: number for number, span in enumerate(words)}, "", -1
    for start, end in kept:
        number = place[start, end]
        if last < 0:
            between = _opening(text[:start])
        elif number == last + 1:
            between = text[words[last][1] : start]
        else:
            between = _joint(text[words[last][1] : start])
        made, last = made + between + text[start:end], number
    behind = text[words[last][1] :]
    closing = behind if last == len(words) - 1 else behind[: len(behind) - len(behind.lstrip("\"”'’)]°%"))]
    return made + closing.rstrip() + ("?" if "?" in text and "?" not in closing else "")


def _joint(gone: str) -> str:
    """What stands in place of talk: the end of a sentence, the comma on one side of it, or nothing."""
    if _ENDS.search(gone):
        return ". "
    commas = [bool(re.match(r"\s*[,;:–—-]", gone)), bool(re.search(r"[,;:–—-]\s*$", gone))]
    return ", " if any(commas) and not all(commas) else " "


def _opening(before: str) -> str:
    """The quotation mark or bracket that opens right before a word, if one does."""
    found = re.search(r"[\"“'‘(\[]+$", before)
    return found[0] if found else ""


def talk(text: str) -> list[tuple[int, int, float]]:
    """Of each word of a text where it starts and ends, and the probability that it is talk."""
    rows, spans = sentence_embedder().rows([text], READ)[0], sentence_embedder().spans(text)
    with torch.inference_mode():
        likely = torch.sigmoid(_tagger()(rows[None])[0]).tolist()
    found = list[tuple[int, int, float]]()
    for word in _WORD.finditer(text):
        own = [p for (start, end), p in zip(spans, likely, strict=True) if word.start() <= start < end <= word.end()]
        found.append((*word.span(), sum(own) / len(own) if own else 0.0))
    return found


@cache
def _tagger() -> Tagger:
    tagger = Tagger()
    tagger.load_state_dict({name: tensor.float() for name, tensor in load_file(_WEIGHTS).items()})
    return tagger.eval()
