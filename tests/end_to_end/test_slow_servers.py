"""Servers that take their time, or are asked for little: no verdict accuses them of that."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from command_line import run

SLEEPS_S = 0.2


@contextmanager
def sleeping_server(*, closes: bool = False, hangs_from: int = 0) -> Iterator[int]:
    """A server that responds after a sleep, on a port of its own.

    Args:
        closes: Whether it closes each connection after a response.
        hangs_from: From which request on it never responds; 0 for none.
    """
    loop = asyncio.new_event_loop()
    ready: list[int] = []
    servers: list[asyncio.Server] = []
    is_ready, number = threading.Event(), 0

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal number
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                number += 1
                await asyncio.sleep(3600 if 0 < hangs_from <= number else SLEEPS_S)
                ends = b"connection: close\r\n" if closes else b""
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n" + ends + b"\r\nok")
                await writer.drain()
                if closes:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def serve() -> None:
        server = await asyncio.start_server(respond, "127.0.0.1", 0)
        servers.append(server)
        ready.append(server.sockets[0].getsockname()[1])
        is_ready.set()

    async def close() -> None:
        servers[0].close()
        left = asyncio.all_tasks(loop) - {asyncio.current_task(loop)}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        loop.stop()

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(serve())
        loop.run_forever()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert is_ready.wait(10)
    try:
        yield ready[0]
    finally:
        asyncio.run_coroutine_threadsafe(close(), loop)
        thread.join(10)
        loop.close()


def verdicts_of(folder: Path, port: int, *options: str) -> dict[str, dict[str, Any]]:
    """The verdicts of a load on a port, by their checks."""
    done = run("load", f":{port}/", *options, "-o", "json", folder=folder)
    return {one["check"]: one for one in json.loads(done.stdout)["verdicts"]}


def test_a_rate_below_one_request_for_each_connection_starves_none(tmp_path: Path) -> None:
    with sleeping_server() as port:
        given = verdicts_of(tmp_path, port, "-R", "5", "-c", "50", "-d", "3s")
    for check in ("connection_target_met", "evenly_served"):
        assert given[check]["level"] in {"sound", "not_checked"}, given[check]


@pytest.mark.parametrize("options", [("-n", "10", "-c", "4"), ("-n", "3", "-c", "2")])
def test_connections_that_run_out_of_requests_are_not_missed(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    with sleeping_server() as port:
        given = verdicts_of(tmp_path, port, *options)
    for check in ("connection_target_met", "littles_law"):
        assert given[check]["level"] != "void", given[check]


def test_a_window_of_few_response_times_is_too_short(tmp_path: Path) -> None:
    with sleeping_server() as port:
        given = verdicts_of(tmp_path, port, "-c", "4", "-d", "2s")
    assert given["long_enough"]["level"] == "doubtful"
    assert "response times of" in json.dumps(given["long_enough"])


def test_a_server_that_closes_each_connection_has_them_open(tmp_path: Path) -> None:
    with sleeping_server(closes=True) as port:
        given = verdicts_of(tmp_path, port, "-c", "10", "-d", "2s")
    text = json.dumps(given["connection_target_met"])
    assert "one for each response" in text
    assert " 0 of 10 " not in text
    assert given["littles_law"]["level"] != "doubtful", given["littles_law"]


def test_requests_that_hang_until_the_end_are_doubted(tmp_path: Path) -> None:
    with sleeping_server(hangs_from=120) as port:
        given = verdicts_of(tmp_path, port, "-R", "20", "-c", "95", "-d", "10s", "--timeout", "30s")
    assert given["failures_explained"]["level"] == "void"
    said = json.dumps(given["failures_explained"])
    assert "requests had no response when the load ended, after up to " in said
    assert "with them p90 is at least " in said


def test_a_threshold_on_a_percentile_heeds_requests_that_timed_out(tmp_path: Path) -> None:
    limits = ("--fail-if", "p90>500ms", "--fail-if", "p90>1h", "--fail-if", "p25>1h")
    with sleeping_server(hangs_from=20) as port:
        ran = run(
            *("load", f":{port}/", "-c", "4", "-n", "24", "--timeout", "1s", "--json", *limits),
            folder=tmp_path,
        )
    assert ran.code == 7
    least = r"p90>{}, at least 1,000\.000 ms{} \d timeouts\n"
    assert re.search("error: threshold crossed: " + least.format("500ms", " with"), ran.stderr)
    assert re.search("error: undecided: " + least.format("1h", ":"), ran.stderr)
    assert "hint: a timeout that is longer than the threshold" in ran.stderr
    assert "p25" not in ran.stderr
    told = [(one["threshold"], one["crossed"]) for one in json.loads(ran.stdout)["thresholds"]]
    assert told == [("p90>500ms", True), ("p90>1h", None), ("p25>1h", False)]
