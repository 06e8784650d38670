"""Plugs of TP-Link (Kasa, Tapo) by the library python-kasa, the extra `power`.

It knows the protocol of each firmware: XOR on port 9999, and those that want the account's name and
password (`KASA_USERNAME`, `KASA_PASSWORD`, as its own command line has them).
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from kasa import Credentials, Device, DeviceConfig, Discover, KasaException, Module

from plimsoll.errors import MeterFailed
from plimsoll.sampling.meters import asking

if TYPE_CHECKING:
    from plimsoll.campaign.power import MeterAddress

CONNECT_S = 10.0
"""The longest that finding out its protocol may take."""


class Kasa:
    """A plug of TP-Link, over one connection."""

    interval_s = asking.INTERVAL_S

    def __init__(self, address: MeterAddress) -> None:
        """Nothing is asked yet."""
        self._address = address
        self._device: Device | None = None
        self._runner = asyncio.Runner()
        self._lock = threading.Lock()

    def watts(self) -> float:
        """The power of the plug."""
        try:
            with self._lock:
                return self._runner.run(self._watts())
        except MeterFailed:
            raise
        except Exception as error:  # the library fails in many ways on what it did not expect
            self._device = None
            message = f"the power meter did not respond as a Kasa plug ({type(error).__name__})"
            hint = "check the address; newer plugs need `KASA_USERNAME` and `KASA_PASSWORD`"
            raise MeterFailed(message, hint) from error

    def close(self) -> None:
        """Ends the connection."""
        if not self._lock.acquire(timeout=asking.TIMEOUT_S):
            return  # a question waits in another thread
        try:
            if self._device is not None:
                self._runner.run(self._device.disconnect())
            self._device = None
            self._runner.close()
        finally:
            self._lock.release()

    async def _watts(self) -> float:
        if self._device is None:
            async with asyncio.timeout(CONNECT_S):
                self._device = await self._connected()
        async with asyncio.timeout(asking.TIMEOUT_S):
            await self._device.update()
        energy = self._device.modules.get(Module.Energy)
        return asking.number(None if energy is None else energy.current_consumption)

    async def _connected(self) -> Device:
        """A plug of the old protocol, else of whichever it answers."""
        host, port, timeout_s = self._address.host, self._address.port, int(asking.TIMEOUT_S)
        with suppress(KasaException):
            config = DeviceConfig(host, timeout=timeout_s, port_override=port)
            return await Device.connect(config=config)
        name, password = os.environ.get("KASA_USERNAME"), os.environ.get("KASA_PASSWORD")
        credentials = Credentials(name, password) if name and password else None
        found = await Discover.try_connect_all(
            host, port=port, timeout=timeout_s, credentials=credentials
        )
        if found is None:
            raise KasaException("no protocol fits")
        return found
