"""Redacts arguments that may contain a password from the process list."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_STAT = Path("/proc/self/stat")
_MEMORY = Path("/proc/self/mem")

_ARG_START, _ARG_END = 48, 49
"""Fields of `/proc/self/stat`, from 1; proc_pid_stat(5)."""


def conceal(text: str) -> None:
    """Overwrites a text in the command line of this process, as `ps` shows it.

    It stays visible where the kernel does not allow that.

    Args:
        text: As it was typed.
    """
    with suppress(OSError, ValueError):
        start, end = _command_line()
        with _MEMORY.open("r+b", buffering=0) as memory:
            memory.seek(start)
            shown = memory.read(end - start)
            memory.seek(start)
            memory.write(_without(shown, text.encode()))


def _command_line() -> tuple[int, int]:
    """Start and end of the command line in memory; a process name may contain spaces."""
    fields = _STAT.read_text("ascii", "replace").rpartition(")")[2].split()
    return int(fields[_ARG_START - 3]), int(fields[_ARG_END - 3])


def _without(shown: bytes, text: bytes) -> bytes:
    return shown.replace(text, b"*" * len(text)) if text else shown
