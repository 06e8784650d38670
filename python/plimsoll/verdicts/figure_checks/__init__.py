"""Checks on published figures: one module each, `judge(figures, limits)` judges one result.

Of published figures nothing can be read but what was printed, so a check whose figures are missing
gives no verdict, and `NEEDS` names what would have to be published. None knows another.
"""

from plimsoll.verdicts.figure_checks import (
    cpu_bounds,
    equal_lengths,
    failures_counted,
    figures_consistent,
    hidden_stalls,
    link_headroom,
    littles_law,
    percentile_order,
    quantile_bounds,
    sample_size,
    timeout_floor,
)

FIGURE_CHECKS = (
    figures_consistent,
    failures_counted,
    equal_lengths,
    percentile_order,
    littles_law,
    quantile_bounds,
    hidden_stalls,
    timeout_floor,
    link_headroom,
    cpu_bounds,
    sample_size,
)
"""Every check on one result, in the order in which a reader wants to know."""
