"""The results of loads that are not kept, in a folder that is removed with the process.

Their rows stay the engine's own records: what judges them is counted there, and tables are made
when one asks for rows. What follows from them is worked out once, so nothing of that is stored.
What reads rows is imported where it is used: the first request of a load does not wait for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll import aggregate
from plimsoll.errors import StorageError
from plimsoll.events import Listener, ignore
from plimsoll.recording import Recording
from plimsoll.storage.parquet import ParquetResults

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from plimsoll.aggregate.trial import Tables
    from plimsoll.storage.results import DerivedTrial


@dataclass(frozen=True)
class UnkeptResults(ParquetResults):
    """The results of loads that are not kept; `ParquetResults` describes everything.

    Attributes:
        known: The recordings of this process by the ids of their trials.
    """

    known: dict[str, Recording] = field(default_factory=dict[str, Recording])

    def state(self, on_event: Listener = ignore) -> None:
        """None: nothing is kept that could be the same later."""

    def endings(self) -> dict[str, str]:
        """How each trial ended, by its id.

        Raises:
            StorageError: The folder is gone.
        """
        return {one: self.recording(one).ending.kind for one in self.trial_ids()}

    def recording(self, trial_id: str) -> Recording:
        """The recording of a trial, as it was made.

        Raises:
            StorageError: It is not there.
        """
        return self.known.get(trial_id) or super().recording(trial_id)

    def table(self, trial_id: str, name: str) -> pa.Table:
        """A recorded table of a trial; empty if the trial has none.

        Args:
            trial_id: Id of the trial.
            name: `requests`, `connections` or `usage`.

        Raises:
            OSError: It cannot be read.
            StorageError: The folder is gone.
        """
        self.require(trial_id)
        return aggregate.engine_records.table(self.trials / trial_id, name)

    def trial_ids(self) -> tuple[str, ...]:
        """Ids of the trials, of which there is one at least.

        Raises:
            StorageError: The folder is gone.
        """
        found = super().trial_ids()
        if not found:
            raise self._gone()
        return found

    def logs(self, trial_id: str) -> Mapping[str, str]:
        """Output of server and driver by file name.

        Raises:
            StorageError: The folder is gone.
        """
        self.require(trial_id)
        return super().logs(trial_id)

    def require(self, trial_id: str) -> None:
        """Does nothing as long as the folder of a trial is there.

        Raises:
            StorageError: It is not.
        """
        if not (self.trials / trial_id).is_dir():
            raise self._gone()

    def _gone(self) -> StorageError:
        """Somebody else removed the folder, or the result is closed."""
        hint = "read it before `close()`, or keep it with `record=`"
        return StorageError(f"`{self.folder}`, a temporary folder with a result, is gone", hint)

    def counted(self, recording: Recording) -> Tables:
        """The tables of a trial whose rows are the engine's records, for what is counted in these.

        Raises:
            OSError: The readings cannot be read.
        """
        self.require(recording.trial)
        return aggregate.trial.of_records(self.trials / recording.trial, recording)

    def read_derived_trial(self, trial_id: str) -> None:
        """Finds nothing."""

    def write_derived_trial(self, trial_id: str, derived: DerivedTrial) -> None:
        """Stores nothing."""

    def write_derived_json(self, name: str, content: object) -> None:
        """Stores nothing."""

    def write_derived(self, name: str, table: pa.Table) -> None:
        """Stores nothing."""
