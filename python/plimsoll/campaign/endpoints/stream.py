"""`GET /stream/N`: server-sent events, each of which is sent when it is due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.campaign.requests import Endpoint, Events, Exchange, Expected, Request

if TYPE_CHECKING:
    from random import Random

    from plimsoll.campaign.requests import HttpResponse

EVERY_S = 0.01
"""Time from one event to the next, in seconds."""

COUNT = 10
"""Events of a stream under load."""

_MOST = 100
_MANY = range(20, 41)
_UNDER_LOAD = range(8, 13)


def _exchange(count: int) -> Exchange:
    events = Events(tuple(map(str, range(count))), every_s=EVERY_S)
    expected = Expected(events=events, check=_uncached)
    return Exchange(Request("stream", "GET", f"/stream/{count}"), expected)


def _uncached(response: HttpResponse) -> str | None:
    stated = response.header("cache-control")
    names = {name.strip().lower() for name in (stated or "").split(",")}
    return None if "no-cache" in names else f"`cache-control` is `{stated}`, expected `no-cache`"


def _probes(random: Random) -> tuple[Exchange, ...]:
    """One event, a drawn number of them, and as many as there may be."""
    return tuple(_exchange(count) for count in (random.choice(_MANY), 1, _MOST))


def _drawn(_: Random, count: int) -> tuple[Exchange, ...]:
    """Each length as often as every other, so that every seed needs equal work."""
    return tuple(_exchange(length) for length in _UNDER_LOAD[:count])


ENDPOINTS = (
    Endpoint(
        name="stream",
        summary="`GET /stream/N` sends N events, the i-th of them (from 0) i × 10 ms after the "
        "head; 200, `text/event-stream`, `Cache-Control: no-cache`, with `data: i`",
        exchanges=(_exchange(COUNT),),
        probes=_probes,
        drawn=_drawn,
        not_proven="that connections are cheap: a stream waits most of its time",
    ),
)
"""`stream`."""
