"""Bytes of requests that were sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.recording import Recording


def held_bytes(recording: Recording, sent: Iterable[tuple[int, int, int]]) -> int:
    """Bytes of the requests of the holds, as far as they were sent.

    The bytes of a request are known before it is sent. Where the driver counted fewer that it sent
    in the whole load, as of requests whose response came first, these are fewer in proportion.

    Args:
        recording: The recording, which says how long requests are.
        sent: Kind of request, how many began to be sent in the holds, and how many in all.
    """
    held = whole = 0
    for request, in_holds, in_all in sent:
        held += recording.request_bytes[request] * in_holds
        whole += recording.request_bytes[request] * in_all
    given = None if recording.driver is None else recording.driver.sent_bytes
    return held if given is None or given >= whole else round(held * given / whole)
