"""Fifty questions of two hops over a small graph, and a chat model that knows the right choice at every decision.

The oracle reads a prompt as a model would: the question, the numbered options, the facts and the statement. What it
knows beyond that is the right path alone, so where it errs the prompt did not carry enough to be answered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.models.chat import Usage
from kgdemo.reasoners.base import Reasoner, Resources
from kgdemo.verify import Verifier
from tests.helpers.models import random_model
from tests.helpers.reasoning import SpellingEmbedder

_FIRST = "Silent Golden Broken Hidden Crimson Frozen Distant Hollow Burning Paper".split()
_SECOND = "Harbour Orchard Lantern Meadow Compass".split()
_NAMES = "Arden Bellis Corvo Dalgaard Ekberg Ferrand Galanti Holub Ivarsson Jelinek".split()
_GIVEN = "Anna Bruno Clara David Elena".split()
_CITIES = "Ostrava Bergen Turku Leiden Porto Ghent Basel Gdansk Tartu Cork Malmo Trieste".split()
_LANDS = "Moravia Norway Finland Holland Portugal Flanders".split()
INVERSE = {
    "directed by": "director of",
    "starring": "starred in",
    "music by": "composer of the music of",
    "born in": "birthplace of",
    "lives in": "residence of",
    "educated at": "alma mater of",
    "located in": "location of",
}


@dataclass(frozen=True)
class TwoHops:
    """A question, its topic and the one path that answers it."""

    text: str
    topic: str
    path: Path

    @property
    def answer(self) -> str:
        return self.path.end


def _triples() -> list[tuple[str, str, str]]:
    films = [f"{first} {second}" for first in _FIRST for second in _SECOND]
    people = [f"{given} {name}" for given in _GIVEN for name in _NAMES]
    triples = []
    for n, film in enumerate(films):
        triples += [
            (film, "directed by", people[n]),
            (film, "starring", people[(n * 7 + 3) % 50]),
            (film, "starring", people[(n * 11 + 5) % 50]),
            (film, "music by", people[(n * 13 + 8) % 50]),
            (film, "released in year", str(1950 + n)),
        ]
    for n, person in enumerate(people):
        places = [_CITIES[(n * step + step) % 12] for step in (5, 7, 1)]
        triples += list(zip([person] * 3, ["born in", "lives in", "educated at"], places, strict=True))
    triples += [(city, "located in", _LANDS[n % 6]) for n, city in enumerate(_CITIES)]
    return list(dict.fromkeys(triples))


TRIPLES = _triples()


def questions() -> list[TwoHops]:
    """One for each film: half ask for the director's birthplace, half for where the director was educated."""
    directed = {head: tail for head, relation, tail in TRIPLES if relation == "directed by"}
    place = {(head, relation): tail for head, relation, tail in TRIPLES}
    found = []
    for n, (film, person) in enumerate(directed.items()):
        relation, words = (
            ("born in", "was the director of {} born")
            if n % 2
            else (
                "educated at",
                "was the director of {} educated",
            )
        )
        path = Path((film, person, place[person, relation]), ("directed by", relation))
        found.append(TwoHops(f"Where {words.format(film)}?", film, path))
    return found


def two_hop_world(reasoner: Reasoner) -> Resources:
    """The graph with a random path model and a given reasoner."""
    info = {name: EntityInfo("city") for name in _CITIES} | {name: EntityInfo("country") for name in _LANDS}
    kg = KnowledgeGraph.from_triples(TRIPLES, "films", INVERSE, info)
    model = random_model("qwen2", seed=1)
    verifier = Verifier(StatedFacts(TRIPLES, INVERSE))
    return Resources(kg, verifier, model, TokenGraph(kg, model.label_tokens), reasoner, SpellingEmbedder())


class Oracle:
    """See ``ChatModel``: replies to every prompt with the right choice, in the form that the prompt asks for."""

    name, at_once, samples, structured = "oracle", 1, False, False

    def __init__(self) -> None:
        self.known = {question.text: question for question in questions()}
        self.last = questions()[0]
        self.prompts: list[str] = []

    def stream(self, prompt: str, usage: Usage, temperature: float = 0.0, schema: object = None) -> Iterator[str]:
        self.prompts.append(prompt)
        reply = self.reply(prompt)
        usage.tokens_in, usage.tokens_out = len(prompt) // 4, len(reply) // 4 + 1
        yield reply

    def reply(self, prompt: str) -> str:
        """The reply to a prompt."""
        asked = next((q for text, q in self.known.items() if text in prompt), self.last)
        self.last = asked
        form = prompt.rstrip().splitlines()[-1]
        options = [
            (int(number), text)
            for number, text in re.findall(r"^(\d+)\. (.*(?:\n   .*)*)$", _task(prompt), re.MULTILINE)
        ]
        if form == "Numbers:":
            return ", ".join(map(str, self._chosen(options, asked))) or "none"
        if form == "Ratings:":
            best = self._chosen(options, asked)
            return "\n".join(f"{number}: {9 if number in best else 1}" for number, _ in options)
        if form == "Next steps:":  # the right steps first, and others up to the number asked for, as models do
            limit = int((re.findall(r"Write at most (\d+)", prompt) or ["1"])[0])
            best = self._chosen(options, asked)
            steps = [*best, *(number for number, _ in options if number not in best)][:limit]
            return "\n".join(f"I need the next fact of the way. | {number}" for number in steps)
        if form.startswith(("Does it follow", "Is that enough", "Yes or no")):
            return "yes" if self._holds(_task(prompt), asked) else "no"
        if form == "Answers:":
            cited = [n for n, text in re.findall(r"^\[(\d+)\] (.*)$", prompt, re.MULTILINE) if str(asked.path) in text]
            return f"{asked.answer} [{', '.join(cited)}]" if cited else "NO ANSWER"
        return self._written(prompt, asked)

    def _written(self, prompt: str, asked: TwoHops) -> str:
        """Free text: a plan, or what comes next."""
        if "*placeholder*" in prompt:
            steps = " ; ".join(asked.path.relations)
            return f"{', '.join(asked.path.relations)} | {steps} | {asked.text.rstrip('?')}: *placeholder*."
        if "relation paths" in prompt:
            return " -> ".join(asked.path.relations)
        return "; ".join(entity for entity in asked.path.entities[:2] if entity in _task(prompt))

    def _chosen(self, options: Sequence[tuple[int, str]], asked: TwoHops) -> list[int]:
        """The options that lie on the right path, the furthest along first; of chains the one that knows most."""
        furthest = {number: self._progress(text, asked) for number, text in options}
        best = max(furthest.values(), default=0)
        return [number for number, _ in options if furthest[number] == best] if best else []

    def _progress(self, text: str, asked: TwoHops) -> int:
        """How far along the right path an option is; 0 off it."""
        film, person, place = asked.path.entities
        first, second = asked.path.relations
        whole, half = str(asked.path), f"{film} -> {first} -> {person}"
        lines = text.splitlines()
        if len(lines) > 1 or text.startswith(("Thought:", "Found:")):  # a chain
            finished = any(line.strip() == f"Action: Finish[{place}]" for line in lines)
            return 1 + sum(step in text for step in (first, person, second, place)) + 4 * finished
        called = re.match(r"(\w+)\[(.*?)\](?:\s+\((.*)\))?$", text)
        if called:
            arguments, stem = called[2], called[3] or ""
            if called[1] == "Finish":
                return 5 if arguments == place and whole.startswith(stem) else 0
            right = {f"{film}, {first}": 2, f"{person}, {second}": 3, film: 1, person: 1}
            return right.get(arguments, 0) if whole.startswith(stem) or called[1] == "RetrieveNode" else 0
        bare = text.strip()
        if whole.startswith(bare) or bare.startswith(whole):
            return 1 + bare.count("->")
        return 1 + half.count("->") if bare == half else 0

    def _holds(self, task: str, asked: TwoHops) -> bool:
        """Whether a statement follows: the right answer in its place, or a step of the right way."""
        statement = next((m for m in re.findall(r"^(?:Statement|Claim|Step): (.*)$", task, re.MULTILINE)), "")
        facts = task.partition("Facts:")[2]
        first, second = (step.replace("~", "") for step in asked.path.relations)
        _, person, place = asked.path.entities
        known = first in facts and person in facts and second in facts and place in facts
        if "enough" in statement or not statement:
            return known
        if asked.text.rstrip("?") in statement:  # the statement with a path's end in the answer's place
            return known and statement.rstrip(".").endswith(place)
        return person in statement and (second in statement or first in statement)


def _task(prompt: str) -> str:
    """The prompt behind its examples, which end with a line of their own."""
    return prompt.rpartition("\n---\n")[2]
