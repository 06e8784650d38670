"""Capacity: the maximum rate of engine and reference server on this host, and the cost per request.

If the reference server is the bottleneck, the engine's own capacity follows from its CPU time per
request. That errs on the safe side: a saturated engine finds more to do in each turn, and spends
less per request.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from plimsoll import machine, wording
from plimsoll.calibration.bench import HTTP1, Spoken, closed
from plimsoll.capacity import EngineCapacity
from plimsoll.errors import LimitTooLow
from plimsoll.processes.tree import TICKS_PER_S, ProcessTree
from plimsoll.sampling.samplers import cpu
from plimsoll.sampling.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.calibration.bench import Bench, Reference
    from plimsoll.events import Progress
    from plimsoll.recording import Driver

CONNECTIONS = (64, 1000, 9000)
PATHS = ("/empty", "/2048", "/32768")
QUICK = ((64, "/empty"), (64, "/2048"), (1000, "/2048"))
"""Connections and path of each case of the quick calibration."""

BY_PROTOCOL = (
    Spoken("TLS", "https"),
    Spoken("HTTP/2", "h2c", "http2"),
    Spoken("HTTP/2 × 8", "h2c", "http2", streams=8),
    Spoken("HTTP/2 over TLS × 8", "h2", "http2", streams=8),
    Spoken("WebSocket", protocol="websocket"),
)
"""What else is measured, with the connections and path of `CASE_BY_PROTOCOL`; not in a quick one.
"""

CASE_BY_PROTOCOL = (64, "/2048")

WARM_UP_S = 1.0
"""Length of the warm-up in seconds, in which connections open."""

BACKLOG = "16384"
"""Listen backlog of the reference server, since all connections are opened at once."""


@dataclass(frozen=True)
class OmittedCase:
    """A case that exceeds a limit of this host.

    Attributes:
        connections: Connections it needs.
        reason: The limit.
        remedy: What to do about it.
    """

    connections: int
    reason: str
    remedy: str


@dataclass(frozen=True)
class CapacitiesFound:
    """The capacities, and the skipped cases.

    Attributes:
        reached: The measured capacities.
        left: Cases that exceed a limit of this host.
    """

    reached: tuple[EngineCapacity, ...]
    left: tuple[OmittedCase, ...]


@dataclass(frozen=True)
class Instant:
    """Counters of both sides at one time.

    Attributes:
        at_s: The time in seconds since the zero of the load.
        requests: Requests that had ended.
        driver_cpu_s: CPU time of the engine so far.
        server_cpu_s: CPU time of the reference server so far.
    """

    at_s: float
    requests: int
    driver_cpu_s: float
    server_cpu_s: float


@dataclass
class Clocks:
    """Reads the CPU time of both sides at each progress report of the engine.

    Attributes:
        server: Processes of the server.
        driver: Processes of the engine; None until it is started.
        instants: The readings so far.
    """

    server: Scope
    driver: Scope | None = None
    instants: list[Instant] = field(default_factory=list[Instant])

    def watch(self, supervisor: int) -> None:
        """Sets the supervisor of the engine."""
        self.driver = Scope("driver", ProcessTree(supervisor, with_root=False))

    def read(self, now: Progress) -> None:
        """Reads both."""
        if self.driver is not None:
            times = (_cpu_s(self.driver), _cpu_s(self.server))
            self.instants.append(Instant(now.at_s, now.requests_ended, *times))


def measured(bench: Bench, seconds: float, *, quick: bool) -> CapacitiesFound:
    """Measures every case within the limits of this host.

    Args:
        bench: The bench.
        seconds: Length of each measurement in seconds, after its warm-up.
        quick: Whether to measure only a few.
    """
    every = [(connections, path) for path in PATHS for connections in CONNECTIONS]
    left = tuple(_left_out())
    too_many = {one.connections for one in left}
    cases = [case for case in (QUICK if quick else every) if case[0] not in too_many]
    with bench.reference("--backlog", BACKLOG) as reference:
        reached = [_measured(reference, *case, seconds) for case in cases]
    if not quick and CASE_BY_PROTOCOL[0] not in too_many:
        for spoken in BY_PROTOCOL:
            with bench.reference("--backlog", BACKLOG, spoken=spoken) as reference:
                reached.append(_measured(reference, *CASE_BY_PROTOCOL, seconds))
    return CapacitiesFound(tuple(reached), left)


def _left_out() -> Iterator[OmittedCase]:
    machine.raise_open_files()
    for connections in CONNECTIONS:
        try:
            machine.check_connections(connections)
        except LimitTooLow as error:
            yield OmittedCase(connections, error.message, error.hint)


def _measured(reference: Reference, connections: int, path: str, seconds: float) -> EngineCapacity:
    by = "" if reference.spoken == HTTP1 else f", by {reference.spoken.name}"
    reference.bench.tell(f"capacity at {wording.count(connections)} connections, {path}{by}")
    clocks = Clocks(reference.scope)
    load = closed(connections, seconds, WARM_UP_S)
    driven = reference.drive(load, path, started=clocks.watch, progress=clocks.read)
    instants = _with_end(clocks.instants, driven.driver)
    reached = engine_capacity(instants, connections, driven.driver.threads, _cores(reference))
    made = reference.spoken.by(load)
    return replace(
        reached,
        response_bytes=driven.response_bytes,
        protocol=made.protocol,
        tls=made.tls,
        in_flight_each=made.in_flight_each,
    )


def _with_end(instants: list[Instant], driver: Driver) -> list[Instant]:
    """The readings; the last one uses the engine's own CPU time, since it may have ended."""
    *before, last = instants
    return [*before, replace(last, driver_cpu_s=driver.cpu_s or last.driver_cpu_s)]


def engine_capacity(
    instants: Sequence[Instant], connections: int, threads: int, cores: int
) -> EngineCapacity:
    """The capacity measured after the warm-up.

    Args:
        instants: In order of time, one of them at the end of the warm-up and one at the end.
        connections: Open connections.
        threads: Threads of the engine.
        cores: Cores of the server.
    """
    after = [one for one in instants if one.at_s >= WARM_UP_S - _EARLY_S]
    first, last = after[0], after[-1]
    seconds = max(last.at_s - first.at_s, _EARLY_S)
    requests = max(last.requests - first.requests, 1)
    driver_s = last.driver_cpu_s - first.driver_cpu_s
    server_s = last.server_cpu_s - first.server_cpu_s
    return EngineCapacity(
        connections=connections,
        response_bytes=0.0,
        throughput_per_s=requests / seconds,
        threads=threads,
        cpu_per_request_s=max(driver_s, _TICK_S) / requests,
        driver_busy_ratio=driver_s / seconds / threads,
        server_busy_ratio=server_s / seconds / cores,
    )


_EARLY_S = 0.1
"""How early a progress report of the engine may be, in seconds."""

_TICK_S = 1 / TICKS_PER_S
"""Resolution of the kernel's CPU time in seconds."""


def _cores(reference: Reference) -> int:
    return len(reference.bench.server_cores or machine.allowed_cores())


def _cpu_s(scope: Scope) -> float:
    if scope.tree is not None:
        scope.tree.refresh()
    return sum(cpu.read(scope).values())
