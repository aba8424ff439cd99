"""FiDeLiS in the film world: a clerk who plans and deduces, and what must hold of every run."""

from __future__ import annotations

from collections.abc import Sequence

from kgdemo.events import CandidatesScored, Event, PathFound, PathVerified, Thought
from kgdemo.kg.path import Path
from kgdemo.lab.evaluation.metrics import valid_steps
from kgdemo.methods.fidelis import PLACEHOLDER, FidelisOptions
from kgdemo.reasoners.base import Resources
from kgdemo.settings import Settings
from tests.helpers.reasoning import Clerk, of, run

QUESTION = "Where was the director of Inception born?"
PLAN = f"director, born | find the director; find the birthplace | the director of Inception was born in {PLACEHOLDER}"
STATEMENT = "the director of Inception was born in"


def ask(resources: Resources, fidelis: FidelisOptions | None = None, topics: Sequence[str] = ("Inception",), **chosen):
    return list(run("fidelis", QUESTION, topics, resources, Settings(compare=False, **chosen), fidelis))


def clerk(**chosen) -> Clerk:
    """A chat model that likes directors and birthplaces, plans, and finds every step to follow."""
    writes = {"Prepare a walk": PLAN}
    return Clerk(**{"wanted": ["born in", "directed by"], "writes": writes, **chosen})


class Deducing(Clerk):
    """A clerk that finds every step to follow, and the statement once London is in its place."""

    def reply(self, prompt: str) -> str:
        if prompt.splitlines()[-1] == "Does it follow?":
            asked = prompt.rpartition("\n---\n")[2]
            statement = next(line for line in asked.splitlines() if line.startswith("Statement:"))
            return "no" if STATEMENT in statement and "London" not in statement else "yes"
        return super().reply(prompt)


def deducing(**chosen) -> Deducing:
    like = clerk()
    return Deducing(**{"wanted": like.wanted, "writes": like.writes, **chosen})


def found(events: Sequence[Event]) -> list[str]:
    return [str(e.path) for e in of(events, PathFound)]


def all_steps_are_in_the_graph(events: Sequence[Event], resources: Resources) -> None:
    valid, steps = valid_steps(e.verdict for e in of(events, PathVerified))
    assert valid == steps
    for thought in of(events, Thought):
        assert all(resources.verifier.verify(Path.from_labels(t)).faithful for t in thought.triples)


def all_candidates_are_in_the_graph(events: Sequence[Event], resources: Resources) -> None:
    """Of labels without arrows, which their texts can be read by."""
    for scored in of(events, CandidatesScored):
        if scored.decision in ("Path-RAG", "vanilla retriever"):
            assert all(resources.verifier.verify_text(option)[1].faithful for option in scored.options)
