"""Checks: one module each, `judge(tables, limits)` gives the verdict on one trial.

No check knows another. What a check cannot read it calls doubtful and says what is missing.
"""

from plimsoll.verdicts.checks import (
    answers_right,
    backlog,
    connections_as_asked,
    conservation,
    driver_headroom,
    failures_explained,
    littles_law,
    ran_to_its_end,
    steady,
    undisturbed,
)

CHECKS = (
    ran_to_its_end,
    conservation,
    answers_right,
    failures_explained,
    connections_as_asked,
    littles_law,
    backlog,
    steady,
    undisturbed,
    driver_headroom,
)
"""Every check, in the order in which a reader wants to know."""
