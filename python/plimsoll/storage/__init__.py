"""Where results are kept, one module for each way to keep them.

A module has `serves(storage)`, whether it is meant by what was typed after `--storage`, and
`opened(folder, storage)`, which gives `results.Results`.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import CampaignError, Problem
from plimsoll.storage import parquet, postgres

if TYPE_CHECKING:
    from plimsoll.storage.results import Results

STORAGES = (parquet, postgres)
"""Every storage."""

_HINT = "write `--storage postgresql://USER@HOST/DATABASE`, or leave it out for a folder"


@contextmanager
def opened(folder: Path, storage: str = "") -> Generator[Results]:
    """The results of a campaign, wherever they are kept.

    Args:
        folder: Folder of the campaign; its name is that of the campaign, and its report lies there.
        storage: What was typed after `--storage`; empty for the folder itself.

    Raises:
        CampaignError: There is no such storage; what was typed is not repeated, for it may hold a
            password.
        StorageError: The storage is not there.
    """
    for module in STORAGES:
        if module.serves(storage):
            with module.opened(folder, storage) as results:
                yield results
            return
    raise CampaignError([Problem("", "there is no such storage", _HINT)])
