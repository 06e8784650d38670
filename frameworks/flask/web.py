"""What needs many routes, files, compression, tokens or another service."""

import json
import os
import threading
import time
import zlib
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import jwt
import requests
from flask import Blueprint, Response, abort, request
from flask_compress import Compress

AUTH_KEY = os.environ.get("AUTH_KEY", "")
FILES = os.environ.get("FILES", "")
UPSTREAM_URL = os.environ.get("UPSTREAM_URL", "")

ROUTES = 1000
PIECE_BYTES = 65_536
MOST_EVENTS = 100
EVENT_INTERVAL_S = 0.01

web = Blueprint("web", __name__)
compress = Compress()


class Upstream(threading.local):
    """A session for each thread, which keeps its connection: sessions are for one thread."""

    def __init__(self) -> None:
        """Called when a thread first uses it."""
        self.session = requests.Session()

    def value(self, row: int) -> int:
        """What the other service says.

        Raises:
            requests.RequestException: It cannot be reached, or its answer is not the expected one.
        """
        response = self.session.get(f"{UPSTREAM_URL}/value/{row}")
        response.raise_for_status()
        return response.json()["value"]


upstream = Upstream()


def text(body: str) -> Response:
    """A body of plain text."""
    return Response(body, mimetype="text/plain")


def route(k: int, number: int) -> Response:
    """One of the many routes."""
    return text(f"{k}:{number}")


for k in range(ROUTES):
    web.add_url_rule(f"/r/{k}/x/<int:number>", f"route_{k}", partial(route, k))


@web.get("/items/<int:count>")
@compress.compressed()
def items(count: int) -> dict[str, Any]:
    """The first records, each with its total."""
    factor = request.args.get("m", type=int)
    if factor is None:
        abort(400)
    if not 1 <= count <= len(records()):
        abort(404)
    found = [
        {**item, "total": item["price"] * item["quantity"] * factor} for item in records()[:count]
    ]
    return {"count": count, "items": found}


@cache
def records() -> list[dict[str, Any]]:
    """All records, read when they are first asked for."""
    return json.loads(Path(FILES, "items.json").read_bytes())


@web.post("/upload")
def upload() -> Response:
    """The CRC-32 of a body, which is never in memory as a whole."""
    crc = 0
    for piece in iter(partial(request.stream.read, PIECE_BYTES), b""):
        crc = zlib.crc32(piece, crc)
    return text(str(crc))


@web.post("/json-in")
def json_in() -> Response:
    """The sum of the values in a document."""
    return text(str(sum_of_values(request.get_json())))


@web.get("/stream/<int:count>")
def stream(count: int) -> Response:
    """Events, each sent when it is due."""
    if not 1 <= count <= MOST_EVENTS:
        abort(404)
    return Response(
        events(count), mimetype="text/event-stream", headers={"Cache-Control": "no-cache"}
    )


@web.get("/auth")
def subject() -> Response:
    """The subject of a valid token."""
    given = request.authorization
    token = given.token if given is not None and given.type == "bearer" else None
    try:
        claims = jwt.decode(
            token or "", AUTH_KEY, algorithms=["HS256"], options={"require": ["exp", "sub"]}
        )
    except jwt.InvalidTokenError:
        return Response(status=401, headers={"WWW-Authenticate": "Bearer"})
    return text(claims["sub"])


@web.get("/up/<int:row>")
def doubled(row: int) -> dict[str, int]:
    """Twice what another service says."""
    try:
        value = upstream.value(row)
    except requests.RequestException:
        abort(502)
    return {"id": row, "doubled": 2 * value}


def sum_of_values(document: Any) -> int:
    """The sum of all members named `value`."""
    if isinstance(document, list):
        return sum(map(sum_of_values, document))
    if isinstance(document, dict):
        return sum(
            member if name == "value" and isinstance(member, int) else sum_of_values(member)
            for name, member in document.items()
        )
    return 0


def events(count: int) -> Iterator[str]:
    """Waits until the next one is due; the thread does nothing else meanwhile."""
    start = time.monotonic()
    for i in range(count):
        time.sleep(max(0, start + i * EVENT_INTERVAL_S - time.monotonic()))
        yield f"data: {i}\n\n"
