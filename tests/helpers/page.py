"""The real page over a small graph and a tiny random model, served by a process of its own.

``python -m tests.helpers.page PORT ENDPOINT`` is that process; it says on its output when a run was closed early.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kgdemo.ui.metrics import start_logging
from kgdemo.ui.page import create_app
from kgdemo.ui.serve import serve
from tests.helpers.small import SmallPipeline


@contextmanager
def served(output: Path, endpoint: str = "") -> Iterator[str]:
    """Serve the page; yields its address. What the server says goes to the file.

    Args:
        output: the file.
        endpoint: address of the chat model; none by default.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "tests.helpers.page", str(port), endpoint]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with output.open("w") as stream, subprocess.Popen(command, stdout=stream, stderr=stream, env=environment) as server:
        try:
            _wait_for(address, server, output)
            _servers[address] = server
            yield address
        finally:
            server.kill()  # a stop would wait for the runs that the tests have left


_servers: dict[str, subprocess.Popen] = {}


def server_of(address: str) -> subprocess.Popen:
    """The process that serves the page of this address."""
    return _servers[address]


def _wait_for(address: str, server: subprocess.Popen, output: Path) -> None:
    for _ in range(2400):  # a busy machine is slow; a server that has ended is noticed at once
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            try:
                server.wait(0.2)
            except subprocess.TimeoutExpired:
                continue
    raise RuntimeError(f"the page did not come up: {output.read_text()[-2000:]}")


def main(port: int, endpoint: str) -> None:
    """Serve until ended."""
    start_logging()
    serve(create_app(SmallPipeline(endpoint=endpoint), warm=False), "127.0.0.1", port)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
