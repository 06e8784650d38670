"""A small process that runs one command and stops all of its processes.

`python -m plimsoll.processes.supervisor` starts one command in a new session and adopts its
orphaned processes. It stops all of them on request, when its standard input ends, or when the lab
is gone for any reason: a lab killed with `kill -9` cannot clean up, its supervisors can.

Standard input: one line of JSON, a `SupervisedCommand`; then `stop` or `kill`. Standard output:
one line of JSON for each event, see `Event`. Standard error, inherited by the command: the log.

How it stops: the stop signal goes only to the first process, which stops its own children; if that
is a plain shell, which would die without passing it on, the signal goes to the shell's children
instead. Processes that outlive the first one by more than two seconds get the signal too. After the
grace period, everything below the supervisor is killed, repeatedly until the kernel reports that
the supervisor has no child. A daemon does not escape: as "child subreaper" the supervisor is the
parent of every orphan below it.

It imports only a few modules of the standard library.

Source:     PR_SET_CHILD_SUBREAPER(2const), PR_SET_PDEATHSIG(2const), pidfd_open(2), waitpid(2).
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from plimsoll.processes import process_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

GRACE_S = 10.0
"""Grace period of a command in seconds: time to stop by itself."""

GRACE_ALONE_S = 5.0
"""The same if the lab is gone and no one evaluates how it stops."""

KILL_S = 10.0
"""Seconds after which the supervisor gives up on processes that cannot be killed."""

ORPHANS_S = 2.0
"""Seconds that processes may outlive the first one before they get the stop signal."""

_SHELL = "sh"
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(frozen=True)
class SupervisedCommand:
    """The command that a supervisor gets.

    Attributes:
        command: Program and arguments.
        folder: Absolute path of the folder it runs in.
        environment: Its complete environment.
        cores: Cores it may use; empty for those of the lab.
        stop_signal: Name of the signal for a clean stop: `TERM`.
        grace_s: Grace period in seconds.
        lab_pid: Process id of the lab, whose end stops the command.
        output: File descriptor for its standard output; None for the log.
        input: File descriptor of its standard input; None for nothing.
    """

    command: tuple[str, ...]
    folder: str
    environment: dict[str, str]
    cores: tuple[int, ...] = ()
    stop_signal: str = "TERM"
    grace_s: float = GRACE_S
    lab_pid: int = 0
    output: int | None = None
    input: int | None = None


@dataclass(frozen=True)
class Event:
    """An event that a supervisor reports.

    Attributes:
        kind: `started`; `refused` (the command cannot be run); `ended` (the first process ended
            before the stop); `stopped` (the last event).
        at_ns: Time by the host's monotonic clock.
        pid: Of the first process.
        exit_code: Of the first process, negative for a signal; None while it runs.
        first_killed: The first process had to be killed, so its exit code means nothing.
        stop_s: `stopped`: seconds from the request to the end of the first process, 0 if it had
            ended before.
        all_s: `stopped`: seconds from the request to the end of the last process.
        killed: `stopped`: names of the programs that had to be killed, one per process.
        left: `stopped`: process ids that could not be killed.
        reason: `stopped`: source of the request: `lab`, `lab is gone`, or the name of a signal.
        errno: `refused`: the system's error number.
        message: `refused`: the error message.
    """

    kind: str
    at_ns: int
    pid: int = 0
    exit_code: int | None = None
    first_killed: bool = False
    stop_s: float = 0.0
    all_s: float = 0.0
    killed: tuple[str, ...] = ()
    left: tuple[int, ...] = ()
    reason: str = ""
    errno: int = 0
    message: str = ""


class Inbox:
    """Inputs of a supervisor: lines of the lab, the end of the lab, signals, ended children.

    Attributes:
        grace_s: Remaining grace period in seconds; None while the command may run.
        reason: Source of the first stop request.
    """

    def __init__(self) -> None:
        """Listens to standard input and to signals."""
        self.grace_s: float | None = None
        self.reason = ""
        self._order_grace_s = GRACE_S
        self._text = b""
        self._poll = select.poll()
        self._wakeups, self._alarm = os.pipe()
        self._lab: int | None = None
        os.set_blocking(self._wakeups, False)
        os.set_blocking(self._alarm, False)
        self._poll.register(0, select.POLLIN)
        self._poll.register(self._wakeups, select.POLLIN)
        _catch_signals(self._alarm)

    def order(self) -> SupervisedCommand | None:
        """The command, or None if the lab ended before it sent one."""
        while b"\n" not in self._text and self.grace_s is None:
            self.listen(None)
        line, _, self._text = self._text.partition(b"\n")
        if self.grace_s is not None:
            return None
        return self._obey(SupervisedCommand(**json.loads(line)))

    def listen(self, timeout_s: float | None) -> None:
        """Waits for something to happen, at most for `timeout_s` seconds."""
        timeout_ms = None if timeout_s is None else max(0.0, timeout_s) * 1000 + 1
        hear: dict[int, Callable[[], None]] = {0: self._hear_lab, self._wakeups: self._hear_signals}
        for descriptor, _ in self._poll.poll(timeout_ms):
            hear.get(descriptor, self._lab_is_gone)()

    def _obey(self, order: SupervisedCommand) -> SupervisedCommand:
        self._order_grace_s = order.grace_s
        try:
            self._lab = os.pidfd_open(order.lab_pid)
            self._poll.register(self._lab, select.POLLIN)
        except OSError:
            self._lab = None
        if os.getppid() != order.lab_pid:
            self._lab_is_gone()
        self._read_lines()
        return order

    def _hear_lab(self) -> None:
        heard = os.read(0, 1 << 16)
        if not heard:
            self._poll.unregister(0)
            self._lab_is_gone()
        self._text += heard
        self._read_lines()

    def _read_lines(self) -> None:
        for line in self._text.split(b"\n"):
            if line == b"stop":
                self._wish(self._order_grace_s, "lab")
            elif line == b"kill":
                self._wish(0.0, "lab")

    def _hear_signals(self) -> None:
        for number in os.read(self._wakeups, 1 << 10):
            if number in _STOPPING:
                self._wish(GRACE_ALONE_S, signal.Signals(number).name)

    def _lab_is_gone(self) -> None:
        if self._lab is not None:
            self._poll.unregister(self._lab)
            os.close(self._lab)
            self._lab = None
        self._wish(GRACE_ALONE_S, "lab is gone")

    def _wish(self, grace_s: float, reason: str) -> None:
        self.reason = self.reason or reason
        grace_s = min(grace_s, self._order_grace_s)
        self.grace_s = grace_s if self.grace_s is None else min(self.grace_s, grace_s)


@dataclass
class Family:
    """The first process and all its descendants.

    Attributes:
        first: Process id of the first process.
        exit_code: Of the first process; None while it runs.
        ended_s: When the end of the first process was noticed, by the monotonic clock.
        empty: No process of the family is left.
        killed: Name of each killed process, by process id and start.
    """

    first: int
    exit_code: int | None = None
    ended_s: float | None = None
    empty: bool = False
    killed: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])

    def reap(self) -> None:
        """Reaps all ended processes.

        Every living descendant has a living ancestor that is the supervisor's child, so no child
        means no descendant.
        """
        while not self.empty:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.empty = True
                return
            if pid == 0:
                return
            if pid == self.first:
                self.exit_code = os.waitstatus_to_exitcode(status)
                self.ended_s = time.monotonic()

    @property
    def first_killed(self) -> bool:
        """Whether the first process ended because it was killed here."""
        ours = any(pid == self.first for pid, _ in self.killed)
        return ours and self.exit_code in (None, -signal.SIGKILL)

    def outlived(self) -> bool:
        """Whether processes have outlived the first one for too long."""
        return self.ended_s is not None and time.monotonic() > self.ended_s + ORPHANS_S

    def ask(self, number: signal.Signals) -> None:
        """Sends the stop signal to the processes that must handle it or pass it on.

        The lab may have frozen them between turns: a stopped process handles no signal before it
        continues.
        """
        living = [found for found in process_table.descendants(os.getpid()) if not found.zombie]
        first = [found for found in living if found.pid == self.first]
        if not first:
            first = [found for found in living if found.parent == os.getpid()]
        elif first[0].name == _SHELL:
            first = [found for found in living if found.parent == self.first] or first
        for found in first:
            process_table.send(found, number)
        for found in living:
            process_table.send(found, signal.SIGCONT)

    def kill(self) -> None:
        """Kills all living processes, parents first."""
        for found in process_table.descendants(os.getpid()):
            if not found.zombie and process_table.send(found, signal.SIGKILL):
                self.killed[found.pid, found.started_ticks] = found.name


def main() -> None:
    """Supervises one command from its start to the end of its last process."""
    os.chdir("/")
    inbox = Inbox()
    order = inbox.order()
    if order is None:
        return
    family = _started(order)
    if family is None:
        return
    try:
        _guard(family, inbox)
        wished_s = time.monotonic()
        _ask(family, inbox, signal.Signals[f"SIG{order.stop_signal}"])
    finally:
        _kill(family, inbox)
    _tell(_stopped(family, wished_s, inbox.reason))


def _started(order: SupervisedCommand) -> Family | None:
    """Starts the command; returns whether it started."""
    cores = os.sched_getaffinity(0)
    at_ns = time.monotonic_ns()
    try:
        _call_prctl(_PR_SET_CHILD_SUBREAPER, 1)
        os.sched_setaffinity(0, order.cores or cores)
        first = _run(order)
    except OSError as error:
        _tell(Event("refused", at_ns, errno=error.errno or 0, message=str(error)))
        return None
    finally:
        os.sched_setaffinity(0, cores)
    _tell(Event("started", at_ns, pid=first))
    return Family(first)


def _run(order: SupervisedCommand) -> int:
    """Runs the command in a new session and returns its process id.

    The command inherits the supervisor's cores. If the supervisor is killed, the
    kernel kills at least the first process.
    """
    process = subprocess.Popen(
        order.command,
        cwd=order.folder,
        env=order.environment,
        stdin=subprocess.DEVNULL if order.input is None else order.input,
        stdout=2 if order.output is None else order.output,
        start_new_session=True,
        preexec_fn=lambda: _call_prctl(_PR_SET_PDEATHSIG, signal.SIGKILL),  # noqa: PLW1509
    )
    for descriptor in (order.output, order.input):
        if descriptor is not None:
            os.close(descriptor)
    process.returncode = 0  # it is `Family.reap` that asks how it ended
    return process.pid


def _guard(family: Family, inbox: Inbox) -> None:
    """Waits for a stop request, and reports if the first process ends before it."""
    while inbox.grace_s is None:
        inbox.listen(None)
        running = family.exit_code is None
        family.reap()
        if running and family.exit_code is not None and inbox.grace_s is None:
            _tell(Event("ended", time.monotonic_ns(), family.first, family.exit_code))


def _ask(family: Family, inbox: Inbox, number: signal.Signals) -> None:
    """Requests a clean stop, and waits for it during the grace period."""
    begin_s = time.monotonic()
    orphans_asked = family.exit_code is not None
    family.ask(number)
    family.reap()
    while not family.empty and time.monotonic() < begin_s + (inbox.grace_s or 0.0):
        if family.outlived() and not orphans_asked:
            orphans_asked = True
            family.ask(number)
        inbox.listen(min(0.1, begin_s + (inbox.grace_s or 0.0) - time.monotonic()))
        family.reap()


def _kill(family: Family, inbox: Inbox) -> None:
    """Kills all remaining processes, repeatedly if necessary."""
    end_s = time.monotonic() + KILL_S
    while not family.empty and time.monotonic() < end_s:
        family.kill()
        inbox.listen(0.01)
        family.reap()


def _stopped(family: Family, wished_s: float, reason: str) -> Event:
    now_s = time.monotonic()
    left = () if family.empty else process_table.descendants(os.getpid())
    return Event(
        "stopped",
        time.monotonic_ns(),
        family.first,
        family.exit_code,
        first_killed=family.first_killed,
        stop_s=max(0.0, (family.ended_s or now_s) - wished_s),
        all_s=now_s - wished_s,
        killed=tuple(family.killed.values()),
        left=tuple(found.pid for found in left),
        reason=reason,
    )


def _tell(event: Event) -> None:
    """Writes an event; does not fail if the lab is gone."""
    line = json.dumps(asdict(event)).encode() + b"\n"
    try:
        os.write(1, line)
    except OSError:
        return


def _catch_signals(alarm: int) -> None:
    """Turns signals into bytes on `alarm`.

    The command does not inherit handlers, unlike ignored signals, so it has the default ones.
    """

    def noted(number: int, frame: FrameType | None) -> None: ...

    signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
    for number in (*_STOPPING, signal.SIGCHLD):
        signal.signal(number, noted)
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _call_prctl(option: int, value: int) -> None:
    if _LIBC.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}: {os.strerror(ctypes.get_errno())}")


_LIBC = ctypes.CDLL(None, use_errno=True)

if __name__ == "__main__":
    main()
