"""The page as programs see it."""

from __future__ import annotations

import pytest
from gradio_client import Client

from tests.helpers.page import SmallPipeline, served


@pytest.fixture(scope="session")
def pipeline() -> SmallPipeline:
    return SmallPipeline()


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    with served(tmp_path_factory.mktemp("page") / "server.log") as found:
        yield found


@pytest.fixture(scope="session")
def client(address):
    client = Client(address, verbose=False)
    yield client
    client.close()
