"""TCP ports of this host: a free one, and who listens on one."""

from __future__ import annotations

import os
import random
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.conduct import processes
from plimsoll.errors import PortTaken

if TYPE_CHECKING:
    from collections.abc import Iterable

LOOPBACK = "127.0.0.1"

_LEAST = 10_000
_TRIES = 200
_LISTEN = "0A"


def free_port(host: str = LOOPBACK) -> int:
    """A port nobody uses, another one each time.

    It lies below the range from which the kernel takes the ports of outgoing connections, so that
    none of the driver's own connections can sit on it. A new one for each server leaves the
    connections of the last trial, which the kernel remembers for a minute, out of the way.

    Source:
        ip(7), ip_local_port_range.
    """
    ports = list(range(_LEAST, max(_LEAST, _first_outgoing())))
    for port in random.SystemRandom().sample(ports, min(_TRIES, len(ports))):
        if is_free(port, host):
            return port
    with socket.socket() as listener:
        listener.bind((host, 0))
        return listener.getsockname()[1]


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server could listen on a port now."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen(1)
        except OSError:
            return False
    return True


def taken(port: int, host: str = LOOPBACK, besides: Iterable[int] = ()) -> PortTaken:
    """The error that says who holds a port.

    Args:
        port: The port.
        host: Its address.
        besides: Processes that are not meant.
    """
    if port < _first_allowed():
        hint = f"choose a port from {_first_allowed()} to 65535"
        return PortTaken(f"port {port} of {host} is root's alone", hint)
    others = [found for found in listeners(port) if found.pid not in set(besides)]
    who = " and ".join(f"`{found.name}` (process {found.pid})" for found in others)
    message = f"port {port} of {host} is taken by {who or 'a process that cannot be seen'}"
    return PortTaken(message, "stop it, or leave the port out so that a free one is chosen")


def listeners(port: int) -> tuple[processes.Process, ...]:
    """The processes seen to listen on a port; a socket that is shared has several."""
    sockets = listening_sockets(port)
    if not sockets:
        return ()
    return tuple(
        found for found in processes.everything() if sockets & (_sockets(found.pid) or set())
    )


def ports_of(pids: Iterable[int]) -> tuple[int, ...]:
    """The ports that some processes listen on, in rising order."""
    owned = {inode for pid in pids for inode in _sockets(pid) or ()}
    return tuple(sorted({port for port, inode in _listening() if inode in owned}))


def listening_sockets(port: int) -> set[int]:
    """The inodes of the sockets that listen on a port."""
    return {inode for number, inode in _listening() if number == port}


def foreign_sockets(sockets: set[int], pids: Iterable[int]) -> set[int]:
    """Those of some sockets that none of some processes holds.

    Returns:
        Inodes; empty when the files of one of the processes may not be read, for then nobody knows.
    """
    left = set(sockets)
    for pid in pids:
        held = _sockets(pid)
        if held is None:
            return set()
        left -= held
    return left


def _listening() -> list[tuple[int, int]]:
    """Port and inode of every listening socket.

    Source:
        proc_pid_net(5), `tcp`: columns 2 (local address), 4 (state) and 10 (inode).
    """
    found: list[tuple[int, int]] = []
    for name in ("tcp", "tcp6"):
        try:
            lines = Path("/proc/self/net", name).read_text().splitlines()[1:]
        except OSError:
            continue
        rows = [line.split() for line in lines if f" {_LISTEN} " in line]
        found += [(int(r[1].rpartition(":")[2], 16), int(r[9])) for r in rows if r[3] == _LISTEN]
    return found


def _sockets(pid: int) -> set[int] | None:
    """Inodes of the sockets a process holds; None when that may not be read."""
    folder = f"/proc/{pid}/fd"
    try:
        links = [_link(f"{folder}/{name}") for name in os.listdir(folder)]  # noqa: PTH208
    except PermissionError:
        return None
    except OSError:
        return set()
    return {int(link[8:-1]) for link in links if link.startswith("socket:[")}


def _link(path: str) -> str:
    try:
        return os.readlink(path)  # noqa: PTH115
    except OSError:
        return ""


def _first_outgoing() -> int:
    return _number("/proc/sys/net/ipv4/ip_local_port_range", 32768)


def _first_allowed() -> int:
    if os.geteuid() == 0:
        return 1
    return _number("/proc/sys/net/ipv4/ip_unprivileged_port_start", 1024)


def _number(path: str, otherwise: int) -> int:
    try:
        return int(Path(path).read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return otherwise
