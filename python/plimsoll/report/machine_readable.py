"""One trial as an object of JSON: what `plimsoll load --json` and `plimsoll judge --json` print."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.recording import Driver
    from plimsoll.report.findings import TrialFindings

COUNTS = ("throughput_per_s", "goodput_per_s", "failure_ratio", "completed", "failed", "unfinished")
TIMES = ("response_time", "service_time", "first_byte", "connect", "lag")
STATISTICS = ("mean", "min", "p25", "p50", "p75", "p90", "p95", "p99", "p999", "p9999", "max")
CONNECTIONS = ("asked", "opened", "answered", "refused", "lost", "peak_open")


def trial(found: TrialFindings) -> dict[str, Any]:
    """Summary, connections, failures, driver, verdicts and level of a trial.

    Args:
        found: What is known of it.

    Returns:
        An object ready for JSON; what is not known is null.
    """
    recording, summary = found.recording, found.summary
    return {
        "trial": recording.trial,
        "framework": recording.title,
        "endpoint": recording.endpoint,
        "ending": asdict(recording.ending),
        "summary": None if summary is None else _summary(summary),
        "connections": None if summary is None else _connections(summary),
        "failures": [asdict(failure) for failure in found.failures],
        "driver": None if recording.driver is None else _driver(recording.driver, summary),
        "verdicts": [asdict(verdict) for verdict in found.verdicts],
        "level": found.level,
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
