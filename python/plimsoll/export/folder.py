"""A folder of exported trials: one folder per trial, complete or absent.

```
<target>/<trial id>/      exported files, and export.json: their source, and what is missing
```

A trial that is exported again keeps files of other formats if they are of the same recording. It is
not exported where anybody else has put something into its folder, which would be lost.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypedDict, cast

import plimsoll
from plimsoll import texts, wording
from plimsoll.aggregate import query
from plimsoll.errors import StorageError
from plimsoll.export.formats import FORMATS
from plimsoll.storage.parquet import publish, writing

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Mapping
    from pathlib import Path

    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import Recording

    Unsaid = Mapping[str, tuple[str, ...]]
    """Sentences on what could not be exported, by format."""

FORMAT = 1
"""Version of the format of `export.json`."""

DESCRIPTION = "export.json"
"""File with the source of an exported trial."""

ARGUMENT = "target"
"""The argument that selects the folder, for hints."""


class ExportDescription(TypedDict):
    """What is read of `export.json`."""

    formats: dict[str, list[str]]


def prepare(folder: Path, trial_ids: Collection[str] = ()) -> None:
    """Prepares the folder.

    Args:
        folder: The target; created if necessary.
        trial_ids: Ids of the trials that are to be written, whose folders will be replaced.

    Raises:
        StorageError: It cannot be written, or contains something other than exported trials; or
            the folder of a trial contains something that no export wrote.
    """
    with writing(folder, ARGUMENT):
        folder.mkdir(parents=True, exist_ok=True)
        others = [path for path in folder.glob("[!.]*") if not _is_exported(path)]
        others += [path for trial_id in trial_ids for path in _others(folder / trial_id)]
    _require_none(others, folder)


def export(of_trial: Tables, names: Collection[str], folder: Path) -> Unsaid:
    """Writes one trial in some formats; it appears only when it is complete.

    Args:
        of_trial: Its tables.
        names: Names of the formats.
        folder: The prepared folder.

    Returns:
        What the formats cannot represent.

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


def _require_none(others: Collection[Path], folder: Path) -> None:
    """Requires that nothing in the folder is somebody else's."""
    if others:
        names = [f"`{texts.shown(path.relative_to(folder))}`" for path in sorted(set(others))]
        message = f"`{texts.shown(folder)}` contains files that are not an export"
        hint = f"move them elsewhere, or choose another folder with `{ARGUMENT}=`"
        raise StorageError(f"{message} ({wording.listed(names)})", hint)


def _others(of_trial: Path) -> list[Path]:
    """What is in the folder of an exported trial that no export wrote there."""
    if not _is_exported(of_trial):
        return []
    written = {DESCRIPTION, *(name for module in FORMATS for name in module.FILES)}
    return [
        path
        for path in of_trial.iterdir()
        if path.name not in written or (path.is_dir() and not path.is_symlink())
    ]


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
        return "nothing to export: the trial has no load"
    return f"nothing to export: `{recording.driver.name}` logged no requests"


def _kept(
    recording: Recording, written: Unsaid, earlier: Path, into: Path
) -> dict[str, tuple[str, ...]]:
    """Formats of an earlier export of the same recording, whose files are kept."""
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
    """Links a file under another name; copies it if the file system does not support links."""
    try:
        os.link(source, path)
    except OSError:
        shutil.copyfile(source, path)


def _origin(recording: Recording) -> dict[str, int | str]:
    """The source of an exported trial; files of different sources are not mixed."""
    return {
        "format": FORMAT,
        "plimsoll": plimsoll.__version__,
        "trial": recording.trial,
        "zero_utc": recording.zero_utc,
    }


def _description(folder: Path) -> ExportDescription:
    try:
        found = json.loads((folder / DESCRIPTION).read_bytes())
    except (OSError, ValueError):
        return {"formats": {}}
    is_one = isinstance(found, dict) and "formats" in found
    return cast("ExportDescription", found) if is_one else {"formats": {}}


def _is_exported(path: Path) -> bool:
    return (path / DESCRIPTION).is_file()


@contextmanager
def _complete(folder: Path, trial_id: str) -> Generator[Path]:
    """A folder that gets its final name only if the block succeeds."""
    partial = folder / f".{trial_id}.partial"
    try:
        with writing(folder, ARGUMENT):
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            yield partial
            _require_none(_others(folder / trial_id), folder)  # that came meanwhile
            publish(partial, folder / trial_id)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
