"""Requests that every client sends, and their bytes in any form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.campaign.requests import HttpResponse, Request

MISSING_PATH = "/plimsoll-no-such-path"
"""A path that does not exist."""


@dataclass(frozen=True)
class UsualRequests:
    """Requests that every client sends, and how the server responded to them.

    Attributes:
        authority: Host and port of the server.
        get: A GET.
        got: Its response.
        missing: Response to a GET of `MISSING_PATH`.
        post: A request with a body; None if the server takes none.
        posted: Its response; None without it.
    """

    authority: str
    get: Request
    got: HttpResponse
    missing: HttpResponse
    post: Request | None = None
    posted: HttpResponse | None = None

    @property
    def with_body(self) -> Request:
        """The request with a body; the GET if there is none."""
        return self.post or self.get

    @property
    def with_body_answered(self) -> HttpResponse:
        """The response to `with_body`."""
        return self.posted or self.got


def get(
    usual: UsualRequests,
    *more: str,
    method: str = "GET",
    target: str = "",
    version: str = "1.1",
    host: tuple[str, ...] | None = None,
    line_end: str = "\r\n",
) -> bytes:
    """The usual GET, or one that differs in some part.

    Args:
        usual: The usual requests.
        more: Header lines after the usual ones.
        method: Its method.
        target: Its target; empty for the usual one.
        version: Its version of HTTP.
        host: Header lines in place of the one with `Host`.
        line_end: What ends each line.
    """
    hosts = (f"Host: {usual.authority}",) if host is None else host
    first = f"{method} {target or usual.get.target} HTTP/{version}"
    return _head((first, *hosts, *_fields(usual.get), *more), line_end)


def post(usual: UsualRequests, *framing: str, body: bytes | None = None) -> bytes:
    """The usual request with a body, or one that differs in its framing.

    Args:
        usual: The usual requests.
        framing: Header lines that say how long its body is; none for its length.
        body: What follows the head; None for its body.
    """
    request = usual.with_body
    framing = framing or (f"Content-Length: {len(request.body)}",)
    first = f"{request.method} {request.target} HTTP/1.1"
    head = _head((first, f"Host: {usual.authority}", *_fields(request), *framing))
    return head + (request.body if body is None else body)


def chunked(usual: UsualRequests, extension: str = "", trailer: str = "") -> bytes:
    r"""The usual body in two chunks.

    Args:
        usual: The usual requests.
        extension: What follows the size of each chunk.
        trailer: Trailer lines, each with its line end.
    """
    body = usual.with_body.body
    middle = len(body) // 2
    chunks = (
        f"{len(half):x}{extension}\r\n".encode() + half + b"\r\n"
        for half in (body[:middle], body[middle:])
    )
    return b"".join(chunks) + f"0\r\n{trailer}\r\n".encode()


def _fields(request: Request) -> tuple[str, ...]:
    return tuple(f"{name}: {value}" for name, value in request.headers)


def _head(lines: Iterable[str], line_end: str = "\r\n") -> bytes:
    return "".join(f"{line}{line_end}" for line in (*lines, "")).encode()
