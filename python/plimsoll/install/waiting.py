"""Waits that another thread can end: for a build, or for a lock.

Only the main thread hears of Ctrl-C; where several build, it sets what the others look at.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from plimsoll.errors import Interrupted
from plimsoll.processes.interruption import REPEAT

if TYPE_CHECKING:
    from collections.abc import Callable

NEVER = threading.Event()
"""For waits that no other thread ends: nobody sets it."""

LOOK_EVERY_S = 0.2
"""Time between two looks at whether a wait was ended."""


def wait(happens: Callable[[float], bool], timeout_s: float, stop: threading.Event) -> bool:
    """Waits until something happens.

    Args:
        happens: Waits for it so many seconds at most, and returns whether it has happened.
        timeout_s: Seconds to wait in all.
        stop: Ends the wait when it is set.

    Returns:
        Whether it has happened.

    Raises:
        Interrupted: `stop` is set.
    """
    end_s = time.monotonic() + timeout_s
    while True:
        if stop.is_set():
            raise Interrupted("a signal ended the command early", REPEAT)
        left_s = end_s - time.monotonic()
        if happens(max(0.0, min(LOOK_EVERY_S, left_s))):
            return True
        if left_s <= 0:
            return False
