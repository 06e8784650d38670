"""A PostgreSQL database: the tables of `docs/tables.md` in a schema `plimsoll`, keyed by trial.

Nothing heavy is imported before it is used, and the library only where a database is.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.storage.postgres import address

if TYPE_CHECKING:
    from plimsoll.storage.postgres.exported import Exported
    from plimsoll.storage.results import Results


def serves(storage: str) -> bool:
    """Whether results are to be kept here: the address of a database was named."""
    return address.is_address(storage)


@contextmanager
def opened(folder: Path, storage: str) -> Generator[Results]:
    """The results of the campaign that has the name of a folder.

    Args:
        folder: Folder of the campaign; the report lies there.
        storage: Address of the database.

    Raises:
        CampaignError: It is no address.
        StorageError: The database, or its library, is not there.
    """
    from plimsoll.storage.postgres import results  # noqa: PLC0415 - heavy

    found = results.Results(address.address(storage), folder)
    try:
        yield found
    finally:
        found.close()


def export(
    results: Results,
    storage: str,
    trial_ids: Sequence[str] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Exported:
    """Copies a campaign into a database; a trial that is there already is replaced.

    Args:
        results: The campaign.
        storage: Address of the database.
        trial_ids: Its trials that are copied; None for all, with what is derived from them.
        tell: Told the id of each trial before it is copied.

    Raises:
        CampaignError: `storage` is no address.
        StorageError: Something could not be read or written; trials that are there are complete.
    """
    from plimsoll.storage.postgres import exported  # noqa: PLC0415 - heavy

    return exported.export(results, storage, trial_ids, tell)
