"""Recording: what happened in one trial, beside its tables.

This is the content of `trial.json`. Instants are nanoseconds since the trial's zero, the first
instant of its first stage.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from plimsoll.published.figures import Figures

FORMAT = 1
"""Version of the format of a trial's folder."""


HOST = "local"
"""Name of the host of the driver where there is one only."""


@dataclass(frozen=True)
class RecordedStage:
    """One stage as it ran.

    Attributes:
        kind: `warm_up`, `ramp` or `hold`.
        start_ns: Its first instant.
        end_ns: Its end; the start of the next one.
        start: Level asked for at its beginning.
        end: Level asked for at its end.
        steps: Steps between them, as in `Stage`.
    """

    kind: Literal["warm_up", "ramp", "hold"]
    start_ns: int
    end_ns: int
    start: float
    end: float
    steps: int


@dataclass(frozen=True)
class Ending:
    """How a trial ended.

    Attributes:
        kind: `completed`, or the class of the error that ended it: `DiedUnderLoad`.
        message: The error's sentence; empty when completed.
        hint: What to do about it; may be empty.
    """

    kind: str = "completed"
    message: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Server:
    """The server's side of a trial.

    Attributes:
        address: Host and port it listened on.
        cores: Cores it was given; empty when it was not confined.
        workers: The number of cores it was told to use.
        start_s: From its start to its first right answer, in seconds.
        rest_rss_bytes: Memory of the process tree once the contract was asked, before the load.
        rest_pss_bytes: The same, with pages that several processes share counted once.
        listeners: Sockets listening on its port.
        backlog: Longest listen queue the kernel allows it; null when unknown.
        backlogs: The same of each listening socket on its own.
        backlog_asked: Listen queue that the contract has every application ask for; null for a
            server that ran already.
        somaxconn: The host's upper limit of it; null when unknown.
        exit_code: Of its first process; null when it had to be killed, negative for a signal.
        clean_stop: Whether it stopped by itself, in time, with a known exit code.
        killed: Processes that had to be killed to end it.
        link: The interface of this host that leads to it, `lo` when it is on this host; null when
            unknown.
        link_bits_per_s: Speed of that interface; null when there is none or it does not say.
        counted: What it counted itself over its whole life, by name; null when it does not count.
    """

    address: str
    cores: tuple[int, ...] = ()
    workers: int = 0
    start_s: float | None = None
    rest_rss_bytes: int | None = None
    rest_pss_bytes: int | None = None
    listeners: int | None = None
    backlog: int | None = None
    backlogs: tuple[int, ...] = ()
    backlog_asked: int | None = None
    somaxconn: int | None = None
    exit_code: int | None = None
    clean_stop: bool | None = None
    killed: int = 0
    link: str | None = None
    link_bits_per_s: float | None = None
    counted: dict[str, int] | None = None


@dataclass(frozen=True)
class Driver:
    """The driver's side of a trial.

    Attributes:
        name: `plimsoll`, `wrk`, …
        version: Its version.
        cores: Cores it was given.
        threads: Threads that put on load.
        ended_by: `schedule` (ran to its end), `interrupt`, `request_limit` or `storage`.
        cpu_s: Its own user and system time, in seconds.
        peak_rss_bytes: The most memory it held.
        connections_asked: The most connections the load asks for at one time.
        requests_lost_by_recorder: Rows that could not be kept; anything but 0 voids the trial.
        bodies_compared: Answers whose body was compared in full.
        sent: Requests that the driver's own counters say were handed to a connection.
        outcomes: How many requests ended how, by the driver's own counters.
        opened: Handshakes that completed, by the driver's own counters.
        refused: Attempts to connect that failed, by the driver's own counters.
        longest_pause_ns: The longest stop of one of its threads; null when not watched.
        calibrated_ceiling_per_s: Requests per second that as many threads could do at most on
            cores of their own, by the calibration of this host in the case most like this trial;
            null when the host was not calibrated.
        figures: What a foreign driver printed of its requests; null of our own engine.
        judged_by_figures: Whether a foreign driver wrote down no request, or less of each than its
            figures say, so that summary and checks go by these.
        command: The command line that a foreign driver was started with.
        notes: What a reader must know of the way this driver put on the load.
        connects_said: Whether the table of connections holds every attempt to connect.
        outcomes_said: Whether it says which requests were answered rightly; all count so otherwise.
        failures_said: Whether it says which requests had no answer; they are missing otherwise.
        instants_step_s: Step to which the driver rounded the instants of its requests down.
    """

    name: str
    version: str
    cores: tuple[int, ...]
    threads: int
    ended_by: str
    cpu_s: float | None = None
    peak_rss_bytes: int | None = None
    connections_asked: int | None = None
    requests_lost_by_recorder: int = 0
    bodies_compared: int = 0
    sent: int | None = None
    outcomes: dict[str, int] = field(default_factory=dict[str, int])
    opened: int | None = None
    refused: int | None = None
    longest_pause_ns: int | None = None
    calibrated_ceiling_per_s: float | None = None
    figures: Figures | None = None
    judged_by_figures: bool = False
    command: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    connects_said: bool = True
    outcomes_said: bool = True
    failures_said: bool = True
    instants_step_s: float = 0.0


@dataclass(frozen=True)
class Recording:
    """What happened in one trial; its rows are in the tables beside it.

    Attributes:
        format: Version of the format.
        trial: Id of the trial.
        order: Position in the plan.
        framework: Name of the framework: `go`.
        variant: Its variant; may be empty.
        language: Its language.
        endpoint: Name of the endpoint.
        load: The load as asked, field by field as in `Load`.
        repetition: Number of the block, from 1.
        driver_name: The driver asked for.
        seed: The trial's seed.
        zero_utc: The trial's zero by the wall clock, ISO 8601.
        stages: The stages as they ran.
        requests: Names of the kinds of request; the column `request` is an index into it.
        machines: Facts of each host by its name.
        versions: Version of each part: `plimsoll`, the framework, its language.
        clock_offsets_ns: Host to offset of its clock against the first host.
        ending: How it ended.
        server: The server's side; null when it never started.
        driver: The driver's side; null when it never ran.
        contract: Sentences on what was wrong before and after the load; empty lists when right.
        notes: What the framework's folder says a reader must know.
        limits: Limits of checks that the campaign changed.
        request_bytes: Length of each kind of request in `requests`, head and body; empty when
            nobody said.
        request_weights: Share of each of them among all, in any unit; empty when nobody said.
    """

    trial: str
    order: int
    framework: str
    variant: str
    language: str
    endpoint: str
    load: dict[str, Any]
    repetition: int
    driver_name: str
    seed: int
    zero_utc: str
    stages: tuple[RecordedStage, ...]
    requests: tuple[str, ...]
    machines: dict[str, dict[str, Any]]
    versions: dict[str, str]
    clock_offsets_ns: dict[str, int]
    ending: Ending
    server: Server | None
    driver: Driver | None
    contract: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    notes: tuple[str, ...] = ()
    limits: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    request_bytes: tuple[int, ...] = ()
    request_weights: tuple[float, ...] = ()
    format: int = FORMAT

    @property
    def title(self) -> str:
        """Framework and variant as people read them."""
        return f"{self.framework} {self.variant}" if self.variant else self.framework

    @property
    def found_running(self) -> bool:
        """Whether the load was put on a server that ran already, about which no contract speaks."""
        return self.server is not None and self.server.start_s is None

    @property
    def holds(self) -> tuple[RecordedStage, ...]:
        """The stages that are summarised."""
        return tuple(stage for stage in self.stages if stage.kind == "hold")
