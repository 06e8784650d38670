"""First figures of a load: counted in the engine's own records, before these become tables.

They are those of `summaries`, number for number, for a person who waits; what needs readings of
resources is left out. The records are read a chunk at a time: of each response of the measurement
window only its times are held.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll.aggregate import summaries
from plimsoll.aggregate.failures import Failure
from plimsoll.aggregate.outcomes import COMPLETED, NOT_FAILED, RIGHT, UNENDED, error_name
from plimsoll.aggregate.quantiles import QUANTILES, enough, rank
from plimsoll.aggregate.statuses import StatusTotal
from plimsoll.drivers import records

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from plimsoll.aggregate.query import Columns
    from plimsoll.aggregate.summary import Summary
    from plimsoll.recording import Recording

    Records = np.ndarray[Any, np.dtype[np.void]]
    Times = np.ndarray[Any, np.dtype[np.int64]]
    Mask = np.ndarray[Any, np.dtype[np.bool_]]

CHUNK_ROWS = 1 << 19
"""Records that are read at a time."""

NONE = np.iinfo(np.uint64).max
"""Stands for an instant that there was not."""

NO_BYTES = np.iinfo(np.uint32).max
"""Stands for a number of bytes that is not known."""

COUNTS = ("completed", "ok", "failed", "unfinished", "received_bytes")
"""What is counted of requests."""

TIMES = {
    "response_time": ("due_ns", "done_ns"),
    "service_time": ("sent_ns", "done_ns"),
    "first_byte": ("sent_ns", "first_byte_ns"),
}
"""Times of a complete response: from which instant to which."""

KEPT_OPEN = ("ok", "closed_as_announced", "closed_by_driver", "still_open")
"""How connections end that were not lost."""


@dataclass(frozen=True)
class FirstFigures:
    """What is known of a load as soon as it is over; see `findings.trial.TrialFindings`.

    Attributes:
        recording: What happened.
        summary: What it amounts to; what needs readings of resources is None.
        statuses: Complete responses by status code, the most frequent first.
        failures: How its requests failed, the most frequent kind first.
        response_times_ns: Every response time of the measurement window, in nanoseconds, unsorted.
    """

    recording: Recording
    summary: Summary
    statuses: tuple[StatusTotal, ...]
    failures: tuple[Failure, ...]
    response_times_ns: Times


def of_records(recording: Recording, folder: Path) -> FirstFigures:
    """The figures of a load that our own engine recorded.

    Args:
        recording: What happened.
        folder: Where the engine's records lie.

    Raises:
        OSError: They cannot be read.
    """
    counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    statuses: Counter[tuple[int, str]] = Counter()
    failed: dict[tuple[str, int, int], list[int]] = {}
    times: dict[str, list[Times]] = {name: [] for name in TIMES}
    for rows in _chunks(folder / "requests.bin", "requests"):
        done, outcome = _ended(rows), rows["outcome"]
        held = _within(done, recording)
        complete = _one_of(outcome, COMPLETED)
        counts.update(_counted(rows, held, complete))
        statuses.update(_statuses(rows, held, complete))
        _take_failures(rows[~_one_of(outcome, NOT_FAILED)], failed)
        responses = rows[held & complete]
        for name, (start, end) in TIMES.items():
            times[name].append(_between(responses[start], responses[end]))
    columns: Columns = {**counts, "some_of_ok_are_wrong": False} | _connections(folder)
    nothing = np.empty(0, np.int64)
    joined = {name: np.concatenate([nothing, *parts]) for name, parts in times.items()}
    for name, values in joined.items():
        columns |= _statistics(name, values)
    return FirstFigures(
        recording,
        summaries.of_counts(recording, columns),
        _status_totals(statuses),
        _failures(failed),
        joined["response_time"],
    )


def _chunks(path: Path, table: str) -> Iterator[Records]:
    if not path.exists():
        return
    with path.open("rb") as file:
        while len(rows := np.fromfile(file, records.record_dtype(table), CHUNK_ROWS)):
            yield rows


def _between(start: Any, end: Any) -> Times:
    known = (start != NONE) & (end != NONE)
    return (end[known] - start[known]).astype(np.int64)


def _codes(names: Sequence[str]) -> list[int]:
    return [code for code, name in records.outcome_names().items() if name in names]


def _one_of(outcome: Any, names: Sequence[str]) -> Mask:
    known = np.zeros(256, np.bool_)
    known[_codes(names)] = True
    return known[outcome]


def _ended(rows: Records) -> Any:
    """When each request ended; one without an end of its own where it was due, or sent."""
    found = rows["done_ns"]
    for name in ("due_ns", "sent_ns"):
        found = np.where(found == NONE, rows[name], found)
    return found


def _within(instants: Any, recording: Recording) -> Mask:
    inside = np.zeros(len(instants), np.bool_)
    for hold in recording.holds:
        inside |= (instants >= hold.start_ns) & (instants < hold.end_ns)
    return inside


def _counted(rows: Records, held: Mask, complete: Mask) -> Counter[str]:
    """Requests of the measurement window, and those that the end of the load cut short."""
    outcome = rows["outcome"]
    unended = _one_of(outcome, UNENDED)
    counts = held & ~unended
    received = rows["received_bytes"][counts]
    return Counter(
        completed=int((counts & complete).sum()),
        ok=int((counts & _one_of(outcome, RIGHT)).sum()),
        failed=int((counts & ~_one_of(outcome, NOT_FAILED)).sum()),
        unfinished=int(unended.sum()),
        received_bytes=int(received[received != NO_BYTES].sum(dtype=np.int64)),
    )


def _statuses(rows: Records, held: Mask, complete: Mask) -> Counter[tuple[int, str]]:
    """Complete responses by status: of the whole load, of the window, and those not expected."""
    wrong = _one_of(rows["outcome"], ("wrong_status",))
    parts = {
        "responses": complete,
        "held": complete & held,
        "held_wrong": complete & held & wrong,
    }
    found: Counter[tuple[int, str]] = Counter()
    for part, mask in parts.items():
        counts = np.bincount(rows["status"][mask])
        found.update({(int(code), part): int(counts[code]) for code in np.flatnonzero(counts)})
    return found


def _status_totals(found: Counter[tuple[int, str]]) -> tuple[StatusTotal, ...]:
    parts = ("responses", "held", "held_wrong")
    totals = [
        StatusTotal(code or None, *(found[code, part] for part in parts))
        for code in {code for code, _ in found}
    ]
    return tuple(sorted(totals, key=lambda one: (-one.responses, one.status or 0)))


def _take_failures(rows: Records, failed: dict[tuple[str, int, int], list[int]]) -> None:
    """Adds failures by outcome, error number and status: how many, the first and the last."""
    names = records.outcome_names()
    at_ns = _ended(rows)
    kinds = (rows["outcome"].astype(np.int64) << 32) + (rows["errno"].astype(np.int64) << 16)
    kinds += np.where(_one_of(rows["outcome"], ("wrong_status",)), rows["status"], 0)
    for kind in np.unique(kinds):
        instants = at_ns[kinds == kind]
        key = names[int(kind) >> 32], int(kind) >> 16 & 0xFFFF, int(kind) & 0xFFFF
        found = failed.setdefault(key, [0, int(instants[0]), 0])
        found[0] += len(instants)
        found[1] = min(found[1], int(instants.min()))
        found[2] = max(found[2], int(instants.max()))


def _failures(failed: dict[tuple[str, int, int], list[int]]) -> tuple[Failure, ...]:
    kinds = [
        Failure(
            outcome=outcome,
            errno=number or None,
            errno_name=error_name(outcome, number or None),
            count=count,
            first_at_s=first_ns / 1e9,
            last_at_s=last_ns / 1e9,
            status=status or None,
        )
        for (outcome, number, status), (count, first_ns, last_ns) in failed.items()
    ]
    return tuple(
        sorted(kinds, key=lambda one: (-one.count, one.outcome, one.errno or one.status or 0))
    )


def _connections(folder: Path) -> Columns:
    """What became of the attempts to connect."""
    chunks = list(_chunks(folder / "connections.bin", "connections"))
    rows = np.concatenate([np.empty(0, records.record_dtype("connections")), *chunks])
    opened = rows["connected_ns"] != NONE
    outcome = rows["outcome"]
    not_refused = ("unfinished", "still_open", "not_sent")
    return {
        "connections_opened": int(opened.sum()),
        "connections_with_response": int((opened & (rows["responses"] > 0)).sum()),
        "connections_refused": int((~opened & ~_one_of(outcome, not_refused)).sum()),
        "connections_lost": int((opened & ~_one_of(outcome, KEPT_OPEN)).sum()),
        **_statistics("connect", _between(rows["due_ns"], rows["connected_ns"])),
    }


def _statistics(name: str, values: Times) -> Columns:
    """Mean, least, greatest and every quantile that there are enough values for."""
    count = len(values)
    reported = [one for one, share in QUANTILES.items() if enough(count, share)]
    wanted = {one: rank(count, QUANTILES[one]) - 1 for one in reported}
    if wanted:
        values = np.partition(values, sorted(set(wanted.values())))
    found: Columns = {f"{name}_{one}_ns": None for one in ("mean", "min", *QUANTILES, "max")}
    if count:
        found[f"{name}_mean_ns"] = float(values.mean())
        found[f"{name}_min_ns"] = int(values.min())
        found[f"{name}_max_ns"] = int(values.max())
    return found | {f"{name}_{one}_ns": int(values[place]) for one, place in wanted.items()}
