"""What follows from counts of a trial and from the length of its holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.summary import COLUMNS, Summary

if TYPE_CHECKING:
    from plimsoll.aggregate.query import Columns
    from plimsoll.aggregate.usage import Window
    from plimsoll.recording import Recording


def of_counts(recording: Recording, counted: Columns) -> Summary:
    """A summary of counts and times alone: what needs readings of resources is not known.

    Args:
        recording: The recording.
        counted: Counts and times by their columns, as `summaries` has them.
    """
    columns: Columns = dict.fromkeys(COLUMNS)
    columns |= counted | rates(counted, offered_s(recording))
    columns |= {"trial": recording.trial, "duration_s": held_s(recording), "source": "requests"}
    columns["connections_requested"] = connections_requested(recording)
    return Summary.of_row(columns | shares(columns))


def holds(recording: Recording) -> list[Window]:
    """The stretches of time that are summarised."""
    return [(stage.start_ns, stage.end_ns) for stage in recording.holds]


def held_s(recording: Recording) -> float:
    """The length of these together, in seconds."""
    return recording.held_ns / SECOND_NS


def offered_s(recording: Recording) -> float:
    """The time of the holds for which rates are worked out, in seconds.

    In turns, no arrival of an open load is due in the wait for the last responses of a turn. So
    that wait is not part of it; in a closed load the server is expected to respond all the time.
    """
    held, begun_ns = held_s(recording), recording.begun_ns
    if recording.load.model != "open" or begun_ns is None:
        return held
    return min(begun_ns / SECOND_NS, held)


def connections_requested(recording: Recording) -> int | None:
    """The most connections requested at one time; None if unknown."""
    if recording.driver is not None and recording.driver.connections_requested is not None:
        return recording.driver.connections_requested
    return recording.load.peak_connections


def number(columns: Columns, name: str) -> float | None:
    """The value of a column of numbers."""
    return cast("float | None", columns[name])


def rates(columns: Columns, duration_s: float) -> Columns:
    """What follows from counts and duration."""
    return {
        "throughput_per_s": _ratio(number(columns, "completed"), duration_s) or 0.0,
        "goodput_per_s": _goodput_per_s(columns, duration_s),
        "received_bytes_per_s": _bytes_per_s(number(columns, "received_bytes"), duration_s),
    }


def _goodput_per_s(columns: Columns, duration_s: float) -> float | None:
    """Right responses per second; None when some of those that count as right must be wrong.

    That is so when some bodies were compared or recomputed, some of these were wrong, and others
    were not looked at. The sample gives the share of wrong ones, not when and where they came.
    """
    if columns["some_of_ok_are_wrong"]:
        return None
    return _ratio(number(columns, "ok"), duration_s) or 0.0


def shares(columns: Columns) -> Columns:
    """What follows from counts, duration and busy cores."""
    duration_s, completed = number(columns, "duration_s"), number(columns, "completed")
    ok, failed = number(columns, "ok"), number(columns, "failed")
    cpu_s = _times(number(columns, "server_busy_cores"), duration_s or 0.0)
    return {
        "failure_ratio": _ratio(failed, (ok or 0) + (failed or 0)),
        "server_cpu_s_per_request": _ratio(cpu_s, completed),
        "requests_per_core_s": _ratio(completed, cpu_s),
    }


def _times(rate: float | None, duration_s: float) -> float | None:
    return None if rate is None else rate * duration_s


def _bytes_per_s(received: float | None, duration_s: float) -> float | None:
    return None if received is None else _ratio(received, duration_s) or 0.0


def _ratio(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole
