"""Limits of a load line: `p99=20ms`, the share of errors, and what must have been sent."""

from __future__ import annotations

import re
from dataclasses import dataclass

from plimsoll import wording
from plimsoll.campaign import quantities
from plimsoll.campaign.line_settings import LONGEST_LIMIT_S

LEAST_SENT = 0.99
"""The least share of the requests due that must have been sent."""

ERRORS, SENT = "errors", "sent"

_LIMIT = re.compile(r"\s*p(?P<percent>\d{1,2}(?:\.\d+)?|999|9999)\s*(?:=|<=|≤|<)\s*(?P<time>.+)")
_EXAMPLE = "write it as `p99=20ms` or `p99.9=50ms`"
_SHORT = {"999": "99.9", "9999": "99.99"}
_LEAST_PERCENT, _MOST_PERCENT = 10.0, 99.99


@dataclass(frozen=True)
class LineLimit:
    """What requests may do: how many of them, at most, may miss what.

    Attributes:
        name: `p99`, `p99.9`, `errors` or `sent`.
        allowed: The share of requests that may miss.
        most_ns: Latency from the intended start, in nanoseconds; None for errors and for sending.
    """

    name: str
    allowed: float
    most_ns: float | None = None

    @property
    def text(self) -> str:
        """A limit of latency in words: `p99 ≤ 20 ms`."""
        return f"{self.name} ≤ {wording.seconds((self.most_ns or 0.0) / 1e9)}"


def latency(percent: float, most_s: float) -> LineLimit:
    """A limit of latency; failed requests miss it as well.

    Args:
        percent: The percentile, such as 99.
        most_s: The latency that it may have, in seconds.
    """
    return LineLimit(f"p{percent:g}", round(1 - percent / 100, 6), most_s * 1e9)


def errors(share: float) -> LineLimit:
    """The share of requests that may fail; one that waits to be sent at the end did not."""
    return LineLimit(ERRORS, share)


SENDING = LineLimit(SENT, round(1 - LEAST_SENT, 6))
"""That requests were sent at all, before the try ended."""


def read(text: str) -> LineLimit:
    """A limit of latency as it is typed.

    Raises:
        UnreadableQuantity: It is none.
    """
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise quantities.UnreadableQuantity(f"`{text}` is not a limit of latency", _EXAMPLE)
    percent = float(_SHORT.get(match["percent"], match["percent"]))
    if not _LEAST_PERCENT <= percent <= _MOST_PERCENT:
        raise quantities.UnreadableQuantity(
            f"`p{wording.exact(percent)}` is not a percentile from 10 to 99.99", _EXAMPLE
        )
    most_s = duration_s(match["time"])
    if most_s > LONGEST_LIMIT_S:
        raise quantities.UnreadableQuantity(
            f"`{text}` is too long: each try lasts several times its limit",
            f"the maximum is {wording.exact(LONGEST_LIMIT_S)} s",
        )
    return latency(percent, most_s)


def duration_s(text: str) -> float:
    """A latency in seconds; the unit is required, since a bare number could be anything.

    Raises:
        UnreadableQuantity: It is none.
    """
    if not text.strip()[-1:].isalpha():
        raise quantities.UnreadableQuantity(
            f"`{text}` has no unit of time", "write `20ms` or `500us`"
        )
    try:
        found_s = quantities.duration_s(text)
    except quantities.UnreadableQuantity as error:
        raise quantities.UnreadableQuantity(error.message, "write `20ms` or `500us`") from error
    if not found_s:
        raise quantities.UnreadableQuantity(f"`{text}` is not above 0", "write `20ms` or `500us`")
    return found_s
