"""Agreement of reported and true times within a tolerance."""

from __future__ import annotations

from dataclasses import dataclass

RELATIVE = 0.01
"""Tolerance as a share of the true value."""

ABSOLUTE_NS = 20_000
"""Minimum tolerance in nanoseconds."""


@dataclass(frozen=True)
class AgreementPoint:
    """One statistic, true and reported, in nanoseconds.

    Attributes:
        statistic: `p50`, `p90`, …
        true_ns: The true value.
        reported_ns: The value from the engine's rows.
        tolerance_ns: The tolerance; null if the statistic is shown but not judged.
        scatter_ns: How far chance alone may move the difference; null if that is not known.
        within: Whether the difference is within the tolerance; null if it is not judged, or if only
            chance may have taken it beyond.
    """

    statistic: str
    true_ns: int
    reported_ns: int
    tolerance_ns: int | None
    scatter_ns: int | None
    within: bool | None

    @property
    def off_ns(self) -> int:
        """Reported − true."""
        return self.reported_ns - self.true_ns


def point(
    statistic: str,
    true_ns: int,
    reported_ns: int,
    tolerance_ns: int | None,
    scatter_ns: int | None = None,
) -> AgreementPoint:
    """A statistic, judged unless there is no tolerance.

    Args:
        statistic: Its name.
        true_ns: The true value.
        reported_ns: The reported value.
        tolerance_ns: The tolerance; None for no judgement.
        scatter_ns: How far chance alone may move the difference; None if that is not known.
    """
    beyond_ns = 0 if tolerance_ns is None else abs(reported_ns - true_ns) - tolerance_ns
    is_open = tolerance_ns is None or 0 < beyond_ns <= (scatter_ns or 0)
    within = None if is_open else beyond_ns <= 0
    return AgreementPoint(statistic, true_ns, reported_ns, tolerance_ns, scatter_ns, within)


def tolerance_ns(true_ns: int) -> int:
    """1 % of the true value, or 20 µs if that is more."""
    return max(round(RELATIVE * true_ns), ABSOLUTE_NS)
