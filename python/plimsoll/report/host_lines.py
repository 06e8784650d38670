"""The load generators of several hosts beside each other, as lines of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.wording import ABSENT

if TYPE_CHECKING:
    from plimsoll.recording import Driver, HostDriver, NetworkLink, Recording

LINK = "link to the server"
"""The widest of them, which a terminal shows below the others."""

HEADINGS = (
    *("host", "share", "began", "clock ±", "requests", "connections", "CPU"),
    *(LINK, "ended"),
)
"""Headings of the cells; those between the first and the last are numbers."""


def lines(recording: Recording) -> tuple[tuple[str, ...], ...]:
    """The cells of each host; none where one host generated the load."""
    return tuple(map(_cells, recording.hosts))


def _cells(one: HostDriver) -> tuple[str, ...]:
    driver, clock = one.driver, wording.seconds(one.clock.bound_ns / 1e9)
    if driver is None:
        reached = wording.seconds(one.ended_ns / 1e9)
        lost = f"lost, last report {reached}"
        return one.host, wording.percent(one.share), ABSENT, clock, *(ABSENT,) * 4, lost
    return (
        one.host,
        wording.percent(one.share),
        f"+{wording.seconds(one.zero_ns / 1e9)}",
        clock,
        ABSENT if (requests := _requests(driver)) is None else wording.count(requests),
        f"{_opened(driver)} of {driver.connections_requested}",
        ABSENT if driver.cpu_s is None else wording.seconds(driver.cpu_s),
        _link(one.link),
        driver.ended_by.replace("_", " "),
    )


def _requests(driver: Driver) -> float | None:
    """Requests by its own counters, or of its measurement window as a tool printed them."""
    if driver.outcomes:
        return sum(driver.outcomes.values())
    return driver.figures.ended if driver.sent is None and driver.figures else driver.sent


def _opened(driver: Driver) -> str:
    return ABSENT if driver.opened is None else wording.count(driver.opened)


def _link(link: NetworkLink | None) -> str:
    if link is None:
        return ABSENT
    speed = None if link.bits_per_s is None else wording.bits_per_second(link.bits_per_s)
    mtu = None if link.mtu_bytes is None else f"MTU {wording.count(link.mtu_bytes)}"
    hops = None if link.hops is None else wording.several(link.hops, "hop")
    rtt = None if link.rtt_s is None else f"RTT {wording.seconds(link.rtt_s)}"
    known = (link.interface, speed, mtu, hops, rtt, " ".join(link.offloads) or None)
    return ", ".join(part for part in known if part is not None)
