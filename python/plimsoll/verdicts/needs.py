"""Needs: what a recording must have, so that a check on a trial can be made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.verdicts.limits import Limit


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
