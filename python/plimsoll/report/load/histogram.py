"""A histogram of response times in a terminal, with steps of 1, 2, 5, 10."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.text import Text

from plimsoll import wording
from plimsoll.report.load.screen_lines import LABEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll import _engine

    Times = np.ndarray[Any, np.dtype[np.int64]]

STEPS = (1, 2, 5)
"""Edges of buckets within a power of ten."""

BAR = 40
"""Columns of the longest bar where there is room."""

BESIDE = LABEL + len("  ") + len(" ") + len("100.00 %") + len(" ") + len("999,999,999")
"""Columns of a line beside its bar."""


def show(times: _engine.Times, console: Console | None = None) -> None:
    """Prints how many responses took how long; nothing where there are none.

    Args:
        times: The response times.
        console: Where to; None for stdout.
    """
    out = console or Console(highlight=False)
    longest = max(1, min(BAR, out.width - BESIDE))
    for text in lines(np.frombuffer(times.to_bytes(), np.int64), longest):
        out.print(Text(text, no_wrap=True, overflow="crop"), style="dim")


def lines(times_ns: Times, longest: int = BAR) -> list[str]:
    """One line a bucket: from which time on, a bar, the share of responses and their number.

    Args:
        times_ns: The response times, in nanoseconds.
        longest: Columns of the longest bar.
    """
    if not len(times_ns):
        return []
    edges = _edges(int(times_ns.min()), int(times_ns.max()))
    counts, _ = np.histogram(times_ns, edges)
    bars = [f"{_bar(count / counts.max(), longest):<{longest}}" for count in counts.tolist()]
    return [
        f"{f'≥ {wording.duration(edge)}':>{LABEL}}  {bar}"
        f" {wording.percent(count / len(times_ns)):>8} {wording.count(count):>11}"
        for edge, bar, count in zip(edges[:-1], bars, counts.tolist(), strict=True)
    ]


def _edges(least: int, most: int) -> Sequence[float]:
    """Edges of the series 1, 2, 5 around some times; the last one is above all of them."""
    first = math.floor(math.log10(max(least, 1)))
    last = math.floor(math.log10(max(most, 1))) + 1
    series = [step * 10.0**power for power in range(first, last + 1) for step in STEPS]
    begin = max(place for place, edge in enumerate(series) if edge <= max(least, 1))
    end = min(place for place, edge in enumerate(series) if edge > most)
    edges = series[begin : end + 1]
    return [min(edges[0], least), *edges[1:]]


def _bar(share: float, longest: int) -> str:
    return "█" * round(longest * share) or ("▏" if share else "")
