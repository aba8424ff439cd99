"""What is checked before the page is served."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest

from kgdemo.errors import UserError
from kgdemo.settings import share_of_processors
from kgdemo.ui import serve


def test_a_question_gets_its_share_of_the_processors():
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    code = "import kgdemo.ui.serve as s, torch; print(torch.get_num_threads(), s.takes_idle)"

    def told(**more: str) -> list[str]:
        command = [sys.executable, "-c", code]
        return subprocess.run(
            command, env=environment | more, capture_output=True, text=True, check=True
        ).stdout.split()

    assert told() == [str(share_of_processors()), "True"]
    assert told(OMP_NUM_THREADS="1") == ["1", "False"]


def test_a_used_port_is_told_in_one_sentence_before_anything_is_loaded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(serve, "create_app", lambda: pytest.fail("nothing may be loaded"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(
            SystemExit, match=rf"cannot be served at 127\.0\.0\.1, port {port} .*choose another"
        ) as ended:
            serve.main(["--port", str(port)])
    assert "\n" not in str(ended.value)


def test_an_address_that_is_not_this_machines_is_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KGDEMO_PROFILE", "public")
    with pytest.raises(SystemExit, match=r"cannot be served at 203\.0\.113\.7"):
        serve.main(["--host", "203.0.113.7"])


@pytest.mark.parametrize("written", ["", "0", "65536", "many", "-1", "9" * 5000])
def test_what_is_no_port_is_refused(written: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        serve.main([f"--port={written}"])
    assert "choose a number from 1 to 65535" in capsys.readouterr().err


def test_a_served_page_lets_no_thread_keep_the_interpreter_for_long(monkeypatch: pytest.MonkeyPatch):
    class Page:
        """Fails to start, as a page does whose port has just been taken."""

        def launch(self, **_: object) -> None:
            raise UserError("taken")

    before = sys.getswitchinterval()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    monkeypatch.setattr(serve, "launch_arguments", lambda *_: {})
    try:
        with pytest.raises(UserError):
            serve.serve(Page(), "127.0.0.1", 7860)
        assert sys.getswitchinterval() == pytest.approx(serve.SWITCH)
        assert before > serve.SWITCH
    finally:
        sys.setswitchinterval(before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
