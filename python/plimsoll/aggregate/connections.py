"""Connections of a trial by second: how many were open, and how many of these ever had a response.

Open follows from handshakes and closings; with response are those of the open ones that had got at
least one byte of a response by then. With a full accept queue the first is larger than the second:
the kernel has accepted what the server has not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate import query
from plimsoll.aggregate.shaping import shaped

if TYPE_CHECKING:
    from plimsoll.aggregate.query import Rows

BY_SECOND = tables.CONNECTIONS_BY_SECOND.schema
"""Schema of `by_second`."""


def by_second(connections: Rows, requests: Rows, seconds: int) -> pa.Table:
    """Connections at the end of each second of a trial.

    Args:
        connections: Its table `connections`.
        requests: Its table `requests`.
        seconds: How many seconds, from its zero on.

    Returns:
        Rows of `BY_SECOND`, one for each second.
    """
    with query.opened(connections=connections, requests=requests) as database:
        relation = database.sql(query.text("connection_seconds"), params={"seconds": seconds})
        found = relation.to_arrow_table()
    return shaped(found, BY_SECOND)
