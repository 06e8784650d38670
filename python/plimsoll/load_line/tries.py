"""A try: what one rate showed, and which trials of a campaign are tries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll.campaign.line_settings import TRY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.load_line.limits import LineLimit
    from plimsoll.recording import Recording
    from plimsoll.statistics.edge import Count

State = Literal["held", "failed", "open"]
"""Whether a try kept a limit beyond chance, missed it beyond chance, or neither."""

SURE = 0.975
"""Chance from which on a try has failed; below the rest of it, it has held."""


def is_try(recording: Recording) -> bool:
    """Whether a trial of a campaign of kind `line` is a try, and not the peak."""
    return recording.load.name == TRY


@dataclass(frozen=True)
class Try:
    """What one rate showed.

    Attributes:
        rate_per_s: The requested rate.
        hold_s: Length of its measurement window, in seconds.
        counts: What missed each limit, by the name of the limit.
        times_ns: Latency from the intended start by percentile (`p50`), in nanoseconds; those that
            there were enough requests for. They cover complete responses and, with what they had
            waited, requests that the end cut short.
        trial: Id of its recording; empty for none.
    """

    rate_per_s: float
    hold_s: float
    counts: Mapping[str, Count]
    times_ns: Mapping[str, float]
    trial: str = ""

    def state(self, limit: LineLimit) -> State:
        """Whether it kept a limit."""
        chance = self.counts[limit.name].chance_above(limit.allowed)
        return "failed" if chance > SURE else "held" if chance < 1 - SURE else "open"

    def state_beside(self, limit: LineLimit, others: Sequence[LineLimit]) -> State:
        """Whether it kept a limit, and others of which it shows less than would be beyond chance.

        Few requests fail where few may, so errors are beyond chance only in long tries.

        Args:
            limit: The limit of which it must be known that it was kept.
            others: Limits of which it is enough that no more missed than allowed.
        """
        every = (limit, *others)
        if any(self.state(one) == "failed" for one in every):
            return "failed"
        is_held = self.state(limit) == "held" and all(map(self.is_inside, every))
        return "held" if is_held else "open"

    def is_inside(self, limit: LineLimit) -> bool:
        """Whether no more missed than allowed, by chance or not."""
        return self.counts[limit.name].share <= limit.allowed
