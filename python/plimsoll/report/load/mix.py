"""What came of each URL of a mix: the slowest and those that failed, or a table of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from plimsoll import texts, wording
from plimsoll.aggregate.summary import latency_kind
from plimsoll.report.load.screen_lines import LABEL, cut

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.aggregate.kinds import KindRow

MOST = 3
"""URLs in a line."""

LONGEST = 30
"""Columns of a URL."""

WIDE = 80
"""Columns from which a table has room for the rates."""


def lines(
    kinds: Sequence[KindRow], most: int = MOST, others: str = "with `-v`"
) -> Iterator[tuple[str, str, str]]:
    """Name, words and style of a line for the slowest, and of one for those that failed most.

    Args:
        kinds: What came of each URL.
        most: URLs in a line.
        others: Where a reader finds the others.
    """
    ordered = sorted(kinds, key=_slowness, reverse=True)
    yield "slowest", _line([f"{_name(one)} {_times(one)}" for one in ordered], most, others), ""
    failed = sorted((one for one in kinds if one["failed"]), key=lambda one: -one["failed"])
    if failed:
        reported = [f"{_name(one)} {wording.count(one['failed'])}" for one in failed]
        yield "failed", _line(reported, most, others), "red"


def table(kinds: Sequence[KindRow], width: int) -> Table:
    """A row for each URL.

    Args:
        kinds: What came of each.
        width: Columns of the screen.
    """
    is_wide = width >= WIDE
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    shown.add_column("", overflow="ellipsis", no_wrap=True, min_width=LABEL, max_width=LONGEST)
    for heading in ("responses", *(("per second",) if is_wide else ()), "failed", "p50", "p99"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for one in kinds:
        rate = (wording.per_second(one["throughput_per_s"]),) if is_wide else ()
        counts = (wording.count(one["completed"]), *rate, wording.count(one["failed"]))
        times = (wording.duration(_time(one, name)) for name in ("p50", "p99"))
        shown.add_row(Text(texts.line(one["request"])), *counts, *times)
    return shown


def _line(reported: Sequence[str], most: int, others: str) -> str:
    shown = "; ".join(reported[:most])
    left = len(reported) - most
    return f"{shown}; {left} more {others}" if left > 0 else shown


def _name(one: KindRow) -> str:
    return cut(texts.line(one["request"]), LONGEST)


def _times(one: KindRow) -> str:
    """Median and 99th percentile, or the maximum of a few responses."""
    last = "p99" if _time(one, "p99") is not None else "max"
    return f"p50 {wording.duration(_time(one, 'p50'))}, {last} {wording.duration(_time(one, last))}"


def _slowness(one: KindRow) -> tuple[float, float]:
    """By the median first: the tail of one that is rarely requested is known less."""
    return _time(one, "p50") or 0.0, _time(one, "max") or 0.0


def _time(one: KindRow, statistic: str) -> float | None:
    kind = latency_kind(one["response_time_max_ns"], one["service_time_max_ns"])
    return one.get(f"{kind}_{statistic}_ns")
