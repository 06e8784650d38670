"""Disks of hosts and of the lab: what is said where one is full, or cannot be written or read."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

ELSEWHERE = "free disk space there, or start its agent with `TMPDIR` on a larger disk"
"""What to do about a disk on which an agent works."""

ROWS_ELSEWHERE = "free disk space there, or start its agent with `--rows` on a larger disk"
"""What to do about a disk on which rows are to stay."""

RECORD_ELSEWHERE = "free disk space, or record on a larger disk with `record=`"
"""What to do about the disk of the lab."""

READABLE = "let the agent read it, or copy it to its `--rows`"
"""What to do about rows that an agent cannot read."""

UNWRITTEN = "cannot be written"
UNREAD = "cannot be read"


@contextmanager
def written(folder: Path, hint: str = ELSEWHERE) -> Generator[None]:
    """Names a folder that could not be written, and what to do on that host.

    Args:
        folder: The folder.
        hint: What to do.

    Raises:
        StorageError: The block raised an OSError, or this error of the load generator.
    """
    with named(folder, hint):
        try:
            yield
        except StorageError as error:
            free = "" if str(folder) in error.message else f": {_free(folder)}"
            raise StorageError(f"{error.message}{free}", hint) from error


@contextmanager
def named(folder: Path, hint: str, failed: str = UNWRITTEN) -> Generator[None]:
    """Turns errors of the operating system into one that names a folder, and what to do.

    Args:
        folder: The folder.
        hint: What to do.
        failed: What could not be done with it.

    Raises:
        StorageError: The block raised an OSError.
    """
    try:
        yield
    except OSError as error:
        raise disk_error(error, folder, hint, failed) from error


def disk_error(
    error: OSError, folder: Path | None = None, hint: str = ELSEWHERE, failed: str = UNWRITTEN
) -> StorageError:
    """The error of a host that could not write, or read, something.

    Args:
        error: The error of the operating system.
        folder: Where; None for what the error says.
        hint: What to do.
        failed: What could not be done.
    """
    place = folder or error.filename or "the folder of its agent"
    return StorageError(f"`{place}` {failed}: {error.strerror or error}", hint)


def free_bytes(folder: Path) -> int:
    """What is free in a folder that may be gone, or not be there yet."""
    return shutil.disk_usage(_existing(folder)).free


def is_same(one: Path, other: Path) -> bool:
    """Whether two folders, which may not be there yet, are on one disk."""
    return _existing(one).stat().st_dev == _existing(other).stat().st_dev


def _existing(folder: Path) -> Path:
    absolute = folder.absolute()
    return next(one for one in (absolute, *absolute.parents) if one.exists())


def _free(folder: Path) -> str:
    return f"`{folder}` has {wording.size(free_bytes(folder))} free"
