"""Whether responses tell the truth about rows that they say they have written."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.campaign.database_use import DatabaseUse
    from plimsoll.campaign.requests import Exchange
    from plimsoll.serving.asking import ServerResponse
    from plimsoll.serving.change_contract import CheckingClient, Execute

WRITTEN = "the rows of a response are those in the database after it"

_WRITES = 3
"""So many responses that write are compared with the database."""


def examine(use: DatabaseUse, exchange: Exchange, execute: Execute, asker: CheckingClient) -> None:
    """Looks up what responses say they have written.

    Args:
        use: How the endpoint uses the database.
        exchange: A request under load.
        execute: Runs statements on the server's database.
        asker: Asks the server.
    """
    for _ in range(_WRITES if use.written else 0):
        responded = asker.ask(exchange, WRITTEN)
        if responded is not None:
            _compare_written(use, exchange, execute, responded, asker)


def _compare_written(
    use: DatabaseUse,
    exchange: Exchange,
    execute: Execute,
    responded: ServerResponse,
    asker: CheckingClient,
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
