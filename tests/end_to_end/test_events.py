"""Loads of events, and of bodies that are invited, against the reference server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import reference_servers
from command_line import Ran, run

pytestmark = pytest.mark.timeout(120)

EVERY_NS = 30_000_000


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with reference_servers.reference() as found:
        yield found


def loaded(tmp_path: Path, *arguments: str) -> Ran:
    ran = run("load", *arguments, folder=tmp_path)
    assert ran.code in (0, 1), ran.said
    return ran


@pytest.mark.parametrize("protocol", [(), ("--http2", "--streams", "2")])
def test_each_event_is_a_row_with_the_time_since_the_one_before_it(
    address: str, tmp_path: Path, protocol: tuple[str, ...]
) -> None:
    url = f"http://{address}/events/1000?every=30"
    options = ("-c", "3", "-d", "600ms", "--events", "--json", "--record", "kept")
    found = json.loads(loaded(tmp_path, url, *options, *protocol).stdout)
    assert found["events"] and found["summary"]["failed"] == 0
    rows = next((tmp_path / "kept").glob("trials/*/requests.parquet"))
    events = pq.read_table(rows).filter(pc.field("outcome") == "ok").to_pylist()
    assert len(events) == found["summary"]["completed"] > 6
    # Nothing is sent before it is due, so few pauses can be shorter, by what others were late.
    pauses = [row["done_ns"] - row["sent_ns"] for row in events if row["due_ns"] == row["sent_ns"]]
    assert sum(pauses) / len(pauses) > EVERY_NS / 3


def test_what_events_are_is_said_wherever_requests_are(address: str, tmp_path: Path) -> None:
    ran = loaded(tmp_path, f"http://{address}/events/50?every=10", "-d", "600ms", "--events", "-v")
    for words in ("events/s", "between events", "each event is timed from the previous one"):
        assert words in ran.said, ran.said
    assert "had 9 bytes" not in ran.said, ran.said


def test_a_response_that_is_no_stream_ends_the_command(address: str, tmp_path: Path) -> None:
    ran = run("load", f"http://{address}/2048", "--events", folder=tmp_path)
    assert ran.code == 4
    assert "`content-type` is `text/plain`, expected `text/event-stream`" in ran.said


def test_bodies_are_sent_when_the_server_has_invited_them(address: str, tmp_path: Path) -> None:
    options = ("-c", "2", "-n", "20", "-b", '{"id":1}', "--expect-continue", "--json")
    found = json.loads(loaded(tmp_path, f"http://{address}/json", *options).stdout)
    assert (found["summary"]["completed"], found["summary"]["failed"]) == (20, 0)
    invited = len("HTTP/1.1 100 Continue\r\n\r\n")
    assert found["summary"]["received_bytes"] >= 20 * invited
