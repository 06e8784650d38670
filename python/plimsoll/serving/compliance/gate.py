"""The gate: a server gets every case of what it speaks, each on a connection of its own."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.campaign.requests import Request, render
from plimsoll.recording.compliance import ComplianceResult
from plimsoll.serving import server
from plimsoll.serving.asking import authority
from plimsoll.serving.compliance import http2, websocket
from plimsoll.serving.compliance.cases import CASES
from plimsoll.serving.compliance.conversation import Sending, converse
from plimsoll.serving.compliance.judging import Judged
from plimsoll.serving.compliance.usual import MISSING_PATH, UsualRequests

if TYPE_CHECKING:
    from plimsoll.campaign.framework import Framework
    from plimsoll.campaign.requests import HttpResponse
    from plimsoll.serving.asking import Address
    from plimsoll.serving.compliance.cases import ComplianceCase
    from plimsoll.serving.place import PlacedServer

    AnyCase = ComplianceCase | http2.Http2Case | websocket.WebSocketCase

MOST_PATIENCE_S = 10.0
"""How long a response is waited for at most, in seconds; one to a usual request always so long."""

LEAST_PATIENCE_S = 0.8
"""How long a response to another request is waited for at least, in seconds."""

PATIENCE_FACTOR = 20.0
"""Any other response is waited for so many times as long as a usual one took at most."""

AT_ONCE = 8
"""Cases that a server gets at the same time: those without a response take the most of it."""

SURVIVES = "survives"
"""Name of the case that the server still runs after all others."""

_NO_BODY = "none of its endpoints takes a body"
_WS = "ws"


def of_running(running: PlacedServer, framework: Framework) -> tuple[ComplianceResult, ...]:
    """What a server that the lab started makes of every case, and whether it survives them.

    Args:
        running: The server; it is not under load.
        framework: Its endpoints.
    """
    place = running.place
    address = (place.host, place.port)
    results = [*examine(address, framework)]
    if _WS in framework.endpoints:
        results += examine_websocket(address)
    seen: Judged = ("conforms", "it runs") if running.alive() else ("differs", "it ended")
    return (*results, ComplianceResult(SURVIVES, "all of these together", "", *seen))


def examine(
    address: Address, framework: Framework, patience_s: float = 0.0
) -> tuple[ComplianceResult, ...]:
    """What a server makes of every case.

    Args:
        address: Where it listens.
        framework: Its endpoints.
        patience_s: How long a response is waited for, in seconds; 0 for as long as usual ones
            suggest.

    Returns:
        The results, in the order of `CASES`.
    """
    begun_s = time.monotonic()
    usual = _usual(address, framework)
    usual_s = time.monotonic() - begun_s
    if usual is None:
        unasked: Judged = ("not_tried", "no response to a usual GET")
        return tuple(_result(case, unasked) for case in CASES)
    suggested_s = min(MOST_PATIENCE_S, max(LEAST_PATIENCE_S, PATIENCE_FACTOR * usual_s))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return tuple(pool.map(partial(_tried, address, usual, patience_s or suggested_s), CASES))


def examine_http2(
    address: Address, framework: Framework, patience_s: float = LEAST_PATIENCE_S
) -> tuple[ComplianceResult, ...]:
    """What a server of HTTP/2 without TLS makes of every case of it.

    Args:
        address: Where it listens.
        framework: Its endpoints.
        patience_s: How long each is waited for, in seconds.

    Returns:
        The results, in the order of `http2.CASES`.
    """
    usual = http2.Http2Usual(authority(address), server.probe(framework).target)
    first, *others = http2.CASES
    # It runs alone, and so finds a server that has just been started ready for the others.
    begun = [http2.tried(address, usual, MOST_PATIENCE_S, first)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        judged = pool.map(partial(http2.tried, address, usual, patience_s), others)
        return tuple(map(_result, http2.CASES, (*begun, *judged)))


def examine_websocket(
    address: Address, patience_s: float = LEAST_PATIENCE_S
) -> tuple[ComplianceResult, ...]:
    """What a server of WebSocket makes of every case of it.

    Args:
        address: Where it listens.
        patience_s: How long each is waited for, in seconds.

    Returns:
        The results, in the order of `websocket.CASES`.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        tried = partial(websocket.tried, address, authority(address), patience_s)
        return tuple(map(_result, websocket.CASES, pool.map(tried, websocket.CASES)))


def _tried(
    address: Address, usual: UsualRequests, patience_s: float, case: ComplianceCase
) -> ComplianceResult:
    if case.needs_body and usual.post is None:
        return _result(case, ("not_tried", _NO_BODY))
    return _result(case, case.judge(usual, converse(address, case.script(usual), patience_s)))


def _result(case: AnyCase, judged: Judged) -> ComplianceResult:
    return ComplianceResult(case.name, case.title, case.source, *judged)


def _usual(address: Address, framework: Framework) -> UsualRequests | None:
    """The usual requests with their responses; None where GET has none."""
    get, post = server.probe(framework), _shortest_post(framework)
    got = _response(address, get)
    missing = _response(address, Request("missing", "GET", MISSING_PATH))
    if got is None or missing is None:
        return None
    posted = None if post is None else _response(address, post)
    return UsualRequests(authority(address), get, got, missing, post if posted else None, posted)


def _shortest_post(framework: Framework) -> Request | None:
    """The request with the shortest body among the endpoints of a framework."""
    requests = (one.exchanges[0].request for one in ENDPOINTS if one.name in framework.endpoints)
    with_bodies = (request for request in requests if request.body)
    return min(with_bodies, key=lambda request: len(request.body), default=None)


def _response(address: Address, request: Request) -> HttpResponse | None:
    sent = render(request, authority(address), keep_alive=True)
    return converse(address, (Sending((sent,), (request.method,)),), MOST_PATIENCE_S).first
