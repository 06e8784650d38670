"""What a search for a load line refuses before it sends anything, and how it ends."""

from __future__ import annotations

import os
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import plimsoll
from plimsoll.lab import line_search

NOWHERE = "http://127.0.0.1:1/"


@pytest.mark.parametrize(
    ("limit", "budget_s", "warm_up_s", "least"),
    [("p99=20ms", 0.001, 1.0, "4.8"), ("p99=20ms", 12.0, 50.0, "53.8"), ("p99=2s", 5, 1.0, "12.1")],
)
def test_a_budget_that_holds_no_try_is_refused_with_the_least_one(
    limit: str, budget_s: float, warm_up_s: float, least: str
) -> None:
    with pytest.raises(plimsoll.InputError) as error:
        plimsoll.line(NOWHERE, limit, budget_s=budget_s, warm_up_s=warm_up_s)
    (problem,) = error.value.problems
    assert problem.where == "budget_s"
    assert f"at least {least} s" in problem.hint


def test_the_least_budget_is_enough() -> None:
    with pytest.raises(plimsoll.FrameworkError, match="refuses connections"):
        plimsoll.line(NOWHERE, "p99=20ms", budget_s=4.8)


def test_a_limit_longer_than_those_of_campaigns_is_refused() -> None:
    with pytest.raises(plimsoll.InputError, match="`p99=1h` is too long"):
        plimsoll.line(NOWHERE, "p99=1h", budget_s=20)


def test_ctrl_c_before_the_first_load_is_an_error_of_plimsoll(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("plimsoll.lab.loads.require_response", interrupted)
    with pytest.raises(plimsoll.Interrupted, match="a signal ended the search early"):
        plimsoll.line(NOWHERE, "p99=20ms")


class _Slow(BaseHTTPRequestHandler):
    """Responds after the limit of a line, however few requests there are."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        time.sleep(0.06)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Prints nothing."""


def test_ctrl_c_during_a_search_tells_what_is_known() -> None:
    def interrupted(event: object) -> None:
        if "try 1" in getattr(event, "message", ""):
            os.kill(os.getpid(), signal.SIGINT)

    with ThreadingHTTPServer(("127.0.0.1", 0), _Slow) as server:
        threading.Thread(target=server.serve_forever).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        try:
            with pytest.raises(plimsoll.Interrupted, match=r"undecided, .* p99 ≤ 20 ms failed at"):
                plimsoll.line(url, "p99=20ms", budget_s=6, connections=4, on_event=interrupted)
        finally:
            server.shutdown()


def test_waits_after_failed_tries_end_with_the_budget() -> None:
    budget_s = 6.0
    with ThreadingHTTPServer(("127.0.0.1", 0), _Slow) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            with plimsoll.line(
                f"http://127.0.0.1:{server.server_port}/", "p99=20ms", budget_s=budget_s,
                connections=4,
            ) as found:  # fmt: skip
                assert found.found.searched.elapsed_s < budget_s + line_search.DRAINED_S
        finally:
            server.shutdown()
