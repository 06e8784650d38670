"""Outcomes: what the names in the column `outcome` have in common, in words for a reader."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Group = Literal[
    "successful", "wrong", "connect", "lost", "timed_out", "malformed", "open", "connection"
]


@dataclass(frozen=True)
class Outcome:
    """One way in which a request, or a connection, ends.

    Attributes:
        name: Name in the column `outcome`.
        group: What it has in common with others; `successful` and `wrong` are complete responses.
        words: What happened, as a description of several requests.
        has_errno: Whether the system gives an error number with it.
    """

    name: str
    group: Group
    words: str
    has_errno: bool = False


OUTCOMES = (
    Outcome("ok", "successful", "successful"),
    Outcome("wrong_status", "wrong", "with an unexpected status code"),
    Outcome("wrong_length", "wrong", "with an unexpected body length"),
    Outcome("wrong_body", "wrong", "with unexpected body content"),
    Outcome("wrong_coding", "wrong", "with a content coding that was not requested"),
    Outcome("broken_coding", "wrong", "with a corrupt or truncated content coding"),
    Outcome("decoded_too_large", "wrong", "with a body too large once decoded"),
    Outcome("redirected_elsewhere", "wrong", "redirected to another origin"),
    Outcome("too_many_redirects", "wrong", "redirected too often"),
    Outcome("redirect_not_followed", "wrong", "redirected without a usable Location"),
    Outcome("not_events", "wrong", "not of type text/event-stream"),
    Outcome("wrong_events", "wrong", "with unexpected events"),
    Outcome("connect_refused", "connect", "connection refused", has_errno=True),
    Outcome("connect_timeout", "connect", "connect timeout"),
    Outcome("connect_unreachable", "connect", "host unreachable", has_errno=True),
    Outcome("connect_reset", "connect", "reset while connecting", has_errno=True),
    Outcome("no_port", "connect", "out of local ports", has_errno=True),
    Outcome("too_many_files", "connect", "out of file descriptors", has_errno=True),
    Outcome("connect_failed", "connect", "connect failed", has_errno=True),
    Outcome("reset_sending", "lost", "reset while sending", has_errno=True),
    Outcome("reset_waiting", "lost", "reset while waiting for the response", has_errno=True),
    Outcome("reset_receiving", "lost", "reset during the response", has_errno=True),
    Outcome("closed_waiting", "lost", "closed by the server before the response"),
    Outcome("closed_early", "lost", "closed by the server during the response"),
    Outcome("lost_behind", "lost", "lost behind a failed request on the same connection"),
    Outcome("stream_reset", "lost", "HTTP/2 stream reset by the server"),
    Outcome("stream_refused", "lost", "HTTP/2 stream refused by the server"),
    Outcome("gone_away", "lost", "not processed before the server ended the connection (GOAWAY)"),
    Outcome("close_received", "lost", "closed by the server with a close frame"),
    Outcome("timed_out_sending", "timed_out", "timed out while sending"),
    Outcome("timed_out_waiting", "timed_out", "timed out before the response"),
    Outcome("timed_out_receiving", "timed_out", "timed out during the response"),
    Outcome("malformed_head", "malformed", "response is not HTTP"),
    Outcome("malformed_chunk", "malformed", "malformed chunked response"),
    Outcome("head_too_large", "malformed", "response head too large"),
    Outcome("unsolicited", "malformed", "unsolicited bytes"),
    Outcome("io_failed", "lost", "read or write failed", has_errno=True),
    Outcome("http2_error", "malformed", "response breaks the rules of HTTP/2"),
    Outcome("not_http2", "malformed", "response is not HTTP/2"),
    Outcome("websocket_error", "malformed", "response breaks the rules of WebSocket"),
    Outcome("unfinished", "open", "still in flight at the end"),
    Outcome("not_sent", "open", "due but never sent"),
    Outcome("cancelled", "open", "not sent before the load ended"),
    Outcome("tls_unknown_authority", "connect", "certificate of an unknown authority"),
    Outcome("tls_wrong_name", "connect", "certificate for another name"),
    Outcome("tls_expired", "connect", "certificate expired or not yet valid"),
    Outcome("tls_bad_certificate", "connect", "certificate missing or broken"),
    Outcome("tls_nothing_in_common", "connect", "no TLS version or cipher in common"),
    Outcome("tls_alert", "connect", "TLS handshake refused by an alert"),
    Outcome("tls_closed", "connect", "closed within the TLS handshake"),
    Outcome("tls_timeout", "connect", "TLS handshake timeout"),
    Outcome("tls_not_spoken", "connect", "response is not TLS"),
    Outcome("tls_broken", "connect", "TLS broken within the handshake"),
    Outcome("tls_failed", "lost", "TLS failed after the handshake"),
    Outcome("upgrade_refused", "connect", "upgrade to WebSocket refused with another status"),
    Outcome("upgrade_invalid", "connect", "response to the upgrade is not one of WebSocket"),
    Outcome("upgrade_closed", "connect", "closed within the upgrade to WebSocket"),
    Outcome("upgrade_timeout", "connect", "upgrade to WebSocket timeout"),
    Outcome("closed_idle", "connection", "closed by the server between requests"),
    Outcome("closed_as_announced", "connection", "closed as the server had announced"),
    Outcome("still_open", "connection", "open at the end"),
    Outcome("closed_by_driver", "connection", "closed by the driver, as the load requires"),
)
"""Every outcome of a request; the last four are of connections only."""

BY_NAME = {outcome.name: outcome for outcome in OUTCOMES}
"""Every outcome by its name."""

RIGHT = tuple(outcome.name for outcome in OUTCOMES if outcome.group == "successful")
"""Complete responses that are as expected."""

COMPLETED = tuple(outcome.name for outcome in OUTCOMES if outcome.group in ("successful", "wrong"))
"""Complete responses, right or wrong."""

UNENDED = ("unfinished", "cancelled")
"""Requests that the end of the load cut short: they neither succeeded nor failed."""

NOT_FAILED = (*RIGHT, *UNENDED)
"""Requests that did not fail."""

CODES_OF_HTTP2 = (
    *("NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT"),
    *("STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR"),
    *("CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED"),
)
"""Error codes of HTTP/2 from 0 on; RFC 9113, section 7."""

WITH_CODE_OF_HTTP2 = ("stream_reset", "stream_refused")
"""Outcomes whose error number is one of HTTP/2, and none of the system."""


def failed(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts of requests that failed, by their outcome.

    Args:
        counts: Requests by outcome.
    """
    return {name: count for name, count in counts.items() if name not in NOT_FAILED}


def is_timeout(name: str) -> bool:
    """Whether an outcome, by its name, is a timeout; unknown names are not."""
    outcome = BY_NAME.get(name)
    return outcome is not None and outcome.group == "timed_out"


def ended(counts: Mapping[str, int]) -> int:
    """How many requests ended, well or not, before the load did.

    Args:
        counts: Requests by outcome.
    """
    return sum(count for name, count in counts.items() if name not in UNENDED)


def error_name(outcome: str, number: int | None) -> str | None:
    """The name of the error number of an outcome: `ECONNRESET`, `CANCEL`; None for none.

    Source:
        errno(3); RFC 9113, section 7, for streams of HTTP/2 that were reset or refused.
    """
    if number is None:
        return None
    if outcome in WITH_CODE_OF_HTTP2:
        known = number < len(CODES_OF_HTTP2)
        return CODES_OF_HTTP2[number] if known else f"code {number}"
    return errno.errorcode.get(number, f"errno {number}")
