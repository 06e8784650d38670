"""A folder of exported trials: one folder a trial, complete or absent.

```
<target>/<trial id>/      what was written, and export.json: of what, and what could not be said
```

A trial that is exported again keeps the files of other formats, as long as they are of the same
recording.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import duckdb

import plimsoll
from plimsoll.aggregate import query
from plimsoll.errors import StorageError
from plimsoll.export.formats import FORMATS
from plimsoll.storage.parquet import publish, storage_error, writing

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Mapping
    from pathlib import Path

    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import Recording

    Unsaid = Mapping[str, tuple[str, ...]]
    """Sentences on what could not be said, by format."""

FORMAT = 1
"""Version of the format of `export.json`."""

DESCRIPTION = "export.json"
"""File that says what an exported trial is of."""

OPTION = "--to"
"""The option that names the folder, for remedies."""


def prepare(folder: Path) -> None:
    """Makes the folder ready.

    Args:
        folder: Where trials are exported to; made when it is not there.

    Raises:
        StorageError: It cannot be written, or holds other things than exported trials.
    """
    with writing(folder, OPTION):
        folder.mkdir(parents=True, exist_ok=True)
        others = [path.name for path in folder.glob("[!.]*") if not _is_exported(path)]
    if others:
        message = f"`{folder}` holds other things than an export (`{min(others)}`)"
        raise StorageError(message, f"name another folder with `{OPTION}`, or move this one away")


def export(of_trial: Tables, names: Collection[str], folder: Path) -> Unsaid:
    """Writes one trial in some formats; it appears only when it is complete.

    Args:
        of_trial: Its tables.
        names: Names of the formats.
        folder: The folder, which was prepared.

    Returns:
        What could not be said.

    Raises:
        StorageError: It could not be written.
    """
    recording = of_trial.recording
    with _complete(folder, recording.trial) as into:
        unsaid = _written(of_trial, names, into)
        kept = _kept(recording, unsaid, folder / recording.trial, into)
        description = _origin(recording) | {"formats": {**kept, **unsaid}}
        text = json.dumps(description, indent=1, ensure_ascii=False)
        (into / DESCRIPTION).write_text(text + "\n", "utf-8")
    return unsaid


def _written(of_trial: Tables, names: Collection[str], into: Path) -> Unsaid:
    without_rows = not _has_rows(of_trial)
    unsaid: dict[str, tuple[str, ...]] = {}
    for module in FORMATS:
        if module.NAME not in names:
            continue
        if module.OF_ROWS and without_rows:
            unsaid[module.NAME] = (_no_rows(of_trial.recording),)
        else:
            unsaid[module.NAME] = module.write(of_trial, into)
    return unsaid


def _has_rows(of_trial: Tables) -> bool:
    with query.opened(requests=of_trial.requests) as database:
        return database.execute("SELECT 1 FROM requests LIMIT 1").fetchone() is not None


def _no_rows(recording: Recording) -> str:
    if recording.driver is None:
        return "nothing to export: no load was put on"
    return f"nothing to export: `{recording.driver.name}` kept no row of each request"


def _kept(
    recording: Recording, written: Unsaid, earlier: Path, into: Path
) -> dict[str, tuple[str, ...]]:
    """Formats of an earlier export of the same recording, whose files are taken over."""
    description = _description(earlier)
    if any(description.get(key) != value for key, value in _origin(recording).items()):
        return {}
    kept = {
        module.NAME: module
        for module in FORMATS
        if module.NAME in description["formats"] and module.NAME not in written
    }
    for name in (file for module in kept.values() for file in module.FILES):
        if (earlier / name).exists():
            _link(earlier / name, into / name)
    return {name: tuple(description["formats"][name]) for name in kept}


def _link(source: Path, path: Path) -> None:
    """The same file under another name; a copy where the file system knows no such thing."""
    try:
        os.link(source, path)
    except OSError:
        shutil.copyfile(source, path)


def _origin(recording: Recording) -> dict[str, Any]:
    """What an exported trial is of: its files are of no use beside others once this has changed."""
    return {
        "format": FORMAT,
        "plimsoll": plimsoll.__version__,
        "trial": recording.trial,
        "zero_utc": recording.zero_utc,
    }


def _description(folder: Path) -> dict[str, Any]:
    try:
        return json.loads((folder / DESCRIPTION).read_bytes())
    except (OSError, ValueError):
        return {}


def _is_exported(path: Path) -> bool:
    return (path / DESCRIPTION).is_file()


@contextmanager
def _complete(folder: Path, trial_id: str) -> Generator[Path]:
    """A folder that appears under its final name only when the block succeeds."""
    partial = folder / f".{trial_id}.partial"
    try:
        with writing(folder, OPTION), _duckdb_at_work(folder, trial_id):
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            yield partial
            publish(partial, folder / trial_id)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


@contextmanager
def _duckdb_at_work(folder: Path, trial_id: str) -> Generator[None]:
    """What DuckDB could not write is an error of the folder, what it could not read of the trial.

    Rows come to it as a stream of Arrow, whose errors it calls invalid input.
    """
    try:
        yield
    except duckdb.IOException as error:
        raise storage_error(folder, OSError(str(error)), OPTION) from error
    except duckdb.InvalidInputException as error:
        reason = str(error).partition("\n")[0]
        raise StorageError(f"the rows of `{trial_id}` cannot be read: {reason}") from error
