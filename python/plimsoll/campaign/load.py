"""Loads: stages with a number of connections or an arrival rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, ClassVar, Literal

from plimsoll import wording

if TYPE_CHECKING:
    from collections.abc import Iterator

StageKind = Literal["warm_up", "ramp", "hold"]
Model = Literal["closed", "open"]
Arrivals = Literal["constant", "poisson"]
Protocol = Literal["http1", "http2", "websocket"]
Message = Literal["text", "binary"]
Service = Literal["https", "h2", "h2c"]
"""What a server may serve besides HTTP/1.1 without TLS; RFC 7540, 3.1, names the last two."""

SERVICES: dict[Service, str] = {
    "https": "HTTP/1.1 over TLS",
    "h2": "HTTP/2 over TLS",
    "h2c": "HTTP/2 without TLS",
}
"""What each service is, as people read it."""

OVER_TLS: tuple[Service, ...] = ("https", "h2")
"""Services over TLS."""

OF_HTTP2: tuple[Service, ...] = ("h2", "h2c")
"""Services by HTTP/2."""

HANDSHAKE_S = 0.01
"""Time that a full handshake of TLS may take client and server on one core, in seconds."""

MOST_PIPELINED = 1024
"""The most requests that the engine has in flight on one connection."""

MOST_FOLLOWED = 1000
"""The most redirects that are followed for one request."""

MOST_STREAMS = 1024
"""The most streams of HTTP/2 that the engine has open on one connection."""

MOST_THREADS = 1024
"""The most threads that the engine takes."""

HIGHEST_LEVEL = 10_000_000
"""The most connections, or arrivals per second, that the engine accepts: beyond any host."""

MOST_STEPS = 1_000_000
"""The most steps of one stage."""
STRAIGHT = 0
"""Steps of a stage that goes from level to level in a straight line."""

MOST_REQUESTS = 10**15
"""The most requests that a load may be limited to."""

COUNTED_S = 3600.0
"""A load that is to end after a number of requests alone ends after this long, in seconds."""

MOST_PER_CONNECTION = 2**32 - 1
"""The highest limit of requests per connection; the engine stores it in four bytes."""

LONGEST_S = 30 * 24 * 3600.0
"""The longest load, timeout, think time or pause, in seconds: 30 days."""

SHORTEST_S = 1e-9
"""The shortest stage or timeout, in seconds: the engine counts nanoseconds."""


@dataclass(frozen=True)
class Stage:
    """A part of a load.

    Attributes:
        kind: `warm_up`, `ramp` or `hold`; only holds are summarised.
        duration_s: Length in seconds.
        start: Level at its beginning: connections when closed, arrivals per second when open.
        end: Level at its end, in the unit of `start`.
        steps: Number of equal steps from `start` to `end`; 0 is a straight line. In a stage of
            `k` steps the level during step `i` (from 1) is `start + (end - start) · i / k`.
    """

    kind: StageKind
    duration_s: float
    start: float
    end: float
    steps: int = 1

    @property
    def mean_level(self) -> float:
        """Mean level, in the unit of `start`."""
        return mean_level(self.start, self.end, self.steps)


def mean_level(start: float, end: float, steps: int) -> float:
    """Mean level of a stage, in the unit of its levels.

    The mean of i / k over the steps 1 to k is (k + 1) / 2k; that of a straight line is a half.

    Args:
        start: Level at its beginning.
        end: Level at its end.
        steps: Number of equal steps; 0 is a straight line.
    """
    share = (steps + 1) / (2 * steps) if steps else 0.5
    return start + (end - start) * share


@dataclass(frozen=True)
class ExcessiveValue:
    """A value of a load that is too large for the engine.

    Attributes:
        key: Its key in a campaign file; that of a stage is `at` or `steps`.
        stage: Index of the stage, from 0; None for the load as a whole.
        amount: The value.
        most: The largest allowed value.
        unit: Unit of both; empty for a count.
    """

    key: str
    stage: int | None
    amount: float
    most: float
    unit: str = ""

    @property
    def message(self) -> str:
        """The error message."""
        return (
            f"`{self.key}` is too large: "
            f"`{wording.exact(self.amount)}`{self.unit and f' {self.unit}'}"
        )

    @property
    def hint(self) -> str:
        """The largest allowed value."""
        return f"`{wording.count(self.most)}`{self.unit and f' {self.unit}'} is the maximum"


@dataclass(frozen=True)
class Load:
    """A load: stages one after the other.

    Attributes:
        name: Name in the campaign.
        model: `closed` (a number of connections) or `open` (a schedule of arrivals).
        stages: The stages in order; at least one is a hold.
        arrivals: Open model: how arrivals are spaced.
        connections: Open model: size of the pool of connections; 0 when closed.
        tolerance_s: Open model: how much later than due the engine may send a request, in seconds,
            so that one of its wake-ups serves several.
        keep_alive: Whether a connection carries more than one request.
        requests_per_connection: A connection is closed after this many; None is no limit.
        protocol: What is spoken: `http1`, `http2` with a server that is known to speak it, or
            `websocket`, where a request is one message and its response the next one.
        message: WebSocket: what messages are sent as.
        pipeline: HTTP/1 and WebSocket: requests that may be in flight on one connection; 1 waits
            for each response.
        follow: HTTP/1: redirects within the origin that are followed for one request, on the same
            connection; 0 follows none.
        streams: HTTP/2: streams that may be open on one connection, each with one request.
        events: Whether each event of a response, a `text/event-stream`, is what a request is to any
            other load: it is awaited from the event before it.
        tls: Whether connections are secured by TLS.
        think_time_s: Closed model: pause between a response and the next request, in seconds.
        timeout_s: A request (and an attempt to connect) fails after this long, in seconds.
        request_limit: Closed model: end after this many requests; None is no limit. Open model: so
            many arrive until the schedule ends, because it was given by their number; None where
            it was given by its length.
        threads: Threads of a driver with a configurable number; None for its default. The engine
            has one per core.
        server_cores: Cores of the server under this load; None for those of the campaign.
    """

    name: str
    model: Model
    stages: tuple[Stage, ...]
    arrivals: Arrivals = "constant"
    connections: int = 0
    tolerance_s: float = 0.0
    keep_alive: bool = True
    requests_per_connection: int | None = None
    protocol: Protocol = "http1"
    message: Message = "text"
    pipeline: int = 1
    follow: int = 0
    streams: int = 1
    events: bool = False
    tls: bool = False
    think_time_s: float = 0.0
    timeout_s: float = 10.0
    request_limit: int | None = None
    threads: int | None = None
    server_cores: tuple[int, ...] | None = None

    @property
    def is_timed(self) -> bool:
        """Whether it ends after some time, if not after some requests before."""
        is_scheduled = self.model == "open" or self.request_limit is None
        return is_scheduled or self.stages[-1].duration_s != COUNTED_S

    @property
    def duration_s(self) -> float:
        """Length of all stages together, in seconds."""
        return sum(stage.duration_s for stage in self.stages)

    @property
    def peak_connections(self) -> int:
        """The most connections requested at one time."""
        if self.model == "open":
            return self.connections
        return max(int(max(stage.start, stage.end)) for stage in self.stages)

    @property
    def in_flight_each(self) -> int:
        """Requests that may be in flight on one connection, whatever the protocol calls them."""
        return self.pipeline * self.streams

    @property
    def service(self) -> Service | None:
        """What a server must serve for it; None for HTTP/1.1 without TLS, which all serve."""
        if self.protocol == "http2":
            return "h2" if self.tls else "h2c"
        return "https" if self.tls else None

    @property
    def keeps_connections(self) -> bool:
        """Whether connections stay open for any number of requests."""
        return self.keep_alive and not self.requests_per_connection

    @property
    def is_saturating(self) -> bool:
        """Whether it requests as much as its connections can get."""
        return self.model == "closed" and not self.think_time_s and not self.events

    @property
    def before_holds_s(self) -> float:
        """Length of the stages before the first hold, in seconds."""
        before = takewhile(lambda stage: stage.kind != "hold", self.stages)
        return sum(stage.duration_s for stage in before)

    def on(self, protocol: Protocol) -> Load:
        """This load for requests that are made by a protocol of their own, as WebSocket is."""
        return self if protocol == "http1" else replace(self, protocol=protocol)

    def warmed(self, least_s: float) -> Load:
        """This load with a warm-up of that length at least, where it has one at all.

        By TLS it is long enough for its handshakes besides: its connections are open before
        anything is measured.
        """
        first, *others = self.stages
        if self.tls:
            least_s = max(least_s, self.peak_connections * HANDSHAKE_S)
        if first.kind != "warm_up" or first.duration_s >= least_s:
            return self
        return replace(self, stages=(replace(first, duration_s=least_s), *others))

    def warming(self, length_s: float) -> Load:
        """A load that only warms up, as this one begins, for so long.

        An open load has a closed one on its connections: a low rate would warm up nothing.
        """
        if self.model == "closed":
            first = replace(self.stages[0], duration_s=length_s)
            return replace(self, stages=(first,), request_limit=None)
        level = float(self.connections)
        return replace(
            self,
            model="closed",
            stages=(Stage("warm_up", length_s, level, level),),
            arrivals="constant",
            connections=0,
            tolerance_s=0.0,
            request_limit=None,
        )


@dataclass(frozen=True)
class UnknownLoad:
    """The load of an imported recording, which does not contain what was requested.

    Class variables are what code may assume of such a load.

    Attributes:
        name: Name of the load in results.
        model: Always `unknown`.
    """

    name: str
    model: Literal["unknown"] = "unknown"

    stages: ClassVar[tuple[Stage, ...]] = ()
    connections: ClassVar[int] = 0
    peak_connections: ClassVar[None] = None
    keeps_connections: ClassVar[bool] = True
    protocol: ClassVar[Protocol] = "http1"
    in_flight_each: ClassVar[int] = 1
    follow: ClassVar[int] = 0
    events: ClassVar[bool] = False
    tls: ClassVar[bool] = False
    timeout_s: ClassVar[None] = None
    is_saturating: ClassVar[bool] = False


def excesses(load: Load) -> Iterator[ExcessiveValue]:
    """Every value of a load that is too large for the engine."""
    wholes = (
        ("connections", load.connections, HIGHEST_LEVEL, ""),
        ("pipeline", load.pipeline, MOST_PIPELINED, ""),
        ("streams", load.streams, MOST_STREAMS, ""),
        ("threads", load.threads, MOST_THREADS, ""),
        ("request_limit", load.request_limit, MOST_REQUESTS, ""),
        ("requests_per_connection", load.requests_per_connection, MOST_PER_CONNECTION, ""),
        ("timeout", load.timeout_s, LONGEST_S, "s"),
        ("think_time", load.think_time_s, LONGEST_S, "s"),
        ("tolerance", load.tolerance_s, LONGEST_S, "s"),
        ("stages", load.duration_s, LONGEST_S, "s"),
    )
    found = [(key, None, amount, most, unit) for key, amount, most, unit in wholes]
    for place, stage in enumerate(load.stages):
        found += [
            ("at", place, max(stage.start, stage.end), HIGHEST_LEVEL, ""),
            ("steps", place, stage.steps, MOST_STEPS, ""),
        ]
    for key, place, amount, most, unit in found:
        if amount is not None and amount > most:
            yield ExcessiveValue(key, place, amount, most, unit)
