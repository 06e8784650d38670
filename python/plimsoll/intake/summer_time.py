"""Finds the hour that a log skips or has twice because summer time begins or ends.

Dates without a zone are read as UTC. If they are those of a clock with summer time, the hour before
its change seems to be silent, or the log goes back by an hour. So rows reach the beginning of an
hour and go on an hour later, or reach the end of an hour and go on at its beginning. A pause, or
logs that were joined, may look the same. So some time zone must have such a change in this hour, by
the time zone database; without that, nothing is found.

Source: IANA time zone database.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, available_timezones

import numpy as np

from plimsoll.intake.limits import HOUR_NS, SECOND_NS
from plimsoll.intake.set_back import medians

if TYPE_CHECKING:
    from plimsoll.intake.set_back import LogOrder

    Instants = np.ndarray[Any, np.dtype[np.int64]]

LEAST_NEAR_NS, MOST_NEAR_NS = 2 * SECOND_NS, 60 * SECOND_NS
"""Rows on both sides of the change are within this of it."""

USUAL_DISTANCES = 10
"""Distances of rows that are near: of random arrivals, one in 20,000 is longer."""

MOST_TIMES = 0.99
"""Share of the requests that are shorter than the time by which rows may be out of order."""

WINDOW_ROWS = 8
"""Neighbouring rows of which a median is taken, as some are late."""


@dataclass(frozen=True)
class ClockChange:
    """An hour that a log skips or has twice.

    Attributes:
        hour_ns: Its beginning, as the dates say it, read as UTC.
        is_skipped: Whether it is skipped, because summer time begins.
        after_rows: Rows of the log before the hour is there a second time; 0 if it is skipped.
    """

    hour_ns: int
    is_skipped: bool
    after_rows: int = 0

    @property
    def hour(self) -> str:
        """The beginning of the hour as a date."""
        return f"{_date(self.hour_ns):%Y-%m-%d %H:%M}"


def change(order: LogOrder) -> ClockChange | None:
    """The hour that a log skips or has twice; None if there is none, or no way to tell.

    Args:
        order: Its rows.
    """
    begins, ends = order.begins, order.ends
    if len(begins) < WINDOW_ROWS:
        return None
    rising = np.sort(begins)
    distances = np.diff(rising)
    usual_ns = float(np.median(distances))
    late_ns = float(np.quantile(np.clip(ends - begins, 0, None), MOST_TIMES))
    found = _skipped(rising, distances, _near_ns(USUAL_DISTANCES * usual_ns))
    found = found or _repeated(order, _near_ns(2 * WINDOW_ROWS * usual_ns + late_ns))
    return found if found and _has_zone(found) else None


def _near_ns(distance_ns: float) -> float:
    return min(max(distance_ns, LEAST_NEAR_NS), MOST_NEAR_NS)


def _skipped(rising: Instants, distances: Instants, near_ns: float) -> ClockChange | None:
    """The hour without a row, if rows reach its beginning and go on at its end."""
    place = int(distances.argmax())
    before, after = int(rising[place]), int(rising[place + 1])
    hour_ns = after // HOUR_NS * HOUR_NS - HOUR_NS
    if before < hour_ns and hour_ns - before <= near_ns >= after - hour_ns - HOUR_NS:
        return ClockChange(hour_ns, is_skipped=True)
    return None


def _repeated(order: LogOrder, near_ns: float) -> ClockChange | None:
    """The hour to whose beginning the log goes back, once, from its end."""
    middles = medians(order.begins, WINDOW_ROWS)
    hours = middles[1:] // HOUR_NS * HOUR_NS
    from_end, from_begin = hours + HOUR_NS - middles[:-1], middles[1:] - hours
    places = np.flatnonzero((from_end > 0) & (from_end <= near_ns) & (from_begin <= near_ns))
    if not len(places):
        return None
    place, hour_ns = int(places[0]), int(hours[places[0]])
    if abs(int(middles[: place + 1].min()) - hour_ns) <= near_ns:
        return None  # several logs of this hour that were joined
    after_rows = (place + 1) * WINDOW_ROWS * order.stride
    return ClockChange(hour_ns, is_skipped=False, after_rows=after_rows)


def _has_zone(found: ClockChange) -> bool:
    """Whether some time zone skips or repeats this hour."""
    local = _date(found.hour_ns) + timedelta(minutes=30)
    return any(_changes(local, ZoneInfo(name), found) for name in sorted(available_timezones()))


def _changes(local: datetime, zone: ZoneInfo, found: ClockChange) -> bool:
    first, second = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if first.utcoffset() == second.utcoffset():
        return False
    exists = first.astimezone(UTC).astimezone(zone).replace(tzinfo=None) == local
    return exists != found.is_skipped


def _date(at_ns: int) -> datetime:
    return datetime.fromtimestamp(at_ns // SECOND_NS, UTC).replace(tzinfo=None)
