"""`POST /updates/{n}`: n rows are read, get new numbers, and are written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from plimsoll.campaign import stored_rows
from plimsoll.campaign.bodies import decoded
from plimsoll.campaign.database_use import DatabaseUse
from plimsoll.campaign.requests import Endpoint, Exchange, Expected, Request, of_type

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

COUNT = 20
"""Rows of a request under load."""

_MANY = range(3 * COUNT, 5 * COUNT + 1)
"""Rows of a drawn probe: together with the other probes, they read and write as many as so many
requests under load at least, so that the database's counts can be compared with responses."""


def _exchange(count: int) -> Exchange:
    return Exchange(
        Request("updates", "POST", f"/updates/{count}"),
        Expected(check=of_type("application/json"), check_body=_states(count)),
    )


def _states(count: int) -> Callable[[bytes], str | None]:
    """A check that a body states so many different rows."""

    def check(body: bytes) -> str | None:
        try:
            stated = decoded(body)
        except ValueError as error:
            return str(error)
        if not isinstance(stated, list):
            return "the body is not an array"
        rows = cast("list[object]", stated)
        numbers = dict(filter(None, map(_pair, rows)))
        if len(numbers) != len(rows):
            return (
                'an element is not `{"id": …, "randomNumber": …}` with numbers from 1 to '
                f"{stored_rows.ROWS}, or an id is there twice"
            )
        if len(numbers) != count:
            return f"the array has {len(numbers)} rows, expected {count}"
        return None

    return check


def _pair(row: object) -> tuple[int, int] | None:
    """Id and number of a row; None if it is none."""
    if not isinstance(row, dict):
        return None
    members = cast("dict[str, object]", row)
    pair = members.get("id"), members.get("randomNumber")
    known = [one for one in pair if type(one) is int and 1 <= one <= stored_rows.ROWS]
    return (known[0], known[1]) if len(known) == len(pair) == len(members) else None


def _written(body: bytes) -> dict[int, int]:
    """The rows of a right body."""
    return {row["id"]: row["randomNumber"] for row in json.loads(body)}


def _probes(random: Random) -> tuple[Exchange, ...]:
    return tuple(_exchange(count) for count in (1, COUNT, random.choice(_MANY)))


ENDPOINTS = (
    Endpoint(
        name="updates",
        summary="`POST /updates/N` reads N different rows of `world`, gives each a new random "
        "number, and writes them; 200, `application/json`, an array of the rows as written",
        exchanges=(_exchange(COUNT),),
        probes=_probes,
        # An update finds its row once more, and that counts as read.
        database=DatabaseUse(rows_read=2 * COUNT, rows_written=COUNT, written=_written),
    ),
)
"""`updates`."""
