"""Results of another storage, copied into a database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.storage.postgres.address import address
from plimsoll.storage.postgres.results import Results

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.storage.results import Results as Readable


@dataclass(frozen=True)
class Exported:
    """What was copied.

    Attributes:
        place: Where it is now, without credentials.
        trials: How many trials.
        rows: How many rows they have in all tables.
    """

    place: str
    trials: int
    rows: int


def export(
    results: Readable,
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
    target = Results(address(storage), results.folder)
    chosen = results.trial_ids() if trial_ids is None else tuple(trial_ids)
    rows = 0
    try:
        with target.session.alone():
            target.describe(results.campaign_toml(), results.plan(), results.published_toml())
            for trial_id in chosen:
                tell(trial_id)
                rows += target.load(results, trial_id)
            if trial_ids is None:
                _copy_derived(results, target)
    finally:
        target.close()
    return Exported(target.place, len(chosen), rows)


def _copy_derived(results: Readable, target: Results) -> None:
    for name in results.derived_tables():
        if (table := results.read_derived(name)) is not None:
            target.write_derived(name, table)
    for name in results.derived_documents():
        target.write_derived_json(name, results.read_derived_json(name))
