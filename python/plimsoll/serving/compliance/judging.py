"""What the RFCs say of a conversation.

A requirement (MUST) that is not kept differs. Where an RFC allows several responses, or only
recommends one (SHOULD), each of them is allowed either way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from plimsoll.serving.compliance.conversation import Conversation
from plimsoll.serving.compliance.usual import UsualRequests

if TYPE_CHECKING:
    from plimsoll.campaign.requests import HttpResponse
    from plimsoll.recording.compliance import Compliance

Judged = tuple["Compliance", str]
"""A result, and what was seen."""

Judge = Callable[[UsualRequests, Conversation], Judged]

CONTINUE = 100
BAD_REQUEST = 400
NOT_ALLOWED = 405
LENGTH_REQUIRED = 411
SERVER_ERROR = 500
NOT_IMPLEMENTED = 501
VERSION_NOT_SUPPORTED = 505

_VARYING = ("date", "connection", "keep-alive", "transfer-encoding")
"""Fields that a response to HEAD may have or omit, whatever that to GET has."""


def as_usual(usual: UsualRequests, seen: Conversation) -> Judged:
    """The response to the GET must be the usual one."""
    return _only(_same(seen.first, usual.got), seen)


def as_usual_with_body(usual: UsualRequests, seen: Conversation) -> Judged:
    """The response to the request with a body must be the usual one."""
    return _only(_same(seen.first, usual.with_body_answered), seen)


def as_usual_preferably(usual: UsualRequests, seen: Conversation) -> Judged:
    """The response to the GET should be the usual one; a refusal is allowed."""
    if _same(seen.first, usual.got):
        return "conforms", shown(seen)
    return ("either" if _refuses(seen.first) else "differs"), shown(seen)


def as_usual_or_refused(usual: UsualRequests, seen: Conversation) -> Judged:
    """The response to the GET may be the usual one or a refusal."""
    allowed = _same(seen.first, usual.got) or _refuses(seen.first)
    return ("either" if allowed else "differs"), shown(seen)


def length_repeated(usual: UsualRequests, seen: Conversation) -> Judged:
    """Equal lengths may be taken for one, or refused with 400."""
    allowed = _same(seen.first, usual.with_body_answered) or _has(seen.first, BAD_REQUEST)
    return ("either" if allowed else "differs"), shown(seen)


def refused(_: UsualRequests, seen: Conversation) -> Judged:
    """The response must be 400."""
    return _only(_has(seen.first, BAD_REQUEST), seen)


def refused_and_closed(_: UsualRequests, seen: Conversation) -> Judged:
    """The response must be 400, and the connection must be closed."""
    return _followed(_has(seen.first, BAD_REQUEST) and _closes(seen), seen)


def coding_refused(_: UsualRequests, seen: Conversation) -> Judged:
    """The response must be 400 or, for the coding, 501, and the connection must be closed."""
    right = _has(seen.first, BAD_REQUEST, NOT_IMPLEMENTED) and _closes(seen)
    return ("either" if right else "differs"), followed(seen)


def length_and_chunked(usual: UsualRequests, seen: Conversation) -> Judged:
    """The request may be refused or read by its chunks; the connection must be closed."""
    read = _same(seen.first, usual.with_body_answered)
    allowed = (read or _has(seen.first, BAD_REQUEST, LENGTH_REQUIRED)) and _closes(seen)
    return ("either" if allowed else "differs"), followed(seen)


def chunks_read(usual: UsualRequests, seen: Conversation) -> Judged:
    """The body must be read, and the next request with it; 411 refuses every body in chunks."""
    if _has(seen.first, LENGTH_REQUIRED):
        return "either", followed(seen)
    is_read = _same(seen.first, usual.with_body_answered)
    goes_on = _closes(seen) or _same(_second(seen), usual.got)
    return _followed(is_read and goes_on, seen)


def in_order(usual: UsualRequests, seen: Conversation) -> Judged:
    """Responses must come in the order of requests; the server may announce a close before."""
    expected = (usual.got, usual.got, usual.missing)
    pairs = list(zip(seen.responses, expected, strict=False))
    are_right = bool(pairs) and all(_has(one, other.status) for one, other in pairs)
    if not are_right or not _same(seen.first, usual.got):
        return "differs", shown(seen)
    if len(pairs) == len(expected):
        return "conforms", shown(seen)
    allowed = _closes(seen) and _announces_close(seen.responses[-1])
    return ("either" if allowed else "differs"), shown(seen)


def closed(usual: UsualRequests, seen: Conversation) -> Judged:
    """The response must be the usual one, and the connection must be closed."""
    return _followed(_same(seen.first, usual.got) and _closes(seen), seen)


def closed_without_chunks(usual: UsualRequests, seen: Conversation) -> Judged:
    """The response must be the usual one without chunks, and the connection must be closed."""
    if seen.first is not None and seen.first.header("transfer-encoding") is not None:
        return "differs", f"{followed(seen)}, with transfer-encoding"
    return closed(usual, seen)


def goes_on_after_refusal(usual: UsualRequests, seen: Conversation) -> Judged:
    """The next request should be answered; the server may close the connection instead."""
    if not _has(seen.first, usual.missing.status):
        return "differs", followed(seen)
    if _closes(seen):
        return "either", followed(seen)
    return _followed(_same(_second(seen), usual.got), seen)


def long_head(usual: UsualRequests, seen: Conversation) -> Judged:
    """A head that is too long must be refused with 4xx; any length may be taken."""
    if _same(seen.first, usual.got):
        return "either", shown(seen)
    return _only(seen.first is not None and _is_client_error(seen.first), seen)


def head_only(usual: UsualRequests, seen: Conversation) -> Judged:
    """The response must be that to GET without content; fields may be missing."""
    first = seen.first
    if first is None or first.status != usual.got.status:
        return "differs", followed(seen)
    if seen.ending == "not_http":
        return "differs", f"{first.status}, content after the head"
    if not (_closes(seen) or _same(_second(seen), usual.got)):
        return "differs", followed(seen)
    stated, length = first.header("content-length"), str(len(usual.got.body))
    if stated not in (None, length):
        return "differs", f"content-length {stated}, {length} for GET"
    names = {name for name, _ in first.headers}
    absent = sorted({name for name, _ in usual.got.headers} - names - {*_VARYING})
    if absent:
        return "either", f"{first.status}, without {', '.join(absent)}"
    return "conforms", followed(seen)


def options(_: UsualRequests, seen: Conversation) -> Judged:
    """OPTIONS is optional; 405 must list the allowed methods."""
    first = seen.first
    is_right = first is not None and not _lacks_allow(first) and not _fails(first)
    return ("either" if is_right else "differs"), _with_allow(first, seen)


def unknown_method(_: UsualRequests, seen: Conversation) -> Judged:
    """The response should be 501 or 405; 405 must list the allowed methods."""
    first = seen.first
    if first is None or _lacks_allow(first) or _fails(first):
        return "differs", _with_allow(first, seen)
    is_named = _has(first, NOT_IMPLEMENTED, NOT_ALLOWED)
    return ("conforms" if is_named else "either"), _with_allow(first, seen)


def continues(usual: UsualRequests, seen: Conversation) -> Judged:
    """`100 Continue`, or a refusal, must come before the body is sent."""
    first = seen.first
    if first is None:
        return "differs", shown(seen)
    if seen.waited_in_vain:
        return "differs", f"no 100, {first.status} after the body"
    if first.status == CONTINUE:
        return _only(_has(_second(seen), usual.with_body_answered.status), seen)
    return _only(_refuses(first), seen)


def shown(seen: Conversation) -> str:
    """What was seen, in a few words."""
    statuses = [str(one.status) for one in seen.responses]
    ending = {
        "answered": "",
        "closed": "closed" if statuses else "closed without a response",
        "silent": "then no response" if statuses else "no response",
        "not_http": "then invalid HTTP" if statuses else "invalid HTTP",
    }[seen.ending]
    return ", ".join(filter(None, (*statuses, ending)))


def followed(seen: Conversation) -> str:
    """What was seen where a usual request followed: whether the connection went on."""
    match [one.status for one in seen.responses]:
        case [status, following]:
            return f"{status}, next request {following}"
        case _:
            return shown(seen)


def _only(is_right: bool, seen: Conversation) -> Judged:
    return ("conforms" if is_right else "differs"), shown(seen)


def _followed(is_right: bool, seen: Conversation) -> Judged:
    return ("conforms" if is_right else "differs"), followed(seen)


def _second(seen: Conversation) -> HttpResponse | None:
    return seen.responses[1] if len(seen.responses) > 1 else None


def _same(response: HttpResponse | None, usual: HttpResponse) -> bool:
    """Whether a response has status and body of another."""
    return response is not None and (response.status, response.body) == (usual.status, usual.body)


def _has(response: HttpResponse | None, *statuses: int) -> bool:
    return response is not None and response.status in statuses


def _refuses(response: HttpResponse | None) -> bool:
    """Whether a response says that the request is not understood."""
    if response is None:
        return False
    return _is_client_error(response) or _has(response, NOT_IMPLEMENTED, VERSION_NOT_SUPPORTED)


def _is_client_error(response: HttpResponse) -> bool:
    return BAD_REQUEST <= response.status < SERVER_ERROR


def _fails(response: HttpResponse) -> bool:
    """Whether a response says that the server failed at a request that it could have refused."""
    return response.status >= SERVER_ERROR and response.status != NOT_IMPLEMENTED


def _closes(seen: Conversation) -> bool:
    """Whether the connection was closed in place of the next response."""
    return seen.ending == "closed"


def _announces_close(response: HttpResponse) -> bool:
    return "close" in (response.header("connection") or "").lower()


def _lacks_allow(response: HttpResponse) -> bool:
    return response.status == NOT_ALLOWED and response.header("allow") is None


def _with_allow(response: HttpResponse | None, seen: Conversation) -> str:
    """What was seen, with the methods that the response lists."""
    if response is None:
        return shown(seen)
    listed = response.header("allow")
    if listed is not None:
        return f"{response.status}, allow: {listed}"
    return f"{response.status} without allow" if _lacks_allow(response) else shown(seen)
