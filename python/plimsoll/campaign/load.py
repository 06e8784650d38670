"""Loads: how much is asked of a server, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

StageKind = Literal["warm_up", "ramp", "hold"]
Model = Literal["closed", "open"]
Arrivals = Literal["constant", "poisson"]

MOST_PIPELINED = 1024
"""The most requests that the engine has in flight on one connection."""


@dataclass(frozen=True)
class Stage:
    """A stretch of a load.

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


@dataclass(frozen=True)
class Load:
    """A load: stages one after the other.

    Attributes:
        name: Name in the campaign.
        model: `closed` (a number of connections) or `open` (a schedule of arrivals).
        stages: The stages in order; at least one is a hold.
        arrivals: Open model: how arrivals are spaced.
        connections: Open model: size of the pool of connections; 0 when closed.
        keep_alive: Whether a connection carries more than one request.
        requests_per_connection: A connection is closed after this many; None is no limit.
        pipeline: Requests that may be in flight on one connection; 1 waits for each answer.
        think_time_s: Closed model: pause between an answer and the next request, in seconds.
        timeout_s: A request (and an attempt to connect) fails after this long, in seconds.
        request_limit: Closed model: end after this many requests; None is no limit.
        threads: Threads of a driver that takes a number of them; None leaves it to the driver. Our
            engine has one on each of its cores.
        server_cores: Cores of the server under this load; None for those of the campaign.
    """

    name: str
    model: Model
    stages: tuple[Stage, ...]
    arrivals: Arrivals = "constant"
    connections: int = 0
    keep_alive: bool = True
    requests_per_connection: int | None = None
    pipeline: int = 1
    think_time_s: float = 0.0
    timeout_s: float = 10.0
    request_limit: int | None = None
    threads: int | None = None
    server_cores: tuple[int, ...] | None = None

    @property
    def duration_s(self) -> float:
        """Length of all stages together, in seconds."""
        return sum(stage.duration_s for stage in self.stages)

    @property
    def peak_connections(self) -> int:
        """The most connections that are asked for at one time."""
        if self.model == "open":
            return self.connections
        return max(int(max(stage.start, stage.end)) for stage in self.stages)
