"""`GET /up/ID`: the server asks another one, which takes 5 ms, and computes with its response."""

from __future__ import annotations

import zlib
from functools import partial
from typing import TYPE_CHECKING

from plimsoll.campaign.bodies import equal_as_json
from plimsoll.campaign.fixtures import Fixtures
from plimsoll.campaign.requests import Endpoint, Exchange, Expected, Request, of_type

if TYPE_CHECKING:
    from random import Random

SERVICE_S = 0.005
"""How long the upstream takes for a response, in seconds."""

DRAWN = 256
"""The most different ids under load: each takes 5 ms when the contract is checked."""

_LARGEST = 999_999_999
_UNDER_LOAD = range(100_000_000, _LARGEST + 1)
"""Ids under load, which have nine digits each."""


def value(seed: int, upstream_id: int) -> int:
    """What the upstream has for an id: a number below 2^32 that only its seed tells."""
    return zlib.crc32(f"{seed}:{upstream_id}".encode())


def _exchange(seed: int, upstream_id: int) -> Exchange:
    doubled = {"id": upstream_id, "doubled": 2 * value(seed, upstream_id)}
    return Exchange(
        Request("upstream", "GET", f"/up/{upstream_id}"),
        Expected(check=of_type("application/json"), check_body=equal_as_json(doubled)),
    )


def _probes(seed: int, random: Random) -> tuple[Exchange, ...]:
    drawn = (random.randint(1, _LARGEST) for _ in range(3))
    return tuple(_exchange(seed, one) for one in (1, _LARGEST, *drawn))


def _drawn(seed: int, random: Random, count: int) -> tuple[Exchange, ...]:
    return tuple(_exchange(seed, one) for one in random.sample(_UNDER_LOAD, min(count, DRAWN)))


def _with(fixtures: Fixtures) -> Endpoint:
    return Endpoint(
        name="upstream",
        summary="`GET /up/ID` asks `$UPSTREAM_URL/value/ID`, which takes 5 ms; 200, "
        '`application/json`, `{"id": …, "doubled": …}`, twice the value; 502 if the upstream '
        "does not respond with 200",
        exchanges=(_exchange(fixtures.seed, 123_456_789),),
        probes=partial(_probes, fixtures.seed),
        drawn=partial(_drawn, fixtures.seed),
        upstream_s=SERVICE_S,
        with_fixtures=_with,
    )


ENDPOINTS = (_with(Fixtures.drawn(0)),)
"""`upstream`."""
