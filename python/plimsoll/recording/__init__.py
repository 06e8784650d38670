"""Recordings: the content of `trial.json`, the facts about a trial besides its tables.

Timestamps are nanoseconds since the trial's zero, the beginning of its first stage.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal

from plimsoll import addresses
from plimsoll.campaign.load import Load, StageKind, UnknownLoad, mean_level
from plimsoll.machine import Fact
from plimsoll.provenance import Provenance
from plimsoll.recording.compliance import ComplianceResult
from plimsoll.recording.tls import NegotiatedTls, RequestedTls
from plimsoll.recording.turns import Turn
from plimsoll.tool_output.reported import ReportedStatistics

FORMAT = 1
"""Version of the format of a trial's folder."""


Origin = Literal["campaign", "load", "import"]
"""Source of a recording: a campaign, `plimsoll load`, or the files of another tool."""

UsersBound = Literal["certain", "likely", "none"]
"""How sure it is that no more requests are in flight than users are active: `certain` where each
waits for its response, `likely` where some may send several at once, `none` where the count lacks
some."""

YARDSTICK = "reference"
"""Name of the framework that is Plimsoll's own server."""

HOST = "local"
"""Name of the machine of the lab: of the only one, if there is only one."""


def host_in_words(host: str) -> str:
    """A host as a sentence names it.

    Args:
        host: Its name in a recording.
    """
    return "the machine of the lab" if host == HOST else f"`{host}`"


@dataclass(frozen=True)
class RecordedStage:
    """One stage as it ran.

    Attributes:
        kind: `warm_up`, `ramp` or `hold`.
        start_ns: Its beginning.
        end_ns: Its end; the beginning of the next one.
        start: Requested level at its beginning.
        end: Requested level at its end.
        steps: Steps between them, as in `Stage`.
    """

    kind: StageKind
    start_ns: int
    end_ns: int
    start: float
    end: float
    steps: int

    @property
    def mean_level(self) -> float:
        """Mean level, in the unit of `start`."""
        return mean_level(self.start, self.end, self.steps)


@dataclass(frozen=True)
class ExpectedResponse:
    """What the engine checked of the responses to one request.

    Attributes:
        status: First and last correct status code, both included.
        length_bytes: Expected length of the body; None if there is none.
        has_body: Whether an exact body was expected.
        codings: Content codings that the request accepted.
        has_events: Whether the body had to be a stream of events, and those expected.
    """

    status: tuple[int, int]
    length_bytes: int | None = None
    has_body: bool = False
    codings: tuple[str, ...] = ()
    has_events: bool = False


@dataclass(frozen=True)
class Recomputed:
    """Bodies that the engine recorded under load, and that were checked afterwards.

    Attributes:
        request: Index into `Recording.requests` of the first of its name.
        bodies: Number of recorded bodies.
        wrong: Number of wrong ones.
        held: Number of bodies recorded in holds.
        held_wrong: Number of wrong ones recorded in holds.
        problem: The problem of the first wrong body; empty for none.
    """

    request: int
    bodies: int
    wrong: int
    held: int
    held_wrong: int
    problem: str = ""


@dataclass(frozen=True)
class SampledBodies:
    """Bodies that the engine recorded in holds because none was expected, compared afterwards.

    Attributes:
        request: Index into `Recording.requests` of the first of its name.
        bodies: Number of recorded bodies.
        usual: Number of those that are equal to the most frequent one.
        length_bytes: Length of the most frequent one.
        others: Number of other bodies of this length that came while it came, too.
        different: How many different bodies these are.
    """

    request: int
    bodies: int
    usual: int
    length_bytes: int
    others: int
    different: int


@dataclass(frozen=True)
class ClockSetBack:
    """Where the clock of another tool's log was set back: the seconds before are there twice.

    Attributes:
        by_ns: By how much, to within the time between some rows.
        after_rows: Rows of the log before that.
        at_ns: The timestamp before that, since zero.
        host: Whose log it is, where there are several; else empty.
        is_summer_time: Whether summer time ended, and dates of the log have no zone.
    """

    by_ns: int
    after_rows: int
    at_ns: int
    host: str = ""
    is_summer_time: bool = False


@dataclass(frozen=True)
class ResponseHead:
    """The head of a correct response, from the contract check.

    Attributes:
        request: Request type.
        bytes: Length of the head with the empty line at its end.
        fields: Bytes of each field (name, value and line end) by its lower-case name; the rest of
            `bytes` is the status line and the empty line.
        segments: TCP segments with data of head and body; null if the kernel does not provide it.
    """

    request: str
    bytes: int
    fields: dict[str, int]
    segments: int | None = None


@dataclass(frozen=True)
class Ending:
    """How a trial ended.

    Attributes:
        kind: `completed`, or the class of the error that ended it: `DiedUnderLoad`.
        message: The error message; empty if completed.
        hint: What to do about it; may be empty.
    """

    kind: str = "completed"
    message: str = ""
    hint: str = ""


@dataclass(frozen=True)
class HostClock:
    """The clock of a host against the lab's, by exchanges of readings.

    Attributes:
        offset_ns: How far the host's monotonic clock was ahead of the lab's at the load's zero.
        drift: Seconds that it gained in a second.
        round_trip_ns: The shortest round trip of an exchange.
        bound_ns: The greatest error of an instant that was moved from one clock to the other.
    """

    offset_ns: int
    drift: float
    round_trip_ns: int
    bound_ns: int


@dataclass(frozen=True)
class RecordedServer:
    """The server's side of a trial.

    Attributes:
        address: Host and port it listened on, or its Unix socket: `unix:/run/app.sock`.
        cores: Its cores; empty if it was not confined.
        workers: The number of cores it was configured to use.
        start_s: From its start to its first correct response, in seconds.
        rest_rss_bytes: Memory of the process tree after the contract check, before the load.
        rest_pss_bytes: The same, with shared pages counted once.
        rest_threads: Threads of the process tree at that time.
        listeners: Sockets listening on its port.
        backlog: Maximum length of its listen queue, by the kernel; null when unknown.
        backlogs: The same for each listening socket.
        backlog_required: Listen queue that the contract requires; null for a server that was not
            started by Plimsoll.
        somaxconn: The host's upper limit of it; null when unknown.
        exit_code: Of its first process; null if it had to be killed, negative for a signal.
        clean_stop: Whether it stopped by itself, in time, with a known exit code.
        killed: Processes that had to be killed to end it.
        link: The network interface that leads to it, `lo` if it is on this host; null when unknown.
        link_bits_per_s: Speed of that interface; null when unknown.
        link_is_virtual: Whether that interface is no device and lies over none, as a tunnel.
        counted: Its own counters over its whole life, by name; null if it has none, or if another
            trial that it served failed.
        counted_elsewhere: What load generators count of the same outside of this trial, and their
            `right_responses`.
        shared_by: Ids of the trials that it served one after the other since its start; empty for
            this one alone.
        command: Its start command with the values of its variables; empty if Plimsoll did not start
            it.
        host: Name of the host it ran on, as in `machines`.
        clock: The clock of that host; null where it is the lab's own, or unknown.
    """

    address: str
    cores: tuple[int, ...] = ()
    workers: int = 0
    start_s: float | None = None
    rest_rss_bytes: int | None = None
    rest_pss_bytes: int | None = None
    rest_threads: int | None = None
    listeners: int | None = None
    backlog: int | None = None
    backlogs: tuple[int, ...] = ()
    backlog_required: int | None = None
    somaxconn: int | None = None
    exit_code: int | None = None
    clean_stop: bool | None = None
    killed: int = 0
    link: str | None = None
    link_bits_per_s: float | None = None
    link_is_virtual: bool = False
    counted: dict[str, int] | None = None
    counted_elsewhere: dict[str, int] = field(default_factory=dict[str, int])
    shared_by: tuple[str, ...] = ()
    command: str = ""
    host: str = HOST
    clock: HostClock | None = None


@dataclass(frozen=True)
class DecodedBodies:
    """Bodies of complete responses that were freed of a content coding, such as gzip.

    Attributes:
        bodies: How many.
        coded_bytes: Their length as they came.
        decoded_bytes: Their length without the coding.
    """

    bodies: int = 0
    coded_bytes: int = 0
    decoded_bytes: int = 0


@dataclass(frozen=True)
class RecordedDatabase:
    """The database beside the server of a trial.

    Attributes:
        version: Version of PostgreSQL.
        cores: Its cores; empty if it could use all, or was not started by Plimsoll.
        started: Whether Plimsoll started it, so that its processes were read.
        read_per_response: Rows that a response under load needs read at least.
        written_per_response: Rows that it needs written at least.
        contract_responses: Responses of the contract checks, which used it too.
        rows_read: Rows that it gave to the server over the server's life, by its own count; null if
            a connection was still open when the server had stopped.
        rows_written: Rows that it updated, likewise.
        commits: Transactions that it committed, likewise.
        host: Name of the host it ran on, as in `machines`.
    """

    version: str
    cores: tuple[int, ...]
    started: bool
    read_per_response: int
    written_per_response: int
    contract_responses: int = 0
    rows_read: int | None = None
    rows_written: int | None = None
    commits: int | None = None
    host: str = HOST


@dataclass(frozen=True)
class RecordedUpstream:
    """The upstream beside the server of a trial.

    Attributes:
        service_s: How long it takes for a response, in seconds.
        cores: Its cores; empty if it could use all.
        contract_responses: Responses of the contract checks, which asked it too.
        requests: Requests that it received over the server's life, by its own count; null if it did
            not say.
    """

    service_s: float
    cores: tuple[int, ...]
    contract_responses: int = 0
    requests: int | None = None


@dataclass(frozen=True)
class Driver:
    """The driver's side of a trial.

    Attributes:
        name: `plimsoll`, `wrk`, …
        version: Its version.
        cores: Its cores.
        threads: Threads that generate load.
        ended_by: `schedule` (ran to its end), `interrupt`, `request_limit` or `storage`.
        cpu_s: Its own user and system time, in seconds.
        peak_rss_bytes: Its peak memory.
        connections_requested: The most connections requested at one time.
        requests_lost_by_recorder: Rows that could not be stored; any voids the trial.
        bodies_compared: Responses whose body was compared in full.
        redirects: Redirects that were followed.
        decoded: Bodies that were freed of a content coding.
        sent: Requests handed to a connection, by the driver's own counters.
        sent_bytes: Bytes handed to connections, by the driver's own counters; of a request whose
            response came before all of its body was sent, a part. Null if not counted.
        unsent_bytes: Those of them that the kernel had not sent when their connection ended; it may
            have sent them later.
        fewest_streams: HTTP/2: the fewest streams that the server's settings have allowed on a
            connection; null where they never said, or it is not known.
        outcomes: Number of requests by outcome, by the driver's own counters.
        opened: Handshakes that completed, by the driver's own counters.
        refused: Attempts to connect that failed, by the driver's own counters.
        longest_pause_ns: The longest pause of one of its threads; null if not measured.
        calibrated_capacity_per_s: The most requests per second of as many threads on their own
            cores, by the calibration of this host in the case most like this trial; null if the
            host is not calibrated.
        figures: Statistics printed by an external driver; null for Plimsoll's engine.
        uses_reported_statistics: Whether an external driver logs no requests, or less of each than
            it prints, so that summary and checks use the printed statistics.
        command: The command line of an external driver.
        notes: Notes for readers on how this driver generated the load.
        has_connects: Whether the table of connections contains every attempt to connect.
        has_outcomes: Whether the driver reports which requests succeeded; otherwise all count as
            successful.
        has_failures: Whether the driver logs requests without a response; otherwise they are
            missing.
        instants_step_s: Step to which the driver rounds its timestamps down.
        durations_step_s: Step to which the driver rounds durations; 0 if finer than 1 ns.
        users_bound: How sure it is that no more requests are in flight than users are active.
        lines_malformed: Lines of the driver's log that could not be read, and have no row.
        rows_missing: Requests that its log numbers, and has no row of.
        never_sent: Requests that it dropped by its own count, instead of sending them.
        clock_set_back: Where the clock of its log was set back by most; null where it was not.
        tls: What the handshakes of TLS agreed on; empty without TLS.
    """

    name: str
    version: str
    cores: tuple[int, ...]
    threads: int
    ended_by: str
    cpu_s: float | None = None
    peak_rss_bytes: int | None = None
    connections_requested: int | None = None
    requests_lost_by_recorder: int = 0
    bodies_compared: int = 0
    redirects: int = 0
    decoded: DecodedBodies = field(default_factory=DecodedBodies)
    sent: int | None = None
    sent_bytes: int | None = None
    unsent_bytes: int = 0
    fewest_streams: int | None = None
    outcomes: dict[str, int] = field(default_factory=dict[str, int])
    opened: int | None = None
    refused: int | None = None
    longest_pause_ns: int | None = None
    calibrated_capacity_per_s: float | None = None
    figures: ReportedStatistics | None = None
    uses_reported_statistics: bool = False
    command: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    has_connects: bool = True
    has_outcomes: bool = True
    has_failures: bool = True
    instants_step_s: float = 0.0
    durations_step_s: float = 0.0
    users_bound: UsersBound = "likely"
    lines_malformed: int = 0
    rows_missing: int = 0
    never_sent: int = 0
    clock_set_back: ClockSetBack | None = None
    tls: tuple[NegotiatedTls, ...] = ()


@dataclass(frozen=True)
class PowerSources:
    """What was read of the host's power.

    Attributes:
        rapl: RAPL domains that were counted: `package-0`, `dram`.
        rapl_left_out: Domains that were not, each with the reason.
        rapl_unreadable: Why no domain could be counted; empty where some were.
        meter: Kind of the power meter at the wall; empty for none.
        meter_failed: Questions that it did not respond.
        meter_problem: Why the first of them was not answered; empty for none.
        has_net: Whether power above that without load was requested. A ladder without a meter reads
            the server without load by default, for less time than that takes.
    """

    rapl: tuple[str, ...] = ()
    rapl_left_out: tuple[str, ...] = ()
    rapl_unreadable: str = ""
    meter: str = ""
    meter_failed: int = 0
    meter_problem: str = ""
    has_net: bool = True


@dataclass(frozen=True)
class NetworkLink:
    """The interface of a host that leads to the server.

    Attributes:
        interface: Its name; `lo` when the server is on this host.
        bits_per_s: Its speed; null when it does not say.
        mtu_bytes: The longest packet it sends; null when unknown.
        hops: Links to the server; null when unknown.
        rtt_s: The shortest round trip to the server's host, in seconds; null when unknown.
        offloads: What the interface does itself: `tso`, `gso`, `gro`.
        is_virtual: Whether it is no device and lies over none, as a tunnel.
    """

    interface: str
    bits_per_s: float | None
    mtu_bytes: int | None = None
    hops: int | None = None
    rtt_s: float | None = None
    offloads: tuple[str, ...] = ()
    is_virtual: bool = False


@dataclass(frozen=True)
class KeptRows:
    """Rows that stayed on the host of a load generator.

    Attributes:
        folder: Their folder there, with the engine's records.
        requests: How many requests.
        sha256: Digest of each file by its name, in hexadecimal digits.
    """

    folder: str
    requests: int
    sha256: dict[str, str]


@dataclass(frozen=True)
class HostDriver:
    """The load generator of one of several hosts.

    Attributes:
        host: Name of the host.
        share: Its share of the requested load.
        clock: Its clock.
        zero_ns: Its zero, in nanoseconds since the trial's zero: how much later it began than the
            first of them.
        ended_ns: How far its load got, in nanoseconds since its own zero.
        driver: Its side of the load; null where it was lost, with its rows.
        error: Why it did not run to its end; empty where it did.
        link: Its interface that leads to the server; null when unknown.
        kept: Its rows, where they stayed on that host; null where the tables have them.
        late_ns: In turns, how much later than the first of them it began the turn in which it was
            latest; 0 for a load in one piece.
        late_sum_ns: The same of all its turns, added up.
    """

    host: str
    share: float
    clock: HostClock
    zero_ns: int
    ended_ns: int
    driver: Driver | None
    error: str = ""
    link: NetworkLink | None = None
    kept: KeptRows | None = None
    late_ns: int = 0
    late_sum_ns: int = 0


@dataclass(frozen=True)
class Recording:
    """The facts about one trial; its rows are in tables.

    Attributes:
        format: Version of the format.
        trial: Id of the trial.
        order: Position in the plan.
        framework: Name of the framework: `go`.
        variant: Its variant; may be empty.
        language: Its language.
        endpoint: Name of the endpoint.
        load: The load as requested.
        repetition: Number of the block, from 1.
        driver_name: The requested driver.
        seed: The trial's seed.
        zero_utc: The trial's zero by the wall clock, ISO 8601.
        stages: The stages as they ran.
        requests: Request type of each request that was sent; the column `request` is an index into
            it. Requests that differ only in drawn values have the same type.
        machines: Facts of each host by its name.
        versions: Version of each part: `plimsoll`, the framework, its language.
        clock_offsets_ns: Host to offset of its clock against the first host.
        ending: How it ended.
        server: The server's side; null when it never started.
        driver: The driver's side; null when it never ran.
        contract: Violations of the contract before and after the load; empty lists if none.
        heads: The head of the response to each request type; empty without a contract check.
        contract_requests: Requests that the lab sent beside the load: for the contract check, or to
            see that a server that runs already responds.
        notes: Notes of the framework's folder for readers.
        limits: Limits of checks that the campaign changed.
        request_bytes: Bytes sent for each of `requests`: head, body and the frames of HTTP/2 or
            WebSocket, without TLS; empty if unknown.
        request_weights: Share of each of them among all, in any unit; empty if unknown.
        provenance: What ran, part by part; empty if unknown.
        expected: What the engine checked of the response to each of them; empty for other drivers.
        recomputed: Results for bodies that could only be checked after the load; empty if each was
            compared under load, or if nothing is known of them.
        sampled_bodies: How alike sampled bodies are where none was expected; empty if each was
            compared under load, recomputed, or not recorded.
        turns: The turns of a load that took turns with others; timestamps of the recording exclude
            the rests between them. Empty for a load that ran in one piece.
        took_s: Wall-clock time from the start of its server to the last check, in seconds; its
            share of that of a group where servers took turns; null if unknown.
        warming_s: Part of `took_s` in which its runtime warmed up, before the load and unrecorded.
        tls: TLS as requested; null for plain TCP.
        power: What was read of the host's power; null where that was not noted.
        hosts: The load generator of each host, where several generated the load together; `driver`
            is then all of them as one. Empty for one host.
        compliance: What the framework's server made of the cases of the compliance gate; only one
            trial of each framework has it.
        database: The database beside the server; null if the endpoint needs none.
        upstream: The upstream beside the server; null if the endpoint needs none.
    """

    trial: str
    order: int
    framework: str
    variant: str
    language: str
    endpoint: str
    load: Load | UnknownLoad
    repetition: int
    driver_name: str
    seed: int
    zero_utc: str
    stages: tuple[RecordedStage, ...]
    requests: tuple[str, ...]
    machines: dict[str, dict[str, Fact]]
    versions: dict[str, str]
    clock_offsets_ns: dict[str, int]
    ending: Ending
    server: RecordedServer | None
    driver: Driver | None
    contract: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    notes: tuple[str, ...] = ()
    limits: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    request_bytes: tuple[int, ...] = ()
    request_weights: tuple[float, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    expected: tuple[ExpectedResponse, ...] = ()
    recomputed: tuple[Recomputed, ...] = ()
    sampled_bodies: tuple[SampledBodies, ...] = ()
    heads: tuple[ResponseHead, ...] = ()
    contract_requests: int = 0
    turns: tuple[Turn, ...] = ()
    took_s: float | None = None
    warming_s: float = 0.0
    tls: RequestedTls | None = None
    power: PowerSources | None = None
    hosts: tuple[HostDriver, ...] = ()
    compliance: tuple[ComplianceResult, ...] = ()
    database: RecordedDatabase | None = None
    upstream: RecordedUpstream | None = None
    format: int = FORMAT

    @property
    def title(self) -> str:
        """Displayed name of framework and variant."""
        return f"{self.framework} {self.variant}" if self.variant else self.framework

    @property
    def server_host(self) -> str:
        """Name of the host that the server ran on."""
        return HOST if self.server is None else self.server.host

    @property
    def is_yardstick(self) -> bool:
        """Whether it measured Plimsoll's own server, which is not ranked among frameworks."""
        return self.framework == YARDSTICK

    @property
    def kinds(self) -> tuple[int, ...]:
        """For each of `requests` the index of the first one of its type."""
        first: dict[str, int] = {}
        return tuple(first.setdefault(name, place) for place, name in enumerate(self.requests))

    @property
    def found_running(self) -> bool:
        """Whether Plimsoll did not start the server, so that no contract was checked."""
        return self.server is not None and self.server.start_s is None

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C or SIGTERM ended it early."""
        return self.ending.kind == "Interrupted"

    @property
    def is_over_tcp(self) -> bool:
        """Whether the load went over TCP; a Unix socket has no ports, and TCP does not count it."""
        return self.server is None or not addresses.is_unix(self.server.address)

    @property
    def origin(self) -> Origin:
        """Source of the recording, which determines what the reader can change."""
        if self.load.model == "unknown":
            return "import"
        return "load" if self.found_running else "campaign"

    @property
    def holds(self) -> tuple[RecordedStage, ...]:
        """The stages that are summarised."""
        return tuple(stage for stage in self.stages if stage.kind == "hold")

    @property
    def held_ns(self) -> int:
        """The length of these together."""
        return sum(stage.end_ns - stage.start_ns for stage in self.holds)

    @property
    def held_turns(self) -> tuple[Turn, ...]:
        """The turns that lie within the stages that are summarised."""
        ends_ns = accumulate(turn.duration_ns for turn in self.turns)
        placed = (
            (turn, end_ns - turn.duration_ns)
            for turn, end_ns in zip(self.turns, ends_ns, strict=True)
        )
        return tuple(
            turn
            for turn, start_ns in placed
            if any(stage.start_ns <= start_ns < stage.end_ns for stage in self.holds)
        )

    @property
    def begun_ns(self) -> int | None:
        """For how long requests began in these turns; None without any, or where one is unknown."""
        planned_ns = [turn.planned_ns for turn in self.held_turns]
        known_ns = [one for one in planned_ns if one is not None]
        return sum(known_ns) if planned_ns and len(known_ns) == len(planned_ns) else None
