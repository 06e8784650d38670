"""Limits that a person sets on the result of a load: `--fail-if 'p99>250ms'`.

A gate says when the load is to count as failed. It names a quantity, `>` or `<`, and a value with
its unit. `min`, `mean`, `max` and `p50` to `p99.99` are response times, `failures` is the share of
requests that failed (`1%`), `failed` their number, `throughput` is answers and `goodput` right
answers per second; `rate` is another name of `goodput`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll.campaign import quantities

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

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
"""Names of response times, and how the columns name them."""

COUNTS = {
    "failures": "failure_ratio",
    "failed": "failed",
    "throughput": "throughput_per_s",
    "goodput": "goodput_per_s",
}
"""Names of everything else that can be limited, and their columns."""

ALSO = {"p999": "p99.9", "p9999": "p99.99", "rate": "goodput"}
"""Other names by which some are known."""

_GATE = re.compile(r"\s*(?P<name>[\w.]+)\s*(?P<bad>[<>])\s*(?P<value>[^<>=\s].*?)\s*")
_EXAMPLE = "write it as 'p99>250ms'"
_NAMES = f"what can be limited: {', '.join((*TIMES, *COUNTS))}"


@dataclass(frozen=True)
class Gate:
    """One limit.

    Attributes:
        text: As it was typed.
        column: Column of `tables.SUMMARIES` that is limited.
        bad: Whether a number above (`>`) or below (`<`) the value is a failure.
        value: The limit in the unit of the column.
    """

    text: str
    column: str
    bad: Literal["<", ">"]
    value: float

    def is_missed(self, summary: Mapping[str, Any]) -> bool:
        """Whether a load counts as failed; it does when the quantity could not be measured.

        Args:
            summary: Its row of `tables.SUMMARIES`.
        """
        measured = summary[self.column]
        if measured is None:
            return True
        return measured > self.value if self.bad == ">" else measured < self.value

    def told(self, summary: Mapping[str, Any] | None) -> str:
        """The limit, and what was measured against it.

        Args:
            summary: The load's row of `tables.SUMMARIES`; None when nothing was measured.
        """
        measured = None if summary is None else summary[self.column]
        if measured is None:
            return f"{self.text}, and too few answers came to tell"
        return f"{self.text}, and it was {_spoken(measured, self.column)}"


def read(text: str) -> Gate:
    """A gate as people write it.

    Raises:
        Unreadable: It is no gate.
    """
    match = _GATE.fullmatch(text)
    if match is None:
        raise quantities.Unreadable(f"`{text}` is no limit", f"{_EXAMPLE}; {_NAMES}")
    name = ALSO.get(match["name"], match["name"])
    if name not in TIMES and name not in COUNTS:
        raise quantities.Unreadable(f"`{match['name']}` is nothing that a load has", _NAMES)
    column = COUNTS.get(name) or f"response_time_{TIMES[name]}_ns"
    return Gate(text, column, "<" if match["bad"] == "<" else ">", _value(name, match["value"]))


def _value(name: str, text: str) -> float:
    readers: dict[str, Callable[[str], float]] = {
        "failures": _ratio,
        "failed": quantities.count,
        "throughput": quantities.number,
        "goodput": quantities.number,
    }
    return readers.get(name, _time_ns)(text)


def _time_ns(text: str) -> float:
    """A time; a bare number would be taken for seconds by one and milliseconds by another."""
    if not text[-1:].isalpha():
        raise quantities.Unreadable(f"`{text}` is a time without a unit", "write `250ms` or `2s`")
    return quantities.duration_s(text) * 1e9


def _ratio(text: str) -> float:
    ratio = quantities.number(text.removesuffix("%").strip()) / (100 if text[-1:] == "%" else 1)
    if ratio > 1:
        raise quantities.Unreadable(f"`{text}` is more than all of them", "write `1%` or `0.01`")
    return ratio


def _spoken(measured: float, column: str) -> str:
    """A number in the unit that people type it in."""
    if column.endswith("_ns"):
        return f"{measured / 1e6:,.3f} ms"
    return f"{measured:.3%}" if column.endswith("_ratio") else f"{measured:,.0f}"
