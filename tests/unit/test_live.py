"""What a run says of itself, and whether it still goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from plimsoll import live
from plimsoll.events import Progress
from plimsoll.live import LiveRun, LiveSecond

NOW_S = 1_800_000_000.0
PROGRESS = Progress(1.0, "hold", 4, 4, 3, 1000.0, 1000, {"ok": 990, "timed_out": 10})


def run(**changes: object) -> LiveRun:
    known = LiveRun(
        live.this_process(),
        NOW_S,
        NOW_S - 60,
        "plimsoll run quick",
        (0, 1),
        ("a",),
        3,
        12,
        "driving",
        10.0,
        123.4,
        5,
        PROGRESS,
        "a",
        LiveSecond(1.0, "a", 1000.0, 0.5, None, 1e6, None),
        (LiveSecond(1.0, "a", 1000.0, 0.5, None, 1e6, None),),
    )
    return replace(known, **changes)  # pyright: ignore[reportArgumentType]


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    live.keep(run(), tmp_path)
    assert live.read(tmp_path) == run()
    live.remove(tmp_path)
    assert live.read(tmp_path) is None
    assert [*tmp_path.iterdir()] == []


def test_a_file_that_is_damaged_or_of_another_format_is_none(tmp_path: Path) -> None:
    live.keep(run(format=live.FORMAT + 1), tmp_path)
    assert live.read(tmp_path) is None
    (tmp_path / live.FILE).write_text('{"writer": ')
    assert live.read(tmp_path) is None


def test_where_it_cannot_be_written_nothing_happens(tmp_path: Path) -> None:
    live.keep(run(), tmp_path / "missing")
    assert not (tmp_path / "missing").exists()


def test_a_run_of_a_process_that_lives_goes_on_however_long_it_said_nothing() -> None:
    assert run().goes_on(NOW_S + 10 * live.SILENT_S)


def test_a_run_of_a_process_that_was_killed_has_stopped_at_once() -> None:
    code = (
        "from plimsoll import live; print(live.this_process().started_ticks, flush=True); input()"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        ticks = int(other.stdout.readline())
        writer = replace(live.this_process(), pid=other.pid, started_ticks=ticks)
        assert run(writer=writer).goes_on(NOW_S)
        other.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)  # it stays, as a zombie
        assert not run(writer=writer).goes_on(NOW_S)


def test_a_later_process_of_the_same_number_is_another_one() -> None:
    writer = replace(live.this_process(), started_ticks=1)
    assert not run(writer=writer).goes_on(NOW_S)


def test_on_another_host_the_last_sign_decides() -> None:
    elsewhere = run(writer=replace(live.this_process(), host="elsewhere"))
    assert elsewhere.goes_on(NOW_S + live.SILENT_S - 1)
    assert not elsewhere.goes_on(NOW_S + live.SILENT_S + 1)
