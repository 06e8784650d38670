"""Storage of results, one module per kind.

A module has `serves(storage)`, whether an address selects it, and
`opened(folder, storage)`, which returns `results.Results`.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import InputError, Problem
from plimsoll.storage import parquet, postgres

if TYPE_CHECKING:
    from plimsoll.storage.results import Results

STORAGES = (parquet, postgres)
"""Every storage."""

_HINT = "give `storage=` as postgresql://USER@HOST/DATABASE, or remove it to use a folder"


@contextmanager
def opened(folder: Path, storage: str = "") -> Generator[Results]:
    """The results of a campaign in any storage.

    Args:
        folder: Folder of the campaign and its report; its name is that of the campaign.
        storage: Address of a database; empty for the folder itself.

    Raises:
        InputError: There is no such storage; the message does not repeat the value, which may
            contain a password.
        StorageError: The storage is not available.
    """
    for module in STORAGES:
        if module.serves(storage):
            with module.opened(folder, storage) as results:
                yield results
            return
    raise InputError([Problem("", "unknown storage", _HINT)])
