"""Recordings written for other programs, one folder for each trial."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from plimsoll.aggregate.trial import stored
from plimsoll.export import folder
from plimsoll.storage import parquet

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from pathlib import Path

    from plimsoll.storage.results import Results


@contextmanager
def opened(target: Path) -> Generator[None]:
    """Keeps other exports out of a folder for as long as the block runs; makes it where it is not.

    Raises:
        StorageError: Another export is at work in it, or it cannot be written.
    """
    with parquet.locked(target, folder.ARGUMENT):
        folder.prepare(target)
        yield


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
