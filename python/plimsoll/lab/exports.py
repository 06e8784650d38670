"""Recordings written for other programs, one folder for each trial."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate.trial import stored
from plimsoll.errors import StorageError
from plimsoll.export import folder
from plimsoll.storage import parquet

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from pathlib import Path

    from plimsoll.storage.results import Results


@contextmanager
def opened(target: Path, trial_ids: Sequence[str]) -> Generator[None]:
    """Keeps other exports out of a folder for as long as the block runs; makes it where it is not.

    Args:
        target: The folder.
        trial_ids: Ids of the trials that are to be written.

    Raises:
        StorageError: Another export is at work in it, it cannot be written, or it contains files
            that are not an export.
    """
    with parquet.locked(target, folder.ARGUMENT):
        folder.prepare(target, trial_ids)
        yield


def require_rows(results: Results, trial_ids: Sequence[str]) -> None:
    """Requires rows that did not stay on the hosts of a load.

    Args:
        results: The recordings.
        trial_ids: Ids of the trials that are to be written.

    Raises:
        StorageError: Those of some stayed, or a recording cannot be read.
    """
    staying: dict[str, list[str]] = {}
    for trial_id in trial_ids:
        hosts = results.recording(trial_id).hosts
        if names := [f"`{one.host}`" for one in hosts if one.kept is not None]:
            staying[trial_id] = names
    if staying:
        first, *others = staying
        more = f" and {wording.several(len(others), 'more trial')}" if others else ""
        named = dict.fromkeys(name for names in staying.values() for name in names)
        message = f"the rows of `{first}`{more} are on {wording.listed([*named])}"
        fetching = f"`plimsoll host rows {results.place} --hosts FILE`"
        raise StorageError(message, f"fetch them with {fetching}")


def write(
    results: Results, trial_id: str, formats: Sequence[str], target: Path
) -> Mapping[str, Sequence[str]]:
    """Writes a trial; other formats of the same recording stay.

    Args:
        results: The recordings.
        trial_id: Id of the trial.
        formats: Names of formats.
        target: Folder it goes to; opened.

    Returns:
        What could not be exported in a format, by format.

    Raises:
        StorageError: The recording cannot be read, or the folder cannot be written.
    """
    return folder.export(stored(results, results.recording(trial_id)), formats, target)
