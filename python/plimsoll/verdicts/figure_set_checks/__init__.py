"""Checks on several published results: one module each, `judge(results, limits)`.

They see what no single result shows: that servers stop at the same number, that work makes no
difference, that columns were mixed up. A check whose question does not arise gives no verdict, and
`NEEDS` names what it would need. None knows another.
"""

from plimsoll.verdicts.figure_set_checks import (
    common_ceiling,
    identical_series,
    labels,
    payload_insensitive,
    repeated_numbers,
    response_lengths,
)

FIGURE_SET_CHECKS = (
    labels,
    common_ceiling,
    payload_insensitive,
    identical_series,
    repeated_numbers,
    response_lengths,
)
"""Every check on several results, in the order in which a reader wants to know."""
