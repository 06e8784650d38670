"""The data dictionary: every table, column, type, unit and meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

Stored = Literal["recorded", "derived"]


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        name: Name, with its unit.
        type: Arrow type.
        meaning: Its meaning in one line.
        nullable: Whether a value may be absent.
    """

    name: str
    type: pa.DataType
    meaning: str
    nullable: bool = False


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes:
        name: Name; also the file's name.
        stored: `recorded` (raw, never rewritten) or `derived` (deletable).
        row: What one row is.
        columns: Its columns in order.
    """

    name: str
    stored: Stored
    row: str
    columns: tuple[Column, ...]

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema."""
        return pa.schema(
            [pa.field(column.name, column.type, column.nullable) for column in self.columns]
        )


@dataclass(frozen=True)
class Quantity:
    """One quantity of the table `usage`.

    Attributes:
        name: Name, with its unit.
        kind: `gauge` (a level at an instant) or `counter` (grows; differences count).
        meaning: Its meaning, and its source.
    """

    name: str
    kind: Literal["gauge", "counter"]
    meaning: str


_TEXT = pa.dictionary(pa.int32(), pa.string())

REQUESTS = Table(
    "requests",
    "recorded",
    "one request that was due",
    (
        Column(
            "due_ns",
            pa.int64(),
            "intended start by the schedule; null when unknown",
            True,
        ),
        Column("sent_ns", pa.int64(), "handed to the kernel; null when never sent", True),
        Column(
            "first_byte_ns",
            pa.int64(),
            "first byte of the response; null when there was none",
            True,
        ),
        Column("done_ns", pa.int64(), "its end, successful or not; null when unfinished", True),
        Column(
            "received_bytes",
            pa.uint32(),
            "bytes of the response, head and body; null when unknown",
            True,
        ),
        Column(
            "body_bytes",
            pa.uint32(),
            "bytes of the body without its transfer coding; null when incomplete or unknown",
            True,
        ),
        Column(
            "compared",
            pa.bool_(),
            "whether the body was compared byte for byte; null when none was expected, or status "
            "or length were wrong already",
            True,
        ),
        Column("request", pa.uint16(), "index into the trial's request types"),
        Column("connection", pa.uint32(), "connection attempt that carried it, per worker", True),
        Column("worker", pa.uint16(), "load generator thread"),
        Column("host", _TEXT, "load generator host"),
        Column(
            "status",
            pa.uint16(),
            "status code, of `close_received` that of the close frame; null when none was read",
            True,
        ),
        Column("outcome", _TEXT, "how it ended"),
        Column(
            "errno",
            pa.uint8(),
            "error number of the system, or of HTTP/2 for a stream reset or refused; null for none",
            True,
        ),
        Column(
            "sent_bytes",
            pa.uint32(),
            "bytes of the request; null when unknown, and as the driver `plimsoll` records it: "
            "`request_bytes` in `trial.json` has those of each request type; the export `parquet` "
            "and the relation `trial.requests` fill them in",
            True,
        ),
    ),
)

CONNECTIONS = Table(
    "connections",
    "recorded",
    "one connection attempt",
    (
        Column("due_ns", pa.int64(), "when connect was called"),
        Column(
            "connected_ns",
            pa.int64(),
            "ready for requests: TCP, TLS if any and upgrade if any complete; null when one failed",
            True,
        ),
        Column("closed_ns", pa.int64(), "its end; null when open at the end of the trial", True),
        Column("requests", pa.uint32(), "requests sent on it; null when unknown", True),
        Column(
            "responses",
            pa.uint32(),
            "responses with at least one byte; null when unknown",
            True,
        ),
        Column("connection", pa.uint32(), "number of the attempt, per worker"),
        Column("worker", pa.uint16(), "load generator thread"),
        Column("host", _TEXT, "load generator host"),
        Column(
            "outcome", _TEXT, "how the attempt, or the connection, ended; null when unknown", True
        ),
        Column(
            "errno",
            pa.uint8(),
            "error number of the system, or of HTTP/2 for a stream reset or refused; null for none",
            True,
        ),
        Column(
            "tcp_connected_ns",
            pa.int64(),
            "TCP connection complete, before any TLS or upgrade; null when it failed or unknown",
            True,
        ),
        Column(
            "resumed",
            pa.bool_(),
            "whether an earlier TLS session was resumed; null without a TLS handshake",
            True,
        ),
        Column(
            "alert",
            pa.uint8(),
            "number of the TLS alert that the server sent; null when it sent none",
            True,
        ),
    ),
)

USAGE = Table(
    "usage",
    "recorded",
    "one reading of one resource",
    (
        Column("at_ns", pa.int64(), "time of the reading; negative before the load"),
        Column("host", _TEXT, "host that was read"),
        Column(
            "scope",
            _TEXT,
            "`server`, `driver`, `database`, `upstream` (process trees) or `machine`",
        ),
        Column("quantity", _TEXT, "name in the list of quantities"),
        Column("value", pa.float64(), "the reading"),
    ),
)

_PERCENTILES = ("p25", "p50", "p75", "p95", "p99", "max")

STATISTICS = ("mean", "min", "p25", "p50", "p75", "p90", "p95", "p99", "p999", "p9999", "max")
"""Statistics of a time in `summaries`, in the order of a table."""


def _times(name: str, statistics: tuple[str, ...], meaning: str) -> tuple[Column, ...]:
    return tuple(
        Column(f"{name}_{statistic}_ns", pa.float64(), f"{meaning}: {statistic}", True)
        for statistic in statistics
    )


def _power(source: str, how: str) -> tuple[Column, ...]:
    """Power and energy of the host as one source has them."""
    meanings = {
        "power_w": f"mean power {how}",
        "idle_power_w": "the same without load, before and after",
        "net_power_w": "difference of both; null where it is not distinguishable from idle",
        "net_power_low_w": "lower end of its 95 % interval, by the seconds of the trial",
        "net_power_high_w": "upper end of it",
        "j_per_ok": "joules per successful response, by all power",
        "net_j_per_ok": "joules per successful response, by net power",
    }
    return tuple(
        Column(f"{source}_{name}", pa.float64(), meaning, True)
        for name, meaning in meanings.items()
    )


SECONDS = Table(
    "seconds",
    "derived",
    "one second of one trial; a second without a response is a row of zeros, and counts are null "
    "where the driver kept no record of its requests",
    (
        Column("trial", _TEXT, "id of the trial"),
        Column("second", pa.int32(), "seconds since the trial's zero, rounded down"),
        Column(
            "stage",
            _TEXT,
            "stage at the middle of the load's part of the second; `after` after the last one",
        ),
        Column("requested_level", pa.float64(), "requested level at the same instant"),
        Column("due", pa.int64(), "requests due in it; null when unknown", True),
        Column("completed", pa.int64(), "complete responses, successful or not", True),
        Column("ok", pa.int64(), "successful responses", True),
        Column("failed", pa.int64(), "requests that ended in it without success", True),
        Column("open_connections", pa.float64(), "connections open, by the driver's count", True),
        Column("in_flight", pa.float64(), "mean requests in flight, by the driver's clock", True),
        *_times("response_time", _PERCENTILES, "done − due of complete responses"),
        *_times("service_time", _PERCENTILES, "done − sent of complete responses"),
        Column("first_byte_p50_ns", pa.float64(), "first byte − sent: median", True),
        Column("received_bytes", pa.int64(), "bytes of the responses that ended in it", True),
        Column("server_busy_cores", pa.float64(), "busy cores of the server", True),
        Column("server_rss_bytes", pa.float64(), "memory of the server's processes", True),
        Column("driver_busy_cores", pa.float64(), "busy cores of the load generator", True),
        Column("driver_rss_bytes", pa.float64(), "memory of the load generator", True),
        Column("machine_busy_cores", pa.float64(), "cores busy on the server's host", True),
        Column("listen_queue", pa.float64(), "connections waiting to be accepted", True),
        Column("listen_overflows", pa.float64(), "connections that found the queue full", True),
    ),
)

IDENTITY = (
    Column("framework", _TEXT, "framework and variant"),
    Column("endpoint", _TEXT, "endpoint"),
    Column("load", _TEXT, "load"),
    Column("driver", _TEXT, "load generator"),
    Column("repetition", pa.int32(), "number of the repetition, from 1"),
)
"""What a trial measures, and which repetition it is: the first columns of `summaries`."""

SUMMARIES = Table(
    "summaries",
    "derived",
    "one trial, its measurement window only",
    (
        *IDENTITY,
        Column("trial", _TEXT, "id of the trial"),
        Column("duration_s", pa.float64(), "length of the measurement window"),
        Column("completed", pa.int64(), "complete responses, successful or not"),
        Column(
            "ok", pa.int64(), "successful responses; a body that was not compared counts as correct"
        ),
        Column("failed", pa.int64(), "requests that ended without success"),
        Column("unfinished", pa.int64(), "requests in flight or waiting at the very end", True),
        Column("throughput_per_s", pa.float64(), "complete responses per second"),
        Column(
            "goodput_per_s",
            pa.float64(),
            "successful responses per second; null when bodies were wrong and not all compared",
            True,
        ),
        Column("failure_ratio", pa.float64(), "failed / (ok + failed); null when both are 0", True),
        *_times("response_time", STATISTICS, "done − due of complete responses"),
        *_times("service_time", STATISTICS, "done − sent of complete responses"),
        *_times("first_byte", STATISTICS, "first byte − sent of complete responses"),
        *_times("connect", STATISTICS, "handshakes that completed, of the whole trial"),
        *_times("lag", STATISTICS, "sent − due of complete responses"),
        Column("received_bytes", pa.int64(), "bytes of the responses", True),
        Column("received_bytes_per_s", pa.float64(), "bytes of the responses per second", True),
        Column("sent_bytes", pa.int64(), "bytes of the requests that began to be sent", True),
        Column(
            "connections_requested", pa.int64(), "largest number of connections requested", True
        ),
        Column("connections_opened", pa.int64(), "handshakes that completed, whole trial", True),
        Column(
            "connections_with_response",
            pa.int64(),
            "of these, with at least one response byte",
            True,
        ),
        Column("connections_refused", pa.int64(), "failed connection attempts, whole trial", True),
        Column(
            "connections_lost",
            pa.int64(),
            "connections that closed by the server or by an error",
            True,
        ),
        Column("connections_peak_open", pa.int64(), "largest number of open connections", True),
        Column(
            "open_connections", pa.float64(), "mean connections open, by the driver's count", True
        ),
        Column("in_flight", pa.float64(), "mean requests in flight, by the driver's clock", True),
        Column("server_busy_cores", pa.float64(), "busy cores of the server", True),
        Column(
            "server_cpu_s_per_request", pa.float64(), "its CPU seconds per complete response", True
        ),
        Column(
            "requests_per_core_s",
            pa.float64(),
            "complete responses per CPU second of the server",
            True,
        ),
        Column("server_peak_rss_bytes", pa.float64(), "peak memory of its processes", True),
        Column("server_peak_pss_bytes", pa.float64(), "the same, shared pages counted once", True),
        *_power("rapl", "by RAPL: processor packages and memory"),
        *_power("wall", "by the meter at the wall"),
        Column("driver_busy_cores", pa.float64(), "busy cores of the load generator", True),
        Column("driver_peak_busy_ratio", pa.float64(), "busiest second of its busiest core", True),
        Column(
            "source", _TEXT, "`requests` when computed from the rows, else the tool's own figures"
        ),
    ),
)

MEASURED = SUMMARIES.columns[len(IDENTITY) :]
"""The other columns of `summaries`, which are the attributes of `aggregate.summary.Summary`."""

STAGES = Table(
    "stages",
    "derived",
    "one stage of one trial; a request belongs to the stage in which it ended (`done_ns`)",
    (
        Column("trial", _TEXT, "id of the trial"),
        Column("number", pa.int32(), "its place among the stages of the trial, from 1"),
        Column("stage", _TEXT, "`warm_up`, `ramp` or `hold`; summaries are of the holds"),
        Column("start_ns", pa.int64(), "its beginning"),
        Column("end_ns", pa.int64(), "its end, which is the beginning of the next one"),
        Column("requested_from", pa.float64(), "connections or rate requested at its beginning"),
        Column("requested_to", pa.float64(), "the same at its end"),
    ),
)

COMPARISONS = Table(
    "comparisons",
    "derived",
    "one quantity of one framework at one endpoint and load, by one driver, over repetitions",
    (
        Column("framework", _TEXT, "framework and variant"),
        Column("endpoint", _TEXT, "endpoint"),
        Column("load", _TEXT, "load"),
        Column("driver", _TEXT, "load generator; nothing is compared across load generators"),
        Column("quantity", _TEXT, "column of `summaries`"),
        Column("median", pa.float64(), "median over the valid repetitions", True),
        Column(
            "low", pa.float64(), "lower end of the 95 % interval; null below 2 repetitions", True
        ),
        Column("high", pa.float64(), "upper end of it", True),
        Column("repetitions", pa.int32(), "valid repetitions"),
        Column("excluded", pa.int32(), "excluded repetitions: void, or without a recording"),
        Column("rank_low", pa.int32(), "best rank it may have (throughput and goodput only)", True),
        Column("rank_high", pa.int32(), "worst rank it may have", True),
        Column(
            "scatter_ratio",
            pa.float64(),
            "standard deviation of one repetition on logarithms, pooled over the frameworks of the "
            "table; null where none was repeated",
            True,
        ),
        Column("best_framework", _TEXT, "the best by this quantity; null where none is", True),
        Column("ratio_to_best", pa.float64(), "its value / that of the best, by the model", True),
        Column(
            "ratio_to_best_low",
            pa.float64(),
            "lower end of the 95 % interval of this ratio; all of a table hold at once",
            True,
        ),
        Column("ratio_to_best_high", pa.float64(), "upper end of it", True),
        Column("next_framework", _TEXT, "the next one after it; null for the last", True),
        Column("ratio_to_next", pa.float64(), "its value / that of the next, by the model", True),
        Column(
            "ratio_to_next_low", pa.float64(), "lower end of the 95 % interval of this ratio", True
        ),
        Column("ratio_to_next_high", pa.float64(), "upper end of it", True),
    ),
)

QUANTILES = Table(
    "quantiles",
    "derived",
    "one quantile of the time of complete responses of one trial, in its measurement window; "
    "exact, evenly spaced by log 1 / (1 − q), with at least ten responses above it",
    (
        Column("trial", _TEXT, "id of the trial"),
        Column(
            "time", _TEXT, "`response_time`, or `service_time` where intended starts are unknown"
        ),
        Column("quantile", pa.float64(), "share of the responses that took no longer, 0 to 1"),
        Column("value_ns", pa.int64(), "the time"),
    ),
)

LATENCY_BUCKETS = Table(
    "latency_buckets",
    "derived",
    "the complete responses of one trial that ended in some seconds after a latency in one bucket, "
    "warm-up and ramps too; bucket `b` reaches from 10^(b/10) to 10^((b+1)/10) ns, so each is "
    "1.26 × as wide as the one before. Cells without a response have no row",
    (
        Column("trial", _TEXT, "id of the trial"),
        Column(
            "time", _TEXT, "`response_time`, or `service_time` where intended starts are unknown"
        ),
        Column("second", pa.int32(), "the first of the seconds, since the trial's zero"),
        Column("seconds", pa.int32(), "how many seconds: 1, or more in a long trial"),
        Column("bucket", pa.int16(), "number of the bucket of latency"),
        Column("completed", pa.int64(), "complete responses, successful or not"),
        Column("held", pa.int64(), "of these, those in the measurement window"),
    ),
)

TABLES = (
    *(REQUESTS, CONNECTIONS, USAGE, SECONDS, SUMMARIES),
    *(STAGES, QUANTILES, LATENCY_BUCKETS, COMPARISONS),
)
"""Every table that storages and exports have."""

FAILURES_BY_SECOND = Table(
    "failures_by_second",
    "derived",
    "one kind of failure in one second of a trial",
    (
        Column("second", pa.int32(), "seconds since the trial's zero, rounded down"),
        Column("outcome", pa.string(), "how the requests ended"),
        Column(
            "errno",
            pa.int32(),
            "error number of the system, or of HTTP/2 for a stream reset or refused; null for none",
            True,
        ),
        Column(
            "status",
            pa.int32(),
            "status code that was not expected, or code of the close frame; null for others",
            True,
        ),
        Column("count", pa.int64(), "number of requests"),
        Column("held", pa.int64(), "of these, in the measurement window"),
        Column("first_ns", pa.int64(), "end of the first of them"),
        Column("last_ns", pa.int64(), "end of the last of them"),
    ),
)

STATUSES = Table(
    "statuses",
    "derived",
    "complete responses of one trial to one request type with one status code",
    (
        Column("request", pa.int32(), "index into the trial's request types"),
        Column("status", pa.int32(), "status code; null when unknown", True),
        Column("responses", pa.int64(), "number of responses, whole trial"),
        Column("held", pa.int64(), "of these, in the measurement window"),
        Column("held_wrong", pa.int64(), "of these, with another status than expected"),
    ),
)

MEMORY_BY_SECOND = Table(
    "memory_by_second",
    "derived",
    "memory at the middle of one second of a trial",
    (
        Column("second", pa.int32(), "seconds since the trial's zero, rounded down"),
        Column("server_rss_bytes", pa.float64(), "memory of the server's processes", True),
        Column("server_pss_bytes", pa.float64(), "the same, shared pages counted once", True),
        Column("driver_rss_bytes", pa.float64(), "memory of the load generator", True),
    ),
)

CONNECTIONS_BY_SECOND = Table(
    "connections_by_second",
    "derived",
    "connections at the end of one second of a trial",
    (
        Column("second", pa.int32(), "seconds since the trial's zero, rounded down"),
        Column("open", pa.int64(), "open connections"),
        Column("with_response", pa.int64(), "of these, with at least one response byte"),
    ),
)

_OF_KINDS = ("p50", "p90", "p99", "max")

KINDS = Table(
    "kinds",
    "derived",
    "one request type of a trial with several, in its measurement window",
    (
        Column("request", pa.string(), "name of the request type"),
        Column("completed", pa.int64(), "complete responses, successful or not"),
        Column("failed", pa.int64(), "requests that ended without success"),
        Column("throughput_per_s", pa.float64(), "complete responses per second"),
        *_times("response_time", _OF_KINDS, "done − due of complete responses"),
        *_times("service_time", _OF_KINDS, "done − sent of complete responses"),
    ),
)

RATE_LEVELS = Table(
    "rate_levels",
    "derived",
    "one rate of an open load that had several, as requested; of an imported load as requests "
    "started, where they did so at several steady rates",
    (
        Column("start_ns", pa.int64(), "beginning of the rate"),
        Column("end_ns", pa.int64(), "its end"),
        Column("rate_per_s", pa.float64(), "requests per second"),
        Column("completed", pa.int64(), "complete responses to requests that were due in it"),
        Column("failed", pa.int64(), "requests that were due in it and failed"),
        Column(
            "time", pa.string(), "`response_time`, or `service_time` where due is unknown", True
        ),
        *(
            Column(f"{name}_ns", pa.float64(), f"the time of these responses: {name}", True)
            for name in ("p50", "p90", "p99", "p999")
        ),
    ),
)

STALLS = Table(
    "stalls",
    "derived",
    "one trial with a closed load: the stalls of its server in the measurement window, and an "
    "estimate of the waits that they would have caused an open load",
    (
        Column("stalls", pa.int64(), "number of stalls"),
        Column("stalled_ns", pa.int64(), "their total length"),
        Column("longest_ns", pa.int64(), "the longest one"),
        *(
            Column(f"wait_{name}_ns", pa.float64(), f"estimated wait: {name}", True)
            for name in ("p50", "p90", "p99", "p999")
        ),
    ),
)

STEADY_STATES = Table(
    "steady_states",
    "derived",
    "one trial: whether throughput was steady in its measurement window",
    (
        Column("name", pa.string(), "`flat`, `warm-up`, `slowdown`, …"),
        Column("levels_per_s", pa.list_(pa.float64()), "levels of throughput in order"),
        Column("hold_per_s", pa.float64(), "mean throughput"),
        Column("steady_per_s", pa.float64(), "the steady state; null when there is none", True),
        Column(
            "risen_after_s", pa.float64(), "time until it was reached; null when it never was", True
        ),
        Column("server_busy_ratio", pa.float64(), "busy share of the server's cores", True),
        Column("lost_ratio", pa.float64(), "share of time it waited for cores of others", True),
    ),
)

MACHINE_SPEED = Table(
    "machine_speed",
    "derived",
    "one second of a trial in which the machine's speed was measured, by the load generator's "
    "processor time for a request or by the control; seconds before the load are negative",
    (
        Column("second", pa.int32(), "seconds since the trial's zero, rounded down"),
        Column(
            "driver_s_per_request",
            pa.float64(),
            "processor time of the load generator for a request",
            True,
        ),
        Column(
            "driver_speed_ratio",
            pa.float64(),
            "speed by that without what goes with its wake-ups, 1 in the median second; null "
            "where it is idle for most of the time",
            True,
        ),
        Column(
            "control_s",
            pa.float64(),
            "processor time of the control, geometric mean of its parts and runs",
            True,
        ),
        Column("control_speed_ratio", pa.float64(), "speed by that, 1 in the median second", True),
    ),
)

REPORT_TABLES = (
    FAILURES_BY_SECOND,
    STATUSES,
    MEMORY_BY_SECOND,
    CONNECTIONS_BY_SECOND,
    KINDS,
    RATE_LEVELS,
    STALLS,
    STEADY_STATES,
    MACHINE_SPEED,
)
"""What reports read besides `TABLES`. Each has the column `trial` as well, as its last one."""

QUANTITIES = (
    Quantity(
        "cpu_user_s",
        "counter",
        "user time of the process tree, of ended processes too; proc_pid_stat(5)",
    ),
    Quantity("cpu_system_s", "counter", "system time of the same; proc_pid_stat(5)"),
    Quantity("idle_cpu_user_s", "counter", "server: the same before and after, without load"),
    Quantity("idle_cpu_system_s", "counter", "server: the same of system time"),
    Quantity(
        "run_delay_s",
        "counter",
        "time that threads of the tree were ready to run and waited for a core; schedstat",
    ),
    Quantity("run_time_s", "counter", "time that the same threads ran; schedstat"),
    Quantity(
        "busiest_thread_s",
        "counter",
        "the same of one thread, from each reading to the next of the one that ran for longest",
    ),
    Quantity(
        "core_busy_s",
        "counter",
        "machine: time of all cores, neither idle nor withheld by a hypervisor; proc_stat(5)",
    ),
    Quantity("core0_busy_s", "counter", "machine: the same of one core, here core 0"),
    Quantity(
        "core_interrupt_s", "counter", "machine: time of all cores in interrupts; proc_stat(5)"
    ),
    Quantity("core0_interrupt_s", "counter", "machine: the same of one core, here core 0"),
    Quantity("cpu_steal_s", "counter", "machine: time withheld by the hypervisor; proc_stat(5)"),
    Quantity("core0_steal_s", "counter", "machine: the same of one core, here core 0"),
    Quantity(
        "plimsoll_cpu_s",
        "counter",
        "machine: CPU time of the process that takes the readings: Plimsoll's lab, or its agent",
    ),
    Quantity(
        "cgroup_throttled_s",
        "counter",
        "machine: time for which a control group of Plimsoll was throttled, summed over cores; "
        "`cpu.stat`",
    ),
    Quantity("frequency_hz", "gauge", "machine: mean frequency of the cores; cpufreq"),
    Quantity("core0_frequency_hz", "gauge", "machine: the same of one core, here core 0"),
    Quantity("thermal_throttles", "counter", "machine: thermal throttling events"),
    Quantity("energy_j", "counter", "machine: energy of packages and memory; RAPL"),
    Quantity("idle_energy_j", "counter", "machine: the same before and after, without load"),
    Quantity("wall_power_w", "gauge", "machine: power at the wall, by a meter"),
    Quantity("idle_wall_power_w", "gauge", "machine: the same before and after, without load"),
    Quantity(
        "control_compute_s",
        "gauge",
        "machine: processor time of the control's SHA-256, on the server's cores between turns, or "
        "before and after a load in one piece",
    ),
    Quantity("control_memory_s", "gauge", "machine: the same of its walk through memory"),
    Quantity("control_loopback_s", "gauge", "machine: the same of its echoes over loopback"),
    Quantity(
        "others_pace_ratio",
        "gauge",
        "machine: throughput of the servers that took turns with this one, in the same round / in "
        "all rounds; the median of these servers",
    ),
    Quantity("pressure_cpu_s", "counter", "machine: some task waited for a core; PSI"),
    Quantity("pressure_memory_s", "counter", "machine: some task waited for memory; PSI"),
    Quantity("pressure_io_s", "counter", "machine: some task waited for a disk; PSI"),
    Quantity("rss_bytes", "gauge", "memory of the process tree, shared pages counted each time"),
    Quantity("idle_rss_bytes", "gauge", "server: the same before and after, without load"),
    Quantity("pss_bytes", "gauge", "the same, shared pages counted once; smaps_rollup"),
    Quantity("processes", "gauge", "processes of the tree"),
    Quantity("threads", "gauge", "threads of the tree"),
    Quantity("open_files", "gauge", "open file descriptors of the tree"),
    Quantity(
        "open_files_ratio",
        "gauge",
        "open files of a process of the tree / its limit, where this is highest; "
        "proc_pid_limits(5)",
    ),
    Quantity("voluntary_switches", "counter", "voluntary context switches of the tree"),
    Quantity("involuntary_switches", "counter", "context switches forced on the tree"),
    Quantity(
        "system_calls",
        "counter",
        "server: system calls in a part of the warm-up, of a ladder; perf_event_open(2)",
    ),
    Quantity("major_faults", "counter", "page faults of the tree that needed a disk"),
    Quantity("memory_available_bytes", "gauge", "machine: available memory; proc_meminfo(5)"),
    Quantity("swapped_pages", "counter", "machine: pages swapped in or out; /proc/vmstat"),
    Quantity("oom_kills", "counter", "machine: processes killed for lack of memory; /proc/vmstat"),
    Quantity("listen_queue", "gauge", "connections waiting to be accepted; sock_diag(7)"),
    Quantity("listen_backlog", "gauge", "listen backlog; sock_diag(7)"),
    Quantity("listen_overflows", "counter", "TcpExt ListenOverflows"),
    Quantity(
        "listen_drops", "counter", "TcpExt ListenDrops; server: of its own sockets, sock_diag(7)"
    ),
    Quantity("syncookies_sent", "counter", "TcpExt SyncookiesSent"),
    Quantity("request_queue_drops", "counter", "TcpExt TCPReqQFullDrop"),
    Quantity("tcp_timeouts", "counter", "TcpExt TCPTimeouts"),
    Quantity(
        "tcp_duplicates",
        "counter",
        "TcpExt TCPDSACKRecvSegs: retransmitted segments that had arrived before",
    ),
    Quantity("tcp_active_opens", "counter", "Tcp ActiveOpens"),
    Quantity("tcp_passive_opens", "counter", "Tcp PassiveOpens"),
    Quantity("tcp_attempt_fails", "counter", "Tcp AttemptFails"),
    Quantity("tcp_established_resets", "counter", "Tcp EstabResets"),
    Quantity("tcp_resets_sent", "counter", "Tcp OutRsts"),
    Quantity("tcp_segments_in", "counter", "Tcp InSegs"),
    Quantity("tcp_segments_out", "counter", "Tcp OutSegs"),
    Quantity("tcp_retransmits", "counter", "Tcp RetransSegs"),
    Quantity("tcp_established", "gauge", "Tcp CurrEstab"),
    Quantity("tcp_time_wait", "gauge", "sockets in TIME_WAIT; /proc/net/sockstat"),
    Quantity(
        "network_received_bytes",
        "counter",
        "bytes received on the interfaces, without those over others, as bridges; /proc/net/dev",
    ),
    Quantity(
        "network_sent_bytes",
        "counter",
        "bytes sent on the interfaces, without those over others, as bridges; /proc/net/dev",
    ),
    Quantity("link_received_bytes", "counter", "the same without loopback"),
    Quantity("link_sent_bytes", "counter", "the same without loopback"),
    Quantity("tracked_connections", "gauge", "machine: connections in the firewall's table"),
    Quantity(
        "tracking_drops",
        "counter",
        "machine: what the firewall dropped as its table was full; /proc/net/stat/nf_conntrack",
    ),
    Quantity(
        "connections_established",
        "gauge",
        "server: connections of its port by the kernel; sock_diag(7)",
    ),
    Quantity(
        "round_trip_min_s",
        "gauge",
        "driver: least round trip the kernel saw on some connections; TCP_INFO",
    ),
    Quantity("in_flight_mean", "gauge", "driver: mean requests in flight since its last reading"),
    Quantity(
        "counts_apart_s",
        "gauge",
        "driver: how long before this reading the first of its threads counted",
    ),
    Quantity("in_flight", "gauge", "driver: requests in flight now"),
    Quantity(
        "longest_pause_s",
        "gauge",
        "driver: longest stall of one of its threads since the last reading",
    ),
    Quantity("connections_requested", "gauge", "driver: connections requested now"),
    Quantity("connections_open", "gauge", "driver: connections open now"),
    Quantity(
        "places_open",
        "gauge",
        "driver: requests that its open connections may carry at one time, now",
    ),
    Quantity("busy_cores", "gauge", "server: busy cores, from another monitor"),
    Quantity("users_active", "gauge", "driver: active users, by its own count"),
    Quantity("requests_sent", "counter", "driver: requests handed to a connection so far"),
    Quantity("requests_ended", "counter", "driver: requests ended so far, by its own count"),
    Quantity("received_bytes", "counter", "driver: bytes of responses so far"),
)
"""Every quantity of `usage`. `core0_` stands for one quantity a core."""
