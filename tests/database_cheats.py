"""Servers that read rows from PostgreSQL, or take a shortcut: `python database_cheats.py NAME`.

`Stored` keeps the contract; each class under it is one cheat. Environment: `DATABASE_URL`, `HOST`,
`PORT`, and `SPARED`, the share of rows in percent that a cheat under load does not read or write.
"""

from __future__ import annotations

import asyncio
import html
import json
import os
import random
import sys
import time
from functools import cached_property

import psycopg

import cheating_server
from cheating_server import BUSY, Asked, Honest, Said
from plimsoll.campaign.stored_rows import ADDED, ROWS, random_number

Row = tuple[int, str]

PAGE = "<!DOCTYPE html>\n<html><table><tr><th>id</th><th>message</th></tr>{}</table></html>"


class Stored(Honest):
    """Keeps the contract of `db`, `fortunes` and `updates`, too."""

    def __init__(self, url: str = "") -> None:
        super().__init__()
        self.url = url or os.environ["DATABASE_URL"]

    @cached_property
    def database(self) -> psycopg.Connection[tuple[int, ...]]:
        return psycopg.connect(self.url, autocommit=True)

    def spares(self) -> bool:
        """Whether a cheat under load takes its shortcut now."""
        spared = float(os.environ.get("SPARED", "50"))
        return self.connections > BUSY and 100 * random.random() < spared

    def answer(self, asked: Asked) -> Said:
        path, _, last = asked.path.rpartition("/")
        if path == "/db":
            return self.world(int(last))
        if path == "/updates":
            worlds = sorted(self.updates(int(last)).items())
            return of_json([{"id": row, "randomNumber": number} for row, number in worlds])
        if asked.path == "/fortunes":
            return Said(body=self.page().encode(), kind="text/html; charset=utf-8")
        return super().answer(asked)

    def world(self, row: int) -> Said:
        number = self.number(row)
        return Said(404) if number is None else of_json({"id": row, "randomNumber": number})

    def number(self, row: int) -> int | None:
        query = "SELECT random_number FROM world WHERE id = %s"
        found = self.database.execute(query, [row]).fetchone()
        return None if found is None else found[0]

    def page(self) -> str:
        rows = (
            f"<tr><td>{row}</td><td>{self.text(message)}</td></tr>" for row, message in self.rows()
        )
        return PAGE.format("".join(rows))

    def rows(self) -> list[Row]:
        found: list[Row] = self.database.execute("SELECT id, message FROM fortune").fetchall()  # type: ignore[assignment]
        return sorted([*found, ADDED], key=lambda row: row[1])

    def text(self, message: str) -> str:
        return html.escape(message)

    def updates(self, count: int) -> dict[int, int]:
        drawn = self.drawn(count)
        with self.database.transaction():
            for row in drawn:
                self.number(row)
            return self.write(drawn)

    def drawn(self, count: int) -> dict[int, int]:
        ids = sorted(random.sample(range(1, ROWS + 1), count))
        return {row: random.randint(1, ROWS) for row in ids}

    def write(self, numbers: dict[int, int]) -> dict[int, int]:
        for row, number in numbers.items():
            self.database.execute(
                "UPDATE world SET random_number = %s WHERE id = %s", [number, row]
            )
        return numbers


def of_json(value: object) -> Said:
    return Said(body=json.dumps(value).encode(), kind="application/json")


class RowsKept(Stored):
    """Keeps each row that it has read."""

    def __init__(self, url: str = "") -> None:
        super().__init__(url)
        self.kept: dict[int, int | None] = {}

    def number(self, row: int) -> int | None:
        if row not in self.kept:
            self.kept[row] = super().number(row)
        return self.kept[row]


class RowsKeptWhenBusy(RowsKept):
    """Takes rows from its memory as long as there are many connections."""

    def number(self, row: int) -> int | None:
        if not self.spares():
            self.kept.pop(row, None)
        return super().number(row)


class RowsKeptWhenWarm(RowsKeptWhenBusy):
    """Behaves for the first moment in which there are many connections: its warm-up."""

    HONEST_S = 2.0

    @cached_property
    def first_busy_s(self) -> float:
        return time.monotonic()

    def spares(self) -> bool:
        is_spared = super().spares()
        is_busy = self.connections > BUSY
        return is_busy and time.monotonic() - self.first_busy_s > self.HONEST_S and is_spared


class PageKept(Stored):
    """Keeps the page."""

    @cached_property
    def kept(self) -> str:
        return super().page()

    def page(self) -> str:
        return self.kept


class PageWithTags(Stored):
    """Escapes no message."""

    def text(self, message: str) -> str:
        return message


class PageAsStored(Stored):
    """Does not sort."""

    def rows(self) -> list[Row]:
        return sorted(super().rows())


class PageWithoutTheAddedRow(Stored):
    """Shows what is stored, and no more."""

    def rows(self) -> list[Row]:
        return [row for row in super().rows() if row != ADDED]


class UpdatesClaimed(Stored):
    """Reads rows, and only says that it wrote them."""

    def write(self, numbers: dict[int, int]) -> dict[int, int]:
        return numbers


class UpdatesByFormula(Stored):
    """Says that it wrote the numbers that rows have at first, and asks no database."""

    def updates(self, count: int) -> dict[int, int]:
        return {row: random_number(row) for row in random.sample(range(1, ROWS + 1), count)}


class UpdatesOfWhatIsThere(Stored):
    """Says that it wrote the numbers that it has read."""

    def updates(self, count: int) -> dict[int, int]:
        ids = random.sample(range(1, ROWS + 1), count)
        return {row: self.number(row) or 0 for row in ids}


class UpdatesOfTheFirstRows(Stored):
    """Draws no rows."""

    def drawn(self, count: int) -> dict[int, int]:
        return {row: random.randint(1, ROWS) for row in range(1, count + 1)}


class UpdatesInTurns(Stored):
    """Has two sets of rows, which take turns."""

    turn = 0

    def drawn(self, count: int) -> dict[int, int]:
        self.turn ^= 1
        first = 1 + self.turn * ROWS // 2
        return {row: random.randint(1, ROWS) for row in range(first, first + count)}


class UpdatesOneAfterTheOther(Stored):
    """Goes through the table, so that rows are the same only after its end."""

    before = 0

    def drawn(self, count: int) -> dict[int, int]:
        first, self.before = self.before, self.before + count
        return {at % ROWS + 1: random.randint(1, ROWS) for at in range(first, self.before)}


class UpdatesToOneNumber(Stored):
    """Draws rows, and gives all of them the same number, which is another one for each response."""

    def drawn(self, count: int) -> dict[int, int]:
        return dict.fromkeys(super().drawn(count), random.randint(1, ROWS))


class UpdatesBySmallNumbers(Stored):
    """Draws numbers of one byte."""

    def drawn(self, count: int) -> dict[int, int]:
        return {row: random.randint(1, 255) for row in super().drawn(count)}


class UpdatesUnread(Stored):
    """Writes rows that it has not read."""

    def updates(self, count: int) -> dict[int, int]:
        with self.database.transaction():
            return self.write(self.drawn(count))


class UpdatesClaimedWhenBusy(Stored):
    """Writes not always as long as there are many connections."""

    def write(self, numbers: dict[int, int]) -> dict[int, int]:
        return numbers if self.spares() else super().write(numbers)


def gallery() -> dict[str, type[Stored]]:
    """The honest server and every cheat, by name."""
    known: list[type[Stored]] = [Stored]
    for one in known:
        known += one.__subclasses__()
    return {one.__name__: one for one in known}


async def main() -> None:
    """Serves until the process is ended."""
    server = gallery()[sys.argv[1]]()
    host, port = os.environ["HOST"], int(os.environ["PORT"])
    await (await cheating_server.serve(server, host, port)).serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
