"""A server that forks a process for each connection; its work is done by processes that end.

It waits for all of them before it ends itself, so what it used in truth is known to the kernel.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from types import FrameType

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
WORK_S = 0.01
"""Processor time of one answer."""


def main() -> None:
    signal.signal(signal.SIGTERM, end)
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            answer(connection)
            os._exit(0)
        connection.close()
        reap(os.WNOHANG)


def end(_signal: int, _frame: FrameType | None) -> None:
    reap()
    sys.exit()


def reap(options: int = 0) -> None:
    """Waits for processes that were forked; without options until none is left."""
    try:
        while os.waitpid(-1, options)[0]:
            pass
    except ChildProcessError:
        pass


def answer(connection: socket.socket) -> None:
    if connection.recv(65536):
        enough_s = time.process_time() + WORK_S
        while time.process_time() < enough_s:
            pass
        connection.sendall(ANSWER)


if __name__ == "__main__":
    main()
