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
        meaning: What it says, in one line.
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
        meaning: What it says, and its source.
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
            "the instant the schedule wanted it to start; null when not said",
            True,
        ),
        Column("sent_ns", pa.int64(), "handed to the kernel; null when never sent", True),
        Column("first_byte_ns", pa.int64(), "first byte of the answer; null when none came", True),
        Column("done_ns", pa.int64(), "its end, right or wrong; null when unfinished", True),
        Column(
            "received_bytes",
            pa.uint32(),
            "bytes of the answer, head and body; null when not said",
            True,
        ),
        Column("request", pa.uint16(), "index into the trial's kinds of request"),
        Column("connection", pa.uint32(), "attempt to connect that carried it, per worker", True),
        Column("worker", pa.uint16(), "thread of the driver"),
        Column("host", _TEXT, "host of the driver"),
        Column("status", pa.uint16(), "status code; null when no head was read", True),
        Column("outcome", _TEXT, "how it ended"),
        Column("errno", pa.uint8(), "error number of the system; null when there was none", True),
        Column("sent_bytes", pa.uint32(), "bytes of the request; null when not said", True),
    ),
)

CONNECTIONS = Table(
    "connections",
    "recorded",
    "one attempt to connect",
    (
        Column("due_ns", pa.int64(), "the instant connect was called"),
        Column("connected_ns", pa.int64(), "handshake complete; null when it never was", True),
        Column("closed_ns", pa.int64(), "its end; null when open at the end of the trial", True),
        Column("requests", pa.uint32(), "requests sent on it; null when not said", True),
        Column(
            "responses",
            pa.uint32(),
            "answers of which at least one byte came; null when not said",
            True,
        ),
        Column("connection", pa.uint32(), "number of the attempt, per worker"),
        Column("worker", pa.uint16(), "thread of the driver"),
        Column("host", _TEXT, "host of the driver"),
        Column(
            "outcome", _TEXT, "how the attempt, or the connection, ended; null when not said", True
        ),
        Column("errno", pa.uint8(), "error number of the system; null when there was none", True),
    ),
)

USAGE = Table(
    "usage",
    "recorded",
    "one reading of one resource",
    (
        Column("at_ns", pa.int64(), "instant of the reading; negative before the load"),
        Column("host", _TEXT, "host that was read"),
        Column("scope", _TEXT, "`server`, `driver` (process trees) or `machine`"),
        Column("quantity", _TEXT, "name in the list of quantities"),
        Column("value", pa.float64(), "the reading"),
    ),
)

_PERCENTILES = ("p25", "p50", "p75", "p95", "p99", "max")
_SUMMARY_STATISTICS = (
    "mean",
    "min",
    "p25",
    "p50",
    "p75",
    "p90",
    "p95",
    "p99",
    "p999",
    "p9999",
    "max",
)


def _times(name: str, statistics: tuple[str, ...], meaning: str) -> tuple[Column, ...]:
    return tuple(
        Column(f"{name}_{statistic}_ns", pa.float64(), f"{meaning}: {statistic}", True)
        for statistic in statistics
    )


SECONDS = Table(
    "seconds",
    "derived",
    "one second of one trial; a second without an answer is a row of zeros, and counts are null "
    "where the driver kept no record of its requests",
    (
        Column("trial", _TEXT, "id of the trial"),
        Column("second", pa.int32(), "seconds since the trial's zero, rounded down"),
        Column("stage", _TEXT, "stage at the middle of the second; `after` behind the last one"),
        Column("asked", pa.float64(), "level asked for at the middle of the second"),
        Column("due", pa.int64(), "requests due in it; null where the driver does not say", True),
        Column("completed", pa.int64(), "complete answers in it, right or wrong", True),
        Column("ok", pa.int64(), "right answers in it", True),
        Column("failed", pa.int64(), "requests that ended in it other than right", True),
        Column("open_connections", pa.float64(), "connections open, by the driver's count", True),
        Column("in_flight", pa.float64(), "mean requests in flight, by the driver's clock", True),
        *_times("response_time", _PERCENTILES, "done − due of the complete answers"),
        *_times("service_time", _PERCENTILES, "done − sent of the complete answers"),
        Column("first_byte_p50_ns", pa.float64(), "first byte − sent: median", True),
        Column("received_bytes", pa.int64(), "bytes of the answers that ended in it", True),
        Column("server_busy_cores", pa.float64(), "cores the server's processes kept busy", True),
        Column("server_rss_bytes", pa.float64(), "memory of the server's processes", True),
        Column("driver_busy_cores", pa.float64(), "cores the driver kept busy", True),
        Column("driver_rss_bytes", pa.float64(), "memory of the driver", True),
        Column("machine_busy_cores", pa.float64(), "cores busy on the server's host", True),
        Column("listen_queue", pa.float64(), "connections waiting to be accepted", True),
        Column("listen_overflows", pa.float64(), "times a connection found the queue full", True),
    ),
)

SUMMARIES = Table(
    "summaries",
    "derived",
    "one trial, its holds only",
    (
        Column("trial", _TEXT, "id of the trial"),
        Column("duration_s", pa.float64(), "length of the holds"),
        Column("completed", pa.int64(), "complete answers, right or wrong"),
        Column("ok", pa.int64(), "right answers"),
        Column("failed", pa.int64(), "requests that ended other than right"),
        Column("unfinished", pa.int64(), "requests in flight or waiting at the very end", True),
        Column("throughput_per_s", pa.float64(), "complete answers per second"),
        Column("goodput_per_s", pa.float64(), "right answers per second"),
        Column("failure_ratio", pa.float64(), "failed / (ok + failed); null when both are 0", True),
        *_times("response_time", _SUMMARY_STATISTICS, "done − due of the complete answers"),
        *_times("service_time", _SUMMARY_STATISTICS, "done − sent of the complete answers"),
        *_times("first_byte", _SUMMARY_STATISTICS, "first byte − sent of the complete answers"),
        *_times("connect", _SUMMARY_STATISTICS, "handshakes that completed, of the whole trial"),
        *_times("lag", _SUMMARY_STATISTICS, "sent − due of the complete answers"),
        Column("received_bytes", pa.int64(), "bytes of the answers", True),
        Column("received_bytes_per_s", pa.float64(), "bytes of the answers per second", True),
        Column("sent_bytes", pa.int64(), "bytes of the requests that began to be sent", True),
        Column("connections_asked", pa.int64(), "most connections asked for at one time", True),
        Column("connections_opened", pa.int64(), "handshakes that completed, whole trial", True),
        Column(
            "connections_answered", pa.int64(), "of these, with one byte of an answer or more", True
        ),
        Column(
            "connections_refused", pa.int64(), "attempts to connect that failed, whole trial", True
        ),
        Column(
            "connections_lost", pa.int64(), "connections that ended without being asked to", True
        ),
        Column("connections_peak_open", pa.int64(), "most connections open at one time", True),
        Column(
            "open_connections", pa.float64(), "mean connections open, by the driver's count", True
        ),
        Column("in_flight", pa.float64(), "mean requests in flight, by the driver's clock", True),
        Column("server_busy_cores", pa.float64(), "cores the server kept busy", True),
        Column(
            "server_cpu_s_per_request", pa.float64(), "its CPU seconds per complete answer", True
        ),
        Column("requests_per_core_s", pa.float64(), "complete answers per CPU second of it", True),
        Column("server_peak_rss_bytes", pa.float64(), "most memory of its processes", True),
        Column("server_peak_pss_bytes", pa.float64(), "the same, shared pages counted once", True),
        Column(
            "net_power_w", pa.float64(), "mean power of the host above that of the idle host", True
        ),
        Column(
            "requests_per_joule", pa.float64(), "complete answers per joule of net energy", True
        ),
        Column("driver_busy_cores", pa.float64(), "cores the driver kept busy", True),
        Column("driver_peak_busy_ratio", pa.float64(), "busiest second of its busiest core", True),
        Column(
            "source", _TEXT, "`requests` when computed from the rows, else the tool's own figures"
        ),
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
        Column("driver", _TEXT, "program that put on the load; nothing is compared across drivers"),
        Column("quantity", _TEXT, "column of `summaries`"),
        Column("median", pa.float64(), "median over the repetitions that count", True),
        Column(
            "low", pa.float64(), "lower end of the 95 % interval; null below 2 repetitions", True
        ),
        Column("high", pa.float64(), "upper end of it", True),
        Column("repetitions", pa.int32(), "repetitions that count"),
        Column("excluded", pa.int32(), "repetitions left out: void, or without a recording"),
        Column("rank_low", pa.int32(), "best rank it may have (throughput and goodput only)", True),
        Column("rank_high", pa.int32(), "worst rank it may have", True),
    ),
)

TABLES = (REQUESTS, CONNECTIONS, USAGE, SECONDS, SUMMARIES, COMPARISONS)
"""Every table."""

QUANTITIES = (
    Quantity("cpu_user_s", "counter", "user time of the process tree; proc_pid_stat(5)"),
    Quantity("cpu_system_s", "counter", "system time of the process tree; proc_pid_stat(5)"),
    Quantity("core_busy_s", "counter", "machine: busy time of all cores; proc_stat(5)"),
    Quantity(
        "core0_busy_s", "counter", "machine: busy time of one core, here core 0; proc_stat(5)"
    ),
    Quantity(
        "core_interrupt_s", "counter", "machine: time of all cores in interrupts; proc_stat(5)"
    ),
    Quantity("core0_interrupt_s", "counter", "machine: the same of one core, here core 0"),
    Quantity("cpu_steal_s", "counter", "machine: time taken by the hypervisor; proc_stat(5)"),
    Quantity(
        "cgroup_throttled_s",
        "counter",
        "machine: time that a control group of Plimsoll was stopped for; `cpu.stat`",
    ),
    Quantity("frequency_hz", "gauge", "machine: mean frequency of the cores; cpufreq"),
    Quantity("thermal_throttles", "counter", "machine: times a core was slowed by its heat"),
    Quantity("energy_j", "counter", "machine: energy of packages and memory; RAPL"),
    Quantity("idle_energy_j", "counter", "machine: the same before and after, with nothing run"),
    Quantity("pressure_cpu_s", "counter", "machine: some task waited for a core; PSI"),
    Quantity("pressure_memory_s", "counter", "machine: some task waited for memory; PSI"),
    Quantity("pressure_io_s", "counter", "machine: some task waited for a disk; PSI"),
    Quantity("rss_bytes", "gauge", "memory of the process tree, shared pages counted each time"),
    Quantity("pss_bytes", "gauge", "the same, shared pages counted once; smaps_rollup"),
    Quantity("processes", "gauge", "processes of the tree"),
    Quantity("threads", "gauge", "threads of the tree"),
    Quantity("open_files", "gauge", "open file descriptors of the tree"),
    Quantity(
        "open_files_ratio",
        "gauge",
        "open files of the fullest process of the tree / the most it may open; proc_pid_limits(5)",
    ),
    Quantity("voluntary_switches", "counter", "context switches asked for by the tree"),
    Quantity("involuntary_switches", "counter", "context switches forced on the tree"),
    Quantity("major_faults", "counter", "page faults of the tree that needed a disk"),
    Quantity("memory_available_bytes", "gauge", "machine: memory that can be had; proc_meminfo(5)"),
    Quantity("swapped_pages", "counter", "machine: pages swapped in or out; /proc/vmstat"),
    Quantity("oom_kills", "counter", "machine: processes killed for want of memory; /proc/vmstat"),
    Quantity("listen_queue", "gauge", "connections waiting to be accepted; sock_diag(7)"),
    Quantity("listen_backlog", "gauge", "most that may wait; sock_diag(7)"),
    Quantity("listen_overflows", "counter", "TcpExt ListenOverflows"),
    Quantity(
        "listen_drops", "counter", "TcpExt ListenDrops; server: of its own sockets, sock_diag(7)"
    ),
    Quantity("syncookies_sent", "counter", "TcpExt SyncookiesSent"),
    Quantity("request_queue_drops", "counter", "TcpExt TCPReqQFullDrop"),
    Quantity("tcp_timeouts", "counter", "TcpExt TCPTimeouts"),
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
        "network_received_bytes", "counter", "bytes received on the interfaces; /proc/net/dev"
    ),
    Quantity("network_sent_bytes", "counter", "bytes sent on the interfaces; /proc/net/dev"),
    Quantity("link_received_bytes", "counter", "the same without loopback"),
    Quantity("link_sent_bytes", "counter", "the same without loopback"),
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
    Quantity("in_flight", "gauge", "driver: requests in flight now"),
    Quantity("connections_asked", "gauge", "driver: connections asked for now"),
    Quantity("connections_open", "gauge", "driver: connections open now"),
    Quantity("busy_cores", "gauge", "server: cores kept busy, as another monitor read them"),
    Quantity("users_active", "gauge", "driver: users of the tool at work, by its own count"),
    Quantity("requests_sent", "counter", "driver: requests handed to a connection so far"),
    Quantity("requests_ended", "counter", "driver: requests ended so far, by its own count"),
    Quantity("received_bytes", "counter", "driver: bytes of answers so far"),
)
"""Every quantity of `usage`. `core0_` stands for one quantity a core."""
