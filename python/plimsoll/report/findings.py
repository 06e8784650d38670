"""Findings: all that a report of a campaign is made of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from plimsoll.aggregate.comparisons import RANKED
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.canvas import Ranking, Repetition, Standing
from plimsoll.report.words import check_name, is_untold
from plimsoll.verdicts.verdict import LEVELS, worst

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa

    from plimsoll.aggregate.beside_published import Claimed, Field
    from plimsoll.aggregate.disagreements import Disagreement
    from plimsoll.aggregate.failures import Failure
    from plimsoll.aggregate.over_connections import Series
    from plimsoll.canvas import TrialData
    from plimsoll.published.document import Document
    from plimsoll.recording import Recording
    from plimsoll.verdicts.audit import Audit
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
        kinds: Rows of `aggregate.kinds`, where the load mixes several requests.
        silences: Row of `aggregate.silences`; None where the load was open.
        course: Row of `aggregate.courses`; None where nothing was held.
    """

    data: TrialData
    verdicts: tuple[Verdict, ...] = ()
    failures: tuple[Failure, ...] = ()
    kinds: tuple[Mapping[str, Any], ...] = ()
    silences: Mapping[str, Any] | None = None
    course: Mapping[str, Any] | None = None

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
        """How far to believe its numbers; void also when an error ended it, or none came of it.

        A recording of readings alone has no summary, and nothing speaks against it.
        """
        if not self.has_ended_well or (self.summary is None and self.recording.requests):
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
class Publication:
    """What somebody published of the same experiment.

    Attributes:
        document: The document.
        fields: Its figures beside what was measured.
        claims: Its claims that compare two servers measured here.
        audit: What the checks say of its figures.
    """

    document: Document
    fields: tuple[Field, ...]
    claims: tuple[Claimed, ...]
    audit: Audit


@dataclass(frozen=True)
class Findings:
    """All that a report of a campaign is made of.

    Attributes:
        campaign: Name of the campaign.
        version: Version of Plimsoll that made the report.
        trials: What is known of each trial, in the order of the plan.
        comparisons: Rows of `tables.COMPARISONS`.
        verdicts: What the checks on a campaign say of it and of its blocks.
        missing: Ids of trials that were planned and not conducted.
        disagreements: What several drivers say of the same servers.
        publication: What was published of the same experiment; None where the campaign names none.
        over_connections: What became of the servers as more connections were asked for.
    """

    campaign: str
    version: str
    trials: tuple[TrialFindings, ...]
    comparisons: pa.Table
    verdicts: tuple[Verdict, ...] = ()
    missing: tuple[str, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    publication: Publication | None = None
    over_connections: tuple[Series, ...] = ()
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


def state_of(trials: Sequence[TrialFindings]) -> State:
    """How far to believe a number over some trials: by those that count, or all if none does."""
    if all(trial.state == "failed" for trial in trials):
        return "failed"
    counting = [trial for trial in trials if trial.level != "void"]
    return worst(trial.level for trial in counting or trials)


def rankings(trials: Sequence[TrialFindings], comparisons: pa.Table) -> tuple[Ranking, ...]:
    """The ranking of each endpoint, load and driver, endpoints in the order of the contract.

    Args:
        trials: The trials.
        comparisons: Rows of `tables.COMPARISONS`.
    """
    rows = {
        (row["endpoint"], row["load"], row["driver"], row["framework"]): row
        for row in comparisons.to_pylist()
        if row["quantity"] == RANKED_BY
    }
    grouped: dict[tuple[str, str, str], dict[str, list[TrialFindings]]] = {}
    for trial in trials:
        recording = trial.recording
        key = (recording.endpoint, load_name(recording), recording.driver_name)
        grouped.setdefault(key, {}).setdefault(recording.title, []).append(trial)
    return tuple(
        _ranking(field, frameworks, rows)
        for field, frameworks in sorted(grouped.items(), key=_place)
    )


def _place(item: tuple[tuple[str, str, str], object]) -> tuple[int, str, str, str]:
    """Where a ranking stands: endpoints in the order of the contract, then by name."""
    (endpoint, load, driver), _ = item
    return _CONTRACT.get(endpoint, len(_CONTRACT)), endpoint, load, driver


def load_name(recording: Recording) -> str:
    """Name of the load of a trial."""
    return str(recording.load.get("name", ""))


def _ranking(
    field: tuple[str, str, str],
    frameworks: Mapping[str, Sequence[TrialFindings]],
    rows: Mapping[tuple[str, str, str, str], Mapping[str, Any]],
) -> Ranking:
    endpoint, load, driver = field
    standings = [
        _standing(framework, trials, rows.get((*field, framework), {}))
        for framework, trials in frameworks.items()
    ]
    return Ranking(endpoint, load, tuple(sorted(standings, key=_order)), driver)


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
    found = [(v, trial.recording) for trial in trials for v in trial.verdicts if v.level == level]
    told = dict.fromkeys(verdict.check for verdict, of in found if not is_untold(verdict, of))
    untold = ["what another tool did not record"] if any(is_untold(*one) for one in found) else []
    return [*(check_name(check) for check in told), *untold]


def _order(standing: Standing) -> tuple[bool, int, float]:
    """Ranked ones by their number, then the others by theirs, those without one last."""
    unranked = standing.rank_low is None
    return (
        unranked,
        LEVELS.index(standing.level) if unranked else 0,
        -(standing.value if standing.value is not None else -1.0),
    )
