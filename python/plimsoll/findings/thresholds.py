"""Thresholds on the result of a load: `--fail-if 'p99>250ms'`.

A threshold names a quantity, `>` or `<`, and a value with its unit. `min`, `mean`, `max` and `p50`
to `p99.99` are response times. `failures` is the failure ratio (`1%`), `failed` the number of
failed requests, `throughput` is responses and `goodput` successful responses per second; `rate` is
a synonym of `goodput`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll import wording
from plimsoll.campaign import quantities
from plimsoll.statistics import quantiles

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.aggregate.summary import Summary

TIMES = {
    "min": "min",
    "mean": "mean",
    "p25": "p25",
    "p50": "p50",
    "p75": "p75",
    "p90": "p90",
    "p95": "p95",
    "p99": "p99",
    "p99.9": "p999",
    "p99.99": "p9999",
    "max": "max",
}
"""Response time statistics, and the suffixes of their columns."""

COUNTS = {
    "failures": "failure_ratio",
    "failed": "failed",
    "throughput": "throughput_per_s",
    "goodput": "goodput_per_s",
}
"""Other quantities, and their columns."""

ALSO = {"p999": "p99.9", "p9999": "p99.99", "rate": "goodput"}
"""Synonyms."""

NAMES = (*TIMES, *COUNTS, *ALSO)
"""Everything that a threshold can name."""

_THRESHOLD = re.compile(r"\s*(?P<name>[\w.]+)\s*(?P<bad>[<>])\s*(?P<value>[^<>=\s].*?)\s*")
_EXAMPLE = "write it as 'p99>250ms'"
_NAMES = f"quantities: {', '.join((*TIMES, *COUNTS))}"


@dataclass(frozen=True)
class Threshold:
    """One threshold.

    Attributes:
        text: As it was typed.
        column: Column of `tables.SUMMARIES`.
        bad: Whether a value above (`>`) or below (`<`) the threshold is a failure.
        value: The threshold in the unit of the column.
    """

    text: str
    column: str
    bad: Literal["<", ">"]
    value: float

    def is_missed(self, summary: Summary) -> bool:
        """Whether the threshold is crossed, or the quantity was not measured.

        Args:
            summary: Its summary.
        """
        measured = summary.value(self.column)
        return measured is None or self.is_crossed_by(measured)

    def is_crossed_by(self, measured: float) -> bool:
        """Whether a measured value, in the unit of the column, is beyond the threshold."""
        return measured > self.value if self.bad == ">" else measured < self.value

    def spoken(self, measured: float) -> str:
        """A measured value in the unit in which thresholds are typed."""
        if self.column.endswith("_ns"):
            return f"{wording.decimals(measured / 1e6, 3)} ms"
        is_share = self.column.endswith("_ratio")
        return wording.percent(measured) if is_share else wording.count(measured)

    def described(self, summary: Summary | None) -> str:
        """The threshold and the measured value.

        Args:
            summary: The load's summary; None when nothing was measured.
        """
        measured = None if summary is None else summary.value(self.column)
        if measured is None:
            return f"{self.text}, but {self._why_unknown(summary)}"
        return f"{self.text}, measured {self.spoken(measured)}"

    def _why_unknown(self, summary: Summary | None) -> str:
        """What a load lacks in which the quantity was not measured."""
        statistic = self.column.removeprefix("response_time_").removesuffix("_ns")
        quantile = quantiles.QUANTILES.get(statistic)
        if quantile is None or summary is None or quantiles.enough(summary.completed, quantile):
            return "it was not measured"
        needed = wording.count(quantiles.rows_needed(quantile))
        return f"it takes {needed} responses, and {wording.count(summary.completed)} came"


def read(text: str) -> Threshold:
    """Parses a threshold.

    Raises:
        UnreadableQuantity: It is not a threshold.
    """
    match = _THRESHOLD.fullmatch(text)
    if match is None:
        raise quantities.UnreadableQuantity(f"`{text}` is not a threshold", f"{_EXAMPLE}; {_NAMES}")
    name = ALSO.get(match["name"], match["name"])
    if name not in NAMES:
        raise quantities.UnreadableQuantity(f"unknown quantity `{match['name']}`", _NAMES)
    column = COUNTS.get(name) or f"response_time_{TIMES[name]}_ns"
    return Threshold(
        text, column, "<" if match["bad"] == "<" else ">", _value(name, match["value"])
    )


def _value(name: str, text: str) -> float:
    readers: dict[str, Callable[[str], float]] = {
        "failures": _ratio,
        "failed": quantities.count,
        "throughput": quantities.number,
        "goodput": quantities.number,
    }
    return readers.get(name, _time_ns)(text)


def _time_ns(text: str) -> float:
    """A time; the unit is required, since a bare number could be seconds or milliseconds."""
    if not text[-1:].isalpha():
        raise quantities.UnreadableQuantity(
            f"`{text}` has no unit of time", "write `250ms` or `2s`"
        )
    return quantities.duration_s(text) * 1e9


def _ratio(text: str) -> float:
    ratio = quantities.number(text.removesuffix("%").strip()) / (100 if text[-1:] == "%" else 1)
    if ratio > 1:
        raise quantities.UnreadableQuantity(f"`{text}` is more than 100 %", "write `1%` or `0.01`")
    return ratio
