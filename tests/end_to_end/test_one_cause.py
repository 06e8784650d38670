"""Faults of the load generator, and of this host, that are really made: none accuses the server.

A server that stalls is accused, and not the load.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from command_line import TOY, TOYS, Ran, run, start
from faults.trials import faulty
from reference_servers import reference_process
from roles import misled_by

pytestmark = pytest.mark.timeout(300)

STOP_S = 1.5
SLOW_MS = 0.5
OVERFLOW = 40
"""Connections at a time that find no place in a queue of one."""


def judged(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {verdict["check"]: verdict for verdict in found["verdicts"]}


def doubting(verdicts: dict[str, dict[str, Any]]) -> set[str]:
    return {name for name, one in verdicts.items() if one["level"] in ("doubtful", "void")}


def stop(pid: int, for_s: float) -> None:
    """Lets a process stand still for so long."""
    os.kill(pid, signal.SIGSTOP)
    time.sleep(for_s)
    os.kill(pid, signal.SIGCONT)


def read(ran: Ran) -> dict[str, dict[str, Any]]:
    return judged(json.loads(ran.stdout))


@pytest.mark.alone
def test_an_engine_that_was_stopped_is_told_and_the_server_is_not_accused(
    reference_server: str, tmp_path: Path
) -> None:
    load = (f"{reference_server}/2048", "-c", 4, "-d", "5s", "--record", tmp_path / "r", "--json")
    running = start("load", *load, folder=tmp_path)
    running.wait_until_it_drives()
    time.sleep(1.5)
    stop(running.engine(), STOP_S)
    given = read(running.end())
    owner = given["driver_uninterrupted"]
    assert owner["level"] == "void"
    assert any("stalled for 1." in one["text"] for one in owner["sentences"])
    assert not doubting(given) & misled_by("long_stall")
    assert "the load generator stalled for 1." in given["steady"]["sentences"][0]["text"]


@pytest.mark.alone
@pytest.mark.parametrize(("stop_s", "is_void"), [(0.012, False), (0.5, True)])
def test_a_stop_beside_a_slow_server_counts_by_what_it_can_have_changed(
    stop_s: float, is_void: bool, tmp_path: Path
) -> None:
    slow = faulty(service_ms=SLOW_MS, serial=True)
    load = ("-c", 64, "-d", "4s", "--timeout", "10s", "--record", "r", "--json")
    with slow.serving() as address:
        running = start("load", address, *load, folder=tmp_path)
        running.wait_until_it_drives()
        time.sleep(1.5)
        stop(running.engine(), stop_s)
        given = read(running.end())
    interrupted = given["driver_uninterrupted"]
    if interrupted["level"] == "doubtful" and given["undisturbed"]["level"] != "sound":
        pytest.skip("other programs stopped it as well")
    assert (interrupted["level"] == "void") is is_void, interrupted
    assert interrupted["level"] != "doubtful"
    assert not doubting(given) & {"driver_headroom"}


def test_requests_that_hang_are_told_first_with_the_percentile_that_they_hide(
    tmp_path: Path,
) -> None:
    load = ("-c", 16, "-d", "3s", "--timeout", "500ms")
    with faulty(service_ms=1, mute_every=28).serving() as address:
        ran = run("load", address, *load, "--json", folder=tmp_path)
        screen = run("load", address, *load, folder=tmp_path)
    given = read(ran)["failures_explained"]
    assert given["level"] == "void"
    assert "p99 is at least 500 ms, not " in given["sentences"][1]["text"]
    assert "why it did not respond" in given["sentences"][0]["remedy"]
    assert "with them p99 is at least 500 ms" in " ".join(screen.stdout.split())


def test_an_engine_that_was_killed_is_one_void_verdict(tmp_path: Path) -> None:
    running = start("run", TOY, *TOYS, "--no-report", folder=tmp_path)
    running.wait_until_it_drives()
    os.kill(running.engine(), signal.SIGKILL)
    assert running.end().code == 5
    (found,) = json.loads(run("judge", "results/toy", "--json", folder=tmp_path).stdout)
    given = judged(found)
    assert doubting(given) == {"trial_completed"}
    assert "the engine was killed by SIGKILL" in given["trial_completed"]["sentences"][0]["text"]
    assert {one["level"] for name, one in given.items() if name != "trial_completed"} == {
        "not_checked"
    }


def test_a_port_that_nobody_listens_on_any_more_is_one_void_verdict(tmp_path: Path) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]

    def answer_once() -> None:
        with listener, listener.accept()[0] as connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    Thread(target=answer_once, daemon=True).start()
    ran = run("load", f"127.0.0.1:{port}", "-c", 4, "-d", "1s", "--json", folder=tmp_path)
    given = read(ran)
    assert ran.code == 1
    assert doubting(given) == {"connection_target_met"}
    sentence = given["connection_target_met"]["sentences"][0]
    assert sentence["text"].startswith("No connection could be opened: connection refused")
    assert sentence["remedy"]


@pytest.fixture
def neighbour() -> Iterator[None]:
    """A listen queue of another program that overflows again and again on this host."""
    ended = Event()
    with socket.create_server(("127.0.0.1", 0), backlog=1) as listener:
        thread = Thread(target=_flood, args=(listener.getsockname(), ended))
        thread.start()
        yield
        ended.set()
        thread.join()


def _flood(address: tuple[str, int], ended: Event) -> None:
    while not ended.is_set():
        with ExitStack() as opened:
            for _ in range(OVERFLOW):
                client = opened.enter_context(socket.socket())
                client.setblocking(False)
                client.connect_ex(address)
            ended.wait(0.4)


def overflows() -> int:
    """How often a listen queue of this host overflowed: TcpExt ListenOverflows."""
    names, values = (
        line.split()
        for line in Path("/proc/net/netstat").read_text().splitlines()
        if line.startswith("TcpExt:")
    )
    return int(values[names.index("ListenOverflows")])


@pytest.mark.alone
@pytest.mark.usefixtures("neighbour")
def test_a_listen_queue_of_another_program_that_overflows_doubts_nothing(
    reference_server: str, tmp_path: Path
) -> None:
    before = overflows()
    load = (f"{reference_server}/2048", "-c", 4, "-d", "2s", "--json")
    given = read(run("load", *load, folder=tmp_path))
    assert overflows() - before > OVERFLOW, "the fault was not made"
    assert given["backlog"]["level"] == "sound"
    assert given["segments_lost"]["level"] in ("sound", "not_checked")


@pytest.mark.alone
@pytest.mark.parametrize("stalls", [True, False])
def test_a_server_that_stalls_is_the_cause_of_what_was_not_sent(
    stalls: bool, tmp_path: Path
) -> None:
    service_time = "800us" if stalls else "5ms"  # 200 of 1,000 requests a second are served then
    with reference_process("--one-at-a-time", "--service-time", service_time) as (address, server):
        asked = ("-c", 4, "-R", 1000, "-d", "4s", "--record", tmp_path / "r", "--json")
        running = start("load", f"{address}/empty", *asked, folder=tmp_path)
        running.wait_until_it_drives()
        if stalls:
            time.sleep(0.5)
            stop(server.pid, STOP_S)
        given = read(running.end())["failures_explained"]
    (sentence, *further) = given["sentences"]
    assert "due but never sent" in sentence["text"]
    assert stalls == any("no connection was free meanwhile" in one["text"] for one in further)
    assert stalls == ("when the server stalled" in sentence["remedy"])
