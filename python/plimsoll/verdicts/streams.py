"""Streams of HTTP/2 that a server did not allow, though the load requested them.

A load of HTTP/2 requests so many streams on each connection. A server says in its settings how many
it allows, and the load generator begins no more.
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
        requested: How many they could carry with the requested streams.
        fewest: The fewest streams that the settings allowed on a connection; None if unknown.
    """

    offered: float
    requested: float
    fewest: int | None

    @property
    def ratio(self) -> float:
        """Share of the requested ones."""
        return self.offered / self.requested

    @property
    def allowed(self) -> str:
        """What the server allowed: `the server allowed 2 streams on a connection`."""
        if self.fewest is None:
            return "the server allowed fewer streams than requested"
        return f"the server allowed {wording.several(self.fewest, 'stream')} on a connection"


def places(tables: Tables) -> Places | None:
    """Requests that could be in flight; None without several streams, or if it was not counted.

    Args:
        tables: The tables of the trial.
    """
    load, driver = tables.recording.load, tables.recording.driver
    if load.protocol != "http2" or load.in_flight_each < 2:  # noqa: PLR2004
        return None
    is_open = tables.usage.mean("driver", "connections_open", tables.holds)
    offered = tables.usage.mean("driver", "places_open", tables.holds)
    if not is_open or offered is None:
        return None
    fewest = None if driver is None else driver.fewest_streams
    return Places(offered, is_open * load.in_flight_each, fewest)


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
