"""What needs many routes, files, compression, tokens or another service."""

import os
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from json import JSONDecodeError, loads
from pathlib import Path
from typing import Any

import anyio
import httpx
import jwt
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

FILES = os.environ.get("FILES")
AUTH_KEY = os.environ.get("AUTH_KEY", "")
UPSTREAM_URL = os.environ.get("UPSTREAM_URL", "")

ROUTES = 1000
MOST_EVENTS = 100
EVENT_INTERVAL_S = 0.01


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """A client with httpx's own limits: 100 connections, 20 of which it keeps open."""
    async with httpx.AsyncClient(base_url=UPSTREAM_URL) as client:
        app.state.upstream = client
        yield


def route(k: int) -> Callable[[Request], Awaitable[Response]]:
    """The handler of one of the many routes."""

    async def answer(request: Request) -> Response:
        return PlainTextResponse(f"{k}:{request.path_params['number']}")

    return answer


async def items(request: Request) -> Response:
    """The first records, each with its total."""
    count = request.path_params["count"]
    if not 1 <= count <= len(records()):
        raise HTTPException(404)
    factor = int(request.query_params["m"])
    found = [
        {**item, "total": item["price"] * item["quantity"] * factor} for item in records()[:count]
    ]
    return JSONResponse({"count": count, "items": found})


@cache
def records() -> list[dict[str, Any]]:
    """All records, read when they are first asked for."""
    return loads(Path(os.environ["FILES"], "items.json").read_bytes())


async def upload(request: Request) -> Response:
    """The CRC-32 of a body, which is never in memory as a whole."""
    crc = 0
    async for piece in request.stream():
        crc = zlib.crc32(piece, crc)
    return PlainTextResponse(str(crc))


async def json_in(request: Request) -> Response:
    """The sum of the values in a document."""
    try:
        document = await request.json()
    except (JSONDecodeError, UnicodeDecodeError) as error:
        raise HTTPException(400) from error
    return PlainTextResponse(str(sum_of_values(document)))


async def stream(request: Request) -> Response:
    """Events, each sent when it is due."""
    count = request.path_params["count"]
    if not 1 <= count <= MOST_EVENTS:
        raise HTTPException(404)
    headers = {"Cache-Control": "no-cache"}
    return StreamingResponse(events(count), media_type="text/event-stream", headers=headers)


async def events(count: int) -> AsyncIterator[str]:
    """The events of a stream."""
    start = anyio.current_time()
    for i in range(count):
        await anyio.sleep_until(start + i * EVENT_INTERVAL_S)
        yield f"data: {i}\n\n"


async def subject(request: Request) -> Response:
    """The subject of a valid token."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    try:
        claims = jwt.decode(
            token if scheme.lower() == "bearer" else "",
            AUTH_KEY,
            algorithms=["HS256"],
            options={"require": ["exp", "sub"]},
        )
    except jwt.InvalidTokenError as error:
        raise HTTPException(401, headers={"WWW-Authenticate": "Bearer"}) from error
    return PlainTextResponse(claims["sub"])


async def doubled(request: Request) -> Response:
    """Twice what another service says."""
    row = request.path_params["row"]
    try:
        response = await request.app.state.upstream.get(f"/value/{row}")
        response.raise_for_status()
    except httpx.HTTPError as error:
        raise HTTPException(502) from error
    return JSONResponse({"id": row, "doubled": 2 * response.json()["value"]})


def sum_of_values(document: Any) -> int:
    """The sum of all members named `value`."""
    if isinstance(document, dict):
        return sum(
            member if name == "value" and isinstance(member, int) else sum_of_values(member)
            for name, member in document.items()
        )
    return sum(map(sum_of_values, document)) if isinstance(document, list) else 0


compressed = [Middleware(GZipMiddleware, minimum_size=0)]

routes: list[BaseRoute] = [
    Route("/items/{count:int}", items, middleware=compressed),
    Route("/upload", upload, methods=["POST"]),
    Route("/json-in", json_in, methods=["POST"]),
    Route("/stream/{count:int}", stream),
    Route("/auth", subject),
    Route("/up/{row:int}", doubled),
    *([] if FILES is None else [Mount("/static", StaticFiles(directory=Path(FILES, "static")))]),
    Mount("/r", routes=[Route(f"/{k}/x/{{number:int}}", route(k)) for k in range(ROUTES)]),
]
