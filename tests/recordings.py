"""Simulated trials: whole folders of recordings, drawn from a seed.

`write_trial` writes what a trial of a closed-loop load leaves behind (`trial.json` and three
tables), as if a server of a known capacity had answered it. Each keyword makes one thing go
wrong, so that a check can be shown a recording that passes and one that does not.

    recording = write_trial(tmp_path / "a", connections=50, failures={"reset_waiting": 0.02})
    write_results(tmp_path / "results", {"framework": "go"}, {"framework": "node"})

`simulate` gives the same in memory, and `request_rows` and `connection_rows` a table of a few rows
written by hand.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from plimsoll import tables
from plimsoll.aggregate.engine_records import as_stored
from plimsoll.aggregate.trial import Tables
from plimsoll.aggregate.usage import ReadingSeries, Usage
from plimsoll.campaign.load import Arrivals, Load, Stage
from plimsoll.recording import (
    HOST,
    Driver,
    Ending,
    ExpectedResponse,
    RecordedDatabase,
    RecordedServer,
    RecordedStage,
    RecordedUpstream,
    Recording,
)

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.aggregate import query


KEPT_TRIALS = 32
_LAST: OrderedDict[str, Tables] = OrderedDict()
"""The last trials of `simulate` by their options, the oldest first."""

SECOND_NS = 1_000_000_000
NEVER = -1
HANDSHAKE_NS = 80_000
BODY_EXPECTED = ExpectedResponse((200, 200), 2048, has_body=True)
ANSWERED = ("ok", "wrong_status", "wrong_length", "wrong_body")
ERRNOS = {
    "connect_refused": 111,
    "connect_reset": 104,
    "connect_unreachable": 101,
    "connect_failed": 22,
    "no_port": 99,
    "too_many_files": 24,
    "reset_sending": 32,
    "reset_waiting": 104,
    "reset_receiving": 104,
    "io_failed": 5,
}


@dataclass(frozen=True)
class Options:
    """What a simulated trial is like.

    Attributes:
        framework: Name of the framework.
        variant: Its variant.
        language: Its language.
        endpoint: Name of the endpoint.
        load: Name of the load.
        repetition: Number of the block, from 1.
        order: Position in the plan.
        seed: Seeds every draw.
        connections: Connections of the hold.
        warm_up_s: Length of the warm-up at full load; 0 for none.
        ramp_s: Length of the ramp from 0; 0 for none.
        ramp_steps: Its steps.
        hold_s: Length of the hold.
        hold_requested_s: Length of the hold that the load asked for; `hold_s` when None.
        throughput_per_s: The most answers per second that the server can give.
        service_ns: The least mean time of one answer.
        spread: Spread of the times of answers (sigma of a log-normal).
        body_bytes: Length of a right body.
        failures: Outcome to the share of requests that end so.
        timeout_s: Time after which a request fails.
        workers: Threads of the driver.
        lag_ns: Wait of each request in the driver before it is sent.
        growth: The server gets faster by this ratio from zero to the end of the trial.
        speeds: Instant in seconds to the factor of the server's speed from there on.
        freeze_s: The server stands still from the first instant to the second.
        missing: Connections that are refused again and again.
        starved: Connections that open and are never answered.
        idle: Connections that open and that the driver never uses.
        drop_ratio: Share of the rows of requests that are lost without a word.
        lost_rows: Rows that the driver says it could not keep.
        in_flight_factor: Factor on the driver's own count of requests in flight.
        counts_apart_s: How far apart its threads counted them; None where it does not say.
        without: Quantities of `usage` that could not be read.
        forget_errno: Failures have no error number.
        overflows: Connections turned away by a full listen queue.
        overflow_stage: Kind of the stage in which they are.
        own_drops: Whether the kernel says what the server's own sockets dropped.
        others_overflows: Connections turned away from other programs in the same stage.
        stray_drops: Packets of ended connections that the server's own sockets dropped in it.
        unseen: Share of what the driver counted that the kernel did not see.
        server_sockets: Connections of the server's port, as a factor on those that are open.
        retransmits: Segments sent again in the hold.
        round_trip_s: Least round trip by the kernel.
        swapped_per_s: Pages that the host swaps in a second.
        killed: Processes killed for want of memory.
        throttled: Share of its time that a quota withholds from the control group.
        frequency_fall: Ratio by which the frequency falls from zero to the end of the trial.
        resting_ports: Connections in TIME_WAIT.
        files_ratio: Open files of the server's process by what it may open.
        link_bits_per_s: Speed of the link; None for a server on the driver's host.
        queue: Longest listen queue.
        backlog: Most that may wait.
        somaxconn: The host's limit of it.
        server_busy: Cores the server keeps busy.
        driver_busy: Cores the driver keeps busy.
        others_busy: Cores that other programs take from each core of server and driver.
        others_on: The cores they take it from; None for all of these.
        taken_s: From when to when other programs, or the hypervisor, take it, in seconds; None for
            all the time.
        run_delay: Threads of the server, and of the driver, that wait for a core on average.
        interrupt_time: Where the kernel counts interrupts; None when it does not say.
        stolen: Share of its time that the virtual machine does not get.
        server_cores: Cores of the server.
        driver_cores: Cores of the driver.
        longest_pause_ns: Longest stop of a thread of the driver.
        capacity_per_s: What the driver can do at most by calibration; None when not calibrated.
        expected: Configuration of each response; nothing is known of it when None.
        compared_ratio: Share of the bodies that are compared, where a body was asked for.
        lengths: Further lengths of bodies, and the share of the responses that have them.
        closings: How the server closes further connections in the hold: how many, and after how
            many responses each.
        contract: Sentences on what was wrong before and after the load.
        ending: How the trial ended.
        ended_by: How the driver ended.
        limits: Limits that the campaign changed.
        notes: Notes on the framework.
        tables: Whether there are any tables.
        rising: Scope and quantity, `server.major_faults`, to what it rises by in a second of load.
        database_busy: Cores that the database keeps busy; None for a trial without one.
        database_cores: Cores of the database.
        database_started: Whether Plimsoll started it.
        rows_read: Rows that it read by those that responses need; None where it is unknown.
        rows_written: Rows that it wrote by those that responses need.
        upstream_s: Service time of the upstream; None for a trial without one.
        upstream_asked: Requests that it received by responses; None where it did not say.
        power_w: Power of the idle host and of the host under load; None where it is not shown.
        idle_s: Seconds for which the idle host was measured before and after.
    """

    framework: str = "go"
    variant: str = ""
    language: str = "Go"
    endpoint: str = "2048"
    load: str = "steady"
    repetition: int = 1
    order: int = 0
    seed: int = 1
    connections: int = 20
    warm_up_s: float = 1.0
    ramp_s: float = 2.0
    ramp_steps: int = 4
    hold_s: float = 4.0
    hold_requested_s: float | None = None
    throughput_per_s: float = 2000.0
    service_ns: int = 200_000
    spread: float = 0.3
    body_bytes: int = 2048
    failures: dict[str, float] = field(default_factory=dict[str, float])
    timeout_s: float = 2.0
    workers: int = 1
    lag_ns: int = 10_000
    growth: float = 0.0
    speeds: dict[float, float] = field(default_factory=dict[float, float])
    freeze_s: tuple[float, float] | None = None
    missing: int = 0
    starved: int = 0
    idle: int = 0
    drop_ratio: float = 0.0
    lost_rows: int = 0
    in_flight_factor: float = 1.0
    counts_apart_s: float | None = None
    without: tuple[str, ...] = ()
    forget_errno: bool = False
    overflows: int = 0
    overflow_stage: str = "hold"
    own_drops: bool = True
    others_overflows: int = 0
    stray_drops: int = 0
    unseen: float = 0.0
    server_sockets: float = 1.0
    retransmits: int = 0
    round_trip_s: float = 20e-6
    swapped_per_s: float = 0.0
    killed: int = 0
    throttled: float = 0.0
    frequency_fall: float = 0.0
    resting_ports: int = 100
    files_ratio: float = 0.1
    link_bits_per_s: float | None = None
    queue: int = 3
    backlog: int = 4096
    somaxconn: int = 4096
    server_busy: float = 0.97
    driver_busy: float = 0.45
    others_busy: float = 0.0
    taken_s: tuple[float, float] | None = None
    others_on: tuple[int, ...] | None = None
    run_delay: float = 1.0
    interrupt_time: str | None = "task"
    stolen: float = 0.0
    server_cores: tuple[int, ...] = (0,)
    driver_cores: tuple[int, ...] = (1,)
    longest_pause_ns: int | None = 2_000_000
    capacity_per_s: float | None = None
    expected: ExpectedResponse | None = BODY_EXPECTED
    compared_ratio: float = 1.0
    lengths: dict[int, float] = field(default_factory=dict[int, float])
    closings: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    contract: dict[str, list[str]] = field(default_factory=lambda: {"before": [], "after": []})
    ending: Ending = field(default_factory=Ending)
    ended_by: str = "schedule"
    limits: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    notes: tuple[str, ...] = ()
    tables: bool = True
    rising: dict[str, float] = field(default_factory=dict[str, float])
    database_busy: float | None = None
    database_cores: tuple[int, ...] = (2,)
    database_started: bool = True
    rows_read: float | None = 1.0
    rows_written: float = 1.0
    upstream_s: float | None = None
    upstream_asked: float | None = 1.0
    power_w: tuple[float, float] | None = None
    idle_s: int = 30

    @property
    def id(self) -> str:
        """Id of the trial."""
        name = f"{self.framework}-{self.variant}" if self.variant else self.framework
        return f"{name}.{self.endpoint}.{self.load}.{self.repetition}"


@dataclass
class Rows:
    """Rows of one trial while they are made, column by column."""

    requests: dict[str, list[Any]] = field(default_factory=dict[str, "list[Any]"])
    connections: dict[str, list[Any]] = field(default_factory=dict[str, "list[Any]"])
    attempts: int = 0

    def request(self, **values: Any) -> None:
        """Add one request, or many at once as arrays."""
        for name, value in values.items():
            self.requests.setdefault(name, []).append(value)

    def connection(self, **values: Any) -> None:
        """Add one attempt to connect."""
        for name, value in values.items():
            self.connections.setdefault(name, []).append(value)


def write_trial(folder: Path, **options: Any) -> Recording:
    """Write the folder of one simulated trial and return its recording.

    Args:
        folder: The trial's folder; made when it is not there.
        options: Fields of `Options`.
    """
    trial = simulate(**options)
    folder.mkdir(parents=True, exist_ok=True)
    parts = {
        "requests": trial.requests,
        "connections": trial.connections,
        "usage": trial.readings,
    }
    for name, rows in parts.items():
        if rows is not None:
            pq.write_table(rows, folder / f"{name}.parquet")
    content = json.dumps(dataclasses.asdict(trial.recording), indent=2)
    (folder / "trial.json").write_text(content, encoding="utf-8")
    (folder / "server.log").write_text("", encoding="utf-8")
    (folder / "driver.log").write_text("", encoding="utf-8")
    return trial.recording


def simulate(**options: Any) -> Tables:
    """One simulated trial in memory; the last ones are kept with all that was worked out of them.

    Tests share it: what changes one of its attributes changes a `dataclasses.replace` of it.

    Args:
        options: Fields of `Options`.
    """
    key = repr(sorted(options.items()))
    if key not in _LAST:
        _LAST[key] = _simulated(Options(**options))
    _LAST.move_to_end(key)
    if len(_LAST) > KEPT_TRIALS:
        _LAST.popitem(last=False)
    return _LAST[key]


def _simulated(asked: Options) -> Tables:
    stages = stages_of(asked)
    requests, connections = simulated(asked, stages)
    recording = recording_of(asked, stages, requests, connections)
    if not asked.tables:
        return Tables(recording)
    usage = usage_of(asked, stages, requests, connections)
    return Tables(recording, kept(asked, requests), connections, usage)


def write_results(folder: Path, *trials: dict[str, Any]) -> tuple[Recording, ...]:
    """Write the results of a campaign: a folder `trials` with one folder for each trial.

    Args:
        folder: Folder of the campaign: `results/<campaign>`.
        trials: Fields of `Options` for each trial; the order is filled in.
    """
    recordings = tuple(
        write_trial(folder / "trials" / Options(**trial).id, **{"order": order, **trial})
        for order, trial in enumerate(trials)
    )
    ids = [{"id": recording.trial} for recording in recordings]
    (folder / "campaign.toml").write_text(f'name = "{folder.name}"\n', encoding="utf-8")
    (folder / "plan.json").write_text(json.dumps({"trials": ids, "seed": 1}), encoding="utf-8")
    return recordings


def read_trial(folder: Path, recording: Recording) -> Tables:
    """The tables of a written trial, read from its Parquet files when needed."""
    paths = (folder / f"{name}.parquet" for name in ("requests", "connections", "usage"))
    return Tables(recording, *(ds.dataset(path) if path.exists() else None for path in paths))


def request_rows(*rows: dict[str, Any]) -> pa.Table:
    """A table of requests written by hand; what is left out is `ok`, or null."""
    defaults = {"due_ns": 0, "received_bytes": 0, "request": 0, "connection": 0, "worker": 0}
    texts = {"host": "local", "outcome": "ok"}
    full = [{**defaults, **texts, **row} for row in rows]
    return pa.Table.from_pylist(full, schema=tables.REQUESTS.schema)


def connection_rows(*rows: dict[str, Any]) -> pa.Table:
    """A table of attempts to connect written by hand; numbered in order, open at the end."""
    defaults = {"due_ns": 0, "requests": 1, "responses": 1, "worker": 0}
    texts = {"host": "local", "outcome": "still_open"}
    full = [{**defaults, **texts, "connection": n, **row} for n, row in enumerate(rows)]
    return pa.Table.from_pylist(full, schema=tables.CONNECTIONS.schema)


def seconds(recording: Recording, requests: query.Rows, readings: query.Rows) -> pa.Table:
    """The table `seconds` of a trial that has these rows."""
    return Tables(recording, requests, readings=readings).seconds


def usage_rows(*rows: tuple[float, str, str, float], host: str = HOST) -> pa.Table:
    """A table of readings of a host written by hand: second, scope, quantity, value."""
    full = [
        {"at_ns": round(s * SECOND_NS), "host": host, "scope": c, "quantity": q, "value": v}
        for s, c, q, v in rows
    ]
    return pa.Table.from_pylist(full, schema=tables.USAGE.schema)


def stages_of(asked: Options) -> tuple[RecordedStage, ...]:
    """The stages as they ran."""
    full = float(asked.connections)
    lengths = (
        ("warm_up", asked.warm_up_s, full, 1),
        ("ramp", asked.ramp_s, 0.0, asked.ramp_steps),
        ("hold", asked.hold_s, full, 1),
    )
    stages: list[RecordedStage] = []
    start_ns = 0
    for kind, length_s, start, steps in lengths:
        if length_s > 0:
            end_ns = start_ns + round(length_s * SECOND_NS)
            stages.append(RecordedStage(kind, start_ns, end_ns, start, full, steps))  # pyright: ignore[reportArgumentType]
            start_ns = end_ns
    return tuple(stages)


def level_at(stages: tuple[RecordedStage, ...], at_ns: np.ndarray) -> np.ndarray:
    """Connections asked for at some instants."""
    level = np.zeros(len(at_ns))
    for stage in stages:
        inside = (at_ns >= stage.start_ns) & (at_ns < stage.end_ns)
        share = (at_ns[inside] - stage.start_ns) / (stage.end_ns - stage.start_ns)
        step = np.floor(share * stage.steps) + 1
        level[inside] = np.floor(stage.start + (stage.end - stage.start) * step / stage.steps)
    return level


@dataclass(frozen=True)
class Pace:
    """How fast the server works: units of work done by an instant; one answer needs about one."""

    at_ns: np.ndarray
    work: np.ndarray

    def work_at(self, at_ns: float) -> float:
        """Work that one connection was given by an instant."""
        return float(np.interp(at_ns, self.at_ns, self.work))

    def instants(self, work: np.ndarray) -> np.ndarray:
        """Instants at which some work is done; past the end when it never is."""
        late = 2 * self.at_ns[-1]
        return np.interp(work, self.work, self.at_ns, right=late).astype(np.int64)


def pace_of(asked: Options, stages: tuple[RecordedStage, ...]) -> Pace:
    """The pace of the server over the trial, in steps of a millisecond."""
    at_ns = np.arange(0, stages[-1].end_ns + 1, 1_000_000, dtype=np.int64)
    useful = asked.connections - asked.missing - asked.starved - asked.idle
    active = np.clip(level_at(stages, at_ns[:-1]), 1, max(useful, 1))
    mean_ns = np.maximum(active / asked.throughput_per_s * SECOND_NS, asked.service_ns)
    speed = (1.0 + asked.growth * at_ns[:-1] / stages[-1].end_ns) / mean_ns
    for from_s, factor in sorted(asked.speeds.items()):
        speed = np.where(at_ns[:-1] >= from_s * SECOND_NS, factor / mean_ns, speed)
    if asked.freeze_s is not None:
        start_s, end_s = asked.freeze_s
        frozen = (at_ns[:-1] >= start_s * SECOND_NS) & (at_ns[:-1] < end_s * SECOND_NS)
        speed[frozen] = 1e-15
    return Pace(at_ns, np.concatenate([[0.0], np.cumsum(speed * np.diff(at_ns))]))


def simulated(asked: Options, stages: tuple[RecordedStage, ...]) -> tuple[pa.Table, pa.Table]:
    """Rows of the requests and of the connections of one trial."""
    rows = Rows()
    pace = pace_of(asked, stages)
    grid_ns = pace.at_ns[:-1]
    level = level_at(stages, grid_ns)
    parts = active_parts(stages)
    for slot in range(asked.connections):
        for first_ns, last_ns in parts:
            inside = (grid_ns >= first_ns) & (grid_ns < last_ns) & (level > slot)
            if inside.any():
                simulate_slot(asked, rows, pace, slot, int(grid_ns[inside][0]), last_ns)
    add_closings(asked, rows, stages[-1])
    return with_bodies(asked, requests_table(rows)), connections_table(rows)


def active_parts(stages: tuple[RecordedStage, ...]) -> list[tuple[int, int]]:
    """Stretches in which the level never falls; connections are closed between them."""
    parts = [(stages[0].start_ns, stages[0].end_ns)]
    for earlier, stage in pairwise(stages):
        if stage.start < earlier.end:
            parts.append((stage.start_ns, stage.end_ns))
        else:
            parts[-1] = (parts[-1][0], stage.end_ns)
    return parts


def simulate_slot(
    asked: Options, rows: Rows, pace: Pace, slot: int, start_ns: int, end_ns: int
) -> None:
    """One connection of the load, opened again whenever it is lost."""
    if slot < asked.missing:
        simulate_refused(asked, rows, slot, start_ns, end_ns)
    elif slot < asked.missing + asked.starved:
        simulate_starved(asked, rows, slot, (start_ns, end_ns), pace)
    elif slot < asked.missing + asked.starved + asked.idle:
        add_connection(asked, rows, slot, start_ns, end_ns, pace, 0, 0, None)
    else:
        simulate_served(asked, rows, pace, slot, start_ns, end_ns)


def simulate_refused(asked: Options, rows: Rows, slot: int, start_ns: int, end_ns: int) -> None:
    """A connection that is refused, and tried again after half a second."""
    for at_ns in range(start_ns, end_ns, SECOND_NS // 2):
        number = rows.attempts
        rows.attempts += 1
        worker = slot % asked.workers
        errno = None if asked.forget_errno else 111
        rows.connection(
            due_ns=at_ns,
            connected_ns=None,
            closed_ns=at_ns + HANDSHAKE_NS,
            requests=0,
            responses=0,
            connection=number,
            worker=worker,
            outcome="connect_refused",
            errno=errno,
        )
        add_requests(
            rows,
            due=[at_ns],
            sent=[NEVER],
            first_byte=[NEVER],
            done=[at_ns + HANDSHAKE_NS],
            received=[0],
            connection=number,
            worker=worker,
            status=[0],
            outcome=["connect_refused"],
            errno=[errno or 0],
        )


def simulate_starved(
    asked: Options, rows: Rows, slot: int, part: tuple[int, int], pace: Pace
) -> None:
    """A connection that opens and is never answered: every request on it runs into its timeout."""
    at_ns, end_ns = part
    timeout_ns = round(asked.timeout_s * SECOND_NS)
    while at_ns < end_ns:
        sent_ns = at_ns + HANDSHAKE_NS + asked.lag_ns
        done_ns = min(sent_ns + timeout_ns, end_ns)
        over = done_ns < pace.at_ns[-1]
        number = rows.attempts
        rows.attempts += 1
        outcome = "timed_out_waiting" if over else "unfinished"
        rows.connection(
            due_ns=at_ns,
            connected_ns=at_ns + HANDSHAKE_NS,
            closed_ns=done_ns if over else None,
            requests=1,
            responses=0,
            connection=number,
            worker=slot % asked.workers,
            outcome=outcome if over else "still_open",
            errno=None,
        )
        add_requests(
            rows,
            due=[at_ns],
            sent=[sent_ns],
            first_byte=[NEVER],
            done=[done_ns if over else NEVER],
            received=[0],
            connection=number,
            worker=slot % asked.workers,
            status=[0],
            outcome=[outcome],
            errno=[0],
        )
        at_ns = done_ns


def simulate_served(
    asked: Options, rows: Rows, pace: Pace, slot: int, start_ns: int, end_ns: int
) -> None:
    """A connection that is answered, request after request, until it is lost or time is up."""
    draw = np.random.default_rng([asked.seed, slot, start_ns])
    free_ns = start_ns
    while free_ns < end_ns:
        due, sent, done, outcomes = burst(asked, pace, draw, free_ns, end_ns)
        is_lost = _loses(outcomes[-1])
        if not is_lost and end_ns < pace.at_ns[-1]:
            outcomes = outcomes[:-1]
        if not outcomes.size:
            return
        last = len(outcomes)
        end = str(outcomes[-1]) if is_lost else "unfinished"
        closed_ns = int(done[last - 1]) if is_lost else None
        number = add_connection(
            asked, rows, slot, free_ns, end_ns, pace, last, last - 1, (end, closed_ns)
        )
        add_burst(asked, rows, slot, number, due[:last], sent[:last], done[:last], outcomes)
        free_ns = closed_ns if closed_ns is not None else end_ns


def burst(
    asked: Options, pace: Pace, draw: np.random.Generator, free_ns: int, end_ns: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Requests of one connection from the instant it is wanted until it is lost or time is up."""
    ready_ns = free_ns + HANDSHAKE_NS
    left = pace.work_at(end_ns) - pace.work_at(ready_ns)
    count = max(int(left * 1.3) + 40, 1)
    sigma = asked.spread
    needs = draw.lognormal(-sigma * sigma / 2, sigma, count)
    done = pace.instants(pace.work_at(ready_ns) + np.cumsum(needs))
    done = np.maximum(done, ready_ns + 2000 * np.arange(1, count + 1))
    due = np.concatenate([[free_ns], done[:-1]])
    ready = np.concatenate([[ready_ns], done[:-1]])
    sent = np.minimum(ready + asked.lag_ns, done - 1000)
    number = int(np.searchsorted(done, end_ns)) + 1
    names = [*asked.failures, "ok"]
    shares = [*asked.failures.values()]
    kinds = draw.choice(len(names), number, p=[*shares, 1 - sum(shares)])
    lost = np.flatnonzero(np.array([_loses(name) for name in names])[kinds[:-1]])
    number = int(lost[0]) + 1 if lost.size else number
    outcomes = np.array([*names, "unfinished"])[kinds[:number]]
    if not lost.size:
        outcomes[-1] = "unfinished"
    return due[:number], sent[:number], done[:number], outcomes


def _loses(outcome: str) -> bool:
    """Whether the connection is lost with it."""
    return outcome not in {*ANSWERED, "unfinished"}


def add_connection(  # noqa: PLR0917
    asked: Options,
    rows: Rows,
    slot: int,
    due_ns: int,
    end_ns: int,
    pace: Pace,
    requests: int,
    responses: int,
    end: tuple[str, int | None] | None,
) -> int:
    """Add the row of a connection that opened, and return its number."""
    number = rows.attempts
    rows.attempts += 1
    outcome, closed_ns = end if end is not None else ("unfinished", None)
    if outcome == "unfinished":
        at_the_end = end_ns >= pace.at_ns[-1]
        outcome = "still_open" if at_the_end else "closed_by_driver"
        closed_ns = None if at_the_end else end_ns
    errno = None if asked.forget_errno else ERRNOS.get(outcome)
    rows.connection(
        due_ns=due_ns,
        connected_ns=due_ns + HANDSHAKE_NS,
        closed_ns=closed_ns,
        requests=requests,
        responses=responses,
        connection=number,
        worker=slot % asked.workers,
        outcome=outcome,
        errno=errno,
    )
    return number


def add_burst(
    asked: Options,
    rows: Rows,
    slot: int,
    number: int,
    due: np.ndarray,
    sent: np.ndarray,
    done: np.ndarray,
    outcomes: np.ndarray,
) -> None:
    """Add the requests of one connection."""
    names, kinds = np.unique(outcomes, return_inverse=True)
    complete = np.isin(names, ANSWERED)[kinds]
    finished = (names != "unfinished")[kinds]
    errnos = np.array([0 if asked.forget_errno else ERRNOS.get(name, 0) for name in names])[kinds]
    add_requests(
        rows,
        due=due,
        sent=sent,
        first_byte=np.where(complete, sent + (done - sent) * 9 // 10, NEVER),
        done=np.where(finished, done, NEVER),
        received=np.where(complete, asked.body_bytes + 120, 0),
        connection=number,
        worker=slot % asked.workers,
        status=np.array([status_of(name) for name in names])[kinds],
        outcome=outcomes,
        errno=errnos,
    )


def status_of(outcome: str) -> int:
    """The status code of an outcome; 0 when no head was read."""
    if outcome == "wrong_status":
        return 502
    return 200 if outcome in ANSWERED else 0


def add_requests(rows: Rows, connection: int, worker: int, **columns: Any) -> None:
    """Add requests of one connection, column by column."""
    count = len(columns["due"])
    rows.request(
        connection=np.full(count, connection),
        worker=np.full(count, worker),
        **{name: np.asarray(values) for name, values in columns.items()},
    )


def requests_table(rows: Rows) -> pa.Table:
    """The table of requests, ordered by the instant they ended."""
    columns = {name: np.concatenate(parts) for name, parts in rows.requests.items()}
    done = columns["done"]
    order = np.argsort(np.where(done == NEVER, np.iinfo(np.int64).max, done), kind="stable")
    columns = {name: values[order] for name, values in columns.items()}
    count = len(order)

    def nullable(name: str, never: int, kind: pa.DataType) -> pa.Array:
        return pa.array(columns[name], type=kind, mask=columns[name] == never)

    arrays = {
        "due_ns": pa.array(columns["due"], pa.int64()),
        "sent_ns": nullable("sent", NEVER, pa.int64()),
        "first_byte_ns": nullable("first_byte", NEVER, pa.int64()),
        "done_ns": nullable("done", NEVER, pa.int64()),
        "received_bytes": pa.array(columns["received"], pa.uint32()),
        "body_bytes": pa.nulls(count, pa.uint32()),
        "compared": pa.nulls(count, pa.bool_()),
        "request": pa.array(np.zeros(count), pa.uint16()),
        "connection": pa.array(columns["connection"], pa.uint32()),
        "worker": pa.array(columns["worker"], pa.uint16()),
        "host": pa.DictionaryArray.from_arrays(np.zeros(count, np.int32), ["local"]),
        "status": nullable("status", 0, pa.uint16()),
        "outcome": pa.array(columns["outcome"]).dictionary_encode(),
        "errno": nullable("errno", 0, pa.uint8()),
        "sent_bytes": pa.nulls(count, pa.uint32()),
    }
    return pa.table(arrays).cast(tables.REQUESTS.schema)


def with_bodies(asked: Options, requests: pa.Table) -> pa.Table:
    """The requests with the lengths of their bodies, and which of these were compared.

    A wrong body that was not compared counts as right.
    """
    draw = np.random.default_rng([asked.seed, 99])
    encoded = requests["outcome"].combine_chunks()
    names, kinds = np.array(encoded.dictionary.to_pylist()), encoded.indices.to_numpy()
    outcomes, complete = names[kinds], np.isin(names, ANSWERED)[kinds]
    usual = 1 - sum(asked.lengths.values())
    sizes = [asked.body_bytes, *asked.lengths]
    body = draw.choice(sizes, len(outcomes), p=[usual, *asked.lengths.values()])
    drawn = draw.random(len(outcomes)) < asked.compared_ratio
    comparable = np.isin(names, ("ok", "wrong_body"))[kinds]
    comparable &= asked.expected is not None and asked.expected.has_body
    outcomes[(outcomes == "wrong_body") & comparable & ~drawn] = "ok"
    columns = {
        "body_bytes": pa.array(body, pa.uint32(), mask=~complete),
        "compared": pa.array(drawn, pa.bool_(), mask=~comparable),
        "outcome": pa.array(outcomes).dictionary_encode(),
    }
    for name, values in columns.items():
        requests = requests.set_column(requests.schema.get_field_index(name), name, values)
    return requests.cast(tables.REQUESTS.schema)


def add_closings(asked: Options, rows: Rows, hold: RecordedStage) -> None:
    """Connections that the server opened and closed in the hold, beside those of the load."""
    for outcome, (number, responses) in asked.closings.items():
        for _ in range(number):
            rows.connection(
                due_ns=hold.start_ns,
                connected_ns=hold.start_ns + HANDSHAKE_NS,
                closed_ns=(hold.start_ns + hold.end_ns) // 2,
                requests=responses,
                responses=responses,
                connection=rows.attempts,
                worker=0,
                outcome=outcome,
                errno=None,
            )
            rows.attempts += 1


def connections_table(rows: Rows) -> pa.Table:
    """The table of attempts to connect."""
    schema = tables.CONNECTIONS.schema
    unsaid = {name: [None] * rows.attempts for name in ("tcp_connected_ns", "resumed", "alert")}
    columns = {**unsaid, **rows.connections, "host": ["local"] * rows.attempts}
    arrays = [
        pa.array(columns[entry.name]).dictionary_encode()
        if pa.types.is_dictionary(entry.type)
        else pa.array(columns[entry.name], entry.type)
        for entry in schema
    ]
    return pa.table(arrays, names=schema.names).cast(schema)


def kept(asked: Options, requests: pa.Table) -> pa.Table:
    """The rows of requests that were not lost."""
    if asked.drop_ratio == 0:
        return requests
    draw = np.random.default_rng([asked.seed, 77])
    return requests.filter(pa.array(draw.random(len(requests)) >= asked.drop_ratio))


def instants_of(table: pa.Table, name: str) -> np.ndarray:
    """A column of instants, those that never came far in the future."""
    return table[name].combine_chunks().fill_null(np.iinfo(np.int64).max // 4).to_numpy()


def accumulated(starts: np.ndarray, ends: np.ndarray, at_ns: np.ndarray) -> np.ndarray:
    """Time spent between starts and ends up to some instants, summed over the rows."""
    return np.array([(np.minimum(ends, t) - np.minimum(starts, t)).sum() for t in at_ns])


def usage_of(
    asked: Options,
    stages: tuple[RecordedStage, ...],
    requests: pa.Table,
    connections: pa.Table,
) -> pa.Table:
    """Readings of the server, the driver and the machine, about once a second."""
    end_ns = stages[-1].end_ns
    seconds = end_ns // SECOND_NS
    ticks = np.array([*(k * SECOND_NS + 400_000 for k in range(1, seconds + 1)), end_ns + 500_000])
    whole = (second * SECOND_NS + 3_000_000 for second in range(seconds + 1))
    samples = np.unique([-200_000_000, *whole, end_ns + 60_000_000])
    readings = [
        *driver_readings(asked, stages, requests, connections, np.unique(ticks)),
        *sampled_readings(asked, stages, samples),
        *kernel_readings(asked, stages, requests, connections, samples),
        *energy_readings(asked, stages, samples),
    ]
    rows = [risen(asked, one, end_ns) for one in readings if one[2] not in asked.without]
    rows.sort(key=lambda reading: reading[0])
    columns = list(zip(*rows, strict=True))
    arrays = [
        pa.array(columns[0], pa.int64()),
        pa.array(["local"] * len(rows)).dictionary_encode(),
        pa.array(columns[1]).dictionary_encode(),
        pa.array(columns[2]).dictionary_encode(),
        pa.array(columns[3], pa.float64()),
    ]
    return pa.table(arrays, names=tables.USAGE.schema.names).cast(tables.USAGE.schema)


Reading = tuple[int, str, str, float]


def risen(asked: Options, reading: Reading, end_ns: int) -> Reading:
    """A reading of what is said to rise evenly under load, as it then is; others as they are."""
    at_ns, scope, quantity, value = reading
    rise = asked.rising.get(f"{scope}.{quantity}")
    loaded_s = min(max(at_ns, 0), end_ns) / SECOND_NS
    return (at_ns, scope, quantity, value if rise is None else rise * loaded_s)


def driver_readings(
    asked: Options,
    stages: tuple[RecordedStage, ...],
    requests: pa.Table,
    connections: pa.Table,
    at_ns: np.ndarray,
) -> list[Reading]:
    """What the driver says of itself."""
    sent, done = instants_of(requests, "sent_ns"), instants_of(requests, "done_ns")
    opened, closed = instants_of(connections, "connected_ns"), instants_of(connections, "closed_ns")
    spent = accumulated(sent, np.maximum(sent, done), at_ns)
    before = np.concatenate([[0], at_ns[:-1]])
    mean = np.diff(np.concatenate([[0], spent])) / (at_ns - before) * asked.in_flight_factor
    inside = np.minimum(at_ns, stages[-1].end_ns - 1)
    apart_s = asked.counts_apart_s
    apart = {} if apart_s is None else {"counts_apart_s": [apart_s] * len(at_ns)}
    series = {
        "in_flight_mean": mean,
        **apart,
        "in_flight": [int(((sent <= t) & (done > t)).sum()) for t in at_ns],
        "connections_requested": level_at(stages, inside),
        "connections_open": [int(((opened <= t) & (closed > t)).sum()) for t in at_ns],
        "requests_sent": [int((sent <= t).sum()) for t in at_ns],
        "requests_ended": [int((done <= t).sum()) for t in at_ns],
        "received_bytes": [(done <= t).sum() * float(asked.body_bytes + 120) for t in at_ns],
    }
    return [
        (int(t), "driver", name, float(value))
        for name, values in series.items()
        for t, value in zip(at_ns, values, strict=True)
    ]


def sampled_readings(
    asked: Options, stages: tuple[RecordedStage, ...], at_ns: np.ndarray
) -> list[Reading]:
    """What the kernel says of server, driver and machine."""
    loaded_s = np.clip(at_ns, 0, stages[-1].end_ns) / SECOND_NS
    queued = [asked.queue if stage_kind(stages, int(t)) == "hold" else 0 for t in at_ns]
    own = overflows_by(asked, stages, at_ns, asked.overflows)
    turned_away = own + overflows_by(asked, stages, at_ns, asked.others_overflows)
    busy = {
        core: asked.server_busy / max(len(asked.server_cores), 1) for core in asked.server_cores
    }
    for core in asked.driver_cores:
        busy[core] = busy.get(core, 0.0) + asked.driver_busy / len(asked.driver_cores)
    by_database = (asked.database_busy or 0.0) / len(asked.database_cores)
    for core in asked.database_cores if by_database else ():
        busy[core] = busy.get(core, 0.0) + by_database
    others = {
        core: min(asked.others_busy, 1.0 - busy[core])
        for core in (busy if asked.others_on is None else asked.others_on)
    }
    begin_s, end_s = asked.taken_s or (0.0, math.inf)
    taken_s = np.clip(loaded_s, begin_s, end_s) - begin_s
    series: dict[tuple[str, str], Any] = {
        ("server", "cpu_user_s"): 1.0 + 0.7 * asked.server_busy * loaded_s,
        ("server", "cpu_system_s"): 0.2 + 0.3 * asked.server_busy * loaded_s,
        ("server", "run_delay_s"): 0.5 + asked.run_delay * loaded_s,
        ("server", "run_time_s"): 1.0 + asked.server_busy * loaded_s,
        ("driver", "run_delay_s"): asked.run_delay * loaded_s,
        ("driver", "run_time_s"): asked.driver_busy * loaded_s,
        ("server", "rss_bytes"): 60e6 + 1e6 * loaded_s,
        ("server", "pss_bytes"): 50e6 + 1e6 * loaded_s,
        ("server", "threads"): np.full(len(at_ns), 8),
        ("server", "processes"): np.full(len(at_ns), 1),
        ("server", "open_files"): np.full(len(at_ns), 12 + asked.connections),
        ("server", "listen_queue"): queued,
        ("server", "listen_backlog"): np.full(len(at_ns), asked.backlog),
        ("driver", "cpu_user_s"): 0.3 * asked.driver_busy * loaded_s,
        ("driver", "cpu_system_s"): 0.7 * asked.driver_busy * loaded_s,
        ("driver", "rss_bytes"): np.full(len(at_ns), 30e6),
        ("machine", "core_busy_s"): 500
        + sum(busy.values()) * loaded_s
        + sum(others.values()) * taken_s,
        ("machine", "listen_overflows"): 7 + turned_away,
        ("machine", "listen_drops"): 7 + turned_away,
        ("machine", "cpu_steal_s"): asked.stolen * len(busy) * taken_s,
        ("machine", "core_interrupt_s"): np.full(len(at_ns), 3.0),
    }
    if asked.database_busy is not None and asked.database_started:
        series["database", "cpu_user_s"] = 0.7 * asked.database_busy * loaded_s
        series["database", "cpu_system_s"] = 0.3 * asked.database_busy * loaded_s
    for core, share in busy.items():
        series["machine", f"core{core}_busy_s"] = (
            250 + share * loaded_s + others.get(core, 0.0) * taken_s
        )
        series["machine", f"core{core}_interrupt_s"] = np.full(len(at_ns), 1.5)
        series["machine", f"core{core}_steal_s"] = asked.stolen * taken_s
    if asked.own_drops:
        stray = overflows_by(asked, stages, at_ns, asked.stray_drops)
        series["server", "listen_drops"] = own + stray
    return [
        (int(t), scope, name, float(value))
        for (scope, name), values in series.items()
        for t, value in zip(at_ns, values, strict=True)
    ]


def kernel_readings(
    asked: Options,
    stages: tuple[RecordedStage, ...],
    requests: pa.Table,
    connections: pa.Table,
    at_ns: np.ndarray,
) -> list[Reading]:
    """What the kernel counts of the same connections and requests, and how the host fares."""
    opened, closed = instants_of(connections, "connected_ns"), instants_of(connections, "closed_ns")
    sent, came = instants_of(requests, "sent_ns"), instants_of(requests, "first_byte_ns")
    seen = 1.0 - asked.unseen
    handshakes = np.array([(opened <= t).sum() for t in at_ns])
    asking = np.array([(sent <= t).sum() for t in at_ns])
    answers = np.array([(came <= t).sum() for t in at_ns])
    carried = answers * (asked.body_bytes + 120 + 100.0) + asking * 100.0 + 132.0 * handshakes
    claimed = answers * (asked.body_bytes + 120 + 100.0)
    loaded_s = np.clip(at_ns, 0, stages[-1].end_ns) / SECOND_NS
    end_s = stages[-1].end_ns / SECOND_NS
    none = np.zeros(len(at_ns))
    series: dict[tuple[str, str], Any] = {
        ("machine", "tcp_active_opens"): 50 + seen * handshakes,
        ("machine", "tcp_passive_opens"): 40 + seen * handshakes,
        ("machine", "tcp_segments_out"): 900 + (asking + answers) * (seen if asked.unseen else 1.1),
        ("machine", "tcp_retransmits"): 5 + overflows_by(asked, stages, at_ns, asked.retransmits),
        ("machine", "tcp_timeouts"): none,
        ("machine", "tcp_resets_sent"): none + 4,
        ("machine", "syncookies_sent"): none,
        ("machine", "tcp_time_wait"): none + asked.resting_ports,
        ("machine", "network_received_bytes"): 1e6 + (seen * claimed if asked.unseen else carried),
        ("machine", "link_received_bytes"): 1e6 + claimed,
        ("machine", "link_sent_bytes"): 1e6 + asking * 170.0,
        ("machine", "tracking_drops"): none,
        ("machine", "swapped_pages"): 10 + asked.swapped_per_s * loaded_s,
        ("machine", "oom_kills"): none + np.where(loaded_s > end_s / 2, asked.killed, 0),
        ("machine", "pressure_memory_s"): none,
        ("machine", "pressure_io_s"): 0.01 * loaded_s,
        ("machine", "cgroup_throttled_s"): asked.throttled * loaded_s,
        ("machine", "frequency_hz"): 3e9 * (1 - asked.frequency_fall * loaded_s / end_s),
        ("machine", "thermal_throttles"): none + 2,
        ("server", "major_faults"): none + 12,
        ("server", "open_files_ratio"): none + asked.files_ratio,
        ("server", "connections_established"): [
            round(((opened <= t) & (closed > t)).sum() * asked.server_sockets) for t in at_ns
        ],
        ("driver", "open_files_ratio"): none + 0.1,
        ("driver", "round_trip_min_s"): none + asked.round_trip_s,
    }
    return [
        (int(t), scope, name, float(value))
        for (scope, name), values in series.items()
        for t, value in zip(at_ns, values, strict=True)
    ]


def energy_readings(
    asked: Options, stages: tuple[RecordedStage, ...], at_ns: np.ndarray
) -> list[Reading]:
    """Energy of the host under load, and before and after it, when idle, with some scatter."""
    if asked.power_w is None:
        return []
    idle_w, loaded_w = asked.power_w
    whole = np.arange(asked.idle_s + 1)
    scatter = 0.2 * np.cumsum(np.where(whole % 2, 1.0, -1.0))
    sides = (-5.0 - asked.idle_s, stages[-1].end_ns / SECOND_NS + 5.0)
    idle = [
        (round((start_s + second) * SECOND_NS), idle_w * (start_s + second + 100) + scatter[second])
        for start_s in sides
        for second in whole
    ]
    loaded = [(int(t), loaded_w * t / SECOND_NS) for t in at_ns]
    return [
        *((at, "machine", "idle_energy_j", float(value)) for at, value in idle),
        *((at, "machine", "energy_j", float(value)) for at, value in loaded),
    ]


def as_open(
    trial: Tables, rate_per_s: float, late_ns: int = 0, arrivals: Arrivals = "constant"
) -> Tables:
    """The same requests, as if a schedule had asked for them.

    Args:
        trial: A simulated trial.
        rate_per_s: Arrivals per second that the hold is said to have asked for.
        late_ns: How long each request waited in the driver.
        arrivals: How they are spaced.
    """
    recording, requests = trial.recording, as_stored(trial.requests)
    assert requests is not None
    assert isinstance(recording.load, Load)
    load = dataclasses.replace(recording.load, model="open", connections=20, arrivals=arrivals)
    stages = tuple(
        dataclasses.replace(stage, start=rate_per_s, end=rate_per_s) for stage in recording.stages
    )
    index = requests.schema.get_field_index("due_ns")
    due = pc.coalesce(pc.subtract(requests["sent_ns"], late_ns), requests["due_ns"])
    return dataclasses.replace(
        trial,
        recording=dataclasses.replace(recording, load=load, stages=stages),
        requests=requests.set_column(index, requests.schema.field(index), due),
    )


def as_mix(trial: Tables, share: float, weights: tuple[float, ...] = (3.0, 1.0)) -> Tables:
    """The same requests, as if they were of two kinds.

    Args:
        trial: A simulated trial.
        share: Share of the second kind.
        weights: Weights that were asked for.
    """
    requests = as_stored(trial.requests)
    assert requests is not None
    kinds = np.random.default_rng(5).random(requests.num_rows) < share
    index = requests.schema.get_field_index("request")
    recording = dataclasses.replace(
        trial.recording,
        requests=("often", "seldom"),
        request_weights=weights,
        request_bytes=(100, 100),
        expected=trial.recording.expected * 2,
    )
    column = pa.array(kinds.astype(np.uint16))
    requests = requests.set_column(index, requests.schema.field(index), column)
    return dataclasses.replace(trial, recording=recording, requests=requests)


def stage_kind(stages: tuple[RecordedStage, ...], at_ns: int) -> str:
    """Kind of the stage at an instant; empty outside."""
    return next((s.kind for s in stages if s.start_ns <= at_ns < s.end_ns), "")


def overflows_by(
    asked: Options, stages: tuple[RecordedStage, ...], at_ns: np.ndarray, number: int
) -> np.ndarray:
    """Connections turned away up to some instants, in the middle half of the stage named."""
    for stage in stages:
        if stage.kind == asked.overflow_stage:
            quarter = (stage.end_ns - stage.start_ns) / 4
            share = (at_ns - stage.start_ns - quarter) / (2 * quarter)
            return np.round(np.clip(share, 0, 1) * number)
    return np.zeros(len(at_ns))


def recording_of(
    asked: Options,
    stages: tuple[RecordedStage, ...],
    requests: pa.Table,
    connections: pa.Table,
) -> Recording:
    """The recording of a simulated trial."""
    driver = driver_of(asked, requests, connections)
    return Recording(
        trial=asked.id,
        order=asked.order,
        framework=asked.framework,
        variant=asked.variant,
        language=asked.language,
        endpoint=asked.endpoint,
        load=load_of(asked),
        repetition=asked.repetition,
        driver_name="plimsoll",
        seed=asked.seed,
        zero_utc="2026-01-02T03:04:05.000000+00:00",
        stages=stages,
        requests=(asked.endpoint,),
        machines={
            "local": {
                "cores": 2,
                "system": "Linux",
                "processor": "simulated",
                "port_first": 32768,
                "port_last": 60999,
                "interrupt_time": asked.interrupt_time,
            }
        },
        versions={"plimsoll": "0.1.0", asked.framework: "1.0", asked.language: "1.0"},
        clock_offsets_ns={"local": 0},
        ending=asked.ending,
        server=server_of(asked),
        driver=driver,
        database=database_of(asked, driver),
        upstream=upstream_of(asked, driver),
        contract=asked.contract,
        notes=asked.notes,
        limits=asked.limits,
        request_bytes=(100,),
        request_weights=(1.0,),
        expected=() if asked.expected is None else (asked.expected,),
    )


def database_of(asked: Options, driver: Driver) -> RecordedDatabase | None:
    """The database's side of a simulated trial; a response reads 40 rows and writes 20."""
    if asked.database_busy is None:
        return None
    responses = driver.outcomes["ok"] + 100
    return RecordedDatabase(
        version="15.14",
        cores=asked.database_cores,
        started=asked.database_started,
        read_per_response=40,
        written_per_response=20,
        contract_responses=100,
        rows_read=None if asked.rows_read is None else round(asked.rows_read * 40 * responses),
        rows_written=round(asked.rows_written * 20 * responses),
        commits=responses,
    )


def upstream_of(asked: Options, driver: Driver) -> RecordedUpstream | None:
    """The upstream's side of a simulated trial."""
    if asked.upstream_s is None:
        return None
    responses, share = driver.outcomes["ok"] + 100, asked.upstream_asked
    return RecordedUpstream(
        service_s=asked.upstream_s,
        cores=(2,),
        contract_responses=100,
        requests=None if share is None else round(share * responses),
    )


def load_of(asked: Options) -> Load:
    """The load as it was requested."""
    hold_s = asked.hold_s if asked.hold_requested_s is None else asked.hold_requested_s
    lengths = {"warm_up": asked.warm_up_s, "ramp": asked.ramp_s, "hold": hold_s}
    stages = tuple(
        Stage(stage.kind, lengths[stage.kind], stage.start, stage.end, stage.steps)
        for stage in stages_of(asked)
    )
    return Load(asked.load, "closed", stages, timeout_s=asked.timeout_s)


def server_of(asked: Options) -> RecordedServer:
    """The server's side of a simulated trial."""
    return RecordedServer(
        address="127.0.0.1:8080",
        cores=asked.server_cores,
        workers=len(asked.server_cores),
        start_s=0.4,
        rest_rss_bytes=40_000_000,
        listeners=1,
        backlog=asked.backlog,
        somaxconn=asked.somaxconn,
        exit_code=0,
        clean_stop=True,
        link="lo" if asked.link_bits_per_s is None else "eth0",
        link_bits_per_s=asked.link_bits_per_s,
    )


def driver_of(asked: Options, requests: pa.Table, connections: pa.Table) -> Driver:
    """The driver's side of a simulated trial, with its own counters."""
    counted = requests["outcome"].value_counts().to_pylist()
    outcomes = {entry["values"]: entry["counts"] for entry in counted}
    attempts = connections["connected_ns"]
    compared = pc.sum(requests["compared"]).as_py() or 0
    return Driver(
        name="plimsoll",
        version="0.1.0",
        cores=asked.driver_cores,
        threads=asked.workers,
        ended_by=asked.ended_by,
        cpu_s=asked.driver_busy * stages_of(asked)[-1].end_ns / SECOND_NS,
        peak_rss_bytes=30_000_000,
        connections_requested=asked.connections,
        requests_lost_by_recorder=asked.lost_rows,
        bodies_compared=compared,
        sent=len(requests) - requests["sent_ns"].null_count,
        outcomes=outcomes,
        opened=len(attempts) - attempts.null_count,
        refused=attempts.null_count,
        longest_pause_ns=asked.longest_pause_ns,
        calibrated_capacity_per_s=asked.capacity_per_s,
    )


def with_stalled_connections(trial: Tables, connections: int, stall_ns: int) -> Tables:
    """The same requests, if the server answered some connections late in each second.

    Args:
        trial: A simulated trial.
        connections: How many connections stall.
        stall_ns: For how long, from the beginning of each second.
    """
    requests = as_stored(trial.requests)
    assert requests is not None
    numbers, sent = requests["connection"].to_numpy(), instants_of(requests, "sent_ns")
    known, counts = np.unique(numbers, return_counts=True)
    chosen = known[np.argsort(-counts)[:connections]]
    stalled = np.isin(numbers, chosen) & (sent % SECOND_NS < stall_ns)
    pairs = np.stack([numbers, sent // SECOND_NS], axis=1)[stalled]
    first = np.flatnonzero(stalled)[np.unique(pairs, axis=0, return_index=True)[1]]
    done = requests["done_ns"].to_numpy(zero_copy_only=False).copy()
    done[first] = sent[first] // SECOND_NS * SECOND_NS + stall_ns
    kept = ~stalled
    kept[first] = True
    index = requests.schema.get_field_index("done_ns")
    column = pa.array(done, requests.schema.field(index).type, from_pandas=True)
    requests = requests.set_column(index, requests.schema.field(index), column)
    return dataclasses.replace(trial, requests=requests.filter(pa.array(kept)))


def hung(trial: Tables, for_ns: int) -> Tables:
    """The same requests, if the server had not responded for so long before the end of the load.

    Args:
        trial: A simulated trial.
        for_ns: How long before.
    """
    requests = as_stored(trial.requests)
    assert requests is not None
    since_ns = trial.recording.stages[-1].end_ns - for_ns
    is_late = pc.fill_null(pc.greater(requests["done_ns"], since_ns), fill_value=True)
    for name, value in {"done_ns": None, "first_byte_ns": None, "outcome": "unfinished"}.items():
        field = requests.schema.field(name)
        is_text = value is not None
        plain = requests[name].cast(pa.string()) if is_text else requests[name]
        column = pc.if_else(is_late, pa.scalar(value, plain.type), plain).cast(field.type)
        requests = requests.set_column(requests.schema.get_field_index(name), field, column)
    return dataclasses.replace(trial, requests=requests)


def as_load(trial: Tables) -> Tables:
    """The same trial, put on a server that ran already."""
    assert trial.recording.server is not None
    server = dataclasses.replace(trial.recording.server, start_s=None)
    recording = dataclasses.replace(trial.recording, server=server)
    return dataclasses.replace(trial, recording=recording)


def with_speeds(trial: Tables, *speeds: float) -> Tables:
    """The same trial by a load generator whose work for a request costs as the machine's speed is.

    Args:
        trial: The trial.
        speeds: One factor for each second from zero, the last one for the rest.
    """
    ended = trial.usage.of("driver", "requests_ended")[0]
    grown = np.diff(ended.values, prepend=0.0)
    place = np.clip(np.rint(ended.at_ns / 1e9).astype(int) - 1, 0, len(speeds) - 1)
    ran = np.cumsum(grown / np.array(speeds)[place])
    ran *= 0.5 * ended.at_ns[-1] / 1e9 / ran[-1]
    series = {
        **trial.usage.series,
        ("driver", "run_time_s"): (ReadingSeries(ended.at_ns, ran),),
        ("driver", "cpu_user_s"): (ReadingSeries(ended.at_ns, np.round(ran, 2)),),
        ("driver", "cpu_system_s"): (ReadingSeries(ended.at_ns, 0.0 * ran),),
        ("driver", "voluntary_switches"): (ReadingSeries(ended.at_ns, 0.1 * ended.values),),
    }
    trial.__dict__["usage"] = Usage(series)
    return trial
