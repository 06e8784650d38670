"""A FastAPI application that answers the contract."""

import zlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Annotated

import database
import web
from fastapi import FastAPI, Path, Request, Response, WebSocket
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

BODY_2048 = b"A" * 2048
BODY_8192 = b"A" * 8192
BODY_32768 = b"A" * 32768
HELLO_WORLD = b"Hello, World!"


class Person(BaseModel):
    """Who is decoded and encoded again."""

    model_config = ConfigDict(alias_generator=to_camel)

    id: int
    first_name: str
    last_name: str


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """What is open while requests are answered."""
    async with database.lifespan(app), web.lifespan(app):
        yield


app = FastAPI(lifespan=lifespan)
app.include_router(database.router)


@app.get("/empty")
async def empty() -> Response:
    """No body."""
    return Response()


@app.get("/2048")
async def body_2048() -> PlainTextResponse:
    """2,048 letters."""
    return PlainTextResponse(BODY_2048)


@app.get("/8192")
async def body_8192() -> PlainTextResponse:
    """8,192 letters."""
    return PlainTextResponse(BODY_8192)


@app.get("/32768")
async def body_32768() -> PlainTextResponse:
    """32,768 letters."""
    return PlainTextResponse(BODY_32768)


@app.get("/plaintext")
async def plaintext() -> PlainTextResponse:
    """A greeting."""
    return PlainTextResponse(HELLO_WORLD)


@app.get("/getArgs2048")
async def query_args(request: Request) -> PlainTextResponse:
    """Arguments in the query."""
    return counted_decoded_bytes(request.query_params.values())


@app.post("/postArgs2048")
@app.post("/postArgsMulti2048")
async def form_args(request: Request) -> PlainTextResponse:
    """Arguments in the body: Starlette decodes both kinds of form."""
    async with request.form() as form:
        return counted_decoded_bytes(value for value in form.values() if isinstance(value, str))


@app.get("/args")
async def checksum(request: Request) -> PlainTextResponse:
    """The CRC-32 of the values by rising name, each followed by a line feed."""
    values = "".join(f"{value}\n" for _, value in sorted(request.query_params.items()))
    return PlainTextResponse(str(zlib.crc32(values.encode())))


@app.post("/json")
async def json_echo(person: Person) -> Person:
    """A person, decoded and encoded again."""
    return person


@app.get("/fibonacci/{n}")
async def fibonacci(n: Annotated[int, Path(ge=0, le=65535)]) -> PlainTextResponse:
    """The n-th Fibonacci number in decimal."""
    return PlainTextResponse(str(fibonacci_number(n)))


@app.websocket("/echo")
async def echo(socket: WebSocket) -> None:
    """Returns every message as it came."""
    await socket.accept()
    while (message := await socket.receive())["type"] == "websocket.receive":
        if message.get("text") is not None:
            await socket.send_text(message["text"])
        else:
            await socket.send_bytes(message["bytes"])


# Behind all others: they do not pay for it.
web.mount(app)


def counted_decoded_bytes(values: Iterable[str]) -> PlainTextResponse:
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
