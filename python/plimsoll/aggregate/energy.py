"""Energy: what the host needed for the load beyond what it needs idle.

    net power = energy over the holds / their length − mean power of the idle host

The idle host is measured before and after the trial, second by second, so it is known how far its
power scatters by itself. A net power of less than three standard deviations of these seconds cannot
be distinguished from that scatter, and gives no figure.

Source: the kernel's document on power capping; the limit is that of a usual test of a mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean, stdev
from typing import TYPE_CHECKING

from plimsoll.aggregate.query import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.usage import ReadingSeries, Usage, Window

IDLE = "idle_energy_j"
DEVIATIONS = 3.0
"""A net power of fewer standard deviations of the idle host is none."""
GAP_NS = 2 * SECOND_NS
"""Readings further apart are those before the trial and those after it."""
FEWEST = 2
"""Seconds of the idle host on either side, below which nothing is known of its scatter."""


@dataclass(frozen=True)
class Energy:
    """Power of the host in the holds, against that of the idle host.

    Attributes:
        gross_w: Mean power in the holds, in watts.
        idle_w: Mean power of the idle host.
        deviation_w: Standard deviation of single seconds of the idle host.
        idle_s: Seconds for which it was measured, before or after, whichever is less.
    """

    gross_w: float
    idle_w: float
    deviation_w: float
    idle_s: float

    @property
    def net_w(self) -> float:
        """Power above that of the idle host."""
        return self.gross_w - self.idle_w

    @property
    def deviations(self) -> float:
        """Net power in standard deviations of the idle host."""
        return self.net_w / self.deviation_w if self.deviation_w else float("inf")

    @property
    def is_significant(self) -> bool:
        """Whether a figure follows from it."""
        return self.net_w > 0 and self.deviations >= DEVIATIONS


def energy(readings: Usage, holds: Sequence[Window]) -> Energy | None:
    """Power of the host in the holds; None where it, or the idle host, was not measured.

    Args:
        readings: The readings of a trial.
        holds: Its holds.
    """
    gross_w = readings.rate("machine", "energy_j", holds)
    idle = readings.of("machine", IDLE)
    if gross_w is None or len(idle) != 1:
        return None
    sides = _powers_w(idle[0])
    if len(sides) != 2 or min(map(len, sides)) < FEWEST:  # noqa: PLR2004 - before and after
        return None
    seconds = [power for side in sides for power in side]
    return Energy(gross_w, mean(seconds), stdev(seconds), float(min(map(len, sides))))


def _powers_w(series: ReadingSeries) -> list[list[float]]:
    """Power of each interval between two readings, by the stretches that readings leave."""
    sides: list[list[float]] = [[]]
    instants, values = series.at_ns.tolist(), series.values.tolist()
    for place in range(1, len(instants)):
        length_ns = instants[place] - instants[place - 1]
        if length_ns > GAP_NS:
            sides.append([])
        else:
            sides[-1].append((values[place] - values[place - 1]) / length_ns * SECOND_NS)
    return sides
