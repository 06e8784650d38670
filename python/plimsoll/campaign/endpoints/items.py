"""`GET /items/N?m=K`: the first records of a file, each with a computed total, as JSON."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from plimsoll.campaign.fixtures import ITEMS, Fixtures
from plimsoll.campaign.listed_items import MOST_FACTOR, ItemList, drawn, exchange
from plimsoll.campaign.requests import CACHE_NOT_EXCLUDED, Endpoint, Exchange, Expected, Request

if TYPE_CHECKING:
    from random import Random

_UNDER_LOAD = ItemList(25, 7)
"""The list requested under load if values are fixed."""

_PROBES = 3


def _exchange(fixtures: Fixtures, wanted: ItemList) -> Exchange:
    return exchange("items", fixtures, wanted)


def _probes(fixtures: Fixtures, random: Random) -> tuple[Exchange, ...]:
    """The shortest list and the longest, some between them, and two that are not there."""
    wanted = (ItemList(1, MOST_FACTOR), ItemList(ITEMS, 1), *drawn(random, _PROBES))
    absent = (
        Exchange(
            Request("a number of items beyond the range", "GET", f"/items/{count}?m=1"),
            Expected(status=(404, 404)),
        )
        for count in (0, ITEMS + 1)
    )
    return (*(_exchange(fixtures, one) for one in wanted), *absent)


def _drawn(fixtures: Fixtures, random: Random, count: int) -> tuple[Exchange, ...]:
    return tuple(_exchange(fixtures, one) for one in drawn(random, count))


def _with(fixtures: Fixtures) -> Endpoint:
    return Endpoint(
        name="items",
        summary=f"`GET /items/N?m=K` encodes the first N records of `$FILES/items.json`, each with "
        f"`total` = price × quantity × K; 200, `application/json`, with N from 1 to {ITEMS} and K "
        f"from 1 to {MOST_FACTOR}; 404 for any other N",
        exchanges=(_exchange(fixtures, _UNDER_LOAD),),
        probes=partial(_probes, fixtures),
        drawn=partial(_drawn, fixtures),
        not_proven=CACHE_NOT_EXCLUDED,
        with_fixtures=_with,
    )


ENDPOINTS = (_with(Fixtures.drawn(0)),)
"""`items`."""
