"""Rows that stayed on the hosts of a load come into its results."""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, cast

import plimsoll
from plimsoll import hosts, tables, wording
from plimsoll.conduct import recording as recordings
from plimsoll.conduct.copies import COPIES
from plimsoll.conduct.recording import RecordSource
from plimsoll.drivers import records
from plimsoll.drivers.records import ROWS
from plimsoll.errors import EngineFailed, HostError, InputError, Problem, StorageError
from plimsoll.hosts.answers import HostFile
from plimsoll.recording import writing
from plimsoll.storage import documents, parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence
    from pathlib import Path

    from plimsoll.hosts.host import Hosts
    from plimsoll.hosts.lab.control import Lab
    from plimsoll.recording import HostDriver, KeptRows, Recording
    from plimsoll.storage.results import Results

TOLD_S = 5.0
"""From one word on how much of a file is here to the next, in seconds."""

State = Literal["there", "gone", "changed"]


@dataclass(frozen=True)
class StayedRows:
    """Rows of a trial that stayed on one host.

    Attributes:
        trial: Id of the trial.
        host: Name of the host.
        folder: Their folder there.
        requests: How many requests.
        state: Whether they are as they were left: `there`, `gone`, or `changed`. Until they are
            fetched, only their length tells.
        size_bytes: Their length now; 0 if they are gone.
        copied_bytes: How much of that is here already.
    """

    trial: str
    host: str
    folder: str
    requests: int
    state: State
    size_bytes: int
    copied_bytes: int


def stayed(results: Results) -> tuple[Recording, ...]:
    """The trials of which rows stayed on hosts, in the order of the plan.

    Raises:
        StorageError: A recording cannot be read.
    """
    found = map(results.recording, results.trial_ids())
    return tuple(one for one in found if any(host.kept for host in one.hosts))


@contextmanager
def joined(trials: Sequence[Recording], file: Path, tell: Callable[[str], None]) -> Generator[Lab]:
    """The lab with all hosts on which rows stayed, for as long as the block runs.

    Args:
        trials: The trials, at least one.
        file: File of the hosts.
        tell: Told whom the lab waits for.

    Raises:
        InputError: The file has mistakes, or does not name such a host.
        HostError: A host does not join, or another version of Plimsoll wrote rows.
    """
    hosts.require()
    known = hosts.lab.hosts_file.read(file)
    names = tuple(dict.fromkeys(one.host for trial in trials for one in _keeping(trial)))
    _require_named(known, names, file)
    _require_version(trials)
    with hosts.lab.control.opened(known) as lab:
        lab.wait(names, tell)
        yield lab


def seen(lab: Lab, results: Results, trial: Recording) -> tuple[StayedRows, ...]:
    """What is there of the rows of a trial, host by host.

    Args:
        lab: The lab; the hosts have joined.
        results: The results.
        trial: The trial.

    Raises:
        HostLost: A host is gone.
        StorageError: A host cannot read its rows.
    """
    return tuple(
        _seen(lab, trial, one.host, one.kept, _copies(results, trial) / one.host)
        for one in trial.hosts
        if one.kept is not None
    )


def require_space(results: Results, rows: Iterable[StayedRows]) -> None:
    """Requires space for rows: for their copies, and once more for the tables.

    Raises:
        StorageError: There is not enough.
    """
    needed = sum(2 * one.size_bytes - one.copied_bytes for one in rows)
    with parquet.writing(results.folder, None):
        results.folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(results.folder).free
    if needed > free:
        message = (
            f"`{results.folder}` has {wording.size(free)} free, and the rows need up to "
            f"{wording.size(needed)}"
        )
        raise StorageError(message, "free space, or move the results to a larger disk")


def fetch(
    lab: Lab,
    results: Results,
    trial: Recording,
    there: Sequence[StayedRows],
    tell: Callable[[str], None],
) -> tuple[StayedRows, ...]:
    """Copies the rows of a trial from all hosts, and puts them into its results.

    What an interrupted copy left is not copied again. What was derived from the trial is removed,
    and is derived again with its rows. Where rows of a host are not those that were left on it, the
    trial stays as it is.

    Args:
        lab: The lab; the hosts have joined.
        results: The results; locked.
        trial: The trial.
        there: What is there of its rows, as `seen` gives it: all of them.
        tell: Told how far that is.

    Returns:
        What turned out to be there; `changed` where they are others.

    Raises:
        HostLost: A host is gone, and did not come back; the same call goes on.
        StorageError: They cannot be read or written.
    """
    copies = _copies(results, trial)
    kept = {one.host: one.kept for one in trial.hosts if one.kept is not None}
    with parquet.writing(results.folder, None):
        found = tuple(
            one
            if _is_copied(lab, one.host, kept[one.host], copies / one.host, tell)
            else replace(one, state="changed")
            for one in there
        )
        if any(one.state == "changed" for one in found):
            return found
        tell(f"{trial.trial}: writing the tables")
        with results.trial(trial.trial) as into:
            _put_together(results, trial, copies, into)
        shutil.rmtree(copies)
        if not any(copies.parent.iterdir()):
            copies.parent.rmdir()
    return found


def _keeping(trial: Recording) -> tuple[HostDriver, ...]:
    return tuple(one for one in trial.hosts if one.kept is not None)


def _copies(results: Results, trial: Recording) -> Path:
    return results.folder / COPIES / trial.trial


def _require_named(known: Hosts, names: Iterable[str], file: Path) -> None:
    missing = {*names} - {one.name for one in known.hosts}
    if missing:
        message = f"`{file}` has no host {wording.listed([f'`{one}`' for one in sorted(missing)])}"
        hint = "give the file with which the load was generated"
        raise InputError([Problem("hosts", message, hint)])


def _require_version(trials: Iterable[Recording]) -> None:
    """Requires rows in the format of this version, which alone knows how to read them.

    Raises:
        HostError: Another version wrote some.
    """
    for trial in trials:
        version = trial.versions.get("plimsoll")
        if version != plimsoll.__version__:
            message = f"Plimsoll {version} wrote the rows of `{trial.trial}` in a format of its own"
            raise HostError(message, f"fetch them with Plimsoll {version}")


def _seen(lab: Lab, trial: Recording, host: str, kept: KeptRows, copies: Path) -> StayedRows:
    sizes = cast("dict[str, int]", lab.order(host, "kept", kept.folder))
    expected = kept.requests * records.size_bytes("requests")
    state: State = "there"
    if not {*kept.sha256} <= {*sizes}:
        state = "gone"
    elif sizes.get(ROWS[0], 0) != expected:
        state = "changed"
    here = (copies / name for name in kept.sha256)
    return StayedRows(
        trial.trial,
        host,
        kept.folder,
        kept.requests,
        state,
        sum(sizes.values()),
        sum(path.stat().st_size for path in here if path.exists()),
    )


def _is_copied(
    lab: Lab, host: str, kept: KeptRows, into: Path, tell: Callable[[str], None]
) -> bool:
    """Copies the files of a host; whether they are those that were left there."""
    into.mkdir(parents=True, exist_ok=True)
    sizes = cast("dict[str, int]", hosts.lab.copying.patiently(lab, host, "kept", kept.folder))
    for name, digest in kept.sha256.items():
        file = HostFile(name, sizes.get(name, 0), digest)
        order = ("read_kept", kept.folder, name)
        progress = _telling(f"{host}: {name}", file.size_bytes, tell)
        try:
            hosts.lab.copying.fetch(lab, host, file, into / name, order, progress)
        except EngineFailed as error:
            tell(f"{error.message}: the digest is not that of the load")
            return False
    return True


def _telling(what: str, size_bytes: int, tell: Callable[[str], None]) -> Callable[[int], None]:
    """Tells now and then how much of a file is here."""
    told_s = time.monotonic()

    def copied(here_bytes: int) -> None:
        nonlocal told_s
        if time.monotonic() - told_s >= TOLD_S:
            told_s = time.monotonic()
            tell(f"{what}: {wording.size(here_bytes)} of {wording.size(size_bytes)}")

    return copied


def _put_together(results: Results, trial: Recording, copies: Path, into: Path) -> None:
    """Writes a trial as if its rows had been copied after the load."""
    sources = [RecordSource(one.host, copies / one.host, one.zero_ns) for one in _keeping(trial)]
    for table in recordings.RECORDED:
        recordings.convert(table, into, sources=sources)
    with writing.opened(tables.USAGE, into / "usage.parquet") as writer:
        for batch in results.table(trial.trial, "usage").to_batches():
            writer.write_batch(batch)
    for name, text in results.logs(trial.trial).items():
        (into / name).write_text(text, "utf-8")
    documents.keep_recording(_with_rows(trial), into)


def _with_rows(trial: Recording) -> Recording:
    """The recording of a trial whose rows are in its tables: no counts stand for them."""
    driver = trial.driver and replace(trial.driver, figures=None, uses_reported_statistics=False)
    return replace(
        trial, driver=driver, hosts=tuple(replace(one, kept=None) for one in trial.hosts)
    )
