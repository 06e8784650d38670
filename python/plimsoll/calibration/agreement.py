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
        within: Whether the difference is within the tolerance; null if it is not judged.
    """

    statistic: str
    true_ns: int
    reported_ns: int
    tolerance_ns: int | None
    within: bool | None

    @property
    def off_ns(self) -> int:
        """Reported − true."""
        return self.reported_ns - self.true_ns


def point(
    statistic: str, true_ns: int, reported_ns: int, tolerance_ns: int | None
) -> AgreementPoint:
    """A statistic, judged unless there is no tolerance.

    Args:
        statistic: Its name.
        true_ns: The true value.
        reported_ns: The reported value.
        tolerance_ns: The tolerance; None for no judgement.
    """
    within = None if tolerance_ns is None else abs(reported_ns - true_ns) <= tolerance_ns
    return AgreementPoint(statistic, true_ns, reported_ns, tolerance_ns, within)


def tolerance_ns(true_ns: int) -> int:
    """1 % of the true value, or 20 µs if that is more."""
    return max(round(RELATIVE * true_ns), ABSOLUTE_NS)
