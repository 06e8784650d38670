"""The load as a number of threads, as the CENGN study and JMeter count it."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.aggregate.query import SECOND_NS

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables


def threads(of_trial: Tables) -> list[float | None]:
    """Active threads at the middle of each second; None if unknown.

    These are the users that an imported tool counted, otherwise the requests that the open
    connections can carry: a thread of JMeter has one request in flight.

    Args:
        of_trial: The tables of the trial.
    """
    seconds = of_trial.counted_seconds
    middles = np.arange(seconds.num_rows, dtype=np.int64) * SECOND_NS + SECOND_NS // 2
    users = of_trial.usage.level("driver", "users_active", middles).tolist()
    connections = seconds["open_connections"].to_pylist()
    each = of_trial.recording.load.in_flight_each
    carried = [None if one is None else one * each for one in connections]
    both = zip(users, carried, strict=True)
    return [threads if isnan(user) else user for user, threads in both]
