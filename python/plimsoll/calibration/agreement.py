"""When what was reported agrees with what was true."""

from __future__ import annotations

from dataclasses import dataclass

RELATIVE = 0.01
"""Share of the truth that a report may be off by."""

ABSOLUTE_NS = 20_000
"""Nanoseconds that a report may be off by, however short the truth."""


@dataclass(frozen=True)
class Point:
    """One statistic, true and reported, in nanoseconds.

    Attributes:
        statistic: `p50`, `p90`, …
        true_ns: What it is.
        reported_ns: What the engine's rows say.
        tolerance_ns: What they may differ by; null for what is shown and not judged.
        within: Whether they differ by no more; null when it is not judged.
    """

    statistic: str
    true_ns: int
    reported_ns: int
    tolerance_ns: int | None
    within: bool | None

    @property
    def off_ns(self) -> int:
        """How much too long the report is."""
        return self.reported_ns - self.true_ns


def point(statistic: str, true_ns: int, reported_ns: int, tolerance_ns: int | None) -> Point:
    """A statistic, judged unless there is no tolerance.

    Args:
        statistic: Its name.
        true_ns: What it is.
        reported_ns: What was reported.
        tolerance_ns: What they may differ by; None judges nothing.
    """
    within = None if tolerance_ns is None else abs(reported_ns - true_ns) <= tolerance_ns
    return Point(statistic, true_ns, reported_ns, tolerance_ns, within)


def tolerance_ns(true_ns: int) -> int:
    """One hundredth of the truth, or 20 µs where that is more."""
    return max(round(RELATIVE * true_ns), ABSOLUTE_NS)
