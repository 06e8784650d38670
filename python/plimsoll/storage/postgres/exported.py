"""Copies results of another storage into a database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.storage.documents import CampaignFiles
from plimsoll.storage.postgres.address import address
from plimsoll.storage.postgres.results import PostgresResults

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.storage.results import Results


@dataclass(frozen=True)
class Exported:
    """A copied campaign.

    Attributes:
        place: Where it is now, without credentials.
        trials: Number of trials.
        rows: Number of rows in all tables.
    """

    place: str
    trials: int
    rows: int


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
    target = PostgresResults(address(storage), results.folder)
    chosen = results.trial_ids() if trial_ids is None else tuple(trial_ids)
    rows = 0
    try:
        with target.session.alone():
            target.describe(_campaign(results), results.plan())
            for trial_id in chosen:
                tell(trial_id)
                rows += target.load(results, trial_id)
            if trial_ids is None:
                _copy_derived(results, target)
    finally:
        target.close()
    return Exported(target.place, len(chosen), rows)


def _campaign(results: Results) -> CampaignFiles:
    return CampaignFiles(
        results.campaign_toml(), results.published_toml(), results.campaign_resolved()
    )


def _copy_derived(results: Results, target: PostgresResults) -> None:
    for trial_id in results.trial_ids():
        if (derived := results.read_derived_trial(trial_id)) is not None:
            target.write_derived_trial(trial_id, derived)
    for name in results.derived_tables():
        if (table := results.read_derived(name)) is not None:
            target.write_derived(name, table)
    for name in results.derived_documents():
        target.write_derived_json(name, results.read_derived_json(name))
