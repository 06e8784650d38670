"""Checks on a campaign: one module each, `judge(repetitions, limits)` gives its verdicts.

They see what no single trial shows: that different servers stop at the same number, that work makes
no difference, that the machine drifted. None knows another. A check whose question does not arise
in a campaign gives no verdict. One that concerns the campaign gives one verdict on it; one that
concerns a block names the block, and a void block takes its trials along.
"""

from plimsoll.verdicts.campaign_checks import (
    common_ceiling,
    drivers_agree,
    identical_series,
    order_neutral,
    payload_insensitive,
    reference_drift,
    repetitions_agree,
    scalability_law,
)

CAMPAIGN_CHECKS = (
    reference_drift,
    common_ceiling,
    payload_insensitive,
    identical_series,
    scalability_law,
    order_neutral,
    repetitions_agree,
    drivers_agree,
)
"""Every check on a campaign; first the one that may void a block, for the others leave that out."""
