"""A server that sends head and body apart: `python parts_server.py [--no-delay] [--wait-ms X]`.

It says its address on stdout as soon as it listens, and serves until it is ended.
"""

from __future__ import annotations

import argparse
import socket
import threading
import time

END = b"\r\n\r\n"
BODY = b"A" * 2048
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: %d%s" % (len(BODY), END)


def serve(connection: socket.socket, wait_s: float) -> None:
    """Responds to every request of a connection until the client closes it."""
    try:
        while received := connection.recv(65536):
            for _ in range(received.count(END)):
                connection.sendall(HEAD)
                time.sleep(wait_s)
                connection.sendall(BODY)
    except ConnectionError:
        pass  # the load ended within a response
    finally:
        connection.close()


def main() -> None:
    """Serves until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-delay", action="store_true", help="TCP_NODELAY on each connection")
    parser.add_argument("--wait-ms", type=float, default=0.0, help="time between head and body")
    asked = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    address, port = listener.getsockname()
    print(f"{address}:{port}", flush=True)
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(asked.no_delay))
        threading.Thread(target=serve, args=(connection, asked.wait_ms / 1000), daemon=True).start()


if __name__ == "__main__":
    main()
