"""A Starlette application that answers the contract."""

import zlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from json import JSONDecodeError

import database
import web
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

BODY_2048 = b"A" * 2048
BODY_8192 = b"A" * 8192
BODY_32768 = b"A" * 32768
HELLO_WORLD = b"Hello, World!"
PERSON = ("id", "firstName", "lastName")
MOST = 65_535


async def empty(_: Request) -> Response:
    """No body."""
    return Response()


async def body_2048(_: Request) -> Response:
    """2,048 letters."""
    return PlainTextResponse(BODY_2048)


async def body_8192(_: Request) -> Response:
    """8,192 letters."""
    return PlainTextResponse(BODY_8192)


async def body_32768(_: Request) -> Response:
    """32,768 letters."""
    return PlainTextResponse(BODY_32768)


async def plaintext(_: Request) -> Response:
    """A greeting."""
    return PlainTextResponse(HELLO_WORLD)


async def query_args(request: Request) -> Response:
    """Arguments in the query."""
    return counted_decoded_bytes(request.query_params.values())


async def form_args(request: Request) -> Response:
    """Arguments in the body, as either kind of form."""
    async with request.form() as form:
        return counted_decoded_bytes(value for value in form.values() if isinstance(value, str))


async def checksum(request: Request) -> Response:
    """The CRC-32 of the values by rising name, each followed by a line feed."""
    values = "".join(f"{value}\n" for _, value in sorted(request.query_params.items()))
    return PlainTextResponse(str(zlib.crc32(values.encode())))


async def echo_person(request: Request) -> Response:
    """A person, decoded and encoded again."""
    try:
        person = await request.json()
        return JSONResponse({name: person[name] for name in PERSON})
    except (JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise HTTPException(400) from error


async def fibonacci(request: Request) -> Response:
    """The n-th Fibonacci number in decimal."""
    n = request.path_params["n"]
    if n > MOST:
        raise HTTPException(400)
    return PlainTextResponse(str(fibonacci_number(n)))


async def echo(socket: WebSocket) -> None:
    """Returns every message as it came."""
    await socket.accept()
    while (message := await socket.receive())["type"] == "websocket.receive":
        if message.get("text") is not None:
            await socket.send_text(message["text"])
        else:
            await socket.send_bytes(message["bytes"])


def counted_decoded_bytes(values: Iterable[str]) -> Response:
    """The constant body, with the length of all values in UTF-8 as proof that they were decoded."""
    decoded_bytes = sum(len(value.encode()) for value in values)
    return PlainTextResponse(BODY_2048, headers={"decoded-bytes": str(decoded_bytes)})


def fibonacci_number(n: int) -> int:
    """F(n) by n - 1 additions; F(0) = 0, F(1) = 1."""
    if n == 0:
        return 0
    previous, current = 0, 1
    for _ in range(n - 1):
        previous, current = current, previous + current
    return current


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """What is open while requests are answered."""
    async with database.lifespan(app), web.lifespan(app):
        yield


# Routes are tried one after another: the many ones are mounted behind all others.
app = Starlette(
    lifespan=lifespan,
    routes=[
        Route("/empty", empty),
        Route("/2048", body_2048),
        Route("/8192", body_8192),
        Route("/32768", body_32768),
        Route("/plaintext", plaintext),
        Route("/getArgs2048", query_args),
        Route("/postArgs2048", form_args, methods=["POST"]),
        Route("/postArgsMulti2048", form_args, methods=["POST"]),
        Route("/args", checksum),
        Route("/json", echo_person, methods=["POST"]),
        Route("/fibonacci/{n:int}", fibonacci),
        WebSocketRoute("/echo", echo),
        *database.routes,
        *web.routes,
    ],
)
