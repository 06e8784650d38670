"""JMeter really run: what it sends, what it writes down, and how it ends when the server does."""

from __future__ import annotations

import json
import re
import signal
import socketserver
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import pytest

from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.load import Load, Stage
from plimsoll.campaign.requests import Exchange, Expected, Request
from plimsoll.drivers.job import DriverCallbacks, DriverJob, DriverResult
from plimsoll.drivers.tools import jmeter
from plimsoll.events import Progress
from plimsoll.intake import READERS, recorded
from plimsoll.intake.recorded import Written
from plimsoll.intake.rows import ImportStats, ReadOptions
from plimsoll.processes.interruption import Interruption
from plimsoll.recording import HOST

pytestmark = [pytest.mark.long, pytest.mark.timeout(300), pytest.mark.usefixtures("jmeter_home")]

S = 1_000_000_000
SEED = 4193
"""With it the first eight requests that a group of threads draws here are of every kind."""

MIX = by_name("mix").exchanges
HOLD_S = 4.0
"""Also on a busy machine there is time to load JMeter's classes and to send some requests."""

HOLD = Load("hold", "closed", (Stage("hold", HOLD_S, 3, 3),), timeout_s=5.0)
STEPS = replace(HOLD, stages=(Stage("ramp", 1.0, 0, 6, 3), Stage("hold", 2.0, 6, 6)))


@dataclass
class Reference:
    """A reference server that runs, and what it counted once it was stopped."""

    process: subprocess.Popen[str]
    address: str

    def stop(self) -> dict[str, int]:
        self.process.send_signal(signal.SIGTERM)
        last = self.process.communicate(timeout=30)[0].strip().splitlines()[-1]
        return json.loads(last)


@pytest.fixture
def reference() -> Generator[Reference]:
    command = [sys.executable, "-m", "plimsoll.reference", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield Reference(process, json.loads(process.stdout.readline())["address"])
        process.kill()


def watch(go_on: Iterator[bool] | None = None) -> DriverCallbacks:
    def progress(_: Progress) -> bool:
        return next(go_on, False) if go_on else True

    return DriverCallbacks(lambda _: None, lambda _: None, progress, Interruption())


def driven(
    load: Load,
    address: str,
    into: Path,
    exchanges: tuple[Exchange, ...] = MIX,
    watching: DriverCallbacks | None = None,
) -> DriverResult:
    assert not jmeter.refuses(load, exchanges)
    order = DriverJob(load, exchanges, address, (), SEED, 0.0, into)
    return jmeter.drive(order, watching or watch())


def taken(found: DriverResult, into: Path) -> Written:
    """What became of the rows that JMeter wrote, read as any recording reads them."""
    assert found.rows is not None
    reader = next(one for one in READERS if one.NAME == found.rows.reader)
    [path] = found.rows.files
    tally = ImportStats(path.name)
    with path.open("rb") as stream:
        rows = {HOST: reader.read(stream, ReadOptions(), tally)}
        written = recorded.merge(rows, into, found.zero_utc_ns)
    assert (tally.broken, tally.left_out) == (0, Counter())
    return written


def test_every_request_is_a_row_and_the_server_counts_as_many(
    reference: Reference, tmp_path: Path
) -> None:
    found = driven(STEPS, reference.address, tmp_path)
    written, counted = taken(found, tmp_path), reference.stop()
    assert found.driver.sent == written.rows == counted["requests_received"] > 0
    assert written.outcomes == {"ok": written.rows}
    assert set(written.kinds) == {exchange.request.name for exchange in MIX}
    assert counted["connections_accepted"] == 6
    assert next(iter(written.first_ns.values())) >= 0, "zero comes before the first request"
    assert [(one.kind, one.start_ns, one.end_ns) for one in found.stages] == [
        ("ramp", 0, S), ("hold", S, 3 * S),
    ]  # fmt: skip
    assert found.driver.ended_by == "schedule"
    assert found.driver.version.startswith("JMeter 5.6.3, ")


def test_without_keep_alive_every_request_has_a_connection(
    reference: Reference, tmp_path: Path
) -> None:
    found = driven(replace(HOLD, keep_alive=False), reference.address, tmp_path)
    written, counted = taken(found, tmp_path), reference.stop()
    assert counted["connections_accepted"] == counted["requests_received"] == written.rows


def test_a_connection_is_closed_after_as_many_requests_as_asked(
    reference: Reference, tmp_path: Path
) -> None:
    load = replace(HOLD, requests_per_connection=5, think_time_s=0.02)
    found = driven(load, reference.address, tmp_path)
    written, counted = taken(found, tmp_path), reference.stop()
    assert written.outcomes == {"ok": counted["requests_received"]}
    fewest = written.rows / 5
    assert fewest <= counted["connections_accepted"] <= fewest + load.peak_connections
    assert written.rows <= load.peak_connections * (HOLD_S / 0.02 + 1), (
        "each thinks before the next"
    )


def test_requests_go_out_as_our_engine_sends_them(tmp_path: Path) -> None:
    telling = b'\r\n lines \n\t<a href="x">&amp;</a> ]]> \xc3\xa9\xf0\x9f\x98\x80 $ %41 + \\ \r\n'
    odd = Request("odd & <named>", "PUT", "/a%20b?c=%22d%22&e=+", (("X-Odd", 'a"&<b>'),), telling)
    exchanges = (*MIX, Exchange(replace(odd, weight=2.5), Expected(status=(200, 299))))
    with listener() as server:
        found = driven(HOLD, f"127.0.0.1:{server.server_address[1]}", tmp_path, exchanges)
        seen = dict(server.seen)
    assert found.driver.sent == sum(server.count.values()), server.count
    for exchange in exchanges:
        request = exchange.request
        head, body = seen[f"{request.method} {request.target} HTTP/1.1"]
        assert body == request.body
        assert all(f"{name}: {value}" in head for name, value in request.headers)
    assert set(taken(found, tmp_path).kinds) == {one.request.name for one in exchanges}


def test_wrong_answers_are_failures_of_their_kind(reference: Reference, tmp_path: Path) -> None:
    plain = by_name("2048").exchanges[0].request
    wrong = (
        Exchange(replace(plain, name="long"), Expected(length_bytes=2047)),
        Exchange(replace(plain, name="absent", target="/nowhere"), Expected()),
        Exchange(replace(plain, name="meant", target="/nowhere"), Expected(status=(400, 499))),
    )
    written = taken(driven(HOLD, reference.address, tmp_path, wrong), tmp_path)
    assert set(written.outcomes) == {"wrong_length", "wrong_status", "ok"}


def test_a_port_that_nobody_listens_on_refuses_every_connection(tmp_path: Path) -> None:
    with listener() as server:
        port = server.server_address[1]
    load = replace(HOLD, stages=(Stage("hold", 1.0, 1, 1),), think_time_s=0.05)
    written = taken(driven(load, f"127.0.0.1:{port}", tmp_path), tmp_path)
    assert set(written.outcomes) == {"connect_refused"}


def test_a_server_that_dies_ends_the_load_and_its_rows_are_kept(
    reference: Reference, tmp_path: Path
) -> None:
    def until_it_answered() -> Iterator[bool]:
        while not (tmp_path / jmeter.ROWS).exists() or not (tmp_path / jmeter.ROWS).stat().st_size:
            yield True
        reference.process.kill()
        yield True
        yield True

    load = replace(HOLD, stages=(Stage("hold", 60.0, 3, 3),), think_time_s=0.01)
    found = driven(load, reference.address, tmp_path, watching=watch(until_it_answered()))
    written = taken(found, tmp_path)
    assert found.driver.ended_by == "interrupt"
    assert found.driver.sent in (None, written.rows)
    assert found.stages[-1].end_ns < 60 * S
    assert written.outcomes["ok"] > 0
    assert written.outcomes["connect_refused"] > 0


class Listener(socketserver.ThreadingTCPServer):
    """Answers 200 with 2048 bytes to everything, and keeps one request of each kind."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.seen: dict[str, tuple[str, bytes]] = {}
        self.count: Counter[str] = Counter()
        self.lock = threading.Lock()


class _Connection(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while (asked := _asked(self.rfile)) is not None:
            server: Any = self.server
            first = asked[0].partition("\r\n")[0]
            with server.lock:
                server.count[first] += 1
                server.seen[first] = asked
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2048\r\n\r\n" + b"A" * 2048)


def _asked(stream: BufferedIOBase) -> tuple[str, bytes] | None:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = stream.readline()
        if not line:
            return None
        head += line
    length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
    return head.decode(), stream.read(int(length[1])) if length else b""


@contextmanager
def listener() -> Generator[Listener]:
    with Listener() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
