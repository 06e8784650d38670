"""Hosts that generated a load together: what the rows of each say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.aggregate import query

if TYPE_CHECKING:
    from plimsoll.aggregate.query import Rows
    from plimsoll.recording import Recording


@dataclass(frozen=True)
class HostSecond:
    """One second of the holds, as one host saw it.

    Attributes:
        host: Its name.
        second: The second, since zero.
        responses: Its complete responses.
        service_p50_ns: Median of their service times.
    """

    host: str
    second: int
    responses: int
    service_p50_ns: float


def requests_of_each(requests: Rows) -> dict[str, int]:
    """Number of requests of each host, by its name."""
    with query.opened(requests=requests) as database:
        rows = database.execute("SELECT host::VARCHAR, count(*) FROM requests GROUP BY ALL")
        return dict(rows.fetchall())


def seconds(recording: Recording, requests: Rows) -> tuple[HostSecond, ...]:
    """Every second of the holds in which a host had a response, in order of time."""
    with query.opened(recording.holds, requests=requests) as database:
        rows = database.execute(query.text("host_seconds")).fetchall()
    return tuple(HostSecond(*row) for row in rows)
