"""Fixtures shared by all tests: no network, and small models made on the spot."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["OMP_NUM_THREADS"] = "1"  # as many processes as cores already; servers they start inherit it
for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "KGDEMO_CHAT_MODEL", "KGDEMO_CHAT_LOCAL", "KGDEMO_PROFILE"):
    os.environ.pop(name, None)


@pytest.fixture(scope="session")
def server_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the served page says."""
    return tmp_path_factory.mktemp("page") / "server.log"


@pytest.fixture(scope="session")
def address(server_log: Path) -> Iterator[str]:
    """The page over a small graph, served for app and browser tests."""
    from tests.helpers.page import served  # most tests need none of it

    with served(server_log) as found:
        yield found
