"""Reported statistics: one printed or published result; missing values are None."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from plimsoll.tool_output.restated import Restated

Counting = Literal["ends", "responses", "successful", "unknown"]
"""What a rate counts: all requests that ended; all responses, including wrong ones; successful
responses only; unknown."""

Timed = Literal["ends", "responses", "unknown"]
"""Which requests times belong to: all that ended; those with a response; unknown."""

Model = Literal["closed", "open", "unknown"]
"""Closed model, or open model with a rate; `unknown` if a tool supports both and does not report
which it used."""

OTHER_LENGTH = "of another length"
"""Name of responses with another length than the first one, if a tool counts those."""

_PERCENTILE = re.compile(r"p(\d{1,2})(\d*)")

Times = Literal["service", "response", "synthetic", "unknown"]
"""Kind of times: from sending; from the intended start; measured ones mixed with computed ones, as
in wrk; unknown."""


@dataclass(frozen=True)
class Source:
    """The source of statistics.

    Attributes:
        name: Name of the file, or title of the document.
        place: Place in it: a section, a table, a line; empty if it contains nothing else.
        address: URL of the document; empty if unknown.
    """

    name: str
    place: str = ""
    address: str = ""


@dataclass(frozen=True)
class ReportedStatistics:
    """One result.

    Attributes:
        source: Its source.
        tool: The tool that measured, with its version if known: `wrk 4.1.0`.
        subject: Name of the measured server or framework; empty if unknown.
        endpoint: The endpoint: `/32768`; empty if unknown.
        at: Which of several results of the same subject and endpoint it is, such as a step of a
            ramp or the number of a repetition; empty if there is one.
        model: Closed or open; a requested rate makes it open.
        connections: Requested connections, or streams.
        in_flight_each: Requests in flight on each of them; 1 unless reported.
        in_flight_known: Whether a command or a person gave that number.
        in_flight_printed: Whether the tool prints it if it is not 1.
        requested_rate_per_s: Requested arrivals per second; None in the closed model.
        timeout_s: Timeout of a request.
        duration_s: Length of the measurement.
        overrun_s: By how much a run may have exceeded it, if the tool prints what was requested and
            waits for the last responses.
        threads: Threads of the tool.
        requests: Number of requests, as counted by the rate.
        failures: Requests without a response, by the tool's names.
        wrong_responses: Responses that the tool counts as wrong, such as those with a status of
            500, by the tool's names.
        never_sent: Requests that were due and that the tool never sent.
        counts_failures: Whether the tool reports failures, so that no report means no failure.
        right_ratio: Share of successful requests, if that was published.
        throughput_per_s: Requests per second, as printed.
        counting: What that rate counts.
        sampled: Whether that rate is the mean rate of short intervals, instead of requests / time.
        mean_of: What the statistics are a mean of, if not of one run: `three routes`.
        thread_throughput_per_s: Mean requests per second of one thread, as printed.
        thread_most_per_s: Highest requests per second of one thread in a short interval.
        time_per_request_s: Connections / throughput, if a tool prints that as a time: computed, not
            measured.
        times_s: Times by name, of `min`, `mean`, `stddev`, `p50`, …, `p99`, `p999`, `max`.
        response_times_s: Times from the intended start, by name, where `times_s` are from sending
            and both are known.
        times: Kind of the times in `times_s`.
        timed: Which requests they belong to.
        times_step_s: Step to which the times are rounded.
        percentiles_step_s: Width of the histogram bucket of a percentile.
        timed_together: Whether requests that are sent together have one time.
        timed_requests: Number of requests of the times, if reported and not all.
        body_bytes: Length of the response body, of the first one if they differ.
        mean_body_bytes: Mean length of the bodies, if reported separately.
        shortest_bytes: Length of the shortest response, head included.
        longest_bytes: Length of the longest response, head included.
        received_bytes: Bytes received, heads included.
        received_per_s: Bytes received per second, as printed.
        link_bits_per_s: Speed of the network link between tool and server.
        server_cores: Cores of the server.
        server_busy_cores: Mean busy cores of the server.
        driver_cores: Cores of the tool.
        driver_busy_cores: Mean busy cores of the tool.
        restated: Figures that the tool prints twice, or that other printed figures bound.
        notes: Notes for readers of these statistics.
    """

    source: Source
    tool: str = ""
    subject: str = ""
    endpoint: str = ""
    at: str = ""
    model: Model = "closed"
    connections: float | None = None
    in_flight_each: float = 1.0
    in_flight_known: bool = False
    in_flight_printed: bool = True
    requested_rate_per_s: float | None = None
    timeout_s: float | None = None
    duration_s: float | None = None
    overrun_s: float = 0.0
    threads: int | None = None
    requests: float | None = None
    failures: Mapping[str, float] = field(default_factory=dict[str, float])
    wrong_responses: Mapping[str, float] = field(default_factory=dict[str, float])
    never_sent: float | None = None
    counts_failures: bool = False
    right_ratio: float | None = None
    throughput_per_s: float | None = None
    counting: Counting = "unknown"
    sampled: bool = False
    mean_of: str = ""
    thread_throughput_per_s: float | None = None
    thread_most_per_s: float | None = None
    time_per_request_s: float | None = None
    times_s: Mapping[str, float] = field(default_factory=dict[str, float])
    response_times_s: Mapping[str, float] = field(default_factory=dict[str, float])
    times: Times = "unknown"
    timed: Timed = "unknown"
    times_step_s: float = 0.0
    percentiles_step_s: float = 0.0
    timed_together: bool = False
    timed_requests: float | None = None
    body_bytes: float | None = None
    mean_body_bytes: float | None = None
    shortest_bytes: float | None = None
    longest_bytes: float | None = None
    received_bytes: float | None = None
    received_per_s: float | None = None
    link_bits_per_s: float | None = None
    server_cores: float | None = None
    server_busy_cores: float | None = None
    driver_cores: float | None = None
    driver_busy_cores: float | None = None
    restated: tuple[Restated, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Name of this result in a sentence; the place or file if it has no name."""
        named = " ".join(part for part in (self.subject, self.endpoint, self.at) if part)
        return named or self.source.place or self.source.name

    @property
    def is_open(self) -> bool:
        """Whether requests arrived at a rate, so that connections may have been idle."""
        return (
            self.model == "open"
            or self.requested_rate_per_s is not None
            or self.times == "response"
        )

    @property
    def in_flight(self) -> float | None:
        """Requested number of requests in flight; None if unknown, or in the open model."""
        if self.connections is None or self.is_open:
            return None
        return self.connections * self.in_flight_each

    @property
    def may_be_several(self) -> bool:
        """Whether there may have been more in flight on each connection than is known."""
        return not (self.in_flight_known or self.in_flight_printed)

    @property
    def without_response(self) -> float:
        """Requests without a response, of all kinds."""
        return sum(self.failures.values())

    @property
    def wrong(self) -> float:
        """Wrong responses, of all kinds."""
        return sum(self.wrong_responses.values())

    @property
    def ended(self) -> float | None:
        """Requests that ended, with or without a response; None if unknown."""
        if self.requests is None:
            return None
        beside = 0.0 if self.counting == "ends" else self.without_response
        return self.requests + beside + (self.wrong if self.counting == "successful" else 0.0)

    @property
    def fewest_timed(self) -> float:
        """The fewest times that there can be, by what is printed of requests; 0 if unknown.

        Wrong responses may have none.
        """
        if self.timed_requests is not None:
            return self.timed_requests
        is_one_each = self.in_flight_each == 1 and not self.may_be_several
        if self.requests is None or self.timed == "unknown":
            return 0.0
        if self.timed_together and not is_one_each:
            return 0.0
        apart = self.without_response if self.counting == "ends" else 0.0
        return max(self.requests - apart - self.wrong, 0.0)

    @property
    def timed_per_s(self) -> float | None:
        """Rate of the requests that the times belong to, if the counts determine it."""
        rate = self._counted_per_s
        if rate is None or not self.ended or not self.requests:
            return rate
        timed = self.ended - (0.0 if self.timed == "ends" else self.without_response)
        return rate * timed / self.requests

    @property
    def _counted_per_s(self) -> float | None:
        """The rate; for a tool that prints a mean of samples, count / time if known."""
        if self.is_resolved and self.sampled and self.requests and self.duration_s:
            return self.requests / self.duration_s
        return self.throughput_per_s

    @property
    def is_resolved(self) -> bool:
        """Whether the rate is a number of requests / time, printed or computed."""
        return not self.sampled or bool(self.requests and self.duration_s)

    @property
    def unfinished_ratio(self) -> float:
        """Share of the connections' time that unfinished requests may have taken.

        There is at most one per connection, which no count includes; 0 if the number of ended
        requests is unknown.
        """
        if not self.in_flight or not self.ended:
            return 0.0
        return min(self.in_flight / self.ended, 1.0)

    @property
    def overrun_ratio(self) -> float:
        """Share of its duration by which the run may have taken longer."""
        return self.overrun_s / self.duration_s if self.duration_s else 0.0

    @property
    def quantiles_step_s(self) -> float:
        """Maximum error of a percentile, in either direction."""
        return max(self.times_step_s, self.percentiles_step_s)

    @property
    def quantiles_s(self) -> tuple[tuple[float, float], ...]:
        """Quantiles as share and time, ascending; `min` is 0 and `max` is 1."""
        pairs = ((share(name), value) for name, value in self.times_s.items())
        return tuple(sorted((q, value) for q, value in pairs if q is not None))


def share(name: str) -> float | None:
    """The share of requests of a percentile's name.

    Args:
        name: `min`, `p50`, `p99`, `p999` (which is 99.9 %), `max`.

    Returns:
        0 to 1; None if it is not a percentile, such as `mean`.
    """
    if name in ("min", "max"):
        return float(name == "max")
    match = _PERCENTILE.fullmatch(name)
    return float(f"{match[1]}.{match[2] or 0}") / 100 if match else None


def percentile_name(percent: str) -> str:
    """The name of a percentile: `p999` for `99.9`, `max` for `100`, `min` for `0`.

    Args:
        percent: A number from 0 to 100 as a tool prints it; 2.5 is `p025`.
    """
    if float(percent) in (0.0, 100.0):
        return "max" if float(percent) else "min"
    whole, _, rest = percent.partition(".")
    return f"p{int(whole):02d}{rest.rstrip('0')}"
