"""Counters of the kernel's perf events, by the system call itself: libc has no function for it.

Source: perf_event_open(2); `struct perf_event_attr` as of its first version.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

TRACEPOINT = 2
"""The kind of events that the kernel's trace points are."""

_NUMBERS = {"x86_64": 298, "aarch64": 241, "riscv64": 241}
"""Number of the system call by architecture."""

_ATTRIBUTES = struct.Struct("=IIQQQQQIIQ")
"""Kind, size, configuration, period, sample type, read format, flags; the rest is for samples."""

_INHERIT = 1 << 1
_CLOSE_ON_EXEC = 1 << 3
_VALUE = struct.Struct("=Q")
_LIBC = ctypes.CDLL(None, use_errno=True)


def opened(kind: int, config: int, *, task: int = -1, core: int = -1) -> int:
    """Opens a counter, which counts from now on.

    Args:
        kind: Kind of event, as the kernel numbers them.
        config: The event.
        task: Thread that is counted, with those and the processes that it starts from now on; -1
            for all of them, on one core.
        core: Core on which is counted; -1 for every one.

    Returns:
        Its file descriptor.

    Raises:
        OSError: The kernel refuses, or has no such event.
    """
    number = _NUMBERS.get(platform.machine())
    if number is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    flags = 0 if task < 0 else _INHERIT
    attributes = _ATTRIBUTES.pack(kind, _ATTRIBUTES.size, config, 0, 0, 0, flags, 0, 0, 0)
    arguments = map(ctypes.c_long, (task, core, -1, _CLOSE_ON_EXEC))
    counter = _LIBC.syscall(ctypes.c_long(number), ctypes.c_char_p(attributes), *arguments)
    if counter < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return counter


def value(counter: int) -> int:
    """What a counter has counted so far.

    Raises:
        OSError: It cannot be read.
    """
    (found,) = _VALUE.unpack(os.read(counter, _VALUE.size))
    return found
