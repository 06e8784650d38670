"""Ports and Unix sockets of this host: finds a free port, and the processes that listen."""

from __future__ import annotations

import os
import random
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import addresses
from plimsoll.errors import PortTaken
from plimsoll.processes import process_table

if TYPE_CHECKING:
    from collections.abc import Iterable

LOOPBACK = "127.0.0.1"

_LEAST = 10_000
_TRIES = 200
_LISTEN = "0A"
_ACCEPTS = 1 << 16
_COLUMNS_OF_UNIX = 8
_WORD = 8


def free_port(host: str = LOOPBACK) -> int:
    """A free port, a different one each time.

    It is below the range of ports for outgoing connections, so that no connection of the driver can
    occupy it. A new port for each server avoids connections of the last trial, which the kernel
    keeps for a minute.

    Source:
        ip(7), ip_local_port_range.
    """
    ports = list(range(_LEAST, max(_LEAST, _first_outgoing())))
    for port in random.SystemRandom().sample(ports, min(_TRIES, len(ports))):
        if is_free(port, host):
            return port
    with socket.socket(_family(host)) as listener:
        listener.bind((host, 0))
        return listener.getsockname()[1]


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server could listen on a port now."""
    with socket.socket(_family(host)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen(1)
        except OSError:
            return False
    return True


def _family(host: str) -> socket.AddressFamily:
    """The family of an address in numbers."""
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def taken(port: int, host: str = LOOPBACK, besides: Iterable[int] = ()) -> PortTaken:
    """The error that names the process on a port.

    Args:
        port: The port.
        host: Its address.
        besides: Processes to ignore.
    """
    if port < _first_allowed():
        hint = f"choose a port from {_first_allowed()} to 65535"
        return PortTaken(f"port {port} of {host} is reserved for root", hint)
    known = listeners(port, host) or listeners(port)
    others = [found for found in known if found.pid not in set(besides)]
    who = " and ".join(f"`{found.name}` (process {found.pid})" for found in others)
    message = f"port {port} of {host} is in use by {who or 'a process of another user'}"
    return PortTaken(message, "stop it, or let Plimsoll choose a free port")


def listeners(port: int, host: str = "") -> tuple[process_table.Process, ...]:
    """The visible processes that listen on a port; a shared socket has several.

    Args:
        port: The port.
        host: The address that clients connect to, in numbers; empty for any.
    """
    return _holders(listening_sockets(port, host))


def listeners_at(path: str) -> tuple[process_table.Process, ...]:
    """The visible processes that listen on a Unix socket.

    Args:
        path: Its path, as it was bound.

    Source:
        proc_pid_net(5), `unix`: column 4 has the flag __SO_ACCEPTCON, 7 the inode, 8 the path.
    """
    try:
        lines = Path("/proc/self/net/unix").read_text("utf-8", "surrogateescape").splitlines()[1:]
    except OSError:
        return ()
    rows = (line.split(maxsplit=7) for line in lines)
    named = (row for row in rows if len(row) == _COLUMNS_OF_UNIX and row[7] == path)
    return _holders({int(row[6]) for row in named if int(row[3], 16) & _ACCEPTS})


def _holders(sockets: set[int]) -> tuple[process_table.Process, ...]:
    """The visible processes that have one of some sockets open."""
    if not sockets:
        return ()
    return tuple(
        found for found in process_table.everything() if sockets & (_sockets(found.pid) or set())
    )


def bound_by(pids: Iterable[int]) -> set[tuple[bytes, int]]:
    """The addresses, as `addresses.ip` gives them, and ports on which some processes listen."""
    owned = {inode for pid in pids for inode in _sockets(pid) or ()}
    return {(bound, port) for bound, port, inode in _listening() if inode in owned}


def listening_sockets(port: int, host: str = "") -> set[int]:
    """The inodes of the sockets that listen on a port.

    Args:
        port: The port.
        host: The address that clients connect to, in numbers; empty for any.
    """
    found = [(bound, inode) for bound, number, inode in _listening() if number == port]
    own = addresses.reached((bound for bound, _ in found), host)
    return {inode for bound, inode in found if bound in own}


def foreign_sockets(sockets: set[int], pids: Iterable[int]) -> set[int]:
    """Those of some sockets that none of some processes has open.

    Returns:
        Inodes; empty if the files of one of the processes cannot be read.
    """
    left = set(sockets)
    for pid in pids:
        held = _sockets(pid)
        if held is None:
            return set()
        left -= held
    return left


def _listening() -> list[tuple[bytes, int, int]]:
    """Address, port and inode of every listening socket.

    Source:
        proc_pid_net(5), `tcp`: columns 2 (local address), 4 (state) and 10 (inode).
    """
    found: list[tuple[bytes, int, int]] = []
    for name in ("tcp", "tcp6"):
        try:
            lines = Path("/proc/self/net", name).read_text().splitlines()[1:]
        except OSError:
            continue
        rows = [line.split() for line in lines if f" {_LISTEN} " in line]
        found += [(*_local(row[1]), int(row[9])) for row in rows if row[3] == _LISTEN]
    return found


def _local(text: str) -> tuple[bytes, int]:
    """The address and port of a socket: `0100007F:1F90`, in words of this machine's byte order."""
    words, _, port = text.rpartition(":")
    numbers = (int(words[at : at + _WORD], 16) for at in range(0, len(words), _WORD))
    host = b"".join(number.to_bytes(4, sys.byteorder) for number in numbers)
    return addresses.ip(host), int(port, 16)


def _sockets(pid: int) -> set[int] | None:
    """Inodes of the sockets a process has open; None if they cannot be read."""
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
