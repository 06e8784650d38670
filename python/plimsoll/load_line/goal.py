"""What a search of load lines looks for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.campaign.line_settings import LATENCIES_OF_A_HOLD

if TYPE_CHECKING:
    from plimsoll.load_line.limits import LineLimit

WITHIN = 0.05
"""Half the width of an interval that is enough, as a share of the rate."""

WIDE = 0.1
"""Half the width of an interval, as a share of the rate, beyond which a line is doubtful.

A mean throughput is as uncertain where `steady` begins to doubt it. Searches with the usual budget
reach half of it."""

USUAL_BUDGET_S = 90.0
"""The default budget, in seconds: most searches reach `WITHIN` in it."""

LONGEST_HOLD_S = 10.0
"""Length of the longest try near the edge, in seconds, unless its latencies or budget are long."""

_SHORTEST_HOLD_S = 1.0
_TRIES_OF_A_BUDGET, _TRIES_OF_A_LONG_BUDGET = 25, 40
_SHORTEST_WARM_UP_S, _WARM_UP_PER_HOLD = 0.5, 0.1


@dataclass(frozen=True)
class SearchGoal:
    """What is searched, and when the search ends.

    Attributes:
        limits: Limits of latency; one line is searched for each.
        errors: LineLimit of errors, which holds for each line.
        budget_s: Time for all tries, in seconds.
        within: Half the width of an interval that is enough, as a share of the rate.
        most_per_s: The greatest rate that may be tried.
        try_s: Length of a try near the edge, in seconds; 0 for a share of the budget.
        has_processes: Whether each try has a server process of its own; the line is then that of a
            typical one.
    """

    limits: tuple[LineLimit, ...]
    errors: LineLimit
    budget_s: float
    within: float = WITHIN
    most_per_s: float = math.inf
    try_s: float = 0.0
    has_processes: bool = False

    @property
    def widest(self) -> float:
        """Half the width of an interval that is still believed, as a share of the rate.

        That of a campaign is a range of ranks, whatever its width, so nothing is too wide there.
        """
        return math.inf if self.has_processes else max(self.within, WIDE)

    @property
    def least_hold_s(self) -> float:
        """Length of the shortest try near the edge, whatever the budget is, in seconds."""
        longest_s = max(one.most_ns or 0.0 for one in self.limits) / 1e9
        return max(_SHORTEST_HOLD_S, LATENCIES_OF_A_HOLD * longest_s)

    @property
    def hold_s(self) -> float:
        """Length of a try near the edge, in seconds; long beside the latencies that are judged."""
        longest_s = max(one.most_ns or 0.0 for one in self.limits) / 1e9
        share_s = self.budget_s / _TRIES_OF_A_BUDGET
        most_s = max(LONGEST_HOLD_S, self.budget_s / _TRIES_OF_A_LONG_BUDGET)
        usual_s = self.try_s or min(max(share_s, _SHORTEST_HOLD_S), most_s)
        return max(usual_s, LATENCIES_OF_A_HOLD * longest_s)


def warm_up_s(hold_s: float) -> float:
    """How long a rate is held before it is judged, in seconds.

    A try begins with an empty queue, and misses less until the queue is as long as the rate makes
    it: near saturation that takes seconds.

    Args:
        hold_s: Length of the measurement window, in seconds.
    """
    return max(_SHORTEST_WARM_UP_S, _WARM_UP_PER_HOLD * hold_s)
