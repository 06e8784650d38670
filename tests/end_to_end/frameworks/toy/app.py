"""A server of a few lines that keeps the contract of three endpoints, or breaks it on request.

`TOY` says how it misbehaves; empty is a server that behaves.
"""

import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

TOY = os.environ.get("TOY", "")
GREETING = b"Hello, World!" if TOY != "wrong-answers" else b"Hello, Wrold!"
BODIES = {"/empty": b"", "/plaintext": GREETING, "/2048": b"A" * 2048}
REQUESTS = count(1)
LAST_REQUEST = 150


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        number = next(REQUESTS)
        if TOY == "dies-under-load" and number > LAST_REQUEST:
            print("thread 'main' panicked", file=sys.stderr, flush=True)
            os._exit(7)
        self.answer(BODIES.get(self.path), broken=number > LAST_REQUEST)

    def answer(self, body: bytes | None, *, broken: bool) -> None:
        if body is None or (TOY == "breaks-under-load" and broken):
            self.send_response(404 if body is None else 500)
            body = b"sorry"
        else:
            self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection |= TOY == "closes-each-connection"

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 4096

    def handle_error(self, request: object, client_address: object) -> None:
        pass


def work() -> None:
    while True:
        end_s = time.monotonic() + 0.003
        while time.monotonic() < end_s:
            pass
        time.sleep(0.007)


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    if TOY == "exits-at-once":
        sys.exit("no such table: users")
    if TOY == "ignores-the-stop-signal":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if TOY == "never-ready":
        time.sleep(600)
    if TOY == "works-at-rest":
        threading.Thread(target=work, daemon=True).start()
    if TOY == "starts-slowly":
        time.sleep(1)
    port = int(os.environ.get("TOY_PORT") or os.environ["PORT"])
    server = Server((os.environ["HOST"], port), Handler)
    print("listening", file=sys.stderr, flush=True)
    server.serve_forever()


main()
