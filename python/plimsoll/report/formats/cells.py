"""Output cells of notebooks: results without a page of their own, from the report's parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.report import contents
from plimsoll.report.formats import html
from plimsoll.report.results import audited, calibrated, checked, compared, line_result
from plimsoll.report.results.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from plimsoll.calibration.calibration import Calibration
    from plimsoll.comparison.until_decided import Compared, ComparedServers
    from plimsoll.findings.load_lines import LineFindings
    from plimsoll.published.claims import ClaimCheck
    from plimsoll.recording.framework_check import FrameworkCheck
    from plimsoll.report.contents import Remark
    from plimsoll.report.results.audited import Unread
    from plimsoll.verdicts.audit import Audit
    from plimsoll.verdicts.verdict import Verdict


@dataclass(frozen=True)
class JudgedPart:
    """What the checks say of one result.

    Attributes:
        title: The result with its source.
        about: What was read of it.
        doubts: Verdicts that count against it.
        sound: How many checks found no problem; may be empty.
    """

    title: str
    about: str
    doubts: tuple[Remark, ...]
    sound: str


def comparison(end: Compared, sides: ComparedServers) -> str:
    """The answer of a comparison with its figures.

    Args:
        end: The answer.
        sides: What was compared.
    """
    figures = Sheet("", compared.RATIOS, tuple(compared.ratios(end.difference)))
    sheets = (compared.servers(end, sides), figures)
    return _cell(compared.answer(end), compared.what(sides), sheets, compared.stated(end))


def line(found: LineFindings) -> str:
    """The load lines that were found, with every try.

    Args:
        found: Lines and tries.
    """
    return _cell(
        line_result.answer(found),
        "",
        line_result.sheets(found),
        line_result.stated(found),
    )


def calibration(found: Calibration, capacities_at: Path | None) -> str:
    """The tables of a calibration.

    Args:
        found: What was found.
        capacities_at: File that the capacities were written to; None when they were not.
    """
    return _cell(calibrated.verdict(found), "", [*calibrated.sheets(found, capacities_at)], ())


def check(found: Sequence[FrameworkCheck]) -> str:
    """What was verified of frameworks, and every violation.

    Args:
        found: The outcome for each framework.
    """
    return _cell(checked.verdict(found), "", [checked.table(found)], [*checked.stated(found)])


def audit(found: Audit, claimed: Sequence[ClaimCheck], unread: Unread) -> str:
    """What the checks say of figures.

    Args:
        found: The verdicts.
        claimed: What the documents claim, compared with their own figures.
        unread: What could not be read.
    """
    judged = [
        _judged(audited.title(one.figures), audited.read(one.figures), one.verdicts, one.missing)
        for one in found.results
    ]
    if found.together:
        about = wording.several(len(found.results), "result")
        judged.append(_judged(audited.TOGETHER, about, found.together, {}))
    claims = [line for lines in audited.claims(claimed).values() for line in lines]
    unreadable = map(str, (*unread.refused, *unread.left))
    return _cell(audited.conclusion(found), "", (), [*claims, *unreadable], judged)


def _judged(
    title: str, about: str, verdicts: Sequence[Verdict], missing: dict[str, str]
) -> JudgedPart:
    doubts = tuple(contents.remark(one, {}) for one in verdicts if one.is_doubting)
    return JudgedPart(title, about, doubts, audited.sound(verdicts, len(missing)))


def _cell(
    title: str,
    about: str,
    sheets: Sequence[Sheet],
    remarks: Sequence[str],
    judged: Sequence[JudgedPart] = (),
) -> str:
    return html.rendered(
        "result_fragment.html",
        title=title,
        about=about,
        sheets=sheets,
        remarks=remarks,
        judged=judged,
    )
