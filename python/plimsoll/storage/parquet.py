"""A folder of Parquet files.

```
results/<campaign>/
├── campaign.toml             as given
├── published.toml            the published figures that the campaign names, as given
├── plan.json                 trials in order
├── .lock                     held while a campaign is conducted
├── trials/<trial id>/        trial.json and the recorded tables; complete or absent
├── trials/.<trial id>.partial/   a trial that is being conducted
├── derived/                  what can be computed again
└── report/
```
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import StorageError
from plimsoll.recording import FORMAT, Recording
from plimsoll.storage import documents

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

    from plimsoll.plan import Trial

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST)


def results(folder: Path) -> Results:
    """The results in a folder, which need not exist yet."""
    return Results(folder)


def serves(storage: str) -> bool:
    """Whether results are to be kept here: nothing else was named."""
    return not storage


@contextmanager
def opened(folder: Path, _storage: str = "") -> Generator[Results]:
    """The results in a folder, which need not exist yet."""
    yield results(folder)


@dataclass(frozen=True)
class Results:
    """The results of one campaign.

    Attributes:
        folder: Where they lie.
    """

    folder: Path

    @property
    def trials(self) -> Path:
        """Folder of the recorded trials."""
        return self.folder / "trials"

    @property
    def derived(self) -> Path:
        """Folder of what can be computed again."""
        return self.folder / "derived"

    @property
    def report(self) -> Path:
        """Folder of the report."""
        return self.folder / "report"

    @property
    def place(self) -> str:
        """Where the results are, in words for a person."""
        return str(self.folder)

    @property
    def logs_place(self) -> str:
        """Where logs are, in words for a person."""
        return str(self.trials)

    def trial_ids(self) -> tuple[str, ...]:
        """Ids of the trials that are complete, in the order of the plan."""
        planned = {planned["id"]: order for order, planned in enumerate(self.plan())}
        found = [path.parent.name for path in self.trials.glob(f"[!.]*/{documents.TRIAL}")]
        return tuple(sorted(found, key=lambda name: (planned.get(name, len(planned)), name)))

    def planned_ids(self) -> tuple[str, ...]:
        """Ids of the trials of the plan, in order; empty when there is no plan."""
        return tuple(planned["id"] for planned in self.plan())

    def plan(self) -> list[dict[str, Any]]:
        """The trials of the plan as `documents.planned` has them; empty when there is no plan.

        Raises:
            StorageError: The plan is damaged.
        """
        path = self.folder / "plan.json"
        try:
            return json.loads(path.read_bytes())["trials"]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError) as error:
            raise StorageError(f"`{path}` cannot be read: {error}") from error

    def campaign_toml(self) -> str | None:
        """The campaign file as given; None when there was none.

        Raises:
            StorageError: It cannot be read.
        """
        return self._given("campaign.toml")

    def published_toml(self) -> str | None:
        """The published figures that the campaign names, as given; None when it names none.

        Raises:
            StorageError: They cannot be read.
        """
        return self._given("published.toml")

    def recording(self, trial_id: str) -> Recording:
        """What happened in a trial.

        Raises:
            StorageError: There is no such trial, or it cannot be read by this version.
        """
        path = self.trials / trial_id / documents.TRIAL
        try:
            content = json.loads(path.read_bytes())
        except FileNotFoundError as error:
            raise StorageError(f"`{self.folder}` has no trial `{trial_id}`") from error
        except (OSError, ValueError) as error:
            raise StorageError(f"`{path}` cannot be read: {error}") from error
        return documents.recording(content, str(path))

    def table(self, trial_id: str, name: str) -> ds.Dataset:
        """A recorded table of a trial, read lazily; empty when the trial has none.

        Args:
            trial_id: Id of the trial.
            name: `requests`, `connections` or `usage`.

        Raises:
            StorageError: The file is damaged.
        """
        import pyarrow.dataset as ds  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415

        path = self.trials / trial_id / f"{name}.parquet"
        if not path.exists():
            return ds.dataset(_schema(name).empty_table())
        try:
            pq.read_schema(path)  # else whoever reads the rows would meet the damage
            return ds.dataset(path, schema=_schema(name), format=_unbuffered())
        except (OSError, ValueError) as error:
            raise StorageError(f"`{path}` cannot be read: {error}") from error

    def logs(self, trial_id: str) -> Mapping[str, str]:
        """What server and driver wrote, by name: `server.log`.

        Raises:
            StorageError: A log cannot be read.
        """
        with writing(self.folder):
            found = sorted((self.trials / trial_id).glob("*.log"))
            return {path.name: path.read_text("utf-8", "replace") for path in found}

    def derived_tables(self) -> tuple[str, ...]:
        """Names of the derived tables that there are."""
        return tuple(sorted(path.stem for path in self.derived.glob("[!.]*.parquet")))

    def derived_documents(self) -> tuple[str, ...]:
        """Names of all else that is derived."""
        return tuple(sorted(path.stem for path in self.derived.glob("[!.]*.json")))

    def write_derived(self, name: str, table: pa.Table) -> None:
        """Keeps a derived table, in place of an earlier one.

        Args:
            name: Name of the table.
            table: Its content.

        Raises:
            StorageError: It could not be written.
        """
        import pyarrow.parquet as pq  # noqa: PLC0415

        with self._replacing(self.derived / f"{name}.parquet") as partial:
            pq.write_table(table, partial, compression="zstd")

    def read_derived(self, name: str) -> pa.Table | None:
        """A derived table; None when it has not been computed.

        Raises:
            StorageError: The file is damaged.
        """
        import pyarrow.parquet as pq  # noqa: PLC0415

        path = self.derived / f"{name}.parquet"
        try:
            return pq.read_table(path) if path.exists() else None
        except (OSError, ValueError) as error:
            raise StorageError(f"`{path}` cannot be read: {error}", _JUDGE_AGAIN) from error

    def write_derived_json(self, name: str, content: object) -> None:
        """Keeps something derived that is no table: `verdicts`.

        Raises:
            StorageError: It could not be written.
        """
        with self._replacing(self.derived / f"{name}.json") as partial:
            text = json.dumps(content, indent=1, ensure_ascii=False)
            partial.write_text(text + "\n", "utf-8")

    def read_derived_json(self, name: str) -> Any:
        """Something derived that is no table; None when it has not been computed.

        Raises:
            StorageError: The file is damaged.
        """
        path = self.derived / f"{name}.json"
        try:
            return json.loads(path.read_bytes()) if path.exists() else None
        except (OSError, ValueError) as error:
            raise StorageError(f"`{path}` cannot be read: {error}", _JUDGE_AGAIN) from error

    def prepare(
        self, campaign_toml: str, trials: Sequence[Trial], published_toml: str | None = None
    ) -> None:
        """Makes the folder ready for a campaign, or for going on with the same one.

        Removes what a killed run left behind. To be called under `locked`.

        Args:
            campaign_toml: The campaign file as given.
            trials: Its trials in order.
            published_toml: The published figures that it names; None when it names none.

        Raises:
            StorageError: The folder cannot be written, or holds something else.
        """
        plan = [documents.planned(trial) for trial in trials]
        self._require_same_campaign(campaign_toml, plan)
        with writing(self.folder):
            self.trials.mkdir(parents=True, exist_ok=True)
            for leftover in self.trials.glob(".*"):
                shutil.rmtree(leftover)
        with self._replacing(self.folder / "campaign.toml") as partial:
            partial.write_text(campaign_toml, "utf-8")
        if published_toml is not None:
            with self._replacing(self.folder / "published.toml") as partial:
                partial.write_text(published_toml, "utf-8")
        with self._replacing(self.folder / "plan.json") as partial:
            text = json.dumps({"format": FORMAT, "trials": plan}, indent=1)
            partial.write_text(text + "\n", "utf-8")

    @contextmanager
    def locked(self) -> Generator[None]:
        """Keeps other runs out of the folder for as long as the block runs.

        Raises:
            StorageError: Another run is at work in it, or it cannot be written.
        """
        with locked(self.folder):
            yield

    @contextmanager
    def trial(self, trial_id: str) -> Generator[Path]:
        """A folder for a trial that appears under its final name only when the block succeeds.

        Args:
            trial_id: Id of the trial; an earlier recording of it is replaced.

        Yields:
            The folder to write to; it is removed when the block raises.

        Raises:
            StorageError: It could not be written.
        """
        partial = self.trials / f".{trial_id}.partial"
        try:
            with writing(self.folder):
                shutil.rmtree(partial, ignore_errors=True)
                partial.mkdir(parents=True)
            yield partial
            with writing(self.folder):
                publish(partial, self.trials / trial_id)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise

    def _given(self, name: str) -> str | None:
        """A file that was given with the campaign; None when there was none."""
        given = self.folder / name
        if not given.exists():
            return None
        with writing(self.folder):
            return given.read_text("utf-8", "replace")

    def _require_same_campaign(self, campaign_toml: str, plan: list[dict[str, Any]]) -> None:
        given = self.campaign_toml()
        if given is None:
            self._require_empty()
            return
        if given != campaign_toml:
            raise StorageError(f"`{self.folder}` holds the results of another campaign", _ELSEWHERE)
        if changed := documents.changed(plan, self.plan()):
            message = f"`{self.folder}` was made with other settings: {changed} differs"
            raise StorageError(message, _ELSEWHERE)

    def _require_empty(self) -> None:
        with writing(self.folder):
            others = [path.name for path in self.folder.glob("*") if path.name != ".lock"]
        if others:
            message = f"`{self.folder}` holds other things than results (`{min(others)}`)"
            raise StorageError(message, _ELSEWHERE)

    @contextmanager
    def _replacing(self, path: Path) -> Generator[Path]:
        """A file that takes the place of another one only when it is complete."""
        partial = path.with_name(f".{path.name}.partial")
        try:
            with writing(self.folder):
                path.parent.mkdir(parents=True, exist_ok=True)
                yield partial
                _sync(partial)
                partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


_ELSEWHERE = "name another folder with `--into`, or move this one away"
_JUDGE_AGAIN = "`plimsoll judge` computes it again"


@contextmanager
def locked(folder: Path, option: str = "--into") -> Generator[None]:
    """Keeps others out of a folder for as long as the block runs.

    Args:
        folder: The folder; made when it is not there.
        option: The option that names another one, for remedies.

    Raises:
        StorageError: Somebody else is at work in it, or it cannot be written.
    """
    with writing(folder, option):
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("a+")
    with lock:
        _take(lock.fileno(), folder, option)
        yield


@contextmanager
def writing(folder: Path, option: str = "--into") -> Generator[None]:
    """Turns what the operating system says while results are written into an error with a remedy.

    Args:
        folder: The results that are being written.
        option: The option that names another folder, for remedies.

    Raises:
        StorageError: The block raised an OSError.
    """
    try:
        yield
    except OSError as error:
        raise storage_error(folder, error, option) from error


def keep(path: Path, content: bytes) -> Path:
    """Writes a file, and makes the folder it lies in.

    Args:
        path: The file; an earlier one is written over.
        content: What is in it.

    Returns:
        The path.

    Raises:
        StorageError: It could not be written.
    """
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return path


def storage_error(folder: Path, error: OSError, option: str = "--into") -> StorageError:
    """The error that says what went wrong with a folder, and what to do.

    Args:
        folder: The results.
        error: What the operating system, or Arrow in its name, said.
        option: The option that names another folder, for remedies.
    """
    reason = error.strerror or str(error)
    number = error.errno or _number_in(str(error))
    if number in _FULL:
        hint = f"free some space or name another folder with `{option}`, then run again to go on"
        return StorageError(f"no space left for results in `{folder}`", hint)
    if number in _FORBIDDEN:
        hint = f"name a folder that you may write to with `{option}`"
        return StorageError(f"results cannot be written to `{folder}`: {reason}", hint)
    return StorageError(f"results in `{folder}` could not be kept: {reason}")


def _number_in(text: str) -> int | None:
    """The error number that a message of Arrow holds, for the numbers that matter here."""
    known = {os.strerror(number): number for number in (*_FULL, *_FORBIDDEN)}
    return next((number for words, number in known.items() if words in text), None)


def _schema(name: str) -> pa.Schema:
    from plimsoll import tables  # noqa: PLC0415

    return next(table.schema for table in tables.TABLES if table.name == name)


def _unbuffered() -> ds.ParquetFileFormat:
    """Parquet read row group by row group; by default Arrow keeps whole columns of a file."""
    import pyarrow.dataset as ds  # noqa: PLC0415

    options = ds.ParquetFragmentScanOptions(pre_buffer=False)
    return ds.ParquetFileFormat(default_fragment_scan_options=options)


def _take(lock: int, folder: Path, option: str) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        message = f"another run is at work in `{folder}`"
        hint = f"wait until it has ended, or name another folder with `{option}`"
        raise StorageError(message, hint) from error


def publish(partial: Path, final: Path) -> None:
    """Gives a complete folder its final name, so that a crash leaves it whole or not at all.

    Args:
        partial: The folder.
        final: Its name; what has it is replaced.

    Raises:
        OSError: It could not be written.
    """
    for path in partial.iterdir():
        _sync(path)
    _sync(partial)
    earlier = final.with_name(f".{final.name}.earlier")
    if final.exists():
        shutil.rmtree(earlier, ignore_errors=True)
        final.rename(earlier)
    partial.rename(final)
    _sync(final.parent)
    shutil.rmtree(earlier, ignore_errors=True)


def _sync(path: Path) -> None:
    """Waits until a file, or the entries of a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
