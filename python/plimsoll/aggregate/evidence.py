"""Evidence: what the rows of a trial say beyond its summary, for checks and reports.

Each function takes the rows themselves and reads each of them once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.aggregate import query

if TYPE_CHECKING:
    from plimsoll.aggregate.query import Rows
    from plimsoll.aggregate.usage import Window
    from plimsoll.recording import Recording


@dataclass(frozen=True)
class OutcomeCount:
    """Requests of one trial that ended alike.

    Attributes:
        outcome: How they ended.
        errno: Error number of the system; None when there was none.
        requests: How many.
        held: How many of them within the holds.
        sent: How many of them were handed to a connection.
        impossible: How many of them have instants that run backwards, or an answer without one.
    """

    outcome: str
    errno: int | None
    requests: int
    held: int
    sent: int
    impossible: int


@dataclass(frozen=True)
class InFlight:
    """Requests in flight over some time, told from the rows.

    Attributes:
        mean: Mean number of requests in flight.
        ended_per_s: Requests that ended, per second.
        time_s: Mean time in flight for each of these, in seconds; 0 when none ended.
    """

    mean: float
    ended_per_s: float
    time_s: float


@dataclass(frozen=True)
class Shares:
    """How answers fell on connections.

    Attributes:
        connections: Connections that were open long enough to count.
        starved: Those of them without a complete answer in the holds.
        mean_answers: Complete answers of the holds for each of them.
        jain: Jain's index of fairness, from 1/n (one has all) to 1 (all alike); None without any
            answer.

    Source:
        R. Jain, D. Chiu, W. Hawe, *A Quantitative Measure of Fairness*, DEC-TR-301, 1984.
    """

    connections: int
    starved: int
    mean_answers: float
    jain: float | None


def outcome_counts(recording: Recording, requests: Rows) -> tuple[OutcomeCount, ...]:
    """How the requests of a trial ended, the most frequent first."""
    with query.opened(recording.holds, requests=requests) as database:
        rows = database.execute(query.text("outcome_counts")).fetchall()
    return tuple(OutcomeCount(*row) for row in rows)


def in_flight(requests: Rows, window: Window) -> InFlight:
    """Requests in flight over a stretch of time.

    A request counts for the part of its service time that lies within the stretch, however it
    ended, so that nothing is lost at the edges.
    """
    start_ns, end_ns = window
    with query.opened(requests=requests) as database:
        limits = {"from_ns": start_ns, "until_ns": end_ns}
        spent_ns, ended = database.execute(query.text("in_flight"), limits).fetchall()[0]
    mean = spent_ns / (end_ns - start_ns)
    ended_per_s = ended / (end_ns - start_ns) * query.SECOND_NS
    return InFlight(mean, ended_per_s, mean / ended_per_s if ended else 0.0)


def shares(recording: Recording, requests: Rows, connections: Rows, least_ns: int) -> Shares:
    """How the answers of the holds fell on the connections.

    Args:
        recording: The recording.
        requests: Its table `requests`.
        connections: Its table `connections`.
        least_ns: A connection counts when it was open for so long within the holds.
    """
    limits = {"least_ns": max(least_ns, 1), **_held(recording)}
    tables = {"requests": requests, "connections": connections}
    with query.opened(recording.holds, **tables) as database:
        row = database.execute(query.text("shares"), limits).fetchall()[0]
    return Shares(*row)


def open_connections(recording: Recording, connections: Rows) -> float | None:
    """Mean connections open in the holds, told from the rows; None when there is no hold."""
    duration_ns = sum(hold.end_ns - hold.start_ns for hold in recording.holds)
    if not duration_ns:
        return None
    with query.opened(connections=connections) as database:
        row = database.execute(query.text("open_time"), _held(recording)).fetchall()[0]
    return row[0] / duration_ns


def unanswered(recording: Recording, connections: Rows, least_ns: int) -> int:
    """Connections that opened, lived for some time and never got a byte of an answer.

    Args:
        recording: The recording.
        connections: Its table `connections`.
        least_ns: How long a connection must have lived to count.
    """
    end_ns = recording.stages[-1].end_ns if recording.stages else 0
    with query.opened(connections=connections) as database:
        row = database.execute(
            "SELECT count(*) FROM connections WHERE responses = 0"
            " AND coalesce(closed_ns, $end_ns) - connected_ns >= $least_ns",
            {"end_ns": end_ns, "least_ns": least_ns},
        ).fetchall()[0]
    return int(row[0])


def _held(recording: Recording) -> dict[str, list[int]]:
    """Starts and ends of the holds, as parameters of a query."""
    return {
        "starts": [hold.start_ns for hold in recording.holds],
        "ends": [hold.end_ns for hold in recording.holds],
    }
