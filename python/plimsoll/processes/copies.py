"""Runs a command several times at once: `python copies.py COUNT COMMAND [ARGUMENT]...`.

For servers of which each process uses one core, and that share their port by `SO_REUSEPORT`. Each
copy has `WORKERS=1` in its environment. Signals are passed on to all copies; when one ends before
that, the others are stopped, since a server that lost a core must not go on as if it had all. The
exit code is the greatest of the copies, as a shell has them: 128 + N for signal N.

It imports only the standard library, and is run as a file.

Source:
    socket(7), SO_REUSEPORT: the kernel distributes connections among the sockets of one port.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
HEARD = (*PASSED_ON, signal.SIGCHLD)


def main(count: int, command: Sequence[str]) -> int:
    """Runs the copies; returns the exit code."""
    signal.pthread_sigmask(signal.SIG_BLOCK, HEARD)
    running = {_started(command) for _ in range(count)}
    code, is_stopping = 0, False
    while running:
        number = signal.sigwait(HEARD)
        if number != signal.SIGCHLD:
            is_stopping = True
            _send(number, running)
            continue
        for pid, ended in _ended(frozenset(running)):
            running.remove(pid)
            code = max(code, ended if ended >= 0 else 128 - ended)
            if not is_stopping:
                print(f"process {pid} ended with exit code {ended}", file=sys.stderr)
                is_stopping = True
                _send(signal.SIGTERM, running)
    return code


def _started(command: Sequence[str]) -> int:
    """Starts a copy, which hears all signals; returns its process id."""
    program = shutil.which(command[0]) or command[0]
    return os.posix_spawn(program, [*command], {**os.environ, "WORKERS": "1"}, setsigmask=())


def _send(number: int, running: Iterable[int]) -> None:
    """Sends a signal; process ids of copies that ended stay theirs until they are waited for."""
    for pid in running:
        os.kill(pid, number)


def _ended(running: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Process ids and exit codes of the copies that have ended; negative for a signal."""
    for pid in running:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            yield pid, os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), sys.argv[2:]))
