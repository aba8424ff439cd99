"""Records what the page replays: ``python -m kgdemo.lab.recording [NAME "QUESTION"]…`` writes ``assets/traces``.

Without names: the examples, and the gallery of failures in ``assets/failures``. A recorded run is what the page would
have been sent, one record a line, so that it plays without a model.

The gallery shows what goes wrong although the graph constrains every token. GCR appendix F.5 names two (a valid path
that is irrelevant, an incomplete graph); a wrong entity, an ambiguous relation and a decoder that fails open are ours.
Each is a run of the pipeline, and each is checked to fail in the way its text says: the recorder raises an error when
a better model does not fail any more.

The decoder that fails open is broken on purpose: where its index ends, it allows everything instead of stopping, and
the verifier catches it. The method registered for it exists while a run is recorded; the page never has it.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kgdemo.constraint.automaton import AutomatonState, KGAutomaton, Successors
from kgdemo.constraint.triple_chains import FreeState, FreeText
from kgdemo.errors import UserError
from kgdemo.events import ConstraintReady, Event, LMCall, Notice, PathFound, PathVerified
from kgdemo.facts import EditedFacts
from kgdemo.kg.graph import KnowledgeGraph, Triple
from kgdemo.kg.path import PathIds
from kgdemo.methods import METHODS
from kgdemo.methods.registry import MethodCard
from kgdemo.methods.search_branch import constrained_branch, limits_of
from kgdemo.models.base import PathModel
from kgdemo.pipeline import Pipeline
from kgdemo.query.query import Query
from kgdemo.reasoners.base import Evidence, Resources
from kgdemo.settings import Settings
from kgdemo.ui.asking import default_model
from kgdemo.ui.assets import FAILED, TRACES
from kgdemo.ui.runs import records
from kgdemo.view.page_records import Record

NAME = "fails-open"
WARNING = "This run was recorded with a decoder that is broken on purpose: where its index ends, it allows every token."


@dataclass(frozen=True, slots=True)
class OpenState:
    """Still inside the index (``inside``), or past its end and free."""

    inside: AutomatonState | None
    free: FreeState

    @property
    def complete(self) -> bool:
        """See ``automaton.State``."""
        return self.free.complete

    @property
    def alive(self) -> bool:
        """See ``automaton.State``."""
        return not self.complete

    @property
    def paths(self) -> Sequence[PathIds]:
        """None: what was written past the index is text."""
        return ()


class FailsOpen:
    """The automaton with the classic mistake: the end mark is not in the index, and "nothing allowed" means "all".

    Args:
        automaton: the sound constraint.
        end: token ids of the end mark.
    """

    def __init__(self, automaton: KGAutomaton, end: tuple[int, ...]) -> None:
        self.automaton, self.free, self.end = automaton, FreeText(end), end

    def start(self) -> OpenState:
        """See ``automaton.Constraint``."""
        return OpenState(self.automaton.start(), self.free.start())

    def successors(self, state: OpenState) -> Successors[OpenState]:
        """See ``automaton.Constraint``."""
        free = self.free.successors(state.free)
        if state.inside is None:
            return Successors(None, lambda token: OpenState(None, free.take(token)))
        found = self.automaton.successors(state.inside)
        assert found.tokens is not None
        allowed = [i for i, token in enumerate(found.tokens.tolist()) if token != self.end[0]]
        if not allowed:  # the mistake: nothing is allowed here, so everything is
            return Successors(None, lambda token: OpenState(None, free.take(token)))
        tokens = found.tokens[allowed]

        def take(i: int) -> OpenState:
            return OpenState(found.take(allowed[i]), free.take(int(tokens[i])))

        return Successors(tokens, take, found.inside_entity)

    def paths_left(self, state: OpenState) -> int:
        """See ``automaton.Constraint``; past the index nobody knows."""
        return 0 if state.inside is None else self.automaton.paths_left(state.inside)


def run(query: Query, resources: Resources, settings: Settings) -> Iterator[Event]:
    """GCR's decoding with the broken constraint; the paths are parsed from their text and judged like any text."""
    yield Notice(WARNING)
    began = time.perf_counter()
    ids = resources.kg.entities.ids_of(query.topics)
    automaton = KGAutomaton(resources.token_graph, ids, settings.hops)
    left = automaton.paths_left(automaton.start())
    yield ConstraintReady("fails open", query.topics, settings.hops, left, 1000 * (time.perf_counter() - began))
    model: PathModel = resources.model
    prompt = model.style.encode(model.label_tokens, query.text, query.topics, query.topic_types)
    began = time.perf_counter()
    fails_open = FailsOpen(automaton, tuple(model.label_tokens.end))
    branch = constrained_branch(model, prompt, fails_open, limits_of(settings, model))
    while (step := branch.advance()) is not None:
        yield step
    evidence = []
    finished = (branch.finished or [])[: settings.beams]
    for index, hypothesis in enumerate(finished, 1):
        text = branch.text(hypothesis)
        path, verdict = resources.verifier.verify_text(text)
        beam = branch.reader.beam_id(hypothesis.tokens)
        yield PathFound(True, index, text, hypothesis.total, path, beam)
        yield PathVerified(True, index, verdict)
        if path is not None:
            evidence.append(Evidence(index, path, path.end, hypothesis.total, hypothesis.total))
    written = sum(len(hypothesis.tokens) for hypothesis in finished)
    yield LMCall(
        model.name,
        "reasoning paths",
        model.label_tokens.tokenizer.decode(prompt),
        f"{len(finished)} paths",
        len(prompt),
        written,
        time.perf_counter() - began,
    )
    yield from resources.reasoner.answer(query.text, evidence)


@contextmanager
def registered() -> Iterator[None]:
    """The broken method under its name, for as long as a run is recorded."""
    METHODS[NAME] = MethodCard(NAME, "A broken decoder", "none", WARNING, run, constrained=False)
    try:
        yield
    finally:
        del METHODS[NAME]


@dataclass(frozen=True, slots=True)
class Failure:
    """One recorded failure.

    Attributes:
        name: of the file and of its text.
        questions: candidates, tried in this order; the first whose run fails as meant is kept.
        fails: whether the records of a run show this failure.
        entities: topic entities, where the linker is not asked.
        without: a fact left out of the graph.
        hops: longest path.
        fails_open: decode with the decoder that fails open.
    """

    name: str
    questions: tuple[str, ...]
    fails: Callable[[Sequence[Record]], bool]
    entities: tuple[str, ...] = ()
    without: Triple | None = None
    hops: int = 2
    fails_open: bool = False


def _answers(run: Sequence[Record]) -> list[str]:
    return next((list(r["answers"]) for r in run if r["event"] == "AnswerFinal"), [])


def _paths(run: Sequence[Record]) -> dict[int, Record]:
    """Constrained paths that hold, by their number."""
    sure = {r["index"] for r in run if r["event"] == "PathVerified" and r["constrained"] and r["verdict"]["faithful"]}
    return {r["index"]: r for r in run if r["event"] == "PathFound" and r["constrained"] and r["index"] in sure}


def misses(right: str) -> Callable[[Sequence[Record]], bool]:
    """Every path holds, and the right answer is not given."""
    return lambda run: bool(_paths(run)) and right not in _answers(run)


def answers_anyway(run: Sequence[Record]) -> bool:
    """Something is answered from paths that hold, to a question that no relation of the graph is about."""
    return bool(_paths(run)) and bool(_answers(run))


def takes_one_of(*step_labels: str) -> Callable[[Sequence[Record]], bool]:
    """Paths by all of these relations were found, and the answer cites only one of them."""

    def fails(run: Sequence[Record]) -> bool:
        paths = _paths(run)
        found = {path["path"]["relations"][-1] for path in paths.values()}
        cited = {i for r in run if r["event"] == "AnswerFinal" for citation in r["citations"] for i in citation}
        used = {paths[i]["path"]["relations"][-1] for i in cited if i in paths} & set(step_labels)
        return found >= set(step_labels) and len(used) == 1

    return fails


def lets_through(run: Sequence[Record]) -> bool:
    """Among the paths called constrained is one that the verifier refuses."""
    return any(r["event"] == "PathVerified" and r["constrained"] and not r["verdict"]["faithful"] for r in run)


FAILURES = (
    Failure(
        "1-incomplete",
        ("Where was the composer of The Magic Flute born?",),
        misses("Salzburg"),
        without=("Wolfgang Amadeus Mozart", "born in", "Salzburg"),
    ),
    Failure(
        "2-wrong-entity", ("What is the capital of Georgia?",), misses("Tbilisi"), ("Georgia (U.S. state)",), hops=1
    ),
    Failure(
        "3-ambiguous",
        ("Whose film is Jurassic Park?", "Who is behind Jurassic Park?", "Who made Jurassic Park?"),
        takes_one_of("directed by", "production company"),
        ("Jurassic Park (film)",),
        hops=1,
    ),
    Failure(
        "4-irrelevant",
        (
            "Where was the best man at John Lennon's wedding born?",
            "Who did the doctor of Julius Caesar marry?",
            "Which electorate did Winston Churchill represent?",
            "What was the first job of Steve Jobs?",
            "What is the favourite food of Albert Einstein?",
            "How tall is the Eiffel Tower?",
            "What is the population of Austria?",
        ),
        answers_anyway,
    ),
    Failure(
        "5-fails-open",
        ("Where was the composer of The Magic Flute born?", "Where was the director of Jaws born?"),
        lets_through,
        hops=1,
        fails_open=True,
    ),
)


def record_failure(pipeline: Pipeline, failure: Failure, settings: Settings) -> list[Record]:
    """Run a failure's questions until one fails as meant.

    Args:
        pipeline: answers the questions.
        failure: what to record.
        settings: graph and model; hops and method are the failure's own.

    Returns:
        the records of the run, as the page gets them.

    Raises:
        UserError: none of the questions fails any more.
    """
    graph = settings.graph if failure.without is None else _without(pipeline, settings.graph, failure.without)
    method = NAME if failure.fails_open else "gcr"
    own_settings = Settings(graph=graph, model=settings.model, method=method, hops=failure.hops)
    for question in failure.questions:
        with registered():
            run = _recorded(pipeline, question, own_settings, failure.entities)
        if run[-1]["event"] == "RunFinished" and failure.fails(run):
            return run
    raise UserError(
        f"The failure {failure.name} does not fail any more with the model {settings.model!r}; "
        "give it other questions in kgdemo/lab/recording.py."
    )


def _recorded(pipeline: Pipeline, question: str, settings: Settings, entities: Sequence[str] = ()) -> list[Record]:
    """The records of a run, as the page would have been sent them."""
    events = pipeline.run(question, settings, entities)
    return [record for record, _ in records(events, lambda: pipeline.graph(settings.graph))]


def _without(pipeline: Pipeline, source: str, fact: Triple) -> str:
    """A copy of a graph without one fact, known to the pipeline under a name of its own.

    Raises:
        UserError: the graph never held the fact.
    """
    whole = pipeline.graph(source)
    if not whole.has_triple(*fact):
        raise UserError(f"The graph {source} does not hold {' -> '.join(fact)}; choose another fact to leave out.")
    name = f"{source}, one fact left out"
    rest = (triple for triple in whole.triples() if tuple(triple) != fact)
    kg = KnowledgeGraph.from_triples(rest, name, whole.inverse_labels, whole.info)
    pipeline.add_graph(name, kg, EditedFacts(pipeline.facts(source), [(False, fact)]))
    return name


QUESTIONS = {
    "1-flute": "Where was the composer of The Magic Flute born?",
    "2-austria": "Which countries border Austria?",
    "3-lennon": "Where was the wife of John Lennon born?",
    "4-iphone": "Who founded the company that makes the iPhone?",
    "5-vienna": "What language is spoken in the country whose capital is Vienna?",
}

logger = logging.getLogger(__name__)


def write(run: Sequence[Record], file: Path) -> None:
    """Write the records of a run, one a line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    size = file.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in run), "utf-8")
    logger.info("%s: %s characters", file.stem, size)


def main(arguments: list[str]) -> None:
    """Record the examples and the failures, or the runs given as pairs of name and question."""
    questions = dict(zip(arguments[::2], arguments[1::2], strict=True)) or QUESTIONS
    pipeline, settings = Pipeline(), Settings(model=default_model())
    pipeline.linker(settings.graph)
    pipeline.resources(settings).embedder.encode(["loaded with its first text"])  # no recorded time holds the loading
    for name, question in questions.items():
        write(_recorded(pipeline, question, settings), TRACES / f"{name}.jsonl")
    for failure in () if arguments else FAILURES:
        write(record_failure(pipeline, failure, settings), FAILED / f"{failure.name}.jsonl")


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(sys.argv[1:])
