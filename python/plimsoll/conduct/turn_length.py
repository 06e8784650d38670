"""How long a turn is: the first and the last responses are no large part of it."""

from __future__ import annotations

RESPONSES_A_TURN = 10
"""Response times that a turn is long, at least, where its length is not given."""


def turn_s(response_s: float, shortest_s: float, longest_s: float) -> float:
    """Length of a turn, in seconds.

    At both ends of a turn, for as long as a response takes, not all requests are in flight.

    Args:
        response_s: Response time of the slowest server; infinite where it had no response.
        shortest_s: The shortest that a turn may be.
        longest_s: The longest.
    """
    return min(longest_s, max(shortest_s, RESPONSES_A_TURN * response_s))
