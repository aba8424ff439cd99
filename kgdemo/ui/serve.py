"""Serves the page: what ``app.py`` and the installed ``kgdemo start`` run."""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import Sequence

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # before gradio is imported: no telemetry
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

from kgdemo.ui import zero  # noqa: F401  first of all: where GPUs are lent, ``spaces`` must come before torch

# isort: split
from kgdemo.errors import UserError
from kgdemo.settings import check_host
from kgdemo.ui.page import create_app, launch_arguments


def main(arguments: Sequence[str] | None = None) -> None:
    """Build and serve the page.

    Args:
        arguments: ``--host`` and ``--port``; by default those of the process.
    """
    parser = argparse.ArgumentParser(prog="kgdemo start", description="Serve the demo.")
    parser.add_argument("--host", default=os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1"))
    parser.add_argument("--port", type=int, default=int(os.environ.get("GRADIO_SERVER_PORT", "7860")))
    options = parser.parse_args(arguments)
    try:
        check_host(options.host)
    except UserError as error:
        raise SystemExit(str(error)) from None
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    create_app().launch(server_name=options.host, server_port=options.port, **launch_arguments())
