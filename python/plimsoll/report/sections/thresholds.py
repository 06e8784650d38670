"""The section on thresholds: what each says of the entries that it applies to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.report.contents.section import Section, SectionTable, TableRow
from plimsoll.report.results import junit
from plimsoll.wording import ABSENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.findings.campaign_thresholds import JudgedEntry
    from plimsoll.findings.findings import Findings

ANCHOR = "thresholds"
TITLE = "Thresholds"
CAPTION = (
    "Thresholds apply to the ranked number, the median of the valid repetitions. An entry without "
    "one crosses every threshold. A percentile of too few responses is judged by its neighbours."
)
CAPTION_OF_LOAD = (
    "Thresholds apply to the numbers of the load, whatever its verdict. A percentile of too few "
    "responses is judged by its neighbours."
)

_HEADINGS = ("threshold", "entry", "measured", "95 %", "result")


def section(findings: Findings) -> Section | None:
    """The section; None where no threshold was set."""
    if not findings.thresholds:
        return None
    table = SectionTable(
        title=_counted(findings.thresholds),
        headings=_HEADINGS,
        numbers=(2, 3),
        lines=tuple(map(_line, findings.thresholds)),
        brief=(1, 2, 4),
    )
    caption = CAPTION if findings.single_load is None else CAPTION_OF_LOAD
    return Section(ANCHOR, TITLE, TITLE, caption, (table,))


def as_junit(findings: Findings) -> str:
    """The same as a JUnit file: one test for each entry and threshold."""
    cases = [
        junit.JunitCase(
            f"{one.entry}: {one.threshold.threshold.text}",
            failure=one.sentence if one.is_crossed else "",
            skipped=one.sentence if one.is_undecided else "",
            output=one.sentence if one.state == "kept" else "",
        )
        for one in findings.thresholds
    ]
    return junit.document("plimsoll thresholds", cases)


def _counted(judged: Sequence[JudgedEntry]) -> str:
    crossed, undecided = (
        sum(one.is_crossed for one in judged),
        sum(one.is_undecided for one in judged),
    )
    return f"{crossed} of {len(judged)} crossed" + (f", {undecided} undecided" if undecided else "")


def _line(one: JudgedEntry) -> TableRow:
    limit = one.threshold.threshold
    measured = ABSENT if one.estimate is None else limit.spoken(one.estimate.value)
    ends = None if one.estimate is None else one.estimate.interval
    between = ABSENT if ends is None else f"{limit.spoken(ends.low)} – {limit.spoken(ends.high)}"
    return TableRow((one.threshold.text, str(one.entry), measured, between, _result(one)))


def _result(one: JudgedEntry) -> str:
    return f"{one.state}: {one.reason}" if one.reason else one.state
