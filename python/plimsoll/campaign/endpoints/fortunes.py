"""`GET /fortunes`: all rows of a table and one more, sorted, as an HTML page."""

from __future__ import annotations

from functools import lru_cache
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from plimsoll.campaign import stored_rows
from plimsoll.campaign.changes import ContentChange, SqlStatement
from plimsoll.campaign.database_use import DatabaseUse
from plimsoll.campaign.requests import (
    Endpoint,
    Exchange,
    Expected,
    HttpResponse,
    Request,
    first_problem,
    of_type,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

Row = tuple[str, str]
"""Id and message, as texts."""

_DOCTYPE = b"<!doctype html>"
_CELLS = 2

_CELL = ("td", "th")
_AROUND_CELLS = ("tr", "thead", "tbody", "tfoot", "table")
"""Where one of these begins or ends, a row has ended, whether its own end tag is there or not.

Source:
    WHATWG, HTML Living Standard, section 13.1.2.4: optional tags.
"""


def _exchange(rows: tuple[tuple[int, str], ...]) -> Exchange:
    """The request, and the rows of the table that the page must show besides the added one."""
    in_order = sorted((*rows, stored_rows.ADDED), key=lambda row: row[1])
    expected = tuple((str(row), message) for row, message in in_order)
    return Exchange(
        Request("fortunes", "GET", "/fortunes"),
        Expected(check=first_problem(of_type("text/html"), _in_utf8), check_body=_shows(expected)),
    )


def _in_utf8(response: HttpResponse) -> str | None:
    stated = (response.header("content-type") or "").lower().replace('"', "").replace(" ", "")
    if "charset=utf-8" in stated:
        return None
    return "`content-type` does not say `charset=utf-8`"


def _shows(expected: tuple[Row, ...]) -> Callable[[bytes], str | None]:
    """A check of the page; the same page is parsed once in a row."""

    @lru_cache(maxsize=4)
    def check(body: bytes) -> str | None:
        if not body.lower().startswith(_DOCTYPE):
            return "the body does not begin with `<!DOCTYPE html>`"
        try:
            page = _Page(body.decode())
        except (UnicodeDecodeError, AssertionError) as error:
            # The parser asserts that it knows every declaration.
            is_text = isinstance(error, AssertionError)
            return f"the body is not HTML: {error}" if is_text else "the body is not UTF-8"
        if page.scripts:
            return "the body has a `script` element: a message was not escaped"
        wrong = (pair for pair in zip(page.rows, expected, strict=False) if pair[0] != pair[1])
        for stated, wanted in wrong:
            return f"a row of the table is {_spoken(stated)}, expected {_spoken(wanted)}"
        if len(page.rows) != len(expected):
            return f"the table has {len(page.rows)} rows, expected {len(expected)}"
        return None

    return check


def _spoken(row: Row) -> str:
    return f"`{row[0]}`, `{row[1]}`"


class _Page(HTMLParser):
    """The rows of the table of a page, in order.

    Attributes:
        rows: Text of the two cells of each row that has some.
        scripts: Number of `script` elements.
    """

    def __init__(self, page: str) -> None:
        """Reads a page."""
        super().__init__(convert_charrefs=True)
        self.rows: list[Row] = []
        self.scripts = 0
        self._cells: list[str] = []
        self._in_cell = False
        self.feed(page)
        self.close()
        self._end_row()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A row or a cell begins."""
        if tag in _AROUND_CELLS:
            self._end_row()
        elif tag in _CELL:
            self._in_cell = tag == "td"
            if self._in_cell:
                self._cells.append("")
        elif tag == "script":
            self.scripts += 1

    def handle_endtag(self, tag: str) -> None:
        """A row or a cell ends."""
        if tag in _AROUND_CELLS:
            self._end_row()
        elif tag in _CELL:
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        """Text, whose references are resolved."""
        if self._in_cell:
            self._cells[-1] += data

    def _end_row(self) -> None:
        """The row that is open ends, and its last cell with it."""
        if len(self._cells) == _CELLS:
            row, message = self._cells
            self.rows.append((row.strip(), message.strip()))
        self._cells, self._in_cell = [], False


_STORED = tuple(enumerate(stored_rows.FORTUNES, 1))
_EXCHANGE = _exchange(_STORED)


def _probes(_: Random) -> tuple[Exchange, ...]:
    return (_EXCHANGE,)


def _changes(random: Random) -> tuple[ContentChange, ...]:
    """Another message for the row with tags, and one more row."""
    tagged = f"<b title=\"{random.getrandbits(32):08x}\">'bold' & other</b>"
    others = tuple(row for row in _STORED if row[0] != stored_rows.SCRIPT)
    more = (len(_STORED) + random.randint(1, 1000), f"Rows come, {random.getrandbits(32):08x} too.")
    update = "UPDATE fortune SET message = {} WHERE id = {}"
    script = stored_rows.quoted(dict(_STORED)[stored_rows.SCRIPT])
    return (
        ContentChange(
            before=_EXCHANGE,
            made=SqlStatement(update.format(stored_rows.quoted(tagged), stored_rows.SCRIPT)),
            after=_exchange((*others, (stored_rows.SCRIPT, tagged))),
            undone=SqlStatement(update.format(script, stored_rows.SCRIPT)),
        ),
        ContentChange(
            before=_EXCHANGE,
            made=SqlStatement(
                f"INSERT INTO fortune VALUES ({more[0]}, {stored_rows.quoted(more[1])})"
            ),
            after=_exchange((*_STORED, more)),
            undone=SqlStatement(f"DELETE FROM fortune WHERE id = {more[0]}"),
        ),
    )


ENDPOINTS = (
    Endpoint(
        name="fortunes",
        summary="`GET /fortunes` reads all rows of `fortune`, adds one, and sorts them by message; "
        "200, `text/html; charset=utf-8`, a table whose texts are escaped",
        exchanges=(_EXCHANGE,),
        probes=_probes,
        changes=_changes,
        database=DatabaseUse(rows_read=len(_STORED)),
    ),
)
"""`fortunes`."""
