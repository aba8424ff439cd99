"""Importing gradio without the type stubs that it writes for editors."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


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
