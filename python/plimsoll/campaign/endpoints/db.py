"""`GET /db/{id}`: one row of a table, by its id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.campaign import stored_rows
from plimsoll.campaign.bodies import equal_as_json
from plimsoll.campaign.changes import ContentChange, SqlStatement
from plimsoll.campaign.database_use import DatabaseUse
from plimsoll.campaign.requests import Endpoint, Exchange, Expected, Request, of_type

if TYPE_CHECKING:
    from random import Random

ROW = 4_711
"""The row requested under load if values are fixed."""

_PROBES = 3
_CHANGES = 4

_ABSENT = Exchange(
    Request("the id of no row", "GET", "/db/0"),
    Expected(status=(404, 404)),
)


def _exchange(row: int, number: int) -> Exchange:
    return Exchange(
        Request("db", "GET", f"/db/{row}"),
        Expected(
            check=of_type("application/json"),
            check_body=equal_as_json({"id": row, "randomNumber": number}),
        ),
    )


def _stored(row: int) -> Exchange:
    return _exchange(row, stored_rows.random_number(row))


def _probes(random: Random) -> tuple[Exchange, ...]:
    """The first row and the last, some between them, and one that is not there."""
    rows = (1, stored_rows.ROWS, *_rows(random, _PROBES))
    return (*map(_stored, rows), _ABSENT)


def _drawn(random: Random, count: int) -> tuple[Exchange, ...]:
    return tuple(_stored(row) for row in _rows(random, count))


def _changes(random: Random) -> tuple[ContentChange, ...]:
    return tuple(_change(random, row) for row in _rows(random, _CHANGES))


def _change(random: Random, row: int) -> ContentChange:
    """A row gets a number that no row has, so that no other row can be in its place."""
    number = stored_rows.ROWS + random.randint(1, stored_rows.ROWS)
    update = "UPDATE world SET random_number = {} WHERE id = {}"
    return ContentChange(
        before=_stored(row),
        made=SqlStatement(update.format(number, row)),
        after=_exchange(row, number),
        undone=SqlStatement(update.format(stored_rows.random_number(row), row)),
    )


def _rows(random: Random, count: int) -> list[int]:
    """Different rows."""
    return random.sample(range(1, stored_rows.ROWS + 1), count)


ENDPOINTS = (
    Endpoint(
        name="db",
        summary="`GET /db/ID` reads the row of this id from `world`; 200, `application/json`, "
        '`{"id": …, "randomNumber": …}`; 404 if there is none',
        exchanges=(_stored(ROW),),
        probes=_probes,
        drawn=_drawn,
        changes=_changes,
        database=DatabaseUse(rows_read=1),
    ),
)
"""`db`."""
