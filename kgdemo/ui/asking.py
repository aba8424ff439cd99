"""From what stands in the page's fields to a run; mistakes become one clear sentence, never an error box."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kgdemo.errors import UserError
from kgdemo.events import Event, RunFailed
from kgdemo.kg.catalogue import embedded_names
from kgdemo.models.causal import EMBEDDED
from kgdemo.pipeline import Pipeline
from kgdemo.reasoning.options import pairs
from kgdemo.settings import Profile, Settings
from kgdemo.ui import zero
from kgdemo.ui.loading import Loading
from kgdemo.ui.visits import Visits
from kgdemo.ui.worlds import Asked, Worlds


@dataclass(frozen=True, slots=True)
class Fields:
    """The page's fields, in the order in which gradio hands them over."""

    question: str
    graph: str
    model: str
    method: str
    beams: float
    hops: float
    compare: bool
    ranking: str
    options: str = ""
    world: str = ""  # what the visitor has changed, see ``worlds.Asked``

    def settings(self, profile: Profile) -> Settings:
        """Settings of a run.

        Raises:
            UserError: a field holds what this server does not allow.
        """
        if not profile.open_models and self.graph not in embedded_names():
            raise UserError(f"This server knows the graphs {', '.join(embedded_names())}; choose one of them.")
        try:
            beams, hops = int(self.beams), int(self.hops)
        except (TypeError, ValueError):
            raise UserError("The numbers of paths K and hops L must be whole numbers.") from None
        return Settings(
            graph=str(self.graph or "world").strip(),
            model=str(self.model or EMBEDDED).strip(),
            method=self.method,
            beams=beams,
            hops=hops,
            compare=bool(self.compare),
            ranking=self.ranking,
            options=pairs([str(self.options or "")]),
        )


def ask(
    pipeline: Pipeline,
    fields: Fields,
    entities: Sequence[str] = (),
    worlds: Worlds | None = None,
    forced: Sequence[int] = (),
    visits: Visits | None = None,
    session: str = "",
) -> Iterator[Event]:
    """Run the pipeline on the fields.

    Args:
        pipeline: answers the question.
        fields: what stands in the page's fields.
        entities: topic entities; linked from the question when empty.
        worlds: the visitors' graphs; None: only the pipeline's.
        forced: token ids that every path begins with.
        visits: counts how often a visitor asks; None: nobody counts.
        session: the visitor.
    """
    try:
        if visits is not None:
            visits.count(session)
        settings = replace(fields.settings(pipeline.profile), forced=tuple(forced))
        if worlds is not None:
            settings = replace(settings, graph=worlds.source(settings.graph, Asked.read(fields.world)))
    except UserError as error:
        yield RunFailed(str(error))
        return
    yield from zero.run(pipeline, str(fields.question or ""), settings, entities)


def asked_again(fields: Fields, changed: Mapping[str, Any]) -> tuple[Fields, list[str], list[int]]:
    """A question asked again with something changed on the page itself.

    Args:
        fields: what stands in the fields.
        changed: ``entities``, the topic entities to start from, none to have them linked; ``forced``, token
            ids that every path begins with; ``question`` and ``method``, where they are not those of the fields.

    Returns:
        the fields to run with, the entities, the forced tokens.
    """
    other = {name: str(changed[name]) for name in ("question", "method") if changed.get(name)}
    entities = [str(name) for name in changed.get("entities") or ()][:20]
    return replace(fields, **other), entities, [int(token) for token in changed.get("forced") or ()][:500]


def names_like(labels: Iterable[str], written: str, most: int = 8) -> list[str]:
    """Entities or relations whose name starts with, or else holds, what a visitor has typed."""
    wanted = written.strip().casefold()
    if len(wanted) < 2:
        return []
    starts: list[str] = []
    holds: list[str] = []
    for label in labels:
        folded = label.casefold()
        if folded.startswith(wanted):
            starts.append(label)
        elif len(holds) < most and wanted in folded:
            holds.append(label)
    return (sorted(starts, key=len) + holds)[:most]


def default_model(environment: Mapping[str, str] = os.environ) -> str:
    """The path model that the page starts with; ``KGDEMO_MODEL`` names another than the embedded one."""
    return environment.get("KGDEMO_MODEL") or EMBEDDED


def warming(pipeline: Pipeline, settings: Settings) -> Loading:
    """What to load while the first visitor still reads; the examples need none of it."""
    return Loading(
        (
            ("graph", lambda: pipeline.graph(settings.graph)),
            ("linker", lambda: pipeline.linker(settings.graph)),
            ("model", lambda: pipeline.model(settings.model)),
            ("index", lambda: pipeline.world(settings).embedder.encode(["loaded with its first text"])),
        )
    )
