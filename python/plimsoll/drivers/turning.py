"""A load of the engine that takes turns: it rests until it is given one, with its connections open.

Times of the load leave out its rests: its schedule, rows and deadlines know nothing of them.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.drivers.tools import plimsoll as engine
from plimsoll.errors import EngineFailed
from plimsoll.storage.parquet import writing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.drivers.job import DriverJob, DriverResult
    from plimsoll.drivers.tools.plimsoll import Line
    from plimsoll.events import Progress
    from plimsoll.processes.supervised import SupervisedProcess


@dataclass(frozen=True)
class EngineTurn:
    """The engine's report of one turn.

    Attributes:
        start_ns: Its begin, in nanoseconds since the zero of the load, without rests.
        end_ns: When its last request had ended, by the same clock.
        start_monotonic_ns: Its begin by CLOCK_MONOTONIC.
        requests: Complete and correct responses.
        failures: Requests that ended otherwise.
        progress: How the load stands after it.
    """

    start_ns: int
    end_ns: int
    start_monotonic_ns: int
    requests: int
    failures: int
    progress: Progress


@dataclass
class TurningLoad:
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
    _ended: int = 0

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

    def turn(self, duration_ns: int) -> EngineTurn:
        """Gives it a turn in which requests begin for so long; returns when the last has ended.

        Raises:
            EngineFailed: The engine is gone, or has nothing to say for a long time.
            LimitTooLow: This host cannot put on such a load.
            StorageError: The records could not be written.
        """
        with suppress(BrokenPipeError):
            if self._supervised.input is not None:
                self._supervised.input.write(f"{duration_ns}\n".encode())
        line = self._until("turn")
        progress = self._heard.take(line) or engine.progress(line, {})
        ended, requests = progress.requests_ended, progress.outcomes.get("ok", 0)
        ended_before, requests_before = self._ended, self._requests
        self._ended, self._requests = ended, requests
        self.has_ended = self._is_over(line["at_ns"], ended)
        return EngineTurn(
            start_ns=line["start_ns"],
            end_ns=line["at_ns"],
            start_monotonic_ns=line["start_monotonic_ns"],
            requests=requests - requests_before,
            failures=(ended - requests) - (ended_before - requests_before),
            progress=progress,
        )

    def finish(self) -> DriverResult:
        """Ends it, early when its schedule is not over.

        Raises:
            EngineFailed: The engine ended with an error, or its files do not fit together.
            LimitTooLow: This host cannot put on such a load.
            StorageError: The records could not be written.
        """
        if self._supervised.input is not None:
            self._supervised.input.close()
        for line in self._events:
            self._heard.take(line)
        self._supervised.wait(engine.GRACE_S)
        engine.require_success(self._supervised.stop().exit_code, self._job.into)
        return engine.driven(self._heard, self._job)

    def _is_over(self, at_ns: int, requests: int) -> bool:
        """Whether the schedule has passed, or as many requests have ended as the load has."""
        load = self._job.load
        limit = load.request_limit
        return at_ns >= round(load.duration_s * 1e9) or (limit is not None and requests >= limit)

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
def started(job: DriverJob) -> Generator[TurningLoad]:
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
        load = TurningLoad(supervised, job, engine.lines(supervised.output))
        load.wait_until_ready()
        yield load
