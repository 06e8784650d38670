"""The process of a foreign load tool, from its start to its end.

It is a supervised process on the driver's cores, like every driver. What it prints is kept in the
trial's folder: its standard output in a file of its own, its messages in `driver.log`.
While it works, progress shows the time and nothing else. A first Ctrl-C interrupts it; a
tool that is still there long after it should have ended is killed.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from plimsoll import wording
from plimsoll.errors import DriverFailed, DriverMissing
from plimsoll.events import Progress
from plimsoll.install import short_commands
from plimsoll.processes import logs, process_table
from plimsoll.processes.supervised import SupervisedProcess
from plimsoll.processes.tree import PROC, ProcessTree, parse_stat
from plimsoll.sampling.samplers.memory import parse_kilobytes

if TYPE_CHECKING:
    from plimsoll.campaign.load import StageKind
    from plimsoll.drivers.job import DriverCallbacks, DriverJob

LOG = "driver.log"
"""File of a tool's messages; all tools of a trial write to it."""

PATIENCE_S = 30.0
"""Seconds that a tool may take to start and to write its results, beside its load."""

GRACE_S = 10.0
"""Seconds that it has to end by itself once it was interrupted."""

SAYING_S = 10.0
"""Seconds that a program has to say its version."""

TICK_S = 0.5
"""Seconds between two looks at it."""

MOST_OUTPUT_BYTES = 64 << 20
"""What a tool prints beyond this is thrown away; a whole output has some kilobytes."""

_LAST_WORDS = 6


@dataclass(frozen=True)
class ToolRun:
    """One run of a tool.

    Attributes:
        command: Program and arguments; the program is found on the PATH.
        stage: Kind of the stage that it is.
        connections: Connections that it is requested.
        lasts_s: Seconds that its load takes.
        since_s: Seconds of the trial that came before it.
        warm_up_s: Seconds at its beginning that are a warm-up, where the tool itself has one.
        output: File for its standard output, in the trial's folder.
        patience_s: Seconds that it may take longer than its load before it counts as hung.
        stop_signal: Name of the signal that asks it to end.
    """

    command: tuple[str, ...]
    stage: StageKind
    connections: int
    lasts_s: float
    since_s: float = 0.0
    warm_up_s: float = 0.0
    output: str = "driver.txt"
    patience_s: float = PATIENCE_S
    stop_signal: str = "INT"

    @property
    def name(self) -> str:
        """Name of the program."""
        return Path(self.command[0]).name


@dataclass(frozen=True)
class FinishedRun:
    """How a run went.

    Attributes:
        started_ns: Start of its process by CLOCK_MONOTONIC.
        started_utc_ns: The same by the wall clock, nanoseconds since 1970.
        ended_ns: Its end by CLOCK_MONOTONIC.
        text: What it wrote to its standard output.
        early: Whether it was interrupted, by Ctrl-C or because the server was gone.
        cpu_s: User and system time of all its processes, in seconds; None when not known.
        peak_rss_bytes: The most memory that its processes held; None when not known.
    """

    started_ns: int
    started_utc_ns: int
    ended_ns: int
    text: str = field(repr=False)
    early: bool = False
    cpu_s: float | None = None
    peak_rss_bytes: int | None = None


def missing(program: str, remedy: str) -> DriverMissing | None:
    """The error of a program that is not on the PATH; None when it is there.

    Args:
        program: Its name.
        remedy: The command that installs it.
    """
    if shutil.which(program):
        return None
    return DriverMissing(f"`{program}` is not installed on this host", f"`{remedy}`")


def output_of(*command: str) -> str:
    """What a program prints at once, such as its version; empty if it prints nothing."""
    try:
        heard = short_commands.run(command, timeout_s=SAYING_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return heard.stdout.decode("utf-8", "replace")


def run(order: ToolRun, drive: DriverJob, watch: DriverCallbacks) -> FinishedRun:
    """Runs a tool to its end.

    Args:
        order: What to run.
        drive: What the driver was given: cores, and the folder of the trial.
        watch: Its callbacks; `zero` gets the start of the first run.

    Returns:
        How it went. One that was interrupted may have printed nothing, and its exit code means
        nothing.

    Raises:
        DriverMissing: The program cannot be started.
        DriverFailed: It ended with an error, or had to be killed since it hung.
        KeyboardInterrupt: A second Ctrl-C.
        OSError: Its output could not be kept.
    """
    with _supervised(order, drive) as supervised:
        started_utc_ns = time.time_ns() - (time.monotonic_ns() - supervised.started_ns)
        watch.started(supervised.supervisor_pid)
        if not order.since_s:
            watch.zero(supervised.started_ns)
        work = _Work(order, supervised, drive.into)
        work.see_to_its_end(watch)
        ended_ns, cpu_s = time.monotonic_ns(), _waited_s(supervised.supervisor_pid)
        if work.hung:
            supervised.kill()
        code = supervised.stop().exit_code
    ran = FinishedRun(
        supervised.started_ns,
        started_utc_ns,
        ended_ns,
        work.text,
        work.early,
        cpu_s,
        work.peak_rss_bytes,
    )
    _require_success(order, work, code, drive.into)
    return ran


def last_words(order: ToolRun, into: Path) -> str:
    """The last lines that a tool wrote for people, or else to its standard output."""
    stated = logs.last_lines(into / LOG, _LAST_WORDS) or logs.last_lines(
        into / order.output, _LAST_WORDS
    )
    return "its last output: " + " / ".join(stated) if stated else "it printed nothing"


class _Work:
    """A tool at work: what it printed, and the most memory it held.

    Args:
        order: What runs.
        supervised: Where it runs.
        into: Folder of the trial.
    """

    def __init__(self, order: ToolRun, supervised: SupervisedProcess, into: Path) -> None:
        """Nothing is known yet."""
        self.order = order
        self.supervised = supervised
        self.into = into
        self.text = ""
        self.early = False
        self.hung = False
        self.peak_rss_bytes: int | None = None
        self._first = process_table.process(supervised.pid)
        self._tree = ProcessTree(supervised.supervisor_pid, with_root=False)
        self._told_s = 0.0
        self._asked_s = 0.0

    def see_to_its_end(self, watch: DriverCallbacks) -> None:
        """Reads what it prints until it ends, is interrupted, or has to be killed."""
        try:
            with (
                watch.interruption.deferred(self.ask),
                (self.into / self.order.output).open("wb") as kept,
            ):
                for part in self._printed(watch):
                    kept.write(part)
                while not self._is_over(watch):
                    self.supervised.wait(TICK_S)
        except BaseException:
            self.supervised.kill()
            raise
        self.text = (self.into / self.order.output).read_text("utf-8", "replace")

    def ask(self) -> None:
        """Asks it to end, once; a second signal would kill it without a word."""
        if self._first is not None and not self.early:
            self.early = True
            self._asked_s = time.monotonic()
            process_table.send(self._first, signal.Signals[f"SIG{self.order.stop_signal}"])

    def _printed(self, watch: DriverCallbacks) -> Iterator[bytes]:
        """What it prints, as it comes; calls its callbacks meanwhile."""
        left = MOST_OUTPUT_BYTES
        for part in _read(self.supervised.output, until=lambda: self._is_over(watch)):
            yield part[:left]
            left -= len(part[:left])

    def _is_over(self, watch: DriverCallbacks) -> bool:
        """Looks at it; whether there is nothing to wait for any more."""
        self._weigh()
        self._tell(watch)
        self.hung = time.monotonic() > self._deadline_s()
        return self.hung or not self.supervised.alive()

    def _deadline_s(self) -> float:
        if self.early:
            return self._asked_s + GRACE_S
        return self.supervised.started_ns / 1e9 + self.order.lasts_s + self.order.patience_s

    def _tell(self, watch: DriverCallbacks) -> None:
        """Tells the time, once a second; asks it to end when the load has lost its server."""
        passed_s = time.monotonic() - self.supervised.started_ns / 1e9
        if passed_s < self._told_s:
            return
        self._told_s = int(passed_s) + 1.0
        order = self.order
        at_s = order.since_s + min(passed_s, order.lasts_s)
        stage = "warm_up" if passed_s < order.warm_up_s else order.stage
        if not watch.progress(by_the_clock(at_s, stage, order.connections)):
            self.ask()

    def _weigh(self) -> None:
        """Notes the most memory that its processes held until now."""
        self._tree.refresh()
        peaks = [_peak_bytes(self._tree.file(pid, "status")) for pid in self._tree.stats]
        self.peak_rss_bytes = max(self.peak_rss_bytes or 0, sum(peaks)) or None


def by_the_clock(at_s: float, stage: StageKind, connections: int) -> Progress:
    """Progress of a tool that prints nothing before its end.

    Args:
        at_s: Seconds since the trial's zero.
        stage: Kind of the stage.
        connections: Connections that were requested.
    """
    return Progress(at_s, stage, connections, 0, 0, 0.0, 0, counted=False)


def _supervised(order: ToolRun, drive: DriverJob) -> SupervisedProcess:
    try:
        return SupervisedProcess(
            order.command,
            folder=drive.into,
            environment={**os.environ, "LC_ALL": "C.UTF-8"},
            log=drive.into / LOG,
            cores=drive.cores,
            stop_signal=order.stop_signal,
            grace_s=GRACE_S,
            piped="output",
        )
    except OSError as error:
        message = f"`{order.name}` cannot start: {error.strerror}"
        raise DriverMissing(message, "`plimsoll list` says what is missing") from error


def _read(output: IO[bytes] | None, until: Callable[[], bool]) -> Iterator[bytes]:
    """What comes out of a pipe until it is closed, or is empty once `until` returns true."""
    over = False
    while output is not None:
        ready, _, _ = select.select([output], [], [], 0.0 if over else TICK_S)
        part = os.read(output.fileno(), 1 << 16) if ready else b""
        yield part
        if not part and (ready or over):
            return
        over = over or until()


def _peak_bytes(status: Path) -> int:
    """The most memory that a process held so far; 0 when it is gone.

    Source:
        proc_pid_status(5), VmHWM.
    """
    try:
        return parse_kilobytes(status.read_text(errors="replace"), "VmHWM") or 0
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _waited_s(supervisor: int) -> float | None:
    """Processor time of the processes that a supervisor has waited for: all of a tool's."""
    try:
        text = (PROC / str(supervisor) / "stat").read_text(errors="replace")
        return parse_stat(text).waited.cpu_s
    except (OSError, ValueError, IndexError):
        return None


def _require_success(order: ToolRun, work: _Work, code: int | None, into: Path) -> None:
    """Ends the trial when the tool failed.

    Raises:
        DriverFailed: It hung, or its exit code is not 0 although it was not interrupted.
    """
    if work.early:
        return
    hint = f"see its output in `{order.output}` and `{LOG}` of the trial's folder"
    if work.hung:
        message = (
            f"`{order.name}` still ran {wording.count(order.patience_s)} s after the end of the "
            "load"
        )
        raise DriverFailed(f"{message}; {last_words(order, into)}", hint)
    if code:
        how = f"exit code {code}" if code > 0 else signal.Signals(-code).name
        raise DriverFailed(f"`{order.name}` ended with {how}; {last_words(order, into)}", hint)
