"""What a tool printed on each of several hosts, as one: counts are added, means are weighted.

Of the times only those remain that are exact for all requests: mean, standard deviation, least and
greatest. Percentiles of several hosts do not add up.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from plimsoll.tool_output.reported import ReportedStatistics, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

N = TypeVar("N", int, float)

MOMENTS = ("mean", "stddev", "min", "max")
"""Statistics of a time that follow from those of its parts."""


def together(found: Sequence[ReportedStatistics | None]) -> ReportedStatistics | None:
    """The figures of all hosts as one.

    The rate is that of the longest run: a host that had ended sent nothing more.

    Args:
        found: What each host's tool printed; None where it printed nothing.

    Returns:
        The figures; None where one of them is missing.
    """
    known = [one for one in found if one is not None]
    if not known or len(known) < len(found):
        return None
    first = known[0]
    requests, duration_s = total(one.requests for one in known), _longest_s(known)
    received = total(one.received_bytes for one in known)
    return ReportedStatistics(
        source=Source(f"{first.source.name} of {len(known)} hosts"),
        tool=first.tool,
        model=first.model,
        connections=total(one.connections for one in known),
        in_flight_each=first.in_flight_each,
        in_flight_known=first.in_flight_known,
        in_flight_printed=first.in_flight_printed,
        timed_together=first.timed_together,
        timeout_s=first.timeout_s,
        duration_s=duration_s,
        overrun_s=max(one.overrun_s for one in known),
        threads=total(one.threads for one in known),
        requests=requests,
        failures=_added(one.failures for one in known),
        wrong_responses=_added(one.wrong_responses for one in known),
        counts_failures=all(one.counts_failures for one in known),
        throughput_per_s=_per_s(requests, duration_s),
        counting=first.counting,
        times_s=_times_s(known),
        times=first.times,
        timed=first.timed,
        times_step_s=max(one.times_step_s for one in known),
        received_bytes=received,
        received_per_s=_per_s(received, duration_s),
        notes=tuple(dict.fromkeys(note for one in known for note in one.notes)),
    )


def total(counts: Iterable[N | None]) -> N | None:
    """All of them added up; None where one is unknown."""
    found = list(counts)
    known = [one for one in found if one is not None]
    return sum(known[1:], known[0]) if known and len(known) == len(found) else None


def _longest_s(known: Sequence[ReportedStatistics]) -> float | None:
    lasted_s = [one.duration_s for one in known if one.duration_s is not None]
    return max(lasted_s) if len(lasted_s) == len(known) else None


def _per_s(count: float | None, duration_s: float | None) -> float | None:
    return count / duration_s if count is not None and duration_s else None


def _added(counts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    added: dict[str, float] = {}
    for one in counts:
        for name, count in one.items():
            added[name] = added.get(name, 0.0) + count
    return added


def _times_s(known: Sequence[ReportedStatistics]) -> dict[str, float]:
    """Statistics of the times of all requests; none where those of a part are missing."""
    parts = [(one.requests, one.times_s) for one in known if one.requests != 0.0]
    weighted = [
        (count, times_s)
        for count, times_s in parts
        if count is not None and {*MOMENTS} <= {*times_s}
    ]
    if not weighted or len(weighted) < len(parts):
        return {}
    of = sum(count for count, _ in weighted)
    mean_s = sum(count * times_s["mean"] for count, times_s in weighted) / of
    squares = sum(count * (t["stddev"] ** 2 + t["mean"] ** 2) for count, t in weighted) / of
    return {
        "mean": mean_s,
        "stddev": math.sqrt(max(squares - mean_s**2, 0.0)),
        "min": min(times_s["min"] for _, times_s in weighted),
        "max": max(times_s["max"] for _, times_s in weighted),
    }
