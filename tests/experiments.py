"""Samples of campaigns beside others: several drivers, and figures that somebody published.

Made by hand from `sample`, so that every number in a report of them can be known beforehand.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import sample
from plimsoll.campaign.load import Load, Stage
from plimsoll.comparison import over_connections, published_comparison
from plimsoll.comparison.comparisons import ComparedTrial, comparisons
from plimsoll.comparison.driver_comparison import disagreements
from plimsoll.comparison.head_of_line import sharings
from plimsoll.comparison.protocol_costs import costs
from plimsoll.findings.findings import Findings, Publication
from plimsoll.findings.trial import TrialFindings
from plimsoll.published import document
from plimsoll.recording import Ending, PowerSources, RecordedDatabase, Recording
from plimsoll.recording.compliance import Compliance, ComplianceResult
from plimsoll.serving.compliance.cases import CASES
from plimsoll.verdicts.audit import audit
from plimsoll.verdicts.judge import judge_campaign
from plimsoll.verdicts.verdict import Level, Sentence, Verdict
from sample import sound_trial, verdicts_of

PUBLISHED = """
title = "Why axum is the fastest"
address = "https://example.org/fastest"

[all]
tool = "wrk"
connections = 80000
timeout_s = 2
counting = "responses"

[here]
baseline = "go"
[here.subjects]
Axum = "axum"
golang = "go"
"Node.js" = "node"
Rails = "rails"

[[claim]]
says = "axum is twice as fast as Go"
compare = ["Axum", "golang"]
ratio = 2

[[claim]]
says = "Node is ahead of Rails"
compare = ["Node.js", "Rails"]

[[result]]
subject = "Axum"
endpoint = "/2048"
throughput_per_s = 8200

[[result]]
subject = "golang"
endpoint = "/2048"
at = "run 1"
throughput_per_s = 4000

[[result]]
subject = "golang"
endpoint = "/2048"
at = "run 2"
throughput_per_s = 4100

[[result]]
subject = "Node.js"
endpoint = "/2048"
throughput_per_s = 4500
right_ratio = 0.98

[[result]]
subject = "Rails"
endpoint = "/2048"
throughput_per_s = 1000

[[result]]
subject = "Axum"
endpoint = "/json"
throughput_per_s = 9000

[[result]]
subject = "Tomcat"
endpoint = "/2048"
throughput_per_s = 3000
"""
"""A document with a subject that is not here, one that was not measured, and another endpoint."""


def repetitions(trials: tuple[TrialFindings, ...]) -> list[ComparedTrial]:
    """The trials as comparisons and checks on campaigns see them."""
    return [ComparedTrial(one.recording, one.summary, one.level == "void") for one in trials]


def driven(driver: str, throughput: float, repetition: int, **levels: Level) -> TrialFindings:
    """A trial of `go` by some driver; `levels` are verdicts that are not sound."""
    name = f"go.2048.steady.{driver}.{repetition}"
    made = sound_trial(driver_name=driver, throughput=throughput, repetition=repetition, trial=name)
    return replace(made, verdicts=verdicts_of(name, **levels))


@cache
def crossed() -> Findings:
    """`go` by three drivers: ours, one that agrees, and one that says more and fails a check."""
    trials = (
        driven("plimsoll", 8000.0, 1),
        driven("plimsoll", 8100.0, 2),
        driven("wrk", 8050.0, 1, driver_headroom="doubtful"),
        driven("wrk", 8250.0, 2),
        driven("ab", 9900.0, 1, littles_law="void"),
        driven("ab", 9800.0, 2, littles_law="doubtful"),
    )
    made = repetitions(trials)
    return Findings(
        "crossed",
        "0.1.0",
        trials,
        comparisons(made),
        verdicts=judge_campaign(made),
        disagreements=disagreements(made),
    )


def spoken(load: Load, throughput: float, repetition: int, cpu_s: float = 1e-4) -> TrialFindings:
    """A trial of `go` by a load, whose requests cost the server so much."""
    name = f"go.2048.{load.name}.{repetition}"
    made = sound_trial(load=load, throughput=throughput, repetition=repetition, trial=name)
    summary = sample.changed(made.data.summary, server_cpu_s_per_request=cpu_s)
    return replace(made, data=replace(made.data, summary=summary))


@cache
def by_protocols() -> Findings:
    """`go` by HTTP/1.1, over TLS, and by HTTP/2 over TLS with as many requests in flight."""
    http = sample.load(name="http", stages=(Stage("hold", 7.0, 64, 64),))
    https = replace(http, name="https", tls=True)
    h2 = replace(https, name="h2", protocol="http2", streams=8, stages=(Stage("hold", 7.0, 8, 8),))
    trials = (
        *(spoken(http, 8_000.0, 1), spoken(http, 8_100.0, 2)),
        *(spoken(https, 6_000.0, 1, 1.25e-4), spoken(https, 6_100.0, 2, 1.25e-4)),
        *(spoken(h2, 5_000.0, 1, 1.5e-4), spoken(h2, 5_200.0, 2, 1.5e-4)),
    )
    made = repetitions(trials)
    return Findings(
        "by-protocols",
        "0.1.0",
        trials,
        comparisons(made),
        verdicts=judge_campaign(made),
        protocol_costs=costs(made),
    )


def by_connections(load: Load, *tail_ms: float, framework: str = "go") -> list[TrialFindings]:
    """Trials of a framework by a load, with a 99th percentile for each repetition."""
    found: list[TrialFindings] = []
    for repetition, p99_ms in enumerate(tail_ms, 1):
        name = f"{framework}.2048.{load.name}.{repetition}"
        made = sound_trial(load=load, framework=framework, repetition=repetition, trial=name)
        summary = sample.changed(
            made.data.summary, response_time_p50_ns=2_000_000, response_time_p99_ns=p99_ms * 1e6
        )
        found.append(replace(made, data=replace(made.data, summary=summary)))
    return found


@cache
def sharing() -> Findings:
    """Two servers with 160 requests in flight, on 16 connections and on 160.

    `go` delays streams of a connection; `node` does not.
    """
    stages = (Stage("hold", 7.0, 160, 160),)
    alone = sample.load(name="alone", protocol="http2", stages=stages)
    stages = (Stage("hold", 7.0, 16, 16),)
    shared = replace(alone, name="shared", streams=10, stages=stages)
    trials = (
        *by_connections(alone, 10.0, 10.2),
        *by_connections(shared, 18.0, 18.4),
        *by_connections(alone, 10.0, 11.0, framework="node"),
        *by_connections(shared, 10.0, 10.9, framework="node"),
    )
    made = repetitions(trials)
    return Findings(
        "sharing",
        "0.1.0",
        trials,
        comparisons(made),
        verdicts=judge_campaign(made),
        sharings=sharings(made),
    )


def held(framework: str, connections: int, throughput: float, **changes: Any) -> TrialFindings:
    """A trial that holds a number of connections; `failed`, `power` and `repetition` may be said.

    The name of its load is that of the number.
    """
    failed, power = changes.pop("failed", 0.0), changes.pop("power", None)
    stage = Stage("hold", 7.0, connections, connections)
    load = sample.load(name=f"c{connections}", stages=(stage,))
    made = sound_trial(framework=framework, throughput=throughput, load=load, **changes)
    summary = sample.changed(
        made.data.summary,
        failure_ratio=failed,
        server_peak_rss_bytes=14e6 + 20e3 * connections,
        rapl_net_power_w=power,
    )
    return replace(made, data=replace(made.data, summary=summary))


@cache
def rising() -> Findings:
    """Two servers on 1 to 1,000 connections, where one of them fails many requests and is void."""
    trials = (
        *(held("go", 1, 900.0, repetition=n, power=2.0) for n in (1, 2)),
        *(held("go", 100, 7900.0 + 100 * n, repetition=n, power=11.5) for n in (1, 2)),
        *(held("go", 1000, 8000.0, repetition=n, power=12.0) for n in (1, 2)),
        *(held("php", 1, 700.0, repetition=n) for n in (1, 2)),
        *(held("php", 100, 3000.0 + 50 * n, repetition=n) for n in (1, 2)),
        void(held("php", 1000, 2500.0, failed=0.4)),
    )
    return over(trials)


def metered_trial(
    framework: str, repetition: int, net_w: float | None, wall_w: float | None = 62.0
) -> TrialFindings:
    """A trial whose power is known by RAPL, and at the wall unless its meter failed."""
    trial = f"{framework}.2048.steady.{repetition}"
    power = PowerSources(
        ("package-0", "dram of package-0"), ("psys contains the packages",), meter="shelly"
    )
    made = sound_trial(framework=framework, repetition=repetition, trial=trial, power=power)
    columns: dict[str, float | None] = {}
    for source, gross_w, idle_w in (("rapl", 30.0 + (net_w or 0.1), 30.0), ("wall", wall_w, 48.0)):
        above_w = net_w if gross_w is not None else None
        columns |= {
            f"{source}_power_w": gross_w,
            f"{source}_idle_power_w": None if gross_w is None else idle_w,
            f"{source}_net_power_w": above_w,
            f"{source}_net_power_low_w": None if above_w is None else above_w - 1,
            f"{source}_net_power_high_w": None if above_w is None else above_w + 1,
            f"{source}_j_per_ok": None if gross_w is None else gross_w / 8000,
            f"{source}_net_j_per_ok": None if above_w is None else above_w / 8000,
        }
    verdicts = made.verdicts
    if wall_w is None:
        text = "Energy at the wall is unknown: the power meter gave no reading for 7 s of the load."
        stalled = Verdict(
            "energy_net", trial, "not_checked", None, 10.0, "s",
            (Sentence("not_checked", text),), "RAPL, power meter",
        )  # fmt: skip
        verdicts = (*(one for one in verdicts if one.check != stalled.check), stalled)
    summary = sample.changed(made.data.summary, **columns)
    return replace(made, data=replace(made.data, summary=summary), verdicts=verdicts)


@cache
def metered() -> Findings:
    """A server measured twice, one whose meter failed, and one not distinguishable from idle."""
    trials = (
        *(metered_trial("go", repetition, 13.0 + repetition) for repetition in (1, 2)),
        metered_trial("node", 1, 20.0, wall_w=None),
        metered_trial("php", 1, None),
    )
    return Findings("metered", "0.1.0", trials, comparisons(repetitions(trials)))


def gated_trial(framework: str, *results: tuple[Compliance, str]) -> TrialFindings:
    """A trial whose recording keeps what its server made of the first cases of the gate."""
    compliance = tuple(
        ComplianceResult(case.name, case.title, case.source, result, seen)
        for case, (result, seen) in zip(CASES, results, strict=False)
    )
    return sound_trial(framework=framework, compliance=compliance)


@cache
def gated() -> Findings:
    """A server that conforms, one that differs, and one that was not tried in all cases."""
    trials = (
        gated_trial("go", ("conforms", "200"), ("conforms", "200, 200, 404")),
        gated_trial("node", ("differs", "400"), ("either", "200, closed")),
        gated_trial("php", ("not_tried", "none of its endpoints takes a body")),
    )
    return Findings("gated", "0.1.0", trials, comparisons(repetitions(trials)))


def stored_trial(framework: str, repetition: int, busy: float | None, read: float) -> TrialFindings:
    """A trial with a database, whose responses need 40 rows and got a share of them from it."""
    trial = f"{framework}.updates.steady.{repetition}"
    database = RecordedDatabase(
        version="15.14",
        cores=(4, 5),
        started=True,
        read_per_response=40,
        written_per_response=20,
        contract_responses=1000,
        rows_read=round(40 * 82_000 * read),
        rows_written=20 * 82_000,
        commits=82_500,
    )
    made = sound_trial(
        framework=framework,
        repetition=repetition,
        trial=trial,
        endpoint="updates",
        database=database,
    )
    counted: Level = "sound" if read >= 1 else "void"
    headroom = Verdict(
        "database_headroom", trial, "sound" if busy else "not_checked", busy, 0.8, "ratio",
        (Sentence("sound", "The database took a part of its cores."),), "CPU time",
    )  # fmt: skip
    verdicts = verdicts_of(trial, rows_from_database=counted)
    return replace(made, verdicts=(*verdicts, headroom))


@cache
def with_database() -> Findings:
    """A server measured twice, one with a cache, and one whose database could not be watched."""
    trials = (
        stored_trial("go", 1, 0.61, 1.0),
        stored_trial("go", 2, 0.63, 1.02),
        stored_trial("node", 1, 0.1, 0.31),
        stored_trial("php", 1, None, 1.0),
    )
    return Findings("database", "0.1.0", trials, comparisons(repetitions(trials)))


def over(trials: tuple[TrialFindings, ...]) -> Findings:
    """Some trials as a campaign over connections."""
    made = repetitions(trials)
    series = over_connections.series(made)
    return Findings("rising", "0.1.0", trials, comparisons(made), over_connections=series)


def failed(recording: Recording) -> Recording:
    """The same recording of a driver that failed."""
    return replace(recording, ending=Ending("DriverFailed", "it ended early", "see `driver.log`"))


def void(trial: TrialFindings) -> TrialFindings:
    """The same trial, its number not to be believed."""
    return replace(trial, verdicts=verdicts_of(trial.recording.trial, littles_law="void"))


@cache
def published() -> Findings:
    """Three servers that were measured, beside figures of four."""
    trials = (
        sound_trial(framework="axum", throughput=12_400.0),
        sound_trial(framework="axum", throughput=12_600.0, repetition=2),
        sound_trial(framework="go", throughput=8000.0),
        sound_trial(framework="go", throughput=8100.0, repetition=2),
        sound_trial(framework="node", throughput=6100.0),
        sound_trial(framework="node", throughput=6200.0, repetition=2),
    )
    made = repetitions(trials)
    read = document.read(PUBLISHED, "published.toml")
    return Findings(
        "beside",
        "0.1.0",
        trials,
        comparisons(made),
        publication=Publication(
            read,
            published_comparison.fields(read, made),
            published_comparison.claimed(read, made),
            audit(read.figures),
        ),
    )
