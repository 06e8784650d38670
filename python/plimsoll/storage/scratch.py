"""A folder for a while: removed at its end, or by the next one if its process was killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

PREFIX = "plimsoll-scratch-"
"""What the name of such a folder begins with."""


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
    made = Path(tempfile.mkdtemp(prefix=f".{PREFIX}", dir=within))
    held = _held(made)
    named = made.rename(made.with_name(made.name.removeprefix(".")))  # from now on it is looked at
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
    for path in within.glob(f"{PREFIX}*"):
        held = _held(path)
        if held is None:
            continue
        if os.fstat(held).st_uid == os.geteuid():
            shutil.rmtree(path, ignore_errors=True)
        os.close(held)


def _held(path: Path) -> int | None:
    """Descriptor of a folder that is locked by it; None where another process holds it."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor
    return None
