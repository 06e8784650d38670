"""Servers that ask an upstream, or spare it: `python upstream_cheats.py NAME`.

`Asking` keeps the contract, and so does `Working`, which has work of its own; each other class is
one cheat. Environment: `HOST`, `PORT`, `UPSTREAM_URL`.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import urlsplit

BUSY = 8
"""Connections above which a cheat begins that behaves while it is looked at."""

WORK_S = 0.05
"""Time that `Working` takes for a response besides that of the upstream."""


class Asking(BaseHTTPRequestHandler):
    """Asks the upstream for each response, on a connection of its own for each client."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    connections: ClassVar[int] = 0
    known: ClassVar[dict[str, bytes]] = {}
    counting: ClassVar[threading.Lock] = threading.Lock()

    def setup(self) -> None:
        super().setup()
        self.upstream = http.client.HTTPConnection(urlsplit(os.environ["UPSTREAM_URL"]).netloc)
        with self.counting:
            Asking.connections += 1

    def finish(self) -> None:
        super().finish()
        self.upstream.close()
        with self.counting:
            Asking.connections -= 1

    @property
    def is_busy(self) -> bool:
        return self.connections > BUSY

    def do_GET(self) -> None:
        before, _, last = self.path.rpartition("/")
        if before == "/up":
            self.say(200, self.body(last))
        else:
            self.say(200 if self.path == "/empty" else 404, b"")

    def body(self, asked: str) -> bytes:
        found = self.asked(asked)
        self.known[asked] = found
        return found

    def asked(self, asked: str) -> bytes:
        self.upstream.request("GET", f"/value/{asked}")
        value = json.loads(self.upstream.getresponse().read())
        return json.dumps({"id": value["id"], "doubled": 2 * value["value"]}).encode()

    def say(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""


class Working(Asking):
    """Does for each response something that takes as long as `WORK_S` says."""

    def body(self, asked: str) -> bytes:
        time.sleep(WORK_S)
        return super().body(asked)


class Keeping(Asking):
    """Keeps what the upstream said."""

    def body(self, asked: str) -> bytes:
        return self.known.get(asked) or super().body(asked)


class KeepingWhenBusy(Asking):
    """Takes half of the responses from its memory as long as there are many connections."""

    def body(self, asked: str) -> bytes:
        if self.is_busy and asked in self.known and random.random() < 1 / 2:
            return self.known[asked]
        return super().body(asked)


class EarlyWhenBusy(Asking):
    """Asks the upstream, and does not wait for it as long as there are many connections."""

    def body(self, asked: str) -> bytes:
        if not self.is_busy or asked not in self.known:
            return super().body(asked)
        threading.Thread(target=self.ask_in_vain, args=(asked,)).start()
        return self.known[asked]

    def ask_in_vain(self, asked: str) -> None:
        connection = http.client.HTTPConnection(urlsplit(os.environ["UPSTREAM_URL"]).netloc)
        connection.request("GET", f"/value/{asked}")
        connection.getresponse().read()
        connection.close()


class Server(ThreadingHTTPServer):
    """A server with a long backlog."""

    daemon_threads = True
    request_queue_size = 1024


SERVERS = {one.__name__: one for one in (Asking, *Asking.__subclasses__())}


if __name__ == "__main__":
    address = os.environ["HOST"], int(os.environ["PORT"])
    Server(address, SERVERS[sys.argv[1]]).serve_forever()
