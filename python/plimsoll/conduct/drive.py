"""One drive: what a driver is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.campaign.load import Load
from plimsoll.campaign.requests import Exchange
from plimsoll.conduct.events import Progress
from plimsoll.conduct.interruption import Interruption
from plimsoll.conduct.scope import Reading
from plimsoll.recording import Driver, RecordedStage


@dataclass(frozen=True)
class Drive:
    """What a driver is given.

    Attributes:
        load: How much is asked, and when.
        exchanges: What is asked, and what is expected in answer.
        address: Address and port of the server, both as numbers: `127.0.0.1:8080`.
        cores: Cores of the driver, one thread on each; empty for threads anywhere.
        seed: Seeds all that is drawn.
        body_sample_ratio: Share of the answers whose body is compared in full.
        into: Folder that its files are written to.
        threads: Threads of the driver when it is given no cores.
    """

    load: Load
    exchanges: tuple[Exchange, ...]
    address: str
    cores: tuple[int, ...]
    seed: int
    body_sample_ratio: float
    into: Path
    threads: int = 1


@dataclass(frozen=True)
class Watch:
    """Who is told while a driver works.

    Attributes:
        started: Told the number of the process that the driver's processes are below.
        zero: Told the zero of the load by CLOCK_MONOTONIC, in nanoseconds.
        progress: Told how it stands, once a second; says whether to go on.
        interruption: Lets the driver end cleanly upon Ctrl-C.
    """

    started: Callable[[int], None]
    zero: Callable[[int], None]
    progress: Callable[[Progress], bool]
    interruption: Interruption


@dataclass(frozen=True)
class Driven:
    """What a driver gives back, beside its files.

    Attributes:
        driver: The driver's side of the recording.
        zero_monotonic_ns: Zero of the load by CLOCK_MONOTONIC.
        zero_utc_ns: The same by the wall clock, nanoseconds since 1970.
        stages: The stages as they ran.
        readings: What it said of itself each second, as readings of the scope `driver`.
    """

    driver: Driver
    zero_monotonic_ns: int
    zero_utc_ns: int
    stages: tuple[RecordedStage, ...]
    readings: tuple[Reading, ...] = field(repr=False, default=())
