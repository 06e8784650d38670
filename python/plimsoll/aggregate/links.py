"""What the links between load generators and server carried, at both ends.

Of several hosts each has a link of its own, and so has the server: any of them may be the one that
is full, although the others have room.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

from plimsoll.recording import HOST
from plimsoll.statistics import laws

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import Recording

LOOPBACK = "lo"
IMPOSSIBLE_RATIO = 1.1
"""Bits carried / stated speed, from which on the speed is wrong. Long packets have up to 6 % less
overhead than `OVERHEAD`; the rest is the error of readings."""
OVERHEAD = laws.ON_THE_WIRE / laws.PAYLOAD


@dataclass(frozen=True)
class LinkLoad:
    """What one link carried in the measurement windows.

    Attributes:
        host: The host at this end; empty where there is only one.
        carried_bits_per_s: Bits per second in the busier direction.
        speed_bits_per_s: Speed of the link; None when unknown.
        is_virtual: Whether its interface is no device and lies over none.
    """

    host: str
    carried_bits_per_s: float
    speed_bits_per_s: float | None
    is_virtual: bool = False

    @property
    def used_ratio(self) -> float | None:
        """Share of its speed that it carried; None when unknown, or when the speed is wrong."""
        if not self.speed_bits_per_s or self.is_speed_wrong:
            return None
        return self.carried_bits_per_s / self.speed_bits_per_s

    @property
    def is_speed_wrong(self) -> bool:
        """Whether it carried more than it could at the stated speed."""
        return self.carried_bits_per_s > IMPOSSIBLE_RATIO * (self.speed_bits_per_s or math.inf)


def of_trial(tables: Tables) -> tuple[LinkLoad, ...]:
    """Every link of a trial; none where load generators and server are on one host."""
    recording = tables.recording
    if not recording.hosts:
        return () if is_here(recording) else (_only(tables),)
    drivers = [
        LinkLoad(one.host, carried, one.link.bits_per_s, one.link.is_virtual)
        for one in recording.hosts
        if one.link is not None
        and one.link.interface != LOOPBACK
        and (carried := _by_kernel(tables, one.host)) is not None
    ]
    return (*drivers, *_of_server(tables))


def is_here(recording: Recording) -> bool:
    """Whether the server is on the load generator's host."""
    server = recording.server
    if server is None or server.link is not None:
        return server is not None and server.link == LOOPBACK
    host = server.address.rpartition(":")[0].strip("[]")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_server_read(recording: Recording) -> bool:
    """Whether what was read of a host, as the counters of its kernel, is of the server's."""
    return bool(recording.hosts) or is_here(recording)


def _only(tables: Tables) -> LinkLoad:
    """The link of a load generator and a server that is elsewhere."""
    server = tables.recording.server
    carried = max(_by_rows(tables), _by_kernel(tables, HOST) or 0.0)
    if server is None:
        return LinkLoad("", carried, None)
    return LinkLoad("", carried, server.link_bits_per_s, server.link_is_virtual)


def _of_server(tables: Tables) -> tuple[LinkLoad, ...]:
    """The server's end, where Plimsoll started it and its machine was read."""
    server = tables.recording.server
    if server is None or not server.command or server.link in (None, LOOPBACK):
        return ()
    carried = max(_by_rows(tables), _by_kernel(tables, server.host) or 0.0)
    return (LinkLoad(server.host, carried, server.link_bits_per_s, server.link_is_virtual),)


def _by_rows(tables: Tables) -> float:
    """Bits per second in the busier direction by the rows, with the overhead of packets."""
    held_s = tables.summary.duration_s
    sent = (tables.summary.sent_bytes or 0) / held_s if held_s else 0.0
    return 8 * OVERHEAD * max(sent, tables.summary.received_bytes_per_s or 0.0)


def _by_kernel(tables: Tables, host: str) -> float | None:
    """Bits per second in the busier direction by the interfaces of a host."""
    rates = [
        tables.usage.machine_rate(host, f"link_{direction}_bytes", tables.holds)
        for direction in ("received", "sent")
    ]
    known = [rate for rate in rates if rate is not None]
    return 8 * max(known) if known else None
