"""The parser of ``query.parser``, trained on wordings of plans.

``wordings/plans.tsv`` has wordings of plans of every kind (``plan, wording``; placeholders in place of names),
``wordings/values.tsv``, ``wordings/steps.tsv`` and the path model's ``templates/world.tsv`` those of single steps,
``wordings/people.tsv`` plans of all kinds as strangers type them, chatty, clipped or long-winded, and
``wordings/nouns.tsv`` noun phrases for what a step leads to. Where a noun phrase takes the place of a name, a
wording of one step becomes one of two (synchronous composition, Wong and Mooney 2006); which steps follow one another
is read off the graph. Plans that are held out are of other combinations than those that are learnt::

    python -m kgdemo.lab.training.parser --minutes 40
"""

from __future__ import annotations

import logging
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from random import Random

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.lab.training.templates import load_templates
from kgdemo.lab.training.translator import add_typos, command_line, fit, padded, start_from, token_rows, told
from kgdemo.pipeline import Pipeline
from kgdemo.query.parser import (
    AND_OF,
    ATTRIBUTE,
    BOTH,
    LONGEST_TEXT,
    NONE,
    Network,
    Parser,
    value_of_year,
)
from kgdemo.query.translator import BEGIN, END, PAD

Plan = tuple[str, ...]
Pair = tuple[Plan, str]

_WORDINGS = Path(__file__).parent / "wordings"
_KINDS = "river mountain country city planet animal building film book person lake island element song bridge".split()
_AGE_REACHED = "#age reached"
_FRAMES = (
    "{}|{}?|who or what is {}|{}, please|name {}|tell me {}|what is {}?|who is {}|who was {}?|{} - what is it called"
).split("|")
_HELD_OUT = 0.05  # of the plans of several steps
_COMPOSED = 60_000
_SAMPLED = 9_000  # entities whose edges tell which steps follow one another
_SHARES = {"single": 0.17, "plans": 0.30, "none": 0.08, "people": 0.22, "composed": 0.23}  # of a batch
_BATCH, _RATE, _WARM_UP, _DROPOUT = 128, 1.5e-3, 300, 0.15
logger = logging.getLogger(__name__)


# wordings --------------------------------------------------------------------------------------


def ordered(plan: Plan, text: str) -> Pair:
    """The plan and the wording with X and Y, and the walks from them, in the order in which the wording names them."""
    x, y = (re.search(rf"\b{name}\b", text) for name in "XY")
    if x and y and y.start() < x.start():
        swapped = {"X": "Y", "Y": "X"}
        text = re.sub(r"\b[XY]\b", lambda found: swapped[found[0]], text)
        plan = tuple(swapped.get(token, token) for token in plan)
    head = 0 if BOTH in plan else 2 if AND_OF in plan else 1 if plan[0] == "BETWEEN" else None
    if head is None:
        return plan, text
    parting = next((mark for mark in (BOTH, AND_OF) if mark in plan), "")
    at = plan.index(parting) if parting else 3
    first, second = sorted((plan[head:at], plan[at + bool(parting) :]))
    return (*plan[:head], *first, *filter(None, (parting,)), *second), text


def _with_placeholders(text: str) -> str:
    return text.replace("[x]", "X").replace("[y]", "Y")


def single_steps(inverse: Mapping[str, str]) -> Iterator[Pair]:
    """Wordings of single steps and values, of comparisons and superlatives.

    Args:
        inverse: the name of each relation the other way round.
    """

    def step(relation: str, backwards: bool) -> Plan:
        label = inverse.get(relation, relation) if backwards else relation
        return ("X", value_of_year(label))

    kinds = cycle(_KINDS)
    for line in (_WORDINGS / "values.tsv").read_text("utf-8").splitlines():
        operation, attribute, end, text = line.split("\t")
        kind, name = next(kinds), _AGE_REACHED if attribute == "age" else f"{ATTRIBUTE}{attribute}"
        text = _with_placeholders(text.replace("[kinds]", f"{kind}s").replace("[kind]", kind))
        more = end == "more"
        if operation == "value":
            yield ("X", name), text
        elif operation == "compare":
            yield ordered(("MORE" if more else "LESS", name, "X", AND_OF, "Y"), text)
        else:
            yield ("MOST" if more else "LEAST", name), text
    for line in (_WORDINGS / "steps.tsv").read_text("utf-8").splitlines():
        relation, direction, text = line.split("\t")
        yield step(relation, direction == "inverse"), _with_placeholders(text)
    for (relation, backwards), templates in load_templates("world").items():
        for template in templates.questions:
            yield step(relation, backwards), template.fill("X")


def wordings_of_plans(file: str = "plans.tsv") -> Iterator[Pair]:
    """Wordings of plans of every kind, in a file of the folder."""
    for line in (_WORDINGS / file).read_text("utf-8").splitlines():
        plan, text = line.split("\t")
        yield ordered(tuple(map(value_of_year, plan.split(" | "))), _with_placeholders(text))


def noun_phrases(inverse: Mapping[str, str]) -> dict[str, list[str]]:
    """For each step the noun phrases for what it leads to from ``X``; see ``single_steps``."""
    found: dict[str, list[str]] = defaultdict(list)
    for (relation, backwards), templates in load_templates("world").items():
        label = inverse.get(relation, relation) if backwards else relation
        found[label] += [template.fill("X") for template in templates.nouns]
    for line in (_WORDINGS / "nouns.tsv").read_text("utf-8").splitlines():
        step, text = line.split("\t")
        found[step].append(_with_placeholders(text))
    return {step: phrases for step, phrases in found.items() if phrases and not _is_year(step)}


# composition -----------------------------------------------------------------------------------


def _is_year(step: str) -> bool:
    return step.endswith((" year", "year of"))


def preceding_steps(kg: KnowledgeGraph, random: Random) -> dict[str, list[tuple[str, float]]]:
    """For each step and each value: the steps that lead to entities that have it, weighted by how often they do."""
    known = [entity for entity, degree in enumerate(kg.degrees(range(len(kg.entities)))) if degree > 4]
    counted: Counter[tuple[str, str]] = Counter()
    for entity in random.sample(known, min(_SAMPLED, len(known))):
        leading: dict[str, list[str]] = defaultdict(list)
        for step, end in kg.neighbours(kg.entities[entity]):
            leading[step].append(end)
        for step, ends in leading.items():
            if len(ends) > 8 or _is_year(step):
                continue
            having = {label for end in ends[:3] for label, _ in kg.neighbours(end) if not _is_year(label)}
            values = {f"{ATTRIBUTE}{name}" for end in ends[:3] for name in kg.literals.get(end, {})}
            values |= {
                value_of_year(label)
                for end in ends[:3]
                for label, _ in kg.neighbours(end)
                if label.endswith(" in year")
            }
            counted.update((step, what) for what in having | values)
    found: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for (step, what), number in counted.items():
        if number > 2:
            found[what].append((step, math.sqrt(number)))
    return dict(found)


class Composer:
    """Makes wordings of several steps out of those of one.

    Args:
        single: wordings of single steps.
        phrases: see ``noun_phrases``.
        before: see ``preceding_steps``.
        random: what is drawn.
    """

    def __init__(
        self,
        single: Sequence[Pair],
        phrases: Mapping[str, Sequence[str]],
        before: Mapping[str, list[tuple[str, float]]],
        random: Random,
    ) -> None:
        self._phrases, self._random = phrases, random
        self._before = {
            what: [(step, weight) for step, weight in steps if step in phrases] for what, steps in before.items()
        }
        self._asked: dict[str, list[str]] = defaultdict(list)
        self._compared = [pair for pair in single if pair[0][0] in ("MORE", "LESS")]
        for plan, text in single:
            if plan[0] == "X":
                self._asked[plan[1]].append(text)

    def draw(self) -> Pair | None:
        """One wording; None where what was drawn cannot be put together."""
        kind = self._random.random()
        if kind < 0.62:
            return self._asked_of_described()
        if kind < 0.9:
            return self._described(steps=2 if kind < 0.8 else 1)
        return self._compared_described()

    def _step_to(self, what: str) -> str | None:
        steps = self._before.get(what)
        return self._random.choices(*zip(*steps, strict=True))[0] if steps else None

    def _phrase(self, step: str) -> str:
        return self._random.choice(self._phrases[step])

    def _asked_of_described(self) -> Pair | None:
        last = self._random.choice(list(self._asked))
        step = self._step_to(last)
        if step is None:
            return None
        text = _in_place(self._random.choice(self._asked[last]), "X", self._phrase(step))
        plan: Plan = (step, last)
        if self._random.random() < 0.15 and (first := self._step_to(step)):
            text, plan = _in_place(text, "X", self._phrase(first)), (first, *plan)
        return ("X", *plan), text

    def _described(self, steps: int) -> Pair | None:
        last = self._random.choice(list(self._phrases))
        text, plan = self._phrase(last), Plan((last,))
        if steps > 1:
            step = self._step_to(last)
            if step is None:
                return None
            text, plan = _in_place(text, "X", self._phrase(step)), (step, last)
        return ("X", *plan), self._random.choice(_FRAMES).format(text)

    def _compared_described(self) -> Pair | None:
        plan, text = self._random.choice(self._compared)
        steps = [self._step_to(plan[1]), self._step_to(plan[1])]
        if None in steps:
            return None
        first = steps[0] or ""
        second = first if self._random.random() < 0.7 else steps[1] or ""
        one = self._random.random() < 0.4
        text = _in_place(text, "X", self._phrase(first).replace("X", "\0"))
        text = text if one else _in_place(text, "Y", self._phrase(second).replace("X", "Y"))
        whole = (*plan[:2], "X", first, AND_OF, "Y", *(() if one else (second,)))
        return ordered(whole, text.replace("\0", "X"))


def _in_place(text: str, name: str, phrase: str) -> str:
    return re.sub(rf"\b{name}\b", lambda _: phrase, text, count=1)


# training --------------------------------------------------------------------------------------


class Examples:
    """Training examples, drawn in batches of texts of similar length."""

    def __init__(self, groups: Mapping[str, Sequence[Pair]], tokens: Sequence[str], random: Random) -> None:
        ids = {token: number for number, token in enumerate(tokens)}
        pairs = [pair for own in groups.values() for pair in own]
        texts = [add_typos(text, random) for _, text in pairs]
        self._rows = token_rows(texts, LONGEST_TEXT)
        self._plans = [[ids[BEGIN], *(ids[token] for token in plan), ids[END]] for plan, _ in pairs]
        self._random, first = random, 0
        self._groups: list[tuple[list[int], int]] = []
        for name, own in groups.items():
            members = sorted(range(first, first + len(own)), key=lambda place: len(self._rows[place]))
            self._groups.append((members, round(_SHARES[name] * _BATCH)))
            first += len(own)

    def batch(self) -> tuple[Tensor, Tensor, Tensor]:
        """Token rows, padding mask and token ids of the plans."""
        share, chosen = self._random.random(), list[int]()
        for members, number in self._groups:
            centre, around = int(share * len(members)), max(number * 6, len(members) // 12)
            near = members[max(centre - around, 0) : centre + around]
            chosen += self._random.choices(near, k=number)
        rows, padding = padded([self._rows[place] for place in chosen])
        length = max(len(self._plans[place]) for place in chosen)
        plans = torch.tensor([self._plans[p] + [0] * (length - len(self._plans[p])) for p in chosen])
        return rows, padding, plans


def train(minutes: float, anew: bool = False, seed: int = 0) -> tuple[Parser, dict[str, float]]:
    """Train a parser.

    Args:
        minutes: for how long.
        anew: not from the weights that come with this package.
        seed: of what is drawn.

    Returns:
        it, and of the wordings whose plans were held out the share that it reads exactly, by the kind of plan.
    """
    random, kg = Random(seed), Pipeline().opened("world").kg
    torch.manual_seed(seed)
    single = list(dict.fromkeys(single_steps(kg.inverse_labels)))
    every = list(dict.fromkeys(wordings_of_plans()))
    people = list(dict.fromkeys(wordings_of_plans("people.tsv")))
    several = sorted({plan for plan, _ in (*every, *people) if plan != (NONE,) and len(plan) > 2})
    held = set(random.sample(several, int(_HELD_OUT * len(several))))
    composer = Composer(single, noun_phrases(kg.inverse_labels), preceding_steps(kg, random), random)
    composed = {pair for _ in range(_COMPOSED) if (pair := composer.draw()) and pair[0] not in held}
    groups = {
        "single": single,
        "plans": [pair for pair in every if pair[0] not in held and pair[0] != (NONE,)],
        "none": [pair for pair in every if pair[0] == (NONE,)],
        "people": [pair for pair in people if pair[0] not in held],
        "composed": sorted(composed),
    }
    tokens = [PAD, BEGIN, END, *sorted({token for own in groups.values() for plan, _ in own for token in plan})]
    logger.info("%s; %d tokens", {name: len(own) for name, own in groups.items()}, len(tokens))
    examples = Examples(groups, tokens, random)

    def loss(network: Network) -> Tensor:
        rows, padding, plans = examples.batch()
        logits = network(network.memory(rows, padding), padding, plans[:, :-1])
        return cross_entropy(logits.flatten(0, 1), plans[:, 1:].flatten(), ignore_index=0, label_smoothing=0.05)

    network = Network(tokens, examples.batch()[0].shape[2], _DROPOUT)
    if not anew:
        start_from("parser", network, tokens)
    fit(network, loss, minutes, _RATE, _WARM_UP)
    parser = Parser(network, tokens)
    kept = [pair for pair in (*every, *people) if pair[0] in held and set(pair[0]) <= set(tokens)]
    return parser, exact_match_rates(parser, kept)


def exact_match_rates(parser: Parser, pairs: Sequence[Pair]) -> dict[str, float]:
    """The share of wordings of which the likeliest plan is the right one, by the kind of plan, and of all."""
    hits: dict[str, list[bool]] = defaultdict(list)
    for plan, text in pairs:
        found = parser.plans(text)
        right = bool(found) and found[0].tokens == plan
        kind = plan[0] if plan[0] not in "XY" else BOTH if BOTH in plan else "value" if plan[-1][0] == "#" else "walk"
        hits[kind].append(right)
        hits["all"].append(right)
    return {kind: sum(own) / len(own) for kind, own in hits.items()}


def main() -> None:
    """Train, save the weights and log the figures."""
    chosen = command_line(__doc__, 40.0)
    parser, figures = train(chosen.minutes, chosen.anew)
    parser.save(*chosen.folder)
    logger.info("read exactly, of plans held out: %s", told(figures))


if __name__ == "__main__":
    main()
