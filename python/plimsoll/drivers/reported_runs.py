"""What comes of the runs of a foreign tool: its figures, and the driver's side of a recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll.drivers import plain_load, tool_process
from plimsoll.drivers.job import DriverResult, Rows
from plimsoll.drivers.tool_process import ToolRun
from plimsoll.errors import DriverFailed, InputError
from plimsoll.recording import Driver, RecordedStage
from plimsoll.tool_output import readers

if TYPE_CHECKING:
    from plimsoll.campaign.load import Load, StageKind
    from plimsoll.campaign.requests import Request
    from plimsoll.drivers.job import DriverCallbacks, DriverJob
    from plimsoll.drivers.tool_process import FinishedRun
    from plimsoll.tool_output.reported import ReportedStatistics

    Command = Callable[[StageKind, int, float], tuple[str, ...]]
    """The command line of a stage of so many connections and seconds."""


@dataclass(frozen=True)
class Measured:
    """A drive by a foreign tool that is over.

    Attributes:
        runs: What was run, one after the other; the last one was measured.
        went: How each of them went; the last ones are absent when it was ended early.
        figures: What the last one printed; None when it was ended before it could.
    """

    runs: Sequence[ToolRun]
    went: Sequence[FinishedRun]
    figures: ReportedStatistics | None

    @property
    def early(self) -> bool:
        """Whether it was interrupted before its time."""
        return self.went[-1].early


def output(tool: str) -> str:
    """File of what a tool printed, in the trial's folder."""
    return f"{tool}.txt"


def in_turn(load: Load, name: str, command: Command, patience_s: float) -> tuple[ToolRun, ...]:
    """The runs of a tool that knows no warm-up: one for it, if there is one, and one that counts.

    Args:
        load: The load, a plain one.
        name: Name of the tool.
        command: Its command line.
        patience_s: Seconds that a run may take longer than its load.
    """
    requested = plain_load.plain(load)
    hold = ToolRun(
        command("hold", requested.connections, requested.duration_s),
        stage="hold",
        connections=requested.connections,
        lasts_s=requested.duration_s,
        since_s=requested.warm_up_s,
        output=output(name),
        patience_s=patience_s,
    )
    if not requested.warm_up_s:
        return (hold,)
    warm_up = ToolRun(
        command("warm_up", requested.warm_up_connections, requested.warm_up_s),
        stage="warm_up",
        connections=requested.warm_up_connections,
        lasts_s=requested.warm_up_s,
        output=output(f"{name}-warm-up"),
        patience_s=patience_s,
    )
    return warm_up, hold


def only(drive: DriverJob) -> Request:
    """The request of a drive that has one kind of them, or else the first."""
    return drive.exchanges[0].request


def threads(drive: DriverJob, connections: int) -> int:
    """Threads that a tool is to use: one on each core, and no more than connections."""
    return min(drive.load.threads or len(drive.cores) or drive.threads, connections)


def warmed_up(load: Load, name: str) -> tuple[str, ...]:
    """What a reader must know of a warm-up that was a run of its own; nothing without one."""
    if not plain_load.plain(load).warm_up_s:
        return ()
    return (
        f"the warm-up was a separate run of `{name}`, excluded from the results; "
        "its connections were closed before the measurement window",
    )


def measure(runs: Sequence[ToolRun], drive: DriverJob, watch: DriverCallbacks) -> Measured:
    """Runs a tool once or several times, and reads what it printed the last time.

    Args:
        runs: What to run, one after the other; all but the last are warm-ups whose output is kept
            and not read.
        drive: What the driver was given.
        watch: Its callbacks.

    Raises:
        DriverMissing: The tool cannot be started.
        DriverFailed: It failed, hung, or printed something else than its figures.
        KeyboardInterrupt: A second Ctrl-C.
        OSError: Its output could not be kept.
    """
    went: list[FinishedRun] = []
    for order in runs:
        went.append(tool_process.run(order, drive, watch))
        if went[-1].early:
            break
    is_last = len(went) == len(runs)
    return Measured(runs, went, _figures(runs[-1], went[-1]) if is_last else None)


def driven(
    measured: Measured, drive: DriverJob, driver: Driver, rows: Rows | None = None
) -> DriverResult:
    """What a driver gives back of a drive by a foreign tool.

    Args:
        measured: The drive.
        drive: What the driver was given.
        driver: Its name, version, threads and what else the tool alone knows.
        rows: The files in which the tool wrote each request.
    """
    first, last = measured.went[0], measured.went[-1]
    ended_by = "interrupt" if measured.early else driver.ended_by
    return DriverResult(
        driver=replace(
            driver,
            cores=drive.cores,
            ended_by=ended_by,
            cpu_s=last.cpu_s,
            peak_rss_bytes=last.peak_rss_bytes,
            figures=measured.figures,
            uses_reported_statistics=driver.uses_reported_statistics or rows is None,
            has_connects=False,
            command=measured.runs[-1].command,
        ),
        zero_monotonic_ns=first.started_ns,
        zero_utc_ns=first.started_utc_ns,
        stages=stages(measured),
        figures=measured.figures,
        rows=rows,
    )


def stages(measured: Measured) -> tuple[RecordedStage, ...]:
    """The stages as they ran: a warm-up ends where the next run begins.

    A hold is as long as the tool reports that it measured, because starting and writing results are
    no part of it.
    """
    zero_ns, ended_ns = measured.went[0].started_ns, measured.went[-1].ended_ns
    starts = _starts(measured)
    ends = [start for *_, start in starts[1:]] + [ended_ns]
    if measured.figures and measured.figures.duration_s is not None:
        said_ns = starts[-1][-1] + round(measured.figures.duration_s * 1e9)
        ends[-1] = min(said_ns, ended_ns)
    return tuple(
        RecordedStage(kind, start - zero_ns, end - zero_ns, level, level, 1)
        for (kind, level, start), end in zip(starts, ends, strict=True)
    )


def _starts(measured: Measured) -> list[tuple[StageKind, float, int]]:
    """Kind, level and first instant of each stage that was reached."""
    starts: list[tuple[StageKind, float, int]] = []
    for order, how in zip(measured.runs, measured.went, strict=False):
        level = float(order.connections)
        hold_ns = how.started_ns + round(order.warm_up_s * 1e9)
        if order.warm_up_s:
            starts.append(("warm_up", level, how.started_ns))
        if hold_ns < how.ended_ns:
            starts.append((order.stage, level, hold_ns))
    return starts


def _figures(order: ToolRun, ran: FinishedRun) -> ReportedStatistics | None:
    """What a run printed; None when it was ended early and printed nothing.

    Raises:
        DriverFailed: It ran to its end and printed something else than its figures.
    """
    try:
        found = readers.read(ran.text, order.output)[0]
    except InputError as error:
        if ran.early:
            return None
        raise _without_figures(order, error.problems[0].message) from error
    if not found.tool.startswith(order.name):
        raise _without_figures(order, f"looks like the output of {found.tool}")
    return found


def _without_figures(order: ToolRun, what: str) -> DriverFailed:
    message = f"`{order.name}` exited without results: `{order.output}` {what}"
    return DriverFailed(message, "see the file in the trial's folder")
