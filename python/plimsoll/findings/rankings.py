"""Rankings: the frameworks at one endpoint and load by one driver, the best first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.comparison import entry_comparison
from plimsoll.findings.trial import RANKED_BY, by_table
from plimsoll.plan import ComparedTable
from plimsoll.verdicts import catalogue
from plimsoll.verdicts.levels import by_checks
from plimsoll.verdicts.verdict import TRIAL_LEVELS, worst_trial

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa

    from plimsoll.comparison.entry_comparison import EntryComparison
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.statistics.intervals import Estimate
    from plimsoll.verdicts.verdict import Level

_CONTRACT = {endpoint.name: place for place, endpoint in enumerate(ENDPOINTS)}


@dataclass(frozen=True)
class RankedRepetition:
    """One repetition in a ranking.

    Attributes:
        trial: Id of the trial.
        value: Its goodput in successful responses per second; None when there is none.
        level: Its level; `void` also where there is no result.
    """

    trial: str
    value: float | None
    level: Level


@dataclass(frozen=True)
class RankedEntry:
    """One framework in a ranking.

    Attributes:
        framework: Framework and variant.
        rank_low: Best rank it may have; None when it is not ranked.
        rank_high: Worst rank it may have.
        value: Median goodput of the repetitions that count, in successful responses per second;
            of all of them when none counts.
        low: Lower end of the 95 % interval; None below two repetitions.
        high: Upper end of it.
        level: How far to believe it.
        repetitions: Each of them, also those that do not count.
        reason: Why it is not ranked, or what is doubtful; empty when sound.
        to_best: Its goodput / that of the best, with its simultaneous interval; None for a
            framework that is not ranked or was at 0.
        to_next: The same / that of the next one in the ranking; None for the last.
        next_framework: Name of the next one; empty for the last.
        is_yardstick: Whether it is Plimsoll's own server beside frameworks; it has no rank.
    """

    framework: str
    rank_low: int | None
    rank_high: int | None
    value: float | None
    low: float | None
    high: float | None
    level: Level
    repetitions: tuple[RankedRepetition, ...]
    reason: str = ""
    to_best: Estimate | None = None
    to_next: Estimate | None = None
    next_framework: str = ""
    is_yardstick: bool = False

    @property
    def rank(self) -> str:
        """Its rank as people read it: `1`, a tie as `2–4`, `–` when it has none."""
        if self.rank_low is None or self.rank_high is None:
            return "–"
        if self.rank_low == self.rank_high:
            return str(self.rank_low)
        return f"{self.rank_low}–{self.rank_high}"


@dataclass(frozen=True)
class Ranking:
    """The frameworks at one endpoint and load by one driver, the best first.

    Attributes:
        endpoint: Name of the endpoint.
        load: Name of the load.
        entries: One per framework; those without a rank come last.
        driver: Name of the program that generated the load.
    """

    endpoint: str
    load: str
    entries: tuple[RankedEntry, ...]
    driver: str = "plimsoll"

    @property
    def table(self) -> ComparedTable:
        """What its frameworks are compared in."""
        return ComparedTable(self.endpoint, self.load, self.driver)


def rankings(trials: Sequence[TrialFindings], comparisons: pa.Table) -> tuple[Ranking, ...]:
    """The ranking of each endpoint, load and driver, endpoints in the order of the contract.

    Args:
        trials: The trials.
        comparisons: Rows of `tables.COMPARISONS`.
    """
    compared = {
        (one.table, one.framework): one
        for one in entry_comparison.of_table(comparisons)
        if one.quantity == RANKED_BY
    }
    return tuple(
        _ranking(table, frameworks, compared)
        for table, frameworks in sorted(by_table(trials).items(), key=_place)
    )


def _place(item: tuple[ComparedTable, object]) -> tuple[int, str, str, str]:
    """Where a ranking stands: endpoints in the order of the contract, then by name."""
    (endpoint, load, driver), _ = item
    return _CONTRACT.get(endpoint, len(_CONTRACT)), endpoint, load, driver


def _ranking(
    table: ComparedTable,
    frameworks: Mapping[str, Sequence[TrialFindings]],
    compared: Mapping[tuple[ComparedTable, str], EntryComparison],
) -> Ranking:
    yardsticks = {name for name, trials in frameworks.items() if _is_yardstick(trials)}
    is_beside = yardsticks < frameworks.keys()
    entries = [
        replace(
            _entry(framework, trials, compared.get((table, framework))),
            is_yardstick=is_beside and framework in yardsticks,
        )
        for framework, trials in frameworks.items()
    ]
    return Ranking(table.endpoint, table.load, tuple(sorted(entries, key=_order)), table.driver)


def _is_yardstick(trials: Sequence[TrialFindings]) -> bool:
    return all(trial.recording.is_yardstick for trial in trials)


def _entry(
    framework: str, trials: Sequence[TrialFindings], compared: EntryComparison | None
) -> RankedEntry:
    counting = [trial for trial in trials if trial.level != "void"]
    level = worst_trial(trial.level for trial in counting) if counting else "void"
    shown = [trial.value for trial in counting or trials if trial.value is not None]
    ends = compared and compared.value and compared.value.interval
    return RankedEntry(
        framework=framework,
        rank_low=compared and compared.rank_low,
        rank_high=compared and compared.rank_high,
        value=median(shown) if shown else None,
        low=ends and ends.low,
        high=ends and ends.high,
        level=level,
        repetitions=tuple(
            RankedRepetition(trial.recording.trial, trial.value, trial.level)
            for trial in sorted(trials, key=lambda trial: trial.recording.repetition)
        ),
        reason=_reason(counting, trials),
        to_best=compared and compared.to_best,
        to_next=compared and compared.to_next,
        next_framework=(compared and compared.next_framework) or "",
    )


def _reason(counting: Sequence[TrialFindings], trials: Sequence[TrialFindings]) -> str:
    """Why a framework has no rank, or which checks doubt it, or how many trials do not count."""
    left_out = [trial for trial in trials if trial.level == "void"]
    if not counting:
        return ", ".join(causes(left_out))
    checked = ", ".join(_checks(counting, "doubtful") or _fewest(counting))
    excluded = f"{len(left_out)} of {len(trials)} repetitions excluded" if left_out else ""
    return "; ".join(filter(None, (checked, excluded)))


def _fewest(trials: Sequence[TrialFindings]) -> list[str]:
    """By how few checks the trial is sound of which the fewest could be made."""
    judged = [trial.verdicts for trial in trials if trial.verdicts]
    fewest = min(
        judged, key=lambda verdicts: sum(one.level == "sound" for one in verdicts), default=()
    )
    return [by_checks(fewest)] if fewest else []


def causes(trials: Sequence[TrialFindings]) -> list[str]:
    """Why trials do not count: errors that ended them, and titles of checks that say void."""
    failed = dict.fromkeys(
        trial.recording.ending.kind for trial in trials if not trial.has_ended_well
    )
    return [*failed, *_checks((trial for trial in trials if trial.has_ended_well), "void")]


def _checks(trials: Iterable[TrialFindings], level: Level) -> list[str]:
    found = [verdict for trial in trials for verdict in trial.verdicts if verdict.level == level]
    return [*dict.fromkeys(map(catalogue.title_of, found))]


def _order(entry: RankedEntry) -> tuple[bool, bool, int, float, float]:
    """Ranked ones by the model, then the others by their number, the yardstick last."""
    unranked = entry.rank_low is None
    return (
        entry.is_yardstick,
        unranked,
        TRIAL_LEVELS.index(entry.level) if unranked else 0,
        0.0 if entry.to_best is None else -entry.to_best.value,
        -(entry.value if entry.value is not None else -1.0),
    )
