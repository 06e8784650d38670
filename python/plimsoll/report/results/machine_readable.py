"""One trial as an object of JSON: what `plimsoll load --json` and `plimsoll judge --json` print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from plimsoll.aggregate.energy import SOURCES
from plimsoll.aggregate.summary import TIMES
from plimsoll.findings.entries import EntryName
from plimsoll.findings.ladders import SIDES
from plimsoll.findings.trial import state_of_ratio
from plimsoll.load_line.tries import is_try
from plimsoll.report import trial_numbers
from plimsoll.report.results import judged, line_result
from plimsoll.tables import STATISTICS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.aggregate.summary import Summary
    from plimsoll.findings.campaign_thresholds import JudgedEntry
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import State, TrialFindings
    from plimsoll.provenance import Provenance
    from plimsoll.recording import Driver, Recording
    from plimsoll.statistics.intervals import Estimate
    from plimsoll.statistics.straight_line import StraightLine
    from plimsoll.verdicts.verdict import Verdict

JsonObject = dict[str, Any]
"""An object of a JSON document."""

COUNTS = ("throughput_per_s", "goodput_per_s", "failure_ratio", "completed", "failed", "unfinished")
CONNECTIONS = ("requested", "opened", "with_response", "refused", "lost", "peak_open")


def trials(findings: Findings, accepted: Sequence[str] = ()) -> list[JsonObject]:
    """Every trial of a campaign, with its comparison with other drivers and publications.

    Args:
        findings: What was found.
        accepted: Checks whose verdicts the exit code leaves out.
    """
    by_name = {found.recording.trial: found for found in findings.trials}
    return [
        {
            **trial(found, findings.verdicts),
            "accepted": _accepted([*found.verdicts, *findings.verdicts], accepted),
            "rank": _rank(found, findings),
            "beside_other_drivers": _by_driver(found, findings, by_name),
            "protocol_cost": _protocol_cost(found, findings, by_name),
            "head_of_line": _head_of_line(found, findings, by_name),
            "beside_published": _published(found, findings, by_name),
            "thresholds": _thresholds(found, findings),
            "load_lines": _load_lines(found, findings),
            "ladder": _ladder(found, findings),
        }
        for found in findings.trials
    ]


def _accepted(verdicts: Sequence[Verdict], accepted: Sequence[str]) -> list[str]:
    """Checks that doubt and are accepted."""
    doubting = {one.check for one in verdicts if one.is_doubting}
    return [check for check in accepted if check in doubting]


def _rank(found: TrialFindings, findings: Findings) -> dict[str, object] | None:
    """Rank of the trial's framework, and its goodput / that of the best and of the next one."""
    for ranking in findings.rankings:
        for one in ranking.entries:
            if found.recording.trial in (trial.trial for trial in one.repetitions):
                return {
                    "rank_low": one.rank_low,
                    "rank_high": one.rank_high,
                    "best_framework": ranking.entries[0].framework if one.to_best else None,
                    "ratio_to_best": _estimate(one.to_best),
                    "next_framework": one.next_framework or None,
                    "ratio_to_next": _estimate(one.to_next),
                }
    return None


def _thresholds(found: TrialFindings, findings: Findings) -> list[dict[str, object]]:
    """What thresholds say of the entry that the trial is a repetition of."""
    entry = EntryName.of(found.recording)
    return thresholds([one for one in findings.thresholds if one.entry == entry])


def thresholds(judged: Sequence[JudgedEntry]) -> list[dict[str, object]]:
    """What thresholds say of entries, or of a load.

    Args:
        judged: Each threshold with what it says.

    Returns:
        Objects ready for JSON; `crossed` is null where a threshold is undecided.
    """
    return [
        {
            "threshold": one.threshold.text,
            "entry": str(one.entry),
            "quantity": one.threshold.threshold.column,
            "measured": _estimate(one.estimate),
            "crossed": None if one.is_undecided else one.is_crossed,
            "reason": one.reason or None,
        }
        for one in judged
    ]


def _load_lines(found: TrialFindings, findings: Findings) -> list[dict[str, object]]:
    """The load lines of the trial's framework at its endpoint, as `plimsoll line` has them."""
    subject = (found.recording.endpoint, found.recording.title)
    return [
        {
            "answer": line_result.sentence_of(entry.found, one.line),
            "level": one.state,
            "rank_low": one.rank_low,
            "rank_high": one.rank_high,
            "is_try": is_try(found.recording),
            **line_result.line_document(entry.found, one.line),
        }
        for ranking in findings.line_rankings
        for one in ranking.places
        if (entry := one.entry) and (entry.endpoint, entry.framework) == subject
        if entry.found is not None and one.line is not None
    ]


def _ladder(found: TrialFindings, findings: Findings) -> dict[str, object] | None:
    """What a request costs the trial's framework at its endpoint, and its idle cost."""
    subject = (found.recording.endpoint, found.recording.title)
    places = [place for ranking in findings.ladder_rankings for place in ranking.places]
    for one in places:
        ladder = one.ladder
        if (ladder.endpoint, ladder.framework) == subject:
            steps = {step.trial.recording.trial: step for step in ladder.steps}
            step = steps.get(found.recording.trial)
            return {
                "rank_low": one.ranks and one.ranks[0],
                "rank_high": one.ranks and one.ranks[1],
                "level": ladder.state,
                "cpu_s_per_request": _slope(ladder.cores),
                "user_cpu_s_per_request": _slope(ladder.user),
                "system_cpu_s_per_request": _slope(ladder.system),
                "cores_at_rate_0": ladder.cores and _estimate(ladder.cores.intercept),
                "bend": ladder.cores and ladder.cores.bend,
                "power_source": ladder.power_source,
                "joules_per_request": _slope(ladder.power),
                "watts_at_rate_0": ladder.power and _estimate(ladder.power.intercept),
                "power_bend": ladder.power and ladder.power.bend,
                "without_load": {
                    side: {
                        "busy_cores": _estimate(ladder.standing_cores(side)),
                        "rss_bytes": _estimate(ladder.standing_bytes(side)),
                    }
                    for side in SIDES
                },
                "is_step": step is not None,
                "left_out": (step and step.left_out) or None,
                "cost": step and step.cost and asdict(step.cost),
            }
    return None


def _slope(line: StraightLine | None) -> dict[str, float | None] | None:
    return line and _estimate(line.slope)


def _by_driver(
    found: TrialFindings, findings: Findings, by_name: Mapping[str, TrialFindings]
) -> dict[str, object] | None:
    """Throughput by the trial's driver / that by the driver it is held against."""
    for one in findings.disagreements:
        for by in one.drivers:
            if found.recording.trial in by.trials:
                return {
                    "against": one.against,
                    "level": by.ratio and _level(by_name, by.trials, one.drivers[0].trials),
                    "throughput_ratio": _estimate(by.ratio),
                }
    return None


def _protocol_cost(
    found: TrialFindings, findings: Findings, by_name: Mapping[str, TrialFindings]
) -> dict[str, object] | None:
    """Ratios of the trial's server by TLS or HTTP/2 to itself by HTTP/1.1 without TLS."""
    recording = found.recording
    for one in findings.protocol_costs:
        if recording.trial in one.trials and recording.load.name == one.load:
            ratios = {f"{name}_ratio": _estimate(ratio) for name, ratio in one.ratios.items()}
            return {
                "service": one.service,
                "against": one.against,
                "level": _level(by_name, one.trials, one.against_trials),
                **ratios,
            }
    return None


def _head_of_line(
    found: TrialFindings, findings: Findings, by_name: Mapping[str, TrialFindings]
) -> dict[str, object] | None:
    """Ratios of the trial's server on shared connections to itself with one for each request."""
    recording = found.recording
    for one in findings.sharings:
        if recording.trial in one.trials and recording.load.name == one.load:
            ratios = {f"{name}_ratio": _estimate(of.ratio) for name, of in one.quantities.items()}
            return {
                "against": one.against,
                "level": _level(by_name, one.trials, one.against_trials),
                "connections": one.connections,
                "in_flight_each": one.each,
                **ratios,
            }
    return None


def _published(
    found: TrialFindings, findings: Findings, by_name: Mapping[str, TrialFindings]
) -> list[dict[str, object]]:
    """Throughput of the trial's server / that of the baseline, as published and as measured."""
    fields = () if findings.publication is None else findings.publication.fields
    return [
        {
            "subject": row.subject,
            "baseline": field.baseline,
            "published_ratio": _estimate(row.published),
            "measured_ratio": _estimate(row.measured),
            "measured_level": row.measured and _level(by_name, row.trials, field.baseline_trials),
        }
        for field in fields
        for row in field.rows
        if found.recording.trial in row.trials
    ]


def _level(
    by_name: Mapping[str, TrialFindings], own: Sequence[str], against: Sequence[str]
) -> State:
    """How far to believe a ratio of numbers over the trials with these names."""
    return state_of_ratio([by_name[name] for name in own], [by_name[name] for name in against])


def _estimate(estimate: Estimate | None) -> dict[str, float | None] | None:
    if estimate is None:
        return None
    ends = estimate.interval
    return {"value": estimate.value, "low": ends and ends.low, "high": ends and ends.high}


def trial(found: TrialFindings, campaign: Sequence[Verdict] = ()) -> JsonObject:
    """Summary, connections, status codes, failures, driver, verdicts and level of a trial.

    Args:
        found: What is known of it.
        campaign: Verdicts on the campaign that it is part of, the same in each of its trials.

    Returns:
        An object ready for JSON; what is not known is null.
    """
    recording, summary = found.recording, found.summary
    load = None if recording.load.model == "unknown" else recording.load
    return {
        "trial": recording.trial,
        "framework": recording.title,
        "endpoint": recording.endpoint,
        "load": recording.load.name,
        "protocol": load and load.protocol,
        "in_flight_each": load and load.in_flight_each,
        "events": load and load.events,
        "repetition": recording.repetition,
        "ending": asdict(recording.ending),
        "seed": recording.seed,
        "provenance": _provenance(recording.provenance),
        "summary": None if summary is None else _summary(summary),
        "connections": None if summary is None else _connections(summary, recording),
        "tls": _tls(recording),
        "power": _power(recording, summary),
        "compliance": [asdict(one) for one in recording.compliance],
        "requests": list(found.kinds),
        "response_heads": [asdict(head) for head in recording.heads],
        "stalls": found.stalls,
        "steady_state": None if found.steady_state is None else asdict(found.steady_state),
        "statuses": [asdict(status) for status in found.statuses],
        "failures": [asdict(failure) for failure in found.failures],
        "driver": None if recording.driver is None else _driver(recording.driver, summary),
        "verdicts": [judged.of_trial(verdict) for verdict in found.verdicts],
        "level": found.level,
        "campaign_verdicts": [judged.of_campaign(verdict) for verdict in campaign],
    }


def _provenance(known: Provenance) -> dict[str, object]:
    return {
        "application_id": known.application_id or None,
        "measurement_id": known.measurement_id or None,
        **asdict(known),
    }


def _summary(summary: Summary) -> dict[str, object]:
    times = {
        f"{name}_ns": {statistic: summary.time(name).of(statistic) for statistic in STATISTICS}
        for name in TIMES
    }
    return {
        **{name: summary.value(name) for name in COUNTS},
        **times,
        "received_bytes": summary.received_bytes,
        "sent_bytes": summary.sent_bytes,
        "duration_s": summary.duration_s,
    }


def _connections(summary: Summary, recording: Recording) -> dict[str, object]:
    driver = recording.driver
    return {name: trial_numbers.connection_count(name, summary, driver) for name in CONNECTIONS}


def _tls(recording: Recording) -> dict[str, object] | None:
    """TLS as requested and as negotiated; null for plain TCP."""
    if recording.tls is None:
        return None
    negotiated = () if recording.driver is None else recording.driver.tls
    return {**asdict(recording.tls), "negotiated": [asdict(one) for one in negotiated]}


def _power(recording: Recording, summary: Summary | None) -> dict[str, object] | None:
    """Power and energy by source, and what was read; null where nothing was."""
    read = recording.power
    if read is None or not (read.rapl or read.meter):
        return None
    columns: JsonObject = {} if summary is None else dict(summary.row)
    by_source = {
        source: {
            name.removeprefix(f"{source}_"): value
            for name, value in columns.items()
            if name.startswith(f"{source}_")
        }
        for source in SOURCES
    }
    return {**by_source, "sources": asdict(read)}


def _driver(driver: Driver, summary: Summary | None) -> dict[str, object]:
    return {
        "name": driver.name,
        "version": driver.version,
        "busy_cores": None if summary is None else summary.driver_busy_cores,
        "cores": driver.threads,
        "peak_rss_bytes": driver.peak_rss_bytes,
        "requests_lost_by_recorder": driver.requests_lost_by_recorder,
        "redirects": driver.redirects,
        "fewest_streams": driver.fewest_streams,
        "decoded": asdict(driver.decoded),
    }
