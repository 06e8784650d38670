"""Ctrl-C while the program is loading: nothing has started, so the process exits at once.

A `KeyboardInterrupt` inside an import can be swallowed or print a traceback; a handler that exits
cannot. This module is imported first and imports almost nothing: `typing` and `contextlib` alone
would take a large part of the time in which Ctrl-C is not handled yet.
"""

from __future__ import annotations

import os
import signal

INTERRUPTED = 130
"""Exit code; the same as in `errors`, which is not loaded yet."""


def leave(_number: int, _frame: object) -> None:
    """Exits with a message and without a traceback."""
    os.write(2, b"error: interrupted\n")
    os._exit(INTERRUPTED)


def begin() -> bool:
    """Makes Ctrl-C exit at once; returns whether it changed the handler.

    Nothing changes where Ctrl-C is ignored or has another handler.
    """
    try:
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            return False
        signal.signal(signal.SIGINT, leave)
    except ValueError:  # not the main thread
        return False
    return True


def end(*, begun: bool) -> None:
    """Makes Ctrl-C raise `KeyboardInterrupt` again.

    Args:
        begun: The result of `begin`.
    """
    if begun:
        signal.signal(signal.SIGINT, signal.default_int_handler)
