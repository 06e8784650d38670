"""The interface of every storage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, Protocol, TypedDict

from plimsoll.events import Listener, ignore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.dataset as ds

    from plimsoll.campaign.as_run import Document
    from plimsoll.plan import Trial
    from plimsoll.recording import Recording
    from plimsoll.storage.documents import CampaignFiles, PlannedTrial


class JudgedTrial(TypedDict):
    """What the checks say of a trial, as it is stored.

    Attributes:
        origin: What everything derived was made from, by `findings.derivation`.
        trial: Id of the trial.
        verdicts: The fields of each verdict.
        unfinished: The fields of `aggregate.unfinished.Unfinished`.
    """

    origin: NotRequired[dict[str, str]]
    trial: NotRequired[str]
    verdicts: list[dict[str, object]]
    unfinished: NotRequired[dict[str, Any]]


@dataclass(frozen=True)
class DerivedTrial:
    """Everything derived from one trial.

    Attributes:
        tables: Derived tables by name; rows of `seconds` and `summaries` name their trial.
        judged: The verdicts on the trial, and the origin of everything derived.
    """

    tables: Mapping[str, pa.Table]
    judged: JudgedTrial


class StoredState(NamedTuple):
    """What is stored: each digest differs once anything does that it is of.

    Attributes:
        recorded: Of campaign and plan as given, and of recorded trials.
        derived: Of everything that was derived from them.
    """

    recorded: str
    derived: str


class Results(Protocol):
    """The results of one campaign in any storage.

    A trial is complete or absent, even to concurrent readers. Every method raises a `StorageError`
    with a remedy if something cannot be read or written.
    """

    @property
    def folder(self) -> Path:
        """Folder of the campaign; of another storage, it contains only the report."""
        ...

    @property
    def report(self) -> Path:
        """Folder of the report."""
        ...

    @property
    def place(self) -> str:
        """Where the results are, for messages, without credentials."""
        ...

    @property
    def is_shared(self) -> bool:
        """Whether other processes of this host can open the folder and add to it meanwhile."""
        ...

    @property
    def logs_place(self) -> str:
        """Where logs are, for messages, without credentials."""
        ...

    def trial_ids(self) -> tuple[str, ...]:
        """Ids of the trials that are complete, in the order of the plan."""
        ...

    def planned_ids(self) -> tuple[str, ...]:
        """Ids of the trials of the plan, in order; empty if there is no plan."""
        ...

    def plan(self) -> list[PlannedTrial]:
        """The trials of the plan in the format of `documents.planned`; empty without a plan."""
        ...

    def campaign_toml(self) -> str | None:
        """The campaign file as given; None if there was none."""
        ...

    def published_toml(self) -> str | None:
        """The campaign's file of published figures as given; None if it has none."""
        ...

    def campaign_resolved(self) -> Document | None:
        """The campaign with all settings and defaults applied; None if unknown."""
        ...

    def state(self, on_event: Listener = ignore) -> StoredState | None:
        """Digests of all that is stored; None where that takes as long as reading all of it.

        Args:
            on_event: Called with a `Step` for each trial.
        """
        ...

    def verify(self, trial_id: str) -> None:
        """Verifies what is recorded of a trial, if anything of it has changed since it was."""
        ...

    def endings(self) -> Mapping[str, str]:
        """How each trial ended, by its id: `completed`, or the kind of its error."""
        ...

    def recording(self, trial_id: str) -> Recording:
        """The recording of a trial."""
        ...

    def table(self, trial_id: str, name: str) -> ds.Dataset | pa.Table:
        """A recorded table of a trial in no particular order; empty if the trial has none.

        It is valid until a table of another trial is requested.

        Args:
            trial_id: Id of the trial.
            name: `requests`, `connections` or `usage`.
        """
        ...

    def logs(self, trial_id: str) -> Mapping[str, str]:
        """Output of server and driver by file name: `server.log`."""
        ...

    def write_derived_trial(self, trial_id: str, derived: DerivedTrial) -> None:
        """Stores everything derived from a trial; replaces an earlier version as a whole.

        It is removed when its trial is recorded again, and moves with a trial that is set aside.
        """
        ...

    def read_derived_trial(self, trial_id: str) -> DerivedTrial | None:
        """Everything derived from a trial; None if it has not been computed.

        What it was derived from is verified.
        """
        ...

    def prune_derived(self) -> None:
        """Removes everything derived from trials that no longer exist."""
        ...

    def derived_tables(self) -> tuple[str, ...]:
        """Names of the derived tables of the campaign."""
        ...

    def derived_documents(self) -> tuple[str, ...]:
        """Names of the derived documents of the campaign."""
        ...

    def write_derived(self, name: str, table: pa.Table) -> None:
        """Stores a derived table of the campaign; replaces an earlier one."""
        ...

    def read_derived(self, name: str) -> pa.Table | None:
        """A derived table of the campaign; None if it has not been computed."""
        ...

    def write_derived_json(self, name: str, content: object) -> None:
        """Stores a derived document; replaces an earlier one."""
        ...

    def read_derived_json(self, name: str) -> Any:
        """A derived document; None if it has not been computed."""
        ...

    def prepare(self, campaign: CampaignFiles, trials: Sequence[Trial]) -> None:
        """Prepares the storage for a new or resumed campaign; call under `locked`."""
        ...

    def set_aside(self, trial_ids: Sequence[str]) -> str:
        """Moves trials out of the results into separate results; call under `locked`.

        Returns:
            Where they are now, for messages.
        """
        ...

    def locked(self, option: str | None = "into") -> AbstractContextManager[None]:
        """Excludes other runs during the block.

        Args:
            option: The argument that selects another place, for hints; None where none does.
        """
        ...

    def trial(self, trial_id: str) -> AbstractContextManager[Path]:
        """A folder for the files of a trial, which is stored only if the block succeeds.

        An earlier recording of the trial is then replaced.
        """
        ...
