"""How a sample of JMeter ended, in our outcomes.

JMeter writes a status code, or the Java exception that it met instead of one. An exception is
never taken for a status code. Where the same exception is met at several stages of a request, its
message tells them apart, or whether a first byte had come.

Source: `HTTPSamplerBase.errorResult`, `DurationAssertion`, `SizeAssertion` and
`ResponseAssertion` of Apache JMeter 5.6; the exceptions of Apache HttpClient 4.5 and java.net.
"""

from __future__ import annotations

import errno
import functools
from dataclasses import dataclass

NO_STATUS = "Non HTTP response code: "
"""What a response code begins with that is an exception."""

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
"""Words of the operating system within a message, and the error they stand for."""

_ANYWHERE = {
    errno.EMFILE: "too_many_files",
    errno.EADDRNOTAVAIL: "no_port",
    errno.EADDRINUSE: "no_port",
    errno.ECONNREFUSED: "connect_refused",
    errno.EPIPE: "reset_sending",
    errno.ENETUNREACH: "connect_unreachable",
    errno.EHOSTUNREACH: "connect_unreachable",
}
"""Errors that say themselves at which stage they were met."""

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
"""Exceptions, without their packages, that mean one thing whatever their message says."""

_ENDED = ("EOFException", "NoHttpResponseException", "ConnectionClosedException")
_CLOSED = ("unexpected end of file", "premature eof", "premature end of")
"""What an exception is called, or says, when the server closed the connection."""

_ABORTED = ("socket closed", "socket is closed", "connection has been shutdown", "request aborted")
"""What an exception says when JMeter itself ended the request, at the end of the test."""


@dataclass(frozen=True)
class Ended:
    """How a sample ended.

    Attributes:
        outcome: Name of the outcome.
        status: Status code; None when no head was read.
        errno: Error number that the message names in words; None when it names none.
        is_exception: Whether JMeter met an exception. Its text then stands in place of the answer,
            and is what `bytes` counts.
    """

    outcome: str
    status: int | None = None
    errno: int | None = None
    is_exception: bool = False


def ended(code: str, message: str, failure: str, success: bool | None, answered: bool) -> Ended:
    """How a sample ended.

    Args:
        code: Its response code as written; empty when the file does not say.
        message: Its response message.
        failure: What its assertions say; empty when they say nothing.
        success: Whether JMeter counts it as a success; None when the file does not say.
        answered: Whether a first byte of an answer had come.
    """
    status = _status(code)
    told = failure.partition(":")[0]
    if status is None and code.startswith(NO_STATUS):
        number = _number(f"{message} {code}".lower())
        known = told if told in _ours() else _exception(code, message, number, answered)
        return Ended(known, None, number, is_exception=told not in _ours())
    if told in _ours():
        return Ended(told, status)
    if success is None:
        success = status is not None and status < _LEAST_WRONG
    if success:
        return Ended("ok", status)
    return Ended(_wrong(status, code, failure, answered), status)


@functools.cache
def _ours() -> frozenset[str]:
    """Names of our own failures, which begin the messages of a JTL that we exported."""
    from plimsoll import _engine  # noqa: PLC0415

    return frozenset(
        name for _, name, _, group in _engine.outcomes() if group not in ("right", "connection")
    )


def _status(code: str) -> int | None:
    if not (code.isascii() and code.isdigit()):
        return None
    return int(code) if _LEAST_STATUS <= int(code[:4]) <= _MOST_STATUS else None


def _wrong(status: int | None, code: str, failure: str, answered: bool) -> str:
    """A sample that failed though no exception was met."""
    if status is None:
        return "wrong_body" if answered else "io_failed"
    said = failure.lower()
    if status >= _LEAST_WRONG or "code expected" in said:
        return "wrong_status"
    if "lasted too long" in said:
        return "timed_out_receiving"
    return "wrong_length" if "wrong size" in said else "wrong_body"


def _exception(code: str, message: str, number: int | None, answered: bool) -> str:
    """The outcome that an exception stands for."""
    name = code.removeprefix(NO_STATUS).strip().rpartition(".")[2]
    said = message.lower()
    if any(words in said for words in _ABORTED):
        return "unfinished"
    if number is not None:
        return _ANYWHERE.get(number) or _by_stage(number, name, answered)
    if name == "SocketTimeoutException":
        return _timed_out(said, answered)
    if name in _ENDED or any(words in said for words in _CLOSED):
        return "closed_early" if answered else "closed_waiting"
    return _BY_NAME.get(name, "io_failed")


def _by_stage(number: int, name: str, answered: bool) -> str:
    """The outcome of an error that can be met at several stages."""
    if number == errno.ECONNRESET:
        return _lost(name, answered)
    if number == errno.ETIMEDOUT:
        return _timed_out("connect" if "Connect" in name else "", answered)
    return _BY_NAME.get(name, "io_failed")


def _lost(name: str, answered: bool) -> str:
    """A connection that was reset."""
    if "Connect" in name or "Handshake" in name:
        return "connect_reset"
    return "reset_receiving" if answered else "reset_waiting"


def _timed_out(said: str, answered: bool) -> str:
    if "connect" in said:
        return "connect_timeout"
    return "timed_out_receiving" if answered else "timed_out_waiting"


def _number(said: str) -> int | None:
    """The error of the operating system that some words name."""
    return next((number for words, number in _NUMBERS.items() if words in said), None)
