"""What surrounds a body: the rules of the contract on the head of a correct response.

Each rule has the name under which `[contract_notes]` of a framework explains an exception.
"""

from __future__ import annotations

from datetime import datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import TYPE_CHECKING

from plimsoll import wording

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from plimsoll.campaign.requests import HttpResponse
    from plimsoll.serving.asking import ServerResponse

    Rule = Callable[[ServerResponse], str | None]

OFF_S = 5.0
"""A `Date` may be so far from now, in seconds: some servers write one a second, or a late one."""

RENEWED_S = 1.0
"""Servers that keep a `Date` renew it that often, in seconds, and not while they are frozen."""

DATE = "a successful response has a `Date` that is at most 5 s off (RFC 9110, 5.6.7 and 6.6.1)"
ETAG = "a successful response has no `ETag`"
LENGTH = "a successful response has either one `Content-Length` or `Transfer-Encoding: chunked`"
VARY = "a compressed response has `Vary: Accept-Encoding` (RFC 9110, 12.5.5)"
REFUSED_CODING = "a request with `gzip;q=0` gets a body without coding (RFC 9110, 12.5.3)"
REPLACED = "every response shows the file as it is when the request comes"
SPLIT = "a request split into three segments gets the same response as a whole one"
CHUNKED = "a request with a chunked body gets the same response as one with a `Content-Length`"
FRAGMENTS = "a message in fragments is returned whole, also with a ping between them"

OF_HTTP1 = ("length", "split", "chunked")
"""Rules on framing, which HTTP/2 does by frames of its own."""

BY_NAME = {
    "date": DATE,
    "etag": ETAG,
    "length": LENGTH,
    "vary": VARY,
    "refused-coding": REFUSED_CODING,
    "replaced": REPLACED,
    "split": SPLIT,
    "chunked": CHUNKED,
    "fragments": FRAGMENTS,
}
"""The rule that each of `CONTRACT_NOTES` exempts from."""


def problems(
    responded: ServerResponse, excepted: Collection[str], *, keep_alive: bool
) -> Iterator[tuple[str, str]]:
    """What is wrong with the head of a right response.

    Args:
        responded: The response, and when it came.
        excepted: Names of rules that are not checked.
        keep_alive: Whether the connection was to stay; one that closes ends its last body.

    Yields:
        The rule, and what is wrong.
    """
    for name, rule, check in _RULES:
        if name in excepted or (name == "length" and not keep_alive):
            continue
        problem = check(responded)
        if problem is not None:
            yield rule, problem


def is_behind(responded: ServerResponse) -> bool:
    """Whether the `Date` of a response is too old, as of a server that was frozen before it."""
    at = _instant(responded.response.header("date") or "")
    return at is not None and _behind_s(responded, at) > OFF_S


def _date(responded: ServerResponse) -> str | None:
    stated = responded.response.header("date")
    if stated is None:
        return "the header `date` is absent"
    at = _instant(stated)
    if at is None:
        return f"`date` is `{stated}`, it should be like `Sun, 06 Nov 1994 08:49:37 GMT`"
    ahead_s, behind_s = at.timestamp() - responded.arrived_s, _behind_s(responded, at)
    if max(ahead_s, behind_s) > OFF_S:
        side = "ahead" if ahead_s > behind_s else "behind"
        return f"`date` is {wording.count(max(ahead_s, behind_s))} s {side}: `{stated}`"
    return None


def _behind_s(responded: ServerResponse, stated: datetime) -> float:
    """Seconds from a `Date` to the request: a server may write it when it takes the request up."""
    return responded.arrived_s - responded.took_s - stated.timestamp()


def _instant(text: str) -> datetime | None:
    """An instant in the one form that servers may write."""
    try:
        found = parsedate_to_datetime(text)
        return found if format_datetime(found, usegmt=True) == text else None
    except (ValueError, OverflowError):
        return None


def _etag(responded: ServerResponse) -> str | None:
    stated = responded.response.header("etag")
    return None if stated is None else f"`etag` is `{stated}`"


def _length(responded: ServerResponse) -> str | None:
    lengths = _values(responded.response, "content-length")
    codings = _values(responded.response, "transfer-encoding")
    if lengths and codings:
        return "it has `content-length` and `transfer-encoding`"
    if len(lengths) > 1:
        return f"it has {len(lengths)} `content-length`"
    if codings and [coding.lower() for coding in codings] != ["chunked"]:
        return f"`transfer-encoding` is `{', '.join(codings)}`"
    if not lengths and not codings:
        return "it has neither `content-length` nor `transfer-encoding`"
    return None


def _vary(responded: ServerResponse) -> str | None:
    if not responded.response.codings:
        return None
    lists = _values(responded.response, "vary")
    names = {name.strip().lower() for one in lists for name in one.split(",")}
    if names & {"accept-encoding", "*"}:
        return None
    return f"`vary` is `{', '.join(lists)}`" if lists else "the header `vary` is absent"


def _values(response: HttpResponse, name: str) -> list[str]:
    return [value.strip() for key, value in response.headers if key == name]


_RULES: tuple[tuple[str, str, Rule], ...] = (
    ("date", DATE, _date),
    ("etag", ETAG, _etag),
    ("length", LENGTH, _length),
    ("vary", VARY, _vary),
)
