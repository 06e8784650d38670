"""Active users of a load generator, by its own count: each waits for its response."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.aggregate.usage import Usage
    from plimsoll.recording import Recording


def most_at_once(recording: Recording, usage: Usage) -> float | None:
    """The most users that can have been active at once; None if the load generator counts none.

    The maxima of several hosts are added, whenever they were. An import has them as its threads
    where its log has them apart from its requests.
    """
    maxima = [float(series.values.max()) for series in usage.of("driver", "users_active")]
    if maxima:
        return sum(maxima)
    if recording.origin != "import" or recording.driver is None:
        return None
    return float(recording.driver.threads) or None
