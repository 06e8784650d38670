"""The results of one campaign in a database.

A trial is recorded in a folder of this host, and loaded in one transaction when it is complete.
Until then it is kept in `<folder>/to-load`, so that no measurement is lost if the database is
unreachable: a resumed campaign loads these trials first. Its files stay there after it until those
of another trial are requested, so they need not be read from the database to judge it.
"""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from plimsoll.errors import StorageError
from plimsoll.events import Listener, ignore
from plimsoll.storage import documents, door, scratch
from plimsoll.storage.parquet import ParquetResults, remove_remains, writing
from plimsoll.storage.postgres import derived as of_trials
from plimsoll.storage.postgres import schema, trials
from plimsoll.storage.postgres.session import ELSEWHERE, Session

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

    from plimsoll.campaign.as_run import Document
    from plimsoll.plan import Trial
    from plimsoll.recording import Recording
    from plimsoll.storage.documents import CampaignFiles, PlannedTrial
    from plimsoll.storage.postgres.address import Address
    from plimsoll.storage.postgres.connection import Connection
    from plimsoll.storage.results import DerivedTrial, Results

WAITING = "to-load"
"""Folder of trials that are being conducted, or that have not been loaded yet."""

_OF_CAMPAIGN = (
    "FROM plimsoll.trials JOIN plimsoll.campaigns ON campaigns.id = trials.campaign_id"
    " WHERE campaigns.name = %s"
)
_JUDGE_AGAIN = "run `plimsoll judge` to recompute it"
_RESTORE = "restore the database from a backup, or run the campaign again under another name"


class PostgresResults:
    """The results of one campaign in a database; must be closed.

    Args:
        address: The database.
        folder: Folder of the report; its name is that of the campaign.
    """

    def __init__(self, address: Address, folder: Path) -> None:
        """Does not connect yet."""
        self.folder = folder
        self.session = Session(address, folder.resolve().name)
        self._address = address
        self._waiting = ParquetResults(folder / WAITING)
        self._local: tuple[str, ParquetResults] | None = None
        self._kept = ExitStack()

    @property
    def report(self) -> Path:
        """Folder of the report."""
        return self.folder / "report"

    @property
    def place(self) -> str:
        """The database, without credentials, and the campaign."""
        return self.session.place

    @property
    def is_shared(self) -> bool:
        """Its rows are not in the folder."""
        return False

    @property
    def logs_place(self) -> str:
        """Where logs are."""
        return f"{self._address.shown}, table plimsoll.logs"

    def close(self) -> None:
        """Closes the connection, and removes temporary files of this process."""
        self._forget_local()
        self.session.close()
        _tidy(self._waiting.folder)

    def trial_ids(self) -> tuple[str, ...]:
        """Ids of the trials that are complete, in the order of the plan."""
        planned = {trial_id: order for order, trial_id in enumerate(self.planned_ids())}
        found = [name for (name,) in self.session.ask(f"SELECT trial {_OF_CAMPAIGN}")]
        return tuple(sorted(found, key=lambda name: (planned.get(name, len(planned)), name)))

    def planned_ids(self) -> tuple[str, ...]:
        """Ids of the trials of the plan, in order; empty if there is no plan."""
        return tuple(planned["id"] for planned in self.plan())

    def plan(self) -> list[PlannedTrial]:
        """The trials of the plan; empty if there is no plan."""
        found = self.session.ask("SELECT plan_json FROM plimsoll.campaigns WHERE name = %s")
        return self._parsed(found[0][0], "the plan", _RESTORE) if found else []

    def campaign_toml(self) -> str | None:
        """The campaign file as given; None if there was none."""
        found = self.session.ask("SELECT campaign_toml FROM plimsoll.campaigns WHERE name = %s")
        return found[0][0] if found else None

    def published_toml(self) -> str | None:
        """The campaign's file of published figures as given; None if it has none."""
        found = self.session.ask("SELECT published_toml FROM plimsoll.campaigns WHERE name = %s")
        return found[0][0] if found else None

    def campaign_resolved(self) -> Document | None:
        """The campaign with all settings and defaults applied; None if unknown."""
        found = self.session.ask("SELECT campaign_json FROM plimsoll.campaigns WHERE name = %s")
        if not found or found[0][0] is None:
            return None
        return self._parsed(found[0][0], "the resolved campaign", _RESTORE)

    def state(self, on_event: Listener = ignore) -> None:
        """None: a database would have to read everything to know."""

    def verify(self, trial_id: str) -> None:
        """Does nothing: a database verifies its own pages, where its administrator wants it."""

    def endings(self) -> dict[str, str]:
        """How each trial ended, by its id.

        Raises:
            StorageError: They cannot be read.
        """
        return {one: self.recording(one).ending.kind for one in self.trial_ids()}

    def recording(self, trial_id: str) -> Recording:
        """The recording of a trial.

        Raises:
            StorageError: The trial does not exist or cannot be read.
        """
        query = f"SELECT recording_json {_OF_CAMPAIGN} AND trial = %s"
        found = self.session.ask(query, trial_id)
        if not found:
            raise self._no_trial(trial_id)
        content = self._parsed(found[0][0], f"`{trial_id}`", _RESTORE)
        return documents.recording(content, f"{trial_id} in {self.place}")

    def table(self, trial_id: str, name: str) -> ds.Dataset:
        """A recorded table of a trial; empty if the trial has none.

        All tables of the trial are copied here at once, so that they are consistent even while the
        trial is being replaced. They are valid until another trial is requested.

        Raises:
            StorageError: The trial does not exist or cannot be read.
        """
        known, local = self._local or ("", None)
        if local is None or known != trial_id:
            local = self._fetched(trial_id)
        return local.table(trial_id, name)

    def logs(self, trial_id: str) -> Mapping[str, str]:
        """Output of server and driver by file name."""
        query = (
            "SELECT logs.name, logs.content FROM plimsoll.logs"
            f" WHERE trial_id = (SELECT trials.id {_OF_CAMPAIGN} AND trial = %s)"
        )
        return dict(self.session.ask(query, trial_id))

    def write_derived_trial(self, trial_id: str, derived: DerivedTrial) -> None:
        """Stores everything derived from a trial; replaces an earlier version as a whole.

        Raises:
            StorageError: The trial does not exist or could not be written.
        """
        key = self._key(trial_id)
        with self.session.writing() as (connection, campaign_id):
            of_trials.write(connection, campaign_id, (key, trial_id), derived)

    def read_derived_trial(self, trial_id: str) -> DerivedTrial | None:
        """Everything derived from a trial; None if it has not been computed.

        Raises:
            StorageError: It cannot be read.
        """
        key = self._found(trial_id)
        if key is None:
            return None
        try:
            with self.session.seeing_one_state() as connection:
                return of_trials.read(connection, key)
        except (OSError, ValueError) as error:
            what = f"what is derived from `{trial_id}` in `{self.place}`"
            message = f"{what} cannot be read: {documents.damage(error)}"
            raise StorageError(message, _JUDGE_AGAIN) from error

    def prune_derived(self) -> None:
        """Does nothing: the database removes derived rows with their trial."""

    def derived_tables(self) -> tuple[str, ...]:
        """Names of the derived tables of the campaign."""
        return self._derived_names("derived_tables")

    def derived_documents(self) -> tuple[str, ...]:
        """Names of the derived documents of the campaign."""
        return self._derived_names("derived_documents")

    def write_derived(self, name: str, table: pa.Table) -> None:
        """Stores a derived table of the campaign; replaces an earlier one.

        It is stored unchanged; tables of the data dictionary also as rows, for queries.

        Raises:
            StorageError: It could not be written.
        """
        with self.session.writing() as (connection, campaign_id):
            content = of_trials.as_parquet(table)
            _replace(connection, "derived_tables", campaign_id, name, content)
            if name in of_trials.DOCUMENTED:
                statement = f"DELETE FROM plimsoll.{name} WHERE campaign_id = %s"
                connection.execute(statement.encode(), [campaign_id])
                of_trials.load(connection, campaign_id, name, table)

    def read_derived(self, name: str) -> pa.Table | None:
        """A derived table of the campaign; None if it has not been computed.

        Raises:
            StorageError: It cannot be read.
        """
        found = self._derived("derived_tables", "content_parquet", name)
        try:
            return None if found is None else door.rows.read(io.BytesIO(found))
        except (OSError, ValueError) as error:
            message = f"derived table `{name}` of `{self.place}` cannot be read: {error}"
            raise StorageError(message, _JUDGE_AGAIN) from error

    def write_derived_json(self, name: str, content: object) -> None:
        """Stores a derived document; replaces an earlier one.

        Raises:
            StorageError: It could not be written.
        """
        with self.session.writing() as (connection, campaign_id):
            text = json.dumps(content)
            _replace(connection, "derived_documents", campaign_id, name, text)

    def read_derived_json(self, name: str) -> Any:
        """A derived document; None if it has not been computed.

        Raises:
            StorageError: It cannot be read.
        """
        found = self._derived("derived_documents", "content_json", name)
        return None if found is None else self._parsed(found, f"`{name}`", _JUDGE_AGAIN)

    def _parsed(self, text: str, subject: str, hint: str) -> Any:
        """A stored document.

        Args:
            text: The document.
            subject: What it is, for the message.
            hint: What to do when it is damaged.

        Raises:
            StorageError: It is damaged.
        """
        try:
            return json.loads(text)
        except ValueError as error:
            message = f"{subject} of `{self.place}` cannot be read: {documents.damage(error)}"
            raise StorageError(message, hint) from error

    def prepare(self, campaign: CampaignFiles, trials: Sequence[Trial]) -> None:
        """Prepares the database for a new or resumed campaign; call under `locked`.

        Loads the trials that an earlier run could not load.

        Args:
            campaign: The campaign.
            trials: Its trials in order.

        Raises:
            StorageError: The database cannot be written, or contains another campaign of this name.
        """
        plan = [documents.planned(trial) for trial in trials]
        self._require_same_campaign(campaign, plan)
        self.describe(campaign, plan)
        with writing(self.folder):
            remove_remains(self._waiting.trials)
        planned = {trial.id for trial in trials}
        for trial_id in self._waiting.trial_ids():
            if trial_id in planned:
                self._load_waiting(trial_id)

    def describe(self, campaign: CampaignFiles, plan: Sequence[PlannedTrial]) -> None:
        """Stores the campaign and its plan.

        Raises:
            StorageError: They could not be written.
        """
        values = {
            "campaign_toml": campaign.toml,
            "campaign_json": campaign.resolved_text,
            "plan_json": json.dumps(plan),
            "published_toml": campaign.published_toml,
        }
        places = ", ".join(f"{name} = %({name})s" for name in values)
        statement = f"UPDATE plimsoll.campaigns SET {places} WHERE id = %(id)s"
        with self.session.writing() as (connection, campaign_id):
            connection.execute(statement.encode(), {**values, "id": campaign_id})

    def set_aside(self, trial_ids: Sequence[str]) -> str:
        """Moves trials into a separate campaign, `NAME.superseded.1`, in one transaction.

        Args:
            trial_ids: Existing trials.

        Returns:
            The database and the new campaign.

        Raises:
            StorageError: It could not be written; nothing has changed.
        """
        self._forget_local()
        with self.session.writing() as (connection, campaign_id):
            return (
                f"{self._address.shown}, campaign {trials.move(connection, campaign_id, trial_ids)}"
            )

    @contextmanager
    def locked(self, option: str | None = "into") -> Generator[None]:
        """Excludes other runs from the campaign during the block.

        Args:
            option: The argument that selects another one, for hints; None where none does.

        Raises:
            StorageError: Another run is using it, or it cannot be written.
        """
        with self._waiting.locked(option), self.session.alone(option):
            yield

    @contextmanager
    def trial(self, trial_id: str) -> Generator[Path]:
        """A folder for the files of a trial, which is loaded if the block succeeds.

        Args:
            trial_id: Id of the trial; an earlier recording of it is replaced.

        Yields:
            The folder to write to; it is removed if the block raises.

        Raises:
            StorageError: It could not be written, or not be loaded; then it is kept.
        """
        with self._waiting.trial(trial_id) as into:
            yield into
        self._load_waiting(trial_id)

    def load(self, source: Results, trial_id: str) -> int:
        """Copies a trial from another storage in one transaction; replaces an earlier recording.

        Args:
            source: The other storage.
            trial_id: Id of the trial.

        Returns:
            Number of rows in all tables.

        Raises:
            StorageError: It could not be read or written; nothing has changed.
        """
        self._forget_local()
        with self.session.writing() as (connection, campaign_id):
            rows = trials.write(connection, campaign_id, source, trial_id)
        with self.session.speaking(make=True) as connection:
            schema.tend(connection)
        return rows

    def _load_waiting(self, trial_id: str) -> None:
        try:
            self.load(self._waiting, trial_id)
        except StorageError as error:
            hint = f"{error.hint}; until then the recording is kept in `{self._waiting.folder}`"
            raise StorageError(error.message, hint.removeprefix("; ")) from None
        loaded = self._waiting.trials / trial_id
        try:
            local = self._new_local(trial_id, self._waiting.folder)
            loaded.rename(local.trials / trial_id)
        except OSError:  # the database has them
            self._forget_local()
            with writing(self.folder):
                shutil.rmtree(loaded)

    def _require_same_campaign(self, campaign: CampaignFiles, plan: list[PlannedTrial]) -> None:
        given = self.campaign_toml()
        if given is None and self.trial_ids():
            raise StorageError(f"`{self.place}` contains recordings without a campaign", ELSEWHERE)
        if given is None:
            return
        other = documents.other_campaign(campaign.toml or "", plan, given, self.plan())
        other = other or documents.other_settings(campaign.resolved, self.campaign_resolved())
        if other:
            raise StorageError(f"`{self.place}` {other}", ELSEWHERE)

    def _derived_names(self, table: str) -> tuple[str, ...]:
        query = (
            f"SELECT derived.name FROM plimsoll.{table} AS derived JOIN plimsoll.campaigns"
            " ON campaigns.id = derived.campaign_id WHERE campaigns.name = %s ORDER BY derived.name"
        )
        return tuple(name for (name,) in self.session.ask(query))

    def _derived(self, table: str, column: str, name: str) -> Any:
        query = (
            f"SELECT {column} FROM plimsoll.{table} WHERE campaign_id ="
            " (SELECT id FROM plimsoll.campaigns WHERE name = %s) AND name = %s"
        )
        found = self.session.ask(query, name)
        return found[0][0] if found else None

    def _fetched(self, trial_id: str) -> ParquetResults:
        """Local copies of the tables of a trial, from one snapshot of the database."""
        self._key(trial_id)
        place = Path(gettempdir())
        try:
            with self.session.seeing_one_state() as connection, writing(place, "TMPDIR"):
                local = self._new_local(trial_id)
                into = local.trials / trial_id
                into.mkdir()
                trials.fetch(connection, self.folder.resolve().name, trial_id, into)
        except BaseException:
            self._forget_local()
            raise
        return local

    def _key(self, trial_id: str) -> int:
        """Key of a trial in the database.

        Raises:
            StorageError: The trial does not exist.
        """
        key = self._found(trial_id)
        if key is None:
            raise self._no_trial(trial_id)
        return key

    def _found(self, trial_id: str) -> int | None:
        """Key of a trial in the database; None if it does not exist."""
        found = self.session.ask(f"SELECT trials.id {_OF_CAMPAIGN} AND trial = %s", trial_id)
        return int(found[0][0]) if found else None

    def _no_trial(self, trial_id: str) -> StorageError:
        return StorageError(f"`{self.place}` has no trial `{trial_id}`", documents.GONE)

    def _new_local(self, trial_id: str, within: Path | None = None) -> ParquetResults:
        """A new folder of this process for the tables of one trial.

        Raises:
            OSError: It could not be made.
        """
        self._forget_local()
        local = ParquetResults(self._kept.enter_context(scratch.folder(within)))
        self._local = (trial_id, local)
        local.trials.mkdir()
        return local

    def _forget_local(self) -> None:
        self._local = None
        self._kept.close()


def _replace(
    connection: Connection, table: str, campaign_id: int, name: str, content: bytes | str
) -> None:
    connection.execute(
        f"DELETE FROM plimsoll.{table} WHERE campaign_id = %s AND name = %s".encode(),
        [campaign_id, name],
    )
    connection.execute(
        f"INSERT INTO plimsoll.{table} VALUES (%s, %s, %b)".encode(), [campaign_id, name, content]
    )


def _tidy(waiting: Path) -> None:
    """Removes the folder of unloaded trials and the campaign's folder, if they are empty."""
    if not waiting.is_dir():
        return
    scratch.remove_abandoned(waiting)
    if any(waiting.glob(f"{scratch.PREFIX}*")) or any((waiting / "trials").glob("*")):
        return
    shutil.rmtree(waiting, ignore_errors=True)
    with suppress(OSError):
        waiting.parent.rmdir()
