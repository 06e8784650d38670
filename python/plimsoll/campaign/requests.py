"""Requests, the expected responses, and endpoints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Literal

from plimsoll import wording
from plimsoll.campaign.database_use import DatabaseUse
from plimsoll.campaign.fixtures import Fixtures
from plimsoll.errors import InputError, Problem

if TYPE_CHECKING:
    from plimsoll.campaign.changes import ContentChange
    from plimsoll.campaign.load import Protocol

Header = tuple[str, str]

Values = Literal["drawn", "fixed"]
"""Whether the values sent under load are drawn for each trial, or always the same."""

DRAWN = 2048
"""The number of different requests under load if values are drawn.

More than the default size of caches in front of handlers: 128 to 1,000 entries.
"""

CACHE_NOT_EXCLUDED = (
    f"that every response was computed: a cache of {wording.count(DRAWN)} holds them all"
)
"""What correct responses do not prove if the work is too little to show in their time."""

DRAWN_BY_TOOLS = 64
"""The same for other load generators: JMeter copies each request for each of its threads."""


NO_STATUS = (0, 0)
"""The expected status of a message of WebSocket, which has none."""


EVENT_STREAM = "text/event-stream"
"""Media type of a stream of events; WHATWG, HTML Living Standard, section 9.2."""

EARLY_S = 0.002
"""An event may come so long before it is due, in seconds: servers' timers count milliseconds."""

_EVENTS_OF_AN_ARRIVAL = 3
"""Events are kept back if so many or more come at one instant, on average.

A host without a free core delays server and client by up to two of the pauses of `stream`.
"""

AT_ONCE_PART = 10
"""Events that all come within this part of the time that they should take were held back."""


@dataclass(frozen=True)
class ServerSentEvent:
    """An event of a response.

    Attributes:
        data: Its data; lines are joined by line feeds.
        at_s: When its end came, in seconds since the request was sent.
    """

    data: str
    at_s: float


@dataclass(frozen=True)
class HttpResponse:
    """The response to one request.

    Attributes:
        status: Status code.
        headers: Name (lower case) and value, in the order received.
        body: The body, decoded from its transfer coding, and from a content coding if accepted.
        events: The events of a body of type `text/event-stream`.
        coded_bytes: Length of the body in its content coding; None if it was decoded from none.
    """

    status: int
    headers: tuple[Header, ...]
    body: bytes
    events: tuple[ServerSentEvent, ...] = ()
    coded_bytes: int | None = None

    def header(self, name: str) -> str | None:
        """The first value of a header, or None."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key == wanted), None)

    @property
    def codings(self) -> tuple[str, ...]:
        """The content codings of its body, in the order applied; the engine reads them alike.

        Source:
            RFC 9110, section 8.4.1: case does not matter, and `x-gzip` is `gzip`.
        """
        lists = (value for key, value in self.headers if key == "content-encoding")
        names = (name.strip().lower() for one in lists for name in one.split(","))
        return tuple("gzip" if name == "x-gzip" else name for name in names if name not in _PLAIN)


_PLAIN = ("", "identity")
"""What `Content-Encoding` says of a body without coding."""


def anything(response: HttpResponse) -> str | None:
    """Accepts every response whose status and length are correct."""
    return None


def any_body(body: bytes) -> str | None:
    """Accepts every body."""
    return None


def of_type(content_type: str) -> Callable[[HttpResponse], str | None]:
    """A check of the content type, whatever its parameters.

    Args:
        content_type: The expected one: `text/plain`.

    Returns:
        A function that returns one sentence about a wrong `Content-Type`, or None.
    """

    def check(response: HttpResponse) -> str | None:
        stated = response.header("content-type")
        if stated is None:
            return f"the header `content-type` is missing, expected `{content_type}`"
        if stated.partition(";")[0].strip().lower() != content_type:
            return f"`content-type` is `{stated}`, expected `{content_type}`"
        return None

    return check


def first_problem(
    *checks: Callable[[HttpResponse], str | None],
) -> Callable[[HttpResponse], str | None]:
    """Several checks as one, which returns the first problem."""

    def check(response: HttpResponse) -> str | None:
        found = (one(response) for one in checks)
        return next((problem for problem in found if problem is not None), None)

    return check


Coding = Literal["gzip", "br", "zstd"]

CODINGS: tuple[Coding, ...] = ("gzip", "br", "zstd")
"""Content codings that the engine decodes."""


@dataclass(frozen=True)
class Events:
    """The events of an expected response, which is a `text/event-stream`.

    Attributes:
        data: Data of each, in order; None for any, of which there is at least one.
        every_s: Pause between two, in seconds: one is due so many pauses after the request as there
            are events before it. 0 if each may come at any time.
    """

    data: tuple[str, ...] | None = None
    every_s: float = 0.0

    def problem(self, response: HttpResponse) -> str | None:
        """One sentence about a response with other events, or None."""
        wrong_type = of_type(EVENT_STREAM)(response)
        if wrong_type is not None:
            return wrong_type
        found = tuple(event.data for event in response.events)
        if self.data is not None and len(found) != len(self.data):
            return f"there are {len(found)} events, expected {len(self.data)}"
        if not found:
            return "there is no event"
        for number, (is_, should) in enumerate(zip(found, self.data or found, strict=True)):
            if is_ != should:
                return f"the data of event {number} is `{is_[:60]}`, expected `{should[:60]}`"
        return self._too_early(response) or self.at_once(response)

    def _too_early(self, response: HttpResponse) -> str | None:
        """One sentence about an event that came before it was due, or None."""
        for number, event in enumerate(response.events):
            due_s = number * self.every_s
            if event.at_s < due_s - EARLY_S:
                came, due = wording.seconds(event.at_s), wording.seconds(due_s)
                return f"event {number} came {came} after the request, due after {due}"
        return None

    def at_once(self, response: HttpResponse) -> str | None:
        """One sentence about events that were kept back and came at once, all or most; or None.

        The engine blames less under load: only all of them, where the last one is late by no more
        than a tenth of what they should take. The check sends the request again before it blames.
        """
        events = response.events
        stated_s = max(len(events) - 1, 0) * self.every_s
        if not stated_s or events[-1].at_s > 2 * stated_s:
            return None
        took_s = events[-1].at_s - events[0].at_s
        if took_s < stated_s / AT_ONCE_PART:
            due = wording.seconds(stated_s)
            return f"all events came within {wording.seconds(took_s)}, due over {due}"
        apart_s = (then.at_s - one.at_s for one, then in pairwise(events))
        arrivals = 1 + sum(each_s >= self.every_s / AT_ONCE_PART for each_s in apart_s)
        if arrivals * _EVENTS_OF_AN_ARRIVAL > len(events):
            return None
        due = wording.seconds(self.every_s)
        return f"{len(events)} events came at {arrivals} instants, due {due} apart"


@dataclass(frozen=True)
class Expected:
    """The expected response.

    Attributes:
        status: First and last correct status code, both included.
        length_bytes: Length of the body in bytes; None for any length.
        body: The exact body; None if it is not constant.
        codings: Content codings that the request accepts; bodies are decoded to be compared.
        events: The events that the body consists of; None for any body.
        check: Returns one sentence about a wrong response, or None for a correct one.
        check_body: Does the same for the body alone, if `body` does not suffice; None if nothing
            more is known about it.
        excepted_by: The rule of `CONTRACT_NOTES` that the exchange checks; empty for none.
    """

    status: tuple[int, int] = (200, 200)
    length_bytes: int | None = None
    body: bytes | None = None
    codings: tuple[Coding, ...] = ()
    events: Events | None = None
    check: Callable[[HttpResponse], str | None] = field(default=anything, compare=False)
    check_body: Callable[[bytes], str | None] | None = field(default=None, compare=False)
    excepted_by: str = ""

    @property
    def is_recomputed(self) -> bool:
        """Whether bodies cannot be compared, so that a sample is checked after the load."""
        return self.body is None and self.check_body is not None

    @property
    def is_unknown(self) -> bool:
        """Whether nothing is known of bodies, so that a sample is compared with each other."""
        return self.body is None and self.check_body is None and self.events is None


@dataclass(frozen=True)
class Upload:
    """A file that is sent as the body of requests.

    Attributes:
        file: Its absolute path.
        size_bytes: Its length when it was looked at, which is the `Content-Length`.
    """

    file: Path
    size_bytes: int


@dataclass(frozen=True)
class Request:
    """One request without its Host header.

    Attributes:
        name: Short name; requests of the same name are one request type.
        method: `GET`, `POST`, …
        target: Path and query, already encoded.
        headers: Name and value; `Content-Length` is added for a body.
        body: The body; empty for none.
        weight: Share of this request among those of its endpoint.
        upload: File whose content is the body instead; None for none.
        expects_continue: Whether the body is sent only when the server has invited it.
    """

    name: str
    method: str
    target: str
    headers: tuple[Header, ...] = ()
    body: bytes = b""
    weight: float = 1.0
    upload: Upload | None = None
    expects_continue: bool = False


@dataclass(frozen=True)
class Exchange:
    """A request and the expected response."""

    request: Request
    expected: Expected


@dataclass(frozen=True)
class Pairs:
    """Pairs of exchanges that need equal work.

    Attributes:
        second: How the second of each pair relates to the first: `the same number again`.
        pairs: The pairs; a server that caches responses is faster at the second of each.
    """

    second: str
    pairs: tuple[tuple[Exchange, Exchange], ...]


@dataclass(frozen=True)
class Endpoint:
    """One test of the contract.

    Attributes:
        name: Name in campaigns: `2048`, `json`, …
        summary: Request and response in one line.
        exchanges: The requests under load if values are fixed, with weights.
        probes: Draws the exchanges of the contract check: values that defeat shortcuts.
        drawn: Draws a number of exchanges of equal weight, sent under load if values are drawn;
            None if `exchanges` are sent in any case.
        laborious: Draws pairs of exchanges that need much work; None if the work is too little to
            show in the time of a response.
        large: Draws an exchange whose request body has some 64 KiB, which the contract check sends
            in chunks; None if no such body is valid.
        not_proven: What a correct response under load does not prove; empty if it proves the work.
        changes: Draws changes of rows or files, which responses must show; None for an endpoint
            that shows neither.
        database: How it uses the database; None if it needs none.
        excepted: Rules of `CONTRACT_NOTES` that its responses need not keep.
        upstream_s: How long the upstream takes for what a response needs of it, in seconds; None if
            it needs none.
        with_fixtures: The same endpoint for a server with other fixtures than those of seed 0; None
            if it uses none.
        protocol: `websocket` if the body of each request is a message of it; otherwise `http1`, and
            the protocol is that of the load.
    """

    name: str
    summary: str
    exchanges: tuple[Exchange, ...]
    probes: Callable[[Random], tuple[Exchange, ...]]
    drawn: Callable[[Random, int], tuple[Exchange, ...]] | None = None
    laborious: Callable[[Random], tuple[Pairs, ...]] | None = None
    large: Callable[[Random], Exchange] | None = None
    not_proven: str = ""
    changes: Callable[[Random], tuple[ContentChange, ...]] | None = None
    database: DatabaseUse | None = None
    excepted: tuple[str, ...] = ()
    upstream_s: float | None = None
    with_fixtures: Callable[[Fixtures], Endpoint] | None = None
    protocol: Protocol = "http1"

    def goes_by(self, protocol: Protocol) -> bool:
        """Whether its requests can be made on connections of a protocol: WebSocket by HTTP/1.1."""
        return "http1" in (self.protocol, protocol)

    def of_seed(self, seed: int) -> Endpoint:
        """This endpoint for a server whose fixtures were drawn from a seed."""
        return self if self.with_fixtures is None else self.with_fixtures(Fixtures.drawn(seed))

    def sent(self, values: Values, seed: int, count: int = DRAWN) -> tuple[Exchange, ...]:
        """The requests under load, with weights.

        Args:
            values: Whether values are drawn, if the endpoint has any.
            seed: Seed of the values.
            count: Number of different requests.
        """
        if values == "fixed" or self.drawn is None:
            return self.exchanges
        return self.drawn(Random(f"{seed}/values"), count)  # noqa: S311  a seed makes it repeatable


def render(request: Request, host_header: str, keep_alive: bool, *, chunked: bool = False) -> bytes:
    """The bytes of a request.

    `Host`, `Connection`, `Expect` and `Content-Length` are added unless the request has its own.

    Args:
        request: The request.
        host_header: Value of the Host header: `127.0.0.1:8080`.
        keep_alive: Whether the connection stays open; if not, `Connection: close` is sent.
        chunked: Whether a body is sent in chunks, at least two, instead of with its length.

    Returns:
        Head and body; the head alone where the body is a file.

    Raises:
        InputError: The method, the target or a header contains characters that end its field.

    Source:
        RFC 9112, sections 2, 3 and 7.1.
    """
    given = {name.lower() for name, _ in request.headers}
    added = [("Host", host_header)]
    if not keep_alive:
        added.append(("Connection", "close"))
    if request.expects_continue:
        added.append(("Expect", "100-continue"))
    body = request.body
    if chunked and body:
        added.append(("Transfer-Encoding", "chunked"))
        body = _in_chunks(body)
    elif request.upload is not None:
        added.append(("Content-Length", str(request.upload.size_bytes)))
    elif body or request.method in _WITH_BODY:
        added.append(("Content-Length", str(len(request.body))))
    headers = [header for header in added if header[0].lower() not in given]
    lines = [
        f"{_whole(request.method)} {_whole(request.target)} HTTP/1.1",
        *(f"{_whole(name)}: {_line(value)}" for name, value in (*headers, *request.headers)),
    ]
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode() + body


def sent(request: Request, protocol: Protocol, host_header: str, keep_alive: bool) -> bytes:
    """What the engine is given of a request: its bytes by HTTP/1.1, or the message of WebSocket.

    Raises:
        InputError: As `render`.
    """
    if protocol == "websocket":
        return request.body
    return render(request, host_header, keep_alive)


def upgrade_request(request: Request) -> Request:
    """The request that asks for WebSocket, for a request whose body is a message.

    What the handshake adds to it is different on each connection: the engine does that.
    """
    return replace(request, method="GET", body=b"")


_WITH_BODY = ("POST", "PUT", "PATCH")
_LONGEST_CHUNK = 8192


def _in_chunks(body: bytes) -> bytes:
    """A body in chunks of at most half its length; one byte is one chunk."""
    length = min((len(body) + 1) // 2, _LONGEST_CHUNK)
    chunks = (body[at : at + length] for at in range(0, len(body), length))
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def _whole(word: str) -> str:
    """A word of the head, which must not contain white space."""
    if not word or any(character.isspace() for character in word):
        message = f"`{word!r}` is not allowed in a request header"
        raise InputError([Problem("", message, "remove the white space, or encode it")])
    return _line(word)


def _line(text: str) -> str:
    """A text of the head, which must not contain a line end."""
    if any(ord(character) < ord(" ") and character != "\t" for character in text):
        message = f"`{text!r}` is not allowed in a request header"
        raise InputError([Problem("", message, "remove the control characters")])
    return text
