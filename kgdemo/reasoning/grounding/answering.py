"""From chains of thought to an answer: a ~ p(a | q, G', z_1…z_n) (section 4.1)."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from kgdemo.events import AnswerDelta, AnswerFinal, Event
from kgdemo.kg.path import Path
from kgdemo.reasoning import deciding
from kgdemo.reasoning.base import Evidence, World
from kgdemo.reasoning.conclusion import conclude, show
from kgdemo.reasoning.grounding import tasks
from kgdemo.reasoning.grounding.chains import Chain, Value, meet
from kgdemo.reasoning.trails import Trail, likeliest_first
from kgdemo.settings import Settings


def answer(question: str, chains: Sequence[Chain], world: World, settings: Settings) -> Iterator[Event]:
    """Show the paths of the chains left, best chain first, and answer from them.

    The paths that a chain finished with come first; a chain that never finished has its trails ranked by
    the reasoner (*answer found but not returned* is the paper's commonest error of trees, section 7).
    """
    prose = deciding.writes_prose(world.reasoner)
    best = chains[0]
    if best.value is not None and not prose:
        yield from _from_value(best.value, world, settings)
        return
    paths = yield from _ordered(question, chains, world, settings.beams)
    evidence = yield from show(paths, world, settings.beams)
    lines = [line for chain in chains[: 1 if best.finished else None] for line in chain.lines]
    # what lies where two trails meet is not all that either relation leads to
    whole = settings.complete and len(best.answer) < 2
    task = tasks.answer(lines) if prose else ""
    yield from conclude(question, evidence, world, directed=settings.directed, whole=whole, task=task)


def _ordered(
    question: str, chains: Sequence[Chain], world: World, most: int
) -> Generator[Event, None, list[tuple[Path, float]]]:
    """Paths with the scores of their chains, what was finished with before the rest."""
    paths = [
        (path, chain.score) for chain in chains for path in likeliest_first(question, _finished_with(chain), world)
    ]
    told = {trail for chain in chains for trail in chain.answer}
    rest = list(dict.fromkeys(trail for chain in chains for trail in chain.trails if trail not in told))
    if not paths:
        if deciding.writes_prose(world.reasoner):
            texts = [str(trail) for trail in rest]
            chosen = yield from deciding.select(world, "answer", question, tasks.ANSWER, texts, most)
        else:
            scores = yield from deciding.compare(world, "answer", question, [trail.steps for trail in rest], most)
            chosen = tuple(deciding.best(scores, most))
        rest = [rest[i] for i in chosen]
    return [*paths, *((path, 0.0) for trail in rest for path in trail.paths)]


def _finished_with(chain: Chain) -> list[Path]:
    """The paths to a chain's answer; where it is the meeting of two trails, those that lead there."""
    common = set(meet(chain.answer))
    counted = (chain.value.trail,) if chain.value and chain.value.trail else ()
    trails: tuple[Trail, ...] = (*chain.answer, *counted)
    return [path for trail in trails for path in trail.paths if not common or path.end in common]


def _from_value(value: Value, world: World, settings: Settings) -> Iterator[Event]:
    """An answer that is no entity: a feature read or a count, with what was counted as its evidence."""
    paths = [(path, 0.0) for path in value.trail.paths] if value.trail else []
    evidence: list[Evidence] = yield from show(paths, world, settings.beams)
    cited = tuple(e.index for e in evidence)
    text = f"{value.text} " + "".join(f"[{index}]" for index in cited)
    yield AnswerDelta(text.strip())
    yield AnswerFinal(text.strip(), (value.text,), (cited,), world.reasoner.name)
