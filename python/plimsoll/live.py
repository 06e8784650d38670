"""Live: what a run says of itself while it goes on, for whoever looks on.

The run keeps one small file, `live.json`, in the folder of its results, replaces it as a whole once
a second, and removes it at its end. A file that is still there although its writer is gone is that
of a run that was killed.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from plimsoll.events import Progress
from plimsoll.processes import process_table

FILE = "live.json"
_PARTIAL = f".{FILE}.partial"

FORMAT = 1
"""Format of the file; a reader ignores others."""

SILENT_S = 10.0
"""Age of the last sign, in seconds, from which a run on another host counts as stopped."""

MOST_SECONDS = 600
"""Rows of `LiveRun.seconds`; in longer loads they are farther apart."""


@dataclass(frozen=True)
class Writer:
    """The process that conducts a run, as it can be told from all others.

    Attributes:
        pid: Its process id.
        started_ticks: Clock ticks from boot to its start.
        host: This boot of its host, and what its process ids are counted in.
    """

    pid: int
    started_ticks: int
    host: str


@dataclass(frozen=True)
class LiveSecond:
    """One second, or one turn, of the load that runs.

    Attributes:
        at_s: Its end, in seconds of the load.
        trial: Id of the trial.
        throughput_per_s: Complete responses per second; None where the driver does not say.
        server_busy_cores: Cores that the server kept busy; None where it is not known.
        driver_busy_cores: The same of the driver.
        p50_ns: Median of its response times, up to 1/16 too long; None of too few responses, and
            where the driver does not say.
        p99_ns: Their 99th percentile, likewise.
    """

    at_s: float
    trial: str
    throughput_per_s: float | None
    server_busy_cores: float | None
    driver_busy_cores: float | None
    p50_ns: float | None = None
    p99_ns: float | None = None


@dataclass(frozen=True)
class LiveRun:
    """A run as it stands.

    Attributes:
        writer: Who conducts it.
        at_utc_s: When it said so, in seconds since 1970.
        begun_utc_s: When it began.
        command: What resumes it, for a shell; without credentials.
        cores: Cores of server and driver; empty where they may use all.
        trials: Ids of the trials that run now; several where they take turns.
        number: Number of the first of them, from 1: behind those that are recorded, also by earlier
            runs. 0 before the first.
        of: Trials of the plan, as far as it is known.
        phase: A phase of a trial, `judging` or `cooling_down`; empty before a trial begins.
        load_s: Length of the load, in seconds.
        left_s: Estimated time until the last trial has ended, in seconds; None where unknown.
        changes: How many trials were skipped, ended or judged in this run, all together.
        progress: How the load stands; None before its first second.
        active: Id of the trial whose load `progress` is of.
        last: Its last second, or turn; None before the first.
        seconds: How it went.
        format: `FORMAT`.
    """

    writer: Writer
    at_utc_s: float
    begun_utc_s: float
    command: str = ""
    cores: tuple[int, ...] = ()
    trials: tuple[str, ...] = ()
    number: int = 0
    of: int = 0
    phase: str = ""
    load_s: float = 0.0
    left_s: float | None = None
    changes: int = 0
    progress: Progress | None = None
    active: str = ""
    last: LiveSecond | None = None
    seconds: tuple[LiveSecond, ...] = ()
    format: int = FORMAT

    def goes_on(self, now_utc_s: float) -> bool:
        """Whether whoever wrote this still conducts the run.

        On the same host it is asked whether the process lives; elsewhere a sign of the last
        `SILENT_S` seconds counts.
        """
        if self.writer.host == _host():
            return _is_alive(self.writer)
        return now_utc_s - self.at_utc_s < SILENT_S


def this_process() -> Writer:
    """The process that calls this."""
    found = process_table.process(os.getpid())
    return Writer(os.getpid(), found.started_ticks if found else 0, _host())


def keep(run: LiveRun, folder: Path) -> None:
    """Replaces the file; where it cannot be written, a run goes on unseen."""
    partial = folder / _PARTIAL
    with suppress(OSError):
        partial.write_text(json.dumps(run, default=vars, separators=(",", ":")), "utf-8")
        partial.replace(folder / FILE)


def remove(folder: Path) -> None:
    """Removes the file, if there is one."""
    for name in (_PARTIAL, FILE):
        with suppress(OSError):
            (folder / name).unlink(missing_ok=True)


def read(folder: Path) -> LiveRun | None:
    """The run that goes on in a folder, or was killed there; None where there is none."""
    try:
        found = _ADAPTER.validate_json((folder / FILE).read_bytes())
    except (OSError, ValueError):  # a `ValidationError` is one
        return None
    return found if found.format == FORMAT else None


_ADAPTER = TypeAdapter(LiveRun)


def _is_alive(writer: Writer) -> bool:
    found = process_table.process(writer.pid)
    return found is not None and not found.zombie and found.started_ticks == writer.started_ticks


def _host() -> str:
    """This boot of this host, with the name space of process ids; empty where /proc is missing."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""
