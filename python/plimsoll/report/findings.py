"""Findings: all that a report of a campaign is made of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from plimsoll.aggregate.comparisons import RANKED
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.canvas import Ranking, Repetition, Standing
from plimsoll.report.words import check_name
from plimsoll.verdicts.verdict import LEVELS, worst

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa

    from plimsoll.aggregate.failures import Failure
    from plimsoll.canvas import TrialData
    from plimsoll.recording import Recording
    from plimsoll.verdicts.verdict import Level, Verdict

State = Literal["sound", "doubtful", "void", "failed"]
"""The level of a trial, or `failed` when an error ended it."""

_CONTRACT = {endpoint.name: place for place, endpoint in enumerate(ENDPOINTS)}

RANKED_BY = RANKED[0]
"""The column of `tables.SUMMARIES` that rankings are made of."""


@dataclass(frozen=True)
class TrialFindings:
    """What is known of one trial.

    Attributes:
        data: What its charts are drawn from, with its recording and its summary.
        verdicts: What the checks say of it.
        failures: How its requests failed, the most frequent kind first.
    """

    data: TrialData
    verdicts: tuple[Verdict, ...] = ()
    failures: tuple[Failure, ...] = ()

    @property
    def recording(self) -> Recording:
        """Its recording."""
        return self.data.recording

    @property
    def summary(self) -> Mapping[str, Any] | None:
        """Its row of `tables.SUMMARIES`; None when there is none."""
        return self.data.summary

    @property
    def has_ended_well(self) -> bool:
        """Whether no error ended it."""
        return self.recording.ending.kind == "completed"

    @property
    def level(self) -> Level:
        """How far to believe its numbers; void also when an error ended it."""
        if self.summary is None or not self.has_ended_well:
            return "void"
        return worst(verdict.level for verdict in self.verdicts)

    @property
    def state(self) -> State:
        """Its level, or `failed` when an error ended it."""
        return self.level if self.has_ended_well else "failed"

    @property
    def value(self) -> float | None:
        """Its goodput in right answers per second; None when there is no summary."""
        if self.summary is None or not (self.has_ended_well or self.summary["completed"]):
            return None
        return float(self.summary[RANKED_BY])


@dataclass(frozen=True)
class Findings:
    """All that a report of a campaign is made of.

    Attributes:
        campaign: Name of the campaign.
        version: Version of Plimsoll that made the report.
        trials: What is known of each trial, in the order of the plan.
        comparisons: Rows of `tables.COMPARISONS`.
        verdicts: What the checks say of comparisons and of the campaign.
        missing: Ids of trials that were planned and not conducted.
    """

    campaign: str
    version: str
    trials: tuple[TrialFindings, ...]
    comparisons: pa.Table
    verdicts: tuple[Verdict, ...] = ()
    missing: tuple[str, ...] = ()
    rankings: tuple[Ranking, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Work out the rankings."""
        object.__setattr__(self, "rankings", rankings(self.trials, self.comparisons))

    @property
    def counts(self) -> Counter[State]:
        """How many trials are in each state."""
        return Counter(trial.state for trial in self.trials)

    @property
    def limits(self) -> dict[str, dict[str, float]]:
        """Limits of checks that the campaign changed: check to name and value."""
        changed: dict[str, dict[str, float]] = {}
        for trial in self.trials:
            for check, values in trial.recording.limits.items():
                changed.setdefault(check, {}).update(values)
        return changed


def rankings(trials: Sequence[TrialFindings], comparisons: pa.Table) -> tuple[Ranking, ...]:
    """The ranking of each endpoint and load, in the order of the contract.

    Args:
        trials: The trials.
        comparisons: Rows of `tables.COMPARISONS`.
    """
    rows = {
        (row["endpoint"], row["load"], row["framework"]): row
        for row in comparisons.to_pylist()
        if row["quantity"] == RANKED_BY
    }
    grouped: dict[tuple[str, str], dict[str, list[TrialFindings]]] = {}
    for trial in trials:
        recording = trial.recording
        key = (recording.endpoint, load_name(recording))
        grouped.setdefault(key, {}).setdefault(recording.title, []).append(trial)
    return tuple(
        _ranking(endpoint, load, frameworks, rows)
        for (endpoint, load), frameworks in sorted(grouped.items(), key=_place)
    )


def _place(item: tuple[tuple[str, str], object]) -> tuple[int, str, str]:
    """Where a ranking stands: endpoints in the order of the contract, then by name."""
    (endpoint, load), _ = item
    return _CONTRACT.get(endpoint, len(_CONTRACT)), endpoint, load


def load_name(recording: Recording) -> str:
    """Name of the load of a trial."""
    return str(recording.load.get("name", ""))


def _ranking(
    endpoint: str,
    load: str,
    frameworks: Mapping[str, Sequence[TrialFindings]],
    rows: Mapping[tuple[str, str, str], Mapping[str, Any]],
) -> Ranking:
    standings = [
        _standing(framework, trials, rows.get((endpoint, load, framework), {}))
        for framework, trials in frameworks.items()
    ]
    return Ranking(endpoint, load, tuple(sorted(standings, key=_order)))


def _standing(framework: str, trials: Sequence[TrialFindings], row: Mapping[str, Any]) -> Standing:
    counting = [trial for trial in trials if trial.level != "void"]
    level = worst(trial.level for trial in counting) if counting else "void"
    shown = [trial.value for trial in counting or trials if trial.value is not None]
    return Standing(
        framework=framework,
        rank_low=row.get("rank_low"),
        rank_high=row.get("rank_high"),
        value=median(shown) if shown else None,
        low=row.get("low"),
        high=row.get("high"),
        level=level,
        repetitions=tuple(
            Repetition(trial.recording.trial, trial.value, trial.level)
            for trial in sorted(trials, key=lambda trial: trial.recording.repetition)
        ),
        reason=_reason(counting, trials),
    )


def _reason(counting: Sequence[TrialFindings], trials: Sequence[TrialFindings]) -> str:
    """Why a framework has no rank, or which checks doubt it, or how many trials do not count."""
    left_out = [trial for trial in trials if trial.level == "void"]
    reasons = [] if counting else _causes(left_out)
    if counting and left_out:
        reasons = [f"{len(left_out)} of {len(trials)} repetitions left out"]
    return ", ".join([*reasons, *_checks(counting, "doubtful")])


def _causes(trials: Sequence[TrialFindings]) -> list[str]:
    failed = dict.fromkeys(
        trial.recording.ending.kind for trial in trials if not trial.has_ended_well
    )
    return [*failed, *_checks((trial for trial in trials if trial.has_ended_well), "void")]


def _checks(trials: Iterable[TrialFindings], level: Level) -> list[str]:
    found = (v.check for trial in trials for v in trial.verdicts if v.level == level)
    return [check_name(check) for check in dict.fromkeys(found)]


def _order(standing: Standing) -> tuple[bool, int, float]:
    """Ranked ones by their number, then the others by theirs, those without one last."""
    unranked = standing.rank_low is None
    return (
        unranked,
        LEVELS.index(standing.level) if unranked else 0,
        -(standing.value if standing.value is not None else -1.0),
    )
