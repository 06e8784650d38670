"""Copies of rows that stay on the hosts of a load, until a trial has all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.drivers.records import ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from plimsoll.recording import HostDriver

COPIES = "fetched"
"""Folder of all copies within the results; each trial has one of its own in it."""


def put_aside(hosts: Iterable[HostDriver], into: Path, copies: Path) -> None:
    """Moves what is here of rows that stay on hosts to where their copy goes on.

    Args:
        hosts: The hosts.
        into: The trial's folder.
        copies: Folder of the copies of this trial.

    Raises:
        OSError: They cannot be moved.
    """
    for one in hosts:
        files = [into / one.host / name for name in ROWS] if one.kept is not None else []
        for file in (path for path in files if path.exists()):
            (copies / one.host).mkdir(parents=True, exist_ok=True)
            file.rename(copies / one.host / file.name)
