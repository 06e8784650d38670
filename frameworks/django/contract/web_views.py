"""What the paths answer that need many routes, files, compression, tokens or another service."""

import json
import os
import threading
import time
import zlib
from collections.abc import Iterator
from functools import cache, partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import jwt
import requests
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBadRequest,
    JsonResponse,
    StreamingHttpResponse,
)
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET, require_POST

AUTH_KEY = os.environ.get("AUTH_KEY", "")
UPSTREAM_URL = os.environ.get("UPSTREAM_URL", "")

PIECE_BYTES = 65_536
MOST_EVENTS = 100
EVENT_INTERVAL_S = 0.01


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


@require_GET
def route(request: HttpRequest, k: int, number: int) -> HttpResponse:
    """One of the many routes."""
    return HttpResponse(f"{k}:{number}", content_type="text/plain")


@require_GET
@gzip_page
def items(request: HttpRequest, count: int) -> HttpResponse:
    """The first records, each with its total."""
    try:
        factor = int(request.GET["m"])
    except (KeyError, ValueError):
        return HttpResponseBadRequest("m is not a number\n", content_type="text/plain")
    if not 1 <= count <= len(records()):
        raise Http404
    found = [
        {**item, "total": item["price"] * item["quantity"] * factor} for item in records()[:count]
    ]
    return JsonResponse({"count": count, "items": found})


@cache
def records() -> list[dict[str, Any]]:
    """All records, read when they are first asked for."""
    return json.loads(Path(os.environ["FILES"], "items.json").read_bytes())


@require_POST
def upload(request: HttpRequest) -> HttpResponse:
    """The CRC-32 of a body, which is never in memory as a whole."""
    crc = 0
    for piece in iter(partial(request.read, PIECE_BYTES), b""):
        crc = zlib.crc32(piece, crc)
    return HttpResponse(str(crc), content_type="text/plain")


@require_POST
def json_in(request: HttpRequest) -> HttpResponse:
    """The sum of the values in a document."""
    try:
        document = json.loads(request.body)
    except ValueError:
        return HttpResponseBadRequest("not JSON\n", content_type="text/plain")
    return HttpResponse(str(sum_of_values(document)), content_type="text/plain")


@require_GET
def stream(request: HttpRequest, count: int) -> StreamingHttpResponse:
    """Events, each sent when it is due."""
    if not 1 <= count <= MOST_EVENTS:
        raise Http404
    return StreamingHttpResponse(
        events(count), content_type="text/event-stream", headers={"Cache-Control": "no-cache"}
    )


@require_GET
def subject(request: HttpRequest) -> HttpResponse:
    """The subject of a valid token."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    try:
        claims = jwt.decode(
            token, AUTH_KEY, algorithms=["HS256"], options={"require": ["exp", "sub"]}
        )
    except jwt.InvalidTokenError:
        claims = None
    if scheme != "Bearer" or claims is None:
        return HttpResponse(status=HTTPStatus.UNAUTHORIZED, headers={"WWW-Authenticate": "Bearer"})
    return HttpResponse(claims["sub"], content_type="text/plain")


@require_GET
def doubled(request: HttpRequest, row: int) -> HttpResponse:
    """Twice what another service says."""
    try:
        value = upstream.value(row)
    except requests.RequestException:
        return HttpResponse(status=HTTPStatus.BAD_GATEWAY)
    return JsonResponse({"id": row, "doubled": 2 * value})


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
