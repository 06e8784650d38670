"""Requests counted on the host that recorded them; counts of several hosts add up to the whole's.

Times are counted by whole nanoseconds, so a percentile of the sum is one of all requests: a value
that was measured. Nothing is averaged over hosts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import _engine
from plimsoll._engine import Histogram
from plimsoll.statistics.quantiles import QUANTILES, enough, rank
from plimsoll.tool_output.reported import ReportedStatistics, Source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from plimsoll.campaign.load import Load
    from plimsoll.recording import Driver

OF_HOSTS = Source("the counts of the hosts")

KINDS = ("response_time", "service_time")
"""Names of the times that the lab takes: from the intended start, and from sending."""


@dataclass(frozen=True)
class HostCounts:
    """What the requests of one host amount to, within the holds.

    Attributes:
        counts: Complete and right responses, failures and received bytes, by name.
        times: Every time of each kind, packed: what `Histogram.to_bytes` gives.
    """

    counts: Mapping[str, int]
    times: Mapping[str, bytes]


def counted(folder: Path, holds: Sequence[tuple[int, int]], shift_ns: int) -> HostCounts:
    """Counts the engine's records in a folder.

    Memory depends on how many times differ, not on how many there are.

    Args:
        folder: The folder.
        holds: What is summarised, in nanoseconds since the trial's zero.
        shift_ns: Zero of the records, in nanoseconds since the trial's zero.

    Raises:
        OSError: They cannot be read, or are damaged.
    """
    own = [(max(start - shift_ns, 0), max(end - shift_ns, 0)) for start, end in holds]
    found = _engine.request_counts(folder, own)
    times = {name: histogram.to_bytes() for name, histogram in found["times"].items()}
    return HostCounts(found["counts"], times)


def figures(
    parts: Sequence[HostCounts], load: Load, driver: Driver, held_s: float
) -> ReportedStatistics:
    """The figures of a whole load.

    Args:
        parts: The counts of all hosts, at least one.
        load: The load.
        driver: The load generators of all hosts together.
        held_s: Length of its holds, in seconds.
    """
    counts = Counter[str]()
    for part in parts:
        counts.update(part.counts)
    wrong = counts["completed"] - counts["ok"]
    times_s = {kind: statistics_s(joined([part.times[kind] for part in parts])) for kind in KINDS}
    return ReportedStatistics(
        source=OF_HOSTS,
        tool=f"{driver.name} {driver.version}",
        model=load.model,
        connections=load.peak_connections,
        in_flight_each=load.in_flight_each,
        timeout_s=load.timeout_s,
        duration_s=held_s,
        threads=driver.threads,
        requests=counts["completed"],
        failures={"without a response": counts["failed"] - wrong},
        wrong_responses={"wrong": wrong},
        counts_failures=True,
        throughput_per_s=counts["completed"] / held_s if held_s else None,
        counting="responses",
        times_s=times_s["service_time"],
        response_times_s=times_s["response_time"],
        times="service",
        timed="responses",
        received_bytes=counts["received_bytes"],
        received_per_s=counts["received_bytes"] / held_s if held_s else None,
    )


def statistics_s(times: Histogram) -> dict[str, float]:
    """Mean, least, greatest and every quantile that there are enough values for, in seconds."""
    count, mean_ns = len(times), times.mean()
    if mean_ns is None:
        return {}
    shares = {name: share for name, share in QUANTILES.items() if enough(count, share)}
    places = {"min": 0, **{name: rank(count, share) - 1 for name, share in shares.items()}}
    values_ns = times.at([*places.values(), count - 1])
    known = dict(zip([*places, "max"], values_ns, strict=True))
    return {name: value / 1e9 for name, value in {"mean": mean_ns, **known}.items()}


def joined(packed: Sequence[bytes]) -> Histogram:
    """Packed times as one; the smallest first, so that each value is packed anew seldom.

    Args:
        packed: What hosts gave, at least one.
    """
    left = sorted((Histogram(one) for one in packed), key=len)
    while len(left) > 1:
        left = sorted([left[0].joined(left[1]), *left[2:]], key=len)
    return left[0]
