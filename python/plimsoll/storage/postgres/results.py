"""The results of one campaign in a database.

A trial is conducted into a folder of this host, and loaded in one transaction when it is complete.
Until then it waits in `<folder>/to-load`, so that a database that is gone for a while takes no
measurement with it: going on with the campaign loads first what waits.
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll import tables
from plimsoll.errors import StorageError
from plimsoll.storage import documents
from plimsoll.storage.parquet import Results as Folder
from plimsoll.storage.parquet import writing
from plimsoll.storage.postgres import copying, schema, trials
from plimsoll.storage.postgres.session import ELSEWHERE, Session

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

    from plimsoll.plan import Trial
    from plimsoll.recording import Recording
    from plimsoll.storage.postgres.address import Address
    from plimsoll.storage.postgres.connection import Connection
    from plimsoll.storage.results import Results as Readable

WAITING = "to-load"
"""Folder of the trials that are conducted, or that wait until the database can take them."""

_OF_CAMPAIGN = (
    "FROM plimsoll.trials JOIN plimsoll.campaigns ON campaigns.id = trials.campaign_id"
    " WHERE campaigns.name = %s"
)
_DOCUMENTED = {table.name: table for table in tables.TABLES if table.stored == "derived"}
_JUDGE_AGAIN = "`plimsoll judge` computes it again"


class Results:
    """The results of one campaign in a database; to be closed.

    Args:
        address: Where the database is.
        folder: Folder of the report; its name is that of the campaign.
    """

    def __init__(self, address: Address, folder: Path) -> None:
        """Connect to nothing yet."""
        self.folder = folder
        self.session = Session(address, folder.resolve().name)
        self._address = address
        self._waiting = Folder(folder / WAITING)
        self._local: tuple[str, Folder] | None = None

    @property
    def report(self) -> Path:
        """Folder of the report."""
        return self.folder / "report"

    @property
    def place(self) -> str:
        """The database, without credentials, and the campaign."""
        return self.session.place

    @property
    def logs_place(self) -> str:
        """Where logs are."""
        return f"{self._address.shown}, table plimsoll.logs"

    def close(self) -> None:
        """Ends the connection, and removes what was read for this process alone."""
        self._forget_local()
        self.session.close()
        _tidy(self._waiting.folder)

    def trial_ids(self) -> tuple[str, ...]:
        """Ids of the trials that are complete, in the order of the plan."""
        planned = {trial_id: order for order, trial_id in enumerate(self.planned_ids())}
        found = [name for (name,) in self.session.ask(f"SELECT trial {_OF_CAMPAIGN}")]
        return tuple(sorted(found, key=lambda name: (planned.get(name, len(planned)), name)))

    def planned_ids(self) -> tuple[str, ...]:
        """Ids of the trials of the plan, in order; empty when there is no plan."""
        return tuple(planned["id"] for planned in self.plan())

    def plan(self) -> list[dict[str, Any]]:
        """The trials of the plan; empty when there is no plan."""
        found = self.session.ask("SELECT plan_json FROM plimsoll.campaigns WHERE name = %s")
        return json.loads(found[0][0]) if found else []

    def campaign_toml(self) -> str | None:
        """The campaign file as given; None when there was none."""
        found = self.session.ask("SELECT campaign_toml FROM plimsoll.campaigns WHERE name = %s")
        return found[0][0] if found else None

    def published_toml(self) -> str | None:
        """The published figures that the campaign names, as given; None when it names none."""
        found = self.session.ask("SELECT published_toml FROM plimsoll.campaigns WHERE name = %s")
        return found[0][0] if found else None

    def recording(self, trial_id: str) -> Recording:
        """What happened in a trial.

        Raises:
            StorageError: There is no such trial, or it cannot be read.
        """
        query = f"SELECT recording_json {_OF_CAMPAIGN} AND trial = %s"
        found = self.session.ask(query, trial_id)
        if not found:
            raise self._no_trial(trial_id)
        return documents.recording(json.loads(found[0][0]), f"{trial_id} in {self.place}")

    def table(self, trial_id: str, name: str) -> ds.Dataset:
        """A recorded table of a trial; empty when the trial has none.

        All tables of the trial are brought here at once and as one, so that they belong together
        even when the trial is being replaced. They stay until another trial is asked for.

        Raises:
            StorageError: There is no such trial, or it cannot be read.
        """
        known, local = self._local or ("", None)
        if local is None or known != trial_id:
            local = self._fetched(trial_id)
        return local.table(trial_id, name)

    def logs(self, trial_id: str) -> Mapping[str, str]:
        """What server and driver wrote, by name."""
        query = (
            "SELECT logs.name, logs.content FROM plimsoll.logs"
            f" WHERE trial_id = (SELECT trials.id {_OF_CAMPAIGN} AND trial = %s)"
        )
        return dict(self.session.ask(query, trial_id))

    def derived_tables(self) -> tuple[str, ...]:
        """Names of the derived tables that there are."""
        return self._derived_names("derived_tables")

    def derived_documents(self) -> tuple[str, ...]:
        """Names of all else that is derived."""
        return self._derived_names("derived_documents")

    def write_derived(self, name: str, table: pa.Table) -> None:
        """Keeps a derived table, in place of an earlier one.

        It is kept as it is; those of the data dictionary also in tables of their own, for queries.

        Raises:
            StorageError: It could not be written.
        """
        import pyarrow.parquet as pq  # noqa: PLC0415

        content = io.BytesIO()
        pq.write_table(table, content, compression="zstd")
        with self.session.writing() as (connection, campaign_id):
            _replace(connection, "derived_tables", campaign_id, name, content.getvalue())
            if (documented := _DOCUMENTED.get(name)) is not None:
                statement = f"DELETE FROM plimsoll.{name} WHERE campaign_id = %s"
                connection.execute(statement.encode(), [campaign_id])
                rows = table.select(documented.schema.names).to_batches()
                key = {"campaign_id": campaign_id}
                copying.load(connection, name, documented.schema, rows, constants=key)

    def read_derived(self, name: str) -> pa.Table | None:
        """A derived table; None when it has not been computed.

        Raises:
            StorageError: It cannot be read.
        """
        import pyarrow.parquet as pq  # noqa: PLC0415

        found = self._derived("derived_tables", "content_parquet", name)
        try:
            return None if found is None else pq.read_table(io.BytesIO(found))
        except (OSError, ValueError) as error:
            message = f"derived table `{name}` of `{self.place}` cannot be read: {error}"
            raise StorageError(message, _JUDGE_AGAIN) from error

    def write_derived_json(self, name: str, content: object) -> None:
        """Keeps something derived that is no table, in place of an earlier one.

        Raises:
            StorageError: It could not be written.
        """
        with self.session.writing() as (connection, campaign_id):
            text = json.dumps(content)
            _replace(connection, "derived_documents", campaign_id, name, text)

    def read_derived_json(self, name: str) -> Any:
        """Something derived that is no table; None when it has not been computed.

        Raises:
            StorageError: It cannot be read.
        """
        found = self._derived("derived_documents", "content_json", name)
        try:
            return None if found is None else json.loads(found)
        except ValueError as error:
            message = f"derived document `{name}` of `{self.place}` cannot be read: {error}"
            raise StorageError(message, _JUDGE_AGAIN) from error

    def prepare(
        self, campaign_toml: str, trials: Sequence[Trial], published_toml: str | None = None
    ) -> None:
        """Makes ready for a campaign, or for going on with the same one.

        Loads the trials that wait from an earlier run. To be called under `locked`.

        Args:
            campaign_toml: The campaign file as given.
            trials: Its trials in order.
            published_toml: The published figures that it names; None when it names none.

        Raises:
            StorageError: The database cannot be written, or holds another campaign of this name.
        """
        plan = [documents.planned(trial) for trial in trials]
        self._require_same_campaign(campaign_toml, plan)
        self.describe(campaign_toml, plan, published_toml)
        with writing(self.folder):
            for leftover in self._waiting.trials.glob(".*"):
                shutil.rmtree(leftover)
        planned = {trial.id for trial in trials}
        for trial_id in self._waiting.trial_ids():
            if trial_id in planned:
                self._load_waiting(trial_id)

    def describe(
        self,
        campaign_toml: str | None,
        plan: Sequence[Mapping[str, Any]],
        published_toml: str | None,
    ) -> None:
        """Keeps the campaign file, the plan and the published figures.

        Raises:
            StorageError: They could not be written.
        """
        with self.session.writing() as (connection, campaign_id):
            connection.execute(
                "UPDATE plimsoll.campaigns SET campaign_toml = %s, plan_json = %s,"
                " published_toml = %s WHERE id = %s",
                [campaign_toml, json.dumps(plan), published_toml, campaign_id],
            )

    @contextmanager
    def locked(self) -> Generator[None]:
        """Keeps other runs out of the campaign for as long as the block runs.

        Raises:
            StorageError: Another run is at work in it, or it cannot be written.
        """
        with self._waiting.locked(), self.session.alone():
            yield

    @contextmanager
    def trial(self, trial_id: str) -> Generator[Path]:
        """A folder for the files of a trial, which is loaded when the block succeeds.

        Args:
            trial_id: Id of the trial; an earlier recording of it is replaced.

        Yields:
            The folder to write to; it is removed when the block raises.

        Raises:
            StorageError: It could not be written, or not be loaded: then it waits.
        """
        with self._waiting.trial(trial_id) as into:
            yield into
        self._load_waiting(trial_id)

    def load(self, source: Readable, trial_id: str) -> int:
        """Puts a trial of another storage here, in place of an earlier recording, as one.

        Args:
            source: The other storage.
            trial_id: Id of the trial.

        Returns:
            How many rows it has in all tables.

        Raises:
            StorageError: It could not be read or written; what was there is there.
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
            hint = f"{error.hint}; until then the recording waits in `{self._waiting.folder}`"
            raise StorageError(error.message, hint.removeprefix("; ")) from None
        local = self._new_local(trial_id)
        with writing(self.folder):
            shutil.move(self._waiting.trials / trial_id, local.trials / trial_id)

    def _require_same_campaign(self, campaign_toml: str, plan: list[dict[str, Any]]) -> None:
        given = self.campaign_toml()
        if given is None and self.trial_ids():
            raise StorageError(f"`{self.place}` holds recordings of no campaign", ELSEWHERE)
        if given not in (None, campaign_toml):
            raise StorageError(f"`{self.place}` holds the results of another one", ELSEWHERE)
        if changed := documents.changed(plan, self.plan()):
            message = f"`{self.place}` was made with other settings: {changed} differs"
            raise StorageError(message, ELSEWHERE)

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

    def _fetched(self, trial_id: str) -> Folder:
        """The tables of a trial, brought here, all of one state of the database."""
        if trial_id not in self.trial_ids():
            raise self._no_trial(trial_id)
        local = self._new_local(trial_id)
        into = local.trials / trial_id
        try:
            with self.session.seeing_one_state() as connection, writing(local.folder):
                into.mkdir()
                trials.fetch(connection, self.folder.resolve().name, trial_id, into)
        except BaseException:
            self._forget_local()
            raise
        return local

    def _no_trial(self, trial_id: str) -> StorageError:
        return StorageError(f"`{self.place}` has no trial `{trial_id}`")

    def _new_local(self, trial_id: str) -> Folder:
        """A new folder of this process for the tables of one trial."""
        self._forget_local()
        local = Folder(Path(tempfile.mkdtemp(prefix="plimsoll-rows-")))
        self._local = (trial_id, local)
        local.trials.mkdir()
        return local

    def _forget_local(self) -> None:
        if self._local is not None:
            shutil.rmtree(self._local[1].folder, ignore_errors=True)
            self._local = None


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
    """Removes the folder of waiting trials where none waits, and the campaign's if it is empty."""
    if not waiting.is_dir() or any((waiting / "trials").glob("*")):
        return
    shutil.rmtree(waiting, ignore_errors=True)
    with suppress(OSError):
        waiting.parent.rmdir()
