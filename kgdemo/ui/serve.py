"""Serves the page: what ``app.py`` and the installed ``kgdemo start`` run."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # before gradio is imported: no telemetry
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

from kgdemo.ui import zero  # first of all: where GPUs are lent, ``spaces`` must come before torch

# isort: split
from kgdemo.settings import check_host, processors, share_of_processors

# Before torch is imported: each of the questions answered at once has its share of the processors. A forward pass takes
# all of them while nobody else wants one; who sets the number himself has that number and no more. GNU's OpenMP lets a
# thread wait in a loop for so many rounds, some tenths of a millisecond: as long as from one parallel region to the
# next. Longer, and a thread that waits for the next pass looks like somebody who wants a processor.
if takes_idle := "OMP_NUM_THREADS" not in os.environ:
    os.environ["OMP_NUM_THREADS"] = str(share_of_processors())
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

with zero.without_type_stubs():
    import gradio  # noqa: F401

# isort: split
from kgdemo.errors import UserError
from kgdemo.models.courtesy import IDLE_PROCESSORS
from kgdemo.ui.guard import Page, check_arguments, impatient
from kgdemo.ui.metrics import METRICS, few_arenas, start_logging
from kgdemo.ui.page import create_app, launch_arguments

logger = logging.getLogger(__name__)
GRACE = 8.0  # seconds; a container has ten before it is killed
DELIVERY = 1.0  # seconds in which the last answers reach who asked
# Seconds for which a thread busy with Python alone may keep the interpreter while others wait for it. A question
# gives it up at every step of its arithmetic: beside a thread that indexed graphs without end it took 10.8 s with
# Python's own 0.005, and 2.3 s with this.
SWITCH = 0.0002


def main(arguments: Sequence[str] | None = None) -> None:
    """Build and serve the page.

    Args:
        arguments: ``--host`` and ``--port``; by default those of the process.
    """
    parser = argparse.ArgumentParser(prog="kgdemo start", description="Serve the demo.")
    parser.add_argument("--host", default=os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1"))
    parser.add_argument("--port", type=_port, default=os.environ.get("GRADIO_SERVER_PORT", "7860"))
    options = parser.parse_args(arguments)
    start_logging()
    try:
        check_host(options.host)
        _check_free(options.host, options.port)
        if takes_idle:
            IDLE_PROCESSORS.may_be_used(processors(), share_of_processors())
        serve(create_app(), options.host, options.port)
    except UserError as error:
        raise SystemExit(str(error)) from None


def serve(page: Page, host: str, port: int) -> None:
    """Serve a page until this process is told to stop (SIGTERM, or SIGINT: Ctrl+C).

    Then nothing new is begun, and the questions under way have ``GRACE`` seconds to end. Told twice, it stops at once.
    """
    sys.setswitchinterval(SWITCH)
    few_arenas()
    stopping = threading.Event()

    def stop(*_: object) -> None:
        if stopping.is_set():
            raise SystemExit(1)
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    page.launch(server_name=host, server_port=port, prevent_thread_lock=True, **launch_arguments(page, stopping))
    check_arguments(page)
    config: Any = page.server.config
    config.http_protocol_class = impatient(config.http_protocol_class, page.profile.body_seconds)
    stopping.wait()
    logger.info("stopping; %d questions under way", METRICS.under_way)
    ends = time.monotonic() + GRACE
    while (METRICS.under_way or len(page._queue)) and time.monotonic() < ends:
        time.sleep(0.05)
    time.sleep(DELIVERY)  # what was answered last is still on its way
    page.close(verbose=False)


def _port(written: str) -> int:
    if not (written.isascii() and written.isdecimal() and 0 < int(written[:6]) < 65536):
        raise argparse.ArgumentTypeError(f"{written[:20]!r} is no port; choose a number from 1 to 65535")
    return int(written)


def _check_free(host: str, port: int) -> None:
    """Complain about a used port before anything is loaded.

    Raises:
        UserError: another program listens there, or this machine has no such address.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
            probe.bind(address)
    except OSError as error:
        raise UserError(
            f"The page cannot be served at {host}, port {port} ({(error.strerror or str(error)).lower()}); "
            "choose another with --host and --port."
        ) from error
