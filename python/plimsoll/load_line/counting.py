"""Counting: what the requests of a load make of each limit, as the engine wrote or as stored."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plimsoll.aggregate.outcomes import COMPLETED, RIGHT, UNENDED
from plimsoll.drivers import records
from plimsoll.load_line.limits import ERRORS, SENT
from plimsoll.load_line.tries import Try
from plimsoll.statistics.edge import Count, count
from plimsoll.statistics.quantiles import QUANTILES, enough, rank

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from plimsoll.load_line.limits import LineLimit
    from plimsoll.recording import Recording

    Instants = np.ndarray[Any, np.dtype[np.float64]]
    Mask = np.ndarray[Any, np.dtype[np.bool_]]
    Numbers = np.ndarray[Any, np.dtype[Any]]

BLOCKS = 20
"""Blocks of a try; how much they differ shows how misses come together."""

SHOWN = ("p50", "p90", "p99", "p999")
"""Percentiles of a try that are kept."""

COUNTED = ("due_ns", "sent_ns", "done_ns", "outcome")
"""Columns of `tables.REQUESTS` that a try is counted in."""

_NOT_OVER = (*UNENDED, "not_sent")
"""Requests that the end of a try cut short. A server fails none that it never got: those are held
against the limit of sending, and against that of latency once they waited longer."""

_CHANCE = 4.0
"""Fewer arrivals than the rate says are chance within so many standard deviations."""


@dataclass(frozen=True)
class DueRequests:
    """Requests that were due in the measurement window.

    Attributes:
        due_ns: When each was due.
        latency_ns: From then to the end of its response; to the end of the load where that cut it
            short; NaN where it failed without a complete response.
        is_sent: Whether it was sent.
        is_ended: Whether it ended before the load did, well or not; one that waited to be sent did
            not.
        is_failed: Whether it ended and failed.
    """

    due_ns: Instants
    latency_ns: Instants
    is_sent: Mask
    is_ended: Mask
    is_failed: Mask


def of_records(
    recording: Recording, folder: Path, rate_per_s: float, limits: Sequence[LineLimit]
) -> Try:
    """A try, counted in the records of its load.

    Args:
        recording: What happened; its load has one hold.
        folder: Where the engine's records lie.
        rate_per_s: The requested rate.
        limits: What is judged.

    Raises:
        OSError: They cannot be read.
    """
    found = np.fromfile(folder / "requests.bin", records.record_dtype("requests"))
    columns = _Columns(
        due_ns=found["due_ns"],
        done_ns=found["done_ns"],
        is_sent=found["sent_ns"] != np.iinfo(np.uint64).max,
        is_one_of=lambda names: _one_of(found["outcome"], names),
    )
    return _of_columns(recording, columns, rate_per_s, limits)


def of_stored(
    recording: Recording, rows: pa.Table, rate_per_s: float, limits: Sequence[LineLimit]
) -> Try:
    """A try, counted in the stored rows of its requests.

    Args:
        recording: What happened; its load has one hold.
        rows: `COUNTED` of `tables.REQUESTS`, in any order.
        rate_per_s: The requested rate.
        limits: What is judged.
    """
    due = rows["due_ns"].to_numpy(zero_copy_only=False)
    done = rows["done_ns"].fill_null(0).to_numpy(zero_copy_only=False)
    columns = _Columns(
        due_ns=due,
        done_ns=done,
        is_sent=~rows["sent_ns"].is_null().to_numpy(zero_copy_only=False),
        is_one_of=lambda names: _is_in(rows, names),
    )
    return _of_columns(recording, columns, rate_per_s, limits)


def completed_per_s(recording: Recording, rows: pa.Table) -> float:
    """Complete responses per second of the measurement window.

    Args:
        recording: What happened; its load has one hold.
        rows: `COUNTED` of `tables.REQUESTS`.
    """
    (hold,) = recording.holds
    done = rows["done_ns"].fill_null(0).to_numpy(zero_copy_only=False)
    held = (done >= hold.start_ns) & (done < hold.end_ns) & _is_in(rows, COMPLETED)
    return float(held.sum()) / (hold.end_ns - hold.start_ns) * 1e9


@dataclass(frozen=True)
class _Columns:
    """The requests of a load, whatever they were read from."""

    due_ns: Numbers
    done_ns: Numbers
    is_sent: Mask
    is_one_of: Callable[[Sequence[str]], Mask]


def _of_columns(
    recording: Recording, found: _Columns, rate_per_s: float, limits: Sequence[LineLimit]
) -> Try:
    (hold,) = recording.holds
    held = (found.due_ns >= hold.start_ns) & (found.due_ns < hold.end_ns)
    due_ns = found.due_ns[held].astype(np.float64)
    is_cut_short = found.is_one_of(_NOT_OVER)[held]
    ends_ns = np.where(is_cut_short, float(hold.end_ns), np.nan)
    is_complete = found.is_one_of(COMPLETED)[held]
    ends_ns[is_complete] = found.done_ns[held][is_complete]
    rows = DueRequests(
        due_ns=due_ns,
        latency_ns=ends_ns - due_ns,
        is_sent=found.is_sent[held],
        is_ended=~is_cut_short,
        is_failed=~found.is_one_of((*RIGHT, *_NOT_OVER))[held],
    )
    window = (float(hold.start_ns), float(hold.end_ns))
    return tried(rows, window, rate_per_s, limits, recording.trial)


def _is_in(rows: pa.Table, names: Sequence[str]) -> Mask:
    """Which rows have one of some outcomes."""
    of_rows = pc.is_in(rows["outcome"], value_set=pa.array(names, pa.string()))
    return of_rows.to_numpy(zero_copy_only=False)


def tried(
    rows: DueRequests,
    window_ns: tuple[float, float],
    rate_per_s: float,
    limits: Sequence[LineLimit],
    trial: str = "",
) -> Try:
    """A try of some requests.

    A request that was due so late that the load ended before its limit of latency passed is not
    judged by that limit.

    Args:
        rows: The requests that were due in the window.
        window_ns: Beginning and end of the window.
        rate_per_s: The requested rate.
        limits: What is judged.
        trial: Id of the recording.
    """
    start_ns, end_ns = window_ns
    hold_s = (end_ns - start_ns) / 1e9
    expected = rate_per_s * hold_s
    never_due = max(0, math.floor(expected - _CHANCE * math.sqrt(expected)) - len(rows.due_ns))
    counts: dict[str, Count] = {}
    for limit in limits:
        counts[limit.name] = _counted(rows, window_ns, rate_per_s, limit, never_due)
    return Try(rate_per_s, hold_s, counts, _times(rows.latency_ns), trial)


def _counted(
    rows: DueRequests,
    window_ns: tuple[float, float],
    rate_per_s: float,
    limit: LineLimit,
    never_due: int,
) -> Count:
    """What missed one limit; nothing judged counts as one request that did not miss."""
    missed, judged = rows.is_failed, rows.is_ended
    if limit.name == SENT:
        missed, judged = ~rows.is_sent, np.ones(len(rows.due_ns), np.bool_)
    elif limit.name != ERRORS and limit.most_ns is not None:
        missed = rows.is_failed | (rows.latency_ns > limit.most_ns)
        judged = rows.due_ns < window_ns[1] - limit.most_ns
    start_ns, end_ns = window_ns
    places = (rows.due_ns - start_ns) / (end_ns - start_ns) * BLOCKS
    blocks = np.clip(places.astype(np.int64), 0, BLOCKS - 1)
    sizes = np.bincount(blocks[judged], minlength=BLOCKS)
    misses = np.bincount(blocks[judged & missed], minlength=BLOCKS)
    if limit.name == SENT:
        sizes[-1] += never_due
        misses[-1] += never_due
    if not sizes.any():
        sizes[-1] = 1
    due_per_s = max(1, len(rows.due_ns)) / (end_ns - start_ns) * 1e9
    return count(rate_per_s, due_per_s, sizes.tolist(), misses.tolist())


def _times(latency_ns: Instants) -> dict[str, float]:
    """The percentiles that there are enough requests for, of those that have a latency."""
    latency_ns = latency_ns[~np.isnan(latency_ns)]
    total = len(latency_ns)
    wanted = {name: QUANTILES[name] for name in SHOWN if enough(total, QUANTILES[name])}
    places = {name: rank(total, share) - 1 for name, share in wanted.items()}
    ordered = np.partition(latency_ns, sorted(set(places.values()))) if places else latency_ns
    return {name: float(ordered[place]) for name, place in places.items()}


def _one_of(outcome: Any, names: Sequence[str]) -> Mask:
    known = np.zeros(256, np.bool_)
    known[[code for code, name in records.outcome_names().items() if name in names]] = True
    return known[outcome]
