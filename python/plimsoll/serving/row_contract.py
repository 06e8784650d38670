"""Whether responses show the rows of the database as they are when a request comes.

Rows are changed between two requests, and what a response says it has written is looked up. A
server that keeps rows from an earlier request shows the old ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from plimsoll.campaign.database_use import DatabaseUse
    from plimsoll.campaign.requests import Exchange
    from plimsoll.serving.asking import ServerResponse

    Execute = Callable[[str], list[tuple[Any, ...]]]
    """Runs a statement on the server's database, and returns its rows."""

FRESH = "every response is read from the database when the request comes"
WRITTEN = "the rows of a response are those in the database after it"

_WRITES = 3
"""So many responses that write are compared with the database."""


class Asker(Protocol):
    """Asks the server, and notes what is wrong."""

    def ask(self, exchange: Exchange, rule: str) -> ServerResponse | None:
        """The response to a request, which is compared with what is expected; None for none."""
        ...

    def note(self, exchange: Exchange, responded: ServerResponse, problem: str, rule: str) -> None:
        """Notes a problem of a response."""
        ...


def examine(
    use: DatabaseUse, exchange: Exchange, execute: Execute, random: Random, asker: Asker
) -> None:
    """Changes rows between requests, and looks up what responses say they have written.

    Args:
        use: How the endpoint uses the database.
        exchange: A request under load.
        execute: Runs statements on the server's database.
        random: Draws the changes.
        asker: Asks the server.
    """
    for change in use.changes(random) if use.changes else ():
        asker.ask(change.before, FRESH)
        execute(change.statement)
        try:
            asker.ask(change.after, FRESH)
        finally:
            execute(change.undo)
    for _ in range(_WRITES if use.written else 0):
        responded = asker.ask(exchange, WRITTEN)
        if responded is not None:
            _compare_written(use, exchange, execute, responded, asker)


def _compare_written(
    use: DatabaseUse,
    exchange: Exchange,
    execute: Execute,
    responded: ServerResponse,
    asker: Asker,
) -> None:
    """Whether the rows that a right response states are in the database."""
    body = responded.response.body
    check = exchange.expected.check_body
    if use.written is None or (check is not None and check(body) is not None):
        return  # noted already
    stated = use.written(body)
    ids = ", ".join(map(str, sorted(stated)))
    found = dict(execute(f"SELECT id, random_number FROM world WHERE id IN ({ids})"))
    for row, number in stated.items():
        if found.get(row) != number:
            problem = f"row {row} has the number {found.get(row)} in the database, not {number}"
            asker.note(exchange, responded, problem, WRITTEN)
            return
