"""What all trials of a campaign have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.drivers.job import Drive
from plimsoll.machine import Fact

if TYPE_CHECKING:
    from plimsoll.databases.running import RunningDatabase


@dataclass(frozen=True)
class RunConfig:
    """What all trials of a campaign have in common.

    Attributes:
        server_cores: Cores of the server; empty for all.
        driver_cores: Cores of the driver, one thread on each; empty for threads anywhere.
        driver_threads: Threads of the driver when it is given no cores.
        machine: Facts of this host; empty has them read when the load is over.
        body_sample_ratio: Share of the responses whose body is compared in full.
        limits: Limits of checks that the campaign changes.
        idle_s: For how long power without load is read before and after each load.
        power: Address of the power meter; empty for none.
        turn_s: Length of a turn, in seconds; 0 for trials that run one after the other.
        notes: What a reader of the results must know about all of them.
        drive: Generates the load on other hosts; None for the trial's driver, on this one.
        database: PostgreSQL for the endpoints that need it; None if none of them does.
    """

    server_cores: tuple[int, ...] = ()
    driver_cores: tuple[int, ...] = ()
    driver_threads: int = 1
    machine: dict[str, Fact] = field(default_factory=dict[str, Fact])
    body_sample_ratio: float = 0.01
    limits: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    idle_s: float = 0.0
    power: str = ""
    turn_s: float = 0.0
    notes: tuple[str, ...] = ()
    drive: Drive | None = None
    database: RunningDatabase | None = None
