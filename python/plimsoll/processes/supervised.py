"""The lab's side of a command that runs under a supervisor.

A `SupervisedProcess` is a server, a driver or a build. Its own supervisor stops it with all its
processes, also when the lab is killed. `supervisor.py` is the other side.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
import uuid
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, Self

import plimsoll
from plimsoll.processes import process_table
from plimsoll.processes.supervisor import GRACE_S, KILL_S, Event, SupervisedCommand

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MARK = "PLIMSOLL_SUPERVISED"
"""Environment variable of everything below a supervisor, to find it without the supervisor."""

Piped = Literal["nothing", "output", "both"]
"""What of standard output and standard input the lab reads and writes."""

_START_S = 30.0
_LATE_S = 5.0
_PYTHON_KEPT = ("PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")


@dataclass(frozen=True)
class ProcessExit:
    """How a supervised process ended.

    Attributes:
        exit_code: Of the first process, negative for a signal; None if it had to be killed.
        stop_s: Seconds from the stop request to the end of the first process; 0 if it had ended
            before.
        all_s: Seconds from the stop request to the end of the last process.
        killed: Programs that had to be killed, one per process.
        left: Process ids that could not be killed.
    """

    exit_code: int | None
    stop_s: float
    all_s: float
    killed: tuple[str, ...] = ()
    left: tuple[int, ...] = ()


class SupervisedProcess:
    """One command and all its processes, from start to stop.

    Args:
        command: Program and arguments.
        folder: Its working folder.
        environment: Its complete environment.
        log: File to which its output is appended; created with its folder if necessary.
        cores: Cores it may use; empty for those of the lab.
        stop_signal: Name of the signal for a clean stop.
        grace_s: Seconds to stop by itself before it is killed.
        piped: Whether its standard output goes to `output` instead of the log, and whether
            `input` is its standard input.

    Attributes:
        pid: Process id of the first process.
        started_ns: Time of its start by the monotonic clock.
        output: Its standard output, if requested.
        input: Its standard input, if requested; closed by `stop`.

    Raises:
        OSError: The command cannot be run, or the log cannot be written.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        log: Path,
        cores: Sequence[int] = (),
        stop_signal: str = "TERM",
        grace_s: float = GRACE_S,
        piped: Piped = "nothing",
    ) -> None:
        """Starts it."""
        self._mark = uuid.uuid4().hex
        self._events: dict[str, Event] = {}
        self._text = b""
        self._gone = False
        self._swept: dict[int, str] = {}
        self._lock = threading.Lock()
        self._grace_s = grace_s
        order = SupervisedCommand(
            tuple(command),
            str(folder.resolve()),
            {**environment, MARK: self._mark},
            tuple(cores),
            stop_signal.removeprefix("SIG"),
            grace_s,
            os.getpid(),
        )
        self.output: IO[bytes] | None = None
        self.input: IO[bytes] | None = None
        self._supervisor = self._run_supervisor(order, log, piped)
        started = self._started()
        self.pid = started.pid
        self.started_ns = started.at_ns

    def __enter__(self) -> Self:
        """The supervised process itself; it is stopped at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stops it."""
        self.stop()

    @property
    def supervisor_pid(self) -> int:
        """Process id of the supervisor, the ancestor of all processes of the command."""
        return self._supervisor.pid

    def processes(self) -> tuple[int, ...]:
        """Process ids of its living processes, parents first, without the supervisor."""
        below = process_table.descendants(self._supervisor.pid)
        return tuple(found.pid for found in below if not found.zombie)

    def alive(self) -> bool:
        """Whether the first process runs."""
        return not self.wait(0.0)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Waits for the end of the first process.

        Args:
            timeout_s: Seconds to wait; None for no limit.

        Returns:
            Whether it has ended.
        """
        return self._hear(("ended", "stopped"), timeout_s)

    @property
    def exit_code(self) -> int | None:
        """Exit code of the first process, negative for a signal; None while it runs."""
        self.wait(0.0)
        event = self._events.get("stopped") or self._events.get("ended")
        return event.exit_code if event and not event.first_killed else None

    def kill(self) -> None:
        """Kills all its processes without a grace period; `stop` returns how it ended."""
        self._say("kill")

    def stop(self) -> ProcessExit:
        """Stops it with all its processes; a second call returns the same result.

        If this is interrupted, all processes are killed.
        """
        asked_s = time.monotonic()
        try:
            self._say("stop")
            self._hear(("stopped",), self._grace_s + KILL_S + _LATE_S)
        except BaseException:
            self._say("kill")
            self._hear(("stopped",), KILL_S + _LATE_S)
            raise
        finally:
            self._close()
        return self._ended(asked_s)

    def _run_supervisor(
        self, order: SupervisedCommand, log: Path, piped: Piped
    ) -> subprocess.Popen[bytes]:
        log.parent.mkdir(parents=True, exist_ok=True)
        read_output, write_output = os.pipe() if piped != "nothing" else (None, None)
        read_input, write_input = os.pipe() if piped == "both" else (None, None)
        passed = tuple(end for end in (write_output, read_input) if end is not None)
        try:
            with log.open("ab") as lines:
                supervisor = subprocess.Popen(
                    [sys.executable, "-S", "-P", "-m", "plimsoll.processes.supervisor"],
                    env=_supervisor_environment(),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=lines,
                    bufsize=0,
                    start_new_session=True,
                    pass_fds=passed,
                )
        finally:
            for descriptor in passed:
                os.close(descriptor)
        if read_output is not None:
            self.output = os.fdopen(read_output, "rb")
        if write_input is not None:
            self.input = os.fdopen(write_input, "wb", buffering=0)
        order = replace(order, output=write_output, input=read_input)
        _write(supervisor, json.dumps(asdict(order)).encode() + b"\n")
        return supervisor

    def _started(self) -> Event:
        try:
            self._hear(("started", "refused"), _START_S)
        except BaseException:
            self._close()
            raise
        if "started" in self._events:
            return self._events["started"]
        self._close()
        refused = self._events.get("refused", Event("refused", 0, message="the supervisor failed"))
        raise OSError(refused.errno, refused.message)

    def _say(self, word: str) -> None:
        if "stopped" not in self._events:
            _write(self._supervisor, f"{word}\n".encode())

    def _hear(self, kinds: tuple[str, ...], timeout_s: float | None) -> bool:
        """Reads events of the supervisor until one of the given ones arrives, or it is gone."""
        end_s = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._read(0.0) and not self._events.keys() & set(kinds):
            left_s = None if end_s is None else end_s - time.monotonic()
            if left_s is not None and left_s <= 0:
                return False
            self._poll(left_s)
        return True

    def _poll(self, timeout_s: float | None) -> bool:
        if self._supervisor.stdout is None or self._supervisor.stdout.closed:
            return False
        poll = select.poll()
        poll.register(self._supervisor.stdout, select.POLLIN)
        return bool(poll.poll(None if timeout_s is None else timeout_s * 1000 + 1))

    def _read(self, timeout_s: float) -> bool:
        """Reads the supervisor's pending events; returns whether the supervisor is gone."""
        with self._lock:
            while not self._gone and self._poll(timeout_s) and self._supervisor.stdout is not None:
                heard = self._supervisor.stdout.read(1 << 16)
                self._gone = not heard
                *lines, self._text = (self._text + (heard or b"")).split(b"\n")
                for line in lines:
                    event = Event(**json.loads(line))
                    self._events[event.kind] = event
            return self._gone

    def _close(self) -> None:
        """Ends the supervisor by ending its standard input."""
        for pipe in (self._supervisor.stdin, self.output, self.input):
            if pipe is not None:
                pipe.close()
        try:
            self._supervisor.wait(KILL_S + _LATE_S)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()
        if self._supervisor.stdout is not None:
            self._read(0.0)
            self._supervisor.stdout.close()
            self._gone = True
        if "stopped" not in self._events and "refused" not in self._events:
            self._sweep()

    def _sweep(self) -> None:
        """Kills the processes of a supervisor that was killed itself, repeatedly if necessary."""
        end_s = time.monotonic() + KILL_S
        while found := process_table.marked(f"{MARK}={self._mark}"):
            if time.monotonic() > end_s:
                return
            self._swept.update({one.pid: one.name for one in found})
            for one in found:
                process_table.send(one, signal.SIGKILL)
            time.sleep(0.01)

    def _ended(self, asked_s: float) -> ProcessExit:
        stopped = self._events.get("stopped")
        if stopped is None:
            left = tuple(found.pid for found in process_table.marked(f"{MARK}={self._mark}"))
            killed = tuple(self._swept.values())
            return ProcessExit(None, 0.0, time.monotonic() - asked_s, killed, left)
        code = None if stopped.first_killed else stopped.exit_code
        killed, left = tuple(stopped.killed), tuple(stopped.left)
        return ProcessExit(code, stopped.stop_s, stopped.all_s, killed, left)


def _supervisor_environment() -> dict[str, str]:
    """The lab's environment without variables that change Python, and with the package's path."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("PYTHON") or key in _PYTHON_KEPT
    }
    return {**kept, "PYTHONPATH": str(Path(plimsoll.__file__).parent.parent)}


def _write(supervisor: subprocess.Popen[bytes], data: bytes) -> None:
    """Writes all of `data` to a supervisor, which may be gone."""
    if supervisor.stdin is None or supervisor.stdin.closed:
        return
    try:
        while data:
            data = data[supervisor.stdin.write(data) :]
    except BrokenPipeError:
        return
