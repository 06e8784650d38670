"""Shelly plugs and meters, of the first generation and of later ones.

Source:
    Shelly API documentation: `/shelly`; first generation `/status` (`meters`, `emeters`); later
    ones `/rpc/Shelly.GetStatus` (`switch:0`, `pm1:0`: `apower`; `em1:0`: `act_power`; `em:0`, the
    three phases of one meter: `total_act_power`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.sampling.meters import asking

if TYPE_CHECKING:
    from plimsoll.campaign.power import MeterAddress

COMPONENTS = (
    ("switch", "apower"),
    ("pm1", "apower"),
    ("em1", "act_power"),
    ("em", "total_act_power"),
    ("cover", "apower"),
)
"""Components of later generations that may have a meter, and the name of its power."""


class Shelly:
    """A Shelly, asked over HTTP."""

    interval_s = asking.INTERVAL_S

    def __init__(self, address: MeterAddress) -> None:
        """Nothing is asked yet."""
        self._address = address
        self._channel = int(address.channel or 0)
        self._is_later: bool | None = None

    def watts(self) -> float:
        """The power of its channel."""
        if self._is_later is None:
            generation = asking.at(asking.document(self._address, "/shelly"), "gen")
            self._is_later = generation is not None
        path, read = (
            ("/rpc/Shelly.GetStatus", self._of_later)
            if self._is_later
            else ("/status", self._of_first)
        )
        return asking.number(read(asking.document(self._address, path)), self._none)

    def close(self) -> None:
        """Each question has a connection of its own."""

    def _of_first(self, status: object) -> object:
        for meters in ("meters", "emeters"):
            found = asking.at(status, meters, self._channel)
            if found is not None and asking.at(found, "is_valid") is not False:
                return asking.at(found, "power")
        return None

    def _of_later(self, status: object) -> object:
        found = (asking.at(status, f"{one}:{self._channel}", name) for one, name in COMPONENTS)
        return next((power for power in found if power is not None), None)

    @property
    def _none(self) -> str:
        return f"no power on channel {self._channel}"
