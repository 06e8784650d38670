"""A sample of findings, made by hand: what charts and reports are tried on.

Nothing is drawn at random and nothing is measured, so every number in a report made of it can be
known beforehand. It holds one of each thing that a report has to show: sound, doubtful and void
trials, a tie, a trial whose framework did not start, seconds without an answer, failures of
several kinds, percentiles that are absent, changed limits and text that is out to do harm.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate import connections, failures, memory
from plimsoll.aggregate.counted import Failure
from plimsoll.aggregate.distribution import GRID, Quantile
from plimsoll.aggregate.summary import Summary
from plimsoll.campaign.load import Load, Stage
from plimsoll.comparison.comparisons import ComparedTrial, comparisons
from plimsoll.findings.findings import Findings
from plimsoll.findings.trial import TrialData, TrialFindings
from plimsoll.provenance import Part, Provenance, digest
from plimsoll.recording import (
    Driver,
    Ending,
    RecordedServer,
    RecordedStage,
    Recording,
    ResponseHead,
)
from plimsoll.verdicts.verdict import Level, Sentence, Verdict

SECOND_NS = 1_000_000_000
HOSTILE = '<script>alert("owned")</script><img src=x onerror=alert(1)>'

MACHINE = {
    "cores": [0, 1, 2, 3],
    "cpu_model": "Example CPU at 2.30 GHz",
    "memory_bytes": 16_000_000_000,
    "distribution": "Example Linux 12",
    "kernel": "6.1.0",
    "virtual": True,
    "cgroup_memory_bytes": None,
}


def recording(**changes: Any) -> Recording:
    """A recording of a closed load: a second of warm-up, four of ramp, seven of hold."""
    values: dict[str, Any] = {
        "framework": "go",
        "variant": "",
        "language": "Go",
        "endpoint": "2048",
        "repetition": 1,
        "order": 0,
        "driver_name": "plimsoll",
        "seed": 1,
        "zero_utc": "2026-01-02T03:04:05Z",
        "stages": (
            RecordedStage("warm_up", 0, 1 * SECOND_NS, 100.0, 100.0, 1),
            RecordedStage("ramp", 1 * SECOND_NS, 5 * SECOND_NS, 0.0, 1000.0, 4),
            RecordedStage("hold", 5 * SECOND_NS, 12 * SECOND_NS, 1000.0, 1000.0, 1),
        ),
        "requests": ("2048",),
        "machines": {"here": MACHINE},
        "versions": {"plimsoll": "0.1.0", "framework": "go1.22", "python": "3.11.2"},
        "clock_offsets_ns": {},
        "ending": Ending(),
        "server": server(),
        "driver": driver(),
        "contract": {"before": [], "after": []},
        "notes": (),
        "load": load(),
        **changes,
    }
    values.setdefault("provenance", provenance(values["framework"]))
    name = f"{values['framework']}.{values['endpoint']}.{values['load'].name}"
    return Recording(**{"trial": f"{name}.{values['repetition']}", **values})


def provenance(framework: str) -> Provenance:
    """What ran as a framework: a source, a command and a version, measured by this engine."""
    return Provenance(
        application=(
            Part("version", "framework", f"{framework} 1.2"),
            Part("file", "main | app.py", digest(framework.encode())),
            Part("command", "start", "exec ./<server>"),
        ),
        measurement=(Part("version", "plimsoll", "0.1.0"), Part("setting", "server cores", "0")),
    )


def load(**changes: Any) -> Load:
    """The load as requested."""
    stages = (
        Stage("warm_up", 1.0, 100.0, 100.0),
        Stage("ramp", 4.0, 0.0, 1000.0, 4),
        Stage("hold", 7.0, 1000.0, 1000.0),
    )
    return replace(Load("steady", "closed", stages), **changes)


def server(**changes: Any) -> RecordedServer:
    """The server's side."""
    values: dict[str, Any] = {
        "address": "127.0.0.1:8080",
        "cores": (0, 1),
        "workers": 2,
        "start_s": 0.213,
        "rest_rss_bytes": 14_200_000,
        "rest_pss_bytes": 12_900_000,
        "listeners": 1,
        "backlog": 4096,
        "backlogs": (4096,),
        "backlog_required": 4096,
        "somaxconn": 4096,
        "exit_code": 0,
        "clean_stop": True,
        **changes,
    }
    return RecordedServer(**values)


def driver(**changes: Any) -> Driver:
    """The driver's side."""
    values: dict[str, Any] = {
        "name": "plimsoll",
        "version": "0.1.0",
        "cores": (2, 3),
        "threads": 2,
        "ended_by": "schedule",
        "cpu_s": 9.5,
        "peak_rss_bytes": 48_000_000,
        "connections_requested": 1000,
        "bodies_compared": 812,
        "sent": 81_234,
        "outcomes": {"ok": 81_000, "reset_waiting": 200},
        **changes,
    }
    return Driver(**values)


def level(second: int) -> float:
    """Connections asked for in a second of the sample's load."""
    if second < 1:
        return 100.0
    return min(1000.0, 250.0 * second) if second < 5 else 1000.0


def seconds(
    trial: str, throughput: int = 8000, silent: tuple[int, ...] = (), failing: int = 0
) -> pa.Table:
    """Twelve seconds of a trial, some of them without an answer or with failures."""
    rows = [_second(trial, second, throughput, second in silent, failing) for second in range(12)]
    return _table(tables.SECONDS, rows)


def _second(
    trial: str, second: int, throughput: int, is_silent: bool, failing: int
) -> dict[str, Any]:
    asked = level(second)
    ripple = 1 + 0.05 * math.sin(second * 1.7)
    completed = 0 if is_silent else round(throughput * ripple * min(1, asked / 800))
    failed = failing if second >= 6 else 0
    median = None if is_silent else asked / throughput * 1e9
    row: dict[str, Any] = {
        "trial": trial,
        "second": second,
        "stage": "warm_up" if second < 1 else "ramp" if second < 5 else "hold",
        "requested_level": asked,
        "due": completed + failed,
        "completed": completed,
        "ok": completed,
        "failed": failed,
        "open_connections": asked,
        "in_flight": asked * 0.99,
        "received_bytes": completed * 2170,
        "server_busy_cores": 0.4 if is_silent else 1.9 * min(1, asked / 800),
        "server_rss_bytes": 14e6 + asked * 8e3,
        "driver_busy_cores": 0.1 if is_silent else 0.8 * min(1, asked / 800) * ripple,
        "driver_rss_bytes": 30e6,
        "machine_busy_cores": 3.1 * min(1, asked / 800),
        "listen_queue": 0.0,
        "listen_overflows": 0.0,
    }
    factors = {"p25": 0.8, "p50": 1.0, "p75": 1.3, "p95": 2.2, "p99": 4.5, "max": 9.0}
    for kind in ("response_time", "service_time"):
        for name, factor in factors.items():
            row[f"{kind}_{name}_ns"] = None if median is None else median * factor * ripple
    row["first_byte_p50_ns"] = None if median is None else median * 0.9
    return row


def summary(trial: str, throughput: float = 8000.0, **columns: Any) -> Summary:
    """The summary of a trial; times follow from its throughput."""
    completed = round(throughput * 7)
    row: dict[str, Any] = {
        "trial": trial,
        "duration_s": 7.0,
        "completed": completed,
        "ok": completed,
        "failed": 0,
        "unfinished": 12,
        "throughput_per_s": throughput,
        "goodput_per_s": throughput,
        "failure_ratio": 0.0,
        "received_bytes": completed * 2170,
        "received_bytes_per_s": throughput * 2170,
        "sent_bytes": None,
        "rapl_power_w": None,
        "rapl_idle_power_w": None,
        "rapl_net_power_w": None,
        "rapl_net_power_low_w": None,
        "rapl_net_power_high_w": None,
        "rapl_j_per_ok": None,
        "rapl_net_j_per_ok": None,
        "wall_power_w": None,
        "wall_idle_power_w": None,
        "wall_net_power_w": None,
        "wall_net_power_low_w": None,
        "wall_net_power_high_w": None,
        "wall_j_per_ok": None,
        "wall_net_j_per_ok": None,
        "connections_requested": 1000,
        "connections_opened": 1000,
        "connections_with_response": 1000,
        "connections_refused": 0,
        "connections_lost": 0,
        "connections_peak_open": 1000,
        "open_connections": 1000.0,
        "in_flight": 996.0,
        "server_busy_cores": 1.93,
        "server_cpu_s_per_request": 1.93 / throughput,
        "requests_per_core_s": throughput / 1.93,
        "server_peak_rss_bytes": 22_400_000.0,
        "server_peak_pss_bytes": 21_000_000.0,
        "driver_busy_cores": 0.82,
        "driver_peak_busy_ratio": 0.55,
        "source": "requests",
    }
    base = 1000 / throughput * 1e9
    factors = (1.05, 0.2, 0.8, 1.0, 1.3, 1.8, 2.2, 4.5, 7.0, None, 11.0)
    scales = {
        "response_time": 1.0,
        "service_time": 0.99,
        "first_byte": 0.95,
        "connect": 0.01,
        "lag": 0.0001,
    }
    for kind, scale in scales.items():
        for name, factor in zip(tables.STATISTICS, factors, strict=True):
            row[f"{kind}_{name}_ns"] = None if factor is None else base * factor * scale
    return Summary.of_row({**row, **columns})


def changed(summary: Summary | None, **columns: Any) -> Summary:
    """A summary with other numbers in some columns of its row."""
    assert summary is not None
    return Summary.of_row({**summary.row, **columns})


def failure_rows(kinds: dict[tuple[str, int | None], int]) -> pa.Table:
    """Failures by second: so many of each kind in each of the seconds 6 to 11."""
    rows = [
        {"second": second, "outcome": outcome, "errno": errno, "count": count, "held": count}
        for second in range(6, 12)
        for (outcome, errno), count in kinds.items()
    ]
    return pa.Table.from_pylist(rows, schema=failures.BY_SECOND)


def latency_rows(trial: str, throughput: int, silent: tuple[int, ...] = ()) -> pa.Table:
    """Responses by second and bucket: most near the median, fewer in a tail above it."""
    shares = (0.02, 0.1, 0.2, 0.26, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.003, 0.002, 0.001, 0.0005)
    rows = [
        {
            "trial": trial,
            "time": "response_time",
            "second": second,
            "seconds": 1,
            "bucket": round(10 * math.log10(level(second) / throughput * 1e9)) + place - 3,
            "completed": count,
            "held": count if second >= 5 else 0,
        }
        for second in range(12)
        if second not in silent
        for place, share in enumerate(shares)
        if (count := round(throughput * min(1, level(second) / 800) * share))
    ]
    return _table(tables.LATENCY_BUCKETS, rows)


def memory_rows() -> pa.Table:
    """Memory by second."""
    rows = [
        {
            "second": second,
            "server_rss_bytes": 14e6 + level(second) * 8e3,
            "server_pss_bytes": 13e6 + level(second) * 7e3,
            "driver_rss_bytes": 30e6,
        }
        for second in range(12)
    ]
    return pa.Table.from_pylist(rows, schema=memory.BY_SECOND)


def connection_rows(without_response: int = 0) -> pa.Table:
    """Connections by second, some of the open ones never answered."""
    rows = [
        {
            "second": second,
            "open": int(level(second)),
            "with_response": max(0, int(level(second)) - without_response),
        }
        for second in range(12)
    ]
    return pa.Table.from_pylist(rows, schema=connections.BY_SECOND)


def machine_speed_rows() -> pa.Table:
    """The machine's speed by second: 5 % slower in second 8 of the hold, control there and back."""
    rows = [
        {
            "second": second,
            "driver_s_per_request": 1e-5 / speed,
            "driver_speed_ratio": speed,
            "control_s": 0.008 / speed if second % 2 == 0 else None,
            "control_speed_ratio": speed if second % 2 == 0 else None,
        }
        for second in range(5, 12)
        for speed in [0.95 if second == 8 else 1.0 + 0.005 * (second % 3)]
    ]
    return pa.Table.from_pylist(rows, schema=tables.MACHINE_SPEED.schema)


def trial_data(**changes: Any) -> TrialData:
    """A sound trial; `changes` are fields of `TrialData`."""
    made = changes.pop("recording", None) or recording()
    values: dict[str, Any] = {
        "recording": made,
        "summary": summary(made.trial),
        "seconds": seconds(made.trial),
        "memory": memory_rows(),
        "connections": connection_rows(),
        "failures": failure_rows({}),
        "latencies": latency_rows(made.trial, 8000),
        "machine_speed": machine_speed_rows(),
        **changes,
    }
    return TrialData(**values)


def rough_trial_data() -> TrialData:
    """A trial with silent seconds, failures of three kinds and connections without a response."""
    heads = (ResponseHead("2048", 165, {"date": 37, "content-type": 26, "etag": 48}, 2),)
    made = recording(framework="node", language="JavaScript", heads=heads)
    kinds = {("reset_waiting", 104): 40, ("connect_refused", 111): 25, ("wrong_length", None): 5}
    return trial_data(
        recording=made,
        summary=summary(made.trial, 6100.0, failed=420, failure_ratio=0.0098),
        seconds=seconds(made.trial, 6100, silent=(3, 8, 9), failing=70),
        connections=connection_rows(without_response=210),
        failures=failure_rows(kinds),
        latencies=latency_rows(made.trial, 6100, silent=(3, 8, 9)),
    )


def _table(kind: tables.Table, rows: list[dict[str, Any]]) -> pa.Table:
    plain = pa.schema(
        [
            pa.field(field.name, pa.string() if pa.types.is_dictionary(field.type) else field.type)
            for field in kind.schema
        ]
    )
    return pa.Table.from_pylist(rows, schema=plain).cast(kind.schema)


def verdict(check: str, subject: str, level: Level, *texts: str, **changes: Any) -> Verdict:
    """A verdict with the numbers of the sample's checks; `texts` are its sentences."""
    values: dict[str, Any] = {
        "littles_law": (0.71, 0.85, "ratio", "0.71 of the requested connections were busy."),
        "driver_headroom": (
            0.84,
            0.8,
            "of a core",
            "The busiest core of the driver was 84 % busy.",
        ),
        "responses_correct": (0.0, 0.0, "answers", "Every one of 56,000 answers was as expected."),
        "connection_target_met": (1.0, 1.0, "ratio", "All 1,000 connections opened."),
        "failures_explained": (0.0098, 0.001, "ratio", "0.98 % of the requests failed."),
        "backlog": (0.0, 0.0, "connections", "The listen queue never overflowed."),
        "rows_from_database": (0.69, 0.01, "ratio", "The database read 1,016,800 rows."),
        "conservation": (0.0, 0.0, "requests", "81,234 requests sent, as many ended."),
    }
    measured, limit, unit, statement = values[check]
    remedy = "" if level == "sound" else "Give the driver another core, or lower the connections."
    return Verdict(
        **{
            "check": check,
            "subject": subject,
            "level": level,
            "measured": measured,
            "limit": limit,
            "unit": unit,
            "sentences": tuple(Sentence(level, text, remedy) for text in texts or (statement,)),
            "source": "a page that explains the limit",
            **changes,
        }
    )


CHECKS = ("responses_correct", "connection_target_met", "littles_law", "backlog", "conservation")


def sound_trial(**changes: Any) -> TrialFindings:
    """A trial that every check finds sound; keywords are of its recording, and `throughput`."""
    throughput = changes.pop("throughput", 8000.0)
    made = recording(**changes)
    data = trial_data(
        recording=made,
        summary=summary(made.trial, throughput),
        seconds=seconds(made.trial, round(throughput)),
        latencies=latency_rows(made.trial, round(throughput)),
    )
    return TrialFindings(data, verdicts_of(made.trial), quantiles=quantiles(throughput))


def quantiles(throughput: float) -> tuple[Quantile, ...]:
    """The distribution of a trial: the slower, the further in its tail."""
    base = 1000 / throughput * 1e9
    return tuple(
        Quantile("response_time", quantile, round(base * (0.4 + 0.6 * place / 12)))
        for place, quantile in enumerate(GRID[:37])
    )


def verdicts_of(trial: str, **levels: Level) -> tuple[Verdict, ...]:
    """One verdict for each check of the sample; `levels` are those that are not sound."""
    names = [*CHECKS, *(name for name in levels if name not in CHECKS)]
    return tuple(verdict(name, trial, levels.get(name, "sound")) for name in names)


def doubtful_trial() -> TrialFindings:
    """A trial with failures, silent seconds and a driver near its limit."""
    data = rough_trial_data()
    kinds = (
        Failure("reset_waiting", 104, "ECONNRESET", 240, 240, 6.01, 11.98),
        Failure("connect_refused", 111, "ECONNREFUSED", 150, 150, 6.2, 11.4),
        Failure("wrong_length", None, None, 30, 30, 6.5, 11.9),
    )
    levels: dict[str, Level] = {"driver_headroom": "doubtful", "failures_explained": "doubtful"}
    return TrialFindings(data, verdicts_of(data.recording.trial, **levels), kinds)


def void_trial() -> TrialFindings:
    """A trial whose number is void."""
    made = recording(framework="django", language="Python", notes=("gthread has 2 threads a core",))
    data = trial_data(
        recording=made,
        summary=summary(made.trial, 9500.0, connections_with_response=790),
        seconds=seconds(made.trial, 9500),
        latencies=latency_rows(made.trial, 9500),
        connections=connection_rows(without_response=210),
    )
    return TrialFindings(data, verdicts_of(made.trial, littles_law="void"))


def failed_trial() -> TrialFindings:
    """A trial whose framework did not start, with a name and an error that are out to do harm."""
    made = recording(
        framework=HOSTILE,
        language=HOSTILE,
        ending=Ending("StartFailed", f"`{HOSTILE}` ended before it was ready", "see `server.log`"),
        stages=(),
        server=None,
        driver=None,
        trial="hostile.2048.steady.1",
        notes=(HOSTILE,),
        versions={"framework": HOSTILE},
    )
    empty = {
        "seconds": tables.SECONDS.schema.empty_table(),
        "memory": memory.BY_SECOND.empty_table(),
        "connections": connections.BY_SECOND.empty_table(),
        "failures": failures.BY_SECOND.empty_table(),
        "latencies": tables.LATENCY_BUCKETS.schema.empty_table(),
    }
    return TrialFindings(trial_data(recording=made, summary=None, **empty))


@cache
def findings() -> Findings:
    """A campaign of six frameworks at one endpoint and two at another."""
    limits = {"driver_headroom": {"doubtful": 0.8}}
    trials = (
        sound_trial(framework="axum", language="Rust", throughput=12_400.0, limits=limits),
        sound_trial(framework="axum", language="Rust", throughput=12_600.0, repetition=2),
        sound_trial(framework="spring", variant="virtual", language="Kotlin", throughput=12_350.0),
        sound_trial(framework="go", throughput=8000.0),
        sound_trial(framework="go", throughput=8100.0, repetition=2),
        doubtful_trial(),
        void_trial(),
        failed_trial(),
        sound_trial(framework="axum", language="Rust", endpoint="json", throughput=10_100.0),
        sound_trial(framework="go", endpoint="json", throughput=7050.0),
    )
    compared = comparisons(
        [ComparedTrial(one.recording, one.summary, one.level == "void") for one in trials]
    )
    return Findings("sample", "0.1.0", trials, compared, missing=("node.json.steady.1",))
