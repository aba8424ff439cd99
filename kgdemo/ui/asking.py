"""From what stands in the page's fields to a run; mistakes become one clear sentence, never an error box."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kgdemo.errors import UserError
from kgdemo.events import Event, RunFailed
from kgdemo.kg.catalogue import embedded_names
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.models.causal import EMBEDDED
from kgdemo.pipeline import Pipeline
from kgdemo.reasoning.options import pairs
from kgdemo.settings import Profile, Settings

logger = logging.getLogger(__name__)


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
    options: str

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


def ask(pipeline: Pipeline, fields: Fields, entities: Sequence[str] = ()) -> Iterator[Event]:
    """Run the pipeline on the fields."""
    try:
        settings = fields.settings(pipeline.profile)
    except UserError as error:
        yield RunFailed(str(error))
        return
    yield from pipeline.run(str(fields.question or ""), settings, entities)


def names_like(kg: KnowledgeGraph, written: str, most: int = 8) -> list[str]:
    """Entities whose name starts with, or else holds, what a visitor has typed."""
    wanted = written.strip().casefold()
    if len(wanted) < 2:
        return []
    starts: list[str] = []
    holds: list[str] = []
    for label in kg.entities:
        folded = label.casefold()
        if folded.startswith(wanted):
            starts.append(label)
        elif len(holds) < most and wanted in folded:
            holds.append(label)
    return (sorted(starts, key=len) + holds)[:most]


def default_model(environment: Mapping[str, str] = os.environ) -> str:
    """The path model that the page starts with; ``KGDEMO_MODEL`` names another than the embedded one."""
    return environment.get("KGDEMO_MODEL") or EMBEDDED


def warm_up(pipeline: Pipeline, settings: Settings) -> threading.Thread:
    """Load graph and model while the first visitor still reads; the examples need neither."""

    def load() -> None:
        try:
            pipeline.linker(settings.graph)
            pipeline.world(settings).embedder.encode(["loaded with its first text"])
        except UserError as error:  # the first question says it on the page
            logger.warning("%s", error)

    thread = threading.Thread(target=load, name="warm-up", daemon=True)
    thread.start()
    return thread
