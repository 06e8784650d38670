"""A folder of Parquet files.

```
results/<campaign>/
├── campaign.toml             as given
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
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import StorageError
from plimsoll.recording import FORMAT, Recording

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

    from plimsoll.plan import Trial

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST)


def results(folder: Path) -> Results:
    """The results in a folder, which need not exist yet."""
    return Results(folder)


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

    def trial_ids(self) -> tuple[str, ...]:
        """Ids of the trials that are complete, in the order of the plan."""
        planned = {planned["id"]: order for order, planned in enumerate(self._planned())}
        found = [path.parent.name for path in self.trials.glob("[!.]*/trial.json")]
        return tuple(sorted(found, key=lambda name: (planned.get(name, len(planned)), name)))

    def planned_ids(self) -> tuple[str, ...]:
        """Ids of the trials of the plan, in order; empty when there is no plan."""
        return tuple(planned["id"] for planned in self._planned())

    def recording(self, trial_id: str) -> Recording:
        """What happened in a trial.

        Raises:
            StorageError: There is no such trial, or it cannot be read by this version.
        """
        path = self.trials / trial_id / "trial.json"
        try:
            content = json.loads(path.read_bytes())
        except FileNotFoundError as error:
            raise StorageError(f"`{self.folder}` has no trial `{trial_id}`") from error
        except (OSError, ValueError) as error:
            raise StorageError(f"`{path}` cannot be read: {error}") from error
        return _recording(content, path)

    def table(self, trial_id: str, name: str) -> ds.Dataset:
        """A recorded table of a trial, read lazily; empty when the trial has none.

        Args:
            trial_id: Id of the trial.
            name: `requests`, `connections` or `usage`.

        Raises:
            StorageError: The file is damaged.
        """
        import pyarrow.dataset as ds  # noqa: PLC0415

        path = self.trials / trial_id / f"{name}.parquet"
        if not path.exists():
            return ds.dataset(_schema(name).empty_table())
        try:
            return ds.dataset(path, format=_unbuffered())
        except (OSError, ValueError) as error:
            raise StorageError(f"`{path}` cannot be read: {error}") from error

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

    def prepare(self, campaign_toml: str, trials: Sequence[Trial]) -> None:
        """Makes the folder ready for a campaign, or for going on with the same one.

        Removes what a killed run left behind. To be called under `locked`.

        Args:
            campaign_toml: The campaign file as given.
            trials: Its trials in order.

        Raises:
            StorageError: The folder cannot be written, or holds something else.
        """
        plan = [planned(trial) for trial in trials]
        self._require_same_campaign(campaign_toml, plan)
        with writing(self.folder):
            self.trials.mkdir(parents=True, exist_ok=True)
            for leftover in self.trials.glob(".*"):
                shutil.rmtree(leftover)
        with self._replacing(self.folder / "campaign.toml") as partial:
            partial.write_text(campaign_toml, "utf-8")
        with self._replacing(self.folder / "plan.json") as partial:
            text = json.dumps({"format": FORMAT, "trials": plan}, indent=1)
            partial.write_text(text + "\n", "utf-8")

    @contextmanager
    def locked(self) -> Generator[None]:
        """Keeps other runs out of the folder for as long as the block runs.

        Raises:
            StorageError: Another run is at work in it, or it cannot be written.
        """
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / ".lock").open("a+")
        with lock:
            _take(lock.fileno(), self.folder)
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
                _publish(partial, self.trials / trial_id)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise

    def _planned(self) -> list[dict[str, Any]]:
        try:
            return json.loads((self.folder / "plan.json").read_bytes())["trials"]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError) as error:
            path = self.folder / "plan.json"
            raise StorageError(f"`{path}` cannot be read: {error}") from error

    def _require_same_campaign(self, campaign_toml: str, plan: list[dict[str, Any]]) -> None:
        given = self.folder / "campaign.toml"
        if not given.exists():
            self._require_empty()
            return
        with writing(self.folder):
            same = given.read_text("utf-8", "replace") == campaign_toml
        if not same:
            raise StorageError(f"`{self.folder}` holds the results of another campaign", _ELSEWHERE)
        self._require_same_trials(plan)

    def _require_empty(self) -> None:
        with writing(self.folder):
            others = [path.name for path in self.folder.glob("*") if path.name != ".lock"]
        if others:
            message = f"`{self.folder}` holds other things than results (`{min(others)}`)"
            raise StorageError(message, _ELSEWHERE)

    def _require_same_trials(self, plan: list[dict[str, Any]]) -> None:
        """Trials already conducted must be those that are asked for now, but for their order."""
        earlier = {trial["id"]: trial for trial in self._planned()}
        for trial in plan:
            before = earlier.get(trial["id"], trial)
            changed = sorted(key for key in trial if key != "order" and trial[key] != before[key])
            if changed:
                message = (
                    f"`{self.folder}` was made with other settings:"
                    f" `{changed[0]}` of trial `{trial['id']}` differs"
                )
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


def planned(trial: Trial) -> dict[str, Any]:
    """A trial as `plan.json` has it."""
    return {
        "id": trial.id,
        "order": trial.order,
        "framework": trial.framework.name,
        "variant": trial.framework.variant,
        "endpoint": trial.endpoint.name,
        "load": json.loads(json.dumps(asdict(trial.load))),
        "repetition": trial.repetition,
        "driver": trial.driver,
        "seed": trial.seed,
    }


@contextmanager
def writing(folder: Path) -> Generator[None]:
    """Turns what the operating system says while results are written into an error with a remedy.

    Args:
        folder: The results that are being written.

    Raises:
        StorageError: The block raised an OSError.
    """
    try:
        yield
    except OSError as error:
        raise storage_error(folder, error) from error


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


def storage_error(folder: Path, error: OSError) -> StorageError:
    """The error that says what went wrong with a folder, and what to do.

    Args:
        folder: The results.
        error: What the operating system, or Arrow in its name, said.
    """
    reason = error.strerror or str(error)
    number = error.errno or _number_in(str(error))
    if number in _FULL:
        hint = "free some space or name another folder with `--into`, then run again to go on"
        return StorageError(f"no space left for results in `{folder}`", hint)
    if number in _FORBIDDEN:
        hint = "name a folder that you may write to with `--into`"
        return StorageError(f"results cannot be written to `{folder}`: {reason}", hint)
    return StorageError(f"results in `{folder}` could not be kept: {reason}")


def _number_in(text: str) -> int | None:
    """The error number that a message of Arrow holds, for the numbers that matter here."""
    known = {os.strerror(number): number for number in (*_FULL, *_FORBIDDEN)}
    return next((number for words, number in known.items() if words in text), None)


def _recording(content: dict[str, Any], path: Path) -> Recording:
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415

    written = content.get("format", 0)
    if written > FORMAT:
        message = f"`{path}` has format {written}, this Plimsoll reads up to {FORMAT}"
        raise StorageError(message, "update Plimsoll")
    try:
        return TypeAdapter(Recording).validate_python(content)
    except ValidationError as error:
        raise StorageError(f"`{path}` is no recording: {error}") from error


def _schema(name: str) -> pa.Schema:
    from plimsoll import tables  # noqa: PLC0415

    return next(table.schema for table in tables.TABLES if table.name == name)


def _unbuffered() -> ds.ParquetFileFormat:
    """Parquet read row group by row group; by default Arrow keeps whole columns of a file."""
    import pyarrow.dataset as ds  # noqa: PLC0415

    options = ds.ParquetFragmentScanOptions(pre_buffer=False)
    return ds.ParquetFileFormat(default_fragment_scan_options=options)


def _take(lock: int, folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        message = f"another run is at work in `{folder}`"
        hint = "wait until it has ended, or name another folder with `--into`"
        raise StorageError(message, hint) from error


def _publish(partial: Path, final: Path) -> None:
    """Gives a complete folder its final name, so that a crash leaves it whole or not at all."""
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
