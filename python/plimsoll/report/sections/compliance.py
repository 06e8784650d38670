"""The section on compliance: what each server makes of requests that few clients send."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.recording.compliance import RESULTS, count
from plimsoll.report import level_text
from plimsoll.report.contents.section import Section, SectionTable, TableRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.findings.findings import Findings
    from plimsoll.recording.compliance import ComplianceResult

    Servers = Mapping[str, Sequence[ComplianceResult]]
    """The results of each framework."""

ANCHOR = "compliance"
TITLE = "HTTP compliance"
CAPTION = (
    "Each server got these requests before the first load, on a process of its own. Where the RFC "
    "says MUST, a server conforms or differs; where it says SHOULD or MAY, what the server does is "
    "allowed. Nothing here affects a ranking."
)

LEGEND = (
    f"{level_text.MARKS['sound']} conforms or is allowed, {level_text.MARKS['doubtful']} differs."
)


def section(findings: Findings) -> Section | None:
    """The section; None where the gate was not asked for."""
    found: Servers = {
        one.recording.title: one.recording.compliance
        for one in findings.trials
        if one.recording.compliance
    }
    if not found:
        return None
    return Section(ANCHOR, TITLE, "Compliance", CAPTION, (_servers(found), _cases(found)))


def _servers(found: Servers) -> SectionTable:
    return SectionTable(
        title="By server",
        headings=("framework", *RESULTS.values(), "differs in"),
        numbers=tuple(range(1, len(RESULTS) + 1)),
        lines=tuple(TableRow((name, *_counts(results))) for name, results in found.items()),
        brief=(1, 2, 3, len(RESULTS) + 1),
    )


def _counts(results: Sequence[ComplianceResult]) -> tuple[str, ...]:
    counted = count(results)
    differing = [one.title for one in results if one.result == "differs"]
    return (*(str(counted[result]) for result in RESULTS), "; ".join(differing) or wording.ABSENT)


def _cases(found: Servers) -> SectionTable:
    """Every case with what was seen of each server."""
    seen = {(name, one.case): _cell(one) for name, results in found.items() for one in results}
    cases = {one.case: one for results in found.values() for one in results}
    return SectionTable(
        title="By request",
        headings=("request", "source", *found),
        numbers=(),
        lines=tuple(
            TableRow(
                (
                    one.title,
                    one.source or wording.ABSENT,
                    *(seen.get((name, case), wording.ABSENT) for name in found),
                )
            )
            for case, one in cases.items()
        ),
        notes=(LEGEND,),
        is_detail=True,
    )


def _cell(one: ComplianceResult) -> str:
    match one.result:
        case "conforms":
            return f"{level_text.MARKS['sound']} {one.seen}"
        case "either":
            return f"{level_text.MARKS['sound']} {one.seen}, allowed"
        case "differs":
            return f"{level_text.MARKS['doubtful']} {one.seen}"
        case "not_tried":
            return f"{RESULTS[one.result]}: {one.seen}"
