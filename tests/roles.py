"""Which checks a disturbance can mislead, as they declare it."""

from plimsoll.verdicts.checks import CHECKS
from plimsoll.verdicts.role import Disturbance


def misled_by(disturbance: Disturbance) -> set[str]:
    return {check.NAME for check in CHECKS if disturbance in check.ROLE.misled_by}
