"""The results of one load that is not kept, in a folder that goes with the process.

Its tables lie as they do in memory and are not copied from there; what follows from them is worked
out once, so nothing of that is stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll import lab
from plimsoll.recording import Recording
from plimsoll.storage.parquet import ParquetResults

if TYPE_CHECKING:
    import pyarrow as pa

    from plimsoll.storage.results import DerivedTrial


@dataclass(frozen=True)
class UnkeptResults(ParquetResults):
    """The results of one load that is not kept; `ParquetResults` describes everything.

    Attributes:
        known: The recordings of this process by the ids of their trials.
    """

    known: dict[str, Recording] = field(default_factory=dict[str, Recording])

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
        """
        return lab.unpacked.table(self.trials / trial_id / f"{name}.arrow", name)

    def read_derived_trial(self, trial_id: str) -> None:
        """Finds nothing."""

    def write_derived_trial(self, trial_id: str, derived: DerivedTrial) -> None:
        """Stores nothing."""

    def write_derived_json(self, name: str, content: object) -> None:
        """Stores nothing."""

    def write_derived(self, name: str, table: pa.Table) -> None:
        """Stores nothing."""
