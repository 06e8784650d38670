"""Limits that a person sets on the result of a load: `--fail-if 'p99>250ms'`.

A gate says when the load is to count as failed. It names a quantity, `>` or `<`, and a value:
`p50`, `p90`, `p95`, `p99`, `p999`, `max` and `mean` are response times, `failures` is the share of
requests that failed (`1%` or `0.01`), `rate` is right answers per second.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll.campaign import quantities

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

TIMES = ("p50", "p90", "p95", "p99", "p999", "max", "mean")
QUANTITIES = (*TIMES, "failures", "rate")

_GATE = re.compile(r"\s*(?P<quantity>\w+)\s*(?P<bad>[<>])\s*(?P<value>.+?)\s*")
_HINT = f"write it as 'p99>250ms', with one of {', '.join(QUANTITIES)}"


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


def read(text: str) -> Gate:
    """A gate as people write it.

    Raises:
        Unreadable: It is no gate.
    """
    match = _GATE.fullmatch(text)
    if match is None or match["quantity"] not in QUANTITIES:
        raise quantities.Unreadable(f"`{text}` is no limit", _HINT)
    column, value = _limit(match["quantity"], match["value"])
    return Gate(text, column, "<" if match["bad"] == "<" else ">", value)


def _limit(quantity: str, value: str) -> tuple[str, float]:
    if quantity in TIMES:
        return f"response_time_{quantity}_ns", quantities.duration_s(value) * 1e9
    if quantity == "failures":
        return "failure_ratio", _ratio(value)
    return "goodput_per_s", quantities.number(value)


def _ratio(value: str) -> float:
    if value.endswith("%"):
        return quantities.number(value[:-1].strip()) / 100
    return quantities.number(value)
