"""Evidence: what the rows of a trial say beyond its summary, for checks and reports.

Each function takes the rows themselves and reads each of them once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from plimsoll.aggregate import query, rates
from plimsoll.aggregate.engine_records import EngineRecords, as_stored
from plimsoll.statistics import laws

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from plimsoll.aggregate.query import Rows, Stored
    from plimsoll.aggregate.usage import Window
    from plimsoll.recording import Recording

    Durations = np.ndarray[tuple[int], np.dtype[np.int64]]

GONE_NS = 200_000_000
"""A load that ends so soon after a refused attempt shows nothing of the server."""

OPENING_NS = 20_000_000
"""A load that begins with its hold may take so long to open its connections."""

CONNECT_NS = 500_000
"""So much longer for each connection: one costs both sides 0.1 ms together on a machine that is
theirs alone."""

HANDSHAKE_NS = 10_000_000
"""The same with TLS: a server makes 1 to 3 ms of a handshake."""

MOST_COMPARED = 100_000
"""So many rows are compared with each other, which limits memory."""

MOST_GROUPS = 32
"""Stretches of time are asked about in at most so many groups: each reads only rows near it."""

CHANCE = 1.5
"""So many times the pairs of neighbouring instants may repeat each other within one: three times
what independent rows do."""

ANY_NUMBER = 2**31
"""More connections than any load has."""

MOST_OPENING_NS = 900_000_000
"""Never longer: a connection that a full listen queue drops is tried again after 1 s."""


@dataclass(frozen=True)
class OutcomeCount:
    """Requests of one trial that ended alike.

    Attributes:
        outcome: How they ended.
        errno: Error number of the system; None when there was none.
        requests: How many.
        held: How many of them within the holds.
        sent: How many of them were handed to a connection.
        impossible: How many of them have instants that run backwards, or a response without one.
    """

    outcome: str
    errno: int | None
    requests: int
    held: int
    sent: int
    impossible: int


@dataclass(frozen=True)
class KindCount:
    """Requests of one kind, counted from the rows.

    Attributes:
        request: Index into the trial's kinds of request.
        held: Those that were sent within the holds.
        sent: Those that were sent in the whole trial.
        responded: Those of which one byte of a response or more came, in the whole trial.
        received_bytes: Bytes of the responses of the whole trial.
    """

    request: int
    held: int
    sent: int
    responded: int
    received_bytes: int


@dataclass(frozen=True)
class StatusCount:
    """Complete responses of one request type with one status code.

    Attributes:
        request: Index into the trial's kinds of request.
        status: The code; None if unknown.
        responses: How many, in the whole trial.
        held: How many of them within the holds.
        held_wrong: How many of the latter should have had another status.
    """

    request: int
    status: int | None
    responses: int
    held: int
    held_wrong: int


@dataclass(frozen=True)
class BodyCount:
    """Bodies of one request type whose content was given, where status and length were right.

    Attributes:
        request: Index into the trial's kinds of request.
        expected: Responses whose body could be compared, in the whole trial.
        compared: How many of them were compared byte for byte.
        wrong: How many of the compared ones differed.
        held_expected: The first of these within the holds.
        held_compared: The second within the holds.
        held_wrong: The third within the holds.
    """

    request: int
    expected: int
    compared: int
    wrong: int
    held_expected: int
    held_compared: int
    held_wrong: int


@dataclass(frozen=True)
class BodyLengths:
    """Lengths of the bodies of the holds of one request type with one status code.

    Attributes:
        request: Index into the trial's kinds of request.
        status: The code.
        usual_bytes: The most frequent length.
        usual: Responses of this length.
        others: Responses of other lengths.
        others_shortest_bytes: The shortest of the other lengths; None when there are none.
        others_longest_bytes: The longest of them.
    """

    request: int
    status: int | None
    usual_bytes: int
    usual: int
    others: int
    others_shortest_bytes: int | None
    others_longest_bytes: int | None


@dataclass(frozen=True)
class LateConnects:
    """How late the load generator itself began to connect at the beginning of a load.

    Attributes:
        sum_ns: Of all connections together.
        most_ns: Of the last one.
        connect_ns: The longest time that one of them then took to connect.
    """

    sum_ns: int
    most_ns: int
    connect_ns: int


@dataclass(frozen=True)
class LateOpenings:
    """How long after the beginning of the hold the requested connections of a load were open.

    Attributes:
        opened: How many of them opened.
        late: How many of these opened later than a load that begins with its hold may take.
        sum_ns: Time until these were open, of all together; 0 for the others.
        most_ns: The same of the last one.
    """

    opened: int
    late: int
    sum_ns: int
    most_ns: int


@dataclass(frozen=True)
class RepeatedRows:
    """Rows that are the same in all that a log says of them.

    Attributes:
        different: Different rows among those that were looked at.
        times: How many times each of them is there, at least; 1 where some are there once.
        repeating: Rows looked at that say the same as another one before.
        by_chance: Pairs that say the same but for their instants, of which each row is of the next
            instant: about twice as many as pairs of one instant that are the same by chance.
    """

    different: int
    times: int
    repeating: int
    by_chance: int

    @property
    def ratio(self) -> float:
        """Share of the rows that repeat another one, without what may be chance."""
        surplus = max(self.repeating - CHANCE * self.by_chance, 0.0)
        return surplus / (self.different + self.repeating) if surplus else 0.0


@dataclass(frozen=True)
class ConnectionEnd:
    """Opened connections that ended alike.

    Attributes:
        outcome: How they ended.
        connections: How many, in the whole trial.
        without_response: How many of them on which no byte of a response ever came.
        held: How many of them within the holds.
        least_responses: Fewest responses that one of the latter carried; None when unknown.
        most_responses: Most of them.
    """

    outcome: str
    connections: int
    without_response: int
    held: int
    least_responses: int | None
    most_responses: int | None


@dataclass(frozen=True)
class InFlight:
    """Requests in flight over some time, from the rows.

    Attributes:
        mean: Mean number of requests in flight.
        waiting: Mean number of requests that were due and waited in the driver to be sent.
        ended_per_s: Requests that ended, per second.
        time_s: Mean time in flight for each of these, in seconds; 0 when none ended.
    """

    mean: float
    waiting: float
    ended_per_s: float
    time_s: float


@dataclass(frozen=True)
class Shares:
    """How responses fell on connections.

    Attributes:
        connections: Connections that were open long enough to count.
        starved: Those of them without a complete response in the holds.
        jain: Jain's index of fairness, from 1/n (one has all) to 1 (all alike); None without any
            response.

    Source:
        R. Jain, D. Chiu, W. Hawe, *A Quantitative Measure of Fairness*, DEC-TR-301, 1984.
    """

    connections: int
    starved: int
    jain: float | None


@dataclass(frozen=True)
class LateEnds:
    """Complete responses by the time from their first byte to their end.

    Attributes:
        ended: Those of the holds whose first byte is known.
        late: Those of them that took a time within the window.
        near: Those of them that took another time, from half its begin to before twice its end.
        connections: Connections that carried a complete response, in the whole trial.
        late_first: Those of them whose first response took at least half of the window's begin.
    """

    ended: int
    late: int
    near: int
    connections: int
    late_first: int


@dataclass(frozen=True)
class StillWaiting:
    """Requests that were in flight for long when the load ended.

    Attributes:
        requests: How many.
        shortest_ns: How long the last of them had been in flight; 0 of none.
        longest_ns: How long the first of them had been.
    """

    requests: int
    shortest_ns: int
    longest_ns: int


@dataclass(frozen=True)
class Pauses:
    """Times in which no request ended.

    Attributes:
        count: How many.
        length_ns: How long they were together.
    """

    count: int
    length_ns: int


def _rows(name: str, recording: Recording, requests: Rows) -> list[tuple[Any, ...]]:
    """Rows of a query over the requests of a trial, by the name of its SQL file."""
    if isinstance(requests, EngineRecords):
        return getattr(requests, name)()
    with query.opened(recording.holds, requests=requests) as database:
        return database.execute(query.text(name)).fetchall()


def outcome_counts(recording: Recording, requests: Rows) -> tuple[OutcomeCount, ...]:
    """How the requests of a trial ended, the most frequent first."""
    return tuple(OutcomeCount(*row) for row in _rows("outcome_counts", recording, requests))


def kind_counts(recording: Recording, requests: Rows) -> tuple[KindCount, ...]:
    """Requests of each kind that was sent, in the order of the recording."""
    return tuple(KindCount(*row) for row in _rows("kind_counts", recording, requests))


def status_counts(recording: Recording, requests: Rows) -> tuple[StatusCount, ...]:
    """Complete responses by request type and status code, the most frequent first."""
    return tuple(StatusCount(*row) for row in _rows("status_counts", recording, requests))


def body_counts(recording: Recording, requests: Rows) -> tuple[BodyCount, ...]:
    """Bodies that were expected, compared and wrong, by request type; none where none was given."""
    return tuple(BodyCount(*row) for row in _rows("body_counts", recording, requests))


def body_lengths(recording: Recording, requests: Rows) -> tuple[BodyLengths, ...]:
    """Lengths of the bodies of the holds; none where the driver does not say them."""
    if isinstance(requests, EngineRecords):
        return tuple(BodyLengths(*row) for row in requests.body_lengths())
    return _lengths(recording, requests)


def message_lengths(
    recording: Recording, requests: Rows, apart_bytes: int
) -> tuple[BodyLengths, ...]:
    """Lengths of the responses of the holds with their heads, where those of bodies are unknown.

    Args:
        recording: The recording.
        requests: Its table `requests`.
        apart_bytes: Another length is one that is shorter than the usual one by more than that.
    """
    return _lengths(recording, as_stored(requests), apart_bytes)


def _lengths(
    recording: Recording, requests: Stored, apart_bytes: int | None = None
) -> tuple[BodyLengths, ...]:
    limits = {"with_heads": apart_bytes is not None, "apart_bytes": apart_bytes or 0}
    with query.opened(recording.holds, requests=requests) as database:
        rows = database.execute(query.text("lengths"), limits).fetchall()
    return tuple(BodyLengths(*row) for row in rows)


def repeated_rows(requests: Rows, rows: int) -> RepeatedRows:
    """How many times each row is there.

    Args:
        requests: The table `requests`.
        rows: How many it has; of more than `MOST_COMPARED` a share is looked at.
    """
    every = {"every": max(rows // MOST_COMPARED, 1)}
    with query.opened(requests=as_stored(requests)) as database:
        found = database.execute(query.text("repeated_rows"), every).fetchall()[0]
    different, times, repeating, by_chance = found
    return RepeatedRows(different, times or 1, int(repeating), int(by_chance or 0))


def ended_before_first_byte(requests: Rows) -> int:
    """Rows whose first byte comes after the end of their response."""
    with query.opened(requests=as_stored(requests)) as database:
        return int(database.execute(query.text("impossible_rows")).fetchall()[0][0])


def idle_stretch(requests: Rows, window: Window) -> Window:
    """From the last end of a request before the end of a stretch to the next start.

    Args:
        requests: The table `requests`.
        window: The stretch, within which no request ends.
    """
    limits = {"until_ns": window[1], "from_ns": window[0]}
    with query.opened(requests=as_stored(requests)) as database:
        row = database.execute(query.text("idle_stretch"), limits).fetchall()[0]
    start_ns, end_ns = (own if at is None else at for at, own in zip(row, window, strict=True))
    return int(start_ns), int(end_ns)


def pauses(requests: Rows, window: Window, least_ns: int) -> Pauses:
    """Times within a stretch in which no request ended.

    Args:
        requests: The table `requests`.
        window: The stretch.
        least_ns: How long one lasts at least.
    """
    limits = {"from_ns": window[0], "until_ns": window[1], "least_ns": least_ns}
    with query.opened(requests=as_stored(requests)) as database:
        count, length_ns = database.execute(query.text("pauses"), limits).fetchall()[0]
    return Pauses(int(count), int(length_ns))


def waits_at(
    recording: Recording, requests: Rows, at_ns: Sequence[int], over_ns: Sequence[int]
) -> list[tuple[int, int]]:
    """Requests in flight at some instants, and those that had waited for longer than usual.

    Args:
        recording: The recording, for its holds.
        requests: The table `requests`.
        at_ns: The instants, in rising order.
        over_ns: For each, how much longer than the median of their request type.
    """
    limits = {"at_ns": list(at_ns), "over_ns": list(over_ns)}
    with query.opened(recording.holds, requests=as_stored(requests)) as database:
        rows = database.execute(query.text("waits_at"), limits).fetchall()
    return [(int(in_flight), int(overdue)) for _, in_flight, overdue in rows]


def late_seconds(recording: Recording, requests: Rows, least_ns: int) -> list[int]:
    """Seconds in which requests were due, or waited to be sent, that were sent late.

    Args:
        recording: The recording, for its holds.
        requests: The table `requests`.
        least_ns: How late they were at least.
    """
    with query.opened(recording.holds, requests=as_stored(requests)) as database:
        rows = database.execute(query.text("late_seconds"), {"least_ns": least_ns}).fetchall()
    return [int(second) for (second,) in rows]


def gone_ns(recording: Recording, requests: Rows) -> int | None:
    """Since when nothing listened on the server's port, until the load ended.

    Returns:
        When the last complete response came, in nanoseconds since zero, if only refused attempts to
        connect came after it, for `GONE_NS` and more; else None.
    """
    if not recording.stages:
        return None
    end_ns = recording.stages[-1].end_ns
    at_ns, is_refused = _last_response(requests)
    return at_ns if at_ns is not None and is_refused and end_ns - at_ns >= GONE_NS else None


def _last_response(requests: Rows) -> tuple[int | None, bool]:
    """When the last complete response came, and whether attempts to connect were refused after."""
    if isinstance(requests, EngineRecords):
        return requests.gone()
    with query.opened(requests=requests) as database:
        at_ns, refused = database.execute(query.text("last_response")).fetchone() or (None, 0)
    return at_ns, refused > 0


def slower_than(recording: Recording, requests: Rows, least_ns: int) -> int:
    """Requests of the holds that took at least so long, however they ended."""
    if isinstance(requests, EngineRecords):
        return requests.slower_than(least_ns)
    with query.opened(recording.holds, requests=requests) as database:
        found = database.execute(query.text("slower_than"), {"least_ns": least_ns}).fetchone()
    return int(found[0]) if found is not None else 0


def late_ends(recording: Recording, requests: Rows, late: Window) -> LateEnds:
    """Responses that ended so long after their first byte, and the first of each connection.

    Args:
        recording: The recording.
        requests: Its table `requests`.
        late: From which time until before which other one, in nanoseconds.
    """
    if isinstance(requests, EngineRecords):
        return LateEnds(*requests.late_ends(late))
    window = {"from_ns": late[0], "until_ns": late[1]}
    with query.opened(recording.holds, requests=requests) as database:
        row = database.execute(query.text("late_ends"), window).fetchall()[0]
    return LateEnds(*row)


def still_waiting(recording: Recording, requests: Rows, least_ns: int) -> StillWaiting:
    """Requests that were in flight for at least so long when the load ended."""
    if not recording.stages:
        return StillWaiting(0, 0, 0)
    end_ns = recording.stages[-1].end_ns
    if isinstance(requests, EngineRecords):
        return StillWaiting(*requests.still_waiting(end_ns, least_ns))
    limits = {"end_ns": end_ns, "least_ns": least_ns}
    with query.opened(requests=requests) as database:
        return StillWaiting(*database.execute(query.text("still_waiting"), limits).fetchall()[0])


def longest_times_ns(recording: Recording, requests: Rows) -> Durations:
    """How long each request took that ended in the holds, or waited until the end of the load.

    It reads all rows; of the engine's records it makes a table for that.

    Args:
        recording: The recording.
        requests: Its table `requests`.

    Returns:
        Nanoseconds, in rising order.
    """
    end_ns = recording.stages[-1].end_ns if recording.stages else 0
    with query.opened(recording.holds, requests=as_stored(requests)) as database:
        found = database.execute(query.text("longest_times"), {"end_ns": end_ns}).fetchnumpy()
    return np.sort(found["time_ns"])


def connection_ends(recording: Recording, connections: Rows) -> tuple[ConnectionEnd, ...]:
    """How the opened connections of a trial ended, the most frequent first."""
    if isinstance(connections, EngineRecords):
        return tuple(ConnectionEnd(*row) for row in connections.connection_ends())
    with query.opened(recording.holds, connections=connections) as database:
        rows = database.execute(query.text("connection_ends")).fetchall()
    return tuple(ConnectionEnd(*row) for row in rows)


def in_flight(requests: Rows, windows: Sequence[Window]) -> tuple[InFlight, ...]:
    """Requests in flight over some stretches of time, each on its own.

    A request counts for the part of its service time that lies within the stretch, however it
    ended, so that nothing is lost at the edges.

    Args:
        requests: The table `requests`.
        windows: The stretches.
    """
    rows = _times_in_flight(requests, windows)
    return tuple(_in_flight(window, *row) for window, row in zip(windows, rows, strict=True))


def _times_in_flight(
    requests: Rows, windows: Sequence[Window]
) -> Sequence[tuple[float, float, int]]:
    if isinstance(requests, EngineRecords):
        return requests.in_flight(windows)
    length = max(1, -(-len(windows) // MOST_GROUPS))
    groups = [windows[first : first + length] for first in range(0, len(windows), length)]
    with query.opened(requests=requests) as database:
        return [row for group in groups for row in _of_group(database, group)]


def _of_group(
    database: duckdb.DuckDBPyConnection, windows: Sequence[Window]
) -> Sequence[tuple[float, float, int]]:
    """The same of some stretches, from rows near them."""
    starts, ends = [window[0] for window in windows], [window[1] for window in windows]
    columns = {"number": range(len(windows)), "from_ns": starts, "until_ns": ends}
    database.register("stretches", pa.table(columns))
    limits = {"from_ns": min(starts), "until_ns": max(ends)}
    return database.execute(query.text("in_flight"), limits).fetchall()


def _in_flight(window: Window, spent_ns: float, waited_ns: float, ended: int) -> InFlight:
    length_ns = window[1] - window[0]
    mean, ended_per_s = spent_ns / length_ns, ended / length_ns * query.SECOND_NS
    time_s = laws.mean_time_s(mean, ended_per_s) if ended else 0.0
    return InFlight(mean, waited_ns / length_ns, ended_per_s, time_s)


def shares(recording: Recording, requests: Rows, connections: Rows, least_ns: int) -> Shares:
    """How the responses of the holds fell on the connections.

    Args:
        recording: The recording.
        requests: Its table `requests`.
        connections: Its table `connections`.
        least_ns: A connection counts when it was open for so long within the holds.
    """
    if isinstance(requests, EngineRecords):
        return Shares(*requests.shares(max(least_ns, 1)))
    limits = {"least_ns": max(least_ns, 1), **_held(recording)}
    tables = {"requests": requests, "connections": connections}
    with query.opened(recording.holds, **tables) as database:
        row = database.execute(query.text("shares"), limits).fetchall()[0]
    return Shares(*row)


def open_connections(recording: Recording, connections: Rows) -> float | None:
    """Mean connections open in the holds, from the rows; None when there is no hold."""
    duration_ns = recording.held_ns
    if not duration_ns:
        return None
    opening_ns, requested = _opening_ns(recording), _requested(recording)
    if isinstance(connections, EngineRecords):
        open_ns = connections.open_ns(opening_ns, min(requested))
        if open_ns is not None:
            return open_ns / duration_ns
    with query.opened(connections=as_stored(connections)) as database:
        limits = {"opening_ns": opening_ns, "requested": requested, **_held(recording)}
        row = database.execute(query.text("open_time"), limits).fetchall()[0]
    return min(row[0] / duration_ns, max(requested))


def late_connects(recording: Recording, connections: Rows, requested: int) -> LateConnects:
    """How late the load generator itself began to connect.

    A load without ramp and warm-up requests every connection when its hold begins. Of each, the
    first attempt counts; a later one follows a refusal or the end of a connection.

    Args:
        recording: The recording.
        connections: Its table `connections`.
        requested: Number of connections requested.
    """
    first = recording.stages[0] if recording.stages else None
    if first is None or first.kind != "hold":
        return LateConnects(0, 0, 0)
    with query.opened(connections=as_stored(connections)) as database:
        row = database.execute(
            "SELECT coalesce(sum(late_ns), 0)::BIGINT, coalesce(max(late_ns), 0)::BIGINT,"
            " coalesce(max(took_ns), 0)::BIGINT FROM ("
            "  SELECT least(due_ns, $end_ns::BIGINT) - $start_ns::BIGINT AS late_ns,"
            "   connected_ns - due_ns AS took_ns"
            "  FROM connections ORDER BY due_ns LIMIT $requested::BIGINT)",
            {"start_ns": first.start_ns, "end_ns": first.end_ns, "requested": requested},
        ).fetchall()[0]
    return LateConnects(*row)


def late_openings(recording: Recording, connections: Rows, requested: int) -> LateOpenings:
    """How long after the beginning of the hold connections were open, of a load with one hold.

    Of each connection, the first attempt counts.

    Args:
        recording: The recording.
        connections: Its table `connections`.
        requested: Number of connections requested.
    """
    if len(recording.holds) != 1:
        return LateOpenings(0, 0, 0, 0)
    (hold,) = recording.holds
    with query.opened(connections=as_stored(connections)) as database:
        row = database.execute(
            "SELECT count(connected_ns), count(*) FILTER (late_ns >= $opening_ns::BIGINT),"
            " coalesce(sum(late_ns) FILTER (late_ns >= $opening_ns::BIGINT), 0)::BIGINT,"
            " coalesce(max(late_ns), 0)::BIGINT FROM ("
            "  SELECT connected_ns, CASE WHEN connected_ns IS NOT NULL"
            "   THEN greatest(least(connected_ns, $end_ns::BIGINT) - $start_ns::BIGINT, 0)"
            "   END AS late_ns"
            "  FROM connections ORDER BY due_ns LIMIT $requested::BIGINT)",
            {
                "start_ns": hold.start_ns,
                "end_ns": hold.end_ns,
                "opening_ns": _opening_ns(recording),
                "requested": requested,
            },
        ).fetchall()[0]
    return LateOpenings(*row)


def _requested(recording: Recording) -> list[int]:
    """How many connections each hold requests; where that is unknown, any number."""
    most = rates.connections_requested(recording) or ANY_NUMBER
    if recording.load.model != "closed":
        return [most] * len(recording.holds)
    return [min(most, math.ceil(max(hold.start, hold.end))) for hold in recording.holds]


def _opening_ns(recording: Recording) -> int:
    """How long a load may take to open its connections."""
    each_ns = CONNECT_NS if recording.tls is None else HANDSHAKE_NS
    opened = recording.driver.opened if recording.driver else None
    return min(OPENING_NS + (opened or 0) * each_ns, MOST_OPENING_NS)


def without_response(
    recording: Recording, connections: Rows, least_ns: int, least_requests: int
) -> int:
    """Connections that opened, lived for some time and never got a byte of a response.

    Args:
        recording: The recording.
        connections: Its table `connections`.
        least_ns: How long a connection must have lived to count.
        least_requests: How many requests it must have carried, where that is known.
    """
    if isinstance(connections, EngineRecords):
        return connections.without_response(least_ns, least_requests)
    end_ns = recording.stages[-1].end_ns if recording.stages else 0
    with query.opened(connections=connections) as database:
        row = database.execute(
            "SELECT count(*) FROM connections WHERE responses = 0"
            " AND coalesce(requests, $least_requests::BIGINT) >= $least_requests::BIGINT"
            " AND coalesce(closed_ns, $end_ns::BIGINT) - connected_ns >= $least_ns::BIGINT",
            {"end_ns": end_ns, "least_ns": least_ns, "least_requests": least_requests},
        ).fetchall()[0]
    return int(row[0])


def _held(recording: Recording) -> dict[str, list[int]]:
    """Starts and ends of the holds, as parameters of a query."""
    return {
        "starts": [hold.start_ns for hold in recording.holds],
        "ends": [hold.end_ns for hold in recording.holds],
    }
