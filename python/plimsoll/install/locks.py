"""Locks of folders that several processes may fill."""

from __future__ import annotations

import fcntl
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@contextmanager
def alone(folder: Path) -> Generator[None]:
    """Waits for the lock of a folder, and holds it during the block.

    Args:
        folder: An existing folder; the lock is its file `.lock`.
    """
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
