"""One command under a warden, seen from the lab.

A `Ward` is a server, a driver or a build: started through a warden of its own, stopped with all its
processes, and ended by the warden when the lab is killed. `warden.py` has the other half.
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
from typing import IO, TYPE_CHECKING, Self

import plimsoll
from plimsoll.conduct import processes
from plimsoll.conduct.warden import GRACE_S, KILL_S, Event, Order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MARK = "PLIMSOLL_WARD"
"""Variable in the environment of a ward's processes, by which they are found in need."""

_START_S = 30.0
_LATE_S = 5.0
_PYTHON_KEPT = ("PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")


@dataclass(frozen=True)
class Ended:
    """How a ward ended.

    Attributes:
        exit_code: Of the first process, negative for a signal; None when it had to be killed.
        stop_s: Seconds from the wish to stop to the end of the first process; 0 when it had ended
            before.
        all_s: Seconds from the wish to stop to the end of the last process.
        killed: Programs that had to be killed, one for each process.
        left: Numbers of processes that could not be killed.
    """

    exit_code: int | None
    stop_s: float
    all_s: float
    killed: tuple[str, ...] = ()
    left: tuple[int, ...] = ()


class Ward:
    """One command and all its processes, from start to stop.

    Args:
        command: Program and arguments.
        folder: Folder it runs in.
        environment: Its whole environment.
        log: File that its output is added to; made with its folder when it is not there.
        cores: Cores it may use; empty for those of the lab.
        stop_signal: Name of the signal that asks for a clean stop.
        grace_s: Seconds it has to stop by itself before it is killed.
        output: Whether its standard output is to be read from `output` instead of the log.

    Attributes:
        pid: Number of the first process.
        started_ns: Instant of its start by the monotonic clock.
        output: Its standard output when that was asked for.

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
        output: bool = False,
    ) -> None:
        """Starts it."""
        self._mark = uuid.uuid4().hex
        self._events: dict[str, Event] = {}
        self._text = b""
        self._gone = False
        self._swept: dict[int, str] = {}
        self._lock = threading.Lock()
        self._grace_s = grace_s
        order = Order(
            tuple(command),
            str(folder.resolve()),
            {**environment, MARK: self._mark},
            tuple(cores),
            stop_signal.removeprefix("SIG"),
            grace_s,
            os.getpid(),
        )
        self.output: IO[bytes] | None = None
        self._warden = self._run_warden(order, log, output=output)
        started = self._started()
        self.pid = started.pid
        self.started_ns = started.at_ns

    def __enter__(self) -> Self:
        """The ward itself; it is stopped at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stops it."""
        self.stop()

    @property
    def warden_pid(self) -> int:
        """Number of the warden, which all of the ward's processes are below."""
        return self._warden.pid

    def processes(self) -> tuple[int, ...]:
        """Numbers of its living processes, parents first; the warden is none of them."""
        below = processes.descendants(self._warden.pid)
        return tuple(found.pid for found in below if not found.zombie)

    def alive(self) -> bool:
        """Whether the first process runs."""
        return not self.wait(0.0)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Waits for the end of the first process.

        Args:
            timeout_s: Seconds to wait; None for as long as it takes.

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
        """Takes its grace away: all that are left are killed at once; `stop` says how it ended."""
        self._say("kill")

    def stop(self) -> Ended:
        """Stops it with all its processes; asked again, it says the same again.

        When this is interrupted, nothing is asked any more: all are killed.
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

    def _run_warden(self, order: Order, log: Path, *, output: bool) -> subprocess.Popen[bytes]:
        log.parent.mkdir(parents=True, exist_ok=True)
        ours, theirs = os.pipe() if output else (None, None)
        try:
            with log.open("ab") as lines:
                warden = subprocess.Popen(
                    [sys.executable, "-S", "-P", "-m", "plimsoll.conduct.warden"],
                    env=_warden_environment(),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=lines,
                    bufsize=0,
                    start_new_session=True,
                    pass_fds=() if theirs is None else (theirs,),
                )
        finally:
            if theirs is not None:
                os.close(theirs)
        if ours is not None:
            self.output = os.fdopen(ours, "rb")
        _write(warden, json.dumps(asdict(replace(order, output=theirs))).encode() + b"\n")
        return warden

    def _started(self) -> Event:
        try:
            self._hear(("started", "refused"), _START_S)
        except BaseException:
            self._close()
            raise
        if "started" in self._events:
            return self._events["started"]
        self._close()
        refused = self._events.get("refused", Event("refused", 0, message="the warden failed"))
        raise OSError(refused.errno, refused.message)

    def _say(self, word: str) -> None:
        if "stopped" not in self._events:
            _write(self._warden, f"{word}\n".encode())

    def _hear(self, kinds: tuple[str, ...], timeout_s: float | None) -> bool:
        """Reads what the warden tells until one of the events is there, or the warden is gone."""
        end_s = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._read(0.0) and not self._events.keys() & set(kinds):
            left_s = None if end_s is None else end_s - time.monotonic()
            if left_s is not None and left_s <= 0:
                return False
            self._poll(left_s)
        return True

    def _poll(self, timeout_s: float | None) -> bool:
        if self._warden.stdout is None or self._warden.stdout.closed:
            return False
        poll = select.poll()
        poll.register(self._warden.stdout, select.POLLIN)
        return bool(poll.poll(None if timeout_s is None else timeout_s * 1000 + 1))

    def _read(self, timeout_s: float) -> bool:
        """Takes in what the warden has told; says whether the warden is gone."""
        with self._lock:
            while not self._gone and self._poll(timeout_s) and self._warden.stdout is not None:
                heard = self._warden.stdout.read(1 << 16)
                self._gone = not heard
                *lines, self._text = (self._text + (heard or b"")).split(b"\n")
                for line in lines:
                    event = Event(**json.loads(line))
                    self._events[event.kind] = event
            return self._gone

    def _close(self) -> None:
        """Ends the warden by ending its standard input."""
        for pipe in (self._warden.stdin, self.output):
            if pipe is not None:
                pipe.close()
        try:
            self._warden.wait(KILL_S + _LATE_S)
        except subprocess.TimeoutExpired:
            self._warden.kill()
            self._warden.wait()
        if self._warden.stdout is not None:
            self._read(0.0)
            self._warden.stdout.close()
            self._gone = True
        if "stopped" not in self._events and "refused" not in self._events:
            self._sweep()

    def _sweep(self) -> None:
        """Kills, as often as it takes, what a warden that was killed could not."""
        end_s = time.monotonic() + KILL_S
        while found := processes.marked(f"{MARK}={self._mark}"):
            if time.monotonic() > end_s:
                return
            self._swept.update({one.pid: one.name for one in found})
            for one in found:
                processes.send(one, signal.SIGKILL)
            time.sleep(0.01)

    def _ended(self, asked_s: float) -> Ended:
        stopped = self._events.get("stopped")
        if stopped is None:
            left = tuple(found.pid for found in processes.marked(f"{MARK}={self._mark}"))
            killed = tuple(self._swept.values())
            return Ended(None, 0.0, time.monotonic() - asked_s, killed, left)
        code = None if stopped.first_killed else stopped.exit_code
        killed, left = tuple(stopped.killed), tuple(stopped.left)
        return Ended(code, stopped.stop_s, stopped.all_s, killed, left)


def _warden_environment() -> dict[str, str]:
    """The lab's environment, but for what would change Python; the package is found where it is."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("PYTHON") or key in _PYTHON_KEPT
    }
    return {**kept, "PYTHONPATH": str(Path(plimsoll.__file__).parent.parent)}


def _write(warden: subprocess.Popen[bytes], data: bytes) -> None:
    """Writes all of `data` to a warden that may be gone."""
    if warden.stdin is None or warden.stdin.closed:
        return
    try:
        while data:
            data = data[warden.stdin.write(data) :]
    except BrokenPipeError:
        return
