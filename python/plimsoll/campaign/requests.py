"""Requests, what is expected in answer, and endpoints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from plimsoll.errors import CampaignError, Problem

Header = tuple[str, str]


@dataclass(frozen=True)
class Answer:
    """What a server said to one request.

    Attributes:
        status: Status code.
        headers: Name (lower case) and value, in the order received.
        body: The body, decoded from its transfer coding.
    """

    status: int
    headers: tuple[Header, ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first value of a header, or None."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key == wanted), None)


def anything(answer: Answer) -> str | None:
    """Accepts every answer: status and length are all that is asked."""
    return None


def of_type(content_type: str) -> Callable[[Answer], str | None]:
    """A check of the content type, whatever its parameters.

    Args:
        content_type: The one that is right: `text/plain`.

    Returns:
        Says in one sentence what is wrong with an answer's `Content-Type`, or None.
    """

    def check(answer: Answer) -> str | None:
        said = answer.header("content-type")
        if said is None:
            return f"the header `content-type` is absent, it should be `{content_type}`"
        if said.partition(";")[0].strip().lower() != content_type:
            return f"`content-type` is `{said}`, it should be `{content_type}`"
        return None

    return check


def first_problem(*checks: Callable[[Answer], str | None]) -> Callable[[Answer], str | None]:
    """Several checks as one: what the first of them finds."""

    def check(answer: Answer) -> str | None:
        found = (one(answer) for one in checks)
        return next((problem for problem in found if problem is not None), None)

    return check


@dataclass(frozen=True)
class Expected:
    """What a right answer looks like.

    Attributes:
        status: First and last status code that is right, both included.
        length_bytes: Length of the body in bytes; None when any length is right.
        body: The body to the byte; None when it is not constant.
        check: Says in one sentence what is wrong with an answer, or None when it is right.
    """

    status: tuple[int, int] = (200, 200)
    length_bytes: int | None = None
    body: bytes | None = None
    check: Callable[[Answer], str | None] = field(default=anything, compare=False)


@dataclass(frozen=True)
class Request:
    """One request as it goes over the wire, but for the Host header.

    Attributes:
        name: Short name, shown where kinds of request are counted apart.
        method: `GET`, `POST`, …
        target: Path and query, already encoded.
        headers: Name and value; `Content-Length` is added for a body.
        body: The body; empty for none.
        weight: Share of this request among those of its endpoint.
    """

    name: str
    method: str
    target: str
    headers: tuple[Header, ...] = ()
    body: bytes = b""
    weight: float = 1.0


@dataclass(frozen=True)
class Exchange:
    """A request and what is expected in answer."""

    request: Request
    expected: Expected


@dataclass(frozen=True)
class Endpoint:
    """One test of the contract.

    Attributes:
        name: Name in campaigns: `2048`, `json`, …
        summary: What it asks of a server, in one line.
        exchanges: What is sent under load, with weights.
        probes: Draws the exchanges of the contract check: values that a shortcut gets wrong.
    """

    name: str
    summary: str
    exchanges: tuple[Exchange, ...]
    probes: Callable[[Random], tuple[Exchange, ...]]


def render(request: Request, host_header: str, keep_alive: bool) -> bytes:
    """A request as the bytes that go over the wire.

    `Host`, `Connection` and `Content-Length` are added where the request does not bring its own.

    Args:
        request: What is asked.
        host_header: Value of the Host header: `127.0.0.1:8080`.
        keep_alive: Whether the connection is to stay open; if not, `Connection: close` is sent.

    Returns:
        Head and body.

    Raises:
        CampaignError: The method, the target or a header would break the head apart.

    Source:
        RFC 9112, sections 2 and 3.
    """
    given = {name.lower() for name, _ in request.headers}
    added = [("Host", host_header)]
    if not keep_alive:
        added.append(("Connection", "close"))
    if request.body or request.method in _WITH_BODY:
        added.append(("Content-Length", str(len(request.body))))
    headers = [header for header in added if header[0].lower() not in given]
    lines = [
        f"{_whole(request.method)} {_whole(request.target)} HTTP/1.1",
        *(f"{_whole(name)}: {_line(value)}" for name, value in (*headers, *request.headers)),
    ]
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode() + request.body


_WITH_BODY = ("POST", "PUT", "PATCH")


def _whole(word: str) -> str:
    """A word of the head that may not hold white space."""
    if not word or any(character.isspace() for character in word):
        message = f"`{word!r}` cannot stand in the head of a request"
        raise CampaignError([Problem("", message, "take out the white space, or encode it")])
    return _line(word)


def _line(text: str) -> str:
    """A text of the head that may not end its line."""
    if any(ord(character) < ord(" ") and character != "\t" for character in text):
        message = f"`{text!r}` cannot stand in the head of a request"
        raise CampaignError([Problem("", message, "take out the control characters")])
    return text
