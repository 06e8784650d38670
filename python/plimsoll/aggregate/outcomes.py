"""Outcomes: what the names in the column `outcome` have in common, in words for a reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Group = Literal[
    "right", "answered", "connect", "lost", "timed_out", "malformed", "open", "connection"
]


@dataclass(frozen=True)
class Outcome:
    """One way in which a request, or a connection, ends.

    Attributes:
        name: Name in the column `outcome`.
        group: What it has in common with others; `right` and `answered` are complete answers.
        words: What happened, as it is said of several requests.
        has_errno: Whether the system gives an error number with it.
    """

    name: str
    group: Group
    words: str
    has_errno: bool = False


OUTCOMES = (
    Outcome("ok", "right", "answered rightly"),
    Outcome("wrong_status", "answered", "answered with another status code"),
    Outcome("wrong_length", "answered", "answered with a body of another length"),
    Outcome("wrong_body", "answered", "answered with other content"),
    Outcome("connect_refused", "connect", "connection refused", has_errno=True),
    Outcome("connect_timeout", "connect", "no connection in time"),
    Outcome("connect_unreachable", "connect", "no way to the host", has_errno=True),
    Outcome("connect_reset", "connect", "reset while connecting", has_errno=True),
    Outcome("no_port", "connect", "no local port left", has_errno=True),
    Outcome("too_many_files", "connect", "no file descriptor left", has_errno=True),
    Outcome("connect_failed", "connect", "connecting failed", has_errno=True),
    Outcome("reset_sending", "lost", "reset while sending", has_errno=True),
    Outcome("reset_waiting", "lost", "reset while waiting for the answer", has_errno=True),
    Outcome("reset_receiving", "lost", "reset within the answer", has_errno=True),
    Outcome("closed_waiting", "lost", "closed by the server before the answer"),
    Outcome("closed_early", "lost", "closed by the server within the answer"),
    Outcome("lost_behind", "lost", "lost behind one that failed on the same connection"),
    Outcome("timed_out_sending", "timed_out", "not sent in time"),
    Outcome("timed_out_waiting", "timed_out", "no answer in time"),
    Outcome("timed_out_receiving", "timed_out", "answer not complete in time"),
    Outcome("malformed_head", "malformed", "answer is not HTTP"),
    Outcome("malformed_chunk", "malformed", "chunks of the answer are broken"),
    Outcome("head_too_large", "malformed", "head of the answer is too large"),
    Outcome("unsolicited", "malformed", "bytes that nobody asked for"),
    Outcome("io_failed", "lost", "reading or writing failed", has_errno=True),
    Outcome("unfinished", "open", "still in flight at the end"),
    Outcome("not_sent", "open", "due and never sent"),
    Outcome("closed_idle", "connection", "closed by the server between requests"),
    Outcome("closed_as_announced", "connection", "closed as announced"),
    Outcome("still_open", "connection", "open at the end"),
)
"""Every outcome of a request; the last three are of connections only."""

BY_NAME = {outcome.name: outcome for outcome in OUTCOMES}
"""Every outcome by its name."""

RIGHT = tuple(outcome.name for outcome in OUTCOMES if outcome.group == "right")
"""Complete answers that are as expected."""

COMPLETED = tuple(outcome.name for outcome in OUTCOMES if outcome.group in ("right", "answered"))
"""Complete answers, right or wrong."""

NOT_FAILED = (*RIGHT, "unfinished")
"""Requests that did not fail; the end of the trial came before that of an unfinished one."""
