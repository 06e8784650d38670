"""A command that prints watts: one number and ends, or a number a line for as long as it runs."""

from __future__ import annotations

import math
import os
import select
import signal
import subprocess
import threading
import time
from contextlib import suppress
from typing import IO

from plimsoll import wording
from plimsoll.errors import MeterFailed

INTERVAL_S = 1.0
"""From one start of a command that ends to the next."""

TIMEOUT_S = 10.0
"""The longest wait for a line."""

LONGEST = 4096
_SHOWN = 40
_HINT = "it should print one number of watts a line, such as `52.4`"


class Command:
    """A command of the user, run by the shell in a process group of its own."""

    interval_s = 0.0

    def __init__(self, command: str) -> None:
        """Nothing runs yet."""
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._began_s = -INTERVAL_S
        self._rest = b""
        self._lock = threading.Lock()
        self._reading = threading.Lock()
        self._closed = threading.Event()

    def watts(self) -> float:
        """The number on the newest line; waits for the next one where there is none yet."""
        has_begun = self._process is None
        if has_begun:
            self._begin()
        line = self._line()
        if line is None and not has_begun:  # a command that prints once has ended
            self._begin()
            line = self._line()
        if line is None:
            code = self._end()
            raise MeterFailed(f"the power command ended with exit code {code}", _HINT)
        return _number(line)

    def close(self) -> None:
        """Ends the command; a wait for its next line ends too."""
        self._closed.set()
        self._end()

    def _begin(self) -> None:
        self._end()
        self._closed.wait(max(0.0, self._began_s + INTERVAL_S - time.monotonic()))
        with self._lock:
            if self._closed.is_set():
                raise MeterFailed("the power command was ended")
            self._began_s, self._rest = time.monotonic(), b""
            self._process = subprocess.Popen(  # noqa: S602 - the user's own command line
                self._command,
                shell=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def _line(self) -> bytes | None:
        """The newest whole line; None when the command ended without another one.

        Raises:
            MeterFailed: None came in time.
        """
        process = self._process
        if process is None or process.stdout is None:
            return None
        with self._reading:
            return self._read(process.stdout)

    def _read(self, printed: IO[bytes]) -> bytes | None:
        deadline_s = time.monotonic() + TIMEOUT_S
        while True:
            left_s = deadline_s - time.monotonic()
            if left_s <= 0 or not select.select([printed], [], [], left_s)[0]:
                message = f"the power command printed nothing for {wording.exact(TIMEOUT_S)} s"
                raise MeterFailed(message, _HINT)
            more = os.read(printed.fileno(), LONGEST)
            self._rest = (self._rest + (more or b"\n" * bool(self._rest)))[-LONGEST:]
            *whole, self._rest = self._rest.split(b"\n")
            lines = [line for line in whole if line.strip()]
            if lines:
                return lines[-1]
            if not more:
                return None

    def _end(self) -> int | None:
        """Ends the command and all that it started; its exit code, None where none ran."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return None
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # not reaped yet, so the number is still its own
        code = process.wait()
        if process.stdout is not None and self._reading.acquire(timeout=INTERVAL_S):
            process.stdout.close()
            self._reading.release()
        return code


def _number(line: bytes) -> float:
    shown = line.decode("utf-8", "replace").strip()
    try:
        watts = float(shown)
    except ValueError:
        watts = math.nan
    if not math.isfinite(watts):
        raise MeterFailed(f"the power command printed `{shown[:_SHOWN]}`", _HINT)
    return watts
