"""Figures: one result as somebody else printed or published it; what it does not say is None."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Counting = Literal["ends", "answers", "right", "unknown"]
"""What a rate counts: every request that ended, answered or not; every answer, wrong ones too;
right answers alone; nobody said."""

Timed = Literal["ends", "answers", "unknown"]
"""Whose times they are: of every request that ended; of those that were answered; nobody said."""

Model = Literal["closed", "open", "unknown"]
"""Whether each connection sends its next request when the last is answered, or requests come at a
rate; `unknown` where a tool can do both and does not say which it did."""

_PERCENTILE = re.compile(r"p(\d{1,2})(\d*)")

Times = Literal["service", "response", "synthetic", "unknown"]
"""What times are: from sending; from the instant a request was due; measured ones mixed with
invented ones, as wrk does; nobody said."""


@dataclass(frozen=True)
class Source:
    """Where figures stand.

    Attributes:
        name: Name of the file, or title of the document.
        place: Where in it: a section, a table, a line; empty when it holds nothing else.
        address: Where the document is to be had; empty when nobody said.
    """

    name: str
    place: str = ""
    address: str = ""


@dataclass(frozen=True)
class Figures:
    """One result.

    Attributes:
        source: Where it stands.
        tool: The tool that measured, with its version where it is said: `wrk 4.1.0`.
        subject: What was measured: name of a server or framework; empty when nobody said.
        endpoint: What was asked for: `/32768`; empty when nobody said.
        at: Which of several results of the same subject and endpoint it is, such as a second of a
            ramp or a number of a repetition; empty when there is one.
        model: Closed or open; a rate that was asked for makes it open.
        connections: Connections, or streams, that were asked for.
        in_flight_each: Requests in flight on each of them; 1 unless something else is said.
        rate_asked_per_s: Arrivals per second that were asked for; None in the closed model.
        timeout_s: A request that took longer had failed.
        duration_s: Length of the measurement.
        threads: Threads of the tool.
        requests: Requests, counted as the rate counts them.
        failures: Requests that were not answered, by the tool's names.
        wrong_answers: Answers that the tool says were wrong, such as those with a status of 500, by
            the tool's names.
        never_sent: Requests that were due and that the tool never sent.
        counts_failures: Whether the tool says how many failed, so that none said is none.
        right_ratio: Share of the requests that were right, where that is what was published.
        throughput_per_s: Requests per second, as it was printed.
        counting: What that rate counts.
        thread_throughput_per_s: Mean requests per second of one thread, as it was printed.
        time_per_request_s: Connections / throughput where a tool prints that as a time: worked out,
            not measured.
        times_s: Times by name, of `min`, `mean`, `stddev`, `p50`, …, `p99`, `p999`, `max`.
        times: What those times are.
        timed: Whose times they are.
        times_step_s: Step to which the times were rounded before they were printed.
        percentiles_step_s: Width of the stretch in which a percentile lies, where percentiles were
            read off a histogram.
        timed_requests: Requests behind the times, where that is said and is not all of them.
        body_bytes: Length of the body of an answer.
        shortest_bytes: Length of the shortest answer, head included.
        longest_bytes: Length of the longest answer, head included.
        received_bytes: Bytes received, heads included.
        received_per_s: Bytes received per second, as it was printed.
        link_bits_per_s: Speed of the network link between tool and server.
        server_cores: Cores that the server had.
        server_busy_cores: Mean of the cores that the server kept busy.
        driver_cores: Cores that the tool had.
        driver_busy_cores: Mean of the cores that the tool kept busy.
        notes: What a reader must know of these figures.
    """

    source: Source
    tool: str = ""
    subject: str = ""
    endpoint: str = ""
    at: str = ""
    model: Model = "closed"
    connections: float | None = None
    in_flight_each: float = 1.0
    rate_asked_per_s: float | None = None
    timeout_s: float | None = None
    duration_s: float | None = None
    threads: int | None = None
    requests: float | None = None
    failures: Mapping[str, float] = field(default_factory=dict[str, float])
    wrong_answers: Mapping[str, float] = field(default_factory=dict[str, float])
    never_sent: float | None = None
    counts_failures: bool = False
    right_ratio: float | None = None
    throughput_per_s: float | None = None
    counting: Counting = "unknown"
    thread_throughput_per_s: float | None = None
    time_per_request_s: float | None = None
    times_s: Mapping[str, float] = field(default_factory=dict[str, float])
    times: Times = "unknown"
    timed: Timed = "unknown"
    times_step_s: float = 0.0
    percentiles_step_s: float = 0.0
    timed_requests: float | None = None
    body_bytes: float | None = None
    shortest_bytes: float | None = None
    longest_bytes: float | None = None
    received_bytes: float | None = None
    received_per_s: float | None = None
    link_bits_per_s: float | None = None
    server_cores: float | None = None
    server_busy_cores: float | None = None
    driver_cores: float | None = None
    driver_busy_cores: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What to call this result in a sentence; the place or file when it has no name."""
        named = " ".join(part for part in (self.subject, self.endpoint, self.at) if part)
        return named or self.source.place or self.source.name

    @property
    def is_open(self) -> bool:
        """Whether requests came at a rate, so that connections may have been idle."""
        return self.model == "open" or self.rate_asked_per_s is not None or self.times == "response"

    @property
    def in_flight(self) -> float | None:
        """Requests in flight that were asked for; None when nobody said, or in the open model."""
        if self.connections is None or self.is_open:
            return None
        return self.connections * self.in_flight_each

    @property
    def unanswered(self) -> float:
        """Requests that were not answered, of all kinds."""
        return sum(self.failures.values())

    @property
    def wrong(self) -> float:
        """Answers that were wrong, of all kinds."""
        return sum(self.wrong_answers.values())

    @property
    def ended(self) -> float | None:
        """Requests that ended, answered or not; None when nobody said."""
        if self.requests is None:
            return None
        beside = 0.0 if self.counting == "ends" else self.unanswered
        return self.requests + beside + (self.wrong if self.counting == "right" else 0.0)

    @property
    def timed_per_s(self) -> float | None:
        """Requests per second whose times these are, as far as the counts tell."""
        if self.throughput_per_s is None or not self.ended or not self.requests:
            return self.throughput_per_s
        timed = self.ended - (0.0 if self.timed == "ends" else self.unanswered)
        return self.throughput_per_s * timed / self.requests

    @property
    def quantiles_step_s(self) -> float:
        """How much a percentile may be off, in either direction."""
        return max(self.times_step_s, self.percentiles_step_s)

    @property
    def quantiles_s(self) -> tuple[tuple[float, float], ...]:
        """Share of requests and the time that they kept, ascending; `min` is 0 and `max` is 1."""
        pairs = ((share(name), value) for name, value in self.times_s.items())
        return tuple(sorted((q, value) for q, value in pairs if q is not None))


def share(name: str) -> float | None:
    """The share of requests that a time's name stands for.

    Args:
        name: `min`, `p50`, `p99`, `p999` (which is 99.9 %), `max`.

    Returns:
        0 to 1; None when it is no percentile, as `mean` is none.
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
