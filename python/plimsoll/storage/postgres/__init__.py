"""A PostgreSQL database: the tables of `docs/tables.md` in a schema `plimsoll`, keyed by trial.

Nothing heavy is imported before it is used, and the client library only if a database is used.
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
    """Whether this is the selected storage: the URL of a database was given."""
    return address.is_address(storage)


@contextmanager
def opened(folder: Path, storage: str) -> Generator[Results]:
    """The results of the campaign with the name of a folder.

    Args:
        folder: Folder of the campaign and its report.
        storage: URL of the database.

    Raises:
        InputError: The URL is invalid.
        StorageError: The database, or its client library, is not available.
    """
    from plimsoll.storage.postgres import results  # noqa: PLC0415 - heavy

    found = results.PostgresResults(address.address(storage), folder.absolute())
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
    """Copies a campaign into a database; existing trials are replaced.

    Args:
        results: The campaign.
        storage: URL of the database.
        trial_ids: The trials to copy; None for all, with the derived tables of the campaign.
        tell: Called with the id of each trial before it is copied.

    Raises:
        InputError: The URL is invalid.
        StorageError: Something could not be read or written; copied trials are complete.
    """
    from plimsoll.storage.postgres import exported  # noqa: PLC0415 - heavy

    return exported.export(results, storage, trial_ids, tell)
