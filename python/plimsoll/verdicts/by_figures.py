"""Checks on a trial whose driver printed figures instead of keeping every request, or beside them.

Where a driver kept no record of its requests, checks that need one say that they cannot know, and
never pass; what figures can show is judged by the checks on figures, under the same names and
limits. Checks that look at host and server alone do what they always do. Where a driver kept a
record, figures fill in what it does not say. The subject is always the trial.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.verdicts import wording
from plimsoll.verdicts.checks import CHECKS
from plimsoll.verdicts.figure_checks import FIGURE_CHECKS
from plimsoll.verdicts.finding import not_asked, unknown, verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.aggregate.trial import Tables
    from plimsoll.published.figures import Figures
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

RECORD = "a record of every request"
SOURCE = f"{RECORD}, which this driver does not keep"
REMEDY = "Where this matters use a driver that keeps every request, such as our own engine"

NEED_ROWS = {
    "conservation": ("rows_differ", "whether each request was counted, and once, cannot be told"),
    "evenly_served": ("starved_ratio", "how answers fell on connections is not known"),
    "mix_as_intended": ("share_difference", "how often each kind of request was sent is not known"),
    "littles_law": ("accounted_ratio", "requests in flight cannot be held against its times"),
    "timeout_floor": ("ended_ratio", "how long each request was in flight is not known"),
    "round_trip_floor": ("floor_ratio", "how long the fastest answer took is not known"),
    "steady": ("trend_ratio", "whether throughput was steady in the hold is not known"),
}
"""Checks that cannot be made without a record: a limit of theirs, and what is not known then."""

HERE_ALREADY = {check.NAME for check in CHECKS}
"""Names of the checks on trials; a check on figures of the same name stands in for one."""


def judge(tables: Tables, figures: Figures, limits: Limits) -> tuple[Verdict, ...]:
    """The verdicts on a trial, in the order of `CHECKS`, and then those on its figures alone.

    Args:
        tables: The tables of the trial.
        figures: What its driver printed.
        limits: Its limits.
    """
    told = _of_figures(tables, figures, limits)
    judged = [_judged(check.NAME, tables, figures, told, limits) for check in CHECKS]
    beside = [one for name, one in told.items() if name not in HERE_ALREADY]
    return (*judged, *beside)


def _of_figures(tables: Tables, figures: Figures, limits: Limits) -> dict[str, Verdict]:
    """The verdicts of the checks on figures, those that have what they need, by name."""
    judged = {check.NAME: check.judge(figures, limits) for check in FIGURE_CHECKS}
    return {
        name: replace(found, subject=tables.recording.trial)
        for name, found in judged.items()
        if found is not None
    }


def _judged(
    name: str, tables: Tables, figures: Figures, told: Mapping[str, Verdict], limits: Limits
) -> Verdict:
    """The verdict under one name: from the record, from the figures, or that nobody can know."""
    by_figures = tables.recording.driver is None or tables.recording.driver.judged_by_figures
    if name == "failures_explained" and by_figures:
        return _failures(tables, figures, limits)
    if not by_figures or name not in NEED_ROWS or _is_one_kind(name, tables):
        found = next(check for check in CHECKS if check.NAME == name).judge(tables, limits)
        return told[name] if _says_nothing(found) and name in NEED_ROWS and name in told else found
    return told[name] if name in told else _unknown(name, tables, limits)


def _is_one_kind(name: str, tables: Tables) -> bool:
    """Whether a check on a mix has nothing to ask."""
    return name == "mix_as_intended" and len(tables.recording.requests) == 1


def _says_nothing(found: Verdict) -> bool:
    return found.level == "doubtful" and found.measured is None


def _unknown(name: str, tables: Tables, limits: Limits) -> Verdict:
    limit, clause = NEED_ROWS[name]
    sentence = (
        f"`{_driver(tables)}` does not say when each request was sent and how it ended: {clause}"
    )
    finding = unknown(limits.of(name, limit), sentence, REMEDY)
    return verdict(name, tables.recording.trial, [finding], SOURCE)


def _failures(tables: Tables, figures: Figures, limits: Limits) -> Verdict:
    """Whether it is known of each failure how it came about: of none it prints more than a kind."""
    name = "failures_explained"
    limit = limits.of(name, "unexplained_ratio")
    if not figures.failures:
        sentence = f"`{_driver(tables)}` counted no request without an answer"
        findings = [not_asked(limit, sentence)]
    else:
        kinds = [f"{kind} {wording.count(number)}" for kind, number in figures.failures.items()]
        sentence = (
            f"`{_driver(tables)}` counted {wording.several(round(figures.unanswered), 'request')} "
            f"without an answer ({wording.listed(kinds)}) and names no error of the system"
        )
        findings = [unknown(limit, sentence, REMEDY)]
    return verdict(name, tables.recording.trial, findings, SOURCE)


def _driver(tables: Tables) -> str:
    return tables.recording.driver_name
