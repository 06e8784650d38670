"""The section on load generators: where they disagree, by how much, and their failed checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.findings.trial import state_of, state_of_ratio
from plimsoll.report import estimate_text
from plimsoll.report.contents import anchor
from plimsoll.report.contents.section import Section, SectionTable, TableRow
from plimsoll.verdicts import catalogue
from plimsoll.verdicts.verdict import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.comparison.driver_comparison import ByDriver, Disagreement
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.verdicts.verdict import Verdict

ANCHOR = "drivers"
TITLE = "Differences between load generators"
CAPTION = (
    "The same trials with each load generator in turn: medians over repetitions, with 95 "
    "% intervals. The ratio is the throughput relative to the load generator in the first "
    "line; where its interval contains 1, the difference may be chance. Latency runs from "
    "sending to the end of a response as each load generator defines it; definitions "
    "differ. A check that lacks data is not a failed check. Rankings compare only trials "
    "with the same load generator."
)

_HEADINGS = (
    *("load generator", "responses per second", "95 %", "ratio", "95 %", "failed"),
    *("p50", "p99", "max", "server cores", "load generator cores"),
)


def section(findings: Findings) -> Section | None:
    """The section; None where a campaign has one driver.

    Args:
        findings: What to report.
    """
    if not findings.disagreements:
        return None
    trials = {trial.recording.trial: trial for trial in findings.trials}
    tables = tuple(_table(one, trials) for one in findings.disagreements)
    return Section(ANCHOR, TITLE, "Load generators", CAPTION, tables)


def _table(one: Disagreement, trials: Mapping[str, TrialFindings]) -> SectionTable:
    return SectionTable(
        title=one.title,
        headings=_HEADINGS,
        numbers=tuple(range(1, len(_HEADINGS))),
        lines=tuple(_line(by, one.drivers[0], trials) for by in one.drivers),
        verdict="verdict and checks failed",
        brief=(1, 3, 6),
    )


def _line(by: ByDriver, against: ByDriver, found: Mapping[str, TrialFindings]) -> TableRow:
    trials, others = ([found[name] for name in each.trials] for each in (by, against))
    state, reason = state_of_ratio(trials, others), _reason(trials)
    if state != state_of(trials):
        reason = "; ".join(filter(None, (reason, f"{against.driver}: {_reason(others)}")))
    number = by.numbers.get
    cells = (
        by.driver,
        *estimate_text.rate_text(number("throughput_per_s")),
        *estimate_text.ratio(by.ratio),
        wording.percent(estimate_text.value_of(number("failure_ratio"))),
        *(
            wording.duration(estimate_text.value_of(number(f"service_time_{name}_ns")))
            for name in ("p50", "p99", "max")
        ),
        *(
            wording.number(estimate_text.value_of(number(f"{name}_busy_cores")), 3)
            for name in ("server", "driver")
        ),
    )
    return TableRow(cells, state, reason, anchor("trial", trials[0].recording.trial))


def _reason(trials: Sequence[TrialFindings]) -> str:
    """Names of the checks that doubt any of its trials, the worst first."""
    failed = dict.fromkeys(
        trial.recording.ending.kind for trial in trials if not trial.has_ended_well
    )
    doubted = sorted(
        (verdict for trial in trials for verdict in trial.verdicts if verdict.is_doubting),
        key=lambda verdict: -LEVELS.index(verdict.level),
    )
    worst: dict[str, Verdict] = {}
    for verdict in doubted:
        worst.setdefault(verdict.check, verdict)
    return ", ".join(
        [*failed, *(f"{catalogue.title_of(one)} ({one.level})" for one in worst.values())]
    )
