"""What the endpoints with a database expect of responses, without one."""

from __future__ import annotations

import html
import json
from random import Random

import pytest

from plimsoll.campaign import stored_rows
from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.endpoints.updates import COUNT
from plimsoll.campaign.requests import Exchange, HttpResponse
from plimsoll.serving.contract import problems

SEED = 20261123
HTML = (("content-type", "text/html; charset=utf-8"),)
JSON = (("content-type", "application/json"),)
ROWS = [*enumerate(stored_rows.FORTUNES, 1), stored_rows.ADDED]
SORTED = sorted(ROWS, key=lambda row: row[1])


def page(rows: list[tuple[int, str]], doctype: str = "<!DOCTYPE html>") -> bytes:
    """A page as template engines write it."""
    cells = "".join(
        f"<tr>\n <td>{row}</td><td>\n{html.escape(text)} </td></tr>" for row, text in rows
    )
    head = "<title>x</title><table><tr><th>id</th><th>message</th></tr>"
    return f"{doctype}<html>{head}{cells}</table></html>".encode()


def fortunes() -> Exchange:
    return by_name("fortunes").exchanges[0]


def found(exchange: Exchange, body: bytes, headers: tuple[tuple[str, str], ...]) -> list[str]:
    return problems(exchange.expected, HttpResponse(200, headers, body))


@pytest.mark.parametrize("doctype", ["<!DOCTYPE html>", "<!doctype HTML>\n"])
def test_a_page_is_right_however_its_template_spells_it(doctype: str) -> None:
    assert found(fortunes(), page(SORTED, doctype), HTML) == []
    apostrophes = page(SORTED).replace(b"&#x27;", b"&apos;").replace(b"&quot;", b'"')
    assert found(fortunes(), apostrophes, HTML) == []


def without(*tags: str) -> bytes:
    """The page without some end tags, in a body and with a head of its own."""
    spelled = page(SORTED).replace(b"</title><table>", b"</title><table><thead>")
    spelled = spelled.replace(b"message</th></tr>", b"message</th></tr></thead><tbody>")
    spelled = spelled.replace(b"</table>", b"</tbody></table>")
    for tag in tags:
        spelled = spelled.replace(f"</{tag}>".encode(), b"")
    return spelled


@pytest.mark.parametrize(
    "tags",
    [
        (),
        ("td",),
        ("tr",),
        ("td", "th", "tr"),
        ("td", "th", "tr", "thead", "tbody"),
        ("td", "tr", "tbody", "table", "html"),
    ],
    ids=",".join,
)
def test_a_page_may_leave_out_end_tags(tags: tuple[str, ...]) -> None:
    assert found(fortunes(), without(*tags), HTML) == []


def test_text_between_rows_is_no_part_of_a_cell() -> None:
    between = page(SORTED).replace(b"</td></tr>", b"</td> beside</tr> between ")
    assert found(fortunes(), between, HTML) == []
    within = page(SORTED).replace(b"</td></tr>", b" within</tr>")
    assert found(fortunes(), within, HTML) != []


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (page(SORTED[:-1]), "the table has 12 rows, expected 13"),
        (page([*SORTED, (13, "more")]), "the table has 14 rows, expected 13"),
        (page(ROWS), "a row of the table is"),
        (page(SORTED, ""), "does not begin with"),
        (without("td", "tr").replace(b"<td>12", b"<td>21"), "a row of the table is `21`"),
        (page(SORTED).replace("計".encode(), b"\xff"), "is not UTF-8"),
        (html.unescape(page(SORTED).decode()).encode(), "a `script` element"),
        (page([(row, text + "!") for row, text in SORTED]), "expected"),
    ],
)
def test_a_wrong_page_is_told(body: bytes, words: str) -> None:
    (problem,) = found(fortunes(), body, HTML)
    assert words in problem


def test_a_declaration_that_the_parser_does_not_know_is_no_error() -> None:
    said = found(fortunes(), page(SORTED) + b"<![foo[ bar", HTML)
    assert all(one.startswith("the body is not HTML") for one in said)


def test_a_page_says_that_it_is_utf_8() -> None:
    (problem,) = found(fortunes(), page(SORTED), (("content-type", "text/html"),))
    assert "charset=utf-8" in problem
    quoted = (("content-type", 'text/html;charset="UTF-8"'),)
    assert found(fortunes(), page(SORTED), quoted) == []


def test_each_change_of_a_row_shows_in_what_is_expected() -> None:
    for name in ("db", "fortunes"):
        drawn = by_name(name).changes
        assert drawn is not None
        changes = drawn(Random(SEED))
        assert changes
        for change in changes:
            assert change.before.request.target == change.after.request.target
            assert change.made != change.undone
    fresh = page(SORTED)
    assert all(found(one.before, fresh, HTML) == [] for one in changes)
    assert all(found(one.after, fresh, HTML) != [] for one in changes)


def test_a_row_is_expected_with_its_number() -> None:
    (exchange,) = by_name("db").exchanges
    row = int(exchange.request.target.rpartition("/")[2])
    number = stored_rows.random_number(row)
    right = {"randomNumber": number, "id": row}
    assert found(exchange, json.dumps(right).encode(), JSON) == []
    assert found(exchange, json.dumps({**right, "id": row + 1}).encode(), JSON)
    assert found(exchange, json.dumps({**right, "randomNumber": number + 1}).encode(), JSON)


def test_the_rows_under_load_are_different_ones() -> None:
    sent = by_name("db").sent("drawn", SEED)
    assert len({one.request.target for one in sent}) == len(sent)
    assert {one.request.name for one in sent} == {"db"}


def worlds(count: int) -> list[dict[str, object]]:
    return [{"id": row, "randomNumber": 1 + row % 7} for row in range(1, count + 1)]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (worlds(COUNT), ""),
        (worlds(COUNT - 1), f"the array has {COUNT - 1} rows, expected {COUNT}"),
        (worlds(COUNT - 1) + worlds(1), "or an id is there twice"),
        ([*worlds(COUNT - 1), {"id": 0, "randomNumber": 1}], "an element is not"),
        ([*worlds(COUNT - 1), {"id": 99, "randomNumber": "1"}], "an element is not"),
        ([*worlds(COUNT - 1), {"id": 99, "randomNumber": True}], "an element is not"),
        ([*worlds(COUNT - 1), {"id": 99}], "an element is not"),
        ([*worlds(COUNT - 1), 99], "an element is not"),
        ({"id": 1, "randomNumber": 1}, "the body is not an array"),
    ],
)
def test_an_update_states_so_many_different_rows(rows: object, words: str) -> None:
    (exchange,) = by_name("updates").exchanges
    said = found(exchange, json.dumps(rows).encode(), JSON)
    assert (words in said[0]) if words else said == []


def test_the_probes_of_updates_need_as_many_rows_as_so_many_requests_of_the_load() -> None:
    endpoint = by_name("updates")
    for seed in range(50):
        probes = endpoint.probes(Random(seed))
        counts = [int(probe.request.target.rpartition("/")[2]) for probe in probes]
        assert sum(counts) >= COUNT * len(counts)
