"""What comes before all else on a server: a GPU lent for one question at a time, and gradio imported in half the time.

GPUs are lent as on Hugging Face's ZeroGPU; without one nothing of that is done. There the package ``spaces`` must be
imported before torch, models are put on ``cuda`` before the page is served, and what needs the GPU runs in a process of
its own: a generator of this module, given plain data only. The embedded model needs none: it stays on the processor and
spends nobody's minutes.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from kgdemo.settings import Settings, gpu_is_lent

if TYPE_CHECKING:  # nothing that imports torch may be loaded before ``spaces``
    from kgdemo.events import Event
    from kgdemo.pipeline import Pipeline

SECONDS = 60  # for which the GPU is asked; a visitor without an account has two minutes a day
ZERO = gpu_is_lent()
_pipelines: list[Pipeline] = []  # the processes that ZeroGPU forks find theirs by its place here

F = TypeVar("F", bound=Callable[..., Any])


def on_gpu(function: F) -> F:
    """The function as ZeroGPU wants it; as it is where there is none."""
    return importlib.import_module("spaces").GPU(duration=SECONDS)(function) if ZERO else function


@on_gpu
def _answer(place: int, question: str, settings: Settings, entities: tuple[str, ...]) -> Iterator[Event]:
    yield from _pipelines[place].run(question, settings, entities)


def borrows(pipeline: Pipeline, settings: Settings) -> bool:
    """Whether a question at these settings is answered on a lent GPU: by any model loaded here but the embedded one."""
    return ZERO and (settings.model != Settings().model or pipeline.chat.local)


def run(
    pipeline: Pipeline, question: str, settings: Settings, entities: Sequence[str] = ()
) -> Generator[Event, None, None]:
    """``pipeline.run``, on a lent GPU where this server has to borrow one.

    A loan that is refused or breaks off ends the run with the lender's own words.
    """
    if not borrows(pipeline, settings):
        yield from pipeline.run(question, settings, entities)
        return
    if pipeline not in _pipelines:
        _pipelines.append(pipeline)
    from gradio import Error  # not above: ``spaces`` comes before all else

    from kgdemo.events import RunFailed

    try:
        yield from _answer(_pipelines.index(pipeline), question, settings, tuple(entities))
    except Error as error:
        said = " ".join(f"{error.title}: {error.message}".split()).rstrip(".")
        yield RunFailed(f"No GPU could be borrowed for this question ({said}); ask again later.")


@contextmanager
def without_type_stubs() -> Iterator[None]:
    """Let ``import gradio`` skip the ``.pyi`` file that it parses and compares for each of its 80 components.

    That takes half of the import, 2.5 of 5 seconds, and serves editors alone. Gradio passes over a class whose source
    file cannot be found (``component_meta.create_or_modify_pyi``), so for this import none of its own can be.
    """
    find = inspect.getfile

    def getfile(what: Any) -> str:
        if isinstance(what, type) and what.__module__.startswith("gradio."):
            raise OSError("not looked for while gradio is imported")
        return find(what)

    inspect.getfile = getfile  # type: ignore[assignment]  # for a moment
    try:
        yield
    finally:
        inspect.getfile = find
