"""The section on drivers: where they disagree, by how much, and which checks each of them fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.report import words
from plimsoll.report.contents import anchor
from plimsoll.report.findings import state_of
from plimsoll.report.section import Line, Section, SectionTable
from plimsoll.verdicts.verdict import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.aggregate.disagreements import ByDriver, Disagreement
    from plimsoll.report.findings import Findings, TrialFindings

ANCHOR = "drivers"
TITLE = "Where the drivers disagree"
CAPTION = (
    "The same trials, put on by each driver in turn: medians over repetitions, with 95 % "
    "intervals. The ratio is the throughput by a driver / that by the one in the first line; where "
    "its interval holds 1, chance may have made the difference. Times are from sending to the end "
    "of an answer as each driver tells them, and not all drivers mean the same by it. What a "
    "driver does not write down cannot be checked, and is no failed check. Rankings are made "
    "within one driver."
)

_HEADINGS = (
    *("driver", "answers per second", "95 %", "ratio", "95 %", "failed"),
    *("time 50 %", "99 %", "max", "server cores", "driver cores"),
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
    return Section(ANCHOR, TITLE, "Drivers", CAPTION, tables)


def _table(one: Disagreement, trials: Mapping[str, TrialFindings]) -> SectionTable:
    return SectionTable(
        title=one.title,
        headings=_HEADINGS,
        numbers=tuple(range(1, len(_HEADINGS))),
        lines=tuple(_line(by, [trials[name] for name in by.trials]) for by in one.drivers),
        verdict="verdict and checks failed",
        brief=(1, 3, 6),
    )


def _line(by: ByDriver, trials: Sequence[TrialFindings]) -> Line:
    number = by.numbers.get
    cells = (
        by.driver,
        *words.middle_rate(number("throughput_per_s")),
        *words.ratio(by.ratio),
        words.share(words.middle_value(number("failure_ratio"))),
        *(
            words.duration(words.middle_value(number(f"service_time_{name}_ns")))
            for name in ("p50", "p99", "max")
        ),
        *(
            words.number(words.middle_value(number(f"{name}_busy_cores")), 3)
            for name in ("server", "driver")
        ),
    )
    return Line(
        cells, state_of(trials), _reason(trials), anchor("trial", trials[0].recording.trial)
    )


def _reason(trials: Sequence[TrialFindings]) -> str:
    """Names of the checks that are not sound in any of its trials, the worst first."""
    failed = dict.fromkeys(
        trial.recording.ending.kind for trial in trials if not trial.has_ended_well
    )
    doubted = sorted(
        (
            verdict
            for trial in trials
            for verdict in trial.verdicts
            if verdict.level != "sound" and not words.is_untold(verdict, trial.recording)
        ),
        key=lambda verdict: -LEVELS.index(verdict.level),
    )
    worst = {verdict.check: verdict.level for verdict in reversed(doubted)}
    checks = dict.fromkeys(verdict.check for verdict in doubted)
    return ", ".join([*failed, *(f"{words.check_name(one)} ({worst[one]})" for one in checks)])
