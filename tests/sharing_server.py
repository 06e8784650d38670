"""A server that shares its port with others of its kind: together they hold more connections.

    python sharing_server.py ADDRESS PORT

It says so in a line when it listens, and answers every request with the same response until it is
killed. One process may hold no more connections than it may open files.
"""

from __future__ import annotations

import select
import socket
import sys
from contextlib import suppress

from plimsoll import machine

BACKLOG = 8192
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
END = b"\r\n\r\n"


def serve(listener: socket.socket) -> None:
    """Accepts and answers; requests have no body and come one at a time."""
    epoll = select.epoll()
    epoll.register(listener, select.EPOLLIN)
    clients: dict[int, socket.socket] = {}
    while True:
        for number, _ in epoll.poll():
            if number == listener.fileno():
                with suppress(BlockingIOError):
                    while True:
                        client, _ = listener.accept()
                        clients[client.fileno()] = client
                        epoll.register(client, select.EPOLLIN)
            elif not answered(clients[number]):
                clients.pop(number).close()


def answered(client: socket.socket) -> bool:
    """Answers the requests that have come; whether the client is still there."""
    try:
        received = client.recv(65_536)
        client.send(RESPONSE * received.count(END))
    except OSError:
        return False
    return bool(received)


if __name__ == "__main__":
    machine.raise_open_files()
    place = (sys.argv[1], int(sys.argv[2]))
    with socket.create_server(place, reuse_port=True, backlog=BACKLOG) as opened:
        opened.setblocking(False)
        print("listening", flush=True)
        serve(opened)
