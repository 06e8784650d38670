"""Fixed width: intervals of tables that stop as soon as their intervals are narrow enough.

Who adds repetitions until an interval is narrow stops most easily where the scatter came out too
small, and then the interval is too narrow. Whether a table stops depends on widths alone, never on
which entry is ahead, so nothing else is biased: estimates are not, and for many repetitions
intervals hold as often as ordinary ones (Chow and Robbins). For few they hold in 90 to 95 of 100
tables, however narrow they were to be. So they have a confidence of their own, by simulation the
least with which 95 of 100 hold for any width.

The α-spending of `sequential` would hold for any rule, also one that stops when an entry is ahead.
Here it takes half as many blocks again, for intervals that hold in 99 of 100 tables (decision 58).

Source:
    Y. S. Chow and H. Robbins, On the asymptotic theory of fixed-width sequential confidence
    intervals for the mean, Annals of Mathematical Statistics 36, 1965; C. Stein, A two-sample test
    for a linear hypothesis whose power is independent of the variance, ibid. 16, 1945. Coverage,
    for each confidence and width: `benches/campaign_coverage.py`.
"""

from __future__ import annotations

_OF_PAIRS = 0.98
_OF_MORE = 0.96


def confidence(entries: int) -> float:
    """Confidence with which intervals are worked out so that 95 % hold after an early stop.

    Two entries have few degrees of freedom: only the scatter of their differences is known.

    Args:
        entries: Entries that are compared; 1 for an interval of a number.
    """
    return _OF_PAIRS if entries <= 2 else _OF_MORE  # noqa: PLR2004
