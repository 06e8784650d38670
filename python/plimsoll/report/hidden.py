"""What the closed model hides, in words; `aggregate.stalls` has the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.aggregate.stalls import StallsRow
    from plimsoll.aggregate.summary import Summary

HIDES = (
    "The closed model stops sending while the server stalls, so these latencies exclude "
    "the wait of requests that were never sent"
)
"""The remark beside the service times of every closed load."""

HEADINGS = {"p50": "50 %", "p90": "90 %", "p99": "99 %", "p999": "99.9 %"}
"""How the estimate's quantiles are called."""


def sentence(stalls: StallsRow | None, summary: Summary | None) -> str:
    """What the times of a closed load hide, and how much that is; empty for an open one.

    Args:
        stalls: The trial's row of `aggregate.stalls`; None where the load was open.
        summary: Its row of `tables.SUMMARIES`.
    """
    if stalls is None or summary is None:
        return ""
    return f"{HIDES}: {amount(stalls, summary)}."


def amount(stalls: StallsRow, summary: Summary) -> str:
    """How much the times of a closed load hide, without a full stop."""
    if not stalls["stalls"]:
        return "little: no stall was observed"
    longest = wording.duration(stalls["longest_ns"])
    estimate = ", ".join(_estimate(stalls, summary))
    if not estimate:
        return f"little: the longest gap between responses was {longest}"
    missed = wording.count(summary.throughput_per_s * stalls["longest_ns"] / 1e9)
    return (
        f"longest stall {longest}: at the mean rate {missed} requests would have arrived in it "
        f"and waited at least (estimate) {estimate}"
    )


def _estimate(stalls: StallsRow, summary: Summary) -> Iterator[str]:
    """Each quantile of the estimate that is more than what was measured."""
    for name, heading in HEADINGS.items():
        wait_ns, measured_ns = stalls.get(f"wait_{name}_ns"), _measured_ns(summary, name)
        if wait_ns is not None and wait_ns > measured_ns:
            yield f"{heading} {wording.duration(wait_ns)}"


def _measured_ns(summary: Summary, name: str) -> float:
    """The service time at a quantile, as `hidden_stalls` has it; the longest of too few."""
    time = summary.service_time
    measured = time.of(name)
    return (time.max_ns if measured is None else measured) or 0.0
