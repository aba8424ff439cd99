"""The page as programs see it."""

from __future__ import annotations

import pytest
from gradio_client import Client

from tests.helpers.small import SmallPipeline


@pytest.fixture(scope="session")
def pipeline() -> SmallPipeline:
    return SmallPipeline()


@pytest.fixture(scope="session")
def client(address):
    client = Client(address, verbose=False)
    yield client
    client.close()
