"""Starts the page: ``python app.py [--host HOST] [--port PORT]``. Everything else is in ``kgdemo``."""

from __future__ import annotations

import argparse
import logging
import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # before gradio is imported: no telemetry
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

from kgdemo.ui import zero  # noqa: F401  first of all: where GPUs are lent, ``spaces`` must come before torch
from kgdemo.ui.page import create_app, launch_arguments


def main() -> None:
    """Build and serve the page."""
    parser = argparse.ArgumentParser(description="Serve the demo.")
    parser.add_argument("--host", default=os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1"))
    parser.add_argument("--port", type=int, default=int(os.environ.get("GRADIO_SERVER_PORT", "7860")))
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    create_app().launch(server_name=options.host, server_port=options.port, **launch_arguments())


if __name__ == "__main__":
    main()
