"""One trial as an object of JSON: what `plimsoll load --json` and `plimsoll judge --json` print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.aggregate.intervals import Middle
    from plimsoll.recording import Driver
    from plimsoll.report.findings import Findings, TrialFindings
    from plimsoll.verdicts.verdict import Verdict

COUNTS = ("throughput_per_s", "goodput_per_s", "failure_ratio", "completed", "failed", "unfinished")
TIMES = ("response_time", "service_time", "first_byte", "connect", "lag")
STATISTICS = ("mean", "min", "p25", "p50", "p75", "p90", "p95", "p99", "p999", "p9999", "max")
CONNECTIONS = ("asked", "opened", "answered", "refused", "lost", "peak_open")


def trials(findings: Findings) -> list[dict[str, Any]]:
    """Every trial of a campaign, with what is said of it beside other drivers and publications."""
    return [
        {
            **trial(found, findings.verdicts),
            "beside_other_drivers": _by_driver(found, findings),
            "beside_published": _published(found, findings),
        }
        for found in findings.trials
    ]


def _by_driver(found: TrialFindings, findings: Findings) -> dict[str, Any] | None:
    """Throughput by the trial's driver / that by the driver it is held against."""
    for one in findings.disagreements:
        for by in one.drivers:
            if found.recording.trial in by.trials:
                return {"against": one.against, "throughput_ratio": _middle(by.ratio)}
    return None


def _published(found: TrialFindings, findings: Findings) -> list[dict[str, Any]]:
    """Throughput of the trial's server / that of the baseline, as published and as measured."""
    fields = () if findings.publication is None else findings.publication.fields
    return [
        {
            "subject": row.subject,
            "baseline": field.baseline,
            "published_ratio": _middle(row.published),
            "measured_ratio": _middle(row.measured),
        }
        for field in fields
        for row in field.rows
        if found.recording.trial in row.trials
    ]


def _middle(middle: Middle | None) -> dict[str, float | None] | None:
    if middle is None:
        return None
    ends = middle.interval
    return {"value": middle.value, "low": ends and ends.low, "high": ends and ends.high}


def trial(found: TrialFindings, campaign: Sequence[Verdict] = ()) -> dict[str, Any]:
    """Summary, connections, failures, driver, verdicts and level of a trial.

    Args:
        found: What is known of it.
        campaign: Verdicts on the campaign that it is part of, the same in each of its trials.

    Returns:
        An object ready for JSON; what is not known is null.
    """
    recording, summary = found.recording, found.summary
    return {
        "trial": recording.trial,
        "framework": recording.title,
        "endpoint": recording.endpoint,
        "load": recording.load.get("name", ""),
        "repetition": recording.repetition,
        "ending": asdict(recording.ending),
        "summary": None if summary is None else _summary(summary),
        "connections": None if summary is None else _connections(summary),
        "requests": list(found.kinds),
        "silences": found.silences,
        "course": found.course,
        "failures": [asdict(failure) for failure in found.failures],
        "driver": None if recording.driver is None else _driver(recording.driver, summary),
        "verdicts": [asdict(verdict) for verdict in found.verdicts],
        "level": found.level,
        "campaign_verdicts": [asdict(verdict) for verdict in campaign],
    }


def _summary(summary: Mapping[str, Any]) -> dict[str, Any]:
    times = {
        f"{name}_ns": {statistic: summary[f"{name}_{statistic}_ns"] for statistic in STATISTICS}
        for name in TIMES
    }
    return {
        **{name: summary[name] for name in COUNTS},
        **times,
        "received_bytes": summary["received_bytes"],
        "sent_bytes": summary["sent_bytes"],
        "duration_s": summary["duration_s"],
    }


def _connections(summary: Mapping[str, Any]) -> dict[str, Any]:
    return {name: summary[f"connections_{name}"] for name in CONNECTIONS}


def _driver(driver: Driver, summary: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "name": driver.name,
        "version": driver.version,
        "busy_cores": None if summary is None else summary["driver_busy_cores"],
        "cores": driver.threads,
        "peak_rss_bytes": driver.peak_rss_bytes,
        "requests_lost_by_recorder": driver.requests_lost_by_recorder,
    }
