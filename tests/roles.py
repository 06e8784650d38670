"""Which checks disturbances can mislead, as they declare it."""

from collections.abc import Iterable

from plimsoll.verdicts.checks import CHECKS
from plimsoll.verdicts.role import Disturbance


def misled_by(disturbance: Disturbance) -> set[str]:
    return misled_by_any((disturbance,))


def misled_by_any(disturbances: Iterable[Disturbance]) -> set[str]:
    return {check.NAME for check in CHECKS if check.ROLE.misled_by.intersection(disturbances)}
