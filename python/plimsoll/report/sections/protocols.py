"""The section on protocols: what TLS and HTTP/2 cost each framework."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from plimsoll.campaign.load import SERVICES
from plimsoll.findings.trial import state_of_ratio
from plimsoll.report import estimate_text
from plimsoll.report.contents import anchor
from plimsoll.report.contents.section import Section, SectionTable, TableRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from plimsoll.comparison.protocol_costs import ProtocolCost
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import TrialFindings

ANCHOR = "protocols"
TITLE = "What TLS and HTTP/2 cost"
CAPTION = (
    "Each framework against itself: its figures by TLS or HTTP/2, divided by those by HTTP/1.1 "
    "without TLS with as many requests in flight, with 95 % intervals over repetitions. A "
    "throughput ratio of 0.8 is a fifth less, a CPU ratio of 1.25 a quarter more per request. "
    "Handshakes are before the measurement, since connections are kept."
)

_HEADINGS = (
    *("framework", "by", "throughput", "95 %"),
    *("CPU per request", "95 %", "p99", "95 %"),
)


def section(findings: Findings) -> Section | None:
    """The section; None where nothing was measured both by HTTP/1.1 and otherwise.

    Args:
        findings: What to report.
    """
    if not findings.protocol_costs:
        return None
    trials = {trial.recording.trial: trial for trial in findings.trials}
    by_endpoint = groupby(findings.protocol_costs, key=lambda one: (one.endpoint, one.against))
    tables = tuple(
        _table(endpoint, against, part, trials) for (endpoint, against), part in by_endpoint
    )
    return Section(ANCHOR, TITLE, "Protocols", CAPTION, tables)


def _table(
    endpoint: str, against: str, costs: Iterable[ProtocolCost], trials: Mapping[str, TrialFindings]
) -> SectionTable:
    return SectionTable(
        title=f"{endpoint}, relative to load {against}",
        headings=_HEADINGS,
        numbers=tuple(range(2, len(_HEADINGS))),
        lines=tuple(_line(one, trials) for one in costs),
        verdict="verdict",
        brief=(1, 2, 4),
    )


def _line(one: ProtocolCost, trials: Mapping[str, TrialFindings]) -> TableRow:
    number = one.ratios.get
    cells = (
        one.framework,
        f"{one.load}: {SERVICES[one.service]}",
        *estimate_text.ratio(number("throughput_per_s")),
        *estimate_text.ratio(number("server_cpu_s_per_request")),
        *estimate_text.ratio(number("response_time_p99_ns")),
    )
    own, against = ([trials[name] for name in names] for names in (one.trials, one.against_trials))
    return TableRow(cells, state_of_ratio(own, against), anchor=anchor("trial", one.trials[0]))
