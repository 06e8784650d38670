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


def missing(results: Results, content: str, hint: str) -> InputError:
    """The error for results that are no folder, or one without what is needed.

    Args:
        results: The results.
        content: What they do not contain, with its article: `no recording`.
        hint: What to give instead.
    """
    is_folder = Path(results.place).absolute() == results.folder
    is_nothing = is_folder and not results.folder.is_dir()
    found = "is not a folder" if is_nothing else f"contains {content}"
    return InputError([Problem("", f"`{results.place}` {found}", hint)])


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
