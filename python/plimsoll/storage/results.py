"""The face that every storage has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.dataset as ds

    from plimsoll.plan import Trial
    from plimsoll.recording import Recording


class Results(Protocol):
    """The results of one campaign, wherever they are kept.

    A trial is there as a whole or not at all, also for whoever reads while it is written. What
    cannot be read or written is a `StorageError` with a remedy, from each of these.
    """

    @property
    def folder(self) -> Path:
        """Folder of the campaign; of what is kept elsewhere, only the report lies there."""
        ...

    @property
    def report(self) -> Path:
        """Folder of the report."""
        ...

    @property
    def place(self) -> str:
        """Where the results are, in words for a person and without credentials."""
        ...

    @property
    def logs_place(self) -> str:
        """Where logs are, in words for a person and without credentials."""
        ...

    def trial_ids(self) -> tuple[str, ...]:
        """Ids of the trials that are complete, in the order of the plan."""
        ...

    def planned_ids(self) -> tuple[str, ...]:
        """Ids of the trials of the plan, in order; empty when there is no plan."""
        ...

    def plan(self) -> list[dict[str, Any]]:
        """The trials of the plan as `documents.planned` has them; empty when there is no plan."""
        ...

    def campaign_toml(self) -> str | None:
        """The campaign file as given; None when there was none."""
        ...

    def published_toml(self) -> str | None:
        """The published figures that the campaign names, as given; None when it names none."""
        ...

    def recording(self, trial_id: str) -> Recording:
        """What happened in a trial."""
        ...

    def table(self, trial_id: str, name: str) -> ds.Dataset:
        """A recorded table of a trial in no particular order; empty when the trial has none.

        It may be read until a table of another trial is asked for.

        Args:
            trial_id: Id of the trial.
            name: `requests`, `connections` or `usage`.
        """
        ...

    def logs(self, trial_id: str) -> Mapping[str, str]:
        """What server and driver wrote, by name: `server.log`."""
        ...

    def derived_tables(self) -> tuple[str, ...]:
        """Names of the derived tables that there are."""
        ...

    def derived_documents(self) -> tuple[str, ...]:
        """Names of all else that is derived."""
        ...

    def write_derived(self, name: str, table: pa.Table) -> None:
        """Keeps a derived table, in place of an earlier one."""
        ...

    def read_derived(self, name: str) -> pa.Table | None:
        """A derived table; None when it has not been computed."""
        ...

    def write_derived_json(self, name: str, content: object) -> None:
        """Keeps something derived that is no table, in place of an earlier one."""
        ...

    def read_derived_json(self, name: str) -> Any:
        """Something derived that is no table; None when it has not been computed."""
        ...

    def prepare(
        self, campaign_toml: str, trials: Sequence[Trial], published_toml: str | None = None
    ) -> None:
        """Makes ready for a campaign, or for going on with the same one; call under `locked`."""
        ...

    def locked(self) -> AbstractContextManager[None]:
        """Keeps other runs out for as long as the block runs."""
        ...

    def trial(self, trial_id: str) -> AbstractContextManager[Path]:
        """A folder for the files of a trial, which is kept only when the block succeeds.

        An earlier recording of the trial is replaced then.
        """
        ...
