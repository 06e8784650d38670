"""Readings of resources as functions of time.

A gauge is a level: between two readings it is taken to go straight from one to the other. A
counter grows: what it grew by between two instants is the difference of its interpolated values,
so that busy cores are exact for whole seconds although the readings lie between them. Where there
are no readings there is no number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll.aggregate.query import SECOND_NS
from plimsoll.errors import StorageError
from plimsoll.recording import HOST
from plimsoll.storage import documents

if TYPE_CHECKING:
    import pyarrow as pa

    from plimsoll.aggregate.query import Stored

    Instants = np.ndarray[tuple[int], np.dtype[np.int64]]
    Values = np.ndarray[tuple[int], np.dtype[np.float64]]
    Window = tuple[int, int]
    """Start and end of a stretch of time, in nanoseconds."""
    Quantity = tuple[str, str]
    """Scope and name of a quantity."""

ENERGY = "energy_j"
"""The quantity that RAPL counts."""

LEAST_COVER = 0.5
"""Share of a stretch of time that readings must cover to speak for the whole of it."""


@dataclass(frozen=True)
class ReadingSeries:
    """Readings of one quantity of one host, in order of time.

    Attributes:
        at_ns: Instants of the readings; no two are the same.
        values: The readings.
    """

    at_ns: Instants
    values: Values

    def at(self, at_ns: Instants) -> Values:
        """Interpolated values; NaN more than a second before the first reading or after the last.

        Within that second it is the first, or the last, reading itself.
        """
        values = np.interp(at_ns, self.at_ns, self.values)
        far = (at_ns < self.at_ns[0] - SECOND_NS) | (at_ns > self.at_ns[-1] + SECOND_NS)
        return np.where(far, np.nan, values)

    def covered(self, window: Window) -> Window:
        """The part of a stretch of time that lies between readings; empty when none does."""
        start_ns = max(window[0], int(self.at_ns[0]))
        return start_ns, max(start_ns, min(window[1], int(self.at_ns[-1])))

    def growth(self, window: Window) -> float:
        """What a counter grew by within a stretch of time, as far as readings cover it."""
        start, end = self.at(np.array(self.covered(window)))
        return float(end - start)

    def inside(self, window: Window) -> Values:
        """The readings taken within a stretch of time, its ends included."""
        return self.values[(self.at_ns >= window[0]) & (self.at_ns <= window[1])]


@dataclass(frozen=True)
class Usage:
    """Every reading of one trial.

    Attributes:
        series: Scope and quantity to the readings of each host.
        hosts: Host to scope and quantity to its readings; its machine's, too, wherever the server
            ran.
    """

    series: Mapping[Quantity, tuple[ReadingSeries, ...]]
    hosts: Mapping[str, Mapping[Quantity, ReadingSeries]] = field(
        default_factory=dict[str, "dict[Quantity, ReadingSeries]"]
    )

    def of_host(self, host: str) -> Usage:
        """The readings of one host alone."""
        return Usage({key: (series,) for key, series in self.hosts.get(host, {}).items()})

    def hosts_of(self, quantities: Iterable[Quantity]) -> frozenset[str]:
        """Names of the hosts whose readings `of` has of any of some quantities."""
        found = {id(series) for one in quantities for series in self.series.get(one, ())}
        return frozenset(
            host
            for host, known in self.hosts.items()
            if not found.isdisjoint(map(id, known.values()))
        )

    def of(self, scope: str, quantity: str) -> tuple[ReadingSeries, ...]:
        """The readings of a quantity, one series for each host that has any."""
        return self.series.get((scope, quantity), ())

    def level(self, scope: str, quantity: str, at_ns: Instants) -> Values:
        """A gauge at some instants, summed over hosts; NaN where it was not read."""
        found = [series.at(at_ns) for series in self.of(scope, quantity)]
        return np.sum(found, axis=0) if found else np.full(len(at_ns), np.nan)

    def growth(self, scope: str, quantity: str, windows: Sequence[Window]) -> float | None:
        """What a counter grew by, summed over hosts and stretches; None when it was not read."""
        found = [
            series.growth(window)
            for series in self.of(scope, quantity)
            for window in windows
            if _is_covered(series, window)
        ]
        return sum(found) if found else None

    def rate(self, scope: str, quantity: str, windows: Sequence[Window]) -> float | None:
        """Growth of a counter per second, summed over hosts.

        Returns:
            The rate over those parts of the stretches that lie between readings; None when these
            are less than half of the whole.
        """
        rates = [_rate(series, windows) for series in self.of(scope, quantity)]
        known = [rate for rate in rates if rate is not None]
        return sum(known) if rates and len(known) == len(rates) else None

    def machine_rate(self, host: str, quantity: str, windows: Sequence[Window]) -> float | None:
        """Growth of a counter of one host's machine per second; None as for `rate`."""
        series = self.hosts.get(host, {}).get(("machine", quantity))
        return None if series is None else _rate(series, windows)

    def rates(self, scope: str, quantity: str, windows: Sequence[Window]) -> Values:
        """`rate` of each of some stretches; NaN where it is unknown."""
        found = (self.rate(scope, quantity, [window]) for window in windows)
        return np.array([np.nan if rate is None else rate for rate in found], dtype=np.float64)

    def mean(self, scope: str, quantity: str, windows: Sequence[Window]) -> float | None:
        """Mean of a gauge over the readings within some stretches, summed over hosts.

        Where no reading lies within them, the interpolated level at their middles.
        """
        readings = [
            np.concatenate([series.inside(window) for window in windows] or [np.empty(0)])
            for series in self.of(scope, quantity)
        ]
        if readings and all(len(values) for values in readings):
            return float(sum(values.mean() for values in readings))
        middles = np.array([(start + end) // 2 for start, end in windows], dtype=np.int64)
        levels = self.level(scope, quantity, middles)
        return float(levels.mean()) if len(levels) and not np.isnan(levels).any() else None

    def peak(self, scope: str, quantity: str, windows: Sequence[Window]) -> float | None:
        """Highest reading of a gauge within some stretches, summed over hosts."""
        peaks = [
            max(
                (float(values.max()) for w in windows if len(values := series.inside(w))),
                default=None,
            )
            for series in self.of(scope, quantity)
        ]
        known = [peak for peak in peaks if peak is not None]
        return sum(known) if known else self.mean(scope, quantity, windows)

    def intervals(self, scope: str, quantity: str) -> tuple[tuple[Window, float], ...]:
        """Readings that are means since the one before, each with the stretch it is the mean of.

        The first one reaches back to the zero of the trial. Of several hosts it is their sum, in
        stretches in which none of them has a reading. A load generator reports last when it ends:
        after its last reading it adds nothing.
        """
        known = self._intervals.get((scope, quantity))
        if known is None:
            known = self._intervals[scope, quantity] = self._intervals_of(scope, quantity)
        return known

    @cached_property
    def _intervals(self) -> dict[tuple[str, str], tuple[tuple[Window, float], ...]]:
        return {}

    def _intervals_of(self, scope: str, quantity: str) -> tuple[tuple[Window, float], ...]:
        found = self.of(scope, quantity)
        if not found:
            return ()
        instants = np.sort(np.concatenate([series.at_ns for series in found]))
        is_new = np.diff(instants, prepend=0) != 0  # `np.unique` would import masked arrays
        ends = instants[is_new & (instants > 0)]
        values = sum(
            np.append(series.values, 0.0)[np.searchsorted(series.at_ns, ends)] for series in found
        )
        windows = pairwise([0, *ends.tolist()])
        return tuple(zip(windows, np.asarray(values, np.float64).tolist(), strict=True))

    def mean_of_intervals(self, scope: str, quantity: str, window: Window) -> float | None:
        """Mean over a stretch of time of a quantity whose readings are means since the last one.

        Each reading counts by the time its interval shares with the stretch; None when the
        intervals share less than half of it.
        """
        shared = [
            (overlap(window, interval), value)
            for interval, value in self.intervals(scope, quantity)
        ]
        total_ns = sum(length for length, _ in shared)
        if total_ns <= 0 or total_ns < LEAST_COVER * (window[1] - window[0]):
            return None
        return sum(length * value for length, value in shared) / total_ns


def _in_memory(rows: Stored) -> pa.Table:
    found: Any = rows
    try:
        return found.to_table() if hasattr(rows, "to_table") else found
    except (OSError, ValueError) as error:
        message = f"recorded readings cannot be read: {documents.damage(error)}"
        raise StorageError(message, documents.REPEAT_TRIAL) from error


def usage(rows: Stored, server_host: str = HOST) -> Usage:
    """The readings of a trial by scope and quantity.

    The scope `machine` is that of the server where it was read: those of hosts that only generate
    load have the same core numbers, and are other machines. What these draw is no energy of the
    server in any case.

    Args:
        rows: Its table `usage`; None when there is none.
        server_host: Name of the host that the server ran on.

    Raises:
        StorageError: The rows turned out to be damaged while they were read.
    """
    if rows is None:
        return Usage({})
    table = _in_memory(rows)
    grouped: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    columns = (table[name].to_pylist() for name in ("scope", "quantity", "host", "at_ns", "value"))
    for scope, quantity, host, at_ns, value in zip(*columns, strict=True):
        grouped.setdefault((scope, quantity), {}).setdefault(host, {})[at_ns] = value
    found = {
        key: {host: _series(values) for host, values in hosts.items()}
        for key, hosts in grouped.items()
    }
    by_host: dict[str, dict[Quantity, ReadingSeries]] = {}
    for key, hosts in found.items():
        for host, series in hosts.items():
            by_host.setdefault(host, {})[key] = series
    return Usage(
        {
            (scope, quantity): tuple(
                series
                for host, series in hosts.items()
                if scope != "machine"
                or host == server_host
                or (server_host not in hosts and quantity != ENERGY)
            )
            for (scope, quantity), hosts in found.items()
        },
        by_host,
    )


def overlap(first: Window, second: Window) -> int:
    """Length of the time that two stretches share, in nanoseconds."""
    return max(0, min(first[1], second[1]) - max(first[0], second[0]))


def second_window(second: int) -> Window:
    """The stretch of a whole second."""
    return second * SECOND_NS, (second + 1) * SECOND_NS


def _series(readings: Mapping[int, float]) -> ReadingSeries:
    order = sorted(readings)
    return ReadingSeries(
        np.array(order, dtype=np.int64),
        np.array([readings[at_ns] for at_ns in order], dtype=np.float64),
    )


def _is_covered(series: ReadingSeries, window: Window) -> bool:
    start, end = series.covered(window)
    return end > start and end - start >= LEAST_COVER * (window[1] - window[0])


def _rate(series: ReadingSeries, windows: Sequence[Window]) -> float | None:
    parts = [series.covered(window) for window in windows]
    covered_ns = sum(end - start for start, end in parts)
    whole_ns = sum(end - start for start, end in windows)
    if covered_ns <= 0 or covered_ns < LEAST_COVER * whole_ns:
        return None
    return sum(series.growth(window) for window in windows) / covered_ns * SECOND_NS
