"""Power meters at the wall, one module for each protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from plimsoll.campaign import power
from plimsoll.errors import MeterFailed

if TYPE_CHECKING:
    from plimsoll.campaign.power import MeterAddress


class Meter(Protocol):
    """A meter that can be asked."""

    interval_s: float
    """From one question to the next; 0 for a meter that answers when it has a new number."""

    def watts(self) -> float:
        """The power now, in watts.

        Raises:
            MeterFailed: It did not respond in time, or not with a power.
        """
        ...

    def close(self) -> None:
        """Ends what was opened; a question that waits in another thread fails."""
        ...


def opened(address: str) -> Meter:
    """A meter, not asked yet.

    Args:
        address: Its address, as `campaign.power` describes it.

    Raises:
        UnreadableQuantity: It is no such address.
        MeterFailed: What reads such a meter is not installed.
    """
    return _opened(power.parsed(address))


def require(address: str) -> None:
    """Asks a meter once, so that one that is not there is known before anything is measured.

    Raises:
        MeterFailed: It does not respond with a power.
    """
    meter = opened(address)
    try:
        meter.watts()
    finally:
        meter.close()


def _opened(address: MeterAddress) -> Meter:
    """Each kind is imported where it is used; the library of one is heavy, and an extra."""
    from plimsoll.sampling.meters import command, fritz, shelly, tasmota  # noqa: PLC0415

    match address.kind:
        case "shelly":
            return shelly.Shelly(address)
        case "tasmota":
            return tasmota.Tasmota(address)
        case "kasa":
            return _kasa(address)
        case "fritz":
            return fritz.Fritz(address)
        case "exec":
            return command.Command(address.command)


def _kasa(address: MeterAddress) -> Meter:
    try:
        from plimsoll.sampling.meters import kasa  # noqa: PLC0415
    except ImportError as error:
        hint = "`pip install 'plimsoll-bench[power]'`"
        raise MeterFailed("`kasa://` needs the library python-kasa", hint) from error
    return kasa.Kasa(address)
