"""A Flask application that answers the contract."""

import mimetypes
import zlib
from collections.abc import Iterable
from pathlib import Path

from database import database
from flask import Flask, Response, request
from web import FILES, compress, web

BODY_2048 = b"A" * 2048
BODY_8192 = b"A" * 8192
BODY_32768 = b"A" * 32768
HELLO_WORLD = b"Hello, World!"

# Python knows this type only from a system's table.
mimetypes.add_type("font/woff2", ".woff2")

app = Flask(__name__, static_folder=Path(FILES, "static"), static_url_path="/static")
app.config.update(
    # Flask's own limit of 500 kB is for each form; the contract sends some of 26 × 66 kB.
    MAX_FORM_MEMORY_SIZE=16_000_000,
    # Only what a view asks for is compressed, by gzip, however short it is.
    COMPRESS_REGISTER=False,
    COMPRESS_ALGORITHM=["gzip"],
    COMPRESS_MIN_SIZE=0,
)
compress.init_app(app)
app.register_blueprint(database)
app.register_blueprint(web)


def text(body: bytes | str) -> Response:
    """A body of plain text."""
    return Response(body, mimetype="text/plain")


@app.get("/empty")
def empty() -> Response:
    """No body."""
    return Response()


@app.get("/2048")
def body_2048() -> Response:
    """2,048 letters."""
    return text(BODY_2048)


@app.get("/8192")
def body_8192() -> Response:
    """8,192 letters."""
    return text(BODY_8192)


@app.get("/32768")
def body_32768() -> Response:
    """32,768 letters."""
    return text(BODY_32768)


@app.get("/plaintext")
def plaintext() -> Response:
    """A greeting."""
    return text(HELLO_WORLD)


@app.get("/getArgs2048")
def query_args() -> Response:
    """Arguments in the query."""
    return counted_decoded_bytes(request.args.values())


@app.post("/postArgs2048")
@app.post("/postArgsMulti2048")
def form_args() -> Response:
    """Arguments in the body: Flask decodes both kinds of form."""
    return counted_decoded_bytes(request.form.values())


@app.get("/args")
def checksum() -> Response:
    """The CRC-32 of the values by rising name, each followed by a line feed."""
    values = "".join(f"{value}\n" for _, value in sorted(request.args.items()))
    return text(str(zlib.crc32(values.encode())))


@app.post("/json")
def json_echo() -> dict[str, object]:
    """A person, decoded and encoded again."""
    person = request.get_json()
    return {name: person[name] for name in ("id", "firstName", "lastName")}


@app.get("/fibonacci/<int(max=65535):n>")
def fibonacci(n: int) -> Response:
    """The n-th Fibonacci number in decimal."""
    return text(str(fibonacci_number(n)))


def counted_decoded_bytes(values: Iterable[str]) -> Response:
    """The constant body, with the length of all values in UTF-8 as proof that they were decoded."""
    response = text(BODY_2048)
    response.headers["decoded-bytes"] = str(sum(len(value.encode()) for value in values))
    return response


def fibonacci_number(n: int) -> int:
    """F(n) by n - 1 additions; F(0) = 0, F(1) = 1."""
    if n == 0:
        return 0
    previous, current = 0, 1
    for _ in range(n - 1):
        previous, current = current, previous + current
    return current
