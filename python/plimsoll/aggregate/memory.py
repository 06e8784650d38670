"""Memory of server and driver, second by second, from the readings of a trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.shaping import shaped
from plimsoll.aggregate.usage import usage

if TYPE_CHECKING:
    from plimsoll.aggregate.query import Rows

BY_SECOND = tables.MEMORY_BY_SECOND.schema
"""Schema of `by_second`."""

_READ = {
    "server_rss_bytes": ("server", "rss_bytes"),
    "server_pss_bytes": ("server", "pss_bytes"),
    "driver_rss_bytes": ("driver", "rss_bytes"),
}


def by_second(readings: Rows, seconds: int) -> pa.Table:
    """Memory at the middle of each second of a trial; null where it was not read.

    Args:
        readings: Its table `usage`.
        seconds: How many seconds, from its zero on.

    Returns:
        Rows of `BY_SECOND`, one for each second.
    """
    found = usage(readings)
    number = np.arange(seconds, dtype=np.int64)
    middles = number * SECOND_NS + SECOND_NS // 2
    columns = {
        name: pa.array(found.level(scope, quantity, middles), from_pandas=True)
        for name, (scope, quantity) in _READ.items()
    }
    return shaped(pa.table({"second": number, **columns}), BY_SECOND)
