"""What all trials of a campaign have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.drivers.job import Drive
from plimsoll.drivers.turning import Turning
from plimsoll.machine import Fact
from plimsoll.processes.ports import LOOPBACK
from plimsoll.provenance import Part
from plimsoll.recording import HOST, Recording
from plimsoll.recording.compliance import ComplianceResult
from plimsoll.serving.place import ServerPlace

if TYPE_CHECKING:
    from plimsoll.databases.running import RunningDatabase
    from plimsoll.serving.database_host import DatabaseHost


def ignored(_: Recording | None) -> None:
    """Requires nothing."""


@dataclass(frozen=True)
class RunConfig:
    """What all trials of a campaign have in common.

    Attributes:
        server_cores: Cores of the server; empty for all.
        driver_cores: Cores of the driver, one thread on each; empty for threads anywhere.
        driver_threads: Threads of the driver when it is given no cores.
        machine: Facts of the host of the server; empty has those of this one read when the load is
            over.
        body_sample_ratio: Share of the responses whose body is compared in full.
        limits: Limits of checks that the campaign changes.
        idle_s: For how long power without load is read before and after each load.
        reads_costs: Whether the server without load is read in that time as well, and its system
            calls are counted in the warm-up.
        has_net_power: Whether power above that without load is requested.
        power: Address of the power meter; empty for none.
        turn_s: Length of a turn, in seconds; 0 for trials that run one after the other.
        shortest_turn_s: Turns of servers that respond fast are as short as this, in seconds; 0 for
            `turn_s` whatever they do.
        notes: What a reader of the results must know about all of them.
        drive: Generates the load on other hosts; None for the trial's driver, on this one.
        turning: The same for a load that takes turns.
        serve: Where servers run; None for this host, with the load generator.
        ready: Called before each trial with the one before, None for the first: requires that every
            other host is there.
        hosts: What of the measurement is on which host; empty for all of it on this one.
        has_gate: Whether each framework passes the compliance gate before its first load.
        compliance: Results of the compliance gate by the id of the trial whose recording keeps
            them.
        database: PostgreSQL for the endpoints that need it; None if none of them does.
        database_host: Another host that runs it; None for this one.
        upstream_cores: Cores of the upstream, for endpoints that need one; empty for all.
        upstream_address: Where upstreams listen, in numbers.
    """

    server_cores: tuple[int, ...] = ()
    driver_cores: tuple[int, ...] = ()
    driver_threads: int = 1
    machine: dict[str, Fact] = field(default_factory=dict[str, Fact])
    body_sample_ratio: float = 0.01
    limits: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    idle_s: float = 0.0
    reads_costs: bool = False
    has_net_power: bool = True
    power: str = ""
    turn_s: float = 0.0
    shortest_turn_s: float = 0.0
    notes: tuple[str, ...] = ()
    drive: Drive | None = None
    turning: Turning | None = None
    has_gate: bool = False
    compliance: Mapping[str, tuple[ComplianceResult, ...]] = field(
        default_factory=dict[str, tuple[ComplianceResult, ...]]
    )
    serve: ServerPlace | None = None
    ready: Callable[[Recording | None], None] = ignored
    hosts: tuple[Part, ...] = ()
    database: RunningDatabase | None = None
    database_host: DatabaseHost | None = None
    upstream_cores: tuple[int, ...] = ()
    upstream_address: str = LOOPBACK

    @property
    def server_host(self) -> str:
        """Name of the host on which servers run."""
        return HOST if self.serve is None else self.serve.host

    @property
    def place(self) -> ServerPlace:
        """Where servers run."""
        if self.serve is not None:
            return self.serve
        from plimsoll.serving import here  # noqa: PLC0415 - a load starts no server

        return here.LocalHost()
