"""Whether responses tell the truth about rows that they say they have written, and draw them.

Each row has the number of the transaction that wrote it. So a number that was there before, and is
only stated, is told from one that was written, and the database counts no row more for it.

Ids and numbers are drawn for each response. So few of those in several responses are there twice,
and they are all over their range.

Source:
    PostgreSQL, *System Columns* (`xmin`), *System Information Functions* (`pg_snapshot_xmax`), and
    *Routine Vacuuming* (`age`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.campaign.stored_rows import ROWS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.campaign.database_use import DatabaseUse
    from plimsoll.campaign.requests import Exchange
    from plimsoll.serving.asking import ServerResponse
    from plimsoll.serving.change_contract import CheckingClient, Execute

WRITTEN = "the rows of a response are those in the database after it"

DRAWN = "each response draws its rows and their numbers at random"

COMPARED = 3
"""So many responses that write are compared with the database."""

RESPONSES = 8
"""In so many responses that write, ids and numbers are compared with each other."""

MOST_AGAIN = 10
"""So many ids, or numbers, of all these responses may have been in one of them before.

Of 160 ids, 20 different ones in each response, more than ten are so in 1.4 of 10^8 checks of a
server that draws fairly. Of 160 numbers, more than ten are so in 5.0 of 10^8.
"""

PARTS = 8
"""All these responses have ids, and numbers, from each of so many equal parts of the range.

A part has none of 160 ids, or of 160 numbers, in 8 × (7/8)^160 = 4.2 of 10^9 checks. So a server
that draws fairly fails here in less than one of 10^7 checks.
"""

MOST_UNCHANGED = 2
"""So many rows of a response may draw their old number, and need no write.

Three of twenty do so in one of three responses in 3.4 of 10^9 checks; two, in 5.7 of 10^6.
"""

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
    if not use.written:
        return
    drawn: list[Mapping[int, int]] = []
    for at in range(RESPONSES):
        ((since,),) = execute(_NEXT) if at < COMPARED else ((None,),)
        responded = asker.ask(exchange, WRITTEN)
        if responded is None or not (stated := _stated(use, exchange, responded)):
            continue  # noted already
        drawn.append(stated)
        if since is not None:
            ids = ", ".join(map(str, sorted(stated)))
            found = {row: (number, new) for row, number, new in execute(_ROWS.format(since, ids))}
            if problem := _difference(stated, found):
                asker.note(exchange, responded, problem, WRITTEN)
        if len(drawn) == RESPONSES:
            for problem in undrawn(drawn):
                asker.note(exchange, responded, problem, DRAWN)


def undrawn(responses: Sequence[Mapping[int, int]]) -> list[str]:
    """What shows that ids or numbers were not drawn.

    Args:
        responses: Numbers of the rows of each response, by id; the limits are for eight of twenty.

    Returns:
        A sentence each on ids and on numbers; none of a server that draws both.
    """
    ids = [row for one in responses for row in one]
    numbers = [number for one in responses for number in one.values()]
    found = (_undrawn("ids", ids), _undrawn("numbers", numbers))
    return [problem for problem in found if problem is not None]


def _undrawn(what: str, values: Sequence[int]) -> str | None:
    """One sentence about ids, or numbers, that were improbably drawn, or None."""
    of = f"of {len(values)} {what} in {RESPONSES} responses"
    if (again := len(values) - len({*values})) > MOST_AGAIN:
        return f"{of}, {again} had been there before"
    length = ROWS // PARTS
    missing = {*range(PARTS)} - {(value - 1) // length for value in values}
    for part in sorted(missing):
        edges = (wording.count(edge) for edge in (part * length + 1, (part + 1) * length))
        return f"{of}, none is from {' to '.join(edges)}"
    return None


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
    if old > MOST_UNCHANGED:
        return f"{old} of {len(found)} rows have had their numbers since before the request"
    return None
