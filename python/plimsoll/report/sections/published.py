"""The section on what was published: its figures and those of this campaign, as ratios.

Absolute speeds are left out on purpose: those of two machines must not stand side by side.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.findings.trial import state_of, state_of_ratio
from plimsoll.published import claims
from plimsoll.report import contents, estimate_text, level_text
from plimsoll.report.contents import anchor
from plimsoll.report.contents.section import Section, SectionTable, TableRow
from plimsoll.verdicts import catalogue
from plimsoll.verdicts.verdict import LEVELS, worst

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from plimsoll.comparison.published_comparison import Claimed, Field, MatchedServer
    from plimsoll.findings.findings import Findings, Publication
    from plimsoll.findings.trial import State, TrialFindings
    from plimsoll.verdicts.audit import Audited
    from plimsoll.verdicts.verdict import Verdict

ANCHOR = "published"
TITLE = "Comparison with published results"

_HEADINGS = (
    *("published of", "measured here", "published", "95 %", "measured", "95 %"),
    "audit of what was published",
)
_MOST_DIGITS = 3
"""Digits of a published ratio that are shown beside a measured one."""

_CLAIMS = ("claim", "claimed", "by its own figures", "measured here")


def section(findings: Findings) -> Section | None:
    """The section; None where a campaign names no publication.

    Args:
        findings: What to report.
    """
    found = findings.publication
    if found is None:
        return None
    trials = {trial.recording.trial: trial for trial in findings.trials}
    audited = {id(one.figures): one for one in found.audit.results}
    fields = [_field(field, trials, audited, findings) for field in found.fields]
    claimed = [_claims(found.claims)] if found.claims else []
    return Section(
        anchor=ANCHOR,
        title=TITLE,
        short="Published",
        caption=_caption(found),
        tables=(*fields, *claimed),
        remarks_title="Audit of the published figures",
        remarks=tuple(_remarks(found)),
    )


def _caption(found: Publication) -> str:
    where = f" ({found.document.address})" if found.document.address else ""
    caption = (
        f"Published: “{found.document.title}”{where}. Each number is a throughput relative to "
        "one server of the same experiment, the one with × 1; absolute numbers of different "
        "machines are never compared. Intervals come from several runs of the document, and "
        "from repetitions here. A void number is shown, but not used for the order."
    )
    subjects = dict.fromkeys(one.subject for one in found.document.figures)
    absent = [subject for subject in subjects if found.document.here.everywhere(subject) is None]
    if absent:
        caption += f" Without a counterpart here: {', '.join(absent)}."
    if not found.fields:
        caption += " The document has no figure for the endpoints and loads of this campaign."
    return caption


def _field(
    field: Field,
    trials: Mapping[str, TrialFindings],
    audited: Mapping[int, Audited],
    findings: Findings,
) -> SectionTable:
    several = len({trial.recording.driver_name for trial in findings.trials}) > 1
    by = f", by {field.driver}" if several else ""
    baseline = [trials[name] for name in field.baseline_trials]
    lines = tuple(
        _line(
            row,
            [trials[name] for name in row.trials],
            baseline,
            [audited[id(one)] for one in row.figures],
            min(
                _MOST_DIGITS,
                *(
                    claims.throughput_digits(one.figures)
                    for one in field.rows
                    if one is row or one.subject == field.baseline
                ),
            ),
        )
        for row in field.rows
    )
    return SectionTable(
        title=f"{field.endpoint}, {field.load}{by}: relative to {field.baseline}",
        headings=_HEADINGS,
        numbers=(2, 3, 4, 5),
        lines=lines,
        verdict="verdict on what was measured",
        brief=(2, 4),
        notes=(_order(field),),
    )


def _line(
    row: MatchedServer,
    trials: Sequence[TrialFindings],
    baseline: Sequence[TrialFindings],
    audited: Sequence[Audited],
    digits: int,
) -> TableRow:
    verdicts = [verdict for one in audited for verdict in one.verdicts]
    cells = (
        row.subject,
        row.framework if trials else f"{row.framework}: not measured",
        wording.ABSENT if row.published is None else claims.ratio_text(row.published.value, digits),
        estimate_text.ratio(row.published)[1],
        *estimate_text.ratio(row.measured),
        _audit(verdicts),
    )
    if not trials:
        return TableRow(cells)
    return TableRow(cells, *_state(trials, baseline), anchor("trial", trials[0].recording.trial))


def _state(trials: Sequence[TrialFindings], baseline: Sequence[TrialFindings]) -> tuple[State, str]:
    """How far to believe a ratio: no further than the server it is relative to; and why so."""
    own = state_of(trials)
    both = state_of_ratio(trials, baseline) if baseline else own
    return both, "" if both == own else "for the baseline"


def _audit(verdicts: Sequence[Verdict]) -> str:
    """The audit of some figures: the level, and the checks that are not sound."""
    if not verdicts:
        return "too little to check"
    names = dict.fromkeys(
        catalogue.title_of(verdict) for verdict in verdicts if verdict.is_doubting
    )
    level = worst(verdict.level for verdict in verdicts)
    reported = level_text.name(level)
    return f"{reported}: {', '.join(names)}" if names else reported


def _order(field: Field) -> str:
    """How many pairs of servers stand as the document has them."""
    order = field.order
    pairs = order.same + order.turned + order.level
    if not pairs:
        return "No two of these servers have a valid number here."
    return (
        f"Of {wording.several(pairs, 'pair')} of servers measured here, {order.same} in the "
        f"published order, {order.turned} reversed, {order.level} not significantly different."
    )


def _claims(claimed: Sequence[Claimed]) -> SectionTable:
    return SectionTable(
        title="Claims",
        headings=_CLAIMS,
        numbers=(),
        lines=tuple(
            TableRow(
                (one.claim.says, one.claim.claimed or wording.ABSENT, one.published, _measured(one))
            )
            for one in claimed
        ),
    )


def _measured(one: Claimed) -> str:
    """What was measured of a claim: one ratio with its interval, or the least to the most."""
    if len(one.measured) == 1:
        value, ends = estimate_text.ratio(*one.measured.values())
        return value if ends == wording.ABSENT else f"{value} (95 %: {ends})"
    ordered = sorted(one.measured.items(), key=lambda item: item[1].value)
    (least_at, least), (most_at, most) = ordered[0], ordered[-1]
    return (
        f"× {wording.factor(least.value)} ({least_at.endpoint}, {least_at.load}) to × "
        f"{wording.factor(most.value)} "
        f"({most_at.endpoint}, {most_at.load}), of {len(ordered)} loads"
    )


def _remarks(found: Publication) -> Iterator[contents.Remark]:
    """Verdicts of the audit that are not sound, the worst first."""
    every: Iterable[tuple[Verdict, str]] = (
        *((verdict, one.figures.label) for one in found.audit.results for verdict in one.verdicts),
        *((verdict, "all together") for verdict in found.audit.together),
    )
    doubted = [(verdict, label) for verdict, label in every if verdict.is_doubting]
    for verdict, label in sorted(doubted, key=lambda pair: -LEVELS.index(pair[0].level)):
        yield replace(contents.remark(verdict, {}), subject=label)
