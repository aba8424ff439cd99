"""The page as programs see it."""

from __future__ import annotations

from pathlib import Path

import pytest
from gradio_client import Client

from tests.helpers.page import SmallPipeline, served


@pytest.fixture(scope="session")
def pipeline() -> SmallPipeline:
    return SmallPipeline()


@pytest.fixture(scope="session")
def server_log(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("page") / "server.log"


@pytest.fixture(scope="session")
def address(server_log):
    with served(server_log) as found:
        yield found


@pytest.fixture(scope="session")
def client(address):
    client = Client(address, verbose=False)
    yield client
    client.close()
