"""Streams of HTTP/2 that a server did not allow, though the load requested them.

A load of HTTP/2 requests so many streams on each connection. A server says in its settings how many
it allows, and the load generator begins no more. Where it allows none, a connection is open and can
carry no request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import wording

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables

ALMOST_ALL = 0.99
"""Share of the requested places from which on none counts as missing: streams come with the
settings, a round trip after the connection."""

SHORT_RATIO = 0.8
"""Share of the places in use, or waited for, from which on their number limits a load that does not
fill them by itself. With fewer, hardly any request waits for a place."""

SETTING = "SETTINGS_MAX_CONCURRENT_STREAMS"


@dataclass(frozen=True)
class Places:
    """Requests that could be in flight.

    Attributes:
        offered: How many the open connections could carry at one time, on average over the holds.
        is_open: Open connections, on average over the holds.
        streams: How many each of them could carry with the requested streams.
        fewest: The fewest streams that the settings allowed on a connection; None where they never
            said.
    """

    offered: float
    is_open: float
    streams: int
    fewest: int | None

    @property
    def requested(self) -> float:
        """How many the open connections could carry with the requested streams."""
        return self.is_open * self.streams

    @property
    def ratio(self) -> float:
        """Share of the requested ones; 1 where the settings allowed them all.

        A connection that is about to close takes no further requests either, whatever they allow.
        """
        if self.fewest is None or self.fewest >= self.streams:
            return 1.0
        return self.offered / self.requested

    @property
    def usable_ratio(self) -> float:
        """Share of the open connections that could carry a request, at most."""
        return min(self.offered / self.is_open, 1.0) if self.fewest == 0 else 1.0

    @property
    def allowed(self) -> str:
        """What the server allowed: `the server allowed 2 streams on a connection`."""
        return f"the server allowed {wording.several(self.fewest or 0, 'stream')} on a connection"


def places(tables: Tables) -> Places | None:
    """Requests that could be in flight; None but for HTTP/2, or if they were not counted.

    Args:
        tables: The tables of the trial.
    """
    load, driver = tables.recording.load, tables.recording.driver
    if load.protocol != "http2" or driver is None:
        return None
    is_open = tables.usage.mean("driver", "connections_open", tables.holds)
    offered = tables.usage.mean("driver", "places_open", tables.holds)
    if not is_open or offered is None:
        return None
    return Places(offered, is_open, load.in_flight_each, driver.fewest_streams)


def missing(tables: Tables) -> Places | None:
    """The same where the server allowed fewer streams than the load needed; None otherwise.

    Args:
        tables: The tables of the trial.
    """
    found = places(tables)
    if found is None or found.ratio >= ALMOST_ALL or not are_needed(tables, found):
        return None
    return found


def are_needed(tables: Tables, found: Places) -> bool:
    """Whether the load needed all places, as one that always fills them does.

    Args:
        tables: The tables of the trial.
        found: Its places.
    """
    if tables.recording.load.is_saturating:
        return True
    needed = max((one.mean + one.waiting for one in tables.in_flight(tables.holds)), default=0.0)
    return needed >= SHORT_RATIO * found.offered
