"""Rows that stay on a host: where a load's files are put, and where if there is no room."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from plimsoll.errors import StorageError
from plimsoll.hosts import disk
from plimsoll.hosts.answers import Stayed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

PREFIX = "plimsoll-rows-"
"""What the name of a folder begins with that holds rows for which there was no room elsewhere."""


def put(load: Path, names: Collection[str], into: Path) -> Stayed:
    """Puts the rows of a load where they stay, or else beside the folder of the agent.

    There they take no space: it is the disk on which they are. They outlive the agent.

    Args:
        load: Folder of the load; the agent removes it.
        names: Files of rows; some may not be there.
        into: New folder for them.

    Raises:
        StorageError: They can be put nowhere.
    """
    into = into.absolute()
    try:
        with disk.named(into, disk.ROWS_ELSEWHERE):
            _moved([load / name for name in names if (load / name).exists()], into)
    except StorageError as error:
        return Stayed(str(_beside(load, names, into.name)), error)
    return Stayed(str(into))


def _moved(paths: Iterable[Path], into: Path) -> None:
    """Moves files into a new folder, all or none.

    Raises:
        OSError: They cannot be written there.
    """
    paths = tuple(paths)
    into.mkdir(parents=True)
    try:
        for path in paths:
            _copied(path, into / path.name)
    except OSError:
        shutil.rmtree(into, ignore_errors=True)
        raise
    for path in paths:
        path.unlink()


def _copied(path: Path, into: Path) -> None:
    """A second name of a file, or a copy where that would be on another disk."""
    try:
        into.hardlink_to(path)
    except OSError:
        shutil.copyfile(path, into)


def _beside(load: Path, names: Collection[str], name: str) -> Path:
    """The rows in a folder of their own on the same disk, without anything else of the load."""
    place = load.parent.with_name(f"{PREFIX}{name}-{os.getpid()}")
    with disk.named(place, disk.ELSEWHERE):
        load.chmod(0o700)
        load.rename(place)
        for path in place.iterdir():
            if path.name not in names:
                with suppress(OSError):
                    path.unlink()
    return place
