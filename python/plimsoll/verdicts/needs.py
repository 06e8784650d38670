"""Needs: what a recording must have for a check on a trial; what a check on figures compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from plimsoll.verdicts.limits import Limit


FigureComparison = Literal["shares", "rate_and_times", "one_run"]
"""What a check on published figures compares: shares, which hold for means as for each run; a rate
with times of the same run; other numbers of one run."""


@dataclass(frozen=True)
class EveryRequest:
    """A record of every request: without one the check is not made.

    A check whose `NEEDS` is None reads server and host alone, or what the load generator counted.

    Attributes:
        limit: The limit that nothing can be compared with.
        unknown: What is unknown without the record.
        of_one_type: Whether the check has something to compare where all requests are of one type.
    """

    limit: Limit
    unknown: str
    of_one_type: bool = True
