"""Commands that are run for what they print, also several at one time.

A signal ends them with all their processes: those of the thread that hears of it, and those of the
threads that it waits for.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from plimsoll.install import waiting

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from pathlib import Path


class _Ended(threading.local):
    """Of each thread: what is set when its commands are to end."""

    event: threading.Event = waiting.NEVER


_ENDED = _Ended()


@contextmanager
def threads(most: int, stop: threading.Event | None = None) -> Generator[ThreadPoolExecutor]:
    """Threads whose commands end when an error or a signal ends the block.

    Args:
        most: How many threads.
        stop: Is set then, for work that looks at it itself; None for one of their own.
    """
    stop = stop or threading.Event()
    with ThreadPoolExecutor(most, initializer=_listen, initargs=(stop,)) as begun:
        try:
            yield begun
        except BaseException:
            stop.set()
            begun.shutdown(wait=False, cancel_futures=True)
            raise


def run(
    command: Sequence[str],
    *,
    timeout_s: float,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Runs a command to its end, without input.

    Args:
        command: The program and its arguments.
        timeout_s: Timeout in seconds; then it is killed with its processes.
        folder: Where it runs; None for the current folder.
        environment: Its environment; None for that of the lab.

    Returns:
        Its exit code and what it printed.

    Raises:
        OSError: It cannot be run.
        TimeoutExpired: It did not end in time.
        Interrupted: It ran in one of the `threads`, and they are to end.
    """
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            printed = _printed(process, timeout_s)
        except BaseException:
            _kill(process)
            raise
    return subprocess.CompletedProcess(command, process.returncode, *printed)


def _listen(stop: threading.Event) -> None:
    _ENDED.event = stop


def _printed(process: subprocess.Popen[bytes], timeout_s: float) -> tuple[bytes, bytes]:
    """What a process prints on each of its outputs until it ends."""
    printed: list[tuple[bytes, bytes]] = []

    def ended(within_s: float) -> bool:
        with suppress(subprocess.TimeoutExpired):
            printed.append(process.communicate(timeout=within_s))
        return bool(printed)

    if not waiting.wait(ended, timeout_s, _ENDED.event):
        raise subprocess.TimeoutExpired(process.args, timeout_s)
    return printed[0]


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kills a process with all others of its group, unless it was waited for already."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
