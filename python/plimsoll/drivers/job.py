"""One drive: what a driver is, what it is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from plimsoll.campaign.load import Load
from plimsoll.campaign.requests import Exchange
from plimsoll.campaign.tls import Tls
from plimsoll.errors import DriverMissing
from plimsoll.events import Progress
from plimsoll.machine import Fact
from plimsoll.processes.interruption import Interruption
from plimsoll.recording import Driver, HostDriver, RecordedStage
from plimsoll.recording.readings import Reading
from plimsoll.tool_output.reported import ReportedStatistics


@dataclass(frozen=True)
class LoadPart:
    """The part of a load that one of several hosts generates: its threads, of those of all hosts.

    Attributes:
        first: Number of its first thread.
        of: Threads of all hosts together.
        start_monotonic_ns: Zero of the load by CLOCK_MONOTONIC of that host.
    """

    first: int
    of: int
    start_monotonic_ns: int


@dataclass(frozen=True)
class DriverJob:
    """What a driver is given.

    Attributes:
        load: How much load, and when.
        exchanges: The requests, and their expected responses.
        address: Address of the server: `127.0.0.1:8080`, `unix:/run/app.sock`.
        cores: Cores of the driver, one thread on each; empty for threads anywhere.
        seed: Seeds all that is drawn.
        body_sample_ratio: Share of the responses whose body is compared in full.
        into: Folder that its files are written to.
        threads: Threads of the driver when it is given no cores.
        tls: TLS to the server; None for plain TCP.
        part: The part of the load that is generated here; None for all of it, at once.
        driver: Name of the driver.
    """

    load: Load
    exchanges: tuple[Exchange, ...]
    address: str
    cores: tuple[int, ...]
    seed: int
    body_sample_ratio: float
    into: Path
    threads: int = 1
    tls: Tls | None = None
    part: LoadPart | None = None
    driver: str = "plimsoll"


@dataclass(frozen=True)
class DriverCallbacks:
    """Callbacks while a driver works.

    Attributes:
        started: Gets the id of the process that the driver's processes are below.
        zero: Gets the zero of the load by CLOCK_MONOTONIC, in nanoseconds.
        progress: Gets the progress once a second; returns whether to go on.
        interruption: Lets the driver end cleanly upon Ctrl-C.
    """

    started: Callable[[int], None]
    zero: Callable[[int], None]
    progress: Callable[[Progress], bool]
    interruption: Interruption


@dataclass(frozen=True)
class HostRows:
    """Files that a driver wrote on one of several hosts.

    Attributes:
        host: Name of the host.
        files: Copies of the files, in the trial's folder.
        zero_utc_ns: Zero of the trial by the wall clock of that host, nanoseconds since 1970.
    """

    host: str
    files: tuple[Path, ...]
    zero_utc_ns: int


@dataclass(frozen=True)
class Rows:
    """Files in which a driver wrote each of its requests.

    Attributes:
        reader: `NAME` of what reads them, in `intake.READERS`.
        files: The files, in the trial's folder; they are removed once they are tables.
        step_ns: Step to which the tool rounds instants down; the trial's zero is rounded with them.
        hosts: Which of the files are of which host; empty where one host generated the load.
    """

    reader: str
    files: tuple[Path, ...]
    step_ns: int = 1
    hosts: tuple[HostRows, ...] = ()


@dataclass(frozen=True)
class DriverResult:
    """What a driver gives back, beside its files.

    Attributes:
        driver: The driver's side of the recording.
        zero_monotonic_ns: Zero of the load by CLOCK_MONOTONIC.
        zero_utc_ns: The same by the wall clock, nanoseconds since 1970.
        stages: The stages as they ran.
        readings: What it reported of itself each second, as readings of the scope `driver`.
        figures: What it printed of its requests; None where it leaves the engine's records.
        rows: The files in which it wrote each request; None where it wrote none, or these records.
        hosts: The drivers of several hosts, each of which left its records in a folder of its name;
            empty for one on this host.
        machines: Facts of these hosts.
    """

    driver: Driver
    zero_monotonic_ns: int
    zero_utc_ns: int
    stages: tuple[RecordedStage, ...]
    readings: tuple[Reading, ...] = field(repr=False, default=())
    figures: ReportedStatistics | None = None
    rows: Rows | None = None
    hosts: tuple[HostDriver, ...] = ()
    machines: Mapping[str, dict[str, Fact]] = field(default_factory=dict[str, dict[str, Fact]])


Drive = Callable[[DriverJob, DriverCallbacks], DriverResult]
"""Puts on a load and waits for its end."""


class DriverModule(Protocol):
    """What a module of `drivers.tools` has."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a constant of the module
        """Its name in campaigns."""
        ...

    @property
    def KEEPS_ROWS(self) -> bool:  # noqa: N802 - a constant of the module
        """Whether it writes down all of each request; figures that it prints do not add up."""
        ...

    def needs(self) -> DriverMissing | None:
        """What must be installed before it can drive, as an error; None when all is here."""
        ...

    def version(self) -> str:
        """Its version; empty if it prints none. Call it only if nothing is missing."""
        ...

    def refuses(self, load: Load, exchanges: tuple[Exchange, ...]) -> str:
        """Why it cannot generate a load, in one sentence; empty when it can."""
        ...

    def drive(self, drive: DriverJob, watch: DriverCallbacks) -> DriverResult:
        """Puts on the load and waits for its end."""
        ...
