"""Maps JMeter's samples to outcomes.

JMeter writes a status code, or a Java exception instead. An exception is never taken for a status
code. If an exception can occur at several stages of a request, its message identifies the stage, or
whether a first byte had arrived.

Source: `HTTPSamplerBase.errorResult`, `DurationAssertion`, `SizeAssertion` and
`ResponseAssertion` of Apache JMeter 5.6; the exceptions of Apache HttpClient 4.5 and java.net.
"""

from __future__ import annotations

import errno
import functools
from dataclasses import dataclass

from plimsoll import _engine

NO_STATUS = "Non HTTP response code: "
"""Prefix of a response code that is an exception."""

_LEAST_STATUS, _LEAST_WRONG, _MOST_STATUS = 100, 400, 999

_NUMBERS = {
    "too many open files": errno.EMFILE,
    "cannot assign requested address": errno.EADDRNOTAVAIL,
    "address not available": errno.EADDRNOTAVAIL,
    "address already in use": errno.EADDRINUSE,
    "connection refused": errno.ECONNREFUSED,
    "connection reset": errno.ECONNRESET,
    "broken pipe": errno.EPIPE,
    "connection timed out": errno.ETIMEDOUT,
    "network is unreachable": errno.ENETUNREACH,
    "no route to host": errno.EHOSTUNREACH,
    "no buffer space available": errno.ENOBUFS,
}
"""Error messages of the operating system, and their error numbers."""

_ANYWHERE = {
    errno.EMFILE: "too_many_files",
    errno.EADDRNOTAVAIL: "no_port",
    errno.EADDRINUSE: "no_port",
    errno.ECONNREFUSED: "connect_refused",
    errno.EPIPE: "reset_sending",
    errno.ENETUNREACH: "connect_unreachable",
    errno.EHOSTUNREACH: "connect_unreachable",
}
"""Errors that can occur at one stage only."""

_BY_NAME = {
    "ConnectTimeoutException": "connect_timeout",
    "ConnectionPoolTimeoutException": "connect_timeout",
    "HttpConnectTimeoutException": "connect_timeout",
    "HttpHostConnectException": "connect_refused",
    "ConnectException": "connect_failed",
    "BindException": "no_port",
    "UnknownHostException": "connect_unreachable",
    "NoRouteToHostException": "connect_unreachable",
    "PortUnreachableException": "connect_unreachable",
    "SSLHandshakeException": "connect_failed",
    "SSLPeerUnverifiedException": "connect_failed",
    "SSLKeyException": "connect_failed",
    "TruncatedChunkException": "closed_early",
    "MalformedChunkCodingException": "malformed_chunk",
    "ClientProtocolException": "malformed_head",
    "ProtocolException": "malformed_head",
    "ParseException": "malformed_head",
    "MessageConstraintException": "head_too_large",
    "UnsupportedHttpVersionException": "malformed_head",
    "RequestAbortedException": "unfinished",
    "InterruptedException": "unfinished",
    "ThreadDeath": "unfinished",
}
"""Exceptions, without their packages, whose meaning does not depend on their message."""

_ENDED = ("EOFException", "NoHttpResponseException", "ConnectionClosedException")
_CLOSED = ("unexpected end of file", "premature eof", "premature end of")
"""Names and messages of exceptions if the server closed the connection."""

_ABORTED = ("socket closed", "socket is closed", "connection has been shutdown", "request aborted")
"""Messages of exceptions if JMeter itself ended the request, at the end of the test."""


@dataclass(frozen=True)
class SampleOutcome:
    """How a sample ended.

    Attributes:
        outcome: Name of the outcome.
        status: Status code; None if no head was read.
        errno: Error number of the message; None if it has none.
        is_exception: Whether JMeter reports an exception. `bytes` is then the length of its text
            instead of a response.
    """

    outcome: str
    status: int | None = None
    errno: int | None = None
    is_exception: bool = False


def ended(
    code: str, message: str, failure: str, success: bool | None, responded: bool
) -> SampleOutcome:
    """How a sample ended.

    Args:
        code: Its response code as written; empty if it is not in the file.
        message: Its response message.
        failure: Message of its assertions; may be empty.
        success: Whether JMeter counts it as a success; None if it is not in the file.
        responded: Whether a first byte of a response had arrived.
    """
    status = _status(code)
    named = failure.partition(":")[0]
    if status is None and code.startswith(NO_STATUS):
        number = _number(f"{message} {code}".lower())
        known = named if named in _ours() else _exception(code, message, number, responded)
        return SampleOutcome(known, None, number, is_exception=named not in _ours())
    if named in _ours():
        return SampleOutcome(named, status)
    if success is None:
        success = status is not None and status < _LEAST_WRONG
    if success:
        return SampleOutcome("ok", status)
    return SampleOutcome(_wrong(status, code, failure, responded), status)


@functools.cache
def _ours() -> frozenset[str]:
    """Names of Plimsoll's failures, which begin the failure messages of an exported JTL."""
    return frozenset(
        name
        for _, name, _, group in _engine.outcomes()
        if group not in ("successful", "connection")
    )


def _status(code: str) -> int | None:
    if not (code.isascii() and code.isdigit()):
        return None
    return int(code) if _LEAST_STATUS <= int(code[:4]) <= _MOST_STATUS else None


def _wrong(status: int | None, code: str, failure: str, responded: bool) -> str:
    """The outcome of a sample that failed without an exception."""
    if status is None:
        return "wrong_body" if responded else "io_failed"
    text = failure.lower()
    if status >= _LEAST_WRONG or "code expected" in text:
        return "wrong_status"
    if "lasted too long" in text:
        return "timed_out_receiving"
    return "wrong_length" if "wrong size" in text else "wrong_body"


def _exception(code: str, message: str, number: int | None, responded: bool) -> str:
    """The outcome of an exception."""
    name = code.removeprefix(NO_STATUS).strip().rpartition(".")[2]
    text = message.lower()
    if any(words in text for words in _ABORTED):
        return "unfinished"
    if number is not None:
        return _ANYWHERE.get(number) or _by_stage(number, name, responded)
    if name == "SocketTimeoutException":
        return _timed_out(text, responded)
    if name in _ENDED or any(words in text for words in _CLOSED):
        return "closed_early" if responded else "closed_waiting"
    return _BY_NAME.get(name, "io_failed")


def _by_stage(number: int, name: str, responded: bool) -> str:
    """The outcome of an error that can occur at several stages."""
    if number == errno.ECONNRESET:
        return _lost(name, responded)
    if number == errno.ETIMEDOUT:
        return _timed_out("connect" if "Connect" in name else "", responded)
    return _BY_NAME.get(name, "io_failed")


def _lost(name: str, responded: bool) -> str:
    """The outcome of a reset connection."""
    if "Connect" in name or "Handshake" in name:
        return "connect_reset"
    return "reset_receiving" if responded else "reset_waiting"


def _timed_out(text: str, responded: bool) -> str:
    if "connect" in text:
        return "connect_timeout"
    return "timed_out_receiving" if responded else "timed_out_waiting"


def _number(text: str) -> int | None:
    """The error number of a message of the operating system."""
    return next((number for words, number in _NUMBERS.items() if words in text), None)
