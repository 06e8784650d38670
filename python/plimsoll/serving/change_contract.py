"""Whether responses show rows and files as they are when a request comes.

Rows or a file are changed between two requests. A server that keeps what it read for an earlier
request shows the old ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from plimsoll.campaign.changes import SqlStatement
from plimsoll.serving import surroundings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from plimsoll.campaign.changes import ContentChange
    from plimsoll.campaign.fixtures import ServedFile
    from plimsoll.campaign.requests import Exchange
    from plimsoll.serving.asking import ServerResponse

    Execute = Callable[[str], list[tuple[Any, ...]]]
    """Runs a statement on the server's database, and returns its rows."""

    Write = Callable[[ServedFile], None]
    """Replaces a file in the server's folder."""

FRESH_ROWS = "every response is read from the database when the request comes"


class CheckingClient(Protocol):
    """Asks the server, and notes what is wrong."""

    def ask(self, exchange: Exchange, rule: str) -> ServerResponse | None:
        """The response to a request, which is compared with what is expected; None for none."""
        ...

    def note(self, exchange: Exchange, responded: ServerResponse, problem: str, rule: str) -> None:
        """Notes a problem of a response."""
        ...


@dataclass(frozen=True)
class Outside:
    """What can be changed outside of a server.

    Attributes:
        execute: Runs statements on its database; None if it has none.
        write: Changes a file of its folder; None if it has none.
    """

    execute: Execute | None = None
    write: Write | None = None

    def can(self, effect: SqlStatement | ServedFile) -> bool:
        """Whether a change can be made."""
        return (self.execute if isinstance(effect, SqlStatement) else self.write) is not None

    def make(self, effect: SqlStatement | ServedFile) -> None:
        """Makes a change that can be made."""
        if isinstance(effect, SqlStatement):
            if self.execute is not None:
                self.execute(effect.text)
        elif self.write is not None:
            self.write(effect)


def examine(changes: Iterable[ContentChange], outside: Outside, asker: CheckingClient) -> None:
    """Makes changes between requests, as far as they can be made.

    Args:
        changes: The changes.
        outside: Makes them.
        asker: Asks the server.
    """
    for change in changes:
        if not outside.can(change.made):
            continue
        rule = FRESH_ROWS if isinstance(change.made, SqlStatement) else surroundings.REPLACED
        asker.ask(change.before, rule)
        outside.make(change.made)
        try:
            asker.ask(change.after, rule)
        finally:
            outside.make(change.undone)
