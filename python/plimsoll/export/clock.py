"""The time zero of a trial by the wall clock, in milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.recording import Recording

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def zero_utc_ms(recording: Recording) -> int:
    """Milliseconds since 1970 at the zero of a trial, rounded down; 0 if unknown.

    Args:
        recording: The recording.
    """
    if not recording.zero_utc:
        return 0
    zero = datetime.fromisoformat(recording.zero_utc)
    aware = zero if zero.tzinfo else zero.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(milliseconds=1)


def written(utc_ms: int) -> str:
    """A timestamp in ISO 8601.

    Args:
        utc_ms: Milliseconds since 1970.
    """
    return (_EPOCH + timedelta(milliseconds=utc_ms)).isoformat(timespec="milliseconds")
