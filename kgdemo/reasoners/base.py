"""The seam between methods and reasoners: what a method may use, and the decisions that a reasoner takes.

Papers differ in the search and in the decisions that a language model takes. The control flow is a *method*; the
decisions go through a *reasoner*, so that every method runs with a chat model and without one. The embedded reasoner,
which needs none, stands here as well.

What language models are told lies in ``prompts``, a file for each prompt, with ``$name`` where something is filled in.
Two kinds of files work together. A *form* says how to reply and ends with the word that the reply follows
(``select.md``: ``Numbers:``); a *task* says what is wanted, with examples, and is filled into the form's ``$task``
(``relations.md``). Examples stand above a line of three dashes, the question below it. All are in our own words; the
methods of ``Prompts`` name the places in the papers. A folder of one's own may hold other versions of some of them
(``--prompts DIR``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Protocol

from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.errors import EndpointError, UserError
from kgdemo.events import AnswerDelta, AnswerFinal, Event, LMCall
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path as KGPath
from kgdemo.models.base import PathModel
from kgdemo.models.embedding import Embedder, embedding_cache
from kgdemo.query.answer_type import Fit
from kgdemo.query.query import Query
from kgdemo.verify import Verifier


@dataclass(frozen=True, slots=True)
class Evidence:
    """A path as a reasoner sees it: numbered from 1, with its hypothesis answer and its probability.

    Attributes:
        partners: numbers of the paths from other topics that it meets at its end; see ``ranking.graph_paths``.
        fits: how well its end fits the kind of thing that the question asks for; see ``query.answer_type``.
        said: what its relations say, see ``KnowledgeGraph.said``; empty where that was not looked up.
        detour: it comes back to where it began, or turns back, see ``KnowledgeGraph.is_detour``.
    """

    index: int
    path: KGPath
    hypothesis: str = ""
    score: float = 0.0
    relation_score: float = 0.0
    partners: tuple[int, ...] = ()
    fits: Fit = Fit.YES
    said: tuple[str, ...] = ()
    detour: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What a reasoner decided, and the call that it took.

    Attributes:
        text: free text (plan, thought, sentence); empty for choices.
        chosen: indices of the options chosen, best first.
        scores: one for each option, higher is better; empty for free text.
        thoughts: for each option chosen the thought that it follows from, where the reasoner wrote one.
        written: for each option chosen what was written behind it, for options that leave something open.
        cut: the text broke off where a reply may not be longer.
        holds: the outcome of a yes/no question.
        call: the language-model call, for the count; None where no model was asked.
        replaced: why the embedded reasoner decided in a language model's place; empty where it did not.
        notices: what the visitor should know about that.
    """

    text: str = ""
    chosen: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    thoughts: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    cut: bool = False
    holds: bool = False
    call: LMCall | None = None
    replaced: str = ""
    notices: tuple[str, ...] = ()


class FailedDecisionError(EndpointError):
    """A decision that a language model could not take; ``call`` is what it was asked, for the count."""

    def __init__(self, message: str, call: LMCall) -> None:
        super().__init__(message)
        self.call = call


class UnreadableDecisionError(FailedDecisionError):
    """The model replied, but no decision can be read in what it wrote."""


class Reasoner(Protocol):
    """Takes the decisions that the papers give to a general language model.

    Attributes:
        name: as the page names it.
        is_language_model: it writes text of its own, and ``answer`` itself tells paths that answer from others. Where
            a paper's decision differs without a language model, a method has two strategies of one interface and
            chooses between them by this, once, where it begins.
        at_once: how many decisions may be asked of it side by side.
        samples: a temperature makes its replies differ.
    """

    name: str
    is_language_model: bool
    at_once: int
    samples: bool

    def select(self, question: str, task: str, options: Sequence[str], limit: int) -> Decision:
        """Choose at most ``limit`` of the options (FiDeLiS beam selection, relation and entity pruning)."""
        ...

    def score(self, question: str, task: str, options: Sequence[str]) -> Decision:
        """Rate every option (Score evaluator)."""
        ...

    def propose(self, question: str, task: str, context: Sequence[str], options: Sequence[str], limit: int) -> Decision:
        """Choose at most ``limit`` different next steps behind those of the context, each with a thought."""
        ...

    def verify(self, question: str, statement: str, premises: Sequence[str], task: str = "") -> Decision:
        """Whether the statement follows from the premises (deductive verification)."""
        ...

    def plan(self, query: Query, task: str, temperature: float = 0.0) -> Decision:
        """Write text that prepares an answer: a plan, keywords, a chain; at a temperature a sample of it."""
        ...

    def thought(self, question: str, task: str, context: Sequence[str]) -> Decision:
        """Write the next thought behind those of the context."""
        ...

    def answer(self, question: str, evidence: Sequence[Evidence], task: str = "") -> Iterator[Event]:
        """Answer from numbered paths (GCR section 4.4): AnswerDelta events, LMCall, then one AnswerFinal."""
        ...


# what a language model is told ------------------------------------------------------------------------

_FILES = Path(__file__).parent / "prompts"
_LONGEST_PROMPT = 20_000  # characters of a prompt file
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
    own, known = Path(folder), {file.name for file in _FILES.glob("*.md")}
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
    file = own if own and own.is_file() else _FILES / f"{name}.md"
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read ({error}).") from error
    if len(text) > _LONGEST_PROMPT:
        raise UserError(f"{file} has {len(text):,} characters; a prompt has {_LONGEST_PROMPT:,} at the most.")
    return text


# what a method may use -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Resources:
    """Everything a method may use; made by the pipeline."""

    kg: KnowledgeGraph
    verifier: Verifier
    model: PathModel
    token_graph: TokenGraph
    reasoner: Reasoner
    embedder: Embedder
    prompts: Prompts = SHIPPED


# decisions without a language model -------------------------------------------------------------------

# cosine similarity above which a statement counts as said by the premises; MiniLM puts unrelated
# sentences below 0.3 and paraphrases above 0.6
_ENTAILED = 0.55


class EmbeddedReasoner:
    """See ``Reasoner``: decisions without a general language model, by the similarity of sentence embeddings.

    FiDeLiS appendix B names this variant. It writes no text of its own: a plan is the question's content words, and an
    answer is the ends of the best group of paths, cited.

    Args:
        embedder: sentence embeddings for the choices.
    """

    name = "the embedded reasoner"
    is_language_model = False
    at_once = 1
    samples = False

    def __init__(self, embedder: Embedder) -> None:
        self._labels = embedding_cache(embedder)  # the same options come up again and again

    def select(self, question: str, task: str, options: Sequence[str], limit: int) -> Decision:
        """See ``Reasoner``: the options most similar to the question."""
        scores = self._similarity(question, options)
        order = sorted(range(len(options)), key=lambda i: -scores[i])[:limit]
        return Decision(chosen=tuple(order), scores=tuple(scores))

    def score(self, question: str, task: str, options: Sequence[str]) -> Decision:
        """See ``Reasoner``: cosine similarity to the question."""
        return Decision(scores=tuple(self._similarity(question, options)))

    def propose(self, question: str, task: str, context: Sequence[str], options: Sequence[str], limit: int) -> Decision:
        """See ``Reasoner``: the options most similar to the question; it writes no thoughts."""
        return self.select(question, task, options, limit)

    def verify(self, question: str, statement: str, premises: Sequence[str], task: str = "") -> Decision:
        """See ``Reasoner``: whether the premises taken together are close to the statement."""
        if not premises:
            return Decision(holds=False, scores=(0.0,))
        joined = ". ".join(premises)
        best = max(self._similarity(statement, [*premises, joined]))
        return Decision(holds=best >= _ENTAILED, scores=(best,))

    def plan(self, query: Query, task: str, temperature: float = 0.0) -> Decision:
        """See ``Reasoner``: the content words of the question."""
        return Decision(text=", ".join(query.content_words))

    def thought(self, question: str, task: str, context: Sequence[str]) -> Decision:
        """See ``Reasoner``: repeats the last line of the context."""
        return Decision(text=context[-1] if context else question)

    def answer(self, question: str, evidence: Sequence[Evidence], task: str = "") -> Iterator[Event]:
        """See ``Reasoner``: the ends of the paths that share topic and relations with the first one.

        Where the first path meets others, only the ends of paths that do; where its end is of the type asked
        for, only ends of that type.
        """
        if not evidence:
            refusal = "The graph holds no path from these entities, so there is nothing to answer from."
            yield AnswerFinal(refusal, (), (), self.name, refusal=refusal)
            return
        first = evidence[0]
        group = [e for e in evidence if _same_group(e, first) and bool(e.partners) == bool(first.partners)]
        ends = list(dict.fromkeys(e.path.end for e in group))
        citations = tuple(tuple(n for e in group if e.path.end == end for n in (e.index, *e.partners)) for end in ends)
        mark = " and " if first.partners else ""  # of paths that meet each says a part
        text = ""
        for end, cited in zip(ends, citations, strict=True):
            piece = f"{', ' if text else ''}{end} " + mark.join(f"[{index}]" for index in cited)
            text += piece
            yield AnswerDelta(piece)
        yield AnswerFinal(text, tuple(ends), citations, self.name)

    def _similarity(self, text: str, options: Sequence[str]) -> list[float]:
        scores: list[float] = self._labels.similarity(text, options).tolist()
        return scores


def _same_group(one: Evidence, other: Evidence) -> bool:
    """Whether two paths start from the same topic over relations that say the same, to the same kind of thing.

    A detour is of another group than a path that goes on.
    """
    relations, others = (e.said or e.path.relations for e in (one, other))
    same_topic = one.path.entities[0] == other.path.entities[0]
    return relations == others and same_topic and one.fits == other.fits and one.detour == other.detour
