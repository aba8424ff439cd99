"""A GPU that is lent for one question at a time, as on Hugging Face's ZeroGPU; on every other machine nothing of it.

There the package ``spaces`` must be imported before torch, models are put on ``cuda`` before the page is served,
and what needs the GPU runs in a process of its own: a generator of this module, given plain data only.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:  # nothing that imports torch may be loaded before ``spaces``
    from kgdemo.events import Event
    from kgdemo.pipeline import Pipeline
    from kgdemo.settings import Settings

SECONDS = 60  # for which the GPU is asked; a visitor without an account has two minutes a day
ZERO = os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "true", "t")
_pipelines: list[Pipeline] = []  # the processes that ZeroGPU forks find theirs by its place here

F = TypeVar("F", bound=Callable[..., Any])


def on_gpu(function: F) -> F:
    """The function as ZeroGPU wants it; as it is where there is none."""
    return importlib.import_module("spaces").GPU(duration=SECONDS)(function) if ZERO else function


@on_gpu
def _answer(place: int, question: str, settings: Settings, entities: tuple[str, ...]) -> Iterator[Event]:
    yield from _pipelines[place].run(question, settings, entities)


def run(
    pipeline: Pipeline, question: str, settings: Settings, entities: Sequence[str] = ()
) -> Generator[Event, None, None]:
    """``pipeline.run``, on a lent GPU where this server has to borrow one."""
    if not ZERO:
        yield from pipeline.run(question, settings, entities)
        return
    if pipeline not in _pipelines:
        _pipelines.append(pipeline)
    yield from _answer(_pipelines.index(pipeline), question, settings, tuple(entities))
