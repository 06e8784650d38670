"""Latency buckets: how many responses took how long and when, over a whole trial, from every row.

Time is in columns of whole seconds, latency in buckets that grow by a constant factor, so that a
trial of any length and rate is a few hundred cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate import query
from plimsoll.aggregate.distribution import TOLD
from plimsoll.aggregate.shaping import shaped

if TYPE_CHECKING:
    from plimsoll.aggregate.query import Rows
    from plimsoll.recording import Recording

PER_DECADE = 10
"""Buckets of a factor of ten."""

GROWTH = 10 ** (1 / PER_DECADE)
"""Upper end of a bucket / its lower end."""

MOST_COLUMNS = 80
"""The most columns of a trial; in longer trials several seconds share one."""


def of_trial(recording: Recording, requests: Rows, length_s: int) -> pa.Table:
    """The rows of `tables.LATENCY_BUCKETS` of a trial; none where no response is known.

    Args:
        recording: The recording.
        requests: Its table `requests`.
        length_s: Seconds of the trial, as many as its table `seconds` has rows.
    """
    seconds = max(1, -(-length_s // MOST_COLUMNS))
    with query.opened(recording.holds, requests=requests) as database:
        for time in TOLD:
            asked = {
                "seconds": seconds,
                "per_decade": PER_DECADE,
                "is_response_time": time == "response_time",
            }
            relation = database.sql(query.text("latency_buckets"), params=asked)
            found = relation.to_arrow_table()
            if found.num_rows:
                return _named(found, recording.trial, time, seconds)
    return tables.LATENCY_BUCKETS.schema.empty_table()


def low_ns(bucket: int) -> float:
    """Lower end of a bucket, in nanoseconds; its upper end is that of the next one."""
    return 10 ** (bucket / PER_DECADE)


def _named(found: pa.Table, trial: str, time: str, seconds: int) -> pa.Table:
    constants = {"trial": trial, "time": time, "seconds": seconds}
    for name, value in constants.items():
        found = found.append_column(name, pa.array([value] * found.num_rows))
    return shaped(found, tables.LATENCY_BUCKETS.schema)
