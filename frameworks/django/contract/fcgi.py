"""Serves the WSGI application over FastCGI with flup: `python -m contract.fcgi SOCKET THREADS`."""

import sys

from flup.server.fcgi import WSGIServer

from contract.wsgi import application


def main(socket: str, threads: int) -> None:
    """Listens on a Unix socket, with all threads from the start, until SIGTERM.

    Args:
        socket: Path of the socket; nobody else may use it.
        threads: Connections at a time; flup closes further ones.
    """
    WSGIServer(
        application,
        bindAddress=socket,
        umask=0o177,
        minSpare=1,
        maxSpare=threads,
        maxThreads=threads,
        debug=False,
    ).run()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
