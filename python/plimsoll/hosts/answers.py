"""What agents answer: of their host, of loads and their files, and of servers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.drivers.job import DriverResult
    from plimsoll.errors import DriverMissing, PlimsollError, StorageError
    from plimsoll.events import Progress
    from plimsoll.machine import Fact
    from plimsoll.recording import NetworkLink, PowerSources, RecordedServer
    from plimsoll.recording.readings import Reading
    from plimsoll.serving.server import ServerPlacement


@dataclass(frozen=True)
class HostFacts:
    """What the lab must know of a host before a load.

    Attributes:
        version: Version of Plimsoll.
        machine: Facts of the host.
        utc_ns: Its wall clock, nanoseconds since 1970.
        free_bytes: Free space where rows are written.
        kept_free_bytes: The same where rows stay; None where that is the same disk.
        rapl: What RAPL counts on it.
        database_error: Why PostgreSQL cannot be started there; None if it can.
        lacking: The load generators that are not installed there, by name, with their remedy.
    """

    version: str
    machine: dict[str, Fact]
    utc_ns: int
    free_bytes: int
    kept_free_bytes: int | None
    rapl: PowerSources
    database_error: PlimsollError | None = None
    lacking: Mapping[str, DriverMissing] = field(default_factory=dict[str, "DriverMissing"])


@dataclass(frozen=True)
class HostStatus:
    """How the load of a host stands.

    Attributes:
        zero_monotonic_ns: Its zero by the host's clock; None as long as the engine has not started.
        progress: What it reported last; None before that.
        has_ended: Whether nothing more comes.
        error: The error that ended it; None if there is none.
    """

    zero_monotonic_ns: int | None = None
    progress: Progress | None = None
    has_ended: bool = False
    error: PlimsollError | None = None


@dataclass(frozen=True)
class HostFile:
    """A file that a host hands over.

    Attributes:
        name: Its name.
        size_bytes: Its length.
        sha256: Its digest, in hexadecimal digits.
    """

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class HostResult:
    """What a host measured, beside its rows.

    Attributes:
        driven: What its engine gave back; instants are those of its own clock.
        readings: Every reading of its resources, and what the engine reported of itself.
        problems: What could not be read, and why.
        machine: Facts of the host.
        files: The files of the load generator.
        link: The interface that leads to the server; None when unknown.
    """

    driven: DriverResult
    readings: tuple[Reading, ...]
    problems: dict[str, str]
    machine: dict[str, Fact]
    files: tuple[HostFile, ...]
    link: NetworkLink | None


@dataclass(frozen=True)
class CountState:
    """How the counting of a load's rows stands.

    Attributes:
        has_ended: Whether it has ended.
        counts: What was counted within the holds, by name; empty until then.
        times: Every time of each kind as a file, by the name of the time.
        error: The error that ended it; None if there is none.
    """

    has_ended: bool = False
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    times: Mapping[str, HostFile] = field(default_factory=dict[str, "HostFile"])
    error: PlimsollError | None = None


@dataclass(frozen=True)
class Stayed:
    """Where the rows of a load are.

    Attributes:
        folder: Their folder on the host.
        error: Why they are not where they should be; None if they are.
    """

    folder: str
    error: StorageError | None = None


@dataclass(frozen=True)
class StepState:
    """How a step stands.

    Attributes:
        has_ended: Whether it has ended.
        given: What it gave.
        error: The error that ended it; None if there is none.
    """

    has_ended: bool = True
    given: object = None
    error: PlimsollError | None = None


@dataclass(frozen=True)
class StartedServer:
    """A server that was started.

    Attributes:
        place: Where it listens, and on which cores it runs.
        side: Its side of the recording.
        certificate: Its certificate, in PEM; empty without TLS.
    """

    place: ServerPlacement
    side: RecordedServer
    certificate: bytes = b""


@dataclass(frozen=True)
class ServerState:
    """How a server stands.

    Attributes:
        is_alive: Whether it runs.
        busy_cores: Cores that it keeps busy; None before the second reading.
        step: How the last step stands.
    """

    is_alive: bool
    busy_cores: float | None
    step: StepState
