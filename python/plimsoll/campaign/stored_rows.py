"""The rows of the database: two small tables with the same content for every server.

`world` has 10,000 numbers, `fortune` twelve sentences. Some of these must be escaped in HTML, and
some are not in Latin letters. The tables are those of TechEmpower's Framework Benchmarks in form.
"""

from __future__ import annotations

ROWS = 10_000
"""Rows of `world`; its ids begin with 1. Its numbers are in the same range."""

_FACTOR = 7_919
"""A prime, so that no two rows have the same number."""

FORTUNES = (
    "A benchmark without an interval is a rumour.",
    "Every queue is short until somebody measures it.",
    "The fastest response is the one that was never computed, and the first to be wrong.",
    "He who averages percentiles sleeps badly.",
    "Caches forget; tables remember.",
    "Ninety-nine of a hundred users are the other users of the hundredth.",
    "A load line is painted on the outside of the ship.",
    'It worked once & will "surely" work again, won\'t it?',
    "1 < 2, but 2 connections are not always > 1.",
    "Zeit ist, was Übung und Maß gemeinsam haben.",
    '<script>alert("No browser may run this.");</script>',
    "計った者だけが速さを語れる。",
)
"""The messages of `fortune`; the ids begin with 1."""

SCRIPT = next(place for place, text in enumerate(FORTUNES, 1) if text.startswith("<script>"))
"""Id of the message that a browser would run if it were not escaped."""

ADDED = (0, "This sentence was added when the request came.")
"""Id and message of the row that a server adds to `fortune` for each response."""


def random_number(row: int) -> int:
    """The number in a row of `world`.

    Args:
        row: Its id, 1 to `ROWS`.

    Returns:
        1 to `ROWS`.
    """
    return row * _FACTOR % ROWS + 1


def filling() -> tuple[str, ...]:
    """The statements that make both tables in an empty database, in order."""
    fortunes = ", ".join(f"({place}, {quoted(text)})" for place, text in enumerate(FORTUNES, 1))
    return (
        "CREATE TABLE world (id integer PRIMARY KEY, random_number integer NOT NULL)",
        f"INSERT INTO world SELECT id, id * {_FACTOR} % {ROWS} + 1"
        f" FROM generate_series(1, {ROWS}) AS id",
        "CREATE TABLE fortune (id integer PRIMARY KEY, message text NOT NULL)",
        f"INSERT INTO fortune VALUES {fortunes}",
        "VACUUM ANALYZE",
    )


def quoted(text: str) -> str:
    """A text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"
