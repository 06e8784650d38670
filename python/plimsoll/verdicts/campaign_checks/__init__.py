"""Checks on a campaign: one module each, `judge(repetitions, limits)` gives its verdicts.

They see what no single trial shows: that different servers stop at the same number, that work makes
no difference, that the machine drifted. None knows another. A check whose question does not arise
in a campaign gives no verdict. One that concerns the campaign gives one verdict on it; one that
concerns a block or a server names it, and takes its trials along when it is void.
"""

from plimsoll.verdicts.campaign_checks import (
    common_ceiling,
    drivers_agree,
    equally_disturbed,
    identical_series,
    one_program,
    order_neutral,
    payload_insensitive,
    reference_drift,
    repetitions_agree,
    scalability_law,
)

CAMPAIGN_CHECKS = (
    one_program,
    reference_drift,
    common_ceiling,
    payload_insensitive,
    identical_series,
    scalability_law,
    order_neutral,
    equally_disturbed,
    repetitions_agree,
    drivers_agree,
)
"""Every check on a campaign; those that may void something first, since the others skip that."""
