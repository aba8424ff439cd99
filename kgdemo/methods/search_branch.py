"""The searches of the path model as events: whole paths, and triples and free text behind a text.

A ``Branch`` is one search for whole paths, under the graph's constraint, or unconstrained and then verified. GCR runs
both side by side; the baselines that do not look at the graph run the unconstrained one alone. Its ``StepReader`` turns
each step into an event, with tokens as text, ids for beams and reasons in words.

A ``TripleWriter`` has all searches of a question of DoG or FiDeLiS. A triple is found by token-level beam search under
the constraint of a trie (DoG sections 2.2 and 2.3), free text by greedy search. They share token trees, beam ids and
step numbers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from kgdemo.constraint.automaton import AutomatonState, Constraint, KGAutomaton, State, reason
from kgdemo.constraint.label_tokens import PATH_END, PATH_START
from kgdemo.constraint.triple_chains import FreeText, Link, TripleState, TripleTrie
from kgdemo.decoding.base import BeamSettings, BeamView, Hypothesis, Step
from kgdemo.decoding.beam import beam_search, check_forced, continuations
from kgdemo.decoding.searches import SamplingSettings, greedy_search, sample, search_named
from kgdemo.errors import ModelError
from kgdemo.events import (
    WITHOUT_GRAPH,
    AllowedToken,
    BeamWatch,
    DecodeStep,
    Event,
    HypothesisAnswer,
    LMCall,
    MaskedToken,
    Notice,
    PathFound,
    PathVerified,
    TokenChoice,
)
from kgdemo.kg.graph import IdTriple
from kgdemo.kg.path import Path
from kgdemo.models.base import JointTree, PathModel, Reading, TokenTree, read_out
from kgdemo.models.token_tree import Writer
from kgdemo.ranking.scorer import POOL
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings

ANSWER_TOKENS = 16
PATH_TOKENS = 256  # the longest constrained path; the graph ends it long before
MIN_ROOM = 48  # a path of two hops
FREE_TOKENS = 64  # without a constraint nothing else ends a path


@dataclass(slots=True)
class Branch:
    """One search, its events and what it found.

    Where two searches grow one tree, the time of a pass for both is that of the one that needed it first, and the calls
    of the tree are counted with the first of them, but for those in ``passes_counted``.
    """

    prompt: Sequence[int]
    tree: TokenTree
    reader: StepReader
    search: Generator[Step, None, list[Hypothesis]]
    longest: int  # tokens of a path, end mark included
    finished: list[Hypothesis] | None = None
    seconds: float = 0.0  # spent in this search, whatever ran beside it
    answers: Sequence[str] | None = None  # written behind its paths, where that was read along with another's
    answer_tokens: int = 0  # of these
    passes_counted: int = 0  # forward passes of its tree that another search has counted as its own
    cut_off: bool = False  # beams were under way when they had ``longest`` tokens

    def advance(self) -> DecodeStep | None:
        """One step further; None once the search has ended."""
        began = time.perf_counter()
        try:
            step: Step = next(self.search)
            self.cut_off = self.cut_off or (bool(step.live) and step.number + 1 >= self.longest)
            return self.reader.read(step)
        except StopIteration as end:
            self.finished = end.value
            return None
        finally:
            self.seconds += time.perf_counter() - began

    def call(self, purpose: str, output: str) -> LMCall:
        """What it cost: one call, however many beams."""
        model = self.reader.model
        written = sum(len(h.tokens) for h in self.finished or ()) + self.answer_tokens
        prompt = model.label_tokens.tokenizer.decode(list(self.prompt))
        passes = self.tree.calls - self.passes_counted
        return LMCall(model.name, purpose, prompt, output, len(self.prompt), written, self.seconds, passes=passes)

    def text(self, hypothesis: Hypothesis) -> str:
        """What a finished hypothesis has written, without the end mark."""
        end = len(self.reader.model.label_tokens.end)
        return self.reader.text(Hypothesis(hypothesis.tokens[:-end], (), hypothesis.state)).strip()


@dataclass(frozen=True, slots=True)
class FreePath:
    """What the model wrote without the graph: a path where the text is one, the answer behind it, the verdict."""

    text: str
    path: Path | None
    answer: str
    score: float
    faithful: bool


def room_for(model: PathModel, prompt: Sequence[int], limit: int) -> int:
    """Tokens a path may have behind this prompt, ``limit`` at the highest.

    Raises:
        ModelError: the prompt leaves no room for a path.
    """
    room = model.context - len(prompt) - len(_answer_mark(model)) - ANSWER_TOKENS
    if room < MIN_ROOM:
        raise ModelError(
            f"The question with its topic entities is too long for the model {model.name}, which reads "
            f"{model.context:,} tokens; shorten it, or ask about entities with shorter names."
        )
    return min(limit, room)


def too_long_notice(model: PathModel, longest: int) -> Notice:
    """What is said where paths were left out because of their length in tokens."""
    return Notice(
        f"Paths of more than {longest:,} tokens were left out, for the model {model.name} reads {model.context:,} "
        "tokens at a time; a graph with shorter labels has none."
    )


def _answer_mark(model: PathModel) -> tuple[int, ...]:
    """The tokens that announce a hypothesis answer."""
    return model.label_tokens.special(model.style.answer_mark) if model.style.answer_mark else ()


def limits_of(settings: Settings, model: PathModel) -> BeamSettings:
    """What the settings of a run say of its search, read off them once."""
    return BeamSettings(
        beams=settings.beams,
        max_tokens=PATH_TOKENS,
        graph_normalised=settings.ranking != "path",
        masked=settings.explain,
        keep=POOL * settings.beams if settings.ranking == "pooled" else 0,
        forced=settings.forced,
        look_ahead=settings.tokens_ahead(model.on_gpu),
    )


def constrained_branch(
    model: PathModel,
    prompt: Sequence[int],
    constraint: Constraint[Any],
    limits: BeamSettings,
    kind: str = "beam",
    tree: TokenTree | None = None,
) -> Branch:
    """A search for paths that the graph allows and that begin with the forced tokens.

    Args:
        model: writes the paths.
        prompt: what they are written behind.
        tree: of this prompt, where it is shared with another search; see ``JointTree``.
        constraint: what the graph allows.
        limits: of the search; a long prompt leaves less room for a path.
        kind: ``beam``, ``diverse``, ``greedy`` or ``sample``.

    Raises:
        ModelError: the prompt leaves no room for a path.
        UserError: no path of the constraint begins so.
    """
    began, limits = time.perf_counter(), replace(limits, max_tokens=room_for(model, prompt, limits.max_tokens))
    check_forced(constraint, limits.forced, model.token_text)
    tree, reader = tree or model.tree(prompt), StepReader(model, constraint, True)
    search = search_named(kind, tree, constraint, limits)
    return Branch(prompt, tree, reader, search, limits.max_tokens, seconds=_since(began))


def unconstrained_branch(
    model: PathModel,
    prompt: Sequence[int],
    beams: int,
    forced: tuple[int, ...] = (),
    tree: TokenTree | None = None,
) -> Branch:
    """The same search from the same beginning, with every token allowed; ``tree`` as for the constrained one."""
    began, longest = time.perf_counter(), room_for(model, prompt, FREE_TOKENS + len(forced))
    tree, constraint = tree or model.tree(prompt), FreeText(model.label_tokens.end)
    search = beam_search(tree, constraint, BeamSettings(beams, max_tokens=longest, forced=forced))
    return Branch(prompt, tree, StepReader(model, constraint, False), search, longest, seconds=_since(began))


def sampled_branch(model: PathModel, prompt: Sequence[int], count: int, temperature: float, seed: int = 0) -> Branch:
    """Chains drawn at random instead of searched for, with every token allowed."""
    began, longest = time.perf_counter(), room_for(model, prompt, FREE_TOKENS)
    tree, constraint = model.tree(prompt), FreeText(model.label_tokens.end)
    search = sample(tree, constraint, SamplingSettings(count, longest, temperature, seed))
    return Branch(prompt, tree, StepReader(model, constraint, False), search, longest, seconds=_since(began))


def report_unconstrained(free: Branch, resources: Resources, limit: int) -> Generator[Event, None, list[FreePath]]:
    """Report what the model wrote without the graph, parsed by its arrows and verified like any path."""
    finished = (free.finished or [])[:limit]
    answers = free.answers
    if answers is None:
        answers = hypothesis_answers(free, resources.model, finished)
    written = []
    for index, (hypothesis, answer) in enumerate(zip(finished, answers, strict=True), 1):
        text = resources.model.label_tokens.path_format.with_arrows(free.text(hypothesis))
        path, verdict = resources.verifier.verify_text(text, answer)
        beam = free.reader.beam_id(hypothesis.tokens)
        yield PathFound(False, index, text, hypothesis.score, path, beam)
        yield HypothesisAnswer(False, index, answer)
        yield PathVerified(False, index, verdict)
        written.append(FreePath(text, path, answer, hypothesis.score, verdict.faithful))
    return written


def run_unconstrained(
    free: Branch, resources: Resources, limit: int, purpose: str
) -> Generator[Event, None, list[FreePath]]:
    """Run an unconstrained search to its end; its paths with their verdicts, and what it cost under this purpose."""
    while (step := free.advance()) is not None:
        yield step
    written = yield from report_unconstrained(free, resources, limit)
    yield free.call(purpose, "\n".join(path.text for path in written))
    return written


def hypothesis_answers(branch: Branch, model: PathModel, finished: Sequence[Hypothesis]) -> list[str]:
    """The hypothesis answers, decoded freely after each path (GCR section 4.3)."""
    began = time.perf_counter()
    answers = read_out(answers_behind(branch, model, finished))
    branch.seconds += time.perf_counter() - began
    return answers


def answers_behind(branch: Branch, model: PathModel, finished: Sequence[Hypothesis]) -> Reading[list[str]]:
    """``hypothesis_answers``, to be read along with something else."""
    drafts = [_draft(model, hypothesis) for hypothesis in finished]
    tree, mark = JointTree.of(branch.tree), _answer_mark(model)
    written = yield from continuations(tree, finished, mark, model.stop_ids, ANSWER_TOKENS, drafts)
    branch.answer_tokens += sum(map(len, written))
    decode = model.label_tokens.tokenizer.decode
    texts = (decode(list(tokens), skip_special_tokens=True) for tokens in written)
    return [text.removeprefix("##").strip() for text in texts]  # WordPiece marks what goes on with a word


def _draft(model: PathModel, hypothesis: Hypothesis) -> tuple[int, ...]:
    """What a path's hypothesis answer probably is: its end, in the tokens that stand behind the answer mark."""
    arrow, end = model.label_tokens.arrow, model.label_tokens.end
    written = hypothesis.tokens[: -len(end)]
    last = max((at for at in range(len(written)) if written[at : at + len(arrow)] == arrow), default=-len(arrow))
    label = written[last + len(arrow) :]
    if not model.style.answer_mark:
        return label
    return tuple(model.label_tokens.plain(model.label_tokens.tokenizer.decode(list(label)).strip()))


def _since(began: float) -> float:
    return time.perf_counter() - began


class StepReader:
    """Gives every beam of a search an id and turns each step into an event.

    Args:
        model: for the text of tokens.
        constraint: for counts and reasons.
        constrained: which branch the events belong to.
        behind: tokens that were written before the search began.
        ids: of beams by their tokens, where several searches share them.
    """

    def __init__(
        self,
        model: PathModel,
        constraint: Constraint[Any],
        constrained: bool,
        behind: tuple[int, ...] = (),
        ids: dict[tuple[int, ...], int] | None = None,
    ) -> None:
        self.model, self.constraint, self.constrained, self.behind = model, constraint, constrained, behind
        self._ids: dict[tuple[int, ...], int] = {(): 0} if ids is None else ids

    def beam_id(self, tokens: tuple[int, ...]) -> int:
        """The id of the beam that these tokens make; 0 is the empty one."""
        return self._ids.setdefault((*self.behind, *tokens), len(self._ids))

    def read(self, step: Step) -> DecodeStep:
        """The event of one step."""
        choices = []
        for choice in step.choices:
            parent = step.beams[choice.parent].hypothesis
            choices.append(
                TokenChoice(
                    self.beam_id((*parent.tokens, choice.token)),
                    self.beam_id(parent.tokens),
                    choice.token,
                    self.model.token_text(choice.token),
                    choice.log_prob,
                    choice.score,
                    choice.fate,
                )
            )
        left = sum(self.constraint.paths_left(h.state) for h in step.live)
        watched = tuple(self._watch(view) for view in step.beams) if self.constrained else ()
        return DecodeStep(self.constrained, step.number, tuple(choices), watched, left)

    def text(self, hypothesis: Hypothesis) -> str:
        """What a beam has written so far."""
        tokens = [*self.behind, *hypothesis.tokens]
        text: str = self.model.label_tokens.tokenizer.decode(tokens, skip_special_tokens=False)
        return text

    def _watch(self, view: BeamView) -> BeamWatch:
        state = view.hypothesis.state
        allowed_mass = max(1.0 - view.forbidden_mass, 1e-12)
        masked = []
        for token, log_prob in view.masked:
            text = self.model.token_text(token)
            masked.append(MaskedToken(text, math.exp(log_prob), self._reason(state, token, text)))
        top = tuple(
            AllowedToken(token, self.model.token_text(token), math.exp(p), min(1.0, math.exp(p) / allowed_mass))
            for token, p in view.top
        )
        return BeamWatch(
            self.beam_id(view.hypothesis.tokens),
            self.text(view.hypothesis),
            view.allowed,
            self.constraint.paths_left(state),
            view.forbidden_mass,
            tuple(masked),
            top,
        )

    def _reason(self, state: State, token: int, text: str) -> str:
        """Why the constraint forbids a token; empty where nothing is forbidden."""
        if isinstance(self.constraint, KGAutomaton) and isinstance(state, AutomatonState):
            return reason(self.constraint, state, token, text)
        return state.trie.reason(state, text) if isinstance(state, TripleState) else ""


# triples and free text, piece by piece -----------------------------------------------------------------

TRIPLE_TOKENS = 256  # the longest triple; the trie ends it long before
_CACHED_WRITERS = 16
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class WrittenTriple:
    """A triple that was written behind a text.

    Attributes:
        score: its log-probability (DoG equation 3).
        relation_score: that of its relation alone.
        prompt: what the model had read.
        tokens: all tokens behind the prompt, up to the triple's last.
        ending: log-probability that the text ends behind it, where a mark says so and not the free text.
        beam: id of the beam that wrote it.
    """

    link: Link
    score: float
    relation_score: float
    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    ending: float
    beam: int


class TripleWriter:
    """The searches of one question.

    Args:
        resources: the path model writes.
        limits: of each search for triples.
    """

    def __init__(self, resources: Resources, limits: BeamSettings) -> None:
        self.resources, self.limits = resources, limits
        self.model, self.label_tokens = resources.model, resources.model.label_tokens
        self._writers: dict[tuple[int, ...], Writer] = {}
        self._beam_ids: dict[tuple[int, ...], int] = {(): 0}
        self._steps = 0
        self._noticed_too_long = False

    def search(
        self,
        prompt: tuple[int, ...],
        behind: tuple[int, ...],
        trie: TripleTrie,
        ends: Sequence[tuple[int, ...]],
        limit: int,
    ) -> Generator[Event, None, list[WrittenTriple]]:
        """The likeliest triples behind some text, best first.

        Args:
            prompt: what the model reads first.
            behind: what is written already.
            trie: of the triples that may follow.
            ends: the marks behind a triple, as the trie has them; the first one ends the text.
            limit: how many triples to return.
        """
        began = time.perf_counter()
        longest = min(TRIPLE_TOKENS, self.room(prompt, behind))
        if longest < trie.longest:
            yield from self._tell_too_long(longest)
        if longest <= 0:
            return []
        writer, read = self._writer(prompt)
        limits = replace(self.limits, beams=limit * len(ends), max_tokens=longest, keep=0)
        search = beam_search(writer.behind(behind), trie, limits)
        finished = yield from self._as_events(search, StepReader(self.model, trie, True, behind, self._beam_ids))
        found = self._read_off(finished, prompt, behind, trie, ends)[:limit]
        shown = self.label_tokens.tokenizer.decode([*prompt, *behind])
        output = "\n".join(" -> ".join(w.link.labels(self.resources.kg)) for w in found)
        tokens = sum(len(h.tokens) for h in finished)
        yield LMCall(self.model.name, "triples", shown, output, read, tokens, time.perf_counter() - began)
        return found

    def write(
        self,
        prompt: tuple[int, ...],
        behind: tuple[int, ...],
        free: Constraint[Any],
        longest: int,
        constrained: bool = True,
    ) -> Generator[Event, None, tuple[tuple[int, ...], str, State]]:
        """Free text, the most probable token at a time: all tokens behind the prompt, the new text, how it ended."""
        began = time.perf_counter()
        longest = min(longest, self.room(prompt, behind))
        if longest <= 0:
            yield from self._tell_too_long(0)
            return behind, "", free.start()
        writer, read = self._writer(prompt)
        search = greedy_search(writer.behind(behind), free, longest)
        written = yield from self._as_events(search, StepReader(self.model, free, constrained, behind, self._beam_ids))
        text = self.label_tokens.tokenizer.decode(list(written.tokens), skip_special_tokens=False)
        shown = self.label_tokens.tokenizer.decode([*prompt, *behind])
        seconds = time.perf_counter() - began
        purpose = "text between triples" if constrained else WITHOUT_GRAPH
        yield LMCall(self.model.name, purpose, shown, text, read, len(written.tokens), seconds)
        return (*behind, *written.tokens), text, written.state

    def room(self, prompt: Sequence[int], behind: Sequence[int]) -> int:
        """Tokens that the model has positions for behind a prompt and what was written behind it."""
        return self.model.context - len(prompt) - len(behind)

    def plain(self, tokens: Sequence[int]) -> str:
        """Tokens as text, without special ones and path marks."""
        text: str = self.label_tokens.tokenizer.decode(list(tokens), skip_special_tokens=True)
        return text.replace(PATH_START, "").replace(PATH_END, "").strip()

    def _writer(self, prompt: tuple[int, ...]) -> tuple[Writer, int]:
        """The token tree of a prompt, and how many tokens had to be read for it."""
        known = self._writers.pop(prompt, None)
        writer = known or Writer(self.model.tree(prompt))
        self._writers[prompt] = writer
        while len(self._writers) > _CACHED_WRITERS:
            del self._writers[next(iter(self._writers))]
        return writer, 0 if known else len(prompt)

    def _as_events(
        self, search: Generator[Step, None, Found], reader: StepReader
    ) -> Generator[DecodeStep, None, Found]:
        """A search to its end, its steps numbered on from those of the searches before."""
        while True:
            try:
                step = next(search)
            except StopIteration as end:
                found: Found = end.value
                return found
            yield replace(reader.read(step), number=self._steps)
            self._steps += 1

    def _read_off(
        self,
        finished: Iterable[Hypothesis],
        prompt: tuple[int, ...],
        behind: tuple[int, ...],
        trie: TripleTrie,
        ends: Sequence[tuple[int, ...]],
    ) -> list[WrittenTriple]:
        """One triple for each leaf, with the log-probability of the first end mark behind it."""
        found: dict[tuple[tuple[int, ...], tuple[IdTriple, ...]], WrittenTriple] = {}
        for hypothesis in finished:
            for leaf in hypothesis.state.leaves:  # type: ignore[attr-defined]
                size, spelled = len(ends[leaf.end]), trie.spelled(leaf.link)
                beam = self._beam_ids[behind + hypothesis.tokens]
                mark = sum(hypothesis.log_probs[-size:])
                ending = -math.inf if leaf.end else mark
                start, stop = len(spelled.first), len(spelled.first) + len(spelled.relation)
                tokens = (*behind, *hypothesis.tokens[:-size])
                known = found.get((tokens, leaf.link.triples))
                found[tokens, leaf.link.triples] = WrittenTriple(
                    leaf.link,
                    hypothesis.score - mark,
                    sum(hypothesis.log_probs[start:stop]),
                    prompt,
                    tokens,
                    max(ending, known.ending) if known else ending,
                    beam,
                )
        best: dict[tuple[IdTriple, ...], WrittenTriple] = {}  # a triple may have been written from either end
        for triple in sorted(found.values(), key=lambda w: -w.score):
            best.setdefault(triple.link.triples, triple)
        return list(best.values())

    def _tell_too_long(self, longest: int) -> Iterator[Notice]:
        """Say once a run that triples or texts are left out because of their length."""
        if not self._noticed_too_long:
            self._noticed_too_long = True
            yield too_long_notice(self.model, max(longest, 0))
