"""The load generator's processor time up to its end, where the sampler came too late to read it.

The sampler reads once a second, and nothing of a process that has ended. Beside programs that leave
it no core it may read the load generator once in a load of a second. What that used in all, it
says itself when it ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plimsoll.aggregate.usage import LEAST_COVER, ReadingSeries, Usage
from plimsoll.recording import HOST

if TYPE_CHECKING:
    from plimsoll.recording import Recording

USER, SYSTEM = ("driver", "cpu_user_s"), ("driver", "cpu_system_s")


def with_total(recording: Recording, readings: Usage) -> Usage:
    """Readings with the load generator's total, if these cover less than half of the holds.

    All that it used after its last reading becomes user time: the total does not tell them apart.

    Args:
        recording: The recording.
        readings: Its readings.
    """
    series = [readings.series.get(quantity, ()) for quantity in (USER, SYSTEM)]
    driver = recording.driver
    if driver is None or driver.cpu_s is None or any(len(one) != 1 for one in series):
        return readings
    if recording.hosts or recording.turns or not recording.holds:
        return readings
    (user,), (system,) = series
    used_s, end_ns = driver.cpu_s - float(system.values[-1]), recording.stages[-1].end_ns
    if _covered_ns(recording, user) >= LEAST_COVER * recording.held_ns:
        return readings
    if user.at_ns[-1] >= end_ns or used_s < user.values[-1]:
        return readings
    ended = {
        USER: _followed(user, end_ns, used_s),
        SYSTEM: _followed(system, end_ns, float(system.values[-1])),
    }
    hosts = {**readings.hosts, HOST: {**readings.hosts.get(HOST, {}), **ended}}
    return Usage({**readings.series, **{key: (one,) for key, one in ended.items()}}, hosts)


def _covered_ns(recording: Recording, series: ReadingSeries) -> int:
    parts = (series.covered((hold.start_ns, hold.end_ns)) for hold in recording.holds)
    return sum(end - start for start, end in parts)


def _followed(series: ReadingSeries, at_ns: int, value: float) -> ReadingSeries:
    return ReadingSeries(np.append(series.at_ns, at_ns), np.append(series.values, value))
