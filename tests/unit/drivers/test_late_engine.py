"""An engine that is late when its load begins or ends: its own time, and no error of a count.

Its whole process is stopped, as where others have all cores. Its requests take most of its time to
read, so that it is most often stopped between one response and the next.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.load import Load, Stage
from plimsoll.drivers import records
from plimsoll.drivers.job import DriverCallbacks, DriverJob, DriverResult, LoadPart
from plimsoll.drivers.tools import plimsoll as engine
from plimsoll.processes import process_table
from plimsoll.processes.interruption import Interruption

pytestmark = pytest.mark.timeout(120)

S = 1_000_000_000
LENGTH_S = 1.5
LEAD_S = 3.0
"""From the order to the zero of a load, by which its threads wait for it."""
STOP_S = 0.6
SHARE = 0.5
"""Of a stop, at least so much lies on the far side of its instant, whatever else the host does."""


@pytest.fixture(scope="module")
def reference() -> Iterator[str]:
    """Address of a reference server."""
    command = [sys.executable, "-m", "plimsoll.reference", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["address"]
        process.kill()


@pytest.fixture
def job(reference: str, tmp_path: Path) -> DriverJob:
    return DriverJob(
        load=Load("x", "closed", (Stage("hold", LENGTH_S, 64, 64),), timeout_s=5.0),
        exchanges=by_name("32768").exchanges,
        address=reference,
        cores=(),
        seed=5,
        body_sample_ratio=1.0,
        into=tmp_path,
    )


@contextmanager
def stopped_at(after_s: float) -> Iterator[DriverCallbacks]:
    """What to watch a load with, so that its engine stops for a while so long after its zero."""
    root: list[int] = []
    stopping: list[threading.Thread] = []

    def stop(zero_ns: int) -> None:
        time.sleep(max(zero_ns / S + after_s - time.monotonic(), 0))
        pids = [one.pid for one in process_table.descendants(root[0]) if not one.zombie]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(STOP_S)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)

    def begin(zero_ns: int) -> None:
        stopping.append(threading.Thread(target=stop, args=(zero_ns,)))
        stopping[0].start()

    yield DriverCallbacks(root.append, begin, lambda progress: True, Interruption())
    stopping[0].join()


def driven(job: DriverJob, after_s: float) -> DriverResult:
    start_ns = time.monotonic_ns() + round(LEAD_S * S)
    with stopped_at(after_s) as watch:
        return engine.drive(replace(job, part=LoadPart(0, job.threads, start_ns)), watch)


def test_the_late_begin_of_a_load_is_a_stall_of_the_load_generator(job: DriverJob) -> None:
    result = driven(job, -STOP_S / 2)
    least_s = STOP_S * SHARE / 2
    assert result.driver.longest_pause_ns is not None
    assert result.driver.longest_pause_ns >= least_s * S
    told = [one.value for one in result.readings if one.quantity == "longest_pause_s"]
    assert told[0] >= least_s


def in_flight(job: DriverJob, result: DriverResult) -> tuple[float, float]:
    """Requests in flight × seconds, of the whole load: by the rows, and by the readings."""
    rows = np.fromfile(job.into / "requests.bin", records.record_dtype("requests"))
    rows = rows[rows["sent_ns"] != np.iinfo(np.uint64).max]
    # What was due before the end may be sent, or read, after it.
    sent_ns, done_ns = (np.minimum(rows[name], LENGTH_S * S) for name in ("sent_ns", "done_ns"))
    by_rows = float((done_ns - sent_ns).sum()) / S
    told = [one for one in result.readings if one.quantity == "in_flight_mean"]
    zero_ns = result.zero_monotonic_ns
    ends_s = [min((one.at_ns - zero_ns) / S, LENGTH_S) for one in told]
    lengths_s = [end - start for start, end in pairwise([0.0, *ends_s])]
    by_readings = sum(n * one.value for n, one in zip(lengths_s, told, strict=True))
    return by_rows, by_readings


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("after_s", [-STOP_S / 2, LENGTH_S / 2, LENGTH_S - STOP_S / 2])
def test_an_engine_that_was_stopped_counts_requests_in_flight_as_its_rows_do(
    job: DriverJob, threads: int, after_s: float
) -> None:
    job = replace(job, threads=threads)
    by_rows, by_readings = in_flight(job, driven(job, after_s))
    assert by_rows == pytest.approx(by_readings, rel=0.001)
