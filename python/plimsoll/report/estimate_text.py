"""Estimates as people read them: rates, ratios, and their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording

if TYPE_CHECKING:
    from plimsoll.statistics.intervals import Estimate


def rate_text(estimate: Estimate | None) -> tuple[str, str]:
    """A rate and its 95 % interval: `8,050/s` and `7,439–8,711`, each `–` where there is none."""
    if estimate is None:
        return wording.ABSENT, wording.ABSENT
    ends = estimate.interval
    return wording.per_second(
        estimate.value
    ), wording.ABSENT if ends is None else f"{wording.number(ends.low)}–{wording.number(ends.high)}"


def value_of(estimate: Estimate | None) -> float | None:
    """The number itself; None where there is none."""
    return None if estimate is None else estimate.value


def ratio(estimate: Estimate | None) -> tuple[str, str]:
    """A ratio and its 95 % interval: `× 1.07` and `0.98–1.17`, each `–` where there is none."""
    if estimate is None:
        return wording.ABSENT, wording.ABSENT
    ends = estimate.interval
    return (
        f"× {wording.factor(estimate.value)}",
        wording.ABSENT
        if ends is None
        else f"{wording.factor(ends.low)}–{wording.factor(ends.high)}",
    )


def of_best(ratio: Estimate | None) -> str:
    """A ratio to the best: `0.73 × (0.70–0.76)`, `1 ×` of the best itself; `–` for none."""
    if ratio is None:
        return wording.ABSENT
    if ratio.value == 1:
        return "1 ×"
    ends = ratio.interval
    if ends is None:
        return f"{wording.factor(ratio.value)} ×"
    width = ends.high - ends.low
    reported = (wording.factor(value, width) for value in (ratio.value, ends.low, ends.high))
    return "{} × ({}–{})".format(*reported)


def times_as(ratio: Estimate | None, name: str = "") -> str:
    """A ratio to another one: `1.35 × node (1.21–1.50)`; `–` where there is none."""
    if ratio is None:
        return wording.ABSENT
    return " ".join(
        part for part in (wording.factor(ratio.value), "×", name, _between(ratio)) if part
    )


def _between(ratio: Estimate) -> str:
    ends = ratio.interval
    return "" if ends is None else f"({wording.factor(ends.low)}–{wording.factor(ends.high)})"
