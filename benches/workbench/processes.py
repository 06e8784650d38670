"""Processes that are started, measured and ended."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from workbench import host

_LOOK_S = 0.05
"""How often a process is looked at."""

_GRACE_S = 20.0
"""How long a server may take to stop."""


@dataclass(frozen=True)
class Ended:
    """A process that has ended.

    Attributes:
        stdout: What it said.
        stderr: What it complained of.
        exit_code: Its exit code; negative for a signal.
        cpu_s: User and system time of all its threads and children, start-up included, in seconds.
        peak_rss_bytes: The most memory it held.
        waits: How often its threads gave up their core to wait: each wait ends with a wake-up.
    """

    stdout: str
    stderr: str
    exit_code: int
    cpu_s: float
    peak_rss_bytes: int
    waits: int = 0


def run(command: Sequence[str], cores: tuple[int, ...], patience_s: float) -> Ended:
    """Runs a command to its end.

    Args:
        command: Program and arguments.
        cores: Where it may run.
        patience_s: Seconds after which it is killed.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with host.confined(cores):
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        usage, peak_bytes = _wait(process, time.monotonic() + patience_s)
        said, complained = (_content(file) for file in (out, err))
    cpu_s = usage.ru_utime + usage.ru_stime
    return Ended(said, complained, process.returncode, cpu_s, peak_bytes, usage.ru_nvcsw)


def _wait(process: subprocess.Popen[bytes], end_s: float) -> tuple[resource.struct_rusage, int]:
    """What a process used, and the most memory it held in bytes."""
    peak_bytes = 0
    try:
        while True:
            peak_bytes = max(peak_bytes, _peak_rss_bytes(process.pid))
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                return usage, max(peak_bytes, _own_peak_rss_bytes(usage))
            if time.monotonic() > end_s:
                process.kill()
            time.sleep(_LOOK_S)
    finally:
        if process.returncode is None:
            process.kill()
            process.wait()


def _peak_rss_bytes(pid: int) -> int:
    """Peak of a process that lives; `proc_pid_status(5)`, `VmHWM`."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _own_peak_rss_bytes(usage: resource.struct_rusage) -> int:
    """Peak of a process by what it left behind, which sees its last moments too.

    A process inherits the peak of the one that started it (`getrusage(2)`, `ru_maxrss`), so only
    what lies above that is its own.
    """
    inherited = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return usage.ru_maxrss * 1024 if usage.ru_maxrss > inherited else 0


def _content(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


class Reference:
    """The reference server, fresh for each run so that it can count what the run asked of it.

    Attributes:
        address: Address and port.
        accepted: Connections it accepted; known when it has stopped.
        answered: Requests it answered; known when it has stopped.
    """

    def __init__(
        self, cores: Sequence[int], certificate: Path | None = None, options: Sequence[str] = ()
    ):
        """Starts it.

        Args:
            cores: Its cores, with one thread on each.
            certificate: With it, it serves by TLS.
            options: Further options.
        """
        common = ["--workers", str(len(cores)), "--port", "0", "--backlog", "65535"]
        if certificate:
            common += ["--tls-cert", str(certificate), "--tls-key", str(certificate)]
        with host.confined(tuple(cores)):
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "plimsoll.reference", *common, *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                text=True,
            )
        self.address = str(self._heard()["address"])
        self.accepted = self.answered = 0

    def cpu_s(self) -> float:
        """Processor time of its threads so far in seconds; `/proc/PID/task/TID/schedstat`."""
        tasks = Path(f"/proc/{self._process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text(encoding="utf-8").split()[0]) for task in tasks) / 1e9

    def __enter__(self) -> Reference:
        """The server itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stops it and takes in what it has counted."""
        self._process.terminate()
        try:
            stopped = self._heard()
            self._process.wait(_GRACE_S)
        finally:
            self._process.kill()
        self.accepted = int(stopped.get("connections_accepted", 0))
        self.answered = int(stopped.get("responses_sent", 0))

    def _heard(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise SystemExit("error: the reference server did not start, or ended too early")
        return json.loads(line)
