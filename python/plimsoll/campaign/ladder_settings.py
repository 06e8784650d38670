"""What a campaign of kind `ladder` measures: the same rates for every framework."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll.campaign.line_settings import PEAK
from plimsoll.campaign.load import Load, Stage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.campaign.load import Arrivals

STEP = "step"
"""The load of the first step is named `step-1`."""

MOST_STEPS = 50
"""The most rates of a ladder."""

IDLE_S = 2.0
"""How long the server without load is read before and after each load, in seconds."""

_DIGITS = 3


@dataclass(frozen=True)
class LadderSettings:
    """What is measured of each framework and endpoint.

    Attributes:
        rates: Rates in requests per second; empty where `shares` are given.
        shares: Rates as shares of the smallest closed peak at an endpoint; empty where `rates` are
            given.
        hold_s: Length of the measurement window of a step, in seconds.
        warm_up_s: How long a rate is held before it is measured, in seconds.
        arrivals: How arrivals are spaced.
        connections: Size of the pool of connections; the peak has as many.
    """

    rates: tuple[float, ...] = ()
    shares: tuple[float, ...] = ()
    hold_s: float = 5.0
    warm_up_s: float = 1.0
    arrivals: Arrivals = "poisson"
    connections: int = 64

    @property
    def count(self) -> int:
        """The number of its steps."""
        return len(self.rates or self.shares)

    @property
    def peak(self) -> Load:
        """The closed load that shows the greatest throughput."""
        return Load(PEAK, "closed", self._stages(float(self.connections)))

    def rates_per_s(self, smallest_peak_per_s: float) -> tuple[float, ...]:
        """The rates of the steps.

        Args:
            smallest_peak_per_s: The smallest peak among the frameworks that are compared.
        """
        base_per_s = rounded_down(smallest_peak_per_s)
        return self.rates or tuple(share * base_per_s for share in self.shares)

    def steps(self, rates_per_s: Iterable[float]) -> tuple[Load, ...]:
        """The load of each step."""
        like = replace(
            self.peak, model="open", arrivals=self.arrivals, connections=self.connections
        )
        return tuple(
            replace(like, name=f"{STEP}-{number}", stages=self._stages(rate_per_s))
            for number, rate_per_s in enumerate(rates_per_s, 1)
        )

    def _stages(self, level: float) -> tuple[Stage, ...]:
        stages = (
            Stage("warm_up", self.warm_up_s, level, level),
            Stage("hold", self.hold_s, level, level),
        )
        return tuple(stage for stage in stages if stage.duration_s)


def rounded_down(rate_per_s: float) -> float:
    """A rate with three digits, never above itself: `12,345` becomes `12,300`."""
    if rate_per_s <= 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(rate_per_s)) - _DIGITS + 1)
    return math.floor(rate_per_s / unit + 1e-9) * unit
