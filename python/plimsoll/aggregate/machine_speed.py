"""What the machine gave in each stretch of a trial: cores, and their speed.

Cores are lost to other programs and other virtual machines (`aggregate.disturbance`). The speed of
those that are left is measured by the load generator as a clock.

A load generator does the same work for each request, so its processor time for a request shows how
fast the machine was: its frequency, and what neighbours on its cores, caches and memory cost. Time
in which it waited for a core is not in it.

It must not move with the server. A load generator that waits for a slow server wakes more often for
a request, which costs processor time on any machine. So what goes with the wake-ups is taken off
first: the least-squares slope of the cost over wake-ups for a request, which is no less than 0 and
no more than the whole cost. What a slower machine changes through more wake-ups is taken off with
it, so the wander is too small rather than too great. A load generator that is idle for most of the
time is no clock at all: how deeply a core sleeps is part of the cost then.

Servers that take turns have a better witness: what the others did in the same rounds
(`conduct.turn_pace`). It contains everything that the machine changed for all of them.

The control (`sampling.control`) cannot move with the server, but it runs between turns, or before
and after a load in one piece, while the load generator sees every second. So the control speaks
where the load generator is no clock.

Source: control measurements, D. C. Montgomery, Design and Analysis of Experiments; schedstat and
`voluntary_ctxt_switches`, proc_pid_status(5); decision 57.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate import cores, disturbance
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.usage import second_window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.disturbance import ServiceTimes
    from plimsoll.aggregate.usage import Usage, Values, Window
    from plimsoll.recording import Recording

LEAST_BUSY = 0.3
"""Share of a core that the load generator must use to be a clock."""

LEAST_SEEN = 0.8
"""Share of the load generator's processor time, by the ticks of its processes, that must have been
read to the nanosecond. It is less in the last second: the threads have ended by the last reading,
and the kernel passes what they ran to nobody. Ticks are 10 ms."""

FEWEST = 4
"""Seconds of which fewer tell no median."""

CONTROL = ("control_compute_s", "control_memory_s", "control_loopback_s")
"""Parts of the control, quantities of `usage`."""

BY_SECOND = tables.MACHINE_SPEED.schema
"""Schema of `by_second`."""

LEAST_GIVEN = 0.2
"""If a trial got less than this share of its cores, its own throughput is unknown."""


_INSTANTS = 16
"""Instants in a stretch at which the pace of the others is taken."""

OTHERS = "others_pace_ratio"
"""Quantity of `usage` that servers in turns have: what the others did in the same rounds."""


def has_others(readings: Usage) -> bool:
    """Whether the pace of servers that took turns with this one is known."""
    return any(len(series.at_ns) >= FEWEST for series in readings.of("machine", OTHERS))


def is_known(recording: Recording, readings: Usage) -> bool:
    """Whether anything shows how fast the machine was in the holds of a trial.

    Args:
        recording: The recording.
        readings: Its readings.
    """
    if has_others(readings):
        return True
    measured = measured_speeds(readings, cores.whole_seconds(recording))
    return bool((~np.isnan(measured)).any())


def given(
    recording: Recording,
    readings: Usage,
    windows: Sequence[Window],
    served: Sequence[ServiceTimes | None],
) -> Values:
    """What the machine gave in each of some stretches: 1 for all cores at their usual speed.

    Args:
        recording: The recording.
        readings: Its readings.
        windows: The stretches of time, in order.
        served: How requests were served in each; None where that is unknown.
    """
    if has_others(readings):
        return _pace_of_others(readings, windows)
    found = [
        disturbance.lost(recording, readings, [window], of)
        for window, of in zip(windows, served, strict=True)
    ]
    progress = np.array(
        [1.0 if one is None else max(1.0 - one.ratio, LEAST_GIVEN) for one in found]
    )
    seconds = cores.whole_seconds(recording)
    measured = measured_speeds(readings, seconds)
    known = ~np.isnan(measured)
    if not known.any():
        return progress
    apart = np.abs(_middles(windows)[:, None] - _middles(seconds)[known])
    return progress * measured[known][apart.argmin(axis=1)]


def measured_speeds(readings: Usage, windows: Sequence[Window]) -> Values:
    """Speed in each of some stretches, by the load generator, or by the control where it is none.

    Args:
        readings: The readings of a trial.
        windows: Stretches of about a second each, of one kind of load.

    Returns:
        1 in the median one; NaN where it is unknown.
    """
    found = speeds(readings, windows)
    return by_control(readings, windows) if np.isnan(found).all() else found


def by_control(readings: Usage, windows: Sequence[Window]) -> Values:
    """Speed in each of some stretches by the control, 1 in the median one.

    Args:
        readings: The readings of a trial.
        windows: The stretches.

    Returns:
        NaN where the control did not run; NaN throughout where it ran in few of them.
    """
    took = _control_s(readings, windows)
    known = ~np.isnan(took)
    if known.sum() < FEWEST:
        return np.full(len(windows), np.nan)
    return np.median(took[known]) / took


def by_second(recording: Recording, readings: Usage) -> pa.Table:
    """The machine's speed in each second in which it was measured.

    Args:
        recording: The recording.
        readings: Its readings.

    Returns:
        Rows of `BY_SECOND`. The load generator is a clock within the holds only.
    """
    held = {start // SECOND_NS for start, _ in cores.whole_seconds(recording)}
    ran = {
        int(at_ns) // SECOND_NS
        for part in CONTROL
        for series in readings.of("machine", part)
        for at_ns in series.at_ns
    }
    seconds = sorted(held | ran)
    windows = [second_window(second) for second in seconds]
    is_held = np.array([second in held for second in seconds], dtype=bool)
    within = [window for window, is_one in zip(windows, is_held, strict=True) if is_one]
    cost, speed = np.full(len(seconds), np.nan), np.full(len(seconds), np.nan)
    if within:
        cost[is_held] = _cost_s(readings, within)
        speed[is_held] = speeds(readings, within)
    took = _control_s(readings, windows)
    middle = np.nanmedian(took) if ran else np.nan
    columns = {
        "driver_s_per_request": cost,
        "driver_speed_ratio": speed,
        "control_s": took,
        "control_speed_ratio": middle / took,
    }
    found = {name: pa.array(values, from_pandas=True) for name, values in columns.items()}
    table = pa.table({"second": seconds, **found}).cast(BY_SECOND)
    return table.filter(~(np.isnan(cost) & np.isnan(took)))


def speeds(readings: Usage, windows: Sequence[Window]) -> Values:
    """Speed of the machine in each of some stretches, 1 in the median one.

    Args:
        readings: The readings of a trial.
        windows: Stretches of about a second each, of one kind of load.

    Returns:
        NaN where it is unknown; NaN throughout where the load generator is no clock, as of several
        hosts, or of one that the server is not on.
    """
    unknown = np.full(len(windows), np.nan)
    if not _is_of_one_machine(readings):
        return unknown
    ran = _ran(readings, windows)
    ended = readings.rates("driver", "requests_ended", windows)
    woken = readings.rates("driver", "voluntary_switches", windows)
    known = (ran > 0) & (ended > 0) & ~np.isnan(woken)
    if known.sum() < FEWEST or np.median(ran[known]) < LEAST_BUSY:
        return unknown
    costs = _without_wake_ups(ran[known] / ended[known], woken[known] / ended[known])
    unknown[known] = np.median(costs) / costs
    return unknown


def _is_of_one_machine(readings: Usage) -> bool:
    """Whether the load generator ran on the machine that is measured, and there alone."""
    generating = readings.hosts_of([("driver", "run_time_s")])
    measured = readings.hosts_of([("machine", "core_busy_s")])
    return len(generating) <= 1 and (generating <= measured or not measured)


def _pace_of_others(readings: Usage, windows: Sequence[Window]) -> Values:
    """Pace of the servers that took turns with this one in each of some stretches, about 1."""
    (series,) = readings.of("machine", OTHERS)
    # A reading is taken at the end of a turn, and holds for that turn.
    ends, paces = series.at_ns, series.values
    instants = np.array([np.linspace(*window, _INSTANTS) for window in windows])
    places = np.minimum(np.searchsorted(ends, instants), len(ends) - 1)
    return np.exp(np.log(paces)[places].mean(axis=1))


def _cost_s(readings: Usage, windows: Sequence[Window]) -> Values:
    """Processor time of the load generator for a request, in each stretch; NaN where unknown."""
    ran = _ran(readings, windows)
    ended = readings.rates("driver", "requests_ended", windows)
    return np.divide(ran, ended, out=np.full(len(windows), np.nan), where=(ran > 0) & (ended > 0))


def _ran(readings: Usage, windows: Sequence[Window]) -> Values:
    """Cores that the load generator kept busy, to the nanosecond; NaN where not all was read."""
    ran = readings.rates("driver", "run_time_s", windows)
    busy = cores.busy_cores(readings, "driver", windows)
    return np.where(ran < LEAST_SEEN * busy, np.nan, ran)


def _control_s(readings: Usage, windows: Sequence[Window]) -> Values:
    """Geometric mean of the parts of the control and its runs in each stretch; NaN without one."""
    found = np.full((len(CONTROL), len(windows)), np.nan)
    for row, part in enumerate(CONTROL):
        for series in readings.of("machine", part):
            for place, window in enumerate(windows):
                took = series.inside(window)
                if len(took):
                    found[row, place] = np.log(took).mean()
    measured = ~np.isnan(found).all(axis=1)
    return np.exp(found[measured].mean(axis=0)) if measured.any() else found[0]


def _middles(windows: Sequence[Window]) -> Values:
    return np.array([(start + end) / 2 for start, end in windows], dtype=np.float64)


def _without_wake_ups(costs: Values, woken: Values) -> Values:
    """Cost of a request in each stretch, as it would be with the mean number of wake-ups."""
    apart = woken - woken.mean()
    spread = float(apart @ apart)
    if not spread or not woken.mean():
        return costs
    slope = float(apart @ costs) / spread
    slope = min(max(slope, 0.0), float(costs.mean() / woken.mean()))
    return costs - slope * apart
