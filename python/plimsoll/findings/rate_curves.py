"""Rate curves: latency of each server over the rate of open loads, where several were measured.

A rate is a trial of its own, or a step of a load that rises. In an imported recording it is a
stretch in which requests started at a steady rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.aggregate.rate_levels import FEWEST, PERCENTILES
from plimsoll.verdicts.catalogue import role
from plimsoll.verdicts.levels import of_trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from plimsoll.findings.trial import TrialFindings
    from plimsoll.verdicts.verdict import Level


@dataclass(frozen=True)
class RatePoint:
    """One server at one rate.

    Attributes:
        framework: Framework and variant.
        rate_per_s: Requests per second, as requested or as they started.
        times_ns: Latency by percentile (`p50`), in nanoseconds; those that there were enough
            responses for.
        failed: Share of the requests that failed; None where none ended.
        level: How far to believe it.
    """

    framework: str
    rate_per_s: float
    times_ns: Mapping[str, float]
    failed: float | None
    level: Level


@dataclass(frozen=True)
class RateCurves:
    """The servers at one endpoint by one driver, over rates.

    Attributes:
        endpoint: Name of the endpoint.
        driver: Program that generated the loads.
        time: `response_time`, or `service_time` where intended starts are unknown.
        points: By framework, then by rate.
    """

    endpoint: str
    driver: str
    time: str
    points: tuple[RatePoint, ...]

    @property
    def frameworks(self) -> tuple[str, ...]:
        """The frameworks, in order."""
        return tuple(dict.fromkeys(point.framework for point in self.points))


def of_trials(trials: Sequence[TrialFindings]) -> tuple[RateCurves, ...]:
    """The curves of some trials, in the order of endpoint and driver.

    Args:
        trials: What is known of each.
    """
    grouped: dict[tuple[str, str, str], list[RatePoint]] = {}
    for trial in trials:
        for time, point in _points(trial):
            key = (trial.recording.endpoint, trial.recording.driver_name, time)
            grouped.setdefault(key, []).append(point)
    return tuple(
        RateCurves(*key, tuple(sorted(points, key=lambda one: (one.framework, one.rate_per_s))))
        for key, points in sorted(grouped.items())
        if len({one.rate_per_s for one in points}) >= FEWEST
    )


def _points(trial: TrialFindings) -> Iterator[tuple[str, RatePoint]]:
    """The rates of a trial, each with the name of its time."""
    title = trial.recording.title
    for row in trial.rate_levels:
        ended = row["completed"] + row["failed"]
        times_ns = {one: ns for one in PERCENTILES if (ns := row.get(f"{one}_ns")) is not None}
        failed = row["failed"] / ended if ended else None
        yield (
            row["time"],
            RatePoint(title, row["rate_per_s"], times_ns, failed, _level(trial)),
        )
    rate_per_s = _held_per_s(trial)
    if trial.rate_levels or trial.summary is None or rate_per_s is None:
        return
    time = trial.summary.latency_kind
    found = {one: trial.summary.time(time).of(one) for one in PERCENTILES}
    times_ns = {one: value for one, value in found.items() if value is not None}
    failed = trial.summary.failure_ratio
    yield time, RatePoint(title, rate_per_s, times_ns, failed, trial.level)


def _level(trial: TrialFindings) -> Level:
    """How far to believe each of several rates of a trial: it was not steady, as was intended."""
    if not trial.has_ended_well:
        return trial.level
    return of_trial([one for one in trial.verdicts if not role(one.check).is_on_steady_state])


def _held_per_s(trial: TrialFindings) -> float | None:
    """The one rate that the holds of a trial have; None when there is no one."""
    load = trial.recording.load
    holds = [stage for stage in load.stages if stage.kind == "hold"]
    levels = {level for stage in holds for level in (stage.start, stage.end)}
    return levels.pop() if load.model == "open" and len(levels) == 1 else None
