"""`GET /items/N?m=K` with `Accept-Encoding: gzip`: JSON that is compressed for each response."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from plimsoll.campaign.fixtures import ITEMS, Fixtures
from plimsoll.campaign.listed_items import ItemList, drawn, exchange
from plimsoll.campaign.requests import CACHE_NOT_EXCLUDED, Endpoint, Exchange

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from plimsoll.campaign.requests import HttpResponse

SHORTEST = 20
"""The shortest list: above the sizes from which middleware compresses by default, 1 to 2 KB."""

_LONGEST_RATIO = 0.5
"""A compressed list has at most this share of the bytes that it has without white space.

Level 1 of zlib leaves less than a third of compact lists and 0.41 of indented ones, level 9 about a
quarter. Without the search for repetitions, 0.85 would be left.
"""

_GZIP = (("Accept-Encoding", "gzip"),)
_REFUSED = (("Accept-Encoding", "gzip;q=0"),)
_PROBES = 3
_NOT_CODED = "the body is not compressed: there is no `content-encoding`"


def _coded(fixtures: Fixtures, wanted: ItemList) -> Callable[[HttpResponse], str | None]:
    """A check of the coding of a response whose body is decoded already."""

    def check(response: HttpResponse) -> str | None:
        if response.codings != ("gzip",):
            stated = response.header("content-encoding")
            return f"`content-encoding` is `{stated}`, expected `gzip`" if stated else _NOT_CODED
        length, most = response.coded_bytes, _LONGEST_RATIO * _compact_bytes(fixtures, wanted)
        if length is not None and length > most:
            return (
                f"the compressed body has {length} bytes, expected at most {int(most)}: half as "
                "many as the list has without white space"
            )
        return None

    return check


def _compact_bytes(fixtures: Fixtures, wanted: ItemList) -> int:
    """Length of a list without white space, whatever the server puts between its members."""
    text = json.dumps(wanted.of(fixtures), ensure_ascii=False, separators=(",", ":"))
    return len(text.encode())


def _plain(response: HttpResponse) -> str | None:
    if not response.codings:
        return None
    stated = ", ".join(response.codings)
    return f"`content-encoding` is `{stated}`, which the request does not accept"


def _exchange(fixtures: Fixtures, wanted: ItemList) -> Exchange:
    return exchange("compress", fixtures, wanted, _GZIP, ("gzip",), _coded(fixtures, wanted))


def _probes(fixtures: Fixtures, random: Random) -> tuple[Exchange, ...]:
    """Lists for clients that accept gzip, then some for others."""
    coded = tuple(_exchange(fixtures, one) for one in drawn(random, _PROBES, SHORTEST))
    without, refusing = drawn(random, 2, SHORTEST)
    refused = exchange("items without gzip", fixtures, refusing, _REFUSED, (), _plain)
    return (
        *coded,
        exchange("items", fixtures, without, (), (), _plain),
        replace(refused, expected=replace(refused.expected, excepted_by="refused-coding")),
    )


def _drawn(fixtures: Fixtures, random: Random, count: int) -> tuple[Exchange, ...]:
    return tuple(_exchange(fixtures, one) for one in drawn(random, count, SHORTEST))


def _with(fixtures: Fixtures) -> Endpoint:
    return Endpoint(
        name="compress",
        summary=f"`GET /items/N?m=K` with `Accept-Encoding: gzip` and N from {SHORTEST} to {ITEMS} "
        "compresses each response; 200, `Content-Encoding: gzip`, `Vary: Accept-Encoding`; plain "
        "for requests that do not accept gzip",
        exchanges=(_exchange(fixtures, ItemList(25, 7)),),
        probes=partial(_probes, fixtures),
        drawn=partial(_drawn, fixtures),
        not_proven=CACHE_NOT_EXCLUDED,
        with_fixtures=_with,
    )


ENDPOINTS = (_with(Fixtures.drawn(0)),)
"""`compress`."""
