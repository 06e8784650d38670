"""A folder for a while: removed at its end, or by the next one if its process was killed."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

PREFIX = "plimsoll-scratch-"
"""What the name of such a folder begins with, behind a dot until it is held."""

_ATTEMPTS = 100
"""Folders that are made until one is held: each may be taken for one that was left behind."""


@contextmanager
def folder(within: Path | None = None) -> Generator[Path]:
    """A new folder that this process holds for as long as the block runs.

    A process that is killed leaves its folder behind. Its lock ends with it, so whoever makes the
    next folder removes those that no process holds.

    Args:
        within: Where it is made; None for the folder for temporary files.

    Raises:
        OSError: It could not be made.
    """
    within = within or Path(tempfile.gettempdir())
    remove_abandoned(within)
    named, held = _made(within)
    try:
        yield named
    finally:
        shutil.rmtree(named, ignore_errors=True)
        if held is not None:
            os.close(held)


def remove_abandoned(within: Path) -> None:
    """Removes those that no process holds.

    Args:
        within: Where they were made.
    """
    for path in (*within.glob(f"{PREFIX}*"), *within.glob(f".{PREFIX}*")):
        try:
            held = _held(path)
        except OSError:
            continue
        if os.fstat(held).st_uid == os.geteuid():
            shutil.rmtree(path, ignore_errors=True)
        os.close(held)


def _made(within: Path) -> tuple[Path, int | None]:
    """A new folder and the descriptor that holds it; None where the file system has no locks.

    Until it is held, another process may remove it as one that was left behind. Then there is
    nothing in it yet, and the next one is made.
    """
    for _ in range(_ATTEMPTS):
        made = Path(tempfile.mkdtemp(prefix=f".{PREFIX}", dir=within))
        try:
            held = _held(made)
        except (BlockingIOError, FileNotFoundError):
            continue
        except OSError:
            held = None
        try:
            return made.rename(made.with_name(made.name.removeprefix("."))), held
        except FileNotFoundError:
            if held is not None:
                os.close(held)
    raise FileNotFoundError(errno.ENOENT, "each new folder was removed at once", str(within))


def _held(path: Path) -> int:
    """Descriptor of a folder that is locked by it.

    Raises:
        BlockingIOError: Another process holds it.
        OSError: It is gone, no folder, or cannot be locked.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
