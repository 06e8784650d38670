"""`GET /static/NAME`: files of a folder, by the framework's own handler of static files."""

from __future__ import annotations

from dataclasses import replace
from email.utils import formatdate
from functools import partial
from typing import TYPE_CHECKING

from plimsoll.campaign.changes import ContentChange
from plimsoll.campaign.fixtures import Fixtures, other_content
from plimsoll.campaign.requests import Endpoint, Exchange, Expected, Request, first_problem

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from plimsoll.campaign.fixtures import ServedFile
    from plimsoll.campaign.requests import Header, HttpResponse

NOT_PROVEN = (
    "that every response was read from a file: a cache that looks at the time of the last change "
    "gives the same bytes"
)
"""What right bytes do not prove."""

_CHANGES = 2
_RANGE_BYTES = 50
_DATE_BEFORE_S = 86_400
_FORBIDDEN = (300, 499)
_OUTSIDE = ("/static/../items.json", "/static/%2e%2e/items.json", "/static/..%2fitems.json")


def _date(file: ServedFile) -> str:
    return formatdate(file.modified_s, usegmt=True)


def _request(file: ServedFile, *headers: Header) -> Request:
    return Request("static", "GET", f"/{file.path}", headers)


def _head_of(file: ServedFile) -> Callable[[HttpResponse], str | None]:
    """A check of type and time of a file."""

    def of_type(response: HttpResponse) -> str | None:
        stated = (response.header("content-type") or "").partition(";")[0].strip().lower()
        if stated in file.media_types:
            return None
        return f"`content-type` is `{stated}`, expected `{file.media_types[0]}`"

    return first_problem(of_type, _header("last-modified", _date(file)))


def _header(name: str, expected: str) -> Callable[[HttpResponse], str | None]:
    def check(response: HttpResponse) -> str | None:
        stated = response.header(name)
        if stated == expected:
            return None
        return f"`{name}` is `{stated}`, expected `{expected}`"

    return check


def _whole(file: ServedFile) -> Exchange:
    expected = Expected(length_bytes=len(file.content), body=file.content, check=_head_of(file))
    return Exchange(_request(file), expected)


def _unchanged(file: ServedFile) -> Exchange:
    """A request of somebody who has the file."""
    request = _request(file, ("If-Modified-Since", _date(file)))
    return Exchange(request, Expected(status=(304, 304), length_bytes=0))


def _modified(file: ServedFile) -> Exchange:
    """A request of somebody who has an older file."""
    since = formatdate(file.modified_s - _DATE_BEFORE_S, usegmt=True)
    return Exchange(_request(file, ("If-Modified-Since", since)), _whole(file).expected)


def _part(random: Random, file: ServedFile) -> Exchange:
    first = random.randrange(len(file.content) - _RANGE_BYTES)
    last = first + random.randrange(_RANGE_BYTES)
    body = file.content[first : last + 1]
    stated = f"bytes {first}-{last}/{len(file.content)}"
    return Exchange(
        _request(file, ("Range", f"bytes={first}-{last}")),
        Expected(
            status=(206, 206),
            length_bytes=len(body),
            body=body,
            check=_header("content-range", stated),
        ),
    )


def _probes(fixtures: Fixtures, random: Random) -> tuple[Exchange, ...]:
    """Every form of a request on drawn files, names that are not there, and ways out."""
    kept, older, parted = random.sample(fixtures.static, 3)
    absent = Request("the name of no file", "GET", f"/static/{random.getrandbits(32):08x}.css")
    outside = (
        Exchange(Request("a file outside of the folder", "GET", path), Expected(status=_FORBIDDEN))
        for path in _OUTSIDE
    )
    return (
        _whole(random.choice(fixtures.static)),
        _unchanged(kept),
        _modified(older),
        _part(random, parted),
        _part(random, fixtures.static[-1]),
        Exchange(absent, Expected(status=(404, 404))),
        *outside,
    )


def _changes(fixtures: Fixtures, random: Random) -> tuple[ContentChange, ...]:
    """Files with other bytes, another length and another time, on and off."""
    return tuple(_change(random, file) for file in random.sample(fixtures.static, _CHANGES))


def _change(random: Random, file: ServedFile) -> ContentChange:
    other = other_content(random, file)
    whole = _whole(other)
    after = replace(whole, expected=replace(whole.expected, excepted_by="replaced"))
    return ContentChange(before=_whole(file), made=other, after=after, undone=file)


def _with(fixtures: Fixtures) -> Endpoint:
    return Endpoint(
        name="static",
        summary="`GET /static/NAME` serves a file of `$FILES/static` with its registered type and "
        "`Last-Modified`; 200, or 304 by `If-Modified-Since`, or 206 with a `Range`; 404 for any "
        "other name",
        exchanges=tuple(map(_whole, fixtures.static)),
        probes=partial(_probes, fixtures),
        changes=partial(_changes, fixtures),
        excepted=("etag",),
        not_proven=NOT_PROVEN,
        with_fixtures=_with,
    )


ENDPOINTS = (_with(Fixtures.drawn(0)),)
"""`static`."""
