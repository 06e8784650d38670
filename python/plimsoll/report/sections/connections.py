"""The section over connections: what became of each server as more of them were requested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import charts, wording
from plimsoll.findings.trial import state_of
from plimsoll.report import estimate_text
from plimsoll.report.contents import anchor, looks
from plimsoll.report.contents.section import Picture, Section, SectionTable, TableRow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.comparison.over_connections import ConnectionsPoint, ConnectionsSeries
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import TrialFindings

ANCHOR = "over-connections"
TITLE = "Over connections"
NO_POWER = (
    "Power is unknown: it takes a power meter (`power`), or a host whose RAPL can be read, which "
    "virtual machines rarely have, and `idle`."
)

_ROUNDED_TO_ALL = 0.9995
"""Ratio from which three digits of a percentage are 100."""

_HEADINGS = (
    *("framework", "connections", "goodput, responses/s", "95 %"),
    *("successful", "memory", "net power"),
)


def section(findings: Findings) -> Section | None:
    """The section; None where no endpoint has three numbers of connections or more.

    Args:
        findings: What to report.
    """
    if not findings.over_connections:
        return None
    trials = {trial.recording.trial: trial for trial in findings.trials}
    several = len({trial.recording.driver_name for trial in findings.trials}) > 1
    named = [(_title(one, several=several), one) for one in findings.over_connections]
    return Section(
        anchor=ANCHOR,
        title=TITLE,
        short=TITLE,
        caption=charts.over_connections.CAPTION,
        tables=tuple(_table(title, one, trials) for title, one in named),
        pictures=tuple(
            Picture(
                anchor(ANCHOR, one.endpoint, one.driver),
                title,
                charts.over_connections,
                charts.over_connections.draw(one, looks.entries(findings)),
            )
            for title, one in named
        ),
    )


def _title(one: ConnectionsSeries, *, several: bool) -> str:
    return f"{one.endpoint}, by {one.driver}" if several else one.endpoint


def _table(title: str, one: ConnectionsSeries, trials: Mapping[str, TrialFindings]) -> SectionTable:
    return SectionTable(
        title=f"{title}, in numbers",
        headings=_HEADINGS,
        numbers=tuple(range(1, len(_HEADINGS))),
        lines=tuple(_line(point, one.power, trials) for point in one.points),
        verdict="verdict",
        brief=(1, 2, 4),
        notes=() if _is_power_known(one) else (NO_POWER,),
    )


def _is_power_known(one: ConnectionsSeries) -> bool:
    return any(one.power in point.numbers for point in one.points)


def _line(point: ConnectionsPoint, power: str, trials: Mapping[str, TrialFindings]) -> TableRow:
    found = [trials[name] for name in point.trials]
    failed = estimate_text.value_of(point.numbers.get("failure_ratio"))
    cells = (
        point.framework,
        wording.number(point.connections),
        *estimate_text.rate_text(point.numbers.get("goodput_per_s")),
        wording.ABSENT if failed is None else _successful(1 - failed),
        wording.size(estimate_text.value_of(point.numbers.get("server_peak_rss_bytes"))),
        wording.power(estimate_text.value_of(point.numbers.get(power))),
    )
    return TableRow(cells, state_of(found), anchor=anchor("trial", point.trials[0]))


def _successful(ratio: float) -> str:
    """A ratio in percent with three digits, or as many as tell it from 100 %."""
    if ratio >= _ROUNDED_TO_ALL:
        return wording.percent(ratio)
    return f"{wording.number(100 * ratio, 3)} %"
