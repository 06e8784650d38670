"""wrk, ab and h2load really run: what they send, and what they count beside the server's own count.

What is known of each: requests that are in flight at the end were received by the server and are in
no count of the tool, one for each connection, or two where it ends by asking once more.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType

import pytest

from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.load import Load, Stage
from plimsoll.campaign.requests import Exchange
from plimsoll.drivers.job import DriverCallbacks, DriverJob, DriverResult
from plimsoll.drivers.tools import ab, h2load, wrk
from plimsoll.errors import DriverFailed
from plimsoll.processes.interruption import Interruption

pytestmark = pytest.mark.timeout(180)

CONNECTIONS = 8
HOLD = Load("x", "closed", (Stage("hold", 1.0, CONNECTIONS, CONNECTIONS),), timeout_s=5.0)
GET, POST = by_name("2048").exchanges, by_name("json").exchanges
MIX, FORM = by_name("mix").exchanges, by_name("postArgsMulti2048").exchanges


@pytest.fixture(params=[wrk, ab, h2load], ids=lambda tool: tool.NAME)
def tool(request: pytest.FixtureRequest) -> ModuleType:
    return here(request.param)


def here(tool: ModuleType) -> ModuleType:
    lacking = tool.needs()
    if lacking is not None:
        pytest.skip(f"{lacking.message}: {lacking.hint}")
    return tool


@dataclass
class Reference:
    """A reference server that runs, and what it counted once it was stopped."""

    process: subprocess.Popen[str]
    address: str

    def stop(self) -> dict[str, int]:
        self.process.send_signal(signal.SIGTERM)
        return json.loads(self.process.communicate(timeout=30)[0].strip().splitlines()[-1])


@pytest.fixture
def reference() -> Generator[Reference]:
    command = [sys.executable, "-m", "plimsoll.reference", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield Reference(process, json.loads(process.stdout.readline())["address"])
        process.kill()


@dataclass(frozen=True)
class Received:
    """What a server received of one request."""

    method: str
    target: str
    content_type: str
    body: bytes


@contextmanager
def noting() -> Iterator[tuple[str, Counter[Received]]]:
    """A server that notes what it is sent."""
    seen: Counter[Received] = Counter()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            kind = self.headers.get("Content-Type") or ""
            seen[Received(self.command, self.path, kind, self.rfile.read(length))] += 1
            self.send_response(200)
            self.send_header("Content-Length", "2")
            if self.headers.get("Connection", "").lower() == "keep-alive":
                self.send_header("Connection", "keep-alive")
            self.end_headers()
            self.wfile.write(b"ok")

        do_POST = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

        def handle(self) -> None:
            try:
                super().handle()
            except (ConnectionError, ValueError):
                return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}", seen
        finally:
            server.shutdown()
            thread.join()


def driven(
    tool: ModuleType,
    address: str,
    into: Path,
    load: Load = HOLD,
    exchanges: tuple[Exchange, ...] = GET,
) -> DriverResult:
    assert not tool.refuses(load, exchanges)
    watch = DriverCallbacks(lambda _: None, lambda _: None, lambda _: True, Interruption())
    return tool.drive(DriverJob(load, exchanges, address, (), 7, 0.0, into), watch)


def kinds(exchanges: tuple[Exchange, ...]) -> set[tuple[str, str, str, bytes]]:
    return {
        (
            one.request.method,
            one.request.target,
            dict(one.request.headers).get("Content-Type", ""),
            one.request.body,
        )
        for one in exchanges
    }


def seen_kinds(seen: Counter[Received]) -> set[tuple[str, str, str, bytes]]:
    return {(one.method, one.target, one.content_type, one.body) for one in seen}


def test_a_tool_counts_as_many_answers_as_the_server_gave(
    tool: ModuleType, reference: Reference, tmp_path: Path
) -> None:
    figures = driven(tool, reference.address, tmp_path).figures
    own = reference.stop()
    assert figures is not None
    assert figures.requests is not None
    assert not figures.failures
    assert not figures.wrong_responses
    left = own["responses_sent"] - figures.requests
    assert 0 <= left <= 2 * CONNECTIONS + 1, (figures, own)
    assert figures.connections == CONNECTIONS


def test_a_tool_says_its_version(tool: ModuleType) -> None:
    assert tool.version()[0].isdigit()


@pytest.mark.parametrize("exchanges", [GET, POST, FORM], ids=["get", "json", "multipart"])
def test_a_tool_sends_the_request_it_is_given_to_the_byte(
    tool: ModuleType, exchanges: tuple[Exchange, ...], tmp_path: Path
) -> None:
    load = replace(HOLD, stages=(Stage("hold", 1.0, 2, 2),))
    with noting() as (address, seen):
        driven(tool, address, tmp_path, load, exchanges)
    assert seen_kinds(seen) == kinds(exchanges)


def test_wrk_sends_every_kind_of_a_mix_to_the_byte_and_evenly(tmp_path: Path) -> None:
    load = replace(HOLD, stages=(Stage("hold", 1.0, 2, 2),))
    with noting() as (address, seen):
        driven(here(wrk), address, tmp_path, load, MIX)
    assert seen_kinds(seen) == kinds(MIX)
    total = seen.total()
    for count in seen.values():
        assert abs(count / total - 1 / 6) < 5 * (1 / 6 * 5 / 6 / total) ** 0.5


@pytest.mark.parametrize("driver", [wrk, ab], ids=lambda tool: tool.NAME)
def test_without_keep_alive_every_request_has_a_connection_of_its_own(
    driver: ModuleType, reference: Reference, tmp_path: Path
) -> None:
    load = replace(HOLD, keep_alive=False, stages=(Stage("hold", 1.0, 2, 2),))
    figures = driven(here(driver), reference.address, tmp_path, load).figures
    own = reference.stop()
    assert figures is not None
    assert figures.requests is not None
    assert 0 <= own["connections_accepted"] - figures.requests <= 2 * CONNECTIONS


def test_wrk_pipelines_as_many_requests_as_it_is_told(reference: Reference, tmp_path: Path) -> None:
    load = replace(HOLD, pipeline=16)
    figures = driven(here(wrk), reference.address, tmp_path, load).figures
    own = reference.stop()
    assert figures is not None
    assert figures.requests is not None
    assert 0 <= own["responses_sent"] - figures.requests <= 2 * 16 * CONNECTIONS


def test_ab_is_not_ended_by_its_own_limit_of_50000(reference: Reference, tmp_path: Path) -> None:
    load = replace(HOLD, stages=(Stage("hold", 2.0, CONNECTIONS, CONNECTIONS),))
    run = driven(here(ab), reference.address, tmp_path, load)
    assert run.figures is not None
    assert run.driver.ended_by == "schedule"
    assert (run.figures.duration_s or 0) >= 1.9


@pytest.mark.parametrize("driver", [ab, h2load], ids=lambda tool: tool.NAME)
def test_a_number_of_requests_ends_it(
    driver: ModuleType, reference: Reference, tmp_path: Path
) -> None:
    load = replace(HOLD, request_limit=500, stages=(Stage("hold", 60.0, 4, 4),))
    run = driven(here(driver), reference.address, tmp_path, load)
    own = reference.stop()
    assert run.driver.ended_by == "request_limit"
    assert run.figures is not None
    assert run.figures.requests == 500
    assert 0 <= own["responses_sent"] - 500 <= 4


def test_h2load_leaves_its_warm_up_out(reference: Reference, tmp_path: Path) -> None:
    stages = (Stage("warm_up", 1.0, 4, 4), Stage("hold", 1.0, 4, 4))
    run = driven(here(h2load), reference.address, tmp_path, replace(HOLD, stages=stages))
    own = reference.stop()
    assert run.figures is not None
    assert run.figures.requests is not None
    assert run.figures.duration_s == 1.0
    assert run.figures.requests < own["responses_sent"] - 4
    assert [stage.kind for stage in run.stages] == ["warm_up", "hold"]


def test_wrk_opens_fewer_connections_than_asked_where_threads_do_not_divide_them(
    reference: Reference, tmp_path: Path
) -> None:
    load = replace(HOLD, threads=3, stages=(Stage("hold", 1.0, 50, 50),))
    run = driven(here(wrk), reference.address, tmp_path, load)
    own = reference.stop()
    assert run.driver.connections_requested == 50
    assert run.figures is not None
    assert run.figures.connections == 48
    assert 48 <= own["connections_accepted"] <= 49


def test_a_server_that_is_not_there_is_a_failure_or_counted_as_one(
    tool: ModuleType, tmp_path: Path
) -> None:
    load = replace(HOLD, stages=(Stage("hold", 1.0, 2, 2),))
    try:
        run = driven(tool, "127.0.0.1:9", tmp_path, load)
    except DriverFailed as error:
        assert f"`{tool.NAME}` ended with" in error.message
        return
    assert run.figures is not None
    assert not run.figures.requests or run.figures.failures


def test_a_server_that_is_not_there_fails_every_request_of_a_number_of_h2load(
    tmp_path: Path,
) -> None:
    load = replace(HOLD, request_limit=20, stages=(Stage("hold", 1.0, 2, 2),))
    figures = driven(here(h2load), "127.0.0.1:9", tmp_path, load).figures
    assert figures is not None
    assert (figures.requests, figures.failures) == (0, {"errored": 20})


def test_processor_time_and_memory_of_a_tool_are_known(
    tool: ModuleType, reference: Reference, tmp_path: Path
) -> None:
    began_s = time.monotonic()
    driver = driven(tool, reference.address, tmp_path).driver
    passed_s = time.monotonic() - began_s
    assert driver.cpu_s is not None
    assert 0 < driver.cpu_s <= passed_s * (os.cpu_count() or 1)
    assert driver.peak_rss_bytes is not None
    assert driver.peak_rss_bytes > 1 << 20
