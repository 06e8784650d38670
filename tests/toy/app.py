"""A small server for tests: it keeps the contract of `empty`, and fails on request.

Environment: `HOST`, `PORT`; `TOY_DIES_AFTER` ends it with exit code 3 after so many requests;
`TOY_BREAKS_AFTER` answers 500 after so many; `TOY_STUBBORN` ignores SIGTERM; `TOY_CHILD` starts a
child that sleeps; `TOY_WORKS_S` is the processor time that each request takes besides.
"""

import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

REQUESTS = count(1)


def limit(name: str) -> float:
    return float(os.environ.get(name, "inf"))


def work() -> None:
    end_s = time.thread_time() + float(os.environ.get("TOY_WORKS_S", "0"))
    while time.thread_time() < end_s:
        pass


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        number = next(REQUESTS)
        if number > limit("TOY_DIES_AFTER"):
            os._exit(3)
        work()
        right = self.path == "/empty" and number <= limit("TOY_BREAKS_AFTER")
        self.send_response(200 if right else 404 if self.path != "/empty" else 500)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        pass


def main() -> None:
    stop = signal.SIG_IGN if "TOY_STUBBORN" in os.environ else lambda *_: os._exit(0)
    signal.signal(signal.SIGTERM, stop)
    if "TOY_CHILD" in os.environ:
        subprocess.Popen(["sleep", "600"])
    address = (os.environ["HOST"], int(os.environ["PORT"]))
    print("listening", address, file=sys.stderr, flush=True)
    Server(address, Handler).serve_forever()


if __name__ == "__main__":
    main()
