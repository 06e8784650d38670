"""Ladders with a known cost: trials whose readings follow a straight line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sample
import stored_trials
from plimsoll.aggregate.step_costs import StepCost
from plimsoll.campaign.ladder_settings import LadderSettings
from plimsoll.campaign.load import Load, StageKind
from plimsoll.findings import ladders, rate_curves
from plimsoll.findings.findings import Findings
from plimsoll.findings.ladders import EntryLadder, LadderRanking, LadderStep, RankedLadder
from plimsoll.findings.rate_curves import RateCurves, RatePoint
from plimsoll.findings.trial import TrialFindings
from plimsoll.recording import RecordedStage, Recording
from plimsoll.statistics import straight_line
from plimsoll.storage.results import Results
from recordings import SECOND_NS, request_rows, usage_rows

LADDER = LadderSettings(shares=(0.2, 0.4, 0.6, 0.8))
BASE_PER_S = 1000.0
MS = SECOND_NS // 1000

Readings = Iterator[tuple[float, str, str, float]]


@dataclass(frozen=True)
class Costs:
    """What a server costs.

    Attributes:
        standing: Cores that it keeps busy without a request.
        per_request_s: Processor time of a request, two thirds of it in user mode.
        most_per_s: The most that it answers.
        scatter: How much more than that the second repetition takes, as a share.
        held_bytes: Its memory.
        joules: Energy of a request by RAPL; None where no power is read.
        joules_rise: How much more it is at 1,000 requests per second.
        wall_until_per_s: The highest rate at which a meter at the wall, which shows twice as much,
            is read.
    """

    standing: float = 0.02
    per_request_s: float = 200e-6
    most_per_s: float = 1e6
    scatter: float = 0.02
    held_bytes: float = 50e6
    joules: float | None = None
    joules_rise: float = 0.0
    wall_until_per_s: float = 0.0


def findings(results: Results, servers: Mapping[str, Costs], repetitions: int = 2) -> Findings:
    """The findings of a campaign with some servers; their readings are put into its results."""
    trials = [one for name, costs in servers.items() for one in _trials(name, costs, repetitions)]
    for one in trials:
        costs = servers[one.recording.framework]
        usage = usage_rows(*_readings(one, costs))
        stored_trials.put(results, one.recording, usage=usage, **stored_trials.NO_ROWS)
    return replace(
        sample.findings(),
        trials=tuple(trials),
        missing=(),
        verdicts=(),
        ladders=ladders.of_campaign(results, trials),
        rate_curves=rate_curves.of_trials(trials),
    )


def _trials(name: str, costs: Costs, repetitions: int) -> Iterator[TrialFindings]:
    loads = (LADDER.peak, *LADDER.steps(LADDER.rates_per_s(BASE_PER_S)))
    for load in loads:
        for repetition in range(1, repetitions + 1):
            yield _trial(name, costs, load, repetition)


def _trial(name: str, costs: Costs, load: Load, repetition: int) -> TrialFindings:
    made = recording(name, load, repetition)
    requested_per_s = load.stages[-1].start if load.model == "open" else BASE_PER_S
    summary = sample.summary(
        made.trial, min(requested_per_s, costs.most_per_s), duration_s=LADDER.hold_s
    )
    data = sample.trial_data(recording=made, summary=summary)
    return TrialFindings(data, sample.verdicts_of(made.trial))


def recording(name: str, load: Load, repetition: int = 1, **changes: Any) -> Recording:
    """A trial of a ladder as it ran."""
    edges_ns = (0, round(LADDER.warm_up_s * SECOND_NS), round(load.duration_s * SECOND_NS))
    kinds: list[StageKind] = [stage.kind for stage in load.stages]
    level = load.stages[-1].start
    stages = tuple(
        RecordedStage(kind, start_ns, end_ns, level, level, 1)
        for kind, start_ns, end_ns in zip(kinds, edges_ns, edges_ns[1:], strict=False)
    )
    return sample.recording(
        framework=name, load=load, repetition=repetition, stages=stages, **changes
    )


def _readings(trial: TrialFindings, costs: Costs) -> Readings:
    """A reading each second of the load, and three without load on each side."""
    assert trial.summary is not None
    factor = 1 + (costs.scatter if trial.recording.repetition == 2 else 0.0)
    per_s = trial.summary.throughput_per_s
    busy = factor * (costs.standing + costs.per_request_s * per_s)
    for second in range(8):
        yield second, "server", "cpu_user_s", second * busy * 2 / 3
        yield second, "server", "cpu_system_s", second * busy / 3
        yield second, "server", "voluntary_switches", second * per_s * 1.5
        yield second, "server", "involuntary_switches", second * per_s * 0.5
        yield second, "server", "rss_bytes", costs.held_bytes
        if costs.joules is not None:
            joules = costs.joules + costs.joules_rise * per_s / BASE_PER_S
            scatter_w = 0.01 * trial.recording.repetition if costs.joules_rise else 0.0
            power_w = 30.0 + joules * per_s + scatter_w
            yield second, "machine", "energy_j", second * power_w
            if per_s <= costs.wall_until_per_s:
                for tenth in range(10):
                    shown_w = 2 * power_w + (0.01 if tenth % 2 else -0.01)
                    yield second + tenth / 10, "machine", "wall_power_w", shown_w
    for start in (-5, 9):
        for second in range(3):
            yield start + second, "server", "idle_cpu_user_s", second * costs.standing
            yield start + second, "server", "idle_cpu_system_s", 0.0
            yield start + second, "server", "idle_rss_bytes", costs.held_bytes / 2


def put_all_in_use(
    results: Results, trial: TrialFindings, costs: Costs, each_ms: int, shortest_ms: int
) -> TrialFindings:
    """A trial with requests that keep every connection busy; one on each of them is shorter."""
    driver = sample.driver(connections_requested=LADDER.connections)
    trial = replace(
        trial, data=replace(trial.data, recording=replace(trial.recording, driver=driver))
    )
    rows = [
        {
            "due_ns": start_ms * MS,
            "sent_ns": start_ms * MS,
            "first_byte_ns": end_ms * MS,
            "done_ns": end_ms * MS,
            "connection": connection,
            "status": 200,
        }
        for connection in range(LADDER.connections)
        for start_ms in range(0, 6000, each_ms)
        if (end_ms := start_ms + (shortest_ms if start_ms == 2000 else each_ms))
    ]
    busy = [(second, "driver", "in_flight_mean", float(LADDER.connections)) for second in range(8)]
    usage = usage_rows(*_readings(trial, costs), *busy)
    tables = {**stored_trials.NO_ROWS, "requests": request_rows(*rows)}
    stored_trials.put(results, trial.recording, usage=usage, **tables)
    return trial


def ranking() -> LadderRanking:
    """Two servers, of which one was full at the highest rate; made without any results."""
    costs = {"go": (0.02, 100e-6, 800.0), "node": (0.01, 250e-6, 600.0)}
    return LadderRanking(
        "json", tuple(RankedLadder(_entry(name, *one)) for name, one in costs.items())
    )


def _entry(name: str, standing: float, per_request_s: float, most_per_s: float) -> EntryLadder:
    steps = tuple(_step(name, load, standing, per_request_s, most_per_s) for load in _loads())
    counting = [one.cost for one in steps if one.cost is not None and not one.left_out]
    rates = [one.completed_per_s for one in counting]
    line = straight_line.line(rates, [one.busy_cores or 0.0 for one in counting])
    return EntryLadder(name, "json", is_yardstick=False, steps=steps, cores=line)


def _loads() -> tuple[Load, ...]:
    return LADDER.steps(LADDER.rates_per_s(BASE_PER_S))


def _step(
    name: str, load: Load, standing: float, per_request_s: float, most_per_s: float
) -> LadderStep:
    requested_per_s = load.stages[-1].start
    completed_per_s = min(requested_per_s, most_per_s)
    busy = standing + per_request_s * completed_per_s
    cost = StepCost(completed_per_s, busy, 0.0, None, None, None, {}, None, None)
    trial = TrialFindings(sample.trial_data(recording=recording(name, load)))
    is_full = completed_per_s < requested_per_s
    return LadderStep(trial, requested_per_s, cost, "full" if is_full else "", is_full=is_full)


def curves() -> RateCurves:
    """Latency of two servers over four rates, of which one is void at the highest."""
    points = [
        RatePoint(
            framework=name,
            rate_per_s=rate_per_s,
            times_ns={"p50": base_ns * rate_per_s, "p99": 9 * base_ns * rate_per_s},
            failed=0.0,
            level="void" if (name, rate_per_s) == ("node", 800.0) else "sound",
        )
        for name, base_ns in (("go", 1e4), ("node", 3e4))
        for rate_per_s in (200.0, 400.0, 600.0, 800.0)
    ]
    return RateCurves("json", "plimsoll", "response_time", tuple(points))
