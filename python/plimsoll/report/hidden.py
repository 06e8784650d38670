"""What the closed model hides, in words; `aggregate.silences` has the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.aggregate.summaries import told_time
from plimsoll.canvas import counted
from plimsoll.report import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HIDES = (
    "The closed model stops sending while the server stalls, so the waits of requests that were "
    "never sent are in none of these times"
)
"""What is said beside the service times of every closed load."""

HEADINGS = {"p50": "50 %", "p90": "90 %", "p99": "99 %", "p999": "99.9 %"}
"""How the estimate's quantiles are called."""


def told(silences: Mapping[str, Any] | None, summary: Mapping[str, Any] | None) -> str:
    """What the times of a closed load hide, and how much that is; empty for an open one.

    Args:
        silences: The trial's row of `aggregate.silences`; None where the load was open.
        summary: Its row of `tables.SUMMARIES`.
    """
    if silences is None or summary is None:
        return ""
    return f"{HIDES}: {amount(silences, summary)}."


def amount(silences: Mapping[str, Any], summary: Mapping[str, Any]) -> str:
    """How much the times of a closed load hide, without a full stop."""
    if not silences["silences"]:
        return "little here, for answers came all the time"
    longest = words.duration(silences["longest_ns"])
    estimate = ", ".join(_estimate(silences, summary))
    if not estimate:
        return f"little here, for answers came every {longest} or sooner"
    missed = counted(summary["throughput_per_s"] * silences["longest_ns"] / 1e9)
    return (
        f"no answer for up to {longest}, in which {missed} requests were due at the mean rate; "
        f"had all come evenly, they would have waited at least (estimate) {estimate}"
    )


def _estimate(silences: Mapping[str, Any], summary: Mapping[str, Any]) -> Iterator[str]:
    """Each quantile of the estimate that is more than what was measured."""
    for name, heading in HEADINGS.items():
        wait_ns, measured_ns = silences[f"wait_{name}_ns"], _measured_ns(summary, name)
        if wait_ns is not None and wait_ns > measured_ns:
            yield f"{heading} {words.duration(wait_ns)}"


def _measured_ns(summary: Mapping[str, Any], name: str) -> float:
    """The time of an answer at a quantile; the longest one where there are too few to tell."""
    time = told_time(summary)
    measured = summary[f"{time}_{name}_ns"]
    return (summary[f"{time}_max_ns"] if measured is None else measured) or 0.0
