"""Changes of what a server reads, made between two requests: the second response must show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.campaign.fixtures import ServedFile
    from plimsoll.campaign.requests import Exchange


@dataclass(frozen=True)
class SqlStatement:
    """A statement that is run on the server's database."""

    text: str


@dataclass(frozen=True)
class ContentChange:
    """A change between two requests, of rows of the database or of a file.

    Attributes:
        before: The exchange before the change.
        made: The change: a statement, or the file as it is from now on.
        after: The exchange after it.
        undone: What takes the change back.
    """

    before: Exchange
    made: SqlStatement | ServedFile
    after: Exchange
    undone: SqlStatement | ServedFile
