"""Threads of other programs that stand still for a while, as if what they wait for did."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_SEIZE, _INTERRUPT, _DETACH = 0x4206, 0x4207, 17
_ANY_THREAD = 0x40000000


def thread_of(mark: str, name: str) -> int | None:
    """Number of a thread of a name in a program that has `mark` in its environment."""
    for path in Path("/proc").glob("[0-9]*/task/[0-9]*/comm"):
        try:
            is_wanted = path.read_text().strip() == name
            if is_wanted and mark.encode() in (path.parent / "environ").read_bytes():
                return int(path.parent.name)
        except OSError:
            continue
    return None


@contextmanager
def stopped(thread: int) -> Iterator[None]:
    """A thread stands still meanwhile; the test is skipped where that is not allowed."""
    kernel = ctypes.CDLL(None, use_errno=True)

    def trace(request: int) -> None:
        if kernel.ptrace(ctypes.c_long(request), ctypes.c_long(thread), None, None):
            pytest.skip(f"no thread may be stopped here: {os.strerror(ctypes.get_errno())}")

    trace(_SEIZE)
    trace(_INTERRUPT)
    os.waitpid(thread, _ANY_THREAD)
    try:
        yield
    finally:
        trace(_DETACH)
