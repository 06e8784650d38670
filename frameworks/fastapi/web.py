"""What needs many routes, files, compression, tokens or another service."""

import os
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from json import loads
from pathlib import Path as File
from typing import Annotated, Any

import anyio
import httpx
import jwt
from fastapi import APIRouter, Body, Depends, FastAPI, HTTPException, Path, Request
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.responses import PlainTextResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.sse import EventSourceResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel

FILES = os.environ.get("FILES")
AUTH_KEY = os.environ.get("AUTH_KEY", "")
UPSTREAM_URL = os.environ.get("UPSTREAM_URL", "")

ROUTES = 1000
EVENT_INTERVAL_S = 0.01


class Rating(BaseModel):
    """What buyers think of an item."""

    score: float
    count: int


class Item(BaseModel):
    """A record with its total."""

    id: int
    name: str
    category: str
    price: int
    quantity: int
    active: bool
    tags: list[str]
    rating: Rating
    total: int


class Items(BaseModel):
    """The first records."""

    count: int
    items: list[Item]


class Doubled(BaseModel):
    """Twice what another service says."""

    id: int
    doubled: int


router = APIRouter()
item_router = APIRouter()
many_routes = APIRouter()


def mount(app: FastAPI) -> None:
    """Adds all paths to an application.

    Routes are tried one after another, so the many ones are mounted and come last; and what is
    mounted can have middleware of its own.
    """
    app.include_router(router)
    app.mount("/items", GZipMiddleware(item_router, minimum_size=0))
    if FILES is not None:
        app.mount("/static", StaticFiles(directory=File(FILES, "static")))
    app.mount("/r", many_routes)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """A client with httpx's own limits: 100 connections, 20 of which it keeps open."""
    async with httpx.AsyncClient(base_url=UPSTREAM_URL) as client:
        app.state.upstream = client
        yield


def add_route(k: int) -> None:
    """One of the many routes."""

    @many_routes.get(f"/{k}/x/{{number}}")
    async def route(number: int) -> PlainTextResponse:
        return PlainTextResponse(f"{k}:{number}")


for k in range(ROUTES):
    add_route(k)


@item_router.get("/{count}")
async def items(count: int, m: int) -> Items:
    """The first records, each with its total."""
    if not 1 <= count <= len(records()):
        raise HTTPException(404)
    found = [Item(**item, total=item["price"] * item["quantity"] * m) for item in records()[:count]]
    return Items(count=count, items=found)


@cache
def records() -> list[dict[str, Any]]:
    """All records, read when they are first asked for."""
    return loads(File(os.environ["FILES"], "items.json").read_bytes())


@router.post("/upload")
async def upload(request: Request) -> PlainTextResponse:
    """The CRC-32 of a body, which is never in memory as a whole."""
    crc = 0
    async for piece in request.stream():
        crc = zlib.crc32(piece, crc)
    return PlainTextResponse(str(crc))


@router.post("/json-in")
async def json_in(document: Annotated[Any, Body()]) -> PlainTextResponse:
    """The sum of the values in a document."""
    return PlainTextResponse(str(sum_of_values(document)))


@router.get("/stream/{count}", response_class=EventSourceResponse)
async def stream(count: Annotated[int, Path(ge=1, le=100)]) -> AsyncIterator[int]:
    """Events, each sent when it is due."""
    start = anyio.current_time()
    for i in range(count):
        await anyio.sleep_until(start + i * EVENT_INTERVAL_S)
        yield i


@router.get("/auth")
async def subject(
    credentials: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())],
) -> PlainTextResponse:
    """The subject of a valid token."""
    try:
        claims = jwt.decode(
            credentials.credentials,
            AUTH_KEY,
            algorithms=["HS256"],
            options={"require": ["exp", "sub"]},
        )
    except jwt.InvalidTokenError as error:
        raise HTTPException(401, headers={"WWW-Authenticate": "Bearer"}) from error
    return PlainTextResponse(claims["sub"])


@router.get("/up/{row}")
async def doubled(request: Request, row: int) -> Doubled:
    """Twice what another service says."""
    try:
        response = await request.app.state.upstream.get(f"/value/{row}")
        response.raise_for_status()
    except httpx.HTTPError as error:
        raise HTTPException(502) from error
    return Doubled(id=row, doubled=2 * response.json()["value"])


def sum_of_values(document: Any) -> int:
    """The sum of all members named `value`."""
    if isinstance(document, dict):
        return sum(
            member if name == "value" and isinstance(member, int) else sum_of_values(member)
            for name, member in document.items()
        )
    return sum(map(sum_of_values, document)) if isinstance(document, list) else 0
