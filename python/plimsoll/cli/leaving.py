"""Ctrl-C while the program is still being loaded: there is nothing to end, so it leaves at once.

An exception raised within an import can be lost, or end in a traceback; a handler that leaves
cannot. This module is imported before all others, so it needs next to nothing itself: `typing` and
`contextlib` would be a large part of the time in which Ctrl-C is not yet understood.
"""

from __future__ import annotations

import os
import signal

INTERRUPTED = 130
"""Exit code; the same as in `errors`, which is not loaded yet."""


def leave(_number: int, _frame: object) -> None:
    """Ends the process with a word and without a traceback."""
    os.write(2, b"error: interrupted\n")
    os._exit(INTERRUPTED)


def begin() -> bool:
    """From now on Ctrl-C leaves at once; says whether that is new.

    Where Ctrl-C is ignored, or somebody else handles it, nothing changes.
    """
    try:
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            return False
        signal.signal(signal.SIGINT, leave)
    except ValueError:  # not the main thread
        return False
    return True


def end(*, begun: bool) -> None:
    """Has Ctrl-C raise `KeyboardInterrupt` again.

    Args:
        begun: What `begin` said.
    """
    if begun:
        signal.signal(signal.SIGINT, signal.default_int_handler)
