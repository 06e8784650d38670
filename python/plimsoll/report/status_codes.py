"""Status codes of a load in words: how often each came, and which were expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from plimsoll import wording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.counted import StatusTotal
    from plimsoll.recording import Recording

REDIRECTS = frozenset({301, 302, 303, 307, 308})
"""Status codes whose `Location` a client goes to; `--follow` follows them.

300 leaves the choice to the user, and 304 says that a kept response is still valid.

Source: RFC 9110, section 15.4.
"""


class WithStatuses(Protocol):
    """The figures of a load of which this module speaks."""

    @property
    def recording(self) -> Recording:
        """What happened."""
        ...

    @property
    def statuses(self) -> Sequence[StatusTotal]:
        """Complete responses by status code."""
        ...


def told(found: WithStatuses) -> str:
    """Responses of the measurement window by status code: `401 × 38,309 (expected 200 to 399)`.

    Args:
        found: Its figures.
    """
    held = sorted((one for one in found.statuses if one.held), key=lambda one: -one.held)
    reported = [
        f"{one.status} × {wording.count(one.held)}" for one in held if one.status is not None
    ]
    notes: list[str] = []
    if any(one.held_wrong for one in held):
        notes.append(_wrong(found.recording, [one.status for one in held if one.held_wrong]))
    if not found.recording.load.follow and any(one.status in REDIRECTS for one in held):
        notes.append("redirects are not followed")
    noted = f" ({'; '.join(notes)})" if notes else ""
    return f"{wording.listed(reported)}{noted}" if reported else ""


def _wrong(recording: Recording, statuses: Sequence[int | None]) -> str:
    """The status codes that were expected, `expected 200 to 399`; else those that were wrong."""
    ranges = dict.fromkeys(one.status for one in recording.expected)
    reported = (f"{low}" if low == high else f"{low} to {high}" for low, high in ranges)
    if ranges:
        return f"expected {' or '.join(reported)}"
    return f"{wording.listed([str(one) for one in statuses if one is not None])} counted as wrong"
