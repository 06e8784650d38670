"""Addresses of power meters: `power` of a campaign, `--power` of a load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast, get_args
from urllib.parse import urlsplit

from plimsoll.campaign.quantities import UnreadableQuantity

MeterKind = Literal["shelly", "tasmota", "kasa", "fritz", "exec"]

IDLE_S = 10.0
"""How long the server is measured without load, before and after one, if a meter is given."""

SETTLE_S = 2.0
"""Pause before the host is read: meters report the mean of about a second, servers tidy up."""

_HINT = (
    "write `shelly://HOST`, `tasmota://HOST`, `kasa://HOST`, `fritz://HOST/AIN` or `exec:COMMAND`"
)

_WITHOUT_CHANNELS = ("tasmota", "kasa")


@dataclass(frozen=True)
class MeterAddress:
    """Where a power meter is.

    Attributes:
        kind: What it speaks; `exec` for a command that prints watts.
        host: Its host; empty for a command.
        port: Its port; None for that of its protocol.
        channel: Which of several it is: the path of the address; empty for the first.
        command: The command; empty for others.
    """

    kind: MeterKind
    host: str = ""
    port: int | None = None
    channel: str = ""
    command: str = ""


def meter(value: object) -> str:
    """The address of a meter as it was given, once it is known to be one.

    Raises:
        UnreadableQuantity: It is none.
    """
    parsed(value)
    return str(value)


def parsed(value: object) -> MeterAddress:
    """The address of a meter.

    Args:
        value: `shelly://HOST`, `shelly://HOST:PORT/CHANNEL`, `exec:COMMAND`.

    Raises:
        UnreadableQuantity: It is none.
    """
    if not isinstance(value, str):
        raise UnreadableQuantity(f"`{value}` is not the address of a power meter", _HINT)
    kind, _, rest = value.partition(":")
    if kind == "exec":
        if not rest.strip():
            raise UnreadableQuantity("`exec:` names no command", "write `exec:COMMAND`")
        return MeterAddress("exec", command=rest.strip())
    if kind not in get_args(MeterKind):
        raise UnreadableQuantity(f"`{value}` is not the address of a power meter", _HINT)
    try:
        parts = urlsplit(value)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise UnreadableQuantity(f"`{value}`: {error}", _HINT) from error
    if "@" in parts.netloc:
        message = "the address of a power meter contains a password, and results store the address"
        raise UnreadableQuantity(message, _passwords(kind))
    if not host:
        raise UnreadableQuantity(f"`{value}` names no host", _HINT)
    channel = parts.path.strip("/")
    if parts.query or parts.fragment:
        raise UnreadableQuantity(f"`{value}` has more than a host and a channel", _HINT)
    _require_channel(kind, channel)
    return MeterAddress(cast("MeterKind", kind), host, port, channel)


def _require_channel(kind: str, channel: str) -> None:
    """Requires a plug of a FRITZ!Box, a number for a Shelly, and nothing of plugs read as a whole.

    Raises:
        UnreadableQuantity: It is something else.
    """
    if channel and kind in _WITHOUT_CHANNELS:
        message = f"`/{channel}` has no effect: `{kind}://` reads a plug as a whole"
        hint = "remove it, or read one of its channels with a command of your own: `exec:COMMAND`"
        raise UnreadableQuantity(message, hint)
    if kind == "fritz" and not channel:
        hint = "write `fritz://fritz.box/AIN`, with the AIN that is printed on the plug"
        raise UnreadableQuantity("the address of a power meter names no plug", hint)
    if kind == "shelly" and channel and not channel.isdecimal():
        message = f"`{channel}` is not a channel of a Shelly"
        raise UnreadableQuantity(message, "write its number, from 0")


def _passwords(kind: str) -> str:
    if kind in {"kasa", "fritz"}:
        return f"put it into `{kind.upper()}_USERNAME` and `{kind.upper()}_PASSWORD`"
    return "read it with a command of your own: `exec:COMMAND`"
