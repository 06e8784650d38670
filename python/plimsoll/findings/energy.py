"""Energy: what a successful response of each framework cost, by each source of power.

Tries of load lines and steps of ladders are left out: their rates were given, so that energy of a
response at one of them is no result. What a request adds is in the ladder itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.comparison import entry_comparison
from plimsoll.findings.trial import by_table, counting
from plimsoll.statistics.intervals import Estimate, Interval
from plimsoll.statistics.missing_values import median_of_known

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.aggregate.summary import Summary
    from plimsoll.comparison.entry_comparison import EntryComparison
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.plan import ComparedTable

SOURCES = ("rapl", "wall")
"""Sources of power."""


@dataclass(frozen=True)
class EntryEnergy:
    """What the responses of one framework cost, by one source.

    Attributes:
        framework: Framework and variant.
        source: One of `SOURCES`.
        trials: Its trials.
        total: Joules per successful response by all power; None where it was not measured.
        above_idle: The same by what exceeds the power without load; None where a trial is not
            distinguishable from idle, since the others alone would be too high.
        is_indistinct: Whether that is so.
        power_w: Power under load, the median of the trials, in watts.
        idle_w: Power without load, the median of the trials, in watts.

    All are of the trials that are not void; powers are of all trials where each is void.
    """

    framework: str
    source: str
    trials: tuple[TrialFindings, ...]
    total: Estimate | None
    above_idle: Estimate | None
    is_indistinct: bool
    power_w: float | None
    idle_w: float | None


def sources(findings: Findings) -> tuple[str, ...]:
    """The sources that the power of some trial is known by, among those that are results."""
    trials = findings.measured
    return tuple(one for one in SOURCES if _median(trials, f"{one}_power_w") is not None)


def of_findings(findings: Findings) -> dict[ComparedTable, tuple[EntryEnergy, ...]]:
    """Each framework and source, by endpoint, load and driver.

    Args:
        findings: What to report.
    """
    compared = {
        (one.table, one.framework, one.quantity): one
        for one in entry_comparison.of_table(findings.comparisons)
    }
    known = sources(findings)
    return {
        table: tuple(
            _entry(table, framework, trials, source, compared)
            for framework, trials in entries.items()
            for source in known
        )
        for table, entries in by_table(findings.measured).items()
    }


def _entry(
    table: ComparedTable,
    framework: str,
    trials: Sequence[TrialFindings],
    source: str,
    compared: Mapping[tuple[ComparedTable, str, str], EntryComparison],
) -> EntryEnergy:
    total = compared.get((table, framework, f"{source}_j_per_ok"))
    net = compared.get((table, framework, f"{source}_net_j_per_ok"))
    counted = counting(trials)
    is_indistinct = any(_is_indistinct(one.summary, source) for one in counted)
    above_idle = None if is_indistinct or net is None else net.value
    return EntryEnergy(
        framework,
        source,
        tuple(trials),
        total=total and total.value,
        above_idle=above_idle and _with_own_interval(above_idle, counted, source),
        is_indistinct=is_indistinct,
        power_w=_median(counted, f"{source}_power_w"),
        idle_w=_median(counted, f"{source}_idle_power_w"),
    )


def _is_indistinct(summary: Summary | None, source: str) -> bool:
    """Whether a trial is not distinguishable from idle."""
    if summary is None or summary.value(f"{source}_idle_power_w") is None:
        return False
    return summary.value(f"{source}_net_power_w") is None


def _with_own_interval(net: Estimate, trials: Sequence[TrialFindings], source: str) -> Estimate:
    """An estimate of one repetition with the interval of its seconds."""
    known = [one.summary for one in trials if one.summary is not None]
    if net.interval is not None or len(known) != 1:
        return net
    low_w, high_w = (known[0].value(f"{source}_net_power_{end}_w") for end in ("low", "high"))
    rate_per_s = known[0].goodput_per_s
    if low_w is None or high_w is None or not rate_per_s:
        return net
    return Estimate(net.value, Interval(low_w / rate_per_s, high_w / rate_per_s))


def _median(trials: Sequence[TrialFindings], column: str) -> float | None:
    return median_of_known(one.summary.value(column) for one in trials if one.summary is not None)
