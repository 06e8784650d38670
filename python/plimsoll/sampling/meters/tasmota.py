"""Plugs with the firmware Tasmota.

Source:
    Tasmota documentation, *Commands*: `Status 8` over `/cm?cmnd=`; `StatusSNS.ENERGY.Power`, a list
    where there are several phases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from plimsoll.errors import MeterFailed
from plimsoll.sampling.meters import asking

if TYPE_CHECKING:
    from plimsoll.campaign.power import MeterAddress

PATH = "/cm?cmnd=Status%208"


class Tasmota:
    """A plug with Tasmota, asked over HTTP."""

    interval_s = asking.INTERVAL_S

    def __init__(self, address: MeterAddress) -> None:
        """Nothing is asked yet."""
        self._address = address

    def watts(self) -> float:
        """Its power; the sum of its phases."""
        answer = asking.document(self._address, PATH)
        if asking.at(answer, "WARNING") is not None:
            hint = "remove its password, or read it with a command of your own: `exec:COMMAND`"
            raise MeterFailed("the power meter requires a password", hint)
        power = asking.at(answer, "StatusSNS", "ENERGY", "Power")
        if isinstance(power, list):
            return sum(asking.number(one) for one in cast("list[object]", power))
        return asking.number(power)

    def close(self) -> None:
        """Each question has a connection of its own."""
