"""Checks on a trial whose load generator printed figures instead of, or beside, its requests.

Where it kept no record, checks that need one (`NEEDS`) are not made, and never pass; what figures
can show is judged by the checks on figures, under the same names and limits. Checks that look at
host and server alone do what they always do. Where it kept a record, figures fill in what the
record does not have. The subject is always the trial.

In a measurement window below a second figures are of the first requests and the last ones, so
checks that need time do not judge by them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.verdicts.checks import CHECKS
from plimsoll.verdicts.figure_checks import FIGURE_CHECKS
from plimsoll.verdicts.finding import not_checked, of_trial

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.needs import EveryRequest
    from plimsoll.verdicts.verdict import Verdict

SOURCE = "a record of every request, which this load generator does not keep"


def judge(tables: Tables, figures: ReportedStatistics, limits: Limits) -> tuple[Verdict, ...]:
    """The verdicts on a trial, in the order of `CHECKS`, and then those on its figures alone.

    Args:
        tables: The tables of the trial.
        figures: What its load generator printed.
        limits: Its limits.
    """
    by_figures = _of_figures(tables, figures, limits)
    needs_rows = tables.recording.driver is None or tables.recording.driver.uses_reported_statistics
    is_short = tables.held_s < 1
    judged: list[Verdict] = []
    for check in CHECKS:
        beside = by_figures.pop(check.NAME, None)
        if beside is not None and is_short and not check.ROLE.needs_no_time:
            beside = None
        needs = check.NEEDS
        if needs is None or not _is_needed(needs, tables):
            judged.append(check.judge(tables, limits))
        elif needs_rows:
            judged.append(beside or _unknown(check.NAME, needs, tables, limits))
        else:
            found = check.judge(tables, limits)
            judged.append(beside if beside is not None and _is_empty(found) else found)
    return (*judged, *by_figures.values())


def _of_figures(tables: Tables, figures: ReportedStatistics, limits: Limits) -> dict[str, Verdict]:
    """The verdicts of the checks on figures, those that have what they need, by name."""
    judged = {check.NAME: check.judge(figures, limits) for check in FIGURE_CHECKS}
    return {
        name: replace(one, subject=tables.recording.trial)
        for name, one in judged.items()
        if one is not None
    }


def _is_needed(needs: EveryRequest, tables: Tables) -> bool:
    return needs.of_one_type or len({*tables.recording.requests}) != 1


def _is_empty(judged: Verdict) -> bool:
    """Whether a check found nothing to measure."""
    return judged.level in ("not_checked", "doubtful") and judged.measured is None


def _unknown(name: str, needs: EveryRequest, tables: Tables, limits: Limits) -> Verdict:
    own = next(one for one in CHECKS if one.NAME == name).judge(tables, limits)
    if not own.applies:
        return own
    stay = any(one.kept is not None for one in tables.recording.hosts)
    driver = tables.recording.driver_name
    reason = "rows stayed on their hosts" if stay else f"`{driver}` does not record each request"
    sentence = f"{reason}: {needs.unknown}"
    finding = not_checked(limits.of(needs.limit), sentence)
    return of_trial(name, tables.recording, [finding], SOURCE)
