"""Whether responses tell the truth about rows that they say they have written.

Each row has the number of the transaction that wrote it. So a number that was there before, and is
only stated, is told from one that was written, and the database counts no row more for it.

Source:
    PostgreSQL, *System Columns* (`xmin`), *System Information Functions* (`pg_snapshot_xmax`), and
    *Routine Vacuuming* (`age`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.campaign.database_use import DatabaseUse
    from plimsoll.campaign.requests import Exchange
    from plimsoll.serving.asking import ServerResponse
    from plimsoll.serving.change_contract import CheckingClient, Execute

WRITTEN = "the rows of a response are those in the database after it"

DRAWN = "each response draws other rows"

_WRITES = 3
"""So many responses that write are compared with the database."""

_UNCHANGED = 1
"""So many rows of a response may draw their old number, and need no write; two improbably do."""

_NEXT = "SELECT xid(pg_snapshot_xmax(pg_current_snapshot()))::text"
"""Number of the next transaction that writes."""

_ROWS = "SELECT id, random_number, age(xmin) <= age('{}'::xid) FROM world WHERE id IN ({})"
"""Some rows, each with its number, and whether a transaction wrote it from another one on."""


def examine(use: DatabaseUse, exchange: Exchange, execute: Execute, asker: CheckingClient) -> None:
    """Looks up what responses say they have written.

    Args:
        use: How the endpoint uses the database.
        exchange: A request under load.
        execute: Runs statements on the server's database.
        asker: Asks the server.
    """
    before: set[int] = set()
    for _ in range(_WRITES if use.written else 0):
        ((since,),) = execute(_NEXT)
        responded = asker.ask(exchange, WRITTEN)
        if responded is None or not (stated := _stated(use, exchange, responded)):
            continue  # noted already
        drawn = {*stated}
        ids = ", ".join(map(str, sorted(drawn)))
        found = {row: (number, new) for row, number, new in execute(_ROWS.format(since, ids))}
        if problem := _difference(stated, found):
            asker.note(exchange, responded, problem, WRITTEN)
        elif drawn == before:
            asker.note(exchange, responded, "it has the rows of the response before it", DRAWN)
        before = drawn


def _stated(use: DatabaseUse, exchange: Exchange, responded: ServerResponse) -> Mapping[int, int]:
    """The rows that a right response says it has written; none of a wrong one."""
    body, check = responded.response.body, exchange.expected.check_body
    if use.written is None or (check is not None and check(body) is not None):
        return {}
    return use.written(body)


def _difference(stated: Mapping[int, int], found: Mapping[int, tuple[int, bool]]) -> str | None:
    """One sentence about a row that was not written as stated, or None.

    Args:
        stated: Numbers of rows, by id.
        found: Number of each in the database, and whether it was written since the request.
    """
    for row, number in stated.items():
        stored, _ = found.get(row, (None, False))
        if stored != number:
            return f"row {row} has the number {stored} in the database, not {number}"
    old = sum(not is_new for _, is_new in found.values())
    if old > _UNCHANGED:
        return f"{old} of {len(found)} rows have had their numbers since before the request"
    return None
