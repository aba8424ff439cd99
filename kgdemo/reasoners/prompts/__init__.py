"""What language models are told: a file for each prompt, beside this one, with ``$name`` where something is filled in.

Two kinds of files work together. A *form* says how to reply and ends with the word that the reply follows
(``select.md``: ``Numbers:``); a *task* says what is wanted, with examples, and is filled into the form's ``$task``
(``relations.md``).
Examples stand above a line of three dashes, the question below it. All are in our own words; the functions below name
the places in the papers. A folder of one's own may hold other versions of some of them (``--prompts DIR``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

from kgdemo.errors import UserError

_SHIPPED = Path(__file__).parent
_LONGEST = 20_000  # characters of a prompt file
_LONGEST_REPLY = 500  # characters of a reply that is shown again


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompt files, those of a folder before the shipped ones."""

    folder: Path | None = None

    def text(self, name: str, **slots: object) -> str:
        """One file, filled in; what is filled in is never read as a template itself.

        Args:
            name: of the file, without its ending.
            slots: what to fill in.
        """
        filled = Template(_read(name, self.folder)).safe_substitute(slots)
        return re.sub(r"\n{3,}", "\n\n", filled).strip()

    def answer_from_paths(self, question: str, paths: Sequence[str], task: str = "") -> str:
        """Graph inductive reasoning (GCR section 4.4, figure 11, with an example): all paths in one call."""
        return self._form("answer", task, question=question, paths="\n".join(paths))

    def select(self, question: str, task: str, options: Sequence[str], limit: int) -> str:
        """Beam selection and pruning (FiDeLiS section 3.3; Grounding appendix E, Select evaluator)."""
        return self._form("select", task, question=question, options=numbered(options), limit=limit)

    def score(self, question: str, task: str, options: Sequence[str]) -> str:
        """Rating every option (Grounding appendix E, Score evaluator)."""
        return self._form("score", task, question=question, options=numbered(options))

    def propose(self, question: str, task: str, context: Sequence[str], options: Sequence[str], limit: int) -> str:
        """The next steps, each a thought and the action that follows (Grounding section 4.2.1 and equation 1)."""
        steps = f"at most {limit} different next steps, the most promising first" if limit > 1 else "the next step"
        lines = so_far(context)
        return self._form("propose", task, question=question, options=numbered(options), steps=steps, context=lines)

    def verify(self, question: str, statement: str, premises: Sequence[str], task: str = "") -> str:
        """Deductive verification (FiDeLiS section 3.3)."""
        return self._form("verify", task, question=question, statement=statement, facts=numbered(premises))

    def plan(self, question: str, task: str) -> str:
        """Planning and keyword extraction (FiDeLiS section 3.2 and 3.3)."""
        return self._form("plan", task, question=question)

    def thought(self, question: str, task: str, context: Sequence[str]) -> str:
        """The next thought (Grounding section 4)."""
        return self._form("thought", task, question=question, context=so_far(context))

    def choose(self, question: str, task: str, options: Sequence[str]) -> str:
        """A choice by a model that can write nothing but the options; examples would show it another form."""
        plain = (task or self.text("select-task")).partition("\n\nExample")[0]
        return self._form("choose", plain, question=question, options="\n".join(f"- {option}" for option in options))

    def coherence(self, question: str, path: str, answer: str) -> str:
        """Rating a path from 1 to 5 (GCR appendix F.4, Figure 8)."""
        return self.text("coherence", question=question, path=path, answer=f"Answer given: {answer}" if answer else "")

    def correctness(self, question: str, answer: str, gold: str) -> str:
        """Whether an answer is the right one (GPT4Score: Grounding section 5, after GRBench)."""
        return self.text("gpt4score", question=question, answer=answer, gold=gold)

    def again(self, prompt: str, reply: str, complaint: str) -> str:
        """The one retry: the same task with what was wrong about the first reply."""
        said = {"reply": reply.strip()[:_LONGEST_REPLY], "complaint": complaint}
        return self.text("again", prompt=prompt, **said)

    def _form(self, name: str, task: str, **slots: object) -> str:
        """A form with its task, or with its usual one."""
        return self.text(name, task=task or self.text(f"{name}-task"), **slots)


SHIPPED = Prompts()


def prompts_in(folder: str) -> Prompts:
    """The prompts of a folder; the shipped ones where it is empty or has no file of that name.

    Raises:
        UserError: it is no folder, or holds a prompt that nothing uses or that lacks what has to be filled in.
    """
    if not folder:
        return SHIPPED
    own, known = Path(folder), {file.name for file in _SHIPPED.glob("*.md")}
    if not own.is_dir():
        raise UserError(f"{folder} is no folder; give one with prompt files such as {sorted(known)[0]}.")
    for file in sorted(own.glob("*.md")):
        if file.name not in known:
            raise UserError(f"{file} is the prompt of nothing; the names are {', '.join(sorted(known))}.")
        wanted, given = (_slots(_read(file.stem, place)) for place in (None, own))
        if wanted - given:
            raise UserError(f"{file} has no place for ${sorted(wanted - given)[0]}; write it where that is to stand.")
        if given - wanted:
            raise UserError(f"{file} has a place for ${sorted(given - wanted)[0]}, which is not known there.")
    return Prompts(own)


def numbered(options: Sequence[str]) -> str:
    """Options, a line each, with the numbers that they are chosen by."""
    return "\n".join(f"{number}. {option}" for number, option in enumerate(options, 1))


def so_far(lines: Sequence[str]) -> str:
    """The chain so far."""
    return "\n".join(lines or ["nothing yet"])


def _slots(text: str) -> set[str]:
    """The names of what is filled into a text."""
    return {match["named"] or match["braced"] for match in Template.pattern.finditer(text)} - {None}


@cache
def _read(name: str, folder: Path | None) -> str:
    own = folder / f"{name}.md" if folder else None
    file = own if own and own.is_file() else _SHIPPED / f"{name}.md"
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read ({error}).") from error
    if len(text) > _LONGEST:
        raise UserError(f"{file} has {len(text):,} characters; a prompt has {_LONGEST:,} at the most.")
    return text
