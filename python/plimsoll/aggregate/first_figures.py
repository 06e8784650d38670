"""First figures of a load: counted in the engine's own records, before these become tables.

They are those of `summaries`, number for number, for a person who waits; what needs readings of
resources is left out. Every record is counted in Rust, by all cores (`crates/figures`), and once:
what is shown when a load ends is what its checks ask for a moment later.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from plimsoll import _engine
from plimsoll.aggregate import rates
from plimsoll.aggregate.counted import Failure, StatusTotal
from plimsoll.aggregate.outcomes import error_name
from plimsoll.statistics.quantiles import QUANTILES, enough, rank

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from plimsoll.aggregate.query import Columns
    from plimsoll.aggregate.summary import Summary
    from plimsoll.aggregate.usage import Window
    from plimsoll.recording import Recording


@dataclass(frozen=True)
class FirstFigures:
    """What is known of a load as soon as it is over; see `findings.trial.TrialFindings`.

    Attributes:
        recording: What happened.
        summary: What it amounts to; what needs readings of resources is None.
        statuses: Complete responses by status code, the most frequent first.
        failures: How its requests failed, the most frequent kind first.
    """

    recording: Recording
    summary: Summary
    statuses: tuple[StatusTotal, ...]
    failures: tuple[Failure, ...]


@dataclass(frozen=True)
class _CountedRecords:
    """Counts and times by their columns, status codes and failures."""

    columns: Columns
    statuses: tuple[StatusTotal, ...]
    failures: tuple[Failure, ...]


@dataclass(frozen=True)
class _Records:
    """The engine's records of a load, which stay the same when their folder is renamed.

    Attributes:
        files: Inode, size and time of the last change of each file.
        folder: Where they lie now.
    """

    files: tuple[tuple[int, int, int], ...]
    folder: Path = field(compare=False)


def of_records(recording: Recording, folder: Path) -> FirstFigures:
    """The figures of a load that our own engine recorded.

    Args:
        recording: What happened.
        folder: Where the engine's records lie.

    Raises:
        OSError: They cannot be read.
    """
    found = _counted(_records(folder), _holds(recording))
    columns = found.columns | {"some_of_ok_are_wrong": False}
    summary = rates.of_counts(recording, columns)
    return FirstFigures(recording, summary, found.statuses, found.failures)


def columns_of(recording: Recording, folder: Path) -> Columns:
    """Counts and times by their columns, as `summaries` has them.

    Args:
        recording: What happened.
        folder: Where the engine's records lie.

    Raises:
        OSError: They cannot be read.
    """
    return {**_counted(_records(folder), _holds(recording)).columns}


def response_times(recording: Recording, folder: Path) -> _engine.Times:
    """Every response time of the measurement window.

    Args:
        recording: What happened.
        folder: Where the engine's records lie.

    Raises:
        OSError: They cannot be read.
    """
    return _engine.load_figures(folder, _holds(recording))["times"]["response_time"]


def _holds(recording: Recording) -> tuple[Window, ...]:
    return tuple((hold.start_ns, hold.end_ns) for hold in recording.holds)


def _records(folder: Path) -> _Records:
    known = [path.stat() for path in sorted(folder.glob("*.bin"))]
    return _Records(tuple((one.st_ino, one.st_size, one.st_mtime_ns) for one in known), folder)


@lru_cache(maxsize=1)
def _counted(records: _Records, holds: tuple[Window, ...]) -> _CountedRecords:
    found = _engine.load_figures(records.folder, holds)
    columns: Columns = {**found["counts"]}
    with ThreadPoolExecutor() as threads:
        for statistics in threads.map(_statistics, *zip(*found["times"].items(), strict=True)):
            columns |= statistics
    return _CountedRecords(columns, _status_totals(found["statuses"]), _failures(found["failures"]))


def _status_totals(found: Iterable[tuple[int, int, int, int]]) -> tuple[StatusTotal, ...]:
    totals = [StatusTotal(code or None, *counts) for code, *counts in found]
    return tuple(sorted(totals, key=lambda one: (-one.responses, one.status or 0)))


def _failures(found: Iterable[tuple[str, int, int, int, int, int, int]]) -> tuple[Failure, ...]:
    kinds = [
        Failure(
            outcome=outcome,
            errno=number or None,
            errno_name=error_name(outcome, number or None),
            count=count,
            held=held,
            first_at_s=first_ns / 1e9,
            last_at_s=last_ns / 1e9,
            status=status or None,
        )
        for outcome, number, status, count, held, first_ns, last_ns in found
    ]
    return tuple(
        sorted(kinds, key=lambda one: (-one.count, one.outcome, one.errno or one.status or 0))
    )


def _statistics(name: str, times: _engine.Times) -> Columns:
    """Mean, least, greatest and every quantile that there are enough values for."""
    count = len(times)
    shares = {one: share for one, share in QUANTILES.items() if enough(count, share)}
    places = {"min": 0, **{one: rank(count, share) - 1 for one, share in shares.items()}}
    values = times.at([*places.values(), max(count - 1, 0)])
    found: Columns = {f"{name}_{one}_ns": None for one in ("mean", "min", *QUANTILES, "max")}
    found[f"{name}_mean_ns"] = times.mean()
    known = zip([*places, "max"], values, strict=count > 0)
    return found | {f"{name}_{one}_ns": value for one, value in known}
