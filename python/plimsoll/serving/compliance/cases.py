"""The cases of the gate: what is sent, and how it is judged.

Sources are sections of RFC 9110 (semantics of HTTP) and RFC 9112 (HTTP/1.1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.serving.compliance import judging
from plimsoll.serving.compliance.conversation import Sending
from plimsoll.serving.compliance.usual import MISSING_PATH, UsualRequests, chunked, get, post

if TYPE_CHECKING:
    from plimsoll.serving.compliance.judging import Judge

Script = tuple[Sending, ...]

LONG_FIELD_BYTES = 128 * 1024
"""Length of a header field that is too long for most servers."""

_SEGMENT_BYTES = 8 * 1024
_UNKNOWN_METHOD = "PLIMSOLL"


@dataclass(frozen=True)
class ComplianceCase:
    """One case.

    Attributes:
        name: Its name.
        title: What is sent, in a few words.
        source: Section that says how to respond.
        script: Makes what is sent.
        judge: Judges what came.
        needs_body: Whether the server must take a request with a body.
    """

    name: str
    title: str
    source: str
    script: Callable[[UsualRequests], Script]
    judge: Judge
    needs_body: bool = False


def _once(request: bytes, method: str = "GET") -> Script:
    return (Sending((request,), (method,)),)


def _followed(usual: UsualRequests, request: bytes, method: str = "GET") -> Script:
    """A request, and a usual one that is answered unless the connection was closed."""
    return (*_once(request, method), *_once(get(usual)))


def _fragmented(usual: UsualRequests) -> Script:
    request = post(usual)
    pieces = tuple(request[place : place + 1] for place in range(len(request)))
    return (Sending(pieces, (usual.with_body.method,)),)


def _pipelined(usual: UsualRequests) -> Script:
    requests = get(usual) + get(usual) + get(usual, target=MISSING_PATH)
    return (Sending((requests,), ("GET",) * 3),)


def _long_head(usual: UsualRequests) -> Script:
    request = get(usual, f"X-Plimsoll: {'a' * LONG_FIELD_BYTES}")
    places = range(0, len(request), _SEGMENT_BYTES)
    return (Sending(tuple(request[place : place + _SEGMENT_BYTES] for place in places)),)


def _field_names(usual: UsualRequests) -> Script:
    swapped = post(usual).split(b"\r\n\r\n", 1)
    lines = swapped[0].split(b"\r\n")
    names = (line.partition(b":") for line in lines[1:])
    head = b"\r\n".join(
        (lines[0], *(name.swapcase() + colon + value for name, colon, value in names))
    )
    return _once(b"\r\n\r\n".join((head, *swapped[1:])), usual.with_body.method)


def _expecting(usual: UsualRequests) -> Script:
    body = usual.with_body.body
    head = post(usual, f"Content-Length: {len(body)}", "Expect: 100-continue", body=b"")
    methods = (usual.with_body.method,)
    return (Sending((head,), methods, awaits_continue=True), Sending((body,), methods))


def _in_chunks(usual: UsualRequests, extension: str = "", trailer: str = "") -> Script:
    body = chunked(usual, extension, trailer)
    request = post(usual, "Transfer-Encoding: chunked", body=body)
    return _followed(usual, request, usual.with_body.method)


def _framed(usual: UsualRequests, *lengths: str) -> Script:
    """A body with the lengths in `lengths`; one more byte is sent, so that no server waits."""
    lines = tuple(f"Content-Length: {length}" for length in lengths)
    request = post(usual, *lines, body=usual.with_body.body + b" ")
    return _followed(usual, request, usual.with_body.method)


def _bytes(usual: UsualRequests) -> int:
    return len(usual.with_body.body)


CASES: tuple[ComplianceCase, ...] = (
    ComplianceCase(
        "fragmented",
        "a request byte by byte",
        "RFC 9112, 2.2",
        _fragmented,
        judging.as_usual_with_body,
    ),
    ComplianceCase(
        "pipelined",
        "three requests at once",
        "RFC 9112, 9.3.2",
        _pipelined,
        judging.in_order,
    ),
    ComplianceCase(
        "close",
        "Connection: close",
        "RFC 9112, 9.6",
        lambda usual: _followed(usual, get(usual, "Connection: close")),
        judging.closed,
    ),
    ComplianceCase(
        "after_refusal",
        "a request after a response with 404",
        "RFC 9112, 9.3",
        lambda usual: _followed(usual, get(usual, target=MISSING_PATH)),
        judging.goes_on_after_refusal,
    ),
    ComplianceCase(
        "http10",
        "a request of HTTP/1.0",
        "RFC 9112, 6.1 and 9.3",
        lambda usual: _followed(usual, get(usual, version="1.0")),
        judging.closed_without_chunks,
    ),
    ComplianceCase(
        "absolute_form",
        "a target with scheme and host",
        "RFC 9112, 3.2.2",
        lambda usual: _once(get(usual, target=f"http://{usual.authority}{usual.get.target}")),
        judging.as_usual,
    ),
    ComplianceCase(
        "empty_line",
        "an empty line before the request",
        "RFC 9112, 2.2",
        lambda usual: _once(b"\r\n" + get(usual)),
        judging.as_usual_preferably,
    ),
    ComplianceCase(
        "field_names",
        "header names in other letter case",
        "RFC 9110, 5.1",
        _field_names,
        judging.as_usual_with_body,
    ),
    ComplianceCase(
        "host_missing",
        "no Host",
        "RFC 9112, 3.2",
        lambda usual: _once(get(usual, host=())),
        judging.refused,
    ),
    ComplianceCase(
        "host_twice",
        "two Host fields",
        "RFC 9112, 3.2",
        lambda usual: _once(get(usual, f"Host: {usual.authority}")),
        judging.refused,
    ),
    ComplianceCase(
        "host_invalid",
        "a Host with a space in it",
        "RFC 9112, 3.2",
        lambda usual: _once(get(usual, host=("Host: not a host",))),
        judging.refused,
    ),
    ComplianceCase(
        "space_before_colon",
        "a space between header name and colon",
        "RFC 9112, 5.1",
        lambda usual: _once(get(usual, "X-Plimsoll : 1")),
        judging.refused,
    ),
    ComplianceCase(
        "folded",
        "a folded header line",
        "RFC 9112, 5.2",
        lambda usual: _once(get(usual, "X-Plimsoll: one\r\n two")),
        judging.as_usual_or_refused,
    ),
    ComplianceCase(
        # The empty line at the end has servers respond that wait for a CR.
        "bare_lf",
        "lines that end in LF alone",
        "RFC 9112, 2.2",
        lambda usual: _once(get(usual, line_end="\n") + b"\r\n\r\n"),
        judging.as_usual_or_refused,
    ),
    ComplianceCase(
        "long_head",
        "a header of 128 KiB",
        "RFC 9110, 5.4; RFC 6585, 5",
        _long_head,
        judging.long_head,
    ),
    ComplianceCase(
        "head",
        "HEAD",
        "RFC 9110, 8.6, 9.1 and 9.3.2",
        lambda usual: _followed(usual, get(usual, method="HEAD"), "HEAD"),
        judging.head_only,
    ),
    ComplianceCase(
        "options",
        "OPTIONS",
        "RFC 9110, 9.3.7 and 15.5.6",
        lambda usual: _once(get(usual, method="OPTIONS"), "OPTIONS"),
        judging.options,
    ),
    ComplianceCase(
        "unknown_method",
        "an unknown method",
        "RFC 9110, 9.1 and 15.5.6",
        lambda usual: _once(get(usual, method=_UNKNOWN_METHOD), _UNKNOWN_METHOD),
        judging.unknown_method,
    ),
    ComplianceCase(
        "expect_continue",
        "Expect: 100-continue",
        "RFC 9110, 10.1.1",
        _expecting,
        judging.continues,
        needs_body=True,
    ),
    ComplianceCase(
        "chunk_extensions",
        "a body in chunks with extensions",
        "RFC 9112, 7.1 and 7.1.1",
        lambda usual: _in_chunks(usual, extension=';plimsoll="a b";more'),
        judging.chunks_read,
        needs_body=True,
    ),
    ComplianceCase(
        "trailers",
        "a body in chunks with trailers",
        "RFC 9112, 7.1 and 7.1.2",
        lambda usual: _in_chunks(usual, trailer="X-Plimsoll: 1\r\nX-More: 2\r\n"),
        judging.chunks_read,
        needs_body=True,
    ),
    ComplianceCase(
        "lengths_differ",
        "two different Content-Length",
        "RFC 9112, 6.3",
        lambda usual: _framed(usual, str(_bytes(usual)), str(_bytes(usual) + 1)),
        judging.refused_and_closed,
        needs_body=True,
    ),
    ComplianceCase(
        "length_sign",
        "a Content-Length with a sign",
        "RFC 9112, 6.3",
        lambda usual: _framed(usual, f"+{_bytes(usual)}"),
        judging.refused_and_closed,
        needs_body=True,
    ),
    ComplianceCase(
        "length_word",
        "a Content-Length that is no number",
        "RFC 9112, 6.3",
        lambda usual: _framed(usual, "many"),
        judging.refused_and_closed,
        needs_body=True,
    ),
    ComplianceCase(
        "lengths_equal",
        "the same Content-Length twice",
        "RFC 9110, 8.6",
        lambda usual: _once(
            post(usual, *(f"Content-Length: {_bytes(usual)}",) * 2), usual.with_body.method
        ),
        judging.length_repeated,
        needs_body=True,
    ),
    ComplianceCase(
        "length_and_chunked",
        "Content-Length and Transfer-Encoding",
        "RFC 9112, 6.1",
        lambda usual: _followed(
            usual,
            post(usual, "Content-Length: 3", "Transfer-Encoding: chunked", body=chunked(usual)),
            usual.with_body.method,
        ),
        judging.length_and_chunked,
        needs_body=True,
    ),
    ComplianceCase(
        "unknown_coding",
        "a Transfer-Encoding that is not known",
        "RFC 9112, 6.1 and 6.3",
        lambda usual: _followed(
            usual, post(usual, "Transfer-Encoding: plimsoll", body=b""), usual.with_body.method
        ),
        judging.coding_refused,
        needs_body=True,
    ),
)
"""Every case, in the order of the report."""
