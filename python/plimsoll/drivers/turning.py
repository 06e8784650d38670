"""A load of the engine that takes turns: it rests until it is given one, with its connections open.

Times of the load leave out its rests: its schedule, rows and deadlines know nothing of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from plimsoll.drivers.tools import plimsoll as engine
from plimsoll.errors import EngineFailed
from plimsoll.storage.parquet import writing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.campaign.load import Load
    from plimsoll.drivers.job import DriverJob, DriverResult
    from plimsoll.drivers.tools.plimsoll import Line
    from plimsoll.events import Progress
    from plimsoll.processes.supervised import SupervisedProcess

_CUT_SHORT = ("unfinished", "cancelled")
"""Outcomes of requests that the end of the load came before."""


@dataclass(frozen=True)
class EngineTurn:
    """The engine's report of one turn.

    Attributes:
        start_ns: Its begin, in nanoseconds since the zero of the load, without rests.
        end_ns: When its last request had ended, by the same clock.
        start_monotonic_ns: Its begin by CLOCK_MONOTONIC.
        requests: Complete and correct responses.
        failures: Requests that ended otherwise before the load did.
        progress: How the load stands after it.
        used: What the load generator used, where it ran on other hosts; None on this one.
    """

    start_ns: int
    end_ns: int
    start_monotonic_ns: int
    requests: int
    failures: int
    progress: Progress
    used: DriverUse | None = None


@dataclass(frozen=True)
class DriverUse:
    """What a load generator used in a turn.

    Attributes:
        cpu_ns: CPU time of its processes; None when unknown.
        delay_ns: Time for which its threads waited for a core, all together; None when unknown.
    """

    cpu_ns: int | None
    delay_ns: int | None


@dataclass(frozen=True)
class CommonStart:
    """When several hosts begin a turn of one load.

    Attributes:
        begin_ns: The instant by CLOCK_MONOTONIC of the host.
        start_ns: The time of the load at that instant.
    """

    begin_ns: int
    start_ns: int


class TurningLoad(Protocol):
    """One load that takes turns, on this host or on others."""

    @property
    def process(self) -> int | None:
        """Number of the process that the engine's processes are below; None on other hosts."""
        ...

    @property
    def zero_ns(self) -> int:
        """Zero of the load by CLOCK_MONOTONIC: the begin of its first turn; 0 before it."""
        ...

    @property
    def has_ended(self) -> bool:
        """Whether its schedule is over, or its requests are sent, and no turn follows."""
        ...

    def turn(self, duration_ns: int) -> EngineTurn:
        """Gives it a turn in which requests begin for so long; returns when the last has ended.

        Raises:
            EngineFailed: An engine is gone, or has nothing to say for a long time.
            LimitTooLow: A host cannot put on such a load.
            StorageError: The records could not be written.
            HostLost: Another host is gone.
        """
        ...

    def finish(self) -> DriverResult:
        """Ends it, early when its schedule is not over.

        Raises:
            EngineFailed: An engine ended with an error, or its files do not fit together.
            LimitTooLow: A host cannot put on such a load.
            StorageError: The records could not be written.
            HostLost: Another host is gone.
        """
        ...


Turning = Callable[["DriverJob"], AbstractContextManager[TurningLoad]]
"""Has a load rest, ready for its first turn; it is stopped at the end of the block."""


def is_over(load: Load, at_ns: int, requests: int) -> bool:
    """Whether the schedule of a load has passed, or as many requests have ended as it has.

    Args:
        load: The load.
        at_ns: Time of the load.
        requests: Requests that have ended.
    """
    limit = load.request_limit
    return at_ns >= round(load.duration_s * 1e9) or (limit is not None and requests >= limit)


@dataclass
class EngineLoad:
    """One load that takes turns; made by `started`.

    Attributes:
        has_ended: Whether its schedule is over, or its requests are sent, and no turn follows.
    """

    _supervised: SupervisedProcess
    _job: DriverJob
    _events: Iterator[Line]
    has_ended: bool = False
    _heard: engine.EngineReports = field(default_factory=engine.EngineReports)
    _requests: int = 0
    _failures: int = 0

    @property
    def process(self) -> int:
        """Number of the process that the engine's processes are below."""
        return self._supervised.supervisor_pid

    def processes(self) -> tuple[int, ...]:
        """Numbers of the engine's processes."""
        return self._supervised.processes()

    @property
    def zero_ns(self) -> int:
        """Zero of the load by CLOCK_MONOTONIC: the begin of its first turn; 0 before it."""
        return self._heard.zero_ns

    def turn(self, duration_ns: int, start: CommonStart | None = None) -> EngineTurn:
        """Gives it a turn in which requests begin for so long; returns when the last has ended.

        Args:
            duration_ns: For how long requests begin.
            start: When all hosts begin it; None for at once, on this host alone.

        Raises:
            EngineFailed: The engine is gone, or has nothing to say for a long time.
            LimitTooLow: This host cannot put on such a load.
            StorageError: The records could not be written.
        """
        self._order(duration_ns, start)
        line = self._until("turn")
        progress = self._heard.take(line) or engine.progress(line, {})
        ended, requests = progress.requests_ended, progress.outcomes.get("ok", 0)
        failures = ended - requests - sum(progress.outcomes.get(one, 0) for one in _CUT_SHORT)
        failures_before, requests_before = self._failures, self._requests
        self._failures, self._requests = failures, requests
        self.has_ended = is_over(self._job.load, line["at_ns"], ended)
        return EngineTurn(
            start_ns=line["start_ns"],
            end_ns=line["at_ns"],
            start_monotonic_ns=line["start_monotonic_ns"],
            requests=requests - requests_before,
            failures=failures - failures_before,
            progress=progress,
        )

    def finish(self, start: CommonStart | None = None) -> DriverResult:
        """Ends it, early when its schedule is not over.

        Args:
            start: The time of the load at which the last of several hosts rested; None on this host
                alone.

        Raises:
            EngineFailed: The engine ended with an error, or its files do not fit together.
            LimitTooLow: This host cannot put on such a load.
            StorageError: The records could not be written.
        """
        # A thread that rested before the end of the schedule, which another has passed, ends by it.
        if self.has_ended or start is not None:
            self._order(0, start)
        if self._supervised.input is not None:
            self._supervised.input.close()
        for line in self._events:
            self._heard.take(line)
        self._supervised.wait(engine.GRACE_S)
        engine.require_success(self._supervised.stop().exit_code, self._job.into)
        return engine.driven(self._heard, self._job)

    def _order(self, duration_ns: int, start: CommonStart | None) -> None:
        together = "" if start is None else f" {start.begin_ns} {start.start_ns}"
        with suppress(BrokenPipeError):
            if self._supervised.input is not None:
                self._supervised.input.write(f"{duration_ns}{together}\n".encode())

    def wait_until_ready(self) -> None:
        """Waits until it rests for the first time."""
        self._until("ready")

    def _until(self, event: str) -> Line:
        for line in self._events:
            if line["event"] == event:
                return line
            self._heard.take(line)
        self._supervised.wait(engine.GRACE_S)
        engine.require_success(self._supervised.stop().exit_code, self._job.into)
        engine.driven(self._heard, self._job)
        raise EngineFailed("the engine ended before its turn", "see `driver.log`")


@contextmanager
def started(job: DriverJob) -> Generator[EngineLoad]:
    """A load that rests, ready for its first turn; it is stopped at the end of the block.

    Raises:
        EngineFailed: The engine did not start.
        LimitTooLow: This host cannot put on such a load.
        StorageError: The specification could not be written.
    """
    path = job.into / "spec.json"
    with writing(job.into):
        path.write_text(json.dumps(engine.spec(job, in_turns=True)), "utf-8")
    with engine.started_engine(path, job, has_input=True) as supervised:
        load = EngineLoad(supervised, job, engine.lines(supervised.output))
        load.wait_until_ready()
        yield load
