"""The server of the page: Starlette on uvicorn, on this host alone unless something else is asked.

The page, its script, and a stream of events (WHATWG HTML, server-sent events) with the whole state
as JSON, at most once a second and only when it has changed. Requests that name another host are
refused: a page from elsewhere cannot read the results by having its name lead here (DNS rebinding).
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from plimsoll.errors import HostError, InputError, PortTaken, Problem
from plimsoll.report.formats import vega
from plimsoll.watch import page
from plimsoll.watch.looking import CampaignObserver

if TYPE_CHECKING:
    from starlette.requests import Request

EVERY_S = 1.0
"""From one look to the next, while somebody reads the page."""

RETRY_MS = 1_000
"""After which a browser connects again."""

GRACE_S = 3
"""For which the end waits for connections."""

LOOPBACK = ("127.0.0.1", "localhost")

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self'; "
        "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of every response: nothing of the page leaves this origin."""


class Feed:
    """The latest state, looked for at most once a second, and only while somebody asks.

    Args:
        looker: Looks, always in the same thread.
        clock: Seconds that pass.
    """

    def __init__(
        self, looker: CampaignObserver, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Looks for nothing yet."""
        self._looker = looker
        self._clock = clock
        self._thread = ThreadPoolExecutor(1, "watch")
        self._lock = asyncio.Lock()
        self._looked_s = -EVERY_S
        self._latest = (0, "")

    async def latest(self) -> tuple[int, str]:
        """Number of the latest state, and the state; the number grows when the state changes.

        Raises:
            StorageError: The results cannot be read.
        """
        async with self._lock:
            if self._clock() - self._looked_s >= EVERY_S:
                text = await self._in_thread(self._looker.look)
                self._looked_s = self._clock()
                number, before = self._latest
                self._latest = (number + (text != before), text)
        return self._latest

    async def page(self) -> str:
        """The whole page as it is now.

        Raises:
            StorageError: The results cannot be read.
        """
        async with self._lock:
            return await self._in_thread(self._looker.page)

    async def _in_thread(self, look: Callable[[], str]) -> str:
        return await asyncio.get_running_loop().run_in_executor(self._thread, look)


def application(
    feed: Feed, hosts: Sequence[str], is_ending: Callable[[], bool] = lambda: False
) -> Starlette:
    """The page and its events.

    Args:
        feed: What they show.
        hosts: Names and addresses by which a request may call this host.
        is_ending: Whether streams are to end.
    """

    async def index(_request: Request) -> Response:
        return HTMLResponse(await feed.page(), headers=HEADERS)

    async def events(_request: Request) -> Response:
        stream = _stream(feed, is_ending)
        return StreamingResponse(stream, media_type="text/event-stream", headers=HEADERS)

    kept = {"Cache-Control": "no-cache"}
    library = Response(vega.library(), headers=HEADERS | kept, media_type="text/javascript")
    script = Response(page.file("watch.js"), headers=HEADERS, media_type="text/javascript")
    mark = Response(page.file("mark.svg"), headers=HEADERS, media_type="image/svg+xml")
    return Starlette(
        routes=[
            Route("/", index),
            Route("/events", events),
            *(
                Route(path, partial(_given, response))
                for path, response in (
                    ("/vega.js", library),
                    ("/watch.js", script),
                    ("/mark.svg", mark),
                )
            ),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[*hosts], www_redirect=False)],
    )


def listening(host: str, port: int) -> socket.socket:
    """A socket on which the page can be served.

    Args:
        host: An address of this host.
        port: The port; 0 for a free one.

    Raises:
        InputError: It is no address of an interface of this host.
        PortTaken: Another program has the port.
        HostError: The system does not allow it.
    """
    _require_address(host)
    try:
        return socket.create_server((host, port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            message = f"port {port} of {host} is in use"
            raise PortTaken(
                message, "choose another one with `--port`; `--port 0` picks a free one"
            ) from error
        if error.errno == errno.EADDRNOTAVAIL:
            problem = Problem("--host", f"{host} is not an address of this host", _HOST_HINT)
            raise InputError([problem]) from error
        message = f"cannot listen on port {port} of {host}: {error.strerror}"
        raise HostError(message, "choose another one with `--port`") from error


def serve(looker: CampaignObserver, listener: socket.socket) -> None:
    """Serves the page until Ctrl-C or SIGTERM.

    Args:
        looker: What it shows.
        listener: Where.

    Raises:
        KeyboardInterrupt: It was ended.
    """
    host = str(listener.getsockname()[0])

    def is_ending() -> bool:
        return server.should_exit

    app = application(Feed(looker), (*LOOPBACK, host), is_ending)
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )
    server = uvicorn.Server(config)
    server.run(sockets=[listener])


_HOST_HINT = "give the address of one of its interfaces, as `127.0.0.1`"


def _require_address(host: str) -> None:
    """Requires the IPv4 address of one interface: requests that name another are refused.

    Raises:
        InputError: It is something else.
    """
    try:
        is_one = not ipaddress.IPv4Address(host).is_unspecified
    except ValueError:
        is_one = False
    if not is_one:
        message = f"`{host}` is not the IPv4 address of one interface"
        raise InputError([Problem("--host", message, _HOST_HINT)])


async def _given(response: Response, _request: Request) -> Response:
    return response


async def _stream(feed: Feed, is_ending: Callable[[], bool]) -> AsyncIterator[str]:
    """Each state that is new, as an event."""
    yield f"retry: {RETRY_MS}\n\n"
    sent = 0
    while not is_ending():
        number, text = await feed.latest()
        if number != sent:
            sent = number
            yield f"data: {text}\n\n"
        await asyncio.sleep(EVERY_S)
