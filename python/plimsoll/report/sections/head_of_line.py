"""The section on head-of-line blocking: what it costs requests that they share a connection."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.findings.trial import state_of_ratio
from plimsoll.report import estimate_text
from plimsoll.report.contents import anchor
from plimsoll.report.contents.section import Section, SectionTable, TableRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from plimsoll.comparison.head_of_line import ConnectionSharing
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import State, TrialFindings

ANCHOR = "head-of-line"
TITLE = "Head-of-line blocking"
CAPTION = (
    "As many requests in flight, on shared connections and on a connection each, with 95 % "
    "intervals of the ratios over repetitions. A p99 of × 1.8 means that the slowest hundredth "
    "takes 1.8 times as long on shared connections: there, a slow or long response may delay "
    "others. Fewer connections may also cost a server less; then throughput rises."
)

_HEADINGS = ("framework", "quantity", "alone", "shared", "ratio", "95 %")

_NAMES = {
    "throughput_per_s": "throughput",
    "response_time_p50_ns": "p50",
    "response_time_p99_ns": "p99",
}

_TAIL = "response_time_p99_ns"


def section(findings: Findings) -> Section | None:
    """The section; None where no two loads differ in shared connections alone.

    Args:
        findings: What to report.
    """
    if not findings.sharings:
        return None
    trials = {trial.recording.trial: trial for trial in findings.trials}
    groups = groupby(
        findings.sharings, key=lambda one: (one.endpoint, one.load, one.against, one.driver)
    )
    several = len({one.driver for one in findings.sharings}) > 1
    tables = tuple(_table([*part], trials, several=several) for _, part in groups)
    return Section(ANCHOR, TITLE, TITLE, CAPTION, tables)


def _table(
    part: Sequence[ConnectionSharing], trials: Mapping[str, TrialFindings], *, several: bool
) -> SectionTable:
    first = part[0]
    driver = f", by {first.driver}" if several else ""
    connections = wording.several(first.connections, "connection")
    alone = wording.count(first.connections * first.each)
    return SectionTable(
        title=(
            f"{first.endpoint}, {first.load}: {_several(first)} on each of {connections}, "
            f"relative to {alone} with one ({first.against}){driver}"
        ),
        headings=_HEADINGS,
        numbers=tuple(range(2, len(_HEADINGS))),
        lines=tuple(line for one in part for line in _lines(one, trials)),
        verdict="verdict",
        brief=(1, 4, 5),
        notes=tuple(
            note
            for one in part
            if _state(one, trials) not in ("void", "failed")
            for note in _blocked(one)
        ),
    )


def _lines(one: ConnectionSharing, trials: Mapping[str, TrialFindings]) -> Iterator[TableRow]:
    state = _state(one, trials)
    for quantity, found in one.quantities.items():
        write = wording.per_second if quantity.endswith("_per_s") else wording.duration
        cells = (
            *(one.framework, _NAMES[quantity], write(found.alone.value), write(found.shared.value)),
            *estimate_text.ratio(found.ratio),
        )
        yield TableRow(cells, state, anchor=anchor("trial", one.trials[0]))


def _state(one: ConnectionSharing, trials: Mapping[str, TrialFindings]) -> State:
    """How far to believe its ratios."""
    shared, alone = ([trials[name] for name in names] for names in (one.trials, one.against_trials))
    return state_of_ratio(shared, alone)


def _blocked(one: ConnectionSharing) -> Iterator[str]:
    """That requests delay each other, where the interval of the tail's ratio shows it."""
    tail = one.quantities.get(_TAIL)
    if tail is not None and tail.ratio.interval is not None and tail.ratio.interval.low > 1:
        value, interval = estimate_text.ratio(tail.ratio)
        yield f"{one.framework}: {_several(one)} share a connection: p99 {value} ({interval})."


def _several(one: ConnectionSharing) -> str:
    """What shares a connection: `10 streams`."""
    noun = {"http2": "stream", "websocket": "message"}.get(one.protocol, "request")
    return wording.several(one.each, noun)
