"""Kinds of request: what came of each of several that a load mixes, over its holds.

Requests of the same name are one kind, whatever values were drawn for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate import percentiles, query, rates
from plimsoll.aggregate.sent import held_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import duckdb

    from plimsoll.aggregate.query import Rows
    from plimsoll.recording import Recording

STATISTICS = ("p50", "p90", "p99")
"""Percentiles of the times that are given of each kind."""

TIMES = {"response_time": "done_ns - due_ns", "service_time": "done_ns - sent_ns"}
"""Times that are given of each kind."""

EACH_REQUEST = 4
"""Connections for each different request of a load, from which on the first one of each that is
served had few before it."""

SCHEMA = tables.KINDS.schema
"""One row for each kind of request: its name, responses, failures, their rate and times."""


class KindRow(TypedDict):
    """A row of `SCHEMA`."""

    request: str
    completed: int
    failed: int
    throughput_per_s: float
    response_time_p50_ns: float | None
    response_time_p90_ns: float | None
    response_time_p99_ns: float | None
    response_time_max_ns: float | None
    service_time_p50_ns: float | None
    service_time_p90_ns: float | None
    service_time_p99_ns: float | None
    service_time_max_ns: float | None


def kinds(recording: Recording, requests: Rows) -> pa.Table:
    """What came of each kind of request, in the order of the recording.

    Args:
        recording: The recording.
        requests: Its table `requests`.

    Returns:
        Rows of `SCHEMA`; none if there is one request type only, which the summary covers.
    """
    duration_s = rates.offered_s(recording)
    if len({*recording.requests}) < 2 or not duration_s:  # noqa: PLR2004
        return SCHEMA.empty_table()
    with query.opened(recording.holds, requests=requests) as database:
        rows = list(_rows(database, recording, duration_s))
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def shortest_ns(recording: Recording, requests: Rows) -> float | None:
    """The shortest service time of each kind of request, on average over the responses.

    Args:
        recording: The recording.
        requests: Its table `requests`.

    Returns:
        Nanoseconds; None without a complete response in the holds.
    """
    return _shortest_ns("shortest_of_kinds", recording, requests, recording.kinds)


def shortest_of_load_ns(recording: Recording, requests: Rows) -> float | None:
    """The shortest service time of each request of the load, on average over those of the holds.

    Ramp and warm-up count, too: where a load begins with all of its connections, the first request
    that is served waits for no other.

    Args:
        recording: The recording.
        requests: Its table `requests`.

    Returns:
        Nanoseconds; None without a complete response in the holds. Of many different requests it is
        that of each type: one that is sent once has no shortest time.
    """
    many, most = len(recording.requests), (recording.load.peak_connections or 0) // EACH_REQUEST
    groups = range(many) if many <= most else recording.kinds
    return _shortest_ns("shortest_of_load", recording, requests, groups)


def _shortest_ns(
    name: str, recording: Recording, requests: Rows, kinds: Iterable[int]
) -> float | None:
    """What a query finds of the kinds of a trial's requests, one for each of these."""
    with query.opened(recording.holds, requests=requests) as database:
        found = database.execute(query.text(name), {"kinds": list(kinds) or [0]}).fetchone()
    return None if found is None else found[0]


def sent_bytes(recording: Recording, database: duckdb.DuckDBPyConnection) -> int | None:
    """Bytes of the requests that began to be sent in the holds, head and body.

    See `held_bytes` for requests that were not sent whole.

    Args:
        recording: The recording.
        database: An open database with its table `requests`.

    Returns:
        The sum; None where neither recording nor rows say how long requests are.
    """
    if not recording.request_bytes:
        return _recorded_bytes(database)
    sent: list[tuple[int, int, int]] = database.execute(
        "SELECT request, count(*) FILTER (in_hold(sent_ns)), count(sent_ns) FROM requests "
        "GROUP BY request"
    ).fetchall()
    return held_bytes(recording, sent)


def sent_bytes_expression(recording: Recording) -> str:
    """The bytes of a request in SQL; null where it was never sent, or nobody knows its length.

    Args:
        recording: The recording, which has the lengths of its request types.
    """
    if not recording.request_bytes:
        return "sent_bytes"
    lengths = list(recording.request_bytes)
    known = f"CASE WHEN sent_ns IS NOT NULL THEN ({lengths})[request + 1]::UINTEGER END"
    return f"coalesce(sent_bytes, {known})"


def _recorded_bytes(database: duckdb.DuckDBPyConnection) -> int | None:
    """The same if each row has the length of its request."""
    stated = database.execute(
        "SELECT sum(sent_bytes)::BIGINT FROM requests WHERE in_hold(sent_ns)"
    ).fetchone()
    return stated[0] if stated else None


def _rows(
    database: duckdb.DuckDBPyConnection, recording: Recording, duration_s: float
) -> Iterator[dict[str, float | str | None]]:
    kinds = list(recording.kinds)
    found = database.execute(query.text("kinds"), {"kinds": kinds}).fetchall()
    counts: dict[int, tuple[Any, ...]] = {row[0]: row[1:] for row in found}
    responses = "requests WHERE is_completed(outcome) AND in_hold(done_ns)"
    times = {
        time: percentiles.of_parts(database, f"({kinds})[request + 1]", expression, responses)
        for time, expression in TIMES.items()
    }
    for number in dict.fromkeys(kinds):
        completed, failed, *longest_ns = counts.get(number, (0, 0, None, None))
        found = {
            f"{time}_{statistic}_ns": parts.get(number, {}).get(statistic)
            for time, parts in times.items()
            for statistic in STATISTICS
        }
        yield {
            "request": recording.requests[number],
            "completed": completed,
            "failed": failed,
            "throughput_per_s": completed / duration_s,
            **found,
            **{f"{time}_max_ns": value for time, value in zip(TIMES, longest_ns, strict=True)},
        }
