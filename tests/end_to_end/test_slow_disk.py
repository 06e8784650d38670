"""A disk that cannot keep up: what is lost is counted and said, and the trial is void."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from command_line import MARK, remedies_of, start, text_of
from small_servers import eventually
from stopped_threads import stopped, thread_of

pytestmark = [pytest.mark.alone, pytest.mark.timeout(300)]

WRITER = "plimsoll-writer"
"""The engine's thread that writes rows to disk."""

LOAD_S = 3


def test_rows_that_the_disk_did_not_take_are_counted_and_the_trial_is_void(
    reference_server: str, tmp_path: Path
) -> None:
    # Sixteen mebibytes are held back before a row is lost: requests must come fast.
    running = start(
        "load", f"{reference_server}/empty", "-c", 16, "--pipeline", 64, "-d", f"{LOAD_S}s",
        "--json", folder=tmp_path,
    )  # fmt: skip
    mark = f"{MARK}={running.mark}"
    assert eventually(lambda: thread_of(mark, WRITER) is not None), running.stderr
    writer = thread_of(mark, WRITER)
    assert writer is not None
    with stopped(writer):
        time.sleep(LOAD_S + 1)
    ran = running.end()
    found = json.loads(ran.stdout)
    lost = found["driver"]["requests_lost_by_recorder"]
    if not lost:
        pytest.skip(f"this host is too slow to outrun a disk: {found['summary']['completed']}")
    assert (ran.code, found["level"]) == (1, "void")
    (verdict,) = (one for one in found["verdicts"] if one["check"] == "conservation")
    assert verdict["level"] == "void"
    assert f"{lost:,} requests could not be written fast enough" in text_of(verdict)
    assert "Write to a faster disk, or use a lower load" in remedies_of(verdict)
