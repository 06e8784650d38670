"""`compare` with servers that are really started and take turns."""

from __future__ import annotations

import json
import math
import shlex
import sys
import time
from pathlib import Path

import jsonschema
import pytest

import plimsoll
from command_line import CHECKOUT, Ran, run, start
from plimsoll.campaign.load import Load
from plimsoll.comparison import turn_pairs
from plimsoll.lab import comparing

SCHEMA = CHECKOUT / "docs" / "schemas" / "compare-1.json"

SERVER = """
import os, selectors, socket, sys

work, status = int(sys.argv[1]), sys.argv[2]
answer = f"HTTP/1.1 {status} X\\r\\nContent-Length: 2\\r\\n\\r\\nok".encode()
ready = selectors.DefaultSelector()
listener = socket.create_server((os.environ["HOST"], int(os.environ["PORT"])), backlog=512)
ready.register(listener, selectors.EVENT_READ)
asked = 0
while True:
    for key, _ in ready.select():
        if key.fileobj is listener:
            ready.register(listener.accept()[0], selectors.EVENT_READ)
            continue
        try:
            got = key.fileobj.recv(65536)
        except ConnectionError:
            got = b""
        if not got:
            ready.unregister(key.fileobj)
            key.fileobj.close()
            continue
        asked += 1
        for _ in range(work):
            pass
        if status == "500" and asked == 1:
            key.fileobj.sendall(answer.replace(b"500", b"200"))
            continue
        key.fileobj.sendall(answer)
"""
"""A server that does so much for each request; with 500 it is right once, then wrong."""

pytestmark = pytest.mark.long

TURN_S = 0.1
"""Turns of these servers; what their lengths have to do with the answer is not looked at here."""

QUICK = ("--warm-up", "250ms", "-c", "16", "--json")


@pytest.fixture
def server(tmp_path: Path) -> Path:
    file = tmp_path / "server.py"
    file.write_text(SERVER, encoding="utf-8")
    return file


def command(server: Path, work: int = 0, status: int = 200) -> str:
    return shlex.join(["exec", sys.executable, str(server), str(work), str(status)])


def counting(server: Path, file: Path, after: str) -> Path:
    """The server, which counts the connections that it has `taken`, and does something after each.

    One load has 16 of them and checks of the contract a few; those of a second one are TOO_MANY.
    """
    text = server.read_text(encoding="utf-8")
    accepting = "            ready.register(listener.accept()[0], selectors.EVENT_READ)\n"
    assert accepting in text
    counted = f"{accepting}            taken += 1\n            {after}\n"
    changed = text.replace(accepting, counted).replace("asked = 0", "asked = taken = 0")
    file.write_text(f"TOO_MANY = 28\n{changed}", encoding="utf-8")
    return file


@pytest.fixture
def short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "TURN_S", TURN_S)


def compared(folder: Path, a: str, b: str, *options: str) -> Ran:
    return run("compare", "--a", a, "--b", b, *QUICK, *options, folder=folder)


@pytest.mark.usefixtures("short_turns")
@pytest.mark.alone
@pytest.mark.timeout(300)
def test_a_server_that_works_ten_times_as_much_is_slower(server: Path, tmp_path: Path) -> None:
    one, other = command(server), command(server, 4000)
    ran = compared(tmp_path, one, other, "--budget", "120s", "--max-regression", "5%")
    found = json.loads(ran.stdout)
    jsonschema.validate(found, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert (found["answer"], found["limit"], ran.code) == ("slower", "crossed", 7)
    assert found["cpu_per_request"]["low"] > 1
    assert "B loses more than 5 %" in ran.said


@pytest.mark.timeout(300)
def test_at_a_rate_a_server_that_works_more_costs_more(server: Path, tmp_path: Path) -> None:
    one, other = command(server), command(server, 4000)
    options = ("--rate", "500", "--budget", "120s", "--max-regression", "20%")
    ran = compared(tmp_path, one, other, *options, "--metric", "cpu_per_request")
    found = json.loads(ran.stdout)
    jsonschema.validate(found, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert (found["answer"], found["witness"]) == ("slower", "cpu_per_request")
    assert (found["limit"], ran.code, found["rate_per_s"]) == ("crossed", 7, 500)
    assert found["a"]["level"] != "void"
    assert found["answers"]["cpu_per_request"] == "slower"
    assert found["throughput"]["ratio"] == pytest.approx(1.0, rel=0.05)
    assert found["p99"] is not None
    assert "CPU time per request" in ran.said


@pytest.mark.usefixtures("short_turns")
def test_one_group_decides_nothing(server: Path, tmp_path: Path) -> None:
    # A fifth takes fewer groups than there may be, however much so short turns scatter.
    ran = compared(tmp_path, command(server), command(server), "--budget", "1s", "--until", "20%")
    found = json.loads(ran.stdout)
    assert (found["answer"], found["groups"], ran.code) == ("undecided", 1, 0)
    assert found["throughput"]["holds_for"] == "these_processes"
    assert found["more_s"] > 0


def test_servers_that_respond_fast_have_shorter_turns_in_the_same_time(
    server: Path, tmp_path: Path
) -> None:
    def rounds(work: int) -> int:
        both = command(server, work)
        return json.loads(compared(tmp_path, both, both, "--budget", "1s").stdout)["rounds"]

    # 16 connections that wait for some milliseconds of work each wait for 16 times as long.
    assert rounds(0) > 2 * rounds(150_000)


@pytest.mark.alone
def test_both_servers_also_work_side_by_side_where_a_request_costs_what_it_costs_alone(
    server: Path,
) -> None:
    found = plimsoll.compare(
        command(server), command(server, 4000), commands=True, budget_s=1.0, connections=16
    ).compared
    a, b = ([one for one in found.side_by_side if one.entry == entry] for entry in "AB")
    assert len(a) == len(b) >= 1  # turns are longer where responses are slow
    for one, other in zip(a, b, strict=True):
        assert abs(one.start_ns - other.start_ns) < one.duration_ns / 2
        assert one.requests > other.requests > 0
        assert one.failures == other.failures == 0
    beside = found.difference.cpu_per_request
    alone = turn_pairs.groups(found.turns, turn_pairs.cpu_per_request)
    assert beside is not None
    assert beside.value == pytest.approx(math.exp(alone[0].total), rel=0.3)
    # The load of the faster one ends with a turn that the other does not have.
    assert 0 <= len(found.turns) - 2 * found.difference.rounds <= 1


def test_a_server_that_ends_while_both_work_is_a_framework_that_failed(
    server: Path, tmp_path: Path
) -> None:
    few = counting(server, tmp_path / "few.py", "taken < TOO_MANY or sys.exit(9)")
    files = ("--junit", "a.xml", "--markdown", "a.md")
    ran = compared(tmp_path, command(server), command(few), "--budget", "1s", *files)
    assert ran.code == 4
    assert "error: B: " in ran.said
    assert "exited with code 9" in ran.said
    assert "server.log" not in ran.said
    assert '<error message="B: ' in (tmp_path / "a.xml").read_text(encoding="utf-8")
    assert (tmp_path / "a.md").read_text(encoding="utf-8").startswith("**Not measured: B: ")


def test_what_a_server_counts_beside_its_recorded_load_is_known() -> None:
    found = plimsoll.compare(
        "reference", "reference", budget_s=1.0, warm_up_s=1.5, connections=8
    ).compared
    assert found.difference.groups == 1
    assert "counters_agree" not in {one.worst.check for one in found.doubts}


@pytest.mark.usefixtures("short_turns")
def test_a_server_that_fails_is_not_compared_and_crosses_a_limit(
    server: Path, tmp_path: Path
) -> None:
    sides = command(server), command(server, status=500)
    ran = compared(tmp_path, *sides, "--budget", "60s", "--max-regression", "50%")
    found = json.loads(ran.stdout)
    assert (found["answer"], found["witness"]) == ("undecided", None)
    assert found["b"]["failure_ratio"] > 0.9
    assert (found["limit"], ran.code) == ("crossed", 7)
    assert "of B's requests failed, and 0 % of A's: that crosses a limit of 50 %" in ran.said


def test_a_server_that_does_not_stop_is_named(server: Path, tmp_path: Path) -> None:
    stubborn = tmp_path / "stubborn.py"
    ignoring = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    stubborn.write_text(ignoring + server.read_text(encoding="utf-8"), encoding="utf-8")
    options = ("--budget", "1s", "--markdown", "a.md")
    ran = compared(tmp_path, command(server), command(stubborn), *options)
    found = json.loads(ran.stdout)
    assert (found["a"]["killed_starts"], found["b"]["killed_starts"]) == (0, 1)
    said = (tmp_path / "a.md").read_text(encoding="utf-8")
    assert "- B did not stop on SIGTERM and was killed after 10 s, at its start." in said


def test_a_server_that_waits_for_delayed_acks_is_named(server: Path, tmp_path: Path) -> None:
    text = server.read_text(encoding="utf-8")
    once = "        key.fileobj.sendall(answer)\n"
    assert once in text
    in_parts = tmp_path / "in_parts.py"
    parts = (  # the client may close at the end of the load, between both
        "        with contextlib.suppress(ConnectionError):\n"
        "            key.fileobj.sendall(answer[:-2])\n"
        "            key.fileobj.sendall(answer[-2:])\n"
    )
    in_parts.write_text("import contextlib\n" + text.replace(once, parts), encoding="utf-8")
    ran = compared(tmp_path, command(server), command(in_parts), "--budget", "1s")
    found = json.loads(ran.stdout)
    jsonschema.validate(found, json.loads(SCHEMA.read_text(encoding="utf-8")))
    (doubt,) = (one for one in found["b"]["doubts"] if one["check"] == "delayed_ack")
    assert (doubt["level"], doubt["starts"]) == ("doubtful", 1)
    assert "delayed ACK" in doubt["text"]
    assert "delayed_ack" not in [one["check"] for one in found["a"]["doubts"]]


def test_a_command_that_ends_is_a_framework_that_failed(server: Path, tmp_path: Path) -> None:
    ran = compared(tmp_path, command(server), "exit 3", "--budget", "60s")
    assert ran.code == 4
    assert "exited with code 3" in ran.said


def test_ctrl_c_leaves_nothing_running(server: Path, tmp_path: Path) -> None:
    sides = ("--a", command(server), "--b", command(server))
    here = {"TMPDIR": str(tmp_path)}
    running = start("compare", *sides, "--budget", "300s", folder=tmp_path, environment=here)
    running.wait_until_it_drives()
    running.press_ctrl_c()
    assert running.end().code == 130
    assert running.leaves_nothing()


def test_ctrl_c_does_not_wait_for_a_server_that_hangs_while_both_work(
    server: Path, tmp_path: Path
) -> None:
    hung = tmp_path / "hung"
    hangs = counting(server, tmp_path / "hangs.py", f"taken < TOO_MANY or open({str(hung)!r}, 'w')")
    once, text = "        asked += 1\n", hangs.read_text(encoding="utf-8")
    assert once in text
    silent = "        if taken >= TOO_MANY:\n            continue\n"
    hangs.write_text(text.replace(once, once + silent), encoding="utf-8")
    sides = ("--a", command(server), "--b", command(hangs), "-c", "16", "--warm-up", "250ms")
    here = {"TMPDIR": str(tmp_path)}
    running = start("compare", *sides, "--budget", "300s", folder=tmp_path, environment=here)
    running.wait_until(hung.exists)
    pressed_s = time.monotonic()
    running.press_ctrl_c()
    assert running.end().code == 130
    # Its requests would end by their timeout.
    assert time.monotonic() - pressed_s < Load.timeout_s
    assert running.leaves_nothing()
