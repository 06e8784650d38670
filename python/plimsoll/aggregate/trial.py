"""The tables of one trial together with what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from plimsoll.aggregate import check_inputs, driver_total, engine_records, kinds, rates
from plimsoll.aggregate import hosts as of_hosts
from plimsoll.aggregate import pace as of_pace
from plimsoll.aggregate import seconds as of_seconds
from plimsoll.aggregate import silence as of_silence
from plimsoll.aggregate import stalls as of_stalls
from plimsoll.aggregate import steady_state as classification
from plimsoll.aggregate import summaries as of_summaries
from plimsoll.aggregate import unfinished as of_unfinished
from plimsoll.aggregate import usage as of_usage
from plimsoll.aggregate.disturbance import ServiceTimes
from plimsoll.aggregate.query import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

    from plimsoll.aggregate.check_inputs import (
        BodyCount,
        BodyLengths,
        ConnectionEnd,
        Durations,
        InFlight,
        KindCount,
        LateConnects,
        LateEnds,
        LateOpenings,
        OutcomeCount,
        Pauses,
        RepeatedRows,
        Shares,
        StatusCount,
        StillWaiting,
    )
    from plimsoll.aggregate.hosts import HostSecond
    from plimsoll.aggregate.query import Rows, Stored
    from plimsoll.aggregate.silence import Silence
    from plimsoll.aggregate.steady_state import SteadyState
    from plimsoll.aggregate.summary import Summary
    from plimsoll.aggregate.unfinished import Unfinished
    from plimsoll.aggregate.usage import Usage, Window
    from plimsoll.recording import Recording
    from plimsoll.storage.results import Results


@dataclass(frozen=True)
class Tables:
    """The tables of one trial; what follows from them is computed on first use.

    Attributes:
        recording: The recording.
        requests: Its rows of requests; None when there are none.
        connections: Its rows of attempts to connect; None when there are none.
        readings: Its rows of readings of resources, `usage`; None when there are none.
    """

    recording: Recording
    requests: Rows = None
    connections: Rows = None
    readings: Stored = None

    @cached_property
    def usage(self) -> Usage:
        """The readings of resources as functions of time."""
        read = of_usage.usage(self.readings, self.recording.server_host)
        return driver_total.with_total(self.recording, read)

    @cached_property
    def seconds(self) -> pa.Table:
        """The rows of `tables.SECONDS`."""
        return of_seconds.timed(self.counted_seconds, self.requests)

    @cached_property
    def counted_seconds(self) -> pa.Table:
        """The rows of `tables.SECONDS`, without the columns of times."""
        return of_seconds.counted(self.recording, self.requests, self.readings)

    @cached_property
    def summary(self) -> Summary:
        """What it amounts to over its holds."""
        return of_summaries.summary(self.recording, self.requests, self.connections, self.readings)

    @cached_property
    def outcome_counts(self) -> tuple[OutcomeCount, ...]:
        """How its requests ended."""
        return check_inputs.outcome_counts(self.recording, self.requests)

    @cached_property
    def kind_counts(self) -> tuple[KindCount, ...]:
        """Its requests of each kind."""
        return check_inputs.kind_counts(self.recording, self.requests)

    @cached_property
    def status_counts(self) -> tuple[StatusCount, ...]:
        """Its complete responses by request type and status code."""
        return check_inputs.status_counts(self.recording, self.requests)

    @cached_property
    def body_counts(self) -> tuple[BodyCount, ...]:
        """Its bodies that were expected, compared and wrong."""
        return check_inputs.body_counts(self.recording, self.requests)

    @cached_property
    def body_lengths(self) -> tuple[BodyLengths, ...]:
        """Lengths of the bodies of its holds."""
        return check_inputs.body_lengths(self.recording, self.requests)

    def message_lengths(self, apart_bytes: int) -> tuple[BodyLengths, ...]:
        """Lengths of the responses of its holds with their heads; others are so much shorter."""
        return check_inputs.message_lengths(self.recording, self.requests, apart_bytes)

    @cached_property
    def repeated_rows(self) -> RepeatedRows:
        """How many times each of its rows is there."""
        rows = sum(one.requests for one in self.outcome_counts)
        return check_inputs.repeated_rows(self.requests, rows)

    @cached_property
    def ended_before_first_byte(self) -> int:
        """Its rows whose first byte comes after the end of their response."""
        return check_inputs.ended_before_first_byte(self.requests)

    def idle_stretch(self, window: Window) -> Window:
        """From the last end of a request before the end of a stretch to the next start."""
        return check_inputs.idle_stretch(self.requests, window)

    def pauses(self, least_ns: int) -> Pauses:
        """Times in the last hold, of so long at least, in which none of its requests ended."""
        return check_inputs.pauses(self.requests, self.holds[-1], least_ns)

    def waits_at(self, at_ns: Sequence[int], over_ns: Sequence[int]) -> list[tuple[int, int]]:
        """Requests in flight at some instants, and those that waited so much longer than usual."""
        return check_inputs.waits_at(self.recording, self.requests, at_ns, over_ns)

    def late_seconds(self, least_ns: int) -> list[int]:
        """Seconds in which requests were due, or waited to be sent, that were sent so late."""
        return check_inputs.late_seconds(self.recording, self.requests, least_ns)

    @cached_property
    def silence(self) -> Silence:
        """Whole seconds of its holds without a response."""
        return of_silence.of_trial(self)

    @cached_property
    def host_requests(self) -> dict[str, int]:
        """Its requests by the host that generated them."""
        return of_hosts.requests_of_each(self.requests)

    @cached_property
    def host_seconds(self) -> tuple[HostSecond, ...]:
        """Each second of its holds as each host saw it."""
        return of_hosts.seconds(self.recording, self.requests)

    @cached_property
    def connection_ends(self) -> tuple[ConnectionEnd, ...]:
        """How its opened connections ended."""
        return check_inputs.connection_ends(self.recording, self.connections)

    @cached_property
    def gone_ns(self) -> int | None:
        """Since when nothing listened on the server's port; None where something did."""
        return check_inputs.gone_ns(self.recording, self.requests)

    @cached_property
    def holds(self) -> list[Window]:
        """The stretches of time that are summarised."""
        return rates.holds(self.recording)

    @property
    def held_s(self) -> float:
        """The length of these together, in seconds."""
        return rates.held_s(self.recording)

    @cached_property
    def stalls(self) -> list[Window]:
        """Stretches of the holds in which requests waited and no response came."""
        return of_stalls.found(self.recording, self.requests)

    @cached_property
    def connection_stalls(self) -> list[Window]:
        """When each request of the holds that stalled was sent, and when it ended."""
        return of_stalls.of_connections(self.recording, self.requests)

    def slower_than(self, least_ns: int) -> int:
        """Requests of the holds that took at least so long, however they ended."""
        return check_inputs.slower_than(self.recording, self.requests, least_ns)

    def late_ends(self, late: Window) -> LateEnds:
        """Responses that ended so long after their first byte, and the first of each connection."""
        return check_inputs.late_ends(self.recording, self.requests, late)

    def still_waiting(self, least_ns: int) -> StillWaiting:
        """Requests that were in flight for at least so long when the load ended."""
        return check_inputs.still_waiting(self.recording, self.requests, least_ns)

    def longest_times_ns(self) -> Durations:
        """How long each request of the holds took or waited, in rising order."""
        return check_inputs.longest_times_ns(self.recording, self.requests)

    @cached_property
    def unfinished(self) -> Unfinished:
        """What its requests in flight at the end of the load hide of its latencies."""
        return of_unfinished.of_trial(self)

    @cached_property
    def steady_state(self) -> SteadyState | None:
        """How throughput went in the last hold; None when there is none."""
        return classification.of_trial(self.recording, self.requests)

    @cached_property
    def steady_state_of_times(self) -> SteadyState | None:
        """How the median time of a response went in the last hold; None when there is none."""
        return classification.of_times(self.recording, self.requests)

    def pace(self, window: Window, parts: int) -> list[int]:
        """Complete responses in equal parts of a stretch of time."""
        return of_pace.pace(self.requests, window, parts)

    def arrivals(self, window: Window, parts: int) -> list[int]:
        """Requests of an open load that were due in equal parts of a stretch of time."""
        return of_pace.arrivals(self.requests, window, parts)

    def in_flight(self, windows: Sequence[Window]) -> tuple[InFlight, ...]:
        """Requests in flight over some stretches of time, from the rows."""
        return check_inputs.in_flight(self.requests, windows)

    @cached_property
    def served(self) -> ServiceTimes | None:
        """How requests were served in the holds; None when no response was complete."""
        mean_ns = self.summary.service_time.mean_ns
        if self._shortest_ns is None or not mean_ns:
            return None
        return ServiceTimes(self._shortest_ns, mean_ns, self.summary.in_flight)

    @cached_property
    def _shortest_ns(self) -> float | None:
        """The shortest service time; of several kinds of request the mean of their shortest."""
        if len({*self.recording.requests}) < 2:  # noqa: PLR2004
            return self.summary.service_time.min_ns
        return kinds.shortest_ns(self.recording, self.requests)

    @cached_property
    def shortest_of_load_ns(self) -> float | None:
        """The shortest service time of each request in the whole load, on average; see `kinds`."""
        return kinds.shortest_of_load_ns(self.recording, self.requests)

    def served_in(self, windows: Sequence[Window]) -> list[ServiceTimes | None]:
        """How requests were served in each of some stretches of the holds; None when none was."""
        shortest_ns = self._shortest_ns
        return [
            ServiceTimes(shortest_ns, one.time_s * SECOND_NS, one.mean)
            if shortest_ns is not None and one.time_s
            else None
            for one in self.in_flight(windows)
        ]

    def shares(self, least_ns: int) -> Shares:
        """How the responses of the holds fell on connections that were open for so long."""
        return check_inputs.shares(self.recording, self.requests, self.connections, least_ns)

    @cached_property
    def open_connections(self) -> float | None:
        """Mean connections open in the holds, from the rows."""
        return check_inputs.open_connections(self.recording, self.connections)

    def late_connects(self, requested: int) -> LateConnects:
        """How late the load generator itself began to open so many connections."""
        return check_inputs.late_connects(self.recording, self.connections, requested)

    def late_openings(self, requested: int) -> LateOpenings:
        """How long after the beginning of the hold so many connections were open."""
        return check_inputs.late_openings(self.recording, self.connections, requested)

    def without_response(self, least_ns: int) -> int:
        """Connections that lived for so long and never got a byte of a response.

        Only a closed load without think time has a request for each of them.
        """
        least_requests = 0 if self.recording.load.is_saturating else 1
        return check_inputs.without_response(
            self.recording, self.connections, least_ns, least_requests
        )


def of_records(folder: Path, recording: Recording) -> Tables:
    """The tables of a trial whose rows are the engine's records, for what is counted in these.

    Args:
        folder: Where they and the readings lie.
        recording: The recording.

    Raises:
        OSError: The readings cannot be read.
    """
    return Tables(
        recording,
        engine_records.EngineRecords(folder, recording, "requests"),
        engine_records.EngineRecords(folder, recording, "connections"),
        engine_records.table(folder, "usage"),
    )


def stored(results: Results, recording: Recording) -> Tables:
    """The tables of a trial as they are stored, read when needed.

    Args:
        results: Where they are.
        recording: The recording.

    Raises:
        StorageError: They cannot be read.
    """
    names = ("requests", "connections", "usage")
    return Tables(recording, *(results.table(recording.trial, name) for name in names))
