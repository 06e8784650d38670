"""A server of Python's standard library alone that answers the contract."""

import json
import os
import re
import signal
import sys
import zlib
from collections.abc import Iterable
from email.parser import BytesParser
from email.policy import HTTP
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

BODY_2048 = b"A" * 2048
CONSTANTS = {
    "/empty": b"",
    "/2048": BODY_2048,
    "/8192": b"A" * 8192,
    "/32768": b"A" * 32768,
    "/plaintext": b"Hello, World!",
}


class Server(ThreadingHTTPServer):
    """A thread for each connection."""

    # Connections that may wait to be accepted; 5 unless told otherwise.
    request_queue_size = 4096

    def handle_error(self, request: object, client_address: object) -> None:
        """Says what went wrong, unless it is that the client has gone."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    # Unless told otherwise it speaks HTTP/1.0, which closes the connection after an answer.
    protocol_version = "HTTP/1.1"
    # Head and body of an answer are sent as one.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Requests without a body."""
        url = urlsplit(self.path)
        if url.path in CONSTANTS:
            self.answer(CONSTANTS[url.path])
        elif url.path == "/getArgs2048":
            self.answer_args(value for _, value in parse_qsl(url.query))
        elif url.path == "/args":
            self.args(parse_qsl(url.query, keep_blank_values=True))
        elif url.path.startswith("/fibonacci/"):
            self.fibonacci(url.path.removeprefix("/fibonacci/"))
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Requests with a body."""
        posts = {
            "/postArgs2048": self.form_args,
            "/postArgsMulti2048": self.multipart_args,
            "/json": self.json_echo,
        }
        body = self.read_body()
        if post := posts.get(urlsplit(self.path).path):
            post(body)
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def args(self, arguments: list[tuple[str, str]]) -> None:
        """The CRC-32 of the values by rising name, each followed by a line feed."""
        values = "".join(f"{value}\n" for _, value in sorted(arguments))
        self.answer(str(zlib.crc32(values.encode())).encode())

    def read_body(self) -> bytes:
        """The body of a request, in one piece or in chunks."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():  # Trailers.
            pass
        return body

    def form_args(self, body: bytes) -> None:
        """Arguments in a form."""
        self.answer_args(value for _, value in parse_qsl(body.decode()))

    def multipart_args(self, body: bytes) -> None:
        """Arguments in a form of parts, which are those of an e-mail."""
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        form = BytesParser(policy=HTTP).parsebytes(head + body)
        self.answer_args(part.get_payload(decode=True).decode() for part in form.iter_parts())

    def json_echo(self, body: bytes) -> None:
        """A person, decoded and encoded again."""
        try:
            person = json.loads(body)
            echo = {name: person[name] for name in ("id", "firstName", "lastName")}
        except (ValueError, TypeError, KeyError):
            self.send_error(HTTPStatus.BAD_REQUEST)
        else:
            self.answer(json.dumps(echo).encode(), content_type="application/json")

    def fibonacci(self, digits: str) -> None:
        """The n-th Fibonacci number in decimal."""
        if re.fullmatch("[0-9]{1,5}", digits):
            self.answer(str(fibonacci_number(int(digits))).encode())
        else:
            self.send_error(HTTPStatus.BAD_REQUEST)

    def answer_args(self, values: Iterable[str]) -> None:
        """The constant body, with the length of all values in UTF-8 as proof of their decoding."""
        decoded_bytes = sum(len(value.encode()) for value in values)
        self.answer(BODY_2048, decoded_bytes=decoded_bytes)

    def answer(
        self, body: bytes, *, content_type: str = "text/plain", decoded_bytes: int | None = None
    ) -> None:
        """Sends an answer."""
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        if decoded_bytes is not None:
            self.send_header("decoded-bytes", str(decoded_bytes))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Writes no access log."""


def fibonacci_number(n: int) -> int:
    """F(n) by n - 1 additions; F(0) = 0, F(1) = 1."""
    if n == 0:
        return 0
    previous, current = 0, 1
    for _ in range(n - 1):
        previous, current = current, previous + current
    return current


def main() -> None:
    """Serves until SIGTERM."""
    with Server((os.environ["HOST"], int(os.environ["PORT"])), Handler) as server:
        # shutdown() waits until the server has stopped, so another thread has to call it.
        stop = partial(Thread, target=server.shutdown)
        signal.signal(signal.SIGTERM, lambda _number, _frame: stop().start())
        server.serve_forever()


if __name__ == "__main__":
    main()
