"""Locks of folders that several processes may fill."""

from __future__ import annotations

import fcntl
import math
import time
from contextlib import contextmanager
from functools import partial
from typing import IO, TYPE_CHECKING

from plimsoll.install import waiting

if TYPE_CHECKING:
    import threading
    from collections.abc import Generator
    from pathlib import Path


@contextmanager
def alone(folder: Path, stop: threading.Event = waiting.NEVER) -> Generator[None]:
    """Waits for the lock of a folder, and holds it during the block.

    Args:
        folder: An existing folder; the lock is its file `.lock`.
        stop: Ends the wait when it is set.

    Raises:
        Interrupted: `stop` is set.
    """
    with (folder / ".lock").open("w") as lock:
        waiting.wait(partial(_taken, lock), math.inf, stop)
        yield


def _taken(lock: IO[str], within_s: float) -> bool:
    """Takes a lock, or waits for some time; flock(2) itself cannot be ended by another thread."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        time.sleep(within_s)
        return False
    return True
