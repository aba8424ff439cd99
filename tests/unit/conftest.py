"""The shipped graphs, opened once for all tests of a process."""

from __future__ import annotations

import pytest

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.pipeline import Pipeline


@pytest.fixture(scope="session")
def pipeline() -> Pipeline:
    """The graphs and models that come with the package."""
    return Pipeline()


@pytest.fixture(scope="session")
def world(pipeline: Pipeline) -> KnowledgeGraph:
    """The embedded graph."""
    return pipeline.graph("world")
