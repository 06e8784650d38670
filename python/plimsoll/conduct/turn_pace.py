"""How fast some servers were, round by round: what the machine gave to all that take turns."""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import fmean, median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.recording.turns import Turn


def common_pace(servers: Sequence[Sequence[Turn]]) -> dict[int, float]:
    """The pace of some servers in each round.

    Each server's throughput in a round is divided by its own geometric mean over all rounds. The
    median over servers is their common pace, so one server that slows down by itself hardly moves
    it. The round 0 is the warm-up and does not count.

    Args:
        servers: The turns of each server.

    Returns:
        Round to pace, 1 on average; a round in which none of them had a response is left out.
    """
    found: defaultdict[int, list[float]] = defaultdict(list)
    for turns in servers:
        logs = {
            turn.round: math.log(turn.requests / turn.duration_ns)
            for turn in turns
            if turn.round and turn.requests and turn.duration_ns
        }
        usual = fmean(logs.values()) if logs else 0.0
        for number, log in logs.items():
            found[number].append(log - usual)
    return {number: math.exp(median(logs)) for number, logs in sorted(found.items())}
